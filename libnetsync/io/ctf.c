// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * CTF traces, through libbabeltrace2.
 *
 * Each trace is a graph of its own: one source.ctf.fs component, and for each
 * of its streams a sink. No muxer is between them: no order is needed, it
 * would cost time, and it gives up on traces whose packets overlap by a
 * microsecond. A sink ends as soon as it sees that its stream has no event
 * class that it could use, so that nothing more of the stream is read; it also
 * ends, with a warning, where the stream turns out to be damaged, and does not
 * take the other streams with it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctf-files.h"
#include "ctf-stream.h"

enum sink_status {
	SINK_OK = BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK,
	SINK_AGAIN = BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_AGAIN,
	SINK_END = BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END,
};

struct stream {
	struct ctf_stream s;
	/* Its first messages: read by open(), used by the first read(). */
	const bt_message **held;
	uint64_t num_held;
	bool begun;
	bool ended;
};

struct ctf {
	struct ctf_files files;
	bt_graph *graph;
	struct stream *streams;
	uint64_t num_streams;
	bool reading;		/* in read(); else in open() */
	int64_t until_ns;
	int error;		/* of a sink: its graph must not go on */
};

static bool ctf_claims(const struct found *found)
{
	struct stat metadata;
	char *name;
	bool claims;

	if (!S_ISDIR(found->st->st_mode))
		return false;
	name = io_format("%s/metadata", found->path);
	claims = name && !stat(name, &metadata) && S_ISREG(metadata.st_mode);
	free(name);
	return claims;
}

static int use_messages(struct stream *stream, const bt_message **messages,
			uint64_t num)
{
	int ret = 0;

	for (uint64_t i = 0; i < num; i++) {
		struct netsync_packet pkt;

		if (!ret)
			ret = ctf_stream_use(&stream->s, messages[i], &pkt);
		if (ret > 0)
			ret = io_packet(stream->s.trace, &pkt);
		bt_message_put_ref(messages[i]);
	}
	return ret;
}

static int use_held(struct stream *stream)
{
	int ret = use_messages(stream, stream->held, stream->num_held);

	free(stream->held);
	stream->held = NULL;
	stream->num_held = 0;
	return ret;
}

/* Keep the first messages until it is known whose they are. */
static int hold(struct stream *stream, const bt_message **messages,
		uint64_t num)
{
	int ret = 0;

	stream->held = malloc(num * sizeof(*messages));
	if (!stream->held)
		ret = -ENOMEM;
	for (uint64_t i = 0; i < num; i++) {
		if (!ret && bt_message_get_type(messages[i]) ==
			    BT_MESSAGE_TYPE_STREAM_BEGINNING) {
			stream->begun = true;
			ret = ctf_stream_begin(&stream->s, messages[i]);
		}
		if (stream->held)
			stream->held[stream->num_held++] = messages[i];
		else
			bt_message_put_ref(messages[i]);
	}
	return ret;
}

/* ---- sinks ------------------------------------------------------------- */

static void warn_of_damage(struct stream *stream)
{
	struct trace *trace = stream->s.trace;
	char *reason = ctf_take_reason();
	char *end = NULL;

	trace->info.damaged++;
	if (stream->s.any)
		end = io_format("up to its event at %lld ns",
				(long long)stream->s.last_ns);
	io_warn(trace->io, "%s: stream %s is damaged and was read %s (%s).",
		trace->path, stream->s.name, end ? end : "not at all", reason);
	free(end);
	free(reason);
}

static void drop_held(struct stream *stream)
{
	for (uint64_t i = 0; i < stream->num_held; i++)
		bt_message_put_ref(stream->held[i]);
	free(stream->held);
	stream->held = NULL;
	stream->num_held = 0;
}

static enum sink_status end_stream(struct stream *stream)
{
	drop_held(stream);
	stream->ended = true;
	return SINK_END;
}

static enum sink_status sink_failed(struct stream *stream, int error)
{
	struct ctf *ctf = stream->s.trace->state;

	ctf->error = error;
	return end_stream(stream);
}

/*
 * Take the next messages of a stream: one call in open(), then as long as the
 * stream is not past the end of the slice.
 */
static bt_graph_simple_sink_component_consume_func_status
consume(bt_message_iterator *iterator, void *data)
{
	struct stream *stream = data;
	struct ctf *ctf = stream->s.trace->state;
	bt_message_iterator_next_status status;
	bt_message_array_const messages;
	uint64_t num;
	int ret;

	if (stream->ended || ctf->error)
		return (int)end_stream(stream);
	if (!ctf->reading && stream->begun)
		return (int)SINK_AGAIN;
	if (ctf->reading) {
		ret = use_held(stream);
		if (ret < 0)
			return (int)sink_failed(stream, ret);
		if (stream->s.any && stream->s.last_ns > ctf->until_ns)
			return (int)SINK_AGAIN;
	}
	status = bt_message_iterator_next(iterator, &messages, &num);
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN)
		return (int)SINK_AGAIN;
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK) {
		if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_END)
			warn_of_damage(stream);
		return (int)end_stream(stream);
	}
	ret = ctf->reading ? use_messages(stream, messages, num) :
			     hold(stream, messages, num);
	if (ret < 0)
		return (int)sink_failed(stream, ret);
	if (!stream->s.num_decoders)
		return (int)end_stream(stream);
	return (int)SINK_OK;
}

