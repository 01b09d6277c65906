// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write the captures of all hosts to one file (--merge). Packets have corrected times and are in
 * order of these times.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <netsync-io.h>

#include "apply.h"
#include "common/complain.h"
#include "common/exit-status.h"
#include "common/json-value.h"
#include "common/output.h"
#include "common/progress.h"
#include "common/result-info.h"
#include "common/signal.h"
#include "common/value.h"
#include "find.h"
#include "merge.h"

/* A capture that is merged. */
struct merge_part {
	struct apply_trace trace;
	struct apply_seen seen;
	struct netsync_clock *clock;
	const struct model_host *host;
	int64_t first_ns, last_ns; /* span of the whole capture on its own clock */
	char *description; /* description of the host, if this capture is the host's first one */
	bool is_known;	   /* whether the span was known before merging */
};

struct merging {
	struct apply_run run;
	struct merge_part *parts;
	size_t num;
	char *comment;
	struct netsync_io_capture *captures;
};

/* ---- which captures -------------------------------------------------------- */

/* Add a capture to the captures to be merged. Return false if it is useless to continue. */
static bool add_merge_part(struct merging *merging, const struct apply_source *source,
			   const struct netsync_io_trace *info)
{
	struct merge_part *part = &merging->parts[merging->num];
	struct apply_run *run = &merging->run;
	struct apply_seen known;

	if (!apply_identify(run, source, info, &part->trace, &part->clock, &part->host)) {
		run->num_left_out++;
		return true;
	}
	merging->num++;
	part->first_ns = part->trace.first_ns;
	part->last_ns = part->trace.last_ns;
	part->is_known = part->first_ns <= part->last_ns;
	if (apply_is_outside(run, &part->trace)) {
		run->num_outside++;
		netsync_clock_free(part->clock);
		merging->num--;
		return true;
	}
	known = apply_get_known_span(&part->trace);
	run->num_in_part += info->damaged > 0;
	part->seen = (struct apply_seen){ 0, -1, false };
	return apply_check_span(run, part->host, &part->trace, &known);
}

static bool add_merge_source(struct merging *merging, const struct apply_source *source)
{
	struct apply_run *run = &merging->run;
	const uint32_t outside = run->num_outside;
	const size_t num = merging->num;

	for (uint32_t i = source->first; i < source->first + source->num; i++) {
		const struct netsync_io_trace info = get_io_trace_info(run->io, i);

		if (i > source->first && apply_is_one_file(run, i - 1, i))
			continue;
		if (strcmp(info.format, "pcap")) {
			complain("%s: skipped: only captures (pcap, pcapng) can be merged.",
				 info.path);
			run->num_left_out++;
		} else if (!add_merge_part(merging, source, &info)) {
			return false;
		}
	}
	if (run->num_outside > outside && merging->num == num)
		apply_skip_source(run, source);
	return true;
}

static bool add_merge_sources(struct merging *merging)
{
	merging->parts = calloc(netsync_io_num_traces(merging->run.io) + 1,
				sizeof(*merging->parts));
	if (!merging->parts)
		return complain_no_memory();
	for (int i = 0; i < merging->run.set->num_traces; i++)
		if (!add_merge_source(merging, &merging->run.sources[i]))
			return false;
	if (!merging->num)
		complain("No captures to merge; nothing was written.");
	return merging->num;
}

/* ---- descriptions of captures ---------------------------------------------- */

static bool is_reference(const struct merging *merging, const struct model_host *host)
{
	return !strcmp(host->name, merging->run.model.reference);
}

/* Return the error bound at a time of a capture. */
static int64_t get_merged_part_bound(const struct merge_part *part, int64_t time_ns)
{
	int64_t corrected, bound;

	if (__builtin_add_overflow(time_ns, part->trace.shift_ns, &time_ns) ||
	    netsync_convert(part->clock, time_ns, &corrected, &bound))
		return NETSYNC_UNKNOWN;
	return bound;
}

static int64_t choose_larger_bound(int64_t a, int64_t b)
{
	return a == NETSYNC_UNKNOWN || b == NETSYNC_UNKNOWN ? NETSYNC_UNKNOWN : a > b ? a : b;
}

/*
 * Return the largest bound of a host's captures. Outside of the result's data, the bound is larger.
 */
