// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: datagram [options] ADDRESS PORT COUNT SIZE
 *	  datagram -s PORT
 *
 * Send and receive UDP datagrams with known contents. The client sends COUNT datagrams of SIZE
 * bytes, each with other contents, and prints "SPORT PORT SIZE DIGEST" for each, where DIGEST is
 * the digest that its events should have (see netsync-events.h). The server (-s) writes "ready" on
 * standard error and answers every datagram with the same until it is told to end (SIGTERM); it
 * also gets what is sent to the multicast groups 239.9.9.9 and ff05::99.
 *
 *   -d DEVICE  send multicasts there
 *   -g SIZE    have the kernel cut each one into datagrams of SIZE bytes
 *   -o         send only, do not wait for answers
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "siphash.h"

static uint8_t buffer[65536];

static void exit_if_datagram_failed(int failed, const char *what)
{
	if (!failed)
		return;
	fprintf(stderr, "datagram: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void set_datagram_option(int fd, int level, int name, const void *value, socklen_t len)
{
	exit_if_datagram_failed(setsockopt(fd, level, name, value, len), "option");
}

static void join_multicast_groups(int fd)
{
	struct group_req group = { .gr_interface = if_nametoindex("eth") };
	struct sockaddr_in *v4 = (void *)&group.gr_group;
	struct sockaddr_in6 *v6 = (void *)&group.gr_group;

	if (!group.gr_interface)
		return;
	v4->sin_family = AF_INET;
	inet_pton(AF_INET, "239.9.9.9", &v4->sin_addr);
	set_datagram_option(fd, IPPROTO_IP, MCAST_JOIN_GROUP, &group, sizeof(group));
	memset(&group.gr_group, 0, sizeof(group.gr_group));
	v6->sin6_family = AF_INET6;
	inet_pton(AF_INET6, "ff05::99", &v6->sin6_addr);
	set_datagram_option(fd, IPPROTO_IPV6, MCAST_JOIN_GROUP, &group, sizeof(group));
}

static void receive_datagrams(int port)
{
	struct sockaddr_in6 addr = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	int fd = socket(AF_INET6, SOCK_DGRAM, 0), room = 8 << 20;

	set_datagram_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	exit_if_datagram_failed(bind(fd, (void *)&addr, sizeof(addr)), "bind");
	join_multicast_groups(fd);
	fputs("ready\n", stderr);
	for (;;) {
		socklen_t len = sizeof(addr);
		ssize_t size = recvfrom(fd, buffer, sizeof(buffer), 0, (void *)&addr, &len);

		exit_if_datagram_failed(size < 0, "receive");
		exit_if_datagram_failed(sendto(fd, buffer, size, 0, (void *)&addr, len) != size,
					"answer");
	}
}

/* Fill a datagram with letters such that datagrams of any size differ from each other. */
static void fill_with_letters(size_t size, int number)
{
	size_t i;

	for (i = 0; i < size; i++)
		buffer[i] = "0123456789abcdef"[(number >> (4 * (i % 5))) & 15];
}

static int open_datagram_socket(const char *address, int port, const char *device)
{
	struct sockaddr_in6 addr6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in addr4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	bool ipv4 = inet_pton(AF_INET, address, &addr4.sin_addr) == 1;
	int fd = socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM, 0);
	int one = 1, zero = 0;

	exit_if_datagram_failed(fd < 0, "socket");
	set_datagram_option(fd, SOL_SOCKET, SO_BROADCAST, &one, sizeof(one));
	if (ipv4)
		set_datagram_option(fd, IPPROTO_IP, IP_MULTICAST_LOOP, &zero, sizeof(zero));
	else
		set_datagram_option(fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, &zero, sizeof(zero));
	if (device)
		set_datagram_option(fd, SOL_SOCKET, SO_BINDTODEVICE, device, strlen(device));
	exit_if_datagram_failed(!ipv4 && inet_pton(AF_INET6, address, &addr6.sin6_addr) != 1,
				address);
	exit_if_datagram_failed(ipv4 ? connect(fd, (void *)&addr4, sizeof(addr4)) :
				       connect(fd, (void *)&addr6, sizeof(addr6)),
				address);
	return fd;
}

int main(int argc, char **argv)
{
	struct sockaddr_storage own;
	bool server = false, answers = true;
	socklen_t own_len = sizeof(own);
	const char *device = NULL;
	int opt, fd, i, count, segment = 0;
	size_t size, bytes;

	while ((opt = getopt(argc, argv, "d:g:os")) != -1) {
		switch (opt) {
		case 'd':
			device = optarg;
			break;
		case 'g':
			segment = atoi(optarg);
			break;
		case 'o':
			answers = false;
			break;
		case 's':
			server = true;
			break;
		default:
			return 2;
		}
	}
	argv += optind;
	if (server && argv[0])
		receive_datagrams(atoi(argv[0]));
	if (argc - optind != 4) {
		fputs("datagram: see the first lines of its source\n", stderr);
		return 2;
	}
	count = atoi(argv[2]);
	size = atoi(argv[3]);
	fd = open_datagram_socket(argv[0], atoi(argv[1]), device);
	exit_if_datagram_failed(getsockname(fd, (void *)&own, &own_len), "name");
	if (segment)
		set_datagram_option(fd, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof(segment));
	bytes = size < 64 ? size : 64;
	if (segment && (size_t)segment < bytes)
		bytes = segment;
	for (i = 0; i < count; i++) {
		fill_with_letters(size, i);
		printf("%u %s %zu %016llx\n", ntohs(((struct sockaddr_in *)&own)->sin_port),
		       argv[1], size, (unsigned long long)siphash_1_3_reference(buffer, bytes));
		exit_if_datagram_failed(send(fd, buffer, size, 0) != (ssize_t)size, "send");
		if (answers)
			exit_if_datagram_failed(
				recv(fd, buffer, sizeof(buffer), 0) != (ssize_t)size, "answer");
	}
	return 0;
}
