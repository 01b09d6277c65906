// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * From events in CTF traces to struct netsync_packet.
 *
 * Two shapes of events are known. *Flat* ones have a field for each header
 * field: netsync's own, and those of the lttng-addons module, which have the
 * first few only. *Nested* ones are LTTng's network events: a variant holds an
 * IPv4 or IPv6 header, and in that another variant holds a TCP header.
 *
 * All names are looked up once for each event class. Options of variants are
 * told apart by the fields inside them and not by their labels or by what
 * selects them, since these changed from one version to the next.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctf-event.h"

/* What a field means. Each bit of a layout's mask is one of these. */
enum meaning {
	SEQ, ACK, FLAGS, WINDOW, SPORT, DPORT, SADDR, DADDR, FAMILY, IP_ID, LEN,
	HAS_TS, TSVAL, TSECR, DATA_OFFSET, RESERVED, IHL, FRAG_OFF, SKB, DEVICE,
	NETWORK, TRANSPORT, GSO_SIZE, GSO_SEGS, NETNS, CHECKSUM, IS_FINAL,
	DIGEST, TYPE, ECHO_ID, ECHO_SEQ, PROTOCOL, IFINDEX,
	NUM_MEANINGS
};

struct field_name {
	const char *name;
	enum meaning meaning;
};

static const struct field_name flat_names[] = {
	{ "seq", SEQ }, { "ack_seq", ACK }, { "flags", FLAGS },
	{ "window", WINDOW }, { "sport", SPORT }, { "dport", DPORT },
	{ "saddr", SADDR }, { "daddr", DADDR }, { "family", FAMILY },
	{ "id", IP_ID }, { "len", LEN }, { "has_ts", HAS_TS },
	{ "tsval", TSVAL }, { "tsecr", TSECR }, { "gso_size", GSO_SIZE },
	{ "gso_segs", GSO_SEGS }, { "netns", NETNS }, { NULL, 0 },
};

static const struct field_name flat_udp_names[] = {
	{ "sport", SPORT }, { "dport", DPORT }, { "saddr", SADDR },
	{ "daddr", DADDR }, { "family", FAMILY }, { "id", IP_ID },
	{ "len", LEN }, { "gso_size", GSO_SIZE }, { "gso_segs", GSO_SEGS },
	{ "netns", NETNS }, { "check", CHECKSUM }, { "check_final", IS_FINAL },
	{ "digest", DIGEST }, { NULL, 0 },
};

static const struct field_name flat_icmp_names[] = {
	{ "saddr", SADDR }, { "daddr", DADDR }, { "family", FAMILY },
	{ "id", IP_ID }, { "len", LEN }, { "netns", NETNS }, { "type", TYPE },
	{ "echo_id", ECHO_ID }, { "echo_seq", ECHO_SEQ }, { NULL, 0 },
};

/* What most of them mean depends on the protocol: see read_wire(). */
static const struct field_name flat_wire_names[] = {
	{ "skb", SKB }, { "ifindex", IFINDEX }, { "protocol", PROTOCOL },
	{ "seq", SEQ }, { "ack_seq", ACK }, { "flags", FLAGS },
	{ "window", WINDOW }, { "check", CHECKSUM }, { "sport", SPORT },
	{ "dport", DPORT }, { "saddr", SADDR }, { "daddr", DADDR },
	{ "family", FAMILY }, { "id", IP_ID }, { "len", LEN },
	{ "has_ts", HAS_TS }, { "tsval", TSVAL }, { "tsecr", TSECR },
	{ "gso_size", GSO_SIZE }, { "gso_segs", GSO_SEGS },
	{ "netns", NETNS }, { NULL, 0 },
};

static const struct field_name nested_names[] = {
	{ "skbaddr", SKB }, { "len", LEN }, { "name", DEVICE },
	{ "network_header", NETWORK }, { NULL, 0 },
};

static const struct field_name ipv4_names[] = {
	{ "ihl", IHL }, { "tot_len", LEN }, { "id", IP_ID },
	{ "frag_off", FRAG_OFF }, { "saddr", SADDR }, { "daddr", DADDR },
	{ "transport_header", TRANSPORT }, { NULL, 0 },
};

