// SPDX-License-Identifier: GPL-2.0-only
/* netsync export: write matched messages with corrected times for other tools. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "../../libnetsync/util/array.h"
#include "commands.h"
#include "common/complain.h"
#include "common/exit-status.h"
#include "common/output.h"
#include "export.h"
#include "timeline/timeline.h"

struct export_settings {
	struct input input;
	bool csv, perfetto; /* requested format; exactly one of these or archive is set */
	char *archive;	    /* path of an archive for Perfetto */
	struct attached_file *files;
	size_t num_files;
	bool events;
	struct time_window window;
	char **globs; /* patterns for names of requested events; none means all events */
	size_t num_globs;
	unsigned int timeline; /* number of the format, or TIMELINE_NOT_SAID */
	struct destination output;
};

/* ---- the command line -------------------------------------------------- */

static bool check_export_arguments(const struct export_settings *set)
{
	if (set->csv + set->perfetto + !!set->archive != 1) {
		complain(
			"Give one format, --csv, --perfetto or --perfetto-archive: netsync export --csv TRACE...");
		return false;
	}
	if (set->events && set->csv) {
		complain("--events, --event: these options require --perfetto.");
		return false;
	}
	if (set->num_files && !set->archive) {
		complain("--file: this option requires --perfetto-archive.");
		return false;
	}
	if (set->archive && set->output.path != set->archive) {
		complain(
			"--output cannot be combined with --perfetto-archive, which already names the file.");
		return false;
	}
	if ((set->events || set->archive) && set->input.remote) {
		complain(
			"--events, --event, --perfetto-archive: only packet events can be read from other machines; copy the traces to this one.");
		return false;
	}
	if (!timeline_check_option(set->timeline, set->perfetto) ||
	    ((set->events || set->archive) && !input_check_events(&set->input)))
		return false;
	if (!set->input.num_traces && !set->input.num_texts) {
		complain(
			"No traces given: use \"netsync export --csv TRACE...\", --messages FILE or --packets FILE.");
		return false;
	}
	return input_check_model(&set->input);
}

/* Read patterns for names of events, which are separated by commas. */
static bool parse_globs_option(void *at, const struct option_row *row, const char *text)
{
	struct export_settings *set = at;

	(void)row;
	set->events = true;
	do {
		const size_t length = strcspn(text, ",");
		char **last;

		if (!length) {
			complain(
				"--event: empty name; give names separated by commas, such as sched_switch or block_*.");
			return false;
		}
		last = array_add(&set->globs, set->num_globs, sizeof(*last));
		if (!last || !(*last = strndup(text, length)))
			return complain_no_memory();
		set->num_globs++;
		text += length;
	} while (*text++);
	return true;
}

static bool parse_archive_option(void *at, const struct option_row *row, const char *text)
{
	struct export_settings *set = at;

	(void)row;
	set->archive = (char *)text;
	set->output.path = text;
	return true;
}

/* Read "HOST=FILE" or "HOST:CLOCK=FILE". */
static bool parse_file_option(void *at, const struct option_row *row, const char *text)
{
	static const char *const clocks[] = { "", "mono", "realtime" };
	struct export_settings *set = at;
	const char *end = strchr(text, '=');
	const char *colon = end ? memchr(text, ':', (size_t)(end - text)) : NULL;
	struct attached_file file = { .path = end ? end + 1 : NULL }, *last;
	size_t clock = 0;

	(void)row;
	if (!end || end == text || colon == text || !end[1]) {
		complain("--file %s: give a host and its file, such as web=app.json.", text);
		return false;
	}
	if (colon)
		for (clock = 1; clock < 3; clock++)
			if (strlen(clocks[clock]) == (size_t)(end - colon - 1) &&
			    !memcmp(clocks[clock], colon + 1, (size_t)(end - colon - 1)))
				break;
	if (clock == 3) {
		complain("--file %s: the clock after the host must be mono or realtime.", text);
		return false;
	}
	file.clock = (enum attached_clock)clock;
	file.host = strndup(text, (size_t)((colon ? colon : end) - text));
	last = array_add(&set->files, set->num_files, sizeof(*last));
	if (!file.host || !last) {
		free(file.host);
		return complain_no_memory();
	}
	*last = file;
	set->num_files++;
	return true;
}

