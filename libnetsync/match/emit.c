// SPDX-License-Identifier: LGPL-2.1-or-later
/* Store the results of matching: states of records, clock offsets, and messages. */
#include <errno.h>
#include <string.h>

#include "match/internal.h"
#include "util/array.h"

bool match_is_ready(const struct shard *m, const struct packet_record *s)
{
	const int64_t decide = m->peers->host[s->host].decide;

	return m->unclear || decide == INT64_MIN || s->time - PEER_LIFETIME < decide;
}

void match_mark_ambiguous(struct shard *m, struct packet_record *s)
{
	if (!(s->state & RECORD_MATCHED))
		s->state |= m->unclear ? RECORD_AMBIGUOUS_YET : RECORD_AMBIGUOUS;
}

/*
 * Mark a record as matched. Return false if it was marked before, or if it belongs to another
 * shard.
 */
static bool mark_record_matched(struct shard *m, struct packet_record *s, uint32_t peer, bool nat)
{
	const bool first = !(s->state & (RECORD_MATCHED | RECORD_COPY));

	s->state |= RECORD_MATCHED | (nat ? RECORD_TRANSLATED : 0);
	s->peer = peer;
	if (first)
		shard_count_state(&m->past, s->state);
	return first;
}

int match_mark_matched(struct shard *m, struct packet_record *s, uint32_t peer, bool nat)
{
	const struct match_outcome o = {
		.from = s->host,
		.to = peer,
		.kind = OUTCOME_COUNTED,
		.detail = RECORD_MATCHED | (nat ? RECORD_TRANSLATED : 0),
	};

	if (!mark_record_matched(m, s, peer, nat) || peer == s->host)
		return 0;
	return outcome_add(m->outcomes, &o);
}

int match_add_passage(struct shard *m, uint32_t host, uint8_t dir, int64_t ns)
{
	const struct match_outcome o = {
		.from = host,
		.send = ns,
		.kind = OUTCOME_PASSED,
		.detail = dir,
	};

	return outcome_add(m->outcomes, &o);
}

static int add_match_outcome(struct shard *m, const struct packet_record *from,
			     const struct packet_record *to, enum outcome_kind kind,
			     uint32_t matched)
{
	const struct match_outcome o = {
		.from = from->host,
		.to = to->host,
		.send = from->time,
		.recv = to->time,
		.kind = kind,
		.detail = matched,
	};

	return outcome_add(m->outcomes, &o);
}

int match_add_learned(struct shard *m, const struct packet_record *from,
		      const struct packet_record *to)
{
	return add_match_outcome(m, from, to, OUTCOME_LEARNED, 0);
}

static void set_message_addresses(const struct shard *m, const struct packet_record *s,
				  struct netsync_message *msg)
{
	const struct addresses *a = ring_addresses(&m->ring, s);
	static const struct addresses unknown;

	/* The record may have been added before addresses were requested. */
	if (!a || !memcmp(a, &unknown, sizeof(unknown))) {
		msg->fields &= ~(uint32_t)NETSYNC_HAS_ADDRS;
		return;
	}
	memcpy(msg->saddr, a->source, sizeof(msg->saddr));
	memcpy(msg->daddr, a->destination, sizeof(msg->daddr));
}

static int append_watched_message(struct shard *m, const struct packet_record *from,
				  const struct packet_record *to)
{
	struct netsync_message *msg;

	if (array_grow(&m->matched, &m->matched_room, m->num_matched, sizeof(*msg)))
		return -ENOMEM;
	msg = &m->matched[m->num_matched++];
	*msg = (struct netsync_message){
		.size = sizeof(*msg),
		.from = from->host,
		.to = to->host,
		.fields = from->fields & (NETSYNC_HAS_ADDRS | NETSYNC_HAS_PORTS | NETSYNC_HAS_LEN),
		.send_ns = from->time,
		.recv_ns = to->time,
		.sport = from->sport,
		.dport = from->dport,
		.len = from->len,
		.protocol = from->protocol,
	};
	set_message_addresses(m, from, msg);
	return 0;
}

static int emit_message_outcome(struct shard *m, const struct packet_record *from,
				const struct packet_record *to, uint32_t matched)
{
	const int ret = add_match_outcome(m, from, to, OUTCOME_MESSAGE, matched);

	return ret || !m->ring.keep_addresses ? ret : append_watched_message(m, from, to);
}

int match_emit_message(struct shard *m, const struct packet_record *from,
		       const struct packet_record *to)
{
	return emit_message_outcome(m, from, to, 0);
}

int match_emit_both(struct shard *m, struct packet_record *from, struct packet_record *to)
{
	const bool first = mark_record_matched(m, from, to->host, false);
	const bool second = mark_record_matched(m, to, from->host, false);

	from->state |= RECORD_EMITTED;
	to->state |= RECORD_EMITTED;
	return emit_message_outcome(m, from, to, (uint32_t)first + second);
}
