// SPDX-License-Identifier: LGPL-2.1-or-later
/* The text format of clock steering: host time_ns raw_ns [within_ns [rate [was_set [utc_within_ns]]]] */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "io/text/clock-line.h"
#include "io/text/text.h"

/* Minimum and maximum number of columns in a line, see netsync-clocks(5). */
#define LEAST_COLUMNS 3
#define MOST_COLUMNS 7
/* Maximum number of characters of a rate. Chosen; a double cannot store more digits. */
#define NUMBER_SIZE 32

/* Parse a rate with strtod(). Return the end of the rate, or NULL if @p is not a number. */
static const char *parse_clock_rate(const char *p, double *value)
{
	char text[NUMBER_SIZE], *end;
	struct text_word word;

	p = lines_parse_word(p, &word);
	if (!word.len || word.len >= sizeof(text) || strspn(word.text, "0123456789.") < word.len)
		return NULL;
	memcpy(text, word.text, word.len);
	text[word.len] = '\0';
	*value = strtod(text, &end);
	return *end ? NULL : p;
}

/* Parse the column was_set. If the column is neither 0 nor 1, return NULL. */
static const char *parse_was_set(const char *p, uint32_t *was_set)
{
	int64_t value;

	p = lines_parse_integer(p, &value);
	if (!p || value < 0 || value > 1)
		return NULL;
	*was_set = (uint32_t)value;
	return p;
}

/* Parse a bound on the difference from UTC. If it is not valid, return NULL. */
static const char *parse_utc_within(const char *p, int64_t *within_ns)
{
	p = lines_parse_integer(p, within_ns);
	return p && *within_ns >= 0 && *within_ns <= NETSYNC_MAX_TIME ? p : NULL;
}

/* Report what is wrong with the last columns. Return 1 if nothing is. */
static int find_bad_last_columns(struct text_lines *l, const char *p)
{
	char quote[QUOTE_SIZE];
	struct text_word word;
	uint32_t was_set;
	int64_t within_ns;
	const char *next;
	double rate;

	lines_parse_word(p, &word);
	next = parse_clock_rate(p, &rate);
	if (!next)
		return lines_reject(l, p, "the rate is %s, which is not a number such as 1.000012",
				    quote_word(quote, &word));
	if (lines_is_end(next))
		return 1;
	lines_parse_word(next, &word);
	next = parse_was_set(next, &was_set);
	if (!next)
		return lines_reject(l, p, "was_set is %s instead of 0 or 1",
				    quote_word(quote, &word));
	if (lines_is_end(next))
		return 1;
	lines_parse_word(next, &word);
	if (!parse_utc_within(next, &within_ns))
		return lines_reject(l, p, "utc_within_ns is %s, which is not a duration in ns",
				    quote_word(quote, &word));
	return 1;
}

/* Find the error in the line at @p and report it. */
static int report_bad_clocks_line(struct text_input *text, const char *p)
{
	static const char *const columns[] = { "time_ns", "raw_ns", "within_ns" };
	struct text_lines *l = &text->lines;
	int n = count_words(p), ret;
	struct text_word word;

	if (n == INT_MAX)
		return lines_reject(l, p, "it contains a control character");
	if (n < LEAST_COLUMNS || n > MOST_COLUMNS)
		return lines_reject(
			l, p,
			"it has %d columns instead of 3 to 7: host time_ns raw_ns within_ns rate was_set utc_within_ns",
			n);
	p = lines_parse_word(p, &word);
	ret = find_bad_integer(l, &p, columns, 3);
	if (ret < 1)
		return ret;
	if (!lines_is_end(p)) {
		ret = find_bad_last_columns(l, p);
		if (ret < 1)
			return ret;
	}
	return text_reject_host(text, p);
}

static int clocks_parse_hosts(const struct text_input *text, const char *p, struct text_word *hosts)
{
	(void)text;
	lines_parse_word(p, &hosts[0]);
	return hosts[0].len ? 1 : 0;
}

/*
 * Push a line of a sidecar file. Times in the line are times of the trace's clock, without the
 * clock's offset from 1970.
 */
static int push_sidecar_line(struct text_input *text, const char *p,
			     const struct netsync_clock_point *point,
			     const struct clock_line_more *more)
{
	struct trace *trace = text->trace;
	struct netsync_clock_point shifted = *point;
	struct clock_event clock = {
		.raw_ns = point->raw_ns,
		.within_ns = point->within_ns,
		.rate = point->rate,
		.was_set = point->was_set,
	};
	int ret;

	if (__builtin_add_overflow(point->time_ns, trace->epoch_ns, &clock.time_ns) ||
	    __builtin_add_overflow(clock.time_ns, trace->info.shift_ns, &shifted.time_ns))
		return lines_reject(&text->lines, p, "its time is out of range");
	if (!trace->host->split && !trace->io->observe) {
		shifted.host = (uint32_t)trace->host->number;
		if (io_keep_utc_reading(trace->io, &shifted, more->utc_within_ns))
			return io_fail_no_memory(trace->io);
		return text_check_push(text, p, io_push_clock(trace->io, &shifted));
	}
	ret = io_add_sidecar_clock(trace, &clock);
	lines_skip(&text->lines, p);
	return ret < 0 ? ret : 1;
}

const char *parse_text_clock_line(const char *p, struct text_word *host,
				  struct netsync_clock_point *point, struct clock_line_more *more)
{
	*more = (struct clock_line_more){ 0 };
	*point = (struct netsync_clock_point){ .size = sizeof(*point) };
	p = lines_parse_integer(lines_parse_word(p, host), &point->time_ns);
	if (p)
		p = lines_parse_integer(p, &point->raw_ns);
	if (p && !lines_is_end(p))
		p = lines_parse_integer(p, &point->within_ns);
	if (p && !lines_is_end(p))
		p = parse_clock_rate(p, &point->rate);
	if (p && !lines_is_end(p))
		p = parse_was_set(p, &point->was_set);
	if (p && !lines_is_end(p))
		p = parse_utc_within(p, &more->utc_within_ns);
	return p && lines_is_end(p) ? p : NULL;
}

static int clocks_push_line(struct text_input *text, const char *start)
{
	struct text_lines *l = &text->lines;
	struct netsync_clock_point point;
	struct clock_line_more more;
	struct text_word name;
	const char *p = parse_text_clock_line(start, &name, &point, &more);
	int host;

	if (!p)
		return report_bad_clocks_line(text, start);
	if (l->quiet) {
		lines_skip(l, p);
		return 1;
	}
	if (text->trace)
		return push_sidecar_line(text, p, &point, &more);
	host = text_find_host(text, &name);
	if (host < 0)
		return report_bad_clocks_line(text, start);
	point.host = (uint32_t)host;
	if (io_keep_clock_reading(l->io, &point) ||
	    io_keep_utc_reading(l->io, &point, more.utc_within_ns))
		return io_fail_no_memory(l->io);
	return text_check_push(text, p, netsync_push_clock(l->io->ns, &point));
}

const struct text_format clock_format = {
	.things = "clock",
	.hosts = clocks_parse_hosts,
	.line = clocks_push_line,
};
