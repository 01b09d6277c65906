// SPDX-License-Identifier: LGPL-2.1-or-later
/* Bytes of a trace.dat file -> numbers and texts, of which none is beyond the end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/tracedat/cursor.h"

/* Bytes of a text at most. Chosen: formats of events have some kilobytes. */
#define MAX_TEXT (1 << 20)

int dat_problem(struct dat_file *file, const char *words)
{
	file->problem = words;
	return -EILSEQ;
}

size_t dat_pread(const struct dat_file *file, void *to, size_t size,
		 uint64_t at)
{
	size_t done = 0;

	while (done < size && at <= INT64_MAX - size) {
		ssize_t num = pread(file->fd, (char *)to + done, size - done,
				    at + done);

		if (num < 0 && errno == EINTR)
			continue;
		if (num <= 0)
			break;
		done += num;
	}
	return done;
}

void dat_get(struct cursor *cursor, void *to, size_t size)
{
	if (!cursor->bad && size <= cursor->end - cursor->at) {
		if (cursor->memory)
			memcpy(to, cursor->memory + cursor->at, size);
		else
			cursor->bad = dat_pread(cursor->file, to, size,
						cursor->at) < size;
	} else {
		cursor->bad = true;
	}
	if (cursor->bad)
		memset(to, 0, size);
	else
		cursor->at += size;
}

void dat_skip(struct cursor *cursor, uint64_t size)
{
	if (size > cursor->end - cursor->at)
		cursor->bad = true;
	else
		cursor->at += size;
}

uint64_t dat_number(const struct dat_file *file, const uint8_t *bytes,
		    unsigned int size)
{
	uint64_t number = 0;

	for (unsigned int i = 0; i < size; i++)
		number |= (uint64_t)bytes[file->big_endian ? size - 1 - i : i] <<
			  (8 * i);
	return number;
}

uint8_t *dat_put_number(const struct dat_file *file, uint8_t *bytes,
			uint64_t number, unsigned int size)
{
	for (unsigned int i = 0; i < size; i++)
		bytes[file->big_endian ? size - 1 - i : i] = number >> (8 * i);
	return bytes + size;
}

uint64_t dat_get_number(struct cursor *cursor, unsigned int size)
{
	uint8_t bytes[8];

	dat_get(cursor, bytes, size);
	return dat_number(cursor->file, bytes, size);
}

/* A text of @size bytes, with a 0 added; NULL: no memory, or bad. */
char *dat_get_text(struct cursor *cursor, uint64_t size)
{
	char *text;

	if (size > MAX_TEXT || size > cursor->end - cursor->at)
		cursor->bad = true;
	if (cursor->bad)
		return NULL;
	text = malloc(size + 1);
	if (!text)
		return NULL;
	dat_get(cursor, text, size);
	text[size] = '\0';
	return text;
}

/* A word that ends with a 0, which must fit into @room bytes. */
void dat_get_word(struct cursor *cursor, char *word, size_t room)
{
	for (size_t i = 0; i < room; i++) {
		dat_get(cursor, &word[i], 1);
		if (!word[i])
			return;
	}
	word[0] = '\0';
	cursor->bad = true;
}
