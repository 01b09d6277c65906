// SPDX-License-Identifier: GPL-2.0-only
/*
 * The source bpf. BPF programs at kernel tracepoints write records of packets to a ring, for all
 * network namespaces. The kernel's image contains all type information that the programs need
 * (BTF), so one program runs on all kernels from 5.8 on.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <net/if_arp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "frames.h"
#include "probe-objects.h"
#include "probe-reason.h"
#include "source.h"
#include "wall-clock.h"

/* Maximum number of records that are read before the recorder checks whether to end. Chosen. */
#define MOST_TAKEN 65536
/*
 * Maximum number of devices whose names are kept. Other devices are called by their number.
 * Chosen, as in recorder.c.
 */
#define MOST_KNOWN 4096
/* Fraction 1/WAKEUP_PART of the ring that is full when the kernel wakes the recorder. Chosen. */
#define WAKEUP_PART 8
/* Maximum number of programs in an object. */
#define MOST_PROGRAMS 8

struct known_device {
	uint64_t serial;
	struct seen_device device;
};

static struct {
	struct bpf_object *object;
	struct bpf_link *link[MOST_PROGRAMS];
	size_t num_links;
	struct ring_buffer *ring;
	int counts_fd;
	int measuring_fd; /* while it is open, the kernel measures programs; negative if not open */
	struct wall_clock clock;
	struct source_counts counts;
	struct known_device known[MOST_KNOWN];
	size_t num_known;
	/* Set while records are read. */
	take_frame_fn take;
	void *data;
	unsigned int taken;
} state;

/* ---- records ------------------------------------------------------------------- */

static void keep_probed_device(const struct probe_device *record)
{
	struct known_device *known;

	if (state.num_known == MOST_KNOWN)
		return;
	known = &state.known[state.num_known++];
	known->serial = record->serial;
	memcpy(known->device.name, record->name, sizeof(known->device.name) - 1);
	known->device.has_mac = record->mac_length == sizeof(known->device.mac);
	memcpy(known->device.mac, record->mac, sizeof(known->device.mac));
}

static void pass_probe_frame(const struct probe_frame *record)
{
	const struct seen_frame frame = {
		.time_ns = record->time_ns + (uint64_t)state.clock.offset_ns,
		.netns = record->netns,
		.device = (int)record->ifindex,
		.serial = record->serial,
		.device_type = record->device_type,
		.protocol = record->protocol,
		.flags = record->is_out ? FLAG_OUTBOUND : frame_get_flags(record->packet_type),
		.original = record->original,
		.captured = record->captured,
		.link = record->bytes,
		.link_length = record->link_length,
		.tag_protocol = record->tag_protocol,
		.tag = record->tag,
	};

	state.take(state.data, &frame);
}

/*
 * Pass on a record. Stop from time to time, because records may arrive faster than they are
 * read.
 */
static int pass_probe_record(void *context, void *bytes, size_t size)
{
	const uint32_t *kind = bytes;

	(void)context;
	(void)size;
	if (*kind == PROBE_DEVICE)
		keep_probed_device(bytes);
	else
		pass_probe_frame(bytes);
	return ++state.taken < MOST_TAKEN ? 0 : -ECANCELED;
}

static int pass_probe_records(int timeout_ms, const sigset_t *mask, take_frame_fn take, void *data)
{
	struct pollfd polled[2] = {
		{ .fd = ring_buffer__epoll_fd(state.ring), .events = POLLIN },
		{ .fd = state.clock.fd, .events = POLLIN },
	};
	const struct timespec timeout = { timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000 };
	int ret;

	if (state.taken < MOST_TAKEN && ppoll(polled, 2, &timeout, mask) < 0 && errno != EINTR)
		return -errno;
	state.take = take;
	state.data = data;
	state.taken = 0;
	ret = ring_buffer__consume(state.ring);
	/* Records that were in the ring before CLOCK_REALTIME was stepped have the old offset. */
	wall_clock_update(&state.clock);
	if (ret < 0 && ret != -ECANCELED)
		return ret;
	return state.taken > 0;
}

/* ---- loading ------------------------------------------------------------------- */

static int configure_probes(const struct packet_selection *s)
{
	struct probe_settings settings = {
		.netns = s->netns,
		.ifindex = (uint32_t)s->device,
		.payload = (uint32_t)s->payload,
		.cgroup = s->cgroup,
		.unwanted = { s->unwanted[0], s->unwanted[1] },
		.num_ports = s->num_ports,
		.num_addresses = s->num_addresses,
		.sampling = s->sampling,
		.with_loopback = s->with_loopback,
	};
	struct bpf_map *constants = bpf_object__find_map_by_name(state.object, ".rodata");
	struct bpf_map *records = bpf_object__find_map_by_name(state.object, "records");
	/* The size of a ring must be a power of two. */
	uint32_t size = 1u << 20;

	while (size <= s->buffer / 2)
		size *= 2;
	settings.wakeup_bytes = size / WAKEUP_PART;
	memcpy(settings.port, s->port, sizeof(settings.port));
	memcpy(settings.address, s->address, sizeof(settings.address));
	if (!constants || !records)
		return -EINVAL;
	if (bpf_map__value_size(constants) != sizeof(settings))
		return -EINVAL;
	if (bpf_map__set_initial_value(constants, &settings, sizeof(settings)))
		return -errno;
	return bpf_map__set_max_entries(records, size);
}

