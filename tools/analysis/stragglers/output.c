// SPDX-License-Identifier: GPL-2.0-only
/* Write the stragglers as a table, CSV or JSON. */
#include <errno.h>
#include <inttypes.h>

#include "../../../libnetsync/util/number.h"
#include "arrivals.h"
#include "common/csv.h"
#include "common/json-writer.h"
#include "common/table.h"
#include "common/value.h"

/* ---- table ---------------------------------------------------------------------- */

enum straggler_column {
	COLUMN_RANK,
	COLUMN_HOST,
	COLUMN_GROUP,
	COLUMN_OPERATION,
	COLUMN_LAST,
	COLUMN_CERTAIN,
	COLUMN_LATE,
	COLUMN_SUM,
	COLUMN_STEP,
};

static void put_count(char *cell, uint64_t num, uint64_t of)
{
	snprintf(cell, CELL_SIZE, "%" PRIu64 " of %" PRIu64 " (%.0f %%)", num, of,
		 100 * (double)num / (double)of);
}

static void put_lateness(char *cell, const struct straggler *row)
{
	char late[VALUE_SIZE], bound[VALUE_SIZE];

	snprintf(cell, CELL_SIZE, "%s +- %s", format_duration(late, row->late_ns),
		 format_duration(bound, straggler_get_bound(row)));
}

static void put_straggler_cell(const void *data, uint32_t number, unsigned int column, char *cell)
{
	const struct stragglers *stragglers = data;
	const struct straggler *row = &stragglers->row[number];

	switch ((enum straggler_column)column) {
	case COLUMN_RANK:
		snprintf(cell, CELL_SIZE, "%" PRIu32, row->rank);
		break;
	case COLUMN_HOST:
		cell_put_text(cell, stragglers->base->hosts[row->host].name);
		break;
	case COLUMN_GROUP:
		cell_put_text(cell, stragglers->names[row->kind.group]);
		break;
	case COLUMN_OPERATION:
		cell_put_text(cell, stragglers->names[row->kind.what]);
		break;
	case COLUMN_LAST:
		put_count(cell, row->last, row->operations);
		break;
	case COLUMN_CERTAIN:
		put_count(cell, row->certain, row->last);
		break;
	case COLUMN_LATE:
		put_lateness(cell, row);
		break;
	case COLUMN_SUM:
		cell_put_duration(cell, (uint64_t)max64(row->sum_ns, 0));
		break;
	case COLUMN_STEP:
		if (row->kind.step < 0)
			snprintf(cell, CELL_SIZE, "-");
		else
			snprintf(cell, CELL_SIZE, "%" PRId32, row->kind.step);
		break;
	}
}

/* Return the row of the rank for which the others waited longest, or NULL if there is none. */
static const struct straggler *find_worst(const struct stragglers *stragglers)
{
	const struct straggler *worst = stragglers->num_rows ? stragglers->row : NULL;

	for (size_t i = 1; i < stragglers->num_rows; i++)
		if (stragglers->row[i].sum_ns > worst->sum_ns)
			worst = &stragglers->row[i];
	return worst;
}

/* Describe one row in a sentence. */
static void put_worst(FILE *out, const struct stragglers *stragglers, const struct straggler *row)
{
	char host[CELL_SIZE], group[CELL_SIZE], what[CELL_SIZE], last[CELL_SIZE], late[CELL_SIZE];

	cell_put_text(host, stragglers->base->hosts[row->host].name);
	cell_put_text(group, stragglers->names[row->kind.group]);
	cell_put_text(what, stragglers->names[row->kind.what]);
	put_count(last, row->last, row->operations);
	put_lateness(late, row);
	fprintf(out, "Rank %" PRIu32 " (%s) started last in %s %s operations of group %s",
		row->rank, host, last, what, group);
	if (row->kind.step >= 0)
		fprintf(out, " in step %" PRId32, row->kind.step);
	fprintf(out, ", %s after the rank before it (median).\n", late);
}

