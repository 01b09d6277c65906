// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file in Perfetto's own format -> the difference between two clocks of its machine, by the first
 * packet that relates them. Perfetto writes such a packet at the beginning, and repeats it.
 */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "protobuf.h"

/* Maximum size of a packet, and of packets that are compressed together, in bytes. Chosen. */
#define MAX_PACKET (16 << 20)
/* Key of the field Trace.packet. */
#define PACKET_KEY 0x0a
/* Number of bits of a number in the wire format that fit into a size. */
#define MAX_SHIFT 28

typedef Perfetto__Protos__Trace Trace;
typedef Perfetto__Protos__ClockSnapshot ClockSnapshot;

static bool has_clock_difference(const ClockSnapshot *snapshot, int64_t *suspended_ns)
{
	uint64_t boot = 0, mono = 0;

	for (size_t i = 0; i < snapshot->n_clocks; i++) {
		if (snapshot->clocks[i]->clock_id == TIMELINE_BOOTTIME)
			boot = snapshot->clocks[i]->timestamp;
		else if (snapshot->clocks[i]->clock_id == TIMELINE_MONOTONIC)
			mono = snapshot->clocks[i]->timestamp;
	}
	if (!boot || !mono || boot < mono || boot > INT64_MAX)
		return false;
	*suspended_ns = (int64_t)(boot - mono);
	return true;
}

static int find_in_packet(const TracePacket *packet, int64_t *suspended_ns);

/* Search packets that are compressed together. */
static int find_in_compressed(const ProtobufCBinaryData *from, int64_t *suspended_ns)
{
	uint8_t *bytes = malloc(MAX_PACKET);
	uLongf size = MAX_PACKET;
	Trace *trace = NULL;
	int ret = -ENODATA;

	if (!bytes)
		return -ENOMEM;
	if (uncompress(bytes, &size, from->data, from->len) == Z_OK)
		trace = perfetto__protos__trace__unpack(NULL, size, bytes);
	free(bytes);
	if (!trace)
		return -EILSEQ;
	for (size_t i = 0; i < trace->n_packet && ret == -ENODATA; i++)
		if (trace->packet[i]->data_case !=
		    PERFETTO__PROTOS__TRACE_PACKET__DATA_COMPRESSED_PACKETS)
			ret = find_in_packet(trace->packet[i], suspended_ns);
	perfetto__protos__trace__free_unpacked(trace, NULL);
	return ret;
}

static int find_in_packet(const TracePacket *packet, int64_t *suspended_ns)
{
	/* Packets of other machines are about other clocks. */
	if (packet->machine_id)
		return -ENODATA;
	if (packet->data_case == PERFETTO__PROTOS__TRACE_PACKET__DATA_COMPRESSED_PACKETS)
		return find_in_compressed(&packet->compressed_packets, suspended_ns);
	if (packet->data_case == PERFETTO__PROTOS__TRACE_PACKET__DATA_CLOCK_SNAPSHOT &&
	    has_clock_difference(packet->clock_snapshot, suspended_ns))
		return 0;
	return -ENODATA;
}

/* Read the size of the next packet. Return 1; 0 at the end of the file; or -EILSEQ. */
static int read_packet_size(FILE *file, size_t *size)
{
	int c = getc(file);

	if (c == EOF)
		return 0;
	if (c != PACKET_KEY)
		return -EILSEQ;
	*size = 0;
	for (unsigned int shift = 0; shift <= MAX_SHIFT; shift += 7) {
		c = getc(file);
		if (c == EOF)
			return -EILSEQ;
		*size |= (size_t)(c & 127) << shift;
		if (c < 128)
			return *size <= MAX_PACKET ? 1 : -EILSEQ;
	}
	return -EILSEQ;
}

int timeline_find_suspended(FILE *file, int64_t *suspended_ns)
{
	uint8_t *bytes = malloc(MAX_PACKET);
	int ret = bytes ? -ENODATA : -ENOMEM;
	size_t size;

	while (ret == -ENODATA) {
		const int next = read_packet_size(file, &size);
		TracePacket *packet;

		if (next <= 0) {
			ret = next ? next : -ENODATA;
			break;
		}
		if (fread(bytes, 1, size, file) != size) {
			ret = -EILSEQ;
			break;
		}
		packet = perfetto__protos__trace_packet__unpack(NULL, size, bytes);
		if (!packet)
			continue;
		ret = find_in_packet(packet, suspended_ns);
		perfetto__protos__trace_packet__free_unpacked(packet, NULL);
	}
	free(bytes);
	return ret;
}
