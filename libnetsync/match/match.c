// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Packet events -> messages. Records are put into the packet ring and found there by
 * their keys. Times play no part, so that neither the offsets of clocks nor the order of
 * reading matters, and the cost per event is constant. A record is decided when all its
 * counterparts must be there (peers.h), and dropped later.
 *
 * Nothing is guessed: a record that might be of several packets is left out.
 */
#include <errno.h>
#include <string.h>

#include "match/internal.h"

/*
 * The longest segment without offload fields that counts as a single packet, bytes:
 * Ethernet's 1,500 less the headers of IPv4 and TCP.
 */
#define MAX_SINGLE 1460

/* Records that are sampled for clock offsets at a time, at least. Chosen. */
#define SAMPLES 64

/* Datagrams that a sender's offload takes at once, at most (UDP_MAX_SEGMENTS). */
#define MAX_DATAGRAMS 128

/*
 * Longer segments have no block index entries, bytes: no offload makes one (BIG TCP: 512
 * KiB).
 */
#define MAX_SEGMENT (UINT32_C(1) << 20)

void matcher_init(struct matcher *m, match_fn found, void *arg)
{
	memset(m, 0, sizeof(*m));
	ring_init(&m->ring);
	m->found = found;
	m->arg = arg;
	m->limit = RING_MAX;
}

void matcher_release(struct matcher *m)
{
	ring_release(&m->ring);
	peers_release(&m->peers);
	owners_release(&m->owners);
}

int matcher_add_host(struct matcher *m)
{
	const int ret = owners_init(&m->owners);

	return ret ? ret : peers_add_host(&m->peers);
}

bool matcher_supports(const struct netsync_packet *p)
{
	const struct protocol *protocol = protocol_of(p->protocol);

	return protocol && (p->fields & protocol->needs) == protocol->needs;
}

/* ---- deciding ---------------------------------------------------------- */

static int decide(struct matcher *m, struct packet_record *s)
{
	int ret;

	if (s->block)
		return 0;
	ret = match_first(m, s);
	if (ret || (s->state & RECORD_DECIDED) || !has_second_key(s))
		return ret;
	return match_second(m, s);
}

static void count(struct matcher *m, const struct packet_record *s, bool past)
{
	struct match_counts *all = past ? &m->past : &m->live;
	struct peer_pair *pair = NULL;
	struct match_counts none = { 0 }, *t = &none;
	uint32_t peer = s->peer;

	if (peer == NO_PEER && (s->fields & NETSYNC_HAS_ADDRS))
		peer = owners_find(&m->owners, s->addr[s->dir == NETSYNC_OUT]);
	if (peer != NO_PEER && peer != s->host)
		pair = peers_find(&m->peers, s->host, peer);
	if (pair)
		t = past ? &pair->past : &pair->live;
	if (s->state & RECORD_MATCHED) {
		all->matched++;
		t->matched++;
		if (s->state & RECORD_TRANSLATED) {
			all->nat++;
			t->nat++;
		}
	} else if (s->state & (RECORD_AMBIGUOUS | RECORD_AMBIGUOUS_YET)) {
		all->ambiguous++;
		t->ambiguous++;
	} else {
		all->unmatched++;
		t->unmatched++;
	}
}

/* Decide the next record for good; at the last settling it may have been ambiguous. */
static int decide_next(struct matcher *m)
{
	struct packet_record *s = ring_at(&m->ring, m->ring.decided++);

	s->state &= ~RECORD_AMBIGUOUS_YET;
	return decide(m, s);
}

static void drop_next(struct matcher *m)
{
	const struct packet_record *s = ring_at(&m->ring, m->ring.freed++);

	if (!s->block)
		count(m, s, true);
}

/* Decide records whose packets are complete, and drop those that no event can need. */
static int retire(struct matcher *m)
{
	struct packet_ring *l = &m->ring;
	int ret = 0;

	while (l->decided != l->tail && !ret) {
		const struct packet_record *s = ring_at(l, l->decided);

		if (s->time >= m->peers.host[s->host].decide)
			break;
		ret = decide_next(m);
	}
	while (l->freed != l->decided) {
		const struct packet_record *s = ring_at(l, l->freed);

		if (s->time >= m->peers.host[s->host].free)
			break;
		drop_next(m);
	}
	return ret;
}

/* Drop the oldest records to stay below the limit, whatever may still come. */
static int evict(struct matcher *m, uint32_t num)
{
	int ret = 0;

	while (ring_count(&m->ring) + num > m->limit && !ret) {
		const struct packet_record *s = ring_at(&m->ring,
							m->ring.freed);

		if (m->ring.decided == m->ring.freed)
			ret = decide_next(m);
		if (!s->block &&
		    !(s->state & (RECORD_MATCHED | RECORD_AMBIGUOUS)) &&
		    s->time >= m->peers.host[s->host].decide)
			m->evicted++;
		drop_next(m);
	}
	return ret;
}

