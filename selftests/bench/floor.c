// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mean of the posterior. A clock, relative to host 0, is a sum of functions of time
 * with normal weights w (prior.h). A pair has one minimum delay for both directions, with
 * an unknown value; it is a weight, too. Delays beyond it are exponential with mean mu.
 * For a message i whose clocks and minimum delay add up to z = phi_i' w, the likelihood
 * is
 *
 *	exp(z / mu) if z <= u_i, else 0	(u_i: the observed delay)
 *
 * The logarithm of the first factor is linear in w, and is summed over all messages. The
 * second factor truncates at a half-space, softly if stamps are rounded. For a normal
 * truncated by several half-spaces, expectation propagation finds the mean (T. Minka,
 * "Expectation propagation for approximate Bayesian inference", UAI 2001; for half-spaces
 * J. Cunningham, P. Hennig, S. Lacoste-Julien, "Gaussian probabilities and expectation
 * propagation", 2011), with all factors in parallel. Only messages near the truth can
 * matter, and only these are used: more of them, until the furthest are FAR_DEVIATIONS
 * away.
 *
 * A message depends on two clocks and one minimum delay. Delays are therefore eliminated
 * pair by pair, and the remaining system has the size of the clocks, regardless of the
 * number of pairs. If pairs have so few messages (FEW) that the minimum delay of one
 * helps to estimate others, all have one common minimum delay, as in the simulation: the
 * last weight.
 *
 * This is a floor for all estimators with a normal prior. Other estimators could be better: for
 * example, more is known about a single sinusoid than its covariance.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "floor.h"
#include "prior.h"

/* Defaults of cluster.c, ns. */
#define LEAST_DELAY 30e3
#define MEAN_DELAY 100e3
#define INSTANTS 500 /* number of instants of each host */
/*
 * Initial number of messages that truncate the distribution. Chosen.
 * More messages are added until the farthest one is at least FAR_DEVIATIONS standard deviations
 * away. Chosen.
 */
#define CUTTING 1000
#define FAR_DEVIATIONS 6
#define SWEEPS 1000    /* maximum passes over all factors; chosen */
#define DAMPED 0.2     /* applied fraction of each change, to avoid oscillation; chosen */
#define CONVERGED 0.01 /* limit for the change of a mean, in standard deviations */
/*
 * If pairs have fewer messages than this on average, all pairs have a common minimum delay. Chosen.
 */
#define FEW 64
/* Number of time intervals in which the messages of a direction are summed. */
#define BINS 2048
/* With a coarser resolution of stamps, rounding would change the distribution of delays. */
#define MOST_RESOLUTION (MEAN_DELAY / 10)

/* A message. All times are in ns. */
struct said {
	double t;
	double excess; /* delay beyond the minimum */
	int from;
	int to;
};

/* A truncation: the observed delay u, and the normal factor that approximates the truncation. */
struct cut {
	double u;
	double tau;
	double nu;
};

/* The sums of the factors of a pair's messages. @b is the pair's second host. */
struct pair_sum {
	double *m;   /* functions x functions: tau f f' */
	double *b;   /* functions: tau s f, s = -1 from b to a */
	double *n;   /* functions: nu s f */
	double d, e; /* sums of tau and nu for the minimum delay */
};

struct pair {
	int a, b;
	struct pair_sum sum;
	/* The posterior of the second clock minus the first clock. */
	double *g;	    /* functions x functions: its covariance */
	double *mean;	    /* functions */
	double *with_delay; /* functions: covariance with the common minimum delay */
	double *slope;	    /* functions: gradient of the linear factors, s f / mu */
	double messages;    /* number of messages over mu */
};

struct oracle {
	const struct cluster *c;
	int first; /* number of the first clock that has its own functions */
	struct prior prior;
	int functions;	/* number of functions of each clock */
	bool one_delay; /* whether all pairs have one minimum delay, which is the last weight */
	int dim;	/* number of all weights */
	double *a;	/* dim x dim: the precision, which is later replaced by its inverse */
	double *mean;	/* dim */
	double *room;	/* dim */
	struct pair *pair;
	int *pair_of; /* hosts x hosts: index of the pair at [lower number][higher number], or -1 */
	int num_pairs;
	double *of_pairs;  /* one allocation for the numbers of all pairs */
	struct said *said; /* messages, sorted by excess */
	long num;
	struct cut *cut;
	long cuts;
	double blur;	  /* variance of the rounding of stamps, ns^2 */
	double deviation; /* largest standard deviation of a truncated z, ns */
};

bool floor_can_be_computed(const struct cluster_spec *s)
{
	unsigned int known = BEND | QUARTZ | WALK | STEADY_FIRST;

	return !(s->clocks & ~known) && !s->min_delay_ns[0] && !s->min_delay_ns[1] &&
	       !s->mean_delay_ns[0] && !s->mean_delay_ns[1] && !s->late && !s->wrong && !s->near &&
	       !s->repeated && !s->processors_ns && s->resolution_ns <= MOST_RESOLUTION;
}

/* ---- the messages ------------------------------------------------------- */

/* Return the offset of a clock from host 0, without the unknown straight line. */
static double compute_offset_from_host_0(const struct cluster *c, int host, double t)
{
	double a, b;

	if (!host)
		return 0;
	a = cluster_compute_offset(c, host, 0, 0);
	b = cluster_compute_offset(c, host, 0, c->span_ns);
	return cluster_compute_offset(c, host, 0, t) - a - (b - a) * (t / c->span_ns);
}

/*
 * Return the true time of a reading, by Newton's method, which converges because rates are
 * about 1.
 */
static double compute_true_time(const struct cluster *c, int host, int64_t shown)
{
	double t = (double)(shown - cluster_read_clock(c, host, 0));

	for (int i = 0; i < 4; i++)
		t += (double)(shown - cluster_read_clock(c, host, t));
	return t;
}

static int compare_messages_by_excess(const void *a, const void *b)
{
	const struct said *p = a, *q = b;

	return (p->excess > q->excess) - (p->excess < q->excess);
}

static bool set_oracle_messages(struct oracle *o)
{
	const struct cluster *c = o->c;

	o->said = malloc((size_t)c->num * sizeof(*o->said));
	for (long i = 0; o->said && i < c->num; i++) {
		const struct cluster_message *m = &c->msg[i];
		double sent = compute_true_time(c, (int)m->from, m->send_ns);
		double received = compute_true_time(c, (int)m->to, m->recv_ns);

		/* Add 1 ns, because both stamps were rounded down. */
		o->said[i] = (struct said){ sent, received - sent - LEAST_DELAY + 1, (int)m->from,
					    (int)m->to };
	}
	o->num = o->said ? c->num : 0;
	return o->said;
}

/* Return the pair of a message. Set @sign to the sign of the second clock in this message. */
static struct pair *find_oracle_pair(const struct oracle *o, const struct said *s, double *sign)
{
	const int low = s->from < s->to ? s->from : s->to;
	const int high = s->from < s->to ? s->to : s->from;

	*sign = s->to == high ? 1 : -1;
	return &o->pair[o->pair_of[low * o->c->spec.hosts + high]];
}

static bool set_oracle_pairs(struct oracle *o)
{
	const int hosts = o->c->spec.hosts, n = o->functions;
	const size_t each = 2 * (size_t)n * (size_t)n + 5 * (size_t)n;
	double *at;

	o->pair_of = malloc((size_t)hosts * (size_t)hosts * sizeof(*o->pair_of));
	for (int i = 0; o->pair_of && i < hosts * hosts; i++)
		o->pair_of[i] = -1;
	for (long i = 0; o->pair_of && i < o->num; i++) {
		const struct said *s = &o->said[i];
		int *place = &o->pair_of[s->from < s->to ? s->from * hosts + s->to :
							   s->to * hosts + s->from];

		if (*place < 0)
			*place = o->num_pairs++;
	}
	o->pair = calloc((size_t)o->num_pairs, sizeof(*o->pair));
	o->of_pairs = calloc((size_t)o->num_pairs * each, sizeof(*o->of_pairs));
	if (!o->pair_of || !o->pair || !o->of_pairs)
		return false;
	at = o->of_pairs;
	for (int i = 0; i < hosts * hosts; i++) {
		struct pair *p = o->pair + o->pair_of[i];

		if (o->pair_of[i] < 0)
			continue;
		*p = (struct pair){ .a = i / hosts, .b = i % hosts };
		p->sum.m = at;
		p->g = at + n * n;
		p->sum.b = at + 2 * n * n;
		p->sum.n = p->sum.b + n;
		p->mean = p->sum.n + n;
		p->with_delay = p->mean + n;
		p->slope = p->with_delay + n;
		at += each;
	}
	return true;
}

/* Sum the linear factors of all messages in each time interval. */
static bool set_oracle_slope(struct oracle *o)
{
	double f[PRIOR_FUNCTIONS], *number, *sum, sign;
	const size_t bins = 2 * (size_t)o->num_pairs * BINS;

	number = calloc(2 * bins, sizeof(*number));
	sum = number + bins;
	for (long i = 0; number && i < o->num; i++) {
		const struct said *s = &o->said[i];
		const struct pair *p = find_oracle_pair(o, s, &sign);
		size_t at = (size_t)(2 * (p - o->pair) + (sign > 0)) * BINS +
			    (size_t)fmin(s->t / o->c->span_ns * BINS, BINS - 1);

		number[at]++;
		sum[at] += s->t;
	}
	for (size_t at = 0; number && at < bins; at++) {
		struct pair *p = &o->pair[at / BINS / 2];
		double much = number[at] / MEAN_DELAY;

		if (!number[at])
			continue;
		p->messages += much;
		prior_evaluate(&o->prior, sum[at] / number[at], f);
		for (int i = 0; i < o->functions; i++)
			p->slope[i] += (at / BINS % 2 ? much : -much) * f[i];
	}
	free(number);
	return number;
}

/* ---- linear algebra ----------------------------------------------------- */

/* Use four sums, to which a processor can add in parallel. */
static double compute_dot_product(const double *a, const double *b, int n)
{
	double sum[4] = { 0 };
	int i = 0;

	for (; i + 4 <= n; i += 4)
		for (int k = 0; k < 4; k++)
			sum[k] += a[i + k] * b[i + k];
	for (; i < n; i++)
		sum[0] += a[i] * b[i];
	return sum[0] + sum[1] + sum[2] + sum[3];
}

/* Replace the lower half of the matrix by its Cholesky factor. */
static void compute_cholesky_factor(double *a, int n)
{
	for (int i = 0; i < n; i++) {
		double *row = &a[(size_t)i * (size_t)n];

		for (int j = 0; j <= i; j++) {
			const double *other = &a[(size_t)j * (size_t)n];
			double v = row[j] - compute_dot_product(row, other, j);

			row[j] = i == j ? sqrt(fmax(v, 1e-300)) : v / other[j];
		}
	}
}

/*
 * Replace the Cholesky factor by the inverse of the matrix, in both halves. @x is scratch memory.
 */
static void invert_cholesky_factor(double *l, double *x, int n)
{
	const size_t size = (size_t)n;

	/* Compute the inverse of the factor above the diagonal, with rows and columns exchanged. */
	for (size_t j = 0; j < size; j++) {
		for (size_t i = j; i < size; i++)
			x[i] = ((i == j) -
				compute_dot_product(&l[i * size + j], &x[j], (int)(i - j))) /
			       l[i * size + i];
		for (size_t i = j + 1; i < size; i++)
			l[j * size + i] = x[i];
		l[j * size + j] = 1 / l[j * size + j];
	}
	/* Multiply the inverse's transpose by the inverse. */
	for (size_t i = 0; i < size; i++) {
		for (size_t j = 0; j <= i; j++)
			x[j] = compute_dot_product(&l[i * size + i], &l[j * size + i],
						   (int)(size - i));
		for (size_t j = 0; j <= i; j++)
			l[i * size + j] = x[j];
	}
	for (size_t i = 0; i < size; i++)
		for (size_t j = i + 1; j < size; j++)
			l[i * size + j] = l[j * size + i];
}

/* Return x' A x for a symmetric matrix A. */
static double compute_quadratic_value(const double *a, const double *x, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += x[i] * compute_dot_product(&a[i * n], x, n);
	return sum;
}

/* ---- expectation propagation ------------------------------------------- */

/* Return the index of a clock's weights, or -1 if it has none. */
static int find_weight_index(const struct oracle *o, int host)
{
	return host < o->first ? -1 : (host - o->first) * o->functions;
}

/* Sum the current factors of all pairs. */
static void sum_pair_precisions(struct oracle *o)
{
	double f[PRIOR_FUNCTIONS], sign;
	const int n = o->functions;

	for (int i = 0; i < o->num_pairs; i++) {
		struct pair *p = &o->pair[i];

		memset(p->sum.m, 0, (size_t)n * (size_t)n * sizeof(*p->sum.m));
		memset(p->sum.b, 0, (size_t)n * sizeof(*p->sum.b));
		memcpy(p->sum.n, p->slope, (size_t)n * sizeof(*p->slope));
		p->sum.d = o->one_delay ? 0 : 1 / (PRIOR_UNKNOWN * PRIOR_UNKNOWN);
		p->sum.e = p->messages;
	}
	for (long k = 0; k < o->cuts; k++) {
		const struct cut *cut = &o->cut[k];
		struct pair *p = find_oracle_pair(o, &o->said[k], &sign);

		prior_evaluate(&o->prior, o->said[k].t, f);
		for (int i = 0; i < n; i++) {
			double weight = cut->tau * f[i], *row = &p->sum.m[i * n];

			for (int j = 0; j <= i; j++)
				row[j] += weight * f[j];
			p->sum.b[i] += sign * weight;
			p->sum.n[i] += sign * cut->nu * f[i];
		}
		p->sum.d += cut->tau;
		p->sum.e += cut->nu;
	}
}

/*
 * Add a pair's information about the common minimum delay, and about this delay together with the
 * pair's clocks.
 */
static void add_delay_precision(struct oracle *o, const struct pair *p)
{
	const int n = o->functions, a = find_weight_index(o, p->a), b = find_weight_index(o, p->b);
	double *row = &o->a[(size_t)(o->dim - 1) * (size_t)o->dim];

	for (int i = 0; i < n; i++) {
		row[b + i] += p->sum.b[i];
		if (a >= 0)
			row[a + i] -= p->sum.b[i];
	}
	row[o->dim - 1] += p->sum.d;
	o->mean[o->dim - 1] += p->sum.e;
}

/* Add a pair's information about its clocks, after its own minimum delay has been eliminated. */
static void add_pair_precision(struct oracle *o, struct pair *p)
{
	const int n = o->functions, a = find_weight_index(o, p->a), b = find_weight_index(o, p->b);
	const size_t dim = (size_t)o->dim;
	const struct pair_sum *sum = &p->sum;
	const double by_delay = o->one_delay ? 0 : 1 / sum->d;

	if (o->one_delay)
		add_delay_precision(o, p);
	for (int i = 0; i < n; i++) {
		double says = sum->n[i] - sum->b[i] * sum->e * by_delay;

		o->mean[b + i] += says;
		if (a >= 0)
			o->mean[a + i] -= says;
		for (int j = 0; j < n; j++) {
			double v = (j <= i ? sum->m[i * n + j] : sum->m[j * n + i]) -
				   sum->b[i] * sum->b[j] * by_delay;

			o->a[(size_t)(b + i) * dim + (size_t)(b + j)] += v;
			if (a < 0)
				continue;
			o->a[(size_t)(a + i) * dim + (size_t)(a + j)] += v;
			o->a[(size_t)(b + i) * dim + (size_t)(a + j)] -= v;
		}
	}
}

/* The line of host 0 is zero, because all other lines are relative to it. */
static double get_prior_precision(const struct oracle *o, int host, int i)
{
	return host || i >= PRIOR_LINE ? o->prior.precision[i] : 1e30;
}

/* Compute the posterior of the difference between the clocks of a pair. */
static void update_pair_moments(const struct oracle *o, struct pair *p)
{
	const int n = o->functions, a = find_weight_index(o, p->a), b = find_weight_index(o, p->b);
	const size_t dim = (size_t)o->dim;

	for (int i = 0; i < n; i++) {
		p->mean[i] = o->mean[b + i] - (a < 0 ? 0 : o->mean[a + i]);
		p->with_delay[i] = o->a[(dim - 1) * dim + (size_t)(b + i)];
		if (a >= 0)
			p->with_delay[i] -= o->a[(dim - 1) * dim + (size_t)(a + i)];
		for (int j = 0; j < n; j++) {
			double v = o->a[(size_t)(b + i) * dim + (size_t)(b + j)];

			if (a >= 0)
				v += o->a[(size_t)(a + i) * dim + (size_t)(a + j)] -
				     o->a[(size_t)(a + i) * dim + (size_t)(b + j)] -
				     o->a[(size_t)(b + i) * dim + (size_t)(a + j)];
			p->g[i * n + j] = v;
		}
	}
}

/* Compute the posterior of each clock and of each pair for the current factors. */
static void set_oracle_posterior(struct oracle *o)
{
	const size_t dim = (size_t)o->dim;

	sum_pair_precisions(o);
	memset(o->a, 0, dim * dim * sizeof(*o->a));
	memset(o->mean, 0, dim * sizeof(*o->mean));
	for (int h = o->first; h < o->c->spec.hosts; h++)
		for (int i = 0; i < o->functions; i++) {
			const size_t at = (size_t)(find_weight_index(o, h) + i);

			o->a[at * dim + at] = get_prior_precision(o, h, i);
		}
	if (o->one_delay)
		o->a[dim * dim - 1] = 1 / (PRIOR_UNKNOWN * PRIOR_UNKNOWN);
	for (int i = 0; i < o->num_pairs; i++)
		add_pair_precision(o, &o->pair[i]);
	compute_cholesky_factor(o->a, o->dim);
	invert_cholesky_factor(o->a, o->room, o->dim);
	memcpy(o->room, o->mean, dim * sizeof(*o->mean));
	for (size_t i = 0; i < dim; i++)
		o->mean[i] = compute_dot_product(&o->a[i * dim], o->room, o->dim);
	for (int i = 0; i < o->num_pairs; i++)
		update_pair_moments(o, &o->pair[i]);
}

/*
 * Compute the mean and variance of a normal distribution that is truncated above @u. The limit @u
 * itself has a normal error with variance @blur.
 */
static void truncate_normal(double u, double blur, double *mean, double *variance)
{
	double all = *variance + blur, deviation = sqrt(all), x = (u - *mean) / deviation;
	double part = *variance / all, hazard;

	/* Mills' ratio, by its asymptotic series. */
	hazard = x < -20 ? -x - 1 / x + 2 / (x * x * x) :
			   sqrt(2 / M_PI) * exp(-x * x / 2) / erfc(-x * M_SQRT1_2);
	*mean -= part * deviation * hazard;
	*variance *= x < -20 ? 1 - part * (1 - 1 / (x * x) * (1 - 6 / (x * x))) :
			       1 - part * hazard * (hazard + x);
}

/*
 * Return the factor of a truncation. Without the truncation, z is normal with @mean and @variance.
 */
static struct cut make_cut_factor(const struct oracle *o, double u, double mean, double variance)
{
	double m = mean, v = variance;

	truncate_normal(u, o->blur, &m, &v);
	return (struct cut){ u, 1 / v - 1 / variance, m / v - mean / variance };
}

/* Return the mean of z for a message, and set @variance to its variance. */
static double compute_message_z(const struct oracle *o, const struct said *s, double *variance)
{
	double f[PRIOR_FUNCTIONS], sign, mean;
	const struct pair *p = find_oracle_pair(o, s, &sign);
	const int n = o->functions;

	prior_evaluate(&o->prior, s->t, f);
	mean = sign * compute_dot_product(f, p->mean, n);
	if (o->one_delay) {
		*variance = compute_quadratic_value(p->g, f, n) +
			    2 * sign * compute_dot_product(f, p->with_delay, n) +
			    o->a[(size_t)o->dim * (size_t)o->dim - 1];
		return mean + o->mean[o->dim - 1];
	}
	for (int i = 0; i < n; i++)
		f[i] = sign * f[i] - p->sum.b[i] / p->sum.d;
	*variance = compute_quadratic_value(p->g, f, n) + 1 / p->sum.d;
	return mean + (p->sum.e - compute_dot_product(p->sum.b, p->mean, n)) / p->sum.d;
}

/* Update a truncation. Return by how many standard deviations its mean has changed. */
static double refine_cut(struct oracle *o, long k)
{
	struct cut *cut = &o->cut[k], next;
	double v, rest, moved, damped;
	const double z = compute_message_z(o, &o->said[k], &v);

	o->deviation = fmax(o->deviation, sqrt(v));
	/* Compute z without this truncation, and how the truncation changes z. */
	rest = 1 / v - cut->tau;
	if (!(rest > 0))
		return 0;
	next = make_cut_factor(o, cut->u, (z / v - cut->nu) / rest, 1 / rest);
	moved = fabs((next.nu - cut->nu) - (next.tau - cut->tau) * z) * sqrt(v);
	damped = fmin(DAMPED, 0.3 / moved);
	cut->tau += damped * (next.tau - cut->tau);
	cut->nu += damped * (next.nu - cut->nu);
	return moved;
}

/* Start near the truth, because the factors do not oscillate there. */
static bool set_num_cuts(struct oracle *o, long cuts)
{
	double far = fmax(o->said[cuts - 1].excess, 1) / FAR_DEVIATIONS;
	struct cut *cut = realloc(o->cut, (size_t)cuts * sizeof(*cut));

	if (!cut)
		return false;
	o->cut = cut;
	for (long k = o->cuts; k < cuts; k++) {
		const struct said *s = &o->said[k];
		double z = compute_offset_from_host_0(o->c, s->to, s->t) -
			   compute_offset_from_host_0(o->c, s->from, s->t);

		o->cut[k] = make_cut_factor(o, z + s->excess, z, far * far);
	}
	o->cuts = cuts;
	return true;
}

/* Return false if out of memory, or if the factors do not converge. */
static bool propagate_cuts(struct oracle *o)
{
	for (long cuts = CUTTING * (o->c->spec.hosts - 1);; cuts *= 2) {
		double moved = HUGE_VAL;

		if (cuts > o->num)
			cuts = o->num;
		if (!set_num_cuts(o, cuts))
			return false;
		for (int i = 0; i < SWEEPS && moved > CONVERGED; i++) {
			set_oracle_posterior(o);
			o->deviation = moved = 0;
			for (long k = 0; k < cuts; k++)
				moved = fmax(moved, refine_cut(o, k));
		}
		if (!(moved <= CONVERGED))
			return false;
		if (cuts == o->num || o->said[cuts - 1].excess > FAR_DEVIATIONS * o->deviation)
			return true;
	}
}

/* ---- all together ------------------------------------------------------ */

static bool oracle_init(struct oracle *o, const struct cluster *c)
{
	const struct cluster_spec *spec = &c->spec;
	size_t dim;

	*o = (struct oracle){ .c = c };
	/* Each of the two stamps is rounded by a part of a tick, which is uniformly distributed. */
	o->blur = spec->resolution_ns * spec->resolution_ns / 6;
	if (!prior_make(&o->prior, c))
		return false;
	o->functions = o->prior.functions;
	if (!set_oracle_messages(o) || !set_oracle_pairs(o))
		return false;
	o->first = spec->hosts == 2 || (spec->clocks & STEADY_FIRST) || !spec->clocks;
	o->one_delay = o->num < (long)FEW * o->num_pairs;
	o->dim = o->functions * (spec->hosts - o->first) + o->one_delay;
	dim = (size_t)o->dim;
	o->a = calloc(dim * (dim + 2), sizeof(*o->a));
	if (!o->a || !set_oracle_slope(o))
		return false;
	o->mean = o->a + dim * dim;
	o->room = o->mean + dim;
	qsort(o->said, (size_t)o->num, sizeof(*o->said), compare_messages_by_excess);
	return true;
}

static void oracle_release(struct oracle *o)
{
	prior_release(&o->prior);
	free(o->a);
	free(o->pair);
	free(o->pair_of);
	free(o->of_pairs);
	free(o->said);
	free(o->cut);
}

static double compute_oracle_rms(const struct oracle *o)
{
	double f[PRIOR_FUNCTIONS], squares = 0;

	for (int host = 1; host < o->c->spec.hosts; host++) {
		for (int i = 0; i <= INSTANTS; i++) {
			double t = o->c->span_ns * i / INSTANTS, error;

			prior_evaluate(&o->prior, t, f);
			error = compute_dot_product(f, &o->mean[find_weight_index(o, host)],
						    o->functions) -
				compute_offset_from_host_0(o->c, host, t);
			if (!o->first)
				error -= compute_dot_product(f, o->mean, o->functions);
			squares += error * error;
		}
	}
	/* Add the error of rounding the output to 1 ns. */
	return sqrt(squares / (o->c->spec.hosts - 1) / (INSTANTS + 1) + 1.0 / 12);
}

double floor_compute_rms(const struct cluster *c)
{
	struct oracle o;
	double rms = NAN;

	if (oracle_init(&o, c) && propagate_cuts(&o)) {
		set_oracle_posterior(&o);
		rms = compute_oracle_rms(&o);
	}
	oracle_release(&o);
	return rms;
}
