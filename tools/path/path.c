// SPDX-License-Identifier: GPL-2.0-only
/* netsync path - what a thread waited for, on all hosts, and who is charged for it. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/output.h"
#include "follow.h"
#include "path.h"

struct settings {
	struct input input;
	char *thread;	/* HOST:TID or HOST:NAME */
	char *command;	/* NAME, of any host; one of these two */
	bool account;
	bool json, perfetto;	/* at most one of these; else a table */
	unsigned int timeline;	/* its number, or TIMELINE_NOT_SAID */
	struct window window;
	unsigned int limit;
	struct destination output;
};

/* ---- the command line ------------------------------------------------------ */

static bool check_arguments(const struct settings *set)
{
	if (!set->thread == !set->command) {
		complain("Say whose path: either --thread HOST:TID or HOST:NAME, or --command NAME.");
		return false;
	}
	if (set->thread && !strchr(set->thread, ':')) {
		complain("--thread %s: that is HOST:TID or HOST:NAME; --command takes a name alone.",
			 set->thread);
		return false;
	}
	if (set->json && set->perfetto) {
		complain("--json, --perfetto: only one of these can be written at a time.");
		return false;
	}
	if (!timeline_check(set->timeline, set->perfetto))
		return false;
	if (!input_check_events(&set->input))
		return false;
	if (!set->input.num_traces) {
		complain("Give the traces: netsync path --thread HOST:TID TRACE...");
		return false;
	}
	return input_check_model(&set->input);
}

static const struct option_row options[] = {
	OPTION("thread", 't', "HOST:TID",
	       "whose path: a host, and the number or name of a thread",
	       take_text, .at = offsetof(struct settings, thread)),
	OPTION("command", 'c', "NAME", "the same, of the only thread of that name",
	       take_text, .at = offsetof(struct settings, command)),
	OPTION("account", 0, NULL,
	       "also whose CPU time is charged to it while it waits",
	       take_flag, .at = offsetof(struct settings, account)),
	OPTION("json", 0, NULL, "all of it for other programs",
	       take_flag, .at = offsetof(struct settings, json)),
	OPTION("perfetto", 0, NULL,
	       "for ui.perfetto.dev: slices of threads, and arrows between them",
	       take_flag, .at = offsetof(struct settings, perfetto)),
	{ .table = timeline_options, .at = offsetof(struct settings, timeline) },
	OPTION("limit", 0, "NUMBER",
	       "so many rows, the first ones, of each table (40; 0: all)",
	       take_number, .at = offsetof(struct settings, limit),
	       .least = 0, .most = 1000000000),
	{ .table = window_options, .at = offsetof(struct settings, window) },
	{ .table = output_options, .at = offsetof(struct settings, output) },
	{ .table = input_model_options, .at = offsetof(struct settings, input) },
	{ .table = input_options, .at = offsetof(struct settings, input) },
	OPTIONS_END
};

static const struct usage usage = {
	.begin = "Usage: netsync path --thread HOST:TID | --command NAME [OPTION...] TRACE...\n\n"
	"Show what a thread of traced machines waited for, and what that waited for, across\n"
	"hosts: its critical path. A TRACE is as for netsync sync.\n\n",
	.end = "\nExit status: as of netsync sync.\n",
	.options = options,
};

/* ---- reading the hosts ------------------------------------------------------ */

struct job {
	const struct settings *set;
	struct timebase base;
	struct path path;
	uint64_t num_graphs; /* hosts with scheduler events */
};

/* In the child. */
static bool read_group(void *data, const struct group *group,
		       struct group_state *state)
{
	const struct job *job = data;

	return follow(group, &job->base, state, job->path.graph.file);
}

static void keep_group(void *data, const struct group *group,
		       const struct group_state *state)
{
	struct job *job = data;

	job->num_graphs += state->number != 0;
	graph_set(&job->path.graph, group->host);
}

static bool read_hosts(struct job *job)
{
	const struct groups_reader reader = {
		.base = &job->base,
		.action = "reading",
		.out = job->path.graph.file,
		.read = read_group,
		.done = keep_group,
		.data = job,
	};

	if (!groups_read(&reader)) {
		complain("The execution graph cannot be kept: %s. TMPDIR says where else.",
			 strerror(errno));
		return false;
	}
	if (job->num_graphs)
		return graph_load(&job->path.graph);
	complain("There are no scheduler events (sched_switch) in what could be read and corrected of these traces, or in the window; netsync record --preset critical-path records all that is needed.");
	return false;
}

/* ---- whose path -------------------------------------------------------------- */

static bool is_called(const struct record_thread *thread, const char *name)
{
	char number[16];

	snprintf(number, sizeof(number), "%" PRIu32, thread->tid);
	return !strcmp(name, number) || !strcmp(name, thread->name);
}

