// SPDX-License-Identifier: LGPL-2.1-or-later
/* Operations of which the times are limited: see operations.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/spans/collective.h"
#include "io/spans/operations.h"
#include "io/spans/span-name.h"
#include "util/array.h"
#include "util/number.h"
#include "util/utf8.h"

int operations_add(struct rank_operations *operations, const struct rank_operation *operation,
		   const char *group, const char *what)
{
	struct rank_operation *new;

	if (operations->num == OPERATIONS_MAX) {
		operations->omitted++;
		return 0;
	}
	if (array_grow(&operations->operation, &operations->room, operations->num, sizeof(*new)))
		return -ENOMEM;
	new = &operations->operation[operations->num];
	*new = *operation;
	new->group = span_name_keep(&operations->names, group);
	new->what = span_name_keep(&operations->names, what);
	if (!new->group || !new->what)
		return -ENOMEM;
	operations->num++;
	return 0;
}

void operations_skip(struct rank_operations *operations, enum operation_unused why,
		     const char *what)
{
	if (!operations->unused[why]++)
		snprintf(operations->example[why], SPAN_NAME_SIZE, "%s", what);
}

enum operation_unused operations_find_kind(const char *what, bool *has_sizes)
{
	const struct collective_kind *kind = collective_find_kind(what);

	*has_sizes = kind && kind->sizes == SIZES_EQUAL;
	if (!kind)
		return OPERATION_UNKNOWN_KIND;
	if (kind->relation != COLLECTIVE_ALL)
		return OPERATION_NO_ROOT;
	return kind->sizes == SIZES_SPLIT ? OPERATION_EMPTY_PARTS : OPERATION_NUM_UNUSED;
}

void operations_release(struct rank_operations *operations)
{
	free(operations->operation);
	names_release(&operations->names);
}

/* ---- the whole trace -------------------------------------------------------- */

static void warn_of_unused_operations(struct trace *trace, const struct rank_operations *operations)
{
	static const char *const why[OPERATION_NUM_UNUSED] = {
		[OPERATION_UNKNOWN_KIND] = "netsync does not know these operations",
		[OPERATION_NO_ROOT] =
			"the trace does not report their root, or no number that both ranks of a message have",
		[OPERATION_EMPTY_PARTS] =
			"some ranks may have exchanged no data, so that they did not wait for each other",
		[OPERATION_NO_GROUP] =
			"the trace does not report the ranks of their group, and their number in it",
		[OPERATION_BAD_TIME] = "their times are not valid",
		[OPERATION_REPEATED] =
			"their numbers repeat or decrease, as in replayed CUDA graphs or after a restart",
	};

	for (int i = 0; i < OPERATION_NUM_UNUSED; i++) {
		char *name = utf8_escape(operations->example[i], true);

		trace->has_unusable |= operations->unused[i] > 0;
		if (operations->unused[i])
			io_warn(trace->io,
				"%s: %llu operations (the first is %s) were not used: %s.",
				trace->path, (unsigned long long)operations->unused[i],
				name ? name : "", why[i]);
		free(name);
	}
	if (operations->omitted)
		io_warn(trace->io,
			"%s: only the first %d collective operations were used, and %llu were not.",
			trace->path, OPERATIONS_MAX, (unsigned long long)operations->omitted);
}

static int compare_operations_by_start(const void *a, const void *b)
{
	const struct rank_operation *p = a, *q = b;
	const int order = COMPARE(p->start_ns, q->start_ns);

	return order ? order : COMPARE(p->end_ns, q->end_ns);
}

void operations_finish(struct trace *trace, struct rank_operations *operations)
{
	size_t num = 0;

	trace->range = (struct range){ .hi = -1 };
	for (size_t i = 0; i < operations->num; i++) {
		const struct rank_operation *operation = &operations->operation[i];

		if (!operation->role)
			continue;
		range_extend(&trace->range, operation->start_ns, operation->end_ns);
		operations->operation[num++] = *operation;
	}
	operations->num = num;
	if (num)
		qsort(operations->operation, num, sizeof(*operations->operation),
		      compare_operations_by_start);
	warn_of_unused_operations(trace, operations);
}

/* ---- reading ---------------------------------------------------------------- */

static int pass_operation(struct trace *trace, const struct rank_operation *operation)
{
	struct span_part part = {
		.key = { operation->key[0], operation->key[1] },
		.check = operation->check,
		.group_id = { 0, operation->group_id },
		.kind = NETSYNC_IO_COLLECTIVE,
		.start_ns = operation->start_ns,
		.end_ns = operation->end_ns,
		.role = operation->role | NETSYNC_IO_ENCLOSES,
		.member = operation->member,
		.members = operation->members,
		.step = -1,
	};

	snprintf(part.group, sizeof(part.group), "%s", operation->group->text);
	snprintf(part.what, sizeof(part.what), "%s", operation->what->text);
	return io_add_part(trace, &part);
}

int operations_read(struct trace *trace, struct rank_operations *operations, int64_t until_ns)
{
	int ret = operations->next ? 0 : io_add_span(trace, trace->range.lo, trace->range.hi);

	while (!ret && operations->next < operations->num &&
	       operations->operation[operations->next].start_ns <= until_ns)
		ret = pass_operation(trace, &operations->operation[operations->next++]);
	return ret < 0 ? ret : operations->next < operations->num;
}
