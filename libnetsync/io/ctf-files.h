/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The files of a CTF trace: is it one, can it be read, what is left of it? */
#ifndef NETSYNC_CTF_FILES_H
#define NETSYNC_CTF_FILES_H

#include <babeltrace2/babeltrace.h>

#include "io.h"

struct ctf_files {
	const bt_plugin *plugin;
	const bt_component_class_source *class;	/* source.ctf.fs */
	char *folder;		/* what to open: the trace's, or scratch */
	char *scratch;		/* NULL, or a folder to be removed */
	bt_value *params;	/* of a source component for @folder */
	bool has_ranges;	/* ctf_read_ranges() can be called */
};

/*
 * Is there a reader for it, and metadata that it can read? 0, or negative:
 * io_fail() was called. ctf_files_close() is needed in every case.
 */
int ctf_files_open(struct ctf_files *files, struct trace *trace);
void ctf_files_close(struct ctf_files *files);

/*
 * Can the trace be opened, and asked for its ranges? NULL: yes; else why it
 * cannot be opened, to be given back with free().
 *
 * This is found out in a child process, since libbabeltrace2 2.0 calls abort()
 * for some damaged streams, and when asked for ranges that there are not.
 */
char *ctf_try(struct ctf_files *files);

/* Make a graph with a source component for a trace; NULL: it failed. */
bt_graph *ctf_make_graph(const struct ctf_files *files,
			 const bt_component_source **source);

/*
 * Where a trace cannot be opened: find out what can be read, warn of what
 * cannot, and set @files to a scratch folder that can be opened. Counts
 * damaged streams in @trace. 0, or negative: io_fail() was called.
 */
int ctf_salvage(struct ctf_files *files, struct trace *trace);

/* Set the ranges of a trace, where they are known. */
void ctf_read_ranges(const struct ctf_files *files, struct trace *trace);

/*
 * Take and clear what libbabeltrace2 says of the failure of this thread: the
 * first cause, without technical details. Never NULL; to be given back with
 * free().
 */
char *ctf_take_reason(void);

/* 0, or -ENOMEM: set the folder to be opened, and the parameters for it. */
int ctf_set_folder(struct ctf_files *files, const char *folder);

#endif