/* Do not load programs whose tracepoint does not exist in this kernel. */
static void skip_missing_tracepoints(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	struct bpf_program *program;
	char name[96];

	if (!btf)
		return;
	bpf_object__for_each_program(program, state.object)
	{
		const char *slash = strchr(bpf_program__section_name(program), '/');

		if (!slash)
			continue;
		snprintf(name, sizeof(name), "btf_trace_%s", slash + 1);
		if (btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF) < 0)
			bpf_program__set_autoload(program, false);
	}
	btf__free(btf);
}

static int attach_probe_programs(void)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, state.object)
	{
		struct bpf_link *link;

		if (!bpf_program__autoload(program))
			continue;
		link = bpf_program__attach(program);
		if (!link)
			return -errno;
		state.link[state.num_links++] = link;
	}
	return state.num_links ? 0 : -ENOENT;
}

static void stop_probes(void)
{
	/* Programs that are running when they are detached run to their end. */
	while (state.num_links)
		bpf_link__destroy(state.link[--state.num_links]);
}

static void close_probes(void)
{
	stop_probes();
	ring_buffer__free(state.ring);
	state.ring = NULL;
	bpf_object__close(state.object);
	state.object = NULL;
	wall_clock_close(&state.clock);
	if (state.measuring_fd >= 0)
		close(state.measuring_fd);
	state.measuring_fd = -1;
}

static int load_probe_object(const struct probe_object *from, const struct packet_selection *s)
{
	int ret;

	state.object = bpf_object__open_mem(from->begin, (size_t)(from->end - from->begin), NULL);
	if (!state.object)
		return -errno;
	ret = configure_probes(s);
	if (!ret) {
		skip_missing_tracepoints();
		ret = bpf_object__load(state.object);
	}
	if (ret) {
		bpf_object__close(state.object);
		state.object = NULL;
	}
	return ret;
}

/* Load the first object, or the second one, which needs fewer features of the kernel. */
static int load_any_probe_object(const struct packet_selection *s)
{
	int ret = load_probe_object(&probe_objects[0], s);

	return ret && ret != -EPERM ? load_probe_object(&probe_objects[1], s) : ret;
}

static bool open_probes(const struct packet_selection *selection, char why[LONGEST_REASON])
{
	int ret;

	state.clock.fd = -1;
	state.measuring_fd = selection->measures_programs ? bpf_enable_stats(BPF_STATS_RUN_TIME) :
							    -1;
	libbpf_set_print(reason_keep_warning);
	ret = load_any_probe_object(selection);
	if (!ret) {
		state.counts_fd = bpf_object__find_map_fd_by_name(state.object, "counts");
		state.ring = ring_buffer__new(bpf_object__find_map_fd_by_name(state.object,
									      "records"),
					      pass_probe_record, NULL, NULL);
		ret = state.ring ? 0 : -errno;
	}
	wall_clock_open(&state.clock);
	if (!ret)
		ret = attach_probe_programs();
	if (ret) {
		reason_find(ret, why);
		close_probes();
	}
	return !ret;
}

/* ---- public functions --------------------------------------------------------- */

/*
 * Count the packets that a program missed because it was already running on that processor, for
 * example when an interrupt occurred, and the run time of all programs.
 */
static void add_program_counts(struct source_counts *counts)
{
	struct bpf_program *program;

	counts->lost = 0;
	counts->programs_ns = 0;

	bpf_object__for_each_program(program, state.object)
	{
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);

		if (bpf_program__autoload(program) &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size)) {
			counts->lost += info.recursion_misses;
			counts->programs_ns += info.run_time_ns;
		}
	}
	if (state.measuring_fd < 0)
		counts->programs_ns = UINT64_MAX;
}

static void count_probe_losses(struct source_counts *counts)
{
	const int num = libbpf_num_possible_cpus();
	struct probe_counts *each = num > 0 ? calloc((size_t)num, sizeof(*each)) : NULL;
	const uint32_t zero = 0;

	add_program_counts(counts);
	counts->received = counts->lost;
	counts->unreadable = 0;
	if (each && !bpf_map_lookup_elem(state.counts_fd, &zero, each))
		for (int i = 0; i < num; i++) {
			counts->received += each[i].wanted;
			counts->lost += each[i].lost;
			counts->unreadable += each[i].unreadable;
		}
	free(each);
}

static bool describe_probed(const struct seen_frame *frame, struct seen_device *described)
{
	for (size_t i = state.num_known; i-- > 0;)
		if (state.known[i].serial == frame->serial) {
			*described = state.known[i].device;
			return true;
		}
	return false;
}

const struct packet_source bpf_source = {
	.name = "bpf",
	.open = open_probes,
	.take = pass_probe_records,
	.stop = stop_probes,
	.count = count_probe_losses,
	.describe = describe_probed,
	.close = close_probes,
};
