/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text inputs, in which each line may belong to any host. Each format is one struct
 * text_format; text.c contains the code common to all formats.
 */
#ifndef NETSYNC_IO_TEXT_H
#define NETSYNC_IO_TEXT_H

#include "io/io.h"
#include "io/text/lines.h"

/* Maximum number of hosts in a line: a sender and a receiver. */
#define MAX_HOSTS_IN_LINE 2

struct text_input {
	struct text_lines lines;
	const struct text_format *format;
	char *path;
	struct stat st;
	struct packet_columns *columns;
	uint64_t used;	     /* number of lines used */
	struct trace *trace; /* the trace whose sidecar file this is; NULL if none */
};

struct text_format {
	const char *things; /* name of the items in messages, such as "message" */
	/*
	 * Parse the first line, at @p, which contains the column names. Return 0, or a negative
	 * errno value after io_fail(). NULL if the format has no such line.
	 */
	int (*head)(struct text_input *text, const char *p);
	/* Parse the hosts of the line at @p. Return their number, or 0 if the line is too short. */
	int (*hosts)(const struct text_input *text, const char *p, struct text_word *hosts);
	/*
	 * Parse the line at @p, and push its contents unless the reader is quiet; then only check
	 * the line. Return 1; 0 after lines_reject(); or a negative errno value after io_fail().
	 */
	int (*line)(struct text_input *text, const char *p);
	void (*close)(struct text_input *text); /* may be NULL */
};

extern const struct text_format message_format;
extern const struct text_format packet_format;
extern const struct text_format clock_format;

/*
 * Quote a word for a message: short and printable, in at most QUOTE_SIZE bytes (chosen: half a
 * line of a terminal). Return @quote.
 */
#define QUOTE_SIZE 48
const char *quote_word(char *quote, const struct text_word *word);

/*
 * Return the number of words in the rest of a line, or INT_MAX if it contains a control
 * character.
 */
int count_words(const char *p);

/*
 * Check that the next @num columns are integers. If so, return 1, with *p after them; otherwise
 * return the value of lines_reject().
 */
int find_bad_integer(struct text_lines *l, const char **p, const char *const *columns, int num);

/* Return the number of a host, or -1 if the name cannot be used. */
static inline int text_find_host(const struct text_input *text, const struct text_word *word)
{
	const struct name *name = names_find(&text->lines.io->hosts, word);

	return name ? name->number : -1;
}

/* Reject a line of a host without a number. Return as lines_reject() does. */
int text_reject_host(struct text_input *text, const char *p);

/* Convert the value of netsync_push_...() to that of text_format.line(). */
int text_check_push(struct text_input *text, const char *p, int ret);

#endif
