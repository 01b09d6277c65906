// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the places of both ends of late messages in the traces. Captures are read again, and the
 * frames with the time of an end are examined. If several frames have this time, use those whose
 * packets agree best with the message and with each other.
 */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "../../libnetsync/util/array.h"
#include "common/complain.h"
#include "common/input.h"
#include "common/now.h"
#include "common/progress.h"
#include "common/result-info.h"
#include "details.h"

/*
 * Maximum number of frames with the time of one end. In bursts with timestamps in microseconds, a
 * few frames have the same time. Chosen.
 */
#define MAX_AT_ONCE 32

/*
 * A packet may be received later than the end of its capture by at most this, ns. The end is
 * rounded down to a tick, but the packet's time is the end of the tick. Chosen: no capture has a
 * resolution coarser than seconds.
 */
#define CAPTURE_SLACK NS_PER_S

/* Number of frames between two checks of the clock, for the progress. Chosen. */
#define FRAMES_PER_LOOK 16384

struct found_frame {
	struct trace_place place;
	struct netsync_packet packet;
	bool is_best;
};

/* An end of a late message. */
struct sought_end {
	struct late_message *late;
	unsigned int end; /* SENDER or RECEIVER */
	uint32_t host;
	int64_t time_ns; /* time on the host's clock */
	struct found_frame *found;
	size_t num_found;
};

struct place_search {
	struct sought_end *ends;    /* two ends for each message, next to each other */
	struct sought_end **sorted; /* the ends in order of host, then of time */
	size_t num_ends;
	/* The current capture, and the ends that may be in it. */
	struct netsync_io_trace trace;
	uint32_t file;
	struct sought_end **first;
	size_t num;
	uint64_t frames;
	struct progress progress;
	bool no_memory;
};

/* ---- ends that are sought --------------------------------------------------- */

static int compare_sought(const void *a, const void *b)
{
	const struct sought_end *p = *(struct sought_end *const *)a;
	const struct sought_end *q = *(struct sought_end *const *)b;

	if (p->host != q->host)
		return p->host < q->host ? -1 : 1;
	return (p->time_ns > q->time_ns) - (p->time_ns < q->time_ns);
}

static void add_sought_ends(struct place_search *search, struct late_message *late)
{
	const struct spooled *message = &late->packet.message;

	search->ends[search->num_ends++] = (struct sought_end){
		.late = late,
		.end = SENDER,
		.host = message->from,
		.time_ns = message->send_ns,
	};
	search->ends[search->num_ends++] = (struct sought_end){
		.late = late,
		.end = RECEIVER,
		.host = message->to,
		.time_ns = message->recv_ns,
	};
}

static bool list_sought_ends(struct place_search *search, struct details *details)
{
	size_t num = 0;

	for (size_t i = 0; i < details->num_ways; i++)
		num += 2 * details->ways[i].num_late;
	search->ends = calloc(num + 1, sizeof(*search->ends));
	search->sorted = calloc(num + 1, sizeof(*search->sorted));
	if (!search->ends || !search->sorted)
		return false;
	for (size_t i = 0; i < details->num_ways; i++)
		for (size_t j = 0; j < details->ways[i].num_late; j++)
			add_sought_ends(search, &details->ways[i].late[j]);
	for (size_t i = 0; i < num; i++)
		search->sorted[i] = &search->ends[i];
	qsort(search->sorted, num, sizeof(*search->sorted), compare_sought);
	return true;
}

/* Among the sorted ends of this host, return the first one at this time or later. */
static struct sought_end **find_first_sought_end(struct sought_end **sorted, size_t num,
						 uint32_t host, int64_t time_ns)
{
	struct sought_end key = { .host = host, .time_ns = time_ns }, *at = &key;

	while (num) {
		const size_t half = num / 2;

		if (compare_sought(&sorted[half], &at) < 0) {
			sorted += half + 1;
			num -= half + 1;
		} else {
			num = half;
		}
	}
	return sorted;
}

/* ---- frames -------------------------------------------------------------- */

