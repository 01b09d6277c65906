// SPDX-License-Identifier: GPL-2.0-only
/* Write a result to a file in the requested format. Print warnings about its hosts, with advice. */
#include <inttypes.h>
#include <stdlib.h>

#include "complain.h"
#include "exit-status.h"
#include "output.h"
#include "result-bt2-args.h"
#include "result-info.h"
#include "result-output.h"
#include "result-table.h"
#include "result-write.h"
#include "utc.h"
#include "value.h"

/* ---- writing ----------------------------------------------------------- */

struct result {
	const struct outcome *outcome;
	const struct netsync *ns;
	const struct netsync_io *io;
};

static bool write_result(FILE *out, const void *data)
{
	const struct result *result = data;

	switch (result->outcome->format) {
	case FORMAT_JSON:
		return write_result_json(out, result->ns, result->io, result->outcome);
	case FORMAT_BT2_ARGS:
		return write_bt2_args(out, result->ns, result->io);
	default:
		write_result_table(out, result->ns);
		if (result->outcome->utc)
			utc_print(out, result->outcome->utc, result->ns);
		return true;
	}
}

bool outcome_check_output(const struct outcome *outcome)
{
	return output_check(&outcome->output);
}

bool outcome_write(const struct outcome *outcome, const struct netsync *ns,
		   const struct netsync_io *io)
{
	const struct result result = { outcome, ns, io };

	return output_write(&outcome->output, write_result, &result);
}

/* ---- warnings ----------------------------------------------------------- */

/*
 * Maximum number of hosts, and of groups of hosts without common packets, that are explained one by
 * one. Chosen.
 */
#define MOST_EXPLAINED 20

/* Return the names of an island's hosts as "web", "web and db", or "a, b and c". */
static char *list_island_names(const struct netsync *ns, uint32_t island, uint32_t *num)
{
	char *names = NULL;
	uint32_t left;
	size_t size;
	FILE *list = open_memstream(&names, &size);

	*num = 0;
	for (uint32_t i = 0; i < netsync_num_hosts(ns); i++)
		*num += get_host_info(ns, i).island == island;
	left = *num;
	for (uint32_t i = 0; i < netsync_num_hosts(ns) && list; i++) {
		const struct netsync_host_info info = get_host_info(ns, i);

		if (info.island != island)
			continue;
		left--;
		fprintf(list, "%s%s", info.name, left > 1 ? ", " : left ? " and " : "");
	}
	if (list)
		fclose(list);
	return names;
}

static bool has_island_packets(const struct netsync *ns, uint32_t island)
{
	for (uint32_t i = 0; i < netsync_num_hosts(ns); i++) {
		const struct netsync_host_info info = get_host_info(ns, i);

		if (info.island == island && info.packets)
			return true;
	}
	return false;
}

/*
 * Span in which an island was traced, on its hosts' own clocks, ns. If from > to, the span is not
 * known.
 */
struct island_span {
	int64_t from;
	int64_t to;
};

static struct island_span find_island_span(const struct netsync *ns, uint32_t island)
{
	struct island_span span = { INT64_MAX, INT64_MIN };

	for (uint32_t i = 0; i < netsync_num_hosts(ns); i++) {
		const struct netsync_host_info info = get_host_info(ns, i);

		if (info.island != island || info.last_ns < info.first_ns)
			continue;
		if (info.first_ns < span.from)
			span.from = info.first_ns;
		if (info.last_ns > span.to)
			span.to = info.last_ns;
	}
	return span;
}

/*
 * Compute the time between the traces of two islands, ns. Return 0 if they overlap, if their clocks
 * cannot be compared, or if the spans are not known.
 */
static int64_t compute_gap_between(const struct island_span *a, const struct island_span *b)
{
	if (a->from > a->to || b->from > b->to || a->from < EPOCH_TIME || b->from < EPOCH_TIME)
		return 0;
	return a->to < b->from ? b->from - a->to : b->to < a->from ? a->from - b->to : 0;
}

/*
 * Report that two islands share no packet because they were traced at different times. If this is
 * not the reason, return false.
 */
