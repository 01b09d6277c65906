// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: capture DEVICE
 *
 * An independent witness: print a line (see segment.h) for every TCP segment
 * that passes a network device, as a packet socket sees it. Writes "ready" on
 * standard error when it listens; SIGTERM ends it. Fails if packets were lost.
 */
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "segment.h"

static volatile sig_atomic_t ending;

static void on_term(int sig)
{
	(void)sig;
	ending = 1;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static uint16_t be16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)be16(p) << 16 | be16(p + 2);
}

static void mapped(uint8_t *addr, const uint8_t *ipv4)
{
	memset(addr, 0, 10);
	addr[10] = addr[11] = 0xff;
	memcpy(addr + 12, ipv4, 4);
}

/* The IPv6 payload's length, from a jumbo payload option if there is one. */
static uint32_t ipv6_len(const uint8_t *p)
{
	if (be16(p + 4) == 0 && p[6] == 0 && p[42] == 0xc2)
		return be32(p + 44);
	return be16(p + 4);
}

/* Parse well-formed packets, of which tests are made. */
static bool parse(const uint8_t *p, struct segment *seg)
{
	const uint8_t *tcp, *opt;
	uint32_t payload;

	memset(seg, 0, sizeof(*seg));
	if (p[0] >> 4 == 4) {
		seg->family = AF_INET;
		seg->id = be16(p + 4);
		mapped(seg->saddr, p + 12);
		mapped(seg->daddr, p + 16);
		tcp = p + (p[0] & 15) * 4;
		payload = be16(p + 2) - (p[0] & 15) * 4;
		if (p[9] != IPPROTO_TCP)
			return false;
	} else {
		uint8_t next = p[6];

		seg->family = AF_INET6;
		memcpy(seg->saddr, p + 8, 16);
		memcpy(seg->daddr, p + 24, 16);
		tcp = p + 40;
		payload = ipv6_len(p);
		while (next == IPPROTO_HOPOPTS || next == IPPROTO_DSTOPTS ||
		       next == IPPROTO_ROUTING) {
			uint32_t size = tcp[1] * 8 + 8;

			next = tcp[0];
			tcp += size;
			payload -= size;
		}
		if (next != IPPROTO_TCP)
			return false;
	}
	seg->sport = be16(tcp);
	seg->dport = be16(tcp + 2);
	seg->seq = be32(tcp + 4);
	seg->ack_seq = be32(tcp + 8);
	seg->flags = be16(tcp + 12);
	seg->window = be16(tcp + 14);
	seg->check = be16(tcp + 16);
	seg->len = payload - (tcp[12] >> 4) * 4;
	for (opt = tcp + 20; opt < tcp + (tcp[12] >> 4) * 4 && *opt;) {
		if (*opt == 8) {
			seg->has_ts = 1;
			seg->tsval = be32(opt + 2);
			seg->tsecr = be32(opt + 6);
		}
		opt += *opt == 1 ? 1 : opt[1];
	}
	return true;
}

int main(int argc, char **argv)
{
	static struct {
		struct virtio_net_hdr vnet;
		struct ether_header eth;
		uint8_t data[512];
	} __attribute__((packed)) packet;
	struct sockaddr_ll addr = { .sll_family = AF_PACKET,
				    .sll_protocol = htons(ETH_P_ALL) };
	int fd, one = 1, room = 400 << 20;
	struct tpacket_stats stats;
	socklen_t len;
	struct pollfd pfd;
	struct stat netns;

	if (argc != 2) {
		fputs("usage: capture DEVICE\n", stderr);
		return 2;
	}
	signal(SIGTERM, on_term);
	if (stat("/proc/self/ns/net", &netns))
		fail("netns");
	fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (fd < 0)
		fail("packet socket");
	addr.sll_ifindex = if_nametoindex(argv[1]);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof(one)) ||
	    bind(fd, (void *)&addr, sizeof(addr)))
		fail(argv[1]);
	fputs("ready\n", stderr);

	pfd = (struct pollfd){ .fd = fd, .events = POLLIN };
	for (;;) {
		struct sockaddr_ll from;
		struct segment seg;

		len = sizeof(from);
		if (recvfrom(fd, &packet, sizeof(packet), MSG_DONTWAIT,
			     (void *)&from, &len) < 0) {
			if (errno != EAGAIN && errno != EINTR)
				fail("receive");
			if (errno == EAGAIN && ending)
				break;
			poll(&pfd, 1, 100);
			continue;
		}
		if ((from.sll_protocol != htons(ETH_P_IP) &&
		     from.sll_protocol != htons(ETH_P_IPV6)) ||
		    !parse(packet.data, &seg))
			continue;
		seg.dir = from.sll_pkttype == PACKET_OUTGOING ? "out" : "in";
		seg.netns = netns.st_ino;
		seg.gso_size = packet.vnet.gso_type ? packet.vnet.gso_size : 0;
		seg.gso_segs = 1;
		if (seg.gso_size)
			seg.gso_segs = (seg.len + seg.gso_size - 1) / seg.gso_size;
		segment_print(&seg);
	}
	len = sizeof(stats);
	if (getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &len))
		fail("statistics");
	if (stats.tp_drops) {
		fprintf(stderr, "capture: lost %u packets\n", stats.tp_drops);
		return 1;
	}
	return 0;
}
