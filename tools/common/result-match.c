// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the host in a result file that corresponds to a host that was read. Search by name, and
 * check the clock.
 */
#include <string.h>

#include "result-file.h"
#include "result-info.h"

/* Find the clock of a host's traces. Return false if the host has no trace. */
static bool get_result_clock(const struct netsync_io *io, uint32_t host, struct model_clock *clock)
{
	for (uint32_t i = 0; i < netsync_io_num_traces(io); i++) {
		const struct netsync_io_trace info = get_io_trace_info(io, i);

		if (info.host != host)
			continue;
		*clock = (struct model_clock){
			.host_name = info.host_name,
			.name = info.clock_name,
			.has_uuid = info.has_clock_uuid,
			.epoch_ns = info.epoch_ns + info.shift_ns,
		};
		memcpy(clock->uuid, info.clock_uuid, sizeof(clock->uuid));
		return true;
	}
	return false;
}

/*
 * Check a host that was found by its name. The host may be another boot, or another machine with
 * the same name.
 */
static int check_host_traces(struct model *model, const struct netsync_io *io, uint32_t host,
			     const struct model_clock *clock, const struct model_host **found)
{
	int ret = model_check_clock(model, clock, found);

	for (uint32_t i = 0; i < netsync_io_num_traces(io) && !ret; i++) {
		const struct netsync_io_trace info = get_io_trace_info(io, i);

		if (info.host == host)
			ret = model_check_file(model, *found, info.path);
	}
	return ret;
}

int model_match(struct model *model, const struct netsync *ns, const struct netsync_io *io,
		uint32_t host, const struct model_host **found, int64_t *shift_ns)
{
	struct model_clock clock;
	const bool has_clock = get_result_clock(io, host, &clock);
	int ret = model_find_name(model, get_host_info(ns, host).name, found);

	*shift_ns = 0;
	if (has_clock)
		ret = ret ? model_find_clock(model, &clock, found) :
			    check_host_traces(model, io, host, &clock, found);
	if (!ret && has_clock && (*found)->has_traces)
		ret = model_find_shift(model, *found, &clock, shift_ns);
	return ret;
}
