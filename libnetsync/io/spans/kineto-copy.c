// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Copy a Kineto trace with new times. Only the digits of "ts" and "dur" change. All other bytes
 * are copied from the decompressed file:
 *
 *	..."traceEvents": [ {element} , {element} ] ...
 *	|------ lead ------|	     |-|	  |- rest
 *				     separator, omitted together with an element
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/spans/kineto.h"

/* Number of bytes copied at a time. Chosen. */
#define BLOCK_SIZE 65536

struct kineto_copy {
	struct copy_task task;
	netsync_io_time_func time;
	void *data;
	struct kineto kineto; /* the base and the range of times */
	struct json_items items;
	struct unpacked raw; /* the same file, for the bytes between elements */
	uint64_t done;	     /* number of bytes of the original copied or omitted */
	bool is_in_list;     /* at least one element of the list was read */
	bool has_kept;	     /* at least one of these elements was kept */
	FILE *out;
};

/* The digits of a number in an element, and its new value. */
struct new_number {
	const char *text;
	size_t size;
	struct decimal_time time;
	int64_t new_ns;
	bool is_new;
};

/* ---- bytes ------------------------------------------------------------------ */

static int put_kineto_bytes(struct kineto_copy *copy, const void *bytes, size_t size)
{
	return fwrite(bytes, 1, size, copy->out) == size ?
		       0 :
		       io_fail_file(copy->task.io, copy->task.to, -errno);
}

/* Copy the bytes of the original up to @to, or up to its end. */
static int copy_kineto_bytes(struct kineto_copy *copy, uint64_t to)
{
	char block[BLOCK_SIZE];
	int ret = 0;

	while (copy->done < to && !ret) {
		const uint64_t left = to - copy->done;
		const ssize_t len = unpacked_read(&copy->raw, block,
						  left < BLOCK_SIZE ? left : BLOCK_SIZE,
						  copy->done);

		if (len < 0)
			return io_fail_contents(copy->task.io, copy->task.from, copy->raw.from,
						"Kineto trace", copy->raw.damage, (int)len);
		if (!len)
			break;
		copy->done += (uint64_t)len;
		ret = put_kineto_bytes(copy, block, (size_t)len);
	}
	return ret;
}

/* ---- numbers ---------------------------------------------------------------- */

/* Return the first byte after a string, which begins at @c. The text is valid JSON. */
static const char *skip_json_string(const char *c)
{
	for (c++; *c != '"'; c++)
		c += *c == '\\';
	return c + 1;
}

/* Return the first byte after a value that is no string. */
static const char *skip_json_value(const char *c, const char *end)
{
	int depth = 0;

	while (c < end && (depth || !strchr(",}", *c))) {
		depth += *c == '{' || *c == '[';
		depth -= *c == '}' || *c == ']';
		c = *c == '"' ? skip_json_string(c) : c + 1;
	}
	return c;
}

/* Remember the number that follows the name of a member, if it is one of those that change. */
static void note_number(struct new_number *number, const char *name, const char *key,
			const char *value)
{
	if (strncmp(key, name, strlen(name)))
		return;
	number->text = value;
	number->size = strspn(value, "+-.0123456789eE");
}

/* Find the numbers of an event, which is a valid JSON object. */
static void find_event_numbers(const struct json_item *item, struct new_number *ts,
			       struct new_number *dur)
{
	static const char space[] = " \t\r\n";
	const char *c = item->text + 1, *end = item->text + item->size;

	while (c < end && *(c += strspn(c, " \t\r\n,")) == '"') {
		const char *key = c;

		c = skip_json_string(c);
		c += strspn(c, space);
		c += 1 + strspn(c + 1, space);
		note_number(ts, "\"ts\"", key, c);
		note_number(dur, "\"dur\"", key, c);
		c = skip_json_value(c, end);
	}
}

