// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read a file of any size line by line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/retis/retis.h"

/* Size of the buffer of decompressed bytes. Chosen. */
#define BUFFER_SIZE (1 << 16)
/* Maximum depth of objects and lists in a line. Chosen: events have a depth of 6. */
#define MAX_DEPTH 32

int retis_open_lines(struct retis_lines *lines, struct netsync_io *io, const char *path)
{
	int ret;

	*lines = (struct retis_lines){ .problem = NULL };
	ret = io_open_unpacked(io, path, &lines->file);
	if (ret)
		return ret;
	lines->buffer = malloc(BUFFER_SIZE);
	lines->tokener = json_tokener_new_ex(MAX_DEPTH);
	if (!lines->buffer || !lines->tokener)
		return io_fail_no_memory(io);
	json_tokener_set_flags(lines->tokener, JSON_TOKENER_STRICT);
	return 0;
}

void retis_close_lines(struct retis_lines *lines)
{
	if (lines->tokener)
		json_tokener_free(lines->tokener);
	unpacked_close(&lines->file);
	free(lines->buffer);
	free(lines->text);
	*lines = (struct retis_lines){ .problem = NULL };
}

/* Make at least one byte available. Return 1; 0 at the end of the file; or a negative value. */
static int fill_lines_buffer(struct retis_lines *lines)
{
	ssize_t len;

	if (lines->buffer_at < lines->buffer_size)
		return 1;
	len = unpacked_read(&lines->file, lines->buffer, BUFFER_SIZE, lines->read_at);
	lines->buffer_at = 0;
	lines->buffer_size = len > 0 ? (size_t)len : 0;
	lines->read_at += lines->buffer_size;
	if (len == -EILSEQ)
		lines->problem = lines->file.damage;
	return len < 0 ? (int)len : len > 0;
}

/* Append bytes to the current line. */
static int keep_line_bytes(struct retis_lines *lines, size_t num)
{
	const size_t size = lines->size + num;

	if (size > RETIS_MAX_LINE) {
		lines->problem = "a line is longer than 4 MiB";
		return -EILSEQ;
	}
	if (size + 1 > lines->room) {
		char *bigger = realloc(lines->text, 2 * (size + 1));

		if (!bigger)
			return -ENOMEM;
		lines->text = bigger;
		lines->room = 2 * (size + 1);
	}
	memcpy(lines->text + lines->size, lines->buffer + lines->buffer_at, num);
	lines->buffer_at += num;
	lines->size = size;
	lines->text[size] = '\0';
	return 0;
}

int retis_next_line(struct retis_lines *lines)
{
	int ret;

	lines->at += lines->size + lines->has_newline;
	lines->size = 0;
	lines->has_newline = false;
	while ((ret = fill_lines_buffer(lines)) > 0) {
		const uint8_t *start = lines->buffer + lines->buffer_at;
		const size_t left = lines->buffer_size - lines->buffer_at;
		const uint8_t *end = memchr(start, '\n', left);

		ret = keep_line_bytes(lines, end ? (size_t)(end - start) : left);
		if (ret)
			return ret;
		if (end) {
			lines->buffer_at++;
			lines->has_newline = true;
			return 1;
		}
	}
	return ret < 0 ? ret : lines->size > 0;
}

struct json_object *retis_parse_line(struct retis_lines *lines)
{
	struct json_object *value;

	if (!lines->size || memchr(lines->text, '\0', lines->size))
		return NULL;
	json_tokener_reset(lines->tokener);
	/* The NUL ends numbers. */
	value = json_tokener_parse_ex(lines->tokener, lines->text, (int)lines->size + 1);
	if (json_tokener_get_error(lines->tokener) == json_tokener_success)
		return value;
	json_object_put(value);
	return NULL;
}
