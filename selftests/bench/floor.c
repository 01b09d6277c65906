// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mean of the posterior. A clock, against host 0, is a sum of functions of time with
 * normal weights w (a Gaussian process), whose variances make its covariance that of the
 * simulation: an offset and a skew that nothing is known of; sines and cosines of the
 * frequencies that are drawn; a ramp; and for frequency modulation the sines of a
 * Karhunen-Loeve series, by its spectral density. A pair has a smallest delay, one for both
 * directions, that nothing is known of, and is a weight, too; delays beyond it are
 * exponential of mean mu. So a message i, whose clocks and smallest delay add up to
 * z = phi_i' w, says
 *
 *	exp(z / mu) if z <= u_i, else 0	(u_i: what was seen)
 *
 * The first factor is linear in w, and is summed over all messages; the second cuts off
 * a half-space. Normal with some half-spaces cut off: expectation propagation finds its
 * mean (T. Minka, "Expectation propagation for approximate Bayesian inference", UAI 2001;
 * for half-spaces J. Cunningham, P. Hennig, S. Lacoste-Julien, "Gaussian probabilities and
 * expectation propagation", 2011). Only messages near the truth can matter, and these are
 * looked at: more of them, until the furthest are FAR_DEVIATIONS away.
 *
 * What makes it a floor for each estimator with a normal prior, and not for all: of a
 * single sinusoid one could know more, than its covariance says.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "floor.h"

#define SEC 1e9
/* What cluster.c takes if nothing is said, ns. */
#define LEAST_DELAY 30e3
#define MEAN_DELAY 100e3
#define INSTANTS 500		/* of each host */
/*
 * Frequencies of a sinusoid, by Gauss' quadrature: over an hour their range is 8 turns, of
 * which each half takes one, and 8 more make the rest small.
 */
#define FREQUENCIES 24
/* Frequency modulation: terms of the series, which is this much longer than the span. */
#define TERMS 160
#define LONGER 1.25
/* Messages that cut off, at first, and how far the furthest has to be, chosen. */
#define CUTTING 1000
#define FAR_DEVIATIONS 6
#define SWEEPS 100
#define CONVERGED 0.01		/* of its deviation: by how much a mean moves */
/* Deviation of an offset that nothing is known of, ns: more than clocks bend by. */
#define UNKNOWN 1e7
/* Times that messages of a direction are summed up in. */
#define BINS 2048

/* A message, or many neighbouring ones: ns. */
struct said {
	double t;
	double excess;	/* delay beyond the smallest */
	int from;
	int to;
};

/* Of one cut: the normal factor that stands for it, and u. */
struct cut {
	double u;
	double tau;
	double nu;
};

struct oracle {
	const struct cluster *c;
	int sinusoids;
	double omega[FREQUENCIES];	/* 1 / ns */
	double variance[FREQUENCIES];	/* of its sine and its cosine, ns^2 */
	int first;		/* clock with functions of its own */
	int functions;		/* of each clock */
	int dim;
	double *precision;	/* dim: of the prior */
	double *h;		/* dim: sum of phi / mu */
	double *a;		/* dim x dim: the precision, then its factor */
	double *mean;		/* dim */
	double *solved;		/* dim */
	struct said *said;	/* by excess */
	long num;
	struct cut *cut;
	double *phi;		/* cuts x dim */
	long cuts;
	double deviation;	/* the largest of a cut's z, ns */
};

bool floor_is_known(const struct cluster_spec *s)
{
	unsigned int known = BEND | QUARTZ | WALK;

	return !(s->clocks & ~known) && !s->min_delay_ns[0] && !s->min_delay_ns[1] &&
	       !s->mean_delay_ns[0] && !s->mean_delay_ns[1] && !s->late && !s->wrong &&
	       !s->near && !s->repeated && !s->resolution_ns && !s->processors_ns &&
	       (!s->clocks || s->span_s <= 3600) && s->hosts <= 10 &&
	       s->messages >= 10000;
}

/* ---- the prior ---------------------------------------------------------- */

/* Of frequency modulation, per radian of frequency, two-sided, at w (1 / s); s. */
static double spectrum(unsigned int clocks, double w)
{
	double sum = 0, tau = 10;

	if (clocks & WALK)
		return 1e-18 / (w * w);
	if (!(clocks & QUARTZ))
		return 0;
	sum = 3.5e-10 * 3.5e-10 / (w * w);
	for (int i = 0; i < 4; i++, tau *= 10)
		sum += 2 * 5e-10 * 5e-10 * tau / (1 + w * w * tau * tau);
	return sum;
}

/* The @i-th node of Gauss and Legendre's quadrature between -1 and 1, and its weight. */
static double node(int i, double *weight)
{
	double x = cos(M_PI * (i + 0.75) / (FREQUENCIES + 0.5)), slope = 1;

	for (int step = 0; step < 20; step++) {
		double p = 1, last = 0;

		for (int k = 0; k < FREQUENCIES; k++) {
			double next = ((2 * k + 1) * x * p - k * last) / (k + 1);

			last = p;
			p = next;
		}
		slope = FREQUENCIES * (x * p - last) / (x * x - 1);
		x -= p / slope;
	}
	*weight = 2 / ((1 - x * x) * slope * slope);
	return x;
}

/* Periods are drawn evenly between two, of which one is three times the other. */
static void set_sinusoids(struct oracle *o)
{
	bool bend = o->c->spec.clocks & BEND, quartz = o->c->spec.clocks & QUARTZ;

	o->sinusoids = bend || quartz ? FREQUENCIES : 0;
	for (int i = 0; i < o->sinusoids; i++) {
		/* Over that of the longest period; the density falls with its square. */
		double weight, f = 2 + node(i, &weight), amplitude;

		o->omega[i] = 2 * M_PI * f / ((bend ? 900 : 1800) * SEC);
		amplitude = bend ? 50e3 : 0.1e-6 / o->omega[i];
		o->variance[i] = 1.5 / (f * f) * weight * amplitude * amplitude / 2;
	}
}

#define MOST_FUNCTIONS (3 + 2 * FREQUENCIES + TERMS)

/* All functions of a clock at @t, and the variances of their weights. */
static int functions_at(const struct oracle *o, double t, double *value, double *variance)
{
	const struct cluster *c = o->c;
	double length = LONGER * c->span_ns, x = t / c->span_ns - 0.5;
	double at = t + (length - c->span_ns) / 2;
	int terms = c->spec.clocks & (QUARTZ | WALK) ? TERMS : 0, n = 0;
	/* Of two clocks only the difference is seen. */
	double both = c->spec.hosts == 2 && !(c->spec.clocks & STEADY_FIRST) ? 2 : 1;

	variance[n] = UNKNOWN * UNKNOWN;
	value[n++] = 1;
	variance[n] = UNKNOWN * UNKNOWN;
	value[n++] = x;
	/* Only the clocks after the first have a ramp, too. */
	variance[n] = pow(20e-6 / (3600 * SEC) / 2 * c->span_ns * c->span_ns, 2);
	value[n++] = c->spec.clocks & BEND ? x * x : 0;
	for (int i = 0; i < o->sinusoids; i++) {
		variance[n] = variance[n + 1] = both * o->variance[i];
		value[n++] = sin(o->omega[i] * t);
		value[n++] = cos(o->omega[i] * t);
	}
	for (int k = 1; k <= terms; k++) {
		double w = k * M_PI / length;

		variance[n] = both * 2 / (length / SEC) *
			      spectrum(c->spec.clocks, w * SEC) / (w * w);
		value[n++] = sin(w * at);
	}
	return n;
}

/* Add the functions of @host, @sign of them, at @t. */
static void add_functions(const struct oracle *o, int host, double t, double sign,
			  double *phi)
{
	double value[MOST_FUNCTIONS], variance[MOST_FUNCTIONS];
	int n = functions_at(o, t, value, variance);

	/* The line and the ramp of host 0 are nothing. */
	for (int i = host ? 0 : 3; i < n && host >= o->first; i++)
		phi[(host - o->first) * n + i] += sign * value[i];
}

/* Where the smallest delay of a pair is among the weights. */
static int place_of_delay(const struct oracle *o, int a, int b)
{
	int hosts = o->c->spec.hosts;

	return (hosts - o->first) * o->functions +
	       (a < b ? a * hosts + b : b * hosts + a);
}

static void set_phi(const struct oracle *o, const struct said *s, double *phi)
{
	memset(phi, 0, (size_t)o->dim * sizeof(*phi));
	add_functions(o, s->to, s->t, 1, phi);
	add_functions(o, s->from, s->t, -1, phi);
	phi[place_of_delay(o, s->from, s->to)] = 1;
}

/* ---- the messages ------------------------------------------------------- */

/* How far a clock is ahead of host 0, less the straight line, which nobody knows. */
static double ahead(const struct cluster *c, int host, double t)
{
	double a, b;

	if (!host)
		return 0;
	a = cluster_ahead(c, host, 0, 0);
	b = cluster_ahead(c, host, 0, c->span_ns);
	return cluster_ahead(c, host, 0, t) - a - (b - a) * (t / c->span_ns);
}

/* The true time of what a clock shows: by Newton's method, as rates are about 1. */
static double true_time(const struct cluster *c, int host, int64_t shown)
{
	double t = (double)(shown - cluster_reading(c, host, 0));

	for (int i = 0; i < 4; i++)
		t += (double)(shown - cluster_reading(c, host, t));
	return t;
}

static int by_excess(const void *a, const void *b)
{
	const struct said *p = a, *q = b;

	return (p->excess > q->excess) - (p->excess < q->excess);
}

static bool set_said(struct oracle *o)
{
	const struct cluster *c = o->c;

	o->said = malloc((size_t)c->num * sizeof(*o->said));
	for (long i = 0; o->said && i < c->num; i++) {
		const struct cluster_message *m = &c->msg[i];
		double sent = true_time(c, (int)m->from, m->send_ns);
		double received = true_time(c, (int)m->to, m->recv_ns);

		/* A ns for stamps that were rounded. */
		o->said[i] = (struct said){ sent, received - sent - LEAST_DELAY + 1,
					    (int)m->from, (int)m->to };
	}
	o->num = o->said ? c->num : 0;
	return o->said;
}

/* The first factors of all messages, summed up by times. */
static bool set_slope(struct oracle *o)
{
	int hosts = o->c->spec.hosts;
	size_t bins = (size_t)hosts * (size_t)hosts * BINS;
	double *number = calloc(2 * bins, sizeof(*number)), *sum = number + bins;

	for (long i = 0; number && i < o->num; i++) {
		const struct said *s = &o->said[i];
		size_t at = (size_t)(s->from * hosts + s->to) * BINS +
			    (size_t)fmin(s->t / o->c->span_ns * BINS, BINS - 1);

		number[at]++;
		sum[at] += s->t;
	}
	for (size_t at = 0; number && at < bins; at++) {
		int pair = (int)(at / BINS);

		if (!number[at])
			continue;
		o->h[place_of_delay(o, pair / hosts, pair % hosts)] +=
			number[at] / MEAN_DELAY;
		add_functions(o, pair % hosts, sum[at] / number[at],
			      number[at] / MEAN_DELAY, o->h);
		add_functions(o, pair / hosts, sum[at] / number[at],
			      -number[at] / MEAN_DELAY, o->h);
	}
	free(number);
	return number;
}

/* ---- expectation propagation ------------------------------------------- */

/* Cholesky's factor in place, of the lower half. */
static void factor(double *a, int n)
{
	for (int i = 0; i < n; i++) {
		double *row = &a[i * n];

		for (int j = 0; j <= i; j++) {
			const double *other = &a[j * n];
			double v = row[j];

			for (int k = 0; k < j; k++)
				v -= row[k] * other[k];
			row[j] = i == j ? sqrt(fmax(v, 1e-300)) : v / other[j];
		}
	}
}

/* L x = x; return: the square of it. */
static double forward(const double *l, double *x, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++) {
		for (int k = 0; k < i; k++)
			x[i] -= l[i * n + k] * x[k];
		x[i] /= l[i * n + i];
		sum += x[i] * x[i];
	}
	return sum;
}

