// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The reader for traces of Perfetto: packets of the file -> bundles of ftrace events of a processor
 * -> netsync's packet events.
 *
 * Perfetto does not record arrays of bytes, and therefore no addresses. TCP segments are matched by
 * their other fields; packets of other protocols cannot be matched. The same is true for Perfetto's
 * own packet events (android.network_packets), which contain neither addresses nor numbers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/pftrace/file.h"
#include "io/pftrace/types.h"
#include "io/pftrace/wire.h"
#include "io/tracefs/format.h"

#define RECORD_ADVICE \
	"record the events netsync/inet_sock_local_* with the data source linux.ftrace"

/* Numbers of fields in Perfetto's messages (trace_packet.proto, ftrace_event_bundle.proto). */
enum {
	PACKET_FTRACE = 1,	    /* TracePacket.ftrace_events */
	PACKET_CLOCKS = 6,	    /* TracePacket.clock_snapshot */
	PACKET_NETWORK = 88,	    /* TracePacket.network_packet */
	PACKET_NETWORK_BUNDLE = 92, /* TracePacket.network_packet_bundle */
	PACKET_MACHINE = 98,	    /* TracePacket.machine_id */
	BUNDLE_EVENT = 2,	    /* FtraceEventBundle.event */
	BUNDLE_LOST = 3,	    /* FtraceEventBundle.lost_events */
	BUNDLE_CLOCK = 5,	    /* FtraceEventBundle.ftrace_clock */
	BUNDLE_TYPE = 11,	    /* FtraceEventBundle.generic_event_descriptors */
	SNAPSHOT_CLOCK = 1,	    /* ClockSnapshot.clocks */
	CLOCK_ID = 1,		    /* ClockSnapshot.Clock.clock_id */
	CLOCK_TIME = 2,		    /* ClockSnapshot.Clock.timestamp */
};

/* Numbers of clocks in ClockSnapshot (builtin_clock.proto). */
enum { SNAPSHOT_REALTIME = 1, SNAPSHOT_BOOTTIME = 6, NUM_SNAPSHOT_CLOCKS };

/* Names of clocks by their numbers (ftrace_event_bundle.proto). 0 is the default. */
static const char *const ftrace_clocks[] = { "boot", NULL, "global", "local", "mono_raw" };

#define NUM_FTRACE_CLOCKS (sizeof(ftrace_clocks) / sizeof(ftrace_clocks[0]))

/*
 * Maximum time by which an event may be earlier than any event before it in the file, ns. Chosen:
 * Perfetto reads the buffers of all processors at least every few seconds. Later events are used,
 * too, but need more memory.
 */
#define DISORDER_NS INT64_C(10000000000)

/* Multiplier of the hash function FNV-1a. */
#define HASH_MULTIPLIER UINT64_C(1099511628211)

struct pftrace {
	struct pftrace_file file;
	struct pftrace_types types;
	bool is_open;
	bool is_scanning; /* whether open() reads the file */
	uint32_t clock;	  /* index in ftrace_clocks, of the first bundle with events */
	bool has_clock;
	int64_t latest_ns;  /* latest event so far */
	struct range span;  /* time range of the events that were read */
	uint64_t lost;	    /* bundles before which events were lost */
	uint64_t invalid;   /* packets that could not be parsed */
	uint64_t others;    /* packets of other machines */
	uint64_t unclocked; /* bundles with another clock */
	/* The following members are set by the scan. */
	uint64_t usable;
	const char *unusable; /* name of an event without addresses */
	bool has_netns;
	bool has_android; /* Perfetto's own packet events */
};

static bool is_pftrace_file(const struct found *found)
{
	return pftrace_is_head(found->head, found->head_len);
}

/* ---- events ----------------------------------------------------------------- */

static void scan_pftrace_event(struct trace *trace, const struct pftrace_event *event)
{
	struct pftrace *pftrace = trace->state;

	range_extend(&trace->range, event->time_ns, event->time_ns);
	trace->range_hash = (trace->range_hash ^ (uint64_t)event->time_ns) * HASH_MULTIPLIER;
	if (!event->kind)
		return;
	if (!event_has_wanted_fields(event->kind, event->values.has)) {
		pftrace->unusable = event->kind->name;
		return;
	}
	pftrace->usable++;
	pftrace->has_netns |= !!(event->values.has & BIT(NETNS));
}