static const struct field_name ipv6_names[] = {
	{ "payload_len", LEN }, { "saddr", SADDR }, { "daddr", DADDR },
	{ "transport_header", TRANSPORT }, { NULL, 0 },
};

static const struct field_name tcp_names[] = {
	{ "source_port", SPORT }, { "dest_port", DPORT }, { "seq", SEQ },
	{ "ack_seq", ACK }, { "data_offset", DATA_OFFSET },
	{ "reserved", RESERVED }, { "flags", FLAGS },
	{ "window_size", WINDOW }, { NULL, 0 },
};

/* Not used: the checksum, which is not final at a sender with offload. */
static const struct field_name udp_names[] = {
	{ "source_port", SPORT }, { "dest_port", DPORT }, { "len", LEN },
	{ "check", CHECKSUM }, { NULL, 0 },
};

/* Of an echo, the word for a gateway is identifier and sequence number. */
static const struct field_name icmp_names[] = {
	{ "type", TYPE }, { "code", RESERVED }, { "gateway", ECHO_ID },
	{ NULL, 0 },
};

/* Flat events of several protocols, which a field tells. */
#define ANY_PROTOCOL 255

static const struct event_name {
	const char *name;
	const char *point;	/* events that are made by one tracepoint */
	enum netsync_dir dir;
	uint8_t protocol;	/* of flat events; 0: it is a nested one */
} event_names[] = {
	{ "inet_sock_local_in", "inet_sock_local_in", NETSYNC_IN, IPPROTO_TCP },
	{ "inet_sock_local_out", "inet_sock_local_out", NETSYNC_OUT, IPPROTO_TCP },
	{ "inet_udp_local_in", "inet_udp_local_in", NETSYNC_IN, IPPROTO_UDP },
	{ "inet_udp_local_out", "inet_udp_local_out", NETSYNC_OUT, IPPROTO_UDP },
	{ "inet_icmp_local_in", "inet_icmp_local_in", NETSYNC_IN, IPPROTO_ICMP },
	{ "inet_icmp_local_out", "inet_icmp_local_out", NETSYNC_OUT, IPPROTO_ICMP },
	{ "inet_dev_receive", "inet_dev_receive", NETSYNC_IN, ANY_PROTOCOL },
	{ "inet_dev_xmit", "inet_dev_xmit", NETSYNC_OUT, ANY_PROTOCOL },
	{ "net_dev_queue", "net_dev_queue", NETSYNC_OUT, 0 },
	{ "net_if_receive_skb", "netif_receive_skb", NETSYNC_IN, 0 },
	{ "netif_receive_skb", "netif_receive_skb", NETSYNC_IN, 0 },
};

#define NUM_EVENT_NAMES (sizeof(event_names) / sizeof(event_names[0]))
#define BIT(meaning) (UINT64_C(1) << (meaning))

/* Where the members of a structure are. */
struct layout {
	uint64_t has;		/* a bit for each meaning */
	uint64_t is_signed;
	uint8_t at[NUM_MEANINGS];
};

/* LTTng's variants have up to four options. */
#define MAX_OPTIONS 8

/* What can be in an IP header's variant. */
static const struct transport_name {
	uint8_t protocol;
	const struct field_name *names;
	uint64_t wanted;
} transport_names[] = {
	{ IPPROTO_TCP, tcp_names,
	  BIT(SEQ) | BIT(ACK) | BIT(SPORT) | BIT(DPORT) | BIT(DATA_OFFSET) |
	  BIT(FLAGS) | BIT(WINDOW) },
	{ IPPROTO_UDP, udp_names, BIT(SPORT) | BIT(DPORT) | BIT(CHECKSUM) },
	{ IPPROTO_ICMP, icmp_names, BIT(TYPE) | BIT(RESERVED) | BIT(ECHO_ID) },
};

#define NUM_TRANSPORTS (sizeof(transport_names) / sizeof(transport_names[0]))

