// SPDX-License-Identifier: LGPL-2.1-or-later
/* Encode and decode packet events in few bytes, using the previous packet of their flow. */
#include <netinet/in.h>
#include <string.h>

#include "io/stream/code.h"
#include "util/hash.h"

/* All bits of enum netsync_packet_fields. */
#define ALL_FIELDS (2 * NETSYNC_HAS_TSN - 1)

/* Lowest bit of an event's first number, which is 1 in clock events and 0 in packet events. */
#define IS_CLOCK 1
/* Flag of a clock event: the clock was stepped at that instant. */
#define CLOCK_WAS_SET 2
#define IS_NEW 2
#define SLOT_SHIFT 2

/* ---- flows ----------------------------------------------------------------- */

/* Do both packets belong to one flow, and were they recorded at one observation point? */
static bool is_same_coded_flow(const struct netsync_packet *a, const struct netsync_packet *b)
{
	return a->fields == b->fields && a->dir == b->dir && a->protocol == b->protocol &&
	       a->netns == b->netns && a->sport == b->sport && a->dport == b->dport &&
	       !memcmp(a->saddr, b->saddr, sizeof(a->saddr)) &&
	       !memcmp(a->daddr, b->daddr, sizeof(a->daddr));
}

static bool are_same_observation_points(const struct observation_point *a,
					const struct observation_point *b)
{
	return a->place == b->place && a->buffer == b->buffer && a->device == b->device;
}

/*
 * Return the slot of a packet's flow. One step of mixing is enough, because flows that share a
 * slot are only encoded in more bytes.
 */
static unsigned int find_flow_slot(const struct netsync_packet *pkt,
				   const struct observation_point *at)
{
	uint64_t words[4], sum;

	memcpy(words, pkt->saddr, sizeof(pkt->saddr));
	memcpy(words + 2, pkt->daddr, sizeof(pkt->daddr));
	sum = ((uint64_t)pkt->sport << 48 | (uint64_t)pkt->dport << 32 | pkt->netns) ^
	      ((uint64_t)pkt->fields << 16 | (uint64_t)pkt->protocol << 8 | pkt->dir);
	sum += 31 * words[0] + 63 * words[1] + 127 * words[2] + 255 * words[3];
	sum += 511 * at->device + 1023 * ((uint64_t)at->place << 32 | at->buffer);
	return hash_mix(sum) % CODE_FLOWS;
}

static void encode_flow(struct bytes_put *put, const struct netsync_packet *pkt,
			const struct observation_point *at)
{
	bytes_put_number(put, pkt->fields);
	bytes_put_number(put, pkt->dir);
	bytes_put_number(put, pkt->protocol);
	bytes_put_number(put, pkt->netns);
	bytes_put_number(put, pkt->sport);
	bytes_put_number(put, pkt->dport);
	bytes_put_raw(put, pkt->saddr, sizeof(pkt->saddr));
	bytes_put_raw(put, pkt->daddr, sizeof(pkt->daddr));
	bytes_put_number(put, at->place);
	bytes_put_number(put, at->buffer);
	bytes_put_number(put, at->device);
}

static void decode_flow(struct bytes_take *take, struct netsync_packet *pkt,
			struct observation_point *at)
{
	*pkt = (struct netsync_packet){ 0 };
	*at = (struct observation_point){ 0 };
	pkt->fields = bytes_take_up_to(take, ALL_FIELDS);
	pkt->dir = bytes_take_up_to(take, NETSYNC_IN);
	pkt->protocol = bytes_take_up_to(take, UINT8_MAX);
	pkt->netns = bytes_take_up_to(take, UINT32_MAX);
	pkt->sport = bytes_take_up_to(take, UINT16_MAX);
	pkt->dport = bytes_take_up_to(take, UINT16_MAX);
	bytes_take_copy(take, pkt->saddr, sizeof(pkt->saddr));
	bytes_take_copy(take, pkt->daddr, sizeof(pkt->daddr));
	at->place = bytes_take_up_to(take, UINT32_MAX);
	at->buffer = bytes_take_up_to(take, UINT32_MAX);
	at->device = bytes_take_number(take);
}

/* ---- values that differ from packet to packet --------------------------------- */

/* Write the difference from @from to @to modulo 2^16 or 2^32. */
static void encode_u16(struct bytes_put *put, uint16_t from, uint16_t to)
{
	bytes_put_signed(put, (int16_t)(uint16_t)(to - from));
}

static void encode_u32(struct bytes_put *put, uint32_t from, uint32_t to)
{
	bytes_put_signed(put, (int32_t)(to - from));
}

static uint16_t decode_u16(struct bytes_take *take, uint16_t from)
{
	return from + (uint16_t)bytes_take_signed(take);
}

static uint32_t decode_u32(struct bytes_take *take, uint32_t from)
{
	return from + (uint32_t)bytes_take_signed(take);
}

