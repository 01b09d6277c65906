/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text inputs. Each line may belong to any host. Each format is a struct text_format. Code that all
 * formats share is in text.c.
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
	uint64_t used;	     /* number of lines that were used */
	struct trace *trace; /* the trace to which this sidecar file belongs, or NULL */
};

struct text_format {
	const char *things; /* what the lines are called in messages, such as "message" */
	/*
	 * Parse the first line, at @p, which has the names of the columns. Return 0. On failure,
	 * call io_fail() and return a negative errno value. NULL if the format has no such line.
	 */
	int (*head)(struct text_input *text, const char *p);
	/* Parse the hosts of the line at @p. Return their number, or 0 if the line is too short. */
	int (*hosts)(const struct text_input *text, const char *p, struct text_word *hosts);
	/*
	 * Parse the line at @p. Unless the reader is quiet, push the line's contents. Return 1, or
	 * 0 after lines_reject(). On failure, call io_fail() and return a negative errno value.
	 */
	int (*line)(struct text_input *text, const char *p);
	void (*close)(struct text_input *text); /* may be NULL */
};

extern const struct text_format message_format;
extern const struct text_format packet_format;
extern const struct text_format clock_format;

/*
 * Quote a word for a message. The result is short and printable, and has at most QUOTE_SIZE bytes
 * (chosen: half a line of a terminal). Return @quote.
 */
#define QUOTE_SIZE 48
const char *quote_word(char *quote, const struct text_word *word);

/*
 * Return the number of words in the rest of a line. If the line contains a control character,
 * return INT_MAX.
 */
int count_words(const char *p);

/*
 * Check that the next @num columns are integers. If all are integers, return 1 and set *p to the
 * position after them. Otherwise, return the result of lines_reject().
 */
int find_bad_integer(struct text_lines *l, const char **p, const char *const *columns, int num);

/* Return the number of a host. If the name cannot be used, return -1. */
static inline int text_find_host(const struct text_input *text, const struct text_word *word)
{
	const struct name *name = names_find(&text->lines.io->hosts, word);

	return name ? name->number : -1;
}

/* Reject a line of a host that has no number. Return the same values as lines_reject(). */
int text_reject_host(struct text_input *text, const char *p);

/* Convert the result of netsync_push_...() to that of text_format.line(). */
int text_check_push(struct text_input *text, const char *p, int ret);

#endif
