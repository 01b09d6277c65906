// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Convert a server's records to traces and their packet events. The trace of a server differs from
 * other traces in its format only by its reader.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/remote/protocol.h"
#include "io/remote/remote.h"
#include "io/stream/stream.h"
#include "util/array.h"
#include "util/utf8.h"

struct served {
	struct netsync_io *io;
	char *label; /* name of the machine, for messages */
	char *name;  /* host name that the user gave, or NULL */
	struct receiver *receiver;
	bool opened;	   /* whether the descriptions of all traces have been received */
	bool ended;	   /* whether no more data can be received */
	uint64_t stored;   /* size of all files of the server's traces (bytes) */
	uint32_t left_out; /* number of inputs that the server has skipped, as the server reports */
	unsigned int warnings;
	struct trace **traces;
	size_t num;
	struct stream stream;
	/* Texts about the next trace, indexed by kind of record. */
	char *texts[STREAM_FORMAT + 1];
	struct copied *sidecars[NUM_SIDECARS];
	bool is_new[NUM_SIDECARS]; /* whether the file's contents follow */
	struct copied **copies;
	size_t num_copies;
	size_t copied; /* size of all copies (bytes) */
};

/* State of one served trace. */
struct served_trace {
	struct trace_reader reader;
	struct served *served;
	uint32_t number;
	int64_t asked_ns; /* time up to which reading was requested */
	int64_t read_ns;  /* time up to which the trace has been read */
	bool more;
};

/* Reject a record that violates the protocol. */
static int refuse_served_record(void)
{
	return -EPROTO;
}

/* ---- the traces -------------------------------------------------------------- */

/* End all traces of the server, and print one warning. */
static void end_served(struct served *s, const char *why)
{
	if (s->ended)
		return;
	s->ended = true;
	if (s->opened)
		io_warn(s->io, "%s: %s; the part of its traces received so far is used.", s->label,
			why);
}

/* Send a command for a trace. If sending fails, waiting for the answer reveals the failure. */
static void send_turn_command(const struct served_trace *t, uint32_t flag, int64_t time_ns)
{
	uint8_t bytes[STREAM_TURN_SIZE];

	stream_put_turn(bytes, &(struct stream_turn){ t->number | flag, time_ns });
	receiver_send_data(t->served->receiver, bytes, sizeof(bytes));
}

static void read_served_ahead(struct trace *trace, int64_t until_ns)
{
	struct served_trace *t = trace->state;

	if (until_ns <= t->asked_ns || t->served->ended || !t->more)
		return;
	t->asked_ns = until_ns;
	send_turn_command(t, 0, until_ns);
}

static void limit_served_trace(struct trace *trace)
{
	const struct served_trace *t = trace->state;

	if (t->served->ended)
		return;
	send_turn_command(t, STREAM_FROM, trace->window.lo);
	send_turn_command(t, STREAM_TO, trace->window.hi);
}

/*
 * Process records until the awaited answer has arrived. Return 1, or 0 if the answer will not
 * arrive. On failure, call io_fail() and return a negative value.
 */
static int receive_served_records(struct served *s)
{
	struct worker_head head;
	const char *payload;
	int ret;

	while (!s->ended && receiver_next_record(s->receiver, &head, &payload)) {
		ret = served_use_record(s, &head, payload);
		if (ret == -EPROTO)
			end_served(s, "the data does not follow the netsync protocol");
		else if (ret)
			return ret;
	}
	if (!s->ended)
		end_served(s, receiver_get_why(s->receiver));
	return 0;
}

static int served_read(struct trace *trace, int64_t until_ns)
{
	struct served_trace *t = trace->state;
	int ret = 1;

	read_served_ahead(trace, until_ns);
	t->served->stream.trace = trace;
	t->served->stream.number = t->number;
	while (ret > 0 && t->more && t->read_ns < until_ns)
		ret = receive_served_records(t->served);
	if (ret)
		return ret < 0 ? ret : t->more;
	trace->info.damaged++;
	return 0;
}

static void served_close(struct trace *trace)
{
	free(trace->state);
	trace->state = NULL;
}

/* ---- descriptions of traces ------------------------------------------------------- */

static int set_served_text(struct served *s, const struct worker_head *head, const char *payload)
{
	char **text = &s->texts[head->what];

	free(*text);
	*text = strdup(payload);
	return *text ? 0 : io_fail_no_memory(s->io);
}

