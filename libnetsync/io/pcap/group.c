// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Find which captures with similar names belong to one host. Captures of one machine that follow
 * each other in time, or of one direction each, are joined. Captures of different machines, or
 * captures that saw the same packets at different times, are not joined. The decision uses:
 *
 *	names		db-093000, db-093005; db-in, db-out	file-name.c
 *	addresses	that all packets have in common		traits.c
 *	times		first and last packet
 *	packets		which are in two captures: read again, if times overlap
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "io/packet/key.h"
#include "io/pcap/pcap.h"
#include "util/array.h"

/*
 * Maximum time between two captures that are joined (ns), if their names differ only by a number
 * that may be a machine's number. If the longer capture is longer than this, its length is used.
 * Chosen: even an idle network has some traffic in this time.
 */
#define MAX_GAP INT64_C(60000000000)

/* Timestamps of a packet in several captures of one machine differ by at most this: a tick (ns). */
#define SAME_STAMP 1000

/*
 * Maximum number of a host's captures that overlap with another capture and are read to compare
 * packets. Chosen.
 */
#define MAX_COMPARED 8

/* Captures of one host. */
struct capture_group {
	struct trace **trace; /* captures, in the order of their first packets */
	size_t num;
	struct traits traits; /* traits of all captures in the group together */
	char *name;
};

/* Captures whose names have the same stem. */
struct alike {
	struct trace **trace;
	size_t num;
	struct capture_group *group;
	size_t num_groups;
};

static struct pcap *get_trace_pcap(const struct trace *trace)
{
	return trace->state;
}

static const struct file_name *get_file_name_of_trace(const struct trace *trace)
{
	return &get_trace_pcap(trace)->name;
}

/* ---- two captures ------------------------------------------------------------ */

static int64_t compute_range_length(const struct range *range)
{
	int64_t length;

	return __builtin_sub_overflow(range->hi, range->lo, &length) ? INT64_MAX : length;
}

/* Return whether @b begins before the end of @a by more than @slack. */
static bool does_range_begin_before(const struct range *b, const struct range *a, int64_t slack)
{
	int64_t begin;

	return !__builtin_add_overflow(b->lo, slack, &begin) && begin < a->hi;
}

static bool do_captures_overlap(const struct trace *a, const struct trace *b)
{
	const int64_t shorter = min64(compute_range_length(&a->range),
				      compute_range_length(&b->range));
	const int64_t slack = min64(shorter / 2, PCAP_DISORDER);

	return does_range_begin_before(&a->range, &b->range, slack) &&
	       does_range_begin_before(&b->range, &a->range, slack);
}

static bool are_captures_near(const struct trace *a, const struct trace *b)
{
	const struct range between = a->range.hi < b->range.lo ?
					     (struct range){ a->range.hi, b->range.lo } :
					     (struct range){ b->range.hi, a->range.lo };
	const int64_t longer = max64(compute_range_length(&a->range),
				     compute_range_length(&b->range));

	return compute_range_length(&between) <= max64(longer, MAX_GAP);
}

/* Take samples of one capture. Return 0. On failure, call io_fail() and return a negative value. */
static int sample_capture(struct trace *trace, struct sampling *sampling,
			  struct packet_samples *samples)
{
	struct captured_packet seen;
	int ret = pcap_open_capture(trace);

	while (!ret && (ret = pcap_next_packet(trace, &seen)) > 0) {
		ret = 0;
		if (seen.result == FRAME_PACKET && seen.time_ns != INT64_MAX &&
		    sampling_add(sampling, samples, packet_compute_key(&seen.pkt), seen.time_ns,
				 &seen.pkt, DIRECTION_UNKNOWN))
			ret = io_fail_no_memory(trace->io);
	}
	pcap_close_capture(get_trace_pcap(trace));
	return ret;
}

/* Return whether both contain a packet for which they have different times. */
static bool have_samples_moved(const struct packet_samples *a, const struct packet_samples *b)
{
	int64_t apart;

	for (size_t i = 0, j = 0; i < a->num && j < b->num;) {
		const struct sighted *p = &a->of[i], *q = &b->of[j];

		if (p->key == q->key && (__builtin_sub_overflow(p->time_ns, q->time_ns, &apart) ||
					 apart > SAME_STAMP || apart < -SAME_STAMP))
			return true;
		i += p->key <= q->key;
		j += q->key <= p->key;
	}
	return false;
}

