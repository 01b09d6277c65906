// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the result as tables: hosts, messages of pairs, steering of clocks, and times in network
 * stacks.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "live-state.h"
#include "quality.h"
#include "result-info.h"
#include "result-table.h"
#include "table.h"
#include "value.h"

/* ---- hosts ------------------------------------------------------------- */

bool find_clock_state_at(const struct netsync *ns, uint32_t host, int64_t time_ns,
			 int64_t *offset_ns, double *skew_ppm)
{
	const struct netsync_clock *clock = netsync_host_clock(ns, host);
	struct netsync_model model = { .size = sizeof(model) };
	const struct netsync_segment *segment;
	int64_t corrected;

	if (!clock)
		return false;
	netsync_clock_model(clock, &model);
	segment = netsync_model_segment(&model, 0);
	for (uint32_t i = 1; i < model.num_segments; i++)
		if (netsync_model_segment(&model, i)->from_ns <= time_ns)
			segment = netsync_model_segment(&model, i);
	*skew_ppm = (segment->rate - 1) * 1e6;
	return !netsync_convert(clock, time_ns, &corrected, NULL) &&
	       !__builtin_sub_overflow(corrected, time_ns, offset_ns);
}

double compute_skew_bound(const struct netsync *ns, uint32_t host)
{
	const struct netsync_clock *clock = netsync_host_clock(ns, host);
	const struct netsync_host_info info = get_host_info(ns, host);
	int64_t first, last, corrected;

	if (!clock || info.last_ns <= info.first_ns ||
	    netsync_convert(clock, info.first_ns, &corrected, &first) ||
	    netsync_convert(clock, info.last_ns, &corrected, &last) || first == NETSYNC_UNKNOWN ||
	    last == NETSYNC_UNKNOWN)
		return INFINITY;
	return ((double)first + (double)last) * 1e6 /
	       ((double)info.last_ns - (double)info.first_ns);
}

/*
 * Largest difference between the rates of two clocks, ppm: the default of
 * netsync_options.max_skew_ppm. A skew whose uncertainty is larger is displayed as unknown.
 */
#define MAX_SKEW_PPM 500

/*
 * Format a skew as "-80.0 +- 9.3 ppm". As usual, the uncertainty has two digits (GUM, 7.2.6), and
 * the value has the same number of decimals.
 */
static void print_skew(char *cell, double skew_ppm, double within_ppm)
{
	int digits;

	if (!isfinite(within_ppm)) {
		snprintf(cell, CELL_SIZE, "unknown");
		return;
	}
	if (within_ppm > MAX_SKEW_PPM && fabs(skew_ppm) <= within_ppm) {
		snprintf(cell, CELL_SIZE, "unknown (+- %.0f ppm)", within_ppm);
		return;
	}
	digits = within_ppm > 0 ? 1 - (int)floor(log10(within_ppm)) : 3;
	digits = digits < 0 ? 0 : digits > 6 ? 6 : digits;
	snprintf(cell, CELL_SIZE, "%+.*f +- %.*f ppm", digits, skew_ppm, digits, within_ppm);
}

/*
 * Return the middle of a host's traced time. If the clock was stepped forward over the middle, it
 * did not display that time, so return the time before the step, where the skew is the clock's.
 */
static int64_t find_middle_of_trace(const struct netsync *ns, uint32_t host,
				    const struct netsync_host_info *info)
{
	const int64_t middle = info->first_ns > info->last_ns ?
				       0 :
				       compute_middle_time(info->first_ns, info->last_ns);
	struct netsync_step step = { .size = sizeof(step) };

	for (uint32_t i = 0; !netsync_get_step(ns, host, i, &step); i++)
		if (middle > step.time_ns && middle - step.time_ns <= step.offset_ns)
			return step.time_ns - 1;
	return middle;
}

/* Format an offset as "+1.5 s", or as "-" if it is not known. */
static void put_offset_cell(char *cell, bool is_reference, bool is_known, int64_t ns)
{
	char value[VALUE_SIZE];

	if (is_reference)
		snprintf(cell, CELL_SIZE, "reference");
	else if (is_known)
		snprintf(cell, CELL_SIZE, "%s%s s", ns >= 0 ? "+" : "",
			 format_time(value, ns, true));
	else
		snprintf(cell, CELL_SIZE, "-");
}