static int64_t get_largest_host_bound(const struct merging *merging, const struct model_host *host)
{
	int64_t median, most;

	model_get_bounds(host, &median, &most);
	for (size_t i = 0; i < merging->num; i++) {
		const struct merge_part *part = &merging->parts[i];

		if (part->host != host || !part->is_known)
			continue;
		most = choose_larger_bound(most, get_merged_part_bound(part, part->trace.first_ns));
		most = choose_larger_bound(most, get_merged_part_bound(part, part->trace.last_ns));
	}
	return most;
}

/* Print the median standard deviation of a host's times as a clause, if it is known. */
static void print_deviation(FILE *out, const struct model_host *host)
{
	const int64_t deviation = model_get_deviation(host);
	char text[VALUE_SIZE];

	if (deviation != NETSYNC_UNKNOWN)
		fprintf(out, ", standard deviation %s", format_duration(text, deviation));
}

/* Print the error bounds of a host's times, and their standard deviation, as clauses. */
static void print_bounds(FILE *out, const struct merging *merging, const struct model_host *host)
{
	const int64_t most = get_largest_host_bound(merging, host);
	char text[VALUE_SIZE], middle_of_times[VALUE_SIZE];
	int64_t median, whole;

	model_get_bounds(host, &median, &whole);
	if (is_reference(merging, host))
		fputs("this is the reference clock", out);
	else if (most == NETSYNC_UNKNOWN)
		fprintf(out, "error bound against %s's clock unknown",
			merging->run.model.reference);
	else
		fprintf(out, "times are within %s of %s's clock (median %s)",
			format_duration(text, most), merging->run.model.reference,
			format_duration(middle_of_times, median));
	if (!is_reference(merging, host))
		print_deviation(out, host);
}

static const char *get_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * Return a description of a host's captures. The description is the same for all captures of the
 * host, because interfaces with equal descriptions are merged.
 */
static char *describe_host(const struct merging *merging, const struct model_host *host)
{
	const struct merge_part *last = NULL;
	char *text = NULL;
	size_t size, num = 0;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < merging->num && out; i++) {
		const struct merge_part *part = &merging->parts[i];

		if (part->host != host)
			continue;
		if (!num++)
			fprintf(out, "host %s, from %s", host->name,
				get_base_name(part->trace.path));
		last = part;
	}
	if (out && num > 1)
		fprintf(out, " to %s (%zu files)", get_base_name(last->trace.path), num);
	if (out) {
		fputs("; ", out);
		print_bounds(out, merging, host);
		fclose(out);
	}
	return text;
}

/* Return the first capture of a host. */
static const struct merge_part *find_first_part_of_host(const struct merging *merging,
							const struct model_host *host)
{
	const struct merge_part *part = merging->parts;

	while (part->host != host)
		part++;
	return part;
}

static char *describe_merge(const struct merging *merging)
{
	const struct model *model = &merging->run.model;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out,
		"Merged by netsync apply, with the times of one clock.\nReference: %s\nMethod: %s\nResult: %s",
		model->reference, member_get_text(model->root, "method"), merging->run.set->model);
	for (size_t i = 0; i < merging->num; i++) {
		const struct model_host *host = merging->parts[i].host;

		if (find_first_part_of_host(merging, host) != &merging->parts[i])
			continue;
		fprintf(out, "\n%s: ", host->name);
		print_bounds(out, merging, host);
	}
	fclose(out);
	return text;
}

/*
 * Return whether another capture of the same host overlaps in time. Captures that overlap come from
 * several devices. Files of one capture follow each other.
 */
static bool is_part_concurrent(const struct merging *merging, const struct merge_part *part)
{
	for (size_t i = 0; i < merging->num; i++) {
		const struct merge_part *other = &merging->parts[i];

		if (other != part && other->host == part->host && other->first_ns < part->last_ns &&
		    part->first_ns < other->last_ns)
			return true;
	}
	return false;
}

/* ---- merging --------------------------------------------------------------- */

static int correct_merged_time(void *data, int64_t time_ns, int64_t *corrected_ns)
{
	return apply_correct_packet(data, time_ns, corrected_ns);
}

