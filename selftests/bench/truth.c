// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure the error of netsync on simulated clusters with known clocks, and its cost. truth-cases.h
 * has the cases and their targets. A separate process solves each seed, so that its memory can be
 * measured and a crash affects only one line.
 */
#include <fnmatch.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "digest.h"
#include "floor.h"
#include "measure.h"
#include "netsync.h"
#include "truth-cases.h"

#define MAX_SEEDS 64
#define INSTANTS 4000	 /* number of evenly spaced instants of each host, including the last one */
#define NEAR_BREAK 0.1e9 /* ns before and after a break within which no instants are compared */
#define NEAR_FLOOR 1.3	 /* goal: ratio of RMS error to the floor */

#define NUM_CASES (sizeof(cases) / sizeof(cases[0]))

/* The result of one seed. */
struct outcome {
	bool done;
	int quality; /* quality of the worst host */
	double max;
	double rms;
	double inside;	   /* fraction of instants at which the truth is within the bound */
	double claimed;	   /* fraction of instants at which the bound is known */
	double bound;	   /* median of half of the bound's width, minus the minimum delay */
	double jump_error; /* error of the time of a step, ns */
	bool other_bits;   /* for the first seed: whether two threads give a different result */
	double floor;	   /* RMS of the floor, ns; 0 if unknown */
	double cost;	   /* ns per message */
	double memory;	   /* peak memory, bytes */
};

/* ---- errors against the truth ------------------------------------------ */

/* In a silence, only instants with a known bound are counted. */
enum place { NORMAL, SILENT, AT_BREAK };

/*
 * Return what kind of instant this is, and set @from_jump to the distance from the next step. After
 * a clock was stepped back, some readings occur twice and are ambiguous, so they are not counted.
 * The time of a step within a silence is not knowable either.
 */
static enum place find_place_in_time(const struct cluster *c, double t, double *from_jump)
{
	enum place where = t >= c->gap_from_ns && t <= c->gap_to_ns ? SILENT : NORMAL;

	for (int h = 0; h < c->spec.hosts; h++) {
		double from, to, ahead;

		for (int i = 0; cluster_get_break(c, h, i, &from, &to, &ahead); i++) {
			double near = NEAR_BREAK + fmax(0, -ahead);

			if (t <= from - near || t >= to + near) {
				if (!cluster_break_is_heard(c, h, i, t))
					where = SILENT;
				continue;
			}
			*from_jump = from < to ? 0 : fabs(t - from) - fmax(0, -ahead);
			return AT_BREAK;
		}
	}
	return where;
}

struct sums {
	double squares;
	long num;
	long num_inside;
	long num_bounds;
	long num_claimed;
	double *half_width; /* one value for each host and instant */
	long num_half_widths;
};

static void judge_instant(const struct cluster *c, int ref, int host, double t,
			  const struct netsync_clock *clock, struct sums *s, struct outcome *o)
{
	int64_t r = cluster_read_clock(c, host, t), corrected, bound, lo, hi;
	double error, from_jump;
	enum place where = find_place_in_time(c, t, &from_jump);

	if (netsync_convert(clock, r, &corrected, &bound) < 0) {
		o->max = INFINITY;
		return;
	}
	error = fabs((double)(corrected - r) - cluster_compute_offset(c, ref, host, t));
	if (where == AT_BREAK) {
		if (error > 1e6)
			o->jump_error = fmax(o->jump_error, from_jump);
		return;
	}
	netsync_interval(clock, r, &lo, &hi);
	s->num_bounds++;
	s->num_inside += error <= (double)bound;
	s->num_claimed += lo != INT64_MIN && hi != INT64_MAX;
	s->half_width[s->num_half_widths++] = lo == INT64_MIN || hi == INT64_MAX ?
						      INFINITY :
						      (double)(hi - lo) / 2;
	if (where == SILENT)
		return;
	s->num++;
	s->squares += error * error;
	o->max = fmax(o->max, error);
}

