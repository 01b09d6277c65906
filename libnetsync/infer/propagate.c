// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Expectation propagation (T. Minka, 2001), fully factored. Each factor keeps a normal message
 * to the phases of its sender and receiver and to the minimum delay of its link. The cavities of
 * these three add up to the cavity of z. The tilted moments of z become a normal site, and the
 * site becomes a message to each of the three. Between clocks, this is Gaussian belief
 * propagation. If the smoother estimates the minimum delay together with a clock (joint delay),
 * a factor keeps only the site of z.
 */
#include <math.h>

#include "infer/internal.h"

/*
 * Minimum precision of a cavity, as a fraction of the marginal's precision, because the messages
 * of other factors cannot have a negative precision.
 */
#define LEAST_CAVITY 1e-3
/*
 * If the cavity of a factor with n messages is wider than this many mean excesses / n,
 * the factor uses that width around its lowest message instead. Chosen.
 */
#define FLAT 30.0
/*
 * Minimum variance of z, as a fraction of the phase's variance, because rounding errors could
 * otherwise make it zero or negative.
 */
#define LEAST_PART 1e-12
/*
 * Maximum precision of a site, as a multiple of the precisions of the
 * factor's edge and of its cavity. Chosen.
 */
#define SHARPEST 100.0
/* Maximum move of an end's mean by a message, in standard deviations. Chosen. */
#define MOST_MOVE 1.0
/*
 * Minimum fraction of a move that is applied to a site. Otherwise two inconsistent sites would
 * never change, because together they form the marginal that determines their moves. Chosen.
 */
#define LEAST_DAMPING 0.1

static struct natural get_natural_parameters(struct moments m)
{
	return (struct natural){ 1 / m.variance, m.mean / m.variance };
}

/*
 * Return the cavity: the marginal @m divided by a site. A marginal without variance is known,
 * and stays unchanged.
 */
static struct moments factor_cavity(struct moments m, struct natural site)
{
	double precision;

	if (!(m.variance > 0))
		return m;
	precision = 1 / m.variance - site.precision;
	if (!(precision > LEAST_CAVITY / m.variance))
		precision = LEAST_CAVITY / m.variance;
	return (struct moments){ (m.mean / m.variance - site.weighted) / precision, 1 / precision };
}

/*
 * Return the precision of a site that peaks at the factor's edge, given the tilted mean. Below
 * its edge, a likelihood is nearly exponential in a narrow cavity, so the precision of its
 * normal approximation vanishes. The site would then claim that z may be far beyond the edge,
 * where the likelihood is zero, and that an increment nearby is large.
 */
static double compute_edge_precision(const struct lowest *l, struct moments cavity,
				     struct moments tilted)
{
	const double pull = (tilted.mean - cavity.mean) / cavity.variance;

	for (size_t i = 0; i < l->num; i++)
		if (l->delay[i] > tilted.mean)
			return fmax(pull / (l->delay[i] - tilted.mean), 0);
	return 0;
}

/* Return the site of z that turns a cavity into the tilted moments. */
static struct natural compute_matching_site(const struct lowest *l, struct moments cavity,
					    struct moments tilted, double edge)
{
	const struct natural c = get_natural_parameters(cavity);
	double precision = 1 / tilted.variance - c.precision;

	/* If messages are inconsistent, the moments may not be finite. */
	if (!isfinite(precision) || !isfinite(tilted.mean) || !isfinite(c.weighted))
		return (struct natural){ 0, 0 };
	precision = fmax(precision, compute_edge_precision(l, cavity, tilted));
	precision = fmin(precision, SHARPEST * (edge * edge + c.precision));
	return (struct natural){ precision, tilted.mean * (c.precision + precision) - c.weighted };
}

struct natural factor_get_end_site(struct natural z, double sign, struct moments others)
{
	const double spread = 1 + z.precision * others.variance;

	return (struct natural){ z.precision / spread,
				 sign * (z.weighted - z.precision * others.mean) / spread };
}

/* Move a site towards another one. Return the square of the whole move, in standard deviations. */
static double factor_damp(struct natural *site, struct natural to, struct moments marginal,
			  double damping)
{
	const double precision = to.precision - site->precision;
	const double weighted = to.weighted - site->weighted;
	const double move = fabs(weighted - precision * marginal.mean) * sqrt(marginal.variance);

	if (damping < 1 && move * damping > MOST_MOVE)
		damping = fmax(MOST_MOVE / move, LEAST_DAMPING);
	site->precision += damping * precision;
	site->weighted += damping * weighted;
	return move * move;
}

