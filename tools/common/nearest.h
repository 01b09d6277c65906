/* SPDX-License-Identifier: GPL-2.0-only */
/* Find the valid word that is nearest to a mistyped word. */
#ifndef NETSYNC_NEAREST_H
#define NETSYNC_NEAREST_H

struct nearest {
	const char *typed;
	const char *word; /* the nearest word so far; NULL if none is near */
	int distance;
};

/* Compare the mistyped word with another valid word, which must outlive @nearest. */
void nearest_try(struct nearest *nearest, const char *word);

#endif
