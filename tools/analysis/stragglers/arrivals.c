// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starts of all ranks in each operation -> who started last, and by how much:
 *
 *	rank 0	   [====			lateness: start of the last rank, minus that of
 *	rank 1	       [====			the rank before it, which is how long the others
 *	rank 2		   |<-->|[====		waited for this rank alone
 *
 * A start on another host is only known within the bound of the clocks. Ranks of one host have
 * one clock, so their order is known.
 */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "../../../libnetsync/util/array.h"
#include "../../../libnetsync/util/number.h"
#include "arrivals.h"
#include "common/complain.h"

/* A start, which is kept until the clocks are known. */
struct rank_start {
	uint64_t operation; /* number of the operation */
	int64_t time_ns;    /* host time */
	struct operation_kind kind;
	uint32_t rank;
	uint32_t host;
};

/* A start, and the interval in reference time that contains it. */
struct known_start {
	struct rank_start start;
	int64_t ref_ns, lo_ns, hi_ns;
};

/* The starts of the operation that is being read from the spool. */
struct operation {
	struct stragglers *stragglers;
	struct known_start *start;
	size_t num, room;
	bool is_uncorrected;
};

/* ---- reading ------------------------------------------------------------------ */

/* A name of a group or operation. The text follows the struct in memory. */
struct straggler_name {
	const char *text;
	uint32_t number;
};

static int compare_name_texts(const void *a, const void *b)
{
	const struct straggler_name *p = a, *q = b;

	return strcmp(p->text, q->text);
}

static uint32_t add_name(struct stragglers *stragglers, const char *text)
{
	const size_t size = strlen(text) + 1;
	struct straggler_name *name = malloc(sizeof(*name) + size);
	const char **last = array_add(&stragglers->names, stragglers->num_names, sizeof(*last));

	if (name)
		*name = (struct straggler_name){ memcpy(name + 1, text, size),
						 stragglers->num_names };
	if (!name || !last || !tsearch(name, &stragglers->name_tree, compare_name_texts)) {
		free(name);
		stragglers->no_memory = true;
		return 0;
	}
	*last = name->text;
	return stragglers->num_names++;
}

/* Find the number of a name, or add the name. */
static uint32_t find_name(struct stragglers *stragglers, const char *text)
{
	const struct straggler_name key = { .text = text };
	struct straggler_name **found = tfind(&key, &stragglers->name_tree, compare_name_texts);

	return found ? (*found)->number : add_name(stragglers, text);
}

static void spool_relation(void *data, const struct netsync_io_relation *relation)
{
	struct stragglers *stragglers = data;
	struct rank_start start = {
		.operation = stragglers->read,
		.kind.group = find_name(stragglers, relation->group),
		.kind.what = find_name(stragglers, relation->what),
		.kind.step = stragglers->by_step ? relation->step : -1,
	};
	uint32_t starts = 0, roles = 0;

	for (uint32_t i = 0; i < relation->num_spans; i++) {
		starts += (relation->spans[i].role & NETSYNC_IO_BEFORE) != 0;
		roles |= relation->spans[i].role;
	}
	/* One start alone, as in a broadcast, is neither early nor late. */
	if (starts < 2)
		return;
	/* A rank whose start may be later than its span's is not known to be the first or last. */
	if (roles & NETSYNC_IO_ENCLOSES) {
		stragglers->enclosed++;
		return;
	}
	stragglers->read++;
	if (relation->num_spans < relation->members) {
		stragglers->incomplete++;
		return;
	}
	for (uint32_t i = 0; i < relation->num_spans; i++) {
		const struct netsync_io_span *span = &relation->spans[i];

		start.time_ns = span->start_ns;
		start.rank = span->member;
		start.host = span->host;
		if (span->role & NETSYNC_IO_BEFORE)
			spool_put_record(&stragglers->starts, &start);
	}
}

bool stragglers_watch(struct stragglers *stragglers, struct netsync_io *io)
{
	if (!spool_open(&stragglers->starts, sizeof(struct rank_start)))
		return false;
	netsync_io_watch_relations(io, spool_relation, stragglers);
	return true;
}

/* ---- operations ---------------------------------------------------------------- */

/* Convert a start to reference time. Return false if its host is not corrected. */
static bool correct_start(const struct timebase *base, struct known_start *known)
{
	const struct timebase_host *host = &base->hosts[known->start.host];
	int64_t time_ns;

	return timebase_correct_time(host, known->start.time_ns, &known->ref_ns) &&
	       !__builtin_add_overflow(known->start.time_ns, host->shift_ns, &time_ns) &&
	       !netsync_interval(host->clock, time_ns, &known->lo_ns, &known->hi_ns);
}

/* Return a difference of two limits, or @unknown if one of them is not known. */
static int64_t subtract_limits(int64_t a, int64_t b, int64_t unknown)
{
	if (a == INT64_MIN || a == INT64_MAX || b == INT64_MIN || b == INT64_MAX)
		return unknown;
	return clamp_to_int64((__int128)a - b);
}

/* Limit the lateness of the last rank by the start of another rank. */
static void limit_lateness(struct arrival *arrival, const struct known_start *last,
			   const struct known_start *other)
{
	const int64_t late_ns = clamp_to_int64((__int128)last->ref_ns - other->ref_ns);
	const bool has_same_clock = last->start.host == other->start.host;
	const int64_t lo_ns = has_same_clock ?
				      late_ns :
				      subtract_limits(last->lo_ns, other->hi_ns, INT64_MIN);
	const int64_t hi_ns = has_same_clock ?
				      late_ns :
				      subtract_limits(last->hi_ns, other->lo_ns, INT64_MAX);

	arrival->late_ns = min64(arrival->late_ns, late_ns);
	arrival->late_lo_ns = min64(arrival->late_lo_ns, lo_ns);
	arrival->late_hi_ns = min64(arrival->late_hi_ns, hi_ns);
}

static bool add_arrival(struct operation *operation)
{
	struct stragglers *stragglers = operation->stragglers;
	const struct known_start *last = operation->start;
	struct arrival *arrival;

	for (size_t i = 1; i < operation->num; i++)
		if (operation->start[i].ref_ns > last->ref_ns)
			last = &operation->start[i];
	if (!timebase_contains(stragglers->base, last->ref_ns))
		return true;
	arrival = array_add(&stragglers->arrival, stragglers->num_arrivals, sizeof(*arrival));
	if (!arrival)
		return complain_no_memory();
	stragglers->num_arrivals++;
	*arrival = (struct arrival){
		.kind = last->start.kind,
		.rank = last->start.rank,
		.host = last->start.host,
		.late_ns = INT64_MAX,
		.late_lo_ns = INT64_MAX,
		.late_hi_ns = INT64_MAX,
	};
	for (size_t i = 0; i < operation->num; i++)
		if (&operation->start[i] != last)
			limit_lateness(arrival, last, &operation->start[i]);
	arrival->is_certain = arrival->late_lo_ns > 0;
	return true;
}

static bool finish_operation(struct operation *operation)
{
	const bool has_ended = !operation->num || operation->is_uncorrected ||
			       add_arrival(operation);

	operation->stragglers->uncorrected += operation->is_uncorrected;
	operation->num = 0;
	operation->is_uncorrected = false;
	return has_ended;
}

static bool read_start(void *data, const void *record)
{
	struct operation *operation = data;
	struct known_start known = { .start = *(const struct rank_start *)record };

	if (operation->num && operation->start->start.operation != known.start.operation &&
	    !finish_operation(operation))
		return false;
	if (array_grow(&operation->start, &operation->room, operation->num, sizeof(known)))
		return complain_no_memory();
	operation->is_uncorrected |= !correct_start(operation->stragglers->base, &known);
	operation->start[operation->num++] = known;
	return true;
}

/* ---- rows ------------------------------------------------------------------------ */

static int compare_kinds(const struct operation_kind *a, const struct operation_kind *b)
{
	int order = COMPARE(a->step, b->step);

	if (!order)
		order = COMPARE(a->group, b->group);
	return order ? order : COMPARE(a->what, b->what);
}

static int compare_arrivals(const void *a, const void *b)
{
	const struct arrival *p = a, *q = b;
	int order = compare_kinds(&p->kind, &q->kind);

	if (!order)
		order = COMPARE(p->rank, q->rank);
	return order ? order : COMPARE(p->late_ns, q->late_ns);
}

static int compare_stragglers(const void *a, const void *b)
{
	const struct straggler *p = a, *q = b;
	int order = compare_kinds(&p->kind, &q->kind);

	if (!order)
		order = COMPARE(q->last, p->last);
	return order ? order : COMPARE(p->rank, q->rank);
}

static int compare_lateness(const void *a, const void *b)
{
	const int64_t *p = a, *q = b;

	return COMPARE(*p, *q);
}

/* Sort values, and return their median. */
static int64_t find_median(int64_t *values, size_t num)
{
	qsort(values, num, sizeof(*values), compare_lateness);
	return values[num / 2];
}

/*
 * Summarize the operations in which a rank was last. The median of limits limits the median,
 * because no value passes its limit. @values is a work space.
 */
static void fill_row(struct straggler *row, const struct arrival *arrival, size_t num,
		     int64_t *values)
{
	__int128 sum = 0;

	*row = (struct straggler){
		.kind = arrival->kind,
		.rank = arrival->rank,
		.host = arrival->host,
		.last = num,
		.late_ns = arrival[num / 2].late_ns,
	};
	for (size_t i = 0; i < num; i++) {
		row->certain += arrival[i].is_certain;
		sum += arrival[i].late_ns;
		values[i] = arrival[i].late_lo_ns;
	}
	row->sum_ns = clamp_to_int64(sum);
	row->late_lo_ns = find_median(values, num);
	for (size_t i = 0; i < num; i++)
		values[i] = arrival[i].late_hi_ns;
	row->late_hi_ns = find_median(values, num);
}

/* Set the number of all operations of each kind. The rows of a kind are adjacent. */
static void count_operations(struct straggler *row, size_t num)
{
	for (size_t i = 0, end; i < num; i = end) {
		uint64_t operations = 0;

		for (end = i; end < num && !compare_kinds(&row[i].kind, &row[end].kind); end++)
			operations += row[end].last;
		for (size_t j = i; j < end; j++)
			row[j].operations = operations;
	}
}

static bool is_same_row(const struct arrival *a, const struct arrival *b)
{
	return !compare_kinds(&a->kind, &b->kind) && a->rank == b->rank;
}

static bool make_rows(struct stragglers *stragglers)
{
	const struct arrival *arrival = stragglers->arrival;
	const size_t num = stragglers->num_arrivals;
	int64_t *values = malloc((num + 1) * sizeof(*values));

	stragglers->row = calloc(num + 1, sizeof(*stragglers->row));
	if (!values || !stragglers->row) {
		free(values);
		return complain_no_memory();
	}
	if (num)
		qsort(stragglers->arrival, num, sizeof(*arrival), compare_arrivals);
	for (size_t i = 0, end; i < num; i = end) {
		for (end = i + 1; end < num && is_same_row(&arrival[i], &arrival[end]);)
			end++;
		fill_row(&stragglers->row[stragglers->num_rows++], &arrival[i], end - i, values);
	}
	free(values);
	count_operations(stragglers->row, stragglers->num_rows);
	if (num)
		qsort(stragglers->row, stragglers->num_rows, sizeof(*stragglers->row),
		      compare_stragglers);
	return true;
}

bool stragglers_find(struct stragglers *stragglers)
{
	struct operation operation = { .stragglers = stragglers };
	bool ok;

	if (stragglers->no_memory)
		return complain_no_memory();
	ok = spool_read_records(&stragglers->starts, read_start, &operation) &&
	     finish_operation(&operation);
	free(operation.start);
	return ok && make_rows(stragglers);
}

int64_t straggler_get_bound(const struct straggler *straggler)
{
	if (straggler->late_lo_ns == INT64_MIN || straggler->late_hi_ns == INT64_MAX)
		return NETSYNC_UNKNOWN;
	return max64(clamp_to_int64((__int128)straggler->late_ns - straggler->late_lo_ns),
		     clamp_to_int64((__int128)straggler->late_hi_ns - straggler->late_ns));
}

void stragglers_release(struct stragglers *stragglers)
{
	spool_close(&stragglers->starts);
	tdestroy(stragglers->name_tree, free);
	free(stragglers->names);
	free(stragglers->arrival);
	free(stragglers->row);
}
