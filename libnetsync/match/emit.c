// SPDX-License-Identifier: LGPL-2.1-or-later
/* Outcomes of matching: states of records, offsets of clocks, and messages. */
#include "match/internal.h"

bool match_is_ready(const struct matcher *m, const struct packet_record *s)
{
	const int64_t decide = m->peers.host[s->host].decide;

	return m->unclear || decide == INT64_MIN ||
	       s->time - PEER_LIFETIME < decide;
}

void match_mark_ambiguous(struct matcher *m, struct packet_record *s)
{
	if (!(s->state & RECORD_MATCHED))
		s->state |= m->unclear ? RECORD_AMBIGUOUS_YET
				       : RECORD_AMBIGUOUS;
}

void match_mark_matched(struct packet_record *s, uint32_t peer, bool nat)
{
	s->state |= RECORD_MATCHED;
	s->peer = peer;
	if (nat)
		s->state |= RECORD_TRANSLATED;
}

int match_learn(struct matcher *m, const struct packet_record *from,
		const struct packet_record *to)
{
	return peers_message(&m->peers, from->host, to->host, from->time,
			     to->time);
}

int match_emit(struct matcher *m, const struct packet_record *from,
	       const struct packet_record *to)
{
	int ret = match_learn(m, from, to);

	if (ret)
		return ret;
	return m->found(m->arg, from, to);
}
