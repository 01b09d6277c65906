// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of "netsync sync --messages" from a text of messages to coefficients as JSON,
 * for few hosts and many: processor time of all threads, s, compared with md5sum on the
 * same file, because any program that reads a file does at least as much; memory; and the
 * goals for both, if any. Then the time by stage: the same sources run in this program,
 * which measures their stages. The fastest of several runs is used, because other
 * programs may run, too. Goals are printed, not asserted.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cluster.h"
#include "commands.h"
#include "common/exit-status.h"
#include "measure.h"
#include "stages.h"

struct job {
	int hosts;
	enum cluster_topology topology;
	unsigned int clocks; /* set of enum cluster_clocks */
	long messages;
	int runs; /* number of runs; the fastest is used. Chosen: long jobs run once. */
	/* Goals for processor time (s) and memory (MiB), or 0 without a goal. */
	double goal_s;
	double goal_mib;
};

struct text {
	const struct job *job;
	char path[4096];
};

/* The cost of running a program. */
struct cost {
	double seconds; /* processor time */
	double mib;	/* peak memory, MiB */
};

static const char *const topologies[] = {
	[ALL_PAIRS] = "all",
	[CHAIN] = "chain",
	[EIGHT] = "8 each",
};

/* The table's columns. Each column is a sum of stages. */
static const struct {
	enum stage first;
	enum stage last;
	const char *head;
	const char *meaning;
} columns[] = {
	{ STAGE_READ, STAGE_READ, "read", "the text, once for names of hosts, once for messages" },
	{ STAGE_PUSH, STAGE_PUSH, "push", "messages into bins and hulls of their pairs" },
	{ STAGE_LINES, STAGE_HOST_BOUNDS, "solve", "all that makes clocks of these, which is:" },
	{ STAGE_LINES, STAGE_LINES, "lines", "  a line for each pair, and spans of hosts" },
	{ STAGE_PAIR_BOUNDS, STAGE_PAIR_BOUNDS, "pairs",
	  "  bounds of pairs, before and after curves" },
	{ STAGE_REFERENCE, STAGE_REFERENCE, "ref", "  the reference" },
	{ STAGE_HOST_FITS, STAGE_HOST_FITS, "fits", "  curves of one host after another" },
	{ STAGE_JOINT_FIT, STAGE_JOINT_FIT, "joint", "  curves of all hosts at once" },
	{ STAGE_HOST_BOUNDS, STAGE_HOST_BOUNDS, "bounds", "  clocks with the bounds of hosts" },
	{ STAGE_WRITE, STAGE_WRITE, "write", "coefficients as JSON, and warnings" },
	{ STAGE_REST, STAGE_REST, "rest", "arguments, and freeing all at the end" },
};

#define NUM_COLUMNS (sizeof(columns) / sizeof(columns[0]))

