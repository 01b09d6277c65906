// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz metadata and a stream file. Reading the events must end, and must not access memory outside
 * of the file. Inputs have the same format as those of ctf.c, but only the first stream is used.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/ctf/direct/reader.h"

#define SEPARATOR "\n%%\n"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool count_visited_integer(void *data, const char *name, const struct ctf_type *type,
				  uint64_t value)
{
	(void)name;
	(void)type;
	*(uint64_t *)data += value;
	return true;
}

/*
 * Read the events like a reader does: twice from the same file, as if it were two files. If the
 * packets are in order of time, also read only the events after half of the time.
 */
static void read_streams_twice(const struct metadata *metadata, const char *path, bool twice)
{
	struct direct_reader *reader = direct_reader_new(metadata, path);
	uint64_t first = 0, last = 0;
	volatile uint64_t sum = 0;
	struct direct_event event;
	int ret;

	if (reader && direct_reader_get_times(reader, &first, &last) && !twice)
		direct_reader_set_begin(reader, first + (last - first) / 2);
	if (reader && twice)
		direct_reader_append(reader, direct_reader_new(metadata, path));
	while (reader && (ret = direct_reader_read_event(reader, &event)) > 0) {
		uint64_t values = ret == DIRECT_LOST ? event.lost : event.clock;

		if (ret == DIRECT_EVENT && event.type->fields)
			type_visit_integers(event.type->fields, &event.fields,
					    count_visited_integer, &values);
		sum += values;
	}
	direct_reader_free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *stream = memmem(data, size, SEPARATOR, strlen(SEPARATOR));
	const size_t length = stream ? (size_t)(stream - data) : size;
	struct metadata metadata;
	char *text = malloc(length + 1), path[64];
	int fd = memfd_create("stream", MFD_CLOEXEC);

	memcpy(text, data, length);
	text[length] = '\0';
	if (stream)
		stream += strlen(SEPARATOR);
	if (fd >= 0 && stream && write(fd, stream, data + size - stream) == data + size - stream) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (!metadata_parse(&metadata, text)) {
			read_streams_twice(&metadata, path, false);
			read_streams_twice(&metadata, path, true);
		}
		metadata_release(&metadata);
	}
	if (fd >= 0)
		close(fd);
	free(text);
	return 0;
}
