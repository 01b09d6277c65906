// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Called in the worker: read a CTF trace, through libbabeltrace2 or direct/, and send records of
 * its packets.
 *
 *	source.ctf.fs --- stream 0 ---> sink 0	messages, or
 *	              --- stream 1 ---> sink 1	the file, read directly (direct/)
 *
 * There is no muxer, because order is not needed and costs time, and because muxers give up on
 * traces whose packets overlap by a microsecond. A sink ends when its stream has no needed event
 * class, so that the rest is not read. A sink also ends, with a warning, when its stream is
 * damaged, so that the other streams continue.
 *
 * If several workers read a trace, each worker opens all streams, and ends the streams of the other
 * workers before it reads. Streams that LTTng has written are read directly. If the direct reader
 * reaches an unknown layout, the sink asks libbabeltrace2 for all later messages.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/ctf/direct/direct.h"
#include "io/ctf/read.h"
#include "io/ctf/stream.h"
#include "util/hash.h"

/* Number of events that are read directly between two calls of worker_is_alive(). Chosen. */
#define DIRECT_AT_ONCE 64

enum sink_status {
	SINK_OK = BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK,
	SINK_AGAIN = BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_AGAIN,
	SINK_END = BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END,
};

struct ctf_read_stream {
	struct ctf_stream s;
	struct ctf_reading *in;
	/* First messages. These messages are received when the trace is opened, and used when the
	 * trace is read. */
	const bt_message **held;
	uint64_t num_held;
	bool begun; /* whether the stream's beginning was among the messages */
	bool ended;
	/* Reader of the stream's file. If NULL, messages after @already_read are used. */
	struct direct_reader *reader;
	const struct ctf_decoder **by_id; /* decoders, indexed by event id */
	uint64_t num_ids;
	struct direct_counts already_read;
};

struct ctf_reading {
	struct trace *trace;
	struct ctf_streams all;
	uint32_t damaged; /* number of streams that were damaged since the last state was sent */
	bt_graph *graph;
	struct ctf_read_stream *streams;
	uint64_t num_streams;
	struct direct *direct; /* NULL if no stream can be read directly */
	bool opened;	       /* whether struct ctf_opened was sent */
	bool begun;	       /* whether the first request to read was received */
	int64_t until_ns;      /* end of the slice, as a time that is printed */
	int error;	       /* error of a sink, after which the graph must not run */
};

/*
 * Return whether a message was already read directly. If so, decrement the number of these
 * messages.
 */
static bool was_message_read_directly(struct ctf_read_stream *stream, const bt_message *message)
{
	return direct_counts_skip(&stream->already_read,
				  bt_message_get_type(message) == BT_MESSAGE_TYPE_PACKET_BEGINNING,
				  bt_message_get_type(message) == BT_MESSAGE_TYPE_EVENT);
}

static int use_stream_messages(struct ctf_read_stream *stream, const bt_message **messages,
			       uint64_t num)
{
	int ret = 0;

	for (uint64_t i = 0; i < num; i++) {
		struct event_seen seen;

		if (ret >= 0)
			ret = was_message_read_directly(stream, messages[i]) ?
				      0 :
				      ctf_stream_use(&stream->s, messages[i], &seen);
		if (ret > 0)
			io_add_event(stream->in->trace, &seen);
		bt_message_put_ref(messages[i]);
	}
	return ret < 0 ? ret : 0;
}

static void drop_held_messages(struct ctf_read_stream *stream)
{
	for (uint64_t i = 0; i < stream->num_held; i++)
		bt_message_put_ref(stream->held[i]);
	free(stream->held);
	stream->held = NULL;
	stream->num_held = 0;
}

static int use_held_messages(struct ctf_read_stream *stream)
{
	int ret = use_stream_messages(stream, stream->held, stream->num_held);

	/* use_stream_messages() has already released the references. */
	stream->num_held = 0;
	drop_held_messages(stream);
	return ret;
}

static enum sink_status end_ctf_stream(struct ctf_read_stream *stream)
{
	drop_held_messages(stream);
	stream->ended = true;
	return SINK_END;
}

/* ---- direct reading ---------------------------------------------------- */

static bool index_decoders(struct ctf_read_stream *stream)
{
	const struct ctf_stream *s = &stream->s;

	for (size_t i = 0; i < s->num_decoders; i++) {
		const uint64_t id = bt_event_class_get_id(ctf_decoder_get_class(s->decoders[i]));

		if (id >= stream->num_ids)
			stream->num_ids = id + 1;
	}
	stream->by_id = calloc(stream->num_ids, sizeof(*stream->by_id));
	for (size_t i = 0; stream->by_id && i < s->num_decoders; i++)
		stream->by_id[bt_event_class_get_id(ctf_decoder_get_class(s->decoders[i]))] =
			s->decoders[i];
	return stream->by_id;
}

