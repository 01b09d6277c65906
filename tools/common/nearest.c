// SPDX-License-Identifier: GPL-2.0-only
/* Find the valid word that is most similar to a mistyped word. */
#include <stdlib.h>
#include <string.h>

#include "nearest.h"

/* Longer words are not compared. Chosen: commands and options have at most 20 letters. */
#define MAX_LENGTH 40

static int choose_smaller_int(int a, int b)
{
	return a < b ? a : b;
}

/*
 * Compute the optimal string alignment distance of two words: how many letters must be inserted,
 * removed, replaced, or swapped with the next letter to turn one word into the other.
 */
static int measure_distance(const char *a, const char *b)
{
	int rows[3][MAX_LENGTH + 1], *before = rows[0], *last = rows[1], *row = rows[2];
	const int length_a = strlen(a), length_b = strlen(b);

	for (int j = 0; j <= length_b; j++)
		last[j] = j;
	for (int i = 1; i <= length_a; i++) {
		int *oldest = before;

		row[0] = i;
		for (int j = 1; j <= length_b; j++) {
			row[j] = choose_smaller_int(last[j - 1] + (a[i - 1] != b[j - 1]),
						    choose_smaller_int(last[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = choose_smaller_int(row[j], before[j - 2] + 1);
		}
		before = last;
		last = row;
		row = oldest;
	}
	return last[length_b];
}

void nearest_consider_word(struct nearest *nearest, const char *word)
{
	const size_t length = strlen(nearest->typed), other = strlen(word);
	int distance;

	if (!length || length > MAX_LENGTH || other > MAX_LENGTH)
		return;
	/* An abbreviation counts as one wrong letter. */
	distance = !strncmp(nearest->typed, word, length) ? 1 :
							    measure_distance(nearest->typed, word);
	/* At most one letter in three may be wrong, and not all letters of the word. Chosen. */
	if (distance > (int)(length + 2) / 3 || distance >= (int)length)
		return;
	if (nearest->word && nearest->distance <= distance)
		return;
	nearest->word = word;
	nearest->distance = distance;
}
