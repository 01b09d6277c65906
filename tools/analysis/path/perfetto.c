// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write a path for Perfetto and Chrome: slices of the threads on the path, and arrows
 * from each slice to the next one.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "../../../libnetsync/util/array.h"
#include "view.h"

/*
 * Writes the path. The array tracks contains the threads that have tracks, which are
 * numbered from 1.
 */
struct path_writer {
	const struct critical_path *path;
	struct timeline timeline;
	struct actor *tracks;
	size_t num;
	uint64_t arrows;
};

/* Find the track of an actor, or add it. Return false if out of memory. */
static bool find_actor_track(struct path_writer *writer, struct actor who, struct track *track)
{
	const struct record_thread *thread = path_find_thread(writer->path, who);
	struct actor *last;
	char name[64];
	uint32_t i = 0;

	while (i < writer->num &&
	       (writer->tracks[i].host != who.host || writer->tracks[i].thread != who.thread))
		i++;
	*track = (struct track){ who.host, TRACK_OBJECT, i + 1 };
	if (i < writer->num)
		return true;
	last = array_add(&writer->tracks, writer->num, sizeof(*last));
	if (!last)
		return false;
	*last = who;
	writer->num++;
	if (thread)
		snprintf(name, sizeof(name), "%s (%" PRIu32 ")", thread->name, thread->tid);
	else
		snprintf(name, sizeof(name), "interrupts");
	writer->timeline.format->name(&writer->timeline, *track, name);
	return true;
}

static void put_piece_slice(struct path_writer *writer, const struct path_piece *piece,
			    struct track track)
{
	const struct record_thread *other = piece->has_other ?
						    path_find_thread(writer->path, piece->other) :
						    NULL;
	struct arg args[4];
	struct timeline_event event = {
		.track = track,
		.time_ns = piece->begin_ns,
		.category = "path",
		.name = path_get_kind_name(piece->kind),
		.args = args,
	};

	if (piece->reason)
		args[event.num_args++] = (struct arg){
			"reason",
			ARG_LABEL,
			{ path_get_reason_text(piece->reason) },
		};
	if (piece->has_other)
		args[event.num_args++] = (struct arg){
			"other_host",
			ARG_LABEL,
			{ writer->path->base->hosts[piece->other.host].name },
		};
	if (other)
		args[event.num_args++] = (struct arg){
			"other_thread",
			ARG_LABEL,
			{ other->name },
		};
	if (piece->kind == PIECE_NETWORK && !piece->reason && piece->bound_ns != NETSYNC_UNKNOWN)
		args[event.num_args++] = (struct arg){
			"bound_ns",
			ARG_SIGNED,
			{ .integer = piece->bound_ns },
		};
	writer->timeline.format->slice(&writer->timeline, &event, piece->end_ns);
}

/* Put an arrow from a piece of the path to the next one. */
static void put_arrow(struct path_writer *writer, const struct path_piece *from,
		      struct track from_track, const struct path_piece *to, struct track to_track)
{
	const struct timebase_host *hosts = writer->path->base->hosts;
	const struct timeline_message message = {
		.id = ++writer->arrows,
		.name = "path",
		.sent = from_track,
		.received = to_track,
		.sent_ns = from->end_ns,
		.received_ns = to->begin_ns,
		.from = hosts[from->who.host].name,
		.to = hosts[to->who.host].name,
	};

	writer->timeline.format->message(&writer->timeline, &message);
}

static bool put_pieces(struct path_writer *writer)
{
	const struct critical_path *path = writer->path;
	struct track before = { 0 };

	for (size_t i = 0; i < path->num_pieces; i++) {
		const struct path_piece *piece = &path->pieces[i];
		struct track track;

		if (!find_actor_track(writer, piece->who, &track))
			return false;
		put_piece_slice(writer, piece, track);
		if (i && (track.host != before.host || track.number != before.number))
			put_arrow(writer, piece - 1, before, piece, track);
		before = track;
	}
	return true;
}

bool path_write_perfetto(FILE *out, const struct path_view *view)
{
	struct path_writer writer = { .path = view->path };
	const bool ok = timeline_open(&writer.timeline, view->timeline, out, view->path->base) &&
			put_pieces(&writer);

	/* The only possible error here is a lack of memory. */
	writer.timeline.failed |= !ok;
	free(writer.tracks);
	return timeline_close(&writer.timeline, ok, "segments");
}
