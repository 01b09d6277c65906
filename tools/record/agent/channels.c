// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "agent.h"
#include "channels.h"
#include "common/json-value.h"
#include "common/value.h"

/*
 * Share of the available memory that buffers take by default, and the maximum if the user
 * requests more. Chosen, because traced programs can do without an eighth, and LTTng takes
 * slightly more than requested.
 */
#define SHARE 8
#define MAX_SHARE(memory) ((memory) / 4 * 3)

static struct {
	const char *name;
	/* weight of the channel's share of memory; most events are not packet events */
	unsigned int weight;
	bool is_used;
	struct buffers buffers;
} channels[] = {
	{ .name = CHANNEL_PACKETS, .weight = 1 },
	{ .name = CHANNEL_KERNEL, .weight = 2 },
	{ .name = CHANNEL_USER, .weight = 1 },
};

#define NUM_CHANNELS (sizeof(channels) / sizeof(channels[0]))

uint64_t memory_read_available(void)
{
	unsigned long long kib = 0;
	char line[128];
	FILE *info = fopen("/proc/meminfo", "r");

	while (info && fgets(line, sizeof(line), info))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			break;
	if (info)
		fclose(info);
	return kib << 10;
}

static void set_default_buffers(const struct choice *choice)
{
	const uint64_t room = memory_read_available() / SHARE / get_nprocs_conf();
	unsigned int weights = 0;

	for (size_t c = 0; c < NUM_CHANNELS; c++) {
		channels[c].is_used = false;
		for (size_t i = 0; i < choice->num; i++)
			channels[c].is_used |= !strcmp(choice->list[i].channel, channels[c].name);
		weights += channels[c].is_used ? channels[c].weight : 0;
	}
	for (size_t c = 0; c < NUM_CHANNELS; c++)
		if (channels[c].is_used)
			channels[c].buffers = buffers_choose_default(
				channels[c].name, room / weights * channels[c].weight);
}

/* Set the requested buffers. Return false if LTTng does not allow them. */
static bool set_requested_buffers(struct json_object *asked)
{
	const char *name = member_get_text(asked, "channel");
	const struct buffers buffers = {
		.size = member_get_int(asked, "size"),
		.num = member_get_int(asked, "num"),
	};

	for (size_t c = 0; c < NUM_CHANNELS; c++)
		if (!*name || !strcmp(name, channels[c].name))
			channels[c].buffers = buffers;
	return buffers_are_valid(buffers);
}

struct json_object *channels_plan(const struct choice *choice, struct json_object *asked)
{
	const uint64_t memory = memory_read_available();
	const size_t num = value_get_length(asked);
	char need[VALUE_SIZE], have[VALUE_SIZE];
	uint64_t sum = 0;

	set_default_buffers(choice);
	for (size_t i = 0; i < num; i++)
		if (!set_requested_buffers(value_get_element(asked, i)))
			return agent_make_error("invalid number or size of buffers.");
	for (size_t c = 0; c < NUM_CHANNELS; c++)
		if (channels[c].is_used)
			sum += buffers_get_bytes(channels[c].buffers) * get_nprocs_conf();
	if (!num || sum <= MAX_SHARE(memory))
		return NULL;
	return agent_make_error(
		"the buffers would use %s of memory, of which %s is available; give smaller buffers with --buffers.",
		format_bytes(need, sum), format_bytes(have, memory));
}

struct buffers channel_get_buffers(const char *channel)
{
	for (size_t c = 0; c < NUM_CHANNELS; c++)
		if (!strcmp(channel, channels[c].name))
			return channels[c].buffers;
	return (struct buffers){ BUFFER_SIZE_MIN, BUFFER_NUM_MIN };
}
