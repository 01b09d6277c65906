// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the critical path of a thread. Backward from its end, each wait is replaced by the
 * activity of the thread that ended it. Giraldeau, Dagenais: Wait analysis of distributed
 * systems using kernel tracing, IEEE TPDS 27(8), 2016.
 *
 *	client   run |  wait                            | run
 *	                \ packet          on the way -> /
 *	server   wait    | run | wait for disk | run | send
 *
 *	path     run | on the way | run | disk | run | on the way | run
 *
 * A wait that is being replaced is a frame on a stack: the thread that it waited for is
 * followed back to the begin of the wait, and then the path continues with the waiting
 * thread before it.
 */
#include <stdlib.h>
#include <string.h>

#include "../../libnetsync/util/array.h"
#include "common/now.h"
#include "path.h"

/*
 * Maximum number of steps from thread to thread without a change of time. With correct clocks, only
 * a few steps occur. Chosen.
 */
#define MAX_STANDING 4096

/* A state of a thread, from its beginning to the current time of the path. */
struct spot {
	struct actor who;
	enum sched_state state;
	int64_t begin_ns, end_ns; /* times on the host's clock */
	uint32_t before, cause, cpu_before;
	bool is_known; /* false if the state is not known */
};

struct frame {
	struct spot spot;
	int64_t from_ns; /* time back to which the state is followed */
	uint32_t charge;
};

struct walk {
	struct critical_path *path;
	struct frame *frames;
	size_t num, room;
	int64_t now_ns;
	unsigned int standing; /* number of steps without a change of time */
	bool failed;
};

/* ---- pieces ---------------------------------------------------------------- */

/* Add a piece from @from_ns to the path's current time. @from_ns becomes the current time. */
static void add_path_piece(struct walk *walk, const struct frame *frame, int64_t from_ns,
			   struct path_piece piece)
{
	struct critical_path *path = walk->path;

	if (from_ns >= walk->now_ns)
		return;
	piece.begin_ns = from_ns;
	piece.end_ns = walk->now_ns;
	piece.charge = frame->charge;
	walk->now_ns = from_ns;
	walk->standing = 0;
	if (array_grow(&path->pieces, &path->room, path->num_pieces, sizeof(piece))) {
		walk->failed = true;
		return;
	}
	path->pieces[path->num_pieces++] = piece;
	path->charges[piece.charge].ns[piece.kind] += piece.end_ns - from_ns;
}

static void add_unknown_piece(struct walk *walk, const struct frame *frame, int64_t from_ns,
			      enum piece_reason reason)
{
	add_path_piece(walk, frame, from_ns,
		       (struct path_piece){
			       .who = frame->spot.who, .kind = PIECE_UNKNOWN, .reason = reason });
}

/* ---- who is charged -------------------------------------------------------- */

static bool is_same_actor(struct actor a, struct actor b)
{
	return a.host == b.host && a.thread == b.thread;
}

/* Return the charge for @who, which works while the thread of @parent waits. */
static uint32_t get_path_charge(struct walk *walk, uint32_t parent, struct actor who)
{
	struct critical_path *path = walk->path;
	struct charge *charges = path->charges, *last;

	/*
	 * If threads wait for each other in turns, use their charges again, which limits the depth.
	 */
	for (uint32_t i = parent; i != NO_CHARGE; i = charges[i].parent)
		if (is_same_actor(charges[i].who, who))
			return i;
	if (parent != NO_CHARGE)
		for (uint32_t i = charges[parent].child; i != NO_CHARGE; i = charges[i].next)
			if (is_same_actor(charges[i].who, who))
				return i;
	last = array_add(&path->charges, path->num_charges, sizeof(*last));
	if (!last) {
		walk->failed = true;
		return 0;
	}
	charges = path->charges;
	last->who = who;
	last->parent = parent;
	last->child = NO_CHARGE;
	last->next = NO_CHARGE;
	if (parent != NO_CHARGE) {
		last->depth = charges[parent].depth + 1;
		last->next = charges[parent].child;
		charges[parent].child = path->num_charges;
	}
	return path->num_charges++;
}

/* ---- the graph ------------------------------------------------------------- */

static int64_t correct_or_min(const struct walk *walk, uint32_t host, int64_t time_ns)
{
	int64_t corrected_ns;

	return time_ns != INT64_MIN && timebase_correct_time(&walk->path->base->hosts[host],
							     time_ns, &corrected_ns) ?
		       corrected_ns :
		       INT64_MIN;
}

