// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * All hosts of the tree, and their pairs -> their corrections by the probabilistic model.
 */
#include <errno.h>
#include <stdlib.h>

#include "infer/infer.h"
#include "reduce/internal.h"

/* The input of inference, and the index of each host in it. */
struct model_fit {
	struct infer_host *host;
	struct infer_pair *pair;
	size_t *place;
	size_t num_pairs;
};

/* List the hosts of the tree, each after its parent. */
static void list_model_hosts(struct reduction *r, struct model_fit *f)
{
	for (uint32_t i = 0; i < r->by_noise.num; i++) {
		const uint32_t h = r->by_noise.order[i];
		struct infer_host *host = &f->host[i];

		reduction_set_straight(r, h);
		r->correction[h].known = true;
		*host = (struct infer_host){ .correction = &r->correction[h], .number = h };
		f->place[h] = i;
		if (!i)
			continue;
		host->via = r->est[r->by_noise.via[h]].pair;
		host->parent = f->place[graph_other(&r->graph, r->by_noise.via[h], h)];
	}
}

/* List the pairs of these hosts; all reachable pairs are in the tree. */
static void list_model_pairs(const struct reduction *r, struct model_fit *f)
{
	for (uint32_t i = 0; i < r->num_pairs; i++) {
		const struct pair *p = r->est[i].pair;

		if (!r->correction[p->host[0]].known || !r->correction[p->host[1]].known)
			continue;
		f->pair[f->num_pairs++] = (struct infer_pair){
			.pair = p,
			.host = { f->place[p->host[0]], f->place[p->host[1]] },
		};
	}
}

int reduction_fit_model(struct reduction *r)
{
	struct model_fit f = {
		.host = calloc((size_t)r->num_hosts + 1, sizeof(*f.host)),
		.pair = calloc((size_t)r->num_pairs + 1, sizeof(*f.pair)),
		.place = calloc((size_t)r->num_hosts + 1, sizeof(*f.place)),
	};
	int ret = -ENOMEM;

	if (f.host && f.pair && f.place) {
		list_model_hosts(r, &f);
		list_model_pairs(r, &f);
		ret = infer_clocks(&(struct infer_task){
			.host = f.host,
			.num = r->by_noise.num,
			.pair = f.pair,
			.num_pairs = f.num_pairs,
			.parallel = r->task->parallel,
			.threads = r->task->threads,
		});
	}
	free(f.host);
	free(f.pair);
	free(f.place);
	return ret;
}
