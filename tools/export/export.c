// SPDX-License-Identifier: GPL-2.0-only
/* netsync export - what other tools read: matched messages, corrected. */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "input.h"
#include "model.h"

static const char help[] =
	"Usage: netsync export --csv | --perfetto [OPTION...] [TRACE...]\n\n"
	"Write the packets that traced machines sent each other, with corrected times. A\n"
	"TRACE is as for netsync sync.\n\n"
	"      --csv              a line for each packet that was seen on both sides\n"
	"      --perfetto         JSON for ui.perfetto.dev or chrome://tracing\n"
	"      --events           with --perfetto: also all events of CTF traces\n"
	"  -o, --output FILE      write there instead of to the terminal\n"
	"      --force            overwrite FILE if it exists\n"
	"  -m, --model FILE       correct by what \"netsync sync --format json\" wrote,\n"
	"                         instead of estimating\n"
	"      --messages FILE    read messages: sender receiver send_ns recv_ns\n"
	"      --packets FILE     read packet events, with named columns\n"
	"      --strict           stop at the first bad line of these\n"
	"      --address NAME=ADDR  an address of a captured host\n"
	"      --split-netns      every network namespace is a host of its own\n"
	"  -r, --reference HOST   the host whose clock is the time base\n"
	"      --method METHOD    auto, hull or regression (auto)\n"
	"  -s, --max-skew PPM     no two clocks differ in rate by more (500)\n"
	"  -d, --max-drift PPM    the rate of no clock changes faster, per second (0.1)\n"
	"  -h, --help             this text\n\n"
	"Exit status: as of netsync sync.\n";

enum { OPT_FORCE = 256, OPT_CSV, OPT_PERFETTO, OPT_EVENTS };

typedef bool (*export_format)(FILE *out, const struct export *export);

struct settings {
	struct input input;
	unsigned int num_formats;	/* asked for; format is the last one */
	export_format format;
	bool events;
	const char *output;
	bool force;
};

/* ---- the command line -------------------------------------------------- */

static bool check_arguments(const struct settings *set)
{
	if (set->num_formats != 1) {
		complain("Say in which format, of --csv and --perfetto: netsync export --csv TRACE...");
		return false;
	}
	if (set->events && set->format != export_perfetto) {
		complain("--events: only --perfetto shows other events than packets.");
		return false;
	}
	if (set->events && set->input.split_netns) {
		complain("--events: they do not say in which network namespace they were; do without --split-netns.");
		return false;
	}
	if (!set->input.num_traces && !set->input.num_texts) {
		complain("Give the folders of the traces: netsync export --csv TRACE...; or --messages FILE, or --packets FILE.");
		return false;
	}
	return input_check_model(&set->input);
}

/* Return: -1 to go on, else the exit status. */
static int parse_arguments(struct settings *set, int argc, char **argv)
{
	static const struct option options[] = {
		INPUT_OPTIONS,
		{ "csv", no_argument, NULL, OPT_CSV },
		{ "perfetto", no_argument, NULL, OPT_PERFETTO },
		{ "events", no_argument, NULL, OPT_EVENTS },
		MODEL_OPTION,
		{ "output", required_argument, NULL, 'o' },
		{ "force", no_argument, NULL, OPT_FORCE },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, INPUT_LETTERS MODEL_LETTER "o:h",
				     options, NULL)) != -1) {
		switch (option) {
		case OPT_CSV:
			set->format = export_csv;
			set->num_formats++;
			break;
		case OPT_PERFETTO:
			set->format = export_perfetto;
			set->num_formats++;
			break;
		case OPT_EVENTS:
			set->events = true;
			break;
		case 'o':
			set->output = optarg;
			break;
		case OPT_FORCE:
			set->force = true;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_DONE;
		default:
			if (!input_option(&set->input, option, optarg))
				return EXIT_BAD;
		}
	}
	input_traces(&set->input, argc - optind, argv + optind);
	return check_arguments(set) ? -1 : EXIT_BAD;
}

/* ---- for all formats --------------------------------------------------- */

bool export_time(const struct export_host *host, int64_t time_ns,
		 int64_t *time_ref)
{
	return host->clock &&
	       !__builtin_add_overflow(time_ns, host->shift_ns, &time_ns) &&
	       !netsync_convert(host->clock, time_ns, time_ref, NULL);
}

char *export_address(const uint8_t address[16], char *text)
{
	static const uint8_t v4[12] = { [10] = 0xff, [11] = 0xff };
	const bool is_v4 = !memcmp(address, v4, sizeof(v4));

	inet_ntop(is_v4 ? AF_INET : AF_INET6, is_v4 ? address + 12 : address,
		  text, INET6_ADDRSTRLEN);
	return text;
}

