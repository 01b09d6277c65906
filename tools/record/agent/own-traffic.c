// SPDX-License-Identifier: GPL-2.0-only
/*
 * The network traffic of the trace itself: the bytes of the agent's ssh connection, compared
 * with the bytes of all network devices.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "connections.h"

/* A network device, and the bytes that it received and sent. */
struct device {
	char name[IF_NAMESIZE];
	uint64_t bytes;
};

struct devices {
	struct device *list;
	size_t num;
};

/* The devices at the start of the trace. */
static struct devices devices_before;
static uint64_t stream_before;

/* A connection as sshd describes it, with the addresses of the client and of this machine. */
struct connection {
	char far[64], near[64];
	unsigned int far_port, near_port;
};

/* List all devices except lo, or as many as fit if memory is short. */
static struct devices devices_list(void)
{
	FILE *file = fopen("/proc/net/dev", "r");
	struct devices found = { .num = 0 };
	unsigned long long in, out;
	char line[512], name[64];

	while (file && fgets(line, sizeof(line), file)) {
		struct device *list;

		if (sscanf(line, " %63[^:]: %llu %*u %*u %*u %*u %*u %*u %*u %llu", name, &in,
			   &out) != 3 ||
		    !strcmp(name, "lo"))
			continue;
		list = reallocarray(found.list, found.num + 1, sizeof(*list));
		if (!list)
			break;
		found.list = list;
		list[found.num].bytes = in + out;
		snprintf(list[found.num++].name, sizeof(list->name), "%.*s", IF_NAMESIZE - 1, name);
	}
	if (file)
		fclose(file);
	return found;
}

/*
 * Return the number of bytes since @before. The counts of a device that was added or re-added
 * since then start at 0; the count of a removed device is unknown.
 */
static uint64_t read_device_bytes(const struct devices *before, const struct devices *now)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < now->num; i++) {
		const struct device *device = &now->list[i];
		uint64_t from = 0;

		for (size_t k = 0; k < before->num; k++)
			if (!strcmp(before->list[k].name, device->name))
				from = before->list[k].bytes;
		sum += device->bytes - (from <= device->bytes ? from : 0);
	}
	return sum;
}

static bool address_equals_text(int family, const void *address, const char *text)
{
	static const char mapped[] = "::ffff:";
	char own[64] = "";

	inet_ntop(family, address, own, sizeof(own));
	return !strcmp(own, text) ||
	       (!strncmp(own, mapped, strlen(mapped)) && !strcmp(own + strlen(mapped), text));
}

struct search {
	struct connection connection;
	uint64_t carried; /* bytes in both directions */
};

static void add_carried_bytes(void *data, const struct inet_diag_msg *msg,
			      const struct tcp_info *info)
{
	struct search *search = data;
	const struct connection *wanted = &search->connection;

	if (address_equals_text(msg->idiag_family, msg->id.idiag_dst, wanted->far) &&
	    address_equals_text(msg->idiag_family, msg->id.idiag_src, wanted->near))
		search->carried += info->tcpi_bytes_acked + info->tcpi_bytes_received;
}

static uint64_t count_stream_bytes(void)
{
	const char *ssh = agent_get_connection();
	struct search search = { .carried = 0 };
	struct connection *wanted = &search.connection;

	if (!ssh || sscanf(ssh, "%63s %u %63s %u", wanted->far, &wanted->far_port, wanted->near,
			   &wanted->near_port) != 4)
		return 0;
	connections_find(wanted->near_port, wanted->far_port, add_carried_bytes, &search);
	return search.carried;
}

void traffic_start_counting(void)
{
	free(devices_before.list);
	devices_before = devices_list();
	stream_before = count_stream_bytes();
}

struct agent_traffic traffic_get_since_start(void)
{
	struct devices now = devices_list();
	const uint64_t stream = count_stream_bytes();
	const struct agent_traffic traffic = {
		.all = read_device_bytes(&devices_before, &now),
		/* The count of a closed connection is unknown. */
		.trace = stream < stream_before ? 0 : stream - stream_before,
	};

	free(now.list);
	return traffic;
}
