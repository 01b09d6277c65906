// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The reader of traces of PyTorch's profiler, Kineto. open() reads the whole file, because its
 * events are not sorted, and the base of its times is at its end; it keeps the collective
 * operations, which read() passes on in order of time.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/spans/kineto.h"
#include "util/utf8.h"

#define RECORD_ADVICE \
	"profile a program that communicates with NCCL or RCCL, with PyTorch 2.3 or newer"

/* Times before this one (ns since 1970) are not the time of a profile, but need a base: 2001. */
#define FIRST_WALL_NS INT64_C(1000000000000000000)

static size_t skip_head_spaces(const struct found *found, size_t at)
{
	while (at < found->head_len && isspace(found->head[at]))
		at++;
	return at;
}

/* Kineto writes its version of the format first. */
static bool is_kineto_file(const struct found *found)
{
	static const char first[] = "\"schemaVersion\"";
	size_t at = skip_head_spaces(found, 0);

	if (at == found->head_len || found->head[at] != '{')
		return false;
	at = skip_head_spaces(found, at + 1);
	return found->head_len - at >= sizeof(first) - 1 &&
	       !memcmp(found->head + at, first, sizeof(first) - 1);
}

/* ---- the host ----------------------------------------------------------------- */

/* Keep the first name that distributedInfo, or the file's object itself, reports for the host. */
static int keep_host_name(struct kineto *kineto, const char *name)
{
	if (!name || kineto->host_name)
		return 0;
	kineto->host_name = strdup(name);
	return kineto->host_name ? 0 : -ENOMEM;
}

static int read_distributed_info(struct kineto *kineto, struct json_object *info)
{
	const char *name = json_get_text(info, "hostname");

	if (!json_get_integer(info, "rank", 0, INT32_MAX, &kineto->rank))
		kineto->rank = -1;
	return keep_host_name(kineto, name ? name : json_get_text(info, "host_name"));
}

/* Is the text a number, up to @end? */
static bool is_number(const char *text, const char *end)
{
	const char *c = text;

	while (c < end && isdigit((unsigned char)*c))
		c++;
	return c == end && c > text;
}

/*
 * Return the host in the name that PyTorch's tensorboard_trace_handler() gives to a file,
 * HOST_PID.TIME.pt.trace.json. Return NULL if the file has another name.
 */
static char *find_host_in_file_name(const char *name)
{
	const char *end = strstr(name, ".pt.trace.json"), *dot, *line;

	if (!end)
		return NULL;
	for (dot = end; dot > name && dot[-1] != '.';)
		dot--;
	if (dot == name || !is_number(dot, end))
		return NULL;
	for (line = --dot; line > name && line[-1] != '_';)
		line--;
	if (line <= name + 1 || !is_number(line, dot))
		return NULL;
	return strndup(name, (size_t)(line - 1 - name));
}

/* Make each rank of a host a host. Return 0 or -ENOMEM. */
static int split_kineto_host(struct trace *trace)
{
	const struct kineto *kineto = trace->state;
	char *name;

	if (!trace->io->split_gpus || !trace->host_name || kineto->rank < 0)
		return 0;
	name = io_format("%s/rank%lld", trace->host_name, (long long)kineto->rank);
	free(trace->host_name);
	trace->host_name = name;
	return name ? 0 : -ENOMEM;
}

/* Name the host: as the trace does, or as the file is named; or each rank is a host. */
static int name_kineto_host(struct trace *trace)
{
	static const char *const extensions[] = { ".json", ".trace", ".pt", NULL };
	struct kineto *kineto = trace->state;
	const char *slash = strrchr(trace->real_path, '/');
	const char *file = slash ? slash + 1 : trace->real_path;

	trace->host_name = kineto->host_name;
	kineto->host_name = NULL;
	if (!trace->host_name)
		trace->host_name = find_host_in_file_name(file);
	if (split_kineto_host(trace))
		return -ENOMEM;
	if (!trace->host_name && kineto->rank >= 0)
		trace->host_name = io_format("rank%lld", (long long)kineto->rank);
	if (!trace->host_name)
		trace->host_name = io_strip_extensions(file, extensions);
	trace->clock_name = strdup("kineto");
	return trace->host_name && trace->clock_name ? 0 : -ENOMEM;
}