static int compare_doubles(const void *a, const void *b)
{
	const double *p = a, *q = b;

	return *p < *q ? -1 : *p > *q;
}

static double compute_median(double *value, long num)
{
	qsort(value, (size_t)num, sizeof(*value), compare_doubles);
	return num ? value[num / 2] : NAN;
}

static double find_smallest_delay(const struct cluster_spec *spec)
{
	double d = spec->min_delay_ns[0] + spec->min_delay_ns[1];

	return d ? d / 2 : 30e3;
}

static void judge_host_clock(const struct cluster *c, const struct netsync *ns, int host,
			     struct sums *s, struct outcome *o)
{
	const struct netsync_clock *clock = netsync_host_clock(ns, (uint32_t)host);
	struct netsync_host_info info = { .size = sizeof(info) };
	int ref = netsync_reference(ns);
	double from, to, ahead;

	netsync_get_host(ns, (uint32_t)host, &info);
	if ((int)info.quality < o->quality)
		o->quality = (int)info.quality;
	if (!clock) {
		o->max = INFINITY;
		return;
	}
	for (int i = 0; i <= INSTANTS; i++)
		judge_instant(c, ref, host, c->span_ns * i / INSTANTS, clock, s, o);
	for (int i = 0; cluster_get_break(c, host, i, &from, &to, &ahead); i++)
		for (double t = -NEAR_BREAK; t < NEAR_BREAK; t += 0.5e6)
			judge_instant(c, ref, host, from + t, clock, s, o);
}

static bool judge_all_hosts(const struct cluster *c, const struct netsync *ns, struct outcome *o)
{
	struct sums s = { 0 };

	s.half_width = malloc((size_t)c->spec.hosts * (INSTANTS + 8000) * sizeof(*s.half_width));
	if (!s.half_width)
		return false;
	o->quality = NETSYNC_ACCURATE;
	for (int h = 0; h < c->spec.hosts; h++)
		if (h != netsync_reference(ns) && cluster_host_is_sound(c, h))
			judge_host_clock(c, ns, h, &s, o);
	o->rms = isinf(o->max) ? INFINITY : sqrt(s.squares / (double)s.num);
	o->inside = (double)s.num_inside / (double)s.num_bounds;
	o->claimed = (double)s.num_claimed / (double)s.num_bounds;
	o->bound = compute_median(s.half_width, s.num_half_widths) - find_smallest_delay(&c->spec);
	free(s.half_width);
	return true;
}

/* ---- one seed ---------------------------------------------------------- */

static bool add_cluster_hosts(const struct cluster *c, struct netsync *ns)
{
	for (int h = 0; h < c->spec.hosts; h++) {
		char name[16];

		snprintf(name, sizeof(name), "h%d", h);
		if (netsync_add_host(ns, name) != h ||
		    netsync_extend_span(ns, (uint32_t)h, cluster_read_clock(c, h, 0)) ||
		    netsync_extend_span(ns, (uint32_t)h, cluster_read_clock(c, h, c->span_ns)))
			return false;
	}
	return true;
}

static enum netsync_method method;

static bool push_cluster_events(const struct cluster *c, struct netsync *ns)
{
	for (int h = 0; h < c->spec.hosts; h++) {
		struct cluster_point p;
		double t = -1;

		while (cluster_make_next_point(c, h, &t, &p))
			if (netsync_push_clock(ns,
					       &(struct netsync_clock_point){
						       .size = sizeof(struct netsync_clock_point),
						       .host = (uint32_t)h,
						       .time_ns = p.time_ns,
						       .raw_ns = p.raw_ns,
						       .rate = p.rate,
						       .was_set = p.was_set }))
				return false;
	}
	return true;
}

static bool solve_cluster(const struct cluster *c, struct netsync *ns, uint32_t threads)
{
	/* As a reference, use one end of the chain, which is the worst choice. */
	const struct netsync_options opt = {
		.size = sizeof(opt),
		.method = method,
		.reference = c->spec.clocks & FALSE_LAST ? NULL : "h0",
		.threads = threads,
	};

	return !netsync_solve(ns, &opt);
}

