// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: talk [options] ADDRESS PORT COUNT SIZE
 *	  talk -s [options] PORT
 *
 * Send and receive TCP (or SCTP) data of known size. The client sends COUNT messages of SIZE bytes
 * one after the other, each of them answered by as many bytes; with -b it sends COUNT bytes at
 * once, in pieces of SIZE. The server (-s) writes "ready" on standard error, serves one client
 * after the other, and behaves as the client's first byte requests.
 *
 *   -4   the server listens for IPv4 (default: IPv6)
 *   -b   bulk
 *   -c   SCTP
 *   -i   put IP options (IPv4), hop-by-hop and destination options (IPv6)
 *	  into every packet
 *   -1   the server ends after one client
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/sctp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char buffer[1 << 18];
static int protocol = IPPROTO_TCP;

static void exit_with_talk_error(const char *what)
{
	fprintf(stderr, "talk: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void set_socket_option(int fd, int level, int name, const void *value, socklen_t len,
			      const char *what)
{
	if (setsockopt(fd, level, name, value, len))
		exit_with_talk_error(what);
}

static void set_ip_options(int fd, int family)
{
	/* Three no-operation options, then the end of the list. */
	static const unsigned char ipv4[] = { 1, 1, 1, 0 };
	/* An experimental option of 12 bytes, which receivers skip, and padding. */
	static const unsigned char hop[16] = { 0, 1, 0x1e, 12 };
	static const unsigned char dest[8] = { 0, 0, 1, 4 };

	if (family == AF_INET) {
		set_socket_option(fd, IPPROTO_IP, IP_OPTIONS, ipv4, sizeof(ipv4), "IP options");
		return;
	}
	set_socket_option(fd, IPPROTO_IPV6, IPV6_HOPOPTS, hop, sizeof(hop), "hop-by-hop");
	set_socket_option(fd, IPPROTO_IPV6, IPV6_DSTOPTS, dest, sizeof(dest), "destination");
}

static int open_talk_socket(int family, bool options)
{
	int fd = socket(family, SOCK_STREAM, protocol), one = 1;

	if (fd < 0)
		exit_with_talk_error("socket");
	set_socket_option(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one), "reuse");
	if (options)
		set_ip_options(fd, family);
	return fd;
}

static void set_nodelay(int fd)
{
	int one = 1;

	set_socket_option(fd, protocol, protocol == IPPROTO_TCP ? TCP_NODELAY : SCTP_NODELAY, &one,
			  sizeof(one), "no delay");
}

static void send_buffer(int fd, size_t len)
{
	if (send(fd, buffer, len, MSG_NOSIGNAL) != (ssize_t)len)
		exit_with_talk_error("send");
}

static void serve_connections(int family, int port, bool once, bool options)
{
	struct sockaddr_in6 addr6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in addr4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = open_talk_socket(family, options);

	if (family == AF_INET ? bind(fd, (void *)&addr4, sizeof(addr4)) :
				bind(fd, (void *)&addr6, sizeof(addr6)))
		exit_with_talk_error("bind");
	if (listen(fd, 64))
		exit_with_talk_error("listen");
	fputs("ready\n", stderr);
	do {
		int peer = accept(fd, NULL, NULL);
		bool first = true, echo = true;
		ssize_t len;

		if (peer < 0)
			exit_with_talk_error("accept");
		set_nodelay(peer);
		while ((len = recv(peer, buffer, sizeof(buffer), 0)) > 0) {
			if (first)
				echo = buffer[0] == 'e';
			first = false;
			if (echo)
				send_buffer(peer, len);
		}
		close(peer);
	} while (!once);
}

static void talk_to_server(const char *address, int port, long count, size_t size, bool bulk,
			   bool options)
{
	struct sockaddr_in6 addr6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in addr4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	bool ipv4 = inet_pton(AF_INET, address, &addr4.sin_addr) == 1;
	int fd = open_talk_socket(ipv4 ? AF_INET : AF_INET6, options);

	if (!ipv4 && inet_pton(AF_INET6, address, &addr6.sin6_addr) != 1)
		exit_with_talk_error(address);
	if (ipv4 ? connect(fd, (void *)&addr4, sizeof(addr4)) :
		   connect(fd, (void *)&addr6, sizeof(addr6)))
		exit_with_talk_error(address);
	set_nodelay(fd);
	memset(buffer, bulk ? 'b' : 'e', size);
	for (; count > 0; count -= bulk ? (long)size : 1) {
		send_buffer(fd, size);
		if (!bulk && recv(fd, buffer, size, MSG_WAITALL) != (ssize_t)size)
			exit_with_talk_error("answer");
	}
	/* The server has also received everything when it closes the connection. */
	shutdown(fd, SHUT_WR);
	if (recv(fd, buffer, 1, 0) != 0 && !(protocol == IPPROTO_SCTP && errno == ENOTCONN))
		exit_with_talk_error("end");
	close(fd);
}

int main(int argc, char **argv)
{
	bool server = false, bulk = false, options = false, once = false;
	int opt, family = AF_INET6;

	while ((opt = getopt(argc, argv, "14bcis")) != -1) {
		switch (opt) {
		case '1':
			once = true;
			break;
		case '4':
			family = AF_INET;
			break;
		case 'b':
			bulk = true;
			break;
		case 'c':
			protocol = IPPROTO_SCTP;
			break;
		case 'i':
			options = true;
			break;
		case 's':
			server = true;
			break;
		default:
			return 2;
		}
	}
	argv += optind;
	argc -= optind;
	if (server && argc == 1)
		serve_connections(family, atoi(argv[0]), once, options);
	else if (!server && argc == 4 && (size_t)atol(argv[3]) <= sizeof(buffer))
		talk_to_server(argv[0], atoi(argv[1]), atol(argv[2]), atol(argv[3]), bulk, options);
	else
		fputs("talk: see the first lines of its source\n", stderr);
	return 0;
}
