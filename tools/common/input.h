/* SPDX-License-Identifier: GPL-2.0-only */
/* What a sub-command reads, how clocks are estimated, and the options for both. */
#ifndef NETSYNC_INPUT_H
#define NETSYNC_INPUT_H

#include <netsync-io.h>
#include <netsync.h>

#include "options.h"
#include "window.h"

struct text_file {
	const char *path;
	int (*add)(struct netsync_io *io, const char *path, int strict);
};

/* In place of enum netsync_method: --method was not given. */
#define METHOD_NOT_GIVEN UINT32_MAX

struct remote_traces;

struct input_share;

struct input {
	char **traces;
	int num_traces;
	struct text_file *texts;
	int num_texts;
	const char **addresses;
	int num_addresses;
	bool strict;
	bool split_netns;
	unsigned int jobs;	   /* traces that are read at once; 0: not given */
	int64_t timeout_ns;	   /* the longest wait without progress; 0: not given */
	struct time_window window; /* only this is read, by each host's own clock */
	struct netsync_options solve;
	unsigned int method;	/* enum netsync_method, or METHOD_NOT_GIVEN */
	const char *model;	/* a result file to use instead of estimating; NULL: none */
	bool extrapolate;	/* use a result also for times that it does not hold for */
	bool local;		/* traces are those of this process of several */
	bool takes_remote;	/* the command reads traces of other hosts there */
	const char *remote_netsync;	/* program to run there; NULL: found by their PATH */
	struct remote_traces *remote;	/* traces of other hosts; NULL: there are none */
	struct input_share *share;	/* others read the rest; NULL: all is read here */
};

#define INPUT_DEFAULT { \
	.solve = { .size = sizeof(struct netsync_options) }, \
	.method = METHOD_NOT_GIVEN, \
}

/* Options of the estimation; set a struct netsync_options. */
extern const struct option_row solve_options[];
/* Options of what is read, and solve_options; set a struct input. */
extern const struct option_row input_options[];
/* --method; sets a struct input. */
extern const struct option_row input_method_options[];
/* --model, --extrapolate and --method; set a struct input. */
extern const struct option_row input_model_options[];

/* How traces of other hosts are read; sets a struct input. */
extern const struct option_row input_remote_options[];

/* The name of the method that is used. */
const char *input_method(const struct input *input);

/*
 * Take what is behind the options as traces. False: there is nothing to read, or a
 * trace cannot be taken.
 */
bool input_traces(struct input *input, int argc, char **argv);

/*
 * All arguments of a sub-command: options, and behind them traces. Return: -1 to go on, else the exit status.
 */
int input_arguments(const struct usage *usage, void *settings,
		    struct input *input, int argc, char **argv);

/* False: of all events cannot be known what is wanted of packets; that was said. */
bool input_check_events(const struct input *input);

/* False: options have no meaning with --model, or without it; that was said. */
bool input_check_model(const struct input *input);

/*
 * Read all input, and estimate all clocks, with progress on stderr. With a model only
 * messages are wanted, and a simple method estimates. False: that failed, and was said.
 */
bool input_solve(const struct input *input, struct netsync *ns,
		 struct netsync_io *io);

/*
 * How several processes share the traces out: the first one estimates and tells the
 * result, in which input_solve() is as if it had read all; in the others it only reads.
 */
struct input_share {
	/*
	 * Called in place of adding the traces of the command line, where --local is given.
	 * False: that failed, and was said.
	 */
	bool (*open)(struct input_share *share, const struct input *input,
		     unsigned int jobs, struct netsync_io *io);
	/* Called when all is open, before it is read. False: that failed, and was said. */
	bool (*begin)(struct input_share *share, struct netsync *ns,
		      struct netsync_io *io);
	/* Called when all was read. False: that failed, and was said. */
	bool (*gather)(struct input_share *share, struct netsync *ns);
	bool is_first;
	bool is_quiet;		/* what is warned of now, another one tells as well */
};

/*
 * After input_solve(): EXIT_DONE, or EXIT_PARTIAL where a machine could not be read
 * wholly, a file that looks like a trace was skipped, or a process that read was killed,
 * as was said.
 */
int input_lost(const struct input *input, const struct netsync_io *io);

struct model;
struct model_host;

/*
 * Does a result hold for all times that were read of a host, to which @shift_ns is added?
 * False: it does not, and that was said; with --extrapolate there is a warning only.
 */
bool input_check_span(const struct input *input, struct model *model,
		      const struct model_host *host,
		      const struct netsync_clock *clock,
		      const struct netsync_host_info *info, int64_t shift_ns);

void input_release(struct input *input);

/* As many open files as the user may have: every stream of every trace is one. */
void input_allow_many_files(void);

#endif
