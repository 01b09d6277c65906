// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Make hosts for traces and for the names in text files. Hosts are numbered in the order of their
 * names. A host is one clock: its traces have the same host name, clock name and clock UUID. If
 * network namespaces are hosts, a host is added when its first packet is read.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/io.h"
#include "util/array.h"

/* Compare two traces by clock name. A trace without a clock name comes first. */
static int compare_clock_names(const struct trace *a, const struct trace *b)
{
	if (!a->clock_name || !b->clock_name)
		return !!a->clock_name - !!b->clock_name;
	return strcmp(a->clock_name, b->clock_name);
}

static int compare_clocks(const struct trace *a, const struct trace *b)
{
	int order = strcmp(a->host_name, b->host_name);

	if (!order)
		order = compare_clock_names(a, b);
	if (!order)
		order = a->has_clock_uuid - b->has_clock_uuid;
	if (!order)
		order = memcmp(a->clock_uuid, b->clock_uuid, UUID_SIZE);
	return order;
}

bool io_is_same_host(const struct trace *a, const struct trace *b)
{
	return !compare_clocks(a, b);
}

static int compare_traces_by_clock(const void *a, const void *b)
{
	const struct trace *p = *(struct trace **)a, *q = *(struct trace **)b;
	int order = compare_clocks(p, q);

	return order ? order : strcmp(p->real_path, q->real_path);
}

static int compare_hosts_by_base(const void *a, const void *b)
{
	const struct io_host *p = a, *q = b;
	int order = strcmp(p->base->host_name, q->base->host_name);

	if (!order)
		order = compare_clock_names(p->base, q->base);
	return order ? order : strcmp(p->base->real_path, q->base->real_path);
}

static int compare_hosts_by_name(const void *a, const void *b)
{
	const struct io_host *p = a, *q = b;

	return strcmp(p->name, q->name);
}

static int compare_traces_by_host(const void *a, const void *b)
{
	const struct trace *p = *(struct trace **)a, *q = *(struct trace **)b;

	if (p->host != q->host)
		return p->host < q->host ? -1 : 1;
	return strcmp(p->real_path, q->real_path);
}

int io_bring_to_base(struct netsync_io *io, struct io_host *host, struct trace *trace)
{
	struct range range = trace->range;
	int64_t *shift = &trace->info.shift_ns;

	trace->host = host;
	if (__builtin_sub_overflow(host->base->epoch_ns, trace->epoch_ns, shift))
		return io_fail(
			io, -ERANGE,
			"%s and %s: the traces have one clock, but its offsets from the epoch are more than 292 years apart.",
			host->base->path, trace->path);
	if (range.hi < range.lo || __builtin_add_overflow(range.lo, *shift, &range.lo) ||
	    __builtin_add_overflow(range.hi, *shift, &range.hi))
		return 0;
	range_extend(&host->range, range.lo, range.hi);
	return 0;
}

/*
 * Format a host's name as "NAME" or "NAME/CLOCK", followed by "#2" and so on if the name is
 * repeated.
 */
static bool format_host_name(struct io_host *host, const char *name, const char *clock,
			     unsigned int repeated)
{
	const char *slash = clock ? "/" : "";
	char number[16] = "";

	if (repeated > 1)
		snprintf(number, sizeof(number), "#%u", repeated);
	host->name = io_format("%s%s%s%s%*s", name, slash, clock ? clock : "", number, WORD_SLACK,
			       "");
	if (!host->name)
		return false;
	host->name_len = strlen(host->name) - WORD_SLACK;
	host->name[host->name_len] = '\0';
	return true;
}

/* Return whether the machine of a trace has other traces with different clocks. */
static bool has_other_clocks(const struct netsync_io *io, const struct trace *trace)
{
	for (size_t i = 0; i < io->num_traces; i++)
		if (!strcmp(io->traces[i]->host_name, trace->host_name) &&
		    compare_clock_names(io->traces[i], trace))
			return true;
	return false;
}

