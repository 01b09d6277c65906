/* SPDX-License-Identifier: GPL-2.0-only */
/* Input of a sub-command, estimation of its clocks, and the options for both. */
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

/* Value in addition to enum netsync_method, which means that --method was not given. */
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
	unsigned int jobs;	   /* number of traces read at the same time; 0 if not given */
	int64_t timeout_ns;	   /* longest wait without progress; 0 if not given */
	struct time_window window; /* read only this window, by each host's own clock */
	struct netsync_options solve;
	unsigned int method; /* enum netsync_method, or METHOD_NOT_GIVEN */
	/* Path of a result file that replaces estimating; NULL if none. */
	const char *model;
	bool extrapolate; /* also use a result for times that it does not cover */
	/* This is one of several processes, and reads only its own traces. */
	bool local;
	/* The command can read traces of other hosts on those hosts. */
	bool takes_remote;
	const char *remote_netsync;   /* program to run on other hosts; NULL to search PATH */
	struct remote_traces *remote; /* traces on other hosts; NULL if none */
	/* Other processes read the rest; NULL if this process reads everything. */
	struct input_share *share;
};

#define INPUT_DEFAULT                                                                            \
	{                                                                                        \
		.solve = { .size = sizeof(struct netsync_options) }, .method = METHOD_NOT_GIVEN, \
	}

/* Options of the estimation, which set a struct netsync_options. */
extern const struct option_row solve_options[];
/* Options of the input, and solve_options, which set a struct input. */
extern const struct option_row input_options[];
/* The option --method, which sets a struct input. */
extern const struct option_row input_method_options[];
/* The options --model, --extrapolate and --method, which set a struct input. */
extern const struct option_row input_model_options[];

/* Options for reading traces on other hosts, which set a struct input. */
extern const struct option_row input_remote_options[];

/* Return the name of the method in use. */
const char *input_get_method(const struct input *input);

/*
 * Use the arguments after the options as traces. Return false if there is no input, or if a trace
 * cannot be used.
 */
bool input_set_traces(struct input *input, int argc, char **argv);

/*
 * Parse all arguments of a sub-command: options, then traces. Return -1 to continue, or
 * the exit status if the command is to end.
 */
int input_parse_arguments(const struct usage *usage, void *settings, struct input *input, int argc,
			  char **argv);

/*
 * Check that no option for packets only is combined with events of any kind. If one is, print a
 * message and return false.
 */
bool input_check_events(const struct input *input);

/*
 * Check that all options have an effect with --model or without it. If not, print a
 * message and return false.
 */
bool input_check_model(const struct input *input);

/*
 * Read all input and estimate all clocks, with progress on stderr. With --model, only messages
 * are needed, so the simplest method is used. On failure, print a message and return false.
 */
bool input_solve(const struct input *input, struct netsync *ns, struct netsync_io *io);

/*
 * Division of traces among several processes. The first process estimates and reports the result.
 * Its input_solve() acts as if the process had read all traces. In the other processes,
 * input_solve() only reads.
 */
struct input_share {
	/*
	 * Called if --local is given, instead of adding the traces of the command line.
	 * On failure, print a message and return false.
	 */
	bool (*open)(struct input_share *share, const struct input *input, unsigned int jobs,
		     struct netsync_io *io);
	/*
	 * Called when all traces are open, before they are read. On failure, print a message
	 * and return false.
	 */
	bool (*begin)(struct input_share *share, struct netsync *ns, struct netsync_io *io);
	/* Called when everything was read. On failure, print a message and return false. */
	bool (*gather)(struct input_share *share, struct netsync *ns);
	bool is_first;
	bool is_quiet; /* another process also prints the warnings of this process */
};

/*
 * Call this after input_solve(). Return EXIT_DONE, or, after a message, EXIT_PARTIAL if a machine
 * could not be read completely, a file that looks like a trace was skipped, or a reader process
 * was killed.
 */
int input_get_status(const struct input *input, const struct netsync_io *io);

struct model;
struct model_host;

/*
 * Does a result cover all times that were read for a host, after adding @shift_ns? If not, print
 * a message and return false. With --extrapolate, only warn.
 */
bool input_check_span(const struct input *input, struct model *model, const struct model_host *host,
		      const struct netsync_clock *clock, const struct netsync_host_info *info,
		      int64_t shift_ns);

void input_release(struct input *input);

/*
 * Raise the limit of open files to the user's maximum, because every stream of every
 * trace is a file.
 */
void input_allow_many_files(void);

#endif
