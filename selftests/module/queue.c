// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: queue NUMBER MILLISECONDS
 *
 * The program that a firewall asks about packets: it accepts packets in queue NUMBER
 * (NFQUEUE) of this network namespace in order of arrival, each after this many
 * milliseconds; if that is 0, all of them at SIGUSR1. The program writes "ready" to standard error
 * when the queue exists.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <libnetfilter_queue/libnetfilter_queue.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_queue.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

/* Capacity for packets, which exceeds the number of packets that any test queues. */
#define ROOM 4096

static struct {
	uint32_t id;
	uint64_t due; /* time to accept the packet, ns of CLOCK_MONOTONIC */
} waiting[ROOM];

static unsigned int first, after_last; /* indices modulo ROOM */
static unsigned int number;
static uint64_t patience; /* ns */
static struct mnl_socket *nl;
static volatile sig_atomic_t released;

static void exit_if_queue_failed(bool failed, const char *what)
{
	if (!failed)
		return;
	fprintf(stderr, "queue: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t read_queue_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void note_release(int signal)
{
	(void)signal;
	released = 1;
}

static int keep_queued_packet(const struct nlmsghdr *nlh, void *data)
{
	struct nlattr *attr[NFQA_MAX + 1] = { NULL };
	const struct nfqnl_msg_packet_hdr *packet;

	(void)data;
	exit_if_queue_failed(nfq_nlmsg_parse(nlh, attr) < 0, "parse");
	exit_if_queue_failed(!attr[NFQA_PACKET_HDR], "no packet");
	packet = mnl_attr_get_payload(attr[NFQA_PACKET_HDR]);
	errno = ENOBUFS;
	exit_if_queue_failed(after_last - first == ROOM, "wait");
	waiting[after_last % ROOM].id = ntohl(packet->packet_id);
	waiting[after_last % ROOM].due = read_queue_clock() + patience;
	after_last++;
	return MNL_CB_OK;
}

static void send_netlink_message(struct nlmsghdr *nlh, const char *what)
{
	exit_if_queue_failed(mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0, what);
}

static void accept_due_packets(void)
{
	uint64_t time = read_queue_clock();

	while (first != after_last && (patience ? waiting[first % ROOM].due <= time : released)) {
		char buffer[256];
		struct nlmsghdr *nlh = nfq_nlmsg_put(buffer, NFQNL_MSG_VERDICT, number);

		nfq_nlmsg_verdict_put(nlh, waiting[first % ROOM].id, NF_ACCEPT);
		send_netlink_message(nlh, "verdict");
		first++;
	}
	released = 0;
}

static void open_packet_queue(void)
{
	int room = 8 << 20, one = 1;
	char buffer[256];
	struct nlmsghdr *nlh;

	nl = mnl_socket_open(NETLINK_NETFILTER);
	exit_if_queue_failed(!nl, "socket");
	exit_if_queue_failed(mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0, "bind");
	exit_if_queue_failed(setsockopt(mnl_socket_get_fd(nl), SOL_SOCKET, SO_RCVBUFFORCE, &room,
					sizeof(room)),
			     "buffer");
	/* The kernel drops packets that it cannot report. Dropped packets must not end the program.
	 * */
	exit_if_queue_failed(mnl_socket_setsockopt(nl, NETLINK_NO_ENOBUFS, &one, sizeof(one)),
			     "option");
	nlh = nfq_nlmsg_put(buffer, NFQNL_MSG_CONFIG, number);
	nfq_nlmsg_cfg_put_cmd(nlh, AF_UNSPEC, NFQNL_CFG_CMD_BIND);
	send_netlink_message(nlh, "queue");
	nlh = nfq_nlmsg_put(buffer, NFQNL_MSG_CONFIG, number);
	nfq_nlmsg_cfg_put_params(nlh, NFQNL_COPY_META, 0);
	nfq_nlmsg_cfg_put_qmaxlen(nlh, ROOM);
	nlh->nlmsg_flags |= NLM_F_ACK;
	send_netlink_message(nlh, "parameters");
}

static void serve_queue(void)
{
	struct pollfd fd = { .fd = mnl_socket_get_fd(nl), .events = POLLIN };
	sigset_t usual, blocked;
	char buffer[65536];

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &blocked, &usual);
	sigdelset(&usual, SIGUSR1);
	for (;;) {
		const struct timespec ms = { .tv_nsec = 1000000 };
		int n = ppoll(&fd, 1, patience ? &ms : NULL, &usual);
		ssize_t size;

		exit_if_queue_failed(n < 0 && errno != EINTR, "poll");
		if (n > 0) {
			size = mnl_socket_recvfrom(nl, buffer, sizeof(buffer));
			exit_if_queue_failed(size < 0, "receive");
			/* ENOENT: the kernel had already dropped the packet. */
			exit_if_queue_failed(mnl_cb_run(buffer, size, 0, 0, keep_queued_packet,
							NULL) < 0 &&
						     errno != ENOENT,
					     "message");
		}
		accept_due_packets();
	}
}

int main(int argc, char **argv)
{
	char buffer[65536];
	ssize_t size;

	if (argc != 3) {
		fputs("queue: see the first lines of its source\n", stderr);
		return 2;
	}
	number = atoi(argv[1]);
	patience = atoi(argv[2]) * 1000000ULL;
	signal(SIGUSR1, note_release);
	open_packet_queue();
	size = mnl_socket_recvfrom(nl, buffer, sizeof(buffer));
	exit_if_queue_failed(size < 0 || mnl_cb_run(buffer, size, 0, 0, NULL, NULL) < 0,
			     "parameters");
	fputs("ready\n", stderr);
	serve_queue();
	return 0;
}
