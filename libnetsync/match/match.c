// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sightings are put into a log and found there by their keys. Times play no
 * part in that, so that neither the distance between the clocks nor the order
 * of reading matters, and the cost for each event is constant. Each is decided
 * when all its counterparts must be there (peers.h), and falls off later.
 *
 * Nothing is guessed: what might be of several packets is left out.
 */
#include <errno.h>
#include <string.h>

#include "match/match.h"

/* A segment longer than any single one on an Ethernet was or will be cut. */
#define MAX_SINGLE 1460

/* At least so many sightings at a time are looked at to find how far clocks are apart. */
#define SAMPLES 64

/* More datagrams than any sender's offload takes at a time. */
#define MAX_DATAGRAMS 128

/* Longer than any segment; what claims to be is not filed by its bytes. */
#define MAX_SEGMENT (UINT32_C(1) << 20)

void matcher_init(struct matcher *m, match_fn found, void *arg)
{
	memset(m, 0, sizeof(*m));
	log_init(&m->log);
	m->found = found;
	m->arg = arg;
	m->limit = LOG_MAX;
}

void matcher_release(struct matcher *m)
{
	log_release(&m->log);
	peers_release(&m->peers);
}

int matcher_add_host(struct matcher *m)
{
	return peers_add_host(&m->peers);
}

bool matcher_supports(const struct netsync_packet *p)
{
	switch (p->protocol) {
	case TCP:
		return true;
	case UDP:
		return p->fields & NETSYNC_HAS_PORTS;
	case ICMP:
	case ICMPV6:
		return p->fields & NETSYNC_HAS_ECHO;
	case SCTP:
		return p->fields & NETSYNC_HAS_SCTP;
	}
	return false;
}

/* ---- comparing --------------------------------------------------------- */

/*
 * TCP's numbers and options leave no doubt, nor does SCTP's tag, but for that of
 * the first packet, which is 0. A datagram's or ping's IP id does: one of its
 * ends must be the same, as it is if only the other's address is translated, or
 * the payload. The identifier of a ping is translated, too.
 */
static bool same_but_address(const struct sighting *a, const struct sighting *b)
{
	if (a->protocol == SCTP)
		return a->seq;
	if (match_weak(a, b))
		return false;
	if (a->protocol == TCP)
		return true;
	if (a->protocol != UDP &&
	    (a->ack != b->ack || (uint16_t)a->seq != (uint16_t)b->seq))
		return false;
	return both(a, b, NETSYNC_HAS_DIGEST) ||
	       (a->addr[0] == b->addr[0] && a->sport == b->sport) ||
	       (a->addr[1] == b->addr[1] && a->dport == b->dport);
}

bool match_headers(const struct sighting *a, const struct sighting *b, bool nat)
{
	const int ts = NETSYNC_HAS_TSTAMP | NETSYNC_HAS_NO_TSTAMP;

	if (nat) {
		if (!both(a, b, NETSYNC_HAS_ADDRS) || !same_but_address(a, b))
			return false;
	} else {
		if (both(a, b, NETSYNC_HAS_ADDRS) &&
		    (a->addr[0] != b->addr[0] || a->addr[1] != b->addr[1]))
			return false;
		if (both(a, b, NETSYNC_HAS_PORTS) &&
		    (a->sport != b->sport || a->dport != b->dport))
			return false;
	}
	if (both(a, b, NETSYNC_HAS_WINDOW) && a->window != b->window)
		return false;
	if ((a->fields & ts) && (b->fields & ts) && !both(a, b, ts))
		return false;
	return !both(a, b, NETSYNC_HAS_TSTAMP | NETSYNC_HAS_DIGEST) ||
	       (a->tsval == b->tsval && a->tsecr == b->tsecr);
}

bool match_weak(const struct sighting *a, const struct sighting *b)
{
	return !both(a, b, NETSYNC_HAS_TSTAMP) &&
	       !(both(a, b, NETSYNC_HAS_IP_ID) && a->ip_id && b->ip_id);
}

bool match_other_place(const struct sighting *a, const struct sighting *b)
{
	return a->point != b->point ||
	       (both(a, b, NETSYNC_HAS_NETNS) && a->netns != b->netns);
}

