// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "random.h"

#define EPOCH INT64_C(1700000000000000000)
#define SEC 1e9
#define HOUR 3600
#define MAX_BREAKS 8
#define PAUSES_OF_HOST 3
#define PROCESSORS 4
#define WALK_STEP 1e-9

struct rate_piece {
	double from;
	double skew;
	double ahead; /* offset at @from, accumulated by earlier pieces */
};

/* Consecutive rates, each of which applies until the next one begins. */
struct rate_pieces {
	struct rate_piece *piece;
	size_t num;
	size_t room;
};

struct clock_break {
	double from;
	double to;    /* end of the time in which the clock stands still */
	double ahead; /* size of the clock's step at the end, ns */
	/*
	 * Times of the host's last message before the break and of its first message after the
	 * break.
	 */
	double heard_until;
	double heard_from;
};

struct cluster_clock {
	int64_t offset;
	double skew;
	double ramp;   /* skew per ns */
	double middle; /* time at which the ramp passes zero */
	double amplitude;
	double omega;
	double phase;
	struct rate_pieces steps; /* rates set by a daemon that steers the clock */
	struct rate_pieces quartz;
	struct clock_break brk[MAX_BREAKS];
	int num_breaks;
};

/* ---- random numbers ---------------------------------------------------- */

/* Each purpose has its own stream of random numbers. */
enum stream { CLOCKS, LINKS, MESSAGES, FAULTS };

static uint64_t make_stream_state(uint64_t seed, enum stream which)
{
	return (seed * 16 + which) * UINT64_C(0xd1342543de82ef95);
}

static double draw_between(uint64_t *s, double low, double high)
{
	return low + (high - low) * draw_uniform(s);
}

static double draw_exponential(uint64_t *s, double mean)
{
	return -mean * log(draw_uniform(s));
}

static long draw_below(uint64_t *s, long n)
{
	return (long)((unsigned __int128)draw_64_bits(s) * (uint64_t)n >> 64);
}

/* ---- clocks ------------------------------------------------------------ */

/* Set the rate to @skew, beginning at @t. */
static bool add_rate_piece(struct rate_pieces *p, double t, double skew)
{
	struct rate_piece *last = p->num ? &p->piece[p->num - 1] : NULL;

	if (p->num == p->room) {
		size_t room = 2 * p->room + 16;
		struct rate_piece *more = realloc(p->piece, room * sizeof(*more));

		if (!more)
			return false;
		p->piece = more;
		p->room = room;
		last = p->num ? &p->piece[p->num - 1] : NULL;
	}
	p->piece[p->num++] = (struct rate_piece){
		t, skew, last ? last->ahead + last->skew * (t - last->from) : 0
	};
	return true;
}

/* Find the piece that contains a time. */
static size_t find_rate_piece(const struct rate_pieces *p, double t)
{
	size_t low = 0, high = p->num;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (p->piece[mid].from <= t)
			low = mid;
		else
			high = mid;
	}
	return low;
}

static double compute_pieces_offset(const struct rate_pieces *p, double t)
{
	const struct rate_piece *at = p->piece + find_rate_piece(p, t);

	return p->num ? at->ahead + (t - at->from) * at->skew : 0;
}

static bool make_rate_steps(struct cluster_clock *k, double span, uint64_t *s)
{
	double skew = 0, at = 0;

	while (at < span) {
		double length = draw_between(s, 100 * SEC, 300 * SEC);
		double step = draw_64_bits(s) & 1 ? 20e-6 : -20e-6;

		if (!add_rate_piece(&k->steps, at, skew))
			return false;
		at += length;
		skew += fabs(skew + step) < 50e-6 ? step : -step;
	}
	return true;
}

/* Return a normally distributed number (G. E. P. Box, M. E. Muller, 1958). */
static double draw_normal(uint64_t *s)
{
	double r = sqrt(-2 * log(draw_uniform(s)));

	return r * cos(2 * M_PI * draw_uniform(s));
}

/*
 * Frequency noise of a computer's crystal according to IEEE Std 1139, with an Allan deviation of
 * about 1e-9 from 10 to 1,000 s. The noise has three parts: a random walk of 3.5e-10 per root of a
 * second; flicker, which is approximated by sums of relaxations whose time constants are powers of
 * ten; and 0.1 ppm in 10-30 min, caused by the temperature of a room.
 */
