// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpumask.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "attach.h"
#include "compat.h"

char *netsync_without;

static bool is_without(const char *name)
{
	size_t len = strlen(name);
	const char *p;

	for (p = netsync_without; p; p = strchr(p, ',')) {
		p += *p == ',';
		if (!strncmp(p, name, len) && (!p[len] || p[len] == ','))
			return true;
	}
	return false;
}

/* ---- tracepoints ---------------------------------------------------------- */

struct search {
	const char *name;
	struct tracepoint *found;
};

static void compare(struct tracepoint *tp, void *data)
{
	struct search *search = data;

	if (!strcmp(tp->name, search->name))
		search->found = tp;
}

static int attach_tracepoint(struct netsync_place *place, const char *name)
{
	struct search search = { .name = name };

	for_each_kernel_tracepoint(compare, &search);
	place->found = search.found;
	if (!search.found)
		return -ENOENT;
	return tracepoint_probe_register(search.found, place->tracepoint, NULL);
}

/* ---- functions ------------------------------------------------------------ */

#if IS_ENABLED(CONFIG_KRETPROBES) && \
	IS_ENABLED(CONFIG_HAVE_FUNCTION_ARG_ACCESS_API)

static int attach_function(struct netsync_place *place, const char *name)
{
	struct kretprobe *probe = &place->probe;

	/* Of the last time, it would be in the way. */
	memset(probe, 0, sizeof(*probe));
	probe->kp.symbol_name = name;
	if (place->begin) {
		probe->kp.pre_handler = place->begin;
		return register_kprobe(&probe->kp);
	}
	probe->entry_handler = place->keep;
	probe->handler = place->end;
	probe->data_size = sizeof(struct sock *);
	/* They do not wait: one for each context that a processor can be in. */
	probe->maxactive = 4 * num_possible_cpus();
	return register_kretprobe(probe);
}

static void detach_function(struct netsync_place *place)
{
	if (place->begin)
		unregister_kprobe(&place->probe.kp);
	else
		unregister_kretprobe(&place->probe);
}

#else

static int attach_function(struct netsync_place *place, const char *name)
{
	return -ENOENT;
}

static void detach_function(struct netsync_place *place)
{
}

#endif

/* Tracepoints miss nothing. */
static unsigned long missed_now(const struct netsync_place *place)
{
	return place->attached && !place->tracepoint ?
		       place->probe.nmissed + place->probe.kp.nmissed : 0;
}

/* ---- either --------------------------------------------------------------- */

static int attach(struct netsync_place *place)
{
	int i, err = -ENOENT;

	for (i = 0; i < ARRAY_SIZE(place->names) && place->names[i]; i++) {
		const char *name = place->names[i];

		if (is_without(name))
			continue;
		err = place->tracepoint ? attach_tracepoint(place, name) :
					  attach_function(place, name);
		if (err != -ENOENT)
			break;
	}
	place->attached = !err;
	return err;
}

static void detach(struct netsync_place *place)
{
	if (!place->attached)
		return;
	if (place->tracepoint)
		tracepoint_probe_unregister(place->found, place->tracepoint,
					    NULL);
	else
		detach_function(place);
	place->missed += missed_now(place);
	place->attached = false;
}

int netsync_attach(struct netsync_place *all, int num, const char **missing)
{
	int i, err;

	for (i = 0; i < num; i++) {
		err = attach(&all[i]);
		if (!err || (err == -ENOENT && all[i].optional))
			continue;
		if (err == -ENOENT)
			*missing = all[i].names[0];
		netsync_detach(all, num);
		return err;
	}
	return 0;
}

void netsync_detach(struct netsync_place *all, int num)
{
	int i;

	for (i = 0; i < num; i++)
		detach(&all[i]);
	tracepoint_synchronize_unregister();
}

unsigned long netsync_missed(const struct netsync_place *all, int num)
{
	unsigned long missed = 0;
	int i;

	for (i = 0; i < num; i++)
		missed += all[i].missed + missed_now(&all[i]);
	return missed;
}
