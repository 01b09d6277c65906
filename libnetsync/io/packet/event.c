// SPDX-License-Identifier: LGPL-2.1-or-later
/* The fields of a flat event, by their meanings -> a packet event. */
#include <netinet/in.h>
#include <string.h>

#include "io/packet/event.h"

/*
 * Of all our own events: a name means the same in each, but for those of devices,
 * see name_udp() and the like.
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
	{ "inet_sock_local_in", PLACE_TCP_IN, NETSYNC_IN, IPPROTO_TCP },
	{ "inet_sock_local_out", PLACE_TCP_OUT, NETSYNC_OUT, IPPROTO_TCP },
	{ "inet_udp_local_in", PLACE_UDP_IN, NETSYNC_IN, IPPROTO_UDP },
	{ "inet_udp_local_out", PLACE_UDP_OUT, NETSYNC_OUT, IPPROTO_UDP },
	{ "inet_icmp_local_in", PLACE_ICMP_IN, NETSYNC_IN, IPPROTO_ICMP },
	{ "inet_icmp_local_out", PLACE_ICMP_OUT, NETSYNC_OUT, IPPROTO_ICMP },
	{ "inet_sctp_local_in", PLACE_SCTP_IN, NETSYNC_IN, IPPROTO_SCTP },
	{ "inet_sctp_local_out", PLACE_SCTP_OUT, NETSYNC_OUT, IPPROTO_SCTP },
	{ "inet_dev_receive", PLACE_DEVICE_IN, NETSYNC_IN, ANY_PROTOCOL },
	{ "inet_dev_xmit", PLACE_DEVICE_OUT, NETSYNC_OUT, ANY_PROTOCOL },
	{ "netsync_clock", PLACE_NONE, NETSYNC_OUT, NO_PROTOCOL },
	{ "net_dev_queue", PLACE_QUEUE_OUT, NETSYNC_OUT, 0 },
	{ "net_if_receive_skb", PLACE_QUEUE_IN, NETSYNC_IN, 0 },
	{ "netif_receive_skb", PLACE_QUEUE_IN, NETSYNC_IN, 0 },
};

#define NUM_EVENT_KINDS (sizeof(event_kinds) / sizeof(event_kinds[0]))

const struct event_kind *event_kind(const char *name)
{
	for (size_t i = 0; name && i < NUM_EVENT_KINDS; i++)
		if (!strcmp(name, event_kinds[i].name))
			return &event_kinds[i];
	return NULL;
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
	pkt->tcp.seq = number(v, SEQ);
	pkt->tcp.ack = number(v, ACK);
	pkt->tcp.flags = normal_flags(number(v, FLAGS));
	if (has_all(v, BIT(WINDOW))) {
		pkt->tcp.window = number(v, WINDOW);
		pkt->fields |= NETSYNC_HAS_WINDOW;
	}
	if (has_all(v, BIT(HAS_TS) | BIT(TSVAL) | BIT(TSECR))) {
		pkt->tcp.tsval = number(v, TSVAL);
		pkt->tcp.tsecr = number(v, TSECR);
		pkt->fields |= number(v, HAS_TS) ? NETSYNC_HAS_TSTAMP :
						   NETSYNC_HAS_NO_TSTAMP;
	}
}

/* The digest is 0 where the module was told to make none. */
static void read_udp(const struct event_values *v, struct netsync_packet *pkt)
{
	pkt->udp.checksum = number(v, CHECKSUM);
	if (number(v, IS_FINAL))
		pkt->fields |= NETSYNC_HAS_CHECKSUM;
	pkt->udp.digest = number(v, DIGEST);
	if (pkt->udp.digest)
		pkt->fields |= NETSYNC_HAS_DIGEST;
}

void event_set_echo(struct netsync_packet *pkt, uint8_t type, uint16_t id,
		    uint16_t seq)
{
	pkt->icmp.type = type;
	pkt->icmp.id = id;
	pkt->icmp.seq = seq;
	pkt->fields |= NETSYNC_HAS_ECHO;
}

static void read_icmp(const struct event_values *v, struct netsync_packet *pkt)
{
	event_set_echo(pkt, number(v, TYPE), number(v, ECHO_ID),
		       number(v, ECHO_SEQ));
}

static void read_sctp(const struct event_values *v, struct netsync_packet *pkt)
{
	pkt->sctp.vtag = number(v, VTAG);
	pkt->sctp.chunk = number(v, CHUNK);
	pkt->sctp.tsn = number(v, TSN);
	pkt->fields |= NETSYNC_HAS_SCTP;
	if (number(v, HAS_TSN))
		pkt->fields |= NETSYNC_HAS_TSN;
}

static void read_ip(const struct event_values *v, struct netsync_packet *pkt)
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

/* ---- events of devices -------------------------------------------------- */

/*
 * An event of a device has the fields of TCP, whatever the packet is of: the table
 * in module/netsync-events.h says what they hold then. Here they get their own names.
 */

static void set(struct event_values *v, enum meaning meaning, uint64_t value)
{
	v->number[meaning] = value;
	v->has |= BIT(meaning);
}