static void backward(const double *l, double *x, int n)
{
	for (int i = n; i-- > 0;) {
		x[i] /= l[i * n + i];
		for (int k = 0; k < i; k++)
			x[k] -= l[i * n + k] * x[i];
	}
}

static double dot(const double *a, const double *b, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* The posterior, as the cuts are now: the factor of its precision, and its mean. */
static void set_posterior(struct oracle *o)
{
	int n = o->dim;

	memset(o->a, 0, (size_t)n * (size_t)n * sizeof(*o->a));
	for (int i = 0; i < n; i++)
		o->a[i * n + i] = o->precision[i];
	memcpy(o->mean, o->h, (size_t)n * sizeof(*o->mean));
	for (long k = 0; k < o->cuts; k++) {
		const double *phi = &o->phi[k * n];

		for (int i = 0; i < n; i++) {
			double weight = o->cut[k].tau * phi[i];

			o->mean[i] += o->cut[k].nu * phi[i];
			for (int j = 0; j <= i && weight; j++)
				o->a[i * n + j] += weight * phi[j];
		}
	}
	factor(o->a, n);
	forward(o->a, o->mean, n);
	backward(o->a, o->mean, n);
}

/* The inverse of a matrix in place of its factor. @x: room. */
static void invert(double *l, double *x, int n)
{
	/* The factor's inverse, its columns where rows were, above the diagonal. */
	for (int j = 0; j < n; j++) {
		for (int i = j; i < n; i++) {
			double v = i == j;

			for (int k = j; k < i; k++)
				v -= l[i * n + k] * x[k];
			x[i] = v / l[i * n + i];
		}
		for (int i = j + 1; i < n; i++)
			l[j * n + i] = x[i];
		l[j * n + j] = 1 / l[j * n + j];
	}
	/* Its transpose times itself. */
	for (int i = 0; i < n; i++) {
		for (int j = 0; j <= i; j++) {
			double v = 0;

			for (int k = i; k < n; k++)
				v += l[i * n + k] * l[j * n + k];
			x[j] = v;
		}
		for (int j = 0; j <= i; j++)
			l[i * n + j] = x[j];
	}
	for (int i = 0; i < n; i++)
		for (int j = i + 1; j < n; j++)
			l[i * n + j] = l[j * n + i];
}

/* Mean and variance of a normal distribution, of which what is above @u is cut off. */
static void cut_off(double u, double *mean, double *variance)
{
	double deviation = sqrt(*variance), x = (u - *mean) / deviation, hazard;

	if (x < -20) {
		*mean = u + deviation / x * (1 - 2 / (x * x));
		*variance /= x * x * (1 + 6 / (x * x));
		return;
	}
	hazard = sqrt(2 / M_PI) * exp(-x * x / 2) / erfc(-x * M_SQRT1_2);
	*mean -= deviation * hazard;
	*variance *= 1 - hazard * (hazard + x);
}

/* What the posterior becomes as the factor of a cut changes (Sherman, Morrison). */
static void update(struct oracle *o, const double *solved, double z, double v, double tau,
		   double nu)
{
	double part = 1 / (1 + tau * v), weight;
	int n = o->dim;

	for (int i = 0; i < n; i++) {
		double *row = &o->a[i * n];

		o->mean[i] += solved[i] * (nu - tau * z) * part;
		weight = tau * part * solved[i];
		for (int j = 0; j < n; j++)
			row[j] -= weight * solved[j];
	}
}

/* One cut after another. Return: by how much a mean moved, in deviations. */
static double sweep(struct oracle *o)
{
	double moved = 0;
	int n = o->dim;

	set_posterior(o);
	invert(o->a, o->solved, n);
	o->deviation = 0;
	for (long k = 0; k < o->cuts; k++) {
		struct cut *cut = &o->cut[k];
		const double *phi = &o->phi[k * n];
		double z = dot(phi, o->mean, n), v, rest, mean, variance, tau, nu;

		memset(o->solved, 0, (size_t)n * sizeof(*o->solved));
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n && phi[i]; j++)
				o->solved[j] += phi[i] * o->a[i * n + j];
		v = dot(phi, o->solved, n);
		o->deviation = fmax(o->deviation, sqrt(v));
		/* Without this cut; and with what it says indeed. */
		rest = 1 / v - cut->tau;
		if (!(rest > 0))
			continue;
		variance = 1 / rest;
		mean = variance * (z / v - cut->nu);
		cut_off(cut->u, &mean, &variance);
		moved = fmax(moved, fabs(mean - z) / sqrt(variance));
		tau = fmax(1 / variance - rest, 0) - cut->tau;
		nu = mean / variance - (z / v - cut->nu) - cut->nu;
		update(o, o->solved, z, v, tau, nu);
		cut->tau += tau;
		cut->nu += nu;
	}
	return moved;
}

