// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of the CTF traces of a host, in the order of time: what its threads do is
 * known from some of them, and all others are instants of the thread, or CPU, that they
 * happened in.
 */
#include <babeltrace2/babeltrace.h>
#include <fnmatch.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "babeltrace/map.h"
#include "common/ctf-source.h"
#include "perfetto.h"

struct reader;

/* What is known of all events of a name. */
struct event_class {
	char *name;		/* kept beyond the graph's end */
	bool shown;
	bool is_tcp;		/* its "flags" are the word of a TCP header, */
	bool may_be_tcp;	/* or are if its protocol is TCP */
	/* What it says of threads. False: it does not, it is just an event. */
	bool (*take)(struct reader *reader, const struct event_class *class,
		     const bt_event *event);
	const char *call;	/* the name of the system call */
};

struct reader {
	struct threads threads;
	const struct group *group;
	struct group_state *state;	/* for who waits for it */
	struct map classes;	/* from what libbabeltrace2 has */
	uint32_t *cpus;		/* of streams, where these were last */
	uint32_t num_cpus;
	struct args args;

	/* The event that is looked at. */
	uint32_t cpu;
	struct sched_thread *thread;	/* NULL: unknown, or none */
};

/* ---- what events say of threads ----------------------------------------- */

static const bt_field *payload_of(const bt_event *event)
{
	return bt_event_borrow_payload_field_const(event);
}

static bool task_of(const bt_field *payload, const char *tid, const char *name,
		    struct sched_task *task)
{
	int64_t number;

	if (!field_integer(payload, tid, &number) || number < 0 ||
	    number > SCHED_MAX_TID)
		return false;
	*task = (struct sched_task){ number, field_text(payload, name) };
	return true;
}

static bool take_switch(struct reader *reader, const struct event_class *class,
			const bt_event *event)
{
	const bt_field *payload = payload_of(event);
	struct sched_task from, to;
	int64_t state;

	(void)class;
	if (!task_of(payload, "prev_tid", "prev_comm", &from) ||
	    !task_of(payload, "next_tid", "next_comm", &to) ||
	    !field_integer(payload, "prev_state", &state) ||
	    reader->cpu == NO_CPU)
		return false;
	sched_switch(reader->threads.sched, reader->threads.now_ns, reader->cpu,
		     from, state, to);
	return true;
}

static bool take_wakeup(struct reader *reader, const struct event_class *class,
			const bt_event *event)
{
	struct sched_task task;

	(void)class;
	if (task_of(payload_of(event), "tid", "comm", &task))
		sched_wakeup(reader->threads.sched, reader->threads.now_ns, task);
	return false;
}

static bool take_fork(struct reader *reader, const struct event_class *class,
		      const bt_event *event)
{
	struct sched_task child;

	(void)class;
	if (task_of(payload_of(event), "child_tid", "child_comm", &child))
		threads_fork(&reader->threads, child);
	return false;
}

static bool take_release(struct reader *reader, const struct event_class *class,
			 const bt_event *event)
{
	struct sched_task task;

	(void)class;
	if (task_of(payload_of(event), "tid", "comm", &task) &&
	    (!reader->thread || reader->thread->tid != task.tid))
		sched_release(reader->threads.sched, reader->threads.now_ns,
			      task.tid);
	return false;
}

static bool take_statedump(struct reader *reader, const struct event_class *class,
			   const bt_event *event)
{
	struct sched_task task;

	(void)class;
	if (task_of(payload_of(event), "tid", "name", &task))
		sched_thread(reader->threads.sched, task);
	return false;
}

static bool take_entry(struct reader *reader, const struct event_class *class,
		       const bt_event *event)
{
	(void)event;
	if (!class->shown || !reader->thread)
		return false;
	threads_enter(&reader->threads, reader->thread, class->call,
		      &reader->args);
	return true;
}

static bool take_exit(struct reader *reader, const struct event_class *class,
		      const bt_event *event)
{
	(void)event;
	return class->shown && reader->thread &&
	       threads_leave(&reader->threads, reader->thread, class->call,
			     &reader->args);
}

