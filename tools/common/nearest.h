/* SPDX-License-Identifier: GPL-2.0-only */
/* Find the valid word that is most similar to a mistyped word. */
#ifndef NETSYNC_NEAREST_H
#define NETSYNC_NEAREST_H

struct nearest {
	const char *typed;
	const char *word; /* the most similar word so far, or NULL if none is similar */
	int distance;
};

/* Compare the mistyped word with a valid word, which must outlive @nearest. */
void nearest_consider_word(struct nearest *nearest, const char *word);

#endif