static bool make_quartz_pieces(struct cluster_clock *k, double span, uint64_t *s)
{
	const double step = 10 * SEC;
	double walk = 0, flicker[4] = { 0 };
	double omega = 2 * M_PI / draw_between(s, 600 * SEC, 1800 * SEC);
	double phase = draw_between(s, 0, 2 * M_PI);

	for (double t = 0; t < span; t += step) {
		double skew, length = 10;

		walk += 3.5e-10 * sqrt(step / SEC) * draw_normal(s);
		skew = walk + 0.1e-6 * sin(omega * t + phase);
		for (int i = 0; i < 4; i++, length *= 10) {
			double keep = exp(-step / SEC / length);

			flicker[i] = keep * flicker[i] +
				     5e-10 * sqrt(1 - keep * keep) * draw_normal(s);
			skew += flicker[i];
		}
		if (!add_rate_piece(&k->quartz, t, skew))
			return false;
	}
	return true;
}

/* The skew changes by a random step each second, so that it is a random walk (IEEE Std 1139). */
static bool make_walk_pieces(struct cluster_clock *k, double span, uint64_t *s)
{
	double skew = 0;

	for (double t = 0; t < span; t += SEC) {
		if (!add_rate_piece(&k->quartz, t, skew))
			return false;
		skew += WALK_STEP * draw_normal(s);
	}
	return true;
}

/*
 * A daemon wakes up, estimates the offset, removes it by slewing at a constant rate, and slightly
 * corrects the frequency (chrony.conf(5), maxslewrate).
 */
struct daemon {
	double poll_s[2];
	double slew[2];
	double slew_s[2];
	double frequency; /* largest frequency correction */
};

static bool make_daemon_steering(struct cluster_clock *k, const struct daemon *d, double span,
				 uint64_t *s)
{
	double t = 0, frequency = 0, ahead = 0;

	if (!add_rate_piece(&k->steps, 0, 0))
		return false;
	for (;;) {
		double length = draw_between(s, d->poll_s[0], d->poll_s[1]) * SEC;
		double slew = draw_between(s, d->slew[0], d->slew[1]);
		double take = draw_between(s, d->slew_s[0], d->slew_s[1]) * SEC;
		double change = draw_uniform(s) * d->frequency;

		ahead += frequency * length;
		t += length;
		if (t + take > span)
			return true;
		/*
		 * Usually, slew towards the true time. Sometimes slew away from it, because
		 * measurements are noisy.
		 */
		if ((ahead > 0) == (draw_uniform(s) < 0.8)) {
			slew = -slew;
			change = -change;
		}
		frequency = 0.9 * frequency + change;
		if (!add_rate_piece(&k->steps, t, frequency + slew) ||
		    !add_rate_piece(&k->steps, t + take, frequency))
			return false;
		ahead += (frequency + slew) * take;
		t += take;
	}
}

/*
 * Each second, the frequency is set such that 0.7 of the measured offset is removed after a
 * second (ptp4l(8), pi_proportional_const). Readings have an error of 100 ns, like software
 * timestamps.
 */
static bool make_ptp_steering(struct cluster_clock *k, double span, uint64_t *s)
{
	double ahead = 0;

	for (double t = 0; t < span; t += SEC) {
		double skew = -0.7 * (ahead + 100 * draw_normal(s)) / SEC;

		if (!add_rate_piece(&k->steps, t, skew))
			return false;
		ahead += skew * SEC;
	}
	return true;
}

static bool make_adjtime_steering(struct cluster_clock *k, double span, uint64_t *s)
{
	double t = 0;

	if (!add_rate_piece(&k->steps, 0, 0))
		return false;
	for (;;) {
		double us = draw_between(s, 200, 3000);
		double sign = draw_64_bits(s) & 1 ? 1 : -1;

		t += draw_between(s, 100 * SEC, 300 * SEC);
		if (t + 8 * SEC > span)
			return true;
		for (; us > 0; us -= 500, t += SEC)
			if (!add_rate_piece(&k->steps, t, sign * fmin(us, 500) * 1e-6))
				return false;
		if (!add_rate_piece(&k->steps, t, 0))
			return false;
	}
}