/* Add a frame to the candidates of an end. Return false if out of memory. */
static bool add_found_frame(const struct place_search *search, struct sought_end *end,
			    const struct netsync_io_frame *frame)
{
	const uint8_t protocol = end->late->packet.protocol;
	struct found_frame *found;

	if (end->num_found == MAX_AT_ONCE || (protocol && protocol != frame->packet->protocol))
		return true;
	found = array_add(&end->found, end->num_found, sizeof(*end->found));
	if (!found)
		return false;
	found->place = (struct trace_place){ search->file, frame->time_ns, frame->number };
	found->packet = *frame->packet;
	end->num_found++;
	return true;
}

/*
 * Add a frame to the candidates of all ends of this kind at a time of the trace. Return
 * false if out of memory.
 */
static bool add_found_frames_at(const struct place_search *search, unsigned int kind,
				int64_t time_ns, const struct netsync_io_frame *frame)
{
	struct sought_end **last = search->first + search->num, **at;

	if (__builtin_add_overflow(time_ns, search->trace.shift_ns, &time_ns))
		return true;
	at = find_first_sought_end(search->first, search->num, search->trace.host, time_ns);
	for (; at < last && (*at)->time_ns == time_ns; at++)
		if ((*at)->end == kind && !add_found_frame(search, *at, frame))
			return false;
	return true;
}

static int match_sought_frame(void *data, const struct netsync_io_frame *frame)
{
	struct place_search *search = data;
	int64_t end_ns;

	if (search->frames++ % FRAMES_PER_LOOK == 0)
		progress_show(&search->progress, 0, 0);
	if (__builtin_add_overflow(frame->time_ns, frame->tick_ns - 1, &end_ns))
		end_ns = frame->time_ns;
	search->no_memory = !add_found_frames_at(search, SENDER, frame->time_ns, frame) ||
			    !add_found_frames_at(search, RECEIVER, end_ns, frame);
	return search->no_memory;
}

/* Set search->first and search->num to the ends that a trace may contain, judging by its span. */
static void mark_ends_of_trace(struct place_search *search, const struct netsync_io_trace *trace)
{
	const int64_t last_ns = !strcmp(trace->format, "pcap") &&
						trace->last_ns < INT64_MAX - CAPTURE_SLACK ?
					trace->last_ns + CAPTURE_SLACK :
					trace->last_ns;
	struct sought_end **end = search->sorted + search->num_ends;

	search->first = find_first_sought_end(search->sorted, search->num_ends, trace->host,
					      trace->first_ns);
	search->num = last_ns == INT64_MAX ?
			      (size_t)(end - search->first) :
			      (size_t)(find_first_sought_end(search->first,
							     (size_t)(end - search->first),
							     trace->host, last_ns + 1) -
				       search->first);
}

/*
 * Read all captures. If a capture cannot be read a second time, print a warning. Return false if
 * out of memory.
 */
static bool find_frames_in_captures(struct place_search *search, struct netsync_io *io)
{
	for (uint32_t i = 0; i < netsync_io_num_traces(io); i++) {
		search->trace = get_io_trace_info(io, i);
		search->file = i;
		if (strcmp(search->trace.format, "pcap") || !search->trace.packets)
			continue;
		mark_ends_of_trace(search, &search->trace);
		if (search->num &&
		    netsync_io_read_frames(io, search->trace.path, match_sought_frame, search)) {
			if (search->no_memory)
				return false;
			complain("warning: cannot find the frames of late messages: %s",
				 netsync_io_error(io));
		}
	}
	return true;
}

/* ---- the best of several frames ------------------------------------------- */

/* Return the number of known fields of a message that agree with a packet. */
static int compute_agreement_with(const struct spooled_packet *message,
				  const struct netsync_packet *pkt)
{
	const uint32_t fields = message->fields & pkt->fields;

	return ((fields & NETSYNC_HAS_ADDRS) &&
		!memcmp(message->saddr, pkt->saddr, sizeof(pkt->saddr)) &&
		!memcmp(message->daddr, pkt->daddr, sizeof(pkt->daddr))) +
	       ((fields & NETSYNC_HAS_PORTS) && message->sport == pkt->sport &&
		message->dport == pkt->dport) +
	       ((fields & NETSYNC_HAS_LEN) && message->len == pkt->len);
}