static int set_served_sidecar(struct served *s, const struct worker_head *head, const char *payload)
{
	const size_t prefix = strlen(s->label) + 1;
	struct copied **last, **more, *copied;

	if (head->number >= NUM_SIDECARS)
		return refuse_served_record();
	last = &s->sidecars[head->number];
	if (*last && !strcmp((*last)->path + prefix, payload)) {
		s->is_new[head->number] = false;
		return 0;
	}
	if (s->num_copies >= REMOTE_MAX_TRACES)
		return refuse_served_record();
	more = array_add(&s->copies, s->num_copies, sizeof(*more));
	copied = more ? calloc(1, sizeof(*copied)) : NULL;
	if (!copied)
		return io_fail_no_memory(s->io);
	*more = copied;
	s->num_copies++;
	copied->path = io_format("%s:%s", s->label, payload);
	*last = copied;
	s->is_new[head->number] = true;
	return copied->path ? 0 : io_fail_no_memory(s->io);
}

static int add_sidecar_bytes(struct served *s, const struct worker_head *head, const char *payload)
{
	struct copied *copied;

	if (head->number >= NUM_SIDECARS || !s->sidecars[head->number] || !s->is_new[head->number])
		return refuse_served_record();
	/* The first part may be empty, while no memory is allocated yet. */
	if (!head->size)
		return 0;
	copied = s->sidecars[head->number];
	s->copied += head->size;
	if (copied->size + head->size > REMOTE_MAX_SIDECAR || s->copied > REMOTE_MAX_SIDECARS)
		return refuse_served_record();
	while (copied->room < copied->size + head->size)
		if (array_grow(&copied->bytes, &copied->room, copied->room, 1))
			return io_fail_no_memory(s->io);
	memcpy(copied->bytes + copied->size, payload, head->size);
	copied->size += head->size;
	return 0;
}

/* ---- traces ------------------------------------------------------------------------- */

static void read_trace_numbers(struct trace *trace, struct bytes_take *take)
{
	static const struct trace_counts none;

	trace->has_clock_uuid = bytes_take_up_to(take, 1);
	bytes_take_copy(take, trace->clock_uuid, UUID_SIZE);
	trace->has_uuid = bytes_take_up_to(take, 1);
	bytes_take_copy(take, trace->uuid, UUID_SIZE);
	trace->has_network = bytes_take_up_to(take, 1);
	trace->has_netns = bytes_take_up_to(take, 1);
	trace->epoch_ns = bytes_take_signed(take);
	trace->has_wall = bytes_take_up_to(take, 1);
	trace->wall_shift_ns = bytes_take_signed(take);
	trace->range.lo = bytes_take_signed(take);
	trace->range.hi = bytes_take_signed(take);
	trace->range_hash = bytes_take_number(take);
	trace->max_points = bytes_take_up_to(take, UINT32_MAX);
	if (!trace->max_points || trace->max_points > REMOTE_MAX_POINTS)
		trace->max_points = REMOTE_MAX_POINTS;
	trace_decode_counts(take, &none, trace);
}

/* Move the texts that the server has sent into the trace. */
static bool move_texts_to_trace(struct served *s, struct trace *trace)
{
	trace->path = io_format("%s:%s", s->label, s->texts[STREAM_PATH]);
	trace->real_path = io_format("%s:%s", s->label, s->texts[STREAM_REAL_PATH]);
	trace->host_name = s->texts[STREAM_HOST];
	trace->clock_name = s->texts[STREAM_CLOCK];
	s->texts[STREAM_HOST] = NULL;
	s->texts[STREAM_CLOCK] = NULL;
	for (unsigned int i = 0; i < NUM_SIDECARS; i++)
		trace->sidecars[i] = s->sidecars[i];
	return trace->path && trace->real_path;
}

static struct served_trace *new_served_trace(struct served *s, const struct trace_reader *known)
{
	struct served_trace *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->reader = *known;
	t->reader.read = served_read;
	t->reader.divide = NULL;
	t->reader.ahead = read_served_ahead;
	t->reader.is_idle = NULL;
	t->reader.file = NULL;
	t->reader.limit = limit_served_trace;
	t->reader.close = served_close;
	t->served = s;
	t->number = s->num;
	t->asked_ns = INT64_MIN;
	t->read_ns = INT64_MIN;
	t->more = true;
	return t;
}