static bool describe_parts(struct merging *merging)
{
	merging->comment = describe_merge(merging);
	merging->captures = calloc(merging->num, sizeof(*merging->captures));
	if (!merging->comment || !merging->captures)
		return complain_no_memory();
	for (size_t i = 0; i < merging->num; i++) {
		struct merge_part *part = &merging->parts[i];
		const struct merge_part *first = find_first_part_of_host(merging, part->host);

		if (part == first)
			part->description = describe_host(merging, part->host);
		if (!first->description)
			return complain_no_memory();
		part->trace.seen = &part->seen;
		merging->captures[i] = (struct netsync_io_capture){
			.path = part->trace.path,
			.host = part->host->name,
			.device = is_part_concurrent(merging, part) ?
					  get_base_name(part->trace.path) :
					  NULL,
			.description = first->description,
			.time = correct_merged_time,
			.data = &part->trace,
		};
	}
	return true;
}

static int show_merging(void *data, uint64_t done, uint64_t total)
{
	progress_show(data, done, total);
	return interrupted != 0;
}

/*
 * Check that the result covers the times of captures: of all captures, or only of those whose span
 * was not known before merging. If the result does not cover all times, print a message and return
 * false.
 */
static bool check_merge_parts(struct merging *merging, bool all)
{
	for (size_t i = 0; i < merging->num; i++) {
		const struct merge_part *part = &merging->parts[i];

		if ((all || !part->is_known) &&
		    !apply_check_span(&merging->run, part->host, &part->trace, &part->seen))
			return false;
	}
	return true;
}

/* Write the merged file, as an output_func. */
static bool write_merged(FILE *out, const void *data)
{
	struct merging *merging = *(struct merging *const *)data;
	struct netsync_io *io = merging->run.io;
	struct progress *line = &merging->run.progress.line;
	int ret;

	progress_start(line, "merging");
	ret = netsync_io_merge_captures(io, merging->captures, (uint32_t)merging->num,
					sizeof(*merging->captures), merging->comment, fileno(out),
					show_merging, line);
	progress_end(line);
	if (!ret && !check_merge_parts(merging, false))
		ret = -EDOM;
	else if (ret == -EDOM)
		check_merge_parts(merging, true);
	else if (ret && !interrupted)
		complain("%s", netsync_io_error(io));
	/* The failure was already reported. */
	errno = ret ? ECANCELED : 0;
	return !ret;
}

/* Return whether the file to be replaced is one of the captures. */
static bool is_merge_input(const struct merging *merging, const char *path)
{
	struct stat to, from;

	for (size_t i = 0; i < merging->num && !stat(path, &to); i++)
		if (!stat(merging->parts[i].trace.path, &from) && to.st_dev == from.st_dev &&
		    to.st_ino == from.st_ino) {
			complain("%s: this is one of the captures; give another file to --merge.",
				 path);
			return true;
		}
	return false;
}

static int merge_parts(struct merging *merging)
{
	const struct apply_settings *set = merging->run.set;
	const bool is_file = strcmp(set->merge.path, "-");
	const struct destination to = { is_file ? set->merge.path : NULL, set->merge.force };
	struct merging *const data = merging;

	if (!apply_find_all(&merging->run) || !add_merge_sources(merging) ||
	    (is_file && is_merge_input(merging, to.path)) || !describe_parts(merging) ||
	    !output_write(&to, write_merged, &data))
		return EXIT_BAD;
	return merging->run.num_left_out || merging->run.num_in_part ||
			       netsync_io_num_left_out(merging->run.io) ?
		       EXIT_PARTIAL :
		       EXIT_DONE;
}

int apply_merge(const struct apply_settings *set)
{
	struct merging merging = { .num = 0 };
	int status = EXIT_BAD;

	if (strcmp(set->merge.path, "-") ? !output_check(&set->merge) : isatty(STDOUT_FILENO)) {
		if (!strcmp(set->merge.path, "-"))
			complain(
				"Standard output is a terminal; give a file to --merge, or use a pipe: netsync apply -m FILE --merge - TRACE... | wireshark -k -i -");
		return EXIT_BAD;
	}
	if (apply_run_open(&merging.run, set))
		status = merge_parts(&merging);
	for (size_t i = 0; i < merging.num; i++) {
		netsync_clock_free(merging.parts[i].clock);
		free(merging.parts[i].description);
	}
	free(merging.parts);
	free(merging.captures);
	free(merging.comment);
	apply_run_close(&merging.run);
	return status;
}
