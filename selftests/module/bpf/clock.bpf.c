// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write the records of netsync_clock events into a ring buffer. One program uses the raw
 * tracepoint, the other one uses the trace event. clock.c attaches one of them.
 */
#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>

/* Types for the event's fields, which the module's own table defines. */
typedef __s64 s64;
typedef __u32 u32;
typedef __u64 u64;
#include "../../../module/clock.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} records SEC(".maps");

/* The raw tracepoint's argument is the record that the module writes. */
SEC("raw_tp/netsync_clock")
int raw_tracepoint(struct bpf_raw_tracepoint_args *ctx)
{
	struct netsync_clock_record rec;

	if (!bpf_probe_read_kernel(&rec, sizeof(rec), (const void *)ctx->args[0]))
		bpf_ringbuf_output(&records, &rec, sizeof(rec), 0);
	return 0;
}

/*
 * Offset of the first field that is specific to the event: some kernels add common fields before
 * it.
 */
const volatile u32 first_field = 8;

/* The trace event's fields have the same layout as the fields of the record. */
SEC("tp/netsync/netsync_clock")
int trace_event(const char *ctx)
{
	struct netsync_clock_record rec;

	if (!bpf_probe_read_kernel(&rec, sizeof(rec), ctx + first_field))
		bpf_ringbuf_output(&records, &rec, sizeof(rec), 0);
	return 0;
}
