// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: inject [-r COUNT [-s SEED] [-i | -t]] DEVICE DESTINATION-MAC NETNS
 *
 * Send packets that no TCP implementation makes directly to a device, from 10.9.0.1 to 10.9.0.2 and
 * from fd09::1 to fd09::2, and print a line (see packet.h) for each of them that should cause an
 * event in the receiver's namespace NETNS. The sequence number and the destination port identify
 * the test case; their names are printed to standard error.
 *
 *   -r COUNT  random distortions instead, of these and other protocols, some
 *	       with VLAN tags or in tunnels
 *   -s SEED   others (1)
 *   -i        by a raw socket, with own IPv4 headers
 *   -t        DEVICE is a tap device, by which they come in
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ether.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "packet.h"

#define TSVAL 0x01020304
#define TSECR 0x05060708
#define TIMESTAMPS "\x08\x0a\x01\x02\x03\x04\x05\x06\x07\x08"
#define BYTES(text) text, sizeof(text) - 1

/* Numbers of the extension headers in the table. */
#define HOP "\x00"
#define ROUTING "\x2b"
#define FRAGMENT "\x2c"
#define DESTINATION "\x3c"
#define TEN_OF(x) x x x x x x x x x x

struct bytes {
	const char *text;
	size_t len;
};

struct recipe {
	const char *name;
	bool event;
	uint8_t ipv;	  /* IP version: 4 or 6 */
	uint8_t protocol; /* IP protocol; 0 means TCP */
	struct bytes ip_options;
	struct bytes extensions;
	int lying_ext;	      /* wrong length field in the last extension header */
	uint16_t fragment;    /* fragment offset and flag, in the format of the IPv6 header */
	struct bytes options; /* TCP options */
	bool has_ts;
	uint8_t doff;	/* data offset field; 0 for the correct value */
	uint16_t flags; /* bits to set in addition */
	int payload;
	int cut;       /* number of bytes removed from the end */
	int padding;   /* number of bytes added after the packet */
	int lying_len; /* error of the length in the IP header */
};

