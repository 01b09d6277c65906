/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processor time of "netsync sync", by stages. The linker's option --wrap routes calls
 * between files of the libraries, and from the command to the libraries, through stages.c:
 * the measured code is the code that users run, and is unaware of the measurement.
 * STAGE_CALLS in bench.mk lists the calls.
 */
#ifndef STAGES_H
#define STAGES_H

/* The time of a stage excludes the stages that it calls. */
enum stage {
	STAGE_REST,	   /* arguments, and freeing everything at the end */
	STAGE_READ,	   /* reading the text twice: for host names, then for messages */
	STAGE_PUSH,	   /* adding messages to bins and hulls */
	STAGE_LINES,	   /* a line for each pair, the span of each host, and results */
	STAGE_PAIR_BOUNDS, /* bounds of pairs, before there are curves and afterwards */
	STAGE_REFERENCE,   /* islands, and the host with the smallest sum of bounds */
	STAGE_HOST_FITS,   /* the corrections of one host after another */
	STAGE_JOINT_FIT,   /* the corrections of all hosts at once */
	STAGE_HOST_BOUNDS, /* clocks with bounds, computed from corrections */
	STAGE_WRITE,	   /* JSON, and warnings */
	NUM_STAGES
};

/*
 * Start measuring. Only this thread may make the calls; in the meantime, other threads may
 * work for it.
 */
void stages_begin(void);

/* Set @spent to the time spent in each stage so far, ns. */
void stages_end(double spent[NUM_STAGES]);

#endif
