// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read a Retis event: an object with a member for each section. Members of the newest version, and
 * of older ones:
 *
 *	common		timestamp
 *	kernel		symbol
 *	startup		clock_monotonic_offset: sec, nsec
 *	skb-tracking	skb (also skb_tracking)
 *	packet		len, capture_len, data: base64; was skb.packet, with packet for data
 *	netns		inum; was skb.ns, with netns for inum
 *	dev		ifindex; was skb.dev
 *	skb		gso: size, segs
 */
#include <string.h>

#include "io/retis/retis.h"
#include "io/spans/json.h"

#define NS_PER_S INT64_C(1000000000)
/* Largest time that Retis can report, ns. */
#define MAX_TIME (INT64_C(1) << 62)

/*
 * Tracepoints of network devices at which the packet is complete, with its link header. A sent
 * packet passes these tracepoints before it leaves, and a received packet after it has arrived.
 */
static const struct {
	const char *symbol;
	enum netsync_dir dir;
} device_points[] = {
	{ "net:net_dev_start_xmit", NETSYNC_OUT },
	{ "net:net_dev_queue", NETSYNC_OUT },
	{ "net:netif_receive_skb", NETSYNC_IN },
	{ "net:netif_receive_skb_entry", NETSYNC_IN },
	{ "net:netif_receive_skb_list_entry", NETSYNC_IN },
	{ "net:napi_gro_receive_entry", NETSYNC_IN },
	{ "net:netif_rx", NETSYNC_IN },
	{ "net:netif_rx_entry", NETSYNC_IN },
};

#define NUM_POINTS (sizeof(device_points) / sizeof(device_points[0]))

/* Get a section of an event, which older versions had inside the section "skb". */
static struct json_object *get_section(struct json_object *event, const char *name,
				       const char *in_skb)
{
	struct json_object *section = json_get(event, name);

	return section ? section : json_get(json_get(event, "skb"), in_skb);
}

/* ---- base64 (RFC 4648, section 4) --------------------------------------------- */

/* Return the value of a character, or -1. */
static int get_base64_value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decode text into at most @size bytes. Return the number of bytes, or 0 if the text is not valid. */
static size_t decode_base64(const char *text, uint8_t *bytes, size_t size)
{
	unsigned int bits = 0, num_bits = 0;
	size_t num = 0;

	for (; *text && *text != '='; text++) {
		const int value = get_base64_value(*text);

		if (value < 0)
			return 0;
		bits = (bits << 6 | (unsigned int)value) & 0xffff;
		num_bits += 6;
		if (num_bits < 8)
			continue;
		num_bits -= 8;
		if (num == size)
			return 0;
		bytes[num++] = (uint8_t)(bits >> num_bits);
	}
	return text[strspn(text, "=")] ? 0 : num;
}

/* ---- sections -------------------------------------------------------------------- */

static void read_startup(struct json_object *startup, struct retis_event *event)
{
	struct json_object *offset = json_get(startup, "clock_monotonic_offset");
	int64_t sec, nsec;

	event->is_startup = json_object_is_type(startup, json_type_object);
	if (json_get_integer(offset, "sec", -MAX_TIME / NS_PER_S, MAX_TIME / NS_PER_S, &sec) &&
	    json_get_integer(offset, "nsec", -NS_PER_S, NS_PER_S, &nsec)) {
		event->offset_ns = sec * NS_PER_S + nsec;
		event->has_offset = true;
	}
}

/* Read a number. If it is missing, use 0. */
static uint32_t read_number(struct json_object *section, const char *key)
{
	int64_t value;

	return json_get_integer(section, key, 0, UINT32_MAX, &value) ? (uint32_t)value : 0;
}

static void read_packet_bytes(struct json_object *packet, struct retis_event *event, uint8_t *bytes)
{
	const char *data = json_get_text(packet, "data");

	if (!data)
		data = json_get_text(packet, "packet");
	event->captured = data ? decode_base64(data, bytes, RETIS_MAX_PACKET) : 0;
	event->original = read_number(packet, "len");
	if (event->original < event->captured)
		event->original = event->captured;
}

static void read_tracking(struct json_object *value, struct retis_event *event)
{
	struct json_object *tracking = json_get(value, "skb-tracking"), *skb;

	if (!tracking)
		tracking = json_get(value, "skb_tracking");
	skb = json_get(tracking, "skb");
	if (json_object_is_type(skb, json_type_int))
		event->skb = json_object_get_uint64(skb);
}

static void read_device_event(struct json_object *value, struct retis_event *event, uint8_t *bytes)
{
	struct json_object *netns = get_section(value, "netns", "ns");
	struct json_object *gso = json_get(json_get(value, "skb"), "gso");

	read_tracking(value, event);
	event->netns = read_number(netns, "inum");
	if (!event->netns)
		event->netns = read_number(netns, "netns");
	event->ifindex = read_number(get_section(value, "dev", "dev"), "ifindex");
	event->gso_size = read_number(gso, "size");
	event->gso_segs = read_number(gso, "segs");
	event->has_gso = gso;
	read_packet_bytes(get_section(value, "packet", "packet"), event, bytes);
}

bool retis_read_event(struct json_object *value, struct retis_event *event, uint8_t *bytes)
{
	const char *symbol = json_get_text(json_get(value, "kernel"), "symbol");

	*event = (struct retis_event){ 0 };
	if (!json_object_is_type(value, json_type_object))
		return false;
	read_startup(json_get(value, "startup"), event);
	event->has_time = json_get_integer(json_get(value, "common"), "timestamp", 0, MAX_TIME,
					   &event->time_ns);
	for (size_t i = 0; symbol && i < NUM_POINTS && !event->is_device; i++) {
		if (strcmp(symbol, device_points[i].symbol))
			continue;
		event->is_device = true;
		event->dir = device_points[i].dir;
		event->place = (uint32_t)i;
	}
	if (event->is_device)
		read_device_event(value, event, bytes);
	return event->has_time || event->is_startup;
}
