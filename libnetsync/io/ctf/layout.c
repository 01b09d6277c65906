// SPDX-License-Identifier: LGPL-2.1-or-later
/* Find the members of a CTF event class whose names have a known meaning. */
#include <netinet/in.h>
#include <string.h>

#include "io/ctf/layout.h"

static const struct field_name nested_names[] = {
	{ "skbaddr", SKB }, { "len", LEN }, { "name", DEVICE }, { "network_header", NETWORK },
	{ NULL, 0 },
};

static const struct field_name ipv4_names[] = {
	{ "ihl", IHL },
	{ "tot_len", LEN },
	{ "id", IP_ID },
	{ "frag_off", FRAG_OFF },
	{ "saddr", SADDR },
	{ "daddr", DADDR },
	{ "transport_header", TRANSPORT },
	{ NULL, 0 },
};

static const struct field_name ipv6_names[] = {
	{ "payload_len", LEN },
	{ "saddr", SADDR },
	{ "daddr", DADDR },
	{ "transport_header", TRANSPORT },
	{ NULL, 0 },
};

static const struct field_name tcp_names[] = {
	{ "source_port", SPORT }, { "dest_port", DPORT },	  { "seq", SEQ },
	{ "ack_seq", ACK },	  { "data_offset", DATA_OFFSET }, { "reserved", RESERVED },
	{ "flags", FLAGS },	  { "window_size", WINDOW },	  { NULL, 0 },
};

/*
 * Names of UDP fields. The checksum is only used to distinguish UDP from other protocols, because
 * offload leaves the sender's checksum unfinished.
 */
static const struct field_name udp_names[] = {
	{ "source_port", SPORT },
	{ "dest_port", DPORT },
	{ "len", LEN },
	{ "check", CHECKSUM },
	{ NULL, 0 },
};

/*
 * Names of ICMP fields. An echo has an identifier and a sequence number in the place where a
 * redirect has a gateway address.
 */
static const struct field_name icmp_names[] = {
	{ "type", TYPE },
	{ "code", RESERVED },
	{ "gateway", ECHO_ID },
	{ NULL, 0 },
};

/* Transport headers. Each transport header is an option of a variant in the IP header. */
static const struct transport_name {
	uint8_t protocol;
	const struct field_name *names;
	uint64_t wanted; /* meanings that an option for this protocol must have */
} transport_names[] = {
	{ IPPROTO_TCP, tcp_names,
	  BIT(SEQ) | BIT(ACK) | BIT(SPORT) | BIT(DPORT) | BIT(DATA_OFFSET) | BIT(FLAGS) |
		  BIT(WINDOW) },
	{ IPPROTO_UDP, udp_names, BIT(SPORT) | BIT(DPORT) | BIT(CHECKSUM) },
	{ IPPROTO_ICMP, icmp_names, BIT(TYPE) | BIT(RESERVED) | BIT(ECHO_ID) },
};

#define NUM_TRANSPORTS (sizeof(transport_names) / sizeof(transport_names[0]))

/* ---- looking up names -------------------------------------------------- */

/* Compare a name in a trace with a known name. Tracers may put an underscore before a name. */
static bool is_same_layout_name(const char *a, const char *b)
{
	return !strcmp(a + (*a == '_'), b);
}

static bool is_integer_class(const bt_field_class *class)
{
	return bt_field_class_type_is(bt_field_class_get_type(class), BT_FIELD_CLASS_TYPE_INTEGER);
}

static bool is_signed_class(const bt_field_class *class)
{
	return bt_field_class_type_is(bt_field_class_get_type(class),
				      BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
}

static bool is_sequence_type(bt_field_class_type type)
{
	return bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY);
}

/*
 * Return whether the class is an array of 4 or 16 bytes, of eight 16-bit words, or of bytes whose
 * number is stored in each event.
 */
static bool is_address_class(const bt_field_class *class)
{
	bt_field_class_type type = bt_field_class_get_type(class);
	const bt_field_class *element;
	uint64_t bits, num;

	if (type != BT_FIELD_CLASS_TYPE_STATIC_ARRAY && !is_sequence_type(type))
		return false;
	element = bt_field_class_array_borrow_element_field_class_const(class);
	if (!is_integer_class(element) || is_signed_class(element))
		return false;
	bits = bt_field_class_integer_get_field_value_range(element);
	if (is_sequence_type(type))
		return bits == 8;
	num = bt_field_class_array_static_get_length(class);
	return (bits == 8 && (num == 4 || num == 16)) || (bits == 16 && num == 8);
}

static bool has_eight_units(const bt_field_class *class)
{
	return bt_field_class_get_type(class) == BT_FIELD_CLASS_TYPE_STATIC_ARRAY &&
	       bt_field_class_array_static_get_length(class) == 8;
}

static bool can_class_have_meaning(const bt_field_class *class, enum meaning meaning)
{
	bt_field_class_type type = bt_field_class_get_type(class);

	switch (meaning) {
	case SADDR:
	case DADDR:
		return is_address_class(class);
	case DEVICE:
		return type == BT_FIELD_CLASS_TYPE_STRING;
	case NETWORK:
	case TRANSPORT:
		return bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT);
	default:
		return is_integer_class(class);
	}
}

