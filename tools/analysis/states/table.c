// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write tables of the times by state and by object, of waits, and of overlaps of
 * exclusive states.
 */
#include <inttypes.h>
#include <string.h>

#include "common/table.h"
#include "common/value.h"
#include "states.h"

/* The rows for one definition. */
struct definition_rows {
	const struct states *states;
	const struct total *totals;
	size_t num;
	const struct wait *waits;
};

static void put_text_name(char *cell, const struct states *states, uint32_t host, uint32_t text)
{
	cell_put_text(cell, spans_get_text(states->spans, host, text));
}

static void put_host_name(char *cell, const struct states *states, uint32_t host)
{
	cell_put_text(cell, states->base->hosts[host].name);
}

/* Format notes such as "2 open, 1 doubtful". */
static void put_total_notes(char *cell, const struct total *total)
{
	*cell = '\0';
	if (total->open)
		snprintf(cell, CELL_SIZE, "%" PRIu64 " open", total->open);
	if (total->doubtful)
		snprintf(cell + strlen(cell), CELL_SIZE - strlen(cell), "%s%" PRIu64 " doubtful",
			 total->open ? ", " : "", total->doubtful);
}

static void put_total_cell(const struct total *total, unsigned int column, char *cell)
{
	switch (column) {
	case 0:
		snprintf(cell, CELL_SIZE, "%" PRIu64, total->times);
		break;
	case 1:
		cell_put_duration(cell, total->total_ns);
		break;
	case 2:
		cell_put_duration(cell, total->total_ns / total->times);
		break;
	case 3:
		cell_put_duration(cell, total->longest_ns);
		break;
	case 4:
		put_total_notes(cell, total);
		break;
	}
}

/* ---- tables --------------------------------------------------------------- */

static void put_object_cell(const void *data, uint32_t row, unsigned int column, char *cell)
{
	const struct definition_rows *part = data;
	const struct total *total = &part->totals[row];

	switch (column) {
	case 0:
		put_host_name(cell, part->states, total->host);
		break;
	case 1:
		put_text_name(cell, part->states, total->host, total->name);
		break;
	case 2:
		put_text_name(cell, part->states, total->host, total->state);
		break;
	default:
		put_total_cell(total, column - 3, cell);
	}
}

/* The row is the sum over all names, with the number of objects in place of the name. */
static void put_state_cell(const void *data, uint32_t row, unsigned int column, char *cell)
{
	const struct definition_rows *part = data;

	if (column == 2)
		snprintf(cell, CELL_SIZE, "%" PRIu64, part->totals[row].objects);
	else
		put_object_cell(data, row, column == 1 ? 2 : column, cell);
}

static void put_wait_cell(const void *data, uint32_t row, unsigned int column, char *cell)
{
	const struct definition_rows *part = data;
	const struct wait *wait = &part->waits[row];

	switch (column) {
	case 0:
		put_host_name(cell, part->states, wait->host);
		break;
	case 1:
		if (wait->is_known)
			put_host_name(cell, part->states, wait->holder);
		else
			snprintf(cell, CELL_SIZE, "unknown");
		break;
	case 2:
		put_text_name(cell, part->states, wait->shared_host, wait->shared);
		break;
	case 3:
		snprintf(cell, CELL_SIZE, "%" PRIu64, wait->times);
		break;
	case 4:
		cell_put_duration(cell, wait->total_ns);
		break;
	case 5:
		cell_put_duration(cell, wait->longest_ns);
		break;
	case 6:
		if (wait->uncertain)
			snprintf(cell, CELL_SIZE, "%" PRIu64 " in uncertain order",
				 wait->uncertain);
		else
			*cell = '\0';
	}
}

/* ---- sentences ------------------------------------------------------------ */

static void put_state_globs(FILE *out, const struct state_list *list)
{
	for (size_t i = 0; i < list->num; i++)
		fprintf(out, "%s%s", i ? ", " : "", list->globs[i]);
}