static const struct option_row options[] = {
	OPTION("csv", 0, NULL, "write a line for each packet that two hosts recorded",
	       parse_flag_option, .at = offsetof(struct export_settings, csv)),
	OPTION("perfetto", 0, NULL, "write a timeline for ui.perfetto.dev: packets and messages",
	       parse_flag_option, .at = offsetof(struct export_settings, perfetto)),
	{ .table = timeline_options, .at = offsetof(struct export_settings, timeline) },
	OPTION("perfetto-archive", 0, "FILE",
	       "write a tar archive for ui.perfetto.dev: perf.data files as\n"
	       "they are, all events of CTF traces and trace.dat files, and\n"
	       "clocks by which Perfetto corrects all times",
	       parse_archive_option),
	OPTION("file", 0, "HOST[:CLOCK]=FILE",
	       "with --perfetto-archive, add a file that only Perfetto reads:\n"
	       "its own traces, text of ftrace, or JSON with times of the\n"
	       "clock mono (default) or realtime (can be repeated)",
	       parse_file_option),
	OPTION("events", 0, NULL,
	       "with --perfetto, add all events of CTF traces, trace.dat and\n"
	       "perf.data files, with threads and system calls",
	       parse_flag_option, .at = offsetof(struct export_settings, events)),
	OPTION("event", 'e', "GLOB,...",
	       "like --events, but only events with these names\n"
	       "(can be repeated)",
	       parse_globs_option),
	{ .table = window_options, .at = offsetof(struct export_settings, window) },
	{ .table = output_options, .at = offsetof(struct export_settings, output) },
	{ .table = input_model_options, .at = offsetof(struct export_settings, input) },
	{ .table = input_options, .at = offsetof(struct export_settings, input) },
	{ .table = input_remote_options, .at = offsetof(struct export_settings, input) },
	OPTIONS_END
};

static const struct usage usage = {
	.begin = "Usage: netsync export --csv | --perfetto | --perfetto-archive FILE [OPTION...]\n"
		 "                      [TRACE...]\n\n"
		 "Export the packets that traced machines sent each other, with corrected times. A TRACE is\n"
		 "as for \"netsync sync\".\n\n",
	.end = "\nExit status: as for \"netsync sync\".\n",
	.options = options,
};

/* ---- common to all formats ------------------------------------------------ */

char *export_format_address(const uint8_t address[16], char *text)
{
	static const uint8_t v4[12] = { [10] = 0xff, [11] = 0xff };
	const bool is_v4 = !memcmp(address, v4, sizeof(v4));

	inet_ntop(is_v4 ? AF_INET : AF_INET6, is_v4 ? address + 12 : address, text,
		  INET6_ADDRSTRLEN);
	return text;
}

/* ---- reading, and the clocks ----------------------------------------------- */

struct export_job {
	const struct export_settings *set;
	struct timebase base;
	struct export export;
	struct spool messages;
	struct spool packets;
};

static void spool_exported_message(void *data, const struct netsync_message *msg)
{
	spool_put_record(data, msg);
}

static void spool_exported_packet(void *data, const struct netsync_packet *pkt)
{
	spool_put_record(data, pkt);
}

/* Open spools for all data that will be written. */
static bool open_spools(struct export_job *job)
{
	job->export.events = job->set->events;
	job->export.globs = (const char **)job->set->globs;
	job->export.num_globs = job->set->num_globs;
	job->export.files = job->set->files;
	job->export.num_files = job->set->num_files;
	job->export.timeline = timeline_find_format(job->set->timeline, job->set->output.path);
	job->export.messages = &job->messages;
	if (!spool_open(&job->messages, sizeof(struct netsync_message)))
		return false;
	netsync_watch_messages(job->base.ns, spool_exported_message, &job->messages);
	if (job->set->csv)
		return true;
	job->export.packets = &job->packets;
	if (!spool_open(&job->packets, sizeof(struct netsync_packet)))
		return false;
	netsync_watch_packets(job->base.ns, spool_exported_packet, &job->packets);
	return true;
}

static bool write_export(FILE *out, const void *data)
{
	const struct export_job *job = data;

	if (job->set->csv)
		return export_csv(out, &job->export);
	if (job->set->archive)
		return export_archive(out, &job->export);
	return export_perfetto(out, &job->export);
}

static int export_traces(struct export_job *job)
{
	const struct export_settings *set = job->set;
	int status;

	if (!output_check(&set->output) || !timebase_open(&job->base, &set->input) ||
	    !open_spools(job))
		return EXIT_BAD;
	status = timebase_find(&job->base, &set->input);
	if (status == EXIT_BAD ||
	    !timebase_set_window(&job->base, &set->window, set->events || set->archive) ||
	    !output_write(&set->output, write_export, job))
		return EXIT_BAD;
	return timebase_explain(&job->base, &set->input, status);
}

static int run_export(const struct export_settings *set)
{
	struct export_job job = { .set = set, .export.base = &job.base };
	const int status = export_traces(&job);

	spool_close(&job.messages);
	spool_close(&job.packets);
	timebase_close(&job.base);
	return status;
}

int cmd_export(int argc, char **argv)
{
	struct export_settings set = {
		.input = INPUT_DEFAULT,
		.timeline = TIMELINE_NOT_SAID,
	};
	int status;

	set.input.takes_remote = true;
	status = input_parse_arguments(&usage, &set, &set.input, argc, argv);
	if (status < 0 && !check_export_arguments(&set))
		status = EXIT_BAD;
	if (status < 0)
		status = run_export(&set);
	input_release(&set.input);
	while (set.num_globs)
		free(set.globs[--set.num_globs]);
	free(set.globs);
	while (set.num_files)
		free(set.files[--set.num_files].host);
	free(set.files);
	return status;
}
