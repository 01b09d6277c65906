// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The reader of pcap and pcapng captures, written by tcpdump, dumpcap, Wireshark and others.
 *
 * A capture is read two or three times: to find its time span and contents; to infer directions
 * from all captures together, if its packets have none; and to push packets. It is open only
 * while a time within its span is read, because a long capture may be split into thousands of
 * files.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/packet/address.h"
#include "io/pcap/growing.h"
#include "io/pcap/pcap.h"

/* Name of the clock by which kernels timestamp captured packets. */
#define CLOCK_NAME "realtime"

/*
 * Maximum number of network devices of one interface that are distinguished as observation
 * points. Chosen.
 */
#define MAX_DEVICES 1024

static bool is_pcap_file(const struct found *found)
{
	return capture_has_magic(found->head, found->head_len);
}

/* ---- packets ------------------------------------------------------------- */

int pcap_open_capture(struct trace *trace)
{
	struct pcap *pcap = trace->state;
	struct disk_file *from = io_open_file(trace->io, trace->path);
	int ret;

	if (!from)
		return io_fail_file(trace->io, trace->path, -errno);
	ret = capture_open(&pcap->capture, from, pcap->end);
	pcap->is_open = true;
	return ret < 0 ? io_fail_file(trace->io, trace->path, ret) : 0;
}

void pcap_close_capture(struct pcap *pcap)
{
	if (pcap->is_open)
		capture_close(&pcap->capture);
	pcap->is_open = false;
}

/* Use the data before the damage, now and in later readings. */
static void end_capture_at_damage(struct trace *trace)
{
	struct pcap *pcap = trace->state;

	if (pcap->end == UINT64_MAX) {
		trace->info.damaged++;
		trace->info.stuck += disk_is_stuck(pcap->capture.file.from);
		trace->readable = trace->path;
		io_warn(trace->io, "%s: read only up to byte %llu (%s).", trace->path,
			(unsigned long long)pcap->capture.next, pcap->capture.damage);
	}
	pcap->end = pcap->capture.next;
}

/* Read the next block. Return 0 if there is none, or a negative value after io_fail(). */
static int read_next_pcap_block(struct trace *trace, struct capture_block *block)
{
	struct pcap *pcap = trace->state;
	int ret = 0;

	if (pcap->capture.next < pcap->end)
		ret = capture_next_block(&pcap->capture, block);
	if (ret == -EILSEQ) {
		end_capture_at_damage(trace);
		return 0;
	}
	return ret < 0 ? io_fail_file(trace->io, trace->path, ret) : ret;
}

static bool is_block_usable(const struct capture_block *block)
{
	return block->kind == CAPTURE_PACKET && block->has_time &&
	       frame_is_link_known(block->interface->link);
}

/* Read the link header of a packet, without its own headers. */
static void read_packet_link(const struct pcap *pcap, const struct capture_block *block,
			     struct captured_packet *seen)
{
	const struct captured_frame frame = { block->data, block->captured, block->original };

	seen->interface = block->interface_id;
	seen->tick_ns = capture_get_tick_ns(block->interface);
	/* A time that does not fit into 64 bits counts as too large. */
	if (!capture_convert_ticks(block->interface, block->ticks, &seen->time_ns))
		seen->time_ns = INT64_MAX;
	seen->result = frame_read_link(&frame, block->interface->link, pcap->capture.swapped,
				       &seen->link);
	if (block->dir != CAPTURE_UNKNOWN)
		seen->link.mark = block->dir == CAPTURE_OUT ? FRAME_OUT : FRAME_IN;
	else if (seen->link.mark == FRAME_UNMARKED)
		seen->link.mark = pcap->way;
}

/* Read the packet's own headers after its link header. */
static void read_packet_headers(const struct capture_block *block, struct captured_packet *seen)
{
	const struct captured_frame frame = { block->data, block->captured, block->original };

	if (seen->result == FRAME_PACKET)
		seen->result = frame_read_packet(&frame, &seen->link, &seen->pkt);
}

int pcap_next_packet(struct trace *trace, struct captured_packet *seen)
{
	const struct pcap *pcap = trace->state;
	struct capture_block block;
	int ret;

	do {
		ret = read_next_pcap_block(trace, &block);
		if (ret <= 0)
			return ret;
	} while (!is_block_usable(&block));
	read_packet_link(pcap, &block, seen);
	read_packet_headers(&block, seen);
	return 1;
}

