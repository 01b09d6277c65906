/* SPDX-License-Identifier: GPL-2.0-only */
/* Return the libraries' information about hosts, pairs and traces by value. */
#ifndef NETSYNC_RESULT_INFO_H
#define NETSYNC_RESULT_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include <netsync-io.h>
#include <netsync.h>

struct netsync_host_info get_host_info(const struct netsync *ns, uint32_t index);
struct netsync_pair_info get_pair_info(const struct netsync *ns, uint32_t index);
struct netsync_step get_step_info(const struct netsync *ns, uint32_t host, uint32_t index);
struct netsync_stack get_stack_info(const struct netsync *ns, uint32_t host, enum netsync_dir dir);
struct netsync_steering get_steering_info(const struct netsync *ns, uint32_t host);
struct netsync_io_trace get_io_trace_info(const struct netsync_io *io, uint32_t index);

/* Return whether the method computed standard deviations of a clock, which may be NULL. */
bool clock_has_deviations(const struct netsync_clock *clock);

#endif