/* Get the marginals at the ends of a factor. */
static void get_end_marginals(const struct inference *n, const struct infer_link *l, int way,
			      const struct factor *f, struct moments end[FACTOR_ENDS])
{
	for (int e = 0; e < 2; e++) {
		const struct chain *c = &n->chain[l->host[e ? !way : way]];
		const uint32_t knot = f->knot[e ? !way : way];

		end[e] = (struct moments){ 0, 0 };
		if (c->num)
			end[e] = (struct moments){ c->knot[knot].state[0], c->knot[knot].variance };
	}
	end[TO_LINK] = l->delay;
}

static const double sign[FACTOR_ENDS] = { 1, -1, 1 };

/* Return the moments of z, which is the signed sum of the ends. */
static struct moments sum_end_marginals(const struct moments end[FACTOR_ENDS])
{
	struct moments z = { 0, 0 };

	for (int i = 0; i < FACTOR_ENDS; i++) {
		z.mean += sign[i] * end[i].mean;
		z.variance += end[i].variance;
	}
	return z;
}

static struct moments sum_other_cavities(int to, const struct moments cavity[FACTOR_ENDS])
{
	struct moments others = { 0, 0 };

	for (int i = 0; i < FACTOR_ENDS; i++) {
		if (i == to)
			continue;
		others.mean += sign[i] * cavity[i].mean;
		others.variance += cavity[i].variance;
	}
	return others;
}

/* Return the message to an end, given a site of z and the cavities of the other two ends. */
static struct natural compute_message_to_end(int to, struct natural site,
					     const struct moments cavity[FACTOR_ENDS])
{
	return factor_get_end_site(site, sign[to], sum_other_cavities(to, cavity));
}

/* Return the chain that is estimated together with the link's delay, or NULL if there is none. */
static const struct chain *find_joint_chain(const struct inference *n, const struct infer_link *l)
{
	for (int e = 0; e < 2; e++)
		if (n->chain[l->host[e]].delay)
			return &n->chain[l->host[e]];
	return NULL;
}

/* Return the end at which a chain is, if messages go in direction @way. */
static int find_link_end(const struct inference *n, const struct infer_link *l, int way,
			 const struct chain *c)
{
	return c == &n->chain[l->host[way]] ? TO_SENDER : TO_RECEIVER;
}

struct moments factor_others(const struct inference *n, const struct infer_link *l, int way,
			     const struct factor *f, int to, double *sign_of)
{
	struct moments end[FACTOR_ENDS];

	get_end_marginals(n, l, way, f, end);
	for (int i = 0; i < FACTOR_ENDS; i++)
		end[i] = factor_cavity(end[i], f->site[i]);
	*sign_of = sign[to];
	/* A window examines the clock for a fixed joint delay. */
	if (find_joint_chain(n, l))
		end[TO_LINK] = (struct moments){ l->delay.mean, 0 };
	return sum_other_cavities(to, end);
}

/* Return the marginal of z if the delay is estimated together with the clock @c. */
static struct moments compute_joint_z(const struct inference *n, const struct infer_link *l,
				      int way, const struct factor *f, const struct chain *c)
{
	const int end = find_link_end(n, l, way, c);
	const struct knot *k = &c->knot[f->knot[end == TO_SENDER ? way : !way]];
	const double variance = k->variance + (1 + 2 * sign[end] * k->response) * l->delay.variance;

	return (struct moments){ l->delay.mean + sign[end] * k->state[0],
				 fmax(variance, LEAST_PART * k->variance) };
}

struct natural factor_weigh(const struct lowest *l, const struct delay_law *d, struct moments z,
			    double *evidence)
{
	return compute_matching_site(l, z, delay_weigh_cavity(l, d, z, evidence),
				     l->messages / d->mean);
}

struct natural factor_tilt(const struct lowest *l, struct delay_law *d, struct moments z,
			   bool learn)
{
	return compute_matching_site(l, z, delay_tilt_cavity(l, d, z, learn),
				     l->messages / d->mean);
}

