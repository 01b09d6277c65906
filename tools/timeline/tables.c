// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write tracks in Perfetto's own format, and events that fill the tables "process",
 * "thread", "sched" and "thread_state" of Perfetto's SQL.
 *
 * A file describes a single machine, because Perfetto drops flows, which represent
 * messages, between packets of different machines. The numbers of each host's processes,
 * threads and CPUs are therefore made unique in the file. A host is a process, because
 * few traces report the process of a thread; all tracks of the host belong to this
 * process and its threads:
 *
 *	web	process 10000000
 *	nginx	thread 10000812 of process 10000000: web's thread 812
 *	db	process 20000000
 *
 * A file of one machine (struct timeline) has the numbers of its threads and CPUs instead, and a
 * process with a number that no process has.
 *
 * Actions of schedulers are written as ftrace events, because Perfetto reads them from
 * there.
 */
#include <stdlib.h>

#include "protobuf.h"

typedef Perfetto__Protos__TrackDescriptor TrackDescriptor;
typedef Perfetto__Protos__ProcessDescriptor ProcessDescriptor;
typedef Perfetto__Protos__ThreadDescriptor ThreadDescriptor;
typedef Perfetto__Protos__FtraceEventBundle FtraceEventBundle;
typedef Perfetto__Protos__FtraceEvent FtraceEvent;
typedef Perfetto__Protos__SchedSwitchFtraceEvent SchedSwitchFtraceEvent;
typedef Perfetto__Protos__SchedWakingFtraceEvent SchedWakingFtraceEvent;

#define EXPLICIT_ORDER PERFETTO__PROTOS__TRACK_DESCRIPTOR__CHILD_TRACKS_ORDERING__EXPLICIT
#define NOT_MERGED \
	PERFETTO__PROTOS__TRACK_DESCRIPTOR__SIBLING_MERGE_BEHAVIOR__SIBLING_MERGE_BEHAVIOR_NONE

/* ---- numbers ------------------------------------------------------------ */

uint64_t protobuf_make_uuid(struct track track)
{
	return (uint64_t)(track.host + 1) << 32 | (uint64_t)track.kind << 28 | track.number;
}

/* Return the rank of a track among its host's tracks: in the order of kinds, then of numbers. */
static int32_t get_track_rank(struct track track)
{
	return (int32_t)track.kind * TRACK_NUMBERS + (int32_t)track.number;
}

/* Return whether this host can have a process number. */
static bool has_perfetto_pid(const struct timeline *timeline, uint32_t host)
{
	return timeline->is_machine || host < TIMELINE_MAX_THREAD_HOSTS;
}

/*
 * Return Perfetto's number for a thread of a host. If @number is 0, return the number for the
 * process of the host.
 */
static int32_t make_perfetto_tid(const struct timeline *timeline, uint32_t host, uint32_t number)
{
	if (timeline->is_machine)
		return (int32_t)(number ? number : TRACK_NUMBERS);
	return (int32_t)((host + 1) * TRACK_NUMBERS + number);
}

/* Return Perfetto's number for a scheduled thread. 0 is the idle thread, which all hosts share. */
static int32_t make_perfetto_task_tid(const struct timeline *timeline, uint32_t host,
				      const struct timeline_task *task)
{
	return task->number ? make_perfetto_tid(timeline, host, task->number) : 0;
}

/* ---- tracks ------------------------------------------------------------- */

static void put_track_descriptor(struct timeline *timeline, TrackDescriptor *descriptor,
				 struct track track, const char *name)
{
	TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	char *owned;

	descriptor->has_uuid = true;
	descriptor->uuid = protobuf_make_uuid(track);
	descriptor->name = protobuf_make_text(name, &owned);
	descriptor->has_sibling_merge_behavior = true;
	descriptor->sibling_merge_behavior = NOT_MERGED;
	packet.data_case = PERFETTO__PROTOS__TRACE_PACKET__DATA_TRACK_DESCRIPTOR;
	packet.track_descriptor = descriptor;
	if (descriptor->name)
		protobuf_put_packet(timeline, &packet);
	else
		timeline->failed = true;
	free(owned);
}

static void put_host_track(struct timeline *timeline, struct track track, const char *name)
{
	TrackDescriptor descriptor = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
	ProcessDescriptor process = PERFETTO__PROTOS__PROCESS_DESCRIPTOR__INIT;
	char *owned;

	descriptor.has_child_ordering = true;
	descriptor.child_ordering = EXPLICIT_ORDER;
	process.has_pid = true;
	process.pid = make_perfetto_tid(timeline, track.host, 0);
	process.process_name = protobuf_make_text(name, &owned);
	if (has_perfetto_pid(timeline, track.host) && process.process_name)
		descriptor.process = &process;
	put_track_descriptor(timeline, &descriptor, track, name);
	free(owned);
}

/* Put a track below another track. @thread is the thread to which it belongs, or NULL. */
static void put_child_track(struct timeline *timeline, struct track track, struct track parent,
			    const char *name, ThreadDescriptor *thread)
{
	TrackDescriptor descriptor = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;

	descriptor.thread = thread;
	descriptor.has_parent_uuid = true;
	descriptor.parent_uuid = protobuf_make_uuid(parent);
	descriptor.has_sibling_order_rank = true;
	descriptor.sibling_order_rank = get_track_rank(track);
	put_track_descriptor(timeline, &descriptor, track, name);
}

void protobuf_name_track(struct timeline *timeline, struct track track, const char *name)
{
	struct track parent = { track.host, TRACK_HOST, 0 };

	if (track.kind == TRACK_STATE)
		parent = (struct track){ track.host, TRACK_THREAD, track.number };
	if (track.kind == TRACK_HOST)
		put_host_track(timeline, track, name);
	else
		put_child_track(timeline, track, parent, name, NULL);
}