static void put_host_cell(const void *data, uint32_t row, unsigned int column, char *cell)
{
	const struct netsync *ns = data;
	const struct netsync_host_info info = get_host_info(ns, row);
	bool is_reference = (int)row == netsync_reference(ns);
	char median[VALUE_SIZE], max[VALUE_SIZE];
	double skew_ppm = 0;
	int64_t offset = 0;
	bool known = find_clock_state_at(ns, row, find_middle_of_trace(ns, row, &info), &offset,
					 &skew_ppm);

	switch (column) {
	case 0:
		snprintf(cell, CELL_SIZE, "%s", info.name);
		break;
	case 1:
		put_offset_cell(cell, is_reference, known, offset);
		break;
	case 2:
		if (is_reference || !known)
			snprintf(cell, CELL_SIZE, "-");
		else
			print_skew(cell, skew_ppm, compute_skew_bound(ns, row));
		break;
	case 3:
		if (is_reference)
			snprintf(cell, CELL_SIZE, "-");
		else if (info.bound_median_ns == NETSYNC_UNKNOWN)
			snprintf(cell, CELL_SIZE, "unknown");
		else if (info.bound_max_ns == NETSYNC_UNKNOWN)
			snprintf(cell, CELL_SIZE, "%s / unknown",
				 format_duration(median, info.bound_median_ns));
		else
			snprintf(cell, CELL_SIZE, "%s / %s",
				 format_duration(median, info.bound_median_ns),
				 format_duration(max, info.bound_max_ns));
		break;
	case 4:
		snprintf(cell, CELL_SIZE, "%" PRIu64, info.packets);
		break;
	case 5:
		snprintf(cell, CELL_SIZE, "%" PRIu32, info.num_steps);
		break;
	case 6:
		snprintf(cell, CELL_SIZE, "%s", netsync_quality_name(info.quality));
		break;
	}
}

/* Like put_host_cell(), with the standard deviation before the bound. */
static void put_host_cell_with_deviation(const void *data, uint32_t row, unsigned int column,
					 char *cell)
{
	const int64_t deviation = get_host_info(data, row).deviation_median_ns;
	char value[VALUE_SIZE];

	if (column != 3)
		put_host_cell(data, row, column < 3 ? column : column - 1, cell);
	else if ((int)row == netsync_reference(data))
		snprintf(cell, CELL_SIZE, "-");
	else if (deviation == NETSYNC_UNKNOWN)
		snprintf(cell, CELL_SIZE, "unknown");
	else
		snprintf(cell, CELL_SIZE, "+- %s", format_duration(value, deviation));
}

/* Did the method compute standard deviations? */
static bool has_any_deviation(const struct netsync *ns)
{
	for (uint32_t i = 0; i < netsync_num_hosts(ns); i++)
		if (clock_has_deviations(netsync_host_clock(ns, i)))
			return true;
	return false;
}

/* ---- pairs ------------------------------------------------------------- */

static void put_pair_cell(const void *data, uint32_t row, unsigned int column, char *cell)
{
	const struct netsync *ns = data;
	/* Each pair has a row for each direction. */
	const struct netsync_pair_info info = get_pair_info(ns, row / 2);
	unsigned int way = row % 2;
	char value[VALUE_SIZE];

	*cell = '\0';
	switch (column) {
	case 0:
		snprintf(cell, CELL_SIZE, "%.70s -> %.70s", get_host_info(ns, info.host[way]).name,
			 get_host_info(ns, info.host[!way]).name);
		break;
	case 1:
		snprintf(cell, CELL_SIZE, "%" PRIu64, info.messages[way]);
		break;
	case 2:
		snprintf(cell, CELL_SIZE, "%s",
			 info.messages[way] ? format_duration(value, info.min_delay_ns[way]) : "-");
		break;
	case 3:
		if (!way)
			snprintf(cell, CELL_SIZE, "%" PRIu64 " -> %" PRIu64, info.inversions_before,
				 info.inversions_after);
		break;
	case 4:
		if (!way)
			snprintf(cell, CELL_SIZE, "%s", netsync_quality_name(info.quality));
		break;
	case 5:
		if (!way && info.matched)
			snprintf(cell, CELL_SIZE,
				 "%" PRIu64 " (%" PRIu64 ") / %" PRIu64 " / %" PRIu64, info.matched,
				 info.nat, info.ambiguous, info.unmatched);
		break;
	}
}

/* ---- steering of clocks ------------------------------------------------- */

