// SPDX-License-Identifier: LGPL-2.1-or-later
/* The text format of matched messages: sender receiver send_ns recv_ns */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "io/text/text.h"

#define NUM_COLUMNS 4

static bool are_words_equal(const struct text_word *a, const struct text_word *b)
{
	return a->len == b->len && !memcmp(a->text, b->text, a->len);
}

/* Find the error in the line at @p and report it. */
static int report_bad_messages_line(struct text_input *text, const char *p)
{
	static const char *const times[] = { "send_ns", "recv_ns" };
	struct text_lines *l = &text->lines;
	int n = count_words(p);
	char quote[QUOTE_SIZE];
	struct text_word from, to;
	int ret;

	if (n == INT_MAX)
		return lines_reject(l, p, "it contains a control character");
	if (n != NUM_COLUMNS)
		return lines_reject(
			l, p, "it has %d columns instead of 4: sender receiver send_ns recv_ns", n);
	p = lines_parse_word(lines_parse_word(p, &from), &to);
	if (are_words_equal(&from, &to))
		return lines_reject(l, p, "sender and receiver are the same host, %s",
				    quote_word(quote, &from));
	ret = find_bad_integer(l, &p, times, 2);
	if (ret < 1)
		return ret;
	return text_reject_host(text, p);
}

static int messages_parse_hosts(const struct text_input *text, const char *p,
				struct text_word *hosts)
{
	(void)text;
	lines_parse_word(lines_parse_word(p, &hosts[0]), &hosts[1]);
	return hosts[0].len && hosts[1].len ? 2 : 0;
}

static int messages_push_line(struct text_input *text, const char *start)
{
	struct text_lines *l = &text->lines;
	struct text_word from, to;
	int64_t send, recv;
	const char *p = lines_parse_word(lines_parse_word(start, &from), &to);
	int a, b;

	p = lines_parse_integer(p, &send);
	if (p)
		p = lines_parse_integer(p, &recv);
	if (!p || !lines_is_end(p) || are_words_equal(&from, &to))
		return report_bad_messages_line(text, start);
	if (l->quiet) {
		lines_skip(l, p);
		return 1;
	}
	a = text_find_host(text, &from);
	b = text_find_host(text, &to);
	if (a < 0 || b < 0)
		return report_bad_messages_line(text, start);
	if (!io_is_time_wanted(l->io, (uint32_t)a, send) ||
	    !io_is_time_wanted(l->io, (uint32_t)b, recv)) {
		lines_skip(l, p);
		return 1;
	}
	return text_check_push(
		text, p, netsync_push_message(l->io->ns, (uint32_t)a, (uint32_t)b, send, recv));
}

const struct text_format message_format = {
	.things = "message",
	.hosts = messages_parse_hosts,
	.line = messages_push_line,
};
