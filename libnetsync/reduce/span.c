// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "reduce/span.h"

/* One message in this many may be false at either end. Chosen. */
#define FEW 200
/* A message within this time of others is plausible, ns. Chosen. */
#define NEAR INT64_C(1000000000)
/* Longest plausible delay, ns. Chosen. */
#define LONGEST 1e9

/* A bin of messages at one of its hosts. */
struct host_bin {
	uint32_t host;
	int64_t t;
	uint64_t messages;
	const struct envelope *envelope;
	const struct bin *bin;
};

static int compare_bins_by_host_and_time(const void *a, const void *b)
{
	const struct host_bin *p = a, *q = b;

	if (p->host != q->host)
		return p->host < q->host ? -1 : 1;
	return (p->t > q->t) - (p->t < q->t);
}

/*
 * Can clocks whose rates differ by at most @slope show the bin's y, given the y in the middle of
 * all messages? With a false timestamp, y is off by the timestamp's error.
 */
static bool bin_is_possible(const struct host_bin *s, double slope)
{
	const struct envelope *e = s->envelope;
	size_t middle = e->num / 2;
	double dx = (double)(bin_time(s->bin) - bin_time(&e->bin[middle]));
	double dy = (double)(s->bin->corner[0].y - envelope_compute_usual_y(e, middle));

	return fabs(dy) <= 2 * slope * fabs(dx) + LONGEST;
}

static bool bin_belongs_to_span(const struct host_bin *s, const struct range *span, double slope)
{
	int64_t near = max64(span->hi - span->lo, NEAR);

	return (s->t >= span->lo - near && s->t <= span->hi + near) || bin_is_possible(s, slope);
}

/* Return the trusted span: begin with that of most messages, and extend it outward. */
static struct range trusted_span(const struct host_bin *s, size_t n, double slope)
{
	uint64_t all = 0, few, sum = 0;
	size_t lo = 0, hi = n - 1;
	int64_t width = 0;
	struct range span;

	for (size_t i = 0; i < n; i++) {
		all += s[i].messages;
		width = max64(width, INT64_C(1) << s[i].envelope->shift);
	}
	few = all / FEW;
	for (; lo < hi && (sum += s[lo].messages) <= few; lo++)
		;
	for (sum = 0; hi > lo && (sum += s[hi].messages) <= few; hi--)
		;
	span = (struct range){ s[lo].t, s[hi].t };
	while (lo-- > 0)
		if (bin_belongs_to_span(&s[lo], &span, slope))
			span.lo = s[lo].t;
	while (++hi < n)
		if (bin_belongs_to_span(&s[hi], &span, slope))
			span.hi = s[hi].t;
	/* Bins were represented by their mean times. */
	return (struct range){ span.lo - width, span.hi + width };
}

/*
 * Set the span to all packets and messages, unless these are far from the trusted ones and from the
 * times at which the clock was read.
 */
static void set_span_of_host(struct host *h, const struct range *messages)
{
	const int64_t near = max64(messages->hi - messages->lo, NEAR);
	int64_t lo = messages->lo - near, hi = messages->hi + near;

	if (h->raw) {
		lo = min64(lo, h->read.lo);
		hi = max64(hi, h->read.hi);
	}
	h->span.lo = min64(h->said.lo, h->first >= lo ? h->first : messages->lo);
	h->span.hi = max64(h->said.hi, h->last <= hi ? h->last : messages->hi);
	/* Messages saved by another program may have times unlike those of the packets. */
	if (h->span.hi < h->span.lo)
		h->span = *messages;
}

static size_t gather_host_bins(struct host_bin *to, const struct pair *p)
{
	size_t n = 0;

	for (int way = 0; way < 2; way++) {
		const struct envelope *e = &p->direction[way].envelope;

		for (size_t i = 0; i < e->num; i++) {
			int64_t y = envelope_compute_usual_y(e, i);
			struct host_bin s = {
				.host = p->host[0],
				.t = bin_time(&e->bin[i]),
				.messages = e->bin[i].messages,
				.envelope = e,
				.bin = &e->bin[i],
			};

			to[n++] = s;
			s.host = p->host[1];
			s.t += way ? -y : y;
			to[n++] = s;
		}
	}
	return n;
}

int spans_set(struct host *host, uint32_t num_hosts, struct pair **pair, size_t num_pairs,
	      double slope)
{
	size_t room = 1, num = 0;
	struct host_bin *seen;

	for (size_t i = 0; i < num_pairs; i++)
		room += 2 *
			(pair[i]->direction[0].envelope.num + pair[i]->direction[1].envelope.num);
	seen = malloc(room * sizeof(*seen));
	if (!seen)
		return -ENOMEM;
	for (size_t i = 0; i < num_pairs; i++)
		num += gather_host_bins(seen + num, pair[i]);
	qsort(seen, num, sizeof(*seen), compare_bins_by_host_and_time);
	for (uint32_t h = 0; h < num_hosts; h++)
		host[h].span = (struct range){ host[h].first, host[h].last };
	for (size_t i = 0, next; i < num; i = next) {
		struct range messages;

		for (next = i + 1; next < num && seen[next].host == seen[i].host; next++)
			;
		messages = trusted_span(seen + i, next - i, slope);
		set_span_of_host(&host[seen[i].host], &messages);
	}
	free(seen);
	return 0;
}