static void put_steering_cell(const void *data, uint32_t row, unsigned int column, char *cell)
{
	const struct netsync *ns = data;
	const struct netsync_steering info = get_steering_info(ns, row);
	const double ppm = column == 2 ? info.min_ppm : info.max_ppm;
	char value[VALUE_SIZE];

	if (column == 0)
		snprintf(cell, CELL_SIZE, "%s", get_host_info(ns, row).name);
	else if (column == 1)
		snprintf(cell, CELL_SIZE, "%" PRIu64, info.points);
	else if (!info.points || (column < 4 && !isfinite(ppm)))
		snprintf(cell, CELL_SIZE, "-");
	else if (column < 4)
		snprintf(cell, CELL_SIZE, "%+.1f ppm", ppm);
	else
		snprintf(cell, CELL_SIZE, "%s", format_duration(value, info.unknown_ns));
}

static bool has_any_steering(const struct netsync *ns)
{
	for (uint32_t i = 0; i < netsync_num_hosts(ns); i++)
		if (get_steering_info(ns, i).points)
			return true;
	return false;
}

/* ---- time in a host's stack ---------------------------------------------- */

static void put_stack_cell(const void *data, uint32_t row, unsigned int column, char *cell)
{
	const struct netsync *ns = data;
	/* Each host has a row for each direction. */
	enum netsync_dir dir = row % 2 ? NETSYNC_IN : NETSYNC_OUT;
	const struct netsync_stack info = get_stack_info(ns, row / 2, dir);
	const int64_t values[] = { info.min_ns, info.median_ns, info.p99_ns, info.max_ns };
	char value[VALUE_SIZE];

	if (column == 0)
		snprintf(cell, CELL_SIZE, "%.140s %s", get_host_info(ns, row / 2).name,
			 dir == NETSYNC_OUT ? "out" : "in");
	else if (column == 1)
		snprintf(cell, CELL_SIZE, "%" PRIu64, info.packets);
	else if (info.packets)
		snprintf(cell, CELL_SIZE, "%s", format_duration(value, values[column - 2]));
	else
		snprintf(cell, CELL_SIZE, "-");
}

static bool has_any_stack(const struct netsync *ns)
{
	for (uint32_t i = 0; i < netsync_num_hosts(ns); i++)
		if (get_stack_info(ns, i, NETSYNC_OUT).packets ||
		    get_stack_info(ns, i, NETSYNC_IN).packets)
			return true;
	return false;
}

/* ---- printing ---------------------------------------------------------- */

/* Explain the qualities that the tables of hosts and pairs contain. */
static void write_quality_legend(FILE *out, const struct netsync *ns)
{
	bool occurs[NETSYNC_ACCURATE + 1] = { false };

	for (uint32_t i = 0; i < netsync_num_hosts(ns); i++)
		occurs[get_host_info(ns, i).quality] = true;
	for (uint32_t i = 0; i < netsync_num_pairs(ns); i++)
		occurs[get_pair_info(ns, i).quality] = true;
	fputc('\n', out);
	for (int q = NETSYNC_ACCURATE; q >= NETSYNC_ABSENT; q--)
		if (occurs[q])
			fprintf(out, "%s: %s\n", netsync_quality_name((enum netsync_quality)q),
				quality_get_summary((enum netsync_quality)q));
}

static void print_host_table(FILE *out, const struct netsync *ns, bool has_deviations)
{
	const struct table hosts = {
		.columns = 7,
		.rows = netsync_num_hosts(ns),
		.heads = { "host", "offset (mid-trace)", "skew", "error bound (median / max)",
			   "packets", "steps", "quality" },
		.cell = put_host_cell,
	};
	const struct table with_deviations = {
		.columns = 8,
		.rows = netsync_num_hosts(ns),
		.heads = { "host", "offset (mid-trace)", "skew", "typical error",
			   "error bound (median / max)", "packets", "steps", "quality" },
		.cell = put_host_cell_with_deviation,
	};

	table_print(out, ns, has_deviations ? &with_deviations : &hosts);
}

/* Explain the two columns of errors. */
static void write_deviation_legend(FILE *out)
{
	fputs("typical error: standard deviation (median over the trace) if the smallest delays of both directions are equal; an estimate, which can be far too small if clocks are stepped or steered, or delays grow for minutes\n"
	      "error bound: guaranteed limit of the error\n",
	      out);
}

void write_result_table(FILE *out, const struct netsync *ns)
{
	const bool has_deviations = has_any_deviation(ns);
	const struct table pairs = {
		.columns = 6,
		.rows = netsync_num_pairs(ns) * 2,
		.heads = { "direction", "messages", "smallest delay", "inversions", "quality",
			   "events (NAT) / ambiguous / unmatched" },
		.cell = put_pair_cell,
	};
	const struct table steering = {
		.columns = 5,
		.rows = has_any_steering(ns) ? netsync_num_hosts(ns) : 0,
		.heads = { "steered clock", "points", "slowest", "fastest", "unreported" },
		.cell = put_steering_cell,
	};
	const struct table stacks = {
		.columns = 6,
		.rows = has_any_stack(ns) ? netsync_num_hosts(ns) * 2 : 0,
		.heads = { "time in the stack", "packets", "smallest", "median", "99 %",
			   "largest" },
		.cell = put_stack_cell,
	};

	print_host_table(out, ns, has_deviations);
	table_print_next(out, ns, &pairs);
	table_print_next(out, ns, &steering);
	table_print_next(out, ns, &stacks);
	write_quality_legend(out, ns);
	if (has_deviations)
		write_deviation_legend(out);
}

