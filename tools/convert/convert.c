// SPDX-License-Identifier: GPL-2.0-only
/* netsync convert: correct timestamps by a stored result. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "common/complain.h"
#include "common/exit-status.h"
#include "common/options.h"
#include "common/result-file.h"
#include "common/value.h"
#include "lines.h"
#include "stamp.h"

struct convert_settings {
	const char *model;
	const char *zone;   /* zone of dates that specify none; NULL if not given */
	bool has_deviation; /* print the standard deviation, too */
	struct line_settings lines;
};

/* The host whose times are converted, and the host's correction. */
struct conversion {
	struct model model;
	const struct model_host *host;
	struct netsync_clock *clock;
	struct stamp_rules rules;
};

/* Read the whole text as a number or a date. If the text is neither a number nor a date, print a
 * message and return false. */
static bool read_time_argument(const struct conversion *conversion, const char *text,
			       struct stamp *stamp)
{
	const char *why;
	bool is_seconds;

	*stamp = (struct stamp){ .point = '.' };
	if (parse_time(text, &stamp->time_ns, &is_seconds)) {
		stamp->decimals = is_seconds ? 9 : -1;
		return true;
	}
	switch (stamp_read(stamp, &conversion->rules, text, strlen(text), &why)) {
	case STAMP_FOUND:
		if (!text[stamp->length] && stamp->format)
			return true;
		break;
	case STAMP_REFUSED:
		complain("%s: %s.", text, why);
		return false;
	default:
		break;
	}
	complain(
		"%s: not a time; give nanoseconds, seconds with a decimal point and at most 9 decimals, or a date such as \"2026-11-27 13:04:05\".",
		text);
	return false;
}

/* Print a bound or a deviation after a blank. */
static void print_error_size(int64_t ns, const struct stamp *stamp)
{
	char value[VALUE_SIZE];

	printf(" %s",
	       ns == NETSYNC_UNKNOWN ? "unknown" : format_time(value, ns, stamp->decimals >= 0));
}

static int convert_time_argument(const struct conversion *conversion,
				 const struct convert_settings *set, const char *text)
{
	char corrected[STAMP_SIZE];
	struct stamp stamp;
	int64_t time_ref, bound;

	if (!read_time_argument(conversion, text, &stamp))
		return EXIT_BAD;
	if (netsync_convert(conversion->clock, stamp.time_ns, &time_ref, &bound)) {
		complain("%s: the corrected time does not fit into 64 bits.", text);
		return EXIT_BAD;
	}
	if (!stamp_write(corrected, &stamp, &conversion->rules, time_ref)) {
		complain("%s: the corrected time cannot be written in this format.", text);
		return EXIT_BAD;
	}
	fputs(corrected, stdout);
	print_error_size(bound, &stamp);
	if (set->has_deviation)
		print_error_size(netsync_deviation(conversion->clock, stamp.time_ns), &stamp);
	putchar('\n');
	return EXIT_DONE;
}

/* Check that all times can be converted, before any of them is printed. */
static bool can_convert_all(struct conversion *conversion, bool extrapolate, char **times, int num)
{
	for (int i = 0; i < num; i++) {
		struct stamp stamp;

		if (!read_time_argument(conversion, times[i], &stamp))
			return false;
		if (stamp.is_local)
			zone_warn_of_assumption(&conversion->rules.zone);
		if (extrapolate ||
		    !model_check_span(&conversion->model, conversion->host, conversion->clock,
				      stamp.time_ns, stamp.time_ns))
			continue;
		complain("%s: %s Add --extrapolate to correct such times.", times[i],
			 model_error(&conversion->model));
		return false;
	}
	return true;
}

/* Convert times. If @num is 0, convert the times in the lines of standard input. */
static int convert_arguments(const struct convert_settings *set, const char *name, char **times,
			     int num)
{
	struct conversion conversion = { .clock = NULL };
	struct model *model = &conversion.model;
	int status = EXIT_DONE, ret;

	if (!zone_choose(&conversion.rules.zone, set->zone))
		return EXIT_BAD;
	ret = model_open(model, set->model);
	if (!ret)
		ret = model_find_name(model, name, &conversion.host);
	if (!ret)
		ret = model_read_clock(model, conversion.host, &conversion.clock);
	if (ret) {
		complain("%s", model_error(model));
		status = ret == -ENODATA ? EXIT_PARTIAL : EXIT_BAD;
	} else {
		conversion.rules.near_ns = compute_middle_time(conversion.host->span.first_ns,
							       conversion.host->span.last_ns);
		if (!num)
			status = convert_lines(model, conversion.host, conversion.clock,
					       &set->lines, &conversion.rules);
		else if (!can_convert_all(&conversion, set->lines.extrapolate, times, num))
			status = EXIT_BAD;
	}
	for (int i = 0; i < num && !status; i++)
		status = convert_time_argument(&conversion, set, times[i]);
	netsync_clock_free(conversion.clock);
	model_close(model);
	return status;
}

