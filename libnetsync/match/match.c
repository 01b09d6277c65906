// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "match/match.h"
#include "util/array.h"

/*
 * Limits are updated after UPDATE_AFTER records, plus UPDATE_AFTER_EACH records for each host and
 * pair that an update visits. The cost of an update is thus spread over the events. Chosen.
 */
#define UPDATE_AFTER 1024
#define UPDATE_AFTER_EACH 4

static const struct pace no_pace = { .host = NO_PEER };

void matcher_init(struct matcher *m, const struct match_calls *calls, void *arg,
		  struct parallel *parallel)
{
	memset(m, 0, sizeof(*m));
	/*
	 * Without random numbers, results are the same, but crafted input could make matching slow.
	 */
	if (getrandom(&m->seed, sizeof(m->seed), GRND_NONBLOCK) < 0)
		m->seed = (uintptr_t)m;
	for (int i = 0; i < NETSYNC_SHARDS; i++)
		shard_init(&m->shard[i], (uint32_t)i, &m->peers, &m->owners, m->seed);
	m->calls = *calls;
	m->arg = arg;
	m->parallel = parallel;
	m->limit = RING_MAX;
	m->kept = ALL_SHARDS;
	m->threads = 1;
	m->pace = no_pace;
}

bool matcher_is_lost(const struct matcher *m)
{
	return m->work == MATCH_BUSY && parallel_is_lost(m->parallel);
}

void matcher_release(struct matcher *m)
{
	if (matcher_is_lost(m))
		return;
	if (m->work == MATCH_BUSY)
		parallel_end(m->parallel);
	for (int i = 0; i < NETSYNC_SHARDS; i++)
		shard_release(&m->shard[i]);
	batch_release(&m->batch[0]);
	batch_release(&m->batch[1]);
	free(m->owned);
	peers_release(&m->peers);
	owners_release(&m->owners);
}

int matcher_add_host(struct matcher *m)
{
	int ret = matcher_wait(m);

	if (!ret)
		ret = owners_init(&m->owners);
	return ret ? ret : peers_add_host(&m->peers);
}

bool matcher_supports(const struct netsync_packet *p)
{
	const struct protocol *protocol = protocol_find(p->protocol);

	return protocol && (p->fields & protocol->needs) == protocol->needs;
}

struct shards matcher_find_shards(const struct netsync_packet *p)
{
	const uint32_t any = p->host % NETSYNC_SHARDS;
	struct packet_record s;

	if (!matcher_supports(p))
		return (struct shards){ any, UINT32_C(1) << any };
	record_fill(&s, p);
	return record_find_shards(&s, record_count_blocks(&s));
}

/* ---- work -------------------------------------------------------------- */

/* Apply an outcome of a shard to the state of hosts and pairs. */
static int apply_outcome(struct matcher *m, const struct match_outcome *o)
{
	struct peer_pair *pair;

	switch ((enum outcome_kind)o->kind) {
	case OUTCOME_PASSED:
		return peers_add_passage(&m->peers, o->from, (enum netsync_dir)o->detail, o->send);
	case OUTCOME_COUNTED:
		pair = peers_find(&m->peers, o->from, o->to);
		if (pair)
			shard_count_state(&pair->past, o->detail);
		return 0;
	case OUTCOME_LEARNED:
	case OUTCOME_MESSAGE:
		break;
	}
	pair = peers_add_message(&m->peers, o->from, o->to, o->send, o->recv);
	if (!pair)
		return -ENOMEM;
	if (o->kind == OUTCOME_LEARNED)
		return 0;
	pair->past.matched += o->detail;
	return m->calls.found(m->arg, o->from, o->to, o->send, o->recv);
}

static int apply_outcomes_of_part(struct matcher *m, size_t part)
{
	struct applied *a = &m->applied[part];
	int ret = 0;

	if (a->round != m->round)
		*a = (struct applied){ .round = m->round };
	for (int i = 0; i < NETSYNC_SHARDS && !ret; i++) {
		const struct outcomes *list = &m->shard[i].outcomes[part];

		while (a->done[i] < list->num && !ret) {
			ret = apply_outcome(m, &list->list[a->done[i]]);
			a->done[i] += !ret;
		}
	}
	return ret;
}

static int apply_outcomes_of_all_parts(struct matcher *m)
{
	int ret = 0;

	for (size_t part = 0; part < PAIR_PARTS && !ret; part++)
		ret = apply_outcomes_of_part(m, part);
	return ret;
}

/*
 * Make one of a batch's calls: first one call for each shard, then one call for each part of the
 * pairs.
 */
