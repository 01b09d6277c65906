// SPDX-License-Identifier: GPL-2.0-only
/* netsync convert - correct timestamps by a saved result. */
#include <errno.h>
#include <getopt.h>

#include "model.h"
#include "tool.h"

static const char help[] =
	"Usage: netsync convert -m FILE HOST TIME...\n\n"
	"Print for each TIME on HOST's clock the time on the reference clock, and how\n"
	"far that can be from the truth (\"unknown\" where nothing is known).\n\n"
	"  -m, --model FILE   what \"netsync sync --format json\" wrote\n"
	"  -h, --help         this text\n\n"
	"A TIME is in nanoseconds (1700000000123456789) or in seconds as babeltrace2\n"
	"--clock-seconds prints them (1700000000.123456789); the answer comes in kind.\n"
	"Times in a trace whose shift_ns in FILE is not 0 need that added first.\n";

static int convert_one(const struct netsync_clock *clock, const char *text)
{
	char corrected[VALUE_SIZE], within[VALUE_SIZE];
	int64_t time, time_ref, bound;
	bool is_seconds;

	if (!parse_time(text, &time, &is_seconds)) {
		complain("%s: this is not a time: give nanoseconds, or seconds with a decimal point and at most 9 decimals.",
			 text);
		return EXIT_BAD;
	}
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

static int convert_all(const char *path, const char *name, char **times, int num)
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
	}
	for (int i = 0; i < num && !status; i++)
		status = convert_one(clock, times[i]);
	netsync_clock_free(clock);
	model_close(&model);
	return status;
}

int cmd_convert(int argc, char **argv)
{
	static const struct option options[] = {
		{ "model", required_argument, NULL, 'm' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *model = NULL;
	int option;

	/* '+': what follows HOST may begin with a minus sign. */
	while ((option = getopt_long(argc, argv, "+m:h", options, NULL)) != -1) {
		switch (option) {
		case 'm':
			model = optarg;
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
	return convert_all(model, argv[optind], argv + optind + 1,
			   argc - optind - 1);
}