/*
 * At different places yes. At the same one only if it is the same buffer with
 * the same id: the names of devices repeat in network namespaces. An id of 0
 * says nothing, and buffers are reused.
 */
bool match_one_packet(const struct sighting *a, const struct sighting *b)
{
	if (a->host != b->host || a->dir != b->dir || match_other_place(a, b))
		return true;
	return both(a, b, NETSYNC_HAS_SKB) && a->skb == b->skb &&
	       both(a, b, NETSYNC_HAS_IP_ID) && a->ip_id == b->ip_id &&
	       a->ip_id;
}

void match_ambiguous(struct matcher *m, struct sighting *s)
{
	if (!(s->state & SEEN_USED))
		s->state |= m->unclear ? SEEN_UNCLEAR : SEEN_AMBIGUOUS;
}

void match_used(struct sighting *s, uint32_t peer, bool nat)
{
	s->state |= SEEN_USED;
	s->peer = peer;
	if (nat)
		s->state |= SEEN_NAT;
}

int match_learn(struct matcher *m, const struct sighting *from,
		const struct sighting *to)
{
	return peers_message(&m->peers, from->host, to->host, from->time,
			     to->time);
}

int match_emit(struct matcher *m, const struct sighting *from,
	       const struct sighting *to)
{
	int ret = match_learn(m, from, to);

	if (ret)
		return ret;
	return m->found(m->arg, from, to);
}

/* ---- deciding ---------------------------------------------------------- */

int match_first(struct matcher *m, struct sighting *s)
{
	int ret = 0;

	if (!(s->state & (SEEN_DONE | SEEN_LOOKED)))
		ret = match_key(m, s);
	if (ret || !has_parts(s))
		return ret;
	/* One that is used as a whole may still have a message to send. */
	if (s->dir == NETSYNC_OUT ?
	    s->state & (SEEN_EMITTED | SEEN_AMBIGUOUS | SEEN_UNCLEAR) :
	    s->state & SEEN_DONE)
		return 0;
	return match_parts(m, s);
}

static int decide(struct matcher *m, struct sighting *s)
{
	int ret;

	if (s->alias)
		return 0;
	ret = match_first(m, s);
	if (ret || (s->state & SEEN_DONE) || !has_second_key(s))
		return ret;
	return match_second(m, s);
}

static void count(struct matcher *m, const struct sighting *s, bool past)
{
	struct tally *all = past ? &m->past : &m->live;
	struct peer_pair *pair = NULL;
	struct tally none = { 0 }, *t = &none;
	uint32_t peer = s->peer;

	if (peer == NO_PEER && (s->fields & NETSYNC_HAS_ADDRS))
		peer = peers_owner(&m->peers, s->addr[s->dir == NETSYNC_OUT]);
	if (peer != NO_PEER && peer != s->host)
		pair = peers_find(&m->peers, s->host, peer);
	if (pair)
		t = past ? &pair->past : &pair->live;
	if (s->state & SEEN_USED) {
		all->matched++;
		t->matched++;
		if (s->state & SEEN_NAT) {
			all->nat++;
			t->nat++;
		}
	} else if (s->state & (SEEN_AMBIGUOUS | SEEN_UNCLEAR)) {
		all->ambiguous++;
		t->ambiguous++;
	} else {
		all->unmatched++;
		t->unmatched++;
	}
}

/* What was unclear at the last settling is decided now. */
static int decide_next(struct matcher *m)
{
	struct sighting *s = log_at(&m->log, m->log.decided++);

	s->state &= ~SEEN_UNCLEAR;
	return decide(m, s);
}

static void drop_next(struct matcher *m)
{
	const struct sighting *s = log_at(&m->log, m->log.freed++);

	if (!s->alias)
		count(m, s, true);
}

/* Decide and drop what no event to come can be of. */
static int retire(struct matcher *m)
{
	struct log *l = &m->log;
	int ret = 0;

	while (l->decided != l->tail && !ret) {
		const struct sighting *s = log_at(l, l->decided);

		if (s->time >= m->peers.host[s->host].decide)
			break;
		ret = decide_next(m);
	}
	while (l->freed != l->decided) {
		const struct sighting *s = log_at(l, l->freed);

		if (s->time >= m->peers.host[s->host].free)
			break;
		drop_next(m);
	}
	return ret;
}