/* ---- classes of events -------------------------------------------------- */

/* As LTTng names them; of a system call the beginning of the name. */
static const struct {
	const char *name;
	bool (*take)(struct reader *reader, const struct event_class *class,
		     const bt_event *event);
	bool is_call;
} roles[] = {
	{ "sched_switch", take_switch, false },
	{ "sched_wakeup", take_wakeup, false },
	{ "sched_wakeup_new", take_wakeup, false },
	{ "sched_waking", take_wakeup, false },
	{ "sched_process_fork", take_fork, false },
	{ "sched_process_free", take_release, false },
	{ "lttng_statedump_process_state", take_statedump, false },
	{ "syscall_entry_", take_entry, true },
	{ "syscall_exit_", take_exit, true },
	{ "compat_syscall_entry_", take_entry, true },
	{ "compat_syscall_exit_", take_exit, true },
};

static bool begins_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static bool is_wanted(const struct export *export, const char *name)
{
	for (size_t i = 0; i < export->num_globs; i++)
		if (!fnmatch(export->globs[i], name, 0))
			return true;
	return !export->num_globs;
}

static void describe(const struct reader *reader, struct event_class *class)
{
	class->shown = is_wanted(reader->threads.export, class->name);
	class->is_tcp = begins_with(class->name, "inet_sock_local_");
	class->may_be_tcp = begins_with(class->name, "inet_dev_");
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		const size_t length = strlen(roles[i].name);

		if (roles[i].is_call ? !begins_with(class->name, roles[i].name) :
				       strcmp(class->name, roles[i].name))
			continue;
		class->take = roles[i].take;
		class->call = class->name + length;
	}
}

/* NULL: there is not enough memory. */
static const struct event_class *class_of(struct reader *reader,
					  const bt_event *event)
{
	const bt_event_class *key = bt_event_borrow_class_const(event);
	struct event_class *class = map_get(&reader->classes, key);
	const char *name;

	if (class)
		return class;
	class = calloc(1, sizeof(*class));
	name = bt_event_class_get_name(key);
	if (class)
		class->name = strdup(name ? name : "event");
	/* All of it goes when the process ends. */
	if (!class || !class->name || !map_put(&reader->classes, key, class))
		return NULL;
	describe(reader, class);
	return class;
}

/* ---- events ------------------------------------------------------------- */

static uint32_t cpu_of(const bt_event *event)
{
	const bt_stream *stream = bt_event_borrow_stream_const(event);
	const bt_field *context = NULL;
	int64_t cpu;

	if (bt_stream_class_supports_packets(
		    bt_stream_borrow_class_const(stream)))
		context = bt_packet_borrow_context_field_const(
			bt_event_borrow_packet_const(event));
	return field_integer(context, "cpu_id", &cpu) && cpu >= 0 &&
	       cpu < SCHED_MAX_CPUS ? cpu : NO_CPU;
}

/* As a context says, of the kernel's or of a program's events. */
static bool context_task(const bt_field *context, struct sched_task *task)
{
	return context && (task_of(context, "tid", "procname", task) ||
			   task_of(context, "vtid", "procname", task));
}

static struct sched_thread *thread_of(const struct reader *reader,
				      const bt_event *event)
{
	struct sched_task task;

	if (context_task(bt_event_borrow_specific_context_field_const(event),
			 &task) ||
	    context_task(bt_event_borrow_common_context_field_const(event),
			 &task))
		return sched_thread(reader->threads.sched, task);
	return sched_running(reader->threads.sched, reader->cpu);
}

static bool read_args(struct reader *reader, const struct event_class *class,
		      const bt_event *event)
{
	const bt_field *payload = payload_of(event);
	int64_t protocol;
	const bool is_tcp = class->is_tcp ||
		(class->may_be_tcp &&
		 field_integer(payload, "protocol", &protocol) &&
		 protocol == IPPROTO_TCP);

	return args_read(&reader->args, payload, is_tcp);
}

