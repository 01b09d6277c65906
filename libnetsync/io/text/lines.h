/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Read the lines of a text file, which may be compressed, by large reads. Words and integers are
 * parsed in place. Every line ends in '\n', which is added to the last line if missing, so that
 * functions that parse words need not check for the end of the buffer.
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
	bool is_open; /* the file was opened and is read from its beginning */
	bool strict;  /* reading ends at a bad line */
	bool quiet;   /* bad lines are neither counted nor reported */
	bool skip;    /* skipping to the end of a line that is too long */
	bool ended;   /* the file's last bytes are in the buffer */
	char *buffer;
	const char *at;	 /* start of the next line */
	const char *end; /* end of complete lines in the buffer */
	const char *filled;
	uint64_t number;   /* number of the last line returned, from 1 on */
	uint64_t bad;	   /* number of bad lines */
	uint64_t last_bad; /* number of the last bad line */
	uint64_t size;	   /* size of the file, possibly compressed (bytes) */
	uint64_t done;	   /* number of bytes of the text that were read */
	int error;	   /* error of lines_next(), or 0 */
};

/* Open a file. Return 0, or a negative errno value after io_fail(). */
int lines_open(struct text_lines *lines, struct netsync_io *io, const char *path, bool strict);
/*
 * Like lines_open() for an open file, or one that failed to open (NULL, and errno);
 * lines_close() closes it.
 */
int lines_open_from(struct text_lines *lines, struct netsync_io *io, const char *path, bool strict,
		    struct disk_file *from);
/* Copy an input that cannot be read twice, such as a pipe, to a file. */
int lines_make_seekable(struct text_lines *lines);
/* Start again from the first line. */
int lines_rewind(struct text_lines *lines);
void lines_close(struct text_lines *lines);

/* Fill the buffer for lines_next(). Return false at the end, or after an error. */
bool lines_fill_buffer(struct text_lines *lines);
/* Skip the rest of the line that contains @at. */
void lines_skip(struct text_lines *lines, const char *at);

/*
 * Report a bad line, and skip it from @at on. Return 0, or -EILSEQ if strict. The sentence
 * describes what is wrong.
 */
int lines_reject(struct text_lines *lines, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* At the end, report the number of bad lines. */
void lines_warn_of_bad(const struct text_lines *lines);

static inline bool lines_is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n');
}

/* Does the line have no more words from @p on? */
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
 * Return the first word of the next line that has words, or NULL at the end and after an error.
 * The caller must call lines_skip() or lines_reject() before the next call.
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
 * Consume the word at @p. Return the position after it and the following blanks. The word is
 * empty at the end of the line and at a control character.
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
 * Parse a decimal integer, eight digits at a time, and return as lines_parse_word() does. Return
 * NULL if the word is not an integer, or does not fit.
 */
const char *lines_parse_integer(const char *p, int64_t *value);

#endif
