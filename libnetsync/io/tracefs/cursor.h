/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading through the bytes of a file, or of memory, whose contents are not trusted. */
#ifndef NETSYNC_TRACEFS_CURSOR_H
#define NETSYNC_TRACEFS_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/disk/disk.h"

/*
 * A place in a file, or in memory. Reading beyond the end gives 0, and sets bad.
 */
struct cursor {
	struct disk_file *from;
	bool big_endian;
	uint8_t *memory; /* NULL means in the file */
	uint64_t at;
	uint64_t end;
	bool bad;
};

/* Read @size bytes, or skip them. */
void cursor_read_bytes(struct cursor *cursor, void *to, size_t size);
void cursor_skip(struct cursor *cursor, uint64_t size);
/* A number of 1, 2, 4 or 8 bytes. */
uint64_t cursor_read_number(struct cursor *cursor, unsigned int size);
/*
 * Read a text of @size bytes, and add a 0. Return NULL if out of memory or if the input is
 * invalid.
 */
char *cursor_read_text(struct cursor *cursor, uint64_t size);
/* A word that ends with a 0, which must fit into @room bytes. */
void cursor_read_word(struct cursor *cursor, char *word, size_t room);

/* The number in @size bytes, at most 8. */
uint64_t bytes_to_number(const uint8_t *bytes, unsigned int size, bool big_endian);
/* Write a number in @size bytes. Return the position after them. */
uint8_t *number_to_bytes(uint8_t *bytes, uint64_t number, unsigned int size, bool big_endian);

/* Read up to @size bytes of a file at @at. Return the number of bytes read. */
size_t read_bytes_at(struct disk_file *from, void *to, size_t size, uint64_t at);

#endif
