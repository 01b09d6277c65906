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

/* Records that are sampled for clock offsets at a time, at least. Chosen. */
#define SAMPLES 64

void matcher_init(struct matcher *m, match_fn found, void *arg)
{
	memset(m, 0, sizeof(*m));
	ring_init(&m->ring);
	m->found = found;
	m->arg = arg;
	m->limit = RING_MAX;
	m->kept = ALL_SHARDS;
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

struct shards matcher_shards(const struct netsync_packet *p)
{
	const uint32_t any = p->host % NETSYNC_SHARDS;
	struct packet_record s;

	if (!matcher_supports(p))
		return (struct shards){ any, UINT32_C(1) << any };
	record_fill(&s, p);
	return record_shards(&s, record_blocks(&s));
}

/* ---- deciding ---------------------------------------------------------- */

static int decide(struct matcher *m, struct packet_record *s)
{
	int ret;

	if (!is_own(s))
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

	if (is_own(s))
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
		if (is_own(s) &&
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

		if (!is_own(s) || m->peers.host[s->host].joined)
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
		if (is_own(ring_at(l, n)))
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

int matcher_add(struct matcher *m, const struct netsync_packet *p)
{
	struct packet_record s;
	struct addresses *addresses;
	uint32_t blocks;
	int ret = 0;

	record_fill(&s, p);
	blocks = record_blocks(&s);
	if (m->kept != ALL_SHARDS &&
	    !(m->kept >> record_shards(&s, blocks).home & 1))
		s.state = RECORD_COPY;
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