static bool make_smear_steering(struct cluster_clock *k, double span)
{
	double day = 24 * HOUR * SEC, from = (span - day) / 2;

	return add_rate_piece(&k->steps, 0, 0) && add_rate_piece(&k->steps, from, -SEC / day) &&
	       add_rate_piece(&k->steps, from + day, 0);
}

static void make_clock_breaks(struct cluster_clock *k, unsigned int clocks, double span,
			      uint64_t *s)
{
	if (clocks & JUMP) {
		double at = draw_between(s, 0.2 * span, 0.8 * span);

		k->brk[k->num_breaks++] = (struct clock_break){
			.from = at, .to = at, .ahead = draw_uniform(s) < 0.5 ? 50e6 : -50e6
		};
	}
	if (!(clocks & PAUSES))
		return;
	for (int i = k->num_breaks; i < PAUSES_OF_HOST; i++) {
		double at = span * (i + draw_between(s, 0.2, 0.8)) / PAUSES_OF_HOST;

		k->brk[k->num_breaks++] = (struct clock_break){
			.from = at, .to = at + draw_between(s, 0.2 * SEC, 2 * SEC)
		};
	}
}

/* Alternately step the clock by seconds and by up to @small ns. */
static void make_clock_settings(struct cluster_clock *k, int times, double small, double span,
				uint64_t *s)
{
	for (int i = 0; i < times; i++) {
		double at = span * (i + draw_between(s, 0.2, 0.8)) / times;
		double by = small && i & 1 ? draw_between(s, 5e3, small) :
					     draw_between(s, 0.5 * SEC, 5 * SEC);

		k->brk[k->num_breaks++] = (struct clock_break){
			.from = at, .to = at, .ahead = draw_64_bits(s) & 1 ? by : -by
		};
	}
}

static bool make_clock_steering(struct cluster_clock *k, unsigned int clocks, double span,
				uint64_t *s)
{
	static const struct daemon busy = {
		.poll_s = { 16, 64 }, .slew = { 20e-6, 100e-6 },
		.slew_s = { 0.5, 8 }, .frequency = 0.3e-6,
	}, calm = {
		.poll_s = { 64, 1024 }, .slew = { 0.1e-6, 5e-6 },
		.slew_s = { 1, 60 }, .frequency = 0.02e-6,
	};

	if (clocks & RATE_STEPS)
		return make_rate_steps(k, span, s);
	if (clocks & (CHRONY | CHRONY_CALM))
		return make_daemon_steering(k, clocks & CHRONY ? &busy : &calm, span, s);
	if (clocks & PTP)
		return make_ptp_steering(k, span, s);
	return !(clocks & ADJTIME) || make_adjtime_steering(k, span, s);
}

static bool make_cluster_clock(struct cluster *c, int host, uint64_t *s)
{
	struct cluster_clock *k = &c->clock[host];
	unsigned int clocks = c->spec.clocks;
	bool steady = !host && (clocks & STEADY_FIRST);
	bool left_alone = c->spec.steered && host < c->spec.hosts - c->spec.steered;

	k->offset = EPOCH + (int64_t)draw_between(s, -10 * SEC, 10 * SEC);
	k->skew = draw_between(s, -50e-6, 50e-6);
	if ((clocks & BEND) && !steady) {
		k->amplitude = 50e3;
		k->omega = 2 * M_PI / draw_between(s, 300 * SEC, 900 * SEC);
		k->phase = draw_between(s, 0, 2 * M_PI);
		k->middle = c->span_ns / 2;
		if (host)
			k->ramp = (draw_uniform(s) < 0.5 ? 20e-6 : -20e-6) / (3600 * SEC);
	}
	if (host == 1) {
		make_clock_breaks(k, clocks, c->span_ns, s);
		if (clocks & SET)
			make_clock_settings(k, MAX_BREAKS, 200e3, c->span_ns, s);
		if (clocks & SUSPEND)
			k->brk[k->num_breaks++] = (struct clock_break){
				.from = 0.4 * c->span_ns, .to = 0.4 * c->span_ns * 17 / 12
			};
		if ((clocks & SMEAR) && !make_smear_steering(k, c->span_ns))
			return false;
	}
	if (host == c->spec.hosts - 1 && (clocks & SET_LAST))
		make_clock_settings(k, 3, 0, c->span_ns, s);
	if (!steady && !left_alone && !make_clock_steering(k, clocks, c->span_ns, s))
		return false;
	if (clocks & WALK)
		return make_walk_pieces(k, c->span_ns, s);
	return !(clocks & QUARTZ) || make_quartz_pieces(k, c->span_ns, s);
}