/* If the stream has needed events and its types are known, start to read it directly. */
static void start_reader_if_possible(struct ctf_read_stream *stream, const bt_message *message)
{
	struct direct *direct = stream->in->direct;

	if (!direct || !stream->s.usable || !stream->s.num_decoders)
		return;
	stream->reader = direct_take_reader(direct, bt_message_stream_beginning_borrow_stream_const(
							    message));
	if (stream->reader && !index_decoders(stream)) {
		direct_reader_free(stream->reader);
		stream->reader = NULL;
	}
}

static void use_direct_event(struct ctf_read_stream *stream, const struct direct_event *event)
{
	const uint64_t id = event->type->id;
	const struct ctf_field payload = { .type = event->type->fields, .at = event->fields };
	struct event_seen seen;

	if (ctf_stream_use_event(&stream->s, id < stream->num_ids ? stream->by_id[id] : NULL,
				 &payload, event->clock, &seen) > 0)
		io_add_event(stream->in->trace, &seen);
}

/* Count events and packets that were lost since the last call. */
static void count_direct_losses(struct ctf_read_stream *stream)
{
	const struct direct_counts *now = direct_reader_get_counts(stream->reader);
	struct ctf_counts *counts = &stream->in->all.counts;

	counts->lost_events += now->lost_events - stream->already_read.lost_events;
	counts->lost_packets += now->lost_packets - stream->already_read.lost_packets;
	stream->already_read = *now;
}

/* Use some events that are read directly. Return the same values as direct_reader_read_event(). */
static int use_direct_events(struct ctf_read_stream *stream)
{
	struct direct_event event;
	int ret = 1;

	for (int i = 0; i < DIRECT_AT_ONCE && ret > 0; i++) {
		ret = direct_reader_read_event(stream->reader, &event);
		if (ret == DIRECT_EVENT)
			use_direct_event(stream, &event);
	}
	worker_is_alive();
	return ret;
}

/*
 * Read events directly up to the end of the slice. If the layout is unknown, continue with
 * messages.
 */
static void read_directly_to_slice_end(struct ctf_read_stream *stream)
{
	const struct ctf_stream *s = &stream->s;
	int ret = 1;

	while (ret > 0 && !(s->any && s->last_ns > stream->in->until_ns))
		ret = use_direct_events(stream);
	count_direct_losses(stream);
	if (ret > 0)
		return;
	direct_reader_free(stream->reader);
	stream->reader = NULL;
	if (!ret)
		end_ctf_stream(stream);
}

/* ---- messages ---------------------------------------------------------- */

/* Store the first messages until all traces are open and have hosts. */
static int hold_first_messages(struct ctf_read_stream *stream, const bt_message **messages,
			       uint64_t num)
{
	int ret = 0;

	stream->held = malloc(num * sizeof(*messages));
	if (!stream->held)
		ret = -ENOMEM;
	for (uint64_t i = 0; i < num; i++) {
		if (!ret && bt_message_get_type(messages[i]) == BT_MESSAGE_TYPE_STREAM_BEGINNING) {
			stream->begun = true;
			ret = ctf_stream_begin(&stream->s, messages[i]);
			if (!ret)
				start_reader_if_possible(stream, messages[i]);
		}
		if (stream->held)
			stream->held[stream->num_held++] = messages[i];
		else
			bt_message_put_ref(messages[i]);
	}
	return ret;
}

/* ---- sinks ------------------------------------------------------------- */

static void warn_of_damaged_stream(struct ctf_read_stream *stream)
{
	const struct trace *trace = stream->in->trace;
	char *reason = ctf_take_error_reason();
	char *end = NULL;

	stream->in->damaged++;
	if (stream->s.any)
		end = io_format("read only up to its event at %lld ns",
				(long long)stream->s.last_ns);
	io_warn(trace->io, "%s: stream %s is damaged; %s (%s).", trace->path, stream->s.name,
		end ? end : "none of it was read", reason);
	free(end);
	free(reason);
}

static enum sink_status fail_stream_sink(struct ctf_read_stream *stream, int error)
{
	stream->in->error = error;
	return end_ctf_stream(stream);
}

/*
 * The consume function of a sink. It uses the next messages of the sink's stream: once when the
 * trace is opened, and later until the stream is beyond the end of the slice.
 */
