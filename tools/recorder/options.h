/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of netsync-recorder. */
#ifndef NETSYNC_RECORDER_OPTIONS_H
#define NETSYNC_RECORDER_OPTIONS_H

#include "source.h"

#define PROGRAM "netsync-recorder"

struct recorder_options {
	const char *output;		 /* NULL means standard output */
	const char *clock_log;		 /* path; "-" means standard error; NULL means no log */
	const char *device;		 /* NULL means all */
	const char *container, *pod;	 /* name or ID; NULL if not given */
	const struct packet_source *via; /* NULL means the best that works */
	double duration_s;		 /* 0 to record until a signal arrives */
	bool force;
	bool costs;	/* report the CPU time at the end */
	bool until_eof; /* stop when standard input ends */
	/* stop when standard input was silent for this time; 0 means no limit */
	unsigned int silence_s;
	struct packet_selection selection;
};

/* All sources, the best one first (recorder.c). */
#define NUM_SOURCES 3
extern const struct packet_source *const packet_sources[NUM_SOURCES];

/* Print a message with the name of the program. */
__attribute__((format(printf, 1, 2))) void complain_formatted(const char *format, ...);

/* Return the ID of the version 2 control group at a path, or 0 if there is none. */
uint64_t find_cgroup_id(const char *path);
/* Parse the command line. Return the exit status, or -1 to record. */
int recorder_parse_options(struct recorder_options *o, int argc, char **argv);

#endif
