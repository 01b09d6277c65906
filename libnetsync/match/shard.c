// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Convert records to outcomes. Records are put into the packet ring, in which they are found by
 * their keys. Matching does not use times, so clock offsets and the order of reading have no
 * effect, and the cost per event is constant. A record is decided when all of its counterparts must
 * have been added (peers.h), and is dropped later. Nothing is guessed: a record that may belong to
 * several packets is rejected.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "match/internal.h"

/* Minimum number of records that are sampled at a time to learn clock offsets. Chosen. */
#define SAMPLES 4

/*
 * Maximum number of records that are dropped at a time, which limits the number of outcomes.
 * Chosen.
 */
#define DROPPED_AT_ONCE 2048

void shard_init(struct shard *m, uint32_t shard, const struct peers *peers,
		const struct address_owners *owners, uint64_t seed)
{
	memset(m, 0, sizeof(*m));
	m->ring.seed = seed;
	m->shard = shard;
	m->peers = peers;
	m->owners = owners;
}

void shard_release(struct shard *m)
{
	ring_release(&m->ring);
	outcomes_release(m->outcomes);
	free(m->matched);
}

void shard_count_state(struct match_counts *counts, uint32_t state)
{
	if (state & RECORD_MATCHED) {
		counts->matched++;
		if (state & RECORD_TRANSLATED)
			counts->nat++;
	} else if (state & (RECORD_AMBIGUOUS | RECORD_AMBIGUOUS_YET)) {
		counts->ambiguous++;
	} else {
		counts->unmatched++;
	}
}

uint32_t shard_find_peer(const struct shard *m, const struct packet_record *s)
{
	uint32_t peer = s->peer;

	if (peer == NO_PEER && (s->fields & NETSYNC_HAS_ADDRS))
		peer = owners_find(m->owners, s->addr[s->dir == NETSYNC_OUT]);
	return peer == s->host ? NO_PEER : peer;
}

/* ---- deciding ---------------------------------------------------------- */

static int decide_record(struct shard *m, struct packet_record *s)
{
	int ret;

	if (!record_is_own(s))
		return 0;
	ret = match_by_first_key(m, s);
	if (ret || (s->state & RECORD_DECIDED) || !has_second_key(s))
		return ret;
	return match_by_second_key(m, s);
}

/* Decide the next record finally. At the last settling, it may have been ambiguous. */
static int decide_next_record(struct shard *m)
{
	struct packet_record *s = ring_at(&m->ring, m->ring.decided++);

	s->state &= ~RECORD_AMBIGUOUS_YET;
	return decide_record(m, s);
}

static int drop_next_record(struct shard *m)
{
	const struct packet_record *s = ring_at(&m->ring, m->ring.freed++);
	struct match_outcome o = { .from = s->host, .kind = OUTCOME_COUNTED, .detail = s->state };

	if (!record_is_own(s) || (s->state & RECORD_MATCHED))
		return 0;
	shard_count_state(&m->past, s->state);
	o.to = shard_find_peer(m, s);
	return o.to == NO_PEER ? 0 : outcome_add(m->outcomes, &o);
}

/* Decide records whose packets are complete. */
static int decide_complete_records(struct shard *m, const struct record_batch *b)
{
	struct packet_ring *l = &m->ring;
	int ret = 0;

	while (l->decided != l->tail && !ret) {
		const struct packet_record *s = ring_at(l, l->decided);

		if (s->time >= m->peers->host[s->host].decide)
			break;
		m->more = s->number - b->oldest >= DECIDED_AT_ONCE;
		if (m->more)
			break;
		ret = decide_next_record(m);
	}
	return ret;
}

/* Drop records that no future event can need. */
static int drop_old_records(struct shard *m)
{
	struct packet_ring *l = &m->ring;
	int ret = 0;

	for (uint32_t n = 0; l->freed != l->decided && !ret; n++) {
		const struct packet_record *s = ring_at(l, l->freed);

		if (s->time >= m->peers->host[s->host].free)
			break;
		m->more |= n == DROPPED_AT_ONCE;
		if (n == DROPPED_AT_ONCE)
			break;
		ret = drop_next_record(m);
	}
	return ret;
}

/* Return whether the oldest record's number is lower than @end by more than @limit. */
static inline bool is_oldest_record_beyond(const struct packet_ring *l, uint32_t end,
					   uint32_t limit)
{
	return l->freed != l->tail && end - ring_at(l, l->freed)->number > limit;
}

/*
 * Drop records whose numbers are lower than @end by more than @limit, even if counterparts may
 * follow.
 */
