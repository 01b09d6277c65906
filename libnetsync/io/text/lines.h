/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Read the lines of a text file, which may be compressed, in large blocks. Words and integers are
 * parsed in the buffer. Every line ends in '
 * '. If the last line lacks it, it is added, so that functions that parse words need not check for
 * the end of the buffer.
 */
#ifndef NETSYNC_IO_LINES_H
#define NETSYNC_IO_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "io/names.h"
#include "io/unpack/unpack.h"

struct netsync_io;

struct text_lines {
	struct netsync_io *io;
	const char *path; /* path for messages */
	struct unpacked file;
	bool is_open; /* whether the file has been opened, and is read from its beginning */
	bool strict;  /* whether reading ends at a bad line */
	bool quiet;   /* whether bad lines are neither counted nor reported */
	bool skip;    /* whether the rest of a line that is too long is being skipped */
	bool ended;   /* whether the last bytes of the file are in the buffer */
	char *buffer;
	const char *at;	 /* start of the next line */
	const char *end; /* end of complete lines in the buffer */
	const char *filled;
	uint64_t number;   /* number of the line that was returned last; the first line has 1 */
	uint64_t bad;	   /* number of bad lines */
	uint64_t last_bad; /* number of the last bad line */
	uint64_t size;	   /* size of the file, possibly compressed (bytes) */
	uint64_t done;	   /* number of bytes of the text that have been read */
	int error;	   /* error of lines_next(), or 0 */
};

/* Open a file. Return 0. On failure, call io_fail() and return a negative errno value. */
int lines_open(struct text_lines *lines, struct netsync_io *io, const char *path, bool strict);
/*
 * Like lines_open(), but for an open file, or for a file that failed to open (NULL, and errno).
 * lines_close() closes the file.
 */
int lines_open_from(struct text_lines *lines, struct netsync_io *io, const char *path, bool strict,
		    struct disk_file *from);
/* If an input, such as a pipe, cannot be read twice, copy it to a file. */
int lines_make_seekable(struct text_lines *lines);
/* Start again from the first line. */
int lines_rewind(struct text_lines *lines);
void lines_close(struct text_lines *lines);

/* Fill the buffer for lines_next(). At the end, or after an error, return false. */
bool lines_fill_buffer(struct text_lines *lines);
/* Skip the rest of the line that contains @at. */
void lines_skip(struct text_lines *lines, const char *at);

/*
 * Report a bad line, and skip it from @at on. The sentence says what is wrong. Return 0, or -EILSEQ
 * if strict.
 */
int lines_reject(struct text_lines *lines, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* At the end of the file, report the number of bad lines. */
void lines_warn_of_bad(const struct text_lines *lines);

static inline bool lines_is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n');
}

/* Return whether no words follow in the line from @p on. */
static inline bool lines_is_end(const char *p)
{
	return *p == '\n' || *p == '#';
}

static inline const char *lines_skip_blanks(const char *p)
{
	/* There is nearly always exactly one blank. */
	if (*p == ' ' && (unsigned char)p[1] > ' ')
		return p + 1;
	while (lines_is_blank(*p))
		p++;
	return p;
}

/*
 * Return the first word of the next line that has words. At the end, or after an error, return
 * NULL. Before the next call, the caller must call lines_skip() or lines_reject().
 */
static inline const char *lines_next(struct text_lines *lines)
{
	for (;;) {
		const char *p = lines->at;

		if (p == lines->end) {
			if (!lines_fill_buffer(lines))
				return NULL;
			p = lines->at;
		}
		lines->number++;
		p = lines_skip_blanks(p);
		if (!lines_is_end(p))
			return p;
		lines_skip(lines, p);
	}
}

/*
 * Read the word at @p. Return the position after the word and the blanks that follow. At the end of
 * the line, and at a control character, the word is empty.
 */
static inline const char *lines_parse_word(const char *p, struct text_word *word)
{
	word->text = p;
	while ((unsigned char)*p > ' ' && (*p != '#' || p > word->text))
		p++;
	word->len = (size_t)(p - word->text);
	return lines_skip_blanks(p);
}

/*
 * Parse a decimal integer, eight digits at a time. Return the same position as lines_parse_word().
 * If the word is not an integer or is too large, return NULL.
 */
const char *lines_parse_integer(const char *p, int64_t *value);

#endif
