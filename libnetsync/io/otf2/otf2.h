/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * OTF2 archives, which Score-P, APEX and other tools write: the anchor file NAME.otf2, definitions
 * in NAME.def, and for each location (a thread) events and more definitions in NAME/. One archive
 * contains all hosts of an MPI program.
 *
 *	definitions.c, events.c: a worker with OTF2's library -> records
 *	archive.c: records -> struct otf2_archive; parts of each host in a temporary file
 *	reader.c: -> one trace of each host
 *	copy.c: -> a copy with new clock offsets
 *
 * A host has one clock. Its ticks are those of the events, plus the clock offsets if all locations
 * of the host have the same ones (clock.c).
 */
#ifndef NETSYNC_IO_OTF2_H
#define NETSYNC_IO_OTF2_H

#include "io/io.h"

/* No world rank, and no communicator. */
#define OTF2_NONE UINT32_MAX

/* ClockProperties of the archive. */
struct otf2_timer {
	int64_t resolution;  /* ticks per second */
	int64_t start;	     /* globalOffset, ticks: no event is earlier */
	int64_t length;	     /* traceLength, ticks */
	int64_t realtime_ns; /* CLOCK_REALTIME at @start (ns since 1970); -1 if unknown */
};

/* A ClockOffset record: at @time (ticks), add @offset (ticks). */
struct otf2_offset {
	int64_t time;
	int64_t offset;
};

/* What one process does in a message or a collective operation. */
struct otf2_part {
	uint64_t key[2], check; /* as in struct span_part */
	int64_t start_ns, end_ns;
	uint32_t member, members; /* world rank; number of ranks that take part */
	uint32_t comm;		  /* index of the communicator */
	uint8_t role;		  /* bits of enum netsync_io_role */
	uint8_t operation;	  /* OTF2_CollectiveOp, or OTF2_MESSAGE */
};

#define OTF2_MESSAGE UINT8_MAX

/* Reasons why events are not used. */
enum otf2_unused {
	OTF2_NO_RANK,	  /* of processes that are no ranks of MPI */
	OTF2_OTHER_COMM,  /* on intercommunicators and unknown communicators */
	OTF2_EMPTY_PARTS, /* in which some ranks may exchange no data */
	OTF2_PAUSED,	  /* after recording was paused */
	OTF2_BAD_TIME,
	OTF2_NUM_UNUSED
};

/* Records of the worker. Parts follow their host, and belong to the last one. */
enum otf2_record {
	OTF2_RECORD_TIMER,    /* struct otf2_timer */
	OTF2_RECORD_CHUNK,    /* uint64_t: size of chunks of definitions (bytes) */
	OTF2_RECORD_HOST,     /* name, as text */
	OTF2_RECORD_OFFSET,   /* struct otf2_offset of the last host */
	OTF2_RECORD_LOCATION, /* uint64_t: a location of the last host */
	OTF2_RECORD_TICKS,    /* struct otf2_ticks of the last host */
	OTF2_RECORD_COMM,     /* name of the next communicator, as text */
	OTF2_RECORD_PART,     /* struct otf2_part */
	OTF2_RECORD_UNUSED,   /* uint64_t: count; number: enum otf2_unused */
	OTF2_RECORD_DAMAGE,   /* why events cannot be read, as text; the rest is used */
	OTF2_RECORD_FAILURE,  /* why the archive cannot be read, as text */
	OTF2_RECORD_END
};

/* First and last time of a host's events. */
struct otf2_ticks {
	int64_t first, last;
};

struct otf2_host {
	char *name;
	struct otf2_ticks ticks;    /* without offsets; if last < first, the host has no events */
	struct otf2_offset *offset; /* by time */
	size_t num_offsets, offset_room;
	uint64_t *location;
	size_t num_locations, location_room;
	uint64_t first_part, num_parts; /* in the temporary file */
};

struct otf2_archive {
	struct netsync_io *io;
	const char *path;
	unsigned int users; /* number of traces that use the archive */
	bool wants_parts;
	struct otf2_timer timer;
	uint64_t chunk; /* size of chunks of definitions (bytes) */
	struct otf2_host *host;
	size_t num_hosts, host_room;
	char (*comm)[SPAN_NAME_SIZE];
	size_t num_comms, comm_room;
	uint64_t unused[OTF2_NUM_UNUSED];
	char *damage, *failure;
	bool has_ended;
	int spool; /* the temporary file, with all parts; -1 if there are none */
	uint64_t num_parts;
	struct otf2_part *block; /* parts that are not in the file yet */
	size_t block_used;
};

/* Number of parts that are written or read at a time. Chosen: 4 KiB. */
#define OTF2_BLOCK 64

/*
 * archive.c: read an archive with a worker. Return 0, or a negative value after io_fail(). The
 * caller calls otf2_release() in both cases.
 */
int otf2_read_archive(struct otf2_archive *archive);
/* Read parts of a host from index @from on. Return their number, or a negative errno value. */
ssize_t otf2_read_parts(const struct otf2_archive *archive, const struct otf2_host *host,
			uint64_t from, struct otf2_part parts[OTF2_BLOCK]);
void otf2_release(struct otf2_archive *archive);

/* events.c: the task of the worker, whose argument is a struct otf2_archive. */
void otf2_scan_archive(const void *data);

/* ---- clock.c ---------------------------------------------------------------- */

/* Can the timer be used by the following functions? */
bool otf2_has_valid_timer(const struct otf2_timer *timer);
/* Return the reading of the clock at the start of the archive (ns). */
int64_t otf2_get_start(const struct otf2_timer *timer);
/* Return the time (ns since 1970) at which the clock of the ticks shows zero, or 0 if unknown. */
int64_t otf2_get_epoch(const struct otf2_timer *timer);
/* Add clock offsets to ticks, as OTF2's own readers do. */
__int128 otf2_add_offset(const struct otf2_offset *offsets, size_t num, int64_t ticks);
/*
 * Convert the ticks of an event to its time as printed (ns), rounded up or down. Return false if it
 * does not fit into 64 bits.
 */
bool otf2_get_ns(const struct otf2_timer *timer, const struct otf2_offset *offsets, size_t num,
		 int64_t ticks, bool rounds_up, int64_t *ns);
/* Convert a time as printed to ticks with offsets. Return false if there are none. */
bool otf2_get_ticks(const struct otf2_timer *timer, int64_t ns, int64_t *ticks);

#endif
