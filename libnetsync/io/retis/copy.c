// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Copy a file of Retis with new times, line by line. Only the digits of times change:
 *
 *	{"common":{"timestamp":1234,...},...,"skb-tracking":{"timestamp":1230,...}}
 *	                       ^^^^                                     ^^^^
 *	{...,"startup":{"clock_monotonic_offset":{"sec":5,"nsec":6},...}}	start + offset is kept
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/retis/retis.h"

#define NS_PER_S INT64_C(1000000000)
/* Maximum depth of a line that the parser accepts, and the outermost level. */
#define MAX_LEVELS 34

struct retis_copy {
	struct copy_task task;
	netsync_io_time_func time;
	void *data;
	struct retis_lines lines;
	uint8_t *bytes; /* for packets, which are not needed */
	FILE *out;
	int64_t offset_ns; /* new offset of the current line's startup event */
	bool has_offset;
	uint64_t times;	    /* number of events with times */
	uint64_t bad_lines; /* number of lines that are not valid */
};

/* ---- numbers in a line ----------------------------------------------------------- */

/* A position in valid JSON, and the keys of the members that contain it. */
struct json_place {
	const char *at;
	struct json_key {
		const char *text;
		size_t size;
	} key[MAX_LEVELS];
	unsigned int level;
};

static bool is_json_key(const struct json_key *key, const char *name)
{
	return key->size == strlen(name) && !memcmp(key->text, name, key->size);
}

/* Go past a string. If it is a key, keep it. */
static void pass_json_string(struct json_place *place)
{
	const char *start = ++place->at;

	while (*place->at && *place->at != '"')
		place->at += place->at[0] == '\\' && place->at[1] ? 2 : 1;
	if (!*place->at)
		return;
	place->key[place->level] = (struct json_key){ start, (size_t)(place->at - start) };
	place->at++;
}

static void enter_json_level(struct json_place *place, bool is_in)
{
	if (is_in && place->level + 1 < MAX_LEVELS)
		place->key[++place->level] = (struct json_key){ "", 0 };
	else if (!is_in && place->level)
		place->level--;
	place->at++;
}

/* Find the next number. Return its length, or 0 at the end. */
static size_t find_next_number(struct json_place *place)
{
	while (*place->at) {
		const char c = *place->at;

		if (c == '-' || isdigit((unsigned char)c))
			return strspn(place->at, "+-0123456789.eE");
		if (c == '"')
			pass_json_string(place);
		else if (strchr("{}[]", c))
			enter_json_level(place, c == '{' || c == '[');
		else
			place->at++;
	}
	return 0;
}

/* Is the number a time of CLOCK_MONOTONIC? Times in other sections repeat those of events. */
static bool is_retis_time(const struct json_place *place)
{
	const struct json_key *key = &place->key[place->level];
	const struct json_key *in = place->level ? key - 1 : key;

	if (is_json_key(key, "upcall_ts"))
		return is_json_key(in, "ovs");
	return is_json_key(key, "timestamp") &&
	       (is_json_key(in, "common") || is_json_key(in, "skb-tracking") ||
		is_json_key(in, "skb_tracking") || is_json_key(in, "skb"));
}

static bool is_retis_offset(const struct json_place *place, const char *unit)
{
	return place->level && is_json_key(&place->key[place->level], unit) &&
	       is_json_key(&place->key[place->level - 1], "clock_monotonic_offset");
}

/* ---- times -------------------------------------------------------------------------- */

static int correct_retis_time(struct retis_copy *copy, int64_t time_ns, int64_t *new_ns)
{
	int ret = copy->time(copy->data, time_ns, new_ns);

	if ((!ret || ret == NETSYNC_IO_LEFT_OUT) && *new_ns < 0)
		ret = -ERANGE;
	if (ret < 0)
		return io_fail(copy->task.io, ret,
			       ret == -ERANGE ? "%s: the time %" PRId64
						" cannot be corrected, or becomes negative." :
						"%s: the copy was stopped at the time %" PRId64 ".",
			       copy->task.from, time_ns);
	return ret;
}

/*
 * Remember what the event of a line reports. Return 1 to keep it, 0, or a negative value after
 * io_fail().
 */
static int look_at_event(struct retis_copy *copy, struct json_object *value)
{
	struct retis_event event;
	int64_t new_ns;
	int ret;

	if (!retis_read_event(value, &event, copy->bytes) || !event.has_time)
		return 1;
	copy->times++;
	ret = correct_retis_time(copy, event.time_ns, &new_ns);
	if (ret < 0)
		return ret;
	if (event.is_startup && event.has_offset &&
	    !__builtin_add_overflow(event.offset_ns, event.time_ns - new_ns, &copy->offset_ns))
		copy->has_offset = true;
	return event.is_startup || ret != NETSYNC_IO_LEFT_OUT;
}

