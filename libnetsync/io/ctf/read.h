/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of a CTF trace, in the process that opens and closes it (ctf.c), and in each process
 * that reads it (read.c). A process that reads sends warnings and a state, and then struct
 * ctf_opened.
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
	/* Hash of the names of the streams in order, and of whether each stream has ended. */
	uint64_t streams_hash;
	uint64_t streams; /* number of streams that have not ended */
	bool all_direct;  /* whether all these streams are read directly, one by one */
};

struct ctf {
	struct ctf_files files;
	struct ctf_opened opened;    /* as reported by the first process */
	struct ctf_reading *reading; /* state of reading, or NULL in other processes */
};

/* The task of a process that reads. The task's data are a struct ctf. */
void ctf_read_trace(const void *ctf);
/* Implement trace_reader.read() in a process that runs ctf_read_trace(). */
int ctf_read_slice(struct trace *trace, int64_t until_ns);

#endif
