// SPDX-License-Identifier: LGPL-2.1-or-later
/* The text format of messages that are matched: sender receiver send_ns recv_ns */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "io/text/text.h"

#define NUM_COLUMNS 4

static bool are_same_words(const struct text_word *a, const struct text_word *b)
{
	return a->len == b->len && !memcmp(a->text, b->text, a->len);
}

/* Find the error in the line at @p, and report it. */
static int report_bad_messages_line(struct text_input *text, const char *p)
{
	static const char *const times[] = { "send_ns", "recv_ns" };
	struct text_lines *l = &text->lines;
	int n = count_words(p);
	char quote[QUOTE_SIZE];
	struct text_word from, to;
	int ret;

	if (n == INT_MAX)
		return lines_bad(l, p, "it contains a control character");
	if (n != NUM_COLUMNS)
		return lines_bad(l, p,
				 "it has %d columns instead of 4: sender receiver send_ns recv_ns",
				 n);
	p = lines_take_word(lines_take_word(p, &from), &to);
	if (are_same_words(&from, &to))
		return lines_bad(l, p, "sender and receiver are the same host, %s",
				 quote_word(quote, &from));
	ret = find_bad_integer(l, &p, times, 2);
	if (ret < 1)
		return ret;
	return text_bad_host(text, p);
}

static int messages_hosts(const struct text_input *text, const char *p, struct text_word *hosts)
{
	(void)text;
	lines_take_word(lines_take_word(p, &hosts[0]), &hosts[1]);
	return hosts[0].len && hosts[1].len ? 2 : 0;
}

static int messages_line(struct text_input *text, const char *start)
{
	struct text_lines *l = &text->lines;
	struct text_word from, to;
	int64_t send, recv;
	const char *p = lines_take_word(lines_take_word(start, &from), &to);
	int a, b;

	p = lines_take_integer(p, &send);
	if (p)
		p = lines_take_integer(p, &recv);
	if (!p || !lines_is_end(p) || are_same_words(&from, &to))
		return report_bad_messages_line(text, start);
	if (l->quiet) {
		lines_skip(l, p);
		return 1;
	}
	a = host_in_text(text, &from);
	b = host_in_text(text, &to);
	if (a < 0 || b < 0)
		return report_bad_messages_line(text, start);
	if (!io_wants(l->io, (uint32_t)a, send) || !io_wants(l->io, (uint32_t)b, recv)) {
		lines_skip(l, p);
		return 1;
	}
	return text_pushed(text, p,
			   netsync_push_message(l->io->ns, (uint32_t)a, (uint32_t)b, send, recv));
}

const struct text_format message_format = {
	.things = "message",
	.hosts = messages_hosts,
	.line = messages_line,
};
