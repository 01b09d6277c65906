// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Trace remote procedure calls without seeing packets: the server adds its own times to the
 * reply, so that each call gives two messages. Here, the server is a process that uses
 * another clock; in practice, it is another machine.
 *
 *	cc -o rpc rpc.c $(pkg-config --cflags --libs netsync)
 */
#include <err.h>
#include <inttypes.h>
#include <netsync.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CALLS 500

struct call {
	int64_t sent_ns, returned_ns;	 /* times on the client's clock */
	int64_t received_ns, replied_ns; /* times on the server's clock */
};

static int64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int serve(int socket)
{
	struct call call;

	while (read(socket, &call, sizeof(call)) == sizeof(call)) {
		call.received_ns = call.replied_ns = now(CLOCK_MONOTONIC);
		if (write(socket, &call, sizeof(call)) < 0)
			return 1;
	}
	return 0;
}

int main(void)
{
	struct netsync *ns = netsync_new();
	const struct netsync_options opt = { .size = sizeof(opt), .reference = "client" };
	const int client = netsync_add_host(ns, "client"), server = netsync_add_host(ns, "server");
	struct call call = { 0 };
	int64_t t_ref, bound_ns;
	int sockets[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets))
		err(1, "socketpair");
	if (fork() == 0)
		return close(sockets[0]) || serve(sockets[1]);
	close(sockets[1]);
	for (int i = 0; i < CALLS; i++, usleep(1000)) {
		call.sent_ns = now(CLOCK_REALTIME);
		if (write(sockets[0], &call, sizeof(call)) != sizeof(call) ||
		    read(sockets[0], &call, sizeof(call)) != sizeof(call))
			err(1, "the server");
		call.returned_ns = now(CLOCK_REALTIME);
		/* The request and the reply are one message each. */
		if (netsync_push_message(ns, client, server, call.sent_ns, call.received_ns) ||
		    netsync_push_message(ns, server, client, call.replied_ns, call.returned_ns))
			errx(1, "call %d: %s", i, netsync_error(ns));
	}
	if (netsync_solve(ns, &opt) ||
	    netsync_convert(netsync_host_clock(ns, server), call.received_ns, &t_ref, &bound_ns))
		errx(1, "%s", netsync_error(ns));
	printf("The last call was sent at %" PRId64 ", received at %" PRId64 " +- %" PRId64
	       " (the server's clock showed %" PRId64 "), and returned at %" PRId64 ".\n",
	       call.sent_ns, t_ref, bound_ns, call.received_ns, call.returned_ns);
	netsync_free(ns);
	return 0;
}
