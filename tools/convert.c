// SPDX-License-Identifier: GPL-2.0-only
/* netsync convert - correct timestamps by a saved result. */
#include <errno.h>
#include <getopt.h>

#include "common/result-file.h"
#include "common/tool.h"

static const char help[] =
	"Usage: netsync convert -m FILE HOST TIME...\n\n"
	"Print for each TIME on HOST's clock the time on the reference clock, and how\n"
	"far that can be from the truth (\"unknown\" where nothing is known).\n\n"
	"  -m, --model FILE   what \"netsync sync --format json\" wrote\n"
	"      --extrapolate  go on where TIMEs are far outside of what FILE was made of\n"
	"  -h, --help         this text\n\n"
	"A TIME is in nanoseconds (1700000000123456789) or in seconds as babeltrace2\n"
	"--clock-seconds prints them (1700000000.123456789); the answer comes in kind.\n"
	"Times in a trace whose shift_ns in FILE is not 0 need that added first.\n";

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

enum { OPT_EXTRAPOLATE = 256 };

int cmd_convert(int argc, char **argv)
{
	static const struct option options[] = {
		{ "model", required_argument, NULL, 'm' },
		{ "extrapolate", no_argument, NULL, OPT_EXTRAPOLATE },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *model = NULL;
	bool extrapolate = false;
	int option;

	/* '+': what follows HOST may begin with a minus sign. */
	while ((option = getopt_long(argc, argv, "+m:h", options, NULL)) != -1) {
		switch (option) {
		case 'm':
			model = optarg;
			break;
		case OPT_EXTRAPOLATE:
			extrapolate = true;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_DONE;
		default:
			return EXIT_BAD;
		}
	}
	if (!model || argc - optind < 2) {
		complain("Give a result file, a host and at least one time: netsync convert -m FILE HOST TIME...");
		return EXIT_BAD;
	}
	return convert_all(model, extrapolate, argv[optind], argv + optind + 1,
			   argc - optind - 1);
}
