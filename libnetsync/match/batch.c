// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "match/batch.h"

int batch_reserve(struct record_batch *b, bool addresses)
{
	if (!b->record) {
		b->record = malloc(BATCH_RECORDS * sizeof(*b->record));
		batch_clear(b);
	}
	if (!b->record)
		return -ENOMEM;
	if (addresses && !b->addresses)
		b->addresses = calloc(BATCH_RECORDS, sizeof(*b->addresses));
	if (addresses)
		return b->addresses ? 0 : -ENOMEM;
	free(b->addresses);
	b->addresses = NULL;
	return 0;
}

void batch_clear(struct record_batch *b)
{
	memset(b->num, 0, sizeof(b->num));
	b->all = 0;
	b->full = false;
}

void batch_release(struct record_batch *b)
{
	free(b->record);
	free(b->addresses);
	memset(b, 0, sizeof(*b));
}
