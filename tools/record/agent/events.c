// SPDX-License-Identifier: GPL-2.0-only
/* Chooses which of a machine's events are recorded, and the channel of each. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../libnetsync/util/array.h"
#include "agent.h"
#include "buffers.h"
#include "common/json-value.h"
#include "events.h"

struct names {
	const char *first;
	size_t stride;
	size_t num;
};

/* Pairs of packet events, the best one first. Only one pair is recorded. */
static const char *const pairs[][2] = {
	{ "inet_dev_xmit", "inet_dev_receive" },
	{ "inet_sock_local_out", "inet_sock_local_in" },
	{ "net_dev_queue", "net_if_receive_skb" },
};

#define NUM_PAIRS (sizeof(pairs) / sizeof(pairs[0]))

#define CLOCK_EVENT "netsync_clock"

static const char *get_event_name_at(const struct names *names, size_t index)
{
	return names->first + index * names->stride;
}

static bool has_event_name(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->num; i++)
		if (!strcmp(get_event_name_at(names, i), name))
			return true;
	return false;
}

static bool is_packet_event(const char *name)
{
	for (size_t i = 0; i < NUM_PAIRS; i++)
		if (!strcmp(name, pairs[i][0]) || !strcmp(name, pairs[i][1]))
			return true;
	return !fnmatch("inet_*_local_*", name, 0);
}

static void add_chosen_event(struct choice *choice, enum domain domain, const char *channel,
			     const char *name, bool syscalls)
{
	struct chosen *last;

	for (size_t i = 0; i < choice->num; i++)
		if (choice->list[i].domain == domain && choice->list[i].syscalls == syscalls &&
		    !strcmp(choice->list[i].name, name))
			return;
	last = array_add(&choice->list, choice->num, sizeof(*last));
	if (!last)
		return;
	choice->num++;
	*last = (struct chosen){
		.domain = domain,
		.channel = channel,
		.name = strdup(name),
		.syscalls = syscalls,
	};
}

/*
 * Add either the packet events or the other events that match a pattern. Return true if any event
 * matches.
 */
static bool choose_matching_events(struct choice *choice, const struct names *names,
				   const char *pattern, bool packets)
{
	bool found = false;

	for (size_t i = 0; i < names->num; i++) {
		const char *name = get_event_name_at(names, i);

		if (fnmatch(pattern, name, 0))
			continue;
		found = true;
		if (is_packet_event(name) == packets)
			add_chosen_event(choice, DOMAIN_KERNEL,
					 packets ? CHANNEL_PACKETS : CHANNEL_KERNEL, name, false);
	}
	return found;
}

static void choose_packet_events(struct choice *choice, const struct names *names)
{
	size_t best = 0;

	while (best < NUM_PAIRS &&
	       !(has_event_name(names, pairs[best][0]) && has_event_name(names, pairs[best][1])))
		best++;
	if (best == NUM_PAIRS) {
		agent_send_warning(
			"this machine cannot be synchronized: LTTng has neither the packet events of netsync nor its own.");
		return;
	}
	for (int i = 0; i < 2; i++)
		add_chosen_event(choice, DOMAIN_KERNEL, CHANNEL_PACKETS, pairs[best][i], false);
	if (best == NUM_PAIRS - 1)
		agent_send_note(
			"the kernel modules of netsync are not loaded; recording LTTng's own network events, which have larger delays.");
}

/*
 * Add the event that reports clock steering. With this event, clocks are estimated as if they
 * were not steered.
 */
static void choose_clock_event(struct choice *choice, const struct names *names)
{
	if (has_event_name(names, CLOCK_EVENT))
		add_chosen_event(choice, DOMAIN_KERNEL, CHANNEL_PACKETS, CLOCK_EVENT, false);
}

static const char *get_event_pattern_at(struct json_object *patterns, size_t index)
{
	const char *pattern = value_get_text(value_get_element(patterns, index), SIZE_MAX);

	return pattern ? pattern : "";
}

void choose_kernel_events(struct choice *choice, struct json_object *request, const char *names,
			  size_t stride, size_t num)
{
	const struct names all = { names, stride, num };
	struct json_object *patterns;
	char *missing = NULL;
	size_t len, size;
	FILE *list = open_memstream(&missing, &size);

	choose_packet_events(choice, &all);
	choose_clock_event(choice, &all);
	patterns = value_get_member(request, "events");
	len = value_get_length(patterns);
	for (size_t i = 0; i < len; i++)
		choose_matching_events(choice, &all, get_event_pattern_at(patterns, i), true);
	for (size_t i = 0; i < len; i++) {
		const char *pattern = get_event_pattern_at(patterns, i);

		if (!choose_matching_events(choice, &all, pattern, false) && list)
			fprintf(list, " %s", pattern);
	}
	if (member_get_flag(request, "syscalls"))
		add_chosen_event(choice, DOMAIN_KERNEL, CHANNEL_KERNEL, "*", true);
	if (list)
		fclose(list);
	if (missing && *missing)
		agent_send_note("these events do not exist:%s.", missing);
	free(missing);
}

void choose_user_events(struct choice *choice)
{
	add_chosen_event(choice, DOMAIN_USER, CHANNEL_USER, "*", false);
}

bool choice_has_domain(const struct choice *choice, enum domain domain)
{
	for (size_t i = 0; i < choice->num; i++)
		if (choice->list[i].domain == domain)
			return true;
	return false;
}

bool choice_has_clock_event(const struct choice *choice)
{
	for (size_t i = 0; i < choice->num; i++)
		if (!strcmp(choice->list[i].name, CLOCK_EVENT))
			return true;
	return false;
}

void choice_free(struct choice *choice)
{
	for (size_t i = 0; i < choice->num; i++)
		free(choice->list[i].name);
	free(choice->list);
}
