// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read numbers and texts from a file. Never read beyond its end. */
#include <stdlib.h>
#include <string.h>

#include "io/tracefs/cursor.h"

/* Maximum size of a text (bytes). Chosen; event formats take a few kilobytes. */
#define MAX_TEXT (1 << 20)

size_t read_bytes_at(struct disk_file *from, void *to, size_t size, uint64_t at)
{
	size_t done = 0;

	while (done < size && at <= INT64_MAX - size) {
		const ssize_t num = disk_read(from, (char *)to + done, size - done, at + done);

		if (num <= 0)
			break;
		done += num;
	}
	return done;
}

void cursor_read_bytes(struct cursor *cursor, void *to, size_t size)
{
	if (!cursor->bad && size <= cursor->end - cursor->at) {
		if (cursor->memory)
			memcpy(to, cursor->memory + cursor->at, size);
		else
			cursor->bad = read_bytes_at(cursor->from, to, size, cursor->at) < size;
	} else {
		cursor->bad = true;
	}
	if (cursor->bad)
		memset(to, 0, size);
	else
		cursor->at += size;
}

void cursor_skip(struct cursor *cursor, uint64_t size)
{
	if (size > cursor->end - cursor->at)
		cursor->bad = true;
	else
		cursor->at += size;
}

uint64_t bytes_to_number(const uint8_t *bytes, unsigned int size, bool big_endian)
{
	uint64_t number = 0;

	for (unsigned int i = 0; i < size; i++)
		number |= (uint64_t)bytes[big_endian ? size - 1 - i : i] << (8 * i);
	return number;
}

uint8_t *number_to_bytes(uint8_t *bytes, uint64_t number, unsigned int size, bool big_endian)
{
	for (unsigned int i = 0; i < size; i++)
		bytes[big_endian ? size - 1 - i : i] = number >> (8 * i);
	return bytes + size;
}

uint64_t cursor_read_number(struct cursor *cursor, unsigned int size)
{
	uint8_t bytes[8];

	cursor_read_bytes(cursor, bytes, size);
	return bytes_to_number(bytes, size, cursor->big_endian);
}

/*
 * Read a text of @size bytes, and add a terminating NUL. Return NULL if the input is invalid or out
 * of memory.
 */
char *cursor_read_text(struct cursor *cursor, uint64_t size)
{
	char *text;

	if (size > MAX_TEXT || size > cursor->end - cursor->at)
		cursor->bad = true;
	if (cursor->bad)
		return NULL;
	text = malloc(size + 1);
	if (!text)
		return NULL;
	cursor_read_bytes(cursor, text, size);
	text[size] = '\0';
	return text;
}

/* Read a word that ends with a NUL. The word must fit into @room bytes. */
void cursor_read_word(struct cursor *cursor, char *word, size_t room)
{
	for (size_t i = 0; i < room; i++) {
		cursor_read_bytes(cursor, &word[i], 1);
		if (!word[i])
			return;
	}
	word[0] = '\0';
	cursor->bad = true;
}
