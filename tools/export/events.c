// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export the events of a host in order of time. Some events change the states of threads. All
 * others are instants on the track of the thread or CPU on which they occurred.
 */
#include <errno.h>
#include <fnmatch.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "common/complain.h"
#include "events/groups.h"
#include "events/task.h"
#include "perfetto.h"

struct export_reader;

/* Properties that all events with the same name share. */
struct event_class {
	bool shown;
	bool is_tcp; /* whether its field "flags" contains TCP flags */
	/* whether its field "flags" contains TCP flags if the protocol is TCP */
	bool may_be_tcp;
	/*
	 * Update the states of threads. If the event does not change a state, return false, so that
	 * the event is exported as an instant.
	 */
	bool (*take)(struct export_reader *reader, const struct event_class *class,
		     const struct event *event);
	const char *call; /* name of the system call */
};

struct export_reader {
	struct threads threads;
	struct args args;
	char flags[TCP_FLAGS_SIZE]; /* TCP flags as words */

	/* The following members belong to the current event. */
	struct sched_thread *thread; /* NULL if there is no thread, or if it is unknown */
};

/* ---- events that change the states of threads ------------------------------ */

static bool export_switch(struct export_reader *reader, const struct event_class *class,
			  const struct event *event)
{
	struct task_switch change;

	(void)class;
	if (!task_switch_read(event, &change) || event->cpu == EVENT_NO_CPU)
		return false;
	scheduling_put_missed_switch(&reader->threads, event->cpu, &change);
	sched_switch(reader->threads.sched, event->time_ns, event->cpu, &change);
	scheduling_put_switch(&reader->threads, event->cpu, &change);
	return true;
}

static bool export_wakeup(struct export_reader *reader, const struct event_class *class,
			  const struct event *event)
{
	struct event_task task;

	(void)class;
	if (task_read(event, TASK_SUBJECT, &task) &&
	    sched_wakeup(reader->threads.sched, reader->threads.now_ns, task))
		scheduling_put_waking(&reader->threads, event->cpu, task);
	return false;
}

static bool export_fork(struct export_reader *reader, const struct event_class *class,
			const struct event *event)
{
	struct event_task child;

	(void)class;
	if (!task_read(event, TASK_CHILD, &child))
		return false;
	threads_add_forked(&reader->threads, child);
	scheduling_put_waking(&reader->threads, event->cpu, child);
	return false;
}

static bool export_release(struct export_reader *reader, const struct event_class *class,
			   const struct event *event)
{
	struct event_task task;

	(void)class;
	if (task_read(event, TASK_SUBJECT, &task) &&
	    (!reader->thread || reader->thread->tid != task.tid))
		sched_release(reader->threads.sched, reader->threads.now_ns, task.tid);
	return false;
}

static bool export_statedump(struct export_reader *reader, const struct event_class *class,
			     const struct event *event)
{
	struct event_task task;

	(void)class;
	if (task_read(event, TASK_DUMPED, &task))
		sched_find_thread(reader->threads.sched, task);
	return false;
}

static bool export_entry(struct export_reader *reader, const struct event_class *class,
			 const struct event *event)
{
	(void)event;
	if (!class->shown || !reader->thread)
		return false;
	threads_enter_call(&reader->threads, reader->thread, class->call, &reader->args);
	return true;
}

static bool export_exit(struct export_reader *reader, const struct event_class *class,
			const struct event *event)
{
	(void)event;
	return class->shown && reader->thread &&
	       threads_leave_call(&reader->threads, reader->thread, class->call, &reader->args);
}

/* ---- classes of events -------------------------------------------------- */

/* Names of events in LTTng and ftrace. For system calls, these are beginnings of names. */
static const struct {
	const char *name;
	bool (*take)(struct export_reader *reader, const struct event_class *class,
		     const struct event *event);
	bool is_call;
} roles[] = {
	{ "sched_switch", export_switch, false },
	{ "sched_wakeup", export_wakeup, false },
	{ "sched_wakeup_new", export_wakeup, false },
	{ "sched_waking", export_wakeup, false },
	{ "sched_process_fork", export_fork, false },
	{ "sched_process_free", export_release, false },
	{ "lttng_statedump_process_state", export_statedump, false },
	{ "syscall_entry_", export_entry, true },
	{ "syscall_exit_", export_exit, true },
	{ "compat_syscall_entry_", export_entry, true },
	{ "compat_syscall_exit_", export_exit, true },
	{ "sys_enter_", export_entry, true },
	{ "sys_exit_", export_exit, true },
};

static bool begins_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static bool is_event_wanted(const struct export *export, const char *name)
{
	for (size_t i = 0; i < export->num_globs; i++)
		if (!fnmatch(export->globs[i], name, 0))
			return true;
	return !export->num_globs;
}

static void describe_event_class(const struct export_reader *reader, struct event_class *class,
				 const char *name)
{
	class->shown = is_event_wanted(reader->threads.export, name);
	class->is_tcp = begins_with(name, "inet_sock_local_");
	class->may_be_tcp = begins_with(name, "inet_dev_");
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		const size_t length = strlen(roles[i].name);

		if (roles[i].is_call ? !begins_with(name, roles[i].name) :
				       strcmp(name, roles[i].name))
			continue;
		class->take = roles[i].take;
		class->call = name + length;
	}
}

/* Return the class of an event, or NULL if out of memory. */
static const struct event_class *get_exported_class(const struct export_reader *reader,
						    struct event_type *type)
{
	if (!type->own) {
		/* Classes are released when the process ends. */
		type->own = calloc(1, sizeof(struct event_class));
		if (type->own)
			describe_event_class(reader, type->own, type->name);
	}
	return type->own;
}

