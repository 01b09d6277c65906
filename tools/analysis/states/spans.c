// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write spans to a file of records, and read them. Each record has a header with its kind and size,
 * followed by the structure as it is in memory, because the same program reads the file. Before a
 * span refers to the number of a text, a record has defined the text.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../libnetsync/util/array.h"
#include "../../../libnetsync/util/hash.h"
#include "../../../libnetsync/util/scratch.h"
#include "../../../libnetsync/util/utf8.h"
#include "common/complain.h"
#include "spans.h"

enum record_kind { RECORD_TEXT, RECORD_SPAN, RECORD_MISSING, RECORD_COUNTS, RECORD_LOSSES };

struct record_head {
	uint32_t kind;
	uint32_t size; /* size of the data after the header, in bytes */
};

struct record_counts {
	uint32_t definition;
	struct span_counts counts;
};

/* ---- writing ------------------------------------------------------------ */

struct text_slot {
	const char *text; /* NULL if the slot is free */
	uint64_t hash;
	uint32_t number;
};

struct span_writer {
	FILE *out;
	struct text_slot *slots;
	size_t room; /* a power of two, more than twice the number of texts */
	uint32_t num;
};

static uint64_t hash_span_text(const char *text)
{
	uint64_t hash = 1;

	while (*text)
		hash = hash_slot(hash + (unsigned char)*text++);
	return hash;
}

/* Errors are not checked here, because ferror() reports them later. */
static void put_span_record(struct span_writer *writer, enum record_kind kind, const void *data,
			    size_t size)
{
	const struct record_head head = { kind, size };

	fwrite(&head, sizeof(head), 1, writer->out);
	fwrite(data, 1, size, writer->out);
}

struct span_writer *span_writer_new(FILE *out)
{
	struct span_writer *writer = calloc(1, sizeof(*writer));

	if (writer)
		writer->out = out;
	return writer;
}

static struct text_slot *find_text_slot(struct text_slot *slots, size_t room, const char *text,
					uint64_t hash)
{
	size_t at = hash & (room - 1);

	while (slots[at].text && (slots[at].hash != hash || strcmp(slots[at].text, text)))
		at = (at + 1) & (room - 1);
	return &slots[at];
}

static bool grow_text_slots(struct span_writer *writer)
{
	const size_t room = writer->room ? writer->room * 2 : 64;
	struct text_slot *slots = calloc(room, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < writer->room; i++)
		if (writer->slots[i].text)
			*find_text_slot(slots, room, writer->slots[i].text,
					writer->slots[i].hash) = writer->slots[i];
	free(writer->slots);
	writer->slots = slots;
	writer->room = room;
	return true;
}

/*
 * Return the number that the output uses for a text in which no character has to be escaped.
 * Return NO_TEXT if out of memory.
 */
static uint32_t make_plain_text(struct span_writer *writer, const char *text)
{
	const uint64_t hash = hash_span_text(text);
	struct text_slot *slot;

	if (writer->num >= writer->room / 2 && !grow_text_slots(writer))
		return NO_TEXT;
	slot = find_text_slot(writer->slots, writer->room, text, hash);
	if (slot->text)
		return slot->number;
	slot->text = strdup(text);
	if (!slot->text)
		return NO_TEXT;
	slot->hash = hash;
	slot->number = writer->num++;
	put_span_record(writer, RECORD_TEXT, text, strlen(text) + 1);
	return slot->number;
}

uint32_t span_put_text(struct span_writer *writer, const char *text)
{
	char *escaped;
	uint32_t number;

	if (utf8_is_plain(text, strlen(text)))
		return make_plain_text(writer, text);
	escaped = utf8_escape(text, true);
	number = escaped ? make_plain_text(writer, escaped) : NO_TEXT;
	free(escaped);
	return number;
}

void span_put(struct span_writer *writer, const struct state_span *span)
{
	put_span_record(writer, RECORD_SPAN, span, sizeof(*span));
}

void span_put_missing(struct span_writer *writer, const struct span_missing *missing)
{
	put_span_record(writer, RECORD_MISSING, missing, sizeof(*missing));
}

void span_put_counts(struct span_writer *writer, uint32_t definition,
		     const struct span_counts *counts)
{
	const struct record_counts record = { definition, *counts };

	put_span_record(writer, RECORD_COUNTS, &record, sizeof(record));
}

void span_put_losses(struct span_writer *writer, const struct span_losses *losses)
{
	put_span_record(writer, RECORD_LOSSES, losses, sizeof(*losses));
}

/* ---- reading ------------------------------------------------------------ */

/* Number of bytes that are read at a time. Chosen. */
#define BUFFER_SIZE (1 << 16)

/* The part of the file written by a host's process. */
struct spans_part {
	off_t at, end; /* range that is still to be read */
	char *buffer;
	size_t used, num; /* used and total bytes in the buffer */
	char **texts;
	uint32_t num_texts;
	bool has_span; /* @span is the next span */
	struct state_span span;
};

struct spans {
	FILE *file;
	struct spans_part *parts;
	uint32_t num;
	const struct spans_listener *listener;
};

static bool complain_about_spans_file(void)
{
	complain("%s: cannot store states: %s. Set TMPDIR to another directory.",
		 scratch_get_folder(false), strerror(errno));
	return false;
}