/* Return the clock's offset from true time, minus its initial offset. */
static double compute_clock_offset(const struct cluster_clock *k, double t)
{
	double e = k->skew * t + compute_pieces_offset(&k->steps, t) +
		   compute_pieces_offset(&k->quartz, t);

	if (k->amplitude)
		e += k->amplitude * sin(k->omega * t + k->phase) +
		     k->ramp / 2 * (t - k->middle) * (t - k->middle);
	for (int i = 0; i < k->num_breaks; i++) {
		if (t < k->brk[i].from)
			continue;
		e -= fmin(t, k->brk[i].to) - k->brk[i].from;
		if (t >= k->brk[i].to)
			e += k->brk[i].ahead;
	}
	return e;
}

int64_t cluster_read_clock(const struct cluster *c, int host, double t)
{
	return c->clock[host].offset + llround(t + compute_clock_offset(&c->clock[host], t));
}

double cluster_compute_offset(const struct cluster *c, int ref, int host, double t)
{
	return (double)(c->clock[ref].offset - c->clock[host].offset) +
	       (compute_clock_offset(&c->clock[ref], t) - compute_clock_offset(&c->clock[host], t));
}

/* Return the sum of the steps up to @t. */
static double sum_settings_until(const struct cluster_clock *k, double t)
{
	double sum = 0;

	for (int i = 0; i < k->num_breaks; i++)
		if (t >= k->brk[i].to)
			sum += k->brk[i].ahead;
	return sum;
}

bool cluster_make_next_point(const struct cluster *c, int host, double *t,
			     struct cluster_point *point)
{
	const struct cluster_clock *k = &c->clock[host];
	double next = *t < 0 ? 0 : (floor(*t / SEC) + 1) * SEC, steering = 0;

	if ((!k->steps.num && !k->num_breaks) || !cluster_host_is_sound(c, host))
		return false;
	if (k->steps.num) {
		const struct rate_piece *p = k->steps.piece;
		size_t i = find_rate_piece(&k->steps, *t) + (p[0].from <= *t);

		if (i < k->steps.num && p[i].from > *t)
			next = fmin(next, p[i].from);
		steering = p[find_rate_piece(&k->steps, next)].skew;
	}
	point->was_set = false;
	for (int i = 0; i < k->num_breaks; i++) {
		if (k->brk[i].to <= *t || k->brk[i].to > next)
			continue;
		next = k->brk[i].to;
		point->was_set = k->brk[i].ahead;
	}
	if (next > c->span_ns)
		return false;
	*t = next;
	point->time_ns = cluster_read_clock(c, host, next);
	/* The raw clock is what the clock would be without steering. */
	point->raw_ns = llround(next + (compute_clock_offset(k, next) -
					compute_pieces_offset(&k->steps, next) -
					sum_settings_until(k, next)));
	point->rate = 1 + steering / (1 + k->skew);
	return true;
}

bool cluster_get_break(const struct cluster *c, int host, int index, double *from, double *to,
		       double *ahead)
{
	const struct cluster_clock *k = &c->clock[host];

	if (index >= k->num_breaks)
		return false;
	*from = k->brk[index].from;
	*to = k->brk[index].to;
	*ahead = k->brk[index].ahead;
	return true;
}

bool cluster_break_is_heard(const struct cluster *c, int host, int index, double t)
{
	const struct clock_break *b = &c->clock[host].brk[index];

	return t <= b->heard_until || t >= b->heard_from;
}

bool cluster_host_is_sound(const struct cluster *c, int host)
{
	return !(c->spec.clocks & FALSE_LAST) || host != c->spec.hosts - 1;
}

/* Return the timestamp that a program on the host would take. */
static int64_t make_stamp(const struct cluster *c, int host, double t, uint64_t *s)
{
	int64_t r = cluster_read_clock(c, host, t);
	double resolution = c->spec.resolution_ns;

	if (!cluster_host_is_sound(c, host)) {
		double processor = (double)draw_below(s, PROCESSORS) / PROCESSORS;

		r += llround((10e6 + 100e-6 * t) * processor);
	}
	if (c->spec.processors_ns)
		r += llround(((double)draw_below(s, PROCESSORS) / (PROCESSORS - 1) - 0.5) *
			     c->spec.processors_ns);
	return resolution ? r - r % (int64_t)resolution : r;
}

