/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of netsync-recorder. */
#ifndef NETSYNC_RECORDER_OPTIONS_H
#define NETSYNC_RECORDER_OPTIONS_H

#include "source.h"

#define PROGRAM "netsync-recorder"

struct recorder_options {
	const char *output;		 /* NULL means standard output */
	const char *clock_log;		 /* file; "-": standard error; NULL means none */
	const char *device;		 /* NULL means all */
	const struct packet_source *via; /* NULL means the best that works */
	double duration_s;		 /* 0: until a signal comes */
	bool force;
	bool until_eof;		/* until standard input ends, */
	unsigned int silence_s; /* or brings nothing for this time; 0: no limit */
	struct packet_selection selection;
};

/* Write a message, with the name of the program. */
__attribute__((format(printf, 1, 2))) void complain_formatted(const char *format, ...);

/* Return the status to exit with, or -1 to record. */
int recorder_parse_options(struct recorder_options *o, int argc, char **argv);

#endif