/* Make a host for each clock of the traces, which are sorted by clock. */
static int make_hosts_of_traces(struct netsync_io *io, struct io_host *hosts, size_t *num)
{
	unsigned int repeated = 1;

	for (size_t i = 0; i < io->num_traces; i++)
		if (!i || !io_is_same_host(io->traces[i - 1], io->traces[i]))
			hosts[(*num)++] = (struct io_host){ .base = io->traces[i],
							    .range.hi = -1,
							    .number = -1 };
	qsort(hosts, *num, sizeof(*hosts), compare_hosts_by_base);
	for (size_t i = 0; i < *num; i++) {
		const struct trace *base = hosts[i].base;

		if (i && !strcmp(base->host_name, hosts[i - 1].base->host_name) &&
		    !compare_clock_names(base, hosts[i - 1].base))
			repeated++;
		else
			repeated = 1;
		if (!format_host_name(&hosts[i], base->host_name,
				      has_other_clocks(io, base) ? base->clock_name : NULL,
				      repeated))
			return io_fail_no_memory(io);
	}
	return 0;
}

static struct name *find_name_in_texts(const struct netsync_io *io, const struct io_host *host)
{
	return names_find(&io->hosts, &(struct text_word){ host->name, host->name_len });
}

/* Make hosts for the names in text files that no trace has. */
static int make_hosts_of_texts(struct netsync_io *io, struct io_host *hosts, size_t *num)
{
	for (size_t i = 0; i < *num; i++) {
		struct name *name = find_name_in_texts(io, &hosts[i]);

		if (name)
			name->number = 0;
	}
	for (size_t i = 0; i < io->hosts.num; i++) {
		const struct name *name = io->hosts.name[i];

		if (name->number >= 0)
			continue;
		hosts[*num] = (struct io_host){ .range.hi = -1, .number = -1 };
		if (!format_host_name(&hosts[(*num)++], name->text, NULL, 1))
			return io_fail_no_memory(io);
	}
	return 0;
}

static int register_host(struct netsync_io *io, struct io_host *host)
{
	int number = netsync_add_host(io->ns, host->name);
	struct name *name = find_name_in_texts(io, host);

	if (number < 0)
		return io_fail(io, number, "%s: %s", host->name, netsync_error(io->ns));
	host->number = number;
	if (name)
		name->number = number;
	return host->base && has_other_clocks(io, host->base) ? io_add_machine_clock(io, host) : 0;
}

static int assign_traces_to_host(struct netsync_io *io, struct io_host *host)
{
	int ret = 0;

	for (size_t i = 0; i < io->num_traces && host->base && !ret; i++) {
		struct trace *trace = io->traces[i];

		if (!io_is_same_host(host->base, trace))
			continue;
		ret = io_bring_to_base(io, host, trace);
		host->split |= io->split_netns && trace->has_netns;
	}
	return ret;
}

/*
 * Return whether the user has swapped the names of two traces: each trace contains the name that
 * was given to the other one.
 */
static bool have_exchanged_names(const struct trace *a, const struct trace *b)
{
	return a->own_name && b->own_name && strcmp(a->own_name, a->host_name) &&
	       !strcmp(a->own_name, b->host_name) && !strcmp(b->own_name, a->host_name);
}

static void warn_of_exchanged_names(struct netsync_io *io)
{
	for (size_t i = 0; i < io->num_traces; i++) {
		const struct trace *a = io->traces[i];

		for (size_t j = 0; j < i && a->own_name; j++) {
			const struct trace *b = io->traces[j];

			if (have_exchanged_names(a, b))
				io_warn(io,
					"%s and %s: according to the traces, the hosts are %s and %s, which is the reverse of the given names; check whether the names are swapped.",
					b->path, a->path, b->own_name, a->own_name);
		}
	}
}

