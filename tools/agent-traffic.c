// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much of what went over this machine's network was the trace itself: what
 * ssh's connection has carried, beside what all network devices have.
 */
#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent.h"

static struct traffic begin;

/* As sshd tells it: of the client, and of this machine. */
struct connection {
	char far[64], near[64];
	unsigned int far_port, near_port;
};

/* Received and sent by all devices, but for what stays on this machine. */
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

/* What it has carried both ways, if @msg is about it. */
static uint64_t carried(const struct inet_diag_msg *msg, size_t size,
			const struct connection *connection)
{
	const struct rtattr *attr = (void *)(msg + 1);
	int left = size - sizeof(*msg);

	if (ntohs(msg->id.idiag_dport) != connection->far_port ||
	    !is_address(msg->idiag_family, msg->id.idiag_dst, connection->far) ||
	    !is_address(msg->idiag_family, msg->id.idiag_src, connection->near))
		return 0;
	for (; RTA_OK(attr, left); attr = RTA_NEXT(attr, left)) {
		struct tcp_info info = { 0 };
		size_t len = RTA_PAYLOAD(attr);

		if (attr->rta_type != INET_DIAG_INFO)
			continue;
		memcpy(&info, RTA_DATA(attr),
		       len < sizeof(info) ? len : sizeof(info));
		return info.tcpi_bytes_acked + info.tcpi_bytes_received;
	}
	return 0;
}

/* Of all TCP connections with our port, the one that is meant. */
static uint64_t ask(int sock, int family, const struct connection *connection)
{
	struct {
		struct nlmsghdr header;
		struct inet_diag_req_v2 diag;
	} request = {
		.header = {
			.nlmsg_len = sizeof(request),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		},
		.diag = {
			.sdiag_family = family,
			.sdiag_protocol = IPPROTO_TCP,
			.idiag_ext = 1 << (INET_DIAG_INFO - 1),
			.idiag_states = UINT32_MAX,
			.id.idiag_sport = htons(connection->near_port),
		},
	};
	char buffer[1 << 15] __attribute__((aligned(8)));
	uint64_t sum = 0;
	ssize_t size;

	if (send(sock, &request, sizeof(request), 0) < 0)
		return 0;
	while ((size = recv(sock, buffer, sizeof(buffer), 0)) > 0) {
		const struct nlmsghdr *header = (void *)buffer;

		for (; NLMSG_OK(header, size); header = NLMSG_NEXT(header, size)) {
			if (header->nlmsg_type == NLMSG_DONE ||
			    header->nlmsg_type == NLMSG_ERROR)
				return sum;
			sum += carried(NLMSG_DATA(header), NLMSG_PAYLOAD(header, 0),
				       connection);
		}
	}
	return sum;
}

static uint64_t stream_bytes(void)
{
	const char *ssh = getenv("SSH_CONNECTION");
	struct connection connection;
	uint64_t sum = 0;
	int sock;

	if (!ssh || sscanf(ssh, "%63s %u %63s %u", connection.far,
			   &connection.far_port, connection.near,
			   &connection.near_port) != 4)
		return 0;
	sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (sock < 0)
		return 0;
	sum = ask(sock, AF_INET, &connection);
	if (!sum)
		sum = ask(sock, AF_INET6, &connection);
	close(sock);
	return sum;
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