/* ---- contents of a file -------------------------------------------------- */

static int find_option_address(struct pcap *pcap, const struct capture_option *option)
{
	struct address address = { .is_mac = false };

	if (option->code == OPTION_IF_IPV4 && option->len == 8) {
		address_copy(address.bytes, option->value, 4);
	} else if (option->code == OPTION_IF_IPV6 && option->len == 17) {
		memcpy(address.bytes, option->value, 16);
	} else if (option->code == OPTION_IF_MAC && option->len == MAC_SIZE) {
		address.is_mac = true;
		memcpy(address.bytes, option->value, MAC_SIZE);
	} else {
		return 0;
	}
	return own_addresses_add(&pcap->found, &address);
}

static int find_interface_addresses(struct pcap *pcap, const struct capture_block *block)
{
	struct capture_option option;
	size_t at = block->options;
	int ret = 0;

	while (!ret && capture_next_option(&pcap->capture, block, &at, &option))
		ret = find_option_address(pcap, &option);
	return ret;
}

/* Read the whole file: count usable packets and others, and find the time span and addresses. */
static int scan_capture(struct trace *trace, uint64_t *usable, uint64_t *others)
{
	struct pcap *pcap = trace->state;
	struct capture_block block;
	struct captured_packet seen;
	int ret;

	while ((ret = read_next_pcap_block(trace, &block)) > 0) {
		if (block.kind == CAPTURE_INTERFACE && find_interface_addresses(pcap, &block))
			return io_fail_no_memory(trace->io);
		if (block.kind != CAPTURE_PACKET)
			continue;
		*others += !is_block_usable(&block);
		if (!is_block_usable(&block))
			continue;
		++*usable;
		read_packet_link(pcap, &block, &seen);
		/* After damage, other bytes may look like a packet, but rarely like IP. */
		if (seen.result != FRAME_PACKET)
			continue;
		if (seen.time_ns != INT64_MAX)
			range_extend(&trace->range, seen.time_ns, seen.time_ns);
		pcap->unmarked += seen.link.mark == FRAME_UNMARKED;
		traits_add(&pcap->traits, block.interface->link,
			   &(struct captured_frame){ block.data, block.captured, block.original },
			   &seen.link);
	}
	if (pcap->end == UINT64_MAX)
		pcap->end = pcap->capture.next;
	return ret;
}

/* Create the reader's state. Return 0, or a negative value after io_fail(). */
static int create_pcap_state(struct trace *trace)
{
	struct pcap *pcap = calloc(1, sizeof(*pcap));

	if (!pcap)
		return io_fail_no_memory(trace->io);
	trace->state = pcap;
	trace->range.hi = -1;
	if (file_name_parse(&pcap->name, trace->path, trace->real_path))
		return io_fail_no_memory(trace->io);
	trace->host_name = strdup(pcap->name.dated);
	trace->clock_name = strdup(CLOCK_NAME);
	trace->has_wall = true;
	trace->has_network = true;
	pcap->end = UINT64_MAX;
	return trace->host_name && trace->clock_name ? 0 : io_fail_no_memory(trace->io);
}

static int pcap_open(struct trace *trace)
{
	uint64_t usable = 0, others = 0;
	int ret = create_pcap_state(trace);

	if (ret < 0)
		return ret;
	ret = pcap_open_capture(trace);
	if (!ret)
		ret = scan_capture(trace, &usable, &others);
	pcap_close_capture(trace->state);
	if (ret < 0)
		return ret;
	if (others)
		io_warn(trace->io,
			"%s: %llu packets were not used, because they have no time or an unsupported link type.",
			trace->path, (unsigned long long)others);
	if (!usable && trace->info.stuck)
		return io_fail_file(trace->io, trace->path, -ETIMEDOUT);
	if (!usable && !others)
		io_warn(trace->io, "%s: the capture contains no packets and was skipped.",
			trace->path);
	return usable > 0;
}

/* ---- reading ------------------------------------------------------------- */

