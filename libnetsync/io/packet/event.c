// SPDX-License-Identifier: LGPL-2.1-or-later
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "io/packet/event.h"

/*
 * Of all our own events: a name means the same in each. What some mean at a
 * device depends on the protocol, see read_wire().
 */
const struct field_name event_fields[] = {
	{ "skb", SKB }, { "ifindex", IFINDEX }, { "protocol", PROTOCOL },
	{ "saddr", SADDR }, { "daddr", DADDR }, { "family", FAMILY },
	{ "id", IP_ID }, { "len", LEN }, { "netns", NETNS },
	{ "sport", SPORT }, { "dport", DPORT }, { "gso_size", GSO_SIZE },
	{ "gso_segs", GSO_SEGS }, { "seq", SEQ }, { "ack_seq", ACK },
	{ "flags", FLAGS }, { "window", WINDOW }, { "has_ts", HAS_TS },
	{ "tsval", TSVAL }, { "tsecr", TSECR }, { "check", CHECKSUM },
	{ "check_final", IS_FINAL }, { "digest", DIGEST }, { "type", TYPE },
	{ "echo_id", ECHO_ID }, { "echo_seq", ECHO_SEQ }, { "vtag", VTAG },
	{ "chunk", CHUNK }, { "has_tsn", HAS_TSN }, { "tsn", TSN },
	{ "mono", MONO }, { "raw", RAW }, { "offs_boot", OFFS_BOOT },
	{ "offs_tai", OFFS_TAI }, { "mult", MULT }, { "raw_mult", RAW_MULT },
	{ NULL, 0 },
};

static const struct event_kind event_kinds[] = {
	{ "inet_sock_local_in", "inet_sock_local_in", NETSYNC_IN, IPPROTO_TCP },
	{ "inet_sock_local_out", "inet_sock_local_out", NETSYNC_OUT, IPPROTO_TCP },
	{ "inet_udp_local_in", "inet_udp_local_in", NETSYNC_IN, IPPROTO_UDP },
	{ "inet_udp_local_out", "inet_udp_local_out", NETSYNC_OUT, IPPROTO_UDP },
	{ "inet_icmp_local_in", "inet_icmp_local_in", NETSYNC_IN, IPPROTO_ICMP },
	{ "inet_icmp_local_out", "inet_icmp_local_out", NETSYNC_OUT, IPPROTO_ICMP },
	{ "inet_sctp_local_in", "inet_sctp_local_in", NETSYNC_IN, IPPROTO_SCTP },
	{ "inet_sctp_local_out", "inet_sctp_local_out", NETSYNC_OUT, IPPROTO_SCTP },
	{ "inet_dev_receive", "inet_dev_receive", NETSYNC_IN, ANY_PROTOCOL },
	{ "inet_dev_xmit", "inet_dev_xmit", NETSYNC_OUT, ANY_PROTOCOL },
	{ "netsync_clock", "netsync_clock", NETSYNC_OUT, NO_PROTOCOL },
	{ "net_dev_queue", "net_dev_queue", NETSYNC_OUT, 0 },
	{ "net_if_receive_skb", "netif_receive_skb", NETSYNC_IN, 0 },
	{ "netif_receive_skb", "netif_receive_skb", NETSYNC_IN, 0 },
};

#define NUM_EVENT_KINDS (sizeof(event_kinds) / sizeof(event_kinds[0]))

const struct event_kind *event_kind(const char *name)
{
	for (size_t i = 0; name && i < NUM_EVENT_KINDS; i++)
		if (!strcmp(name, event_kinds[i].name))
			return &event_kinds[i];
	return NULL;
}

/* What has to be there. */
static uint64_t wanted(uint8_t protocol)
{
	switch (protocol) {
	case IPPROTO_TCP:
		return BIT(SEQ) | BIT(ACK) | BIT(FLAGS);
	case IPPROTO_UDP:
		return BIT(SADDR) | BIT(DADDR) | BIT(SPORT) | BIT(DPORT) |
		       BIT(FAMILY) | BIT(IP_ID) | BIT(LEN);
	case IPPROTO_ICMP:
		return BIT(SADDR) | BIT(DADDR) | BIT(FAMILY) | BIT(TYPE) |
		       BIT(ECHO_ID) | BIT(ECHO_SEQ);
	case IPPROTO_SCTP:
		return BIT(SADDR) | BIT(DADDR) | BIT(FAMILY) | BIT(VTAG) |
		       BIT(CHUNK) | BIT(HAS_TSN) | BIT(TSN);
	case NO_PROTOCOL:
		return BIT(MONO) | BIT(RAW) | BIT(OFFS_BOOT) | BIT(OFFS_TAI) |
		       BIT(MULT) | BIT(RAW_MULT);
	default:
		return BIT(PROTOCOL) | BIT(IFINDEX) | BIT(SEQ) | BIT(ACK) |
		       BIT(FLAGS) | BIT(SADDR) | BIT(DADDR) | BIT(SPORT) |
		       BIT(DPORT) | BIT(FAMILY) | BIT(IP_ID) | BIT(LEN);
	}
}