/* Write an skb address. The kernel soon reuses the sk_buffs that it frees. */
static void encode_skb(struct code *code, struct bytes_put *put, uint64_t skb)
{
	const unsigned int slot = hash_mix(skb) % CODE_SKBS;

	bytes_put_number(put, slot << 1 | (code->skbs[slot] != skb));
	if (code->skbs[slot] != skb)
		bytes_put_fixed(put, skb, sizeof(skb));
	code->skbs[slot] = skb;
}

static uint64_t decode_skb(struct code *code, struct bytes_take *take)
{
	const uint64_t number = bytes_take_up_to(take, 2 * CODE_SKBS - 1);

	if (number & 1)
		code->skbs[number >> 1] = bytes_take_fixed(take, sizeof(uint64_t));
	return code->skbs[number >> 1];
}

static void encode_tcp(struct bytes_put *put, const struct netsync_packet *last,
		       const struct netsync_packet *pkt)
{
	encode_u32(put, last->tcp.seq + last->len, pkt->tcp.seq);
	encode_u32(put, last->tcp.ack, pkt->tcp.ack);
	encode_u16(put, last->tcp.flags, pkt->tcp.flags);
	if (pkt->fields & NETSYNC_HAS_WINDOW)
		encode_u16(put, last->tcp.window, pkt->tcp.window);
	if (!(pkt->fields & NETSYNC_HAS_TSTAMP))
		return;
	encode_u32(put, last->tcp.tsval, pkt->tcp.tsval);
	encode_u32(put, last->tcp.tsecr, pkt->tcp.tsecr);
}

static void decode_tcp(struct bytes_take *take, const struct netsync_packet *last,
		       struct netsync_packet *pkt)
{
	pkt->tcp.seq = decode_u32(take, last->tcp.seq + last->len);
	pkt->tcp.ack = decode_u32(take, last->tcp.ack);
	pkt->tcp.flags = decode_u16(take, last->tcp.flags);
	if (pkt->fields & NETSYNC_HAS_WINDOW)
		pkt->tcp.window = decode_u16(take, last->tcp.window);
	if (!(pkt->fields & NETSYNC_HAS_TSTAMP))
		return;
	pkt->tcp.tsval = decode_u32(take, last->tcp.tsval);
	pkt->tcp.tsecr = decode_u32(take, last->tcp.tsecr);
}

static void encode_udp(struct bytes_put *put, const struct netsync_packet *pkt)
{
	if (pkt->fields & NETSYNC_HAS_DIGEST)
		bytes_put_fixed(put, pkt->udp.digest, sizeof(pkt->udp.digest));
	if (pkt->fields & NETSYNC_HAS_CHECKSUM)
		bytes_put_fixed(put, pkt->udp.checksum, sizeof(pkt->udp.checksum));
}

static void decode_udp(struct bytes_take *take, struct netsync_packet *pkt)
{
	pkt->udp.digest = pkt->fields & NETSYNC_HAS_DIGEST ?
				  bytes_take_fixed(take, sizeof(pkt->udp.digest)) :
				  0;
	pkt->udp.checksum = pkt->fields & NETSYNC_HAS_CHECKSUM ?
				    (uint16_t)bytes_take_fixed(take, sizeof(pkt->udp.checksum)) :
				    0;
}

static void encode_payload(struct bytes_put *put, const struct netsync_packet *last,
			   const struct netsync_packet *pkt)
{
	switch (pkt->protocol) {
	case IPPROTO_TCP:
		encode_tcp(put, last, pkt);
		break;
	case IPPROTO_UDP:
		encode_udp(put, pkt);
		break;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		encode_u16(put, last->icmp.id, pkt->icmp.id);
		encode_u16(put, last->icmp.seq, pkt->icmp.seq);
		bytes_put_number(put, pkt->icmp.type);
		break;
	case IPPROTO_SCTP:
		encode_u32(put, last->sctp.vtag, pkt->sctp.vtag);
		encode_u32(put, last->sctp.tsn, pkt->sctp.tsn);
		bytes_put_number(put, pkt->sctp.chunk);
		break;
	}
}

static void decode_payload(struct bytes_take *take, const struct netsync_packet *last,
			   struct netsync_packet *pkt)
{
	switch (pkt->protocol) {
	case IPPROTO_TCP:
		decode_tcp(take, last, pkt);
		break;
	case IPPROTO_UDP:
		decode_udp(take, pkt);
		break;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		pkt->icmp.id = decode_u16(take, last->icmp.id);
		pkt->icmp.seq = decode_u16(take, last->icmp.seq);
		pkt->icmp.type = bytes_take_up_to(take, UINT8_MAX);
		break;
	case IPPROTO_SCTP:
		pkt->sctp.vtag = decode_u32(take, last->sctp.vtag);
		pkt->sctp.tsn = decode_u32(take, last->sctp.tsn);
		pkt->sctp.chunk = bytes_take_up_to(take, UINT8_MAX);
		break;
	}
}

