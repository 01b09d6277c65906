// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracks for the threads and CPUs of a host. A CPU's track shows the running thread. A
 * thread's tracks show its system calls, other events, and states.
 */
#include <stdlib.h>
#include <string.h>

#include "perfetto.h"

/*
 * Maximum number of names of a thread that have tracks of their own. A thread usually gets a new
 * name when a program starts. All further names share the last track. Chosen: two or three names
 * are common.
 */
#define MAX_NAMES 4

/* A system call, and its arguments at the time of the call. */
struct call {
	const char *name; /* name, which the caller owns, or NULL if there is no call */
	int64_t since_ns;
	size_t num_args;
	struct arg *args; /* the names and texts of the arguments follow this array */
};

/* State of a thread's tracks. */
struct shown_thread {
	uint32_t number;	    /* number of its tracks */
	uint32_t first_number;	    /* number of the tracks of its first name */
	char name[SCHED_NAME_SIZE]; /* name of its current tracks */
	unsigned int num_names;	    /* number of names so far, or 0 before the first name */
	bool is_old;		    /* whether the thread existed before all events */
	bool is_forked;		    /* whether the thread was forked and has made no call yet */
	bool has_called;	    /* the thread has made a system call */
	int64_t forked_ns;
	struct call call;
};

/* Return the tracks of a thread, or NULL if out of memory. */
static struct shown_thread *get_shown_thread(struct threads *threads, struct sched_thread *thread)
{
	if (!thread->own)
		thread->own = calloc(1, sizeof(struct shown_thread));
	if (!thread->own)
		threads->failed = true;
	return thread->own;
}

/* ---- tracks ------------------------------------------------------------- */

static struct track get_thread_track(const struct threads *threads, enum track_kind kind,
				     uint32_t number)
{
	return (struct track){ threads->host, kind, number };
}

/*
 * Return a number for tracks. The number is the thread's id, unless another track has this number.
 * If the numbers from TRACK_MORE_THREADS on are used up, two threads share a track.
 */
static uint32_t choose_track_number(struct threads *threads, uint32_t tid)
{
	uint8_t *used = &threads->tids_used[tid / 8];

	if (*used & 1U << tid % 8)
		return TRACK_MORE_THREADS + threads->num_more++ % TRACK_MORE_THREADS;
	*used |= 1U << tid % 8;
	return tid;
}

static void name_thread_tracks(struct threads *threads, const struct sched_thread *thread,
			       struct shown_thread *shown)
{
	char name[TIMELINE_THREAD_NAME_SIZE];
	char state[TIMELINE_THREAD_NAME_SIZE + sizeof(" state")];
	struct timeline *timeline = threads->timeline;
	struct timeline_thread named = { .tid = thread->tid, .name = shown->name };

	shown->number = choose_track_number(threads, thread->tid);
	if (!shown->num_names++)
		shown->first_number = shown->number;
	memcpy(shown->name, thread->name, sizeof(shown->name));
	named.track = get_thread_track(threads, TRACK_THREAD, shown->number);
	named.number = shown->first_number;
	timeline->format->thread(timeline, &named);
	timeline_format_thread_name(name, &named);
	snprintf(state, sizeof(state), "%s state", name);
	if (threads->show_states && !scheduling_can_add_host(threads))
		timeline->format->name(timeline,
				       get_thread_track(threads, TRACK_STATE, shown->number),
				       state);
}

/* Return the track for a thread and its current name. */
static struct track make_thread_track(struct threads *threads, enum track_kind kind,
				      const struct sched_thread *thread, struct shown_thread *shown)
{
	if (!shown->num_names ||
	    (shown->num_names < MAX_NAMES && strcmp(shown->name, thread->name)))
		name_thread_tracks(threads, thread, shown);
	return get_thread_track(threads, kind, shown->number);
}

uint32_t threads_get_number(struct threads *threads, struct sched_thread *thread)
{
	struct shown_thread *shown = get_shown_thread(threads, thread);

	if (!shown)
		return 0;
	make_thread_track(threads, TRACK_THREAD, thread, shown);
	return shown->first_number;
}

static struct track get_cpu_track(struct threads *threads, uint32_t cpu)
{
	const struct track track = get_thread_track(threads, TRACK_CPU, cpu);
	uint8_t *named = &threads->cpus_named[cpu / 8];
	char name[24];

