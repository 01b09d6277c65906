/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Measure the processor time of each stage of "netsync sync". The linker's option --wrap routes
 * calls between files of the libraries, and from the command to the libraries, through stages.c:
 * the measured code is the code that users run, and is unaware of the measurement. STAGE_CALLS in
 * bench.mk lists the calls.
 */
#ifndef STAGES_H
#define STAGES_H

/* The time of a stage does not include the time of stages that it calls. */
enum stage {
	STAGE_REST,	   /* parsing arguments, and freeing all memory at the end */
	STAGE_READ,	   /* reading the text twice: once for host names, once for messages */
	STAGE_PUSH,	   /* adding messages to bins and hulls */
	STAGE_LINES,	   /* sums for each pair, the span of each host, and results */
	STAGE_PAIR_BOUNDS, /* bounds of pairs, before and after curves exist */
	STAGE_REFERENCE,   /* islands, and which host has the smallest sum of bounds */
	STAGE_HOST_FITS,   /* the corrections of one host after another */
	STAGE_JOINT_FIT,   /* the corrections of all hosts at once */
	STAGE_HOST_BOUNDS, /* clocks with bounds, computed from corrections */
	STAGE_WRITE,	   /* writing JSON and warnings */
	NUM_STAGES
};

/* Start measuring. All calls must come from this thread, but other threads may work for it. */
void stages_begin(void);

/* Set @spent to the time spent in each stage so far, ns. */
void stages_end(double spent[NUM_STAGES]);

#endif
