// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: events [-k | -l | -w] < TEXT
 *
 * Print a line for every event in the output of ftrace, trace-cmd or babeltrace2: the
 * packet that the local stack receives or sends, see packet.h. With -k, print its socket
 * instead; with -w, the packet at a device; with -l, the creation, connection and end of
 * sockets.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "packet.h"

/* Find the text after "NAME=" or "NAME = ". */
static const char *find_event_field(const char *line, const char *name)
{
	size_t len = strlen(name);
	const char *p;

	for (p = line; (p = strstr(p, name)); p += len) {
		const char *value = p + len;

		if (p[-1] != ' ')
			continue;
		value += strspn(value, " ");
		if (*value == '=')
			return value + 1 + strspn(value + 1, " ");
	}
	fprintf(stderr, "events: no field %s in: %s", name, line);
	exit(1);
}

static uint64_t parse_event_number(const char *line, const char *name)
{
	return strtoull(find_event_field(line, name), NULL, 0);
}

/*
 * Read an address: "::ffff:10.0.0.1", or an array of 4 or 16 bytes: "[ [0] = 10, [1] = 0,
 * ... ]".
 */
static void parse_event_address(const char *line, const char *name, uint8_t *addr)
{
	const char *p = find_event_field(line, name);
	char text[INET6_ADDRSTRLEN] = "";
	const char *end;
	int i;

	if (*p != '[') {
		memcpy(text, p, strcspn(p, " \n") % sizeof(text));
		if (inet_pton(AF_INET6, text, addr) == 1)
			return;
		fprintf(stderr, "events: bad address %s in: %s", name, line);
		exit(1);
	}
	for (i = 0, end = strstr(p, " ]"); i < 16; i++) {
		p = strstr(p, "] =");
		if (!p || p > end)
			break;
		p += 3;
		addr[i] = strtoul(p, NULL, 0);
	}
	if (i == 4) {
		memcpy(addr + 12, addr, 4);
		memset(addr, 0, 10);
		memset(addr + 10, 0xff, 2);
	}
}

static void read_tcp(const char *line, struct packet *p)
{
	p->tcp.seq = parse_event_number(line, "seq");
	p->tcp.ack_seq = parse_event_number(line, "ack_seq");
	p->tcp.check = parse_event_number(line, "check");
	p->tcp.window = parse_event_number(line, "window");
	p->tcp.flags = parse_event_number(line, "flags");
	p->tcp.has_ts = parse_event_number(line, "has_ts");
	p->tcp.tsval = parse_event_number(line, "tsval");
	p->tcp.tsecr = parse_event_number(line, "tsecr");
}

static void read_udp(const char *line, struct packet *p)
{
	p->udp.check = parse_event_number(line, "check");
	p->udp.check_final = parse_event_number(line, "check_final");
	p->udp.digest = parse_event_number(line, "digest");
}

static void read_icmp(const char *line, struct packet *p)
{
	p->icmp.type = parse_event_number(line, "type");
	p->icmp.id = parse_event_number(line, "echo_id");
	p->icmp.seq = parse_event_number(line, "echo_seq");
}

static void read_sctp(const char *line, struct packet *p)
{
	p->sctp.vtag = parse_event_number(line, "vtag");
	p->sctp.chunk = parse_event_number(line, "chunk");
	p->sctp.has_tsn = parse_event_number(line, "has_tsn");
	p->sctp.tsn = parse_event_number(line, "tsn");
}

static const struct {
	const char *name;
	uint8_t protocol;
	void (*read)(const char *line, struct packet *p);
} kinds[] = {
	{ " inet_sock_local_", IPPROTO_TCP, read_tcp },
	{ " inet_udp_local_", IPPROTO_UDP, read_udp },
	{ " inet_icmp_local_", IPPROTO_ICMP, read_icmp },
	{ " inet_sctp_local_", IPPROTO_SCTP, read_sctp },
};

static void read_ip_fields(const char *at, struct packet *p)
{
	p->netns = parse_event_number(at, "netns");
	p->family = parse_event_number(at, "family");
	parse_event_address(at, "saddr", p->saddr);
	parse_event_address(at, "daddr", p->daddr);
	p->id = parse_event_number(at, "id");
	p->len = parse_event_number(at, "len");
}

static void read_port_fields(const char *at, struct packet *p)
{
	p->sport = parse_event_number(at, "sport");
	p->dport = parse_event_number(at, "dport");
	p->gso_size = parse_event_number(at, "gso_size");
	p->gso_segs = parse_event_number(at, "gso_segs");
}