static int64_t choose_later_time(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Return the state in a record. If there is no record, return an unknown state. */
static struct spot make_state_spot(const struct walk *walk, struct actor who, uint32_t number)
{
	const struct graph_record *record = graph_get_record(&walk->path->graph, who.host, number);

	if (!record || record->kind != RECORD_STATE)
		return (struct spot){ .who = who };
	return (struct spot){
		.who = who,
		.state = record->what,
		.begin_ns = record->state.begin_ns,
		.end_ns = record->at_ns,
		.before = record->state.before,
		.cause = record->state.cause,
		.cpu_before = record->state.cpu_before,
		.is_known = true,
	};
}

/* Return the state of a waker or sender at the time of the wakeup or of sending. */
static struct spot make_waker_spot(const struct graph_record *cause, uint32_t host)
{
	return (struct spot){
		.who = { host, cause->cause.thread },
		.state = SCHED_RUNNING,
		.begin_ns = cause->cause.begin_ns,
		.end_ns = cause->at_ns,
		.before = cause->cause.before,
		.cause = NO_RECORD,
		.cpu_before = NO_RECORD,
		.is_known = true,
	};
}

/* ---- packets --------------------------------------------------------------- */

struct sent {
	const struct graph_record *send;
	uint32_t host;
	int64_t time_ns;   /* corrected time of sending */
	int64_t bound_ns;  /* error bound for the time in transit */
	bool is_uncertain; /* the order of sending and receiving is uncertain */
};

static int64_t get_host_bound(const struct walk *walk, uint32_t host, int64_t time_ns)
{
	const struct timebase_host *one = &walk->path->base->hosts[host];
	int64_t time_ref, bound_ns;

	return one->clock && !netsync_convert(one->clock, time_ns + one->shift_ns, &time_ref,
					      &bound_ns) ?
		       bound_ns :
		       NETSYNC_UNKNOWN;
}

static bool is_sent_by(const struct walk *walk, const struct spooled *message, struct sent *sent)
{
	const struct timebase_host *hosts = walk->path->base->hosts;
	const struct timebase_host *from = &hosts[message->from];
	const struct timebase_host *to = &hosts[message->to];
	const int64_t a = get_host_bound(walk, message->from, message->send_ns);
	const int64_t b = get_host_bound(walk, message->to, message->recv_ns);

	sent->host = message->from;
	sent->send = graph_find_sent(&walk->path->graph, message->from, message->send_ns);
	sent->time_ns = correct_or_min(walk, message->from, message->send_ns);
	if (sent->time_ns == INT64_MIN)
		return false;
	sent->bound_ns = a == NETSYNC_UNKNOWN || b == NETSYNC_UNKNOWN ? NETSYNC_UNKNOWN : a + b;
	sent->is_uncertain = netsync_order(from->clock, message->send_ns + from->shift_ns,
					   to->clock,
					   message->recv_ns + to->shift_ns) != NETSYNC_BEFORE;
	return true;
}

/* Find where a packet that a host received was sent. Return false if this is not known. */
static bool find_sent_message(const struct walk *walk, const struct graph_record *cause,
			      uint32_t host, struct sent *sent)
{
	const struct graph_record *local = graph_get_record(&walk->path->graph, host,
							    cause->cause.local);

	if (local) {
		*sent = (struct sent){ .send = local, .host = host };
		sent->time_ns = correct_or_min(walk, host, local->at_ns);
		return true;
	}
	for (size_t i = 0; i < NUM_PLACES; i++) {
		const uint32_t ago_ns = cause->cause.ago_ns[i];
		const struct spooled *message = ago_ns == NEVER ?
							NULL :
							messages_find(&walk->path->messages, host,
								      cause->at_ns - ago_ns);

		if (message && is_sent_by(walk, message, sent))
			return true;
	}
	return false;
}

/* ---- waits ----------------------------------------------------------------- */

static void push_walk_frame(struct walk *walk, struct spot spot, int64_t from_ns, uint32_t charge)
{
	if (array_grow(&walk->frames, &walk->room, walk->num, sizeof(*walk->frames))) {
		walk->failed = true;
		return;
	}
	walk->frames[walk->num++] = (struct frame){ spot, from_ns, charge };
}

static enum piece_kind get_piece_kind(enum cause_kind cause)
{
	switch (cause) {
	case CAUSE_DISK:
		return PIECE_DISK;
	case CAUSE_TIMER:
		return PIECE_TIMER;
	case CAUSE_INTERRUPT:
		return PIECE_INTERRUPT;
	case CAUSE_PACKET:
		return PIECE_NETWORK;
	default:
		return PIECE_UNKNOWN;
	}
}

/*
 * Explain the wait of @waiting, back to @from_ns. The explanation is the cause that ended the wait,
 * and the activity before this cause. Sending a packet has a cause, too.
 */
static void explain_wait(struct walk *walk, const struct frame *waiting,
			 const struct graph_record *cause, int64_t from_ns)
{
	const struct frame frame = *waiting;
	struct actor who = frame.spot.who;
	uint32_t charge = frame.charge;

	while (walk->now_ns > from_ns && !walk->failed) {
		struct frame on = { .spot.who = who, .charge = charge };
		struct path_piece piece = { .who = who };
		struct sent sent;

		if (!cause || cause->what == CAUSE_UNKNOWN) {
			add_unknown_piece(walk, &on, from_ns,
					  walk->now_ns == walk->path->end_ns && !cause ?
						  REASON_WAITS :
						  REASON_WAKER);
			return;
		}
		if (cause->what == CAUSE_THREAD) {
			const struct spot spot = make_waker_spot(cause, who.host);

			push_walk_frame(walk, spot, from_ns,
					get_path_charge(walk, charge, spot.who));
			return;
		}
		piece.kind = get_piece_kind(cause->what);
		piece.detail = cause->cause.detail;
		if (cause->what != CAUSE_PACKET) {
			add_path_piece(walk, &on, from_ns, piece);
			return;
		}
		if (!find_sent_message(walk, cause, who.host, &sent)) {
			piece.reason = REASON_SENDER;
			add_path_piece(walk, &on, from_ns, piece);
			return;
		}
		piece.has_other = true;
		piece.other = (struct actor){
			sent.host,
			sent.send ? sent.send->cause.thread : NO_THREAD,
		};
		piece.bound_ns = sent.bound_ns;
		piece.is_uncertain = sent.is_uncertain;
		add_path_piece(walk, &on, choose_later_time(sent.time_ns, from_ns), piece);
		if (!sent.send) {
			add_unknown_piece(walk, &on, from_ns, REASON_SENDER);
			return;
		}
		/* Charge the time of the sender's interrupts to the threads that wait for them. */
		cause = sent.send;
		who = (struct actor){ sent.host, NO_THREAD };
		if (++walk->standing > MAX_STANDING)
			add_unknown_piece(walk, &on, from_ns, REASON_CIRCLE);
	}
}

/* Add the time in which a thread was runnable, and the threads that ran on its CPU meanwhile. */
static void add_preempted_piece(struct walk *walk, const struct frame *frame, int64_t from_ns)
{
	const struct spot *spot = &frame->spot;
	const uint32_t host = spot->who.host;
	const struct graph_record *ran = graph_get_record(&walk->path->graph, host,
							  spot->cpu_before);
	const struct path_piece idle = { .who = spot->who, .kind = PIECE_PREEMPTED };

	while (ran && ran->kind == RECORD_STATE && walk->now_ns > from_ns) {
		const int64_t end_ns = correct_or_min(walk, host, ran->at_ns);
		struct path_piece piece = idle;

		if (end_ns <= from_ns)
			break;
		add_path_piece(walk, frame, end_ns, idle);
		piece.has_other = true;
		piece.other = (struct actor){ host, ran->state.thread };
		add_path_piece(walk, frame,
			       choose_later_time(correct_or_min(walk, host, ran->state.begin_ns),
						 from_ns),
			       piece);
		ran = graph_get_record(&walk->path->graph, host, ran->state.cpu_before);
	}
	add_path_piece(walk, frame, from_ns, idle);
}

static bool is_waiting_state(enum sched_state state)
{
	return state == SCHED_SLEEPING || state == SCHED_BLOCKED || state == SCHED_STOPPED;
}

/* Add the part of a state that is within the window, and continue with the previous state. */
static void walk_state(struct walk *walk, struct frame *frame, const struct graph_record *cause,
		       int64_t from_ns)
{
	const struct frame waiting = *frame;
	const struct spot *spot = &waiting.spot;

	if (spot->state == SCHED_UNKNOWN && cause && cause->what == CAUSE_THREAD) {
		/*
		 * Before this time, the thread did not exist, so continue with the thread that
		 * created it.
		 */
		frame->spot = make_waker_spot(cause, spot->who.host);
		frame->charge = get_path_charge(walk, frame->charge, frame->spot.who);
		return;
	}
	frame->spot = make_state_spot(walk, spot->who, spot->before);
	if (spot->state == SCHED_RUNNING)
		add_path_piece(walk, &waiting, from_ns,
			       (struct path_piece){ .who = spot->who, .kind = PIECE_RUNNING });
	else if (spot->state == SCHED_RUNNABLE)
		add_preempted_piece(walk, &waiting, from_ns);
	else if (is_waiting_state(spot->state))
		explain_wait(walk, &waiting, cause, from_ns);
}

/* Add the previous state of the path's current thread. */
static void walk_one_state(struct walk *walk)
{
	struct frame *frame = &walk->frames[walk->num - 1];
	const struct spot *spot = &frame->spot;
	const uint32_t host = spot->who.host;

	if (!spot->is_known || ++walk->standing > MAX_STANDING) {
		add_unknown_piece(walk, frame, frame->from_ns,
				  spot->is_known ? REASON_CIRCLE : REASON_UNSEEN);
		return;
	}
	/* Add the gap between this state and the next one. */
	add_unknown_piece(walk, frame,
			  choose_later_time(correct_or_min(walk, host, spot->end_ns),
					    frame->from_ns),
			  REASON_UNSEEN);
	if (walk->now_ns > frame->from_ns)
		walk_state(walk, frame, graph_get_record(&walk->path->graph, host, spot->cause),
			   choose_later_time(correct_or_min(walk, host, spot->begin_ns),
					     frame->from_ns));
}

/* ---- the whole walk -------------------------------------------------------- */

/*
 * Find the thread's last state in the window, except the state dead. Return false if there is none.
 */
static bool begin_walk(struct walk *walk, struct spot *spot)
{
	const struct critical_path *path = walk->path;
	const struct record_thread *thread = path_find_thread(path, path->who);
	uint32_t number = thread ? thread->last : NO_RECORD;
	const struct graph_record *record;

	while ((record = graph_get_record(&path->graph, path->who.host, number)) &&
	       record->what == SCHED_DEAD)
		number = record->state.before;
	if (!record)
		return false;
	*spot = make_state_spot(walk, path->who, number);
	walk->now_ns = correct_or_min(walk, path->who.host, record->at_ns);
	return true;
}

/* Return the begin of a thread's first state, or of the events of its host. */
static int64_t find_first_time(const struct walk *walk, struct spot spot)
{
	const struct graph_host *host = &walk->path->graph.hosts[spot.who.host];
	int64_t begin_ns;

	while (graph_get_record(&walk->path->graph, spot.who.host, spot.before))
		spot = make_state_spot(walk, spot.who, spot.before);
	begin_ns = correct_or_min(walk, spot.who.host, spot.begin_ns);
	return begin_ns != INT64_MIN ? begin_ns :
				       correct_or_min(walk, spot.who.host, host->records[0].at_ns);
}

static void reverse_pieces(struct critical_path *path)
{
	for (size_t i = 0; i < path->num_pieces / 2; i++) {
		const size_t j = path->num_pieces - 1 - i;
		const struct path_piece piece = path->pieces[i];

		path->pieces[i] = path->pieces[j];
		path->pieces[j] = piece;
	}
}

bool path_walk(struct critical_path *path)
{
	struct walk walk = { .path = path };
	struct spot spot;
	uint32_t charge = get_path_charge(&walk, NO_CHARGE, path->who);

	if (!begin_walk(&walk, &spot))
		return !walk.failed;
	path->end_ns = walk.now_ns;
	path->begin_ns = choose_later_time(find_first_time(&walk, spot), path->base->begin_ns);
	push_walk_frame(&walk, spot, path->begin_ns, charge);
	while (walk.num && !walk.failed) {
		if (walk.now_ns <= walk.frames[walk.num - 1].from_ns)
			walk.num--;
		else
			walk_one_state(&walk);
	}
	free(walk.frames);
	reverse_pieces(path);
	return !walk.failed;
}

/* ---- words ----------------------------------------------------------------- */

const char *path_get_kind_name(enum piece_kind kind)
{
	static const char *const names[] = {
		[PIECE_RUNNING] = "running", [PIECE_PREEMPTED] = "preempted",
		[PIECE_DISK] = "disk",	     [PIECE_TIMER] = "timer",
		[PIECE_NETWORK] = "network", [PIECE_INTERRUPT] = "interrupt",
		[PIECE_UNKNOWN] = "unknown",
	};

	return names[kind];
}

const char *path_get_reason_text(enum piece_reason reason)
{
	static const char *const names[] = {
		[REASON_NONE] = "",
		[REASON_WAITS] = "still waiting at the end",
		[REASON_UNSEEN] = "no events of this thread",
		[REASON_WAKER] = "the waker is unknown",
		[REASON_SENDER] = "the sender of the packet is unknown",
		[REASON_CIRCLE] = "the clocks are inconsistent",
	};

	return names[reason];
}

const struct record_thread *path_find_thread(const struct critical_path *path, struct actor who)
{
	const struct graph_host *host = &path->graph.hosts[who.host];

	return who.thread < host->num_threads && host->threads[who.thread] ?
		       &host->threads[who.thread]->thread :
		       NULL;
}