/* A host that was stopped does its pending work soon after it resumes. */
static double delay_until_awake(const struct cluster_clock *k, double t, uint64_t *s)
{
	for (int i = 0; i < k->num_breaks; i++)
		if (t >= k->brk[i].from && t < k->brk[i].to)
			return k->brk[i].to + draw_exponential(s, 1e6);
	return t;
}

/* ---- links between hosts ----------------------------------------------- */

struct link {
	int a;
	int b; /* number of the second host, which is higher than a */
};

const int cluster_eight[CLUSTER_EIGHT] = { 1, 10, 100, 317 };

/* Link host @b in the ring with hosts that have lower numbers. Return the number of these links. */
static long link_to_eight_hosts(struct link *l, int b, int hosts)
{
	long num = 0;

	for (int i = 0; i < CLUSTER_EIGHT; i++) {
		const int near = cluster_eight[i], far = hosts - near;

		if (b >= near)
			l[num++] = (struct link){ b - near, b };
		if (b >= far)
			l[num++] = (struct link){ b - far, b };
	}
	return num;
}

static struct link *make_cluster_links(const struct cluster_spec *spec, uint64_t *s, long *num)
{
	long n = spec->hosts,
	     room = spec->topology == ALL_PAIRS ? n * (n - 1) / 2 : CLUSTER_EIGHT * n;
	struct link *l = malloc((size_t)room * sizeof(*l));

	*num = 0;
	if (!l)
		return NULL;
	for (int b = 1; b < n; b++) {
		switch (spec->topology) {
		case ALL_PAIRS:
			for (int a = 0; a < b; a++)
				l[(*num)++] = (struct link){ a, b };
			break;
		case CHAIN:
			l[(*num)++] = (struct link){ b - 1, b };
			break;
		case STAR:
			l[(*num)++] = (struct link){ 0, b };
			break;
		case SPARSE:
			l[(*num)++] = (struct link){ (int)draw_below(s, b), b };
			l[(*num)++] = (struct link){ (int)draw_below(s, b), b };
			break;
		case EIGHT:
			*num += link_to_eight_hosts(l + *num, b, spec->hosts);
			break;
		}
	}
	return l;
}

/* ---- messages ---------------------------------------------------------- */

static double choose_or_default(double value, double standard)
{
	return value ? value : standard;
}

struct draw {
	const struct link *link;
	long num_links;
	uint64_t messages; /* state of the random stream of each purpose */
	uint64_t faults;
};

/* Store the time @t of a message, so that messages show whether a break is before or after them. */
static void note_message_at_break(struct cluster_clock *k, double t)
{
	for (int i = 0; i < k->num_breaks; i++) {
		struct clock_break *b = &k->brk[i];

		if (t < b->from)
			b->heard_until = fmax(b->heard_until, t);
		else if (t >= b->to)
			b->heard_from = fmin(b->heard_from, t);
	}
}

static void add_cluster_message(struct cluster *c, int from, int to, double sent, double received,
				uint64_t *s)
{
	note_message_at_break(&c->clock[from], sent);
	note_message_at_break(&c->clock[to], received);
	c->msg[c->num++] = (struct cluster_message){ (uint32_t)from, (uint32_t)to,
						     make_stamp(c, from, sent, s),
						     make_stamp(c, to, received, s) };
}

/* Draw the time of a packet that has nothing to do with the one sent at @t. */
static double draw_unrelated_time(const struct cluster *c, double t, uint64_t *s)
{
	double other = draw_uniform(s) * c->span_ns;

	/* Half of these are similar packets that were sent shortly before or after @t. */
	if (draw_64_bits(s) & 1) {
		double by = draw_exponential(s, 10e6);

		other = draw_64_bits(s) & 1 ? t + by : t - by;
	}
	return fmin(fmax(other, 0), c->span_ns);
}