void factor_begin(const struct inference *n, const struct infer_link *l, int way, struct factor *f)
{
	const struct chain *joint = find_joint_chain(n, l);
	struct delay_law law = l->direction[way].law;
	struct moments end[FACTOR_ENDS], z;
	struct natural site;

	if (joint) {
		f->site[TO_LINK] = factor_tilt(&f->lowest, &law,
					       compute_joint_z(n, l, way, f, joint), false);
		return;
	}
	get_end_marginals(n, l, way, f, end);
	z = sum_end_marginals(end);
	site = factor_tilt(&f->lowest, &law, z, false);
	for (int i = 0; i < FACTOR_ENDS; i++)
		f->site[i] = compute_message_to_end(i, site, end);
}

/* Update the messages of a factor. Return the sum of the squared moves. */
static double update_factor(const struct inference *n, const struct infer_link *l, int way,
			    struct factor *f, struct delay_law *law)
{
	const double reach = FLAT * law->mean / f->lowest.messages;
	struct moments end[FACTOR_ENDS], cavity[FACTOR_ENDS], z;
	struct natural site;
	double moved = 0;
	bool flat;

	get_end_marginals(n, l, way, f, end);
	for (int i = 0; i < FACTOR_ENDS; i++)
		cavity[i] = factor_cavity(end[i], f->site[i]);
	z = sum_end_marginals(cavity);
	flat = n->alone || z.variance > reach * reach;
	if (flat)
		z = (struct moments){ f->lowest.delay[0], reach * reach };
	site = factor_tilt(&f->lowest, law, z, n->learn && !flat);
	for (int i = 0; i < FACTOR_ENDS; i++)
		if (end[i].variance > 0 && !(flat && i == TO_LINK))
			moved += factor_damp(&f->site[i], compute_message_to_end(i, site, cavity),
					     end[i], flat ? 1 : n->damping);
	/* If the phases are unknown, the messages contain no information on the minimum delay. */
	if (flat)
		f->site[TO_LINK] = (struct natural){ 0, 0 };
	return moved;
}

/*
 * Find the target of a factor with a joint delay, which is the site of z that it should have.
 * Add to *@pull the change in the information on the delay, relative to its mean, that the
 * target implies.
 */
static void find_joint_target(const struct inference *n, const struct infer_link *l, int way,
			      struct factor *f, struct delay_law *law, const struct chain *c,
			      struct natural *pull)
{
	const double reach = FLAT * law->mean / f->lowest.messages;
	const int end = find_link_end(n, l, way, c);
	const struct knot *k = &c->knot[f->knot[end == TO_SENDER ? way : !way]];
	const struct moments marginal = compute_joint_z(n, l, way, f, c);
	const struct natural site = f->site[TO_LINK];
	struct moments z = factor_cavity(marginal, site);

	f->is_flat = n->alone || z.variance > reach * reach;
	if (f->is_flat)
		z = (struct moments){ f->lowest.delay[0], reach * reach };
	f->target = factor_tilt(&f->lowest, law, z, n->learn && !f->is_flat);
	if (!f->is_flat) {
		const double effect = 1 + sign[end] * k->response;
		const double precision = f->target.precision - site.precision;

		pull->precision += effect * effect * precision;
		pull->weighted += effect *
				  (f->target.weighted - site.weighted - precision * marginal.mean);
	}
}

/*
 * Update all factors of a link with a joint delay. All factors move the delay together. If each
 * factor moved by its own deviation, the delay would move far beyond the edges of some factors,
 * whose messages would then count as wrong.
 */
static void update_joint_link(const struct inference *n, struct infer_link *l,
			      const struct chain *c)
{
	struct natural pull = { 0, 0 };
	double move, damping;

	for (int way = 0; way < 2; way++) {
		struct link_direction *d = &l->direction[way];

		for (size_t k = 0; k < d->num_factors; k++)
			find_joint_target(n, l, way, &d->factor[k], &d->law, c, &pull);
	}
	/* The move of the delay, in standard deviations. */
	move = fabs(pull.weighted) * sqrt(l->delay.variance) /
	       (1 + fmax(pull.precision, 0) * l->delay.variance);
	damping = fmin(n->damping, fmax(MOST_MOVE / move, LEAST_DAMPING));
	for (int way = 0; way < 2; way++) {
		struct link_direction *d = &l->direction[way];

		for (size_t k = 0; k < d->num_factors; k++) {
			struct factor *f = &d->factor[k];

			l->moved += factor_damp(&f->site[TO_LINK], f->target,
						compute_joint_z(n, l, way, f, c),
						f->is_flat ? 1 : damping);
		}
	}
}

