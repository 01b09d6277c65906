// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctf-event.h"
#include "ctf-layout.h"

struct ctf_decoder {
	const bt_event_class *class;
	struct event_layout layout;
	/* The device that was seen last, and the point which that is. */
	char device[32];
	int64_t point;
};

bool ctf_event_known(const char *name)
{
	return ctf_event_kind(name);
}

int ctf_decoder_new(const bt_event_class *class, struct ctf_decoder **decoder)
{
	struct ctf_decoder *new = calloc(1, sizeof(*new));

	*decoder = NULL;
	if (!new)
		return -ENOMEM;
	new->class = class;
	new->point = -1;
	if (ctf_find_layout(&new->layout, class))
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
	return decoder->layout.kind->protocol &&
	       has_all(&decoder->layout.fields, BIT(NETNS));
}

/* ---- fields ------------------------------------------------------------ */

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

	if (bt_field_class_type_is(bt_field_get_class_type(array),
				   BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY) &&
	    num != 4 && num != 16) {
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
static void set_udp(struct netsync_packet *pkt, uint16_t checksum,
		    bool is_final, uint64_t digest)
{
	pkt->checksum = checksum;
	if (is_final)
		pkt->fields |= NETSYNC_HAS_CHECKSUM;
	pkt->digest = digest;
	if (digest)
		pkt->fields |= NETSYNC_HAS_DIGEST;
}

static void set_echo(struct netsync_packet *pkt, uint8_t type, uint16_t id,
		     uint16_t seq)
{
	pkt->icmp_type = type;
	pkt->icmp_id = id;
	pkt->icmp_seq = seq;
	pkt->fields |= NETSYNC_HAS_ECHO;
}

static void set_sctp(struct netsync_packet *pkt, uint32_t vtag, uint8_t chunk,
		     bool has_tsn, uint32_t tsn)
{
	pkt->vtag = vtag;
	pkt->chunk = chunk;
	pkt->tsn = tsn;
	pkt->fields |= NETSYNC_HAS_SCTP;
	if (has_tsn)
		pkt->fields |= NETSYNC_HAS_TSN;
}

static int find_point(struct ctf_decoder *decoder, struct trace *trace,
		      const char *device)
{
	if (decoder->point >= 0 && !strcmp(device, decoder->device))
		return 0;
	decoder->point = io_point(trace, decoder->layout.kind->point, device);
	if (decoder->point < 0)
		return decoder->point;
	if (strlen(device) < sizeof(decoder->device))
		strcpy(decoder->device, device);
	else
		decoder->device[0] = '\0';
	return 0;
}

/* Where the kernel hands packets to its sockets, or gets them from there. */
static void read_local(const struct layout *layout, const bt_field *payload,
		       struct netsync_packet *pkt)
{
	switch (pkt->protocol) {
	case IPPROTO_TCP:
		read_tcp(layout, payload, pkt);
		break;
	case IPPROTO_UDP:
		set_udp(pkt, integer(payload, layout, CHECKSUM),
			integer(payload, layout, IS_FINAL),
			integer(payload, layout, DIGEST));
		break;
	case IPPROTO_SCTP:
		set_sctp(pkt, integer(payload, layout, VTAG),
			 integer(payload, layout, CHUNK),
			 integer(payload, layout, HAS_TSN),
			 integer(payload, layout, TSN));
		break;
	default:
		if (integer(payload, layout, FAMILY) == AF_INET6)
			pkt->protocol = IPPROTO_ICMPV6;
		set_echo(pkt, integer(payload, layout, TYPE),
			 integer(payload, layout, ECHO_ID),
			 integer(payload, layout, ECHO_SEQ));
		break;
	}
}

/*
 * At devices all have TCP's fields, with the meaning of their own. Return:
 * whether there is a use for packets of this protocol.
 */
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
		set_udp(pkt, integer(payload, layout, CHECKSUM),
			integer(payload, layout, FLAGS),
			integer(payload, layout, TSVAL) << 32 |
			integer(payload, layout, TSECR));
		return true;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		pkt->fields &= ~(uint32_t)NETSYNC_HAS_PORTS;
		set_echo(pkt, integer(payload, layout, FLAGS),
			 integer(payload, layout, ACK),
			 integer(payload, layout, SEQ));
		return true;
	case IPPROTO_SCTP:
		set_sctp(pkt, integer(payload, layout, ACK),
			 integer(payload, layout, FLAGS),
			 integer(payload, layout, FLAGS) >> 8,
			 integer(payload, layout, SEQ));
		return true;
	default:
		return false;
	}
}

/* Each device is a point of its own. */
static int find_wire_point(struct ctf_decoder *decoder, struct trace *trace,
			   const bt_field *payload)
{
	const struct layout *layout = &decoder->layout.fields;
	char device[sizeof(decoder->device)];

	snprintf(device, sizeof(device), "%llu:%llu",
		 (unsigned long long)integer(payload, layout, NETNS),
		 (unsigned long long)integer(payload, layout, IFINDEX));
	return find_point(decoder, trace, device);
}

static int decode_flat(struct ctf_decoder *decoder, struct trace *trace,
		       const bt_field *payload, struct netsync_packet *pkt)
{
	const struct layout *layout = &decoder->layout.fields;

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
	pkt->protocol = decoder->layout.kind->protocol;
	if (pkt->protocol == ANY_PROTOCOL) {
		int ret;

		if (!read_wire(layout, payload, pkt))
			return 0;
		ret = find_wire_point(decoder, trace, payload);
		return ret < 0 ? ret : 1;
	}
	read_local(layout, payload, pkt);
	if (decoder->point < 0)
		decoder->point = io_point(trace, decoder->layout.kind->point, "");
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
	uint64_t type = integer(icmp, layout, TYPE);

	if (type != 0 && type != 8)
		return 0;
	set_echo(pkt, type, echo >> 16, echo);
	return 8;
}

static int decode_nested(struct ctf_decoder *decoder, struct trace *trace,
			 const bt_field *payload, struct netsync_packet *pkt)
{
	const struct layout *layout = &decoder->layout.fields;
	const bt_field *network = member(payload, layout, NETWORK);
	const bt_field *ip, *variant, *inner;
	const struct transport *transport;
	const struct header *header;
	uint64_t option = bt_field_variant_get_selected_option_index(network);
	unsigned int bytes = 0;
	int ret;

	if (option >= MAX_OPTIONS)
		return 0;
	header = &decoder->layout.headers[option];
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
	pkt->dir = decoder->layout.kind->dir;
	if (decoder->layout.kind->protocol)
		ret = decode_flat(decoder, trace, payload, pkt);
	else
		ret = decode_nested(decoder, trace, payload, pkt);
	pkt->point = decoder->point;
	return ret;
}
