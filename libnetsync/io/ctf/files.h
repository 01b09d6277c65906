/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prepare a CTF trace for source.ctf.fs: unchanged, translated, or salvaged. */
#ifndef NETSYNC_CTF_FILES_H
#define NETSYNC_CTF_FILES_H

#include <babeltrace2/babeltrace.h>

#include "io/io.h"
#include "io/worker/worker.h"

struct ctf_files {
	struct trace *trace;
	struct worker_limits limits; /* limits of workers that read the trace */
	const bt_plugin *plugin;
	const bt_component_class_source *class; /* source.ctf.fs */
	char *folder;	     /* directory to open: the trace's directory, or one in @scratch */
	char *metadata;	     /* path of the metadata file that is to be read, or linked to */
	bool is_translated;  /* whether @folder and @metadata are CTF 1.8, but the trace is CTF 2 */
	bool is_salvaged;    /* @folder has only the readable part of a damaged trace */
	char *scratch;	     /* scratch directory, or NULL */
	struct worker guard; /* removes @scratch if this process is killed */
	bt_value *params;    /* parameters of a source component for @folder */
	bool is_stuck;	     /* whether a process that opened the trace made no progress */
	bool has_ranges;     /* the trace answers babeltrace.trace-infos */
};

/*
 * Check that source.ctf.fs is installed and can read the metadata. Return 0. On failure, call
 * io_fail() and return a negative value. Call ctf_files_close() even then.
 */
int ctf_files_open(struct ctf_files *files, struct trace *trace);
void ctf_files_close(struct ctf_files *files);

/* Call io_fail() because the metadata is damaged. Return -EILSEQ. */
int ctf_fail_damaged_metadata(struct trace *trace);

/* ---- translate.c ------------------------------------------------------- */

/*
 * Make a scratch directory with links to the streams of a CTF 2 trace and with CTF 1.8 metadata
 * that describes them. Let @files refer to it. Return 0. On failure, call io_fail() and return a
 * negative value.
 */
int ctf_translate_trace(struct ctf_files *files);

/* Call io_fail() because the trace is in CTF 2, which @what explains. Return -EPROTONOSUPPORT. */
int ctf_fail_too_new(struct trace *trace, const char *what);

/* ---- scratch.c: return 0 or a negative errno value --------------------- */

/* Make the scratch directory if it does not exist. */
int ctf_scratch_make(struct ctf_files *files);
/*
 * Create a directory in the scratch directory, empty or with a link to the metadata. The caller
 * frees @path.
 */
int ctf_scratch_folder(struct ctf_files *files, const char *name, bool has_metadata, char **path);
/* Make a link to a file of the same name in another directory. */
int ctf_scratch_link(const char *folder, const char *from, const char *name);
void ctf_scratch_remove(struct ctf_files *files);

/*
 * Call a function with the name of each stream file in a trace's directory, in alphabetical order.
 * Stop if the function fails. Return the function's result, or a negative errno value.
 */
int ctf_for_each_stream(const char *folder, int (*call)(void *arg, const char *name), void *arg);

/* ---- try.c ------------------------------------------------------------- */

/* Check that metadata can be parsed and has a clock. Return the same values as ctf_files_open(). */
int ctf_check_metadata(struct ctf_files *files);

/*
 * In a worker, try to open the trace and to query its time ranges. Set has_ranges. Return NULL if
 * the trace can be opened. Otherwise, return the reason, which the caller frees.
 */
char *ctf_try_opening(struct ctf_files *files);

/* ---- salvage.c --------------------------------------------------------- */

/*
 * If a trace cannot be opened, make a scratch directory with its readable part, and let @files
 * refer to it. Print warnings about the rest, and count damaged streams. Return 0. On failure, call
 * io_fail() and return a negative value.
 */
int ctf_salvage_trace(struct ctf_files *files);

/* ---- with source.ctf.fs: to be called in workers ----------------------- */

/*
 * Create a graph with a source component for the directory. If the result is NULL,
 * ctf_take_error_reason() returns the reason.
 */
bt_graph *ctf_make_graph(const struct ctf_files *files, const bt_component_source **source);

/*
 * Query source.ctf.fs about an object. If the result is NULL, ctf_take_error_reason() returns the
 * reason.
 */
const bt_value *ctf_query(const struct ctf_files *files, const char *object,
			  const bt_value *params);

/*
 * Set @text to the metadata. The returned value owns the text. If the result is NULL,
 * ctf_take_error_reason() returns the reason.
 */
const bt_value *ctf_read_metadata(const struct ctf_files *files, const char **text);

/* If has_ranges, set range and range_hash of the trace. */
void ctf_read_ranges(const struct ctf_files *files);

/*
 * Return the first cause of the libbabeltrace2 error in this thread, without technical details.
 * Clear the error. The result is never NULL. The caller frees it.
 */
char *ctf_take_error_reason(void);

/* Describe a nonzero result of worker_run() or worker_stop(). */
const char *ctf_explain_end(int status);

/* Set the directory to open, and the parameters for opening it. Return 0 or -ENOMEM. */
int ctf_set_folder(struct ctf_files *files, const char *folder);

#endif
