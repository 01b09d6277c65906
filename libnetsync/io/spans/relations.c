// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Collect the parts of relations by their keys, and use each relation when all its parts were
 * read:
 *
 *	host 0	--key 1--key 2--key 3--		a relation is complete, used and forgotten
 *	host 1	--key 1--key 2-------		key 3 is used with the parts that it has:
 *						any of its conditions holds without the others
 *
 * Traces are read in slices of time, so few relations are incomplete at a time, unless traces are
 * missing. Memory is limited by MAX_PARTS; the oldest relations are used first.
 */
#include <errno.h>
#include <stdlib.h>

#include "io/spans/calls.h"
#include "io/spans/span-name.h"
#include "util/array.h"
#include "util/hash.h"
#include "util/number.h"

/*
 * Maximum number of parts that wait for others. Chosen: measured, they need 100 MiB with two parts in
 * each relation, and at most 200 MiB, with one.
 */
#define MAX_PARTS (1 << 19)
/*
 * Maximum number of calls that are kept after client and server were read, because another server
 * of the same call may follow, and because the durations of later calls tell which ones are
 * asynchronous. Chosen: 20 MiB.
 */
#define MAX_PAIRED (1 << 16)
/* Number of slots of the hash table, a power of two. Chosen: 0.5 MiB. */
#define NUM_SLOTS (1 << 16)

/* Relations of a kind that is reported, and the first of them. */
struct relation_count {
	uint64_t num;
	const struct name *group, *what;
	size_t parts;
	uint32_t members;
	uint32_t unordered; /* host, as in struct relation */
};

/* Relations in order. */
struct relation_list {
	struct relation *oldest, *newest;
	size_t num;
};

struct relations {
	struct relation *slot[NUM_SLOTS];
	struct relation_list waiting; /* in order of the first part */
	struct relation_list paired;  /* calls, in the order in which they got their pair */
	struct calls calls;
	size_t num_parts;
	struct name_table names;
	uint64_t used; /* number of relations from which messages were made */
	struct relation_count incomplete, mismatched, repeated, unordered, apart;
	struct relation_count repeated_calls, mixed;
	bool was_full;
	struct host_side *sides;
	size_t side_room;
};

static struct relation **find_relation_slot(struct relations *relations, const uint64_t key[2])
{
	return &relations->slot[hash_slot(key[0]) & (NUM_SLOTS - 1)];
}

static struct relation *find_relation(struct relations *relations, const uint64_t key[2])
{
	struct relation *relation = *find_relation_slot(relations, key);

	while (relation && (relation->key[0] != key[0] || relation->key[1] != key[1]))
		relation = relation->next;
	return relation;
}

static void append_relation(struct relation_list *list, struct relation *relation)
{
	relation->older = list->newest;
	relation->newer = NULL;
	*(list->newest ? &list->newest->newer : &list->oldest) = relation;
	list->newest = relation;
	list->num++;
}

static void unlink_relation(struct relation_list *list, struct relation *relation)
{
	*(relation->older ? &relation->older->newer : &list->oldest) = relation->newer;
	*(relation->newer ? &relation->newer->older : &list->newest) = relation->older;
	list->num--;
}

static struct relation *add_relation(struct relations *relations, const struct span_part *part)
{
	struct relation **slot = find_relation_slot(relations, part->key);
	struct relation *relation = calloc(1, sizeof(*relation));

	if (!relation)
		return NULL;
	*relation = (struct relation){
		.next = *slot,
		.key = { part->key[0], part->key[1] },
		.check = part->check,
		.group_id = { part->group_id[0], part->group_id[1] },
		.members = part->members,
		.step = part->step,
		.kind = part->kind,
		.group = span_name_keep(&relations->names, part->group),
		.what = span_name_keep(&relations->names, part->what),
	};
	if (!relation->group || !relation->what) {
		free(relation);
		return NULL;
	}
	*slot = relation;
	append_relation(&relations->waiting, relation);
	return relation;
}

static void remove_relation(struct relations *relations, struct relation *relation)
{
	struct relation **at = find_relation_slot(relations, relation->key);

	while (*at != relation)
		at = &(*at)->next;
	*at = relation->next;
	unlink_relation(relation->is_paired ? &relations->paired : &relations->waiting, relation);
	relations->num_parts -= relation->num;
	free(relation->part);
	free(relation);
}

static int add_relation_part(struct relations *relations, struct relation *relation, uint32_t host,
			     const struct span_part *part)
{
	relation->is_mismatched |= relation->check != part->check || relation->kind != part->kind ||
				   relation->members != part->members;
	/* A relation that is not used needs no memory for further parts. */
	if (relation->is_repeated)
		return 0;
	if (array_grow(&relation->part, &relation->room, relation->num, sizeof(*relation->part)))
		return -ENOMEM;
	relation->part[relation->num++] = (struct netsync_io_span){
		.start_ns = part->start_ns,
		.end_ns = part->end_ns,
		.host = host,
		.member = part->member,
		.role = part->role,
	};
	relations->num_parts++;
	return 0;
}