/* ---- reading, and the clocks of what was read -------------------------- */

struct job {
	const struct settings *set;
	struct netsync *ns;
	struct netsync_io *io;
	struct model model;
	struct export export;
	struct spool messages;
	struct spool packets;
};

static void keep_message(void *data, const struct netsync_message *msg)
{
	spool_put(data, msg);
}

static void keep_packet(void *data, const struct netsync_packet *pkt)
{
	spool_put(data, pkt);
}

/* Keep what is to be written from now on. */
static bool keep(struct job *job)
{
	job->export.events = job->set->events;
	job->export.messages = &job->messages;
	if (!spool_open(&job->messages, sizeof(struct netsync_message)))
		return false;
	netsync_watch_messages(job->ns, keep_message, &job->messages);
	if (job->set->format != export_perfetto)
		return true;
	job->export.packets = &job->packets;
	if (!spool_open(&job->packets, sizeof(struct netsync_packet)))
		return false;
	netsync_watch_packets(job->ns, keep_packet, &job->packets);
	return true;
}

/* 0; -ENODATA: it could not be corrected; or another negative errno. */
static int find_clock(struct job *job, uint32_t number)
{
	struct export_host *host = &job->export.hosts[number];
	const struct model_host *found;
	int ret;

	if (!job->set->input.model) {
		host->clock = netsync_host_clock(job->ns, number);
		return 0;
	}
	ret = model_match(&job->model, job->ns, job->io, number, &found,
			  &host->shift_ns);
	if (!ret)
		ret = model_read_clock(&job->model, found, &host->own);
	host->clock = host->own;
	return ret;
}

/* Return: exit status. */
static int find_clocks(struct job *job)
{
	struct export *e = &job->export;
	int status = EXIT_DONE;

	e->num_hosts = netsync_num_hosts(job->ns);
	e->hosts = calloc(e->num_hosts + 1, sizeof(*e->hosts));
	if (!e->hosts) {
		complain("There is not enough memory.");
		return EXIT_BAD;
	}
	e->reference = job->set->input.model ? job->model.reference :
		       host_info(job->ns, netsync_reference(job->ns)).name;
	for (uint32_t i = 0; i < e->num_hosts; i++) {
		int ret;

		e->hosts[i].name = host_info(job->ns, i).name;
		ret = find_clock(job, i);
		if (!ret)
			continue;
		complain(ret == -ENODATA ? "warning: %s" : "%s",
			 model_error(&job->model));
		if (ret != -ENODATA)
			return EXIT_BAD;
		status = EXIT_PARTIAL;
	}
	return status;
}

static bool write_export(FILE *out, const void *data)
{
	const struct job *job = data;

	return job->set->format(out, &job->export);
}

static int run(struct job *job)
{
	const struct outcome outcome = OUTCOME_DEFAULT;
	const struct settings *set = job->set;
	int status;

	if (!output_check(set->output, set->force))
		return EXIT_BAD;
	if (set->input.model && model_open(&job->model, set->input.model)) {
		complain("%s", model_error(&job->model));
		return EXIT_BAD;
	}
	if (!keep(job) || !input_solve(&set->input, job->ns, job->io))
		return EXIT_BAD;
	status = find_clocks(job);
	if (status == EXIT_BAD ||
	    !output_write(set->output, set->force, write_export, job))
		return EXIT_BAD;
	return set->input.model ? status : outcome_explain(&outcome, job->ns);
}

static void release(struct job *job)
{
	for (uint32_t i = 0; i < job->export.num_hosts && job->export.hosts; i++)
		netsync_clock_free(job->export.hosts[i].own);
	free(job->export.hosts);
	spool_close(&job->messages);
	spool_close(&job->packets);
	model_close(&job->model);
	netsync_io_free(job->io);
	netsync_free(job->ns);
}

static int export(const struct settings *set)
{
	struct job job = { .set = set, .ns = netsync_new() };
	int status = EXIT_BAD;

	job.io = job.ns ? netsync_io_new(job.ns) : NULL;
	job.export.ns = job.ns;
	job.export.io = job.io;
	if (job.io)
		status = run(&job);
	else
		complain("There is not enough memory.");
	release(&job);
	return status;
}

int cmd_export(int argc, char **argv)
{
	struct settings set = { .input = INPUT_DEFAULT };
	int status = parse_arguments(&set, argc, argv);

	if (status < 0)
		status = export(&set);
	input_release(&set.input);
	return status;
}