static const struct recipe packets[] = {
	{ "plain", true, 4, .payload = 0 },
	{ "plain with data", true, 4, .payload = 777 },
	{ "every flag", true, 4, .flags = 0x0fff },
	{ "padding behind it", true, 4, .padding = 6 },
	{ "one IP option word", true, 4, .ip_options = { BYTES("\1\1\1\0") } },
	{ "40 bytes of IP options", true, 4, .ip_options = { BYTES(TEN_OF("\1\1\1\1")) } },
	{ "timestamps as Linux does", true, 4, .has_ts = true,
	  .options = { BYTES("\1\1" TIMESTAMPS) } },
	{ "timestamps first", true, 4, .has_ts = true, .payload = 1,
	  .options = { BYTES(TIMESTAMPS "\0\0") } },
	{ "timestamps of a SYN", true, 4, .has_ts = true, .flags = 2,
	  .options = { BYTES("\2\4\5\xb4\4\2" TIMESTAMPS "\1\3\3\7") } },
	{ "timestamps behind an unknown option", true, 4, .has_ts = true,
	  .options = { BYTES("\xfd\x08"
			     "abcdef"
			     "\1\1" TIMESTAMPS) } },
	{ "timestamps as the last of 40 bytes", true, 4, .has_ts = true,
	  .options = { BYTES("\xfe\x1e"
			     "0123456789012345678901234567" TIMESTAMPS) } },
	{ "timestamps behind the end of options", true, 4,
	  .options = { BYTES("\0\1" TIMESTAMPS) } },
	{ "timestamps of a wrong size", true, 4,
	  .options = { BYTES("\x08\x09\x01\x02\x03\x04\x05\x06\x07\0\0\0") } },
	{ "timestamps cut off by the header's end", true, 4,
	  .options = { BYTES("\x08\x0a\x01\x02") } },
	{ "option of length 0", true, 4, .options = { BYTES("\xfd\0" TIMESTAMPS) } },
	{ "option of length 1", true, 4, .options = { BYTES("\xfd\1" TIMESTAMPS) } },
	{ "option kind at the very end", true, 4, .options = { BYTES("\1\1\1\x08") } },
	{ "40 bytes of nothing", true, 4, .options = { BYTES(TEN_OF("\1\1\1\1")) } },
	{ "headers not in the linear part", true, 4, .payload = 6000, .has_ts = true,
	  .options = { BYTES("\1\1" TIMESTAMPS) } },
	{ "the same with IP options", true, 4, .payload = 6000, .has_ts = true,
	  .ip_options = { BYTES(TEN_OF("\1\1\1\1")) }, .options = { BYTES("\1\1" TIMESTAMPS) } },
	{ "other protocol", false, 4, .protocol = IPPROTO_UDP },
	{ "data offset below 5", false, 4, .doff = 4 },
	{ "data offset 0", false, 4, .doff = 16 },
	{ "data offset behind the end", false, 4, .doff = 15 },
	{ "data offset in the padding", false, 4, .doff = 6, .padding = 40 },
	{ "a byte of the header missing", false, 4, .cut = 1 },
	{ "a byte of it in the padding", false, 4, .cut = 1, .padding = 30 },
	{ "options missing", false, 4, .cut = 4, .options = { BYTES("\1\1" TIMESTAMPS) } },
	{ "no header at all", false, 4, .cut = 20 },
	{ "longer than it is", false, 4, .lying_len = 1 },
	{ "shorter than it is", true, 4, .payload = 100, .lying_len = -60 },

	{ "IPv6 plain", true, 6, .payload = 0 },
	{ "IPv6 with data", true, 6, .payload = 777 },
	{ "IPv6 padding behind it", true, 6, .padding = 6 },
	{ "IPv6 timestamps", true, 6, .has_ts = true, .options = { BYTES("\1\1" TIMESTAMPS) } },
	{ "IPv6 hop-by-hop", true, 6, .payload = 9, .extensions = { BYTES(HOP) } },
	{ "IPv6 destination", true, 6, .extensions = { BYTES(DESTINATION) } },
	{ "IPv6 routing", true, 6, .extensions = { BYTES(ROUTING) } },
	{ "IPv6 several extension headers", true, 6, .payload = 5,
	  .extensions = { BYTES(HOP DESTINATION ROUTING DESTINATION) } },
	/* Newer kernels accept at most twelve extension headers per packet. */
	{ "IPv6 ten of them", true, 6, .payload = 5, .extensions = { BYTES(TEN_OF(DESTINATION)) } },
	{ "IPv6 headers not in the linear part", true, 6, .payload = 6000, .has_ts = true,
	  .options = { BYTES("\1\1" TIMESTAMPS) },
	  .extensions = { BYTES(DESTINATION DESTINATION) } },
	{ "IPv6 fragment that is the whole", true, 6, .payload = 16,
	  .extensions = { BYTES(FRAGMENT) } },
	{ "IPv6 first fragment", true, 6, .payload = 20, .fragment = 0x0001,
	  .extensions = { BYTES(FRAGMENT) } },
	{ "IPv6 later fragment", false, 6, .payload = 16, .fragment = 0x0101,
	  .extensions = { BYTES(FRAGMENT) } },
	{ "IPv6 last fragment", false, 6, .payload = 16, .fragment = 0x0200,
	  .extensions = { BYTES(DESTINATION FRAGMENT) } },
	{ "IPv6 other protocol", false, 6, .protocol = IPPROTO_UDP },
	{ "IPv6 no next header", false, 6, .protocol = IPPROTO_NONE,
	  .extensions = { BYTES(DESTINATION) } },
	{ "IPv6 extension behind the end", false, 6, .lying_ext = 200,
	  .extensions = { BYTES(DESTINATION) } },
	{ "IPv6 TCP header behind the end", false, 6, .lying_ext = 2,
	  .extensions = { BYTES(DESTINATION) } },
	{ "IPv6 extension cut", false, 6, .cut = 24, .extensions = { BYTES(DESTINATION) } },
	{ "IPv6 data offset below 5", false, 6, .doff = 4 },
	{ "IPv6 data offset behind the end", false, 6, .doff = 15 },
	{ "IPv6 a byte of the header missing", false, 6, .cut = 1 },
	{ "IPv6 no header at all", false, 6, .cut = 20 },
	{ "IPv6 longer than it is", false, 6, .lying_len = 1 },
	{ "IPv6 shorter than it is", true, 6, .payload = 100, .lying_len = -60 },
};