/*
 * Let the sinks work until none of them wants to go on. The graph asks them
 * in turn, so that is when as many as there are said so one after the other.
 */
static int run(struct trace *trace)
{
	struct ctf *ctf = trace->state;
	uint64_t waiting = 0, live = 0;

	for (uint64_t i = 0; i < ctf->num_streams; i++)
		live += !ctf->streams[i].ended;
	while (waiting < live) {
		bt_graph_run_once_status status = bt_graph_run_once(ctf->graph);

		if (ctf->error)
			return ctf->error == -ENOMEM ?
			       io_fail(trace->io, -ENOMEM,
				       "There is not enough memory.") :
			       ctf->error;
		if (status == BT_GRAPH_RUN_ONCE_STATUS_END)
			return 0;
		if (status < 0) {
			char *reason = ctf_take_reason();

			io_fail(trace->io, -EIO, "%s: it cannot be read (%s).",
				trace->path, reason);
			free(reason);
			return -EIO;
		}
		waiting = status == BT_GRAPH_RUN_ONCE_STATUS_AGAIN ?
			  waiting + 1 : 0;
	}
	return live > 0;
}

/* ---- the graph --------------------------------------------------------- */

static bool add_sink(struct ctf *ctf, struct stream *stream,
		     const bt_port_output *port)
{
	const bt_component_sink *sink;
	char *name = io_format("sink-%td", stream - ctf->streams);
	bool ok;

	stream->s.name = strdup(bt_port_get_name(
		bt_port_output_as_port_const(port)));
	ok = name && stream->s.name &&
	     !bt_graph_add_simple_sink_component(ctf->graph, name, NULL,
						 consume, NULL, stream,
						 &sink) &&
	     !bt_graph_connect_ports(
		     ctf->graph, port,
		     bt_component_sink_borrow_input_port_by_index_const(sink,
									0),
		     NULL);
	free(name);
	return ok;
}

static bool add_sinks(struct trace *trace, const bt_component_source *source)
{
	struct ctf *ctf = trace->state;
	uint64_t num = bt_component_source_get_output_port_count(source);

	ctf->streams = calloc(num + 1, sizeof(*ctf->streams));
	if (!ctf->streams)
		return false;
	ctf->num_streams = num;
	for (uint64_t i = 0; i < num; i++) {
		ctf->streams[i].s.trace = trace;
		if (!add_sink(ctf, &ctf->streams[i],
			      bt_component_source_borrow_output_port_by_index_const(
				      source, i)))
			return false;
	}
	return true;
}

static int make_graph(struct trace *trace)
{
	struct ctf *ctf = trace->state;
	const bt_component_source *source;
	char *reason = ctf_try(&ctf->files);
	int ret = reason ? ctf_salvage(&ctf->files, trace) : 0;

	free(reason);
	if (ret < 0)
		return ret;
	ctf->graph = ctf_make_graph(&ctf->files, &source);
	if (ctf->graph && add_sinks(trace, source))
		return 0;
	reason = ctf_take_reason();
	io_fail(trace->io, -EIO, "%s: it cannot be opened (%s).", trace->path,
		reason);
	free(reason);
	return -EIO;
}

/* ---- the reader -------------------------------------------------------- */

static int ctf_open(struct trace *trace)
{
	struct ctf *ctf = calloc(1, sizeof(*ctf));
	int ret;

	if (!ctf)
		return io_fail(trace->io, -ENOMEM,
			       "There is not enough memory.");
	trace->state = ctf;
	ret = ctf_files_open(&ctf->files, trace);
	if (!ret)
		ret = make_graph(trace);
	if (ret < 0)
		return ret;
	ctf_read_ranges(&ctf->files, trace);
	if (ctf->num_streams) {
		ret = run(trace);
		if (ret == -ERANGE)
			return io_fail(trace->io, ret,
				"%s: its clock is more than 292 years away from the epoch.",
				trace->path);
		if (ret < 0)
			return ret;
	}
	if (!trace->clock) {
		io_warn(trace->io, "%s: %s; the trace was not used.",
			trace->path,
			trace->info.damaged ? "none of its streams can be read" :
			"nothing was recorded in it");
		return 0;
	}
	ctf->reading = true;
	trace->readable = ctf->files.scratch ? ctf->files.folder : NULL;
	return 1;
}

static int ctf_read(struct trace *trace, int64_t until_ns)
{
	struct ctf *ctf = trace->state;
	int ret, err = 0;

	ctf->until_ns = until_ns;
	ret = run(trace);
	for (uint64_t i = 0; i < ctf->num_streams && ret >= 0; i++) {
		struct stream *stream = &ctf->streams[i];

		if (stream->s.any)
			err = io_span(trace, stream->s.first_ns,
				      stream->s.last_ns);
		if (err < 0)
			ret = err;
	}
	return ret;
}

static void ctf_close(struct trace *trace)
{
	struct ctf *ctf = trace->state;

	if (!ctf)
		return;
	for (uint64_t i = 0; i < ctf->num_streams; i++) {
		drop_held(&ctf->streams[i]);
		ctf_stream_release(&ctf->streams[i].s);
	}
	/* Its sinks point to the streams. */
	bt_graph_put_ref(ctf->graph);
	free(ctf->streams);
	ctf_files_close(&ctf->files);
	free(ctf);
}

const struct trace_reader ctf_reader = {
	.format = "ctf",
	.claims = ctf_claims,
	.open = ctf_open,
	.read = ctf_read,
	.close = ctf_close,
};