static int push_captured_packet(struct trace *trace, struct captured_packet *seen)
{
	struct pcap *pcap = trace->state;
	const struct observation_point at = {
		.device = (uint64_t)(seen->interface % MAX_INTERFACES) << 32 |
			  seen->link.device % MAX_DEVICES,
	};
	enum direction direction;

	if (!range_contains(&trace->window, seen->time_ns))
		return 0;
	pcap->cut += seen->result == FRAME_CUT;
	if (seen->result != FRAME_PACKET)
		return 0;
	/* Without a window, the span is that of the file. */
	if (!range_is_all(&trace->window) && io_add_span(trace, seen->time_ns, seen->time_ns))
		return -ENOMEM;
	direction = direction_find(pcap->own, &seen->link, &seen->pkt);
	pcap->without_direction += direction == DIRECTION_UNKNOWN;
	if (direction != DIRECTION_IN && direction != DIRECTION_OUT)
		return 0;
	seen->pkt.dir = direction == DIRECTION_OUT ? NETSYNC_OUT : NETSYNC_IN;
	/*
	 * Choose a guaranteed bound: a packet was sent after its tick began, or received before
	 * its tick ended.
	 */
	if (direction == DIRECTION_OUT ||
	    __builtin_add_overflow(seen->time_ns, seen->tick_ns - 1, &seen->pkt.time_ns))
		seen->pkt.time_ns = seen->time_ns;
	return io_add_packet(trace, &seen->pkt, &at);
}

static void warn_of_unused_packets(struct trace *trace)
{
	const struct pcap *pcap = trace->state;

	trace->unused = pcap->cut + pcap->without_direction;
	if (pcap->cut)
		io_warn(trace->io,
			"%s: %llu packets were truncated too early to be used; capture at least 128 bytes of each packet (tcpdump -s 128).",
			trace->path, (unsigned long long)pcap->cut);
	if (pcap->without_direction)
		io_warn(trace->io,
			"%s: %llu packets were not used: neither their source nor their destination is a known address of %s; specify all of its addresses (--address %s=ADDRESS).",
			trace->path, (unsigned long long)pcap->without_direction, trace->host_name,
			trace->host_name);
}

static int begin_capture_reading(struct trace *trace)
{
	struct pcap *pcap = trace->state;
	int ret = pcap_open_capture(trace);

	if (!ret && !pcap->has_begun && range_is_all(&trace->window) &&
	    trace->range.lo <= trace->range.hi)
		ret = io_add_span(trace, trace->range.lo, trace->range.hi);
	pcap->has_begun = true;
	return ret;
}

/*
 * Return the time up to which a capture must be read so that all packets before @until_ns were
 * seen.
 */
static int64_t add_disorder_slack(int64_t until_ns)
{
	return until_ns < INT64_MAX - PCAP_DISORDER ? until_ns + PCAP_DISORDER : until_ns;
}

static bool pcap_is_idle(const struct trace *trace, int64_t until_ns)
{
	return trace->range.lo > add_disorder_slack(until_ns);
}

static int pcap_read(struct trace *trace, int64_t until_ns)
{
	struct pcap *pcap = trace->state;
	const bool is_last = until_ns == trace->window.hi;
	struct captured_packet seen;
	int ret = 0;

	until_ns = add_disorder_slack(until_ns);
	if (!pcap->is_open)
		ret = begin_capture_reading(trace);
	while (!ret && (ret = pcap_next_packet(trace, &seen)) > 0) {
		ret = push_captured_packet(trace, &seen);
		if (!ret && seen.time_ns > until_ns && seen.time_ns != INT64_MAX) {
			if (!is_last)
				return 1;
			break;
		}
	}
	pcap_close_capture(pcap);
	if (!ret)
		warn_of_unused_packets(trace);
	return ret;
}

/* ---- captures that grow -------------------------------------------------- */

int pcap_begin_growing(struct trace *trace)
{
	trace->reader = &pcap_reader;
	return create_pcap_state(trace);
}

uint64_t pcap_get_read_size(const struct trace *trace)
{
	return ((const struct pcap *)trace->state)->capture.next;
}

bool pcap_is_head(const uint8_t *head, size_t len)
{
	return capture_has_magic(head, len);
}

const char *pcap_explain_unused(const struct trace *trace)
{
	const struct pcap *pcap = trace->state;

	if (pcap->without_direction)
		return "neither their source nor their destination is a known address of the host; specify all of its addresses with --address NAME=ADDRESS";
	return pcap->cut ?
		       "they were truncated too early; capture at least 128 bytes of each packet (tcpdump -s 128)" :
		       NULL;
}

