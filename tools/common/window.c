// SPDX-License-Identifier: GPL-2.0-only
/* Parse times that people type, and find the window between two of them. */
#include <string.h>
#include <time.h>

#include "complain.h"
#include "now.h"
#include "result-info.h"
#include "value.h"
#include "window.h"

/* ---- one time ----------------------------------------------------------- */

static bool convert_local_time(struct tm *tm, int64_t *ns)
{
	time_t seconds;

	tm->tm_isdst = -1;
	/*
	 * mktime() has no return value that always means an error. Only on success, it sets
	 * tm_wday.
	 */
	tm->tm_wday = -1;
	seconds = mktime(tm);
	return tm->tm_wday >= 0 && !__builtin_mul_overflow(seconds, NS_PER_S, ns);
}

/* Parse a time such as "09:30:00.25", optionally preceded by a date such as "2026-01-31 ". */
static bool parse_time_of_day(const char *text, struct moment *moment)
{
	struct tm tm = { 0 };
	const char *at = strptime(text, "%Y-%m-%d", &tm);
	const bool has_date = at && (*at == ' ' || *at == 'T');
	const int day = tm.tm_mday;
	int64_t fraction;

	at = strptime(has_date ? at + 1 : text, "%H:%M:%S", &tm);
	if (!at || !parse_fraction(at, &fraction))
		return false;
	moment->kind = has_date ? MOMENT_ABSOLUTE : MOMENT_OF_DAY;
	if (has_date)
		/* mktime() takes 31 February for 3 March. */
		return convert_local_time(&tm, &moment->ns) && tm.tm_mday == day &&
		       !__builtin_add_overflow(moment->ns, fraction, &moment->ns);
	moment->ns = (tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec) * NS_PER_S + fraction;
	return true;
}

static bool parse_moment_option(void *at, const struct option_row *row, const char *text)
{
	struct moment *moment = at;
	bool is_seconds;

	moment->text = text;
	moment->kind = MOMENT_ABSOLUTE;
	if (parse_time(text, &moment->ns, &is_seconds) || parse_time_of_day(text, moment))
		return true;
	moment->kind = MOMENT_SINCE_BEGIN;
	if (*text == '+' && parse_duration(text + 1, &moment->ns))
		return true;
	complain(
		"--%s %s: give a time such as 09:30:00.25, \"2026-01-31 09:30:00\", 1700000000.25 (s), 1700000000250000000 (ns), or +1.5s after the start of the traces.",
		row->name, text);
	return false;
}

const struct option_row window_options[] = {
	OPTION("begin", 0, "TIME",
	       "use only data from TIME on: 09:30:00.25, \"2026-01-31 09:30:00\",\n"
	       "1700000000.25 (s), ..000 (ns), or +1.5s after the start",
	       parse_moment_option, .at = offsetof(struct time_window, begin)),
	OPTION("end", 0, "TIME", "use only data up to TIME", parse_moment_option,
	       .at = offsetof(struct time_window, end)),
	OPTIONS_END
};

/* ---- windows of traces -------------------------------------------------- */

static int64_t compute_distance_from_span(int64_t t, int64_t first_ns, int64_t last_ns)
{
	return t < first_ns ? first_ns - t : t > last_ns ? t - last_ns : 0;
}

/*
 * Find the day for a time of day. Use the first day, of those around the start of the traces, on
 * which the time is within the traces. If there is none, use the day on which the time is closest
 * to the traces.
 */
static bool find_day_of_moment(const struct moment *moment, int64_t first_ns, int64_t last_ns,
			       int64_t *ns)
{
	const time_t begin = first_ns / NS_PER_S;
	bool found = false;

	for (int day = -1; day <= 1; day++) {
		struct tm tm;
		int64_t t;

		if (!localtime_r(&begin, &tm))
			return false;
		tm.tm_mday += day;
		tm.tm_hour = moment->ns / NS_PER_S / 3600;
		tm.tm_min = moment->ns / NS_PER_S / 60 % 60;
		tm.tm_sec = moment->ns / NS_PER_S % 60;
		if (!convert_local_time(&tm, &t) ||
		    __builtin_add_overflow(t, moment->ns % NS_PER_S, &t))
			continue;
		if (!found || compute_distance_from_span(t, first_ns, last_ns) <
				      compute_distance_from_span(*ns, first_ns, last_ns))
			*ns = t;
		found = true;
	}
	return found;
}

