// SPDX-License-Identifier: GPL-2.0-only
/* Find the last steps of all clocks, which netsync live displays. */
#include <string.h>

#include "live-state.h"
#include "result-info.h"

/* Return the time of a step on the reference clock. */
static int64_t correct_live_time(const struct netsync *ns, const struct live_step *step)
{
	int64_t time = step->step.time_ns;

	netsync_convert(netsync_host_clock(ns, step->host), time, &time, NULL);
	return time;
}

uint32_t live_list_last_steps(const struct netsync *ns, struct live_step *steps)
{
	uint32_t num = 0;

	for (uint32_t host = 0; host < netsync_num_hosts(ns); host++) {
		uint32_t all = get_host_info(ns, host).num_steps;
		uint32_t i = all > LIVE_STEPS ? all - LIVE_STEPS : 0;

		for (; i < all; i++) {
			struct live_step step = { host, get_step_info(ns, host, i) };
			int64_t time = correct_live_time(ns, &step);
			uint32_t at = num;

			while (at && correct_live_time(ns, &steps[at - 1]) > time)
				at--;
			if (num == LIVE_STEPS && !at)
				continue;
			if (num == LIVE_STEPS) {
				memmove(steps, steps + 1, --at * sizeof(*steps));
			} else {
				memmove(steps + at + 1, steps + at, (num++ - at) * sizeof(*steps));
			}
			steps[at] = step;
		}
	}
	return num;
}