/* ---- tables of netsync live --------------------------------------------- */

static void put_live_host_cell(const void *data, uint32_t row, unsigned int column, char *cell)
{
	const struct live_state *state = data;
	const struct netsync_host_info info = get_host_info(state->ns, row);
	const struct live_host *host = &state->hosts[row];
	bool is_reference = (int)row == netsync_reference(state->ns);
	char value[VALUE_SIZE];

	snprintf(cell, CELL_SIZE, "-");
	switch (column) {
	case 0:
		snprintf(cell, CELL_SIZE, "%s", info.name);
		break;
	case 1:
		put_offset_cell(cell, is_reference, host->known, host->offset_ns);
		break;
	case 2:
		if (!is_reference && host->known)
			print_skew(cell, host->skew_ppm, host->skew_within_ppm);
		break;
	case 3:
		if (!is_reference)
			snprintf(cell, CELL_SIZE, "%s", format_duration(value, host->bound_ns));
		break;
	case 4:
		snprintf(cell, CELL_SIZE, "%.1f", host->packets_per_s);
		break;
	case 5:
		snprintf(cell, CELL_SIZE, "%" PRIu32, info.num_steps);
		break;
	case 6:
		snprintf(cell, CELL_SIZE, "%s%s%s", netsync_quality_name(info.quality),
			 host->late ? ", late" : "", host->running ? "" : ", ended");
		break;
	}
}

static void put_live_pair_cell(const void *data, uint32_t row, unsigned int column, char *cell)
{
	const struct live_state *state = data;
	const struct netsync_pair_info info = get_pair_info(state->ns, row / 2);
	unsigned int way = row % 2;

	if (column == 1)
		snprintf(cell, CELL_SIZE, "%.1f", state->pairs[row / 2].messages_per_s[way]);
	else if (column == 4)
		snprintf(cell, CELL_SIZE, "%s", way ? "" : netsync_quality_name(info.quality));
	else
		put_pair_cell(state->ns, row, column ? column - 1 : 0, cell);
}

struct live_steps {
	const struct live_state *state;
	struct live_step step[LIVE_STEPS];
};

static void put_live_step_cell(const void *data, uint32_t row, unsigned int column, char *cell)
{
	const struct live_steps *steps = data;
	const struct live_step *s = &steps->step[row];
	const struct live_host *host = &steps->state->hosts[s->host];
	char value[VALUE_SIZE];

	switch (column) {
	case 0:
		snprintf(cell, CELL_SIZE, "%s", get_host_info(steps->state->ns, s->host).name);
		break;
	case 1:
		snprintf(cell, CELL_SIZE, "%s ago",
			 format_duration(value, host->at_ns - s->step.time_ns));
		break;
	case 2:
		snprintf(cell, CELL_SIZE, "%s%s", s->step.offset_ns > 0 ? "+" : "",
			 format_duration(value, s->step.offset_ns));
		break;
	case 3:
		snprintf(cell, CELL_SIZE, "%+.3f ppm", s->step.skew_ppm);
		break;
	}
}

void write_live_table(FILE *out, const struct live_state *state)
{
	struct live_steps steps = { .state = state };
	const struct table hosts = {
		.columns = 7,
		.rows = netsync_num_hosts(state->ns),
		.heads = { "host", "offset (now)", "skew", "error bound", "packets/s", "steps",
			   "quality" },
		.cell = put_live_host_cell,
	};
	const struct table pairs = {
		.columns = 5,
		.rows = netsync_num_pairs(state->ns) * 2,
		.heads = { "direction", "messages/s", "messages", "smallest delay", "quality" },
		.cell = put_live_pair_cell,
	};
	const struct table changes = {
		.columns = 4,
		.rows = live_list_last_steps(state->ns, steps.step),
		.heads = { "step", "when", "offset", "skew" },
		.cell = put_live_step_cell,
	};

	table_print(out, state, &hosts);
	table_print_next(out, state, &pairs);
	table_print_next(out, &steps, &changes);
}
