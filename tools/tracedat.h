/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where an option can be put into a trace.dat file, versions 6 and 7, whose
 * format is in trace-cmd.dat(5). Version 6 is one thing after the other, the
 * events last: these move, and with them all that is told by its place. Version
 * 7 is a list of sections: there is one more at the end.
 */
#ifndef NETSYNC_TRACEDAT_H
#define NETSYNC_TRACEDAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACEDAT_TIME_SHIFT 12		/* the option's number */

struct tracedat {
	const char *path;
	int fd;
	uint64_t size;
	uint64_t at;			/* what is read next */
	bool bad;			/* beyond the end was read */
	bool big_endian;
	unsigned int version;
	uint32_t page_size;

	/* What its options say. */
	uint64_t offset_ns;		/* that its readers add to all times */
	bool is_shifted;		/* they do more with them, */
	bool is_tsc;			/* or convert them from cycles */
	uint32_t num_cpus;		/* all numbers of processors are below */
	bool has_named;			/* events are in buffers with a name, too */

	/* Version 6: the end of the options, or (true) where they are to begin. */
	uint64_t options_end;
	bool no_options;
	uint64_t data;			/* where events begin: page by page */
	uint64_t *places;		/* of numbers that are places in the file */
	size_t num_places;
	size_t place_room;

	/* Version 7: where in the last section of options the next one is told. */
	uint64_t next_at;
	uint8_t description[4];		/* of these sections */
};

/* False: it cannot be read, and that was complained of. */
bool tracedat_open(struct tracedat *dat, const char *path);
void tracedat_close(struct tracedat *dat);

uint64_t tracedat_get(struct tracedat *dat, unsigned int size);
/* Make @size bytes of a number, as the file has numbers; return what is behind. */
uint8_t *tracedat_put(const struct tracedat *dat, uint8_t *bytes,
		      uint64_t number, unsigned int size);

#endif