/* ---- the file ------------------------------------------------------------------- */

static int read_kineto_item(struct kineto *kineto, const struct json_item *item)
{
	struct decimal_time base;

	if (item->is_element)
		return kineto_read_event(kineto, item->value);
	if (!strcmp(item->key, "distributedInfo"))
		return read_distributed_info(kineto, item->value);
	if (!strcmp(item->key, "host_name") || !strcmp(item->key, "hostname"))
		return keep_host_name(kineto, json_object_get_string(item->value));
	if (!strcmp(item->key, "baseTimeNanoseconds") && item->value &&
	    decimal_parse_time(json_object_get_string(item->value), 0, &base)) {
		kineto->base_ns = base.ns;
		kineto->has_base = true;
	}
	return 0;
}

int kineto_read_file(struct netsync_io *io, const char *path, struct kineto *kineto,
		     bool *is_damaged)
{
	struct json_items items;
	int ret = json_items_open(&items, io, path, KINETO_LIST);
	const bool is_open = !ret;

	while (!ret && (ret = json_items_next(&items)) > 0)
		ret = read_kineto_item(kineto, &items.item);
	if (is_open && ret == -EILSEQ && !disk_is_stuck(items.scan.file.from)) {
		*is_damaged = true;
		io_warn(io, "%s: the file is damaged (%s); read only up to byte %llu.", path,
			items.scan.problem, (unsigned long long)scan_get_position(&items.scan));
		ret = 0;
	} else if (is_open && ret < 0) {
		ret = io_fail_contents(io, path, items.scan.file.from, "Kineto trace",
				       items.scan.problem, ret);
	}
	json_items_close(&items);
	return ret;
}

bool kineto_lacks_base(const struct kineto *kineto)
{
	return !kineto->has_base && kineto->range.lo < FIRST_WALL_NS;
}

void kineto_init(struct kineto *kineto)
{
	*kineto = (struct kineto){ .rank = -1, .range.hi = -1 };
}

void kineto_release(struct kineto *kineto)
{
	free(kineto->collective);
	free(kineto->launch);
	free(kineto->step);
	free(kineto->host_name);
	names_release(&kineto->names);
}

/* Convert times since the base to times since 1970. Return false if some are out of range. */
static bool add_kineto_base(struct trace *trace)
{
	struct kineto *kineto = trace->state;
	struct range *range = &trace->range;

	*range = kineto->range;
	if (range->hi < range->lo)
		return true;
	if (__builtin_add_overflow(range->lo, kineto->base_ns, &range->lo) ||
	    __builtin_add_overflow(range->hi, kineto->base_ns, &range->hi))
		return false;
	/* These sums cannot overflow, because the times are within the range. */
	for (size_t i = 0; i < kineto->num; i++) {
		kineto->collective[i].start_ns += kineto->base_ns;
		kineto->collective[i].end_ns += kineto->base_ns;
	}
	return true;
}

/* ---- what the file lacks ---------------------------------------------------------- */

static void warn_of_unused_collectives(struct trace *trace)
{
	static const char *const why[KINETO_NUM_UNUSED] = {
		[KINETO_UNKNOWN_KIND] = "netsync does not know these operations",
		[KINETO_NO_GROUP] =
			"the trace does not report their process group and sizes; " RECORD_ADVICE,
		[KINETO_EMPTY_PARTS] =
			"some ranks may have exchanged no data, so that they did not wait for each other",
		[KINETO_NO_ROOT] = "the trace does not report their root or the other rank",
		[KINETO_BAD_TIME] = "their times are not valid",
	};
	const struct kineto *kineto = trace->state;

	for (int i = 0; i < KINETO_NUM_UNUSED; i++) {
		char *name = utf8_escape(kineto->example[i], true);

		trace->has_unusable |= kineto->unused[i] > 0;
		if (kineto->unused[i])
			io_warn(trace->io,
				"%s: %llu operations (the first is %s) were not used: %s.",
				trace->path, (unsigned long long)kineto->unused[i],
				name ? name : "", why[i]);
		free(name);
	}
}

