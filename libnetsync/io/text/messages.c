// SPDX-License-Identifier: LGPL-2.1-or-later
/* The text format of messages that are matched: sender receiver send_ns recv_ns */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "io/text/text.h"

#define NUM_COLUMNS 4

static bool same_word(const struct word *a, const struct word *b)
{
	return a->len == b->len && !memcmp(a->text, b->text, a->len);
}

/* Find what is wrong with the line at @p, and say it. */
static int bad_line(struct text *text, const char *p)
{
	static const char *const times[] = { "send_ns", "recv_ns" };
	struct lines *l = &text->lines;
	int n = count_words(p);
	char quote[QUOTE_SIZE];
	struct word from, to;
	int ret;

	if (n == INT_MAX)
		return lines_bad(l, p, "it holds a control character");
	if (n != NUM_COLUMNS)
		return lines_bad(l, p,
			"it has %d columns, not 4: sender receiver send_ns recv_ns",
			n);
	p = take_word(take_word(p, &from), &to);
	if (same_word(&from, &to))
		return lines_bad(l, p,
			"a message goes from one host to another, not from %s to itself",
			quote_word(quote, &from));
	ret = find_bad_integer(l, &p, times, 2);
	if (ret < 1)
		return ret;
	return text_bad_host(text, p);
}

static int hosts(const struct text *text, const char *p, struct word *hosts)
{
	(void)text;
	take_word(take_word(p, &hosts[0]), &hosts[1]);
	return hosts[0].len && hosts[1].len ? 2 : 0;
}

static int line(struct text *text, const char *start)
{
	struct lines *l = &text->lines;
	struct word from, to;
	int64_t send, recv;
	const char *p = take_word(take_word(start, &from), &to);
	int a, b;

	p = take_integer(p, &send);
	if (p)
		p = take_integer(p, &recv);
	if (!p || !is_line_end(p) || same_word(&from, &to))
		return bad_line(text, start);
	if (l->quiet) {
		lines_skip(l, p);
		return 1;
	}
	a = host_in_text(text, &from);
	b = host_in_text(text, &to);
	if (a < 0 || b < 0)
		return bad_line(text, start);
	if (!io_wants(l->io, (uint32_t)a, send) || !io_wants(l->io, (uint32_t)b, recv)) {
		lines_skip(l, p);
		return 1;
	}
	return text_pushed(text, p, netsync_push_message(l->io->ns,
		(uint32_t)a, (uint32_t)b, send, recv));
}

const struct text_format message_format = {
	.things = "message",
	.hosts = hosts,
	.line = line,
};
