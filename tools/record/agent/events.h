/* SPDX-License-Identifier: GPL-2.0-only */
/* The events to record, and the channel of each. */
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
	bool syscalls; /* a pattern for names of system calls, not of events */
};

/* The chosen events of each channel. The structure owns the names. */
struct choice {
	struct chosen *list;
	size_t num;
};

/*
 * Choose among @num names, which are @stride bytes apart. Choose the packet events best suited
 * to synchronization, and the requested events ("events", "syscalls"). Patterns that match no
 * event are stored.
 */
void choose_kernel_events(struct choice *choice, struct json_object *request, const char *names,
			  size_t stride, size_t num);
/* Add all events of user space. */
void choose_user_events(struct choice *choice);
bool choice_has_domain(const struct choice *choice, enum domain domain);
/* Is there an event that reports how the clock is steered? */
bool choice_has_clock_event(const struct choice *choice);
void choice_free(struct choice *choice);

#endif