/*
 * Until clock offsets are known nothing is decided, yet offsets come from what is
 * decided: so look at some of the newest records of hosts that are not joined yet.
 */
static int sample(struct matcher *m)
{
	uint32_t left = SAMPLES + m->since / 16;
	uint32_t i = m->since < ring_count(&m->ring) ? m->since
						     : ring_count(&m->ring);
	int ret = 0;

	for (; i && left && !ret; i--) {
		struct packet_record *s = ring_at(&m->ring, m->ring.tail - i);

		if (s->block || m->peers.host[s->host].joined)
			continue;
		left--;
		ret = match_learn_offset(m, s);
	}
	return ret;
}

int matcher_advance(struct matcher *m, uint32_t host, int64_t time)
{
	int64_t *until = &m->peers.host[host].until;
	int ret;

	/* A host that was done may bring more events. */
	if (time > *until || *until == INT64_MAX)
		*until = time;
	/*
	 * The cost of looking at all hosts and pairs is spread over four times as many
	 * events.
	 */
	if (m->since < 16 * SAMPLES + 4 * (m->peers.hosts + m->peers.pairs))
		return 0;
	ret = m->peers.connected ? 0 : sample(m);
	m->since = 0;
	if (!ret)
		ret = peers_update(&m->peers);
	return ret ? ret : retire(m);
}

int matcher_settle(struct matcher *m)
{
	struct packet_ring *l = &m->ring;
	int ret = 0;

	for (uint32_t n = l->decided; n != l->tail; n++)
		ring_at(l, n)->state &= ~(RECORD_AMBIGUOUS_YET |
					  RECORD_EXAMINED);
	m->unclear = true;
	for (uint32_t n = l->decided; n != l->tail && !ret; n++)
		ret = decide(m, ring_at(l, n));
	m->unclear = false;
	memset(&m->live, 0, sizeof(m->live));
	for (size_t i = 0; i < m->peers.pairs; i++)
		memset(&m->peers.pair[i].live, 0, sizeof(m->live));
	for (uint32_t n = l->freed; n != l->tail; n++)
		if (!ring_at(l, n)->block)
			count(m, ring_at(l, n), false);
	/* More records of the same key may come. */
	for (uint32_t n = l->decided; n != l->tail; n++)
		ring_at(l, n)->state &= ~RECORD_EXAMINED;
	return ret;
}

/* ---- adding ------------------------------------------------------------ */

static uint32_t digest(const struct matcher *m, const uint8_t addr[16])
{
	uint64_t w[2];

	memcpy(w, addr, 16);
	return (uint32_t)hash_mix(hash_mix(m->ring.seed ^ w[0]) ^ w[1]);
}

/*
 * The number of block index entries (blocks, or IP ids) of a record, by which others that
 * begin inside it are found.
 */
static uint32_t blocks_of(const struct packet_record *s)
{
	if (s->protocol == UDP)
		return s->udp.id == s->ip_id &&
				       s->udp.datagrams <= MAX_DATAGRAMS
			       ? s->udp.datagrams - 1u
			       : 0;
	if (!has_data(s) || s->len > MAX_SEGMENT ||
	    (s->len <= MAX_SINGLE && s->gso_size == 0))
		return 0;
	return (((s->tcp.seq & ((1 << BLOCK_SHIFT) - 1)) + s->len - 1) >>
		BLOCK_SHIFT) +
	       1;
}

int matcher_add(struct matcher *m, const struct netsync_packet *p)
{
	struct packet_record s = {
		.time = p->time_ns,
		.skb = p->skb,
		.host = p->host,
		.peer = NO_PEER,
		.point = p->point,
		.netns = p->netns,
		.len = p->len,
		.sport = p->sport,
		.dport = p->dport,
		.ip_id = p->ip_id,
		.gso_size = p->fields & NETSYNC_HAS_GSO ? p->gso_size : 0,
		.fields = (uint16_t)p->fields,
		.protocol = p->protocol,
		.dir = p->dir,
	};
	struct addresses *addresses;
	uint32_t blocks;
	int ret = 0;

	protocol_of(p->protocol)->fill(&s, p);
	blocks = blocks_of(&s);
	if (p->fields & NETSYNC_HAS_ADDRS) {
		s.addr[0] = digest(m, p->saddr);
		s.addr[1] = digest(m, p->daddr);
		owners_learn(&m->owners, p->host, s.addr[s.dir == NETSYNC_IN]);
	}
	if (ring_count(&m->ring) + 1 + blocks > m->limit)
		ret = evict(m, 1 + blocks);
	if (!ret)
		ret = ring_reserve(&m->ring, 1 + blocks);
	if (ret)
		return ret;
	m->since++;
	addresses = ring_addresses(&m->ring, ring_add(&m->ring, &s));
	if (addresses) {
		memcpy(addresses->source, p->saddr, sizeof(p->saddr));
		memcpy(addresses->destination, p->daddr, sizeof(p->daddr));
	}
	for (s.block = 1; s.block <= blocks; s.block++)
		ring_add(&m->ring, &s);
	return 0;
}