static void print_exclusion(FILE *out, const struct states *states, size_t d)
{
	const struct definition *definition = &states->definitions[d];
	const struct exclusion *found = between_get_exclusion(states->between, d);
	char value[VALUE_SIZE], hosts[2][CELL_SIZE], name[CELL_SIZE];

	if (!definition->exclusive.num || !found->spans)
		return;
	fprintf(out, "\n%" PRIu64 " times in ", found->spans);
	put_state_globs(out, &definition->exclusive);
	fprintf(out, ": %" PRIu64 " of them overlapped with another time", found->at_once);
	if (definition->with.num) {
		fputs(" in this state or in ", out);
		put_state_globs(out, &definition->with);
	}
	fprintf(out,
		" by more than the error bounds of the clocks; %" PRIu64
		" may have overlapped, but by less than these bounds.\n",
		found->uncertain);
	if (!found->at_once)
		return;
	put_host_name(hosts[0], states, found->hosts[0]);
	put_host_name(hosts[1], states, found->hosts[1]);
	put_text_name(name, states, found->hosts[1], found->names[1]);
	fprintf(out, "The longest overlap: %s, on %s and %s, for %s from %" PRId64 " ns on.\n",
		name, hosts[0], hosts[1], format_duration(value, found->longest_ns),
		found->from_ns);
}

/* ---- the whole table ---------------------------------------------------- */

/*
 * Find the totals of a definition, which are next to each other. Set @from to the index of the
 * first one, and return their number.
 */
static size_t find_definition_totals(const struct totals *totals, size_t d, size_t *from)
{
	size_t to;

	*from = 0;
	while (*from < totals->num && totals->list[*from].definition < d)
		++*from;
	to = *from;
	while (to < totals->num && totals->list[to].definition == d)
		to++;
	return to - *from;
}

static void print_totals(FILE *out, struct definition_rows *part, const struct totals *sums,
			 size_t d)
{
	const struct states *states = part->states;
	struct table table = {
		.columns = 8,
		.heads = { "host", "state", "objects", "times", "total", "mean", "longest", "" },
		.cell = put_state_cell,
	};
	size_t from, num = find_definition_totals(sums, d, &from);

	part->totals = &sums->list[from];
	table.rows = num;
	table_print_next(out, part, &table);
	num = find_definition_totals(&states->totals, d, &from);
	part->totals = &states->totals.list[from];
	part->num = num;
	table = (struct table){
		.columns = 8,
		.heads = { "host", "object", "state", "times", "total", "mean", "longest", "" },
		.cell = put_object_cell,
	};
	table_print_some(out, part, &table, num, states->limit, "rows");
}

static void print_waits(FILE *out, struct definition_rows *part, const struct wait *waits,
			size_t num, size_t d)
{
	const struct table table = {
		.columns = 7,
		.heads = { "waiting", "for", "because of", "times", "total", "longest", "" },
		.cell = put_wait_cell,
	};
	size_t from = 0, to;

	while (from < num && waits[from].definition < d)
		from++;
	to = from;
	while (to < num && waits[to].definition == d)
		to++;
	part->waits = waits + from;
	table_print_some(out, part, &table, to - from, part->states->limit, "rows");
}

bool states_print_table(FILE *out, struct states *states)
{
	struct definition_rows part = { .states = states };
	struct totals sums = { 0 };
	const struct wait *waits;
	size_t num_waits;
	bool ok = states_read(states, NULL, NULL) && totals_sum(&sums, &states->totals) &&
		  between_list_waits(states->between, &waits, &num_waits);

	totals_sort(&sums);
	totals_sort(&states->totals);
	for (size_t d = 0; d < states->num_definitions && ok; d++) {
		fprintf(out, "%s%s: %s\n", d ? "\n" : "", states->definitions[d].name,
			states->definitions[d].title);
		print_totals(out, &part, &sums, d);
		print_waits(out, &part, waits, num_waits, d);
		print_exclusion(out, states, d);
	}
	totals_release(&sums);
	return ok && !ferror(out);
}
