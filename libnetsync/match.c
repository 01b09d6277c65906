// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A hash table finds, for what every source of events knows of a TCP packet
 * (sequence and acknowledgment number and flags), all its sightings. Their
 * times play no part, so that neither the distance between the clocks nor the
 * order of reading matters, and the cost for each event is constant.
 *
 * Sightings of one key are then sorted into packets: two sightings are of one
 * packet if they agree in all that both know. Nothing is guessed: where that
 * does not divide them clearly, or a packet seems to have been sent twice,
 * they are ambiguous and not used.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "array.h"
#include "match.h"

/*
 * More sightings of one key than that are a storm of repetitions, from which
 * no message can be had; this keeps the cost of a key constant.
 */
#define MAX_SIGHTINGS 64

enum {
	USED = 1,		/* is part of a message */
	AMBIGUOUS = 2,
};

struct sighting {
	int64_t time;
	uint64_t skb;
	uint64_t addrs;		/* digest of both addresses */
	uint32_t host;
	uint32_t point;
	uint32_t next;		/* of the same key; 0: none, else number + 1 */
	uint32_t len;
	uint32_t tsval;
	uint32_t tsecr;
	uint16_t sport;
	uint16_t dport;
	uint16_t window;
	uint16_t ip_id;
	uint8_t fields;
	uint8_t dir;
	uint8_t state;
};

struct key {
	uint32_t seq;
	uint32_t ack;
	uint32_t first;		/* sighting number + 1 */
	uint16_t flags;
	uint8_t count;
	bool fresh;		/* has sightings that were not looked at */
};

static uint64_t mix(uint64_t v)
{
	v ^= v >> 32;
	v *= UINT64_C(0xd6e8feb86659fd93);
	v ^= v >> 32;
	v *= UINT64_C(0xd6e8feb86659fd93);
	return v ^ v >> 32;
}

void matcher_init(struct matcher *m)
{
	memset(m, 0, sizeof(*m));
	/* Without it results are the same and only the speed is at risk. */
	if (getrandom(&m->seed, sizeof(m->seed), GRND_NONBLOCK) < 0)
		m->seed = (uintptr_t)m;
}

void matcher_release(struct matcher *m)
{
	free(m->key);
	free(m->slot);
	free(m->sighting);
	memset(m, 0, sizeof(*m));
}

static size_t slot_of(const struct matcher *m, uint32_t seq, uint32_t ack,
		      uint16_t flags)
{
	uint64_t v = mix(m->seed ^ ((uint64_t)seq << 32 | ack));

	return mix(v + m->seed + flags) & (m->slots - 1);
}

