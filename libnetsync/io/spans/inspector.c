// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The reader of NCCL Inspector's files, which have a JSON object for each operation of a process
 * (NCCL's plugins/profiler/inspector/inspector_json.cc). With NCCL_INSPECTOR_DUMP_VERBOSE=1, an object
 * contains times, which are us of gettimeofday():
 *
 *	coll_start_ts, coll_stop_ts	NCCL notified the plugin, usually after it had launched the kernel:
 *					the operation may have started before both
 *	kernel_start_ts			a thread noticed that a channel had started: says nothing
 *	kernel_stop_ts			a thread noticed that a channel had ended: after its end
 *
 * An operation has therefore no lower limit of its own. But NCCL launches the operations of a
 * communicator one after another:
 *
 *	launch 1  start 1  stop 1 | launch 2  start 2  stop 2		two launches
 *	launch 1 and 2  start 1  start 2  stop 1  stop 2		one launch, of a group
 *
 * So an operation of a later launch starts after stop 1. It is of a later launch if its start_ts
 * is later than stop 1.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/spans/decimal.h"
#include "io/spans/operations.h"
#include "io/spans/scan.h"
#include "io/spans/span-name.h"
#include "util/array.h"
#include "util/hash.h"
#include "util/number.h"

#define INSPECTOR_ADVICE \
	"run the program with NCCL_INSPECTOR_ENABLE=1 and NCCL_INSPECTOR_DUMP_VERBOSE=1"

/* Number of decimal digits from us to ns, and of the ns that a time in us omits. */
#define INSPECTOR_DIGITS 3
#define INSPECTOR_OMITTED_NS 999

/* The operation that an object of the file describes. */
struct inspector_record {
	uint64_t communicator, kind; /* hashes */
	int64_t rank, ranks;
	int64_t number; /* of the operation, among those of its kind and communicator */
	int64_t size;	/* bytes */
	int64_t start_ns, stop_ns,
		end_ns;			 /* coll_start_ts, coll_stop_ts, the last kernel_stop_ts */
	const struct name *group, *what; /* in rank_operations.names */
	bool is_operation, has_times;
	bool lacks_end; /* a channel has no kernel_stop_ts */
};

/* Texts of an object. */
struct inspector_texts {
	char group[SPAN_NAME_SIZE], what[SPAN_NAME_SIZE], host[SPAN_NAME_SIZE];
};

struct inspector {
	struct json_scan scan;
	struct inspector_record record; /* of the object that is being read */
	struct inspector_texts texts;	/* of the same object */
	struct inspector_record *list;
	size_t num, room;
	struct rank_operations operations;
	uint64_t without_times; /* number of operations that only have a duration */
	uint64_t of_others;	/* number of operations of further hosts */
	char host[SPAN_NAME_SIZE];
};

static bool is_inspector_file(const struct found *found)
{
	size_t at = 0;

	while (at < found->head_len && isspace(found->head[at]))
		at++;
	return at < found->head_len && found->head[at] == '{' &&
	       memmem(found->head, found->head_len, "\"header\"", 8) &&
	       memmem(found->head, found->head_len, "\"n_ranks\"", 9) &&
	       memmem(found->head, found->head_len, "\"inspector_output_format_version\"", 33);
}

/* ---- values ----------------------------------------------------------------- */

static int scan_inspector_text(struct inspector *inspector, char text[SPAN_NAME_SIZE])
{
	const int ret = scan_text(&inspector->scan);
	const size_t len = ret > 0 ? strnlen(inspector->scan.text, SPAN_NAME_SIZE - 1) : 0;

	memcpy(text, inspector->scan.text, len);
	text[len] = '\0';
	return ret < 0 ? ret : 1;
}

/* Read a number, in units of 10^@digits; -1 if it is invalid. */
static int scan_inspector_number(struct inspector *inspector, int digits, int64_t *number)
{
	struct decimal_time time;
	const int ret = scan_text(&inspector->scan);

	*number = -1;
	if (ret > 0 && decimal_parse_time(inspector->scan.text, digits, &time))
		*number = time.ns;
	return ret < 0 ? ret : 1;
}

/* Read an object by a function that reads the value of one member. */
static int scan_inspector_object(struct inspector *inspector,
				 int (*scan_value)(struct inspector *inspector))
{
	int ret = scan_enter(&inspector->scan, '{');
	const bool is_object = ret > 0;

	while (ret > 0 && (ret = scan_member(&inspector->scan)) > 0)
		ret = scan_value(inspector);
	return ret < 0 ? ret : is_object;
}

/* ---- objects ---------------------------------------------------------------- */

static int scan_header_member(struct inspector *inspector)
{
	struct inspector_record *record = &inspector->record;

	if (scan_is_key(&inspector->scan, "id"))
		return scan_inspector_text(inspector, inspector->texts.group);
	if (scan_is_key(&inspector->scan, "rank"))
		return scan_inspector_number(inspector, 0, &record->rank);
	if (scan_is_key(&inspector->scan, "n_ranks"))
		return scan_inspector_number(inspector, 0, &record->ranks);
	return scan_skip(&inspector->scan);
}

static int scan_metadata_member(struct inspector *inspector)
{
	if (scan_is_key(&inspector->scan, "hostname"))
		return scan_inspector_text(inspector, inspector->texts.host);
	return scan_skip(&inspector->scan);
}

static int scan_channel_member(struct inspector *inspector)
{
	struct inspector_record *record = &inspector->record;
	int64_t end_ns;
	int ret;

	if (!scan_is_key(&inspector->scan, "kernel_stop_ts"))
		return scan_skip(&inspector->scan);
	ret = scan_inspector_number(inspector, INSPECTOR_DIGITS, &end_ns);
	record->lacks_end |= end_ns <= 0;
	record->end_ns = max64(record->end_ns, end_ns);
	return ret;
}

static int scan_times_member(struct inspector *inspector)
{
	struct inspector_record *record = &inspector->record;
	int ret;

	record->has_times = true;
	if (scan_is_key(&inspector->scan, "coll_start_ts"))
		return scan_inspector_number(inspector, INSPECTOR_DIGITS, &record->start_ns);
	if (scan_is_key(&inspector->scan, "coll_stop_ts"))
		return scan_inspector_number(inspector, INSPECTOR_DIGITS, &record->stop_ns);
	if (!scan_is_key(&inspector->scan, "kernel_events"))
		return scan_skip(&inspector->scan);
	ret = scan_enter(&inspector->scan, '[');
	while (ret > 0 && (ret = scan_element(&inspector->scan)) > 0) {
		ret = scan_inspector_object(inspector, scan_channel_member);
		ret = ret < 0 ? ret : 1;
	}
	return ret < 0 ? ret : 1;
}

static int scan_operation_member(struct inspector *inspector)
{
	struct inspector_record *record = &inspector->record;
	int ret;

	if (scan_is_key(&inspector->scan, "coll") || scan_is_key(&inspector->scan, "p2p")) {
		record->is_operation = true;
		return scan_inspector_text(inspector, inspector->texts.what);
	}
	if (scan_is_key(&inspector->scan, "coll_sn"))
		return scan_inspector_number(inspector, 0, &record->number);
	if (scan_is_key(&inspector->scan, "coll_msg_size_bytes"))
		return scan_inspector_number(inspector, 0, &record->size);
	if (!scan_is_key(&inspector->scan, "event_trace_ts"))
		return scan_skip(&inspector->scan);
	ret = scan_inspector_object(inspector, scan_times_member);
	return ret < 0 ? ret : 1;
}

static int scan_record_member(struct inspector *inspector)
{
	int (*scan_value)(struct inspector * inspector) = NULL;
	int ret;

	if (scan_is_key(&inspector->scan, "header"))
		scan_value = scan_header_member;
	else if (scan_is_key(&inspector->scan, "metadata"))
		scan_value = scan_metadata_member;
	else if (scan_is_key(&inspector->scan, "coll_perf") ||
		 scan_is_key(&inspector->scan, "p2p_perf"))
		scan_value = scan_operation_member;
	else
		return scan_skip(&inspector->scan);
	ret = scan_inspector_object(inspector, scan_value);
	return ret < 0 ? ret : 1;
}

/* Why can the operation of the object that was read not be used? */
static enum operation_unused check_inspector_record(const struct inspector *inspector)
{
	const struct inspector_record *record = &inspector->record;
	bool has_sizes;
	const enum operation_unused why = operations_find_kind(inspector->texts.what, &has_sizes);

	if (why != OPERATION_NUM_UNUSED)
		return why;
	if (record->rank < 0 || record->rank > INT32_MAX || record->ranks < 2 ||
	    record->ranks > INT32_MAX || record->number < 0 || !*inspector->texts.group)
		return OPERATION_NO_GROUP;
	if (record->size <= 0)
		return OPERATION_EMPTY_PARTS;
	if (record->has_times && (record->start_ns <= 0 || record->stop_ns < record->start_ns ||
				  record->end_ns > INT64_MAX - INSPECTOR_OMITTED_NS))
		return OPERATION_BAD_TIME;
	return OPERATION_NUM_UNUSED;
}

static int add_inspector_record(struct inspector *inspector)
{
	struct inspector_record *record = &inspector->record;
	const struct inspector_texts *texts = &inspector->texts;

	record->communicator = hash_text((uint64_t)record->ranks, texts->group);
	record->kind = hash_text(0, texts->what);
	record->group = span_name_keep(&inspector->operations.names, texts->group);
	record->what = span_name_keep(&inspector->operations.names, texts->what);
	if (!record->group || !record->what ||
	    array_grow(&inspector->list, &inspector->room, inspector->num, sizeof(*record)))
		return -ENOMEM;
	inspector->list[inspector->num++] = *record;
	return 0;
}

/* Keep the operation of the object that was read, if it can be used. Return 0 or -ENOMEM. */
static int keep_inspector_record(struct inspector *inspector)
{
	const enum operation_unused why = check_inspector_record(inspector);

	/* Other objects count lost operations, or describe the threads that send data. */
	if (!inspector->record.is_operation)
		return 0;
	if (!*inspector->host)
		memcpy(inspector->host, inspector->texts.host, sizeof(inspector->host));
	if (strcmp(inspector->host, inspector->texts.host))
		inspector->of_others++;
	else if (why != OPERATION_NUM_UNUSED)
		operations_skip(&inspector->operations, why, inspector->texts.what);
	else if (!inspector->record.has_times)
		inspector->without_times++;
	else if (inspector->num == OPERATIONS_MAX)
		inspector->operations.omitted++;
	else
		return add_inspector_record(inspector);
	return 0;
}

/* ---- the file --------------------------------------------------------------- */

/* Read an object. Return 1; 0 at the end of the file; or a negative value. */
static int scan_inspector_record(struct inspector *inspector)
{
	int ret = scan_peek(&inspector->scan);

	if (!ret)
		return 0;
	if (ret > 0 && ret != '{') {
		inspector->scan.problem = "it contains something else than an object there";
		return -EILSEQ;
	}
	inspector->record = (struct inspector_record){
		.rank = -1, .ranks = -1, .number = -1, .size = -1, .start_ns = -1, .stop_ns = -1
	};
	inspector->texts = (struct inspector_texts){ .what = "" };
	if (ret > 0)
		ret = scan_inspector_object(inspector, scan_record_member);
	if (ret > 0 && keep_inspector_record(inspector))
		ret = -ENOMEM;
	return ret;
}

/* Warn of damage, and go to the next line. Return as scan_next_line(). */
static int skip_inspector_damage(struct trace *trace)
{
	struct inspector *inspector = trace->state;
	struct json_scan *scan = &inspector->scan;
	const uint64_t at = scan_get_position(scan);
	const int ret = scan->file.damage ? 0 : scan_next_line(scan);

	if (!trace->info.damaged++)
		io_warn(trace->io, "%s: the file is damaged at byte %llu (%s); %s.", trace->path,
			(unsigned long long)at, scan->problem,
			ret > 0 ? "the rest of this line was not used" : "the rest was not used");
	trace->readable = trace->path;
	return ret;
}

static int read_inspector_file(struct trace *trace)
{
	struct inspector *inspector = trace->state;
	struct json_scan *scan = &inspector->scan;
	int ret = scan_open(scan, trace->io, trace->path);
	const bool is_open = !ret;

	for (ret = ret ? ret : 1; ret > 0;) {
		ret = scan_inspector_record(inspector);
		if (ret == -EILSEQ && !disk_is_stuck(scan->file.from))
			ret = skip_inspector_damage(trace);
	}
	if (is_open && ret < 0)
		ret = io_fail_contents(trace->io, trace->path, scan->file.from,
				       "file of NCCL Inspector", scan->problem, ret);
	scan_close(scan);
	return ret;
}

/* ---- operations ------------------------------------------------------------- */

static bool is_same_communicator(const struct inspector_record *a, const struct inspector_record *b)
{
	return a->communicator == b->communicator && a->rank == b->rank;
}

static int compare_inspector_records(const void *a, const void *b)
{
	const struct inspector_record *p = a, *q = b;
	int order = COMPARE(p->communicator, q->communicator);

	if (!order)
		order = COMPARE(p->rank, q->rank);
	if (!order)
		order = COMPARE(p->start_ns, q->start_ns);
	return order ? order : COMPARE(p->number, q->number);
}

/* Do the numbers of each kind of operation increase? @num operations of a communicator. */
static bool has_inspector_order(const struct inspector_record *records, size_t num)
{
	struct {
		uint64_t kind;
		int64_t number;
	} last[8];
	size_t kinds = 0, k;

	for (size_t i = 0; i < num; i++) {
		for (k = 0; k < kinds && last[k].kind != records[i].kind;)
			k++;
		if (k < kinds && last[k].number >= records[i].number)
			return false;
		if (k == sizeof(last) / sizeof(last[0]))
			return false;
		last[k].kind = records[i].kind;
		last[k].number = records[i].number;
		kinds += k == kinds;
	}
	return true;
}

static int add_inspector_operation(struct inspector *inspector,
				   const struct inspector_record *record, int64_t after_ns)
{
	const uint64_t id = hash_mix(record->communicator ^ record->kind);
	struct rank_operation new = {
		.start_ns = after_ns,
		.end_ns = record->end_ns + INSPECTOR_OMITTED_NS,
		.key = { hash_mix(hash_mix(id) + (uint64_t)record->number),
			 hash_mix(hash_mix(id + 1) ^ (uint64_t)record->number) },
		.check = hash_mix((uint64_t)record->size),
		.group_id = record->communicator,
		.member = (uint32_t)record->rank,
		.members = (uint32_t)record->ranks,
	};

	if (after_ns)
		new.role |= SPAN_BEFORE;
	if (record->end_ns > 0 && !record->lacks_end)
		new.role |= SPAN_AFTER;
	if (!(new.role &SPAN_BEFORE))
		new.start_ns = new.end_ns;
	if (!(new.role &SPAN_AFTER))
		new.end_ns = new.start_ns;
	if (new.end_ns < new.start_ns) {
		operations_skip(&inspector->operations, OPERATION_BAD_TIME, record->what->text);
		return 0;
	}
	return operations_add(&inspector->operations, &new, record->group->text,
			      record->what->text);
}

/* Make operations of @num records of a communicator, in order of their starts. */
static int add_communicator_operations(struct inspector *inspector,
				       const struct inspector_record *records, size_t num)
{
	int64_t after_ns = 0;	 /* every earlier launch had been made */
	int64_t launched_ns = 0; /* stop of the operations of the same launch, as far as is known */
	int ret = 0;

	if (!has_inspector_order(records, num)) {
		for (size_t i = 0; i < num; i++)
			operations_skip(&inspector->operations, OPERATION_REPEATED,
					records[i].what->text);
		return 0;
	}
	for (size_t i = 0; i < num && !ret; i++) {
		if (records[i].start_ns > launched_ns)
			after_ns = launched_ns;
		launched_ns = max64(launched_ns, records[i].stop_ns);
		ret = add_inspector_operation(inspector, &records[i], after_ns);
	}
	return ret;
}

static int make_inspector_operations(struct inspector *inspector)
{
	size_t num;
	int ret = 0;

	if (inspector->num)
		qsort(inspector->list, inspector->num, sizeof(*inspector->list),
		      compare_inspector_records);
	for (size_t i = 0; i < inspector->num && !ret; i += num) {
		const struct inspector_record *first = &inspector->list[i];

		for (num = 1; i + num < inspector->num && is_same_communicator(first, first + num);)
			num++;
		ret = add_communicator_operations(inspector, first, num);
	}
	free(inspector->list);
	inspector->list = NULL;
	inspector->num = inspector->room = 0;
	return ret;
}

/* ---- the reader ------------------------------------------------------------- */

static void warn_of_other_records(struct trace *trace)
{
	const struct inspector *inspector = trace->state;

	if (inspector->of_others)
		io_warn(trace->io,
			"%s: %llu operations of other hosts than %s were not used; specify a file for each process.",
			trace->path, (unsigned long long)inspector->of_others, trace->host_name);
	if (inspector->without_times && inspector->operations.num)
		io_warn(trace->io,
			"%s: %llu operations have a duration, but no times, and were not used.",
			trace->path, (unsigned long long)inspector->without_times);
}

static int open_inspector_file(struct trace *trace)
{
	static const char *const extensions[] = { ".json", ".log", NULL };
	struct inspector *inspector = trace->state;
	int ret = read_inspector_file(trace);

	if (ret < 0)
		return ret;
	if (make_inspector_operations(inspector))
		return io_fail_no_memory(trace->io);
	trace->host_name = *inspector->host ? strdup(inspector->host) :
					      io_strip_extensions(trace->real_path, extensions);
	trace->clock_name = strdup("realtime");
	if (!trace->host_name || !trace->clock_name)
		return io_fail_no_memory(trace->io);
	operations_finish(trace, &inspector->operations);
	warn_of_other_records(trace);
	if (!inspector->operations.num) {
		io_warn(trace->io, "%s: %s; " INSPECTOR_ADVICE ". The trace was skipped.",
			trace->path,
			inspector->without_times ?
				"the operations have durations, but no times" :
				"the file contains no usable collective operations");
		return 0;
	}
	trace->has_wall = true;
	trace->has_network = true;
	return 1;
}

static int inspector_reader_open(struct trace *trace)
{
	trace->state = calloc(1, sizeof(struct inspector));
	trace->range.hi = -1;
	return trace->state ? open_inspector_file(trace) : io_fail_no_memory(trace->io);
}

static int inspector_reader_read(struct trace *trace, int64_t until_ns)
{
	struct inspector *inspector = trace->state;

	return operations_read(trace, &inspector->operations, until_ns);
}

static void inspector_reader_close(struct trace *trace)
{
	struct inspector *inspector = trace->state;

	if (inspector) {
		operations_release(&inspector->operations);
		free(inspector->list);
	}
	free(inspector);
}

const struct trace_reader inspector_reader = {
	.format = "nccl-inspector",
	.avoids_loss = "enlarge NCCL_INSPECTOR_DUMP_COLL_RING_SIZE",
	.to_record = INSPECTOR_ADVICE,
	.claims = is_inspector_file,
	.takes_compressed = true,
	.open = inspector_reader_open,
	.read = inspector_reader_read,
	.close = inspector_reader_close,
	.has_parts = true,
};