static bt_graph_simple_sink_component_consume_func_status
consume_stream_messages(bt_message_iterator *iterator, void *data)
{
	struct ctf_read_stream *stream = data;
	struct ctf_reading *in = stream->in;
	bt_message_iterator_next_status status;
	bt_message_array_const messages;
	uint64_t num;
	int ret;

	if (stream->ended || in->error)
		return (int)end_ctf_stream(stream);
	if ((!in->opened && stream->begun) || stream->reader)
		return (int)SINK_AGAIN;
	if (in->opened) {
		ret = use_held_messages(stream);
		if (ret < 0)
			return (int)fail_stream_sink(stream, ret);
		if (stream->s.any && stream->s.last_ns > in->until_ns)
			return (int)SINK_AGAIN;
	}
	status = bt_message_iterator_next(iterator, &messages, &num);
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN)
		return (int)SINK_AGAIN;
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK) {
		if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_END)
			warn_of_damaged_stream(stream);
		return (int)end_ctf_stream(stream);
	}
	ret = in->opened ? use_stream_messages(stream, messages, num) :
			   hold_first_messages(stream, messages, num);
	if (ret < 0)
		return (int)fail_stream_sink(stream, ret);
	if (!stream->s.num_decoders)
		return (int)end_ctf_stream(stream);
	return (int)SINK_OK;
}

/*
 * Read all streams up to the end of the slice, directly or by sinks. The graph calls sinks in
 * turns. If all sinks that have not ended return AGAIN one after the other, no sink has more data
 * in the slice. Return 1 if there are more data, or 0 if the whole trace has been read. On failure,
 * call io_fail() and return a negative value; -ERANGE is returned without io_fail().
 */
static int run_graph_to_slice_end(struct ctf_reading *in)
{
	struct trace *trace = in->trace;
	uint64_t waiting = 0, live = 0;

	for (uint64_t i = 0; i < in->num_streams; i++)
		if (in->opened && in->streams[i].reader)
			read_directly_to_slice_end(&in->streams[i]);
	for (uint64_t i = 0; i < in->num_streams; i++)
		live += !in->streams[i].ended;
	while (waiting < live) {
		bt_graph_run_once_status status = bt_graph_run_once(in->graph);

		worker_is_alive();
		if (in->error)
			return in->error == -ENOMEM ? io_fail_no_memory(trace->io) : in->error;
		if (status == BT_GRAPH_RUN_ONCE_STATUS_END)
			return 0;
		if (status < 0)
			return io_fail(trace->io, -EIO, "%s: cannot be read (%s).", trace->path,
				       ctf_take_error_reason());
		waiting = status == BT_GRAPH_RUN_ONCE_STATUS_AGAIN ? waiting + 1 : 0;
	}
	return live > 0;
}

/* ---- the graph --------------------------------------------------------- */

static bool add_stream_sink(struct ctf_reading *in, struct ctf_read_stream *stream,
			    const bt_port_output *port)
{
	const bt_component_sink *sink;
	char *name = io_format("sink-%td", stream - in->streams);
	bool ok;

	stream->s.name = strdup(bt_port_get_name(bt_port_output_as_port_const(port)));
	ok = name && stream->s.name &&
	     !bt_graph_add_simple_sink_component(in->graph, name, NULL, consume_stream_messages,
						 NULL, stream, &sink) &&
	     !bt_graph_connect_ports(in->graph, port,
				     bt_component_sink_borrow_input_port_by_index_const(sink, 0),
				     NULL);
	free(name);
	return ok;
}

static bool add_sinks(struct ctf_reading *in, const bt_component_source *source)
{
	uint64_t num = bt_component_source_get_output_port_count(source);

	in->streams = calloc(num + 1, sizeof(*in->streams));
	if (!in->streams)
		return false;
	in->num_streams = num;
	for (uint64_t i = 0; i < num; i++) {
		in->streams[i].in = in;
		in->streams[i].s.all = &in->all;
		in->streams[i].s.span.hi = -1;
		if (!add_stream_sink(in, &in->streams[i],
				     bt_component_source_borrow_output_port_by_index_const(source,
											   i)))
			return false;
	}
	return true;
}

/* ---- records for the reader -------------------------------------------- */

/* Report the losses and the time span of the data that were read. */
static void report_reading_state(struct ctf_reading *in)
{
	struct trace *trace = in->trace;
	struct range span = { .hi = -1 };

	trace->info.lost_events += in->all.counts.lost_events;
	trace->info.lost_packets += in->all.counts.lost_packets;
	trace->out_of_range += in->all.counts.out_of_range;
	trace->info.damaged += in->damaged;
	in->all.counts = (struct ctf_counts){ 0 };
	in->damaged = 0;
	for (uint64_t i = 0; i < in->num_streams; i++)
		if (in->streams[i].s.span.lo <= in->streams[i].s.span.hi)
			range_extend(&span, in->streams[i].s.span.lo, in->streams[i].s.span.hi);
	io_add_span(trace, span.lo, span.hi);
}

