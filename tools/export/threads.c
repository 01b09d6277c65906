// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracks of the threads and CPUs of a host: of each CPU, which thread runs; of each
 * thread, its system calls and other events, and beside that its states.
 */
#include <stdlib.h>
#include <string.h>

#include "common/tool.h"
#include "perfetto.h"

/* A thread that changes its name as a program starts gets a track of each name; it
 * keeps the last one of so many: chosen, two or three are common. */
#define MAX_NAMES 4

/* A system call, and what was known at its begin. */
struct call {
	const char *name;	/* which its caller keeps; NULL: none */
	int64_t since_ns;
	size_t num_args;
	struct arg *args;	/* with their names and texts behind them */
};

/* What is shown of a thread. */
struct shown {
	uint32_t number;	/* of its tracks */
	char name[SCHED_NAME_SIZE];	/* as these are named */
	unsigned int num_names;	/* 0: they are not yet */
	bool is_old;		/* it was there before all events */
	bool is_forked;		/* since then, which is the next one */
	bool has_called;	/* there was a system call */
	int64_t forked_ns;
	struct call call;
};

/* NULL: there is not enough memory. */
static struct shown *shown_of(struct threads *threads,
			      struct sched_thread *thread)
{
	if (!thread->own)
		thread->own = calloc(1, sizeof(struct shown));
	if (!thread->own)
		threads->failed = true;
	return thread->own;
}

/* ---- tracks ------------------------------------------------------------- */

static struct track track_of(const struct threads *threads, enum track_kind kind,
			     uint32_t number)
{
	return (struct track){ threads->host, kind, number };
}

static void name_tracks(struct threads *threads,
			const struct sched_thread *thread, struct shown *shown)
{
	char name[SCHED_NAME_SIZE + 16], state[SCHED_NAME_SIZE + 24];
	struct timeline *timeline = threads->timeline;

	/* Beyond what 23 bits hold two threads share a track. */
	shown->number = shown->num_names ?
		TRACK_MORE_THREADS +
		threads->num_more++ % TRACK_MORE_THREADS : thread->tid;
	shown->num_names++;
	memcpy(shown->name, thread->name, sizeof(shown->name));
	snprintf(name, sizeof(name), "%s %u",
		 *shown->name ? shown->name : "thread", thread->tid);
	snprintf(state, sizeof(state), "%s state", name);
	timeline->format->name(timeline,
			       track_of(threads, TRACK_THREAD, shown->number),
			       name);
	if (threads->show_states)
		timeline->format->name(timeline,
			track_of(threads, TRACK_STATE, shown->number), state);
}

/* The track of a thread, of its name as it is now. */
static struct track thread_track(struct threads *threads, enum track_kind kind,
				 const struct sched_thread *thread,
				 struct shown *shown)
{
	if (!shown->num_names || (shown->num_names < MAX_NAMES &&
				  strcmp(shown->name, thread->name)))
		name_tracks(threads, thread, shown);
	return track_of(threads, kind, shown->number);
}

static struct track cpu_track(struct threads *threads, uint32_t cpu)
{
	const struct track track = track_of(threads, TRACK_CPU, cpu);
	uint8_t *named = &threads->cpus_named[cpu / 8];
	char name[24];

	if (*named & 1U << cpu % 8)
		return track;
	*named |= 1U << cpu % 8;
	snprintf(name, sizeof(name), "CPU %u", cpu);
	threads->timeline->format->name(threads->timeline, track, name);
	return track;
}

static void put_slice(struct threads *threads, const struct timeline_event *event,
		      int64_t end_ns)
{
	threads->timeline->format->slice(threads->timeline, event, end_ns);
}

/* What is shown of a span. False: nothing. */
static bool clamp(const struct threads *threads, int64_t *from_ns, int64_t *to_ns)
{
	const struct export *export = threads->export;

	if (*from_ns < threads->first_ns)
		*from_ns = threads->first_ns;
	if (*from_ns < export->base->begin_ns)
		*from_ns = export->base->begin_ns;
	if (*to_ns > export->base->end_ns)
		*to_ns = export->base->end_ns;
	return *from_ns < *to_ns;
}

/* ---- states ------------------------------------------------------------- */

static void put_state(struct threads *threads, struct sched_thread *thread,
		      struct shown *shown, int64_t from_ns, int64_t to_ns)
{
	const bool running = thread->state == SCHED_RUNNING;
	const struct arg cpu = { "cpu", ARG_UNSIGNED, { .number = thread->cpu } };
	const struct arg tid = { "tid", ARG_UNSIGNED, { .number = thread->tid } };
	struct timeline_event event = {
		.track = thread_track(threads, TRACK_STATE, thread, shown),
		.time_ns = from_ns,
		.category = "sched",
		.name = sched_state_name(thread->state),
		.args = &cpu,
		.num_args = running,
	};

	put_slice(threads, &event, to_ns);
	if (!running)
		return;
	event.track = cpu_track(threads, thread->cpu);
	event.name = *thread->name ? thread->name : "thread";
	event.args = &tid;
	put_slice(threads, &event, to_ns);
}

static void left(void *data, struct sched_thread *thread, int64_t from_ns,
		 int64_t to_ns)
{
	struct threads *threads = data;
	struct shown *shown = shown_of(threads, thread);

	if (!shown)
		return;
	shown->is_old = shown->is_old || from_ns == INT64_MIN;
	if (threads->show_states && thread->state != SCHED_DEAD &&
	    clamp(threads, &from_ns, &to_ns))
		put_state(threads, thread, shown, from_ns, to_ns);
}