/* Return whether two packets agree in the fields that distinguish packets of one flow. */
static bool has_same_identity(const struct netsync_packet *a, const struct netsync_packet *b)
{
	const uint32_t fields = a->fields & b->fields;

	if (a->protocol == IPPROTO_TCP)
		return a->tcp.seq == b->tcp.seq && a->tcp.ack == b->tcp.ack;
	if (a->protocol == IPPROTO_UDP)
		return (fields & NETSYNC_HAS_DIGEST) && a->udp.digest == b->udp.digest;
	if (a->protocol == IPPROTO_SCTP)
		return a->sctp.vtag == b->sctp.vtag && a->sctp.tsn == b->sctp.tsn;
	return a->icmp.id == b->icmp.id && a->icmp.seq == b->icmp.seq &&
	       a->icmp.type == b->icmp.type;
}

/* This exceeds the score for the agreement of all other fields of two frames with a message. */
#define SAME_PACKET 8

/*
 * Return a score for how well two frames agree as ends of a message. One of the two frames may be
 * missing.
 */
static int rate_place_agreement(const struct late_message *late, const struct found_frame *sent,
				const struct found_frame *received)
{
	int score = 0;

	if (sent)
		score += compute_agreement_with(&late->packet, &sent->packet);
	if (received)
		score += compute_agreement_with(&late->packet, &received->packet);
	if (!sent || !received)
		return score;
	/* Address translation can change the other fields. */
	if (has_same_identity(&sent->packet, &received->packet))
		score += SAME_PACKET;
	return score + ((sent->packet.fields & received->packet.fields & NETSYNC_HAS_IP_ID) &&
			sent->packet.ip_id == received->packet.ip_id);
}

static struct found_frame *find_found_frame(const struct sought_end *end, size_t number)
{
	return number < end->num_found ? &end->found[number] : NULL;
}

/*
 * Compare all pairs of frames. If @best is 0, return the best score. Otherwise, mark the frames
 * that have this score.
 */
static int compare_frames(const struct sought_end *sender, const struct sought_end *receiver,
			  int best)
{
	int found = 0;

	for (size_t i = 0; !i || i < sender->num_found; i++)
		for (size_t j = 0; !j || j < receiver->num_found; j++) {
			struct found_frame *sent = find_found_frame(sender, i);
			struct found_frame *received = find_found_frame(receiver, j);
			const int score = rate_place_agreement(sender->late, sent, received);

			found = score > found ? score : found;
			if (sent)
				sent->is_best |= score >= best;
			if (received)
				received->is_best |= score >= best;
		}
	return found;
}

/* Return how many earlier messages in the list have the same times at both ends. */
static size_t count_alike_messages(const struct place_search *search, size_t number)
{
	const struct spooled *message = &search->ends[number].late->packet.message;
	size_t num = 0;

	for (size_t i = number; i >= 2; i -= 2) {
		const struct late_message *before = search->ends[i - 2].late;

		if (before->packet.message.from != message->from ||
		    before->packet.message.to != message->to ||
		    before->point.after_ns != search->ends[number].late->point.after_ns)
			break;
		num += before->packet.message.send_ns == message->send_ns;
	}
	return num;
}

/* Keep those of an end's best frames that contain this packet. */
static void keep_best_frames_of_packet(const struct sought_end *end,
				       const struct netsync_packet *pkt)
{
	for (size_t i = 0; i < end->num_found; i++)
		end->found[i].is_best &= has_same_identity(&end->found[i].packet, pkt);
}

/*
 * Among the different packets of an end's best frames, return packet @number, or the last one if
 * there are fewer.
 */
