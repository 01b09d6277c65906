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

static int attach_tracepoint(struct netsync_tracepoint *t)
{
	struct search search = { .name = t->name };
	int err;

	if (!is_without(t->name))
		for_each_kernel_tracepoint(compare, &search);
	if (!search.found)
		return -ENOENT;
	err = tracepoint_probe_register(search.found, t->probe, NULL);
	if (!err)
		t->attached = search.found;
	return err;
}

int netsync_attach_tracepoints(struct netsync_tracepoint *all, int num,
			       const char **missing)
{
	int i, err;

	for (i = 0; i < num; i++) {
		err = attach_tracepoint(&all[i]);
		if (!err || (err == -ENOENT && all[i].optional))
			continue;
		if (err == -ENOENT)
			*missing = all[i].name;
		netsync_detach_tracepoints(all, num);
		return err;
	}
	return 0;
}

void netsync_detach_tracepoints(struct netsync_tracepoint *all, int num)
{
	int i;

	for (i = 0; i < num; i++) {
		if (all[i].attached)
			tracepoint_probe_unregister(all[i].attached,
						    all[i].probe, NULL);
		all[i].attached = NULL;
	}
	tracepoint_synchronize_unregister();
}

/* ---- functions ------------------------------------------------------------ */

#if IS_ENABLED(CONFIG_KRETPROBES) && \
	IS_ENABLED(CONFIG_HAVE_FUNCTION_ARG_ACCESS_API)

static int attach_by_name(struct netsync_function *f, const char *name)
{
	/* Of the last time, they would be in the way. */
	memset(&f->probe, 0, sizeof(f->probe));
	f->probe.kp.symbol_name = name;
	if (!f->ret) {
		f->probe.kp.pre_handler = f->entry;
		return register_kprobe(&f->probe.kp);
	}
	f->probe.entry_handler = f->ret_entry;
	f->probe.handler = f->ret;
	f->probe.data_size = sizeof(struct sock *);
	/* They do not wait: one for each context that a processor can be in. */
	f->probe.maxactive = 4 * num_possible_cpus();
	return register_kretprobe(&f->probe);
}

static int attach_function(struct netsync_function *f)
{
	int i, err = -ENOENT;

	for (i = 0; i < ARRAY_SIZE(f->names) && f->names[i]; i++) {
		if (is_without(f->names[i]))
			continue;
		err = attach_by_name(f, f->names[i]);
		if (err != -ENOENT)
			break;
	}
	f->attached = !err;
	return err;
}

static unsigned long missed_now(const struct netsync_function *f)
{
	return f->attached ? f->probe.nmissed + f->probe.kp.nmissed : 0;
}

static void detach_function(struct netsync_function *f)
{
	if (!f->attached)
		return;
	if (f->ret)
		unregister_kretprobe(&f->probe);
	else
		unregister_kprobe(&f->probe.kp);
	f->missed += missed_now(f);
	f->attached = false;
}

#else

static int attach_function(struct netsync_function *f)
{
	return -ENOENT;
}

static unsigned long missed_now(const struct netsync_function *f)
{
	return 0;
}

static void detach_function(struct netsync_function *f)
{
}

#endif

int netsync_attach_functions(struct netsync_function *all, int num,
			     const char **missing)
{
	int i, err;

	for (i = 0; i < num; i++) {
		err = attach_function(&all[i]);
		if (!err || (err == -ENOENT && all[i].optional))
			continue;
		if (err == -ENOENT)
			*missing = all[i].names[0];
		netsync_detach_functions(all, num);
		return err;
	}
	return 0;
}

void netsync_detach_functions(struct netsync_function *all, int num)
{
	int i;

	for (i = 0; i < num; i++)
		detach_function(&all[i]);
}

unsigned long netsync_missed(const struct netsync_function *all, int num)
{
	unsigned long missed = 0;
	int i;

	for (i = 0; i < num; i++)
		missed += all[i].missed + missed_now(&all[i]);
	return missed;
}