/* Open the file again where reading ended. */
static int resume_growing_file(struct trace *trace, struct disk_file *from)
{
	struct pcap *pcap = trace->state;
	int ret;

	if (pcap->has_begun)
		ret = capture_resume(&pcap->capture, from);
	else
		ret = capture_open(&pcap->capture, from, UINT64_MAX);
	pcap->has_begun = true;
	pcap->capture.grows = true;
	if (ret < 0)
		return io_fail_file(trace->io, trace->path, ret);
	if (pcap->capture.file.compression)
		return io_fail(trace->io, -EPROTONOSUPPORT,
			       "%s: it is compressed; only uncompressed captures can be followed.",
			       trace->path);
	return 0;
}

static int keep_interface_addresses(struct trace *trace, const struct capture_block *block)
{
	struct pcap *pcap = trace->state;
	int ret;

	if (find_interface_addresses(pcap, block))
		return io_fail_no_memory(trace->io);
	ret = pcap_keep_addresses(trace->io, trace->host_name, &pcap->found);
	pcap->own = own_addresses_find(trace->io->owns, trace->host_name);
	return ret;
}

/*
 * Use the next block. Return an enum growth, where GROWTH_READ means to continue, or a negative
 * value after io_fail(). If @block cannot be used yet, the next call reads it again.
 */
static int use_growing_block(struct trace *trace, const struct capture_block *block,
			     int64_t until_ns, struct range *span)
{
	struct pcap *pcap = trace->state;
	struct captured_packet seen;
	bool is_ip;
	int ret;

	if (block->kind == CAPTURE_INTERFACE)
		return keep_interface_addresses(trace, block);
	if (!is_block_usable(block))
		return GROWTH_READ;
	read_packet_link(pcap, block, &seen);
	is_ip = seen.result == FRAME_PACKET && seen.time_ns != INT64_MAX;
	if (!trace->host && !is_ip)
		return GROWTH_READ;
	if (!trace->host) {
		range_extend(&trace->range, seen.time_ns, seen.time_ns);
		pcap->capture.next = block->at;
		return GROWTH_FIRST;
	}
	if (is_ip && seen.link.mark == FRAME_UNMARKED && !pcap->own) {
		pcap->capture.next = block->at;
		return GROWTH_UNDIRECTED;
	}
	if (is_ip)
		range_extend(span, seen.time_ns, seen.time_ns);
	read_packet_headers(block, &seen);
	ret = push_captured_packet(trace, &seen);
	if (ret < 0)
		return ret;
	return is_ip && seen.time_ns > until_ns ? GROWTH_LATER : GROWTH_READ;
}

int pcap_read_growing(struct trace *trace, struct disk_file *from, int64_t until_ns)
{
	struct pcap *pcap = trace->state;
	struct range span = { .hi = -1 };
	struct capture_block block;
	int ret = resume_growing_file(trace, from), growth = GROWTH_READ;

	/* Addresses may have been added, and the array of hosts moved, since the last call. */
	pcap->own = own_addresses_find(trace->io->owns, trace->host_name);
	while (!ret && growth == GROWTH_READ && (ret = read_next_pcap_block(trace, &block)) > 0) {
		growth = use_growing_block(trace, &block, until_ns, &span);
		ret = growth < 0 ? growth : 0;
	}
	capture_suspend(&pcap->capture);
	if (!ret && span.lo <= span.hi) {
		range_extend(&trace->range, span.lo, span.hi);
		ret = io_add_span(trace, span.lo, span.hi);
	}
	return ret < 0 ? ret : growth;
}

static void pcap_close(struct trace *trace)
{
	struct pcap *pcap = trace->state;

	if (!pcap)
		return;
	pcap_close_capture(pcap);
	free(pcap->capture.interfaces);
	file_name_release(&pcap->name);
	free(pcap->found.address);
	free(pcap->samples.of);
	free(pcap->inside.of);
	free(pcap->directed.of);
	free(pcap);
}

const struct trace_reader pcap_reader = {
	.format = "pcap",
	.to_record = "capture while the host exchanges packets with the other hosts",
	.claims = is_pcap_file,
	.takes_compressed = true,
	.open = pcap_open,
	.group = pcap_group_captures,
	.prepare = pcap_prepare,
	.is_idle = pcap_is_idle,
	.read = pcap_read,
	.close = pcap_close,
};
