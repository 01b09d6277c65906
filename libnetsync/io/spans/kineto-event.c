// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An event of a Kineto trace -> a collective operation of this rank, the operation that launched
 * it, or a step of the program.
 *
 * The fields of collectives are those that PyTorch's saveNcclMeta() adds
 * (torch/csrc/profiler/util.cpp), and Kineto copies to the kernels.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/spans/collective.h"
#include "io/spans/kineto.h"
#include "io/spans/span-name.h"
#include "util/array.h"
#include "util/hash.h"

#define STEP_PREFIX "ProfilerStep#"

/* Count an operation that is not used. */
static int skip_collective(struct kineto *kineto, enum kineto_unused why, const char *name)
{
	if (!kineto->unused[why]++)
		snprintf(kineto->example[why], SPAN_NAME_SIZE, "%s", name);
	return 0;
}

/* ---- lists in texts --------------------------------------------------------- */

/*
 * Read the next number of a list such as "[0, 1, ..., 31]". Return 1; 0 at the end; -EAGAIN for
 * omitted numbers; or -EINVAL.
 */
static int next_in_list(const char **text, int64_t *number)
{
	char *end;

	*text += strspn(*text, "[, ");
	if (!**text || **text == ']')
		return 0;
	if (!strncmp(*text, "...", 3)) {
		*text += 3;
		return -EAGAIN;
	}
	*number = strtoll(*text, &end, 10);
	if (end == *text)
		return -EINVAL;
	*text = end;
	return 1;
}

/* Is a part of this list 0, or unknown? An empty list means equal parts. */
static bool has_empty_part(const char *text)
{
	int64_t number;
	int ret;

	while ((ret = next_in_list(&text, &number)) > 0)
		if (!number)
			return true;
	return ret < 0;
}

/* Get the global rank of the member @index of a group, from its list of ranks. */
static bool find_global_rank(const char *ranks, int64_t index, int64_t *rank)
{
	for (int64_t i = 0; i <= index; i++)
		if (next_in_list(&ranks, rank) <= 0)
			return false;
	return index >= 0;
}

/* ---- collectives --------------------------------------------------------------- */

/* What a GPU kernel reports about its collective operation. */
struct kineto_report {
	const struct collective_kind *kind;
	const char *name, *group, *ranks, *type;
	int64_t members, in, out; /* numbers of elements; -1 if unknown */
	int64_t root;		  /* global rank; -1 if unknown */
};

/* Is it certain that data pass between all ranks that the relation ties together? */
static bool has_all_parts(const struct kineto_report *report, struct json_object *args,
			  bool is_root)
{
	const char *in_split = json_get_text(args, "In split size");
	const char *out_split = json_get_text(args, "Out split size");

	switch (report->kind->relation) {
	case COLLECTIVE_FROM_ROOT:
		return is_root || report->out;
	case COLLECTIVE_TO_ROOT:
		return is_root || report->in;
	case COLLECTIVE_SEND:
	case COLLECTIVE_RECEIVE:
		return report->in || report->out;
	case COLLECTIVE_ALL:
		break;
	}
	if (report->kind->sizes == SIZES_NONE)
		return true;
	if (report->kind->sizes == SIZES_SPLIT &&
	    (report->in < 0 || report->out < 0 || !in_split || !out_split ||
	     has_empty_part(in_split) || has_empty_part(out_split)))
		return false;
	return report->in && report->out;
}

static uint32_t find_role(const struct kineto_report *report, bool is_root)
{
	switch (report->kind->relation) {
	case COLLECTIVE_FROM_ROOT:
		return is_root ? SPAN_BEFORE : SPAN_AFTER;
	case COLLECTIVE_TO_ROOT:
		return is_root ? SPAN_AFTER : SPAN_BEFORE;
	case COLLECTIVE_SEND:
		return SPAN_BEFORE;
	case COLLECTIVE_RECEIVE:
		return SPAN_AFTER;
	case COLLECTIVE_ALL:
		break;
	}
	return SPAN_BOTH;
}