static int add_served_trace(struct served *s, const struct worker_head *head, const char *payload)
{
	struct bytes_take take = bytes_take_all(payload, head->size);
	const struct trace_reader *known;
	struct trace *trace, **last;

	if (head->number != s->num || s->num >= REMOTE_MAX_TRACES)
		return refuse_served_record();
	for (unsigned int i = STREAM_PATH; i <= STREAM_FORMAT; i++)
		if (i != STREAM_CLOCK && (!s->texts[i] || !*s->texts[i]))
			return refuse_served_record();
	known = io_find_format(s->texts[STREAM_FORMAT]);
	if (!known || known == &pcap_reader)
		return refuse_served_record();
	last = array_add(&s->traces, s->num, sizeof(*last));
	trace = last ? calloc(1, sizeof(*trace)) : NULL;
	if (!trace)
		return io_fail_no_memory(s->io);
	*last = trace;
	trace->io = s->io;
	trace->is_remote = true;
	trace->server = s->io->num_served;
	trace->window = RANGE_ALL;
	trace->info.host = NETSYNC_IO_NO_HOST;
	trace->info.last_ns = -1;
	trace->info.format = known->format;
	trace->state = new_served_trace(s, known);
	if (trace->state)
		trace->reader = &((struct served_trace *)trace->state)->reader;
	s->num++;
	if (!trace->state || !move_texts_to_trace(s, trace))
		return io_fail_no_memory(s->io);
	read_trace_numbers(trace, &take);
	return take.bad ? refuse_served_record() : 0;
}

static int finish_served_opening(struct served *s, const struct worker_head *head,
				 const char *payload)
{
	struct bytes_take take = bytes_take_all(payload, head->size);

	s->stored = bytes_take_number(&take);
	if (take.bad || !s->num)
		return refuse_served_record();
	s->left_out = head->number;
	s->opened = true;
	return 1;
}

/* ---- reading ---------------------------------------------------------------------- */

/* Process a record of the trace that is being read. */
static int use_served_turn(struct served *s, const struct worker_head *head, const char *payload)
{
	int ret = stream_use_record(&s->stream, s->io, head, payload);
	struct served_trace *t;

	if (ret <= 0)
		return ret;
	t = s->stream.trace->state;
	t->read_ns = s->stream.end.read_ns;
	t->more = s->stream.end.more;
	return t->read_ns > t->asked_ns ? refuse_served_record() : 1;
}

/* ---- records --------------------------------------------------------------------- */

static int warn_for_server(struct served *s, const char *text)
{
	char *sentence;

	if (++s->warnings > REMOTE_MAX_WARNINGS)
		return refuse_served_record();
	sentence = utf8_escape(text, true);
	if (!sentence)
		return io_fail_no_memory(s->io);
	io_warn(s->io, "%s: %s", s->label, sentence);
	free(sentence);
	return 0;
}

/* Handle a server's failure. The failure is reported in the server's own words. */
static int use_server_failure(struct served *s, const char *text)
{
	char *sentence = utf8_escape(text, true);

	if (!sentence)
		return io_fail_no_memory(s->io);
	if (s->opened)
		end_served(s, sentence);
	else
		io_fail(s->io, -EREMOTEIO, "%s: %s", s->label, sentence);
	free(sentence);
	return s->opened ? 0 : -EREMOTEIO;
}

int served_use_record(struct served *s, const struct worker_head *head, const char *payload)
{
	switch (head->what) {
	case STREAM_WARNING:
		return warn_for_server(s, payload);
	case STREAM_ERROR:
		return use_server_failure(s, payload);
	case STREAM_EVENTS:
	case STREAM_SPAN:
	case STREAM_PART:
	case STREAM_STATE:
	case STREAM_END:
		return use_served_turn(s, head, payload);
	}
	if (s->opened)
		return refuse_served_record();
	switch (head->what) {
	case STREAM_PATH:
	case STREAM_REAL_PATH:
	case STREAM_HOST:
	case STREAM_CLOCK:
	case STREAM_FORMAT:
		return set_served_text(s, head, payload);
	case STREAM_SIDECAR:
		return set_served_sidecar(s, head, payload);
	case STREAM_SIDECAR_BYTES:
		return add_sidecar_bytes(s, head, payload);
	case STREAM_TRACE:
		return add_served_trace(s, head, payload);
	case STREAM_OPENED:
		return finish_served_opening(s, head, payload);
	default:
		return refuse_served_record();
	}
}