struct spans *spans_new(uint32_t num_hosts)
{
	struct spans *spans = calloc(1, sizeof(*spans));
	int fd;

	if (spans)
		spans->parts = calloc(num_hosts + 1, sizeof(*spans->parts));
	if (!spans || !spans->parts) {
		spans_free(spans);
		complain_no_memory();
		return NULL;
	}
	spans->num = num_hosts;
	fd = scratch_open_file();
	spans->file = fd < 0 ? NULL : fdopen(fd, "w+");
	if (spans->file)
		return spans;
	complain_about_spans_file();
	spans_free(spans);
	return NULL;
}

void spans_free(struct spans *spans)
{
	for (uint32_t i = 0; spans && spans->parts && i < spans->num; i++) {
		struct spans_part *part = &spans->parts[i];

		while (part->num_texts)
			free(part->texts[--part->num_texts]);
		free(part->texts);
		free(part->buffer);
	}
	if (spans && spans->file)
		fclose(spans->file);
	if (spans)
		free(spans->parts);
	free(spans);
}

FILE *spans_get_file(struct spans *spans)
{
	return spans->file;
}

off_t spans_set_part(struct spans *spans, uint32_t host, off_t begin)
{
	spans->parts[host].at = begin;
	spans->parts[host].end = lseek(fileno(spans->file), 0, SEEK_END);
	return spans->parts[host].end;
}

const char *spans_get_text(const struct spans *spans, uint32_t host, uint32_t number)
{
	const struct spans_part *part = &spans->parts[host];

	return number < part->num_texts ? part->texts[number] : "";
}

/*
 * Read bytes of a host's part. If the file is too short or cannot be read, return false; errno is
 * the reason.
 */
static bool load_span_bytes(const struct spans *spans, struct spans_part *part, void *to,
			    size_t size)
{
	char *at = to;

	while (size) {
		size_t some = part->num - part->used;
		ssize_t got;

		if (!some) {
			const uint64_t left = part->end - part->at;

			got = pread(fileno(spans->file), part->buffer,
				    left < BUFFER_SIZE ? left : BUFFER_SIZE, part->at);
			if (got < 0 && errno == EINTR)
				continue;
			if (got <= 0) {
				errno = got ? errno : EIO;
				return false;
			}
			part->at += got;
			part->num = got;
			part->used = 0;
			continue;
		}
		some = some < size ? some : size;
		memcpy(at, part->buffer + part->used, some);
		part->used += some;
		at += some;
		size -= some;
	}
	return true;
}

static bool load_span_text(const struct spans *spans, struct spans_part *part, size_t size)
{
	char **last = array_add(&part->texts, part->num_texts, sizeof(*last));

	*(last ? last : &(char *){ NULL }) = NULL;
	if (!last || !(*last = malloc(size)))
		return complain_no_memory();
	part->num_texts++;
	return load_span_bytes(spans, part, *last, size) || complain_about_spans_file();
}

/* Read a host's records up to its next span. On failure, print a message and return false. */
static bool read_to_next_span(const struct spans *spans, uint32_t host)
{
	struct spans_part *part = &spans->parts[host];
	const struct spans_listener *listener = spans->listener;

	part->has_span = false;
	while (!part->has_span && (part->used < part->num || part->at < part->end)) {
		union {
			struct span_missing missing;
			struct record_counts counts;
			struct span_losses losses;
		} record;
		struct record_head head;

		if (!load_span_bytes(spans, part, &head, sizeof(head)))
			return complain_about_spans_file();
		if (head.kind == RECORD_TEXT) {
			if (!load_span_text(spans, part, head.size))
				return false;
			continue;
		}
		part->has_span = head.kind == RECORD_SPAN;
		if (!load_span_bytes(spans, part, part->has_span ? (void *)&part->span : &record,
				     head.size))
			return complain_about_spans_file();
		if (head.kind == RECORD_MISSING)
			listener->missing(listener->data, host, &record.missing);
		else if (head.kind == RECORD_COUNTS)
			listener->counts(listener->data, host, record.counts.definition,
					 &record.counts.counts);
		else if (head.kind == RECORD_LOSSES)
			listener->losses(listener->data, host, &record.losses);
	}
	return true;
}

/* Return the part whose next span ends earliest, or NULL if no spans are left. */
static struct spans_part *find_first_span(const struct spans *spans)
{
	struct spans_part *first = NULL;

	for (uint32_t i = 0; i < spans->num; i++) {
		struct spans_part *part = &spans->parts[i];

		if (part->has_span && (!first || part->span.end_ns < first->span.end_ns))
			first = part;
	}
	return first;
}

bool spans_read(struct spans *spans, const struct spans_listener *listener)
{
	struct spans_part *part;

	spans->listener = listener;
	if (fflush(spans->file))
		return complain_about_spans_file();
	for (uint32_t i = 0; i < spans->num; i++) {
		spans->parts[i].buffer = malloc(BUFFER_SIZE);
		if (!spans->parts[i].buffer)
			return complain_no_memory();
		if (!read_to_next_span(spans, i))
			return false;
	}
	while ((part = find_first_span(spans)))
		if (!listener->span(listener->data, &part->span) ||
		    !read_to_next_span(spans, part - spans->parts))
			return false;
	return true;
}
