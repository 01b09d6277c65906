// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: clock clock.bpf.o raw_tracepoint|trace_event
 *
 * Attach one program of clock.bpf.c, print "ready", and print each record that it puts
 * into the ring, in ftrace's format, until terminated.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/types.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

typedef __s64 s64;
typedef __u32 u32;
typedef __u64 u64;
#include "../../../module/clock.h"

#define FORMAT_FILE "/sys/kernel/tracing/events/netsync/netsync_clock/format"
#define FORMAT_u32 "%u"
#define FORMAT_u64 "%llu"
#define FORMAT_s64 "%lld"
#define PRINT(type, format, name) printf(#name "=" FORMAT_##type " ", rec->name);

static volatile sig_atomic_t terminated;

static void note_termination(int signal)
{
	(void)signal;
	terminated = 1;
}

static int print_clock_record(void *data, void *at, size_t size)
{
	const struct netsync_clock_record *rec = at;

	(void)data;
	if (size < sizeof(*rec))
		return -EINVAL;
	printf("netsync_clock: ");
	NETSYNC_CLOCK_FIELDS(PRINT)
	printf("clocksource=%s\n", rec->clocksource);
	return 0;
}

/*
 * Read the kernel's description of the event. Return the offset of the first field that is not
 * common to all events, or -1.
 */
static int read_first_field_offset(void)
{
	FILE *format = fopen(FORMAT_FILE, "r");
	char line[256];
	int offset = -1;

	while (format && offset < 0 && fgets(line, sizeof(line), format)) {
		const char *at = strstr(line, "offset:");

		if (at && !strstr(line, " common_"))
			offset = atoi(at + strlen("offset:"));
	}
	if (format)
		fclose(format);
	return offset;
}

/* Set the program's only constant. Return 0 or -errno. */
static int set_first_field(struct bpf_object *object)
{
	struct bpf_map *map;
	const int offset = read_first_field_offset();

	if (offset < 0)
		return -ENOENT;
	bpf_object__for_each_map(
		map,
		object) if (strstr(bpf_map__name(map),
				   ".rodata")) return bpf_map__set_initial_value(map, &offset,
										 sizeof(offset));
	return -ENOENT;
}

/* Return the ring buffer, or NULL if libbpf has reported an error. */
static struct ring_buffer *start_clock_program(struct bpf_object *object, const char *name)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object)
		bpf_program__set_autoload(program, !strcmp(bpf_program__name(program), name));
	program = bpf_object__find_program_by_name(object, name);
	if (!program || set_first_field(object) || bpf_object__load(object) ||
	    !bpf_program__attach(program))
		return NULL;
	return ring_buffer__new(bpf_object__find_map_fd_by_name(object, "records"),
				print_clock_record, NULL, NULL);
}

int main(int argc, char **argv)
{
	/*
	 * Linux before 5.11 counts maps as locked memory; libbpf before 1.0 does not
	 * raise the limit.
	 */
	const struct rlimit any = { RLIM_INFINITY, RLIM_INFINITY };
	struct bpf_object *object;
	struct ring_buffer *ring;
	int ret = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: clock clock.bpf.o raw_tracepoint|trace_event\n");
		return 1;
	}
	signal(SIGTERM, note_termination);
	setrlimit(RLIMIT_MEMLOCK, &any);
	object = bpf_object__open_file(argv[1], NULL);
	ring = object ? start_clock_program(object, argv[2]) : NULL;
	if (!ring) {
		fprintf(stderr, "clock: %s of %s: %s\n", argv[2], argv[1], strerror(errno));
		return 1;
	}
	fprintf(stderr, "ready\n");
	while (!terminated && (ret >= 0 || ret == -EINTR))
		ret = ring_buffer__poll(ring, 100);
	ret = ring_buffer__consume(ring);
	ring_buffer__free(ring);
	return ret < 0;
}
