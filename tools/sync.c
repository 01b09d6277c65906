// SPDX-License-Identifier: GPL-2.0-only
/* netsync sync - find the clock corrections of traced machines. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

static const char help[] =
	"Usage: netsync sync [OPTION...] [TRACE...]\n\n"
	"Find how the clocks of traced machines differ, by the packets that they sent\n"
	"each other. A TRACE is a folder that is searched for CTF traces, or NAME=FOLDER\n"
	"to name the host.\n\n"
	"      --messages FILE    read messages: sender receiver send_ns recv_ns\n"
	"      --packets FILE     read packet events, with named columns\n"
	"                         (as often as needed; FILE may be - for standard input)\n"
	"      --strict           stop at the first bad line of these\n"
	"      --split-netns      every network namespace is a host of its own\n"
	"  -r, --reference HOST   the host whose clock is the time base\n"
	"  -b, --max-bound TIME   fail where the error bound is larger (50us, 1.5ms)\n"
	"  -m, --method METHOD    auto: curves as the packets show them; or, for comparison,\n"
	"                         hull: straight lines, regression: least squares (auto)\n"
	"  -s, --max-skew PPM     no two clocks differ in rate by more (500)\n"
	"  -d, --max-drift PPM    the rate of no clock changes faster, per second (0.1);\n"
	"                         hull takes clocks to be straight\n"
	"  -f, --format FORMAT    table or json; json if -o is given, else table\n"
	"  -o, --output FILE      write there instead of to the terminal\n"
	"      --force            overwrite FILE if it exists\n"
	"  -h, --help             this text\n\n"
	"Exit status: 0 every host is corrected (and within --max-bound), 1 bad usage or\n"
	"input, 2 some host could not be corrected; what is known is written all the same.\n";

struct settings {
	const char *reference;
	struct outcome outcome;
	bool table;		/* on standard output, besides */
	enum netsync_method method;
	double max_skew_ppm;
	double max_drift_ppm_s;
	int strict;
	bool split_netns;
	char **traces;
	int num_traces;
	struct text_file *texts;
	int num_texts;
};

struct text_file {
	const char *path;
	int (*add)(struct netsync_io *io, const char *path, int strict);
};

/* ---- the command line -------------------------------------------------- */

enum { OPT_FORCE = 256, OPT_MESSAGES, OPT_PACKETS, OPT_STRICT,
       OPT_SPLIT_NETNS };

static const struct option options[] = {
	{ "reference", required_argument, NULL, 'r' },
	{ "max-bound", required_argument, NULL, 'b' },
	{ "method", required_argument, NULL, 'm' },
	{ "max-skew", required_argument, NULL, 's' },
	{ "max-drift", required_argument, NULL, 'd' },
	{ "format", required_argument, NULL, 'f' },
	{ "output", required_argument, NULL, 'o' },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "messages", required_argument, NULL, OPT_MESSAGES },
	{ "packets", required_argument, NULL, OPT_PACKETS },
	{ "strict", no_argument, NULL, OPT_STRICT },
	{ "split-netns", no_argument, NULL, OPT_SPLIT_NETNS },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static bool set_method(struct settings *set, const char *name)
{
	static const struct {
		const char *name;
		enum netsync_method method;
	} methods[] = {
		{ "auto", NETSYNC_METHOD_AUTO },
		{ "hull", NETSYNC_METHOD_HULL },
		{ "regression", NETSYNC_METHOD_REGRESSION },
	};

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		set->method = methods[i].method;
		set->outcome.method = methods[i].name;
		if (!strcmp(name, methods[i].name))
			return true;
	}
	complain("--method %s: the methods are auto, hull and regression.", name);
	return false;
}

static bool set_max_bound(struct settings *set, const char *text)
{
	if (parse_duration(text, &set->outcome.max_bound_ns))
		return true;
	complain("--max-bound %s: give a time such as 800ns, 50us, 1.5ms or 2s.",
		 text);
	return false;
}

static bool add_text(struct settings *set, const char *path,
		     int (*add)(struct netsync_io *, const char *, int))
{
	struct text_file *more = realloc(set->texts,
		((size_t)set->num_texts + 1) * sizeof(*more));

	if (!more) {
		complain("There is not enough memory.");
		return false;
	}
	set->texts = more;
	set->texts[set->num_texts++] = (struct text_file){ path, add };
	return true;
}

