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
	struct apply_part part;	/* what that is */
	bool metadata_only;
	bool extrapolate;
	const char *model;
	char *output;		/* without slashes at the end; NULL: beside each trace */
	struct destination merge;	/* one file of all captures; path NULL: copies */
	unsigned int jobs;	/* copies that are made at once */
	unsigned int asked_jobs;	/* the same for other hosts; 0: as they see fit */
	const char *netsync;	/* to run on hosts whose traces stay there; NULL: by PATH */
	char **traces;
	int num_traces;
};

/* An argument, and the traces found there. */
struct apply_source {
	const char *name;	/* of the host; NULL: not given */
	size_t name_len;
	const char *path;	/* as given */
	char *real_path;	/* without symbolic links */
	uint32_t first, num;
};

/* A copy that is to be made. */
struct apply_task {
	const struct apply_source *source;
	bool (*copy)(const struct apply_trace *trace, const char *to);
	struct apply_trace trace;
	struct netsync_clock *clock;
	const struct model_host *host;
	char *place;
	bool is_known;		/* when the trace begins and ends */
};

/* What is known of a task while it is done, perhaps in another process. */
struct apply_state {
	struct apply_seen seen;
	uint64_t done;		/* bytes of the original */
};

struct apply_run {
	const struct apply_settings *set;
	struct model model;
	struct netsync *ns;
	struct netsync_io *io;
	struct apply_source *sources;
	size_t common;		/* length of the folder that contains all real paths */
	struct output_folder folder;
	struct apply_progress progress;
	struct apply_task *tasks;	/* as many as there are traces at most */
	struct apply_state *states;	/* of the tasks */
	size_t num_tasks;
	uint32_t num_copied;
	uint32_t num_outside;	/* of --begin and --end */
	uint32_t num_left_out;
	uint32_t num_in_part;	/* copied traces that are damaged */
};

/* False: that failed, and was said. To be closed in any case. */
bool apply_run_open(struct apply_run *apply, const struct apply_settings *set);
void apply_run_close(struct apply_run *apply);

/* Find all traces. False: it was said why that is no use. */
bool apply_find_all(struct apply_run *apply);

/*
 * Find the correction of a trace. False: there is none, and that was said. The clock is
 * to be given back with netsync_clock_free().
 */
bool apply_identify(struct apply_run *apply, const struct apply_source *source,
		    const struct netsync_io_trace *info, struct apply_trace *trace,
		    struct netsync_clock **clock, const struct model_host **found);

/*
 * Check that the result holds for times of a trace, known before copying or found by it.
 * False: it does not, and that was said.
 */
bool apply_check_span(struct apply_run *apply, const struct model_host *host,
		      const struct apply_trace *trace, const struct apply_seen *seen);

/* The times of a trace on its host's clock, as far as they are known before copying. */
struct apply_seen apply_known_span(const struct apply_trace *trace);

/* Is nothing of a trace within --begin and --end? */
bool apply_is_outside(const struct apply_run *apply, struct apply_trace *trace);
/* Say that so it is of all traces of an argument. */
void apply_leave_out_source(struct apply_run *apply, const struct apply_source *source);

#endif
