// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read the records of a perf.data file. The records may be compressed, as one zstd stream. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "io/perf/record.h"

/*
 * Number of bytes that are read at a time. Chosen so that at least four records of the maximum size
 * fit.
 */
#define CHUNK_SIZE 262144

/* State of decompressing records. */
struct perf_unpacked {
	ZSTD_DStream *stream;		 /* decompressor; the file has only one stream */
	uint8_t packed[PERF_MAX_RECORD]; /* compressed data from one record of the file */
	ZSTD_inBuffer in;		 /* the part of @packed that is not decompressed yet */
	uint8_t plain[2 * (PERF_MAX_RECORD + 1)];
	size_t at;   /* offset of the next record in @plain (bytes) */
	size_t size; /* number of bytes in @plain */
};

void perf_begin_records(struct perf_records *records, const struct perf_file *file)
{
	*records = (struct perf_records){ .file = file, .at = file->data_at };
}

void perf_release_records(struct perf_records *records)
{
	if (records->unpacked) {
		ZSTD_freeDStream(records->unpacked->stream);
		free(records->unpacked);
	}
	free(records->chunk);
	records->unpacked = NULL;
	records->chunk = NULL;
}

/* ---- records in the file ------------------------------------------------ */

/*
 * Load @size bytes at records->at into memory. Return 1, 0 if the file ends before them, or
 * -ENOMEM.
 */
static int load_record_bytes(struct perf_records *records, size_t size)
{
	const uint64_t left = records->file->data_end - records->at;
	const uint64_t from = records->at - records->chunk_at;

	if (size > left)
		return 0;
	if (records->chunk && records->at >= records->chunk_at && from <= records->chunk_size &&
	    size <= records->chunk_size - from)
		return 1;
	if (!records->chunk)
		records->chunk = malloc(CHUNK_SIZE);
	if (!records->chunk)
		return -ENOMEM;
	records->chunk_at = records->at;
	records->chunk_size = read_bytes_at(records->file->from, records->chunk,
					    left < CHUNK_SIZE ? left : CHUNK_SIZE, records->at);
	return size <= records->chunk_size;
}

/* Parse a record whose header is complete. Return false if the header has an invalid size. */
static bool read_record_head(const struct perf_file *file, const uint8_t *bytes,
			     struct perf_record *record)
{
	const uint32_t size = perf_read_number(file, bytes + 6, 2);

	record->type = perf_read_number(file, bytes, 4);
	record->misc = perf_read_number(file, bytes + 4, 2);
	record->data = bytes + PERF_HEAD_SIZE;
	record->size = size - PERF_HEAD_SIZE;
	record->at = 0;
	return size >= PERF_HEAD_SIZE;
}

uint64_t perf_get_payload_size(const struct perf_file *file, const struct perf_record *record)
{
	if (record->type == PERF_RECORD_TRACING_DATA && record->size >= 4)
		return perf_read_number(file, record->data, 4);
	if (record->type == PERF_RECORD_AUXTRACE && record->size >= 8)
		return perf_read_number(file, record->data, 8);
	return 0;
}

/*
 * Read the next record of any type, including records that contain other records. Return the same
 * values as perf_next_record().
 */
static int read_next_in_file(struct perf_records *records, struct perf_record *record)
{
	const struct perf_file *file = records->file;
	uint64_t payload;
	int ret;

	if (records->at >= file->data_end)
		return 0;
	ret = load_record_bytes(records, PERF_HEAD_SIZE);
	if (ret > 0 &&
	    !read_record_head(file, records->chunk + (records->at - records->chunk_at), record))
		return -EILSEQ;
	if (ret > 0)
		ret = load_record_bytes(records, PERF_HEAD_SIZE + record->size);
	if (ret <= 0)
		return ret ? ret : -EILSEQ;
	/* The data in memory may have been replaced, so parse the header again. */
	read_record_head(file, records->chunk + (records->at - records->chunk_at), record);
	records->at += PERF_HEAD_SIZE + record->size;
	record->at = records->at;
	payload = perf_get_payload_size(file, record);
	if (payload > file->data_end - records->at)
		return -EILSEQ;
	records->at += payload;
	return 1;
}

/* ---- compressed records ------------------------------------------------- */

static struct perf_unpacked *new_perf_unpacked(void)
{
	struct perf_unpacked *unpacked = calloc(1, sizeof(*unpacked));

	if (!unpacked)
		return NULL;
	unpacked->stream = ZSTD_createDStream();
	if (unpacked->stream)
		return unpacked;
	free(unpacked);
	return NULL;
}

/* Use the data in a compressed record. Return 0 or an error like perf_next_record(). */
static int unpack_compressed_record(struct perf_records *records, const struct perf_record *record)
{
	struct perf_unpacked *unpacked = records->unpacked;
	const uint8_t *from = record->data;
	uint64_t size = record->size;

	if (!unpacked)
		unpacked = records->unpacked = new_perf_unpacked();
	if (!unpacked)
		return -ENOMEM;
	/* The newer record type contains the size, because its data are padded. */
	if (record->type == PERF_RECORD_COMPRESSED2) {
		if (size < 8 || perf_read_number(records->file, from, 8) > size - 8)
			return -EILSEQ;
		size = perf_read_number(records->file, from, 8);
		from += 8;
	}
	memcpy(unpacked->packed, from, size);
	unpacked->in = (ZSTD_inBuffer){ unpacked->packed, size, 0 };
	return 0;
}

/* Decompress as much data as fits. Return 1, 0 if no data are left, or -EILSEQ. */
static int unpack_more_records(struct perf_unpacked *unpacked)
{
	ZSTD_outBuffer out = { unpacked->plain, sizeof(unpacked->plain), 0 };
	const size_t taken = unpacked->in.pos;

	/* Less than one record may be left. */
	unpacked->size -= unpacked->at;
	memmove(unpacked->plain, unpacked->plain + unpacked->at, unpacked->size);
	unpacked->at = 0;
	out.pos = unpacked->size;
	if (ZSTD_isError(ZSTD_decompressStream(unpacked->stream, &out, &unpacked->in)))
		return -EILSEQ;
	if (out.pos == unpacked->size && unpacked->in.pos == taken)
		return 0;
	unpacked->size = out.pos;
	return 1;
}

/* Read the next record from decompressed data. Return the same values as perf_next_record(). */
static int read_next_unpacked(struct perf_records *records, struct perf_record *record)
{
	struct perf_unpacked *unpacked = records->unpacked;
	int ret = 1;

	while (ret > 0) {
		const size_t left = unpacked->size - unpacked->at;

		if (left >= PERF_HEAD_SIZE) {
			if (!read_record_head(records->file, unpacked->plain + unpacked->at,
					      record))
				return -EILSEQ;
			if (left - PERF_HEAD_SIZE >= record->size) {
				unpacked->at += PERF_HEAD_SIZE + record->size;
				return 1;
			}
		}
		ret = unpack_more_records(unpacked);
	}
	return ret;
}

int perf_next_record(struct perf_records *records, struct perf_record *record)
{
	for (;;) {
		int ret = records->unpacked ? read_next_unpacked(records, record) : 0;

		if (!ret)
			ret = read_next_in_file(records, record);
		if (ret <= 0 || (record->type != PERF_RECORD_COMPRESSED &&
				 record->type != PERF_RECORD_COMPRESSED2))
			return ret;
		/* A compressed record must not be inside of another one. */
		if (!record->at)
			return -EILSEQ;
		ret = unpack_compressed_record(records, record);
		if (ret < 0)
			return ret;
	}
}