/*
 * Put the first track of a thread, by which Perfetto learns about the thread. If the thread has a
 * new name, put the track again.
 */
static void put_thread_track(struct timeline *timeline, const struct timeline_thread *of,
			     const char *name)
{
	const uint32_t host = of->track.host;
	const struct track track = { host, TRACK_THREAD, of->number };
	const struct track parent = { host, TRACK_HOST, 0 };
	ThreadDescriptor thread = PERFETTO__PROTOS__THREAD_DESCRIPTOR__INIT;
	char *owned;

	thread.has_pid = true;
	thread.pid = make_perfetto_tid(timeline, host, 0);
	thread.has_tid = true;
	thread.tid = make_perfetto_tid(timeline, host, of->number);
	thread.thread_name = protobuf_make_text(of->name, &owned);
	if (!thread.thread_name)
		timeline->failed = true;
	/* Perfetto uses the name in sched_switch only if no name is given here. */
	if (!*of->name)
		thread.thread_name = NULL;
	put_child_track(timeline, track, parent, name, &thread);
	free(owned);
}

void protobuf_name_thread(struct timeline *timeline, const struct timeline_thread *thread)
{
	const uint32_t host = thread->track.host;
	const struct track first = { host, TRACK_THREAD, thread->number };
	const bool is_first = thread->track.number == thread->number;
	char name[TIMELINE_THREAD_NAME_SIZE];

	timeline_format_thread_name(name, thread);
	if (!has_perfetto_pid(timeline, host)) {
		protobuf_name_track(timeline, thread->track, name);
		return;
	}
	put_thread_track(timeline, thread, name);
	if (!is_first)
		put_child_track(timeline, thread->track, first, name, NULL);
}

/* ---- scheduling --------------------------------------------------------- */

static int64_t get_sched_time(const struct timeline *timeline, const struct timeline_sched *event)
{
	return protobuf_shift_time(event->time_ns, timeline->is_machine ? timeline->sched_shift_ns :
									  timeline->shift_ns);
}

/* Put an ftrace event. If @ftrace is NULL, events were lost. */
static void put_ftrace_event(struct timeline *timeline, const struct timeline_sched *event,
			     FtraceEvent *ftrace)
{
	TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	FtraceEventBundle bundle = PERFETTO__PROTOS__FTRACE_EVENT_BUNDLE__INIT;

	bundle.has_cpu = true;
	bundle.cpu = event->cpu;
	bundle.n_event = ftrace != NULL;
	bundle.event = &ftrace;
	bundle.has_lost_events = !ftrace;
	bundle.lost_events = !ftrace;
	packet.data_case = PERFETTO__PROTOS__TRACE_PACKET__DATA_FTRACE_EVENTS;
	packet.ftrace_events = &bundle;
	if (ftrace) {
		ftrace->has_timestamp = true;
		ftrace->timestamp = get_sched_time(timeline, event);
		ftrace->has_pid = true;
		ftrace->pid = make_perfetto_task_tid(timeline, event->host, &event->from);
	}
	protobuf_put_packet(timeline, &packet);
}

static void put_ftrace_switch(struct timeline *timeline, const struct timeline_sched *event,
			      char *from, char *to)
{
	FtraceEvent ftrace = PERFETTO__PROTOS__FTRACE_EVENT__INIT;
	SchedSwitchFtraceEvent change = PERFETTO__PROTOS__SCHED_SWITCH_FTRACE_EVENT__INIT;

	change.prev_comm = from;
	change.has_prev_pid = true;
	change.prev_pid = make_perfetto_task_tid(timeline, event->host, &event->from);
	change.has_prev_state = true;
	change.prev_state = event->state;
	change.next_comm = to;
	change.has_next_pid = true;
	change.next_pid = make_perfetto_task_tid(timeline, event->host, &event->to);
	ftrace.event_case = PERFETTO__PROTOS__FTRACE_EVENT__EVENT_SCHED_SWITCH;
	ftrace.sched_switch = &change;
	put_ftrace_event(timeline, event, &ftrace);
}

static void put_ftrace_waking(struct timeline *timeline, const struct timeline_sched *event,
			      char *to)
{
	FtraceEvent ftrace = PERFETTO__PROTOS__FTRACE_EVENT__INIT;
	SchedWakingFtraceEvent waking = PERFETTO__PROTOS__SCHED_WAKING_FTRACE_EVENT__INIT;

	waking.comm = to;
	waking.has_pid = true;
	waking.pid = make_perfetto_task_tid(timeline, event->host, &event->to);
	ftrace.event_case = PERFETTO__PROTOS__FTRACE_EVENT__EVENT_SCHED_WAKING;
	ftrace.sched_waking = &waking;
	put_ftrace_event(timeline, event, &ftrace);
}

void protobuf_put_sched(struct timeline *timeline, const struct timeline_sched *event)
{
	char *owned_from = NULL, *owned_to = NULL, *from, *to;

	/*
	 * Skip such events without counting them. Slices and instants at the same time are counted
	 * and cause a warning.
	 */
	if (get_sched_time(timeline, event) < 0)
		return;
	if (event->kind == TIMELINE_LOST) {
		put_ftrace_event(timeline, event, NULL);
		return;
	}
	from = protobuf_make_text(event->from.name, &owned_from);
	to = protobuf_make_text(event->to.name, &owned_to);
	if (!from || !to)
		timeline->failed = true;
	else if (event->kind == TIMELINE_SWITCH)
		put_ftrace_switch(timeline, event, from, to);
	else
		put_ftrace_waking(timeline, event, to);
	free(owned_from);
	free(owned_to);
}
