/* SPDX-License-Identifier: GPL-2.0-only */
/* Frames of any source -> blocks of a capture. */
#ifndef NETSYNC_RECORDER_FRAMES_H
#define NETSYNC_RECORDER_FRAMES_H

#include "pcapng.h"
#include "source.h"

/* Devices with numbers of their own; frames of more are not recorded, which is reported. */
#define MOST_DEVICES 4096

/* A device that had frames. */
struct recorded_device {
	int index;
	uint32_t netns;
	uint64_t serial;
	uint32_t number; /* in the capture */
	uint16_t linktype;
};

/*
 * Initially all zero, except the source, the writer's descriptor, and the number of payload
 * bytes.
 */
struct frame_recorder {
	const struct packet_source *source;
	struct capture_writer writer;
	size_t payload;
	struct recorded_device device[MOST_DEVICES];
	size_t num_devices;
	uint64_t unrecorded; /* frames of devices without a number */
};

/* The flags of a received frame. @type: PACKET_HOST... */
uint32_t frame_get_flags(unsigned int type);

/* Record the headers of a frame. @data is the struct frame_recorder. */
void frame_record_seen(void *data, const struct seen_frame *frame);

#endif