static const struct netsync_packet *choose_best_packet(const struct sought_end *end, size_t number)
{
	const struct netsync_packet *pkt = NULL;

	for (size_t i = 0; i < end->num_found; i++) {
		const struct found_frame *found = &end->found[i];

		if (!found->is_best || (pkt && has_same_identity(pkt, &found->packet)))
			continue;
		pkt = &found->packet;
		if (!number--)
			break;
	}
	return pkt;
}

static void keep_frame_places(const struct sought_end *end)
{
	struct late_message *late = end->late;

	for (size_t i = 0; i < end->num_found; i++) {
		const struct found_frame *found = &end->found[i];

		if (!found->is_best || late->num_places[end->end] == MAX_PLACES)
			continue;
		if (!late->seen.size)
			late->seen = found->packet;
		late->places[end->end][late->num_places[end->end]++] = found->place;
	}
}

static void choose_found_frames(struct place_search *search)
{
	for (size_t i = 0; i < search->num_ends; i += 2) {
		struct sought_end *ends = &search->ends[i];
		const int best = compare_frames(&ends[0], &ends[1], INT32_MAX);

		compare_frames(&ends[0], &ends[1], best);
		/*
		 * In a burst, several packets may have the same times at both ends. Messages do not
		 * identify their packets, so assign a different packet to each message.
		 */
		if (best >= SAME_PACKET) {
			const struct netsync_packet *pkt = choose_best_packet(
				&ends[0], count_alike_messages(search, i));

			keep_best_frames_of_packet(&ends[0], pkt);
			keep_best_frames_of_packet(&ends[1], pkt);
		}
		keep_frame_places(&ends[0]);
		keep_frame_places(&ends[1]);
	}
}

/* ---- traces other than captures ----------------------------------------- */

static void add_end_place(struct sought_end *end, uint32_t file, int64_t shift_ns)
{
	struct late_message *late = end->late;
	struct trace_place *place = &late->places[end->end][late->num_places[end->end]];

	if (late->num_places[end->end] == MAX_PLACES)
		return;
	*place = (struct trace_place){ .file = file };
	if (!__builtin_sub_overflow(end->time_ns, shift_ns, &place->time_ns))
		late->num_places[end->end]++;
}

/* If an end has no frame, assign it to a trace of its host that covers the end's time. */
static void add_places_in_traces(struct place_search *search, const struct netsync_io *io)
{
	for (uint32_t i = 0; i < netsync_io_num_traces(io); i++) {
		const struct netsync_io_trace trace = get_io_trace_info(io, i);

		if (!trace.packets)
			continue;
		mark_ends_of_trace(search, &trace);
		for (size_t j = 0; j < search->num; j++)
			if (!search->first[j]->num_found)
				add_end_place(search->first[j], i, trace.shift_ns);
	}
}

/* Assign ends that are in no trace to the text files. */
static void add_places_in_texts(struct place_search *search, const struct input *input,
				const struct netsync_io *io)
{
	const uint32_t num_traces = netsync_io_num_traces(io);

	for (size_t i = 0; i < search->num_ends; i++) {
		struct sought_end *end = &search->ends[i];

		if (end->late->num_places[end->end])
			continue;
		for (int j = 0; j < input->num_texts; j++)
			if (input->texts[j].add != netsync_io_add_clocks)
				add_end_place(end, num_traces + (uint32_t)j, 0);
	}
}

bool details_find_places(struct details *details, const struct input *input, struct netsync_io *io)
{
	struct place_search search = { .no_memory = false };
	bool ok = list_sought_ends(&search, details);

	progress_start(&search.progress, "looking for frames");
	ok = ok && find_frames_in_captures(&search, io);
	progress_end(&search.progress);
	if (ok) {
		choose_found_frames(&search);
		add_places_in_traces(&search, io);
		add_places_in_texts(&search, input, io);
	} else {
		complain_no_memory();
	}
	for (size_t i = 0; i < search.num_ends && search.ends; i++)
		free(search.ends[i].found);
	free(search.ends);
	free(search.sorted);
	return ok;
}
