// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Decode the fields of a flat event to a packet event or a clock event, using the meanings of the
 * fields.
 */
#include <netinet/in.h>
#include <string.h>

#include "io/packet/protocol.h"

/* In device events, some names have other meanings: see name_fields() in protocol.h. */
const struct field_name event_fields[] = {
	{ "skb", SKB },
	{ "ifindex", IFINDEX },
	{ "protocol", PROTOCOL },
	{ "saddr", SADDR },
	{ "daddr", DADDR },
	{ "family", FAMILY },
	{ "id", IP_ID },
	{ "len", LEN },
	{ "netns", NETNS },
	{ "sport", SPORT },
	{ "dport", DPORT },
	{ "gso_size", GSO_SIZE },
	{ "gso_segs", GSO_SEGS },
	{ "seq", SEQ },
	{ "ack_seq", ACK },
	{ "flags", FLAGS },
	{ "window", WINDOW },
	{ "has_ts", HAS_TS },
	{ "tsval", TSVAL },
	{ "tsecr", TSECR },
	{ "check", CHECKSUM },
	{ "check_final", IS_FINAL },
	{ "digest", DIGEST },
	{ "type", TYPE },
	{ "echo_id", ECHO_ID },
	{ "echo_seq", ECHO_SEQ },
	{ "vtag", VTAG },
	{ "chunk", CHUNK },
	{ "has_tsn", HAS_TSN },
	{ "tsn", TSN },
	{ "mono", MONO },
	{ "raw", RAW },
	{ "offs_boot", OFFS_BOOT },
	{ "offs_tai", OFFS_TAI },
	{ "mult", MULT },
	{ "raw_mult", RAW_MULT },
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

const struct event_kind *event_find_kind(const char *name)
{
	for (size_t i = 0; name && i < NUM_EVENT_KINDS; i++)
		if (!strcmp(name, event_kinds[i].name))
			return &event_kinds[i];
	return NULL;
}

/* ---- fields ------------------------------------------------------------ */

static void read_ip_fields(const struct event_values *v, struct netsync_packet *pkt)
{
	if (values_have(v, BIT(SPORT) | BIT(DPORT))) {
		pkt->sport = values_get(v, SPORT);
		pkt->dport = values_get(v, DPORT);
		pkt->fields |= NETSYNC_HAS_PORTS;
	}
	if (values_have(v, BIT(SADDR) | BIT(DADDR))) {
		memcpy(pkt->saddr, v->saddr, sizeof(pkt->saddr));
		memcpy(pkt->daddr, v->daddr, sizeof(pkt->daddr));
		pkt->fields |= NETSYNC_HAS_ADDRS;
	}
	if (values_have(v, BIT(IP_ID)) && values_get(v, FAMILY) == AF_INET) {
		pkt->ip_id = values_get(v, IP_ID);
		pkt->fields |= NETSYNC_HAS_IP_ID;
	}
	if (values_have(v, BIT(LEN))) {
		pkt->len = values_get(v, LEN);
		pkt->fields |= NETSYNC_HAS_LEN;
	}
	if (values_have(v, BIT(NETNS))) {
		pkt->netns = values_get(v, NETNS);
		pkt->fields |= NETSYNC_HAS_NETNS;
	}
	if (values_have(v, BIT(GSO_SIZE) | BIT(GSO_SEGS))) {
		pkt->gso_size = values_get(v, GSO_SIZE);
		pkt->gso_segs = values_get(v, GSO_SEGS);
		pkt->fields |= NETSYNC_HAS_GSO;
	}
}

/* ---- events ------------------------------------------------------------- */

/* Fields that device events must have, and fields that clock events must have. */
#define DEVICE_WANTED                                                                         \
	(EVENT_ENDS | BIT(SPORT) | BIT(DPORT) | BIT(IP_ID) | BIT(LEN) | BIT(SEQ) | BIT(ACK) | \
	 BIT(FLAGS) | BIT(PROTOCOL) | BIT(IFINDEX))
#define CLOCK_WANTED \
	(BIT(MONO) | BIT(RAW) | BIT(OFFS_BOOT) | BIT(OFFS_TAI) | BIT(MULT) | BIT(RAW_MULT))

bool event_has_wanted_fields(const struct event_kind *kind, uint64_t has)
{
	const uint64_t wanted = kind->protocol == ANY_PROTOCOL ?
					DEVICE_WANTED :
				kind->protocol == NO_PROTOCOL ?
					CLOCK_WANTED :
					packet_find_protocol(kind->protocol)->wanted;

	return !(wanted & ~has);
}

/* ---- clocks ------------------------------------------------------------ */

/* Maximum time between the reading of the clocks and the clock event (ns). Chosen. */
#define MOST_LATE 100000000

/*
 * Decode a clock event. If the rate is infinite or at least 2, return false, because no daemon sets
 * such a rate.
 */
static bool read_clock_event(const struct event_values *v, struct event_seen *seen)
{
	int64_t mono = (int64_t)values_get(v, MONO);

	seen->is_clock = true;
	seen->clock = (struct clock_event){
		/* The event contains CLOCK_MONOTONIC, and the offsets of other clocks from it. */
		.shown_ns = { mono, mono + (int64_t)values_get(v, OFFS_BOOT),
			      mono + (int64_t)values_get(v, OFFS_TAI) },
		.raw_ns = (int64_t)values_get(v, RAW),
		.rate = (double)values_get(v, MULT) / (double)values_get(v, RAW_MULT),
		/* The module assigns numbers from 0 on to events. */
		.number = values_have(v, BIT(SEQ)) ? (uint32_t)values_get(v, SEQ) + 1 : 0,
	};
	return values_get(v, RAW_MULT) && seen->clock.rate < 2;
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
		return !__builtin_sub_overflow(printed_ns, (int64_t)late, &clock->time_ns);
	}
	return false;
}

/* ---- packets ----------------------------------------------------------- */

/* Read the fields of a device event. Each device in each namespace is an observation point. */
static void read_device_fields(struct event_values *v, struct event_seen *seen,
			       const struct packet_protocol *protocol)
{
	if (protocol->name_fields)
		protocol->name_fields(v);
	seen->pkt.skb = values_get(v, SKB);
	if (values_have(v, BIT(SKB)))
		seen->pkt.fields |= NETSYNC_HAS_SKB;
	seen->at.device = values_get(v, NETNS) << 32 ^ values_get(v, IFINDEX);
}

static uint8_t find_event_protocol(const struct event_kind *kind, const struct event_values *v)
{
	if (kind->protocol == ANY_PROTOCOL)
		return (uint8_t)values_get(v, PROTOCOL);
	if (kind->protocol == IPPROTO_ICMP && values_get(v, FAMILY) == AF_INET6)
		return IPPROTO_ICMPV6;
	return kind->protocol;
}

bool event_decode(const struct event_kind *kind, struct event_values *v, struct event_seen *seen)
{
	const struct packet_protocol *protocol;

	if (kind->protocol == NO_PROTOCOL)
		return read_clock_event(v, seen);
	seen->pkt.protocol = find_event_protocol(kind, v);
	protocol = packet_find_protocol(seen->pkt.protocol);
	if (!protocol)
		return false;
	if (kind->protocol == ANY_PROTOCOL)
		read_device_fields(v, seen, protocol);
	seen->pkt.dir = kind->dir;
	seen->at.place = kind->place;
	read_ip_fields(v, &seen->pkt);
	protocol->read_event(v, &seen->pkt);
	return true;
}