static uint64_t hash_stream(uint64_t hash, const struct ctf_read_stream *stream)
{
	return hash_mix(hash_text(hash, stream->s.name) ^ stream->ended);
}

static void put_opened_record(struct ctf_reading *in)
{
	struct ctf_opened opened = {
		.is = in->all.is,
		.range = in->trace->range,
		.range_hash = in->trace->range_hash,
		.all_direct = true,
	};

	for (uint64_t i = 0; i < in->num_streams; i++) {
		const struct ctf_read_stream *stream = &in->streams[i];

		opened.streams_hash = hash_stream(opened.streams_hash, stream);
		opened.streams += !stream->ended;
		opened.all_direct &= stream->ended || stream->reader;
	}
	report_reading_state(in);
	stream_put_state();
	worker_put(STREAM_OTHER, 0, &opened, sizeof(opened));
}

/* ---- reading ----------------------------------------------------------- */

/*
 * Prepare to read streams directly. Return NULL if this is not possible, or if the trace is
 * salvaged and this is not worthwhile.
 */
static struct direct *make_direct_for_packets(const struct ctf_files *files)
{
	struct direct *direct = NULL;
	const char *text;
	const bt_value *info;

	if (files->is_salvaged)
		return NULL;
	info = ctf_read_metadata(files, &text);
	if (info)
		direct = direct_new(files->folder, text);
	bt_value_put_ref(info);
	bt_current_thread_clear_error();
	return direct;
}

/*
 * Maximum time by which an event may be later than the end of its packet (ns). Old tracers write
 * events that are microseconds late. Chosen to be a thousand times as long.
 */
#define AFTER_PACKET 1000000

/* Let direct readers skip data before the requested range. */
static void apply_wanted_window(struct ctf_reading *in)
{
	const struct range *window = &in->all.window;

	if (window->lo < INT64_MIN + AFTER_PACKET)
		return;
	for (uint64_t i = 0; i < in->num_streams; i++)
		if (in->streams[i].reader)
			direct_reader_set_begin(in->streams[i].reader,
						ctf_clock_cycles(&in->streams[i].s.clock,
								 window->lo - AFTER_PACKET));
}

/* End the streams that belong to other workers' shares. */
static void apply_wanted_share(struct ctf_reading *in)
{
	const struct trace *trace = in->trace;
	uint64_t n = 0, live = 0;

	for (uint64_t i = 0; i < in->num_streams; i++)
		live += !in->streams[i].ended;
	for (uint64_t i = 0; i < in->num_streams; i++) {
		struct ctf_read_stream *stream = &in->streams[i];

		if (stream->ended || n++ * trace->of / live == trace->share)
			continue;
		direct_reader_free(stream->reader);
		stream->reader = NULL;
		end_ctf_stream(stream);
	}
}

static int open_trace_graph(struct ctf_reading *in, const struct ctf_files *files)
{
	struct trace *trace = in->trace;
	const bt_component_source *source;
	int ret;

	in->direct = make_direct_for_packets(files);
	in->graph = ctf_make_graph(files, &source);
	if (!in->graph || !add_sinks(in, source))
		return io_fail(trace->io, -EIO, "%s: cannot be opened (%s).", trace->path,
			       ctf_take_error_reason());
	ctf_read_ranges(files);
	if (!in->num_streams)
		return 0;
	ret = run_graph_to_slice_end(in);
	return ret != -ERANGE ?
		       ret :
		       io_fail(trace->io, ret,
			       "%s: the clock is more than 292 years from the epoch.", trace->path);
}

int ctf_read_slice(struct trace *trace, int64_t until_ns)
{
	struct ctf_reading *in = ((struct ctf *)trace->state)->reading;
	int ret;

	if (!in->begun) {
		in->begun = true;
		in->all.window = trace->window;
		apply_wanted_window(in);
		apply_wanted_share(in);
	}
	in->until_ns = until_ns;
	ret = run_graph_to_slice_end(in);
	report_reading_state(in);
	return ret;
}

void ctf_read_trace(const void *data)
{
	struct ctf *ctf = *(struct ctf *const *)data;
	struct trace *trace = ctf->files.trace;
	struct ctf_reading in = {
		.trace = trace,
		.all = { .io = trace->io,
			 .path = trace->path,
			 .real_path = trace->real_path,
			 .window = RANGE_ALL },
	};
	int ret;

	stream_begin(trace->io);
	trace->sent = trace_get_counts(trace);
	stream_begin_trace(trace, 0, false);
	ctf->reading = &in;
	ret = open_trace_graph(&in, &ctf->files);
	if (ret < 0) {
		stream_put_error(trace->io, ret);
		return;
	}
	put_opened_record(&in);
	in.opened = true;
	io_read_turns(trace->io, trace);
}