int io_make_hosts(struct netsync_io *io, struct io_host **hosts, size_t *num)
{
	int ret;

	*num = 0;
	*hosts = calloc(io->num_traces + io->hosts.num + 1, sizeof(**hosts));
	if (!*hosts)
		return io_fail_no_memory(io);
	warn_of_exchanged_names(io);
	if (io->num_traces)
		qsort(io->traces, io->num_traces, sizeof(*io->traces), compare_traces_by_clock);
	ret = make_hosts_of_traces(io, *hosts, num);
	if (!ret)
		ret = make_hosts_of_texts(io, *hosts, num);
	if (ret < 0)
		return ret;
	qsort(*hosts, *num, sizeof(**hosts), compare_hosts_by_name);
	for (size_t i = 0; i < *num && !ret; i++) {
		struct io_host *host = &(*hosts)[i];

		host->index = i;
		ret = assign_traces_to_host(io, host);
		/* If a text also names the host, register it as a whole, even if it is split. */
		if (!ret && (!host->split || find_name_in_texts(io, host)))
			ret = register_host(io, host);
	}
	if (!ret && io->num_traces)
		qsort(io->traces, io->num_traces, sizeof(*io->traces), compare_traces_by_host);
	for (size_t i = 0; i < io->num_traces; i++)
		io->traces[i]->number = (uint32_t)i;
	return ret;
}

/* ---- network namespaces ------------------------------------------------ */

static bool has_host_parts(const struct netsync_io *io, const struct io_host *host)
{
	for (size_t i = 0; i < io->num_traces; i++)
		if (io->traces[i]->host == host && io->traces[i]->num_parts)
			return true;
	return false;
}

int io_register_other_hosts(struct netsync_io *io, struct io_host *hosts, size_t num)
{
	int ret = 0;

	for (size_t i = 0; i < num && !ret; i++)
		if (hosts[i].number < 0 && !has_host_parts(io, &hosts[i]))
			ret = register_host(io, &hosts[i]);
	return ret;
}

/*
 * Find or add the host that represents a namespace. Return its number. On failure, call io_fail()
 * and return a negative value.
 */
static int register_netns_host(struct netsync_io *io, const struct trace *trace, uint32_t netns)
{
	const struct io_host *host = trace->host;
	char called[NETNS_NAME_SIZE];
	struct name *name = NULL;
	char *text;

	if (io_find_netns_name(trace, netns, called))
		text = io_format("%.*s/%s%*s", (int)host->name_len, host->name, called, WORD_SLACK,
				 "");
	else
		text = io_format(NETNS_HOST "%*s", (int)host->name_len, host->name, netns,
				 WORD_SLACK, "");

	if (io->hosts.num >= IO_MAX_HOSTS) {
		free(text);
		return io_fail(
			io, -E2BIG,
			"%s: the packets are from more than %d network namespaces, which is the largest number that netsync supports; do not split this host by network namespaces.",
			trace->path, IO_MAX_HOSTS);
	}
	if (text)
		name = names_add(&io->hosts,
				 &(struct text_word){ text, strlen(text) - WORD_SLACK });
	free(text);
	if (!name)
		return io_fail_no_memory(io);
	if (name->number < 0)
		name->number = netsync_add_host(io->ns, name->text);
	if (name->number < 0)
		return io_fail(io, name->number, "%s: %s", name->text, netsync_error(io->ns));
	return name->number;
}

struct io_part *io_find_part(struct trace *trace, uint32_t netns)
{
	size_t from = 0, to = trace->num_parts;
	struct io_part *part;
	int number;

	while (from < to) {
		size_t middle = (from + to) / 2;

		if (trace->parts[middle].netns < netns)
			from = middle + 1;
		else
			to = middle;
	}
	if (from < trace->num_parts && trace->parts[from].netns == netns)
		return &trace->parts[from];
	number = register_netns_host(trace->io, trace, netns);
	if (number < 0)
		return NULL;
	if (array_grow(&trace->parts, &trace->part_room, trace->num_parts, sizeof(*trace->parts))) {
		io_fail_no_memory(trace->io);
		return NULL;
	}
	part = &trace->parts[from];
	memmove(part + 1, part, (trace->num_parts++ - from) * sizeof(*part));
	*part = (struct io_part){ .netns = netns, .host = (uint32_t)number };
	return part;
}

void io_free_hosts(struct io_host *hosts, size_t num)
{
	for (size_t i = 0; i < num; i++)
		free(hosts[i].name);
	free(hosts);
}
