// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copy standard input to standard output line by line. The time in one column is corrected, and all
 * other bytes do not change. Before the program waits for more input, it writes all lines that it
 * has.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/complain.h"
#include "common/exit-status.h"
#include "lines.h"
#include "stamp.h"

/*
 * Maximum number of bytes of a line that are searched for a time. Chosen; lines of logs are
 * shorter.
 */
#define MAX_LINE (1 << 20)

struct lines {
	struct model *model;
	const struct model_host *host;
	const struct netsync_clock *clock;
	const struct line_settings *set;
	const struct stamp_rules *rules;
	unsigned long long num; /* number of the current line */
	/* Number of lines without a time, and the line number of the first one. */
	unsigned long long without, first_without;
	bool is_inside; /* whether the beginning of the current line was already written */
};

static bool is_separator(const struct line_settings *set, char c)
{
	return set->separator ? c == set->separator : c == ' ' || c == '\t';
}

/* Skip the priority of a syslog message, "<34>" or "<34>1 ". */
static const char *skip_priority(const char *at, const char *end)
{
	const char *start = at;
	int digits = 0;

	if (at == end || *at != '<')
		return at;
	for (at++; at < end && *at >= '0' && *at <= '9'; at++)
		digits++;
	if (at == end || *at != '>' || !digits || digits > 3)
		return start;
	at++;
	return end - at > 1 && at[0] == '1' && at[1] == ' ' ? at + 2 : at;
}

/* Find the beginning of the column. Return NULL if the line does not have this column. */
static const char *find_line_column(const struct line_settings *set, const char *at,
				    const char *end)
{
	for (unsigned int column = 1;; column++) {
		while (!set->separator && at < end && is_separator(set, *at))
			at++;
		if (column == set->column)
			break;
		while (at < end && !is_separator(set, *at))
			at++;
		if (at == end)
			return NULL;
		at += set->separator != 0;
	}
	/* Skip brackets and quotes, as in "[2026-05-01T12:00:00Z]". */
	while (at < end && strchr("[(\"'", *at) && *at)
		at++;
	at = skip_priority(at, end);
	return at < end ? at : NULL;
}

/*
 * Return the end of the column. A date may continue after a blank, but not after other separators.
 */
static const char *find_line_column_end(const struct line_settings *set, const char *at,
					const char *end)
{
	const char *next = !set->separator || set->separator == ' ' ?
				   NULL :
				   memchr(at, set->separator, end - at);

	return next ? next : end;
}

/* Convert a time. If the conversion must end at this line, print a message and return false. */
static bool convert_stamp(struct lines *l, const struct stamp *stamp, char to[STAMP_SIZE])
{
	int64_t time_ref;

	if (!l->set->extrapolate &&
	    model_check_span(l->model, l->host, l->clock, stamp->time_ns, stamp->time_ns)) {
		complain("line %llu: %s Add --extrapolate to correct such times.", l->num,
			 model_error(l->model));
		return false;
	}
	if (netsync_convert(l->clock, stamp->time_ns, &time_ref, NULL) ||
	    !stamp_write(to, stamp, l->rules, time_ref)) {
		complain(
			"line %llu: the corrected time cannot be written in the format of this line.",
			l->num);
		return false;
	}
	return true;
}

static bool write_text_range(const char *from, const char *to)
{
	return fwrite(from, 1, to - from, stdout) == (size_t)(to - from);
}

/* Number of bytes of a rejected time that a message contains. Chosen. */
#define SHOWN 30

static bool refuse_line_stamp(const struct lines *l, const char *at, const char *end,
			      const char *why)
{
	char shown[SHOWN + 1];

	snprintf(shown, sizeof(shown), "%.*s", end - at < SHOWN ? (int)(end - at) : SHOWN, at);
	make_text_printable(shown);
	complain("line %llu: %s: %s.", l->num, shown, why);
	return false;
}

/*
 * Convert a line. On failure, print a message and return false. If writing to standard output
 * fails, this is reported at the end.
 */
static bool convert_line(struct lines *l, const char *line, const char *end)
{
	const char *at = find_line_column(l->set, line, end), *why;
	char corrected[STAMP_SIZE];
	struct stamp stamp;

	l->num++;
	switch (at ? stamp_read(&stamp, l->rules, at, find_line_column_end(l->set, at, end) - at,
				&why) :
		     STAMP_NONE) {
	case STAMP_FOUND:
		if (stamp.is_local)
			zone_warn_of_assumption(&l->rules->zone);
		return convert_stamp(l, &stamp, corrected) && write_text_range(line, at) &&
		       fputs(corrected, stdout) >= 0 && write_text_range(at + stamp.length, end);
	case STAMP_REFUSED:
		return refuse_line_stamp(l, at, end, why);
	default:
		if (!l->without++)
			l->first_without = l->num;
		return write_text_range(line, end);
	}
}

/*
 * Convert all lines that are complete or too long. Return the number of bytes that were used, or a
 * negative value on failure.
 */
static ssize_t convert_buffer(struct lines *l, const char *buffer, size_t used, bool is_last)
{
	const char *at = buffer, *end = buffer + used;

	while (at < end) {
		const char *newline = memchr(at, '\n', end - at);
		const char *next = newline ? newline + 1 : end;
		const bool is_whole = newline || is_last || (at == buffer && used == MAX_LINE);

		if (l->is_inside ? !write_text_range(at, next) :
		    is_whole	 ? !convert_line(l, at, newline ? newline : end) ||
				       (newline && putchar('\n') < 0) :
			       false)
			return -1;
		if (!l->is_inside && !is_whole)
			break;
		l->is_inside = !newline;
		at = next;
	}
	return at - buffer;
}

static int convert_standard_input(struct lines *l)
{
	static char buffer[MAX_LINE];
	size_t used = 0;
	ssize_t num;

	do {
		ssize_t done;

		num = read(STDIN_FILENO, buffer + used, sizeof(buffer) - used);
		if (num < 0 && errno == EINTR)
			continue;
		if (num < 0) {
			complain("standard input: %s.", strerror(errno));
			return EXIT_BAD;
		}
		used += num;
		done = convert_buffer(l, buffer, used, !num);
		if (done < 0 || fflush(stdout))
			return EXIT_BAD;
		used -= done;
		memmove(buffer, buffer + done, used);
	} while (num);
	return EXIT_DONE;
}

int convert_lines(struct model *model, const struct model_host *host,
		  const struct netsync_clock *clock, const struct line_settings *set,
		  const struct stamp_rules *rules)
{
	struct lines lines = {
		.model = model, .host = host, .clock = clock, .set = set, .rules = rules
	};
	const int status = convert_standard_input(&lines);

	if (lines.without)
		complain(
			"warning: %llu of %llu lines have no time in column %u, and are unchanged; the first is line %llu.",
			lines.without, lines.num, set->column, lines.first_without);
	return status;
}