static bool take_event(struct reader *reader, const bt_event *event)
{
	const struct event_class *class = class_of(reader, event);
	struct threads *threads = &reader->threads;
	const bool in_window = export_shows(threads->export, threads->now_ns);

	if (!class)
		return false;
	if (!class->shown && !class->take)
		return true;
	reader->thread = thread_of(reader, event);
	if (class->shown && !read_args(reader, class, event))
		return false;
	if (class->take && class->take(reader, class, event))
		return true;
	if (class->shown && in_window)
		threads_instant(threads, reader->thread, reader->cpu,
				class->name, &reader->args);
	return true;
}

/* False: there is not enough memory. */
static bool set_cpu(struct reader *reader, uint32_t stream, uint32_t cpu)
{
	uint32_t *more;

	if (stream >= reader->num_cpus) {
		more = realloc(reader->cpus, (stream + 1) * sizeof(*more));
		if (!more)
			return false;
		reader->cpus = more;
		while (reader->num_cpus <= stream)
			more[reader->num_cpus++] = NO_CPU;
	}
	reader->cpus[stream] = cpu;
	reader->cpu = cpu;
	return true;
}

static bool take_lost(struct reader *reader, const struct ctf_message *message)
{
	struct threads *threads = &reader->threads;
	const uint32_t cpu = message->stream < reader->num_cpus ?
		reader->cpus[message->stream] : NO_CPU;
	uint64_t num;

	if (cpu == NO_CPU)
		return true;
	sched_lost(threads->sched, threads->now_ns, cpu);
	reader->args.num = 0;
	if (bt_message_discarded_events_get_count(message->message, &num) ==
		    BT_PROPERTY_AVAILABILITY_AVAILABLE &&
	    !args_add(&reader->args,
		      (struct arg){ "number", ARG_UNSIGNED, { .number = num } }))
		return false;
	if (export_shows(threads->export, threads->now_ns))
		threads_instant(threads, NULL, cpu, "events lost",
				&reader->args);
	return true;
}

static enum ctf_next take_message(void *data, const struct ctf_message *message)
{
	struct reader *reader = data;
	struct threads *threads = &reader->threads;
	const struct export_host *host =
		&threads->export->hosts[reader->group->host];
	const bt_event *event;
	int64_t t;

	if (bt_message_get_type(message->message) != BT_MESSAGE_TYPE_EVENT)
		return take_lost(reader, message) ? CTF_GO_ON : CTF_FAILED;
	if (!message->has_time || !export_time(host, message->time_ns, &t))
		return CTF_GO_ON;
	if (t > threads->export->end_ns) {
		/* What is known lasts until then. */
		if (threads->first_ns != INT64_MIN)
			threads->now_ns = threads->export->end_ns;
		return CTF_ENOUGH;
	}
	/* In what is damaged, time may go back. */
	if (threads->first_ns == INT64_MIN)
		threads->first_ns = t;
	if (t > threads->now_ns)
		threads->now_ns = t;
	reader->state->now_ns = threads->now_ns;
	event = bt_message_event_borrow_event_const(message->message);
	return set_cpu(reader, message->stream, cpu_of(event)) &&
	       take_event(reader, event) &&
	       !ferror(threads->timeline->out) ? CTF_GO_ON : CTF_FAILED;
}

/* ---- reading ------------------------------------------------------------ */

bool perfetto_read(struct timeline *timeline, const struct export *export,
		   const struct group *group, struct group_state *state)
{
	struct reader reader = {
		.threads.timeline = timeline,
		.threads.export = export,
		.threads.host = group->host,
		.threads.show_states = is_wanted(export, "sched_switch"),
		.group = group,
		.state = state,
	};
	/* Only what is early here is counted here. */
	const uint64_t num_early = timeline->num_early;
	bool ok = timeline->format->begin_part(timeline, group->host + 1) &&
		  threads_open(&reader.threads) &&
		  read_ctf(group->inputs, group->num, take_message, &reader) &&
		  threads_close(&reader.threads);

	state->num_early = timeline->num_early - num_early;
	/* All else goes with the process. */
	return ok;
}
