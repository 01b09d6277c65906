/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables for people: a column is as wide as its widest cell. */
#ifndef NETSYNC_TABLE_H
#define NETSYNC_TABLE_H

#include <stdint.h>
#include <stdio.h>

#define TABLE_COLUMNS 9 /* maximum columns; chosen */
#define CELL_SIZE 160	/* bytes of a cell with its 0; chosen */

struct table {
	unsigned int columns;
	uint32_t rows;
	const char *heads[TABLE_COLUMNS];
	void (*cell)(const void *data, uint32_t row, unsigned int column, char *cell);
};

void table_print(FILE *out, const void *data, const struct table *table);
/* Print a table after another one, if it has rows. */
void table_print_next(FILE *out, const void *data, const struct table *table);
/*
 * The same with only the first @limit (0: all) of @num rows, and a line with the number
 * of further @things ("rows").
 */
void table_print_some(FILE *out, const void *data, const struct table *table, size_t num,
		      unsigned int limit, const char *things);

/* Cells: durations, and untrusted texts. */
void cell_duration(char *cell, uint64_t ns);
void cell_text(char *cell, const char *text);

#endif
