// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"
#include "tracedat.h"

enum {
	OPTION_DONE = 0,
	OPTION_DATE = 1,
	OPTION_BUFFER = 3,
	OPTION_OFFSET = 7,
	OPTION_CPUCOUNT = 8,
	OPTION_TSC2NSEC = 14,
};

#define MAGIC_SIZE 10
#define MAX_CPUS 8192
/* The head of a section of version 7, of which this may be set. */
#define SECTION_SIZE 16
#define SECTION_COMPRESSED 1

/* ---- reading ----------------------------------------------------------- */

static void get(struct tracedat *dat, void *to, size_t size)
{
	if (dat->bad || dat->at > dat->size || size > dat->size - dat->at ||
	    pread(dat->fd, to, size, dat->at) != (ssize_t)size) {
		dat->bad = true;
		memset(to, 0, size);
	}
	dat->at += size;
}

static void skip(struct tracedat *dat, uint64_t size)
{
	if (dat->at > dat->size || size > dat->size - dat->at)
		dat->bad = true;
	else
		dat->at += size;
}

uint64_t tracedat_get(struct tracedat *dat, unsigned int size)
{
	uint64_t number = 0;
	uint8_t bytes[8];

	get(dat, bytes, size);
	for (unsigned int i = 0; i < size; i++)
		number |= (uint64_t)bytes[dat->big_endian ? size - 1 - i : i] <<
			  (8 * i);
	return number;
}

uint8_t *tracedat_put(const struct tracedat *dat, uint8_t *bytes,
		      uint64_t number, unsigned int size)
{
	for (unsigned int i = 0; i < size; i++)
		bytes[dat->big_endian ? size - 1 - i : i] = number >> (8 * i);
	return bytes + size;
}

/* Pass over a word that ends with a 0. */
static void skip_word(struct tracedat *dat)
{
	while (tracedat_get(dat, 1) && !dat->bad)
		;
}

/* ---- options ----------------------------------------------------------- */

/* A number, as text; that of the date is in microseconds. */
static void read_offset(struct tracedat *dat, uint32_t size, uint64_t unit)
{
	char text[32] = "";

	get(dat, text, size < sizeof(text) ? size : sizeof(text) - 1);
	dat->offset_ns += strtoull(text, NULL, 0) * unit;
}

/* Here is the place of something. */
static void note_place(struct tracedat *dat)
{
	uint64_t *more;

	if (dat->num_places == dat->place_room) {
		dat->place_room = 2 * dat->place_room + 16;
		more = realloc(dat->places, dat->place_room * sizeof(*more));
		if (!more) {
			dat->bad = true;
			return;
		}
		dat->places = more;
	}
	dat->places[dat->num_places++] = dat->at;
}

static void read_buffer(struct tracedat *dat)
{
	uint32_t num;
	bool named;

	if (dat->version < 7) {
		note_place(dat);
		return;
	}
	skip(dat, 8);
	named = tracedat_get(dat, 1);
	if (named)
		skip_word(dat);
	skip_word(dat);
	skip(dat, 4);
	num = tracedat_get(dat, 4);
	while (num-- && !dat->bad) {
		uint32_t number = tracedat_get(dat, 4);

		skip(dat, 8);
		dat->has_named |= tracedat_get(dat, 8) && named;
		if (number >= MAX_CPUS)
			dat->bad = true;
		else if (number >= dat->num_cpus)
			dat->num_cpus = number + 1;
	}
}

static void read_option(struct tracedat *dat, unsigned int id, uint32_t size)
{
	switch (id) {
	case OPTION_DATE:
		read_offset(dat, size, 1000);
		break;
	case OPTION_OFFSET:
		read_offset(dat, size, 1);
		break;
	case OPTION_TSC2NSEC:
		dat->is_tsc = true;
		break;
	case TRACEDAT_TIME_SHIFT:
		dat->is_shifted = true;
		break;
	case OPTION_CPUCOUNT:
		dat->num_cpus = tracedat_get(dat, 4);
		break;
	case OPTION_BUFFER:
		read_buffer(dat);
		break;
	default:
		break;
	}
}

/* Up to the one that ends them. */
static void read_options(struct tracedat *dat)
{
	while (!dat->bad) {
		unsigned int id = tracedat_get(dat, 2);
		uint64_t next;
		uint32_t size;

		if (id == OPTION_DONE && dat->version < 7) {
			dat->options_end = dat->at - 2;
			return;
		}
		size = tracedat_get(dat, 4);
		if (id == OPTION_DONE) {
			dat->next_at = dat->at;
			return;
		}
		next = dat->at + size;
		read_option(dat, id, size);
		dat->at = next;
	}
}

