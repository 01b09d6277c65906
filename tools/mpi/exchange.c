// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exchange batches of items between all ranks. All items have the same size. A rank has two batches
 * for each other rank: it fills one while the other is being sent. A rank that waits continues to
 * receive batches, so that ranks never wait for each other forever.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exchange.h"

/*
 * Number of items in a batch. A batch takes 16 KB, so that two batches for each of a thousand ranks
 * take 32 MB. Chosen.
 */
#define BATCH 128
/*
 * Number of slices by which a rank may be ahead of the slowest rank. Chosen to be small, because
 * packets are deferred.
 */
#define SLICES_AHEAD 4
/* Number of slices in the last item of a rank. It means all slices. */
#define ALL_SLICES UINT32_MAX
/* Time to wait before checking for batches again, ns. Chosen. */
#define PAUSE_NS 50000

#define BATCH_TAG 1

enum item_kind { ITEM_PACKET, ITEM_CLOCK, ITEM_SLICE };

struct item {
	uint32_t kind;
	uint32_t slice;
	union {
		struct netsync_packet packet;
		struct netsync_clock_point clock;
	};
};

struct batch {
	struct item item[BATCH];
	MPI_Request request; /* MPI_REQUEST_NULL if the batch is not being sent */
};

/* State of the exchange with another rank. */
struct peer {
	struct batch *batch[2];
	int filled;	/* index of the batch that is being filled */
	int num;	/* number of items in that batch */
	uint32_t slice; /* number of slices that the other rank has read */
};

struct exchange {
	struct netsync *ns;
	int rank, ranks;
	struct peer *peer;
	struct item *received; /* buffer for a batch */
	MPI_Request receiving;
	int error; /* error of a received item, or 0 */
};

uint32_t exchange_choose_shards(int rank, int ranks)
{
	uint32_t shards = 0;

	for (int s = 0; s < NETSYNC_SHARDS; s++)
		if (s % ranks == rank)
			shards |= UINT32_C(1) << s;
	return shards;
}

static void start_receiving_batch(struct exchange *e)
{
	MPI_Irecv(e->received, BATCH * sizeof(*e->received), MPI_BYTE, MPI_ANY_SOURCE, BATCH_TAG,
		  MPI_COMM_WORLD, &e->receiving);
}

struct exchange *exchange_new(struct netsync *ns, int rank, int ranks)
{
	struct exchange *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->ns = ns;
	e->rank = rank;
	e->ranks = ranks;
	e->receiving = MPI_REQUEST_NULL;
	e->peer = calloc(ranks, sizeof(*e->peer));
	e->received = malloc(BATCH * sizeof(*e->received));
	for (int i = 0; e->peer && i < 2 * ranks; i++) {
		struct batch *b = malloc(sizeof(*b));

		e->peer[i / 2].batch[i % 2] = b;
		if (b)
			b->request = MPI_REQUEST_NULL;
		else
			e->error = -ENOMEM;
	}
	if (!e->peer || !e->received || e->error) {
		exchange_free(e);
		return NULL;
	}
	start_receiving_batch(e);
	return e;
}

void exchange_free(struct exchange *e)
{
	if (!e)
		return;
	if (e->receiving != MPI_REQUEST_NULL) {
		MPI_Cancel(&e->receiving);
		MPI_Wait(&e->receiving, MPI_STATUS_IGNORE);
	}
	for (int i = 0; e->peer && i < 2 * e->ranks; i++)
		free(e->peer[i / 2].batch[i % 2]);
	free(e->peer);
	free(e->received);
	free(e);
}

/* ---- receiving ---------------------------------------------------------------- */

/*
 * Use a received item. The sender may not know that a time exceeds the limits of its host. In this
 * case, skip the event, as netsync_io_read() does. Also skip a reading of a host whose messages
 * were already used.
 */
static int use_exchanged_item(struct exchange *e, int from, const struct item *item)
{
	int ret = 0;

	if (item->kind == ITEM_PACKET)
		ret = netsync_push_packet(e->ns, &item->packet);
	else if (item->kind == ITEM_CLOCK)
		ret = netsync_push_clock(e->ns, &item->clock);
	else
		e->peer[from].slice = item->slice;
	return ret == -ERANGE || ret == -EALREADY ? 0 : ret;
}

/* Receive a batch and use its items. Return false if no batch has arrived. */
static bool use_received_batch(struct exchange *e)
{
	MPI_Status status;
	int came, bytes;

	if (e->receiving == MPI_REQUEST_NULL)
		return false;
	MPI_Test(&e->receiving, &came, &status);
	if (!came)
		return false;
	MPI_Get_count(&status, MPI_BYTE, &bytes);
	for (size_t i = 0; i < bytes / sizeof(struct item) && !e->error; i++)
		e->error = use_exchanged_item(e, status.MPI_SOURCE, &e->received[i]);
	start_receiving_batch(e);
	return true;
}

