// SPDX-License-Identifier: LGPL-2.1-or-later
/* Shortest paths by E. W. Dijkstra, "A note on two problems ...", 1959. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reduce/graph.h"

uint32_t graph_other(const struct graph *g, uint32_t pair, uint32_t host)
{
	const uint32_t *h = g->est[pair].pair->host;

	return h[0] == host ? h[1] : h[0];
}

static void set_edges(struct graph *g)
{
	for (uint32_t i = 0; i < g->num_pairs; i++) {
		g->start[g->est[i].pair->host[0] + 1]++;
		g->start[g->est[i].pair->host[1] + 1]++;
	}
	for (uint32_t h = 0; h < g->num_hosts; h++)
		g->start[h + 1] += g->start[h];
	/* Filling moves each start to its end, which is the start of the next host. */
	for (uint32_t i = 0; i < g->num_pairs; i++) {
		g->edge[g->start[g->est[i].pair->host[0]]++] = i;
		g->edge[g->start[g->est[i].pair->host[1]]++] = i;
	}
	memmove(g->start + 1, g->start, g->num_hosts * sizeof(*g->start));
	g->start[0] = 0;
}

int graph_make(struct graph *g, const struct estimate *est, uint32_t num_hosts, uint32_t num_pairs)
{
	*g = (struct graph){
		.est = est,
		.num_hosts = num_hosts,
		.num_pairs = num_pairs,
		.start = calloc(num_hosts + 2, sizeof(*g->start)),
		.edge = calloc(2 * (size_t)num_pairs + 1, sizeof(*g->edge)),
		/* A pair can be pushed from both of its hosts. */
		.heap = calloc(2 * (size_t)num_pairs + 1, sizeof(*g->heap)),
	};
	if (!g->start || !g->edge || !g->heap)
		return -ENOMEM;
	set_edges(g);
	return 0;
}

void graph_release(struct graph *g)
{
	free(g->start);
	free(g->edge);
	free(g->heap);
}

uint32_t graph_islands(const struct graph *g, uint32_t *island, uint32_t *todo)
{
	uint32_t best = 0, most = 0;

	for (uint32_t h = 0; h < g->num_hosts; h++)
		island[h] = UINT32_MAX;
	for (uint32_t h = 0; h < g->num_hosts; h++) {
		uint32_t n = 0, done = 0;

		if (island[h] != UINT32_MAX)
			continue;
		island[h] = h;
		todo[n++] = h;
		while (done < n) {
			uint32_t at = todo[done++];

			for (uint32_t i = g->start[at]; i < g->start[at + 1]; i++) {
				uint32_t to = graph_other(g, g->edge[i], at);

				if (island[to] != UINT32_MAX)
					continue;
				island[to] = h;
				todo[n++] = to;
			}
		}
		if (n > most) {
			most = n;
			best = h;
		}
	}
	return best;
}

static void heap_push(struct heap_entry *heap, size_t *n, double dist, uint32_t host)
{
	size_t i = (*n)++;

	while (i && heap[(i - 1) / 2].dist > dist) {
		heap[i] = heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap[i] = (struct heap_entry){ dist, host };
}

static struct heap_entry heap_pop(struct heap_entry *heap, size_t *n)
{
	struct heap_entry top = heap[0], last = heap[--*n];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < *n) {
		if (child + 1 < *n && heap[child + 1].dist < heap[child].dist)
			child++;
		if (last.dist <= heap[child].dist)
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = last;
	return top;
}

int tree_make(struct tree *t, const struct graph *g)
{
	size_t n = (size_t)g->num_hosts + 1;

	*t = (struct tree){ .dist = calloc(n, sizeof(*t->dist)),
			    .via = calloc(n, sizeof(*t->via)),
			    .order = calloc(n, sizeof(*t->order)) };
	return t->dist && t->via && t->order ? 0 : -ENOMEM;
}

void tree_release(struct tree *t)
{
	free(t->dist);
	free(t->via);
	free(t->order);
}

double tree_grow(struct tree *t, const struct graph *g, const double *cost, uint32_t from)
{
	size_t n = 0;
	double total = 0;

	for (uint32_t h = 0; h < g->num_hosts; h++)
		t->dist[h] = HUGE_VAL;
	t->num = 0;
	t->dist[from] = 0;
	heap_push(g->heap, &n, 0, from);
	while (n) {
		struct heap_entry at = heap_pop(g->heap, &n);

		if (at.dist > t->dist[at.host])
			continue; /* reached on a shorter path before */
		total += at.dist;
		t->order[t->num++] = at.host;
		for (uint32_t i = g->start[at.host]; i < g->start[at.host + 1]; i++) {
			uint32_t to = graph_other(g, g->edge[i], at.host);
			double d = at.dist + cost[g->edge[i]];

			if (d >= t->dist[to])
				continue;
			t->dist[to] = d;
			t->via[to] = g->edge[i];
			heap_push(g->heap, &n, d, to);
		}
	}
	return total;
}
