/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The worker that reads an archive with OTF2's library. It ends if it is out of memory. */
#ifndef NETSYNC_IO_OTF2_SCAN_H
#define NETSYNC_IO_OTF2_SCAN_H

#include "io/otf2/library.h"
#include "io/otf2/otf2.h"

/* Definitions. Each begins with its identifier, by which it is found (definitions.c). */
struct otf2_string {
	uint64_t id;
	char *text;
};

struct otf2_node {
	uint64_t id;
	uint32_t name, class, parent;
	bool is_machine; /* whether everything below it shares memory */
};

struct otf2_process {
	uint64_t id; /* of the location group */
	uint32_t node;
	uint32_t host;		/* index of the host */
	uint32_t rank;		/* in MPI_COMM_WORLD, or OTF2_NONE */
	void *counters;		/* tsearch() tree of struct otf2_counter */
	struct otf2_open *open; /* collective operations that have begun, in this order */
	size_t num_open, open_room;
	bool was_paused;
};

struct otf2_thread {
	uint64_t id; /* of the location */
	struct otf2_process *process;
	uint32_t group;
	uint64_t num_events;
	struct otf2_offset *offset;
	size_t num_offsets, offset_room;
};

struct otf2_group {
	uint64_t id;
	uint64_t *member;
	uint32_t num;
	uint8_t type;
	bool is_global; /* whether events contain ranks in MPI_COMM_WORLD */
};

struct otf2_comm {
	uint64_t id;
	uint32_t name, group;
	const struct otf2_group *ranks; /* NULL for intercommunicators */
};

/* An array of definitions, sorted by identifier after all were read. */
struct otf2_table {
	void *data;
	size_t num, room, size;
};

struct otf2_scan {
	const struct otf2_library *otf2;
	const struct otf2_archive *archive;
	OTF2_Reader *reader;
	uint64_t trace_id;
	char **host; /* names of the hosts */
	size_t num_hosts, host_room;
	struct otf2_timer timer;
	bool has_timer;
	struct otf2_table strings, nodes, processes, threads, groups, comms;
	const struct otf2_group *world;
	uint64_t unused[OTF2_NUM_UNUSED];
	OTF2_ErrorCode error; /* first error that the library reported */
};

/* Return @memory. If it is NULL, end the worker. */
void *otf2_need_memory(void *memory);
/* Report why the archive cannot be read. Return false. */
bool otf2_report_failure(struct otf2_scan *scan, const char *what);

/* definitions.c: read all definitions. On failure, report the reason and return false. */
bool otf2_scan_definitions(struct otf2_scan *scan);
/* Find a definition by its identifier. Return NULL if there is none. */
void *otf2_find(const struct otf2_table *table, uint64_t id);
/* Return the text of a string definition; never NULL. */
const char *otf2_find_text(const struct otf2_scan *scan, uint32_t id);
/* Return the threads of all hosts, and their number. */
struct otf2_thread *otf2_get_threads(const struct otf2_scan *scan, size_t *num);

#endif
