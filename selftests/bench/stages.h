/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processor time of netsync sync, by stages. Calls between files of the libraries,
 * and from the command to them, are routed through stages.c by the linker's option
 * --wrap: the measured code is the code that users run, and is unaware of the
 * measurement. STAGE_CALLS of bench.mk lists the calls.
 */
#ifndef STAGES_H
#define STAGES_H

/* Each excludes the stages that it calls. */
enum stage {
	STAGE_REST,	   /* arguments, and freeing everything at the end */
	STAGE_READ,	   /* the text, twice: for the names of hosts, then for messages */
	STAGE_PUSH,	   /* messages into bins and hulls */
	STAGE_LINES,	   /* a line for each pair, the span of each host, and results */
	STAGE_PAIR_BOUNDS, /* before there are curves, and afterwards */
	STAGE_REFERENCE,   /* islands, and the host with the smallest sum of bounds */
	STAGE_HOST_FITS,   /* the corrections of one host after another */
	STAGE_JOINT_FIT,   /* and of all hosts at once */
	STAGE_HOST_BOUNDS, /* clocks with bounds, from corrections */
	STAGE_WRITE,	   /* JSON, and warnings */
	NUM_STAGES
};

/*
 * Start measuring. Only this thread may make the calls; other threads may work for it
 * meanwhile.
 */
void stages_begin(void);

/* Time spent in each stage so far, ns. */
void stages_end(double spent[NUM_STAGES]);

#endif