#define NUM_PACKETS (sizeof(packets) / sizeof(packets[0]))
#define IPV4_FRAGMENTS 2000 /* sequence number of the packet that is sent in fragments */

static const uint8_t from4[4] = { 10, 9, 0, 1 }, to4[4] = { 10, 9, 0, 2 };
static const uint8_t from6[16] = { 0xfd, 9, [15] = 1 };
static const uint8_t to6[16] = { 0xfd, 9, [15] = 2 };

static struct {
	struct virtio_net_hdr vnet;
	struct ether_header eth;
	uint8_t data[8192];
} __attribute__((packed)) frame;

static int fd;
static bool raw; /* the socket accepts packets that begin with an IP header */
static uint32_t netns;

/* The protocol field and the transport header of the packet that was built most recently. */
static uint8_t *kind, *transport;

static void exit_with_inject_error(const char *what)
{
	perror(what);
	exit(1);
}

static void put_be16(uint8_t *p, unsigned int value)
{
	p[0] = value >> 8;
	p[1] = value;
}

static void put_be32(uint8_t *p, uint32_t value)
{
	put_be16(p, value >> 16);
	put_be16(p + 2, value & 0xffff);
}

static void set_ip_checksum(uint8_t *ip)
{
	unsigned int i, sum = 0;

	put_be16(ip + 10, 0);
	for (i = 0; i < (ip[0] & 15) * 4u; i += 2)
		sum += ip[i] << 8 | ip[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	put_be16(ip + 10, ~(sum + (sum >> 16)));
}

static uint16_t get_ether_type(void)
{
	return frame.data[0] >> 4 == 6 ? ETHERTYPE_IPV6 : ETHERTYPE_IP;
}

static void transmit_frame(unsigned int len)
{
	size_t size = sizeof(frame) - sizeof(frame.data) + len;

	frame.eth.ether_type = htons(get_ether_type());
	if (write(fd, &frame, size) != (ssize_t)size)
		exit_with_inject_error("send");
}

static uint8_t *build_ipv4(const struct recipe *p, uint32_t seq)
{
	uint8_t *ip = frame.data;

	ip[0] = 0x45 + p->ip_options.len / 4;
	put_be16(ip + 4, seq);
	ip[8] = 64;
	ip[9] = p->protocol ? p->protocol : IPPROTO_TCP;
	memcpy(ip + 12, from4, 4);
	memcpy(ip + 16, to4, 4);
	memcpy(ip + 20, p->ip_options.text, p->ip_options.len);
	kind = ip + 9;
	return ip + 20 + p->ip_options.len;
}

static uint8_t *build_ipv6(const struct recipe *p)
{
	uint8_t *ip = frame.data, *next = ip + 6, *ext = ip + 40;
	size_t i;

	ip[0] = 0x60;
	ip[7] = 64;
	memcpy(ip + 8, from6, 16);
	memcpy(ip + 24, to6, 16);
	for (i = 0; i < p->extensions.len; i++, ext += 8) {
		uint8_t kind = p->extensions.text[i];

		*next = kind;
		next = ext;
		if (kind == (uint8_t)*FRAGMENT) {
			put_be16(ext + 2, p->fragment);
			put_be32(ext + 4, 0xabcd0000 + p->fragment);
		} else if (kind != (uint8_t)*ROUTING) {
			ext[2] = 1; /* PadN */
			ext[3] = 4;
		}
		if (i == p->extensions.len - 1)
			ext[1] = p->lying_ext;
	}
	*next = p->protocol ? p->protocol : IPPROTO_TCP;
	kind = next;
	return ext;
}

/* Build a packet in the frame. Return the length of the frame. */
static unsigned int build_tcp_frame(const struct recipe *p, uint32_t seq, struct packet *seg)
{
	unsigned int header = 20 + p->options.len, len;
	uint8_t *tcp;

	memset(frame.data, 0, sizeof(frame.data));
	tcp = p->ipv == 4 ? build_ipv4(p, seq) : build_ipv6(p);
	transport = tcp;
	put_be16(tcp, 7777);
	put_be16(tcp + 2, 8000 + seq);
	put_be32(tcp + 4, seq);
	put_be32(tcp + 8, ~seq);
	put_be16(tcp + 12, (p->doff ? p->doff : header / 4) << 12 | p->flags);
	put_be16(tcp + 14, 0x1234);
	put_be16(tcp + 16, 0xbeef);
	memcpy(tcp + 20, p->options.text, p->options.len);
	len = tcp - frame.data + header + p->payload - p->cut;
	if (p->ipv == 4) {
		put_be16(frame.data + 2, len + p->lying_len);
		set_ip_checksum(frame.data);
	} else {
		put_be16(frame.data + 4, len - 40 + p->lying_len);
	}

	*seg = (struct packet){
		.dir = "in",
		.netns = netns,
		.protocol = IPPROTO_TCP,
		.family = p->ipv == 4 ? AF_INET : AF_INET6,
		.id = p->ipv == 4 ? seq : 0,
		.sport = 7777,
		.dport = 8000 + seq,
		.len = p->payload - p->cut + p->lying_len,
		.gso_segs = 1,
		.tcp = {
			.seq = seq,
			.ack_seq = ~seq,
			.check = 0xbeef,
			.window = 0x1234,
			.flags = header / 4 << 12 | p->flags,
			.has_ts = p->has_ts,
			.tsval = p->has_ts ? TSVAL : 0,
			.tsecr = p->has_ts ? TSECR : 0,
		},
	};
	inet_pton(AF_INET6, "::ffff:10.9.0.1", seg->saddr);
	inet_pton(AF_INET6, "::ffff:10.9.0.2", seg->daddr);
	if (p->ipv == 6) {
		memcpy(seg->saddr, from6, 16);
		memcpy(seg->daddr, to6, 16);
	}
	return len + p->padding;
}

/*
 * Send one IPv4 packet, which is one segment, in three fragments. Also send two fragments of
 * packets that are never completed.
 */
static void send_ipv4_fragments(void)
{
	static const struct recipe whole = {
		"three fragments", true,	   4,
		.payload = 1000,   .has_ts = true, .options = { BYTES("\1\1" TIMESTAMPS) }
	};
	static uint8_t copy[2048];
	static const struct {
		unsigned int id, from, to;
	} parts[] = {
		{ 1, 0, 400 }, { 1, 400, 800 }, { 1, 800, 1032 }, { 2, 400, 800 }, { 3, 0, 400 },
	};
	struct packet seg;
	unsigned int i;

	build_tcp_frame(&whole, IPV4_FRAGMENTS, &seg);
	memcpy(copy, frame.data, sizeof(copy));
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		unsigned int from = parts[i].from, to = parts[i].to;

		put_be16(frame.data + 2, 20 + to - from);
		put_be16(frame.data + 4, parts[i].id);
		put_be16(frame.data + 6, from / 8 | (to == 1032 ? 0 : 0x2000));
		set_ip_checksum(frame.data);
		memcpy(frame.data + 20, copy + 20 + from, to - from);
		transmit_frame(20 + to - from);
	}
	seg.id = parts[0].id;
	packet_print(&seg);
	fprintf(stderr, "seq %u: %s\n", IPV4_FRAGMENTS, whole.name);
}

