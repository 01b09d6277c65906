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

#include "io/ctf/direct/walk.h"

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

static void print_walked_stream(const struct metadata *metadata, const char *path)
{
	struct ctf_walk *walk = walk_new(metadata, path);
	struct walked event;
	int ret = -1;

	while (walk && (ret = walk_read_event(walk, &event)) > 0) {
		if (ret == WALK_LOST)
			continue;
		printf("%" PRIu64 " %s", event.clock, event.type->name);
		if (event.type->fields && !type_visit_integers(event.type->fields, &event.fields,
							       print_field_integer, NULL))
			printf(" ?");
		printf("\n");
	}
	if (walk)
		printf("lost %" PRIu64 " %" PRIu64 "\n", walk_get_counts(walk)->lost_events,
		       walk_get_counts(walk)->lost_packets);
	printf("%s\n", ret ? "stopped" : "end");
	walk_free(walk);
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
		print_walked_stream(&metadata, argv[i]);
	metadata_release(&metadata);
	free(text);
	return ret ? 3 : 0;
}
