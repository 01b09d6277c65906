/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text files in which any host may be in any line. Each format is one struct
 * text_format; text.c does what is common to all.
 */
#ifndef NETSYNC_IO_TEXT_H
#define NETSYNC_IO_TEXT_H

#include "io/io.h"
#include "io/text/lines.h"

/* A sender and a receiver. */
#define MAX_HOSTS_IN_LINE 2

struct text {
	struct lines lines;
	const struct text_format *format;
	char *path;
	struct stat st;
	struct packet_columns *columns;
	uint64_t used;		/* lines */
	struct trace *trace;	/* which it lies beside; NULL: it was given */
};

struct text_format {
	const char *things;	/* for people: "message" */
	/*
	 * Take the line at @p, the first one, which says what the columns are.
	 * 0, or a negative errno after io_fail(). NULL: there is no such line.
	 */
	int (*head)(struct text *text, const char *p);
	/* The hosts in the line at @p: how many, or 0 if it is too short. */
	int (*hosts)(const struct text *text, const char *p,
		     struct word *hosts);
	/*
	 * Take the line at @p, and push it, unless the reader is quiet: then
	 * it is only looked at. 1; 0 after lines_bad(); a negative errno after
	 * io_fail().
	 */
	int (*line)(struct text *text, const char *p);
	void (*close)(struct text *text);	/* or NULL */
};

extern const struct text_format message_format;
extern const struct text_format packet_format;
extern const struct text_format clock_format;

/* A part of a line, for people: short and printable. Return: @quote. */
#define QUOTE_SIZE 48
const char *quote_word(char *quote, const struct word *word);

/* Words up to the end of the line; INT_MAX: there is a control character. */
int count_words(const char *p);

/*
 * Where one of the next @num columns is no integer, lines_bad(), which it returns; else
 * 1, and *p is behind them.
 */
int find_bad_integer(struct lines *l, const char **p,
		     const char *const *columns, int num);

/* The number of a host; -1: it is not a name that can be used. */
static inline int host_in_text(const struct text *text,
			       const struct word *word)
{
	const struct name *name = names_find(&text->lines.io->hosts, word);

	return name ? name->number : -1;
}

/* What netsync_push_...() returned, as text_format.line() returns it. */
int text_pushed(struct text *text, const char *p, int ret);

#endif