static void name_udp(struct event_values *v)
{
	set(v, IS_FINAL, number(v, FLAGS));
	set(v, DIGEST, number(v, TSVAL) << 32 | number(v, TSECR));
}

/* Its ports are none. */
static void name_icmp(struct event_values *v)
{
	set(v, TYPE, number(v, FLAGS));
	set(v, ECHO_ID, number(v, ACK));
	set(v, ECHO_SEQ, number(v, SEQ));
	v->has &= ~(BIT(SPORT) | BIT(DPORT));
}

static void name_sctp(struct event_values *v)
{
	set(v, CHUNK, number(v, FLAGS));
	set(v, HAS_TSN, number(v, FLAGS) >> 8);
	set(v, VTAG, number(v, ACK));
	set(v, TSN, number(v, SEQ));
}

/* ---- protocols ---------------------------------------------------------- */

#define ENDS (BIT(SADDR) | BIT(DADDR) | BIT(FAMILY))

static const struct protocol {
	uint8_t number;
	uint64_t wanted;	/* what an event of this protocol alone must have */
	void (*read)(const struct event_values *v, struct netsync_packet *pkt);
	/* Of an event of a device; NULL: the fields have their own names. */
	void (*name)(struct event_values *v);
} protocols[] = {
	{ IPPROTO_TCP, BIT(SEQ) | BIT(ACK) | BIT(FLAGS), read_tcp, NULL },
	{ IPPROTO_UDP, ENDS | BIT(SPORT) | BIT(DPORT) | BIT(IP_ID) | BIT(LEN),
	  read_udp, name_udp },
	{ IPPROTO_ICMP, ENDS | BIT(TYPE) | BIT(ECHO_ID) | BIT(ECHO_SEQ),
	  read_icmp, name_icmp },
	{ IPPROTO_ICMPV6, 0, read_icmp, name_icmp },
	{ IPPROTO_SCTP, ENDS | BIT(VTAG) | BIT(CHUNK) | BIT(HAS_TSN) | BIT(TSN),
	  read_sctp, name_sctp },
	{ ANY_PROTOCOL, ENDS | BIT(SPORT) | BIT(DPORT) | BIT(IP_ID) | BIT(LEN) |
	  BIT(SEQ) | BIT(ACK) | BIT(FLAGS) | BIT(PROTOCOL) | BIT(IFINDEX), NULL, NULL },
	{ NO_PROTOCOL, BIT(MONO) | BIT(RAW) | BIT(OFFS_BOOT) | BIT(OFFS_TAI) |
	  BIT(MULT) | BIT(RAW_MULT), NULL, NULL },
};

#define NUM_PROTOCOLS (sizeof(protocols) / sizeof(protocols[0]))

/* NULL: it is not matched. */
static const struct protocol *find_protocol(uint8_t number)
{
	for (size_t i = 0; i < NUM_PROTOCOLS; i++)
		if (protocols[i].number == number)
			return &protocols[i];
	return NULL;
}

bool event_is_whole(const struct event_kind *kind, uint64_t has)
{
	return !(find_protocol(kind->protocol)->wanted & ~has);
}

/* ---- clocks ------------------------------------------------------------ */

/* An event comes that long, ns, after the instant that it tells of, at most. Chosen. */
#define MOST_LATE 100000000

static bool read_clock(const struct event_values *v, struct event_seen *seen)
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

/* ---- packets ----------------------------------------------------------- */

/* Each device of each network namespace is a point of its own. */
static const struct protocol *at_device(struct event_values *v,
					struct event_seen *seen)
{
	const struct protocol *protocol = find_protocol(number(v, PROTOCOL));

	if (!protocol || !protocol->read)
		return NULL;
	if (protocol->name)
		protocol->name(v);
	seen->pkt.skb = number(v, SKB);
	if (has_all(v, BIT(SKB)))
		seen->pkt.fields |= NETSYNC_HAS_SKB;
	seen->at.device = number(v, NETNS) << 32 ^ number(v, IFINDEX);
	return protocol;
}

/* Where the kernel hands packets to its sockets, or gets them from there. */
static const struct protocol *at_sockets(const struct event_kind *kind,
					 const struct event_values *v)
{
	if (kind->protocol == IPPROTO_ICMP && number(v, FAMILY) == AF_INET6)
		return find_protocol(IPPROTO_ICMPV6);
	return find_protocol(kind->protocol);
}

bool event_decode(const struct event_kind *kind, struct event_values *v,
		  struct event_seen *seen)
{
	const struct protocol *protocol;

	if (kind->protocol == NO_PROTOCOL)
		return read_clock(v, seen);
	protocol = kind->protocol == ANY_PROTOCOL ? at_device(v, seen) :
						    at_sockets(kind, v);
	if (!protocol)
		return false;
	seen->pkt.dir = kind->dir;
	seen->pkt.protocol = protocol->number;
	seen->at.place = kind->place;
	read_ip(v, &seen->pkt);
	protocol->read(v, &seen->pkt);
	return true;
}
