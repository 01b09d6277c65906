// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: sockets THREADS
 *
 * Use sockets of all kinds over the loopback device. THREADS threads wait in accept() at the same
 * time, and as many clients connect by IPv4 and by IPv6; UDP sockets are connected; some
 * connections are refused. Print a line for each connection that events should report, as "connect
 * PROTOCOL FAMILY ADDRESS PORT -> ADDRESS PORT" and "accept ...", and the number of created sockets
 * of each kind: "created PROTOCOL FAMILY COUNT".
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT 7000
#define REFUSED 7001
#define MAX_THREADS 256

static int listener;
static int accepted[MAX_THREADS];

static void exit_if_socket_failed(int failed, const char *what)
{
	if (!failed)
		return;
	fprintf(stderr, "sockets: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void *wait_for_peer(void *arg)
{
	int *fd = arg;

	*fd = accept(listener, NULL, NULL);
	exit_if_socket_failed(*fd < 0, "accept");
	return NULL;
}

/*
 * Print an address. IPv4 addresses are printed as ::ffff:a.b.c.d. Return whether it is an IPv4
 * address.
 */
static int format_socket_name(const struct sockaddr_storage *addr, char *text, int *port)
{
	const struct sockaddr_in6 *v6 = (const void *)addr;
	const struct sockaddr_in *v4 = (const void *)addr;
	struct in6_addr mapped = { .s6_addr = { [10] = 0xff, 0xff } };

	if (addr->ss_family == AF_INET6) {
		mapped = v6->sin6_addr;
		*port = ntohs(v6->sin6_port);
	} else {
		memcpy(mapped.s6_addr + 12, &v4->sin_addr, 4);
		*port = ntohs(v4->sin_port);
	}
	inet_ntop(AF_INET6, &mapped, text, INET6_ADDRSTRLEN);
	return IN6_IS_ADDR_V4MAPPED(&mapped);
}

static void print_socket_ends(const char *what, int protocol, int fd)
{
	char local[INET6_ADDRSTRLEN], peer[INET6_ADDRSTRLEN];
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);
	int lport, pport, ipv4;

	exit_if_socket_failed(getsockname(fd, (void *)&addr, &len), "local name");
	ipv4 = format_socket_name(&addr, local, &lport);
	len = sizeof(addr);
	exit_if_socket_failed(getpeername(fd, (void *)&addr, &len), "peer's name");
	format_socket_name(&addr, peer, &pport);
	printf("%s %d %d %s %d -> %s %d\n", what, protocol, ipv4 ? AF_INET : AF_INET6, local, lport,
	       peer, pport);
}

static int open_connected_socket(int family, int type, const char *address, int port)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(family, type, 0), err;

	exit_if_socket_failed(fd < 0, "socket");
	inet_pton(AF_INET, address, &v4.sin_addr);
	inet_pton(AF_INET6, address, &v6.sin6_addr);
	err = family == AF_INET ? connect(fd, (void *)&v4, sizeof(v4)) :
				  connect(fd, (void *)&v6, sizeof(v6));
	exit_if_socket_failed(port == PORT && err, address);
	if (!err)
		print_socket_ends("connect", type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP, fd);
	return fd;
}

int main(int argc, char **argv)
{
	struct sockaddr_in6 addr = { .sin6_family = AF_INET6, .sin6_port = htons(PORT) };
	int threads = argc == 2 ? atoi(argv[1]) : 0, i, zero = 0;
	pthread_t thread[MAX_THREADS];

	if (threads < 1 || threads % 2 || threads > MAX_THREADS) {
		fputs("usage: sockets THREADS (an even number)\n", stderr);
		return 2;
	}
	listener = socket(AF_INET6, SOCK_STREAM, 0);
	setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	exit_if_socket_failed(bind(listener, (void *)&addr, sizeof(addr)), "bind");
	exit_if_socket_failed(listen(listener, threads), "listen");
	for (i = 0; i < threads; i++)
		exit_if_socket_failed(pthread_create(&thread[i], NULL, wait_for_peer, &accepted[i]),
				      "thread");
	/* Wait until all threads are in accept(). */
	usleep(300000);
	for (i = 0; i < threads / 2; i++) {
		open_connected_socket(AF_INET, SOCK_STREAM, "127.0.0.1", PORT);
		open_connected_socket(AF_INET6, SOCK_STREAM, "::1", PORT);
	}
	for (i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		print_socket_ends("accept", IPPROTO_TCP, accepted[i]);
	}
	for (i = 0; i < 5; i++) {
		open_connected_socket(AF_INET, SOCK_DGRAM, "127.0.0.1", PORT);
		open_connected_socket(AF_INET6, SOCK_DGRAM, "::1", PORT);
		open_connected_socket(AF_INET6, SOCK_DGRAM, "::ffff:127.0.0.1", PORT);
		open_connected_socket(AF_INET, SOCK_STREAM, "127.0.0.1", REFUSED);
		open_connected_socket(AF_INET6, SOCK_STREAM, "::1", REFUSED);
	}
	/* These numbers include the listening sockets. */
	printf("created 6 2 %d\ncreated 6 10 %d\ncreated 17 2 5\ncreated 17 10 10\n",
	       threads / 2 + 5, threads / 2 + 6);
	return 0;
}
