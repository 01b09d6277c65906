// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpumask.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "attach.h"

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

static int attach_tracepoint(struct netsync_place *place)
{
	struct search search = { .name = place->name };

	for_each_kernel_tracepoint(compare, &search);
	place->found = search.found;
	if (!search.found)
		return -ENOENT;
	return tracepoint_probe_register(search.found, place->tracepoint, NULL);
}

/* ---- functions ------------------------------------------------------------ */

#ifdef NETSYNC_FUNCTIONS

/*
 * Where it begins. A probe finds names in the kernel itself only, each of which
 * is one function; there may be others of that name in modules.
 */
static int find_function(const char *name, unsigned long *address)
{
	struct kprobe probe = {
		.symbol_name = name, .flags = KPROBE_FLAG_DISABLED,
	};
	int err = register_kprobe(&probe);

	if (err)
		return err;
	*address = (unsigned long)probe.addr;
	unregister_kprobe(&probe);
	return 0;
}

/* Unlike a probe this is not missed where it interrupts another one. */
static notrace void at_begin(unsigned long ip, unsigned long parent,
			     struct ftrace_ops *ops,
			     struct netsync_regs *regs)
{
	const struct netsync_place *place =
		container_of(ops, struct netsync_place, ops);

	place->begin((void *)netsync_argument(regs, 0),
		     (void *)netsync_argument(regs, 1));
}

static void detach_begin(struct netsync_place *place)
{
	unregister_ftrace_function(&place->ops);
	/* Gives back what it kept. */
	ftrace_set_filter(&place->ops, NULL, 0, 1);
}

static int attach_begin(struct netsync_place *place)
{
	unsigned long address;
	int err = find_function(place->name, &address);

	if (err)
		return err;
	memset(&place->ops, 0, sizeof(place->ops));
	place->ops.func = at_begin;
	place->ops.flags = NETSYNC_FTRACE_FLAGS;
	err = ftrace_set_filter_ip(&place->ops, address, 0, 1);
	/* A function that is not made to be traced. */
	if (err)
		return err == -EINVAL ? -ENOENT : err;
	err = register_ftrace_function(&place->ops);
	if (err)
		ftrace_set_filter(&place->ops, NULL, 0, 1);
	return err;
}

static int attach_end(struct netsync_place *place)
{
	struct kretprobe *probe = &place->probe;

	/* Of the last time, it would be in the way. */
	memset(probe, 0, sizeof(*probe));
	probe->kp.symbol_name = place->name;
	probe->entry_handler = place->keep;
	probe->handler = place->end;
	probe->data_size = sizeof(struct sock *);
	/* They do not wait: one for each context that a processor can be in. */
	probe->maxactive = 4 * num_possible_cpus();
	return register_kretprobe(probe);
}

static int attach_function(struct netsync_place *place)
{
	return place->begin ? attach_begin(place) : attach_end(place);
}

static void detach_function(struct netsync_place *place)
{
	if (place->begin)
		detach_begin(place);
	else
		unregister_kretprobe(&place->probe);
}

#else

static int attach_function(struct netsync_place *place)
{
	return -ENOENT;
}

static void detach_function(struct netsync_place *place)
{
}

#endif

/* The others miss nothing. */
static unsigned long missed_now(const struct netsync_place *place)
{
	return place->attached && place->end ?
		       place->probe.nmissed + place->probe.kp.nmissed : 0;
}

/* ---- either --------------------------------------------------------------- */

static int attach(struct netsync_place *place)
{
	int err;

	if (is_without(place->name))
		err = -ENOENT;
	else if (place->tracepoint)
		err = attach_tracepoint(place);
	else
		err = attach_function(place);
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
			*missing = all[i].name;
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