static int run_match_call(void *arg, size_t i)
{
	struct matcher *m = arg;

	if (i >= NETSYNC_SHARDS)
		return m->one_thread ? apply_outcomes_of_all_parts(m) :
				       apply_outcomes_of_part(m, i - NETSYNC_SHARDS);
	shard_begin(&m->shard[i], m->round);
	return m->settling ? shard_settle(&m->shard[i], m->oldest) :
			     shard_add_batch(&m->shard[i], &m->batch[!m->filling]);
}

static void begin_match_round(struct matcher *m)
{
	const bool is_small = !m->settling && m->batch[!m->filling].all < BATCH_OF_THREADS;

	m->round += m->work != MATCH_FAILED;
	parallel_begin(m->parallel, is_small ? 1 : m->threads, NETSYNC_SHARDS,
		       NETSYNC_SHARDS + (m->one_thread ? 1 : PAIR_PARTS), run_match_call, m);
	m->work = MATCH_BUSY;
}

/* Report the messages that shards have found in the order of shards, and forget them. */
static void report_matched_messages(struct matcher *m)
{
	for (int i = 0; i < NETSYNC_SHARDS; i++) {
		struct shard *s = &m->shard[i];

		for (size_t k = 0; k < s->num_matched; k++)
			m->calls.tell(m->arg, &s->matched[k]);
		s->num_matched = 0;
	}
	if (m->calls.done)
		m->calls.done(m->arg);
}

/*
 * Return the record that a shard decides or settles next, or NULL if there is no such record yet.
 */
static const struct packet_record *find_next_undecided_record(const struct matcher *m,
							      const struct shard *s)
{
	const uint32_t n = m->settling ? s->settled : s->ring.decided;
	const struct packet_record *next;

	if (n == s->ring.tail)
		return NULL;
	next = ring_at(&s->ring, n);
	return m->settling || next->time < m->peers.host[next->host].decide ? next : NULL;
}

/*
 * Return the number of the oldest undecided record. Return @number if no undecided record is older.
 */
static uint32_t find_oldest_undecided(const struct matcher *m, uint32_t number)
{
	uint32_t most = m->number - number;

	for (int i = 0; i < NETSYNC_SHARDS; i++) {
		const struct packet_record *next = find_next_undecided_record(m, &m->shard[i]);
		const uint32_t age = next ? m->number - next->number : 0;

		most = age > most ? age : most;
	}
	return m->number - most;
}

/* Resume shards that have more records to decide or drop. Return false if no shard has. */
static bool continue_unfinished_shards(struct matcher *m)
{
	struct record_batch *b = &m->batch[!m->filling];
	bool more = false;

	for (int i = 0; i < NETSYNC_SHARDS && !m->settling; i++)
		more |= m->shard[i].more;
	if (!more)
		return false;
	b->sample = false;
	b->oldest = find_oldest_undecided(m, m->number);
	begin_match_round(m);
	return true;
}

int matcher_wait(struct matcher *m)
{
	int ret;

	if (m->work == MATCH_IDLE)
		return 0;
	if (matcher_is_lost(m))
		return -EOWNERDEAD;
	if (m->work == MATCH_FAILED)
		begin_match_round(m);
	do {
		ret = parallel_end(m->parallel);
		m->work = ret ? MATCH_FAILED : MATCH_IDLE;
		if (!ret)
			report_matched_messages(m);
	} while (!ret && continue_unfinished_shards(m));
	return ret;
}

/* ---- batches ----------------------------------------------------------- */

/* Return the number of records over which the cost of an update is spread. */
static size_t compute_update_cost(const struct matcher *m)
{
	return UPDATE_AFTER_EACH * (m->peers.hosts + peers_count_pairs(&m->peers));
}

/* Periodically, update limits. If some hosts have no clock offset, also request samples. */
static int update_peers_if_due(struct matcher *m, struct record_batch *b)
{
	const size_t least = compute_update_cost(m) + (m->pace.over ? 0 : UPDATE_AFTER);
	int ret;

	b->sample = false;
	m->since += b->all;
	if (m->promised && m->since >= least) {
		b->sample = !m->peers.connected;
		ret = peers_update(&m->peers);
		if (ret)
			return ret;
		m->since = 0;
		m->promised = false;
	}
	m->pace = no_pace;
	return 0;
}

static void learn_address_owners(struct matcher *m)
{
	for (size_t i = 0; i < m->num_owned; i++)
		owners_learn(&m->owners, m->owned[i].host, m->owned[i].address);
	m->num_owned = 0;
}

