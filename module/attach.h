/* SPDX-License-Identifier: GPL-2.0-only */
/* Places in the kernel that are found by name. */
#ifndef NETSYNC_ATTACH_H
#define NETSYNC_ATTACH_H

#include <linux/kprobes.h>
#include <linux/types.h>

struct tracepoint;

/* A tracepoint that is not exported to modules. */
struct netsync_tracepoint {
	const char *name;
	void *probe;
	bool optional;			/* some kernels have it, or need it */
	struct tracepoint *attached;
};

/*
 * The begin or the end of a function, and the names by which kernels know it;
 * the first that exists is taken. The end only of functions that wait for
 * nothing: there is room for so many calls at a time.
 */
struct netsync_function {
	const char *names[3];
	kprobe_pre_handler_t entry;
	/* Instead of that: the first keeps the socket, for the second. */
	kretprobe_handler_t ret_entry;
	kretprobe_handler_t ret;
	bool optional;
	struct kretprobe probe;
	bool attached;
	unsigned long missed;		/* of earlier times that it was attached */
};

/*
 * Attach all of an array, or none. Return: 0; -ENOENT: one that is not optional
 * is not there, and *missing is its name; or another negative errno.
 */
int netsync_attach_tracepoints(struct netsync_tracepoint *all, int num,
			       const char **missing);
int netsync_attach_functions(struct netsync_function *all, int num,
			     const char **missing);

/* Return when none of them runs any more. */
void netsync_detach_tracepoints(struct netsync_tracepoint *all, int num);
void netsync_detach_functions(struct netsync_function *all, int num);

/* Calls that were not seen since the module is loaded. */
unsigned long netsync_missed(const struct netsync_function *all, int num);

/* Names, separated by commas, that are taken for missing, for tests. */
extern char *netsync_without;

#endif /* NETSYNC_ATTACH_H */
