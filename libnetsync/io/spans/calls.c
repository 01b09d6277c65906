// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Calls and queues: which times of their spans have a known order.
 *
 *	client	[============]		a client starts before its server; it ends after the server
 *	server	    [=====]		only if it waits for the answer
 *
 *	client	[====]			an asynchronous call, a stream of which the client only saw
 *	server	    [=======]		the beginning, or a client that gave up: only the starts count
 *
 * The clocks are not known yet, but durations are. If a server takes longer than its client, its
 * end is not used, nor are those of the other calls of an operation in which this is frequent. A
 * client with several servers has repeated its call, and may have waited for any of them.
 */
#include <errno.h>
#include <stdlib.h>

#include "io/spans/calls.h"
#include "util/array.h"
#include "util/hash.h"

/*
 * If more than one in this number of calls of an operation are asynchronous, the operation is.
 * Chosen: timeouts are rarer, and asynchronous operations are mostly longer than their clients.
 */
#define CALL_ASYNCHRONOUS_SHARE 50
/* Maximum frequency error of two clocks by which durations differ. Chosen: 1/1024 is twice Linux's. */
#define CALL_SKEW_SHIFT 10

int call_add_part(struct relation *relation, const struct netsync_io_span *part)
{
	for (size_t i = 0; i < relation->num; i++) {
		const struct netsync_io_span *old = &relation->part[i];

		/* Exporters repeat what may have been lost. */
		if (old->member == part->member && old->host == part->host &&
		    old->start_ns == part->start_ns && old->end_ns == part->end_ns)
			return 0;
	}
	if (relation->num == CALL_MAX_PARTS)
		return 0;
	/* Most calls have two spans, and many calls wait for others. */
	if (!relation->part) {
		relation->part = malloc(2 * sizeof(*part));
		relation->room = relation->part ? 2 : 0;
	}
	if (array_grow(&relation->part, &relation->room, relation->num, sizeof(*part)))
		return -ENOMEM;
	relation->part[relation->num++] = *part;
	return 0;
}

/* Find the first part with a role. */
static struct netsync_io_span *find_call_part(const struct relation *relation, uint32_t role)
{
	for (size_t i = 0; i < relation->num; i++)
		if (relation->part[i].role & role)
			return &relation->part[i];
	return NULL;
}

bool call_is_paired(const struct relation *relation)
{
	return find_call_part(relation, NETSYNC_IO_STARTS_FIRST) &&
	       find_call_part(relation, NETSYNC_IO_STARTS_LAST);
}

/* ---- operations --------------------------------------------------------------- */

/* Find or add an operation. If there are too many, they share an entry. */
static struct call_operation *find_call_operation(struct calls *calls, uint64_t name)
{
	const uint64_t first = hash_slot(name) % CALL_OPERATIONS;
	struct call_operation *operation = NULL;

	for (uint64_t i = 0; i < 16; i++) {
		operation = &calls->operation[(first + i) % CALL_OPERATIONS];
		if (!operation->calls)
			operation->name = name;
		if (operation->name == name)
			break;
	}
	return operation;
}

/* Does the server end after its client, as far as this is certain without their clocks? */
static bool is_asynchronous_call(const struct netsync_io_span *client,
				 const struct netsync_io_span *server)
{
	const int64_t client_ns = client->end_ns - client->start_ns;

	if (client->host == server->host)
		return server->end_ns > client->end_ns;
	return server->end_ns - server->start_ns > client_ns + (client_ns >> CALL_SKEW_SHIFT);
}

void call_note_pair(struct calls *calls, const struct relation *relation)
{
	const struct netsync_io_span *client = find_call_part(relation, NETSYNC_IO_ENDS_LAST);
	const struct netsync_io_span *server = find_call_part(relation, NETSYNC_IO_ENDS_FIRST);
	struct call_operation *operation;

	if (!client || !server)
		return;
	operation = find_call_operation(calls, relation->check);
	operation->calls++;
	operation->asynchronous += is_asynchronous_call(client, server);
}

static bool is_asynchronous_operation(const struct call_operation *operation)
{
	return operation->asynchronous * CALL_ASYNCHRONOUS_SHARE > operation->calls;
}

/* ---- calls ---------------------------------------------------------------------- */

static void note_disorder(struct calls *calls, const struct relation *relation)
{
	const struct netsync_io_span *client = find_call_part(relation, NETSYNC_IO_STARTS_FIRST);

	for (size_t i = 0; i < relation->num; i++) {
		const struct netsync_io_span *part = &relation->part[i];

		if (!(part->role & NETSYNC_IO_STARTS_LAST) || part->host != client->host ||
		    part->start_ns >= client->start_ns)
			continue;
		if (!calls->disordered++) {
			calls->disordered_host = part->host;
			calls->disordered_what = relation->what;
		}
		return;
	}
}

void call_settle(struct calls *calls, struct relation *relation)
{
	struct netsync_io_span *client = find_call_part(relation, NETSYNC_IO_ENDS_LAST);
	bool is_asynchronous = false;
	size_t servers = 0;

	if (!call_is_paired(relation)) {
		calls->alone += relation->num;
		return;
	}
	calls->used++;
	calls->calls += relation->kind == NETSYNC_IO_CALL;
	note_disorder(calls, relation);
	for (size_t i = 0; i < relation->num && client; i++) {
		const struct netsync_io_span *part = &relation->part[i];

		servers += (part->role & NETSYNC_IO_STARTS_LAST) != 0;
		is_asynchronous |= (part->role & NETSYNC_IO_ENDS_FIRST) &&
				   is_asynchronous_call(client, part);
	}
	if (!servers || (servers == 1 && !is_asynchronous &&
			 !is_asynchronous_operation(find_call_operation(calls, relation->check))))
		return;
	client->role &= ~(uint32_t)NETSYNC_IO_ENDS_LAST;
	if (!calls->asynchronous++)
		calls->asynchronous_what = relation->what;
}

/* ---- warnings ------------------------------------------------------------------- */

void calls_warn(struct netsync_io *io, const struct calls *calls)
{
	if (calls->alone && !calls->used)
		io_warn(io,
			"None of the %llu spans of clients, servers and queues has its other side; specify the files of all hosts, and check that programs pass on the context of their traces.",
			(unsigned long long)calls->alone);
	if (calls->asynchronous)
		io_warn(io,
			"In %llu of %llu calls (the first is %s), the server may have continued after the client had ended, or the call was repeated; only their starts were used.",
			(unsigned long long)calls->asynchronous, (unsigned long long)calls->calls,
			calls->asynchronous_what->text);
	if (calls->disordered)
		io_warn(io,
			"In %llu calls within one host, the server starts before its client (the first is %s, on %s), so several machines may have this name; add another attribute that distinguishes them, such as k8s.node.name.",
			(unsigned long long)calls->disordered, calls->disordered_what->text,
			relation_get_host_name(io, calls->disordered_host));
}