/* Add a span of a call, of which the number of spans is not known. */
static int add_call_part(struct relations *relations, struct relation *relation, uint32_t host,
			 const struct span_part *part)
{
	const struct netsync_io_span span = {
		.start_ns = part->start_ns,
		.end_ns = part->end_ns,
		.host = host,
		.member = part->member,
		.role = part->role,
	};
	const size_t num = relation->num;

	if (call_add_part(relation, &span))
		return -ENOMEM;
	relations->num_parts += relation->num - num;
	relation->kind = part->kind > relation->kind ? part->kind : relation->kind;
	if (part->role & NETSYNC_IO_STARTS_LAST)
		relation->check = part->check;
	if (relation->is_paired || !call_is_paired(relation))
		return 0;
	unlink_relation(&relations->waiting, relation);
	relation->is_paired = true;
	append_relation(&relations->paired, relation);
	call_note_pair(&relations->calls, relation);
	return 0;
}

static int compare_parts_by_member(const void *a, const void *b)
{
	const struct netsync_io_span *p = a, *q = b;

	return COMPARE(p->member, q->member);
}

/* Note whether a member has two parts, after all parts were read, or no more are expected. */
static void note_repeated_member(struct relation *relation)
{
	qsort(relation->part, relation->num, sizeof(*relation->part), compare_parts_by_member);
	for (size_t i = 1; i < relation->num; i++)
		relation->is_repeated |= relation->part[i - 1].member == relation->part[i].member;
}

/* ---- using relations ---------------------------------------------------------- */

static void count_relation(struct relation_count *count, const struct relation *relation)
{
	if (!count->num++) {
		count->group = relation->group;
		count->what = relation->what;
		count->parts = relation->num;
		count->members = relation->members;
		count->unordered = relation->unordered;
	}
}

static void report_relation(const struct netsync_io *io, const struct relation *relation)
{
	const struct netsync_io_relation report = {
		.size = sizeof(report),
		.members = relation->kind == NETSYNC_IO_COLLECTIVE ? relation->members :
								     (uint32_t)relation->num,
		.group = relation->group->text,
		.what = relation->what->text,
		.step = relation->step,
		.num_spans = (uint32_t)relation->num,
		.span_size = sizeof(*relation->part),
		.kind = relation->kind,
		.spans = relation->part,
		.group_id = { relation->group_id[0], relation->group_id[1] },
	};

	if (io->relation)
		io->relation(io->relation_data, &report);
}

/* Use and forget a relation. Return 0, or a negative value after io_fail(). */
static int use_relation(struct netsync_io *io, struct relation *relation)
{
	struct relations *relations = io->relations;
	int ret = 0;

	if (relation->num > relations->side_room) {
		free(relations->sides);
		relations->side_room = relation->num * 2;
		relations->sides = malloc(relations->side_room * sizeof(*relations->sides));
		if (!relations->sides) {
			relations->side_room = 0;
			return io_fail_no_memory(io);
		}
	}
	if (relation->is_repeated) {
		count_relation(relation->kind == NETSYNC_IO_COLLECTIVE ? &relations->repeated :
									 &relations->repeated_calls,
			       relation);
	} else if (relation->kind != NETSYNC_IO_COLLECTIVE) {
		call_settle(&relations->calls, relation);
		if (relation->is_paired) {
			ret = relation_push_messages(io, relation, relations->sides);
			report_relation(io, relation);
		}
	} else if (relation->is_mismatched) {
		count_relation(&relations->mismatched, relation);
	} else if (relation_mixes_runs(relation, relations->sides)) {
		count_relation(&relations->mixed, relation);
	} else {
		if (relation->num < relation->members)
			count_relation(&relations->incomplete, relation);
		relations->used++;
		ret = relation_push_messages(io, relation, relations->sides);
		if (relation->is_unordered)
			count_relation(&relations->unordered, relation);
		if (relation->is_apart)
			count_relation(&relations->apart, relation);
		report_relation(io, relation);
	}
	remove_relation(relations, relation);
	return ret;
}

static int use_oldest_relation(struct netsync_io *io, const struct relation_list *list)
{
	struct relation *oldest = list->oldest;

	note_repeated_member(oldest);
	return use_relation(io, oldest);
}

