// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks whether a relay daemon is still reachable. LTTng does not report that it has lost the
 * daemon, and discards the recorded data.
 */
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent.h"
#include "connections.h"

/* Port of a URL that specifies none. */
#define CONTROL_PORT "5342"
/* Time limit for connecting to a relay daemon, ms. Chosen. */
#define CONNECT_MS 1000

/* Addresses of the daemon, or NULL if there is no daemon or its name is unknown. */
static struct addrinfo *daemon_at;
static uint16_t daemon_port;

void relay_watch_connection(const char *url)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	const char *start = strstr(url, "://");
	char host[256], port[8] = CONTROL_PORT;

	if (daemon_at)
		freeaddrinfo(daemon_at);
	daemon_at = NULL;
	/* The URL has the form PROTOCOL://HOST[:PORT[:PORT]][/PATH]; see lttng-create(1). */
	if (!start || (sscanf(start, "://[%255[^]]]:%7[0-9]", host, port) < 1 &&
		       sscanf(start, "://%255[^:/]:%7[0-9]", host, port) < 1))
		return;
	if (getaddrinfo(host, port, &hints, &daemon_at))
		daemon_at = NULL;
	daemon_port = atoi(port);
	/*
	 * Query the connections once, because the first query makes the kernel load the modules
	 * that answer it. The recording should not contain the loading of modules, and must not
	 * wait for it.
	 */
	if (daemon_at)
		relay_is_connected();
}

bool relay_is_watched(void)
{
	return daemon_at;
}

/* Compare addresses. An IPv4 address may be mapped into IPv6. */
static bool is_peer_address(const struct addrinfo *address, const struct inet_diag_msg *msg)
{
	const struct in6_addr *peer = (void *)msg->id.idiag_dst;

	if (address->ai_family == AF_INET) {
		const struct sockaddr_in *wanted = (void *)address->ai_addr;
		const void *last = msg->idiag_family == AF_INET ? &peer->s6_addr32[0] :
								  &peer->s6_addr32[3];

		return (msg->idiag_family == AF_INET || IN6_IS_ADDR_V4MAPPED(peer)) &&
		       !memcmp(last, &wanted->sin_addr, sizeof(wanted->sin_addr));
	}
	return msg->idiag_family == AF_INET6 &&
	       !memcmp(peer, &((struct sockaddr_in6 *)address->ai_addr)->sin6_addr, sizeof(*peer));
}

static void note_relay_connection(void *data, const struct inet_diag_msg *msg,
				  const struct tcp_info *info)
{
	(void)info;
	for (const struct addrinfo *at = daemon_at; at; at = at->ai_next)
		*(bool *)data |= is_peer_address(at, msg);
}

bool relay_is_connected(void)
{
	bool found = false;

	connections_find(0, daemon_port, note_relay_connection, &found);
	return found;
}

bool relay_is_reachable(void)
{
	bool reached = false;

	for (const struct addrinfo *at = daemon_at; at && !reached; at = at->ai_next) {
		struct pollfd out = { .events = POLLOUT };
		int error = 1;
		socklen_t size = sizeof(error);

		out.fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (out.fd < 0)
			continue;
		connect(out.fd, at->ai_addr, at->ai_addrlen);
		if (poll(&out, 1, CONNECT_MS) > 0)
			getsockopt(out.fd, SOL_SOCKET, SO_ERROR, &error, &size);
		reached = !error;
		close(out.fd);
	}
	return reached;
}
