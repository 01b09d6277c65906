// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attach probes to tracepoints and functions by name.
 * for_each_kernel_tracepoint() finds a tracepoint. ftrace calls a probe at the
 * start of a function, and a kretprobe calls it at the end.
 */
#include <linux/cpumask.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "attach.h"

char *netsync_without;

/* Return whether the parameter "without" lists this name. */
static bool is_probe_excluded(const char *name)
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

struct tracepoint_search {
	const char *name;
	struct tracepoint *found;
};

static void compare_tracepoint_name(struct tracepoint *tp, void *data)
{
	struct tracepoint_search *search = data;

	if (!strcmp(tp->name, search->name))
		search->found = tp;
}

static int attach_tracepoint(struct netsync_probe *probe)
{
	struct tracepoint_search search = { .name = probe->name };

	for_each_kernel_tracepoint(compare_tracepoint_name, &search);
	probe->found = search.found;
	if (!search.found)
		return -ENOENT;
	return tracepoint_probe_register(search.found, probe->tracepoint, NULL);
}

/* ---- functions ------------------------------------------------------------ */

#ifndef NETSYNC_NO_FUNCTIONS

/*
 * Find the address of a function. A kprobe finds only functions of the kernel itself, and only
 * those with unique names. ftrace would also accept functions of modules.
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

/*
 * ftrace calls this function. ftrace misses no call, whereas a kprobe would miss calls inside of
 * another kprobe.
 */
static notrace void at_probe_begin(unsigned long ip, unsigned long parent,
				   struct ftrace_ops *ops,
				   struct netsync_regs *regs)
{
	const struct netsync_probe *probe =
		container_of(ops, struct netsync_probe, ops);

	probe->begin((void *)netsync_argument(regs, 0),
		     (void *)netsync_argument(regs, 1));
}

static void detach_begin(struct netsync_probe *probe)
{
	unregister_ftrace_function(&probe->ops);
	/* Resetting the filter frees its hash tables. */
	ftrace_set_filter(&probe->ops, NULL, 0, 1);
}

/*
 * Let ftrace call the probe for one function only. Before 5.18, ftrace accepts only the address of
 * the ftrace call itself. On arm64, this call follows a NOP and possibly a BTI instruction.
 */
static int filter_function(struct ftrace_ops *ops, unsigned long address)
{
	int offset, err = -EINVAL;

	for (offset = 0; err == -EINVAL && offset <= NETSYNC_FTRACE_OFFSET;
	     offset += NETSYNC_FTRACE_ALIGN)
		err = ftrace_set_filter_ip(ops, address + offset, 0, 1);
	return err;
}

static int attach_begin(struct netsync_probe *probe)
{
	unsigned long address;
	int err = find_function(probe->name, &address);

	if (err)
		return err;
	memset(&probe->ops, 0, sizeof(probe->ops));
	probe->ops.func = at_probe_begin;
	probe->ops.flags = NETSYNC_FTRACE_FLAGS;
	err = filter_function(&probe->ops, address);
	/* -EINVAL means that the function was compiled without an ftrace call. */
	if (err)
		return err == -EINVAL ? -ENOENT : err;
	err = register_ftrace_function(&probe->ops);
	if (err)
		ftrace_set_filter(&probe->ops, NULL, 0, 1);
	return err;
}

static int attach_end(struct netsync_probe *probe)
{
	struct kretprobe *end = &probe->kretprobe;

	/* register_kretprobe() refuses a probe that has the state of an earlier registration. */
	memset(end, 0, sizeof(*end));
	end->kp.symbol_name = probe->name;
	end->entry_handler = probe->keep;
	end->handler = probe->end;
	end->data_size = sizeof(struct sock *);
	/*
	 * All processors may call the function at the same time. The function does not sleep, so
	 * each context (task, softirq, irq, NMI) has at most one call.
	 */
	end->maxactive = 4 * num_possible_cpus();
	return register_kretprobe(end);
}

static int attach_function(struct netsync_probe *probe)
{
	return probe->begin ? attach_begin(probe) : attach_end(probe);
}

static void detach_function(struct netsync_probe *probe)
{
	if (probe->begin)
		detach_begin(probe);
	else
		unregister_kretprobe(&probe->kretprobe);
}

/*
 * Return how many calls a kretprobe has missed since it was attached. Other kinds of probes do not
 * miss calls.
 */
static unsigned long count_missed_calls(const struct netsync_probe *probe)
{
	return probe->attached && probe->end ?
		       probe->kretprobe.nmissed + probe->kretprobe.kp.nmissed : 0;
}

/* If the kernel lacks a feature that the probe needs, return the feature's name. */
static const char *get_missing_feature(const struct netsync_probe *probe)
{
	return probe->name;
}

#else

static int attach_function(struct netsync_probe *probe)
{
	return -ENOENT;
}

static void detach_function(struct netsync_probe *probe)
{
}

static unsigned long count_missed_calls(const struct netsync_probe *probe)
{
	return 0;
}

static const char *get_missing_feature(const struct netsync_probe *probe)
{
	return probe->tracepoint ? probe->name : NETSYNC_NO_FUNCTIONS;
}

#endif

/* ---- probes of both kinds ------------------------------------------------- */

static int attach_probe(struct netsync_probe *probe)
{
	int err;

	if (is_probe_excluded(probe->name))
		err = -ENOENT;
	else if (probe->tracepoint)
		err = attach_tracepoint(probe);
	else
		err = attach_function(probe);
	probe->attached = !err;
	return err;
}

static void detach_probe(struct netsync_probe *probe)
{
	if (!probe->attached)
		return;
	if (probe->tracepoint)
		tracepoint_probe_unregister(probe->found, probe->tracepoint,
					    NULL);
	else
		detach_function(probe);
	probe->missed += count_missed_calls(probe);
	probe->attached = false;
}

int netsync_attach(struct netsync_probe *all, int num, const char **missing)
{
	int i, err;

	for (i = 0; i < num; i++) {
		err = attach_probe(&all[i]);
		if (!err || (err == -ENOENT && all[i].optional))
			continue;
		if (err == -ENOENT)
			*missing = get_missing_feature(&all[i]);
		netsync_detach(all, num);
		return err;
	}
	return 0;
}

void netsync_detach(struct netsync_probe *all, int num)
{
	int i;

	for (i = 0; i < num; i++)
		detach_probe(&all[i]);
	tracepoint_synchronize_unregister();
}

unsigned long netsync_missed(const struct netsync_probe *all, int num)
{
	unsigned long missed = 0;
	int i;

	for (i = 0; i < num; i++)
		missed += all[i].missed + count_missed_calls(&all[i]);
	return missed;
}
