// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The reader for events of Retis, a tracer of packets. open() reads the whole file, to find its time
 * range and whether it has usable packets; read() reads it again, and passes packets on. Retis
 * writes the events of all processors as it receives them, so they are not quite in order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/retis/retis.h"
#define RECORD_ADVICE \
	"record with \"retis collect -c skb,skb-tracking,dev,ns -p net:net_dev_start_xmit -p net:netif_receive_skb -o FILE\""

/* Maximum disorder of events in a file, ns. Chosen, as for captures. */
#define DISORDER INT64_C(1000000000)

/* Link type of captured packets: Ethernet. Retis adds a link header if the kernel's is missing. */
#define LINK_ETHERNET 1

struct retis {
	struct retis_lines lines;
	bool is_open;
	bool has_begun;
	struct json_object *value; /* value of the current line, or NULL */
	size_t next;		   /* number of the next event in it, if it is a list */
	uint64_t end;		   /* number of bytes to read, which end before damage */
	uint64_t bad_lines;
	uint64_t num_device; /* number of events at devices */
	uint64_t no_packet;  /* of these, number of events without a packet */
	uint64_t cut;	     /* of these, number of events with too few bytes */
	struct retis_event event;
	uint8_t *bytes; /* the packet of the event */
};

/* Does the beginning of a file contain a text? */
static bool has_text(const struct found *found, const char *text)
{
	return memmem(found->head, found->head_len, text, strlen(text));
}

/* The first line has the section "startup", alone or in a list. */
static bool is_retis_file(const struct found *found)
{
	return found->head_len && (found->head[0] == '{' || found->head[0] == '[') &&
	       has_text(found, "\"startup\"") &&
	       (has_text(found, "\"clock_monotonic_offset\"") ||
		has_text(found, "\"retis_version\""));
}

/* ---- events ------------------------------------------------------------------- */

static void close_retis_file(struct retis *retis)
{
	json_object_put(retis->value);
	retis->value = NULL;
	if (retis->is_open)
		retis_close_lines(&retis->lines);
	retis->is_open = false;
}

static int open_retis_file(struct trace *trace)
{
	struct retis *retis = trace->state;

	close_retis_file(retis);
	retis->is_open = true;
	return retis_open_lines(&retis->lines, trace->io, trace->path);
}

/* Return the number of bytes up to the end of the current line. */
static uint64_t get_end_of_line(const struct retis_lines *lines)
{
	return lines->at + lines->size + lines->has_newline;
}

/* Read the next line with a value. Return 1, 0 at the end, or a negative errno value. */
static int read_retis_line(struct retis *retis)
{
	int ret = 0;

	json_object_put(retis->value);
	retis->value = NULL;
	retis->next = 0;
	while (!retis->value && get_end_of_line(&retis->lines) < retis->end &&
	       (ret = retis_next_line(&retis->lines)) > 0) {
		retis->value = retis_parse_line(&retis->lines);
		retis->bad_lines += !retis->value && retis->lines.size;
	}
	return ret < 0 ? ret : retis->value != NULL;
}

/* Return the next event of the current line, or NULL if there is none. */
static struct json_object *get_next_event(struct retis *retis)
{
	const size_t i = retis->next++;

	if (!json_object_is_type(retis->value, json_type_array))
		return i ? NULL : retis->value;
	return i < json_object_array_length(retis->value) ?
		       json_object_array_get_idx(retis->value, i) :
		       NULL;
}

/* Read the next event into retis->event. Return 1, 0 at the end, or a negative errno value. */
static int read_retis_event(struct retis *retis)
{
	int ret = 1;

	while (ret > 0) {
		struct json_object *value = get_next_event(retis);

		if (value && retis_read_event(value, &retis->event, retis->bytes))
			return 1;
		retis->bad_lines += value != NULL;
		if (!value)
			ret = read_retis_line(retis);
	}
	return ret;
}

/*
 * Parse the packet of an event at a device. If the packet cannot be used, count it and return
 * false.
 */
static bool parse_retis_packet(struct retis *retis, struct netsync_packet *pkt)
{
	const struct retis_event *event = &retis->event;
	const struct captured_frame frame = { retis->bytes, event->captured, event->original };
	struct frame_link link = { 0 };
	enum frame_result result;

	*pkt = (struct netsync_packet){ .size = sizeof(*pkt) };
	if (!event->captured) {
		retis->no_packet++;
		return false;
	}
	result = frame_read_link(&frame, LINK_ETHERNET, false, &link);
	if (result == FRAME_PACKET)
		result = frame_read_packet(&frame, &link, pkt);
	retis->cut += result == FRAME_CUT;
	if (result != FRAME_PACKET)
		return false;
	pkt->time_ns = event->time_ns;
	pkt->dir = (uint8_t)event->dir;
	pkt->skb = event->skb;
	pkt->fields |= event->skb ? NETSYNC_HAS_SKB : 0;
	pkt->netns = event->netns;
	pkt->fields |= event->netns ? NETSYNC_HAS_NETNS : 0;
	if (event->has_gso && event->gso_size <= UINT16_MAX && event->gso_segs <= UINT16_MAX) {
		pkt->gso_size = (uint16_t)event->gso_size;
		pkt->gso_segs = (uint16_t)event->gso_segs;
		pkt->fields |= NETSYNC_HAS_GSO;
	}
	return true;
}

/* ---- opening -------------------------------------------------------------------- */

