/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Read from a file or from memory, from front to back. The contents are not trusted. */
#ifndef NETSYNC_TRACEFS_CURSOR_H
#define NETSYNC_TRACEFS_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/disk/disk.h"

/* A position in a file or in memory. Reading beyond the end returns 0 and sets @bad. */
struct cursor {
	struct disk_file *from;
	bool big_endian;
	uint8_t *memory; /* the memory, or NULL if the position is in the file */
	uint64_t at;
	uint64_t end;
	bool bad;
};

/* Read @size bytes, or skip them. */
void cursor_read_bytes(struct cursor *cursor, void *to, size_t size);
void cursor_skip(struct cursor *cursor, uint64_t size);
/* Read a number with 1, 2, 4 or 8 bytes. */
uint64_t cursor_read_number(struct cursor *cursor, unsigned int size);
/*
 * Read a text of @size bytes, and add a terminating NUL. Return NULL if the input is invalid or out
 * of memory.
 */
char *cursor_read_text(struct cursor *cursor, uint64_t size);
/* Read a word that ends with a NUL. The word must fit into @room bytes. */
void cursor_read_word(struct cursor *cursor, char *word, size_t room);

/* Return the number that consists of @size bytes, at most 8. */
uint64_t bytes_to_number(const uint8_t *bytes, unsigned int size, bool big_endian);
/* Write a number with @size bytes. Return the position after it. */
uint8_t *number_to_bytes(uint8_t *bytes, uint64_t number, unsigned int size, bool big_endian);

/* Read at most @size bytes of a file from offset @at on. Return the number of bytes. */
size_t read_bytes_at(struct disk_file *from, void *to, size_t size, uint64_t at);

#endif