static int grow_slots(struct matcher *m)
{
	size_t slots = m->slots ? m->slots * 2 : 1024;
	uint32_t *bigger;

	if (m->keys * 2 < m->slots)
		return 0;
	if (m->keys >= UINT32_MAX / 2)
		return -ENOMEM;
	bigger = calloc(slots, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	free(m->slot);
	m->slot = bigger;
	m->slots = slots;
	for (size_t k = 0; k < m->keys; k++) {
		size_t i = slot_of(m, m->key[k].seq, m->key[k].ack,
				   m->key[k].flags);

		while (m->slot[i])
			i = (i + 1) & (slots - 1);
		m->slot[i] = (uint32_t)k + 1;
	}
	return 0;
}

/* The slot of a packet's key, or the empty one where it belongs. */
static size_t find_slot(const struct matcher *m, const struct netsync_packet *p)
{
	size_t i = slot_of(m, p->seq, p->ack, p->flags);

	for (; m->slot[i]; i = (i + 1) & (m->slots - 1)) {
		const struct key *k = &m->key[m->slot[i] - 1];

		if (k->seq == p->seq && k->ack == p->ack &&
		    k->flags == p->flags)
			break;
	}
	return i;
}

static uint64_t digest(const struct matcher *m, const struct netsync_packet *p)
{
	uint64_t w[4], v = m->seed;

	memcpy(w, p->saddr, 16);
	memcpy(w + 2, p->daddr, 16);
	for (int i = 0; i < 4; i++)
		v = mix(v ^ w[i]) + (uint64_t)i;
	return v;
}

int matcher_add(struct matcher *m, const struct netsync_packet *p)
{
	struct sighting *s;
	struct key *k;
	size_t i;

	if (m->sightings >= UINT32_MAX - 1 || grow_slots(m) ||
	    array_grow(&m->key, &m->key_room, m->keys, sizeof(*m->key)) ||
	    array_grow(&m->sighting, &m->sighting_room, m->sightings,
		       sizeof(*m->sighting)))
		return -ENOMEM;
	i = find_slot(m, p);
	if (!m->slot[i]) {
		k = &m->key[m->keys++];
		*k = (struct key){ .seq = p->seq, .ack = p->ack,
				   .flags = p->flags };
		m->slot[i] = (uint32_t)m->keys;
	}
	k = &m->key[m->slot[i] - 1];
	if (k->count > MAX_SIGHTINGS) {
		m->ambiguous++;
		return 0;
	}
	k->count++;
	k->fresh = true;
	s = &m->sighting[m->sightings++];
	*s = (struct sighting){
		.time = p->time_ns,
		.skb = p->skb,
		.addrs = digest(m, p),
		.host = p->host,
		.point = p->point,
		.next = k->first,
		.len = p->len,
		.tsval = p->tsval,
		.tsecr = p->tsecr,
		.sport = p->sport,
		.dport = p->dport,
		.window = p->window,
		.ip_id = p->ip_id,
		.fields = (uint8_t)p->fields,
		.dir = p->dir,
	};
	k->first = (uint32_t)m->sightings;
	return 0;
}

/* ---- sightings of one key -> packets ------------------------------------ */

/* Both know the field. */
static bool both(const struct sighting *a, const struct sighting *b, int field)
{
	return a->fields & b->fields & field;
}

static bool same_id(const struct sighting *a, const struct sighting *b)
{
	return both(a, b, NETSYNC_HAS_IP_ID) && a->ip_id == b->ip_id;
}

/* Do two sightings agree in all that both know? */
static bool agree(const struct sighting *a, const struct sighting *b)
{
	const int ts = NETSYNC_HAS_TSTAMP | NETSYNC_HAS_NO_TSTAMP;

	if (both(a, b, NETSYNC_HAS_ADDRS) && a->addrs != b->addrs)
		return false;
	if (both(a, b, NETSYNC_HAS_PORTS) &&
	    (a->sport != b->sport || a->dport != b->dport))
		return false;
	if (both(a, b, NETSYNC_HAS_IP_ID) && a->ip_id != b->ip_id)
		return false;
	if (both(a, b, NETSYNC_HAS_LEN) && a->len != b->len)
		return false;
	if (both(a, b, NETSYNC_HAS_WINDOW) && a->window != b->window)
		return false;
	if ((a->fields & ts) && (b->fields & ts) && !both(a, b, ts))
		return false;
	return !both(a, b, NETSYNC_HAS_TSTAMP) ||
	       (a->tsval == b->tsval && a->tsecr == b->tsecr);
}

/*
 * May one packet have caused two sightings on one host? At different points
 * yes. At the same point only if it is the same buffer with the same id: the
 * names of devices repeat in network namespaces. An id of 0 says nothing, and
 * buffers are reused.
 */
static bool one_packet(const struct sighting *a, const struct sighting *b)
{
	if (a->host != b->host || a->dir != b->dir || a->point != b->point)
		return true;
	return both(a, b, NETSYNC_HAS_SKB) && a->skb == b->skb &&
	       same_id(a, b) && a->ip_id;
}

/* What one host saw of a packet. */
struct view {
	uint32_t host;
	bool sent;
	bool received;
	bool origin;		/* it left before it ever came in */
	int64_t first_in;
	int64_t last_out;
};

static int by_host_and_time(const void *a, const void *b)
{
	const struct sighting *p = *(struct sighting *const *)a;
	const struct sighting *q = *(struct sighting *const *)b;

	if (p->host != q->host)
		return p->host < q->host ? -1 : 1;
	if (p->time != q->time)
		return p->time < q->time ? -1 : 1;
	return p->dir - q->dir;
}

static int make_views(struct sighting **s, int n, struct view *v)
{
	int views = 0;

	qsort(s, (size_t)n, sizeof(*s), by_host_and_time);
	for (int i = 0; i < n; i++) {
		struct view *at;

		if (!i || s[i]->host != s[i - 1]->host)
			v[views++] = (struct view){
				.host = s[i]->host,
				.origin = s[i]->dir == NETSYNC_OUT,
			};
		at = &v[views - 1];
		if (s[i]->dir == NETSYNC_OUT) {
			at->sent = true;
			at->last_out = s[i]->time;
		} else if (!at->received) {
			at->received = true;
			at->first_in = s[i]->time;
		}
	}
	return views;
}

static void mark(struct matcher *m, struct sighting **s, int n, uint8_t state)
{
	for (int i = 0; i < n; i++) {
		s[i]->state |= state;
		if (state == USED)
			m->matched++;
		else
			m->ambiguous++;
	}
}

/*
 * One packet: a message goes from the host where it began to each that
 * received it, and from a router (in and out) onward, if there is one only:
 * the order of several is not known.
 */
static int emit(struct matcher *m, struct sighting **s, int n, match_fn fn,
		void *arg)
{
	struct view v[MAX_SIGHTINGS];
	int views = make_views(s, n, v), origins = 0, routers = 0, made = 0;
	int ret = 0;

	for (int i = 0; i < views; i++) {
		origins += v[i].origin;
		routers += !v[i].origin && v[i].sent;
	}
	if (origins > 1) {
		mark(m, s, n, AMBIGUOUS);
		return 0;
	}
	for (int i = 0; i < views && !ret; i++) {
		if (!v[i].origin && !(v[i].sent && routers == 1))
			continue;
		for (int j = 0; j < views && !ret; j++) {
			if (j == i || v[j].origin)
				continue;
			ret = fn(arg, v[i].host, v[j].host, v[i].last_out,
				 v[j].first_in);
			made++;
		}
	}
	if (made)
		mark(m, s, n, USED);
	return ret;
}

/* Take the sightings that are connected with the first one to the front. */
static int collect(struct sighting **s, int n, bool *clear)
{
	int size = 1;

	*clear = true;
	for (int i = 0; i < size; i++) {
		for (int j = size; j < n; j++) {
			struct sighting *t = s[j];

			if (!agree(s[i], t))
				continue;
			s[j] = s[size];
			s[size++] = t;
		}
	}
	for (int i = 0; i < size; i++)
		for (int j = 0; j < i; j++)
			if (!agree(s[i], s[j]) || !one_packet(s[i], s[j]))
				*clear = false;
	return size;
}

static int settle_key(struct matcher *m, struct key *k, match_fn fn, void *arg)
{
	struct sighting *list[MAX_SIGHTINGS + 1], **s = list;
	int n = 0, ret = 0;

	k->fresh = false;
	for (uint32_t i = k->first; i; i = m->sighting[i - 1].next)
		list[n++] = &m->sighting[i - 1];
	for (int i = 0; i < n; i++) {
		if (list[i]->state == AMBIGUOUS) {
			list[i]->state = 0;
			m->ambiguous--;
		}
	}
	if (n > MAX_SIGHTINGS) {
		for (int i = 0; i < n; i++)
			if (!list[i]->state)
				mark(m, &list[i], 1, AMBIGUOUS);
		return 0;
	}
	while (n && !ret) {
		bool clear, used = false;
		int size = collect(s, n, &clear);

		for (int i = 0; i < size; i++)
			used |= s[i]->state == USED;
		/* What was found once stays, and nothing is added to it. */
		if (!used && !clear)
			mark(m, s, size, AMBIGUOUS);
		else if (!used)
			ret = emit(m, s, size, fn, arg);
		s += size;
		n -= size;
	}
	return ret;
}

int matcher_settle(struct matcher *m, match_fn fn, void *arg)
{
	int ret = 0;

	for (size_t i = 0; i < m->keys && !ret; i++)
		if (m->key[i].fresh)
			ret = settle_key(m, &m->key[i], fn, arg);
	return ret;
}
