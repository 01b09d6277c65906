// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: capture [-w] DEVICE [PROTOCOL]
 *
 * Capture packets independently of the module, to check its events: print a line (see packet.h) for
 * every packet of a protocol (tcp by default, udp, icmp, sctp) that passes a network device, as
 * seen by a packet socket; with -w, also the device and the VLAN. Write "ready" to standard error
 * when listening; SIGTERM ends it. The program fails if packets were lost.
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

#include "packet.h"
#include "siphash.h"

static volatile sig_atomic_t ending;

static void note_capture_end(int sig)
{
	(void)sig;
	ending = 1;
}

static void exit_with_capture_error(const char *what)
{
	perror(what);
	exit(1);
}

static uint16_t read_be16_field(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

static uint32_t read_be32_field(const uint8_t *p)
{
	return (uint32_t)read_be16_field(p) << 16 | read_be16_field(p + 2);
}

static void set_mapped_address(uint8_t *addr, const uint8_t *ipv4)
{
	memset(addr, 0, 10);
	addr[10] = addr[11] = 0xff;
	memcpy(addr + 12, ipv4, 4);
}

/*
 * A 16-bit length field is 0 if the packet is too large for the field. Such a packet ends where the
 * data end. In IPv6 packets, older kernels add an option with the length, but newer kernels do not.
 */
static uint32_t find_ip_length(const uint8_t *field, uint32_t there)
{
	return read_be16_field(field) ? read_be16_field(field) : there;
}

static void parse_captured_tcp(const uint8_t *tcp, uint32_t payload, struct packet *p)
{
	const uint8_t *opt;

	p->sport = read_be16_field(tcp);
	p->dport = read_be16_field(tcp + 2);
	p->tcp.seq = read_be32_field(tcp + 4);
	p->tcp.ack_seq = read_be32_field(tcp + 8);
	p->tcp.flags = read_be16_field(tcp + 12);
	p->tcp.window = read_be16_field(tcp + 14);
	p->tcp.check = read_be16_field(tcp + 16);
	p->len = payload - (tcp[12] >> 4) * 4;
	for (opt = tcp + 20; opt < tcp + (tcp[12] >> 4) * 4 && *opt;) {
		if (*opt == 8) {
			p->tcp.has_ts = 1;
			p->tcp.tsval = read_be32_field(opt + 2);
			p->tcp.tsecr = read_be32_field(opt + 6);
		}
		opt += *opt == 1 ? 1 : opt[1];
	}
}

static void parse_captured_udp(const uint8_t *udp, bool partial, struct packet *p)
{
	uint32_t bytes;

	p->sport = read_be16_field(udp);
	p->dport = read_be16_field(udp + 2);
	p->len = read_be16_field(udp + 4) - 8;
	p->udp.check = read_be16_field(udp + 6);
	p->udp.check_final = !partial && !p->gso_size;
	bytes = p->len < 64 ? p->len : 64;
	if (p->gso_size && p->gso_size < bytes)
		bytes = p->gso_size;
	p->udp.digest = siphash_1_3_reference(udp + 8, bytes);
}

static bool parse_captured_icmp(const uint8_t *icmp, uint32_t payload, struct packet *p)
{
	p->icmp.type = icmp[0];
	p->icmp.id = read_be16_field(icmp + 4);
	p->icmp.seq = read_be16_field(icmp + 6);
	p->len = payload - 8;
	return p->family == AF_INET ? icmp[0] == 0 || icmp[0] == 8 :
				      icmp[0] == 128 || icmp[0] == 129;
}

static void parse_captured_sctp(const uint8_t *sctp, uint32_t payload, struct packet *p)
{
	uint32_t at = 12;

	p->sport = read_be16_field(sctp);
	p->dport = read_be16_field(sctp + 2);
	p->len = payload - 12;
	p->sctp.vtag = read_be32_field(sctp + 4);
	p->sctp.chunk = sctp[12];
	for (; at + 8 <= payload; at += (read_be16_field(sctp + at + 2) + 3) / 4 * 4) {
		if (sctp[at])
			continue;
		p->sctp.has_tsn = 1;
		p->sctp.tsn = read_be32_field(sctp + at + 4);
		break;
	}
}

/* Parse a well-formed packet of @size bytes. Tests create only well-formed packets. */
static bool parse_captured_packet(const uint8_t *ip, uint32_t size, uint8_t protocol, bool partial,
				  struct packet *p)
{
	const uint8_t *transport;
	uint32_t payload;
	uint8_t next;

	if (ip[0] >> 4 == 4) {
		p->family = AF_INET;
		p->id = read_be16_field(ip + 4);
		set_mapped_address(p->saddr, ip + 12);
		set_mapped_address(p->daddr, ip + 16);
		transport = ip + (ip[0] & 15) * 4;
		payload = find_ip_length(ip + 2, size) - (ip[0] & 15) * 4;
		next = ip[9];
	} else {
		p->family = AF_INET6;
		memcpy(p->saddr, ip + 8, 16);
		memcpy(p->daddr, ip + 24, 16);
		transport = ip + 40;
		payload = find_ip_length(ip + 4, size - 40);
		next = ip[6];
		while (next == IPPROTO_HOPOPTS || next == IPPROTO_DSTOPTS ||
		       next == IPPROTO_ROUTING) {
			uint32_t header = transport[1] * 8 + 8;

			next = transport[0];
			transport += header;
			payload -= header;
		}
		if (next == IPPROTO_ICMPV6)
			next = IPPROTO_ICMP;
	}
	if (next != protocol)
		return false;
	p->protocol = next;
	switch (protocol) {
	case IPPROTO_TCP:
		parse_captured_tcp(transport, payload, p);
		break;
	case IPPROTO_UDP:
		parse_captured_udp(transport, partial, p);
		break;
	case IPPROTO_ICMP:
		return parse_captured_icmp(transport, payload, p);
	case IPPROTO_SCTP:
		parse_captured_sctp(transport, payload, p);
		break;
	}
	return true;
}

static uint8_t parse_protocol_name(const char *name)
{
	if (!name || !strcmp(name, "tcp"))
		return IPPROTO_TCP;
	if (!strcmp(name, "udp"))
		return IPPROTO_UDP;
	if (!strcmp(name, "icmp"))
		return IPPROTO_ICMP;
	if (!strcmp(name, "sctp"))
		return IPPROTO_SCTP;
	fprintf(stderr, "capture: no protocol %s\n", name);
	exit(2);
}

/* Get the VLAN tag that the kernel has removed from the data. */
static uint16_t get_vlan_tag(struct msghdr *msg)
{
	const struct cmsghdr *c = CMSG_FIRSTHDR(msg);
	struct tpacket_auxdata aux;

	if (!c || c->cmsg_type != PACKET_AUXDATA)
		return 0;
	memcpy(&aux, CMSG_DATA(c), sizeof(aux));
	return aux.tp_status & TP_STATUS_VLAN_VALID ? aux.tp_vlan_tci : 0;
}

int main(int argc, char **argv)
{
	static struct {
		struct virtio_net_hdr vnet;
		struct ether_header eth;
		uint8_t data[512];
	} __attribute__((packed)) packet;
	struct sockaddr_ll addr = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int fd, one = 1, room = 400 << 20;
	struct tpacket_stats stats;
	socklen_t len;
	struct pollfd pfd;
	struct stat netns;
	uint8_t protocol;
	bool wire;

	wire = argc > 1 && !strcmp(argv[1], "-w");
	argv += wire;
	argc -= wire;
	if (argc != 2 && argc != 3) {
		fputs("usage: capture [-w] DEVICE [PROTOCOL]\n", stderr);
		return 2;
	}
	protocol = parse_protocol_name(argv[2]);
	signal(SIGTERM, note_capture_end);
	if (stat("/proc/self/ns/net", &netns))
		exit_with_capture_error("netns");
	fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (fd < 0)
		exit_with_capture_error("packet socket");
	addr.sll_ifindex = if_nametoindex(argv[1]);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &one, sizeof(one)) ||
	    bind(fd, (void *)&addr, sizeof(addr)))
		exit_with_capture_error(argv[1]);
	fputs("ready\n", stderr);

	pfd = (struct pollfd){ .fd = fd, .events = POLLIN };
	for (;;) {
		struct sockaddr_ll from;
		struct packet p = { .gso_segs = 1 };
		struct iovec iov = { &packet, sizeof(packet) };
		char control[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
		struct msghdr msg = {
			.msg_name = &from,
			.msg_namelen = sizeof(from),
			.msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = control,
			.msg_controllen = sizeof(control),
		};
		const uint8_t *ip = packet.data;
		uint16_t type;
		ssize_t size;

		size = recvmsg(fd, &msg, MSG_DONTWAIT | MSG_TRUNC);
		if (size < 0) {
			if (errno != EAGAIN && errno != EINTR)
				exit_with_capture_error("receive");
			if (errno == EAGAIN && ending)
				break;
			poll(&pfd, 1, 100);
			continue;
		}
		type = ntohs(packet.eth.ether_type);
		if (wire) {
			p.ifindex = from.sll_ifindex;
			p.vlan = get_vlan_tag(&msg);
		}
		size -= ip - (const uint8_t *)&packet;
		if (type == ETHERTYPE_VLAN) {
			p.vlan = read_be16_field(ip);
			type = read_be16_field(ip + 2);
			ip += 4;
			size -= 4;
		}
		if (packet.vnet.gso_type)
			p.gso_size = packet.vnet.gso_size;
		if ((type != ETHERTYPE_IP && type != ETHERTYPE_IPV6) ||
		    !parse_captured_packet(ip, size, protocol,
					   packet.vnet.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM, &p))
			continue;
		p.dir = from.sll_pkttype == PACKET_OUTGOING ? "out" : "in";
		p.netns = netns.st_ino;
		if (p.gso_size)
			p.gso_segs = (p.len + p.gso_size - 1) / p.gso_size;
		packet_print(&p);
	}
	len = sizeof(stats);
	if (getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &len))
		exit_with_capture_error("statistics");
	if (stats.tp_drops) {
		fprintf(stderr, "capture: lost %u packets\n", stats.tp_drops);
		return 1;
	}
	return 0;
}
