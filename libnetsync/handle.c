// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the files with public calls share: errors, and the state of a struct netsync. */
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

int handle_no_memory(struct netsync *ns)
{
	return handle_fail(ns, -ENOMEM, "not enough memory");
}

int handle_cannot_match(struct netsync *ns, int error)
{
	if (error == -EOWNERDEAD)
		return handle_fail(
			ns, error,
			"this process was forked while threads matched packets, and has none of them: fork before packets are pushed, or after netsync_solve()");
	return handle_no_memory(ns);
}

struct steered_hosts handle_steered_hosts(const struct netsync *ns)
{
	return (struct steered_hosts){ ns->host, ns->steering,
				       (uint32_t)ns->num_hosts };
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