static bool explain_gap(const char *names, bool are_many, const struct island_span *a,
			const char *others, const struct island_span *b)
{
	const int64_t gap = compute_gap_between(a, b);
	char from[VALUE_SIZE], to[VALUE_SIZE], other_from[VALUE_SIZE], other_to[VALUE_SIZE];
	char by[VALUE_SIZE];

	if (!gap)
		return false;
	complain(
		"warning: %s %s traced from %s to %s, and %s from %s to %s, each on its own clock: the traces do not overlap, and share no packets. Trace these hosts at the same time. If one of the clocks was wrong by %s or more, check the clocks.",
		names, are_many ? "were" : "was", format_date(from, a->from, true),
		format_date(to, a->to, true), others, format_date(other_from, b->from, true),
		format_date(other_to, b->to, true), format_duration(by, gap));
	return true;
}

/* Kinds of missing packets. The advice depends on the kind and on the source of the traces. */
enum missing { MISSING_ALL, MISSING_SHARED, MISSING_WAY_BACK, NUM_MISSING };

static const char *const advice[NUM_MISSING][NUM_SOURCES] = {
	/*
	 * In this case, the reader has already advised what to record, or reported that there were
	 * no packets.
	 */
	[MISSING_ALL] = {
		[SOURCE_ANY] = ": at least one host recorded no packets",
		[SOURCE_RECORD] = ": at least one host recorded no packets; use --beacon to send some",
		[SOURCE_RECORD_BEACON] = ": at least one host recorded no packets",
	},
	[MISSING_SHARED] = {
		[SOURCE_ANY] = ": let these hosts exchange packets while both are traced; if they did, the packets were not recorded on both, or were not TCP, UDP, SCTP or ICMP echo",
		[SOURCE_RECORD] = ": use --beacon to send packets between them; if these hosts exchanged packets, the packets were not TCP, UDP, SCTP or ICMP echo, or a machine in between answered instead",
		[SOURCE_RECORD_BEACON] = ": if the beacon's packets did not arrive, open its UDP port in the firewall",
	},
	[MISSING_WAY_BACK] = {
		[SOURCE_ANY] = "",
		[SOURCE_RECORD] = "; use --beacon to send packets in both directions",
		[SOURCE_RECORD_BEACON] = "; open the beacon's UDP port in both directions",
	},
};

static const char *choose_island_advice(const struct outcome *outcome, const struct netsync *ns,
					uint32_t one, uint32_t other)
{
	const bool any = has_island_packets(ns, one) && has_island_packets(ns, other);

	return advice[any ? MISSING_SHARED : MISSING_ALL][outcome->source];
}

/*
 * Return the largest step back of a host's clock, in ns, that events or a log have reported. If the
 * step exceeds the traced span, every time may be before or after the step, and no message can be
 * used.
 */
static int64_t find_largest_set_back(const struct netsync *ns, uint32_t host)
{
	int64_t most = 0;

	for (uint32_t i = 0; i < get_host_info(ns, host).num_steps; i++) {
		const struct netsync_step step = get_step_info(ns, host, i);

		if (step.known && -step.offset_ns > most)
			most = -step.offset_ns;
	}
	return most;
}

/*
 * Report that a host shares no message with others because its clock was stepped back. If this is
 * not the reason, return false.
 */
static bool explain_set_back(const struct netsync *ns, uint32_t host)
{
	const struct netsync_host_info info = get_host_info(ns, host);
	const int64_t by = find_largest_set_back(ns, host);
	char back[VALUE_SIZE];

	/*
	 * If the clock was stepped back by at most half of the span, it showed some times only
	 * once.
	 */
	if (info.last_ns < info.first_ns || by <= (info.last_ns - info.first_ns) / 2)
		return false;
	complain(
		"warning: %s: the clock was stepped back by %s and displayed the same times twice, so every message is ambiguous and none can be used. Record again, without stepping the clock.",
		info.name, format_duration(back, by));
	return true;
}

/*
 * Report that hosts share no message because all their packets are ambiguous. If this is not the
 * reason, return false. @one and @other are the names of the hosts.
 */
