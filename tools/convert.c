// SPDX-License-Identifier: GPL-2.0-only
/* netsync convert - correct timestamps by a saved result. */
#include <errno.h>

#include "common/options.h"
#include "common/result-file.h"
#include "common/tool.h"

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

static int convert_all(const char *path, bool extrapolate, const char *name,
		       char **times, int num)
{
	const struct model_host *host;
	struct netsync_clock *clock = NULL;
	struct model model;
	int status = EXIT_DONE, ret;

	ret = model_open(&model, path);
	if (!ret)
		ret = model_find_name(&model, name, &host);
	if (!ret)
		ret = model_read_clock(&model, host, &clock);
	if (ret) {
		complain("%s", model_error(&model));
		status = ret == -ENODATA ? EXIT_PARTIAL : EXIT_BAD;
	} else if (!extrapolate &&
		   !can_convert(&model, host, clock, times, num)) {
		status = EXIT_BAD;
	}
	for (int i = 0; i < num && !status; i++)
		status = convert_one(clock, times[i]);
	netsync_clock_free(clock);
	model_close(&model);
	return status;
}

struct settings {
	const char *model;
	bool extrapolate;
};

static const struct option_row options[] = {
	OPTION("model", 'm', "FILE", "what \"netsync sync --format json\" wrote",
	       take_text, .at = offsetof(struct settings, model)),
	OPTION("extrapolate", 0, NULL,
	       "go on where TIMEs are far outside of what FILE was made of",
	       take_flag, .at = offsetof(struct settings, extrapolate)),
	OPTIONS_END
};

static const struct usage usage = {
	.begin = "Usage: netsync convert -m FILE HOST TIME...\n\n"
	"Print for each TIME on HOST's clock the time on the reference clock, and how\n"
	"far that can be from the truth (\"unknown\" where nothing is known).\n\n",
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
	if (!set.model || argc - first < 2) {
		complain("Give a result file, a host and at least one time: netsync convert -m FILE HOST TIME...");
		return EXIT_BAD;
	}
	return convert_all(set.model, set.extrapolate, argv[first],
			   argv + first + 1, argc - first - 1);
}