static bool push_and_solve(const struct cluster *c, struct netsync *ns, bool has_events)
{
	if (has_events && !push_cluster_events(c, ns))
		return false;
	for (long i = 0; i < c->num; i++) {
		const struct cluster_message *m = &c->msg[i];

		if (netsync_push_message(ns, m->from, m->to, m->send_ns, m->recv_ns))
			return false;
	}
	return solve_cluster(c, ns, 1);
}

/* Return whether the result with two threads differs from the result with one thread. */
static bool do_threads_differ(const struct cluster *c, struct netsync *ns)
{
	const uint64_t bits = digest_clocks(ns);

	return !solve_cluster(c, ns, 2) || digest_clocks(ns) != bits;
}

struct seed {
	const struct cluster_spec *spec;
	uint64_t number;
	bool has_events;
	bool floor;
};

static void run_truth_seed(const void *arg, void *result)
{
	const struct seed *seed = arg;
	struct outcome *o = result;
	struct cluster c;
	struct netsync *ns;
	double start;

	*o = (struct outcome){ 0 };
	if (!cluster_make(&c, seed->spec, seed->number))
		return;
	ns = netsync_new();
	if (ns && add_cluster_hosts(&c, ns)) {
		measure_memory_start();
		start = measure_time();
		o->done = push_and_solve(&c, ns, seed->has_events);
		o->cost = (measure_time() - start) / (double)c.num;
		o->memory = measure_memory();
		if (o->done)
			o->done = judge_all_hosts(&c, ns, o);
		else
			fprintf(stderr, "truth: %s\n", netsync_error(ns));
		o->other_bits = o->done && seed->number == 1 && do_threads_differ(&c, ns);
	}
	netsync_free(ns);
	if (seed->floor && floor_can_be_computed(seed->spec))
		o->floor = floor_compute_rms(&c);
	cluster_free(&c);
}

/* ---- printing ---------------------------------------------------------- */

struct settings {
	int seeds;
	bool verbose;
	bool floor; /* recompute the floor */
	char **patterns;
};

/* The results of a case for all seeds. */
struct summary {
	struct outcome mid; /* medians, except that quality and inside have the worst values */
	double worst_max;
	double worst_rms;
};

static const char *format_number(char *text, double value)
{
	if (!isfinite(value))
		strcpy(text, "-");
	else
		snprintf(text, 16,
			 fabs(value) < 9.95 ? "%.1f" :
			 fabs(value) < 1e6  ? "%.0f" :
					      "%.1e",
			 value);
	return text;
}

static const char *format_ratio(char *text, double value)
{
	if (!isfinite(value))
		strcpy(text, "-");
	else
		snprintf(text, 16, "%.2f", value);
	return text;
}

static void print_truth_heads(void)
{
	printf("%-28s %21s %21s %8s %8s %9s %-11s %8s %6s %13s %6s  %s\n", "", "max error, ns",
	       "RMS error, ns", "inside", "claimed", "bound", "worst", "ns per", "peak",
	       "target, ns", "RMS /", "");
	printf("%-28s %10s %10s %10s %10s %8s %8s %9s %-11s %8s %6s %6s %6s %6s  %s\n", "case",
	       "median", "worst", "median", "worst", "bound, %", "%", "- delay", "quality",
	       "message", "MiB", "max", "RMS", "floor", "met");
}

static void print_summary_line(const char *name, const struct summary *s)
{
	const struct outcome *o = &s->mid;
	char t[5][16];

	printf("%-28s %10s %10s %10s %10s %8.3f %8.1f %9s %-11s %8.0f %6.0f", name,
	       format_number(t[0], o->max), format_number(t[1], s->worst_max),
	       format_number(t[2], o->rms), format_number(t[3], s->worst_rms),
	       floor(o->inside * 1e5) / 1e3, 1e2 * o->claimed, format_number(t[4], o->bound),
	       netsync_quality_name((enum netsync_quality)o->quality), o->cost,
	       o->memory / 1048576);
}

