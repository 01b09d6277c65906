/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of a CTF trace: of the process that opens and closes it (ctf.c), and of each process
 * that reads it (read.c), which sends struct ctf_opened first, after warnings and a state.
 */
#ifndef NETSYNC_CTF_READ_H
#define NETSYNC_CTF_READ_H

#include "io/ctf/files.h"
#include "io/ctf/stream.h"
#include "io/stream/stream.h"

struct ctf_opened {
	struct ctf_identity is;
	struct range range; /* as struct trace */
	uint64_t range_hash;
	/* Hash the names of streams, in their order, and whether each stream ended. */
	uint64_t streams_hash;
	uint64_t streams; /* number of those that did not end, */
	bool all_walked;  /* which are all read directly, stream by stream */
};

struct ctf {
	struct ctf_files files;
	struct ctf_opened opened;    /* as the first process has opened it */
	struct ctf_reading *reading; /* in a process that reads */
};

/* The task of a process that reads, with a struct ctf as its data. */
void ctf_read_trace(const void *ctf);
/* trace_reader.read() of this process. */
int ctf_read_slice(struct trace *trace, int64_t until_ns);

#endif
