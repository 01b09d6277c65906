// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write perfetto_manifest.json (version 1), which tells Perfetto to which machine each member of an
 * archive belongs. A member that is missing here, or whose name differs in one byte, would be
 * displayed at wrong times, without an error.
 */
#include <stdlib.h>

#include "archive.h"
#include "common/json-writer.h"

#define MANIFEST_VERSION 1

static json_object *new_json_name(struct json_writer *w, const char *name)
{
	json_object *object = json_object_new_object();

	json_put(w, object, "name", new_json_string(name));
	return object;
}

static json_object *new_json_clock(struct json_writer *w, const char *clock, const char *machine)
{
	json_object *object = json_object_new_object();

	json_put(w, object, "clock", json_object_new_string(clock));
	json_put(w, object, "file", json_object_new_string(ARCHIVE_CLOCKS));
	json_put(w, object, "machine", new_json_string(machine));
	return object;
}

/* List all machines, by their numbers in the member with the clocks. */
static json_object *new_json_machines(struct json_writer *w,
				      const struct archive_machines *machines)
{
	json_object *array = json_object_new_array();
	json_object *reference = new_json_name(w, machines->reference);

	json_put_number(w, reference, "id", 0);
	json_append(w, array, reference);
	for (size_t i = 0; i < machines->num; i++) {
		json_object *machine;

		if (!machines->list[i].id)
			continue;
		machine = new_json_name(w, machines->list[i].name);
		json_put_number(w, machine, "id", machines->list[i].id);
		json_append(w, array, machine);
	}
	return array;
}

static json_object *new_json_member(struct json_writer *w, const struct archive *archive,
				    const struct archive_member *member)
{
	const char *name = member->machine ? member->machine->name : archive->machines.reference;
	json_object *object = json_object_new_object(), *clocks;

	json_put(w, object, "path", json_object_new_string(member->name));
	if (member->kind == MEMBER_CLOCKS) {
		json_put(w, object, "machines", new_json_machines(w, &archive->machines));
		return object;
	}
	json_put(w, object, "machine", new_json_name(w, name));
	if (!member->is_pinned)
		return object;
	clocks = json_object_new_object();
	json_put(w, clocks, "sync_to", new_json_clock(w, "MONOTONIC", name));
	json_put(w, clocks, "offset_ns", json_object_new_int64(member->offset_ns));
	json_put(w, object, "clocks", clocks);
	return object;
}

static void put_machine_attribute(struct json_writer *w, json_object *attributes, const char *what,
				  const char *machine, int64_t value)
{
	char *key;

	if (asprintf(&key, "netsync.%s.%s", what, machine) < 0) {
		w->failed = true;
		return;
	}
	json_put(w, attributes, key, json_object_new_int64(value));
	free(key);
}

/* Values that Perfetto displays, and has in its table "metadata". */
static json_object *new_json_attributes(struct json_writer *w,
					const struct archive_machines *machines)
{
	json_object *attributes = json_object_new_object();

	json_put(w, attributes, "netsync.version", json_object_new_string(NETSYNC_VERSION));
	json_put(w, attributes, "netsync.reference", new_json_string(machines->reference));
	for (size_t i = 0; i < machines->num; i++) {
		const struct archive_machine *machine = &machines->list[i];

		if (!machine->id)
			continue;
		if (machine->bound_ns != NETSYNC_UNKNOWN)
			put_machine_attribute(w, attributes, "bound_ns", machine->name,
					      machine->bound_ns);
		put_machine_attribute(w, attributes, "display_error_ns", machine->name,
				      stairs_get_error(&machine->stairs));
	}
	return attributes;
}

bool manifest_write(FILE *out, const struct archive *archive)
{
	struct json_writer w = { 0 };
	json_object *root = json_object_new_object(), *manifest = json_object_new_object();
	json_object *files = json_object_new_array();

	json_put(&w, root, "perfetto_manifest", manifest);
	json_put_number(&w, manifest, "version", MANIFEST_VERSION);
	json_put(&w, manifest, "trace_time",
		 new_json_clock(&w, "BOOTTIME", archive->machines.reference));
	json_put(&w, manifest, "files", files);
	for (size_t i = 0; i < archive->num_members; i++)
		json_append(&w, files, new_json_member(&w, archive, &archive->members[i]));
	json_put(&w, manifest, "attributes", new_json_attributes(&w, &archive->machines));
	return json_print_root(&w, out, root);
}
