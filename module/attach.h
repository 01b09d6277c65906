/* SPDX-License-Identifier: GPL-2.0-only */
/* Places in the kernel that are found by name. */
#ifndef NETSYNC_ATTACH_H
#define NETSYNC_ATTACH_H

#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/types.h>

#include "compat.h"

struct tracepoint;

/*
 * A tracepoint, which need not be exported to modules, or the begin or the end
 * of a function. The end only of functions that wait for nothing, as there is
 * room for so many calls at a time, and that tasks call: the probe of a function
 * that an interrupt calls is missed while it interrupts another probe.
 */
struct netsync_probe {
	const char *name;
	bool optional;			/* some kernels have it, or need it */
	/* What runs there, one of these: */
	void *tracepoint;
	void (*begin)(const void *first, const void *second);	/* arguments */
	kretprobe_handler_t end;
	/* Before the last one: keeps the socket for it. */
	kretprobe_handler_t keep;
	/* Kept by attach.c: */
	bool attached;
	struct tracepoint *found;
#ifndef NETSYNC_NO_FUNCTIONS
	struct ftrace_ops ops;
	struct kretprobe kretprobe;
#endif
	unsigned long missed;		/* of earlier times that it was attached */
};

/*
 * Attach all of an array, or none. Return: 0; -ENOENT: one that is not optional
 * is not there, and *missing is its name; or another negative errno.
 */
int netsync_attach(struct netsync_probe *all, int num, const char **missing);

/* Return when none of them runs any more. */
void netsync_detach(struct netsync_probe *all, int num);

/* A source (see events.h) that is such an array. */
#define NETSYNC_SOURCE(source, array)                                          \
	static int attach_##array(void)                                        \
	{                                                                      \
		return netsync_attach(array, ARRAY_SIZE(array),                \
				      &netsync_##source.missing);              \
	}                                                                      \
									       \
	static void detach_##array(void)                                       \
	{                                                                      \
		netsync_detach(array, ARRAY_SIZE(array));                      \
	}                                                                      \
									       \
	struct netsync_source netsync_##source = {                             \
		.attach = attach_##array,                                      \
		.detach = detach_##array,                                      \
	}

/* Calls of functions that were not seen since the module is loaded. */
unsigned long netsync_missed(const struct netsync_probe *all, int num);

/* Names, separated by commas, that are taken for missing, for tests. */
extern char *netsync_without;

#endif /* NETSYNC_ATTACH_H */
