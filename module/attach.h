/* SPDX-License-Identifier: GPL-2.0-only */
/* Attach probes to kernel tracepoints and functions by name. */
#ifndef NETSYNC_ATTACH_H
#define NETSYNC_ATTACH_H

#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/types.h>

#include "compat.h"

struct tracepoint;

/*
 * A probe of a tracepoint, or of the start or end of a function. The tracepoint need not be
 * exported to modules. Probe the end of a function only if the function does not sleep, because the
 * number of concurrent calls is limited, and if tasks call it: the probe misses a call in an
 * interrupt that hit another probe.
 */
struct netsync_probe {
	const char *name;
	bool optional;			/* whether some kernels lack it or do not need it */
	/* One of the next three members is set. */
	void *tracepoint;
	/* Called at the start of the function with the function's arguments. */
	void (*begin)(const void *first, const void *second);
	kretprobe_handler_t end;
	/* Called at the start of the function to store the socket for @end. */
	kretprobe_handler_t keep;
	/* Only attach.c uses the following members. */
	bool attached;
	struct tracepoint *found;
#ifndef NETSYNC_NO_FUNCTIONS
	struct ftrace_ops ops;
	struct kretprobe kretprobe;
#endif
	/* Number of calls that were missed before the last detach. */
	unsigned long missed;
};

/*
 * Initialize a probe of a tracepoint whose declaration is included. The build fails if the
 * arguments of the tracepoint and of the function differ. This check is necessary because dkms
 * builds for untested kernels. sizeof makes the compiler check the call without calling anything.
 */
#define NETSYNC_TRACEPOINT(_name, _function)                                   \
	.name = #_name,                                                        \
	.tracepoint = __builtin_choose_expr(                                   \
		sizeof((check_trace_callback_type_##_name(_function), 1)),     \
		_function, NULL)

/*
 * Attach all probes of an array, or none. Return 0 or a negative errno value. -ENOENT means that
 * the kernel lacks a required probe; *missing is then set to its name.
 */
int netsync_attach(struct netsync_probe *all, int num, const char **missing);

/* Detach all probes of an array. Wait until no probe is running. */
void netsync_detach(struct netsync_probe *all, int num);

/* Define a source of events (events.h) from an array of probes. */
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

/* Return how many calls the probes have missed since the module was loaded. */
unsigned long netsync_missed(const struct netsync_probe *all, int num);

/* Names, separated by commas. The module acts as if the kernel lacked them. Tests use this. */
extern char *netsync_without;

#endif /* NETSYNC_ATTACH_H */