/* Add up the counts of all shards. */
static void sum_shard_counts(struct matcher *m)
{
	m->past = m->other;
	m->live = (struct match_counts){ 0 };
	m->evicted = m->other_evicted;
	for (int i = 0; i < NETSYNC_SHARDS; i++) {
		match_counts_add(&m->past, &m->shard[i].past);
		match_counts_add(&m->live, &m->shard[i].live);
		m->evicted += m->shard[i].evicted;
	}
}

void matcher_add_counts(struct matcher *m, const struct match_counts *counts, uint64_t evicted)
{
	match_counts_add(&m->other, counts);
	m->other_evicted += evicted;
	sum_shard_counts(m);
}

static void end_settling_of_shards(struct matcher *m)
{
	for (int i = 0; i < NETSYNC_SHARDS && m->settling; i++)
		shard_end_settling(&m->shard[i]);
	m->settling = false;
}

/*
 * Wait until the previous batch is matched. Then start to match the filled batch. Return 0 or an
 * error. Other threads may still be matching when this function returns.
 */
static int match_batch(struct matcher *m)
{
	struct record_batch *b = &m->batch[m->filling];
	int ret = matcher_wait(m);

	if (!ret)
		ret = batch_reserve(&m->batch[!m->filling], m->watched);
	if (!ret)
		ret = update_peers_if_due(m, b);
	if (ret)
		return ret;
	end_settling_of_shards(m);
	learn_address_owners(m);
	b->end = m->number;
	b->limit = m->limit;
	b->oldest = find_oldest_undecided(m, m->begun);
	m->begun = m->number;
	for (int i = 0; i < NETSYNC_SHARDS; i++)
		m->shard[i].next = 0;
	m->filling = !m->filling;
	batch_clear(&m->batch[m->filling]);
	begin_match_round(m);
	if (m->threads > 1 && !m->one_thread)
		return 0;
	ret = matcher_wait(m);
	if (ret)
		return ret;
	/* Fill this batch next: no thread reads it any more, and it is in the processor's cache. */
	m->filling = !m->filling;
	batch_clear(b);
	return 0;
}

/*
 * Return the maximum number of records in a batch. This maximum is small compared with the number
 * of records that may be stored.
 */
static uint32_t compute_batch_capacity(const struct matcher *m)
{
	return m->limit / 8 < BATCH_RECORDS ? m->limit / 8 : BATCH_RECORDS;
}

static uint32_t hash_owned_address(const struct matcher *m, const uint8_t addr[16])
{
	uint64_t w[2];

	memcpy(w, addr, 16);
	return (uint32_t)hash_mix(hash_mix(m->seed ^ w[0]) ^ w[1]);
}

/*
 * Compute the digests of a record's addresses. If the owner of the host's own address is not known,
 * record it. Return 0 or -ENOMEM.
 */
static int fill_addresses(struct matcher *m, struct packet_record *s,
			  const struct netsync_packet *p)
{
	uint32_t own;

	s->addr[0] = hash_owned_address(m, p->saddr);
	s->addr[1] = hash_owned_address(m, p->daddr);
	own = s->addr[s->dir == NETSYNC_IN];
	if (owners_contain_address(&m->owners, s->host, own))
		return 0;
	if (array_grow(&m->owned, &m->owned_room, m->num_owned, sizeof(*m->owned)))
		return -ENOMEM;
	m->owned[m->num_owned++] = (struct owned_address){ s->host, own };
	return 0;
}

/* Add a record to the list of a shard. */
static void file_record_in_batch(struct matcher *m, struct record_batch *b, struct packet_record *s,
				 const struct netsync_packet *p, uint32_t shard)
{
	const uint32_t at = batch_at(shard, b->num[shard]);

	s->number = m->number;
	m->number += 1 + s->next_second;
	b->record[at] = *s;
	batch_fetch(b, at + 1);
	if (b->addresses) {
		struct addresses *a = &b->addresses[at];

		memcpy(a->source, p->saddr, sizeof(p->saddr));
		memcpy(a->destination, p->daddr, sizeof(p->daddr));
	}
	batch_add(b, shard);
}

/* Add a record to the lists of all of its shards. All shards except its home shard get a copy. */
static void file_record_in_shards(struct matcher *m, struct record_batch *b,
				  struct packet_record *s, const struct netsync_packet *p,
				  struct shards to)
{
	for (uint32_t left = to.all & m->kept; left; left &= left - 1) {
		const uint32_t shard = (uint32_t)__builtin_ctz(left);

		s->state = shard == to.home ? 0 : RECORD_COPY;
		file_record_in_batch(m, b, s, p, shard);
	}
}

