// SPDX-License-Identifier: GPL-2.0-only
/* Compute UUIDs. With these, readers of corrected copies distinguish machines. */
#include <string.h>
#include <uuid.h>

#include "result-file.h"

/* Namespace for UUIDs that are derived from host names (RFC 9562, version 5). Chosen at random. */
static const uint8_t namespace[MODEL_UUID_SIZE] = {
	0xa4, 0x9a, 0x63, 0x39, 0x8e, 0x33, 0x43, 0xb6,
	0xac, 0xec, 0xf6, 0xef, 0xd0, 0xde, 0x58, 0x64,
};

/*
 * Return the name of a host's machine. All hosts on one machine (its clocks and its network
 * namespaces) have the machine's name.
 */
static const char *get_machine_name(const struct model_host *host)
{
	return host->has_traces ? host->clock.host_name : host->name;
}

static bool is_uuid_shared(const struct model *model, const struct model_host *host)
{
	for (size_t i = 0; i < model->num_hosts; i++) {
		const struct model_host *other = &model->hosts[i];

		if (other->clock.has_uuid &&
		    !memcmp(other->clock.uuid, host->clock.uuid, MODEL_UUID_SIZE) &&
		    strcmp(get_machine_name(other), get_machine_name(host)))
			return true;
	}
	return false;
}

void model_make_machine_uuid(const struct model *model, const struct model_host *host,
			     uint8_t uuid[MODEL_UUID_SIZE])
{
	const bool has_uuid = host->clock.has_uuid;
	const char *name = get_machine_name(host);

	if (has_uuid && !is_uuid_shared(model, host))
		memcpy(uuid, host->clock.uuid, MODEL_UUID_SIZE);
	else
		uuid_generate_sha1(uuid, has_uuid ? host->clock.uuid : namespace, name,
				   strlen(name));
}
