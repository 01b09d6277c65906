// SPDX-License-Identifier: GPL-2.0-only
/* Reads the kernel's table of TCP connections with sock_diag(7). */
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connections.h"

/* The kernel's number for established connections. */
#define ESTABLISHED 1

static bool request_connections(int sock, int family, uint16_t near_port, uint16_t far_port)
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
			.idiag_states = 1 << ESTABLISHED,
			.id.idiag_sport = htons(near_port),
			.id.idiag_dport = htons(far_port),
		},
	};

	return send(sock, &request, sizeof(request), 0) >= 0;
}

static struct tcp_info find_tcp_info(const struct inet_diag_msg *msg, size_t size)
{
	const struct rtattr *attr = (void *)(msg + 1);
	struct tcp_info info = { 0 };
	int left = size - sizeof(*msg);

	for (; RTA_OK(attr, left); attr = RTA_NEXT(attr, left)) {
		size_t len = RTA_PAYLOAD(attr);

		if (attr->rta_type == INET_DIAG_INFO)
			memcpy(&info, RTA_DATA(attr), len < sizeof(info) ? len : sizeof(info));
	}
	return info;
}

static void receive_connections(int sock, connection_func found, void *data)
{
	char buffer[1 << 15] __attribute__((aligned(8)));
	ssize_t size;

	while ((size = recv(sock, buffer, sizeof(buffer), 0)) > 0) {
		const struct nlmsghdr *header = (void *)buffer;

		for (; NLMSG_OK(header, size); header = NLMSG_NEXT(header, size)) {
			const struct inet_diag_msg *msg = NLMSG_DATA(header);
			struct tcp_info info;

			if (header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR)
				return;
			info = find_tcp_info(msg, NLMSG_PAYLOAD(header, 0));
			found(data, msg, &info);
		}
	}
}

void connections_find(uint16_t near_port, uint16_t far_port, connection_func found, void *data)
{
	static const int families[] = { AF_INET, AF_INET6 };
	int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	for (int i = 0; sock >= 0 && i < 2; i++)
		if (request_connections(sock, families[i], near_port, far_port))
			receive_connections(sock, found, data);
	if (sock >= 0)
		close(sock);
}