struct transport {
	uint8_t protocol;	/* 0: none that is known */
	struct layout layout;
};

struct header {
	int family;		/* AF_UNSPEC: not an IP header, or without TCP */
	struct layout ip;
	struct transport transport[MAX_OPTIONS];
};

struct ctf_decoder {
	const bt_event_class *class;
	const struct event_name *event;
	struct layout event_layout;
	struct header headers[MAX_OPTIONS];
	/* The device that was seen last, and the point which that is. */
	char device[32];
	int64_t point;
};

/* ---- looking up names -------------------------------------------------- */

/* Tracers protect names with a leading underscore, or do not. */
static bool same_name(const char *a, const char *b)
{
	return !strcmp(a + (*a == '_'), b);
}

static bool is_integer(const bt_field_class *class)
{
	return bt_field_class_type_is(bt_field_class_get_type(class),
				      BT_FIELD_CLASS_TYPE_INTEGER);
}

static bool is_signed(const bt_field_class *class)
{
	return bt_field_class_type_is(bt_field_class_get_type(class),
				      BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
}

static bool is_sequence(bt_field_class_type type)
{
	return bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY);
}

/*
 * An address: 4 or 16 bytes, or 8 units of 16 bits. Of a sequence each event
 * says how many bytes it has.
 */
static bool is_address(const bt_field_class *class)
{
	bt_field_class_type type = bt_field_class_get_type(class);
	const bt_field_class *element;
	uint64_t bits, num;

	if (type != BT_FIELD_CLASS_TYPE_STATIC_ARRAY && !is_sequence(type))
		return false;
	element = bt_field_class_array_borrow_element_field_class_const(class);
	if (!is_integer(element) || is_signed(element))
		return false;
	bits = bt_field_class_integer_get_field_value_range(element);
	if (is_sequence(type))
		return bits == 8;
	num = bt_field_class_array_static_get_length(class);
	return (bits == 8 && (num == 4 || num == 16)) ||
	       (bits == 16 && num == 8);
}

static bool fits(const bt_field_class *class, enum meaning meaning)
{
	bt_field_class_type type = bt_field_class_get_type(class);

	switch (meaning) {
	case SADDR:
	case DADDR:
		return is_address(class);
	case DEVICE:
		return type == BT_FIELD_CLASS_TYPE_STRING;
	case NETWORK:
	case TRANSPORT:
		return bt_field_class_type_is(type,
					      BT_FIELD_CLASS_TYPE_VARIANT);
	default:
		return is_integer(class);
	}
}

static void look_up(struct layout *layout, const bt_field_class *class,
		    const struct field_name *names)
{
	uint64_t num = bt_field_class_structure_get_member_count(class);

	memset(layout, 0, sizeof(*layout));
	for (uint64_t i = 0; i < num && i <= UINT8_MAX; i++) {
		const bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_index_const(
				class, i);
		const char *name =
			bt_field_class_structure_member_get_name(member);
		const bt_field_class *field =
			bt_field_class_structure_member_borrow_field_class_const(
				member);

		for (const struct field_name *n = names; n->name; n++) {
			if (!same_name(name, n->name) ||
			    !fits(field, n->meaning))
				continue;
			layout->has |= BIT(n->meaning);
			layout->at[n->meaning] = i;
			if (is_integer(field) && is_signed(field))
				layout->is_signed |= BIT(n->meaning);
		}
	}
}

static bool has_all(const struct layout *layout, uint64_t wanted)
{
	return (layout->has & wanted) == wanted;
}

static const bt_field_class *member_class(const bt_field_class *class,
					  const struct layout *layout,
					  enum meaning meaning)
{
	return bt_field_class_structure_member_borrow_field_class_const(
		bt_field_class_structure_borrow_member_by_index_const(
			class, layout->at[meaning]));
}

static const bt_field_class *option_class(const bt_field_class *variant,
					  uint64_t index)
{
	return bt_field_class_variant_option_borrow_field_class_const(
		bt_field_class_variant_borrow_option_by_index_const(variant,
								    index));
}