static int use_pftrace_event(struct trace *trace, struct pftrace_event *event)
{
	struct pftrace *pftrace = trace->state;
	struct event_seen seen = { 0 };

	pftrace->latest_ns = max64(pftrace->latest_ns, event->time_ns);
	if (!range_contains(&trace->window, event->time_ns))
		return 0;
	range_extend(&pftrace->span, event->time_ns, event->time_ns);
	if (!event->kind || !event_has_wanted_fields(event->kind, event->values.has) ||
	    !event_decode(event->kind, &event->values, &seen) ||
	    !event_set_time(&seen, event->time_ns, event->time_ns))
		return 0;
	return io_add_event(trace, &seen);
}

/* ---- bundles ---------------------------------------------------------------- */

/* Read the types and the clock of a bundle. Return 1; 0 if it is not used; or a negative value. */
static int begin_bundle(struct trace *trace, struct bytes_take bundle)
{
	struct pftrace *pftrace = trace->state;
	struct wire_field field;
	bool has_events = false;
	uint64_t clock = 0;

	while (wire_take_field(&bundle, &field)) {
		has_events |= wire_is_bytes(&field, BUNDLE_EVENT);
		if (wire_is_varint(&field, BUNDLE_CLOCK))
			clock = field.value;
		if (wire_is_varint(&field, BUNDLE_LOST))
			pftrace->lost += field.value != 0;
		if (wire_is_bytes(&field, BUNDLE_TYPE) &&
		    pftrace_add_type(&pftrace->types, wire_open_message(&field)))
			return io_fail_no_memory(trace->io);
	}
	pftrace->invalid += bundle.bad;
	if (bundle.bad || !has_events)
		return 0;
	if (!pftrace->has_clock) {
		pftrace->has_clock = true;
		pftrace->clock = clock < NUM_FTRACE_CLOCKS ? (uint32_t)clock : 1;
	}
	pftrace->unclocked += clock != pftrace->clock;
	return clock == pftrace->clock && ftrace_clocks[pftrace->clock];
}

static int read_bundle(struct trace *trace, struct bytes_take bundle)
{
	struct pftrace *pftrace = trace->state;
	struct wire_field field;
	int ret = begin_bundle(trace, bundle);

	if (ret <= 0)
		return ret;
	ret = 0;
	while (!ret && wire_take_field(&bundle, &field)) {
		struct pftrace_event event;

		if (!wire_is_bytes(&field, BUNDLE_EVENT))
			continue;
		if (!pftrace_read_event(&pftrace->types, wire_open_message(&field), &event))
			pftrace->invalid++;
		else if (event.has_time && pftrace->is_scanning)
			scan_pftrace_event(trace, &event);
		else if (event.has_time)
			ret = use_pftrace_event(trace, &event);
	}
	return ret;
}

/* Relate the clock of the events to wall-clock time, by the first snapshot of the clocks. */
static void read_clock_snapshot(struct trace *trace, struct bytes_take snapshot)
{
	uint64_t time[NUM_SNAPSHOT_CLOCKS] = { 0 };
	struct wire_field clock, field;

	while (wire_take_field(&snapshot, &clock)) {
		struct bytes_take reading = { 0 };
		uint64_t id = 0, value = 0;

		if (wire_is_bytes(&clock, SNAPSHOT_CLOCK))
			reading = wire_open_message(&clock);
		while (wire_take_field(&reading, &field)) {
			if (wire_is_varint(&field, CLOCK_ID))
				id = field.value;
			else if (wire_is_varint(&field, CLOCK_TIME))
				value = field.value;
		}
		if (id < NUM_SNAPSHOT_CLOCKS)
			time[id] = value;
	}
	if (trace->has_wall || !time[SNAPSHOT_REALTIME] || !time[SNAPSHOT_BOOTTIME] ||
	    time[SNAPSHOT_REALTIME] > INT64_MAX || time[SNAPSHOT_BOOTTIME] > INT64_MAX)
		return;
	trace->has_wall = true;
	trace->wall_shift_ns = (int64_t)(time[SNAPSHOT_REALTIME] - time[SNAPSHOT_BOOTTIME]);
}

