/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The files of a CTF trace: is it one, can it be read, what is left of it? */
#ifndef NETSYNC_CTF_FILES_H
#define NETSYNC_CTF_FILES_H

#include <babeltrace2/babeltrace.h>

#include "io/io.h"
#include "io/worker/worker.h"

struct ctf_files {
	struct trace *trace;
	struct worker_limits limits;	/* of processes that read it */
	const bt_plugin *plugin;
	const bt_component_class_source *class;	/* source.ctf.fs */
	char *folder;		/* what to open: the trace's, or scratch */
	char *scratch;		/* NULL, or a folder to be removed, */
	struct worker guard;	/* by this one if we are ended before */
	bt_value *params;	/* of a source component for @folder */
	bool has_ranges;	/* ctf_read_ranges() can be called */
};

/*
 * Is there a reader for it, and metadata that it can read? 0, or negative:
 * io_fail() was called. ctf_files_close() is needed in every case.
 */
int ctf_files_open(struct ctf_files *files, struct trace *trace);
void ctf_files_close(struct ctf_files *files);

/* It is damaged: -EILSEQ, with io_fail(). */
int ctf_damaged_metadata(struct trace *trace);

/* ---- try.c ------------------------------------------------------------- */

/* Does it follow the grammar, and is there a clock in it? As ctf_files_open(). */
int ctf_check_metadata(struct ctf_files *files);

/*
 * Can the trace be opened, and asked for its ranges? NULL: yes; else why it
 * cannot be opened, to be given back with free().
 */
char *ctf_try(struct ctf_files *files);

/* ---- salvage.c --------------------------------------------------------- */

/*
 * Where a trace cannot be opened: find out what can be read, warn of what
 * cannot, and set @files to a scratch folder that can be opened. Counts
 * damaged streams in the trace. 0, or negative: io_fail() was called.
 */
int ctf_salvage(struct ctf_files *files);

/* ---- with source.ctf.fs: to be called in workers ----------------------- */

/*
 * At first: what @io warns of goes to who started the worker, as records of this
 * kind with a text.
 */
void ctf_begin_worker(struct netsync_io *io, uint16_t warning);

/* Make a graph with a source component for a trace; NULL: it failed. */
bt_graph *ctf_make_graph(const struct ctf_files *files,
			 const bt_component_source **source);

/* Ask about something. NULL: it failed, and ctf_take_reason(). */
const bt_value *ctf_query(const struct ctf_files *files, const char *object,
			  const bt_value *params);

/* The text of the metadata, as long as what is returned is kept; NULL: as ctf_query(). */
const bt_value *ctf_read_metadata(const struct ctf_files *files,
				  const char **text);

/* Set the ranges of the trace, where they are known. */
void ctf_read_ranges(const struct ctf_files *files);

/*
 * Take and clear what libbabeltrace2 says of the failure of this thread: the
 * first cause, without technical details. Never NULL; to be given back with
 * free().
 */
char *ctf_take_reason(void);

/* Why a worker ended before it was done, in words, by what worker_run() or _stop() gave. */
const char *ctf_why_ended(int status);

/* 0, or -ENOMEM: set the folder to be opened, and the parameters for it. */
int ctf_set_folder(struct ctf_files *files, const char *folder);

#endif
