/* SPDX-License-Identifier: GPL-2.0-only */
/* Converts the frames of any source to blocks of a capture. */
#ifndef NETSYNC_RECORDER_FRAMES_H
#define NETSYNC_RECORDER_FRAMES_H

#include "pcapng.h"
#include "source.h"

/*
 * Maximum number of devices with a number of their own. Frames of further devices are not recorded,
 * but their number is reported.
 */
#define MOST_DEVICES 4096

/* A device that has sent or received frames. */
struct recorded_device {
	int index;
	uint32_t netns;
	uint64_t serial;
	uint32_t number; /* number of the interface in the capture */
	uint16_t linktype;
};

/*
 * State of the conversion, which is initially all zero, except the source, the writer's
 * descriptor, and the number of payload bytes.
 */
struct frame_recorder {
	const struct packet_source *source;
	struct capture_writer writer;
	size_t payload;
	struct recorded_device device[MOST_DEVICES];
	size_t num_devices;
	uint64_t recorded;   /* number of frames in the capture */
	uint64_t unrecorded; /* number of frames of devices without a number */
};

/* Return the pcapng flags of a frame. @type is its packet type, such as PACKET_HOST. */
uint32_t frame_get_flags(unsigned int type);

/* Record the headers of a frame. @data points to the struct frame_recorder. */
void frame_record_seen(void *data, const struct seen_frame *frame);

#endif