int relations_add(struct netsync_io *io, uint32_t host, const struct span_part *part)
{
	struct relations *relations = io->relations;
	struct relation *relation;
	int ret = 0;

	if (!relations)
		relations = io->relations = calloc(1, sizeof(*relations));
	if (!relations)
		return io_fail_no_memory(io);
	while (relations->num_parts >= MAX_PARTS && relations->waiting.num && !ret) {
		/* Clients often call servers that report no spans. */
		relations->was_full |= relations->waiting.oldest->kind == NETSYNC_IO_COLLECTIVE;
		ret = use_oldest_relation(io, &relations->waiting);
	}
	while (relations->paired.num >= MAX_PAIRED && !ret)
		ret = use_oldest_relation(io, &relations->paired);
	if (ret)
		return ret;
	relation = find_relation(relations, part->key);
	if (!relation)
		relation = add_relation(relations, part);
	if (!relation)
		return io_fail_no_memory(io);
	if (part->kind != NETSYNC_IO_COLLECTIVE)
		return add_call_part(relations, relation, host, part) ? io_fail_no_memory(io) : 0;
	if (add_relation_part(relations, relation, host, part))
		return io_fail_no_memory(io);
	if (relation->num < relation->members || relation->is_repeated)
		return 0;
	note_repeated_member(relation);
	return relation->is_repeated ? 0 : use_relation(io, relation);
}

/* ---- the end -------------------------------------------------------------------- */

/* Warn of relations that were used, although their times show that something is wrong. */
static void warn_of_odd_times(struct netsync_io *io)
{
	const struct relation_count *count = &io->relations->unordered;

	if (count->num)
		io_warn(io,
			"In %llu collective operations, ranks of one host end before others of this host start, so they have different clocks (the first is %s of group %s, on %s); make each rank a host, with --clock gpu or NAME=FILE.",
			(unsigned long long)count->num, count->what->text, count->group->text,
			relation_get_host_name(io, count->unordered));
	count = &io->relations->apart;
	if (count->num)
		io_warn(io,
			"In %llu collective operations, ranks start more than a minute after others end, by the clocks of their hosts (the first is %s of group %s); if these clocks are not that wrong, specify only traces of one run.",
			(unsigned long long)count->num, count->what->text, count->group->text);
}

static void warn_of_relations(struct netsync_io *io)
{
	const struct relations *relations = io->relations;
	const struct relation_count *count = &relations->incomplete;
	const bool has_window = io->window.begin_is || io->window.end_is;

	if (count->num)
		io_warn(io,
			"%llu of %llu collective operations lack the spans of some ranks (the first is %s of group %s, with %zu of %u ranks); %s.",
			(unsigned long long)count->num, (unsigned long long)relations->used,
			count->what->text, count->group->text, count->parts, count->members,
			has_window ?
				"the time window begins or ends within them, or the traces of some ranks are missing" :
				"specify the traces of all ranks, recorded during the same steps");
	count = &relations->mismatched;
	if (count->num)
		io_warn(io,
			"%llu collective operations were not used, because their ranks report different kinds, sizes or roots (the first is %s of group %s); check that all traces are of the same run.",
			(unsigned long long)count->num, count->what->text, count->group->text);
	count = &relations->repeated;
	if (count->num)
		io_warn(io,
			"%llu collective operations were not used, because a rank reports them twice (the first is %s of group %s); specify only traces of one run, and each rank once.",
			(unsigned long long)count->num, count->what->text, count->group->text);
	count = &relations->mixed;
	if (count->num)
		io_warn(io,
			"%llu collective operations were not used, because ranks of one host took part more than a minute apart (the first is %s of group %s, on %s), so their traces are of different runs; specify only traces of one run, and those of all its ranks.",
			(unsigned long long)count->num, count->what->text, count->group->text,
			relation_get_host_name(io, count->unordered));
	count = &relations->repeated_calls;
	if (count->num)
		io_warn(io,
			"%llu calls were not used, because several spans with other times have one identifier (the first is %s); specify each trace once.",
			(unsigned long long)count->num, count->what->text);
	if (relations->was_full)
		io_warn(io,
			"More than %d spans waited for those of other ranks; the oldest collective operations were used without the other ranks.",
			MAX_PARTS);
}

int relations_end(struct netsync_io *io)
{
	int ret = 0;

	if (!io->relations)
		return 0;
	while (io->relations->waiting.oldest && !ret)
		ret = use_oldest_relation(io, &io->relations->waiting);
	while (io->relations->paired.oldest && !ret)
		ret = use_oldest_relation(io, &io->relations->paired);
	if (!ret) {
		calls_warn(io, &io->relations->calls);
		warn_of_relations(io);
		warn_of_odd_times(io);
	}
	relations_free(io->relations);
	io->relations = NULL;
	return ret;
}

void relations_free(struct relations *relations)
{
	if (!relations)
		return;
	while (relations->waiting.oldest)
		remove_relation(relations, relations->waiting.oldest);
	while (relations->paired.oldest)
		remove_relation(relations, relations->paired.oldest);
	names_release(&relations->names);
	free(relations->sides);
	free(relations);
}