static bool explain_ambiguous(const struct netsync *ns, const char *one, const char *other)
{
	struct netsync_stats stats = { .size = sizeof(stats) };

	if (netsync_num_pairs(ns) || netsync_get_stats(ns, &stats) ||
	    stats.ambiguous <= stats.unmatched)
		return false;
	complain(
		"warning: %s and %s: no messages were matched, because %" PRIu64 " of %" PRIu64
		" packet events are ambiguous. Either each packet was recorded more than once, as in captures of all devices (\"tcpdump -i any\") or of a bridge and its ports, or the recorded data does not identify packets. Capture one device (\"tcpdump -i eth0\"). If several captures contain the same packets, give only one of them.",
		one, other, stats.ambiguous, stats.packets);
	return true;
}

/*
 * Print a warning about each island other than the reference's, because its hosts cannot be
 * corrected.
 */
static void explain_islands(const struct outcome *outcome, const struct netsync *ns)
{
	uint32_t main = get_host_info(ns, netsync_reference(ns)).island;
	uint32_t num_reached, num, explained = 0;
	char *reached = list_island_names(ns, main, &num_reached);
	const struct island_span span = find_island_span(ns, main);
	bool is_explained = false;

	for (uint32_t i = 0; i < netsync_num_hosts(ns); i++) {
		struct island_span apart;
		char *names;

		if (get_host_info(ns, i).island != i || i == main)
			continue;
		if (!is_explained && explained++ >= MOST_EXPLAINED)
			continue;
		names = list_island_names(ns, i, &num);
		/*
		 * If the reason is the same for all islands, because it lies with the reference,
		 * report it once.
		 */
		is_explained = is_explained ||
			       (num_reached == 1 && explain_set_back(ns, netsync_reference(ns))) ||
			       explain_ambiguous(ns, reached ? reached : "", names ? names : "");
		if ((num == 1 && explain_set_back(ns, i)) || is_explained) {
			free(names);
			continue;
		}
		apart = find_island_span(ns, i);
		if (explain_gap(reached ? reached : "", num_reached > 1, &span, names ? names : "",
				&apart)) {
			free(names);
			continue;
		}
		complain("warning: %s %s no packets with %s%s.", reached ? reached : "",
			 num_reached > 1 ? "share" : "shares", names ? names : "",
			 choose_island_advice(outcome, ns, main, i));
		free(names);
	}
	if (explained > MOST_EXPLAINED)
		complain("warning: %" PRIu32 " more groups of hosts are not connected with %s.",
			 explained - MOST_EXPLAINED, get_host_info(ns, netsync_reference(ns)).name);
	free(reached);
}

/*
 * Return a format string that explains why a host is approximate. The argument of the format is the
 * host's name.
 */
static const char *explain_quality(const struct netsync_host_info *info)
{
	if (!info->contradicted && info->bound_median_ns == NETSYNC_UNKNOWN)
		return "warning: %s: the error bound is unknown: all messages are consistent, but there are too few to detect whether a clock was stepped or steered. The correction is a compromise.";
	if (!info->contradicted && info->bound_max_ns == NETSYNC_UNKNOWN)
		return "warning: %s: the error bound is unknown for part of the time: all messages are consistent, but there are too few at that time to detect whether a clock was stepped or steered.";
	if (!info->contradicted)
		return "warning: %s: all messages are consistent, but some do not fit the clock estimate; the error bound holds.";
	if (info->bound_median_ns == NETSYNC_UNKNOWN)
		return "warning: %s: the error bound is unknown: messages are inconsistent with each other or with the clock estimate, or a clock was stepped or steered while few packets were exchanged. The correction is a compromise.";
	if (info->bound_max_ns == NETSYNC_UNKNOWN)
		return "warning: %s: the error bound is unknown for part of the time: messages are inconsistent with it, or a clock was stepped while few packets were exchanged. Elsewhere the bound holds if the inconsistent messages are wrong.";
	return "warning: %s: some messages are inconsistent with the others, the correction or the clock assumptions; the error bound holds if these messages are wrong.";
}

static bool exceeds_max_bound(const struct outcome *outcome, const struct netsync_host_info *info)
{
	return outcome->max_bound_ns >= 0 && info->bound_max_ns > outcome->max_bound_ns;
}