static void find_transport(struct transport *transport,
			   const bt_field_class *option)
{
	if (bt_field_class_get_type(option) != BT_FIELD_CLASS_TYPE_STRUCTURE)
		return;
	for (size_t i = 0; i < NUM_TRANSPORTS; i++) {
		const struct transport_name *name = &transport_names[i];

		look_up(&transport->layout, option, name->names);
		if (!has_all(&transport->layout, name->wanted))
			continue;
		transport->protocol = name->protocol;
		return;
	}
}

/* Headers without TCP are of versions that are older than LTTng 2.9. */
static bool find_transports(struct header *header, const bt_field_class *variant)
{
	uint64_t num = bt_field_class_variant_get_option_count(variant);
	bool found = false;

	for (uint64_t i = 0; i < num && i < MAX_OPTIONS; i++) {
		find_transport(&header->transport[i], option_class(variant, i));
		found |= header->transport[i].protocol == IPPROTO_TCP;
	}
	return found;
}

static bool find_header(struct header *header, const bt_field_class *class)
{
	const uint64_t both = BIT(LEN) | BIT(SADDR) | BIT(DADDR) |
			      BIT(TRANSPORT);

	if (bt_field_class_get_type(class) != BT_FIELD_CLASS_TYPE_STRUCTURE)
		return false;
	look_up(&header->ip, class, ipv4_names);
	if (has_all(&header->ip, both | BIT(IHL) | BIT(IP_ID) | BIT(FRAG_OFF))) {
		header->family = AF_INET;
	} else {
		look_up(&header->ip, class, ipv6_names);
		if (!has_all(&header->ip, both))
			return false;
		header->family = AF_INET6;
	}
	if (find_transports(header, member_class(class, &header->ip, TRANSPORT)))
		return true;
	header->family = AF_UNSPEC;
	return false;
}

static bool find_headers(struct ctf_decoder *decoder,
			 const bt_field_class *payload)
{
	const bt_field_class *variant;
	uint64_t num;
	bool found = false;

	look_up(&decoder->event_layout, payload, nested_names);
	if (!has_all(&decoder->event_layout,
		     BIT(SKB) | BIT(LEN) | BIT(DEVICE) | BIT(NETWORK)))
		return false;
	variant = member_class(payload, &decoder->event_layout, NETWORK);
	num = bt_field_class_variant_get_option_count(variant);
	for (uint64_t i = 0; i < num && i < MAX_OPTIONS; i++)
		found |= find_header(&decoder->headers[i],
				     option_class(variant, i));
	return found;
}

static bool find_fields(struct ctf_decoder *decoder,
			const bt_field_class *payload)
{
	struct layout *layout = &decoder->event_layout;

	switch (decoder->event->protocol) {
	case IPPROTO_TCP:
		look_up(layout, payload, flat_names);
		return has_all(layout, BIT(SEQ) | BIT(ACK) | BIT(FLAGS));
	case IPPROTO_UDP:
		look_up(layout, payload, flat_udp_names);
		return has_all(layout, BIT(SADDR) | BIT(DADDR) | BIT(SPORT) |
			       BIT(DPORT) | BIT(FAMILY) | BIT(IP_ID) | BIT(LEN));
	case IPPROTO_ICMP:
		look_up(layout, payload, flat_icmp_names);
		return has_all(layout, BIT(SADDR) | BIT(DADDR) | BIT(FAMILY) |
			       BIT(TYPE) | BIT(ECHO_ID) | BIT(ECHO_SEQ));
	case ANY_PROTOCOL:
		look_up(layout, payload, flat_wire_names);
		return has_all(layout, BIT(PROTOCOL) | BIT(IFINDEX) |
			       BIT(SEQ) | BIT(ACK) | BIT(FLAGS) | BIT(SADDR) |
			       BIT(DADDR) | BIT(SPORT) | BIT(DPORT) |
			       BIT(FAMILY) | BIT(IP_ID) | BIT(LEN));
	}
	return find_headers(decoder, payload);
}

