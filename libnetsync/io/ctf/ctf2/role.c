// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Translate the roles of fields (CTF2-SPEC-2.0, 5.6.1 and 5.8.1) to names that have the same
 * meaning in CTF 1.8.
 */
#include <string.h>

#include "io/ctf/ctf2/internal.h"

static const struct meaning {
	const char *origin;
	const char *role;
	const char *name;
	bool is_clock;
} meanings[] = {
	{ "packet-header", "packet-magic-number", "magic", false },
	{ "packet-header", "metadata-stream-uuid", "uuid", false },
	{ "packet-header", "data-stream-class-id", "stream_id", false },
	{ "packet-header", "data-stream-id", "stream_instance_id", false },
	{ "packet-context", "packet-total-length", "packet_size", false },
	{ "packet-context", "packet-content-length", "content_size", false },
	{ "packet-context", "default-clock-timestamp", "timestamp_begin", true },
	{ "packet-context", "packet-end-default-clock-timestamp", "timestamp_end", true },
	{ "packet-context", "discarded-event-record-counter-snapshot", "events_discarded", false },
	{ "packet-context", "packet-sequence-number", "packet_seq_num", false },
	{ "event-record-header", "event-record-class-id", "id", false },
	{ "event-record-header", "default-clock-timestamp", "timestamp", true },
};

#define NUM_MEANINGS (sizeof(meanings) / sizeof(meanings[0]))

bool ctf2_read_role(struct ctf2 *p, struct json_object *class, struct made *made, bool *is_clock)
{
	struct json_object *roles = NULL, *role;
	const char *text;

	*is_clock = false;
	if (!ctf2_get_typed(p, class, "roles", json_type_array, &roles))
		return false;
	if (!roles || !json_object_array_length(roles))
		return true;
	role = json_object_array_get_idx(roles, 0);
	if (!json_object_is_type(role, json_type_string))
		return ctf2_fail_damaged(p, "an invalid role");
	text = json_object_get_string(role);
	if (json_object_array_length(roles) > 1)
		return ctf2_refuse(p, "several roles for one field");
	for (size_t i = 0; i < NUM_MEANINGS; i++) {
		if (strcmp(meanings[i].origin, p->origin) || strcmp(meanings[i].role, text))
			continue;
		made->name = meanings[i].name;
		*is_clock = meanings[i].is_clock;
		return true;
	}
	return ctf2_refuse(p, "the role \"%.40s\" in %s", text, p->origin);
}

bool ctf2_has_meaning(const struct ctf2 *p, const char *name)
{
	for (size_t i = 0; i < NUM_MEANINGS; i++)
		if (!strcmp(meanings[i].origin, p->origin) && !strcmp(meanings[i].name, name))
			return true;
	return false;
}
