// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of tracepoints, from the rings of perf_event_open(2). Each processor has a ring, to which
 * the kernel writes the events of all tracepoints.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "perf-rings.h"

/* Smallest size of a ring (bytes), a power of two and a multiple of each page size. Chosen. */
#define LEAST_RING (64u * 1024)
/* Fraction 1/WAKEUP_PART of a ring that is full when the kernel wakes the recorder. Chosen. */
#define WAKEUP_PART 8
/* Maximum number of tracepoints. */
#define MOST_TRACEPOINTS 2
/* Maximum size of a record: its size has 16 bits. */
#define LARGEST_RECORD 65536

struct perf_ring {
	struct perf_event_mmap_page *page; /* followed by the data, @size bytes */
	int fd[MOST_TRACEPOINTS];
	uint64_t at;		 /* position of the next record that was not read */
	uint64_t id;		 /* the next event's number of a tracepoint, see PERF_FORMAT_ID */
	struct perf_event event; /* the next event, if @has_event */
	bool has_event;
};

/* A record of an event, as selected by sample_type. The data follows. */
struct event_record {
	struct perf_event_header header;
	uint64_t id;
	uint64_t time_ns;
	uint32_t size;
} __attribute__((packed));

static struct {
	struct perf_ring *ring;
	struct pollfd *polled;
	uint64_t (*ids)[MOST_TRACEPOINTS]; /* for each ring, the number of each tracepoint */
	size_t num;
	size_t page_size;
	size_t size;
	unsigned int num_tracepoints;
	uint64_t taken;		      /* number of events that were read */
	uint8_t copy[LARGEST_RECORD]; /* a record that continues at the beginning of its ring */
} rings;

/* ---- opening ------------------------------------------------------------------- */

/* Open a tracepoint on a processor. Return a descriptor, or a negative errno value. */
static int open_tracepoint(uint32_t id, int cpu, const char *filter)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = id,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
		.disabled = 1,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(rings.size / WAKEUP_PART),
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	const int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	int error;

	if (fd < 0)
		return -errno;
	if (!*filter || !ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter))
		return fd;
	error = errno;
	close(fd);
	return -error;
}

/* Let all tracepoints of a processor write to one ring. Return 0 or a negative errno value. */
static int open_processor_ring(size_t i, const uint32_t *ids, int cpu, const char *filter)
{
	struct perf_ring *ring = &rings.ring[i];

	for (unsigned int k = 0; k < rings.num_tracepoints; k++) {
		ring->fd[k] = open_tracepoint(ids[k], cpu, filter);
		if (ring->fd[k] < 0)
			return ring->fd[k];
		if (ioctl(ring->fd[k], PERF_EVENT_IOC_ID, &rings.ids[i][k]) ||
		    (k && ioctl(ring->fd[k], PERF_EVENT_IOC_SET_OUTPUT, ring->fd[0])))
			return -errno;
		if (k)
			continue;
		ring->page = mmap(NULL, rings.page_size + rings.size, PROT_READ | PROT_WRITE,
				  MAP_SHARED, ring->fd[0], 0);
		if (ring->page == MAP_FAILED) {
			ring->page = NULL;
			return -errno;
		}
	}
	rings.polled[i] = (struct pollfd){ .fd = ring->fd[0], .events = POLLIN };
	return 0;
}

static void close_processor_ring(struct perf_ring *ring)
{
	if (ring->page)
		munmap(ring->page, rings.page_size + rings.size);
	for (unsigned int k = 0; k < MOST_TRACEPOINTS; k++)
		if (ring->fd[k] >= 0)
			close(ring->fd[k]);
	*ring = (struct perf_ring){ .fd = { -1, -1 } };
}

/* Open the rings of all processors that are online. Return 0 or a negative errno value. */
static int open_all_rings(const uint32_t *ids, int num_cpus, const char *filter)
{
	int ret = 0;

	for (int cpu = 0; cpu < num_cpus && (!ret || ret == -ENODEV); cpu++) {
		rings.ring[rings.num].fd[0] = rings.ring[rings.num].fd[1] = -1;
		ret = open_processor_ring(rings.num, ids, cpu, filter);
		if (ret)
			close_processor_ring(&rings.ring[rings.num]);
		else
			rings.num++;
	}
	if (ret && ret != -ENODEV)
		return ret;
	for (size_t i = 0; i < rings.num; i++)
		for (unsigned int k = 0; k < rings.num_tracepoints; k++)
			if (ioctl(rings.ring[i].fd[k], PERF_EVENT_IOC_ENABLE, 0))
				return -errno;
	return rings.num ? 0 : -ENODEV;
}