bool event_is_whole(const struct event_kind *kind, uint64_t has)
{
	return !(wanted(kind->protocol) & ~has);
}

/* ---- fields ------------------------------------------------------------ */

static bool has_all(const struct event_values *v, uint64_t mask)
{
	return (v->has & mask) == mask;
}

static uint64_t number(const struct event_values *v, enum meaning meaning)
{
	return v->has & BIT(meaning) ? v->number[meaning] : 0;
}

/*
 * The 16 bits of the TCP header that hold data offset and flags. A data offset
 * is at least 5, and three bits are reserved. Some versions of lttng-addons
 * put the word together from bit-fields in the opposite order, and in the
 * opposite byte order: FIN is the highest bit of the first byte, CWR the
 * lowest, and the data offset is in the second.
 */
static uint16_t normal_flags(uint16_t word)
{
	uint16_t flags = 0;

	if (word >> 12 >= 5 && !(word & 0x0e00))
		return word;
	for (int bit = 0; bit < 8; bit++)
		if (word & (0x8000 >> bit))
			flags |= 1 << bit;
	return (word & 0x0f) << 12 | flags;
}

static void read_tcp(const struct event_values *v, struct netsync_packet *pkt)
{
	pkt->seq = number(v, SEQ);
	pkt->ack = number(v, ACK);
	pkt->flags = normal_flags(number(v, FLAGS));
	if (has_all(v, BIT(WINDOW))) {
		pkt->window = number(v, WINDOW);
		pkt->fields |= NETSYNC_HAS_WINDOW;
	}
	if (has_all(v, BIT(HAS_TS) | BIT(TSVAL) | BIT(TSECR))) {
		pkt->tsval = number(v, TSVAL);
		pkt->tsecr = number(v, TSECR);
		pkt->fields |= number(v, HAS_TS) ? NETSYNC_HAS_TSTAMP :
						   NETSYNC_HAS_NO_TSTAMP;
	}
}

/* The digest is 0 where the module was told to make none. */
static void set_udp(struct netsync_packet *pkt, uint16_t checksum,
		    bool is_final, uint64_t digest)
{
	pkt->checksum = checksum;
	if (is_final)
		pkt->fields |= NETSYNC_HAS_CHECKSUM;
	pkt->digest = digest;
	if (digest)
		pkt->fields |= NETSYNC_HAS_DIGEST;
}

void event_set_echo(struct netsync_packet *pkt, uint8_t type, uint16_t id,
		    uint16_t seq)
{
	pkt->icmp_type = type;
	pkt->icmp_id = id;
	pkt->icmp_seq = seq;
	pkt->fields |= NETSYNC_HAS_ECHO;
}

static void set_sctp(struct netsync_packet *pkt, uint32_t vtag, uint8_t chunk,
		     bool has_tsn, uint32_t tsn)
{
	pkt->vtag = vtag;
	pkt->chunk = chunk;
	pkt->tsn = tsn;
	pkt->fields |= NETSYNC_HAS_SCTP;
	if (has_tsn)
		pkt->fields |= NETSYNC_HAS_TSN;
}

/* Where the kernel hands packets to its sockets, or gets them from there. */
static void read_local(const struct event_values *v, struct netsync_packet *pkt)
{
	switch (pkt->protocol) {
	case IPPROTO_TCP:
		read_tcp(v, pkt);
		break;
	case IPPROTO_UDP:
		set_udp(pkt, number(v, CHECKSUM), number(v, IS_FINAL),
			number(v, DIGEST));
		break;
	case IPPROTO_SCTP:
		set_sctp(pkt, number(v, VTAG), number(v, CHUNK),
			 number(v, HAS_TSN), number(v, TSN));
		break;
	default:
		if (number(v, FAMILY) == AF_INET6)
			pkt->protocol = IPPROTO_ICMPV6;
		event_set_echo(pkt, number(v, TYPE), number(v, ECHO_ID),
			       number(v, ECHO_SEQ));
		break;
	}
}

/*
 * At devices all have TCP's fields, with the meaning of their own. Return:
 * whether there is a use for packets of this protocol.
 */
static bool read_wire(const struct event_values *v, struct netsync_packet *pkt)
{
	pkt->skb = number(v, SKB);
	if (has_all(v, BIT(SKB)))
		pkt->fields |= NETSYNC_HAS_SKB;
	pkt->protocol = number(v, PROTOCOL);
	switch (pkt->protocol) {
	case IPPROTO_TCP:
		read_tcp(v, pkt);
		return true;
	case IPPROTO_UDP:
		set_udp(pkt, number(v, CHECKSUM), number(v, FLAGS),
			number(v, TSVAL) << 32 | number(v, TSECR));
		return true;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		pkt->fields &= ~(uint32_t)NETSYNC_HAS_PORTS;
		event_set_echo(pkt, number(v, FLAGS), number(v, ACK),
			       number(v, SEQ));
		return true;
	case IPPROTO_SCTP:
		set_sctp(pkt, number(v, ACK), number(v, FLAGS),
			 number(v, FLAGS) >> 8, number(v, SEQ));
		return true;
	default:
		return false;
	}
}

