// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The kept messages of each pair, which are the corners of its bins. Each corner of a bin stands
 * for an equal share of the bin's messages.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "infer/internal.h"
#include "util/number.h"

double infer_convert_to_seconds(const struct inference *n, const struct correction *c, int64_t t)
{
	int64_t common;
	const double rest = correction_at(c, t, &common);

	return ((double)(common - n->origin) + rest) / SECOND;
}

double infer_convert_to_own_time(const struct inference *n, const struct correction *c, double t)
{
	return (t - infer_convert_to_seconds(n, c, c->from)) * SECOND / (1 + c->skew);
}

/* Keep the messages of a bin, except messages with an impossible time. */
static void keep_bin_messages(struct inference *n, struct infer_link *l, int way,
			      const struct bin *b)
{
	struct link_direction *d = &l->direction[way];
	const int64_t raised = l->pair->direction[way].raised;
	const struct correction *c[2] = { n->task->host[l->host[0]].correction,
					  n->task->host[l->host[1]].correction };

	for (uint32_t i = 0; i < b->corners; i++) {
		const struct point *p = &b->corner[i];
		struct kept_message *k = &d->message[d->num];
		int64_t common[2];
		double rest;

		if (correction_excludes(c, way, p, raised))
			continue;
		rest = -correction_at(c[0], p->x, &common[0]);
		k->t[0] = ((double)(common[0] - n->origin) - rest) / SECOND;
		rest += correction_at(c[1], p->x + (way ? raised - p->y : p->y - raised),
				      &common[1]);
		rest += (double)(common[1] - common[0]);
		k->t[1] = k->t[0] + rest / SECOND;
		k->y = (way ? -rest : rest) + (double)raised;
		k->share = (double)b->messages / b->corners;
		d->num++;
	}
}

static int keep_link_messages(struct inference *n, struct infer_link *l)
{
	for (int way = 0; way < 2; way++) {
		const struct direction *from = &l->pair->direction[way];
		const struct envelope *e = &from->envelope;
		struct link_direction *d = &l->direction[way];

		d->message = malloc((e->corners + 1) * sizeof(*d->message));
		if (!d->message)
			return -ENOMEM;
		for (size_t i = 0; i < e->num; i++)
			keep_bin_messages(n, l, way, &e->bin[i]);
		/* @raised is the resolution minus 1 ns. */
		l->resolution = fmax(l->resolution, (double)from->raised);
	}
	return 0;
}

int infer_gather_messages(struct inference *n)
{
	const struct infer_task *t = n->task;
	int ret = 0;

	n->link = calloc(t->num_pairs + 1, sizeof(*n->link));
	if (!n->link)
		return -ENOMEM;
	for (size_t i = 0; !ret && i < t->num_pairs; i++) {
		struct infer_link *l = &n->link[n->num_links++];

		l->pair = t->pair[i].pair;
		for (int k = 0; k < 2; k++)
			l->host[k] = t->pair[i].host[k];
		ret = keep_link_messages(n, l);
	}
	return ret;
}

void infer_release_links(struct inference *n)
{
	for (size_t i = 0; n->link && i < n->num_links; i++) {
		for (int way = 0; way < 2; way++) {
			free(n->link[i].direction[way].message);
			free(n->link[i].direction[way].factor);
		}
	}
	free(n->link);
	n->link = NULL;
}