static bool parse_number(struct new_number *number)
{
	char digits[64];

	if (!number->size || number->size >= sizeof(digits))
		return false;
	memcpy(digits, number->text, number->size);
	digits[number->size] = '\0';
	return decimal_parse_time(digits, KINETO_DIGITS, &number->time);
}

/* Write an element up to a number, and the number. Set *@from to the first byte after it. */
static int put_number(struct kineto_copy *copy, const struct new_number *number, const char **from)
{
	const uint64_t ns = number->new_ns < 0 ? -(uint64_t)number->new_ns :
						 (uint64_t)number->new_ns;
	int ret = put_kineto_bytes(copy, *from, (size_t)(number->text - *from));

	*from = number->text + number->size;
	if (!ret && fprintf(copy->out, "%s%" PRIu64 ".%03" PRIu64, number->new_ns < 0 ? "-" : "",
			    ns / 1000, ns % 1000) < 0)
		ret = io_fail_file(copy->task.io, copy->task.to, -errno);
	return ret;
}

/* ---- events ------------------------------------------------------------------- */

static int fail_kineto_time(struct kineto_copy *copy, int err)
{
	return io_fail(copy->task.io, err,
		       "%s: the time of the event at byte %" PRIu64 " cannot be corrected.",
		       copy->task.from, copy->items.item.at);
}

/*
 * Correct a time since the base. Times outside the range of all spans, such as those of the names
 * of threads, are shifted by as much as the nearest one. Return 0, NETSYNC_IO_LEFT_OUT, or a
 * negative value after io_fail().
 */
static int correct_kineto_time(struct kineto_copy *copy, int64_t time_ns, int64_t *new_ns)
{
	const struct range *range = &copy->kineto.range;
	const int64_t span_ns = min64(max64(time_ns, range->lo), range->hi);
	int64_t wall_ns;
	int ret = -ERANGE;

	*new_ns = 0;
	if (!__builtin_add_overflow(span_ns, copy->kineto.base_ns, &wall_ns))
		ret = copy->time(copy->data, wall_ns, new_ns);
	if (ret == NETSYNC_IO_LEFT_OUT)
		return ret;
	if (ret < 0 || __builtin_sub_overflow(*new_ns, copy->kineto.base_ns, new_ns) ||
	    __builtin_add_overflow(*new_ns, time_ns - span_ns, new_ns))
		return fail_kineto_time(copy, ret < 0 ? ret : -ERANGE);
	return 0;
}

/*
 * Correct the duration of a span that has a new start. If its end has no new time, keep it. If a
 * clock was stepped back within the span, it is 0, because viewers expect no negative duration.
 */
static int correct_duration(struct kineto_copy *copy, const struct new_number *ts,
			    struct new_number *dur)
{
	int64_t end_ns;
	int ret;

	if (__builtin_add_overflow(ts->time.ns, dur->time.ns, &end_ns))
		return fail_kineto_time(copy, -ERANGE);
	ret = correct_kineto_time(copy, end_ns, &dur->new_ns);
	dur->new_ns = max64(clamp_to_int64((__int128)dur->new_ns - ts->new_ns), 0);
	dur->is_new = !ret;
	return ret < 0 ? ret : 0;
}

/*
 * Find the new times of an event. Return 0, NETSYNC_IO_LEFT_OUT if it is to be omitted, or a
 * negative value after io_fail().
 */
static int correct_event(struct kineto_copy *copy, struct new_number *ts, struct new_number *dur)
{
	const struct json_item *item = &copy->items.item;
	const char *phase = json_get_text(item->value, "ph");
	int ret;

	if (!json_object_is_type(item->value, json_type_object))
		return 0;
	find_event_numbers(item, ts, dur);
	if (!ts->text)
		return 0;
	if (!parse_number(ts) || (dur->text && !parse_number(dur)))
		return io_fail(
			copy->task.io, -ERANGE,
			"%s: the event at byte %" PRIu64
			" cannot be corrected, because its time or duration is negative, has an exponent or is too large; remove this event from the file.",
			copy->task.from, item->at);
	ret = correct_kineto_time(copy, ts->time.ns, &ts->new_ns);
	ts->is_new = !ret;
	if (!ret && dur->text)
		ret = correct_duration(copy, ts, dur);
	/* Names of processes and threads are always needed. */
	return ret == NETSYNC_IO_LEFT_OUT && phase && !strcmp(phase, "M") ? 0 : ret;
}