/* At the limit the oldest have to go, whatever may still come. */
static int evict(struct matcher *m, uint32_t num)
{
	int ret = 0;

	while (log_live(&m->log) + num > m->limit && !ret) {
		const struct sighting *s = log_at(&m->log, m->log.freed);

		if (m->log.decided == m->log.freed)
			ret = decide_next(m);
		if (!s->alias && !(s->state & (SEEN_USED | SEEN_AMBIGUOUS)) &&
		    s->time >= m->peers.host[s->host].decide)
			m->evicted++;
		drop_next(m);
	}
	return ret;
}

/*
 * While it is not known how far clocks are apart nothing is decided, and from
 * what was decided it would become known: look at some of what was pushed by
 * those hosts of which it is not known.
 */
static int sample(struct matcher *m)
{
	uint32_t left = SAMPLES + m->since / 16;
	uint32_t i = m->since < log_live(&m->log) ? m->since :
						    log_live(&m->log);
	int ret = 0;

	for (; i && left && !ret; i--) {
		struct sighting *s = log_at(&m->log, m->log.tail - i);

		if (s->alias || m->peers.host[s->host].joined)
			continue;
		left--;
		ret = match_sample(m, s);
	}
	return ret;
}

int matcher_advance(struct matcher *m, uint32_t host, int64_t time)
{
	int64_t *until = &m->peers.host[host].until;
	int ret;

	/* One that was done may be back. */
	if (time > *until || *until == INT64_MAX)
		*until = time;
	/* Looking at all hosts and pairs is paid for by four times the events. */
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
	struct log *l = &m->log;
	int ret = 0;

	for (uint32_t n = l->decided; n != l->tail; n++)
		log_at(l, n)->state &= ~(SEEN_UNCLEAR | SEEN_LOOKED);
	m->unclear = true;
	for (uint32_t n = l->decided; n != l->tail && !ret; n++)
		ret = decide(m, log_at(l, n));
	m->unclear = false;
	memset(&m->live, 0, sizeof(m->live));
	for (size_t i = 0; i < m->peers.pairs; i++)
		memset(&m->peers.pair[i].live, 0, sizeof(m->live));
	for (uint32_t n = l->freed; n != l->tail; n++)
		if (!log_at(l, n)->alias)
			count(m, log_at(l, n), false);
	/* More may come of the same key. */
	for (uint32_t n = l->decided; n != l->tail; n++)
		log_at(l, n)->state &= ~SEEN_LOOKED;
	return ret;
}

/* ---- adding ------------------------------------------------------------ */

static uint32_t digest(const struct matcher *m, const uint8_t addr[16])
{
	uint64_t w[2];

	memcpy(w, addr, 16);
	return (uint32_t)log_mix(log_mix(m->log.seed ^ w[0]) ^ w[1]);
}

/*
 * The key of a datagram is its ports and what tells it from others between
 * them, of what all sources know: the id, where the sender counts it; else the
 * payload's digest or its length.
 */
static void set_udp_key(struct sighting *s, const struct netsync_packet *p)
{
	uint32_t low = (uint32_t)p->digest;

	s->seq = (uint32_t)p->sport << 16 | p->dport;
	if ((p->fields & NETSYNC_HAS_IP_ID) && p->ip_id)
		s->ack = p->ip_id;
	else if (p->fields & NETSYNC_HAS_DIGEST)
		s->ack = low | UINT32_C(1) << 31;
	else
		s->ack = p->len | UINT32_C(1) << 30;
	s->window = p->checksum;
	s->fields &= (uint16_t)~(NETSYNC_HAS_WINDOW | NETSYNC_HAS_TSTAMP |
				 NETSYNC_HAS_NO_TSTAMP);
	if (p->fields & NETSYNC_HAS_CHECKSUM)
		s->fields |= NETSYNC_HAS_WINDOW;
	s->tsval = low;
	s->tsecr = (uint32_t)(p->digest >> 32);
	s->flags = 1;
	if ((p->fields & NETSYNC_HAS_GSO) && p->gso_size && p->gso_segs > 1)
		s->flags = p->gso_segs;
}

