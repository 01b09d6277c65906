/* SPDX-License-Identifier: GPL-2.0-only */
/* Which events are recorded, and into which channels. */
#ifndef NETSYNC_AGENT_EVENTS_H
#define NETSYNC_AGENT_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json.h>

enum domain { DOMAIN_KERNEL, DOMAIN_USER, NUM_DOMAINS };

struct chosen {
	enum domain domain;
	const char *channel;
	char *name;
	bool syscalls;		/* it is the name of system calls */
};

/* In the order of channels. Owns the names. */
struct choice {
	struct chosen *list;
	size_t num;
};

/*
 * Of @num names, each @stride bytes after the one before: the packet events
 * that synchronization is best done with, and those that the request asks for
 * ("events", "syscalls"). Says which are not there.
 */
void choose_kernel(struct choice *choice, struct json_object *request,
		   const char *names, size_t stride, size_t num);
/* All events of user space. */
void choose_user(struct choice *choice);
bool choice_has(const struct choice *choice, enum domain domain);
/* Do its events tell how the clock is steered? */
bool choice_tells_clock(const struct choice *choice);
void choice_free(struct choice *choice);

#endif