static int put_event(struct kineto_copy *copy, const struct new_number *ts,
		     const struct new_number *dur)
{
	const struct json_item *item = &copy->items.item;
	const struct new_number *first = ts, *second = dur;
	const char *from = item->text, *end = item->text + item->size;
	int ret = 0;

	if (ts->text && dur->text && dur->text < ts->text) {
		first = dur;
		second = ts;
	}
	if (first->is_new)
		ret = put_number(copy, first, &from);
	if (!ret && second->is_new)
		ret = put_number(copy, second, &from);
	return ret ? ret : put_kineto_bytes(copy, from, (size_t)(end - from));
}

/* Copy an element of the list of events, or omit it. */
static int copy_element(struct kineto_copy *copy)
{
	const struct json_item *item = &copy->items.item;
	struct new_number ts = { 0 }, dur = { 0 };
	const int omits = correct_event(copy, &ts, &dur);
	int ret = 0;

	if (omits < 0)
		return omits;
	/* The first element has no separator before it. */
	if (!copy->is_in_list || (copy->has_kept && !omits))
		ret = copy_kineto_bytes(copy, item->at);
	if (!ret && !omits)
		ret = put_event(copy, &ts, &dur);
	copy->is_in_list = true;
	copy->has_kept |= !omits;
	copy->done = item->at + item->size;
	return ret;
}

/* ---- the file ------------------------------------------------------------------- */

static int copy_kineto_items(void *arg)
{
	struct kineto_copy *copy = arg;
	int ret;

	while ((ret = json_items_next(&copy->items)) > 0) {
		if (copy->items.item.is_element)
			ret = copy_element(copy);
		else
			copy->is_in_list = copy->has_kept = false;
		if (ret < 0)
			return ret;
	}
	/* kineto_read_file() warned of the damage; an element that is cut is not copied. */
	if (ret == -EILSEQ && !disk_is_stuck(copy->items.scan.file.from))
		return 0;
	if (ret < 0)
		return io_fail_contents(copy->task.io, copy->task.from, copy->items.scan.file.from,
					"Kineto trace", copy->items.scan.problem, ret);
	return copy_kineto_bytes(copy, UINT64_MAX);
}

static int open_kineto_copy(struct kineto_copy *copy)
{
	struct copy_task *task = &copy->task;
	bool is_damaged = false;
	int ret = kineto_read_file(task->io, task->from, &copy->kineto, &is_damaged);

	if (!ret && copy->kineto.range.hi < copy->kineto.range.lo)
		return io_fail(task->io, -ENODATA, "%s: no spans with times to correct.",
			       task->from);
	if (!ret && is_damaged && kineto_lacks_base(&copy->kineto))
		return io_fail(
			task->io, -EILSEQ,
			"%s: the file ends before baseTimeNanoseconds, to which its times refer.",
			task->from);
	if (!ret)
		ret = json_items_open(&copy->items, task->io, task->from, KINETO_LIST);
	return ret ? ret : io_open_unpacked(task->io, task->from, &copy->raw);
}

int netsync_io_copy_kineto(struct netsync_io *io, const char *from, const char *to,
			   netsync_io_time_func time, void *data)
{
	struct kineto_copy copy = { .task = { io, from, to }, .time = time, .data = data };
	int ret;

	kineto_init(&copy.kineto);
	ret = open_kineto_copy(&copy);
	if (!ret)
		ret = io_write_copy(&copy.task, &copy.out, copy_kineto_items, &copy);
	unpacked_close(&copy.raw);
	json_items_close(&copy.items);
	kineto_release(&copy.kineto);
	return ret;
}