/* Return: -1 to go on, else the exit status. */
static int parse_arguments(struct settings *set, int argc, char **argv)
{
	bool has_format = false, ok = true;
	int option;

	while (ok && (option = getopt_long(argc, argv, "r:b:m:s:d:f:o:h", options,
					   NULL)) != -1) {
		switch (option) {
		case 'r':
			set->reference = optarg;
			break;
		case 'b':
			ok = set_max_bound(set, optarg);
			break;
		case 'm':
			ok = set_method(set, optarg);
			break;
		case 's':
			ok = parse_ppm(&set->max_skew_ppm, "max-skew", optarg,
				       "100");
			break;
		case 'd':
			ok = parse_ppm(&set->max_drift_ppm_s, "max-drift",
				       optarg, "0.5");
			break;
		case 'f':
			ok = parse_format(&set->outcome.json, optarg, "json");
			has_format = true;
			break;
		case 'o':
			set->outcome.output = optarg;
			break;
		case OPT_FORCE:
			set->outcome.force = true;
			break;
		case OPT_MESSAGES:
			ok = add_text(set, optarg, netsync_io_add_messages);
			break;
		case OPT_PACKETS:
			ok = add_text(set, optarg, netsync_io_add_packets);
			break;
		case OPT_STRICT:
			set->strict = true;
			break;
		case OPT_SPLIT_NETNS:
			set->split_netns = true;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_DONE;
		default:
			ok = false;
		}
	}
	if (!ok)
		return EXIT_BAD;
	set->traces = argv + optind;
	set->num_traces = argc - optind;
	if (!set->num_traces && !set->num_texts) {
		complain("Give the folders of the traces: netsync sync TRACE...; or --messages FILE, or --packets FILE.");
		return EXIT_BAD;
	}
	if (!has_format)
		set->outcome.json = set->outcome.output;
	return -1;
}

/* ---- reading ----------------------------------------------------------- */

/* While a recording is synchronized SIGHUP is caught, too: that ends nothing. */
static bool is_interrupted(void)
{
	return interrupted == SIGINT || interrupted == SIGTERM;
}

static void warn(void *data, const char *sentence)
{
	progress_end(data);
	complain("warning: %s", sentence);
}

static int on_progress(void *data, uint64_t done, uint64_t total)
{
	progress_show(data, done, total);
	return is_interrupted();
}

static bool read_traces(const struct settings *set, struct netsync_io *io)
{
	struct sigaction interrupt, terminate;
	struct progress progress;
	int ret = 0;

	/* Scratch folders, which reading may need, are to be removed in any case. */
	interrupted = 0;
	catch_signal(SIGINT, &interrupt);
	catch_signal(SIGTERM, &terminate);
	progress_start(&progress);
	netsync_io_set_warn(io, warn, &progress);
	netsync_io_set_split_netns(io, set->split_netns);
	for (int i = 0; i < set->num_traces && ret >= 0 && !is_interrupted(); i++)
		ret = netsync_io_add(io, set->traces[i]);
	for (int i = 0; i < set->num_texts && ret >= 0; i++)
		ret = set->texts[i].add(io, set->texts[i].path, set->strict);
	if (ret >= 0)
		ret = netsync_io_read(io, on_progress, &progress);
	progress_end(&progress);
	if (ret < 0)
		complain("%s", netsync_io_error(io));
	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGTERM, &terminate, NULL);
	return ret >= 0 && !is_interrupted();
}

/* ---- all together ------------------------------------------------------ */

static int run(const struct settings *set, struct netsync *ns,
	       struct netsync_io *io)
{
	const struct netsync_options opt = {
		.size = sizeof(opt),
		.method = set->method,
		.reference = set->reference,
		.max_skew_ppm = set->max_skew_ppm,
		.max_drift_ppm_s = set->max_drift_ppm_s,
	};

	if (!outcome_check(&set->outcome) || !read_traces(set, io))
		return EXIT_BAD;
	if (netsync_solve(ns, &opt) < 0) {
		complain("%s", netsync_error(ns));
		return EXIT_BAD;
	}
	if (!outcome_write(&set->outcome, ns, io))
		return EXIT_BAD;
	if (set->table)
		write_table(stdout, ns);
	return outcome_explain(&set->outcome, ns);
}

static int synchronize(const struct settings *set)
{
	struct netsync *ns = netsync_new();
	struct netsync_io *io = ns ? netsync_io_new(ns) : NULL;
	int status = EXIT_BAD;

	if (io)
		status = run(set, ns, io);
	else
		complain("There is not enough memory.");
	netsync_io_free(io);
	netsync_free(ns);
	return status;
}

static bool can_read(const char *trace)
{
	struct netsync *ns = netsync_new();
	struct netsync_io *io = ns ? netsync_io_new(ns) : NULL;
	const bool ok = io && netsync_io_add(io, trace) > 0;

	if (!ok)
		complain("warning: %s", io ? netsync_io_error(io) :
			 "There is not enough memory.");
	netsync_io_free(io);
	netsync_free(ns);
	return ok;
}

int sync_recorded(char **traces, int num, const char *path)
{
	struct settings set = {
		.outcome = OUTCOME_DEFAULT,
		.table = true,
		.traces = traces,
	};
	int status;

	set.outcome.output = path;
	set.outcome.json = true;
	/* One host that recorded nothing is no reason to do without the others. */
	for (int i = 0; i < num; i++) {
		char *trace = traces[i];

		if (!can_read(trace))
			continue;
		traces[i] = traces[set.num_traces];
		traces[set.num_traces++] = trace;
	}
	if (!set.num_traces)
		return EXIT_BAD;
	status = synchronize(&set);
	return status == EXIT_DONE && set.num_traces < num ? EXIT_PARTIAL :
							     status;
}

int cmd_sync(int argc, char **argv)
{
	struct settings set = { .outcome = OUTCOME_DEFAULT };
	int status = parse_arguments(&set, argc, argv);

	if (status < 0)
		status = synchronize(&set);
	free(set.texts);
	return status;
}