bool stragglers_print_table(FILE *out, const struct stragglers *stragglers, unsigned int limit)
{
	const struct table table = {
		.columns = COLUMN_STEP + stragglers->by_step,
		.heads = { "rank", "host", "group", "operation", "started last", "certainly",
			   "late (median)", "late (sum)", "step" },
		.cell = put_straggler_cell,
	};

	const struct straggler *worst = find_worst(stragglers);

	if (worst)
		put_worst(out, stragglers, worst);
	table_print_some(out, stragglers, &table, stragglers->num_rows, limit, "ranks");
	return !ferror(out);
}

/* ---- CSV ------------------------------------------------------------------------- */

static void put_limit(FILE *out, int64_t limit_ns)
{
	putc(',', out);
	if (limit_ns != INT64_MIN && limit_ns != INT64_MAX)
		fprintf(out, "%" PRId64, limit_ns);
}

bool stragglers_write_csv(FILE *out, const struct stragglers *stragglers)
{
	fputs("step,group,operation,rank,host,operations,last,certain,late_median_ns,"
	      "late_median_lo_ns,late_median_hi_ns,late_sum_ns\r\n",
	      out);
	for (size_t i = 0; i < stragglers->num_rows; i++) {
		const struct straggler *row = &stragglers->row[i];

		if (row->kind.step >= 0)
			fprintf(out, "%" PRId32, row->kind.step);
		putc(',', out);
		csv_put_text(out, stragglers->names[row->kind.group]);
		putc(',', out);
		csv_put_text(out, stragglers->names[row->kind.what]);
		fprintf(out, ",%" PRIu32 ",", row->rank);
		csv_put_text(out, stragglers->base->hosts[row->host].name);
		fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRId64, row->operations,
			row->last, row->certain, row->late_ns);
		put_limit(out, row->late_lo_ns);
		put_limit(out, row->late_hi_ns);
		fprintf(out, ",%" PRId64 "\r\n", row->sum_ns);
	}
	return !ferror(out);
}

/* ---- JSON ------------------------------------------------------------------------ */

static json_object *make_row_object(struct json_writer *w, const struct stragglers *stragglers,
				    const struct straggler *row)
{
	json_object *object = json_object_new_object();

	if (row->kind.step < 0)
		json_put_null(w, object, "step");
	else
		json_put_number(w, object, "step", (uint64_t)row->kind.step);
	json_put(w, object, "group", new_json_string(stragglers->names[row->kind.group]));
	json_put(w, object, "operation", new_json_string(stragglers->names[row->kind.what]));
	json_put_number(w, object, "rank", row->rank);
	json_put(w, object, "host", new_json_string(stragglers->base->hosts[row->host].name));
	json_put_number(w, object, "operations", row->operations);
	json_put_number(w, object, "last", row->last);
	json_put_number(w, object, "certain", row->certain);
	json_put_time(w, object, "late_median_ns", row->late_ns);
	json_put_time(w, object, "late_median_lo_ns",
		      row->late_lo_ns == INT64_MIN ? NETSYNC_UNKNOWN : row->late_lo_ns);
	json_put_time(w, object, "late_median_hi_ns", row->late_hi_ns);
	json_put_time(w, object, "late_sum_ns", row->sum_ns);
	return object;
}

bool stragglers_write_json(FILE *out, const struct stragglers *stragglers)
{
	struct json_writer w = { .failed = false };
	json_object *object = json_object_new_object(), *rows = json_object_new_array();

	errno = 0;
	json_put(&w, object, "format", new_json_string("netsync-stragglers-1"));
	json_put(&w, object, "reference", new_json_string(stragglers->base->reference));
	json_put_number(&w, object, "operations", stragglers->num_arrivals);
	json_put_number(&w, object, "incomplete", stragglers->incomplete);
	json_put_number(&w, object, "uncorrected", stragglers->uncorrected);
	for (size_t i = 0; i < stragglers->num_rows; i++)
		json_append(&w, rows, make_row_object(&w, stragglers, &stragglers->row[i]));
	json_put(&w, object, "stragglers", rows);
	return json_print_root(&w, out, object);
}
