/* SPDX-License-Identifier: GPL-2.0-only */
/* Print tables for people. A column is as wide as its widest cell. */
#ifndef NETSYNC_TABLE_H
#define NETSYNC_TABLE_H

#include <stdint.h>
#include <stdio.h>

#define TABLE_COLUMNS 9 /* maximum number of columns; chosen */
#define CELL_SIZE 160	/* size of a cell with its terminating NUL, in bytes; chosen */

struct table {
	unsigned int columns;
	uint32_t rows;
	const char *heads[TABLE_COLUMNS];
	void (*cell)(const void *data, uint32_t row, unsigned int column, char *cell);
};

void table_print(FILE *out, const void *data, const struct table *table);
/* Print a table that follows another table. If the table has no rows, print nothing. */
void table_print_next(FILE *out, const void *data, const struct table *table);
/*
 * Like table_print_next(), but print at most @limit of the @num rows (0 for all rows), and a line
 * with the number of remaining @things, such as "rows".
 */
void table_print_some(FILE *out, const void *data, const struct table *table, size_t num,
		      unsigned int limit, const char *things);

/* Format cells that contain durations or untrusted texts. */
void cell_put_duration(char *cell, uint64_t ns);
void cell_put_text(char *cell, const char *text);

#endif
