/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of tracepoints and functions of the kernel -> functions that are called there. */
#ifndef NETSYNC_ATTACH_H
#define NETSYNC_ATTACH_H

#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/types.h>

#include "compat.h"

struct tracepoint;

/*
 * A probe of a tracepoint, which need not be exported to modules, or of the begin or end
 * of a function. Ends only of functions that do not sleep, as the number of calls at a
 * time is limited, and that tasks call: in an interrupt, the probe would be missed while
 * it interrupts another probe.
 */
struct netsync_probe {
	const char *name;
	bool optional;			/* not all kernels have it, or need it */
	/* The function that is called, one of three: */
	void *tracepoint;
	void (*begin)(const void *first, const void *second);	/* arguments */
	kretprobe_handler_t end;
	/* Called at the function's begin: keeps the socket for end. */
	kretprobe_handler_t keep;
	/* Kept by attach.c: */
	bool attached;
	struct tracepoint *found;
#ifndef NETSYNC_NO_FUNCTIONS
	struct ftrace_ops ops;
	struct kretprobe kretprobe;
#endif
	unsigned long missed;		/* calls that were missed before the last detach */
};

/*
 * Initialize a probe of a tracepoint whose declaration is included. The build fails if the
 * kernel calls the tracepoint with other arguments than the function takes: dkms builds
 * for kernels that nobody tried. Nothing is called; sizeof has the compiler check the call.
 */
#define NETSYNC_TRACEPOINT(_name, _function)                                   \
	.name = #_name,                                                        \
	.tracepoint = __builtin_choose_expr(                                   \
		sizeof((check_trace_callback_type_##_name(_function), 1)),     \
		_function, NULL)

/*
 * Attach all probes of an array, or none. Return: 0; -ENOENT: the kernel does not have
 * one that is not optional, and *missing is its name; or another negative errno.
 */
int netsync_attach(struct netsync_probe *all, int num, const char **missing);

/* Detach all probes of an array, and wait until none runs any more. */
void netsync_detach(struct netsync_probe *all, int num);

/* Define a source of events (events.h) that is an array of probes. */
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

/* The number of calls that the probes missed since the module was loaded. */
unsigned long netsync_missed(const struct netsync_probe *all, int num);

/* For tests: names, separated by commas, that are treated as missing in the kernel. */
extern char *netsync_without;

#endif /* NETSYNC_ATTACH_H */