static bool parse_separator_option(void *at, const struct option_row *row, const char *value)
{
	/* A tab is hard to type in a shell, so "\t" is accepted, too. */
	const char *text = strcmp(value, "\\t") ? value : "\t";

	*(char *)at = *text;
	if (*text && !text[1] && *text != '\n')
		return true;
	complain("--%s %s: give one character, such as %s.", row->name, value, row->example);
	return false;
}

static const struct option_row options[] = {
	OPTION("model", 'm', "FILE", "use the result in FILE, which \"netsync sync -o FILE\" wrote",
	       parse_text_option, .at = offsetof(struct convert_settings, model)),
	OPTION("extrapolate", 0, NULL, "convert TIMEs even if far outside the time range of FILE",
	       parse_flag_option, .at = offsetof(struct convert_settings, lines.extrapolate)),
	OPTION("deviation", 0, NULL, "also print the standard deviation of each corrected TIME",
	       parse_flag_option, .at = offsetof(struct convert_settings, has_deviation)),
	OPTION("column", 0, "N", "correct the time in column N of standard input (default 1)",
	       parse_number_option, .at = offsetof(struct convert_settings, lines.column),
	       .least = 1, .most = INT_MAX),
	OPTION("zone", 0, "ZONE",
	       "use ZONE for dates without a zone: Europe/Berlin, +01:00\n"
	       "(default: TZ, or UTC)",
	       parse_text_option, .at = offsetof(struct convert_settings, zone)),
	OPTION("separator", 0, "CHAR", "separate columns by CHAR (default: blanks and tabs)",
	       parse_separator_option, .at = offsetof(struct convert_settings, lines.separator),
	       .example = "\",\" or \"\\t\""),
	OPTIONS_END
};

static const struct usage usage = {
	.begin =
		"Usage: netsync convert -m FILE [OPTION...] HOST [TIME...]\n\n"
		"Convert each TIME on the clock of HOST to the reference clock, and print the result with\n"
		"its error bound, or with \"unknown\" if no bound is known. Without a TIME, copy standard\n"
		"input, and correct the time in one column of each line.\n\n",
	.end = "\nA TIME is in nanoseconds (1700000000123456789), in seconds as babeltrace2\n"
	       "--clock-seconds prints them (1700000000.123456789), or a date as in ISO 8601, syslog,\n"
	       "journalctl and dmesg -T (\"Nov 14 22:13:20\"). The corrected time has the same format.\n"
	       "If a trace has a shift_ns other than 0 in FILE, add shift_ns to its times first.\n",
	.options = options,
	.numbers = true,
};

int cmd_convert(int argc, char **argv)
{
	struct convert_settings set = { 0 };
	const int first = options_parse_all(&usage, &set, argc, argv);

	if (first <= 0)
		return first ? EXIT_BAD : EXIT_DONE;
	if (!set.model || argc - first < 1 ||
	    (argc - first == 1 && !set.lines.column && isatty(STDIN_FILENO))) {
		complain(
			"Give a result, a host and at least one time: netsync convert -m FILE HOST TIME...; or convert standard input: netsync convert -m FILE HOST < FILE");
		return EXIT_BAD;
	}
	if (argc - first > 1 && (set.lines.column || set.lines.separator)) {
		complain(
			"--column and --separator apply to standard input only; do not give a TIME.");
		return EXIT_BAD;
	}
	if (argc - first == 1 && set.has_deviation) {
		complain("--deviation applies to TIMEs only; give a TIME, or omit --deviation.");
		return EXIT_BAD;
	}
	if (!set.lines.column)
		set.lines.column = 1;
	return convert_arguments(&set, argv[first], argv + first + 1, argc - first - 1);
}