/* Receive a batch. If none has arrived, pause, because other processes may need this processor. */
static void use_batch_or_pause(struct exchange *e)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	if (!use_received_batch(e))
		nanosleep(&pause, NULL);
}

/* ---- sending ------------------------------------------------------------------ */

/* Wait until a batch has been sent and can be filled again. */
static void wait_for_batch(struct exchange *e, struct batch *b)
{
	int sent;

	for (MPI_Test(&b->request, &sent, MPI_STATUS_IGNORE); !sent && !e->error;
	     MPI_Test(&b->request, &sent, MPI_STATUS_IGNORE))
		use_batch_or_pause(e);
}

static void send_batch(struct exchange *e, int to)
{
	struct peer *p = &e->peer[to];
	struct batch *b = p->batch[p->filled];

	if (!p->num)
		return;
	MPI_Isend(b->item, p->num * (int)sizeof(*b->item), MPI_BYTE, to, BATCH_TAG, MPI_COMM_WORLD,
		  &b->request);
	p->num = 0;
	p->filled = !p->filled;
	wait_for_batch(e, p->batch[p->filled]);
}

static void queue_exchange_item(struct exchange *e, int to, const struct item *item)
{
	struct peer *p = &e->peer[to];

	p->batch[p->filled]->item[p->num++] = *item;
	if (p->num == BATCH)
		send_batch(e, to);
}

/* Send an item to all other ranks. */
static void send_item_to_others(struct exchange *e, const struct item *item)
{
	for (int to = 0; to < e->ranks; to++)
		if (to != e->rank)
			queue_exchange_item(e, to, item);
}

static void announce_slice(struct exchange *e, uint32_t slice)
{
	const struct item item = { .kind = ITEM_SLICE, .slice = slice };

	send_item_to_others(e, &item);
	for (int to = 0; to < e->ranks; to++)
		if (to != e->rank)
			send_batch(e, to);
}

/* ---- for the reader ---------------------------------------------------------- */

int exchange_send_packet(void *data, const struct netsync_packet *pkt)
{
	struct exchange *e = data;
	struct item item = { .kind = ITEM_PACKET, .packet = *pkt };
	const uint32_t shards = netsync_packet_shards(pkt);
	int ret = e->error;

	/* Each rank assigns its own numbers to the observation points of its traces. */
	item.packet.point = pkt->point * (uint32_t)e->ranks + (uint32_t)e->rank;
	for (int to = 0; to < e->ranks && !ret; to++) {
		if (!(shards & exchange_choose_shards(to, e->ranks)))
			continue;
		if (to == e->rank)
			ret = netsync_push_packet(e->ns, &item.packet);
		else
			queue_exchange_item(e, to, &item);
	}
	return ret;
}

int exchange_send_clock(void *data, const struct netsync_clock_point *point)
{
	struct exchange *e = data;
	const struct item item = { .kind = ITEM_CLOCK, .clock = *point };
	const int ret = e->error ? e->error : netsync_push_clock(e->ns, point);

	if (!ret)
		send_item_to_others(e, &item);
	return ret;
}

static uint32_t find_slowest_slice(const struct exchange *e)
{
	uint32_t least = ALL_SLICES;

	for (int i = 0; i < e->ranks; i++)
		if (i != e->rank && e->peer[i].slice < least)
			least = e->peer[i].slice;
	return least;
}

static int wait_for_slice(struct exchange *e, uint32_t slice)
{
	while (find_slowest_slice(e) < slice && !e->error)
		use_batch_or_pause(e);
	return e->error;
}

int exchange_end_slice(void *data, uint32_t slice, uint32_t slices)
{
	struct exchange *e = data;
	const uint32_t least = slice > SLICES_AHEAD ? slice - SLICES_AHEAD : 0;
	int ret;

	(void)slices;
	if (slice)
		announce_slice(e, slice);
	while (use_received_batch(e))
		;
	ret = wait_for_slice(e, least);
	if (ret)
		return ret;
	return (int)(find_slowest_slice(e) < slice ? find_slowest_slice(e) : slice);
}

int exchange_end(struct exchange *e)
{
	announce_slice(e, ALL_SLICES);
	wait_for_slice(e, ALL_SLICES);
	for (int i = 0; i < 2 * e->ranks; i++)
		wait_for_batch(e, e->peer[i / 2].batch[i % 2]);
	return e->error;
}
