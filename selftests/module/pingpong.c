// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: pingpong udp|tcp COUNT
 *
 * Print how many ticks of the time stamp counter a message over the loopback
 * device and its answer take: median and mean of COUNT. In a guest that counts
 * instructions, ticks are instructions.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <x86intrin.h>

#define WARM_UP 200
#define SIZE 64

static struct sockaddr_in address = { .sin_family = AF_INET };
static socklen_t address_len = sizeof(address);

static void check(int failed, const char *what)
{
	if (!failed)
		return;
	perror(what);
	exit(1);
}

static int bound_socket(int type)
{
	int fd = socket(AF_INET, type, 0);

	check(fd < 0, "socket");
	address.sin_port = 0;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	check(bind(fd, (void *)&address, address_len), "bind");
	check(getsockname(fd, (void *)&address, &address_len), "name");
	return fd;
}

static void connect_udp(int pair[2])
{
	pair[0] = bound_socket(SOCK_DGRAM);
	pair[1] = bound_socket(SOCK_DGRAM);
	check(connect(pair[0], (void *)&address, address_len), "connect");
	check(getsockname(pair[0], (void *)&address, &address_len), "name");
	check(connect(pair[1], (void *)&address, address_len), "connect");
}

static void connect_tcp(int pair[2])
{
	int server = bound_socket(SOCK_STREAM), one = 1, i;

	check(listen(server, 1), "listen");
	pair[0] = socket(AF_INET, SOCK_STREAM, 0);
	check(connect(pair[0], (void *)&address, address_len), "connect");
	pair[1] = accept(server, NULL, NULL);
	for (i = 0; i < 2; i++)
		check(setsockopt(pair[i], IPPROTO_TCP, TCP_NODELAY, &one,
				 sizeof(one)), "no delay");
}

static void pass(int from, int to)
{
	char message[SIZE] = "";

	check(send(from, message, SIZE, 0) != SIZE, "send");
	check(recv(to, message, SIZE, MSG_WAITALL) != SIZE, "receive");
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	int pair[2], i, count = argc == 3 ? atoi(argv[2]) : 0;
	uint64_t *ticks, sum = 0;

	if (count < 1) {
		fputs("usage: pingpong udp|tcp COUNT\n", stderr);
		return 2;
	}
	if (strcmp(argv[1], "udp"))
		connect_tcp(pair);
	else
		connect_udp(pair);
	ticks = calloc(count, sizeof(*ticks));
	mlockall(MCL_CURRENT | MCL_FUTURE);
	for (i = -WARM_UP; i < count; i++) {
		uint64_t start = __rdtsc();

		pass(pair[0], pair[1]);
		pass(pair[1], pair[0]);
		if (i < 0)
			continue;
		ticks[i] = __rdtsc() - start;
		sum += ticks[i];
	}
	qsort(ticks, count, sizeof(*ticks), compare);
	printf("%lu %lu\n", ticks[count / 2], sum / count);
	return 0;
}