static void find_layout_fields(struct layout *layout, const bt_field_class *class,
			       const struct field_name *names)
{
	uint64_t num = bt_field_class_structure_get_member_count(class);

	memset(layout, 0, sizeof(*layout));
	for (uint64_t i = 0; i < num && i <= UINT8_MAX; i++) {
		const bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_index_const(class, i);
		const char *name = bt_field_class_structure_member_get_name(member);
		const bt_field_class *field =
			bt_field_class_structure_member_borrow_field_class_const(member);

		for (const struct field_name *n = names; n->name; n++) {
			if (!is_same_layout_name(name, n->name) ||
			    !can_class_have_meaning(field, n->meaning))
				continue;
			layout->has |= BIT(n->meaning);
			layout->at[n->meaning] = i;
			if (is_integer_class(field) && is_signed_class(field))
				layout->is_signed |= BIT(n->meaning);
			if (has_eight_units(field))
				layout->has_units |= BIT(n->meaning);
		}
	}
}

static const bt_field_class *get_member_class(const bt_field_class *class,
					      const struct layout *layout, enum meaning meaning)
{
	return bt_field_class_structure_member_borrow_field_class_const(
		bt_field_class_structure_borrow_member_by_index_const(class, layout->at[meaning]));
}

static const bt_field_class *get_option_class(const bt_field_class *variant, uint64_t index)
{
	return bt_field_class_variant_option_borrow_field_class_const(
		bt_field_class_variant_borrow_option_by_index_const(variant, index));
}

static void find_transport_layout(struct transport_layout *transport, const bt_field_class *option)
{
	if (bt_field_class_get_type(option) != BT_FIELD_CLASS_TYPE_STRUCTURE)
		return;
	for (size_t i = 0; i < NUM_TRANSPORTS; i++) {
		const struct transport_name *name = &transport_names[i];

		find_layout_fields(&transport->layout, option, name->names);
		if (!layout_has_all(&transport->layout, name->wanted))
			continue;
		transport->protocol = name->protocol;
		return;
	}
}

/*
 * Find the layouts of transport headers. If no option of the variant is TCP, as before LTTng 2.9,
 * return false.
 */
static bool find_transport_layouts(struct header *header, const bt_field_class *variant)
{
	uint64_t num = bt_field_class_variant_get_option_count(variant);
	bool found = false;

	for (uint64_t i = 0; i < num && i < MAX_OPTIONS; i++) {
		find_transport_layout(&header->transport[i], get_option_class(variant, i));
		found |= header->transport[i].protocol == IPPROTO_TCP;
	}
	return found;
}

static bool find_network_header(struct header *header, const bt_field_class *class)
{
	const uint64_t both = BIT(LEN) | BIT(SADDR) | BIT(DADDR) | BIT(TRANSPORT);

	if (bt_field_class_get_type(class) != BT_FIELD_CLASS_TYPE_STRUCTURE)
		return false;
	find_layout_fields(&header->ip, class, ipv4_names);
	if (layout_has_all(&header->ip, both | BIT(IHL) | BIT(IP_ID) | BIT(FRAG_OFF))) {
		header->family = AF_INET;
	} else {
		find_layout_fields(&header->ip, class, ipv6_names);
		if (!layout_has_all(&header->ip, both))
			return false;
		header->family = AF_INET6;
	}
	if (find_transport_layouts(header, get_member_class(class, &header->ip, TRANSPORT)))
		return true;
	header->family = AF_UNSPEC;
	return false;
}

static bool find_network_headers(struct event_layout *layout, const bt_field_class *payload)
{
	const bt_field_class *variant;
	uint64_t num;
	bool found = false;

	find_layout_fields(&layout->fields, payload, nested_names);
	if (!layout_has_all(&layout->fields, BIT(SKB) | BIT(LEN) | BIT(DEVICE) | BIT(NETWORK)))
		return false;
	variant = get_member_class(payload, &layout->fields, NETWORK);
	num = bt_field_class_variant_get_option_count(variant);
	for (uint64_t i = 0; i < num && i < MAX_OPTIONS; i++)
		found |= find_network_header(&layout->headers[i], get_option_class(variant, i));
	return found;
}

static bool find_event_fields(struct event_layout *event, const bt_field_class *payload)
{
	if (!event->kind->protocol)
		return find_network_headers(event, payload);
	find_layout_fields(&event->fields, payload, event_fields);
	return event_has_wanted_fields(event->kind, event->fields.has);
}

bool ctf_find_layout(struct event_layout *layout, const bt_event_class *class)
{
	const bt_field_class *payload = bt_event_class_borrow_payload_field_class_const(class);

	memset(layout, 0, sizeof(*layout));
	layout->kind = event_find_kind(bt_event_class_get_name(class));
	return layout->kind && payload && find_event_fields(layout, payload);
}