/* Return 1 if an event of a line is to be copied, 0 if none is, or a negative value. */
static int look_at_line(struct retis_copy *copy, struct json_object *value)
{
	const bool is_list = json_object_is_type(value, json_type_array);
	const size_t num = is_list ? json_object_array_length(value) : 1;
	int kept = !num, ret = 0;

	copy->has_offset = false;
	for (size_t i = 0; i < num && ret >= 0; i++) {
		ret = look_at_event(copy, is_list ? json_object_array_get_idx(value, i) : value);
		kept |= ret > 0;
	}
	return ret < 0 ? ret : kept;
}

/* ---- lines ---------------------------------------------------------------------------- */

/* Write the number at a place, or what replaces it. */
static int write_retis_number(struct retis_copy *copy, const struct json_place *place, size_t size)
{
	const bool is_integer = strspn(place->at, "0123456789") == size && size < 20;
	/* Rounded down, as nanoseconds are not negative. */
	const int64_t sec = copy->offset_ns / NS_PER_S - (copy->offset_ns % NS_PER_S < 0);
	int64_t new_ns;
	int ret;

	if (copy->has_offset && is_retis_offset(place, "sec")) {
		fprintf(copy->out, "%" PRId64, sec);
	} else if (copy->has_offset && is_retis_offset(place, "nsec")) {
		fprintf(copy->out, "%" PRId64, copy->offset_ns - sec * NS_PER_S);
	} else if (is_integer && is_retis_time(place)) {
		ret = correct_retis_time(copy, strtoll(place->at, NULL, 10), &new_ns);
		if (ret < 0)
			return ret;
		fprintf(copy->out, "%" PRId64, new_ns);
	} else {
		fwrite(place->at, 1, size, copy->out);
	}
	return 0;
}

static int write_retis_line(struct retis_copy *copy)
{
	struct json_place place = { .at = copy->lines.text };
	const char *done = place.at;
	size_t size;
	int ret = 0;

	while (!ret && (size = find_next_number(&place))) {
		fwrite(done, 1, (size_t)(place.at - done), copy->out);
		ret = write_retis_number(copy, &place, size);
		place.at += size;
		done = place.at;
	}
	fwrite(done, 1, copy->lines.size - (size_t)(done - copy->lines.text), copy->out);
	return ret;
}

static int copy_retis_line(struct retis_copy *copy)
{
	struct json_object *value = retis_parse_line(&copy->lines);
	int ret = 1;

	if (value)
		ret = look_at_line(copy, value);
	json_object_put(value);
	if (ret <= 0)
		return ret;
	if (value)
		ret = write_retis_line(copy);
	else
		fwrite(copy->lines.text, 1, copy->lines.size, copy->out);
	copy->bad_lines += !value && copy->lines.size;
	if (ret >= 0 && copy->lines.has_newline)
		fputc('\n', copy->out);
	return ret < 0 ? ret : 0;
}

static int copy_retis_lines(void *arg)
{
	struct retis_copy *copy = arg;
	struct netsync_io *io = copy->task.io;
	int ret = 0;

	while (!ret && (ret = retis_next_line(&copy->lines)) > 0) {
		ret = copy_retis_line(copy);
		if (ret < 0)
			return ret;
		if (ferror(copy->out))
			return io_fail_file(io, copy->task.to, -EIO);
	}
	if (ret == -EILSEQ && !disk_is_stuck(copy->lines.file.from)) {
		io_warn(io, "%s: the file is damaged (%s); copied only up to byte %llu.",
			copy->task.from, copy->lines.problem, (unsigned long long)copy->lines.at);
		ret = 0;
	}
	if (ret < 0)
		return io_fail_contents(io, copy->task.from, copy->lines.file.from, "file of Retis",
					copy->lines.problem, ret);
	if (copy->bad_lines)
		io_warn(io,
			"%s: %llu lines were copied unchanged, because they are not valid JSON.",
			copy->task.from, (unsigned long long)copy->bad_lines);
	return copy->times ? 0 :
			     io_fail(io, -ENODATA, "%s: no events with times to correct.",
				     copy->task.from);
}

int netsync_io_copy_retis(struct netsync_io *io, const char *from, const char *to,
			  netsync_io_time_func time, void *data)
{
	struct retis_copy copy = {
		.task = { io, from, to },
		.time = time,
		.data = data,
		.bytes = malloc(RETIS_MAX_PACKET),
	};
	int ret = copy.bytes ? retis_open_lines(&copy.lines, io, from) : io_fail_no_memory(io);

	if (!ret)
		ret = io_write_copy(&copy.task, &copy.out, copy_retis_lines, &copy);
	retis_close_lines(&copy.lines);
	free(copy.bytes);
	return ret;
}
