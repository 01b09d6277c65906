// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copy CTF traces and change only the clock in the metadata. A straight line, whose slope is an
 * integer in Hz, replaces the correction. The largest error of the line, including rounding by
 * readers, is compared with the error bound. Times in packets and in LTTng's index are in cycles
 * and remain valid.
 */
#include <babeltrace2/babeltrace.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uuid.h>

#include "apply.h"
#include "common/complain.h"
#include "common/folders.h"
#include "common/now.h"
#include "common/value.h"
#include "tsdl.h"

struct clock_line {
	const struct apply_trace *trace;
	uint64_t old_freq, freq;     /* frequencies, Hz */
	__int128 old_offset, offset; /* offsets, cycles */
	int64_t off_ns;		     /* largest difference between the line and the correction */
	int64_t bound_ns;	     /* smallest error bound */
	bool is_bounded;	     /* whether the bound is known at all times */
};

static bool refuse_metadata_only(const struct apply_trace *trace, const char *why)
{
	complain("%s: %s; omit --metadata-only.", trace->path, why);
	return false;
}

/* ---- the metadata as text ------------------------------------------------ */

/*
 * Query the metadata-info of a trace. The caller releases it with bt_value_put_ref(). Return NULL
 * if the metadata is unreadable.
 */
static const bt_value *query_metadata(const char *path)
{
	const bt_component_class_source *class;
	const bt_plugin *plugin = NULL;
	bt_query_executor *executor = NULL;
	bt_value *params = bt_value_map_create();
	const bt_value *result = NULL;

	if (params && !bt_value_map_insert_string_entry(params, "path", path) &&
	    bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) ==
		    BT_PLUGIN_FIND_STATUS_OK) {
		class = bt_plugin_borrow_source_component_class_by_name_const(plugin, "fs");
		executor = bt_query_executor_create(
			bt_component_class_source_as_component_class_const(class), "metadata-info",
			params);
	}
	if (executor && bt_query_executor_query(executor, &result))
		result = NULL;
	bt_current_thread_clear_error();
	bt_query_executor_put_ref(executor);
	bt_value_put_ref(params);
	bt_plugin_put_ref(plugin);
	return result;
}

/*
 * Return the metadata as plain text, even if it is divided into packets. The caller frees the text.
 */
static char *read_metadata(const char *path)
{
	const bt_value *info = query_metadata(path);
	const bt_value *text = info ? bt_value_map_borrow_entry_value_const(info, "text") : NULL;
	char *copy = text ? strdup(bt_value_string_get(text)) : NULL;

	bt_value_put_ref(info);
	return copy;
}

static bool write_metadata(const char *folder, const char *text, mode_t mode)
{
	char *path;
	FILE *out;
	bool ok;
	int fd;

	if (asprintf(&path, "%s/metadata", folder) < 0)
		return false;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode & 0666);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	ok = out &&
	     fprintf(out, "%s%s", strncmp(text, "/* CTF", 6) ? "/* CTF 1.8 */\n\n" : "", text) > 0;
	if (out && fclose(out))
		ok = false;
	if (!ok)
		complain_about_path(path);
	free(path);
	return ok;
}

/* ---- the line ------------------------------------------------------------ */

/* Return the time on the line, in ns, for a time of the trace. */
static __int128 compute_line_time(const struct clock_line *line, int64_t time_ns)
{
	const __int128 cycles = (line->offset - line->old_offset) * NS_PER_S +
				(__int128)time_ns * line->old_freq;

	return cycles / (__int128)line->freq;
}

static bool compare_line_at(struct clock_line *line, int64_t time_ns)
{
	const struct apply_trace *trace = line->trace;
	int64_t corrected, bound;
	__int128 off;

	if (__builtin_add_overflow(time_ns, trace->shift_ns, &time_ns) ||
	    netsync_convert(trace->clock, time_ns, &corrected, &bound))
		return false;
	off = compute_line_time(line, time_ns - trace->shift_ns) - corrected;
	if (off < 0)
		off = -off;
	if (off > INT64_MAX)
		return false;
	if (off > line->off_ns)
		line->off_ns = off;
	if (bound == NETSYNC_UNKNOWN)
		line->is_bounded = false;
	else if (bound < line->bound_ns)
		line->bound_ns = bound;
	return true;
}