/* ---- distortions ---------------------------------------------------------- */

/* Return true for one in @times calls, at random. */
static bool draw_once_in(int times)
{
	return random() % times == 0;
}

/* Replace the rest of the packet, from the TCP header on, by UDP, ICMP or SCTP. */
static void distort_protocol(unsigned int len)
{
	static const uint8_t protocols[] = { IPPROTO_UDP, IPPROTO_ICMP, IPPROTO_ICMPV6,
					     IPPROTO_SCTP };
	unsigned int room = frame.data + len - transport;

	*kind = protocols[random() % 4];
	switch (*kind) {
	case IPPROTO_UDP:
		put_be16(transport + 4, draw_once_in(4) ? (uint16_t)random() : room);
		break;
	case IPPROTO_ICMP:
		put_be16(transport, draw_once_in(2) ? 0x0800 : 0x0000);
		break;
	case IPPROTO_ICMPV6:
		put_be16(transport, draw_once_in(2) ? 0x8000 : 0x8100);
		break;
	case IPPROTO_SCTP:
		/* Put a chunk other than DATA before the other chunks. */
		put_be16(transport + 12, (1 + random() % 5) << 8);
		put_be16(transport + 14, random() % 40);
		break;
	}
}

/* Insert @bytes bytes before the current contents. */
static void insert_zero_bytes(unsigned int *len, unsigned int bytes)
{
	memmove(frame.data + bytes, frame.data, *len);
	memset(frame.data, 0, bytes);
	*len += bytes;
}

