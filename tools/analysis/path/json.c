// SPDX-License-Identifier: GPL-2.0-only
/* Write all pieces and the content of the table as JSON, for other programs. */
#include <errno.h>

#include "common/json-writer.h"
#include "sums.h"
#include "view.h"

/* If the actor has no thread, tid and name are null. */
static void put_actor(struct json_writer *w, json_object *object, const struct critical_path *path,
		      struct actor who)
{
	const struct record_thread *thread = path_find_thread(path, who);

	json_put(w, object, "host", new_json_string(path->base->hosts[who.host].name));
	if (!thread) {
		json_put_null(w, object, "tid");
		json_put_null(w, object, "name");
		return;
	}
	json_put_number(w, object, "tid", thread->tid);
	json_put(w, object, "name", new_json_string(thread->name));
}

/* Add the members of a piece to its JSON object. */
static void put_piece_members(struct json_writer *w, json_object *object,
			      const struct critical_path *path, const struct path_piece *piece)
{
	json_object *other;

	put_actor(w, object, path, piece->who);
	json_put(w, object, "kind", new_json_string(path_get_kind_name(piece->kind)));
	json_put(w, object, "reason", new_json_string(path_get_reason_text(piece->reason)));
	if (piece->kind == PIECE_DISK || piece->kind == PIECE_INTERRUPT)
		json_put_number(w, object, "number", piece->detail);
	if (!piece->has_other) {
		json_put_null(w, object, "other");
		return;
	}
	other = json_object_new_object();
	put_actor(w, other, path, piece->other);
	json_put(w, object, "other", other);
}

static json_object *make_sum_object(struct json_writer *w, const struct critical_path *path,
				    const struct sum *sum)
{
	json_object *object = json_object_new_object();

	put_piece_members(w, object, path, sum->piece);
	json_put_number(w, object, "times", sum->times);
	json_put_number(w, object, "total_ns", sum->total_ns);
	json_put_number(w, object, "longest_ns", sum->longest_ns);
	return object;
}

static json_object *make_piece_object(struct json_writer *w, const struct critical_path *path,
				      const struct path_piece *piece)
{
	json_object *object = json_object_new_object();

	json_put_time(w, object, "begin_ns", piece->begin_ns);
	json_put_time(w, object, "end_ns", piece->end_ns);
	put_piece_members(w, object, path, piece);
	if (piece->kind == PIECE_NETWORK && !piece->reason) {
		json_put_time(w, object, "bound_ns", piece->bound_ns);
		json_put(w, object, "order_open", json_object_new_boolean(piece->is_uncertain));
	}
	return object;
}

static json_object *make_charge_object(struct json_writer *w, const struct critical_path *path,
				       uint32_t number)
{
	const struct charge *charge = &path->charges[number];
	json_object *object = json_object_new_object();
	const uint64_t total_ns = charge_compute_total(path, number);
	const uint64_t self_ns = charge->ns[PIECE_RUNNING];

	put_actor(w, object, path, charge->who);
	json_put_number(w, object, "depth", charge->depth);
	json_put_number(w, object, "self_ns", self_ns);
	json_put_number(w, object, "on_behalf_ns", total_ns - self_ns);
	json_put_number(w, object, "total_ns", total_ns);
	for (enum piece_kind kind = PIECE_PREEMPTED; kind < NUM_PIECES; kind++) {
		char key[32];

		snprintf(key, sizeof(key), "%s_ns", path_get_kind_name(kind));
		json_put_number(w, object, key, charge->ns[kind]);
	}
	return object;
}

static json_object *make_path_host_object(struct json_writer *w, const struct critical_path *path,
					  uint32_t host)
{
	const struct record_host *info = graph_get_host(&path->graph, host);
	json_object *object = json_object_new_object();

	json_put(w, object, "name", new_json_string(path->base->hosts[host].name));
	json_put(w, object, "corrected",
		 json_object_new_boolean(path->base->hosts[host].clock != NULL));
	json_put_number(w, object, "losses", info ? info->losses : 0);
	return object;
}

static json_object *make_path_object(struct json_writer *w, const struct critical_path *path,
				     const struct sums *sums)
{
	json_object *object = json_object_new_object(), *list;

	json_put(w, object, "reference", new_json_string(path->base->reference));
	put_actor(w, object, path, path->who);
	json_put_time(w, object, "begin_ns", path->begin_ns);
	json_put_time(w, object, "end_ns", path->end_ns);
	list = json_object_new_array();
	for (uint32_t i = 0; i < path->base->num_hosts; i++)
		json_append(w, list, make_path_host_object(w, path, i));
	json_put(w, object, "hosts", list);
	list = json_object_new_array();
	for (size_t i = 0; i < sums->num; i++)
		json_append(w, list, make_sum_object(w, path, &sums->list[i]));
	json_put(w, object, "sums", list);
	list = json_object_new_array();
	for (size_t i = 0; i < path->num_pieces; i++)
		json_append(w, list, make_piece_object(w, path, &path->pieces[i]));
	json_put(w, object, "pieces", list);
	list = json_object_new_array();
	for (uint32_t i = 0; i != NO_CHARGE; i = charge_get_next(path, i))
		json_append(w, list, make_charge_object(w, path, i));
	json_put(w, object, "account", list);
	return object;
}

bool path_write_json(FILE *out, const struct critical_path *path)
{
	struct json_writer w = { .failed = false };
	struct sums sums;
	bool ok;

	errno = 0;
	if (!sums_compute(&sums, path))
		return false;
	ok = json_print_root(&w, out, make_path_object(&w, path, &sums));
	sums_release(&sums);
	return ok;
}
