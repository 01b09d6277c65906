// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Functions that the files with public calls share. These functions set errors, manage the state of
 * a struct netsync, and add messages.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "handle.h"

int handle_fail(struct netsync *ns, int error, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ns->error, sizeof(ns->error), fmt, ap);
	va_end(ap);
	return error;
}

int handle_fail_no_memory(struct netsync *ns)
{
	return handle_fail(ns, -ENOMEM, "out of memory");
}

int handle_fail_to_match(struct netsync *ns, int error)
{
	if (error == -EOWNERDEAD)
		return handle_fail(
			ns, error,
			"the threads that matched packets do not exist in this forked process; fork before packets are pushed, or after netsync_solve()");
	return handle_fail_no_memory(ns);
}

struct steered_hosts handle_get_steered_hosts(const struct netsync *ns)
{
	return (struct steered_hosts){ ns->host, ns->steering, (uint32_t)ns->num_hosts };
}

void handle_gather_parts(struct netsync *ns, uint32_t host)
{
	struct host *h = &ns->host[host];

	for (size_t i = 0; i < PAIR_PARTS; i++) {
		struct used *used = &ns->used[i][host];

		h->last_used = max64(h->last_used, used->last);
		resolution_merge(&h->resolution, &used->resolution, 0);
		*used = (struct used){ .last = INT64_MIN };
	}
}

static int defer_message(struct netsync *ns, uint32_t from, uint32_t to, int64_t send, int64_t recv)
{
	const struct held_message m = {
		from,
		to,
		ns->host[from].origin + send,
		ns->host[to].origin + recv,
	};
	const struct steered_hosts hosts = handle_get_steered_hosts(ns);

	return held_add_message(&ns->held, &m, &ns->pairs, &hosts);
}

static bool is_either_steered(const struct netsync *ns, uint32_t from, uint32_t to)
{
	return ns->steered && (steering_has_readings(&ns->steering[from]) ||
			       steering_has_readings(&ns->steering[to]));
}

/*
 * Add a message between hosts that are not known to be steered. The message's times are relative to
 * the hosts' origins.
 */
static int add_unsteered_message(struct netsync *ns, uint32_t from, uint32_t to, int64_t send,
				 int64_t recv)
{
	struct used *used = ns->used[get_pair_part(from, to)];
	const struct endpoint ends[] = {
		{ from, ns->host[from].origin, send },
		{ to, ns->host[to].origin, recv },
	};

	used[from].last = max64(used[from].last, send);
	used[to].last = max64(used[to].last, recv);
	return pairs_add_concurrently(&ns->pairs, &ends[0], &ends[1]);
}

/*
 * Sort the early messages of a part. Defer messages of hosts that have turned out to be steered. If
 * @all is true, use all other messages. Return 0 or -ENOMEM. After -ENOMEM, the next call tries
 * again with the remaining messages.
 */
static int sort_early_messages_of_part(struct netsync *ns, struct early *early, bool all)
{
	size_t kept = 0;
	int ret = 0;

	for (size_t i = 0; i < early->num; i++) {
		const struct held_message m = early->message[i];
		const int64_t send = m.send - ns->host[m.from].origin;
		const int64_t recv = m.recv - ns->host[m.to].origin;
		const bool is_held = is_either_steered(ns, m.from, m.to);

		if (!ret && is_held)
			ret = defer_message(ns, m.from, m.to, send, recv);
		else if (!ret && all)
			ret = add_unsteered_message(ns, m.from, m.to, send, recv);
		if (ret || !(is_held || all))
			early->message[kept++] = m;
	}
	early->num = kept;
	if (!kept) {
		free(early->message);
		*early = (struct early){ 0 };
	}
	return ret;
}

int handle_sort_early_messages(struct netsync *ns, bool all)
{
	int ret = 0;

	for (size_t i = 0; i < PAIR_PARTS && !ret; i++)
		ret = sort_early_messages_of_part(ns, &ns->early[i], all);
	if (all && !ret)
		pairs_share_budget(&ns->pairs);
	return ret;
}

int handle_add_message(struct netsync *ns, uint32_t from, uint32_t to, int64_t send, int64_t recv)
{
	const size_t part = get_pair_part(from, to);
	struct used *used = ns->used[part];
	struct early *early = &ns->early[part];
	int ret = 0;

	resolution_add(&used[from].resolution, send);
	resolution_add(&used[to].resolution, recv);
	if (is_either_steered(ns, from, to))
		return defer_message(ns, from, to, send, recv);
	/*
	 * Early messages are stored first, because pairs need less memory if messages are added in
	 * order of time.
	 */
	if (early->num >= MOST_EARLY || (early->num && send >= EARLY_NS && recv >= EARLY_NS))
		ret = sort_early_messages_of_part(ns, early, true);
	if (ret)
		return ret;
	if (send >= EARLY_NS && recv >= EARLY_NS)
		return add_unsteered_message(ns, from, to, send, recv);
	return early_keep_message(early,
				  &(struct held_message){ from, to, ns->host[from].origin + send,
							  ns->host[to].origin + recv });
}

void handle_drop_results(struct netsync *ns)
{
	for (size_t i = 0; i < ns->num_hosts; i++)
		host_clear(&ns->host[i]);
	free(ns->pair_info);
	ns->pair_info = NULL;
	ns->num_pair_info = 0;
	ns->solved = false;
}

uint32_t handle_find_host(const struct netsync *ns, const char *name)
{
	for (uint32_t i = 0; i < ns->num_hosts; i++)
		if (!strcmp(ns->host[i].name, name))
			return i;
	return NO_HOST;
}
