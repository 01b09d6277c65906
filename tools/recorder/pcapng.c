// SPDX-License-Identifier: GPL-2.0-only
/* Writes frames as pcapng blocks to a file, a pipe or a connection. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "pcapng.h"

enum block_type {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_STATISTICS = 5,
	BLOCK_PACKET = 6,
};

enum block_option {
	OPTION_END = 0,
	OPTION_COMMENT = 1,
	OPTION_PACKET_FLAGS = 2,
	OPTION_SECTION_OS = 3,
	OPTION_SECTION_PROGRAM = 4,
	OPTION_INTERFACE_NAME = 2,
	OPTION_INTERFACE_DESCRIPTION = 3,
	OPTION_INTERFACE_MAC = 6,
	OPTION_INTERFACE_RESOLUTION = 9,
	OPTION_STATISTICS_RECEIVED = 4,
	OPTION_STATISTICS_DROPPED = 7,
};

#define BYTE_ORDER_MAGIC 0x1a2b3c4du
/* Length of a section whose length is not known. */
#define UNKNOWN_LENGTH UINT64_MAX
/* Exponent of the time unit, which is 10^-9 s. */
#define NANOSECONDS 9
/*
 * Maximum size of a text, which is truncated, and maximum size of a block other than a packet
 * block, bytes. Chosen.
 */
#define LONGEST_TEXT 256
#define LONGEST_BLOCK 1024

bool capture_flush(struct capture_writer *w)
{
	size_t done = 0;

	while (!w->error && done < w->used) {
		const ssize_t ret = write(w->fd, w->buffer + done, w->used - done);

		if (ret >= 0)
			done += (size_t)ret;
		else if (errno != EINTR)
			w->error = errno;
	}
	w->used = 0;
	return !w->error;
}

/* ---- blocks ------------------------------------------------------------------ */

static void put_block_bytes(struct capture_writer *w, const void *bytes, size_t len)
{
	if (len)
		memcpy(w->buffer + w->used, bytes, len);
	w->used += len;
}

static void put_block_number(struct capture_writer *w, uint32_t value)
{
	put_block_bytes(w, &value, sizeof(value));
}

/* Pad a block to a multiple of 4 bytes. */
static void put_block_padding(struct capture_writer *w, size_t len)
{
	static const uint8_t zeros[4];

	put_block_bytes(w, zeros, -len & 3);
}

static void put_block_option(struct capture_writer *w, enum block_option code, const void *value,
			     size_t len)
{
	const uint16_t head[2] = { (uint16_t)code, (uint16_t)len };

	put_block_bytes(w, head, sizeof(head));
	put_block_bytes(w, value, len);
	put_block_padding(w, len);
}

static void put_text_option(struct capture_writer *w, enum block_option code, const char *text)
{
	put_block_option(w, code, text, strnlen(text, LONGEST_TEXT));
}

/* Begin a block of at most @len bytes. Return its beginning. */
static size_t begin_pcapng_block(struct capture_writer *w, enum block_type type, size_t len)
{
	if (len > CAPTURE_BUFFER - w->used)
		capture_flush(w);
	put_block_number(w, type);
	put_block_number(w, 0);
	return w->used - 2 * sizeof(uint32_t);
}

static void end_pcapng_block(struct capture_writer *w, size_t begin)
{
	const uint32_t len = (uint32_t)(w->used - begin + sizeof(uint32_t));

	put_block_number(w, len);
	memcpy(w->buffer + begin + sizeof(uint32_t), &len, sizeof(len));
}

static void end_pcapng_options(struct capture_writer *w)
{
	put_block_option(w, OPTION_END, NULL, 0);
}

/* Put a time with the higher word first, in either byte order. */
static void put_block_time(struct capture_writer *w, uint64_t time_ns)
{
	put_block_number(w, (uint32_t)(time_ns >> 32));
	put_block_number(w, (uint32_t)time_ns);
}

/* ---- what a capture consists of ---------------------------------------------- */

void capture_begin(struct capture_writer *w, const char *program, const char *system,
		   const char *host)
{
	const size_t begin = begin_pcapng_block(w, BLOCK_SECTION, LONGEST_BLOCK);
	const uint16_t version[2] = { 1, 0 };
	const uint64_t length = UNKNOWN_LENGTH;

	put_block_number(w, BYTE_ORDER_MAGIC);
	put_block_bytes(w, version, sizeof(version));
	put_block_bytes(w, &length, sizeof(length));
	put_text_option(w, OPTION_SECTION_OS, system);
	put_text_option(w, OPTION_SECTION_PROGRAM, program);
	put_text_option(w, OPTION_COMMENT, host);
	end_pcapng_options(w);
	end_pcapng_block(w, begin);
}

uint32_t capture_put_interface(struct capture_writer *w, const char *name, const char *place,
			       uint16_t linktype, const uint8_t *mac)
{
	const size_t begin = begin_pcapng_block(w, BLOCK_INTERFACE, LONGEST_BLOCK);
	const uint16_t type[2] = { linktype, 0 };
	const uint8_t resolution = NANOSECONDS;

	put_block_bytes(w, type, sizeof(type));
	put_block_number(w, 0);
	put_text_option(w, OPTION_INTERFACE_NAME, name);
	put_text_option(w, OPTION_INTERFACE_DESCRIPTION, place);
	if (mac)
		put_block_option(w, OPTION_INTERFACE_MAC, mac, 6);
	put_block_option(w, OPTION_INTERFACE_RESOLUTION, &resolution, 1);
	end_pcapng_options(w);
	end_pcapng_block(w, begin);
	return w->num_interfaces++;
}

void capture_put_frame(struct capture_writer *w, const struct recorded_frame *frame)
{
	const size_t begin = begin_pcapng_block(w, BLOCK_PACKET, LONGEST_BLOCK + frame->kept);

	put_block_number(w, frame->interface);
	put_block_time(w, frame->time_ns);
	put_block_number(w, frame->kept);
	put_block_number(w, frame->original);
	put_block_bytes(w, frame->head, frame->split);
	put_block_bytes(w, frame->tail, frame->kept - frame->split);
	put_block_padding(w, frame->kept);
	put_block_option(w, OPTION_PACKET_FLAGS, &frame->flags, sizeof(frame->flags));
	end_pcapng_options(w);
	end_pcapng_block(w, begin);
}

void capture_put_counts(struct capture_writer *w, uint64_t time_ns, uint64_t received,
			uint64_t dropped)
{
	size_t begin;

	if (!w->num_interfaces)
		return;
	begin = begin_pcapng_block(w, BLOCK_STATISTICS, LONGEST_BLOCK);
	put_block_number(w, 0);
	put_block_time(w, time_ns);
	put_block_option(w, OPTION_STATISTICS_RECEIVED, &received, sizeof(received));
	put_block_option(w, OPTION_STATISTICS_DROPPED, &dropped, sizeof(dropped));
	end_pcapng_options(w);
	end_pcapng_block(w, begin);
}
