// SPDX-License-Identifier: GPL-2.0-only
/*
 * The covariance of sinusoids and frequency modulation is factored by a pivoted Cholesky
 * decomposition, column by column, until less than ROUGH of a clock remains (H.
 * Harbrecht, M. Peters, R. Schneider, "On the low-rank approximation by the pivoted
 * Cholesky decomposition", 2012).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "prior.h"

#define SEC 1e9
/*
 * Number of time cells for few hosts and for many hosts. Functions are tabulated at the ends of
 * cells. Chosen.
 */
#define CELLS 16384
#define CELLS_OF_MANY 4096
/*
 * Deviation of a clock that the functions need not represent, ns: for few hosts, and for many
 * hosts, whose floor is higher.
 */
#define ROUGH 0.02
#define ROUGH_OF_MANY 10
#define MANY 10 /* more hosts than this count as many hosts */
/*
 * Number of frequencies for the Gauss quadrature of a sinusoid. Over an hour, the range of
 * frequencies covers 8 turns. Each half of a turn needs one frequency, and 8 more frequencies make
 * the remainder small.
 */
#define FREQUENCIES_HOUR 24
/* The series of frequency modulation has a period that is longer than the span by this factor. */
#define LONGER 1.25

/*
 * Return the two-sided spectrum of frequency modulation per radian of frequency at w (1 /
 * s), in s.
 */
static double compute_spectrum(unsigned int clocks, double w)
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

/*
 * Return node @i of the @n nodes of Gauss-Legendre quadrature between -1 and 1, and set
 * @weight to its weight.
 */
static double compute_quadrature_node(int n, int i, double *weight)
{
	double x = cos(M_PI * (i + 0.75) / (n + 0.5)), slope = 1;

	for (int step = 0; step < 20; step++) {
		double p = 1, last = 0;

		for (int k = 0; k < n; k++) {
			double next = ((2 * k + 1) * x * p - k * last) / (k + 1);

			last = p;
			p = next;
		}
		slope = n * (x * p - last) / (x * x - 1);
		x -= p / slope;
	}
	*weight = 2 / ((1 - x * x) * slope * slope);
	return x;
}

/* Periods are uniformly distributed between two values, one of which is three times the other. */
static void set_prior_sinusoids(struct prior *pr)
{
	bool bend = pr->cluster->spec.clocks & BEND, quartz = pr->cluster->spec.clocks & QUARTZ;
	double hours = fmax(pr->cluster->spec.span_s / 3600, 1);

	pr->frequencies = bend || quartz ?
				  (int)fmin(ceil(FREQUENCIES_HOUR * hours), PRIOR_FREQUENCIES) :
				  0;
	for (int i = 0; i < pr->frequencies; i++) {
		/*
		 * Use the frequency of the longest period as the unit. The density of frequencies
		 * is inversely proportional to the square of the frequency.
		 */
		double weight, f = 2 + compute_quadrature_node(pr->frequencies, i, &weight),
			       amplitude;

		pr->omega[i] = 2 * M_PI * f / ((bend ? 900 : 1800) * SEC);
		amplitude = bend ? 50e3 : 0.1e-6 / pr->omega[i];
		pr->power[i] = 1.5 / (f * f) * weight * amplitude * amplitude / 2;
	}
}

/* Return the argument of the series' sine or cosine. */
static double compute_series_argument(const struct prior *pr, double t)
{
	return (t + (LONGER - 1) / 2 * pr->cluster->span_ns) * M_PI /
	       (LONGER * pr->cluster->span_ns);
}

static void set_prior_series(struct prior *pr)
{
	double length = LONGER * pr->cluster->span_ns;

	for (int k = 1; k <= PRIOR_TERMS && pr->cluster->spec.clocks & (QUARTZ | WALK); k++) {
		double w = k * M_PI / length;

		pr->term[k - 1] = 2 / (length / SEC) *
				  compute_spectrum(pr->cluster->spec.clocks, w * SEC) / (w * w);
	}
}

/* Return the covariance of a clock's offsets at two times. */
static double compute_covariance(const struct prior *pr, double t, double s)
{
	double sum = 0;

	for (int i = 0; i < pr->frequencies; i++)
		sum += pr->power[i] * cos(pr->omega[i] * (t - s));
	for (int k = 1; k <= PRIOR_TERMS && pr->term[0]; k++)
		sum += pr->term[k - 1] * sin(k * compute_series_argument(pr, t)) *
		       sin(k * compute_series_argument(pr, s));
	return pr->both * sum;
}

