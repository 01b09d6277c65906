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

#include "io/ctf/direct/walk.h"

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
static void walk_metadata_twice(const struct metadata *metadata, const char *path, bool twice)
{
	struct ctf_walk *walk = walk_new(metadata, path);
	uint64_t first = 0, last = 0;
	volatile uint64_t sum = 0;
	struct walked event;
	int ret;

	if (walk && walk_get_times(walk, &first, &last) && !twice)
		walk_set_begin(walk, first + (last - first) / 2);
	if (walk && twice)
		walk_append(walk, walk_new(metadata, path));
	while (walk && (ret = walk_read_event(walk, &event)) > 0) {
		uint64_t values = ret == WALK_LOST ? event.lost : event.clock;

		if (ret == WALK_EVENT && event.type->fields)
			type_visit_integers(event.type->fields, &event.fields,
					    count_visited_integer, &values);
		sum += values;
	}
	walk_free(walk);
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
			walk_metadata_twice(&metadata, path, false);
			walk_metadata_twice(&metadata, path, true);
		}
		metadata_release(&metadata);
	}
	if (fd >= 0)
		close(fd);
	free(text);
	return 0;
}