static int update_link(void *inference, size_t i)
{
	const struct inference *n = inference;
	struct infer_link *l = &n->link[i];
	const struct chain *joint = find_joint_chain(n, l);

	l->moved = 0;
	l->factors = 0;
	if (joint)
		update_joint_link(n, l, joint);
	for (int way = 0; way < 2; way++) {
		struct link_direction *d = &l->direction[way];

		for (size_t k = 0; !joint && k < d->num_factors; k++)
			l->moved += update_factor(n, l, way, &d->factor[k], &d->law);
		l->factors += d->num_factors;
		if (n->learn)
			delay_law_learn(&d->law, fmax(l->resolution / 10, 1));
	}
	return 0;
}

void natural_add(struct natural *to, struct natural n)
{
	to->precision += n.precision;
	to->weighted += n.weighted;
}

void knot_add_site(struct knot *k, struct natural site, double sign_of)
{
	natural_add(&k->site, site);
	natural_add(&k->opposed,
		    (struct natural){ sign_of * site.precision, sign_of * site.weighted });
}

/* Add the sites of a direction to the knots of its hosts and to the delay of its link. */
static void add_direction_sites(struct inference *n, const struct infer_link *l, int way,
				struct natural *delay)
{
	const struct chain *joint = find_joint_chain(n, l);
	const struct link_direction *d = &l->direction[way];
	struct chain *c[2] = { &n->chain[l->host[way]], &n->chain[l->host[!way]] };

	for (size_t k = 0; k < d->num_factors; k++) {
		struct factor *f = &d->factor[k];
		const uint32_t knot[2] = { f->knot[way], f->knot[!way] };

		for (int e = 0; e < 2; e++) {
			if (!c[e]->num)
				continue;
			/* The smoother takes the uncertainty of a joint delay into account. */
			if (joint)
				f->site[e] = factor_get_end_site(f->site[TO_LINK], sign[e],
								 (struct moments){ l->delay.mean,
										   0 });
			knot_add_site(&c[e]->knot[knot[e]], f->site[e], sign[e]);
		}
		natural_add(delay, f->site[TO_LINK]);
	}
}

void propagate_sum_sites(struct inference *n)
{
	for (size_t h = 0; h < n->task->num; h++)
		for (size_t i = 0; i < n->chain[h].num; i++)
			n->chain[h].knot[i].site = n->chain[h].knot[i].opposed = (struct natural){
				0, 0
			};
	for (size_t i = 0; i < n->num_links; i++) {
		struct infer_link *l = &n->link[i];
		struct natural delay = l->first;

		for (int way = 0; way < 2; way++)
			add_direction_sites(n, l, way, &delay);
		if (!n->alone && !find_joint_chain(n, l))
			l->delay = (struct moments){ delay.weighted / delay.precision,
						     1 / delay.precision };
	}
}

static int compute_link_first_sites(void *inference, size_t i)
{
	const struct inference *n = inference;
	struct infer_link *l = &n->link[i];

	for (int way = 0; way < 2; way++)
		for (size_t k = 0; k < l->direction[way].num_factors; k++)
			factor_begin(n, l, way, &l->direction[way].factor[k]);
	return 0;
}

int propagate_first_messages(struct inference *n)
{
	int ret = parallel_run(n->task->parallel, n->task->threads, (uint32_t)n->num_links,
			       compute_link_first_sites, n);

	propagate_sum_sites(n);
	return ret;
}

int propagate_messages(struct inference *n)
{
	double moved = 0, factors = 0;
	int ret = parallel_run(n->task->parallel, n->task->threads, (uint32_t)n->num_links,
			       update_link, n);

	for (size_t i = 0; i < n->num_links; i++) {
		moved += n->link[i].moved;
		factors += (double)n->link[i].factors;
	}
	n->moved = factors > 0 ? sqrt(moved / factors) : 0;
	propagate_sum_sites(n);
	return ret;
}
