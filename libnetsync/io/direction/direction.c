// SPDX-License-Identifier: LGPL-2.1-or-later
/* Determine the direction of a captured packet from the addresses of its host. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/direction/direction.h"
#include "io/packet/address.h"
#include "util/array.h"

/*
 * Maximum number of addresses of a host. Without a limit, a damaged file could make searches slow.
 * Chosen.
 */
#define MAX_ADDRESSES 1024

static size_t get_address_size(const struct address *address)
{
	return address->is_mac ? MAC_SIZE : sizeof(address->bytes);
}

static bool has_own_address(const struct own_addresses *own, bool is_mac, const uint8_t *bytes)
{
	for (size_t i = 0; i < own->num; i++) {
		const struct address *address = &own->address[i];

		if (address->is_mac == is_mac &&
		    !memcmp(address->bytes, bytes, get_address_size(address)))
			return true;
	}
	return false;
}

static bool has_own_macs(const struct own_addresses *own)
{
	for (size_t i = 0; i < own->num; i++)
		if (own->address[i].is_mac)
			return true;
	return false;
}

struct own_addresses *own_addresses_find(const struct own_addresses_list *owns,
					 const char *host_name)
{
	for (size_t i = 0; i < owns->num; i++)
		if (!strcmp(owns->own[i].host_name, host_name))
			return &owns->own[i];
	return NULL;
}

struct own_addresses *own_addresses_find_or_add(struct own_addresses_list *owns,
						const char *host_name)
{
	struct own_addresses *own = own_addresses_find(owns, host_name);

	if (own || array_grow(&owns->own, &owns->room, owns->num, sizeof(*own)))
		return own;
	own = &owns->own[owns->num];
	*own = (struct own_addresses){ .host_name = strdup(host_name) };
	if (!own->host_name)
		return NULL;
	owns->num++;
	return own;
}

int own_addresses_add(struct own_addresses *own, const struct address *address)
{
	if (own->num == MAX_ADDRESSES || has_own_address(own, address->is_mac, address->bytes))
		return 0;
	if (array_grow(&own->address, &own->room, own->num, sizeof(*address)))
		return -ENOMEM;
	own->address[own->num++] = *address;
	return 0;
}

int own_addresses_add_all(struct own_addresses_list *owns, const char *host_name,
			  const struct own_addresses *from)
{
	struct own_addresses *own = from->num ? own_addresses_find_or_add(owns, host_name) : NULL;

	if (from->num && !own)
		return -ENOMEM;
	for (size_t i = 0; i < from->num; i++)
		if (own_addresses_add(own, &from->address[i]))
			return -ENOMEM;
	return 0;
}

void own_addresses_release(struct own_addresses_list *owns)
{
	for (size_t i = 0; i < owns->num; i++) {
		free(owns->own[i].host_name);
		free(owns->own[i].address);
	}
	free(owns->own);
}

/* ---- text form --------------------------------------------------------- */

bool address_parse(struct address *address, const char *text)
{
	uint8_t *mac = address->bytes;
	int used = 0;

	memset(address, 0, sizeof(*address));
	if (sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0], &mac[1], &mac[2],
		   &mac[3], &mac[4], &mac[5], &used) == 6 &&
	    !text[used]) {
		address->is_mac = true;
		return true;
	}
	return address_read_text(address->bytes, text);
}

char *address_format(char text[ADDRESS_TEXT], const struct address *address)
{
	const uint8_t *b = address->bytes;

	if (address->is_mac)
		snprintf(text, ADDRESS_TEXT, "%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2],
			 b[3], b[4], b[5]);
	else if (!memcmp(b, ipv4_prefix, IPV4_AT))
		inet_ntop(AF_INET, b + IPV4_AT, text, ADDRESS_TEXT);
	else
		inet_ntop(AF_INET6, b, text, ADDRESS_TEXT);
	return text;
}

/* ---- directions --------------------------------------------------------- */

static enum direction find_direction_by_mac(const struct own_addresses *own,
					    const struct frame_link *link)
{
	if (!link->from || !has_own_macs(own))
		return DIRECTION_UNKNOWN;
	if (has_own_address(own, true, link->from))
		return DIRECTION_OUT;
	if (link->to[0] & 1 || has_own_address(own, true, link->to))
		return DIRECTION_IN;
	return DIRECTION_UNKNOWN;
}

static enum direction find_direction_by_address(const struct own_addresses *own,
						const struct netsync_packet *pkt)
{
	bool from = has_own_address(own, false, pkt->saddr);
	bool to = has_own_address(own, false, pkt->daddr);

	if (from)
		return to ? DIRECTION_LOCAL : DIRECTION_OUT;
	return to || address_is_for_many(pkt->daddr) ? DIRECTION_IN : DIRECTION_UNKNOWN;
}

enum direction direction_find(const struct own_addresses *own, const struct frame_link *link,
			      const struct netsync_packet *pkt)
{
	enum direction direction;

	if (link->mark != FRAME_UNMARKED)
		return link->mark == FRAME_OUT ? DIRECTION_OUT : DIRECTION_IN;
	if (!own || !own->num)
		return DIRECTION_UNKNOWN;
	direction = find_direction_by_mac(own, link);
	return direction == DIRECTION_UNKNOWN ? find_direction_by_address(own, pkt) : direction;
}
