// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: walk METADATA STREAM...
 *
 * Print all events of stream files as the direct reader sees them, one a line: clock
 * value, name, and all integers that are not in arrays. The events of a file end with a
 * line "end", or "stopped" if another reader must read the rest.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/ctf/direct/reader.h"

static char *read_text_of_path(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	if (!file || getdelim(&text, &size, '\0', file) < 0)
		exit(1);
	fclose(file);
	return text;
}

static bool print_field_integer(void *data, const char *name, const struct ctf_type *type,
				uint64_t value)
{
	(void)data;
	if (type->is_signed)
		printf(" %s=%" PRId64, name, (int64_t)value);
	else
		printf(" %s=%" PRIu64, name, value);
	return true;
}

static void print_direct_stream(const struct metadata *metadata, const char *path)
{
	struct direct_reader *reader = direct_reader_new(metadata, path);
	struct direct_event event;
	int ret = -1;

	while (reader && (ret = direct_reader_read_event(reader, &event)) > 0) {
		if (ret == DIRECT_LOST)
			continue;
		printf("%" PRIu64 " %s", event.clock, event.type->name);
		if (event.type->fields && !type_visit_integers(event.type->fields, &event.fields,
							       print_field_integer, NULL))
			printf(" ?");
		printf("\n");
	}
	if (reader)
		printf("lost %" PRIu64 " %" PRIu64 "\n",
		       direct_reader_get_counts(reader)->lost_events,
		       direct_reader_get_counts(reader)->lost_packets);
	printf("%s\n", ret ? "stopped" : "end");
	direct_reader_free(reader);
}

int main(int argc, char **argv)
{
	struct metadata metadata;
	char *text;
	int ret;

	if (argc < 3)
		return 2;
	text = read_text_of_path(argv[1]);
	ret = metadata_parse(&metadata, text);
	for (int i = 2; i < argc && !ret; i++)
		print_direct_stream(&metadata, argv[i]);
	metadata_release(&metadata);
	free(text);
	return ret ? 3 : 0;
}