static void exit_with_text_error(const char *what)
{
	fprintf(stderr, "text: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Write messages in a separate process, which frees its memory by ending. */
static void write_messages(const void *arg, void *result)
{
	const struct text *text = arg;
	const struct job *job = text->job;
	const struct cluster_spec spec = {
		.hosts = job->hosts,
		.topology = job->topology,
		.clocks = job->clocks,
		.messages = job->messages,
		.span_s = 3600,
	};
	FILE *f = fopen(text->path, "w");
	struct cluster c;

	if (!f || !cluster_make(&c, &spec, 1))
		exit_with_text_error(text->path);
	for (long i = 0; i < c.num; i++) {
		const struct cluster_message *m = &c.msg[i];

		fprintf(f, "host%u host%u %" PRId64 " %" PRId64 "\n", m->from, m->to, m->send_ns,
			m->recv_ns);
	}
	cluster_free(&c);
	if (fclose(f))
		exit_with_text_error(text->path);
	*(bool *)result = true;
}

/* Discard the result, and the command's warnings about clocks with large bounds. */
static void forget_output(void)
{
	if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
		exit_with_text_error("/dev/null");
}

static double timeval_to_seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static struct cost measure_command(char *const argv[], int runs)
{
	struct cost least = { 0 };

	for (int i = 0; i < runs; i++) {
		struct rusage usage;
		struct cost cost;
		pid_t child;
		int status;

		fflush(stdout);
		child = fork();
		if (!child) {
			forget_output();
			execvp(argv[0], argv);
			exit_with_text_error(argv[0]);
		}
		if (child < 0 || wait4(child, &status, 0, &usage) < 0)
			exit_with_text_error(argv[0]);
		if (status) {
			fprintf(stderr, "text: %s failed\n", argv[0]);
			exit(1);
		}
		cost.seconds = timeval_to_seconds(usage.ru_utime) +
			       timeval_to_seconds(usage.ru_stime);
		cost.mib = (double)usage.ru_maxrss / 1024;
		if (!i || cost.seconds < least.seconds)
			least = cost;
	}
	return least;
}

/* Run the main function of the netsync command in a separate process. */
static void run_stages_in_process(const void *arg, void *result)
{
	char *const *argv = arg;
	int argc = 0;

	while (argv[argc])
		argc++;
	forget_output();
	stages_begin();
	if (cmd_sync(argc, (char **)argv) != EXIT_DONE)
		exit(1);
	stages_end(result);
}

/* Return the sum of some stages, ns. */
static double sum_stages(const double stages[NUM_STAGES], enum stage first, enum stage last)
{
	double all = 0;

	for (enum stage i = first; i <= last; i++)
		all += stages[i];
	return all;
}

static void measure_stages(char *const argv[], int runs, double stages[NUM_STAGES])
{
	double next[NUM_STAGES];

	for (int i = 0; i < runs; i++) {
		if (!measure_in_child(run_stages_in_process, argv, next, sizeof(next))) {
			fprintf(stderr, "text: a run by stages failed\n");
			exit(1);
		}
		if (!i ||
		    sum_stages(next, 0, NUM_STAGES - 1) < sum_stages(stages, 0, NUM_STAGES - 1))
			memcpy(stages, next, sizeof(next));
	}
}

static void print_goal(int width, int digits, double goal)
{
	if (goal)
		printf(" %*.*f", width, digits, goal);
	else
		printf(" %*s", width, "-");
}

static void print_text_job(const struct text *text, char *netsync)
{
	const struct job *job = text->job;
	char *const path = (char *)text->path;
	char *const md5sum[] = { "md5sum", path, NULL };
	char *const sync[] = { netsync, "sync", "--format", "json", "--messages", path, NULL };
	double stages[NUM_STAGES];
	const struct cost reference = measure_command(md5sum, job->runs);
	const struct cost ours = measure_command(sync, job->runs);

	measure_stages(sync + 1, job->runs, stages);
	printf("%5d %-6s %-8s %8ld %7.2f %7.2f", job->hosts, topologies[job->topology],
	       job->clocks ? "bending" : "straight", job->messages, reference.seconds,
	       ours.seconds);
	print_goal(5, 1, job->goal_s);
	printf(" %6.1f %5.0f", ours.seconds / reference.seconds, ours.mib);
	print_goal(4, 0, job->goal_mib);
	printf(" |");
	for (size_t i = 0; i < NUM_COLUMNS; i++)
		printf(" %6.2f", sum_stages(stages, columns[i].first, columns[i].last) / 1e9);
	printf("\n");
	fflush(stdout);
}

static void print_text_heads(void)
{
	printf("From a text to coefficients, s of processors, and MiB at most; then the stages, s:\n");
	for (size_t i = 0; i < NUM_COLUMNS; i++)
		printf("  %-6s  %s\n", columns[i].head, columns[i].meaning);
	printf("%5s %-6s %-8s %8s %7s %7s %5s %6s %5s %4s |", "hosts", "pairs", "clocks",
	       "messages", "md5sum", "netsync", "goal", "ratio", "MiB", "goal");
	for (size_t i = 0; i < NUM_COLUMNS; i++)
		printf(" %6s", columns[i].head);
	printf("\n");
	fflush(stdout);
}

/* The argument is the path of the netsync command. */
int main(int argc, char **argv)
{
	/* Goals are chosen for a machine with 2 processors. */
	static const struct job jobs[] = {
		{ 2, ALL_PAIRS, BEND, 1000000, 3, 0, 0 },
		{ 10, ALL_PAIRS, BEND, 1000000, 3, 0.8, 0 },
		{ 10, CHAIN, 0, 1000000, 3, 0, 0 },
		{ 64, ALL_PAIRS, 0, 1000000, 3, 1.5, 64 },
		{ 64, ALL_PAIRS, BEND, 1000000, 3, 1.5, 64 },
		{ 1000, EIGHT, BEND, 10000000, 1, 15, 256 },
	};
	const char *folder = getenv("TMPDIR");
	struct text text;
	int fd;

	if (argc != 2) {
		fprintf(stderr, "usage: %s NETSYNC\n", argv[0]);
		return 1;
	}
	snprintf(text.path, sizeof(text.path), "%s/netsync-bench-XXXXXX", folder ? folder : "/tmp");
	fd = mkstemp(text.path);
	if (fd < 0)
		exit_with_text_error(text.path);
	close(fd);
	print_text_heads();
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		bool written = false;

		text.job = &jobs[i];
		if (!measure_in_child(write_messages, &text, &written, sizeof(written)))
			exit_with_text_error(text.path);
		print_text_job(&text, argv[1]);
	}
	unlink(text.path);
	return 0;
}
