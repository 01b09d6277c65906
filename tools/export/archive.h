/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations that the files of archives for Perfetto share:
 *
 *	archive.c	the members of an archive, and how they are written
 *	machines.c	the clocks of all machines
 *	attached.c	files that are not traces of netsync's
 *	manifest.c	the member that tells Perfetto what the others are
 *	stairs.c	corrections as stairs
 *	ustar.c		the format
 */
#ifndef NETSYNC_EXPORT_ARCHIVE_H
#define NETSYNC_EXPORT_ARCHIVE_H

#include "export.h"
#include "stairs.h"
#include "timeline/timeline.h"
#include "ustar.h"

/* Names of members. Perfetto reads its own files in this order, and the clocks must be first. */
#define ARCHIVE_MANIFEST "perfetto_manifest.json"
#define ARCHIVE_CLOCKS "0-netsync.pftrace"
#define ARCHIVE_MESSAGES "1-messages.pftrace"

/* ---- machines.c ---------------------------------------------------------- */

/* The clock of a host, as far as it is known. */
enum machine_clock {
	MACHINE_MONOTONIC, /* CLOCK_MONOTONIC */
	MACHINE_TRACE,	   /* another clock of the kernel's tracers */
	MACHINE_WALL,	   /* CLOCK_REALTIME */
	MACHINE_UNKNOWN,   /* for example, a trace with corrected times */
};

/*
 * A host that is corrected. Perfetto's clock BOOTTIME of the machine stands for the clock of the
 * host's traces, and shows the time of the host + boot_shift_ns.
 */
struct archive_machine {
	uint32_t host; /* number in the time base */
	uint32_t id;   /* number in the archive; 0 for the reference */
	const char *name;
	enum machine_clock kind;
	bool is_boot; /* the clock is CLOCK_BOOTTIME */
	/* the clock as Perfetto calls it, if it is neither BOOTTIME nor MONOTONIC */
	enum timeline_clock_id other;
	int64_t boot_shift_ns;
	int64_t suspended_ns; /* BOOTTIME - MONOTONIC, which is 0 if no file is at BOOTTIME */
	bool has_wall;	      /* wall-clock time is about BOOTTIME + wall_shift_ns */
	int64_t wall_shift_ns;
	struct stairs stairs;
	int64_t bound_ns; /* largest error bound in the traces, or NETSYNC_UNKNOWN */
};

struct archive_machines {
	struct archive_machine *list;
	size_t num;
	const char *reference;
	int64_t ref_shift_ns; /* boot_shift_ns of the reference; 0 if it has no traces */
};

/*
 * Find all machines. On failure, set errno as for output_func, and return false.
 */
bool machines_find(struct archive_machines *machines, const struct export *export);
/* Return the machine with this name, or NULL. */
const struct archive_machine *machines_find_name(const struct archive_machines *machines,
						 const char *name);
/* Write the member ARCHIVE_CLOCKS. On failure, set errno and return false. */
bool machines_write_clocks(FILE *out, const struct archive_machines *machines,
			   const struct timebase *base);
void machines_release(struct archive_machines *machines);

/* ---- archive.c ----------------------------------------------------------- */

struct archive_member {
	char name[USTAR_NAME_LENGTH + 1];
	enum {
		MEMBER_CLOCKS,
		MEMBER_MESSAGES, /* packets and messages of all hosts */
		MEMBER_EVENTS,	 /* events of a machine's traces that Perfetto cannot read */
		MEMBER_FILE,	 /* a file of the user's */
		MEMBER_PERF,	 /* a perf.data file of the user's, which may be compressed */
	} kind;
	const struct archive_machine *machine; /* NULL for MEMBER_CLOCKS and MEMBER_MESSAGES */
	const char *path;		       /* path of the user's file */
	/* Times of the file + offset_ns are those of MONOTONIC, because Perfetto cannot know it. */
	bool is_pinned;
	int64_t offset_ns;
};

struct archive {
	const struct export *export;
	struct archive_machines machines;
	struct archive_member *members;
	size_t num_members;
};

/* ---- attached.c ---------------------------------------------------------- */

/*
 * Find out what an attached file is, and how its times relate to the clock of its machine. If it
 * cannot be used, print a message and return false.
 */
bool attached_examine(const struct attached_file *file, const struct archive_machine *machine,
		      struct archive_member *member);

/*
 * If a file is a trace that Perfetto recorded, set *@is_native. If its machine then has the clock
 * MONOTONIC, set *@suspended_ns to the difference to BOOTTIME, to which the file's times refer. If
 * the file cannot be used, print a message and return false.
 */
bool attached_find_suspended(const struct attached_file *file,
			     const struct archive_machine *machine, bool *is_native,
			     int64_t *suspended_ns);
/*
 * Check that a trace of Perfetto is not compressed. If the trace is compressed or cannot be read,
 * print a message and return false.
 */
bool attached_check_trace(const char *path);
/*
 * Open a perf.data file. If it is compressed or was read from a pipe, open an unnamed copy, because
 * Perfetto does not read compressed files in an archive. On failure, print a message and return
 * NULL.
 */
FILE *attached_open_perf(const struct archive_member *member, struct netsync_io *io);

/* ---- manifest.c ---------------------------------------------------------- */

/* Write the member ARCHIVE_MANIFEST. On failure, set errno and return false. */
bool manifest_write(FILE *out, const struct archive *archive);

#endif
