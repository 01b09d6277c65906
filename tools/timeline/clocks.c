// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write a file in Perfetto's own format that relates clocks of machines. Perfetto converts a time
 * with the last reading at or before it (clock_synchronizer.cc), and does not interpolate. Drift of
 * a clock is therefore a staircase of readings.
 */
#include "protobuf.h"

typedef Perfetto__Protos__ClockSnapshot ClockSnapshot;
typedef Perfetto__Protos__ClockSnapshot__Clock Clock;
typedef Perfetto__Protos__RemoteClockSync RemoteClockSync;
typedef Perfetto__Protos__RemoteClockSync__SyncedClocks SyncedClocks;

/* Maximum number of clocks of one reading, which is the number of timeline_clock_id. */
#define MAX_CLOCKS 5

static Clock make_clock_reading(enum timeline_clock_id id, int64_t time_ns)
{
	Clock clock = PERFETTO__PROTOS__CLOCK_SNAPSHOT__CLOCK__INIT;

	clock.has_clock_id = true;
	clock.clock_id = id;
	clock.has_timestamp = true;
	clock.timestamp = (uint64_t)time_ns;
	return clock;
}

bool timeline_open_clocks(struct timeline *timeline, FILE *out)
{
	return protobuf_open_packets(timeline, out);
}

void timeline_put_clocks(struct timeline *timeline, uint32_t machine,
			 const struct timeline_clock *clocks, size_t num)
{
	TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	ClockSnapshot snapshot = PERFETTO__PROTOS__CLOCK_SNAPSHOT__INIT;
	Clock readings[MAX_CLOCKS], *pointers[MAX_CLOCKS];

	for (size_t i = 0; i < num && i < MAX_CLOCKS; i++) {
		readings[i] = make_clock_reading(clocks[i].id, clocks[i].time_ns);
		pointers[i] = &readings[i];
	}
	snapshot.n_clocks = num < MAX_CLOCKS ? num : MAX_CLOCKS;
	snapshot.clocks = pointers;
	packet.data_case = PERFETTO__PROTOS__TRACE_PACKET__DATA_CLOCK_SNAPSHOT;
	packet.clock_snapshot = &snapshot;
	packet.has_machine_id = machine != 0;
	packet.machine_id = machine;
	protobuf_append_packet(timeline, &packet);
}

void timeline_put_stair(struct timeline *timeline, uint32_t machine, int64_t time_ns,
			int64_t machine_0_ns)
{
	TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	RemoteClockSync sync = PERFETTO__PROTOS__REMOTE_CLOCK_SYNC__INIT;
	SyncedClocks synced = PERFETTO__PROTOS__REMOTE_CLOCK_SYNC__SYNCED_CLOCKS__INIT;
	/* Perfetto ignores the first pair of clocks, and averages all others. */
	SyncedClocks *twice[] = { &synced, &synced };
	ClockSnapshot client = PERFETTO__PROTOS__CLOCK_SNAPSHOT__INIT;
	ClockSnapshot host = PERFETTO__PROTOS__CLOCK_SNAPSHOT__INIT;
	Clock client_clock = make_clock_reading(TIMELINE_BOOTTIME, time_ns);
	Clock host_clock = make_clock_reading(TIMELINE_BOOTTIME, machine_0_ns);
	Clock *client_clocks[] = { &client_clock }, *host_clocks[] = { &host_clock };

	client.n_clocks = 1;
	client.clocks = client_clocks;
	host.n_clocks = 1;
	host.clocks = host_clocks;
	synced.client_clocks = &client;
	synced.host_clocks = &host;
	sync.n_synced_clocks = 2;
	sync.synced_clocks = twice;
	packet.data_case = PERFETTO__PROTOS__TRACE_PACKET__DATA_REMOTE_CLOCK_SYNC;
	packet.remote_clock_sync = &sync;
	packet.has_machine_id = true;
	packet.machine_id = machine;
	protobuf_append_packet(timeline, &packet);
}
