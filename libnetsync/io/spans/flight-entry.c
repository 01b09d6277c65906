// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Dictionaries of a flight recorder's dump -> collective operations of the rank.
 *
 * Operations that the program coalesces have the same number. Each has an entry without a time of
 * completion, and the entry "coalesced" has it:
 *
 *	7  all_reduce	created	  -		one operation, from the first time of creation to
 *	7  all_reduce	created	  -		the time of completion
 *	7  coalesced	created	  completed
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/spans/flight.h"
#include "io/spans/span-name.h"
#include "util/array.h"
#include "util/hash.h"
#include "util/number.h"

/* The values of a dictionary that are used; NULL if it lacks one of them. */
struct flight_fields {
	const struct pickle_value *created, *completed, *sequence, *group, *what, *is_message;
	const struct pickle_value *in, *out, *in_types, *out_types; /* sizes and types of tensors */
	const struct pickle_value *name, *ranks;		    /* of a process group */
};

static void find_flight_fields(const struct pickle_value *pairs, size_t num,
			       struct flight_fields *fields)
{
	const struct {
		const char *key;
		const struct pickle_value **value;
	} known[] = {
		{ "time_created_ns", &fields->created },
		{ "time_discovered_completed_ns", &fields->completed },
		{ "collective_seq_id", &fields->sequence },
		{ "process_group", &fields->group },
		{ "profiling_name", &fields->what },
		{ "is_p2p", &fields->is_message },
		{ "input_sizes", &fields->in },
		{ "output_sizes", &fields->out },
		{ "input_dtypes", &fields->in_types },
		{ "output_dtypes", &fields->out_types },
		{ "name", &fields->name },
		{ "ranks", &fields->ranks },
	};

	memset(fields, 0, sizeof(*fields));
	for (size_t i = 0; i + 1 < num; i += 2)
		for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
			if (pairs[i].kind == PICKLE_TEXT && !strcmp(pairs[i].text, known[k].key))
				*known[k].value = &pairs[i + 1];
}

static bool has_flight_number(const struct pickle_value *value)
{
	return value && value->kind == PICKLE_NUMBER;
}

/* ---- process groups --------------------------------------------------------- */

/* Count the ranks in a text such as "[0, 1, 2]". */
static uint32_t count_group_ranks(const char *ranks)
{
	uint32_t num = 0;

	for (ranks += strcspn(ranks, "0123456789"); *ranks && num < INT32_MAX; num++) {
		ranks += strspn(ranks, "0123456789");
		ranks += strcspn(ranks, "0123456789");
	}
	return num;
}

static int add_flight_group(struct flight *flight, const struct flight_fields *fields)
{
	const struct flight_group new = {
		.name = hash_text(0, fields->name->text),
		.id = hash_text(hash_text(0, fields->name->text), fields->ranks->text),
		.members = count_group_ranks(fields->ranks->text),
	};

	if (fields->name->kind != PICKLE_TEXT || fields->ranks->kind != PICKLE_TEXT)
		return 0;
	if (array_grow(&flight->group, &flight->group_room, flight->num_groups,
		       sizeof(*flight->group)))
		return -ENOMEM;
	flight->group[flight->num_groups++] = new;
	return 0;
}

static int compare_flight_groups(const void *a, const void *b)
{
	const struct flight_group *p = a, *q = b;

	return COMPARE(p->name, q->name);
}

/* ---- entries ---------------------------------------------------------------- */

/* Is it certain that all ranks exchanged data? */
static bool has_flight_data(const struct pickle_value *sizes)
{
	return sizes && sizes->kind == PICKLE_LIST && sizes->number && !sizes->has_zero;
}

/*
 * Copy the operation of a name such as "nccl:all_reduce" or "nccl:send 0->1". Return a reason not to
 * use it, or OPERATION_NUM_UNUSED.
 */
static enum operation_unused find_flight_kind(const struct flight_fields *fields,
					      char what[SPAN_NAME_SIZE], bool *has_sizes)
{
	const char *colon = strchr(fields->what->text, ':');
	const char *name = colon ? colon + 1 : fields->what->text;
	const size_t len = strcspn(name, " ");
	const size_t kept = len < SPAN_NAME_SIZE ? len : SPAN_NAME_SIZE - 1;
	enum operation_unused why;

	memcpy(what, name, kept);
	what[kept] = '\0';
	why = operations_find_kind(what, has_sizes);
	if (why == OPERATION_NUM_UNUSED && fields->is_message && fields->is_message->number)
		return OPERATION_NO_ROOT;
	/* A barrier of NCCL has a tensor of one element, and one of gloo has none. */
	if (why == OPERATION_NUM_UNUSED && !strstr(what, "barrier") &&
	    (!has_flight_data(fields->in) || !has_flight_data(fields->out)))
		return OPERATION_EMPTY_PARTS;
	return why;
}

static uint64_t hash_flight_value(uint64_t hash, const struct pickle_value *value)
{
	return value ? hash_mix(hash ^ value->hash) : hash;
}