/*
 * Find the largest error of the line. Between the times that are compared, both the line and the
 * correction are linear, so the error is largest at one of these times.
 */
static bool find_line_error(struct clock_line *line)
{
	const struct apply_trace *trace = line->trace;
	int64_t at = trace->first_ns;
	bool ok;

	line->off_ns = 0;
	line->bound_ns = INT64_MAX;
	line->is_bounded = true;
	ok = compare_line_at(line, at) && compare_line_at(line, trace->last_ns);
	while (ok && apply_next_segment(trace, &at) && at <= trace->last_ns) {
		ok = compare_line_at(line, at - 1) && compare_line_at(line, at);
		at++;
	}
	return ok;
}

/*
 * Compute the frequency from the mean slope of the correction over the trace. Return 0 if there
 * is no valid frequency.
 */
static uint64_t compute_mean_freq(const struct clock_line *line)
{
	const struct apply_trace *trace = line->trace;
	const int64_t length = trace->last_ns - trace->first_ns;
	int64_t first, last;
	long double freq;

	if (!apply_correct_time(trace, trace->first_ns, &first) ||
	    !apply_correct_time(trace, trace->last_ns, &last) || last <= first)
		return 0;
	freq = (long double)line->old_freq * length / (last - first);
	return freq >= 1 && freq < 0x1p62L ? llroundl(freq) : 0;
}

/*
 * Set the line with this frequency through the middle of the trace. Return false if times do not
 * fit into 64 bits.
 */
static bool draw_through_middle(struct clock_line *line, uint64_t freq)
{
	const struct apply_trace *trace = line->trace;
	const int64_t middle = trace->first_ns + (trace->last_ns - trace->first_ns) / 2;
	__int128 cycles;
	int64_t corrected;

	if (!apply_correct_time(trace, middle, &corrected))
		return false;
	line->freq = freq;
	cycles = (__int128)middle * line->old_freq / NS_PER_S - line->old_offset;
	line->offset = ((__int128)corrected * freq + NS_PER_S / 2) / NS_PER_S - cycles;
	return find_line_error(line);
}

/* ---- rounding by readers ------------------------------------------------ */

/*
 * Return the rounding error of babeltrace2, which uses a double to convert the number of cycles
 * since the clock's zero to time.
 */
static int64_t compute_babeltrace_error_ns(const struct clock_line *line)
{
	const long double ns = compute_line_time(line, line->trace->last_ns) -
			       (long double)line->offset * NS_PER_S / line->freq;

	return line->freq == NS_PER_S ? 0 : 1 + ceill(fabsl(ns) * 0x1p-52L);
}

/*
 * Return the rounding error of Trace Compass, which multiplies the number of cycles since 1970 by a
 * factor of type double.
 */
static int64_t compute_trace_compass_error_ns(const struct clock_line *line)
{
	const double scale = (double)NS_PER_S / line->freq;
	const double ns = compute_line_time(line, line->trace->last_ns);
	const double cycles = ns / scale;
	const long double off = fabsl((long double)scale * line->freq / NS_PER_S - 1);

	return line->freq == NS_PER_S ?
		       0 :
		       1 + ceill(ns * off + scale * (nextafter(cycles, INFINITY) - cycles) / 2 +
				 (nextafter(ns, INFINITY) - ns) / 2);
}

static int64_t compute_worst_error_ns(const struct clock_line *line)
{
	const int64_t babeltrace = compute_babeltrace_error_ns(line);
	const int64_t trace_compass = compute_trace_compass_error_ns(line);

	return line->off_ns + (babeltrace > trace_compass ? babeltrace : trace_compass);
}

/*
 * Choose the better of two frequencies: the mean slope, or the old frequency. The old one is better
 * for clocks whose rate is almost right, because readers do not scale times in ns. Return false if
 * times do not fit into 64 bits.
 */
static bool fit_clock_line(struct clock_line *line)
{
	struct clock_line sloped = *line;
	const uint64_t freq = compute_mean_freq(line);

	if (!draw_through_middle(line, line->old_freq))
		return false;
	if (freq && draw_through_middle(&sloped, freq) &&
	    compute_worst_error_ns(&sloped) < compute_worst_error_ns(line))
		*line = sloped;
	return true;
}