static const struct event_name *find_event(const char *name)
{
	for (size_t i = 0; name && i < NUM_EVENT_NAMES; i++)
		if (!strcmp(name, event_names[i].name))
			return &event_names[i];
	return NULL;
}

bool ctf_event_known(const char *name)
{
	return find_event(name);
}

int ctf_decoder_new(const bt_event_class *class, struct ctf_decoder **decoder)
{
	const bt_field_class *payload =
		bt_event_class_borrow_payload_field_class_const(class);
	struct ctf_decoder *new;

	*decoder = NULL;
	if (!payload)
		return 0;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->class = class;
	new->event = find_event(bt_event_class_get_name(class));
	new->point = -1;
	if (new->event && find_fields(new, payload))
		*decoder = new;
	else
		free(new);
	return 0;
}

const bt_event_class *ctf_decoder_class(const struct ctf_decoder *decoder)
{
	return decoder->class;
}

bool ctf_decoder_has_netns(const struct ctf_decoder *decoder)
{
	return decoder->event->protocol &&
	       has_all(&decoder->event_layout, BIT(NETNS));
}

/* ---- reading events ---------------------------------------------------- */

static const bt_field *member(const bt_field *structure,
			      const struct layout *layout,
			      enum meaning meaning)
{
	return bt_field_structure_borrow_member_field_by_index_const(
		structure, layout->at[meaning]);
}

static uint64_t integer(const bt_field *structure, const struct layout *layout,
			enum meaning meaning)
{
	const bt_field *field;

	if (!(layout->has & BIT(meaning)))
		return 0;
	field = member(structure, layout, meaning);
	if (layout->is_signed & BIT(meaning))
		return bt_field_integer_signed_get_value(field);
	return bt_field_integer_unsigned_get_value(field);
}

/* IPv4 comes as 4 bytes or mapped into 16. */
static void read_address(uint8_t out[16], const bt_field *array)
{
	uint64_t num = bt_field_array_get_length(array);
	unsigned int width = num == 8 ? 2 : 1;
	unsigned int at = 0;

	if (is_sequence(bt_field_get_class_type(array)) && num != 4 &&
	    num != 16) {
		memset(out, 0, 16);
		return;
	}
	if (num == 4) {
		memset(out, 0, 10);
		memset(out + 10, 0xff, 2);
		at = 12;
	}
	for (uint64_t i = 0; i < num; i++) {
		uint64_t value = bt_field_integer_unsigned_get_value(
			bt_field_array_borrow_element_field_by_index_const(
				array, i));

		for (unsigned int byte = width; byte-- > 0;)
			out[at++] = value >> (8 * byte);
	}
}

static void read_addresses(struct netsync_packet *pkt,
			   const bt_field *structure,
			   const struct layout *layout)
{
	read_address(pkt->saddr, member(structure, layout, SADDR));
	read_address(pkt->daddr, member(structure, layout, DADDR));
	pkt->fields |= NETSYNC_HAS_ADDRS;
}

/*
 * The 16 bits of the TCP header that hold data offset and flags. A data offset
 * is at least 5, and three bits are reserved. Some versions of lttng-addons
 * put the word together from bit-fields in the opposite order, and in the
 * opposite byte order: FIN is the highest bit of the first byte, CWR the
 * lowest, and the data offset is in the second.
 */
static uint16_t normal_flags(uint16_t word)
{
	uint16_t flags = 0;

	if (word >> 12 >= 5 && !(word & 0x0e00))
		return word;
	for (int bit = 0; bit < 8; bit++)
		if (word & (0x8000 >> bit))
			flags |= 1 << bit;
	return (word & 0x0f) << 12 | flags;
}

static void read_tcp(const struct layout *layout, const bt_field *payload,
		     struct netsync_packet *pkt)
{
	pkt->seq = integer(payload, layout, SEQ);
	pkt->ack = integer(payload, layout, ACK);
	pkt->flags = normal_flags(integer(payload, layout, FLAGS));
	if (has_all(layout, BIT(WINDOW))) {
		pkt->window = integer(payload, layout, WINDOW);
		pkt->fields |= NETSYNC_HAS_WINDOW;
	}
	if (has_all(layout, BIT(HAS_TS) | BIT(TSVAL) | BIT(TSECR))) {
		bool has_ts = integer(payload, layout, HAS_TS);

		pkt->tsval = integer(payload, layout, TSVAL);
		pkt->tsecr = integer(payload, layout, TSECR);
		pkt->fields |= has_ts ? NETSYNC_HAS_TSTAMP :
					NETSYNC_HAS_NO_TSTAMP;
	}
}