static void draw_cluster_message(struct cluster *c, struct draw *d, double t)
{
	const struct cluster_spec *spec = &c->spec;
	const struct link *l = &d->link[draw_below(&d->messages, d->num_links)];
	int back = (int)(draw_64_bits(&d->messages) & 1);
	int from = back ? l->b : l->a, to = back ? l->a : l->b;
	double delay = choose_or_default(spec->min_delay_ns[back], 30e3) +
		       draw_exponential(&d->messages,
					choose_or_default(spec->mean_delay_ns[back], 100e3));
	double received;

	if (spec->lost[back] && draw_uniform(&d->faults) < spec->lost[back])
		return;
	/* A suspended machine exchanges no messages. */
	if ((spec->clocks & SUSPEND) && (delay_until_awake(&c->clock[from], t, &d->faults) != t ||
					 delay_until_awake(&c->clock[to], t, &d->faults) != t))
		return;
	t = delay_until_awake(&c->clock[from], t, &d->faults);
	if (spec->late && draw_uniform(&d->faults) < spec->late)
		delay += draw_exponential(&d->faults, 20e6);
	received = delay_until_awake(&c->clock[to], t + delay, &d->faults);
	if (spec->wrong && draw_uniform(&d->faults) < spec->wrong)
		received = draw_unrelated_time(c, t, &d->faults);
	if (spec->near && draw_uniform(&d->faults) < spec->near)
		received += draw_between(&d->faults, -200e3, 200e3);
	add_cluster_message(c, from, to, t, received, &d->faults);
	if (spec->repeated && draw_uniform(&d->faults) < spec->repeated) {
		if (draw_64_bits(&d->faults) & 1)
			received += draw_exponential(&d->faults, 1e6);
		add_cluster_message(c, from, to, t,
				    delay_until_awake(&c->clock[to], received, &d->faults),
				    &d->faults);
	}
}

/*
 * Draw messages in order of time at random instants: the intervals between them are exponentially
 * distributed.
 */
static void draw_cluster_messages(struct cluster *c, struct draw *d)
{
	double gap = c->gap_to_ns - c->gap_from_ns, sum = 0, t = 0;
	uint64_t times = ~d->messages, again = times;

	for (long i = 0; i <= c->spec.messages; i++)
		sum += draw_exponential(&times, 1);
	for (long i = 0; i < c->spec.messages; i++) {
		t += draw_exponential(&again, (c->span_ns - gap) / sum);
		draw_cluster_message(c, d, t < c->gap_from_ns ? t : t + gap);
	}
}

static void shuffle_messages(struct cluster *c, uint64_t *s)
{
	for (long i = c->num; i > 1; i--) {
		long j = draw_below(s, i);
		struct cluster_message m = c->msg[j];

		c->msg[j] = c->msg[i - 1];
		c->msg[i - 1] = m;
	}
}

bool cluster_make(struct cluster *c, const struct cluster_spec *spec, uint64_t seed)
{
	uint64_t clocks = make_stream_state(seed, CLOCKS), links = make_stream_state(seed, LINKS);
	struct draw d = { .messages = make_stream_state(seed, MESSAGES),
			  .faults = make_stream_state(seed, FAULTS) };
	size_t room = (size_t)spec->messages * (spec->repeated ? 2 : 1);

	*c = (struct cluster){ .spec = *spec, .span_ns = spec->span_s * SEC };
	c->gap_from_ns = c->span_ns * draw_between(&clocks, 0.3, 0.6);
	c->gap_to_ns = c->gap_from_ns + spec->gap_s * SEC;
	c->clock = calloc((size_t)spec->hosts, sizeof(*c->clock));
	c->msg = malloc(room * sizeof(*c->msg));
	d.link = make_cluster_links(spec, &links, &d.num_links);
	if (!c->clock || !c->msg || !d.link)
		goto no_memory;
	for (int h = 0; h < spec->hosts; h++)
		if (!make_cluster_clock(c, h, &clocks))
			goto no_memory;
	for (int h = 0; h < spec->hosts; h++)
		for (int i = 0; i < c->clock[h].num_breaks; i++)
			c->clock[h].brk[i].heard_from = c->span_ns;
	draw_cluster_messages(c, &d);
	if (spec->shuffled)
		shuffle_messages(c, &d.faults);
	free((void *)d.link);
	return true;
no_memory:
	free((void *)d.link);
	cluster_free(c);
	return false;
}

void cluster_free(struct cluster *c)
{
	for (int h = 0; c->clock && h < c->spec.hosts; h++) {
		free(c->clock[h].steps.piece);
		free(c->clock[h].quartz.piece);
	}
	free(c->clock);
	free(c->msg);
	*c = (struct cluster){ 0 };
}