/* More of them, and those that there are. */
static bool set_cuts(struct oracle *o, long cuts)
{
	double far = o->said[cuts - 1].excess;
	struct cut *cut = realloc(o->cut, (size_t)cuts * sizeof(*cut));
	double *phi;

	if (!cut)
		return false;
	o->cut = cut;
	phi = realloc(o->phi, (size_t)cuts * (size_t)o->dim * sizeof(*phi));
	if (!phi)
		return false;
	o->phi = phi;
	for (long k = o->cuts; k < cuts; k++) {
		const struct said *s = &o->said[k];
		double u = s->excess + ahead(o->c, s->to, s->t) -
			   ahead(o->c, s->from, s->t);
		/* About where it will be; those that came later hardly cut. */
		double tau = o->cuts ? 0 : 1 / (far * far);

		o->cut[k] = (struct cut){ u, tau, tau * (u - s->excess) };
		set_phi(o, s, &o->phi[k * o->dim]);
	}
	o->cuts = cuts;
	return true;
}

/* False: no memory, or it does not converge. */
static bool propagate(struct oracle *o)
{
	for (long cuts = CUTTING * (o->c->spec.hosts - 1);; cuts *= 2) {
		double moved = HUGE_VAL;

		if (cuts > o->num)
			cuts = o->num;
		if (!set_cuts(o, cuts))
			return false;
		for (int i = 0; i < SWEEPS && moved > CONVERGED; i++)
			moved = sweep(o);
		if (!(moved <= CONVERGED))
			return false;
		if (cuts == o->num ||
		    o->said[cuts - 1].excess > FAR_DEVIATIONS * o->deviation)
			return true;
	}
}