static void read_all(const struct event_values *v, struct netsync_packet *pkt)
{
	if (has_all(v, BIT(SPORT) | BIT(DPORT))) {
		pkt->sport = number(v, SPORT);
		pkt->dport = number(v, DPORT);
		pkt->fields |= NETSYNC_HAS_PORTS;
	}
	if (has_all(v, BIT(SADDR) | BIT(DADDR))) {
		memcpy(pkt->saddr, v->saddr, sizeof(pkt->saddr));
		memcpy(pkt->daddr, v->daddr, sizeof(pkt->daddr));
		pkt->fields |= NETSYNC_HAS_ADDRS;
	}
	if (has_all(v, BIT(IP_ID)) && number(v, FAMILY) == AF_INET) {
		pkt->ip_id = number(v, IP_ID);
		pkt->fields |= NETSYNC_HAS_IP_ID;
	}
	if (has_all(v, BIT(LEN))) {
		pkt->len = number(v, LEN);
		pkt->fields |= NETSYNC_HAS_LEN;
	}
	if (has_all(v, BIT(NETNS))) {
		pkt->netns = number(v, NETNS);
		pkt->fields |= NETSYNC_HAS_NETNS;
	}
	if (has_all(v, BIT(GSO_SIZE) | BIT(GSO_SEGS))) {
		pkt->gso_size = number(v, GSO_SIZE);
		pkt->gso_segs = number(v, GSO_SEGS);
		pkt->fields |= NETSYNC_HAS_GSO;
	}
}

/* ---- points ------------------------------------------------------------ */

int event_find_point(struct event_point *point, struct trace *trace,
		     const struct event_kind *kind, const char *device)
{
	if (point->number >= 0 && !strcmp(device, point->device))
		return 0;
	point->number = io_point(trace, kind->point, device);
	if (point->number < 0)
		return point->number;
	if (strlen(device) < sizeof(point->device))
		strcpy(point->device, device);
	else
		point->device[0] = '\0';
	return 0;
}

/* Each device is a point of its own. */
static int find_wire_point(const struct event_kind *kind,
			   const struct event_values *v,
			   struct event_point *point, struct trace *trace)
{
	char device[sizeof(point->device)];

	snprintf(device, sizeof(device), "%llu:%llu",
		 (unsigned long long)number(v, NETNS),
		 (unsigned long long)number(v, IFINDEX));
	return event_find_point(point, trace, kind, device);
}

/* ---- clocks ------------------------------------------------------------ */

/* An event comes that long, ns, after the instant that it tells of, at most. Chosen. */
#define MOST_LATE 100000000

static int read_clock(const struct event_values *v, struct event_seen *seen)
{
	int64_t mono = (int64_t)number(v, MONO);

	seen->is_clock = true;
	seen->clock = (struct clock_event){
		/* CLOCK_MONOTONIC, and what other clocks are ahead of it. */
		.shown_ns = { mono, mono + (int64_t)number(v, OFFS_BOOT),
			      mono + (int64_t)number(v, OFFS_TAI) },
		.raw_ns = (int64_t)number(v, RAW),
		.rate = (double)number(v, MULT) / (double)number(v, RAW_MULT),
	};
	return number(v, RAW_MULT) && seen->clock.rate < 2;
}

bool event_set_time(struct event_seen *seen, int64_t printed_ns, int64_t clock_ns)
{
	struct clock_event *clock = &seen->clock;

	if (!seen->is_clock) {
		seen->pkt.time_ns = printed_ns;
		return true;
	}
	for (int i = 0; i < CLOCKS_SHOWN; i++) {
		__int128 late = (__int128)clock_ns - clock->shown_ns[i];

		if (late < 0 || late > MOST_LATE)
			continue;
		return !__builtin_sub_overflow(printed_ns, (int64_t)late,
					       &clock->time_ns);
	}
	return false;
}

int event_decode(const struct event_kind *kind, const struct event_values *v,
		 struct event_point *point, struct trace *trace,
		 struct event_seen *seen)
{
	struct netsync_packet *pkt = &seen->pkt;
	int ret;

	if (kind->protocol == NO_PROTOCOL)
		return read_clock(v, seen);
	pkt->dir = kind->dir;
	read_all(v, pkt);
	if (kind->protocol != ANY_PROTOCOL) {
		pkt->protocol = kind->protocol;
		read_local(v, pkt);
		ret = event_find_point(point, trace, kind, "");
	} else if (read_wire(v, pkt)) {
		ret = find_wire_point(kind, v, point, trace);
	} else {
		return 0;
	}
	pkt->point = point->number;
	return ret < 0 ? ret : 1;
}