static void add_vlan_tags(unsigned int *len)
{
	unsigned int i, tags = 1 + random() % 6;
	uint16_t type = get_ether_type();

	insert_zero_bytes(len, 4 * tags);
	for (i = 0; i < tags; i++) {
		put_be16(frame.data + 4 * i, random());
		put_be16(frame.data + 4 * i + 2, i < tags - 1 ? ETHERTYPE_VLAN : type);
	}
	frame.eth.ether_type = htons(draw_once_in(2) ? ETHERTYPE_VLAN : ETH_P_8021AD);
}

static void add_ip_tunnel(unsigned int *len)
{
	uint16_t type = get_ether_type();
	uint8_t *ip = frame.data;

	switch (random() % 3) {
	case 0:
		insert_zero_bytes(len, 20);
		ip[9] = type == ETHERTYPE_IP ? IPPROTO_IPIP : IPPROTO_IPV6;
		break;
	case 1:
		insert_zero_bytes(len, 20 + 4);
		ip[9] = IPPROTO_GRE;
		put_be16(ip + 22, type);
		break;
	case 2: /* VXLAN */
		insert_zero_bytes(len, 20 + 8 + 8 + 14);
		ip[9] = IPPROTO_UDP;
		put_be16(ip + 20, 7777);
		put_be16(ip + 22, 4789);
		put_be16(ip + 24, *len - 20);
		ip[28] = 0x08;
		ip[34] = 61;
		memset(ip + 36, 0xff, 6);
		put_be16(ip + 48, type);
		break;
	}
	ip[0] = 0x45;
	ip[8] = 64;
	memcpy(ip + 12, from4, 4);
	memcpy(ip + 16, to4, 4);
	put_be16(ip + 2, *len);
	set_ip_checksum(ip);
	frame.eth.ether_type = htons(ETHERTYPE_IP);
}

/* Distort the segmentation and checksum information that the kernel gets. */
static void distort_offload(void)
{
	memset(&frame.vnet, 0, sizeof(frame.vnet));
	if (!draw_once_in(8))
		return;
	frame.vnet.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	frame.vnet.csum_start = 14 + random() % 100;
	frame.vnet.csum_offset = random() % 20;
	frame.vnet.gso_type = random() % 6;
	frame.vnet.gso_size = random() % 2000;
	frame.vnet.hdr_len = random() % 100;
}

