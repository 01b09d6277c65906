// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The events of all locations of a host, in order of time -> messages and collective operations.
 *
 * MPI does not overtake: the n-th receive of a rank from another one with the same tag and
 * communicator has the n-th send. Receives are counted when they complete, in the order of time. If
 * some complete in another order than they were posted, this is not the true relation, but its
 * conditions are true, because each of n receives follows its send:
 *
 *	send	1---2-----------	1 before B and 2 before A imply 1 before A, the first
 *	recv	  --A----B------	completion, and 2 before B
 *
 * All ranks of a communicator call its collective operations in the same order. A non-blocking
 * operation counts where it begins, although its communicator is only known when it completes.
 */
#ifdef OTF2_SONAME
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "io/otf2/scan.h"
#include "io/worker/worker.h"
#include "util/array.h"
#include "util/hash.h"

/* Number of events between two signs of progress. Chosen: some ms. */
#define EVENTS_PER_SIGN (1 << 17)
/*
 * Maximum number of collective operations of a process that wait for the first of them to complete.
 * Chosen: if there are more, this one never completes, and the others cannot be counted.
 */
#define MAX_OPEN 4096

/* An event of a location. */
struct otf2_event {
	enum { EVENT_SEND, EVENT_RECEIVE, EVENT_BEGIN, EVENT_END, EVENT_PAUSE } kind;
	int64_t ticks;
	uint64_t size, received; /* bytes */
	uint64_t request;	 /* of a non-blocking operation */
	uint32_t peer;		 /* other rank, or root */
	uint32_t comm, tag;
	uint8_t operation;
	bool has_request;
};

struct otf2_stream {
	struct otf2_scan *scan;
	const struct otf2_thread *thread;
	OTF2_EvtReader *reader;
	bool has_event; /* whether @event is to be used next */
	struct otf2_event event;
	struct otf2_ticks *ticks; /* of the host */
	uint64_t num_events;
};

/* A collective operation that has begun. */
struct otf2_open {
	uint64_t request; /* or the location, if it is blocking */
	bool has_request, has_ended;
	int64_t start, end;	 /* ticks */
	struct otf2_event event; /* the one that ended it */
};

/* Number of messages of a process to or from a rank, or of collective operations (no peer). */
struct otf2_counter {
	uint32_t comm, peer, tag, is_receive;
	uint64_t num;
};

/* A host whose events are being read. */
struct otf2_reading {
	struct otf2_scan *scan;
	struct otf2_stream *stream;
	size_t num_streams;
	const struct otf2_offset *offset;
	size_t num_offsets;
	struct otf2_ticks ticks;
};

/* ---- what the library calls ------------------------------------------------- */

/* Return the event to fill in, and have the library return after it. */
static struct otf2_event *note_event(struct otf2_stream *stream, OTF2_TimeStamp time)
{
	const int64_t ticks = time > INT64_MAX ? INT64_MAX : (int64_t)time;
	struct otf2_ticks *range = stream->ticks;

	if (range->last < range->first)
		*range = (struct otf2_ticks){ ticks, ticks };
	range->first = ticks < range->first ? ticks : range->first;
	range->last = ticks > range->last ? ticks : range->last;
	if (++stream->num_events % EVENTS_PER_SIGN == 0)
		worker_is_alive();
	stream->event = (struct otf2_event){ .ticks = ticks, .peer = OTF2_NONE };
	return &stream->event;
}