static int64_t get_count(struct json_object *args, const char *key)
{
	int64_t number;

	return json_get_integer(args, key, 0, INT64_MAX, &number) ? number : -1;
}

/* Find the other rank of a message, or the root. Return false if it is needed and unknown. */
static bool find_root(struct kineto_report *report, struct json_object *args)
{
	int64_t index;

	switch (report->kind->relation) {
	case COLLECTIVE_SEND:
		report->root = get_count(args, "Dst Rank");
		return report->root >= 0;
	case COLLECTIVE_RECEIVE:
		report->root = get_count(args, "Src Rank");
		return report->root >= 0;
	case COLLECTIVE_FROM_ROOT:
	case COLLECTIVE_TO_ROOT:
		/* For these operations, PyTorch writes the root's number in the group. */
		index = get_count(args, "Rank");
		return find_global_rank(report->ranks, index, &report->root);
	case COLLECTIVE_ALL:
		break;
	}
	return true;
}

/* Fill in what identifies a collective, and what its ranks must agree about. */
static void identify_collective(const struct kineto *kineto, const struct kineto_report *report,
				struct json_object *args, struct kineto_collective *new)
{
	const bool is_message = report->kind->relation == COLLECTIVE_SEND ||
				report->kind->relation == COLLECTIVE_RECEIVE;
	const bool has_equal_sizes = report->kind->sizes == SIZES_EQUAL;
	const int64_t from = report->kind->relation == COLLECTIVE_SEND ? kineto->rank :
									 report->root;
	const int64_t to = report->kind->relation == COLLECTIVE_SEND ? report->root : kineto->rank;

	new->group_id = hash_text(hash_text(0, report->group), report->ranks);
	new->group = new->group_id;
	new->check = hash_text(has_equal_sizes, is_message ? "" : report->name);
	new->check = hash_text(new->check, report->type);
	new->members = is_message ? 2 : (uint32_t)report->members;
	if (has_equal_sizes)
		new->check = hash_mix(new->check ^ (uint64_t)report->in) ^ (uint64_t)report->out;
	/* Each pair of ranks counts its messages; the numbers of PyTorch count other pairs, too. */
	if (is_message)
		new->group = hash_mix(hash_mix(new->group ^ (uint64_t)from) + (uint64_t)to + 1);
	else
		new->check = hash_mix(new->check ^ (uint64_t)report->root);
	new->sequence = is_message ? -1 : get_count(args, "Seq");
}

static int keep_collective(struct kineto *kineto, const struct kineto_report *report,
			   const struct kineto_collective *new)
{
	const struct name *name = span_name_keep(&kineto->names, report->group);
	const struct name *what = span_name_keep(&kineto->names, report->name);

	if (!name || !what ||
	    array_grow(&kineto->collective, &kineto->room, kineto->num, sizeof(*new)))
		return -ENOMEM;
	kineto->collective[kineto->num] = *new;
	kineto->collective[kineto->num].name = name;
	kineto->collective[kineto->num++].what = what;
	return 0;
}

/*
 * Read a kernel of NCCL or RCCL. An operation whose times relate to no other rank's is kept if
 * it counts in the order of operations.
 */
static int read_kernel(struct kineto *kineto, struct json_object *event, const char *name,
		       struct kineto_collective *new)
{
	struct json_object *args = json_get(event, "args");
	struct kineto_report report = {
		.name = json_get_text(args, "Collective name"),
		.group = json_get_text(args, "Process Group Name"),
		.ranks = json_get_text(args, "Process Group Ranks"),
		.type = json_get_text(args, "dtype"),
		.in = get_count(args, "In msg nelems"),
		.out = get_count(args, "Out msg nelems"),
		.root = -1,
	};
	bool is_root;

