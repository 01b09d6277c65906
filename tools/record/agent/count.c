// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the size of directories to which LTTng records, and estimates the number of events in
 * them. LTTng does not count events, and decoding all events would take more time than recording
 * them. The index of each stream contains the sizes of its packets. One packet is decoded from
 * time to time, to determine the mean size of an event in its channel.
 */
#include <endian.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "common/folders.h"
#include "common/now.h"
#include "packet.h"

/* The index of FOLDER/STREAM is the file FOLDER/index/STREAM.idx, which is big-endian. */
#define INDEX "/index/"
#define SUFFIX ".idx"
#define INDEX_MAGIC 0xc1f1dcc1

struct index_header {
	uint32_t magic, major, minor;
	uint32_t entry_size;
};

struct index_entry {
	uint64_t offset;
	uint64_t packet_bits;
	uint64_t content_bits;
	uint64_t others[61]; /* unused, and reserved for later members */
};

#define MIN_ENTRY offsetof(struct index_entry, others)

/*
 * Size of a packet's data that are not events, bytes. LTTng 2.13 writes a header of 32 bytes and
 * a context of 52 bytes.
 */
#define PACKET_HEADER 84
/*
 * Maximum size of a packet that is decoded, bytes. Chosen; packets in channels created by
 * netsync are smaller.
 */
#define MAX_PACKET (16 << 20)
/* Share of a processor that decoding may take: a 50th. Chosen. */
#define PART 50

struct channel {
	struct channel *next;
	char *path;		      /* path of its streams, without the number */
	uint64_t bytes;		      /* size of the events in all packets so far, bytes */
	struct stream_packet fullest; /* the fullest packet since the last decoding */
	uint64_t fullest_bytes; /* size of the events in that packet, bytes; 0 if there is none */
	int64_t tried_ns;	/* time of the last decoding; 0 if there was none */
	double event_bytes;	/* mean size of an event in that packet, bytes; 0 if unknown */
	/* Each mean applies to packets since the last decoding. */
	uint64_t counted_bytes;
	double counted; /* estimated events in these packets */
};

struct counted_stream {
	struct counted_stream *next;
	char *path;
	struct channel *channel;
	off_t read; /* number of bytes of its index that were read */
};

static struct channel *channels;
static struct counted_stream *streams;

/* The channel whose packet is being decoded, or NULL. */
static struct channel *sampled;
static uint64_t sampled_bytes; /* size of the events in that packet, bytes */
static int64_t next_ns;	       /* earliest time of the next decoding */

/* ---- indexes ----------------------------------------------------------- */

static struct channel *find_stream_channel(const char *stream)
{
	const char *number = strrchr(stream, '_');
	const size_t len = number ? (size_t)(number - stream) : strlen(stream);
	struct channel *channel;

	for (channel = channels; channel; channel = channel->next)
		if (!strncmp(channel->path, stream, len) && !channel->path[len])
			return channel;
	channel = calloc(1, sizeof(*channel));
	if (!channel)
		return NULL;
	channel->path = strndup(stream, len);
	if (!channel->path) {
		free(channel);
		return NULL;
	}
	channel->next = channels;
	channels = channel;
	return channel;
}

/* Find or add a stream. Take ownership of @path. */
static struct counted_stream *find_or_add_stream(char *path)
{
	struct channel *channel;
	struct counted_stream *stream;

	for (stream = streams; stream; stream = stream->next)
		if (!strcmp(stream->path, path))
			break;
	channel = stream ? NULL : find_stream_channel(path);
	if (channel)
		stream = calloc(1, sizeof(*stream));
	if (!channel || !stream) {
		free(path);
		return stream;
	}
	*stream = (struct counted_stream){ streams, path, channel, 0 };
	streams = stream;
	return stream;
}

static void add_index_packet(const struct counted_stream *stream, const struct index_entry *entry)
{
	const struct stream_packet packet = {
		.stream = stream->path,
		.offset = be64toh(entry->offset),
		.size = be64toh(entry->packet_bits) / 8,
	};
	uint64_t bytes = be64toh(entry->content_bits) / 8;
	struct channel *channel = stream->channel;

	if (packet.size > UINT32_MAX || bytes > packet.size || bytes <= PACKET_HEADER)
		return;
	bytes -= PACKET_HEADER;
	channel->bytes += bytes;
	if (packet.size <= MAX_PACKET && bytes > channel->fullest_bytes) {
		channel->fullest = packet;
		channel->fullest_bytes = bytes;
	}
}