static bool read_packet(const char *line, struct packet *p)
{
	const char *at = NULL;
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		at = strstr(line, kinds[i].name);
		if (at)
			break;
	}
	if (!at)
		return false;
	at += strlen(kinds[i].name);
	memset(p, 0, sizeof(*p));
	p->dir = *at == 'i' ? "in" : "out";
	p->protocol = kinds[i].protocol;
	read_ip_fields(at, p);
	if (p->protocol != IPPROTO_ICMP)
		read_port_fields(at, p);
	kinds[i].read(at, p);
	return true;
}

/* In the flat layout, the meaning of a field depends on the protocol. */
static bool read_device_packet(const char *line, struct packet *p)
{
	const char *at = strstr(line, " inet_dev_");
	uint32_t seq, ack_seq, tsval, tsecr;
	uint16_t flags, check;

	if (!at)
		return false;
	at += strlen(" inet_dev_");
	memset(p, 0, sizeof(*p));
	p->dir = *at == 'r' ? "in" : "out";
	p->ifindex = parse_event_number(at, "ifindex");
	p->vlan = parse_event_number(at, "vlan");
	p->protocol = parse_event_number(at, "protocol");
	read_ip_fields(at, p);
	read_port_fields(at, p);
	seq = parse_event_number(at, "seq");
	ack_seq = parse_event_number(at, "ack_seq");
	flags = parse_event_number(at, "flags");
	check = parse_event_number(at, "check");
	tsval = parse_event_number(at, "tsval");
	tsecr = parse_event_number(at, "tsecr");
	switch (p->protocol) {
	case IPPROTO_TCP:
		p->tcp.seq = seq;
		p->tcp.ack_seq = ack_seq;
		p->tcp.flags = flags;
		p->tcp.check = check;
		p->tcp.window = parse_event_number(at, "window");
		p->tcp.has_ts = parse_event_number(at, "has_ts");
		p->tcp.tsval = tsval;
		p->tcp.tsecr = tsecr;
		break;
	case IPPROTO_UDP:
		p->udp.check = check;
		p->udp.check_final = flags;
		p->udp.digest = (uint64_t)tsval << 32 | tsecr;
		break;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		p->protocol = IPPROTO_ICMP;
		p->icmp.id = ack_seq;
		p->icmp.seq = seq;
		p->icmp.type = flags;
		break;
	case IPPROTO_SCTP:
		p->sctp.vtag = ack_seq;
		p->sctp.tsn = seq;
		p->sctp.chunk = flags;
		p->sctp.has_tsn = flags >> 8;
		break;
	}
	return true;
}

static void print_socket_life(const char *line)
{
	static const char *const names[] = { "inet_sock_create", "inet_sock_delete",
					     "inet_sock_clone", "inet_connect", "inet_accept" };
	const char *at = NULL;
	size_t i;

	for (i = 0; i < 5 && !at; i++)
		at = strstr(line, names[i]);
	if (!at || at[-1] != ' ')
		return;
	i--;
	printf("%s netns=%" PRIu64 " family=%" PRIu64 " protocol=%" PRIu64, names[i],
	       parse_event_number(at, "netns"), parse_event_number(at, "family"),
	       parse_event_number(at, "protocol"));
	if (i == 2)
		printf(" osk=%" PRIx64 " nsk=%" PRIx64 "\n", parse_event_number(at, "osk"),
		       parse_event_number(at, "nsk"));
	else
		printf(" sk=%" PRIx64, parse_event_number(at, "sk"));
	if (i > 2) {
		char saddr[INET6_ADDRSTRLEN], daddr[INET6_ADDRSTRLEN];
		uint8_t addr[16];

		parse_event_address(at, "saddr", addr);
		inet_ntop(AF_INET6, addr, saddr, sizeof(saddr));
		parse_event_address(at, "daddr", addr);
		inet_ntop(AF_INET6, addr, daddr, sizeof(daddr));
		printf(" %s %" PRIu64 " -> %s %" PRIu64, saddr, parse_event_number(at, "sport"),
		       daddr, parse_event_number(at, "dport"));
	}
	if (i != 2)
		putchar('\n');
}

int main(int argc, char **argv)
{
	char what = argc > 1 ? argv[1][1] : '\0';
	static char line[4096];

	while (fgets(line, sizeof(line), stdin)) {
		struct packet p;

		if (what == 'l') {
			print_socket_life(line);
			continue;
		}
		if (what == 'w' ? !read_device_packet(line, &p) : !read_packet(line, &p))
			continue;
		/*
		 * A packet that is not segmented reports 0 or 1 segments. Count it as one segment.
		 */
		if (!p.gso_size && !p.gso_segs)
			p.gso_segs = 1;
		if (what != 'k')
			packet_print(&p);
		else
			printf("%s netns=%" PRIu32 " port=%u flags=%04x len=%" PRIu32 " sk=%" PRIx64
			       "\n",
			       p.dir, p.netns, p.dir[0] == 'i' ? p.dport : p.sport, p.tcp.flags,
			       p.len, parse_event_number(line, "sk"));
	}
	return 0;
}