static double get_end_of_cell(const struct prior *pr, int cell)
{
	return pr->cluster->span_ns * cell / pr->cells;
}

/*
 * Add the next column, for the cell with the largest remaining variance. @left has the remaining
 * variance of each cell.
 */
static void add_eigenfunction(struct prior *pr, double *left, int room, int n, int at)
{
	double pivot = sqrt(left[at]);

	for (int i = 0; i <= pr->cells; i++) {
		double *row = &pr->table[(size_t)i * (size_t)room];
		const double *other = &pr->table[(size_t)at * (size_t)room];
		double v = compute_covariance(pr, get_end_of_cell(pr, i), get_end_of_cell(pr, at));

		for (int k = PRIOR_LINE; k < n; k++)
			v -= row[k] * other[k];
		/* The row of the pivot must not change before the end. */
		if (i != at)
			row[n] = v / pivot;
		left[i] -= (v / pivot) * (v / pivot);
	}
	pr->table[(size_t)at * (size_t)room + (size_t)n] = pivot;
	left[at] = 0;
}

bool prior_make(struct prior *pr, const struct cluster *c)
{
	const struct cluster_spec *spec = &c->spec;
	double rough = spec->hosts > MANY ? ROUGH_OF_MANY : ROUGH, *left;
	const int room = PRIOR_FUNCTIONS;
	int n = PRIOR_LINE, at = 0;

	*pr = (struct prior){ .cluster = c };
	pr->both = spec->hosts == 2 && !(spec->clocks & STEADY_FIRST) ? 2 : 1;
	set_prior_sinusoids(pr);
	set_prior_series(pr);
	pr->cells = spec->hosts > MANY ? CELLS_OF_MANY : CELLS;
	pr->table = calloc((size_t)(pr->cells + 1) * (size_t)room, sizeof(*pr->table));
	left = calloc((size_t)pr->cells + 1, sizeof(*left));
	if (!pr->table || !left) {
		free(left);
		return false;
	}
	for (int i = 0; i <= pr->cells; i++) {
		double x = (double)i / pr->cells - 0.5, *row = &pr->table[(size_t)i * (size_t)room];

		row[0] = 1;
		row[1] = x;
		row[2] = spec->clocks & BEND ? x * x : 0;
		left[i] = compute_covariance(pr, 0, 0);
		if (pr->term[0])
			left[i] = compute_covariance(pr, get_end_of_cell(pr, i),
						     get_end_of_cell(pr, i));
	}
	while (n < room) {
		for (int i = at = 0; i <= pr->cells; i++)
			if (left[i] > left[at])
				at = i;
		if (!(left[at] > rough * rough))
			break;
		add_eigenfunction(pr, left, room, n++, at);
	}
	free(left);
	/* Reduce each row to the actual number of functions. */
	for (int i = 0; i <= pr->cells; i++)
		memmove(&pr->table[(size_t)i * (size_t)n], &pr->table[(size_t)i * (size_t)room],
			(size_t)n * sizeof(*pr->table));
	pr->functions = n;
	pr->precision[0] = 1 / (PRIOR_UNKNOWN * PRIOR_UNKNOWN);
	pr->precision[1] = 1 / (PRIOR_UNKNOWN * PRIOR_UNKNOWN);
	pr->precision[2] = pow(
		20e-6 / (3600 * SEC) / 2 * pr->cluster->span_ns * pr->cluster->span_ns, -2);
	for (int i = PRIOR_LINE; i < n; i++)
		pr->precision[i] = 1;
	return n < room;
}

void prior_release(struct prior *pr)
{
	free(pr->table);
}

/* Interpolate by Lagrange's cubic through the four nearest ends of cells. */
void prior_evaluate(const struct prior *pr, double t, double *f)
{
	double x = t / pr->cluster->span_ns * pr->cells, p, w[4];
	int cell = (int)fmin(fmax(floor(x) - 1, 0), pr->cells - 3), n = pr->functions;
	const double *row = &pr->table[cell * n];

	p = x - cell - 1;
	w[0] = -p * (p - 1) * (p - 2) / 6;
	w[1] = (p + 1) * (p - 1) * (p - 2) / 2;
	w[2] = -(p + 1) * p * (p - 2) / 2;
	w[3] = (p + 1) * p * (p - 1) / 6;
	for (int i = 0; i < n; i++)
		f[i] = w[0] * row[i] + w[1] * row[n + i] + w[2] * row[2 * n + i] +
		       w[3] * row[3 * n + i];
}