/* ---- packets ---------------------------------------------------------------- */

/* Return whether a packet describes another machine than the one that recorded the trace. */
static bool is_of_other_machine(struct bytes_take packet)
{
	struct wire_field field;

	while (wire_take_field(&packet, &field))
		if (wire_is_varint(&field, PACKET_MACHINE) && field.value)
			return true;
	return false;
}

static int use_packet(struct trace *trace, struct bytes_take packet)
{
	struct pftrace *pftrace = trace->state;
	struct wire_field field;
	int ret = 0;

	if (is_of_other_machine(packet)) {
		pftrace->others++;
		return 0;
	}
	while (!ret && wire_take_field(&packet, &field)) {
		if (wire_is_bytes(&field, PACKET_FTRACE))
			ret = read_bundle(trace, wire_open_message(&field));
		else if (wire_is_bytes(&field, PACKET_CLOCKS) && pftrace->is_scanning)
			read_clock_snapshot(trace, wire_open_message(&field));
		pftrace->has_android |= wire_is_bytes(&field, PACKET_NETWORK) ||
					wire_is_bytes(&field, PACKET_NETWORK_BUNDLE);
	}
	pftrace->invalid += packet.bad;
	return ret;
}

/* Read a packet. Return 1; 0 at the end; or, after io_fail(), a negative value. */
static int read_pftrace_packet(struct trace *trace)
{
	struct pftrace *pftrace = trace->state;
	struct pftrace_file *file = &pftrace->file;
	struct bytes_take packet;
	int ret = pftrace_next_packet(file, &packet);

	if (ret == -EILSEQ && !disk_is_stuck(file->file.from)) {
		/* The scan has already warned of damage. */
		if (pftrace->is_scanning) {
			trace->info.damaged = 1;
			trace->readable = trace->path;
			io_warn(trace->io,
				"%s: the file is damaged (%s); read only up to byte %llu.",
				trace->path, file->problem,
				(unsigned long long)(file->at + file->used));
		}
		return 0;
	}
	if (ret < 0)
		return io_fail_contents(trace->io, trace->path, file->file.from, "Perfetto trace",
					file->problem, ret);
	if (ret > 0)
		ret = use_packet(trace, packet);
	else
		return 0;
	return ret < 0 ? ret : 1;
}

static int open_pftrace_file(struct trace *trace)
{
	struct pftrace *pftrace = trace->state;
	const int ret = pftrace_open(&pftrace->file, trace->io, trace->path);

	pftrace->is_open = true;
	return ret;
}

static void close_pftrace_file(struct pftrace *pftrace)
{
	if (pftrace->is_open)
		pftrace_close(&pftrace->file);
	pftrace->is_open = false;
}

/* ---- opening ---------------------------------------------------------------- */

static void warn_of_pftrace_problems(struct trace *trace)
{
	const struct pftrace *pftrace = trace->state;

	if (pftrace->invalid) {
		trace->info.damaged = 1;
		trace->readable = trace->path;
		io_warn(trace->io,
			"%s: %llu packets or events are invalid and were not used; the trace is damaged.",
			trace->path, (unsigned long long)pftrace->invalid);
	}
	if (pftrace->others)
		io_warn(trace->io,
			"%s: %llu packets that other machines recorded were not used; record one trace on each machine.",
			trace->path, (unsigned long long)pftrace->others);
	if (pftrace->unclocked)
		io_warn(trace->io,
			"%s: the events of %llu packets have another clock than those before them and were not used.",
			trace->path, (unsigned long long)pftrace->unclocked);
	if (pftrace->unusable)
		io_warn(trace->io,
			"%s: some netsync events, such as %s, are not used, because Perfetto does not record addresses; only TCP segments and clocks can be used. To use all events, record with trace-cmd or perf.",
			trace->path, pftrace->unusable);
	else if (pftrace->has_android && !pftrace->usable)
		io_warn(trace->io,
			"%s: Perfetto's own packet events contain neither addresses nor sequence numbers, so that packets of different machines cannot be matched; " RECORD_ADVICE
			".",
			trace->path);
}