/* Read the entries that were appended to an index. */
static void read_stream_index(struct counted_stream *stream, const char *path)
{
	struct index_entry entry;
	struct index_header header;
	FILE *file = fopen(path, "re");
	size_t size;

	if (!file)
		return;
	if (fread(&header, sizeof(header), 1, file) == 1 && be32toh(header.magic) == INDEX_MAGIC) {
		size = be32toh(header.entry_size);
		if (!stream->read)
			stream->read = sizeof(header);
		if (size >= MIN_ENTRY && size <= sizeof(entry) &&
		    !fseeko(file, stream->read, SEEK_SET))
			while (fread(&entry, size, 1, file) == 1) {
				add_index_packet(stream, &entry);
				stream->read += size;
			}
	}
	fclose(file);
}

/* ---- folders ----------------------------------------------------------- */

/* Result of count_stream_file(), because nftw() has no argument for it. */
static struct recorded *sum;

static int count_stream_file(const char *path, const struct stat *info, int type, struct FTW *place)
{
	const char *name = path + place->base;
	const int above = place->base - (int)strlen(INDEX);
	const int len = (int)strlen(name) - (int)strlen(SUFFIX);
	struct counted_stream *stream;
	char *data;

	if (type == FTW_F || type == FTW_D)
		sum->room += measure_disk_use(info);
	if (type != FTW_F)
		return 0;
	sum->bytes += info->st_size;
	if (above < 0 || strncmp(path + above, INDEX, strlen(INDEX)) || len <= 0 ||
	    strcmp(name + len, SUFFIX) || asprintf(&data, "%.*s/%.*s", above, path, len, name) < 0)
		return 0;
	stream = find_or_add_stream(data);
	if (stream && stream->read < info->st_size)
		read_stream_index(stream, path);
	return 0;
}

static bool is_path_below(const char *path, const char *folder)
{
	const size_t len = strlen(folder);

	return !strncmp(path, folder, len) && path[len] == '/';
}

static void add_estimated_events(struct recorded *recorded, const struct channel *c)
{
	if (c->event_bytes)
		recorded->events += c->counted + (c->bytes - c->counted_bytes) / c->event_bytes;
	else
		recorded->is_unclear = true;
}

void count_recorded_folder(struct recorded *recorded, const char *path)
{
	sum = recorded;
	nftw(path, count_stream_file, 16, FTW_PHYS);
	for (const struct channel *c = channels; c; c = c->next)
		if (c->bytes && is_path_below(c->path, path))
			add_estimated_events(recorded, c);
}

void count_recorded_channel(struct recorded *recorded, const char *path, const char *name)
{
	for (const struct channel *c = channels; c; c = c->next) {
		if (!c->bytes || !is_path_below(c->path, path) ||
		    strcmp(strrchr(c->path, '/') + 1, name))
			continue;
		recorded->bytes += c->bytes;
		add_estimated_events(recorded, c);
	}
}

/* ---- samples ----------------------------------------------------------- */

/* Return the channel whose last decoding is the oldest. */
static struct channel *choose_next_channel(void)
{
	struct channel *next = NULL;

	for (struct channel *c = channels; c; c = c->next)
		if (c->fullest_bytes && (!next || c->tried_ns < next->tried_ns))
			next = c;
	return next;
}

static void sample_fullest_packet(struct channel *channel)
{
	if (packet_start_decoding(&channel->fullest)) {
		sampled = channel;
		sampled_bytes = channel->fullest_bytes;
	}
	channel->tried_ns = now_ns();
	channel->fullest_bytes = 0;
}

static void use_decoded_sample(const struct decoded *decoded, int64_t period_ns)
{
	const int64_t wait_ns = PART * decoded->cpu_ns;
	struct channel *c = sampled;

	next_ns = now_ns() + (wait_ns > period_ns ? wait_ns : period_ns);
	sampled = NULL;
	/* Each event takes at least a byte. */
	if (!decoded->events || decoded->events > sampled_bytes)
		return;
	c->event_bytes = (double)sampled_bytes / decoded->events;
	c->counted += (c->bytes - c->counted_bytes) / c->event_bytes;
	c->counted_bytes = c->bytes;
}

void count_sample(int64_t period_ns)
{
	struct channel *channel;
	struct decoded decoded;

	if (sampled) {
		if (!packet_get_decoded(&decoded))
			return;
		use_decoded_sample(&decoded, period_ns);
	}
	channel = now_ns() < next_ns ? NULL : choose_next_channel();
	if (channel)
		sample_fullest_packet(channel);
}

void count_end(void)
{
	packet_stop_decoding();
	sampled = NULL;
	while (streams) {
		struct counted_stream *stream = streams;

		streams = stream->next;
		free(stream->path);
		free(stream);
	}
	while (channels) {
		struct channel *channel = channels;

		channels = channel->next;
		free(channel->path);
		free(channel);
	}
}
