// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The grid of knots and factors. The time of each host is divided into cells with one knot each.
 * A factor consists of the kept messages of one direction that share a cell on both hosts.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/internal.h"
#include "util/search.h"

/*
 * Number of messages that a cell of a host with one link should have. It grows with the square
 * root of the number of links, because with more neighbours, each neighbour may have fewer
 * messages in the cell. Chosen.
 */
#define CELL_MESSAGES 16.0
/*
 * Target number of cells of a host with few messages, and minimum number of messages in a cell.
 * Chosen.
 */
#define FEW_CELLS 64.0
#define LEAST_MESSAGES 1.0
/*
 * Maximum number of cells of a host. MOST_CELLS is divided by the number of links plus one, to
 * limit the cost of a round; LEAST_CELLS is the number that every host may have. Chosen by make
 * bench-truth.
 */
#define MOST_CELLS 8192.0
#define LEAST_CELLS 128.0
/* Maximum length of a cell, in mean lengths of a cell. Chosen. */
#define LONGEST 4.0
/* Minimum length between two knots, s, so that no length is 0. */
#define LEAST_LENGTH 1e-7
/*
 * A cell is halved if an adjacent frequency increment deflects the phase by more than this
 * fraction of its standard deviation at the middle of the cell. Chosen.
 */
#define SEEN_BEND 0.3
/*
 * Factor by which the variance at the new knots of a halved cell grows, because their sites are
 * replaced. Chosen.
 */
#define WIDER 4.0

/* The time of a message on a host, and the number of messages that it stands for. */
struct timed_share {
	double t;
	double share;
};

static int compare_shares(const void *a, const void *b)
{
	const struct timed_share *p = a, *q = b;

	return (p->t > q->t) - (p->t < q->t);
}

/*
 * List all messages of a host in order of time, and set *@num to their number. The caller frees
 * the list. Return NULL if out of memory.
 */
static struct timed_share *list_host_messages(const struct inference *n, size_t host, size_t *num,
					      size_t *links)
{
	struct timed_share *s;

	*num = *links = 0;
	for (size_t i = 0; i < n->num_links; i++)
		for (int way = 0; way < 2; way++)
			if (n->link[i].host[0] == host || n->link[i].host[1] == host)
				*num += n->link[i].direction[way].num;
	s = malloc((*num + 1) * sizeof(*s));
	*num = 0;
	for (size_t i = 0; s && i < n->num_links; i++) {
		const struct infer_link *l = &n->link[i];
		const int end = l->host[1] == host;

		if (l->host[end] != host)
			continue;
		++*links;
		for (int way = 0; way < 2; way++)
			for (size_t k = 0; k < l->direction[way].num; k++)
				s[(*num)++] = (struct timed_share){
					l->direction[way].message[k].t[end],
					l->direction[way].message[k].share
				};
	}
	if (s)
		qsort(s, *num, sizeof(*s), compare_shares);
	return s;
}

static void set_cell_lengths(struct chain *c)
{
	for (size_t i = 1; i < c->num; i++)
		c->knot[i].length = fmax(c->knot[i].t - c->knot[i - 1].t, LEAST_LENGTH);
}

/* Return the number of messages that a cell should have. */
static double count_cell_messages(double all, size_t links)
{
	const double cells = fmax(MOST_CELLS / (double)(links + 1), LEAST_CELLS);
	const double usual = CELL_MESSAGES * sqrt((double)links);

	return fmax(all / cells,
		    all / FEW_CELLS < usual ? fmax(all / FEW_CELLS, LEAST_MESSAGES) : usual);
}