	if (*named & 1U << cpu % 8)
		return track;
	*named |= 1U << cpu % 8;
	snprintf(name, sizeof(name), "CPU %u", cpu);
	threads->timeline->format->name(threads->timeline, track, name);
	return track;
}

static void put_timeline_slice(struct threads *threads, const struct timeline_event *event,
			       int64_t end_ns)
{
	threads->timeline->format->slice(threads->timeline, event, end_ns);
}

/*
 * Limit the displayed start of a span that began at @from_ns to the window. Return true if the
 * start was changed.
 */
static bool clamp_begin_to_window(const struct threads *threads, int64_t *from_ns)
{
	const int64_t window_ns = threads->export->base->begin_ns;
	const int64_t begin_ns = threads->first_ns > window_ns ? threads->first_ns : window_ns;

	if (*from_ns >= begin_ns)
		return false;
	*from_ns = begin_ns;
	return true;
}

static void clamp_end_to_window(const struct threads *threads, int64_t *to_ns)
{
	if (*to_ns > threads->export->base->end_ns)
		*to_ns = threads->export->base->end_ns;
}

/* ---- states ------------------------------------------------------------- */

static void put_state_slice(struct threads *threads, struct sched_thread *thread,
			    struct shown_thread *shown, int64_t from_ns, int64_t to_ns)
{
	const bool running = thread->state == SCHED_RUNNING;
	const struct arg cpu = { "cpu", ARG_UNSIGNED, { .number = thread->cpu } };
	const struct arg tid = { "tid", ARG_UNSIGNED, { .number = thread->tid } };
	struct timeline_event event = {
		.track = make_thread_track(threads, TRACK_STATE, thread, shown),
		.time_ns = from_ns,
		.category = "sched",
		.name = sched_get_state_name(thread->state),
		.args = &cpu,
		.num_args = running,
	};

	if (!scheduling_can_add_host(threads))
		put_timeline_slice(threads, &event, to_ns);
	if (!running)
		return;
	event.track = get_cpu_track(threads, thread->cpu);
	event.name = *thread->name ? thread->name : "thread";
	event.args = &tid;
	put_timeline_slice(threads, &event, to_ns);
}

static void show_left_state(void *data, struct sched_thread *thread, int64_t from_ns, int64_t to_ns)
{
	struct threads *threads = data;
	struct shown_thread *shown = get_shown_thread(threads, thread);
	bool is_implied;

	if (!shown)
		return;
	shown->is_old = shown->is_old || from_ns == INT64_MIN;
	if (!threads->show_states || thread->state == SCHED_DEAD)
		return;
	is_implied = clamp_begin_to_window(threads, &from_ns) || thread->is_implied;
	clamp_end_to_window(threads, &to_ns);
	if (is_implied && from_ns <= to_ns)
		scheduling_put_implied(threads, thread, from_ns);
	if (from_ns < to_ns)
		put_state_slice(threads, thread, shown, from_ns, to_ns);
}

/* ---- system calls ------------------------------------------------------- */

static const char *get_arg_text(const struct arg *arg)
{
	return arg->kind == ARG_TEXT || arg->kind == ARG_LABEL ? arg->text : NULL;
}

/* Copy arguments with their names and texts. Return NULL if out of memory. */
static struct arg *copy_call_args(const struct args *args)
{
	size_t size = args->num * sizeof(struct arg) + 1;
	struct arg *copy;
	char *text;

	for (size_t i = 0; i < args->num; i++) {
		size += strlen(args->list[i].name) + 1;
		if (get_arg_text(&args->list[i]))
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
		if (!get_arg_text(&copy[i]))
			continue;
		copy[i].text = text;
		text = stpcpy(text, args->list[i].text) + 1;
	}
	return copy;
}

static void forget_call(struct shown_thread *shown)
{
	free(shown->call.args);
	shown->call = (struct call){ 0 };
	shown->has_called = true;
	shown->is_forked = false;
}

static void put_call_slice(struct threads *threads, struct sched_thread *thread,
			   struct shown_thread *shown, const struct args *more)
{
	struct args args = { 0 };
	struct timeline_event event = {
		.time_ns = shown->call.since_ns,
		.category = "syscall",
		.name = shown->call.name,
	};
	int64_t end_ns = threads->now_ns;

