/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables for people: columns as wide as what is in them. */
#ifndef NETSYNC_TABLE_H
#define NETSYNC_TABLE_H

#include <stdint.h>
#include <stdio.h>

#define TABLE_COLUMNS 9
#define CELL_SIZE 160

struct table {
	unsigned int columns;
	uint32_t rows;
	const char *heads[TABLE_COLUMNS];
	void (*cell)(const void *data, uint32_t row, unsigned int column,
		     char *cell);
};

void table_print(FILE *out, const void *data, const struct table *table);
/* After another one, if there is anything in it. */
void table_print_next(FILE *out, const void *data, const struct table *table);

#endif