/* ---- version 6 --------------------------------------------------------- */

static void skip_formats(struct tracedat *dat)
{
	uint32_t num = tracedat_get(dat, 4);

	while (num-- && !dat->bad)
		skip(dat, tracedat_get(dat, 8));
}

/*
 * Where the events of each processor are: the first is where all begin. Return:
 * are there any?
 */
static bool read_flyrecord(struct tracedat *dat)
{
	bool any = false;
	char word[10];

	get(dat, word, sizeof(word));
	if (memcmp(word, "flyrecord", sizeof(word)))
		dat->bad = true;
	for (uint32_t i = 0; i < dat->num_cpus && !dat->bad; i++) {
		uint64_t at, size;

		note_place(dat);
		at = tracedat_get(dat, 8);
		size = tracedat_get(dat, 8);
		any |= size;
		if (size && at < dat->data)
			dat->data = at;
	}
	return any;
}

static bool read_6(struct tracedat *dat)
{
	uint32_t systems, num_cpus;
	size_t buffers;
	char word[10];

	skip(dat, sizeof("header_page"));
	skip(dat, tracedat_get(dat, 8));
	skip(dat, sizeof("header_event"));
	skip(dat, tracedat_get(dat, 8));
	skip_formats(dat);
	systems = tracedat_get(dat, 4);
	while (systems-- && !dat->bad) {
		skip_word(dat);
		skip_formats(dat);
	}
	skip(dat, tracedat_get(dat, 4));
	skip(dat, tracedat_get(dat, 4));
	skip(dat, tracedat_get(dat, 8));
	num_cpus = tracedat_get(dat, 4);
	get(dat, word, sizeof(word));
	if (!memcmp(word, "options  ", sizeof(word))) {
		read_options(dat);
	} else {
		dat->at -= sizeof(word);
		dat->options_end = dat->at;
		dat->no_options = true;
	}
	if (!dat->num_cpus)
		dat->num_cpus = num_cpus;
	if (dat->num_cpus > MAX_CPUS)
		dat->bad = true;
	dat->data = dat->size;
	buffers = dat->num_places;
	read_flyrecord(dat);
	for (size_t i = 0; i < buffers && !dat->bad; i++) {
		dat->at = dat->places[i];
		dat->at = tracedat_get(dat, 8);
		dat->has_named |= read_flyrecord(dat);
	}
	/* What is told by its place must be where it can be moved as a whole. */
	return !dat->bad && dat->data > dat->options_end &&
	       !(dat->data & (dat->page_size - 1));
}

/* ---- version 7 --------------------------------------------------------- */

static bool read_7(struct tracedat *dat)
{
	uint64_t next, before = 0;

	skip_word(dat);		/* how it is compressed, */
	skip_word(dat);		/* and by what version of that */
	next = tracedat_get(dat, 8);
	while (next > before && !dat->bad) {
		before = next;
		dat->at = next;
		if (tracedat_get(dat, 2) != OPTION_DONE ||
		    (tracedat_get(dat, 2) & SECTION_COMPRESSED))
			return false;
		get(dat, dat->description, sizeof(dat->description));
		skip(dat, 8);
		read_options(dat);
		next = tracedat_get(dat, 8);
	}
	return !dat->bad && before && !next;
}

/* ------------------------------------------------------------------------ */

static bool read_all(struct tracedat *dat)
{
	char version[2];

	dat->at = MAGIC_SIZE;
	get(dat, version, sizeof(version));
	dat->version = version[0] - '0';
	dat->big_endian = tracedat_get(dat, 1);
	skip(dat, 1);
	dat->page_size = tracedat_get(dat, 4);
	if (dat->bad || version[1])
		return false;
	return dat->version == 6 ? read_6(dat) : dat->version == 7 && read_7(dat);
}

bool tracedat_open(struct tracedat *dat, const char *path)
{
	off_t size;

	*dat = (struct tracedat){ .path = path };
	dat->fd = open(path, O_RDONLY | O_CLOEXEC);
	size = dat->fd < 0 ? -1 : lseek(dat->fd, 0, SEEK_END);
	if (size < 0) {
		complain("%s: %s.", path, strerror(errno));
		return false;
	}
	dat->size = size;
	if (read_all(dat))
		return true;
	complain("%s: this trace.dat is not laid out as trace-cmd does it.", path);
	return false;
}

void tracedat_close(struct tracedat *dat)
{
	if (dat->fd >= 0)
		close(dat->fd);
	free(dat->places);
}