/* ---- the public calls ---------------------------------------------------------------- */

struct served *served_new(struct netsync_io *io, const char *label, const char *name)
{
	struct served *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->io = io;
	s->label = utf8_escape(label, true);
	s->name = name ? strdup(name) : NULL;
	if (s->label && (s->name || !name))
		return s;
	served_free(s);
	return NULL;
}

/* Free the server's state. Traces that are in use belong to the reader. */
void served_free(struct served *s)
{
	if (!s)
		return;
	receiver_free(s->receiver);
	for (size_t i = 0; i < s->num_copies; i++) {
		free(s->copies[i]->path);
		free(s->copies[i]->bytes);
		free(s->copies[i]);
	}
	for (unsigned int i = 0; i <= STREAM_FORMAT; i++)
		free(s->texts[i]);
	free(s->copies);
	free(s->traces);
	free(s->label);
	free(s->name);
	free(s);
}

static void drop_served_traces(struct served *s)
{
	for (size_t i = 0; i < s->num; i++)
		io_free_trace(s->traces[i]);
	s->num = 0;
}

/* Skip a trace that was already given. All other traces are used. */
static void skip_given_trace(struct served *s, size_t number)
{
	io_warn(s->io, "%s It was skipped.", netsync_io_error(s->io));
	io_free_trace(s->traces[number]);
	s->traces[number] = NULL;
	s->left_out++;
}

/*
 * Add all traces that were not already given. Return their number. On failure, call io_fail() and
 * return a negative value.
 */
static int keep_served_traces(struct served *s)
{
	struct netsync_io *io = s->io;
	const size_t before = io->num_traces;
	int ret = 0;

	for (size_t i = 0; i < s->num && ret >= 0; i++) {
		ret = io_keep_trace(io, s->traces[i], s->name);
		if (ret != -EEXIST || (i == s->num - 1 && io->num_traces == before))
			continue;
		skip_given_trace(s, i);
		ret = 0;
	}
	if (ret < 0)
		io->num_traces = before;
	return ret < 0 ? ret : (int)(io->num_traces - before);
}

static int open_served(struct served *s, int in, int out)
{
	struct netsync_io *io = s->io;
	struct served **last = array_add(&io->served, io->num_served, sizeof(*last));
	int ret;

	s->receiver = receiver_new(io, s->label, in, out);
	if (!last || !s->receiver)
		return io_fail_no_memory(io);
	ret = receive_served_records(s);
	if (!ret) {
		const char *why = receiver_get_why(s->receiver);

		return io_fail(io, -EREMOTEIO, "%s: %s.", s->label,
			       why ? why : "the data does not follow the netsync protocol");
	}
	ret = ret < 0 ? ret : keep_served_traces(s);
	if (ret > 0) {
		*last = s;
		io->num_served++;
	}
	return ret;
}

int netsync_io_add_served(struct netsync_io *io, const char *label, const char *name, int in,
			  int out)
{
	struct served *s;
	int ret = io_check_can_add(io, label);

	if (ret < 0)
		return ret;
	s = served_new(io, label, name);
	if (!s)
		return io_fail_no_memory(io);
	ret = open_served(s, in, out);
	if (ret <= 0) {
		drop_served_traces(s);
		served_free(s);
	}
	return ret;
}

uint32_t netsync_io_num_served(const struct netsync_io *io)
{
	return (uint32_t)io->num_served;
}

int netsync_io_get_served(const struct netsync_io *io, uint32_t index,
			  struct netsync_io_served *info)
{
	const uint32_t size = info->size;
	const struct served *s;
	struct netsync_io_served full;

	if (index >= io->num_served || size < sizeof(size))
		return -EINVAL;
	s = io->served[index];
	full = (struct netsync_io_served){
		.size = size,
		.num_traces = (uint32_t)s->num,
		.label = s->label,
		.stored_bytes = s->stored,
		.received_bytes = receiver_get_bytes(s->receiver),
		.ended = s->ended,
		.left_out = s->left_out,
	};
	memset(info, 0, size);
	memcpy(info, &full, size < sizeof(full) ? size : sizeof(full));
	return 0;
}
