// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Report a capture's packets with their frame numbers in Wireshark, so that the frames of messages
 * can be found.
 */
#include <errno.h>
#include <string.h>

#include "io/io.h"
#include "io/packet/frame.h"
#include "io/pcap/capture.h"

struct frame_reading {
	struct capture_file capture;
	uint64_t number; /* number of the most recent frame */
	netsync_io_frame_func each;
	void *data;
};

/*
 * Read the packet in a block. If the block has no packet of a supported protocol or no time, return
 * false.
 */
static bool read_frame_packet(const struct frame_reading *reading,
			      const struct capture_block *block, struct netsync_io_frame *is,
			      struct netsync_packet *pkt)
{
	const struct captured_frame frame = { block->data, block->captured, block->original };
	struct frame_link link;

	if (block->kind != CAPTURE_PACKET || !block->has_time ||
	    !frame_is_link_known(block->interface->link) ||
	    !capture_convert_ticks(block->interface, block->ticks, &is->time_ns))
		return false;
	if (frame_read_link(&frame, block->interface->link, reading->capture.swapped, &link) !=
		    FRAME_PACKET ||
	    frame_read_packet(&frame, &link, pkt) != FRAME_PACKET)
		return false;
	is->tick_ns = capture_get_tick_ns(block->interface);
	pkt->size = sizeof(*pkt);
	pkt->time_ns = is->time_ns;
	return true;
}

/* Report the frame in a packet block. Return 0, or -ECANCELED if each() has requested to stop. */
static int report_block_frame(struct frame_reading *reading, const struct capture_block *block)
{
	struct netsync_packet pkt = { 0 };
	struct netsync_io_frame frame = { .size = sizeof(frame), .packet = &pkt };

	if (block->kind != CAPTURE_PACKET && block->kind != CAPTURE_RECORD)
		return 0;
	frame.number = ++reading->number;
	if (read_frame_packet(reading, block, &frame, &pkt) && reading->each(reading->data, &frame))
		return -ECANCELED;
	return 0;
}

/*
 * Read all frames. Return 0 or a negative value. If the rest is damaged, return 0 as well:
 * netsync_io_read() prints a warning about the damage.
 */
static int read_capture_frames(struct frame_reading *reading)
{
	struct capture_block block;
	int ret;

	while ((ret = capture_next_block(&reading->capture, &block)) > 0) {
		ret = report_block_frame(reading, &block);
		if (ret)
			return ret;
	}
	if (ret != -EILSEQ)
		return ret;
	return reading->capture.next ? 0 : -EPROTONOSUPPORT;
}

int netsync_io_read_frames(struct netsync_io *io, const char *path, netsync_io_frame_func each,
			   void *data)
{
	struct frame_reading reading = { .each = each, .data = data };
	struct disk_file *from;
	int ret;

	io_forget_error(io);
	from = io_open_file(io, path);
	if (!from)
		return io_fail_file(io, path, -errno);
	ret = capture_open(&reading.capture, from, UINT64_MAX);
	if (!ret)
		ret = read_capture_frames(&reading);
	capture_close(&reading.capture);
	if (ret == -ECANCELED)
		return io_fail(io, ret, "Reading was stopped.");
	if (ret == -EPROTONOSUPPORT)
		return io_fail(io, ret, "%s: the file is neither pcap nor pcapng.", path);
	return ret ? io_fail_file(io, path, ret) : 0;
}
