/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Scan JSON texts (RFC 8259) of any size, one after another, without building objects: files of
 * gigabytes are read in constant memory, and the position of each value is known. In values that
 * are skipped, only strings and the number of brackets are checked.
 */
#ifndef NETSYNC_IO_SPANS_SCAN_H
#define NETSYNC_IO_SPANS_SCAN_H

#include "io/io.h"
#include "io/unpack/unpack.h"

/*
 * Maximum size of a string or number that is not skipped (bytes); the rest of a longer one is
 * omitted. Chosen: names and attributes are shorter.
 */
#define SCAN_MAX_TEXT 4096

struct json_scan {
	struct unpacked file;
	char *buffer;
	size_t at, size; /* in the buffer: next byte, and number of bytes */
	uint64_t base;	 /* position of the buffer in the file (bytes, decompressed) */
	bool is_first;	 /* whether an object or list was entered just now */
	/* Name of the member that scan_member() found. Escapes are not decoded. */
	char key[64];
	size_t key_len;
	/* The last string, without quotes and with decoded escapes, or the digits of a number. */
	char text[SCAN_MAX_TEXT + 8];
	size_t len;
	uint64_t text_at;    /* position of its first byte in the file */
	uint64_t text_end;   /* position after its last byte */
	const char *problem; /* why the rest cannot be read; a clause */
};

/* The reason for data that violates the format. */
extern const char scan_not_json[];

int scan_open(struct json_scan *scan, struct netsync_io *io, const char *path);
void scan_close(struct json_scan *scan);

/*
 * The following functions return a negative value on failure: -EILSEQ if the file is damaged, with
 * a description in scan->problem, or another negative errno value.
 */
/*
 * Find the next value without reading it. Return its first byte: '{', '[', '"', a digit or '-',
 * 't', 'f' or 'n'; or 0 at the end of the file.
 */
int scan_peek(struct json_scan *scan);
/* Enter an object or list, which begins with @bracket. Return 0 if the value is something else. */
int scan_enter(struct json_scan *scan, char bracket);
/* Go to the value of the next member of the object. Return 0 at its end. */
int scan_member(struct json_scan *scan);
/* Go to the next element of the list. Return 0 at its end. */
int scan_element(struct json_scan *scan);
/* Read a string or number to scan->text. Skip any other value, and return 0. */
int scan_text(struct json_scan *scan);
/* Skip a value. Return 1. */
int scan_skip(struct json_scan *scan);
/* Make at least one byte available at scan->at. Return 1. */
int scan_need_byte(struct json_scan *scan);
/* Set the reason why the rest cannot be read. Return -EILSEQ. */
int scan_fail(struct json_scan *scan, const char *problem);
/* Skip the rest of a damaged line. Return 0 at the end of the file. */
int scan_next_line(struct json_scan *scan);

/* Return the position of the next byte in the file. */
static inline uint64_t scan_get_position(const struct json_scan *scan)
{
	return scan->base + scan->at;
}

/* Is this the name of the member? @name is a string constant. */
#define scan_is_key(scan, name) \
	((scan)->key_len == sizeof(name) - 1 && !memcmp((scan)->key, name, sizeof(name) - 1))

#endif
