// SPDX-License-Identifier: GPL-2.0-only
/* netsync convert - correct timestamps by a saved result. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "common/options.h"
#include "common/result-file.h"
#include "common/tool.h"
#include "lines.h"

static bool read_time(const char *text, int64_t *time, bool *is_seconds)
{
	if (parse_time(text, time, is_seconds))
		return true;
	complain("%s: this is not a time: give nanoseconds, or seconds with a decimal point and at most 9 decimals.",
		 text);
	return false;
}

static int convert_one(const struct netsync_clock *clock, const char *text)
{
	char corrected[VALUE_SIZE], within[VALUE_SIZE];
	int64_t time, time_ref, bound;
	bool is_seconds;

	if (!read_time(text, &time, &is_seconds))
		return EXIT_BAD;
	if (netsync_convert(clock, time, &time_ref, &bound)) {
		complain("%s: the corrected time does not fit into 64 bits.",
			 text);
		return EXIT_BAD;
	}
	format_time(corrected, time_ref, is_seconds);
	if (bound == NETSYNC_UNKNOWN)
		printf("%s unknown\n", corrected);
	else
		printf("%s %s\n", corrected,
		       format_time(within, bound, is_seconds));
	return EXIT_DONE;
}

/* Before any is printed: the bound of each is printed with it. */
static bool can_convert(struct model *model, const struct model_host *host,
			const struct netsync_clock *clock, char **times, int num)
{
	for (int i = 0; i < num; i++) {
		bool is_seconds;
		int64_t time;

		if (!read_time(times[i], &time, &is_seconds))
			return false;
		if (!model_check_span(model, host, clock, time, time))
			continue;
		complain("%s: %s --extrapolate goes on all the same.", times[i],
			 model_error(model));
		return false;
	}
	return true;
}

struct settings {
	const char *model;
	struct line_settings lines;
};

/* @num: 0: lines of standard input. */
static int convert_all(const struct settings *set, const char *name, char **times, int num)
{
	const struct model_host *host;
	struct netsync_clock *clock = NULL;
	struct model model;
	int status = EXIT_DONE, ret;

	ret = model_open(&model, set->model);
	if (!ret)
		ret = model_find_name(&model, name, &host);
	if (!ret)
		ret = model_read_clock(&model, host, &clock);
	if (ret) {
		complain("%s", model_error(&model));
		status = ret == -ENODATA ? EXIT_PARTIAL : EXIT_BAD;
	} else if (!num) {
		status = convert_lines(&model, host, clock, &set->lines);
	} else if (!set->lines.extrapolate &&
		   !can_convert(&model, host, clock, times, num)) {
		status = EXIT_BAD;
	}
	for (int i = 0; i < num && !status; i++)
		status = convert_one(clock, times[i]);
	netsync_clock_free(clock);
	model_close(&model);
	return status;
}

static bool take_separator(void *at, const struct option_row *row, const char *value)
{
	/* A shell has no simple way to write a tab. */
	const char *text = strcmp(value, "\\t") ? value : "\t";

	*(char *)at = *text;
	if (*text && !text[1] && *text != '\n')
		return true;
	complain("--%s %s: give one character, such as %s.", row->name, value, row->example);
	return false;
}

static const struct option_row options[] = {
	OPTION("model", 'm', "FILE", "what \"netsync sync --format json\" wrote",
	       take_text, .at = offsetof(struct settings, model)),
	OPTION("extrapolate", 0, NULL,
	       "go on where TIMEs are far outside of what FILE was made of",
	       take_flag, .at = offsetof(struct settings, lines.extrapolate)),
	OPTION("column", 0, "N", "correct the time in this column of standard input (1)",
	       take_number, .at = offsetof(struct settings, lines.column),
	       .least = 1, .most = INT_MAX),
	OPTION("separator", 0, "CHAR", "what is between columns (blanks and tabs)",
	       take_separator, .at = offsetof(struct settings, lines.separator),
	       .example = "\",\" or \"\\t\""),
	OPTIONS_END
};

static const struct usage usage = {
	.begin = "Usage: netsync convert -m FILE [OPTION...] HOST [TIME...]\n\n"
	"Print for each TIME on HOST's clock the time on the reference clock, and how\n"
	"far that can be from the truth (\"unknown\" where nothing is known). Without a TIME,\n"
	"copy the lines of standard input, and correct the time in one column of each.\n\n",
	.end = "\nA TIME is in nanoseconds (1700000000123456789) or in seconds as babeltrace2\n"
	"--clock-seconds prints them (1700000000.123456789); the answer comes in kind.\n"
	"Times in a trace whose shift_ns in FILE is not 0 need that added first.\n",
	.options = options,
	.stops = true,	/* what follows HOST may begin with a minus sign */
};

int cmd_convert(int argc, char **argv)
{
	struct settings set = { 0 };
	const int first = options_take(&usage, &set, argc, argv);

	if (first <= 0)
		return first ? EXIT_BAD : EXIT_DONE;
	if (!set.model || argc - first < 1 ||
	    (argc - first == 1 && !set.lines.column && isatty(STDIN_FILENO))) {
		complain("Give a result file, a host and at least one time: netsync convert -m FILE HOST TIME...; or lines on standard input: netsync convert -m FILE HOST < FILE");
		return EXIT_BAD;
	}
	if (argc - first > 1 && (set.lines.column || set.lines.separator)) {
		complain("--column and --separator are for lines of standard input; give no TIME with them.");
		return EXIT_BAD;
	}
	if (!set.lines.column)
		set.lines.column = 1;
	return convert_all(&set, argv[first], argv + first + 1, argc - first - 1);
}