	if (!report.name)
		return strncmp(name, "nccl", 4) ? 0 :
						  skip_collective(kineto, KINETO_NO_GROUP, name);
	report.kind = collective_find_kind(report.name);
	if (!report.kind)
		return skip_collective(kineto, KINETO_UNKNOWN_KIND, report.name);
	if (!report.group || !report.ranks || !report.type || kineto->rank < 0 ||
	    !json_get_integer(args, "Group size", 1, INT32_MAX, &report.members))
		return skip_collective(kineto, KINETO_NO_GROUP, report.name);
	if (kineto->num == KINETO_MAX_COLLECTIVES) {
		kineto->omitted_collectives++;
		return 0;
	}
	if (!find_root(&report, args)) {
		skip_collective(kineto, KINETO_NO_ROOT, report.name);
	} else {
		is_root = report.root == kineto->rank;
		new->role = find_role(&report, is_root);
		if (!has_all_parts(&report, args, is_root)) {
			new->role = 0;
			skip_collective(kineto, KINETO_EMPTY_PARTS, report.name);
		}
	}
	identify_collective(kineto, &report, args, new);
	new->launch = get_count(args, "External id");
	return keep_collective(kineto, &report, new);
}

/* ---- events ---------------------------------------------------------------------- */

static int keep_launch(struct kineto *kineto, struct json_object *event, int64_t time_ns)
{
	const int64_t id = get_count(json_get(event, "args"), "External id");

	if (id < 0)
		return 0;
	if (kineto->num_launches == KINETO_MAX_COLLECTIVES) {
		kineto->omitted_launches++;
		return 0;
	}
	if (array_grow(&kineto->launch, &kineto->launch_room, kineto->num_launches,
		       sizeof(*kineto->launch)))
		return -ENOMEM;
	kineto->launch[kineto->num_launches++] = (struct kineto_launch){ id, time_ns };
	return 0;
}

static int keep_step(struct kineto *kineto, const char *name, int64_t start_ns, int64_t end_ns)
{
	char *end;
	const long number = strtol(name + strlen(STEP_PREFIX), &end, 10);

	if (*end || number < 0 || number > INT32_MAX)
		return 0;
	if (kineto->num_steps == KINETO_MAX_COLLECTIVES) {
		kineto->omitted_steps++;
		return 0;
	}
	if (array_grow(&kineto->step, &kineto->step_room, kineto->num_steps, sizeof(*kineto->step)))
		return -ENOMEM;
	kineto->step[kineto->num_steps++] = (struct kineto_step){ start_ns, end_ns,
								  (int32_t)number };
	return 0;
}

/* Read the times of a span. The errors of their texts widen the span. */
static bool read_span_times(struct json_object *event, int64_t *start_ns, int64_t *end_ns)
{
	const char *start = json_get_text(event, "ts"), *length = json_get_text(event, "dur");
	struct decimal_time ts, dur;

	if (!start || !length || !decimal_parse_time(start, KINETO_DIGITS, &ts) ||
	    !decimal_parse_time(length, KINETO_DIGITS, &dur) ||
	    __builtin_add_overflow(ts.ns, dur.ns, end_ns) ||
	    __builtin_add_overflow(*end_ns, ts.error_ns + dur.error_ns, end_ns))
		return false;
	*start_ns = ts.ns;
	return true;
}

int kineto_read_event(struct kineto *kineto, struct json_object *event)
{
	const char *category = json_get_text(event, "cat"), *name = json_get_text(event, "name");
	const char *phase = json_get_text(event, "ph");
	struct kineto_collective new = { .step = -1 };

	/* Events of the category "Trace" span the profile, not what the program did. */
	if (!category || !name || !phase || strcmp(phase, "X") || !strcmp(category, "Trace"))
		return 0;
	if (!read_span_times(event, &new.start_ns, &new.end_ns))
		return skip_collective(kineto, KINETO_BAD_TIME, name);
	range_extend(&kineto->range, new.start_ns, new.end_ns);
	if (!strcmp(category, "kernel"))
		return read_kernel(kineto, event, name, &new);
	if (!strcmp(category, "cpu_op") && !strcmp(name, "record_param_comms"))
		return keep_launch(kineto, event, new.start_ns);
	if (!strcmp(category, "user_annotation") &&
	    !strncmp(name, STEP_PREFIX, strlen(STEP_PREFIX)))
		return keep_step(kineto, name, new.start_ns, new.end_ns);
	return 0;
}