/* ---- all together ------------------------------------------------------ */

static bool oracle_new(struct oracle *o, const struct cluster *c)
{
	double value[MOST_FUNCTIONS], variance[MOST_FUNCTIONS];
	size_t dim;
	int n;

	*o = (struct oracle){ .c = c };
	set_sinusoids(o);
	n = functions_at(o, 0, value, variance);
	o->functions = n;
	o->first = c->spec.hosts == 2 || (c->spec.clocks & STEADY_FIRST) ||
		   !c->spec.clocks;
	o->dim = n * (c->spec.hosts - o->first) + c->spec.hosts * c->spec.hosts;
	dim = (size_t)o->dim;
	o->precision = calloc(dim * (dim + 4), sizeof(*o->precision));
	if (!o->precision || !set_said(o))
		return false;
	o->h = o->precision + dim;
	o->mean = o->h + dim;
	o->solved = o->mean + dim;
	o->a = o->solved + dim;
	for (int i = 0; i < o->dim; i++)
		o->precision[i] = i < n * (c->spec.hosts - o->first)
					  ? 1 / variance[i % n]
					  : 1 / (UNKNOWN * UNKNOWN);
	if (!set_slope(o))
		return false;
	qsort(o->said, (size_t)o->num, sizeof(*o->said), by_excess);
	return true;
}

static void oracle_free(struct oracle *o)
{
	free(o->precision);
	free(o->said);
	free(o->cut);
	free(o->phi);
}

static double error_of(const struct oracle *o, double *phi)
{
	double squares = 0;

	for (int host = 1; host < o->c->spec.hosts; host++) {
		for (int i = 0; i <= INSTANTS; i++) {
			double t = o->c->span_ns * i / INSTANTS, error;

			memset(phi, 0, (size_t)o->dim * sizeof(*phi));
			add_functions(o, host, t, 1, phi);
			add_functions(o, 0, t, -1, phi);
			error = dot(phi, o->mean, o->dim) - ahead(o->c, host, t);
			squares += error * error;
		}
	}
	/* What is handed out is rounded to 1 ns. */
	return sqrt(squares / (o->c->spec.hosts - 1) / (INSTANTS + 1) + 1.0 / 12);
}

double floor_rms(const struct cluster *c)
{
	struct oracle o;
	double rms = NAN;

	if (oracle_new(&o, c) && propagate(&o)) {
		set_posterior(&o);
		rms = error_of(&o, o.solved);
	}
	oracle_free(&o);
	return rms;
}
