// SPDX-License-Identifier: LGPL-2.1-or-later
/* The public calls that return the results of netsync_solve(). */
#include <errno.h>

#include "clock.h"
#include "handle.h"

const char *netsync_quality_name(enum netsync_quality quality)
{
	switch (quality) {
	case NETSYNC_ABSENT:
		return "absent";
	case NETSYNC_INCOMPLETE:
		return "incomplete";
	case NETSYNC_APPROXIMATE:
		return "approximate";
	case NETSYNC_ACCURATE:
		return "accurate";
	}
	return "unknown";
}

uint32_t netsync_num_hosts(const struct netsync *ns)
{
	return (uint32_t)ns->num_hosts;
}

uint32_t netsync_num_pairs(const struct netsync *ns)
{
	return (uint32_t)ns->num_pair_info;
}

int netsync_reference(const struct netsync *ns)
{
	return ns->solved ? (int)ns->reference : -ENODATA;
}

int netsync_get_host(const struct netsync *ns, uint32_t index, struct netsync_host_info *info)
{
	const struct host *h;
	struct netsync_host_info i;

	if (!ns->solved)
		return -ENODATA;
	if (index >= ns->num_hosts)
		return -EINVAL;
	h = &ns->host[index];
	i = (struct netsync_host_info){
		.quality = h->quality,
		.name = h->name,
		.packets = h->packets,
		.first_ns = 0,
		.last_ns = -1,
		.bound_median_ns = h->bound_median,
		.bound_max_ns = h->bound_max,
		.island = h->island,
		.num_steps = h->num_steps,
		.silent_ns = h->silent,
		.contradicted = h->contradicted,
		.deviation_median_ns = h->deviation_median,
		.deviation_max_ns = h->deviation_max,
	};
	if (h->first <= h->last) {
		i.first_ns = h->origin + (ns->solved ? h->span.lo : h->first);
		i.last_ns = h->origin + (ns->solved ? h->span.hi : h->last);
	}
	return copy_sized_struct(info, &i, sizeof(i));
}

int netsync_get_pair(const struct netsync *ns, uint32_t index, struct netsync_pair_info *info)
{
	if (!ns->solved)
		return -ENODATA;
	if (index >= ns->num_pair_info)
		return -EINVAL;
	return copy_sized_struct(info, &ns->pair_info[index], sizeof(*info));
}

int netsync_get_step(const struct netsync *ns, uint32_t host, uint32_t index,
		     struct netsync_step *step)
{
	if (!ns->solved)
		return -ENODATA;
	if (host >= ns->num_hosts || index >= ns->host[host].num_steps)
		return -EINVAL;
	return copy_sized_struct(step, &ns->host[host].step[index], sizeof(*step));
}

int netsync_get_stack(const struct netsync *ns, uint32_t host, enum netsync_dir dir,
		      struct netsync_stack *stack)
{
	if (!ns->solved)
		return -ENODATA;
	if (host >= ns->num_hosts || (dir != NETSYNC_OUT && dir != NETSYNC_IN))
		return -EINVAL;
	return copy_sized_struct(stack, &ns->host[host].stack[dir], sizeof(*stack));
}

int netsync_get_steering(const struct netsync *ns, uint32_t host, struct netsync_steering *info)
{
	if (!ns->solved)
		return -ENODATA;
	if (host >= ns->num_hosts)
		return -EINVAL;
	return copy_sized_struct(info, &ns->steering[host].reported, sizeof(*info));
}

int netsync_get_stats(const struct netsync *ns, struct netsync_stats *info)
{
	const struct matcher *m = &ns->matcher;
	struct netsync_stats s = {
		.packets = ns->packets,
		.matched = m->past.matched + m->live.matched,
		.unmatched = m->past.unmatched + m->live.unmatched,
		.ambiguous = m->past.ambiguous + m->live.ambiguous,
		.loopback = ns->loopback,
		.unsupported = ns->unsupported,
		.nat = m->past.nat + m->live.nat,
		.evicted = m->evicted,
	};

	if (!ns->solved)
		return -ENODATA;
	return copy_sized_struct(info, &s, sizeof(s));
}

const struct netsync_clock *netsync_host_clock(const struct netsync *ns, uint32_t host)
{
	return ns->solved && host < ns->num_hosts ? ns->host[host].clock : NULL;
}