/* The digest is 0 where the module was told to make none. */
static void read_udp(const struct layout *layout, const bt_field *payload,
		     struct netsync_packet *pkt)
{
	pkt->checksum = integer(payload, layout, CHECKSUM);
	if (integer(payload, layout, IS_FINAL))
		pkt->fields |= NETSYNC_HAS_CHECKSUM;
	pkt->digest = integer(payload, layout, DIGEST);
	if (pkt->digest)
		pkt->fields |= NETSYNC_HAS_DIGEST;
}

static void read_icmp(const struct layout *layout, const bt_field *payload,
		      struct netsync_packet *pkt)
{
	if (integer(payload, layout, FAMILY) == AF_INET6)
		pkt->protocol = IPPROTO_ICMPV6;
	pkt->icmp_type = integer(payload, layout, TYPE);
	pkt->icmp_id = integer(payload, layout, ECHO_ID);
	pkt->icmp_seq = integer(payload, layout, ECHO_SEQ);
	pkt->fields |= NETSYNC_HAS_ECHO;
}

static int find_point(struct ctf_decoder *decoder, struct trace *trace,
		      const char *device)
{
	if (decoder->point >= 0 && !strcmp(device, decoder->device))
		return 0;
	decoder->point = io_point(trace, decoder->event->point, device);
	if (decoder->point < 0)
		return decoder->point;
	if (strlen(device) < sizeof(decoder->device))
		strcpy(decoder->device, device);
	else
		decoder->device[0] = '\0';
	return 0;
}

/* Return: whether there is a use for packets of this protocol. */
static bool read_wire(const struct layout *layout, const bt_field *payload,
		      struct netsync_packet *pkt)
{
	pkt->skb = integer(payload, layout, SKB);
	if (has_all(layout, BIT(SKB)))
		pkt->fields |= NETSYNC_HAS_SKB;
	pkt->protocol = integer(payload, layout, PROTOCOL);
	switch (pkt->protocol) {
	case IPPROTO_TCP:
		read_tcp(layout, payload, pkt);
		return true;
	case IPPROTO_UDP:
		pkt->checksum = integer(payload, layout, CHECKSUM);
		if (integer(payload, layout, FLAGS))
			pkt->fields |= NETSYNC_HAS_CHECKSUM;
		pkt->digest = integer(payload, layout, TSVAL) << 32 |
			      integer(payload, layout, TSECR);
		if (pkt->digest)
			pkt->fields |= NETSYNC_HAS_DIGEST;
		return true;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		pkt->fields &= ~(uint32_t)NETSYNC_HAS_PORTS;
		pkt->icmp_type = integer(payload, layout, FLAGS);
		pkt->icmp_id = integer(payload, layout, ACK);
		pkt->icmp_seq = integer(payload, layout, SEQ);
		pkt->fields |= NETSYNC_HAS_ECHO;
		return true;
	default:
		return false;
	}
}

/* Each device is a point of its own. */
static int find_wire_point(struct ctf_decoder *decoder, struct trace *trace,
			   const bt_field *payload)
{
	const struct layout *layout = &decoder->event_layout;
	char device[sizeof(decoder->device)];

	snprintf(device, sizeof(device), "%llu:%llu",
		 (unsigned long long)integer(payload, layout, NETNS),
		 (unsigned long long)integer(payload, layout, IFINDEX));
	return find_point(decoder, trace, device);
}