/* ---- system calls ------------------------------------------------------- */

static const char *text_of(const struct arg *arg)
{
	return arg->kind == ARG_TEXT || arg->kind == ARG_LABEL ? arg->text : NULL;
}

/* NULL: there is not enough memory. */
static struct arg *copy_args(const struct args *args)
{
	size_t size = args->num * sizeof(struct arg) + 1;
	struct arg *copy;
	char *text;

	for (size_t i = 0; i < args->num; i++) {
		size += strlen(args->list[i].name) + 1;
		if (text_of(&args->list[i]))
			size += strlen(args->list[i].text) + 1;
	}
	copy = malloc(size);
	if (!copy)
		return NULL;
	text = (char *)(copy + args->num);
	for (size_t i = 0; i < args->num; i++) {
		copy[i] = args->list[i];
		copy[i].name = text;
		text = stpcpy(text, args->list[i].name) + 1;
		if (!text_of(&copy[i]))
			continue;
		copy[i].text = text;
		text = stpcpy(text, args->list[i].text) + 1;
	}
	return copy;
}

static void end_call(struct shown *shown)
{
	free(shown->call.args);
	shown->call = (struct call){ 0 };
	shown->has_called = true;
	shown->is_forked = false;
}

static void put_call(struct threads *threads, struct sched_thread *thread,
		     struct shown *shown, const struct args *more)
{
	struct args args = { 0 };
	struct timeline_event event = {
		.time_ns = shown->call.since_ns,
		.category = "syscall",
		.name = shown->call.name,
	};
	int64_t end_ns = threads->now_ns;

	if (!clamp(threads, &event.time_ns, &end_ns))
		return;
	for (size_t i = 0; i < shown->call.num_args; i++)
		threads->failed |= !args_add(&args, shown->call.args[i]);
	for (size_t i = 0; more && i < more->num; i++)
		threads->failed |= !args_add(&args, more->list[i]);
	event.track = thread_track(threads, TRACK_THREAD, thread, shown);
	event.args = args.list;
	event.num_args = args.num;
	put_slice(threads, &event, end_ns);
	args_release(&args);
}

void threads_enter(struct threads *threads, struct sched_thread *thread,
		   const char *name, const struct args *args)
{
	struct shown *shown = shown_of(threads, thread);
	struct arg *copy;

	if (!shown)
		return;
	/* The end of the one before was lost. */
	end_call(shown);
	copy = copy_args(args);
	threads->failed = threads->failed || !copy;
	shown->call = (struct call){
		name, threads->now_ns, copy ? args->num : 0, copy,
	};
}

bool threads_leave(struct threads *threads, struct sched_thread *thread,
		   const char *name, const struct args *args)
{
	struct shown *shown = shown_of(threads, thread);
	const struct call call = { .name = name };

	if (!shown)
		return true;
	if (!shown->call.name || strcmp(shown->call.name, name)) {
		const bool is_old = shown->is_old && !shown->has_called;
		const bool is_forked = shown->is_forked;

		end_call(shown);
		if (!is_old && !is_forked)
			return false;
		shown->call = call;
		shown->call.since_ns = is_forked ? shown->forked_ns : INT64_MIN;
	}
	put_call(threads, thread, shown, args);
	end_call(shown);
	return true;
}

void threads_fork(struct threads *threads, struct event_task child)
{
	struct sched_thread *thread;
	struct shown *shown;

	sched_fork(threads->sched, threads->now_ns, child);
	thread = sched_thread(threads->sched, child);
	shown = thread ? shown_of(threads, thread) : NULL;
	if (!shown)
		return;
	shown->is_forked = true;
	shown->forked_ns = threads->now_ns;
}

static void gone(void *data, struct sched_thread *thread)
{
	struct shown *shown = thread->own;

	if (shown && shown->call.name)
		put_call(data, thread, shown, NULL);
	if (shown)
		free(shown->call.args);
	free(shown);
}

/* ---- instants ----------------------------------------------------------- */

void threads_instant(struct threads *threads, struct sched_thread *thread,
		     uint32_t cpu, const char *name, const struct args *args)
{
	struct shown *shown = thread ? shown_of(threads, thread) : NULL;
	const struct timeline_event event = {
		.track = shown ? thread_track(threads, TRACK_THREAD, thread, shown) :
				 cpu_track(threads, cpu < EVENT_MAX_CPUS ? cpu : 0),
		.time_ns = threads->now_ns,
		.category = "event",
		.name = name,
		.args = args->list,
		.num_args = args->num,
	};

	threads->timeline->format->instant(threads->timeline, &event);
}

/* ---- all of it ---------------------------------------------------------- */

bool threads_open(struct threads *threads)
{
	const struct sched_listener listener = { left, gone, threads };

	threads->first_ns = INT64_MIN;
	threads->now_ns = INT64_MIN;
	threads->sched = sched_new(&listener);
	return threads->sched;
}

bool threads_close(struct threads *threads)
{
	const bool ok = !sched_failed(threads->sched);

	sched_end(threads->sched, threads->now_ns);
	sched_free(threads->sched);
	threads->sched = NULL;
	threads->timeline->format->flush(threads->timeline);
	return ok && !threads->failed && !threads->timeline->failed;
}