/* Segments have no digest, whatever is written there. */
static void set_tcp_key(struct sighting *s, const struct netsync_packet *p)
{
	s->seq = p->seq;
	s->ack = p->ack;
	s->window = p->window;
	s->tsval = p->tsval;
	s->tsecr = p->tsecr;
	s->flags = p->flags;
	s->fields &= (uint16_t)~NETSYNC_HAS_DIGEST;
}

static void set_icmp_key(struct sighting *s, const struct netsync_packet *p)
{
	s->seq = (uint32_t)p->icmp_id << 16 | p->icmp_seq;
	s->ack = p->icmp_type;
	s->fields &= NETSYNC_HAS_ADDRS | NETSYNC_HAS_IP_ID | NETSYNC_HAS_LEN |
		     NETSYNC_HAS_SKB | NETSYNC_HAS_NETNS;
	s->flags = 0;
}

/*
 * The tag is that of one association and direction. Without DATA there is no
 * number, and what tells packets apart is as with datagrams.
 */
static void set_sctp_key(struct sighting *s, const struct netsync_packet *p)
{
	const bool has_tsn = p->fields & NETSYNC_HAS_TSN;

	s->seq = p->vtag;
	if (has_tsn)
		s->ack = p->tsn;
	else if ((p->fields & NETSYNC_HAS_IP_ID) && p->ip_id)
		s->ack = p->ip_id;
	else
		s->ack = p->len | (uint32_t)p->chunk << 24;
	s->fields &= NETSYNC_HAS_ADDRS | NETSYNC_HAS_PORTS |
		     NETSYNC_HAS_IP_ID | NETSYNC_HAS_LEN | NETSYNC_HAS_SKB |
		     NETSYNC_HAS_NETNS;
	s->flags = (uint16_t)(p->chunk | has_tsn << 8);
}

static void set_key(struct sighting *s, const struct netsync_packet *p)
{
	switch (p->protocol) {
	case TCP:
		set_tcp_key(s, p);
		break;
	case UDP:
		set_udp_key(s, p);
		break;
	case SCTP:
		set_sctp_key(s, p);
		break;
	default:
		set_icmp_key(s, p);
		break;
	}
}

/*
 * Under how many blocks, or ids, it is filed for others to be found inside it.
 */
static uint32_t blocks_of(const struct sighting *s)
{
	if (s->protocol == UDP)
		return s->ack == s->ip_id && s->flags <= MAX_DATAGRAMS ?
		       s->flags - 1u : 0;
	if (!has_data(s) || s->len > MAX_SEGMENT ||
	    (s->len <= MAX_SINGLE && s->gso_size == 0))
		return 0;
	return (((s->seq & ((1 << BLOCK_SHIFT) - 1)) + s->len - 1) >>
		BLOCK_SHIFT) + 1;
}

int matcher_add(struct matcher *m, const struct netsync_packet *p)
{
	struct sighting s = {
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

	set_key(&s, p);
	blocks = blocks_of(&s);
	if (p->fields & NETSYNC_HAS_ADDRS) {
		s.addr[0] = digest(m, p->saddr);
		s.addr[1] = digest(m, p->daddr);
		peers_learn(&m->peers, p->host, s.addr[s.dir == NETSYNC_IN]);
	}
	if (log_live(&m->log) + 1 + blocks > m->limit)
		ret = evict(m, 1 + blocks);
	if (!ret)
		ret = log_reserve(&m->log, 1 + blocks);
	if (ret)
		return ret;
	m->since++;
	addresses = log_addresses(&m->log, log_add(&m->log, &s));
	if (addresses) {
		memcpy(addresses->source, p->saddr, sizeof(p->saddr));
		memcpy(addresses->destination, p->daddr, sizeof(p->daddr));
	}
	for (s.alias = 1; s.alias <= blocks; s.alias++)
		log_add(&m->log, &s);
	return 0;
}