/* Return whether the correction of the host's clock is as good as the arguments require. */
static bool is_host_corrected(const struct outcome *outcome, const struct netsync *ns,
			      const struct netsync_host_info *info)
{
	/* A single host needs no correction, so its events and times can be used as they are. */
	if (info->quality == NETSYNC_ABSENT)
		return netsync_num_hosts(ns) == 1;
	return info->quality != NETSYNC_INCOMPLETE && !exceeds_max_bound(outcome, info);
}

static bool needs_explanation(const struct outcome *outcome, const struct netsync_host_info *info)
{
	if (info->quality == NETSYNC_ABSENT)
		return false;
	return info->quality != NETSYNC_ACCURATE || info->bound_max_ns == NETSYNC_UNKNOWN ||
	       exceeds_max_bound(outcome, info);
}

static void explain_host_quality(const struct outcome *outcome,
				 const struct netsync_host_info *info)
{
	char bound[VALUE_SIZE], limit[VALUE_SIZE];

	if (info->quality == NETSYNC_INCOMPLETE) {
		complain(
			"warning: %s: messages were seen in one direction only, so the offset is a guess, and the error is bounded on one side only%s.",
			info->name, advice[MISSING_WAY_BACK][outcome->source]);
		return;
	}
	if (info->quality == NETSYNC_APPROXIMATE)
		complain(explain_quality(info), info->name);
	else if (info->bound_max_ns == NETSYNC_UNKNOWN)
		complain(
			"note: %s: the error bound is unknown for part of the time: a clock was stepped while few packets were exchanged, possibly more than once.",
			info->name);
	if (exceeds_max_bound(outcome, info))
		complain("%s: the error bound of %s exceeds --max-bound %s.", info->name,
			 format_duration(bound, info->bound_max_ns),
			 format_duration(limit, outcome->max_bound_ns));
}

/*
 * Explain the first hosts, and print the number of the others. Return true if all hosts are
 * corrected.
 */
static bool explain_hosts(const struct outcome *outcome, const struct netsync *ns)
{
	uint32_t num = 0;
	bool ok = true;

	for (uint32_t i = 0; i < netsync_num_hosts(ns); i++) {
		const struct netsync_host_info info = get_host_info(ns, i);

		ok &= is_host_corrected(outcome, ns, &info);
		if (needs_explanation(outcome, &info) && num++ < MOST_EXPLAINED)
			explain_host_quality(outcome, &info);
	}
	if (num > MOST_EXPLAINED)
		complain(
			"warning: %" PRIu32
			" more hosts are not corrected accurately; see \"quality\" and the bounds in the result.",
			num - MOST_EXPLAINED);
	return ok;
}

/*
 * Return whether most of a host's bound, and so its median, is wide only because nothing reports
 * that no daemon steered the clocks.
 */
static bool is_bound_mostly_silent(const struct netsync_host_info *info)
{
	return info->bound_max_ns != NETSYNC_UNKNOWN &&
	       info->silent_ns > (info->last_ns - info->first_ns) / 2;
}

static void explain_silences(const struct netsync *ns)
{
	char others[sizeof(" and 4294967295 more")] = "";
	const char *first = NULL;
	uint32_t num = 0;

	for (uint32_t i = 0; i < netsync_num_hosts(ns); i++) {
		const struct netsync_host_info info = get_host_info(ns, i);

		if (is_bound_mostly_silent(&info) && !num++)
			first = info.name;
	}
	if (num > 1)
		snprintf(others, sizeof(others), " and %" PRIu32 " more", num - 1);
	if (num)
		complain(
			"note: %s%s: the error bound is wide, because no packets were exchanged for long times, or only in one direction, and a daemon may have steered the clocks meanwhile. Record netsync_clock events, or run \"netsync clock-log\" during a capture. If no daemon runs, add --max-drift 0.1.",
			first, others);
}

int outcome_explain(const struct outcome *outcome, const struct netsync *ns)
{
	int status = EXIT_DONE;

	if (netsync_num_hosts(ns) == 1)
		complain(
			"warning: all traces belong to one host, %s, so there is nothing to synchronize.",
			get_host_info(ns, 0).name);
	explain_islands(outcome, ns);
	if (!explain_hosts(outcome, ns))
		status = EXIT_PARTIAL;
	explain_silences(ns);
	return status;
}
