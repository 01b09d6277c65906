// SPDX-License-Identifier: GPL-2.0-only
/* Access results by index. For a valid index, this cannot fail. */
#include "result-info.h"

struct netsync_host_info get_host_info(const struct netsync *ns, uint32_t index)
{
	struct netsync_host_info info = { .size = sizeof(info) };

	netsync_get_host(ns, index, &info);
	return info;
}

struct netsync_pair_info get_pair_info(const struct netsync *ns, uint32_t index)
{
	struct netsync_pair_info info = { .size = sizeof(info) };

	netsync_get_pair(ns, index, &info);
	return info;
}

struct netsync_io_trace get_io_trace_info(const struct netsync_io *io, uint32_t index)
{
	struct netsync_io_trace info = { .size = sizeof(info) };

	netsync_io_get_trace(io, index, &info);
	return info;
}

struct netsync_step get_step_info(const struct netsync *ns, uint32_t host, uint32_t index)
{
	struct netsync_step info = { .size = sizeof(info) };

	netsync_get_step(ns, host, index, &info);
	return info;
}

struct netsync_stack get_stack_info(const struct netsync *ns, uint32_t host, enum netsync_dir dir)
{
	struct netsync_stack info = { .size = sizeof(info) };

	netsync_get_stack(ns, host, dir, &info);
	return info;
}

struct netsync_steering get_steering_info(const struct netsync *ns, uint32_t host)
{
	struct netsync_steering info = { .size = sizeof(info) };

	netsync_get_steering(ns, host, &info);
	return info;
}

bool clock_has_deviations(const struct netsync_clock *clock)
{
	struct netsync_model model = { .size = sizeof(model) };

	return clock && !netsync_clock_model(clock, &model) && model.num_deviations;
}
