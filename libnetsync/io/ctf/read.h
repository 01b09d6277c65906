/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of a CTF trace, in the process that opens and closes it (ctf.c), and in each process
 * that reads it (read.c). A reading process first sends struct ctf_opened, after warnings and a
 * state.
 */
#ifndef NETSYNC_CTF_READ_H
#define NETSYNC_CTF_READ_H

#include "io/ctf/files.h"
#include "io/ctf/stream.h"
#include "io/stream/stream.h"

struct ctf_opened {
	struct ctf_identity is;
	struct range range; /* as in struct trace */
	uint64_t range_hash;
	/* Hash of the streams' names, in their order, and of whether each stream ended. */
	uint64_t streams_hash;
	uint64_t streams; /* number of streams that did not end */
	bool all_walked;  /* direct/ reads all these streams, one by one */
};

struct ctf {
	struct ctf_files files;
	struct ctf_opened opened;    /* as the first process reported it */
	struct ctf_reading *reading; /* state of reading, in a process that reads */
};

/* The task of a process that reads, with a struct ctf as its data. */
void ctf_read_trace(const void *ctf);
/* Implement trace_reader.read() in such a process. */
int ctf_read_slice(struct trace *trace, int64_t until_ns);

#endif