/*
 * Build a distorted packet. Return its length. The last distortions affect the outermost headers.
 */
static unsigned int build_distorted(void)
{
	unsigned int len, changes = random() % 4;
	struct packet seg;

	len = build_tcp_frame(&packets[random() % NUM_PACKETS], random() % 1000, &seg);
	if (draw_once_in(2))
		distort_protocol(len);
	frame.eth.ether_type = htons(get_ether_type());
	if (draw_once_in(8))
		add_ip_tunnel(&len);
	if (!raw && draw_once_in(8))
		add_vlan_tags(&len);
	while (changes--)
		frame.data[random() % 100] = random();
	if (draw_once_in(4))
		len = 20 + random() % (len - 19);
	if (frame.data[0] >> 4 == 4 && draw_once_in(2))
		put_be16(frame.data + 2, len);
	if (frame.data[0] >> 4 == 4 && !draw_once_in(8))
		set_ip_checksum(frame.data);
	if (frame.data[0] >> 4 == 6 && draw_once_in(2))
		put_be16(frame.data + 4, len - 40);
	distort_offload();
	return len;
}

/* Send distorted packets; the kernel may reject some of them. */
static void send_distorted(long count)
{
	const struct sockaddr_in to = { .sin_family = AF_INET,
					.sin_addr.s_addr = htonl(0x0a090002) };
	long taken = 0, i;

	for (i = 0; i < count; i++) {
		unsigned int len = build_distorted();
		ssize_t sent;

		sent = raw ? sendto(fd, frame.data, len, 0, (void *)&to, sizeof(to)) :
			     write(fd, &frame, sizeof(frame) - sizeof(frame.data) + len);
		taken += sent > 0;
	}
	fprintf(stderr, "%ld of %ld taken\n", taken, count);
	if (taken < count / 4)
		exit_with_inject_error("send");
}

/* ---- where packets are sent ------------------------------------------------------- */

static void open_inject_device(const char *device)
{
	struct sockaddr_ll addr = { .sll_family = AF_PACKET,
				    .sll_ifindex = if_nametoindex(device) };
	int one = 1;

	fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (fd < 0 || bind(fd, (void *)&addr, sizeof(addr)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof(one)))
		exit_with_inject_error(device);
}

static void open_tap_device(const char *device)
{
	struct ifreq request = { .ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR };

	strncpy(request.ifr_name, device, IFNAMSIZ - 1);
	fd = open("/dev/net/tun", O_RDWR);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &request))
		exit_with_inject_error(device);
}

static void open_raw_socket(void)
{
	raw = true;
	fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	if (fd < 0)
		exit_with_inject_error("raw socket");
}

int main(int argc, char **argv)
{
	long distorted = 0, seed = 1;
	bool tap = false;
	struct packet seg;
	size_t i;
	int opt;

	while ((opt = getopt(argc, argv, "ir:s:t")) != -1) {
		switch (opt) {
		case 'i':
			open_raw_socket();
			break;
		case 'r':
			distorted = atol(optarg);
			break;
		case 's':
			seed = atol(optarg);
			break;
		case 't':
			tap = true;
			break;
		default:
			return 2;
		}
	}
	argv += optind;
	if (argc - optind != 3 || !ether_aton_r(argv[1], (void *)&frame.eth)) {
		fputs("inject: see the first lines of its source\n", stderr);
		return 2;
	}
	netns = strtoul(argv[2], NULL, 10);
	if (tap)
		open_tap_device(argv[0]);
	else if (!raw)
		open_inject_device(argv[0]);
	if (distorted) {
		srandom(seed);
		send_distorted(distorted);
		return 0;
	}
	for (i = 0; i < NUM_PACKETS; i++) {
		unsigned int len = build_tcp_frame(&packets[i], i, &seg);

		transmit_frame(len);
		if (packets[i].event)
			packet_print(&seg);
		fprintf(stderr, "seq %zu: %s\n", i, packets[i].name);
	}
	send_ipv4_fragments();
	return 0;
}