/* Read the whole file. Return the number of usable packets, or a negative value after io_fail(). */
static int scan_retis_file(struct trace *trace, uint64_t *usable)
{
	struct retis *retis = trace->state;
	int ret = open_retis_file(trace);
	struct netsync_packet pkt;

	if (ret < 0)
		return ret;
	while ((ret = read_retis_event(retis)) > 0) {
		if (retis->event.has_offset && !trace->has_wall) {
			trace->has_wall = true;
			trace->wall_shift_ns = retis->event.offset_ns;
		}
		if (!retis->event.has_time)
			continue;
		range_extend(&trace->range, retis->event.time_ns, retis->event.time_ns);
		trace->has_netns |= retis->event.netns > 0;
		retis->num_device += retis->event.is_device;
		*usable += retis->event.is_device && parse_retis_packet(retis, &pkt);
	}
	retis->end = get_end_of_line(&retis->lines);
	if (ret == -EILSEQ && !disk_is_stuck(retis->lines.file.from)) {
		retis->end = retis->lines.at;
		trace->info.damaged++;
		trace->readable = trace->path;
		io_warn(trace->io, "%s: the file is damaged (%s); read only up to byte %llu.",
			trace->path, retis->lines.problem, (unsigned long long)retis->end);
		ret = 0;
	}
	return ret < 0 ? io_fail_contents(trace->io, trace->path, retis->lines.file.from,
					  "file of Retis", retis->lines.problem, ret) :
			 0;
}

/* Warn about what could not be used. */
static void warn_of_retis_contents(struct trace *trace, uint64_t usable)
{
	const struct retis *retis = trace->state;

	if (retis->bad_lines)
		io_warn(trace->io, "%s: %llu events were skipped, because they are not valid JSON.",
			trace->path, (unsigned long long)retis->bad_lines);
	if (!retis->num_device)
		io_warn(trace->io, "%s: no events at network devices; " RECORD_ADVICE ".",
			trace->path);
	else if (!usable && retis->no_packet)
		io_warn(trace->io,
			"%s: the events at network devices have no packets; " RECORD_ADVICE ".",
			trace->path);
	else if (retis->no_packet + retis->cut)
		io_warn(trace->io,
			"%s: %llu packets at network devices were not used, because their headers were not recorded completely.",
			trace->path, (unsigned long long)(retis->no_packet + retis->cut));
	trace->unused = retis->no_packet + retis->cut;
	trace->has_unusable = trace->unused > 0;
}

static int retis_open(struct trace *trace)
{
	static const char *const extensions[] = { ".json", ".data", ".retis", NULL };
	struct retis *retis = calloc(1, sizeof(*retis));
	uint64_t usable = 0;
	int ret;

	trace->state = retis;
	trace->range.hi = -1;
	if (!retis)
		return io_fail_no_memory(trace->io);
	retis->end = UINT64_MAX;
	retis->bytes = malloc(RETIS_MAX_PACKET);
	trace->host_name = io_strip_extensions(trace->real_path, extensions);
	trace->clock_name = strdup("mono");
	if (!retis->bytes || !trace->host_name || !trace->clock_name)
		return io_fail_no_memory(trace->io);
	ret = scan_retis_file(trace, &usable);
	close_retis_file(retis);
	if (ret < 0)
		return ret;
	warn_of_retis_contents(trace, usable);
	trace->has_network = retis->num_device > 0;
	return trace->range.lo <= trace->range.hi;
}

/* ---- reading ---------------------------------------------------------------------- */

static int push_retis_packet(struct trace *trace)
{
	struct retis *retis = trace->state;
	const struct retis_event *event = &retis->event;
	struct observation_point at = {
		.place = event->place,
		.device = (uint64_t)event->netns << 32 | event->ifindex,
	};
	struct netsync_packet pkt;

	if (!event->has_time || !event->is_device ||
	    !range_contains(&trace->window, event->time_ns) || !parse_retis_packet(retis, &pkt))
		return 0;
	return io_add_packet(trace, &pkt, &at);
}

static int begin_retis_reading(struct trace *trace)
{
	struct retis *retis = trace->state;
	int ret;

	retis->has_begun = true;
	ret = open_retis_file(trace);
	return ret ? ret : io_add_span(trace, trace->range.lo, trace->range.hi);
}

static int retis_read(struct trace *trace, int64_t until_ns)
{
	struct retis *retis = trace->state;
	const int64_t until = until_ns < INT64_MAX - DISORDER ? until_ns + DISORDER : until_ns;
	int ret = retis->has_begun ? 0 : begin_retis_reading(trace);

	while (!ret && (ret = read_retis_event(retis)) > 0) {
		ret = push_retis_packet(trace);
		if (!ret && retis->event.has_time && retis->event.time_ns > until)
			return 1;
	}
	if (ret == -EILSEQ)
		return 0;
	return ret < 0 ? io_fail_file(trace->io, trace->path, ret) : 0;
}

static void retis_close(struct trace *trace)
{
	struct retis *retis = trace->state;

	if (!retis)
		return;
	close_retis_file(retis);
	free(retis->bytes);
	free(retis);
}

const struct trace_reader retis_reader = {
	.format = "retis",
	.avoids_loss = "filter packets (retis collect -f)",
	.to_record = RECORD_ADVICE,
	.claims = is_retis_file,
	.takes_compressed = true,
	.open = retis_open,
	.read = retis_read,
	.close = retis_close,
};