static int evict_old_records(struct shard *m, uint32_t end, uint32_t limit)
{
	struct packet_ring *l = &m->ring;
	int ret = 0;

	while (!ret && is_oldest_record_beyond(l, end, limit)) {
		const struct packet_record *s = ring_at(l, l->freed);

		if (l->decided == l->freed)
			ret = decide_next_record(m);
		if (record_is_own(s) && !(s->state & (RECORD_MATCHED | RECORD_AMBIGUOUS)) &&
		    s->time >= m->peers->host[s->host].decide)
			m->evicted++;
		if (!ret)
			ret = drop_next_record(m);
	}
	return ret;
}

/*
 * Sample some of the newest records of hosts that are not connected yet. Until clock offsets are
 * known, nothing can be decided, but offsets are learned from decided records. Samples break this
 * cycle.
 */
static int sample_newest_records(struct shard *m)
{
	uint32_t left = SAMPLES + m->since / 16;
	uint32_t i = m->since < ring_count(&m->ring) ? m->since : ring_count(&m->ring);
	int ret = 0;

	for (; i && left && !ret; i--) {
		struct packet_record *s = ring_at(&m->ring, m->ring.tail - i);

		if (!record_is_own(s) || m->peers->host[s->host].joined)
			continue;
		left--;
		ret = match_learn_offset(m, s);
	}
	return ret;
}

/* ---- a batch ----------------------------------------------------------- */

static int add_batch_record(struct shard *m, const struct record_batch *b, uint32_t at)
{
	const struct packet_record *s = &b->record[at];
	const uint32_t blocks = s->next_second;
	struct addresses *addresses;
	int ret = 0;

	if (is_oldest_record_beyond(&m->ring, s->number + 1 + blocks, b->limit))
		ret = evict_old_records(m, s->number + 1 + blocks, b->limit);
	if (!ret)
		ret = ring_reserve(&m->ring, 1 + blocks);
	if (ret)
		return ret;
	m->since++;
	addresses = ring_addresses(&m->ring, ring_add(&m->ring, s));
	if (addresses)
		*addresses = b->addresses ? b->addresses[at] : (struct addresses){ 0 };
	if (blocks) {
		struct packet_record entry = *s;

		for (entry.block = 1; entry.block <= blocks; entry.block++)
			ring_add(&m->ring, &entry);
	}
	return 0;
}

void shard_begin(struct shard *m, uint32_t round)
{
	if (m->round == round)
		return;
	outcomes_clear(m->outcomes);
	m->round = round;
}

int shard_add_batch(struct shard *m, const struct record_batch *b)
{
	const uint32_t num = b->num[m->shard];
	int ret = 0;

	while (m->next != num && !ret) {
		ret = add_batch_record(m, b, batch_at(m->shard, m->next));
		m->next += !ret;
	}
	if (!ret)
		ret = evict_old_records(m, b->end, b->limit);
	if (!ret && b->sample)
		ret = sample_newest_records(m);
	if (b->sample)
		m->since = 0;
	m->more = false;
	if (!ret)
		ret = decide_complete_records(m, b);
	/* Undecided records may need records that could be dropped. */
	return ret || m->more ? ret : drop_old_records(m);
}

/* ---- settling ---------------------------------------------------------- */

void shard_begin_settling(struct shard *m)
{
	struct packet_ring *l = &m->ring;

	for (uint32_t n = l->decided; n != l->tail; n++)
		ring_at(l, n)->state &= ~(RECORD_AMBIGUOUS_YET | RECORD_EXAMINED);
	m->settled = l->decided;
	m->unclear = true;
}

int shard_settle(struct shard *m, uint32_t oldest)
{
	struct packet_ring *l = &m->ring;
	int ret = 0;

	while (!shard_is_settled(m) && !ret &&
	       ring_at(l, m->settled)->number - oldest < DECIDED_AT_ONCE)
		ret = decide_record(m, ring_at(l, m->settled++));
	return ret;
}

bool shard_is_settled(const struct shard *m)
{
	return m->settled == m->ring.tail;
}

void shard_end_settling(struct shard *m)
{
	struct packet_ring *l = &m->ring;

	m->unclear = false;
	memset(&m->live, 0, sizeof(m->live));
	for (uint32_t n = l->freed; n != l->tail; n++)
		if (record_is_own(ring_at(l, n)) && !(ring_at(l, n)->state & RECORD_MATCHED))
			shard_count_state(&m->live, ring_at(l, n)->state);
	/* More records with the same key may be added, so compare these records again later. */
	for (uint32_t n = l->decided; n != l->tail; n++)
		ring_at(l, n)->state &= ~RECORD_EXAMINED;
}
