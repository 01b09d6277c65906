// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "../../libnetsync/util/array.h"
#include "common/complain.h"
#include "messages.h"

void messages_release(struct messages *messages)
{
	free(messages->list);
}

struct loading {
	struct messages *messages;
	const struct timebase *base;
};

static bool load_spooled_message(void *data, const void *record)
{
	const struct loading *loading = data;
	struct messages *messages = loading->messages;
	const struct spooled *message = record;
	int64_t time_ns;

	if (!timebase_correct_time(&loading->base->hosts[message->to], message->recv_ns,
				   &time_ns) ||
	    !timebase_contains(loading->base, time_ns))
		return true;
	if (array_grow(&messages->list, &messages->room, messages->num, sizeof(*messages->list)))
		return complain_no_memory();
	messages->list[messages->num++] = *message;
	return true;
}

static int compare_messages_by_receipt(const void *a, const void *b)
{
	const struct spooled *one = a, *other = b;

	if (one->to != other->to)
		return one->to < other->to ? -1 : 1;
	return (one->recv_ns > other->recv_ns) - (one->recv_ns < other->recv_ns);
}

bool messages_load(struct messages *messages, struct spool *spool, const struct timebase *base)
{
	struct loading loading = { messages, base };

	if (!spool_read_records(spool, load_spooled_message, &loading))
		return false;
	if (messages->num)
		qsort(messages->list, messages->num, sizeof(*messages->list),
		      compare_messages_by_receipt);
	return true;
}

const struct spooled *messages_find(const struct messages *messages, uint32_t to, int64_t recv_ns)
{
	const struct spooled key = { .recv_ns = recv_ns, .to = to };

	return messages->num ? bsearch(&key, messages->list, messages->num, sizeof(key),
				       compare_messages_by_receipt) :
			       NULL;
}