int perf_rings_open(const uint32_t *ids, unsigned int num, const char *filter, size_t buffer)
{
	const long num_cpus = sysconf(_SC_NPROCESSORS_CONF);
	int ret = -ENOMEM;

	if (num > MOST_TRACEPOINTS || num_cpus <= 0)
		return -EINVAL;
	rings.page_size = (size_t)sysconf(_SC_PAGESIZE);
	rings.num_tracepoints = num;
	rings.size = LEAST_RING;
	while (rings.size <= buffer / (size_t)num_cpus / 2)
		rings.size *= 2;
	rings.ring = calloc((size_t)num_cpus, sizeof(*rings.ring));
	rings.polled = calloc((size_t)num_cpus, sizeof(*rings.polled));
	rings.ids = calloc((size_t)num_cpus, sizeof(*rings.ids));
	if (rings.ring && rings.polled && rings.ids)
		ret = open_all_rings(ids, (int)num_cpus, filter);
	if (ret)
		perf_rings_close();
	return ret;
}

void perf_rings_stop(void)
{
	for (size_t i = 0; i < rings.num; i++)
		for (unsigned int k = 0; k < rings.num_tracepoints; k++)
			ioctl(rings.ring[i].fd[k], PERF_EVENT_IOC_DISABLE, 0);
}

void perf_rings_close(void)
{
	while (rings.num)
		close_processor_ring(&rings.ring[--rings.num]);
	free(rings.ring);
	free(rings.polled);
	free(rings.ids);
	rings.ring = NULL;
	rings.polled = NULL;
	rings.ids = NULL;
}

/* ---- reading ------------------------------------------------------------------- */

/* Return a record of a ring in one piece. A copy is valid until the next call. */
static const uint8_t *get_ring_record(const struct perf_ring *ring, size_t size)
{
	const uint8_t *data = (const uint8_t *)ring->page + rings.page_size;
	const size_t at = ring->at & (rings.size - 1), first = rings.size - at;

	if (size <= first)
		return data + at;
	memcpy(rings.copy, data + at, first);
	memcpy(rings.copy + first, data, size - first);
	return rings.copy;
}

/* Find the next event of a ring, without removing it. */
static void find_ring_event(struct perf_ring *ring)
{
	const uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);

	while (!ring->has_event && ring->at != head) {
		struct event_record sample;
		struct perf_event_header header;
		const uint8_t *record;

		memcpy(&header, get_ring_record(ring, sizeof(header)), sizeof(header));
		record = get_ring_record(ring, header.size);
		if (header.type == PERF_RECORD_SAMPLE && header.size >= sizeof(sample)) {
			memcpy(&sample, record, sizeof(sample));
			ring->id = sample.id;
			ring->event.time_ns = sample.time_ns;
			ring->has_event = sample.size <= header.size - sizeof(sample);
		}
		if (ring->has_event)
			break;
		ring->at += header.size;
	}
	if (!ring->has_event)
		__atomic_store_n(&ring->page->data_tail, ring->at, __ATOMIC_RELEASE);
}

/* Pass on the next event of a ring, and remove it. */
static void take_ring_event(size_t i, take_event_fn take, void *data)
{
	struct perf_ring *ring = &rings.ring[i];
	struct perf_event_header header;
	struct event_record sample;
	const uint8_t *record;

	memcpy(&header, get_ring_record(ring, sizeof(header)), sizeof(header));
	record = get_ring_record(ring, header.size);
	memcpy(&sample, record, sizeof(sample));
	ring->event.data = record + sizeof(sample);
	ring->event.size = sample.size;
	for (unsigned int k = 0; k < rings.num_tracepoints; k++)
		if (rings.ids[i][k] == ring->id)
			take(data, k, &ring->event);
	rings.taken++;
	ring->at += header.size;
	ring->has_event = false;
	__atomic_store_n(&ring->page->data_tail, ring->at, __ATOMIC_RELEASE);
}

int perf_rings_wait(int timeout_ms, const sigset_t *mask)
{
	const struct timespec timeout = { timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000 };

	return ppoll(rings.polled, rings.num, &timeout, mask) < 0 && errno != EINTR ? -errno : 0;
}

unsigned int perf_rings_read(unsigned int most, take_event_fn take, void *data)
{
	unsigned int num = 0;

	for (size_t i = 0; i < rings.num; i++)
		find_ring_event(&rings.ring[i]);
	for (; num < most; num++) {
		size_t first = rings.num;

		for (size_t i = 0; i < rings.num; i++)
			if (rings.ring[i].has_event &&
			    (first == rings.num ||
			     rings.ring[i].event.time_ns < rings.ring[first].event.time_ns))
				first = i;
		if (first == rings.num)
			break;
		take_ring_event(first, take, data);
		find_ring_event(&rings.ring[first]);
	}
	return num;
}

/* The kernel counts all events, also those that do not fit into a ring. */
uint64_t perf_rings_count_lost(void)
{
	uint64_t all = 0, count;

	for (size_t i = 0; i < rings.num; i++)
		for (unsigned int k = 0; k < rings.num_tracepoints; k++)
			if (read(rings.ring[i].fd[k], &count, sizeof(count)) == sizeof(count))
				all += count;
	return all > rings.taken ? all - rings.taken : 0;
}