static int decode_flat(struct ctf_decoder *decoder, struct trace *trace,
		       const bt_field *payload, struct netsync_packet *pkt)
{
	const struct layout *layout = &decoder->event_layout;

	if (has_all(layout, BIT(SPORT) | BIT(DPORT))) {
		pkt->sport = integer(payload, layout, SPORT);
		pkt->dport = integer(payload, layout, DPORT);
		pkt->fields |= NETSYNC_HAS_PORTS;
	}
	if (has_all(layout, BIT(SADDR) | BIT(DADDR)))
		read_addresses(pkt, payload, layout);
	if (has_all(layout, BIT(IP_ID)) &&
	    integer(payload, layout, FAMILY) == AF_INET) {
		pkt->ip_id = integer(payload, layout, IP_ID);
		pkt->fields |= NETSYNC_HAS_IP_ID;
	}
	if (has_all(layout, BIT(LEN))) {
		pkt->len = integer(payload, layout, LEN);
		pkt->fields |= NETSYNC_HAS_LEN;
	}
	if (has_all(layout, BIT(NETNS))) {
		pkt->netns = integer(payload, layout, NETNS);
		pkt->fields |= NETSYNC_HAS_NETNS;
	}
	if (has_all(layout, BIT(GSO_SIZE) | BIT(GSO_SEGS))) {
		pkt->gso_size = integer(payload, layout, GSO_SIZE);
		pkt->gso_segs = integer(payload, layout, GSO_SEGS);
		pkt->fields |= NETSYNC_HAS_GSO;
	}
	pkt->protocol = decoder->event->protocol;
	if (pkt->protocol == ANY_PROTOCOL) {
		int ret;

		if (!read_wire(layout, payload, pkt))
			return 0;
		ret = find_wire_point(decoder, trace, payload);
		return ret < 0 ? ret : 1;
	}
	if (pkt->protocol == IPPROTO_TCP)
		read_tcp(layout, payload, pkt);
	else if (pkt->protocol == IPPROTO_UDP)
		read_udp(layout, payload, pkt);
	else
		read_icmp(layout, payload, pkt);
	if (decoder->point < 0)
		decoder->point = io_point(trace, decoder->event->point, "");
	return decoder->point < 0 ? decoder->point : 1;
}

/*
 * Payload bytes by the length that the IP header gives. It is 0 in packets
 * that are too large for its 16 bits (BIG TCP); on the way in these are as
 * long as the skb, on the way out a link header of unknown length is before
 * them.
 */
static void read_length(struct netsync_packet *pkt, uint64_t ip_bytes,
			uint64_t skb_bytes, uint64_t header_bytes)
{
	if (!ip_bytes && pkt->dir == NETSYNC_IN && skb_bytes > UINT16_MAX)
		ip_bytes = skb_bytes;
	if (ip_bytes < header_bytes)
		return;
	pkt->len = ip_bytes - header_bytes;
	pkt->fields |= NETSYNC_HAS_LEN;
}

static void read_network(struct netsync_packet *pkt,
			 const struct header *header, const bt_field *ip,
			 uint64_t skb_bytes, unsigned int header_bytes)
{
	uint64_t bytes = integer(ip, &header->ip, LEN);

	read_addresses(pkt, ip, &header->ip);
	if (header->family == AF_INET6) {
		read_length(pkt, bytes ? bytes + 40 : 0, skb_bytes,
			    40 + header_bytes);
		return;
	}
	pkt->ip_id = integer(ip, &header->ip, IP_ID);
	pkt->fields |= NETSYNC_HAS_IP_ID;
	/* Of a first fragment the rest of the payload is elsewhere. */
	if (!(integer(ip, &header->ip, FRAG_OFF) & 0x2000))
		read_length(pkt, bytes, skb_bytes,
			    integer(ip, &header->ip, IHL) * 4 + header_bytes);
}

/* Return how many bytes the header has; 0: it is none. */
static unsigned int read_nested_tcp(const struct layout *layout,
				    const bt_field *tcp,
				    struct netsync_packet *pkt)
{
	unsigned int data_offset = integer(tcp, layout, DATA_OFFSET);

