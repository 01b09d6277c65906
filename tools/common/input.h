/* SPDX-License-Identifier: GPL-2.0-only */
/* What a sub-command reads and estimates clocks of, and the options for that. */
#ifndef NETSYNC_INPUT_H
#define NETSYNC_INPUT_H

#include "tool.h"

struct text_file {
	const char *path;
	int (*add)(struct netsync_io *io, const char *path, int strict);
};

struct input {
	char **traces;
	int num_traces;
	struct text_file *texts;
	int num_texts;
	const char **addresses;
	int num_addresses;
	int strict;
	bool split_netns;
	struct netsync_options solve;
	const char *model;	/* a result instead of estimating; NULL: none */
	bool extrapolate;	/* also where it does not hold */
	bool has_method;	/* one was asked for */
	const char *method;	/* its name */
};

#define INPUT_DEFAULT { \
	.solve = { .size = sizeof(struct netsync_options) }, \
	.method = "auto", \
}

enum { OPT_MESSAGES = 512, OPT_PACKETS, OPT_STRICT, OPT_SPLIT_NETNS,
       OPT_ADDRESS,
       OPT_METHOD, OPT_EXTRAPOLATE };

/* Rows for getopt_long(), and the letters of those that have one. */
#define INPUT_OPTIONS \
	{ "messages", required_argument, NULL, OPT_MESSAGES }, \
	{ "packets", required_argument, NULL, OPT_PACKETS }, \
	{ "strict", no_argument, NULL, OPT_STRICT }, \
	{ "split-netns", no_argument, NULL, OPT_SPLIT_NETNS }, \
	{ "address", required_argument, NULL, OPT_ADDRESS }, \
	{ "reference", required_argument, NULL, 'r' }, \
	{ "method", required_argument, NULL, OPT_METHOD }, \
	{ "max-skew", required_argument, NULL, 's' }, \
	{ "max-drift", required_argument, NULL, 'd' }

#define INPUT_LETTERS "r:s:d:"

/* More rows, and a letter, where a result can be given instead. */
#define MODEL_OPTION \
	{ "model", required_argument, NULL, 'm' }, \
	{ "extrapolate", no_argument, NULL, OPT_EXTRAPOLATE }
#define MODEL_LETTER "m:"

/* One of these options. False: it is not, or its value was complained of. */
bool input_option(struct input *input, int option, const char *value);

/* Take what is behind the options as traces. False: there is nothing to read. */
bool input_traces(struct input *input, int argc, char **argv);

/* False: options have no meaning with --model, or without, and that was said. */
bool input_check_model(const struct input *input);

/* Read all of it, with a bar. False: it cannot be, and that was said. */
bool input_read(const struct input *input, struct netsync_io *io);

/* The same, and estimate all clocks, but in haste where there is a model. */
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