static bool find_time_of_moment(const struct moment *moment, int64_t first_ns, int64_t last_ns,
				int64_t *ns)
{
	switch (moment->kind) {
	case MOMENT_NONE:
		break;
	case MOMENT_ABSOLUTE:
		*ns = moment->ns;
		break;
	case MOMENT_SINCE_BEGIN:
		return !__builtin_add_overflow(first_ns, moment->ns, ns);
	case MOMENT_OF_DAY:
		return find_day_of_moment(moment, first_ns, last_ns, ns);
	}
	return true;
}

static bool complain_about_window(const char *option, const struct moment *moment, const char *what,
				  int64_t first_ns, int64_t last_ns)
{
	char first[VALUE_SIZE], last[VALUE_SIZE];

	complain("--%s %s: this is %s the traces, which cover %s to %s.", option, moment->text,
		 what, format_date(first, first_ns, false), format_date(last, last_ns, false));
	return false;
}

static bool complain_about_window_order(const struct time_window *window)
{
	complain("--end %s: this is before --begin %s.", window->end.text, window->begin.text);
	return false;
}

bool window_find(const struct time_window *window, int64_t first_ns, int64_t last_ns, bool is_whole,
		 int64_t *begin_ns, int64_t *end_ns)
{
	const struct moment *begin = &window->begin, *end = &window->end;

	*begin_ns = INT64_MIN;
	*end_ns = INT64_MAX;
	if (!find_time_of_moment(begin, first_ns, last_ns, begin_ns) ||
	    (is_whole && *begin_ns > last_ns))
		return complain_about_window("begin", begin, "after", first_ns, last_ns);
	if (!find_time_of_moment(end, first_ns, last_ns, end_ns))
		return complain_about_window("end", end, "long after", first_ns, last_ns);
	if (is_whole && *end_ns < first_ns)
		return complain_about_window("end", end, "before", first_ns, last_ns);
	return *begin_ns <= *end_ns || complain_about_window_order(window);
}

/* ---- windows of traces that are not read yet ---------------------------- */

/*
 * Find the span of the traces from their headers. If the span is not known, last_ns is less than
 * first_ns.
 */
static void find_traced_span(struct netsync_io *io, int64_t *first_ns, int64_t *last_ns)
{
	*first_ns = INT64_MAX;
	*last_ns = INT64_MIN;
	for (uint32_t i = 0; i < netsync_io_num_traces(io); i++) {
		const struct netsync_io_trace trace = get_io_trace_info(io, i);

		if (trace.last_ns < trace.first_ns)
			continue;
		*first_ns = trace.first_ns < *first_ns ? trace.first_ns : *first_ns;
		*last_ns = trace.last_ns > *last_ns ? trace.last_ns : *last_ns;
	}
}

static bool set_window_limit(const char *option, const struct moment *moment, int64_t first_ns,
			     int64_t last_ns, uint32_t *is, int64_t *ns)
{
	*is = moment->kind == MOMENT_NONE	 ? NETSYNC_IO_NO_LIMIT :
	      moment->kind == MOMENT_SINCE_BEGIN ? NETSYNC_IO_SINCE_BEGIN :
						   NETSYNC_IO_AT;
	*ns = moment->ns;
	if (moment->kind != MOMENT_OF_DAY)
		return true;
	if (first_ns <= last_ns)
		return find_day_of_moment(moment, first_ns, last_ns, ns);
	complain("--%s %s: the day is unknown until everything is read; give the date, too.",
		 option, moment->text);
	return false;
}

bool window_read(const struct time_window *window, struct netsync_io *io)
{
	const struct moment *begin = &window->begin, *end = &window->end;
	struct netsync_io_window set = { .size = sizeof(set) };
	int64_t first_ns, last_ns;

	if (!window_is_given(window))
		return true;
	find_traced_span(io, &first_ns, &last_ns);
	if (!set_window_limit("begin", begin, first_ns, last_ns, &set.begin_is, &set.begin_ns) ||
	    !set_window_limit("end", end, first_ns, last_ns, &set.end_is, &set.end_ns))
		return false;
	if (set.begin_is && set.begin_is == set.end_is && set.end_ns < set.begin_ns)
		return complain_about_window_order(window);
	if (set.begin_is == NETSYNC_IO_AT && first_ns <= last_ns && set.begin_ns > last_ns)
		return complain_about_window("begin", begin, "after", first_ns, last_ns);
	if (set.end_is == NETSYNC_IO_AT && first_ns <= last_ns && set.end_ns < first_ns)
		return complain_about_window("end", end, "before", first_ns, last_ns);
	if (!netsync_io_set_window(io, &set))
		return true;
	complain("%s", netsync_io_error(io));
	return false;
}
