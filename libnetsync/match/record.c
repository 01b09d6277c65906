// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Create the record that the matcher stores for a packet event, and find the shards that match the
 * record.
 */
#include <string.h>

#include "match/protocol.h"
#include "util/hash.h"

/*
 * Maximum size of a segment without offload fields that counts as a single packet, in bytes:
 * Ethernet's 1,500 bytes minus the headers of IPv4 and TCP.
 */
#define MAX_SINGLE 1460

/* Maximum number of datagrams that a sender's offload accepts at once (UDP_MAX_SEGMENTS). */
#define MAX_DATAGRAMS 128

/*
 * Maximum size of a segment with block index entries, in bytes. Offloads do not create longer
 * segments (BIG TCP: 512 KiB).
 */
#define MAX_SEGMENT (UINT32_C(1) << 20)

void record_fill(struct packet_record *s, const struct netsync_packet *p)
{
	s->time = p->time_ns;
	s->skb = p->skb;
	memset(&s->tcp, 0, sizeof(s->tcp));
	s->addr[0] = s->addr[1] = 0;
	s->host = p->host;
	s->peer = NO_PEER;
	s->point = p->point;
	s->netns = p->netns;
	s->next = s->next_second = s->number = 0;
	s->len = p->len;
	s->sport = p->sport;
	s->dport = p->dport;
	s->ip_id = p->fields & NETSYNC_HAS_IP_ID ? p->ip_id : 0;
	s->gso_size = p->fields & NETSYNC_HAS_GSO ? p->gso_size : 0;
	s->fields = (uint16_t)p->fields;
	s->protocol = p->protocol;
	s->dir = p->dir;
	s->state = s->block = 0;
	protocol_find(p->protocol)->fill(s, p);
}

uint32_t record_count_blocks(const struct packet_record *s)
{
	if (s->protocol == UDP)
		return record_counts_ip_ids(s) && s->udp.datagrams <= MAX_DATAGRAMS ?
			       s->udp.datagrams - 1u :
			       0;
	if (!has_tcp_data(s) || s->len > MAX_SEGMENT || (s->len <= MAX_SINGLE && s->gso_size == 0))
		return 0;
	return (((s->tcp.seq & ((1 << BLOCK_SHIFT) - 1)) + s->len - 1) >> BLOCK_SHIFT) + 1;
}

/* Return the shard for the data that begins @behind bytes after the beginning of a record. */
static inline uint32_t get_shard_at(const struct packet_record *s, uint32_t behind)
{
	return (uint32_t)hash_mix(protocol_find(s->protocol)->shard(s, behind)) % NETSYNC_SHARDS;
}

struct shards record_find_shards(const struct packet_record *s, uint32_t blocks)
{
	struct shards to = { .home = get_shard_at(s, 0) };

	to.all = UINT32_C(1) << to.home;
	if (!blocks)
		return to;
	if (s->protocol != UDP) {
		to.all |= UINT32_C(1) << get_shard_at(s, s->len - 1);
		return to;
	}
	to.all |= UINT32_C(1) << get_shard_at(s, blocks);
	/* If the record contains the datagram with the id 0, add this datagram's shard. */
	if (s->ip_id + blocks > UINT16_MAX)
		to.all |= UINT32_C(1) << get_shard_at(s, (uint16_t)-s->ip_id);
	return to;
}