	clamp_begin_to_window(threads, &event.time_ns);
	clamp_end_to_window(threads, &end_ns);
	if (event.time_ns >= end_ns)
		return;
	for (size_t i = 0; i < shown->call.num_args; i++)
		threads->failed |= !args_append(&args, shown->call.args[i]);
	for (size_t i = 0; more && i < more->num; i++)
		threads->failed |= !args_append(&args, more->list[i]);
	event.track = make_thread_track(threads, TRACK_THREAD, thread, shown);
	event.args = args.list;
	event.num_args = args.num;
	put_timeline_slice(threads, &event, end_ns);
	args_release(&args);
}

void threads_enter_call(struct threads *threads, struct sched_thread *thread, const char *name,
			const struct args *args)
{
	struct shown_thread *shown = get_shown_thread(threads, thread);
	struct arg *copy;

	if (!shown)
		return;
	/* If a call is still open, its end was lost. */
	forget_call(shown);
	copy = copy_call_args(args);
	threads->failed = threads->failed || !copy;
	shown->call = (struct call){
		name,
		threads->now_ns,
		copy ? args->num : 0,
		copy,
	};
}

bool threads_leave_call(struct threads *threads, struct sched_thread *thread, const char *name,
			const struct args *args)
{
	struct shown_thread *shown = get_shown_thread(threads, thread);
	const struct call call = { .name = name };

	if (!shown)
		return true;
	if (!shown->call.name || strcmp(shown->call.name, name)) {
		const bool is_old = shown->is_old && !shown->has_called;
		const bool is_forked = shown->is_forked;

		forget_call(shown);
		if (!is_old && !is_forked)
			return false;
		shown->call = call;
		shown->call.since_ns = is_forked ? shown->forked_ns : INT64_MIN;
	}
	put_call_slice(threads, thread, shown, args);
	forget_call(shown);
	return true;
}

void threads_add_forked(struct threads *threads, struct event_task child)
{
	struct sched_thread *thread;
	struct shown_thread *shown;

	sched_fork(threads->sched, threads->now_ns, child);
	thread = sched_find_thread(threads->sched, child);
	shown = thread ? get_shown_thread(threads, thread) : NULL;
	if (!shown)
		return;
	shown->is_forked = true;
	shown->forked_ns = threads->now_ns;
}

static void end_shown_thread(void *data, struct sched_thread *thread)
{
	struct shown_thread *shown = thread->own;

	if (shown && shown->call.name)
		put_call_slice(data, thread, shown, NULL);
	if (shown)
		free(shown->call.args);
	free(shown);
}

/* ---- instants ----------------------------------------------------------- */

void threads_put_instant(struct threads *threads, struct sched_thread *thread, uint32_t cpu,
			 const char *name, const struct args *args)
{
	struct shown_thread *shown = thread ? get_shown_thread(threads, thread) : NULL;
	const struct timeline_event event = {
		.track = shown ? make_thread_track(threads, TRACK_THREAD, thread, shown) :
				 get_cpu_track(threads, cpu < EVENT_MAX_CPUS ? cpu : 0),
		.time_ns = threads->now_ns,
		.category = "event",
		.name = name,
		.args = args->list,
		.num_args = args->num,
	};

	threads->timeline->format->instant(threads->timeline, &event);
}

/* ---- all tracks ----------------------------------------------------------- */

bool threads_open(struct threads *threads)
{
	const struct sched_listener listener = { show_left_state, end_shown_thread, threads };

	threads->first_ns = INT64_MIN;
	threads->now_ns = INT64_MIN;
	threads->sched = sched_new(&listener);
	threads->tids_used = calloc(EVENT_MAX_TID / 8 + 1, 1);
	return threads->sched && threads->tids_used;
}

bool threads_close(struct threads *threads)
{
	const bool ok = !sched_has_failed(threads->sched);

	sched_end(threads->sched, threads->now_ns);
	sched_free(threads->sched);
	threads->sched = NULL;
	free(threads->tids_used);
	threads->tids_used = NULL;
	threads->timeline->format->flush(threads->timeline);
	return ok && !threads->failed && !threads->timeline->failed;
}
