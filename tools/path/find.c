// SPDX-License-Identifier: GPL-2.0-only
/* Find the path of a thread from the events of all hosts. Print advice if events are missing. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/complain.h"
#include "follow.h"
#include "path.h"

/* ---- reading the hosts ------------------------------------------------------ */

struct graph_search {
	struct critical_path *path;
	uint64_t num_graphs; /* number of hosts with scheduler events */
};

/* Read the events of a host, in the host's child process. */
static bool read_group_graph(void *data, const struct event_group *group, struct group_state *state)
{
	const struct graph_search *finding = data;

	return follow_group(group, finding->path->base, state, finding->path->graph.file);
}

static void keep_written_graph(void *data, const struct event_group *group,
			       const struct group_state *state)
{
	struct graph_search *finding = data;

	finding->num_graphs += state->number != 0;
	graph_set_host(&finding->path->graph, group->host);
}

static bool read_host_graphs(struct critical_path *path)
{
	struct graph_search finding = { .path = path };
	const struct groups_reader reader = {
		.base = path->base,
		.host = GROUPS_ALL_HOSTS,
		.action = "reading",
		.out = path->graph.file,
		.read = read_group_graph,
		.done = keep_written_graph,
		.data = &finding,
	};

	if (!groups_read(&reader)) {
		complain("Cannot store the execution graph: %s. Set TMPDIR to another directory.",
			 strerror(errno));
		return false;
	}
	if (finding.num_graphs)
		return graph_load(&path->graph);
	complain(
		"No scheduler events (sched_switch) in these traces or in the window could be read and corrected; to record all events that are needed, use \"netsync record --preset critical-path\".");
	return false;
}

/* ---- the requested thread --------------------------------------------------- */

static bool has_thread_name(const struct record_thread *thread, const char *name)
{
	char number[16];

	snprintf(number, sizeof(number), "%" PRIu32, thread->tid);
	return !strcmp(name, number) || !strcmp(name, thread->name);
}

/* Return the thread that created this thread during the trace, or NULL if it is not known. */
static const struct record_thread *find_creator(const struct critical_path *path, struct actor who)
{
	const struct exec_graph *graph = &path->graph;
	const struct graph_record *state, *cause;
	uint32_t number = path_find_thread(path, who)->last;

	while ((state = graph_get_record(graph, who.host, number)) &&
	       state->state.before != NO_RECORD)
		number = state->state.before;
	if (!state || state->what != SCHED_UNKNOWN || state->state.begin_ns == INT64_MIN)
		return NULL;
	cause = graph_get_record(graph, who.host, state->state.cause);
	if (!cause || cause->what != CAUSE_THREAD)
		return NULL;
	return path_find_thread(path, (struct actor){ who.host, cause->cause.thread });
}

/* Threads with the requested name or number. */
struct named_threads {
	uint32_t num;
	uint32_t num_origins; /* number of those threads that none of the others created */
	struct actor origin;  /* last of the threads counted by num_origins */
	char list[256];
};

static void add_named_thread(struct named_threads *found, const struct critical_path *path,
			     struct actor one, const char *name)
{
	const struct record_thread *thread = path_find_thread(path, one);
	const struct record_thread *creator = find_creator(path, one);
	const size_t length = strlen(found->list);

	if (!creator || !has_thread_name(creator, name)) {
		found->num_origins++;
		found->origin = one;
	}
	snprintf(found->list + length, sizeof(found->list) - length, "%s%s:%" PRIu32 " (%s)",
		 found->num++ ? ", " : "", path->base->hosts[one.host].name, thread->tid,
		 thread->name);
}

/*
 * Find the threads with the requested name or number on one host, or on all hosts if @host is NULL.
 */
static void find_named_threads(struct named_threads *found, const struct critical_path *path,
			       const char *host, size_t length, const char *name)
{
	const struct exec_graph *graph = &path->graph;

	for (uint32_t h = 0; h < graph->num_hosts; h++) {
		const char *of = path->base->hosts[h].name;

		if (host && (strlen(of) != length || memcmp(of, host, length)))
			continue;
		for (uint32_t t = 0; t < graph->hosts[h].num_threads; t++) {
			const struct actor one = { h, t };
			const struct record_thread *thread = path_find_thread(path, one);

			if (thread && thread->last != NO_RECORD && has_thread_name(thread, name))
				add_named_thread(found, path, one, name);
		}
	}
}