/*
 * Return whether the batch is complete. Even if records are rare, they are decided and dropped with
 * a delay of at most a few lifetimes, because the keys of datagrams with few distinguishing fields
 * repeat.
 */
static bool is_batch_complete(const struct matcher *m, const struct record_batch *b)
{
	return b->full || b->all + BATCH_OF_EVENT > compute_batch_capacity(m) ||
	       (m->pace.over && b->all >= compute_update_cost(m));
}

int matcher_add_packet(struct matcher *m, const struct netsync_packet *p)
{
	struct record_batch *b = &m->batch[m->filling];
	struct packet_record s;
	struct shards to;
	int ret = 0;

	if (is_batch_complete(m, b)) {
		ret = match_batch(m);
		b = &m->batch[m->filling];
	}
	if (!ret && (!b->record || (m->watched && !b->addresses)))
		ret = batch_reserve(b, m->watched);
	if (ret)
		return ret;
	record_fill(&s, p);
	if (p->fields & NETSYNC_HAS_ADDRS)
		ret = fill_addresses(m, &s, p);
	if (ret)
		return ret;
	s.next_second = record_count_blocks(&s);
	to = record_find_shards(&s, s.next_second);
	if ((to.all & m->kept) == UINT32_C(1) << to.home)
		file_record_in_batch(m, b, &s, p, to.home);
	else
		file_record_in_shards(m, b, &s, p, to);
	return 0;
}

static void update_batch_pace(struct pace *pace, uint32_t host, int64_t time)
{
	if (host == pace->host)
		pace->over |= time >= pace->end;
	else if (pace->host == NO_PEER && time < INT64_MAX - PEER_LIFETIME)
		*pace = (struct pace){ .host = host, .end = time + PEER_LIFETIME };
}

void matcher_advance(struct matcher *m, uint32_t host, int64_t time)
{
	struct peer_host *peer = &m->peers.host[host];

	/* A host may get more events after INT64_MAX was promised for it, or after a pause. */
	if (time > peer->until || peer->until == INT64_MAX || peer->paused)
		peer->until = time;
	peer->paused = false;
	m->promised = true;
	update_batch_pace(&m->pace, host, time);
}

void matcher_pause(struct matcher *m, uint32_t host)
{
	m->peers.host[host].paused = true;
	m->promised = true;
}

void matcher_set_watched(struct matcher *m, bool watched)
{
	m->watched = watched;
	for (int i = 0; i < NETSYNC_SHARDS; i++)
		m->shard[i].ring.keep_addresses = watched;
}

/* ---- settling ---------------------------------------------------------- */

/* For each pair, count the unmatched records that are still in the rings. */
static void count_live_records(struct matcher *m)
{
	for (size_t k = 0; k < PAIR_PARTS; k++)
		for (size_t i = 0; i < m->peers.part[k].pairs; i++)
			memset(&m->peers.part[k].pair[i].live, 0, sizeof(m->live));
	for (int i = 0; i < NETSYNC_SHARDS; i++) {
		const struct packet_ring *l = &m->shard[i].ring;

		for (uint32_t n = l->freed; n != l->tail; n++) {
			const struct packet_record *s = ring_at(l, n);
			struct peer_pair *pair = NULL;

			if (record_is_own(s) && !(s->state & RECORD_MATCHED))
				pair = peers_find(&m->peers, s->host,
						  shard_find_peer(&m->shard[i], s));
			if (pair)
				shard_count_state(&pair->live, s->state);
		}
	}
}

int matcher_settle(struct matcher *m)
{
	bool all;
	int ret = m->batch[m->filling].all ? match_batch(m) : 0;

	if (!ret)
		ret = matcher_wait(m);
	if (ret)
		return ret;
	for (int i = 0; i < NETSYNC_SHARDS; i++)
		shard_begin_settling(&m->shard[i]);
	m->settling = true;
	do {
		m->oldest = find_oldest_undecided(m, m->number);
		begin_match_round(m);
		ret = matcher_wait(m);
		all = true;
		for (int i = 0; i < NETSYNC_SHARDS; i++)
			all &= shard_is_settled(&m->shard[i]);
	} while (!ret && !all);
	if (ret)
		return ret;
	end_settling_of_shards(m);
	for (int i = 0; i < NETSYNC_SHARDS; i++)
		outcomes_clear(m->shard[i].outcomes);
	count_live_records(m);
	sum_shard_counts(m);
	return 0;
}