/* ---- events ------------------------------------------------------------- */

static struct sched_thread *find_event_thread(const struct export_reader *reader,
					      const struct event *event)
{
	struct event_task task;

	if (event->fields->task(event, &task))
		return sched_find_thread(reader->threads.sched, task);
	return sched_get_running(reader->threads.sched, event->cpu);
}

static void name_tcp_flags(struct export_reader *reader)
{
	for (size_t i = 0; i < reader->args.num; i++) {
		struct arg *arg = &reader->args.list[i];

		if (arg->kind != ARG_UNSIGNED || strcmp(arg->name, "flags"))
			continue;
		arg->kind = ARG_LABEL;
		arg->text = format_tcp_flags(arg->number, reader->flags);
	}
}

static bool read_event_args(struct export_reader *reader, const struct event_class *class,
			    const struct event *event)
{
	int64_t protocol;

	reader->args.num = 0;
	if (!event->fields->all(event, &reader->args))
		return false;
	if (class->is_tcp ||
	    (class->may_be_tcp && event->fields->integer(event, "protocol", &protocol) &&
	     protocol == IPPROTO_TCP))
		name_tcp_flags(reader);
	return true;
}

static bool export_event(void *data, const struct event *event)
{
	struct export_reader *reader = data;
	struct threads *threads = &reader->threads;
	const struct event_class *class = get_exported_class(reader, event->type);

	if (threads->first_ns == INT64_MIN)
		threads->first_ns = event->time_ns;
	threads->now_ns = event->time_ns;
	if (!class)
		return false;
	if (!class->shown && !class->take)
		return true;
	reader->thread = find_event_thread(reader, event);
	if (class->shown && !read_event_args(reader, class, event))
		return false;
	if ((!class->take || !class->take(reader, class, event)) && class->shown &&
	    timebase_contains(threads->export->base, event->time_ns))
		threads_put_instant(threads, reader->thread, event->cpu, event->type->name,
				    &reader->args);
	return !ferror(threads->timeline->out);
}

static bool export_loss(void *data, const struct event_loss *loss)
{
	struct export_reader *reader = data;
	struct threads *threads = &reader->threads;

	if (loss->cpu == EVENT_NO_CPU)
		return true;
	scheduling_put_loss(threads, loss->cpu);
	sched_note_loss(threads->sched, threads->now_ns, loss->cpu);
	reader->args.num = 0;
	if (loss->has_number &&
	    !args_append(&reader->args,
			 (struct arg){ "number", ARG_UNSIGNED, { .number = loss->number } }))
		return false;
	if (timebase_contains(threads->export->base, threads->now_ns))
		threads_put_instant(threads, NULL, loss->cpu, "events lost", &reader->args);
	return true;
}

/* ---- reading ------------------------------------------------------------ */

struct events_job {
	struct timeline *timeline;
	const struct export *export;
	/* Number of CPUs of all previous hosts. The numbers of this host's CPUs follow them. */
	uint32_t num_cpus;
};

static void flush_timeline(void *data)
{
	const struct events_job *job = data;

	job->timeline->format->flush(job->timeline);
}

/* Export the events of one host, in a child process. */
static bool export_group(void *data, const struct event_group *group, struct group_state *state)
{
	const struct events_job *job = data;
	struct timeline *timeline = job->timeline;
	struct export_reader reader = {
		.threads.timeline = timeline,
		.threads.export = job->export,
		.threads.host = group->host,
		.threads.show_states = is_event_wanted(job->export, "sched_switch"),
		.threads.first_cpu = job->num_cpus,
	};
	const struct event_listener listener = { export_event, export_loss, &reader };
	/* Count events before 1970 only for this part. */
	const uint64_t num_early = timeline->num_early;
	bool ok = timeline->format->begin_part(timeline, group->host + 1) &&
		  threads_open(&reader.threads) &&
		  group_read_events(group, job->export->base, &listener, state,
				    &reader.threads.now_ns) &&
		  threads_close(&reader.threads);

	state->number = timeline->num_early - num_early;
	state->num_cpus = reader.threads.num_cpus;
	/* All other memory is released when the process ends. */
	return ok;
}

static void end_exported_group(void *data, const struct event_group *group,
			       const struct group_state *state)
{
	struct events_job *job = data;
	const char *host = job->export->base->hosts[group->host].name;

	job->timeline->num_early += state->number;
	if (state->num_cpus && !job->timeline->is_machine &&
	    group->host >= TIMELINE_MAX_THREAD_HOSTS)
		complain(
			"warning: %s: Perfetto's thread and scheduling tables can hold only %d hosts, and this host did not fit; its threads are written as state tracks instead.",
			host, TIMELINE_MAX_THREAD_HOSTS);
	else if (job->num_cpus + state->num_cpus > TIMELINE_MAX_CPUS)
		complain(
			"warning: %s: Perfetto's scheduling tables can hold only %d CPUs of all hosts, so CPU %u and later CPUs of this host are missing.",
			host, TIMELINE_MAX_CPUS,
			job->num_cpus < TIMELINE_MAX_CPUS ? TIMELINE_MAX_CPUS - job->num_cpus : 0);
	job->num_cpus += state->num_cpus;
}

bool perfetto_write_events(struct timeline *timeline, const struct export *export, uint32_t host)
{
	struct events_job job = { .timeline = timeline, .export = export };
	const struct groups_reader reader = {
		.base = export->base,
		.host = host,
		.action = "writing",
		.out = timeline->out,
		.flush = flush_timeline,
		.read = export_group,
		.done = end_exported_group,
		.data = &job,
	};

	return groups_read(&reader);
}
