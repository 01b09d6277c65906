/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The time of processors that netsync sync takes, by stages. Calls between files of the
 * libraries, and of the command to them, pass through stages.c by the linker's option
 * --wrap: what is measured is what users run, and knows nothing of this. STAGE_CALLS of
 * bench.mk names the calls.
 */
#ifndef STAGES_H
#define STAGES_H

/* Each without those that it calls. */
enum stage {
	STAGE_REST,	   /* arguments, and freeing all at the end */
	STAGE_READ,	   /* the text, twice: for the names of hosts, then messages */
	STAGE_PUSH,	   /* messages into bins and hulls */
	STAGE_LINES,	   /* a line for each pair, the span of each host, and results */
	STAGE_PAIR_BOUNDS, /* before there are curves, and after */
	STAGE_REFERENCE,   /* islands, and the host whose sum of bounds is smallest */
	STAGE_HOST_FITS,   /* the corrections of one host after another */
	STAGE_JOINT_FIT,   /* and of all at once */
	STAGE_HOST_BOUNDS, /* clocks with bounds, of corrections */
	STAGE_WRITE,	   /* JSON, and warnings */
	NUM_STAGES
};

/* From now on. This thread alone may make the calls; others may work for it meanwhile. */
void stages_begin(void);

/* What was spent in each until now, ns. */
void stages_end(double spent[NUM_STAGES]);

#endif