static bool find_requested_thread(struct critical_path *path, const struct path_thread_name *of)
{
	/* Host names, such as IPv6 addresses, may contain colons. */
	const char *colon = of->thread ? strrchr(of->thread, ':') : NULL;
	const char *name = colon ? colon + 1 : of->command;
	struct named_threads found = { 0 };
	const char *more;

	find_named_threads(&found, path, colon ? of->thread : NULL, colon ? colon - of->thread : 0,
			   name);
	more = strlen(found.list) == sizeof(found.list) - 1 ? "..." : "";
	make_text_printable(found.list);
	path->who = found.origin;
	if (found.num == 1)
		return true;
	if (found.num_origins == 1) {
		complain(
			"%s: several threads have this name: %s%s. This is the path of %s:%" PRIu32
			", which created the other threads; for the path of another thread, use --thread HOST:TID.",
			name, found.list, more, path->base->hosts[path->who.host].name,
			path_find_thread(path, path->who)->tid);
		return true;
	}
	if (found.num)
		complain(
			"%s: %" PRIu32
			" threads have this name: %s%s. Choose one with --thread HOST:TID or HOST:NAME; if a thread reuses the ID of a thread that has ended, add --begin and --end.",
			name, found.num, found.list, more);
	else
		complain(
			"no thread \"%s\" ran in these traces, or in the window; \"netsync states --states sched\" lists the threads.",
			colon ? of->thread : name);
	return false;
}

/* ---- missing events ------------------------------------------------------------ */

static void explain_host_gaps(const struct critical_path *path, uint32_t host)
{
	const struct record_host *info = graph_get_host(&path->graph, host);
	const char *name = path->base->hosts[host].name;

	if (!path->base->hosts[host].clock)
		return;
	if (!info || !(info->seen & SEEN_SWITCH)) {
		complain(
			"warning: %s: no scheduler events in these traces; the path ends when it reaches this host.",
			name);
		return;
	}
	if (info->losses)
		complain("warning: %s: events were lost at %" PRIu32
			 " places; affected parts of the path are \"unknown\".",
			 name, info->losses);
	if (!(info->seen & (SEEN_WAKING | SEEN_WAKEUP)))
		complain(
			"warning: %s: no sched_waking events, so it is unknown which thread woke which.",
			name);
	else if (!(info->seen & SEEN_WAKING))
		complain(
			"warning: %s: no sched_waking events; sched_wakeup events can be recorded on a different CPU than that of the waking thread.",
			name);
	if (!(info->seen & SEEN_INTERRUPT))
		complain(
			"warning: %s: no irq_handler_entry, irq_softirq_entry and similar events; wakeups by interrupts appear as wakeups by the interrupted thread.",
			name);
	if (!(info->seen & SEEN_PACKET))
		complain(
			"warning: %s: no packet events in these traces, so it is unknown which packets its threads waited for.",
			name);
}

/* ---- the path ------------------------------------------------------------------ */

/* Find the path. If there is no path or memory is exhausted, print a message and return false. */
static bool walk_path_or_complain(struct critical_path *path)
{
	if (!path_walk(path))
		return complain_no_memory();
	if (path->num_pieces)
		return true;
	complain("The thread ended before the window, or has no events in these traces.");
	return false;
}

bool path_find(struct critical_path *path, struct spool *messages,
	       const struct path_thread_name *of)
{
	return graph_open(&path->graph, path->base->num_hosts) &&
	       messages_load(&path->messages, messages, path->base) && read_host_graphs(path) &&
	       find_requested_thread(path, of) && walk_path_or_complain(path);
}

/*
 * Print a warning if the requested thread never runs on the path. The thread may occur only in
 * events of other threads.
 */
static void explain_unknown_thread(const struct critical_path *path)
{
	const struct record_thread *thread = path_find_thread(path, path->who);
	char name[sizeof(thread->name)];

	for (size_t i = 0; i < path->num_pieces; i++) {
		const struct path_piece *piece = &path->pieces[i];

		if (piece->kind == PIECE_RUNNING && piece->who.host == path->who.host &&
		    piece->who.thread == path->who.thread)
			return;
	}
	memcpy(name, thread->name, sizeof(name));
	make_text_printable(name);
	complain(
		"warning: %s:%" PRIu32
		" (%s): the thread did not run in these traces, or in the window; only what it waited for is known.",
		path->base->hosts[path->who.host].name, thread->tid, name);
}

void path_explain(const struct critical_path *path)
{
	explain_unknown_thread(path);
	for (uint32_t i = 0; i < path->base->num_hosts; i++)
		explain_host_gaps(path, i);
}

void path_release(struct critical_path *path)
{
	free(path->charges);
	free(path->pieces);
	messages_release(&path->messages);
	graph_close(&path->graph);
}