static int divide_span(const struct inference *n, size_t host)
{
	struct chain *c = &n->chain[host];
	size_t num, links;
	struct timed_share *s = list_host_messages(n, host, &num, &links);
	double all = 0, each, longest;

	c->knot = s ? calloc(num + 1, sizeof(*c->knot)) : NULL;
	if (!c->knot) {
		free(s);
		return -ENOMEM;
	}
	for (size_t i = 0; i < num; i++)
		all += s[i].share;
	each = count_cell_messages(all, links);
	longest = num ? LONGEST * (s[num - 1].t - s[0].t) / fmax(all / each, 1) : 0;
	for (size_t i = 0; i < num;) {
		const double end = n->first ? tree_curves_find_next_step(n, host, s[i].t) :
					      HUGE_VAL;
		const size_t from = i;
		double in = 0;

		while (i < num && in < each && s[i].t - s[from].t <= longest && s[i].t < end)
			in += s[i++].share;
		c->knot[c->num++] = (struct knot){ .t = (s[from].t + s[i - 1].t) / 2,
						   .from = s[from].t,
						   .to = s[i - 1].t };
	}
	set_cell_lengths(c);
	free(s);
	return 0;
}

/* ---- factors ------------------------------------------------------------- */

static int compare_knots(const uint32_t a[2], const uint32_t b[2])
{
	for (int i = 0; i < 2; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

static int compare_cells(const void *a, const void *b)
{
	const struct kept_message *p = a, *q = b;
	const int order = compare_knots(p->knot, q->knot);

	return order ? order : (p->t[0] > q->t[0]) - (p->t[0] < q->t[0]);
}

int factor_compare(const void *a, const void *b)
{
	const struct factor *p = a, *q = b;

	return compare_knots(p->knot, q->knot);
}

/*
 * Find the cells of each message on both hosts, and sort the messages of a direction by these
 * cells.
 */
static void sort_messages(const struct inference *n, const struct infer_link *l,
			  struct link_direction *d)
{
	bool sorted = true;

	for (size_t i = 0; i < d->num; i++) {
		struct kept_message *k = &d->message[i];

		for (int e = 0; e < 2; e++) {
			const struct chain *c = &n->chain[l->host[e]];

			k->knot[e] = (uint32_t)(c->num ?
							LAST_UNTIL(c->knot, c->num, from, k->t[e]) :
							0);
		}
		sorted = sorted && (!i || compare_cells(k - 1, k) <= 0);
	}
	if (!sorted)
		qsort(d->message, d->num, sizeof(*d->message), compare_cells);
}

/*
 * Create factors from sorted messages. Return 0 or -ENOMEM. The caller must save the previous
 * factors.
 */
static int make_factors(struct link_direction *d)
{
	size_t num = 0;

	for (size_t i = 0; i < d->num; i++)
		num += !i || memcmp(d->message[i].knot, d->message[i - 1].knot,
				    sizeof(d->message[i].knot));
	d->factor = calloc(num + 1, sizeof(*d->factor));
	d->num_factors = 0;
	if (!d->factor)
		return -ENOMEM;
	for (size_t i = 0; i < d->num;) {
		struct factor *f = &d->factor[d->num_factors++];

		f->from = (uint32_t)i;
		memcpy(f->knot, d->message[i].knot, sizeof(f->knot));
		while (i < d->num && !memcmp(d->message[i].knot, f->knot, sizeof(f->knot)))
			i++;
		f->to = (uint32_t)i;
	}
	return 0;
}

int grid_begin(struct inference *n)
{
	int ret = 0;

	for (size_t h = 0; !ret && h < n->task->num; h++)
		/* If there are only two hosts, the clock of the first is the common time. */
		if (h || n->task->num > 2)
			ret = divide_span(n, h);
	for (size_t i = 0; !ret && i < n->num_links; i++) {
		for (int way = 0; !ret && way < 2; way++) {
			sort_messages(n, &n->link[i], &n->link[i].direction[way]);
			ret = make_factors(&n->link[i].direction[way]);
		}
	}
	return ret;
}

void grid_release(struct inference *n)
{
	for (size_t h = 0; n->chain && h < n->task->num; h++)
		free(n->chain[h].knot);
	free(n->chain);
	n->chain = NULL;
}

/* ---- observed delays ------------------------------------------------------ */

/* Return the phase at a time in a knot's cell, relative to the phase at the knot. */
static double extrapolate_phase(const struct chain *c, uint32_t knot, double t)
{
	const struct knot *k;
	double d;

	if (!c->num)
		return 0;
	k = &c->knot[knot];
	d = t - k->t;
	return d * (k->state[1] + d * (k->state[2] / 2 + d * k->state[3] / 6));
}

static void add_to_lowest_delays(struct lowest *l, double delay)
{
	size_t i = l->num < LOWEST ? l->num++ : LOWEST;

	for (; i && l->delay[i - 1] > delay; i--)
		if (i < LOWEST)
			l->delay[i] = l->delay[i - 1];
	if (i < LOWEST)
		l->delay[i] = delay;
}

static void recompute_factor_delays(const struct inference *n, const struct infer_link *l, int way,
				    struct factor *f)
{
	const struct link_direction *d = &l->direction[way];
	const struct chain *sender = &n->chain[l->host[way]];
	const struct chain *receiver = &n->chain[l->host[!way]];

	f->lowest = (struct lowest){ 0 };
	for (uint32_t i = f->from; i < f->to; i++) {
		const struct kept_message *k = &d->message[i];

		f->lowest.messages += k->share;
		add_to_lowest_delays(&f->lowest,
				     k->y + extrapolate_phase(receiver, k->knot[!way], k->t[!way]) -
					     extrapolate_phase(sender, k->knot[way], k->t[way]));
	}
}

static int recompute_link_delays(void *inference, size_t i)
{
	struct inference *n = inference;
	struct infer_link *l = &n->link[i];

	for (int way = 0; way < 2; way++)
		for (size_t k = 0; k < l->direction[way].num_factors; k++)
			recompute_factor_delays(n, l, way, &l->direction[way].factor[k]);
	return 0;
}

int grid_recompute_delays(struct inference *n)
{
	return parallel_run(n->task->parallel, n->task->threads, (uint32_t)n->num_links,
			    recompute_link_delays, n);
}

/* ---- refinement ---------------------------------------------------------- */

/*
 * Return the posterior frequency increment before a knot. The next function returns the
 * posterior phase increment.
 */
static double compute_frequency_increment(const struct knot *k)
{
	return k->bend * k->score[STATE_FREQUENCY].gradient;
}

static double compute_phase_increment(const struct knot *k)
{
	return k->jump * k->score[STATE_PHASE].gradient;
}

/* Return the variance of the phase within a cell that adjacent increments cause. */
static double compute_phase_spread(const struct chain *c, size_t knot)
{
	const double most = c->jumps.variance[c->jumps.scales - 1];
	double sum = 0;

	for (size_t i = knot ? knot : 1; i < knot + 2 && i < c->num; i++) {
		const struct knot *k = &c->knot[i];
		const double bend = compute_frequency_increment(k);
		const double jump = compute_phase_increment(k);

		sum += fmin(bend * bend * k->length * k->length / 16, most) +
		       fmin(jump * jump, most);
	}
	return sum;
}

static bool has_significant_increment(const struct knot *k)
{
	const double bend = compute_frequency_increment(k);
	const double jump = compute_phase_increment(k);
	const double deviation = sqrt(k->variance);

	return fabs(bend) * k->length / 8 > SEEN_BEND * deviation ||
	       (k->jump > 0 && fabs(jump) > deviation);
}

/* Return a knot for a part of an old knot's cell, with messages [from, to). */
static struct knot get_grid_part(const struct chain *c, uint32_t old, const struct timed_share *s,
				 size_t from, size_t to)
{
	struct knot k = c->knot[old];
	const double t = (s[from].t + s[to - 1].t) / 2;

	k.old = old;
	k.is_new = true;
	state_shift(k.state, t - k.t);
	k.variance = WIDER * k.variance + compute_phase_spread(c, old);
	k.t = t;
	k.from = s[from].t;
	k.to = s[to - 1].t;
	return k;
}

/*
 * Halve a cell with messages [from, to), and append both knots to @knot, of which there are
 * *@num.
 */
static void halve_cell(const struct chain *c, uint32_t old, const struct timed_share *s,
		       size_t from, size_t to, struct knot *knot, size_t *num)
{
	const size_t middle = from + (to - from) / 2;
	struct knot *k = &knot[*num];

	k[0] = get_grid_part(c, old, s, from, middle);
	k[1] = get_grid_part(c, old, s, middle, to);
	/*
	 * A frequency increment may be anywhere in the cell, so the new interval gets the larger
	 * variance.
	 */
	if (old + 1 < c->num)
		k[1].bend = fmax(k[0].bend, c->knot[old + 1].bend);
	k[1].jump = 0;
	*num += 2;
}

/* Refine a chain, and add the number of halved cells to *@halved. Return 0 or -ENOMEM. */
static int refine_chain(const struct inference *n, size_t host, size_t *halved)
{
	struct chain *c = &n->chain[host];
	size_t num, links, out = 0, at = 0, count = 0;
	struct timed_share *s = list_host_messages(n, host, &num, &links);
	struct knot *knot = malloc((2 * c->num + 1) * sizeof(*knot));

	for (size_t i = 0; s && knot && i < c->num; i++) {
		const bool split = (i && has_significant_increment(&c->knot[i])) ||
				   (i + 1 < c->num && has_significant_increment(&c->knot[i + 1]));
		size_t to = at;

		while (to < num && (i + 1 == c->num || s[to].t < c->knot[i + 1].from))
			to++;
		/* Messages with the same time stay together. */
		if (split && to > at + 1 && s[at + (to - at) / 2].t > s[at].t) {
			halve_cell(c, (uint32_t)i, s, at, to, knot, &out);
			count++;
		} else {
			knot[out] = c->knot[i];
			knot[out].old = (uint32_t)i;
			knot[out++].is_new = false;
		}
		at = to;
	}
	free(s);
	if (!s || !knot) {
		free(knot);
		return -ENOMEM;
	}
	free(c->knot);
	c->knot = knot;
	c->num = out;
	set_cell_lengths(c);
	*halved += count;
	return 0;
}

/*
 * Set the site of a factor of the new grid. Keep the old site, or make a new one if a cell was
 * halved.
 */
static void set_factor_site(const struct inference *n, const struct infer_link *l, int way,
			    struct factor *f, const struct factor *old, size_t num_old)
{
	const struct factor *same;
	struct factor key = *f;
	bool is_new = false;

	for (int e = 0; e < 2; e++) {
		const struct chain *c = &n->chain[l->host[e]];

		if (!c->num)
			continue;
		key.knot[e] = c->knot[f->knot[e]].old;
		is_new = is_new || c->knot[f->knot[e]].is_new;
	}
	same = is_new ? NULL : bsearch(&key, old, num_old, sizeof(*old), factor_compare);
	if (same)
		memcpy(f->site, same->site, sizeof(f->site));
	else
		factor_begin(n, l, way, f);
}

static int refine_link(void *inference, size_t i)
{
	struct inference *n = inference;
	struct infer_link *l = &n->link[i];
	int ret = 0;

	for (int way = 0; !ret && way < 2; way++) {
		struct link_direction *d = &l->direction[way];
		struct factor *old = d->factor;
		const size_t num_old = d->num_factors;

		sort_messages(n, l, d);
		ret = make_factors(d);
		for (size_t k = 0; !ret && k < d->num_factors; k++) {
			recompute_factor_delays(n, l, way, &d->factor[k]);
			set_factor_site(n, l, way, &d->factor[k], old, num_old);
		}
		free(old);
	}
	return ret;
}

int grid_refine(struct inference *n, size_t *num)
{
	int ret = 0;

	*num = 0;
	for (size_t h = 0; !ret && h < n->task->num; h++)
		if (n->chain[h].num)
			ret = refine_chain(n, h, num);
	if (!ret && *num)
		ret = parallel_run(n->task->parallel, n->task->threads, (uint32_t)n->num_links,
				   refine_link, n);
	return ret;
}