static void encode_time(struct code *code, struct bytes_put *put, int64_t time_ns)
{
	bytes_put_signed(put, (int64_t)((uint64_t)time_ns - (uint64_t)code->time_ns));
	code->time_ns = time_ns;
}

static int64_t decode_time(struct code *code, struct bytes_take *take)
{
	code->time_ns = (int64_t)((uint64_t)code->time_ns + (uint64_t)bytes_take_signed(take));
	return code->time_ns;
}

/* ---- packets --------------------------------------------------------------- */

void code_encode_packet(struct code *code, struct bytes_put *put, const struct netsync_packet *pkt,
			const struct observation_point *at)
{
	const unsigned int slot = find_flow_slot(pkt, at);
	struct netsync_packet *last = &code->flows[slot].pkt;
	const bool is_new = !is_same_coded_flow(last, pkt) ||
			    !are_same_observation_points(&code->flows[slot].at, at);

	bytes_put_number(put, slot << SLOT_SHIFT | (is_new ? IS_NEW : 0));
	if (is_new) {
		encode_flow(put, pkt, at);
		*last = (struct netsync_packet){ 0 };
	}
	encode_time(code, put, pkt->time_ns);
	if (pkt->fields & NETSYNC_HAS_SKB)
		encode_skb(code, put, pkt->skb);
	if (pkt->fields & NETSYNC_HAS_IP_ID)
		encode_u16(put, last->ip_id, pkt->ip_id);
	if (pkt->fields & NETSYNC_HAS_LEN)
		encode_u32(put, last->len, pkt->len);
	if (pkt->fields & NETSYNC_HAS_GSO) {
		encode_u16(put, last->gso_size, pkt->gso_size);
		encode_u16(put, last->gso_segs, pkt->gso_segs);
	}
	encode_payload(put, last, pkt);
	*last = *pkt;
	/* The decoder sets values that it does not receive to 0. */
	if (!(pkt->fields & NETSYNC_HAS_LEN))
		last->len = 0;
	code->flows[slot].at = *at;
}

static bool decode_packet_event(struct code *code, struct bytes_take *take, uint64_t first,
				struct event_seen *seen)
{
	const uint64_t slot = first >> SLOT_SHIFT;
	struct netsync_packet *pkt = &seen->pkt, *last;

	if (slot >= CODE_FLOWS)
		return false;
	last = &code->flows[slot].pkt;
	if (first & IS_NEW)
		decode_flow(take, last, &code->flows[slot].at);
	*pkt = *last;
	seen->at = code->flows[slot].at;
	pkt->time_ns = decode_time(code, take);
	if (pkt->fields & NETSYNC_HAS_SKB)
		pkt->skb = decode_skb(code, take);
	if (pkt->fields & NETSYNC_HAS_IP_ID)
		pkt->ip_id = decode_u16(take, last->ip_id);
	if (pkt->fields & NETSYNC_HAS_LEN)
		pkt->len = decode_u32(take, last->len);
	if (pkt->fields & NETSYNC_HAS_GSO) {
		pkt->gso_size = decode_u16(take, last->gso_size);
		pkt->gso_segs = decode_u16(take, last->gso_segs);
	}
	decode_payload(take, last, pkt);
	*last = *pkt;
	return !take->bad;
}

/* ---- clocks ---------------------------------------------------------------- */

void code_encode_clock(struct code *code, struct bytes_put *put, const struct clock_event *clock)
{
	bytes_put_number(put, IS_CLOCK | (clock->was_set ? CLOCK_WAS_SET : 0));
	encode_time(code, put, clock->time_ns);
	bytes_put_signed(put, clock->raw_ns);
	bytes_put_signed(put, clock->within_ns);
	bytes_put_double(put, clock->rate);
	bytes_put_number(put, clock->number);
}

static bool decode_clock_event(struct code *code, struct bytes_take *take,
			       struct clock_event *clock)
{
	clock->time_ns = decode_time(code, take);
	clock->raw_ns = bytes_take_signed(take);
	clock->within_ns = bytes_take_signed(take);
	clock->rate = bytes_take_double(take);
	clock->number = (uint32_t)bytes_take_up_to(take, UINT32_MAX);
	/* Check the conditions of netsync_push_clock(). */
	return !take->bad && clock->within_ns >= 0 && clock->rate >= 0 && clock->rate < 2;
}

bool code_decode_event(struct code *code, struct bytes_take *take, struct event_seen *seen)
{
	const uint64_t first = bytes_take_number(take);

	seen->is_clock = first & IS_CLOCK;
	if (take->bad)
		return false;
	if (!seen->is_clock)
		return decode_packet_event(code, take, first, seen);
	seen->clock = (struct clock_event){ .was_set = first & CLOCK_WAS_SET };
	return first <= (IS_CLOCK | CLOCK_WAS_SET) && decode_clock_event(code, take, &seen->clock);
}
