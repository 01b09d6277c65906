// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Corrections -> corrections shifted so that no message is received before it is sent, where
 * messages pass in one direction only.
 *
 * Two hosts with messages in both directions are rigid: their clock offset is estimated. Between
 * groups of such hosts, messages limit the offset from one side. With m as the least delay of the
 * messages from group i to group j, the shifts d of the groups must satisfy
 *
 *	d_j - d_i + m >= 0,
 *
 * a system of difference constraints (R. Bellman, "On a routing problem", 1958). Repeated
 * relaxation from 0 finds the least solution that moves groups later only, and the greatest that
 * moves them earlier only. The mean of both is also a solution, and groups without inversions are
 * not moved. Finally, the reference's group is moved back to 0.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "reduce/internal.h"

/*
 * Least delay after the shift, ns: rounding of the offset, the rate and both corrected times of a
 * message, and the distance of straight segments from a curve (curve/correction.c).
 */
#define ROUNDING 4.0
#define OF_ERROR (1.0 / 8)

/* Messages from group @from to group @to. */
struct group_delay {
	uint32_t from;
	uint32_t to;
	double least; /* least delay, less the slack for rounding, ns */
};

struct feasible {
	const struct reduction *r;
	uint32_t *group; /* for each host, the number of one host of its group */
	double *later;	 /* the least shift >= 0 of each group, ns */
	double *earlier; /* the greatest shift <= 0 */
	struct group_delay *delay;
	size_t num;
};

static uint32_t group_of(struct feasible *f, uint32_t host)
{
	while (f->group[host] != host) {
		f->group[host] = f->group[f->group[host]];
		host = f->group[host];
	}
	return host;
}

static void join_groups(struct feasible *f)
{
	for (uint32_t h = 0; h < f->r->num_hosts; h++)
		f->group[h] = h;
	for (uint32_t i = 0; i < f->r->num_pairs; i++) {
		const struct pair *p = f->r->est[i].pair;
		uint32_t a = group_of(f, p->host[0]);
		uint32_t b = group_of(f, p->host[1]);

		if (p->direction[0].num && p->direction[1].num)
			f->group[a > b ? a : b] = a > b ? b : a;
	}
}

/*
 * Return the least delay of the messages that were kept; HUGE_VAL: there are none. @raised:
 * rounding-up offset of the direction that is not applied here.
 */
static double least_delay(const struct correction *both[2], int way, const struct direction *d,
			  int64_t raised)
{
	double least = HUGE_VAL;

	for (size_t i = 0; i < d->envelope.num; i++) {
		const struct bin *b = &d->envelope.bin[i];

		for (uint32_t k = 0; k < b->corners; k++) {
			const struct point p = { b->corner[k].x, b->corner[k].y - raised };

			if (!correction_excludes(both, way, &b->corner[k], d->raised))
				least = fmin(least, correction_delay(both, way, &p));
		}
	}
	return least;
}

/*
 * Collect the least delays of each direction between two groups. @as_shown: use the times of the
 * stamps; else a message was received up to a resolution of its stamp later.
 */
static void collect_delays(struct feasible *f, bool as_shown)
{
	f->num = 0;
	for (uint32_t i = 0; i < f->r->num_pairs; i++) {
		const struct pair *p = f->r->est[i].pair;
		const struct correction *both[2] = { &f->r->correction[p->host[0]],
						     &f->r->correction[p->host[1]] };
		uint32_t group[2] = { group_of(f, p->host[0]), group_of(f, p->host[1]) };
		double error = fmax(both[0]->expected_error, both[1]->expected_error);

		if (group[0] == group[1] || !both[0]->known || !both[1]->known)
			continue;
		for (int way = 0; way < 2; way++) {
			const struct direction *d = &p->direction[way];
			double least = least_delay(both, way, d, as_shown ? d->raised : 0);

			if (!isinf(least))
				f->delay[f->num++] = (struct group_delay){
					group[way], group[!way], least - ROUNDING - OF_ERROR * error
				};
		}
	}
}

/* Apply all constraints once. Return whether any shift changed. */
static bool relax_delays(struct feasible *f)
{
	bool changed = false;

	for (size_t i = 0; i < f->num; i++) {
		const struct group_delay *m = &f->delay[i];
		double later = f->later[m->from] - m->least;
		double earlier = f->earlier[m->to] + m->least;

		if (later > f->later[m->to]) {
			f->later[m->to] = later;
			changed = true;
		}
		if (earlier < f->earlier[m->from]) {
			f->earlier[m->from] = earlier;
			changed = true;
		}
	}
	return changed;
}

/* Find a solution. Return false if there is none. */
static bool solve_delays(struct feasible *f)
{
	for (uint32_t h = 0; h < f->r->num_hosts; h++)
		f->later[h] = f->earlier[h] = 0;
	/*
	 * A path over all groups takes as many rounds as there are groups; more rounds mean a
	 * cycle.
	 */
	for (uint32_t round = 0; round <= f->r->num_hosts; round++)
		if (!relax_delays(f))
			return true;
	return false;
}

/* Return the shift of a host, ns. */
static double shift_of_host(struct feasible *f, uint32_t host)
{
	uint32_t reference = group_of(f, f->r->reference);
	uint32_t group = group_of(f, host);

	return group == reference || !f->r->correction[host].known ?
		       0 :
		       (f->later[group] + f->earlier[group] - f->later[reference] -
			f->earlier[reference]) /
			       2;
}

/* Do all shifted offsets fit into 64 bits? */
static bool shifts_fit(struct feasible *f)
{
	for (uint32_t h = 0; h < f->r->num_hosts; h++)
		if (fabs((double)f->r->correction[h].offset + shift_of_host(f, h)) >= 0x1p62)
			return false;
	return true;
}

static void shift_groups(struct feasible *f, struct reduction *r)
{
	for (uint32_t h = 0; h < r->num_hosts; h++) {
		struct correction *c = &r->correction[h];
		double offset = c->frac + shift_of_host(f, h);

		c->offset += (int64_t)floor(offset);
		c->frac = offset - floor(offset);
	}
}

int reduction_make_feasible(struct reduction *r)
{
	struct feasible f = {
		.r = r,
		.group = calloc(r->num_hosts + 1, sizeof(*f.group)),
		.later = calloc(r->num_hosts + 1, sizeof(*f.later)),
		.earlier = calloc(r->num_hosts + 1, sizeof(*f.earlier)),
		.delay = calloc(2 * (size_t)r->num_pairs + 1, sizeof(*f.delay)),
	};
	int ret = f.group && f.later && f.earlier && f.delay ? 0 : -ENOMEM;
	bool found = false;

	if (!ret)
		join_groups(&f);
	for (int as_shown = 1; !ret && !found && as_shown >= 0; as_shown--) {
		collect_delays(&f, as_shown);
		found = solve_delays(&f) && shifts_fit(&f);
	}
	/*
	 * If messages of several groups are inconsistent, or shifts exceed the range of times,
	 * everything stays the same.
	 */
	if (found)
		shift_groups(&f, r);
	free(f.group);
	free(f.later);
	free(f.earlier);
	free(f.delay);
	return ret;
}