/* Return whether there are events that have a known clock. If not, warn with the reason. */
static bool check_pftrace_contents(struct trace *trace)
{
	const struct pftrace *pftrace = trace->state;
	const char *why = NULL;

	if (pftrace->has_clock && !ftrace_clocks[pftrace->clock])
		why = "the clock of its ftrace events is unknown";
	else if (trace->range.hi < trace->range.lo)
		why = "it contains no ftrace events; " RECORD_ADVICE;
	if (why)
		io_warn(trace->io, "%s: %s. The trace was skipped.", trace->path, why);
	return !why;
}

/*
 * Name the host after the file, because Perfetto does not record the name of the machine. Identify
 * the clock by the file, because it does not record the boot.
 */
static int identify_pftrace(struct trace *trace)
{
	const struct pftrace *pftrace = trace->state;
	uint64_t id[2] = { 1, 2 };

	trace->host_name = tracefs_get_host_of_file(trace->real_path);
	trace->clock_name = strdup(ftrace_clocks[pftrace->clock]);
	if (!trace->host_name || !trace->clock_name)
		return io_fail_no_memory(trace->io);
	for (const char *c = trace->real_path; *c; c++)
		id[0] = (id[0] ^ (uint8_t)*c) * HASH_MULTIPLIER;
	memcpy(trace->uuid, id, UUID_SIZE);
	memcpy(trace->clock_uuid, id, UUID_SIZE);
	trace->has_uuid = true;
	trace->has_clock_uuid = true;
	return 1;
}

static int pftrace_reader_open(struct trace *trace)
{
	struct pftrace *pftrace = calloc(1, sizeof(*pftrace));
	int ret;

	trace->state = pftrace;
	trace->range.hi = -1;
	if (!pftrace)
		return io_fail_no_memory(trace->io);
	pftrace->span.hi = -1;
	pftrace->is_scanning = true;
	ret = open_pftrace_file(trace);
	while (!ret && (ret = read_pftrace_packet(trace)) > 0)
		ret = 0;
	close_pftrace_file(pftrace);
	if (ret < 0)
		return ret;
	warn_of_pftrace_problems(trace);
	if (!check_pftrace_contents(trace))
		return 0;
	pftrace->is_scanning = false;
	pftrace->lost = 0;
	pftrace->latest_ns = INT64_MIN;
	trace->has_network = pftrace->usable > 0;
	trace->has_netns = pftrace->has_netns;
	trace->has_unusable = pftrace->unusable || pftrace->has_android;
	return identify_pftrace(trace);
}

/* ---- reading ---------------------------------------------------------------- */

/* Return whether events up to this time may follow in the file. */
static bool can_follow(const struct pftrace *pftrace, int64_t until_ns)
{
	int64_t limit_ns;

	return __builtin_add_overflow(until_ns, DISORDER_NS, &limit_ns) ||
	       pftrace->latest_ns <= limit_ns;
}

static int pftrace_reader_read(struct trace *trace, int64_t until_ns)
{
	struct pftrace *pftrace = trace->state;
	int ret = pftrace->is_open ? 0 : open_pftrace_file(trace), spanned = 0;

	if (ret < 0)
		return ret;
	ret = 1;
	while (ret > 0 && can_follow(pftrace, until_ns))
		ret = read_pftrace_packet(trace);
	if (!ret) {
		trace->info.lost_events += pftrace->lost;
		pftrace->lost = 0;
	}
	if (ret >= 0 && pftrace->span.lo <= pftrace->span.hi)
		spanned = io_add_span(trace, pftrace->span.lo, pftrace->span.hi);
	return spanned < 0 ? spanned : ret;
}

static void pftrace_reader_close(struct trace *trace)
{
	struct pftrace *pftrace = trace->state;

	if (!pftrace)
		return;
	close_pftrace_file(pftrace);
	pftrace_free_types(&pftrace->types);
	free(pftrace);
}

const struct trace_reader pftrace_reader = {
	.format = "perfetto",
	.avoids_loss = "larger buffers (buffer_size_kb of linux.ftrace) avoid this",
	.to_record = RECORD_ADVICE,
	.claims = is_pftrace_file,
	.takes_compressed = true,
	.open = pftrace_reader_open,
	.read = pftrace_reader_read,
	.close = pftrace_reader_close,
};