/*
 * Return whether two captures have different times for a packet, because they have different clocks
 * or places. On failure, call io_fail() and return a negative value.
 */
static int saw_same_packets(struct trace *a, struct trace *b)
{
	struct packet_samples samples[2] = { { .num = 0 } };
	struct packet_samples *all[] = { &samples[0], &samples[1] };
	struct sampling sampling = { .all = all, .num_all = 2 };
	int ret = sample_capture(a, &sampling, &samples[0]);

	if (!ret)
		ret = sample_capture(b, &sampling, &samples[1]);
	for (int i = 0; i < 2; i++)
		samples_drop_repeated(&samples[i]);
	if (!ret)
		ret = have_samples_moved(&samples[0], &samples[1]);
	free(samples[0].of);
	free(samples[1].of);
	return ret;
}

/* ---- a capture and a group ---------------------------------------------------- */

/* How similar the names of two captures are. */
enum name_likeness {
	NAMES_DIFFER, /* names differ by a number that may be a machine's number */
	NAMES_DATED,  /* names differ only by a date or direction */
	NAMES_SAME,
};

static enum name_likeness compare_file_names(const struct trace *a, const struct trace *b)
{
	const struct file_name *p = get_file_name_of_trace(a), *q = get_file_name_of_trace(b);

	if (!strcmp(p->full, q->full))
		return NAMES_SAME;
	if (!strcmp(p->dated, q->dated))
		return NAMES_DATED;
	/*
	 * "db-in" and "db-out" may be captures of one interface, and the file "db" a capture of
	 * both directions on another interface.
	 */
	return p->way != q->way && p->way != NAME_BOTH && q->way != NAME_BOTH &&
			       !strcmp(p->base, q->base) ?
		       NAMES_DATED :
		       NAMES_DIFFER;
}

/*
 * Return 1 if the capture may belong to the group, judging by this capture of the group, or 0 if
 * not. On failure, call io_fail() and return a negative value.
 */
static int fits_group_member(const struct trace *member, const struct trace *trace,
			     enum likeness likeness, unsigned int *compared)
{
	const enum name_likeness names = compare_file_names(member, trace);

	if (!do_captures_overlap(member, trace))
		return names != NAMES_DIFFER ||
		       (likeness == TRAITS_AGREE && are_captures_near(member, trace) &&
			get_trace_pcap(member)->traits.link == get_trace_pcap(trace)->traits.link);
	if (names == NAMES_DIFFER || (names == NAMES_DATED && likeness != TRAITS_AGREE))
		return 0;
	return ++*compared <= MAX_COMPARED;
}

/*
 * Return 1 if the capture may belong to the group, judging by all captures of the group, or 0 if
 * not. On failure, call io_fail() and return a negative value.
 */
static int fits_group(const struct capture_group *group, struct trace *trace)
{
	const enum likeness likeness = traits_compare(&group->traits,
						      &get_trace_pcap(trace)->traits);
	unsigned int compared = 0;
	bool is_near = false;
	int ret = likeness != TRAITS_DIFFER;

	for (size_t i = group->num; i-- && ret > 0;) {
		struct trace *member = group->trace[i];
		const bool overlap = do_captures_overlap(member, trace);

		/* The captures are in order of time, so one capture that is near is enough. */
		if (!overlap && is_near)
			continue;
		ret = fits_group_member(member, trace, likeness, &compared);
		is_near |= !overlap && ret > 0;
		if (ret > 0 && overlap) {
			ret = saw_same_packets(member, trace);
			ret = ret < 0 ? ret : !ret;
		}
	}
	return ret;
}

/* ---- groups -------------------------------------------------------------------- */

/* Return whether both are in the same directory. */
static bool are_in_one_folder(const struct trace *a, const struct trace *b)
{
	const char *p = strrchr(a->real_path, '/'), *q = strrchr(b->real_path, '/');
	const ptrdiff_t len = p ? p - a->real_path : 0;

	return len == (q ? q - b->real_path : 0) &&
	       !memcmp(a->real_path, b->real_path, (size_t)len);
}

