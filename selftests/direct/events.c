// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: events TRACE...
 *
 * Print all events of traces of one host, one a line: time, CPU, name, and the values of
 * all fields; fields of the context come before a "|". Lost events are printed as a line of their
 * own.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <netsync-io.h>

static void print_value_bytes(const struct netsync_io_value *value)
{
	putchar('"');
	for (uint32_t i = 0; i < value->num_bytes; i++)
		printf("%02x", value->bytes[i]);
	putchar('"');
}

static void print_event_value(const struct netsync_io_value *value)
{
	switch (value->kind) {
	case NETSYNC_IO_SIGNED:
		printf("%" PRId64, value->number);
		break;
	case NETSYNC_IO_UNSIGNED:
		printf("%" PRIu64 "u", (uint64_t)value->number);
		break;
	case NETSYNC_IO_REAL:
		printf("%a", value->real);
		break;
	case NETSYNC_IO_BOOL:
		printf(value->number ? "true" : "false");
		break;
	default:
		printf("%s", value->kind == NETSYNC_IO_TEXT ? "text" : "bytes");
		print_value_bytes(value);
		return;
	}
	if (value->num_bytes)
		print_value_bytes(value);
}

static int print_event(void *data, const struct netsync_io_event *event)
{
	(void)data;
	if (event->lost == NETSYNC_IO_LOST_SOME)
		printf("%" PRId64 " %u lost some\n", event->time_ns, event->cpu);
	else if (event->lost)
		printf("%" PRId64 " %u lost %" PRIu64 "\n", event->time_ns, event->cpu,
		       event->lost);
	if (event->lost)
		return 0;
	printf("%" PRId64 " %u %s%s%s", event->time_ns, event->cpu, event->system,
	       *event->system ? ":" : "", event->name);
	for (uint32_t i = 0; i < event->num_fields; i++) {
		struct netsync_io_value value = { .size = sizeof(value) };

		if (i == event->num_context)
			printf(" |");
		printf(" %s=", event->fields[i]);
		if (netsync_io_event_value(event, i, &value))
			printf("-");
		else
			print_event_value(&value);
	}
	printf("\n");
	return 0;
}

int main(int argc, char **argv)
{
	struct netsync *ns = netsync_new();
	struct netsync_io *io = netsync_io_new(ns);
	struct netsync_io_source *sources = calloc(argc, sizeof(*sources));
	int ret;

	for (int i = 1; i < argc; i++)
		sources[i - 1].path = argv[i];
	ret = netsync_io_read_events(io, sources, argc - 1, sizeof(*sources), print_event, NULL);
	if (ret)
		printf("%s\n", netsync_io_error(io));
	free(sources);
	netsync_io_free(io);
	netsync_free(ns);
	return ret ? 1 : 0;
}
