// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print a table on a terminal. Each cell is formatted twice: once to find the width of its column,
 * and once to print it. The table is therefore never in memory as a whole.
 */
#include <string.h>

#include "complain.h"
#include "table.h"
#include "value.h"

static void print_table_row(FILE *out, const int *widths, unsigned int columns,
			    char cells[][CELL_SIZE])
{
	unsigned int last = columns;

	while (last && !*cells[last - 1])
		last--;
	for (unsigned int i = 0; i < last; i++)
		fprintf(out, "%-*s%s", i + 1 < last ? widths[i] : 0, cells[i],
			i + 1 < last ? "   " : "\n");
}

void table_print(FILE *out, const void *data, const struct table *table)
{
	char cells[TABLE_COLUMNS][CELL_SIZE];
	int widths[TABLE_COLUMNS];

	for (unsigned int i = 0; i < table->columns; i++) {
		snprintf(cells[i], CELL_SIZE, "%s", table->heads[i]);
		widths[i] = strlen(cells[i]);
	}
	for (uint32_t row = 0; row < table->rows; row++) {
		for (unsigned int i = 0; i < table->columns; i++) {
			char cell[CELL_SIZE];
			int width;

			table->cell(data, row, i, cell);
			width = strlen(cell);
			if (width > widths[i])
				widths[i] = width;
		}
	}
	print_table_row(out, widths, table->columns, cells);
	for (uint32_t row = 0; row < table->rows; row++) {
		for (unsigned int i = 0; i < table->columns; i++)
			table->cell(data, row, i, cells[i]);
		print_table_row(out, widths, table->columns, cells);
	}
}

void table_print_next(FILE *out, const void *data, const struct table *table)
{
	if (!table->rows)
		return;
	fputc('\n', out);
	table_print(out, data, table);
}

void table_print_some(FILE *out, const void *data, const struct table *table, size_t num,
		      unsigned int limit, const char *things)
{
	struct table some = *table;

	if (!limit || limit > num)
		limit = num < UINT32_MAX ? num : UINT32_MAX;
	some.rows = limit;
	table_print_next(out, data, &some);
	if (limit < num)
		fprintf(out, "and %zu more %s; use --limit to print more.\n", num - limit, things);
}

void cell_put_duration(char *cell, uint64_t ns)
{
	char text[VALUE_SIZE];

	snprintf(cell, CELL_SIZE, "%s",
		 format_duration(text, ns < INT64_MAX ? (int64_t)ns : INT64_MAX));
}

void cell_put_text(char *cell, const char *text)
{
	snprintf(cell, CELL_SIZE, "%.*s", CELL_SIZE - 1, text);
	make_text_printable(cell);
}