/*
 * Find a group for a capture, preferably one that has captures in the same directory. If no group
 * fits, the result is NULL.
 */
static int find_fitting_group(const struct alike *alike, struct trace *trace,
			      struct capture_group **found)
{
	int ret = 0;

	*found = NULL;
	for (int pass = 0; pass < 2 && !ret; pass++)
		for (size_t i = 0; i < alike->num_groups && !ret; i++) {
			struct capture_group *group = &alike->group[i];

			if (are_in_one_folder(group->trace[group->num - 1], trace) != !pass)
				continue;
			ret = fits_group(group, trace);
			if (ret > 0)
				*found = group;
		}
	return ret < 0 ? ret : 0;
}

static int put_capture_in_group(struct alike *alike, struct trace *trace)
{
	struct capture_group *group;
	struct trace **last;
	int ret = find_fitting_group(alike, trace, &group);

	if (ret)
		return ret;
	if (!group) {
		group = array_add(&alike->group, alike->num_groups, sizeof(*group));
		if (!group)
			return io_fail_no_memory(trace->io);
		*group = (struct capture_group){ .num = 0 };
		alike->num_groups++;
	}
	last = array_add(&group->trace, group->num, sizeof(*last));
	if (!last)
		return io_fail_no_memory(trace->io);
	*last = trace;
	group->num++;
	traits_merge(&group->traits, &get_trace_pcap(trace)->traits);
	return 0;
}

/* ---- names ---------------------------------------------------------------------- */

/* Find a name that all captures of a group share. */
static const char *find_common_name(const struct capture_group *group)
{
	const struct file_name *first = get_file_name_of_trace(group->trace[0]);
	bool is_dated = true, is_base = true;

	for (size_t i = 1; i < group->num; i++) {
		const struct file_name *name = get_file_name_of_trace(group->trace[i]);

		is_dated &= !strcmp(name->dated, first->dated);
		is_base &= !strcmp(name->base, first->base);
	}
	return is_dated ? first->dated : is_base ? first->base : first->stem;
}

static bool is_group_name_shared(const struct alike *alike, const struct capture_group *group,
				 const char *name)
{
	for (size_t i = 0; i < alike->num_groups; i++)
		if (&alike->group[i] != group && !strcmp(find_common_name(&alike->group[i]), name))
			return true;
	return false;
}

/* Return the rank of a group among the groups with the same name. The first group has rank 1. */
static unsigned int compute_group_rank(const struct alike *alike, size_t number)
{
	unsigned int rank = 1;

	for (size_t i = 0; i < number; i++)
		rank += !strcmp(alike->group[i].name, alike->group[number].name);
	return rank;
}

static int rename_trace(struct trace *trace, const char *name, unsigned int rank)
{
	char *text = rank > 1 ? io_format("%s#%u", name, rank) : strdup(name);

	if (!text || io_make_printable(&text))
		return io_fail_no_memory(trace->io);
	/* A caller may still use the name that it requested before. */
	if (!strcmp(text, trace->host_name)) {
		free(text);
		return 0;
	}
	free(trace->host_name);
	trace->host_name = text;
	return 0;
}

static int compare_paths_of_groups(const void *a, const void *b)
{
	const struct capture_group *p = a, *q = b;

	return strcmp(p->trace[0]->real_path, q->trace[0]->real_path);
}

static int name_capture_groups(struct alike *alike)
{
	int ret = 0;

	qsort(alike->group, alike->num_groups, sizeof(*alike->group), compare_paths_of_groups);
	for (size_t i = 0; i < alike->num_groups; i++) {
		struct capture_group *group = &alike->group[i];
		const char *name = find_common_name(group);

		/* The machines are only distinguished by the dates in the names. */
		if (group->num == 1 && is_group_name_shared(alike, group, name))
			name = get_file_name_of_trace(group->trace[0])->full;
		group->name = strdup(name);
		if (!group->name)
			return io_fail_no_memory(group->trace[0]->io);
	}
	for (size_t i = 0; i < alike->num_groups; i++) {
		const struct capture_group *group = &alike->group[i];
		const unsigned int rank = compute_group_rank(alike, i);

		for (size_t j = 0; j < group->num && !ret; j++)
			ret = rename_trace(group->trace[j], group->name, rank);
	}
	return ret;
}

