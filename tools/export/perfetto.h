/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the files that write Trace Event Format. */
#ifndef NETSYNC_EXPORT_PERFETTO_H
#define NETSYNC_EXPORT_PERFETTO_H

#include "export.h"

/* Threads of a process, which is a host; that of a CPU is THREAD_CPU + its number. */
enum { THREAD_OUT = 1, THREAD_IN = 2, THREAD_CPU = 16 };

struct perfetto {
	FILE *out;
	const struct export *export;
	int64_t base_ns;	/* what all times are relative to */
	uint64_t flows;		/* so many messages */
	bool begun;		/* there is an event before */
};

/*
 * Begin an event of a phase on a thread of a host; put_number() and the like go
 * on, and perfetto_end() ends it.
 */
void perfetto_begin(struct perfetto *p, char phase, uint32_t host, uint32_t thread);
/* The same at a time that is corrected already. */
void perfetto_begin_at(struct perfetto *p, char phase, uint32_t host,
		       uint32_t thread, int64_t time_ref);
void perfetto_end(struct perfetto *p);

/* A string, quoted; bytes that are not UTF-8 become '?'. */
void perfetto_text(FILE *out, const char *text);

/* Name a thread. */
void perfetto_name_thread(struct perfetto *p, uint32_t host, uint32_t thread,
			  const char *name);

/* All events of all CTF traces. False: errno says why they cannot be written. */
bool perfetto_events(struct perfetto *p);

#endif