/* Warn of what exceeds the limits of memory, and of what this means for the rest. */
static void warn_of_omitted_collectives(struct trace *trace)
{
	const struct kineto *kineto = trace->state;

	if (kineto->omitted_collectives)
		io_warn(trace->io,
			"%s: only the first %d collective operations were used, and %llu were not; profile fewer steps.",
			trace->path, KINETO_MAX_COLLECTIVES,
			(unsigned long long)kineto->omitted_collectives);
	if (kineto->omitted_launches || kineto->omitted_steps)
		io_warn(trace->io,
			"%s: %llu launches and %llu steps beyond the first %d of each were not used, so the collective operations there belong to no step, and are counted without steps unless the trace numbers them; profile fewer steps.",
			trace->path, (unsigned long long)kineto->omitted_launches,
			(unsigned long long)kineto->omitted_steps, KINETO_MAX_COLLECTIVES);
}

/* Does the file contain usable data? If not, warn with the reason. */
static bool check_kineto_contents(struct trace *trace, bool is_in_range)
{
	const struct kineto *kineto = trace->state;
	const char *why = NULL;

	if (kineto->range.hi < kineto->range.lo)
		why = "the trace contains no spans";
	else if (!is_in_range)
		why = "its times are outside the years 1677 to 2262";
	else if (trace->info.damaged && kineto_lacks_base(kineto))
		why = "it ends before baseTimeNanoseconds, to which its times refer; let the profiler write the whole file";
	else if (!kineto->num)
		why = "it contains no usable collective operations; " RECORD_ADVICE;
	if (why)
		io_warn(trace->io, "%s: %s. The trace was skipped.", trace->path, why);
	return !why;
}

/* ---- the reader --------------------------------------------------------------------- */

static int kineto_reader_open(struct trace *trace)
{
	struct kineto *kineto = malloc(sizeof(*kineto));
	bool is_damaged = false;
	int ret;

	trace->state = kineto;
	trace->range.hi = -1;
	if (!kineto)
		return io_fail_no_memory(trace->io);
	kineto_init(kineto);
	ret = kineto_read_file(trace->io, trace->path, kineto, &is_damaged);
	if (ret < 0)
		return ret;
	trace->info.damaged += is_damaged;
	trace->readable = is_damaged ? trace->path : NULL;
	warn_of_unused_collectives(trace);
	warn_of_omitted_collectives(trace);
	if (!check_kineto_contents(trace, add_kineto_base(trace)))
		return 0;
	kineto_make_keys(kineto);
	trace->has_wall = true;
	trace->has_network = true;
	return name_kineto_host(trace) ? io_fail_no_memory(trace->io) : 1;
}

static int pass_collective(struct trace *trace, const struct kineto_collective *from)
{
	const struct kineto *kineto = trace->state;
	struct span_part part = {
		.key = { from->key[0], from->key[1] },
		.check = from->check,
		.group_id = { 0, from->group_id },
		.kind = NETSYNC_IO_COLLECTIVE,
		.start_ns = from->start_ns,
		.end_ns = from->end_ns,
		.role = from->role,
		.member = (uint32_t)kineto->rank,
		.members = from->members,
		.step = from->step,
	};

	if (!from->role)
		return 0;
	snprintf(part.group, sizeof(part.group), "%s", from->name->text);
	snprintf(part.what, sizeof(part.what), "%s", from->what->text);
	return io_add_part(trace, &part);
}

static int kineto_reader_read(struct trace *trace, int64_t until_ns)
{
	struct kineto *kineto = trace->state;
	int ret = kineto->next ? 0 : io_add_span(trace, trace->range.lo, trace->range.hi);

	while (!ret && kineto->next < kineto->num &&
	       kineto->collective[kineto->next].start_ns <= until_ns)
		ret = pass_collective(trace, &kineto->collective[kineto->next++]);
	return ret < 0 ? ret : kineto->next < kineto->num;
}

static void kineto_reader_close(struct trace *trace)
{
	struct kineto *kineto = trace->state;

	if (kineto)
		kineto_release(kineto);
	free(kineto);
}

const struct trace_reader kineto_reader = {
	.format = "kineto",
	.avoids_loss = "profile fewer steps",
	.to_record = RECORD_ADVICE,
	.claims = is_kineto_file,
	.takes_compressed = true,
	.open = kineto_reader_open,
	.read = kineto_reader_read,
	.close = kineto_reader_close,
	.has_parts = true,
};
