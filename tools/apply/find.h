/* SPDX-License-Identifier: GPL-2.0-only */
/* A run of netsync apply: its settings, the traces that it found, and their corrections. */
#ifndef NETSYNC_APPLY_FIND_H
#define NETSYNC_APPLY_FIND_H

#include "apply.h"
#include "common/output.h"
#include "common/result-file.h"
#include "common/window.h"

struct apply_settings {
	struct time_window window;
	struct apply_part part; /* window specified by --begin and --end */
	bool metadata_only;
	bool extrapolate;
	const char *model;
	char *output;		  /* without trailing slashes; NULL to write next to each trace */
	struct destination merge; /* one file for all captures; its path is NULL without --merge */
	unsigned int jobs;	  /* maximum number of concurrent copies */
	unsigned int asked_jobs;  /* --jobs for other hosts; 0 for their default */
	/* Netsync program on hosts whose traces stay there; NULL to search PATH. */
	const char *netsync;
	char **traces;
	int num_traces;
};

/* An argument, and the traces found at its path. */
struct apply_source {
	const char *name; /* name of the host; NULL if not given */
	size_t name_len;
	const char *path; /* path as given */
	char *real_path;  /* path without symbolic links */
	uint32_t first, num;
};

/* A copy to be made. */
struct apply_task {
	const struct apply_source *source;
	bool (*copy)(const struct apply_trace *trace, const char *to);
	struct apply_trace trace;
	struct netsync_clock *clock;
	const struct model_host *host;
	char *place;
	bool is_known; /* the start and end of the trace are known */
};

/* State of a task, which another process may write. */
struct apply_state {
	struct apply_seen seen;
	uint64_t done; /* number of bytes of the original that were copied */
};

struct apply_run {
	const struct apply_settings *set;
	struct model model;
	struct netsync *ns;
	struct netsync_io *io;
	struct apply_source *sources;
	size_t common; /* length of the directory name that all real paths begin with */
	struct output_folder folder;
	struct apply_progress progress;
	struct apply_task *tasks;   /* copies to be made, at most one for each trace */
	struct apply_state *states; /* states of the tasks */
	size_t num_tasks;
	uint32_t num_copied;
	uint32_t num_outside; /* number of traces outside --begin and --end */
	uint32_t num_left_out;
	uint32_t num_in_part; /* number of copied traces that are damaged */
};

/* Open a run. On failure, print a message and return false. Close the run in either case. */
bool apply_run_open(struct apply_run *apply, const struct apply_settings *set);
void apply_run_close(struct apply_run *apply);

/* Find all traces. If it is useless to continue, print a message and return false. */
bool apply_find_all(struct apply_run *apply);

/* Return whether two traces, by their numbers, are hosts of one file. */
bool apply_is_one_file(const struct apply_run *apply, uint32_t a, uint32_t b);

/*
 * Find the correction of a trace. Set *@clock to the clock; the caller frees it with
 * netsync_clock_free(). If no correction exists, print a message and return false.
 */
bool apply_identify(struct apply_run *apply, const struct apply_source *source,
		    const struct netsync_io_trace *info, struct apply_trace *trace,
		    struct netsync_clock **clock, const struct model_host **found);

/*
 * Check that the result covers the times of a trace, known before copying or found during copying.
 * If the result does not cover all times, print a message and return false.
 */
bool apply_check_span(struct apply_run *apply, const struct model_host *host,
		      const struct apply_trace *trace, const struct apply_seen *seen);

/* Return the times of a trace on its host's clock, if they are known before copying. */
struct apply_seen apply_get_known_span(const struct apply_trace *trace);

/* Return whether a trace is completely outside of --begin and --end. */
bool apply_is_outside(const struct apply_run *apply, struct apply_trace *trace);
/* Print a message that all traces of an argument are outside of the window. */
void apply_skip_source(struct apply_run *apply, const struct apply_source *source);

#endif