/* No seed may exceed three times the target. */
static bool meets_target(double median, double worst, double target)
{
	return !target || (median <= target && worst <= 3 * target);
}

static void print_targets(const struct summary *s, const struct test_case *t)
{
	char text[3][16];
	bool inside = s->mid.inside == 1;
	bool max = meets_target(s->mid.max, s->worst_max, t->max);
	bool rms = meets_target(s->mid.rms, s->worst_rms, t->rms);
	bool bound = !t->bound || s->mid.bound <= t->bound;
	bool jump = s->mid.jump_error <= 20e6;
	double least = s->mid.floor ? s->mid.floor : t->floor;
	bool near = !least || s->mid.rms <= NEAR_FLOOR * least;
	bool same = !s->mid.other_bits;

	printf(" %6s %6s %6s  ", format_number(text[0], t->max ? t->max : NAN),
	       format_number(text[1], t->rms ? t->rms : NAN),
	       format_ratio(text[2], s->mid.rms / least));
	if (inside && max && rms && bound && jump && near && same)
		printf("%s\n", t->max || t->rms || least ? "yes" : "-");
	else
		printf("NO:%s%s%s%s%s%s%s\n", max ? "" : " max",
		       same ? "" : " other bits by two threads", rms ? "" : " RMS",
		       inside ? "" : " truth outside", bound ? "" : " bound too wide",
		       jump ? "" : " step found late", near ? "" : " far from the floor");
}

static void summarize_outcomes(struct summary *s, const struct outcome *o, int n)
{
	double v[MAX_SEEDS];

#define MEDIAN(field)                       \
	({                                  \
		for (int i = 0; i < n; i++) \
			v[i] = o[i].field;  \
		compute_median(v, n);       \
	})
	*s = (struct summary){ .mid = { .done = true, .quality = NETSYNC_ACCURATE, .inside = 1 } };
	s->mid.max = MEDIAN(max);
	s->worst_max = v[n - 1];
	s->mid.rms = MEDIAN(rms);
	s->worst_rms = v[n - 1];
	s->mid.bound = MEDIAN(bound);
	s->mid.claimed = MEDIAN(claimed);
	s->mid.cost = MEDIAN(cost);
	s->mid.memory = MEDIAN(memory);
	s->mid.jump_error = MEDIAN(jump_error);
	s->mid.floor = MEDIAN(floor);
#undef MEDIAN
	for (int i = 0; i < n; i++) {
		s->mid.inside = fmin(s->mid.inside, o[i].inside);
		s->mid.other_bits |= o[i].other_bits;
		if (o[i].quality < s->mid.quality)
			s->mid.quality = o[i].quality;
	}
}

/* Run all seeds of a case. Print its line up to the targets. */
static bool run_truth_case(const struct settings *set, const char *name,
			   const struct cluster_spec *spec, bool has_events, struct summary *s)
{
	struct outcome o[MAX_SEEDS];

	for (int i = 0; i < set->seeds; i++) {
		char label[64];

		if (!measure_in_child(run_truth_seed,
				      &(struct seed){ spec, (uint64_t)i + 1, has_events,
						      set->floor },
				      &o[i], sizeof(o[i])) ||
		    !o[i].done) {
			printf("%-28s failed with seed %d\n", name, i + 1);
			return false;
		}
		if (!set->verbose)
			continue;
		snprintf(label, sizeof(label), "  seed %d", i + 1);
		print_summary_line(label, &(struct summary){ o[i], o[i].max, o[i].rms });
		printf("\n");
	}
	summarize_outcomes(s, o, set->seeds);
	print_summary_line(name, s);
	return true;
}

static bool is_case_selected(const struct settings *set, const char *name)
{
	if (!*set->patterns)
		return true;
	for (char **p = set->patterns; *p; p++)
		if (!fnmatch(*p, name, 0))
			return true;
	return false;
}