/* ---- all captures --------------------------------------------------------------- */

static int compare_stems_and_times(const void *a, const void *b)
{
	const struct trace *p = *(struct trace **)a, *q = *(struct trace **)b;
	const int order = strcmp(get_file_name_of_trace(p)->stem, get_file_name_of_trace(q)->stem);

	if (order)
		return order;
	if (p->range.lo != q->range.lo)
		return p->range.lo < q->range.lo ? -1 : 1;
	return strcmp(p->real_path, q->real_path);
}

static int group_alike_captures(struct alike *alike)
{
	int ret = 0;

	for (size_t i = 0; i < alike->num && !ret; i++)
		ret = put_capture_in_group(alike, alike->trace[i]);
	if (!ret)
		ret = name_capture_groups(alike);
	for (size_t i = 0; i < alike->num_groups; i++) {
		free(alike->group[i].trace);
		free(alike->group[i].name);
	}
	free(alike->group);
	return ret;
}

/* Return whether a capture's host has its name from the file, and not from the user. */
static bool is_named_by_file(const struct trace *trace)
{
	return pcap_is_capture(trace) && !trace->own_name;
}

/* List all captures that have their names from their files, in order. The caller frees the list. */
static struct trace **list_captures(const struct netsync_io *io, size_t *num)
{
	struct trace **list = malloc((io->num_traces + 1) * sizeof(struct trace *));

	*num = 0;
	if (!list)
		return NULL;
	for (size_t i = 0; i < io->num_traces; i++)
		if (is_named_by_file(io->traces[i]))
			list[(*num)++] = io->traces[i];
	if (*num)
		qsort(list, *num, sizeof(struct trace *), compare_stems_and_times);
	return list;
}

/* Count the captures with the same stem, from index @at on. */
static size_t count_captures_of_stem(struct trace *const *list, size_t num, size_t at)
{
	size_t end = at + 1;

	while (end < num && !strcmp(get_file_name_of_trace(list[at])->stem,
				    get_file_name_of_trace(list[end])->stem))
		end++;
	return end - at;
}

int pcap_group_captures(const struct netsync_io *io)
{
	size_t num, alike;
	struct trace **list = list_captures(io, &num);
	int ret = 0;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < num && !ret; i += alike) {
		alike = count_captures_of_stem(list, num, i);
		ret = group_alike_captures(&(struct alike){ .trace = &list[i], .num = alike });
	}
	free(list);
	return ret;
}

/* ---- reports --------------------------------------------------------------------- */

/* Report which captures with one stem were joined and which were not. */
static void report_captures_of_stem(struct netsync_io *io, struct trace *const *list, size_t num)
{
	for (size_t i = 0; i < num; i++) {
		const char *host = list[i]->host_name;
		const struct trace *other = NULL, *last = list[i];
		size_t joined = 1, before = 0;

		for (size_t j = 0; j < num; j++) {
			const bool is_same = !strcmp(list[j]->host_name, host);

			before += j < i && is_same;
			if (!is_same && compare_file_names(list[i], list[j]) != NAMES_DIFFER)
				other = list[j];
			if (j <= i || !is_same)
				continue;
			joined++;
			last = list[j];
		}
		if (before)
			continue;
		if (joined > 1)
			io_warn(io,
				"%s: %zu captures were attributed to this host by their names, times and addresses (from %s to %s); use NAME=FILE to specify the host of a file.",
				host, joined, list[i]->path, last->path);
		if (other && strcmp(host, other->host_name) > 0)
			io_warn(io,
				"%s and %s: the file names are similar, but the addresses differ or the same packets have different times, so the captures are treated as two hosts, %s and %s; use NAME=FILE to specify the host of a file.",
				other->path, list[i]->path, other->host_name, host);
	}
}

int pcap_report_groups(struct netsync_io *io)
{
	size_t num, alike;
	struct trace **list = list_captures(io, &num);

	if (!list)
		return io_fail_no_memory(io);
	for (size_t i = 0; i < num; i += alike) {
		alike = count_captures_of_stem(list, num, i);
		if (alike > 1)
			report_captures_of_stem(io, &list[i], alike);
	}
	free(list);
	return 0;
}