/*
 * Return whether the line is accurate enough. If not, print a message. An error of 1 ns is
 * accepted, because readers round to 1 ns.
 */
static bool check_line_error(const struct clock_line *line)
{
	const int64_t babeltrace = line->off_ns + compute_babeltrace_error_ns(line);
	const int64_t trace_compass = line->off_ns + compute_trace_compass_error_ns(line);
	const int64_t worst = compute_worst_error_ns(line);
	char most[VALUE_SIZE], bound[VALUE_SIZE], least[VALUE_SIZE];
	char *path;

	format_duration(least, babeltrace);
	format_duration(most, trace_compass);
	format_duration(bound, line->is_bounded ? line->bound_ns : NETSYNC_UNKNOWN);
	if (worst > 1 && (!line->is_bounded || worst > line->bound_ns)) {
		complain(
			"%s: with one offset and frequency, times would be off by up to %s in babeltrace2 and %s in Trace Compass, and the error bound is %s; omit --metadata-only.",
			line->trace->path, least, most, bound);
		return false;
	}
	path = strdup(line->trace->path);
	if (path)
		make_text_printable(path);
	printf("%s: times are off by up to %s in babeltrace2, %s in Trace Compass; the error bound is %s\n",
	       path ? path : "", least, most, bound);
	free(path);
	return true;
}

/* ---- the copy ----------------------------------------------------------- */

/*
 * Return the largest error of times of the copy, in cycles, rounded up. Return a negative value if it
 * is not known.
 */
static int64_t compute_line_precision(const struct clock_line *line)
{
	const int64_t bound_ns = line->trace->bound_ns;
	__int128 cycles;

	if (bound_ns < 0 || bound_ns == NETSYNC_UNKNOWN)
		return -1;
	cycles = ((__int128)bound_ns + line->off_ns) * (__int128)line->freq / NS_PER_S + 1;
	return cycles > INT64_MAX ? -1 : (int64_t)cycles;
}

static bool change_metadata_clock(const struct apply_trace *trace, struct tsdl_clock *clock)
{
	struct clock_line line = {
		.trace = trace,
		.old_freq = clock->freq,
		.old_offset = (__int128)clock->offset_s * clock->freq + clock->offset,
	};

	if (trace->last_ns < trace->first_ns)
		return refuse_metadata_only(trace, "its time range is unknown unless it is read");
	if (!fit_clock_line(&line))
		return refuse_metadata_only(trace, "corrected times do not fit into 64 bits");
	/* Trace Compass ignores offset_s. */
	if (line.offset < 0 || line.offset > INT64_MAX)
		return refuse_metadata_only(
			trace,
			"its clock would be zero before 1970, or the cycles since then do not fit into 64 bits");
	if (!check_line_error(&line))
		return false;
	*clock = (struct tsdl_clock){
		.freq = line.freq,
		.offset = line.offset,
		.precision = compute_line_precision(&line),
	};
	uuid_unparse_lower(trace->machine, clock->uuid);
	return true;
}

static bool copy_with_metadata(const struct apply_trace *trace, const char *to, const char *text)
{
	struct folder_tree tree;
	uint64_t copied;

	if (!measure_tree(trace->path, &tree) || !link_tree(trace->path, to, "metadata", &copied) ||
	    !write_metadata(to, text, tree.files))
		return false;
	if (copied)
		complain("%s: %llu files were copied, because they could not be linked.",
			 trace->path, (unsigned long long)copied);
	return true;
}

bool apply_metadata(const struct apply_trace *trace, const char *to)
{
	char *text = read_metadata(trace->readable), *changed = NULL;
	struct tsdl_clock clock;
	const char *why;
	bool ok = false;

	why = text ? tsdl_read_clock(text, &clock) : "its metadata cannot be read";
	if (why)
		refuse_metadata_only(trace, why);
	else if (change_metadata_clock(trace, &clock))
		changed = tsdl_change_clock(text, &clock);
	if (changed)
		ok = copy_with_metadata(trace, to, changed);
	free(text);
	free(changed);
	return ok;
}
