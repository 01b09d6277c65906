/* SPDX-License-Identifier: GPL-2.0-only */
/* The input of a command, the estimation of its clocks, and the options for both. */
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

/* A value beyond those of enum netsync_method. This value means that --method was not given. */
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
	bool split_gpus;	   /* whether each GPU has a clock of its own */
	unsigned int jobs;	   /* number of traces read at the same time; 0 if not given */
	int64_t timeout_ns;	   /* longest wait without progress, ns; 0 if not given */
	struct time_window window; /* read only this window, on each host's own clock */
	struct netsync_options solve;
	unsigned int method; /* enum netsync_method, or METHOD_NOT_GIVEN */
	/* Path of a result file to use in place of an estimation, or NULL. */
	const char *model;
	bool extrapolate; /* also use a result for times that it does not cover */
	/* Whether this process is one of several, and reads only its own traces. */
	bool local;
	/* Whether the command can read traces of other hosts on these hosts. */
	bool takes_remote;
	const char *remote_netsync;   /* program to run on other hosts, or NULL to search PATH */
	struct remote_traces *remote; /* traces on other hosts, or NULL if there are none */
	/*
	 * other processes that read the remaining traces, or NULL if this process reads everything
	 */
	struct input_share *share;
};

#define INPUT_DEFAULT                                                                            \
	{                                                                                        \
		.solve = { .size = sizeof(struct netsync_options) }, .method = METHOD_NOT_GIVEN, \
	}

/* Options of the estimation, which set a struct netsync_options. */
extern const struct option_row solve_options[];
/* Options for the input, including solve_options. They set a struct input. */
extern const struct option_row input_options[];
/* The option --method, which sets a struct input. */
extern const struct option_row input_method_options[];
/* The options --model, --extrapolate and --method. They set a struct input. */
extern const struct option_row input_model_options[];

/* Options for reading traces on other hosts. They set a struct input. */
extern const struct option_row input_remote_options[];

/* Return the name of the method in use. */
const char *input_get_method(const struct input *input);

/*
 * Use the arguments that follow the options as traces. Return false if no input is given or a trace
 * cannot be used.
 */
bool input_set_traces(struct input *input, int argc, char **argv);

/*
 * Parse all arguments of a command: first options, then traces. Return -1 to continue. Otherwise,
 * return the exit status with which the command must end.
 */
int input_parse_arguments(const struct usage *usage, void *settings, struct input *input, int argc,
			  char **argv);

/*
 * Check that options for packets are not combined with options for events of any kind. If both are
 * given, print a message and return false.
 */
bool input_check_events(const struct input *input);

/*
 * Check that every given option has an effect, with --model or without it. If not, print a message
 * and return false.
 */
bool input_check_model(const struct input *input);

/*
 * Read all input and estimate all clocks. Show the progress on stderr. With --model, only messages
 * are needed, so the simplest method is used. On failure, print a message and return false.
 */
bool input_solve(const struct input *input, struct netsync *ns, struct netsync_io *io);

/*
 * The division of traces among several processes. The first process estimates clocks and reports
 * the result. The first process's input_solve() acts as if the process itself had read all traces.
 * In the other processes, input_solve() only reads.
 */
struct input_share {
	/*
	 * With --local, this function is called in place of adding the traces on the command line.
	 * On failure, print a message and return false.
	 */
	bool (*open)(struct input_share *share, const struct input *input, unsigned int jobs,
		     struct netsync_io *io);
	/*
	 * Called when all traces are open, before they are read. On failure, print a message and
	 * return false.
	 */
	bool (*begin)(struct input_share *share, struct netsync *ns, struct netsync_io *io);
	/* Called when everything was read. On failure, print a message and return false. */
	bool (*gather)(struct input_share *share, struct netsync *ns);
	bool is_first;
	bool is_quiet; /* whether another process prints the warnings of this process */
};

/*
 * Return the exit status after input_solve(). If a machine could not be read completely, if a file
 * that looks like a trace was skipped, or if a reader process was killed, print a message and
 * return EXIT_PARTIAL. Otherwise, return EXIT_DONE.
 */
int input_get_status(const struct input *input, const struct netsync_io *io);

struct model;
struct model_host;

/*
 * Check whether a result covers all times that were read for a host, after @shift_ns is added to
 * them. If not, print a message and return false. With --extrapolate, only print a warning.
 */
bool input_check_span(const struct input *input, struct model *model, const struct model_host *host,
		      const struct netsync_clock *clock, const struct netsync_host_info *info,
		      int64_t shift_ns);

void input_release(struct input *input);

/* Raise the limit for open files to the maximum, because every stream of every trace is a file. */
void input_allow_many_files(void);

#endif