static int add_flight_entry(struct flight *flight, const struct flight_fields *fields)
{
	struct flight_entry new = { .created_ns = fields->created->number };
	const bool is_text = fields->what && fields->what->kind == PICKLE_TEXT;
	const char *name = is_text ? fields->what->text : "";
	char what[SPAN_NAME_SIZE];
	enum operation_unused why;
	bool has_sizes;

	if (!is_text || !fields->group || fields->group->kind != PICKLE_LIST ||
	    !has_flight_number(fields->sequence)) {
		operations_skip(&flight->operations, OPERATION_NO_GROUP, name);
		return 0;
	}
	why = find_flight_kind(fields, what, &has_sizes);
	new.is_used = why == OPERATION_NUM_UNUSED;
	if (!new.is_used && !strstr(what, "coalesced")) {
		operations_skip(&flight->operations, why, what);
		return 0;
	}
	/* JSON has 0 instead of null. */
	if (has_flight_number(fields->completed))
		new.completed_ns = fields->completed->number;
	if (new.created_ns <= 0 || (new.completed_ns &&new.completed_ns < new.created_ns)) {
		operations_skip(&flight->operations, OPERATION_BAD_TIME, what);
		return 0;
	}
	if (flight->num == OPERATIONS_MAX) {
		flight->operations.omitted++;
		return 0;
	}
	new.check = hash_text(has_sizes, what);
	if (has_sizes)
		new.check = hash_flight_value(hash_flight_value(new.check, fields->in),
					      fields->out);
	new.check = hash_flight_value(hash_flight_value(new.check, fields->in_types),
				      fields->out_types);
	new.group = hash_text(0, fields->group->text);
	new.sequence = (uint64_t)fields->sequence->number;
	new.group_name = span_name_keep(&flight->operations.names, fields->group->text);
	new.what = span_name_keep(&flight->operations.names, what);
	if (!new.group_name || !new.what ||
	    array_grow(&flight->entry, &flight->room, flight->num, sizeof(new)))
		return -ENOMEM;
	flight->entry[flight->num++] = new;
	return 0;
}

int flight_use_dict(void *data, const struct pickle_value *pairs, size_t num)
{
	struct flight *flight = data;
	struct flight_fields fields;

	find_flight_fields(pairs, num, &fields);
	if (has_flight_number(fields.created))
		return add_flight_entry(flight, &fields);
	if (fields.name && fields.ranks)
		return add_flight_group(flight, &fields);
	return 0;
}

/* ---- operations ------------------------------------------------------------- */

static int compare_flight_entries(const void *a, const void *b)
{
	const struct flight_entry *p = a, *q = b;
	int order = COMPARE(p->group, q->group);

	if (!order)
		order = COMPARE(p->sequence, q->sequence);
	return order ? order : COMPARE(p->created_ns, q->created_ns);
}

static bool is_same_flight_operation(const struct flight_entry *a, const struct flight_entry *b)
{
	return a->group == b->group && a->sequence == b->sequence;
}

/* Make an operation of @num entries with one number, which are sorted by their times. */
static int make_flight_operation(struct flight *flight, const struct flight_entry *entries,
				 size_t num)
{
	const struct flight_group key = { .name = entries->group };
	const struct flight_group *group = NULL;
	const struct name *what = NULL;
	struct rank_operation new = { .start_ns = entries->created_ns,
				      .member = (uint32_t)flight->rank };
	size_t completed = 0;

	new.end_ns = new.start_ns;
	for (size_t i = 0; i < num; i++) {
		new.check += entries[i].check;
		new.end_ns = max64(new.end_ns, entries[i].completed_ns);
		completed += entries[i].completed_ns > 0;
		if (entries[i].is_used && !what)
			what = entries[i].what;
	}
	if (!what) {
		operations_skip(&flight->operations, OPERATION_UNKNOWN_KIND, entries->what->text);
		return 0;
	}
	if (completed > 1) {
		operations_skip(&flight->operations, OPERATION_REPEATED, what->text);
		return 0;
	}
	if (flight->num_groups)
		group = bsearch(&key, flight->group, flight->num_groups, sizeof(key),
				compare_flight_groups);
	if (!group || !group->members) {
		operations_skip(&flight->operations, OPERATION_NO_GROUP, what->text);
		return 0;
	}
	new.role = completed ? SPAN_BOTH : SPAN_BEFORE;
	new.members = group->members;
	new.group_id = group->id;
	new.key[0] = hash_mix(hash_mix(group->id) + entries->sequence);
	new.key[1] = hash_mix(hash_mix(group->id + 1) ^ entries->sequence);
	return operations_add(&flight->operations, &new, entries->group_name->text, what->text);
}

int flight_make_operations(struct flight *flight)
{
	size_t num;
	int ret = 0;

	if (flight->num)
		qsort(flight->entry, flight->num, sizeof(*flight->entry), compare_flight_entries);
	if (flight->num_groups)
		qsort(flight->group, flight->num_groups, sizeof(*flight->group),
		      compare_flight_groups);
	for (size_t i = 0; i < flight->num && !ret; i += num) {
		const struct flight_entry *first = &flight->entry[i];

		for (num = 1;
		     i + num < flight->num && is_same_flight_operation(first, first + num);)
			num++;
		ret = make_flight_operation(flight, first, num);
	}
	free(flight->entry);
	flight->entry = NULL;
	flight->num = flight->room = 0;
	return ret;
}
