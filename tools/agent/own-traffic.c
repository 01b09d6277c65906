// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trace's share of network traffic: bytes of the agent's ssh connection, and bytes of
 * all network devices.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "connections.h"

static struct traffic begin;

/* A connection as sshd describes it: client, and this machine. */
struct connection {
	char far[64], near[64];
	unsigned int far_port, near_port;
};

/* Bytes received and sent by all devices except lo. */
static uint64_t device_bytes(void)
{
	FILE *devices = fopen("/proc/net/dev", "r");
	unsigned long long in, out;
	uint64_t sum = 0;
	char line[512], name[64];

	while (devices && fgets(line, sizeof(line), devices))
		if (sscanf(line, " %63[^:]: %llu %*u %*u %*u %*u %*u %*u %*u %llu",
			   name, &in, &out) == 3 && strcmp(name, "lo"))
			sum += in + out;
	if (devices)
		fclose(devices);
	return sum;
}

static bool is_address(int family, const void *address, const char *text)
{
	static const char mapped[] = "::ffff:";
	char own[64] = "";

	inet_ntop(family, address, own, sizeof(own));
	return !strcmp(own, text) ||
	       (!strncmp(own, mapped, strlen(mapped)) &&
		!strcmp(own + strlen(mapped), text));
}

struct search {
	struct connection connection;
	uint64_t carried;	/* in both directions */
};

static void add_carried(void *data, const struct inet_diag_msg *msg,
			const struct tcp_info *info)
{
	struct search *search = data;
	const struct connection *wanted = &search->connection;

	if (is_address(msg->idiag_family, msg->id.idiag_dst, wanted->far) &&
	    is_address(msg->idiag_family, msg->id.idiag_src, wanted->near))
		search->carried += info->tcpi_bytes_acked +
				   info->tcpi_bytes_received;
}

static uint64_t stream_bytes(void)
{
	const char *ssh = agent_connection();
	struct search search = { .carried = 0 };
	struct connection *wanted = &search.connection;

	if (!ssh || sscanf(ssh, "%63s %u %63s %u", wanted->far,
			   &wanted->far_port, wanted->near,
			   &wanted->near_port) != 4)
		return 0;
	connections_find(wanted->near_port, wanted->far_port, add_carried, &search);
	return search.carried;
}

void traffic_start(void)
{
	begin.all = device_bytes();
	begin.trace = stream_bytes();
}

struct traffic traffic_since(void)
{
	return (struct traffic){
		.all = device_bytes() - begin.all,
		.trace = stream_bytes() - begin.trace,
	};
}
