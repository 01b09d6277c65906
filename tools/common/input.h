/* SPDX-License-Identifier: GPL-2.0-only */
/* What a sub-command reads and estimates clocks of, and the options for that. */
#ifndef NETSYNC_INPUT_H
#define NETSYNC_INPUT_H

#include "options.h"
#include "tool.h"

struct text_file {
	const char *path;
	int (*add)(struct netsync_io *io, const char *path, int strict);
};

/* No --method. */
#define METHOD_NOT_GIVEN UINT32_MAX

struct input {
	char **traces;
	int num_traces;
	struct text_file *texts;
	int num_texts;
	const char **addresses;
	int num_addresses;
	bool strict;
	bool split_netns;
	unsigned int jobs;	/* traces that are read at a time; 0: not given */
	struct netsync_options solve;
	unsigned int method;	/* enum netsync_method, or METHOD_NOT_GIVEN */
	const char *model;	/* a result instead of estimating; NULL: none */
	bool extrapolate;	/* also where it does not hold */
};

#define INPUT_DEFAULT { \
	.solve = { .size = sizeof(struct netsync_options) }, \
	.method = METHOD_NOT_GIVEN, \
}

/* What the estimation needs to be told, in a struct netsync_options. */
extern const struct option_row solve_options[];
/* In a struct input: what is read, with the former; */
extern const struct option_row input_options[];
/* the method, */
extern const struct option_row input_method_options[];
/* or also a result that can be given instead. */
extern const struct option_row input_model_options[];

/* The name of the method. */
const char *input_method(const struct input *input);

/* Take what is behind the options as traces. False: there is nothing to read. */
bool input_traces(struct input *input, int argc, char **argv);

/* False: options have no meaning with --model, or without, and that was said. */
bool input_check_model(const struct input *input);

/*
 * Read all of it, and estimate all clocks, but in haste where there is a model; with a
 * bar. False: that cannot be, and was said.
 */
bool input_solve(const struct input *input, struct netsync *ns,
		 struct netsync_io *io);

struct model;
struct model_host;

/*
 * Does a result hold for all of a host that was read, whose times @shift_ns is to
 * be added to? False: not, and that was said; with --extrapolate it is a warning.
 */
bool input_check_span(const struct input *input, struct model *model,
		      const struct model_host *host,
		      const struct netsync_clock *clock,
		      const struct netsync_host_info *info, int64_t shift_ns);

void input_release(struct input *input);

#endif
