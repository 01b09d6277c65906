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
	const bt_value *infos;	/* babeltrace.trace-infos of it */
};

/*
 * Find out what can be read, and warn of what cannot. Sets ranges, and counts
 * damaged streams, in @trace. 0, or negative: io_fail() was called.
 * ctf_files_close() is needed in every case.
 */
int ctf_files_open(struct ctf_files *files, struct trace *trace);
void ctf_files_close(struct ctf_files *files);

/*
 * Take and clear what libbabeltrace2 says of the failure of this thread: the
 * first cause, without a full stop. To be given back with free(); may be NULL.
 */
char *ctf_take_reason(void);

/* 0, or -ENOMEM: a folder that can be opened, and its parameters. */
int ctf_set_folder(struct ctf_files *files, const char *folder);
/* Does source.ctf.fs accept the folder? Leaves the reason to be taken. */
bool ctf_query(struct ctf_files *files);

/*
 * Fill files->scratch with what can be read of a trace that source.ctf.fs
 * refuses, and use that instead. 0, or negative: io_fail() was called.
 */
int ctf_salvage(struct ctf_files *files, struct trace *trace);

#endif