static OTF2_CallbackCode pass_event(struct otf2_stream *stream)
{
	stream->has_event = stream->scan->archive->wants_parts;
	return stream->has_event ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

#define EVENT_ARGS                                                                     \
	OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *data, \
		OTF2_AttributeList *attributes
#define IGNORE_EVENT_ARGS \
	(void)location;   \
	(void)position;   \
	(void)attributes

static OTF2_CallbackCode use_region(EVENT_ARGS, OTF2_RegionRef region)
{
	IGNORE_EVENT_ARGS;
	(void)region;
	note_event(data, time);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode use_program_begin(EVENT_ARGS, OTF2_StringRef name, uint32_t num,
					   const OTF2_StringRef *arguments)
{
	(void)num;
	(void)arguments;
	return use_region(location, time, position, data, attributes, name);
}

static OTF2_CallbackCode use_program_end(EVENT_ARGS, int64_t status)
{
	(void)status;
	return use_region(location, time, position, data, attributes, 0);
}

static OTF2_CallbackCode use_pause(EVENT_ARGS, OTF2_MeasurementMode mode)
{
	IGNORE_EVENT_ARGS;
	note_event(data, time)->kind = EVENT_PAUSE;
	return mode == OTF2_MEASUREMENT_OFF ? pass_event(data) : OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode use_send(EVENT_ARGS, uint32_t peer, OTF2_CommRef comm, uint32_t tag,
				  uint64_t size)
{
	struct otf2_event *event = note_event(data, time);

	IGNORE_EVENT_ARGS;
	event->kind = EVENT_SEND;
	event->peer = peer;
	event->comm = comm;
	event->tag = tag;
	event->size = size;
	return pass_event(data);
}

static OTF2_CallbackCode use_isend(EVENT_ARGS, uint32_t peer, OTF2_CommRef comm, uint32_t tag,
				   uint64_t size, uint64_t request)
{
	(void)request;
	return use_send(location, time, position, data, attributes, peer, comm, tag, size);
}

static OTF2_CallbackCode use_receive(EVENT_ARGS, uint32_t peer, OTF2_CommRef comm, uint32_t tag,
				     uint64_t size)
{
	const OTF2_CallbackCode code = use_send(location, time, position, data, attributes, peer,
						comm, tag, size);

	((struct otf2_stream *)data)->event.kind = EVENT_RECEIVE;
	return code;
}

static OTF2_CallbackCode use_ireceive(EVENT_ARGS, uint32_t peer, OTF2_CommRef comm, uint32_t tag,
				      uint64_t size, uint64_t request)
{
	(void)request;
	return use_receive(location, time, position, data, attributes, peer, comm, tag, size);
}

static OTF2_CallbackCode use_begin(EVENT_ARGS)
{
	struct otf2_event *event = note_event(data, time);

	(void)position;
	(void)attributes;
	event->kind = EVENT_BEGIN;
	event->request = location;
	return pass_event(data);
}

static OTF2_CallbackCode use_request(EVENT_ARGS, uint64_t request)
{
	struct otf2_event *event = note_event(data, time);

	IGNORE_EVENT_ARGS;
	event->kind = EVENT_BEGIN;
	event->request = request;
	event->has_request = true;
	return pass_event(data);
}

static OTF2_CallbackCode use_end(EVENT_ARGS, OTF2_CollectiveOp operation, OTF2_CommRef comm,
				 uint32_t root, uint64_t sent, uint64_t received)
{
	struct otf2_event *event = note_event(data, time);

	(void)position;
	(void)attributes;
	event->kind = EVENT_END;
	event->request = location;
	event->operation = operation < OTF2_MESSAGE ? (uint8_t)operation : OTF2_MESSAGE - 1;
	event->comm = comm;
	event->peer = root;
	event->size = sent;
	event->received = received;
	return pass_event(data);
}

static OTF2_CallbackCode use_complete(EVENT_ARGS, OTF2_CollectiveOp operation, OTF2_CommRef comm,
				      uint32_t root, uint64_t sent, uint64_t received,
				      uint64_t request)
{
	const OTF2_CallbackCode code = use_end(location, time, position, data, attributes,
					       operation, comm, root, sent, received);
	struct otf2_event *event = &((struct otf2_stream *)data)->event;

	event->request = request;
	event->has_request = true;
	return code;
}

static OTF2_EvtReaderCallbacks *make_event_callbacks(const struct otf2_library *otf2)
{
	OTF2_EvtReaderCallbacks *callbacks = otf2_need_memory(otf2->EvtReaderCallbacks_New());

	otf2->set_Enter(callbacks, use_region);
	otf2->set_Leave(callbacks, use_region);
	otf2->set_ProgramBegin(callbacks, use_program_begin);
	otf2->set_ProgramEnd(callbacks, use_program_end);
	otf2->set_MeasurementOnOff(callbacks, use_pause);
	otf2->set_MpiSend(callbacks, use_send);
	otf2->set_MpiIsend(callbacks, use_isend);
	otf2->set_MpiRecv(callbacks, use_receive);
	otf2->set_MpiIrecv(callbacks, use_ireceive);
	otf2->set_MpiCollectiveBegin(callbacks, use_begin);
	otf2->set_MpiCollectiveEnd(callbacks, use_end);
	otf2->set_NonBlockingCollectiveRequest(callbacks, use_request);
	otf2->set_NonBlockingCollectiveComplete(callbacks, use_complete);
	return callbacks;
}

/* ---- parts -------------------------------------------------------------------- */

static int compare_counters(const void *a, const void *b)
{
	return memcmp(a, b, offsetof(struct otf2_counter, num));
}

/* Return the number of earlier messages or operations of this kind. */
static uint64_t count_event(struct otf2_process *process, const struct otf2_event *event,
			    uint32_t peer)
{
	const struct otf2_counter key = { event->comm, peer, event->tag,
					  event->kind == EVENT_RECEIVE, 0 };
	struct otf2_counter **found = tfind(&key, &process->counters, compare_counters), *new;

	if (found)
		return (*found)->num++;
	new = otf2_need_memory(malloc(sizeof(*new)));
	*new = key;
	new->num = 1;
	otf2_need_memory(tsearch(new, &process->counters, compare_counters));
	return 0;
}

/* Find the communicator of an event. If it cannot be used, count the event and return NULL. */
static const struct otf2_comm *find_event_comm(struct otf2_scan *scan,
					       const struct otf2_event *event)
{
	const struct otf2_comm *comm = otf2_find(&scan->comms, event->comm);

	if (comm && comm->ranks && comm->ranks->type == OTF2_GROUP_TYPE_COMM_GROUP)
		return comm;
	/* Nobody but the process itself takes part in operations on MPI_COMM_SELF. */
	scan->unused[OTF2_OTHER_COMM] += !comm || !comm->ranks;
	return NULL;
}

/* Convert a rank of a communicator to the rank in MPI_COMM_WORLD, or OTF2_NONE. */
static uint32_t find_world_rank(const struct otf2_comm *comm, uint32_t rank)
{
	if (comm->ranks->is_global)
		return rank;
	return rank < comm->ranks->num && comm->ranks->member[rank] < OTF2_NONE ?
		       (uint32_t)comm->ranks->member[rank] :
		       OTF2_NONE;
}

static void report_part(const struct otf2_reading *reading, struct otf2_part *part,
			const uint64_t identity[5], int64_t start, int64_t end)
{
	struct otf2_scan *scan = reading->scan;
	const struct otf2_timer *timer = &scan->timer;

	if (!otf2_get_ns(timer, reading->offset, reading->num_offsets, start, false,
			 &part->start_ns) ||
	    !otf2_get_ns(timer, reading->offset, reading->num_offsets, end, true, &part->end_ns)) {
		scan->unused[OTF2_BAD_TIME]++;
		return;
	}
	part->key[0] = scan->trace_id;
	part->key[1] = ~scan->trace_id;
	for (int i = 0; i < 5; i++) {
		part->key[0] = hash_mix(part->key[0] ^ identity[i]);
		part->key[1] = hash_mix(part->key[1] + identity[i]);
	}
	worker_put(OTF2_RECORD_PART, 0, part, sizeof(*part));
}

static void use_message(const struct otf2_reading *reading, struct otf2_process *process,
			const struct otf2_event *event)
{
	const struct otf2_comm *comm = find_event_comm(reading->scan, event);
	const uint32_t peer = comm ? find_world_rank(comm, event->peer) : OTF2_NONE;
	const bool is_receive = event->kind == EVENT_RECEIVE;
	struct otf2_part part = {
		.check = hash_mix(event->size),
		.member = process->rank,
		.members = 2,
		.role = is_receive ? SPAN_AFTER : SPAN_BEFORE,
		.operation = OTF2_MESSAGE,
	};
	uint64_t identity[5];

	if (!comm || peer == OTF2_NONE || peer == process->rank)
		return;
	part.comm = (uint32_t)(comm - (struct otf2_comm *)reading->scan->comms.data);
	identity[0] = comm->id;
	identity[1] = is_receive ? peer : process->rank;
	identity[2] = is_receive ? process->rank : peer;
	identity[3] = (uint64_t)event->tag + 1;
	identity[4] = count_event(process, event, peer);
	report_part(reading, &part, identity, event->ticks, event->ticks);
}

/*
 * Return the role of a rank. If it may have exchanged no data with some of the others, it did not
 * wait for these. In a scan, each rank waits for those before it: at least for the first one.
 */
static uint32_t find_collective_role(const struct otf2_event *event, bool is_root, bool is_first)
{
	const uint32_t before = event->size ? SPAN_BEFORE : 0;
	const uint32_t after = event->received ? SPAN_AFTER : 0;

	switch (event->operation) {
	case OTF2_COLLECTIVE_OP_BARRIER:
		return SPAN_BOTH;
	case OTF2_COLLECTIVE_OP_BCAST:
	case OTF2_COLLECTIVE_OP_SCATTER:
	case OTF2_COLLECTIVE_OP_SCATTERV:
		return is_root ? before : after;
	case OTF2_COLLECTIVE_OP_GATHER:
	case OTF2_COLLECTIVE_OP_GATHERV:
	case OTF2_COLLECTIVE_OP_REDUCE:
		return is_root ? after : before;
	case OTF2_COLLECTIVE_OP_ALLGATHER:
	case OTF2_COLLECTIVE_OP_ALLGATHERV:
	case OTF2_COLLECTIVE_OP_ALLTOALL:
	case OTF2_COLLECTIVE_OP_ALLREDUCE:
	case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
	case OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK:
		return before | after;
	case OTF2_COLLECTIVE_OP_SCAN:
	case OTF2_COLLECTIVE_OP_EXSCAN:
		return is_first ? before : after;
	default:
		return 0;
	}
}

/* Do ranks exchange data by this operation? Others create and free handles. */
static bool has_collective_data(const struct otf2_event *event)
{
	return event->operation < OTF2_COLLECTIVE_OP_CREATE_HANDLE;
}

static void use_collective(const struct otf2_reading *reading, struct otf2_process *process,
			   const struct otf2_open *open)
{
	const struct otf2_event *event = &open->event;
	const struct otf2_comm *comm = find_event_comm(reading->scan, event);
	const uint32_t root = comm && event->peer < OTF2_COLLECTIVE_ROOT_THIS_GROUP ?
				      find_world_rank(comm, event->peer) :
				      OTF2_NONE;
	struct otf2_part part = {
		.check = hash_mix(((uint64_t)event->operation << 32) ^ root),
		.member = process->rank,
		.operation = event->operation,
	};
	uint64_t identity[5] = { 0 };

	if (!comm)
		return;
	part.comm = (uint32_t)(comm - (struct otf2_comm *)reading->scan->comms.data);
	part.members = comm->ranks->num;
	part.role = (uint8_t)find_collective_role(event, root == process->rank,
						  find_world_rank(comm, 0) == process->rank);
	identity[0] = comm->id;
	identity[4] = count_event(process, event, OTF2_NONE);
	if (part.role)
		report_part(reading, &part, identity, open->start, open->end);
	else
		reading->scan->unused[OTF2_EMPTY_PARTS] += has_collective_data(event);
}

/* ---- collective operations in the order in which they begin ---------------------- */

/* Use those that have ended, up to the first one that has not. */
static void use_ended_operations(const struct otf2_reading *reading, struct otf2_process *process)
{
	size_t num = 0;

	for (; num < process->num_open && process->open[num].has_ended; num++)
		use_collective(reading, process, &process->open[num]);
	process->num_open -= num;
	if (num)
		memmove(process->open, process->open + num,
			process->num_open * sizeof(*process->open));
}

static void begin_operation(struct otf2_process *process, const struct otf2_event *event)
{
	if (process->num_open >= MAX_OPEN) {
		process->was_paused = true;
		return;
	}
	if (array_grow(&process->open, &process->open_room, process->num_open,
		       sizeof(*process->open)))
		otf2_need_memory(NULL);
	process->open[process->num_open++] = (struct otf2_open){
		.request = event->request,
		.has_request = event->has_request,
		.start = event->ticks,
	};
}

static void end_operation(const struct otf2_reading *reading, struct otf2_process *process,
			  const struct otf2_event *event)
{
	for (size_t i = process->num_open; i-- > 0;) {
		struct otf2_open *open = &process->open[i];

		if (open->has_ended || open->request != event->request ||
		    open->has_request != event->has_request)
			continue;
		open->has_ended = true;
		open->end = event->ticks;
		open->event = *event;
		break;
	}
	use_ended_operations(reading, process);
}

static void use_event(const struct otf2_reading *reading, struct otf2_process *process,
		      const struct otf2_event *event)
{
	if (process->was_paused || process->rank == OTF2_NONE) {
		reading->scan->unused[process->was_paused ? OTF2_PAUSED : OTF2_NO_RANK] +=
			event->kind != EVENT_BEGIN && event->kind != EVENT_PAUSE;
		return;
	}
	switch (event->kind) {
	case EVENT_SEND:
	case EVENT_RECEIVE:
		use_message(reading, process, event);
		break;
	case EVENT_BEGIN:
		begin_operation(process, event);
		break;
	case EVENT_END:
		end_operation(reading, process, event);
		break;
	case EVENT_PAUSE:
		process->was_paused = true;
		break;
	}
}

/* ---- streams ----------------------------------------------------------------------- */

static void report_damage(const struct otf2_stream *stream)
{
	char *text = io_format("the events of location %llu cannot be read after the first %llu",
			       (unsigned long long)stream->thread->id,
			       (unsigned long long)stream->num_events);

	worker_put_text(OTF2_RECORD_DAMAGE, 0, otf2_need_memory(text));
	free(text);
}

/* Read up to the next event of a location that is used. */
static void read_stream(struct otf2_stream *stream)
{
	const struct otf2_library *otf2 = stream->scan->otf2;
	OTF2_ErrorCode ret;
	uint64_t read;

	stream->has_event = false;
	if (!stream->reader)
		return;
	ret = otf2->Reader_ReadLocalEvents(stream->scan->reader, stream->reader, UINT64_MAX, &read);
	if (ret && ret != OTF2_ERROR_INTERRUPTED_BY_CALLBACK) {
		stream->has_event = false;
		report_damage(stream);
	}
	if (!stream->has_event) {
		otf2->Reader_CloseEvtReader(stream->scan->reader, stream->reader);
		stream->reader = NULL;
	}
}

static void open_stream(struct otf2_stream *stream, OTF2_EvtReaderCallbacks *callbacks)
{
	struct otf2_scan *scan = stream->scan;

	stream->reader = scan->otf2->Reader_GetEvtReader(scan->reader, stream->thread->id);
	if (!stream->reader) {
		report_damage(stream);
		return;
	}
	scan->otf2->Reader_RegisterEvtCallbacks(scan->reader, stream->reader, callbacks, stream);
	scan->otf2->EvtReader_ApplyClockOffsets(stream->reader, false);
	read_stream(stream);
}

/* Use the events of a host in the order of time. */
static void merge_streams(struct otf2_reading *reading)
{
	for (;;) {
		struct otf2_stream *first = NULL;

		for (size_t i = 0; i < reading->num_streams; i++) {
			struct otf2_stream *stream = &reading->stream[i];

			if (stream->has_event &&
			    (!first || stream->event.ticks < first->event.ticks))
				first = stream;
		}
		if (!first)
			break;
		use_event(reading, first->thread->process, &first->event);
		read_stream(first);
	}
}

/* ---- hosts --------------------------------------------------------------------------- */

static bool has_same_offsets(const struct otf2_thread *a, const struct otf2_thread *b)
{
	return a->num_offsets == b->num_offsets &&
	       (!a->num_offsets ||
		!memcmp(a->offset, b->offset, a->num_offsets * sizeof(*a->offset)));
}

/* Find the locations of a host, and the clock offsets if all of them have the same ones. */
static void find_streams(struct otf2_reading *reading, uint32_t host)
{
	const struct otf2_thread *first = NULL;
	bool is_one_clock = true;
	size_t num;
	struct otf2_thread *threads = otf2_get_threads(reading->scan, &num);

	reading->stream = otf2_need_memory(calloc(num + 1, sizeof(*reading->stream)));
	for (size_t i = 0; i < num; i++) {
		if (threads[i].process->host != host)
			continue;
		reading->stream[reading->num_streams++] = (struct otf2_stream){
			.scan = reading->scan, .thread = &threads[i], .ticks = &reading->ticks
		};
		first = first ? first : &threads[i];
		is_one_clock &= has_same_offsets(first, &threads[i]);
		worker_put(OTF2_RECORD_LOCATION, 0, &threads[i].id, sizeof(threads[i].id));
	}
	if (!first || !is_one_clock)
		return;
	reading->offset = first->offset;
	reading->num_offsets = first->num_offsets;
	for (size_t i = 0; i < first->num_offsets; i++)
		worker_put(OTF2_RECORD_OFFSET, 0, &first->offset[i], sizeof(*first->offset));
}

static void scan_host(struct otf2_scan *scan, uint32_t host, OTF2_EvtReaderCallbacks *callbacks)
{
	struct otf2_reading reading = { .scan = scan, .ticks = { 0, -1 } };

	worker_put_text(OTF2_RECORD_HOST, 0, scan->host[host]);
	find_streams(&reading, host);
	for (size_t i = 0; i < reading.num_streams; i++)
		open_stream(&reading.stream[i], callbacks);
	merge_streams(&reading);
	worker_put(OTF2_RECORD_TICKS, 0, &reading.ticks, sizeof(reading.ticks));
	free(reading.stream);
}

static bool scan_all_hosts(struct otf2_scan *scan)
{
	const struct otf2_comm *comms = scan->comms.data;
	OTF2_EvtReaderCallbacks *callbacks = make_event_callbacks(scan->otf2);
	uint64_t event_chunk, chunk = 0;

	scan->otf2->Reader_GetChunkSize(scan->reader, &event_chunk, &chunk);
	worker_put(OTF2_RECORD_CHUNK, 0, &chunk, sizeof(chunk));
	worker_put(OTF2_RECORD_TIMER, 0, &scan->timer, sizeof(scan->timer));
	for (size_t i = 0; i < scan->comms.num; i++)
		worker_put_text(OTF2_RECORD_COMM, 0, otf2_find_text(scan, comms[i].name));
	if (scan->otf2->Reader_OpenEvtFiles(scan->reader))
		return otf2_report_failure(scan, "its events cannot be opened");
	for (uint32_t i = 0; i < scan->num_hosts; i++)
		scan_host(scan, i, callbacks);
	for (uint16_t i = 0; i < OTF2_NUM_UNUSED; i++)
		worker_put(OTF2_RECORD_UNUSED, i, &scan->unused[i], sizeof(scan->unused[i]));
	return true;
}

static OTF2_ErrorCode note_error(void *data, const char *file, uint64_t line, const char *function,
				 OTF2_ErrorCode code, const char *format, va_list args)
{
	struct otf2_scan *scan = data;

	(void)file;
	(void)line;
	(void)function;
	(void)format;
	(void)args;
	scan->error = scan->error ? scan->error : code;
	return code;
}

void otf2_scan_archive(const void *data)
{
	struct otf2_scan scan = { .archive = data };
	const char *why;

	scan.otf2 = otf2_load_library(&why);
	if (!scan.otf2) {
		otf2_report_failure(&scan, why);
		return;
	}
	scan.otf2->Error_RegisterCallback(note_error, &scan);
	scan.reader = scan.otf2->Reader_Open(scan.archive->path);
	if (!scan.reader) {
		otf2_report_failure(&scan, "its anchor file cannot be read");
		return;
	}
	scan.otf2->Reader_SetSerialCollectiveCallbacks(scan.reader);
	scan.otf2->Reader_GetTraceId(scan.reader, &scan.trace_id);
	if (otf2_scan_definitions(&scan) && scan_all_hosts(&scan))
		worker_put(OTF2_RECORD_END, 0, "", 0);
}
#endif
