/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A text file, line by line: large reads, and words and integers taken where
 * they lie. Every line ends in '\n', also the last one and also where the file
 * lacks it, so that what takes words need not look for the end.
 */
#ifndef NETSYNC_IO_LINES_H
#define NETSYNC_IO_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "io/names.h"

struct netsync_io;

struct lines {
	struct netsync_io *io;
	const char *path;	/* for people */
	int fd;
	bool strict;		/* the first bad line is the end */
	bool quiet;		/* bad lines are neither counted nor told of */
	bool skip;		/* to the end of a line that is too long */
	bool ended;		/* all of the file is in the buffer */
	char *buffer;
	const char *at;		/* where the next line begins */
	const char *end;	/* of what is complete */
	const char *filled;
	uint64_t number;	/* of the line that was taken last */
	uint64_t bad;
	uint64_t size;		/* of the file */
	uint64_t done;		/* bytes read of it */
	int error;		/* what lines_next() failed with, or 0 */
};

/* Return: 0, or a negative errno after io_fail(). */
int lines_open(struct lines *lines, struct netsync_io *io, const char *path,
	       bool strict);
/* The same of what is open already, or could not be (errno); lines_close() closes it. */
int lines_take(struct lines *lines, struct netsync_io *io, const char *path,
	       bool strict, int fd);
/* Copy what is no file, such as a pipe, so that it can be read again. */
int lines_make_seekable(struct lines *lines);
/* Start again from the first line. */
int lines_rewind(struct lines *lines);
void lines_close(struct lines *lines);

/* The rare part of lines_next(): 0 at the end and after an error. */
bool lines_fill(struct lines *lines);
/* Go on behind the line of which @at is a part. */
void lines_skip(struct lines *lines, const char *at);

/*
 * A line that is of no use: 0, or -EILSEQ where that is the end; the sentence
 * says what is wrong. The line is skipped from @at on.
 */
int lines_bad(struct lines *lines, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* At the end: how many there were. */
void lines_warn_of_bad(const struct lines *lines);

static inline bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n');
}

/* At @p a line has no more words. */
static inline bool is_line_end(const char *p)
{
	return *p == '\n' || *p == '#';
}

static inline const char *skip_blanks(const char *p)
{
	/* Nearly always there is one. */
	if (*p == ' ' && (unsigned char)p[1] > ' ')
		return p + 1;
	while (is_blank(*p))
		p++;
	return p;
}

/*
 * The first word of the next line that has one; NULL at the end and after an
 * error. The caller says lines_skip() or lines_bad() before the next call.
 */
static inline const char *lines_next(struct lines *lines)
{
	for (;;) {
		const char *p = lines->at;

		if (p == lines->end) {
			if (!lines_fill(lines))
				return NULL;
			p = lines->at;
		}
		lines->number++;
		p = skip_blanks(p);
		if (!is_line_end(p))
			return p;
		lines_skip(lines, p);
	}
}

/*
 * What follows the word at @p and the blanks behind it. The word is empty at
 * the end of the line and at a control character.
 */
static inline const char *take_word(const char *p, struct word *word)
{
	word->text = p;
	while ((unsigned char)*p > ' ' && (*p != '#' || p > word->text))
		p++;
	word->len = (size_t)(p - word->text);
	return skip_blanks(p);
}

/*
 * The same for a decimal integer; NULL if it is none or does not fit. As fast
 * as can be: eight digits at a time.
 */
const char *take_integer(const char *p, int64_t *value);

#endif