	if (data_offset < 5)
		return 0;
	pkt->seq = integer(tcp, layout, SEQ);
	pkt->ack = integer(tcp, layout, ACK);
	pkt->sport = integer(tcp, layout, SPORT);
	pkt->dport = integer(tcp, layout, DPORT);
	pkt->window = integer(tcp, layout, WINDOW);
	pkt->flags = data_offset << 12 | integer(tcp, layout, RESERVED) << 9 |
		     integer(tcp, layout, FLAGS);
	pkt->fields |= NETSYNC_HAS_PORTS | NETSYNC_HAS_WINDOW;
	/* A data offset of 5 leaves no room for options. */
	if (data_offset == 5)
		pkt->fields |= NETSYNC_HAS_NO_TSTAMP;
	return data_offset * 4;
}

static unsigned int read_nested_udp(const struct layout *layout,
				    const bt_field *udp,
				    struct netsync_packet *pkt)
{
	pkt->sport = integer(udp, layout, SPORT);
	pkt->dport = integer(udp, layout, DPORT);
	pkt->fields |= NETSYNC_HAS_PORTS;
	return 8;
}

static unsigned int read_nested_icmp(const struct layout *layout,
				     const bt_field *icmp,
				     struct netsync_packet *pkt)
{
	uint32_t echo = integer(icmp, layout, ECHO_ID);

	pkt->icmp_type = integer(icmp, layout, TYPE);
	if (pkt->icmp_type != 0 && pkt->icmp_type != 8)
		return 0;
	pkt->icmp_id = echo >> 16;
	pkt->icmp_seq = echo;
	pkt->fields |= NETSYNC_HAS_ECHO;
	return 8;
}

static int decode_nested(struct ctf_decoder *decoder, struct trace *trace,
			 const bt_field *payload, struct netsync_packet *pkt)
{
	const struct layout *layout = &decoder->event_layout;
	const bt_field *network = member(payload, layout, NETWORK);
	const bt_field *ip, *variant, *inner;
	const struct transport *transport;
	const struct header *header;
	uint64_t option = bt_field_variant_get_selected_option_index(network);
	unsigned int bytes = 0;
	int ret;

	if (option >= MAX_OPTIONS)
		return 0;
	header = &decoder->headers[option];
	if (header->family == AF_UNSPEC)
		return 0;
	ip = bt_field_variant_borrow_selected_option_field_const(network);
	/* Later fragments have no TCP header, whatever is written there. */
	if (header->family == AF_INET &&
	    integer(ip, &header->ip, FRAG_OFF) & 0x1fff)
		return 0;
	variant = member(ip, &header->ip, TRANSPORT);
	option = bt_field_variant_get_selected_option_index(variant);
	if (option >= MAX_OPTIONS)
		return 0;
	transport = &header->transport[option];
	inner = bt_field_variant_borrow_selected_option_field_const(variant);
	if (transport->protocol == IPPROTO_TCP)
		bytes = read_nested_tcp(&transport->layout, inner, pkt);
	else if (transport->protocol == IPPROTO_UDP)
		bytes = read_nested_udp(&transport->layout, inner, pkt);
	else if (transport->protocol == IPPROTO_ICMP)
		bytes = read_nested_icmp(&transport->layout, inner, pkt);
	if (!bytes)
		return 0;
	pkt->protocol = transport->protocol;
	pkt->skb = integer(payload, layout, SKB);
	pkt->fields |= NETSYNC_HAS_SKB;
	read_network(pkt, header, ip, integer(payload, layout, LEN), bytes);
	ret = find_point(decoder, trace,
			 bt_field_string_get_value(
				 member(payload, layout, DEVICE)));
	return ret < 0 ? ret : 1;
}

int ctf_decode(struct ctf_decoder *decoder, struct trace *trace,
	       const bt_event *event, struct netsync_packet *pkt)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	int ret;

	memset(pkt, 0, sizeof(*pkt));
	pkt->dir = decoder->event->dir;
	if (decoder->event->protocol)
		ret = decode_flat(decoder, trace, payload, pkt);
	else
		ret = decode_nested(decoder, trace, payload, pkt);
	pkt->point = decoder->point;
	return ret;
}