static bool run_case_with_faults(const struct settings *set, const struct test_case *clean,
				 const char *name, const struct summary *reference)
{
	struct test_case t = *clean;
	struct summary s;

	t.spec.late = 0.02;
	t.spec.wrong = 0.001;
	t.floor = 0;
	t.max = 1.5 * reference->mid.max;
	t.rms = 1.5 * reference->mid.rms;
	if (!run_truth_case(set, name, &t.spec, false, &s))
		return false;
	print_targets(&s, &t);
	return true;
}

#define STEERED (RATE_STEPS | CHRONY | CHRONY_CALM | PTP | ADJTIME | SMEAR | SET | SET_LAST)

static bool run_case_with_events(const struct settings *set, const struct test_case *steered)
{
	struct test_case t = *steered;
	struct summary s;
	char name[64];

	t.spec.clocks &= ~(unsigned int)STEERED;
	snprintf(name, sizeof(name), "%s+alone", t.name);
	if (!run_truth_case(set, name, &t.spec, false, &s))
		return false;
	print_targets(&s, &(struct test_case){ 0 });
	t.max = 1.5 * s.mid.max;
	t.rms = 1.5 * s.mid.rms;
	snprintf(name, sizeof(name), "%s+events", t.name);
	if (!run_truth_case(set, name, &steered->spec, true, &s))
		return false;
	print_targets(&s, &t);
	return true;
}

/* Run a case. If the case has faults, also run it without faults, and compare both results. */
static bool run_case_variants(const struct settings *set, const struct test_case *t)
{
	struct summary s;
	char faulty[64], has_events[64];
	bool with_faults;

	snprintf(has_events, sizeof(has_events), "%s+events", t->name);
	if (t->with_events && is_case_selected(set, has_events) && !run_case_with_events(set, t))
		return false;
	snprintf(faulty, sizeof(faulty), "%s+faults", t->name);
	with_faults = t->with_faults && is_case_selected(set, faulty);
	if (!with_faults && !is_case_selected(set, t->name))
		return true;
	if (!run_truth_case(set, t->name, &t->spec, false, &s))
		return false;
	print_targets(&s, t);
	return !with_faults || run_case_with_faults(set, t, faulty, &s);
}

static int print_truth_usage(FILE *out)
{
	fprintf(out,
		"Usage: truth [--seeds N] [--method auto|hull|regression|model] [--verbose] [--floor] [CASE]...\n"
		"--floor: compute floors anew, which takes minutes with many hosts.\n"
		"CASE may be a pattern such as 'bend*'. There are:\n");
	for (size_t i = 0; i < NUM_CASES; i++)
		fprintf(out, "  %s%s%s\n", cases[i].name,
			cases[i].with_faults ? " (and +faults)" : "",
			cases[i].with_events ? " (and +events)" : "");
	return out != stdout;
}

static bool set_truth_method(const char *name)
{
	static const char *const names[] = {
		[NETSYNC_METHOD_AUTO] = "auto",
		[NETSYNC_METHOD_HULL] = "hull",
		[NETSYNC_METHOD_REGRESSION] = "regression",
		[NETSYNC_METHOD_MODEL] = "model",
	};

	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++) {
		method = i;
		if (!strcmp(name, names[i]))
			return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seeds", required_argument, NULL, 's' },
		{ "method", required_argument, NULL, 'm' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "floor", no_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct settings set = { .seeds = 8 };
	int option, status = 0;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 's':
			set.seeds = atoi(optarg);
			break;
		case 'm':
			if (!set_truth_method(optarg))
				return print_truth_usage(stderr);
			break;
		case 'v':
			set.verbose = true;
			break;
		case 'f':
			set.floor = true;
			break;
		case 'h':
			return print_truth_usage(stdout);
		default:
			return print_truth_usage(stderr);
		}
	}
	if (set.seeds < 1 || set.seeds > MAX_SEEDS)
		return print_truth_usage(stderr);
	set.patterns = argv + optind;
	print_truth_heads();
	for (size_t i = 0; i < NUM_CASES; i++)
		if (!run_case_variants(&set, &cases[i]))
			status = 1;
	return status;
}