/* Threads so called, of a host or (NULL) of all. The first one is @who. */
static uint32_t count_threads(const struct job *job, const char *host,
			      size_t length, const char *name, struct actor *who,
			      char *list, size_t size)
{
	const struct graph *graph = &job->path.graph;
	uint32_t num = 0;

	*list = '\0';
	for (uint32_t h = 0; h < graph->num_hosts; h++) {
		const char *of = job->base.hosts[h].name;

		if (host && (strlen(of) != length || memcmp(of, host, length)))
			continue;
		for (uint32_t t = 0; t < graph->hosts[h].num_threads; t++) {
			const struct actor one = { h, t };
			const struct record_thread *thread =
				path_thread(&job->path, one);

			if (!thread || thread->last == NO_RECORD ||
			    !is_called(thread, name))
				continue;
			if (!num++)
				*who = one;
			snprintf(list + strlen(list), size - strlen(list),
				 "%s%s:%" PRIu32, num > 1 ? ", " : "", of,
				 thread->tid);
		}
	}
	return num;
}

static bool find_thread(struct job *job)
{
	const struct settings *set = job->set;
	/* Names of hosts may have colons in them, as addresses do. */
	const char *colon = set->thread ? strrchr(set->thread, ':') : NULL;
	const char *name = colon ? colon + 1 : set->command;
	char list[256];
	const uint32_t num = count_threads(job, colon ? set->thread : NULL,
					   colon ? colon - set->thread : 0, name,
					   &job->path.who, list, sizeof(list));

	if (num == 1)
		return true;
	make_printable(list);
	if (num)
		complain("%s: there are %" PRIu32 " threads so called: %s%s. Choose one by --thread HOST:TID.",
			 name, num, list, strlen(list) == sizeof(list) - 1 ? "..." : "");
	else
		complain("%s: no thread so called does anything in these traces, or in the window; netsync states --states sched lists threads.",
			 colon ? set->thread : name);
	return false;
}

/* ---- what is not as it should be ---------------------------------------------- */

static void explain_host(const struct path *path, uint32_t host)
{
	const struct record_host *info = graph_info(&path->graph, host);
	const char *name = path->base->hosts[host].name;

	if (!path->base->hosts[host].clock)
		return;
	if (!info || !(info->seen & SEEN_SWITCH)) {
		complain("warning: %s: there are no scheduler events in its traces, so that the path ends where it comes there.",
			 name);
		return;
	}
	if (info->losses)
		complain("warning: %s: events were lost at %" PRIu32 " places; where the path does not know it says \"unknown\".",
			 name, info->losses);
	if (!(info->seen & (SEEN_WAKING | SEEN_WAKEUP)))
		complain("warning: %s: sched_waking is missing: nobody knows who woke whom.",
			 name);
	else if (!(info->seen & SEEN_WAKING))
		complain("warning: %s: sched_waking is missing; sched_wakeup may tell of another CPU than that of who woke.",
			 name);
	if (!(info->seen & SEEN_INTERRUPT))
		complain("warning: %s: irq_handler_entry, irq_softirq_entry and such are missing: what interrupts woke seems to be woken by the thread that they interrupted.",
			 name);
	if (!(info->seen & SEEN_PACKET))
		complain("warning: %s: there are no events of packets in its traces: which ones its threads waited for is not known.",
			 name);
}

/* ---- all of it ----------------------------------------------------------------- */

static bool write_path(FILE *out, const void *data)
{
	const struct job *job = data;

	return job->set->json ? path_json(out, &job->path) :
	       job->set->perfetto ? path_perfetto(out, &job->path) :
				    path_table(out, &job->path);
}

/* False: there is none, or not enough memory, and that was said. */
static bool walk(struct path *path)
{
	if (!path_walk(path))
		return no_memory();
	if (path->num_pieces)
		return true;
	complain("The thread does nothing in these traces, or in the window: it has ended before.");
	return false;
}

static bool find_path(struct job *job)
{
	struct path *path = &job->path;

	path->base = &job->base;
	path->limit = job->set->limit;
	path->account = job->set->account;
	path->timeline = timeline_format(job->set->timeline,
					 job->set->output.path);
	return graph_open(&path->graph, job->base.num_hosts) &&
	       messages_load(&path->messages, &job->base) && read_hosts(job) &&
	       find_thread(job) && walk(path);
}

static int run(struct job *job)
{
	const struct settings *set = job->set;
	int status;

	if (!output_check(&set->output) ||
	    !timebase_open(&job->base, &set->input) ||
	    !messages_open(&job->path.messages, job->base.ns))
		return EXIT_BAD;
	status = timebase_find(&job->base, &set->input);
	if (status == EXIT_BAD ||
	    !timebase_limit(&job->base, &set->window, true) ||
	    !find_path(job) || !output_write(&set->output, write_path, job))
		return EXIT_BAD;
	for (uint32_t i = 0; i < job->base.num_hosts; i++)
		explain_host(&job->path, i);
	return timebase_explain(&job->base, &set->input, status);
}

static int show(const struct settings *set)
{
	struct job job = { .set = set };
	const int status = run(&job);

	free(job.path.charges);
	free(job.path.pieces);
	messages_close(&job.path.messages);
	graph_close(&job.path.graph);
	timebase_close(&job.base);
	return status;
}

int cmd_path(int argc, char **argv)
{
	struct settings set = {
		.input = INPUT_DEFAULT, .timeline = TIMELINE_NOT_SAID, .limit = 40,
	};
	int status = input_arguments(&usage, &set, &set.input, argc, argv);

	if (status < 0 && !check_arguments(&set))
		status = EXIT_BAD;
	if (status < 0)
		status = show(&set);
	input_release(&set.input);
	return status;
}
