// SPDX-License-Identifier: LGPL-2.1-or-later
/* Decode a CTF event to a packet event or a clock event, using the layout of its class. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "io/ctf/event.h"
#include "io/ctf/layout.h"
#include "io/packet/address.h"
#include "io/packet/siphash.h"

struct ctf_decoder {
	const bt_event_class *class;
	struct event_layout layout;
};

int ctf_decoder_new(const bt_event_class *class, struct ctf_decoder **decoder)
{
	struct ctf_decoder *new = calloc(1, sizeof(*new));

	*decoder = NULL;
	if (!new)
		return -ENOMEM;
	new->class = class;
	if (ctf_find_layout(&new->layout, class))
		*decoder = new;
	else
		free(new);
	return 0;
}

const bt_event_class *ctf_decoder_get_class(const struct ctf_decoder *decoder)
{
	return decoder->class;
}

bool ctf_decoder_has_netns(const struct ctf_decoder *decoder)
{
	return decoder->layout.kind->protocol &&
	       layout_has_all(&decoder->layout.fields, BIT(NETNS));
}

/* ---- fields ------------------------------------------------------------ */

static struct ctf_field get_layout_member(const struct ctf_field *structure,
					  const struct layout *layout, enum meaning meaning)
{
	return ctf_get_member(structure, layout->at[meaning]);
}

static uint64_t get_layout_integer(const struct ctf_field *structure, const struct layout *layout,
				   enum meaning meaning)
{
	struct ctf_field field;

	if (!(layout->has & BIT(meaning)))
		return 0;
	field = get_layout_member(structure, layout, meaning);
	return ctf_get_integer(&field, layout->is_signed & BIT(meaning));
}

/*
 * Read an address. IPv4 addresses have 4 bytes. IPv6 addresses, and IPv4 addresses mapped to IPv6,
 * have 16 bytes or 8 words.
 */
static void read_address_field(uint8_t out[16], const struct ctf_field *structure,
			       const struct layout *layout, enum meaning meaning)
{
	const struct ctf_field array = get_layout_member(structure, layout, meaning);
	uint64_t values[16] = { 0 };
	const uint64_t num = ctf_get_elements(&array, values, 16);
	const unsigned int width = num == 8 ? 2 : 1;
	unsigned int at = 0;

	memset(out, 0, 16);
	/* Only the event itself contains the length of a sequence. */
	if (num != 4 && num != 16 && !(num == 8 && layout->has_units & BIT(meaning)))
		return;
	if (num == 4) {
		memcpy(out, ipv4_prefix, IPV4_AT);
		at = IPV4_AT;
	}
	for (uint64_t i = 0; i < num; i++)
		for (unsigned int byte = width; byte-- > 0;)
			out[at++] = values[i] >> (8 * byte);
}

static bool decode_flat_event(const struct ctf_decoder *decoder, const struct ctf_field *payload,
			      struct event_seen *seen)
{
	const struct layout *layout = &decoder->layout.fields;
	struct event_values v;

	v.has = layout->has;
	for (uint64_t rest = layout->has; rest; rest &= rest - 1) {
		enum meaning meaning = __builtin_ctzll(rest);

		if (meaning == SADDR)
			read_address_field(v.saddr, payload, layout, SADDR);
		else if (meaning == DADDR)
			read_address_field(v.daddr, payload, layout, DADDR);
		else
			v.number[meaning] = get_layout_integer(payload, layout, meaning);
	}
	return event_decode(decoder->layout.kind, &v, seen);
}

/*
 * Set the payload size from the length in the IP header. The length is 0 in packets too large for
 * its 16 bits (BIG TCP). Then the length of the skb is used for received packets; the skb of a
 * sent packet also contains a link header of unknown length.
 */
static void set_payload_length(struct netsync_packet *pkt, uint64_t ip_bytes, uint64_t skb_bytes,
			       uint64_t header_bytes)
{
	if (!ip_bytes && pkt->dir == NETSYNC_IN && skb_bytes > UINT16_MAX)
		ip_bytes = skb_bytes;
	if (ip_bytes < header_bytes)
		return;
	pkt->len = ip_bytes - header_bytes;
	pkt->fields |= NETSYNC_HAS_LEN;
}

static void read_network_header(struct netsync_packet *pkt, const struct header *header,
				const struct ctf_field *ip, uint64_t skb_bytes,
				unsigned int header_bytes)
{
	uint64_t bytes = get_layout_integer(ip, &header->ip, LEN);

	read_address_field(pkt->saddr, ip, &header->ip, SADDR);
	read_address_field(pkt->daddr, ip, &header->ip, DADDR);
	pkt->fields |= NETSYNC_HAS_ADDRS;
	if (header->family == AF_INET6) {
		set_payload_length(pkt, bytes ? bytes + 40 : 0, skb_bytes, 40 + header_bytes);
		return;
	}
	pkt->ip_id = get_layout_integer(ip, &header->ip, IP_ID);
	pkt->fields |= NETSYNC_HAS_IP_ID;
	/* A first fragment (flag MF is set) has only a part of the payload. */
	if (!(get_layout_integer(ip, &header->ip, FRAG_OFF) & 0x2000))
		set_payload_length(pkt, bytes, skb_bytes,
				   get_layout_integer(ip, &header->ip, IHL) * 4 + header_bytes);
}

/*
 * The next three functions return the number of header bytes. They return 0 if the header is
 * invalid or is not an echo.
 */
static unsigned int read_nested_tcp(const struct layout *layout, const struct ctf_field *tcp,
				    struct netsync_packet *pkt)
{
	unsigned int data_offset = get_layout_integer(tcp, layout, DATA_OFFSET);

	if (data_offset < 5)
		return 0;
	pkt->tcp.seq = get_layout_integer(tcp, layout, SEQ);
	pkt->tcp.ack = get_layout_integer(tcp, layout, ACK);
	pkt->sport = get_layout_integer(tcp, layout, SPORT);
	pkt->dport = get_layout_integer(tcp, layout, DPORT);
	pkt->tcp.window = get_layout_integer(tcp, layout, WINDOW);
	pkt->tcp.flags = data_offset << 12 | get_layout_integer(tcp, layout, RESERVED) << 9 |
			 get_layout_integer(tcp, layout, FLAGS);
	pkt->fields |= NETSYNC_HAS_PORTS | NETSYNC_HAS_WINDOW;
	/* With a data offset of 5, there is no space for options. */
	if (data_offset == 5)
		pkt->fields |= NETSYNC_HAS_NO_TSTAMP;
	return data_offset * 4;
}

static unsigned int read_nested_udp(const struct layout *layout, const struct ctf_field *udp,
				    struct netsync_packet *pkt)
{
	pkt->sport = get_layout_integer(udp, layout, SPORT);
	pkt->dport = get_layout_integer(udp, layout, DPORT);
	pkt->fields |= NETSYNC_HAS_PORTS;
	return 8;
}

static unsigned int read_nested_icmp(const struct layout *layout, const struct ctf_field *icmp,
				     struct netsync_packet *pkt)
{
	uint32_t echo = get_layout_integer(icmp, layout, ECHO_ID);
	uint64_t type = get_layout_integer(icmp, layout, TYPE);

	if (type != 0 && type != 8)
		return 0;
	event_set_echo(pkt, type, echo >> 16, echo);
	return 8;
}

/*
 * Return a hash of a device's name, because numbers of devices are only compared with each other.
 * Return 0 if the device has no name.
 */
static uint64_t hash_device_name(const struct ctf_field *name)
{
	const char *text;
	uint64_t len = ctf_get_text(name, &text);

	return len ? siphash_1_3((const uint8_t *)text, len) : 0;
}

static bool decode_nested_event(const struct ctf_decoder *decoder, const struct ctf_field *payload,
				struct event_seen *seen)
{
	struct netsync_packet *pkt = &seen->pkt;
	const struct layout *layout = &decoder->layout.fields;
	const struct ctf_field network = get_layout_member(payload, layout, NETWORK);
	struct ctf_field ip, variant, inner, device;
	const struct transport_layout *transport;
	const struct header *header;
	uint64_t option = ctf_get_selected(&network);
	unsigned int bytes = 0;

	if (option >= MAX_OPTIONS)
		return false;
	header = &decoder->layout.headers[option];
	if (header->family == AF_UNSPEC)
		return false;
	ip = ctf_get_option(&network);
	/* Non-first fragments have no TCP header, even if the tracer has recorded one. */
	if (header->family == AF_INET && get_layout_integer(&ip, &header->ip, FRAG_OFF) & 0x1fff)
		return false;
	variant = get_layout_member(&ip, &header->ip, TRANSPORT);
	option = ctf_get_selected(&variant);
	if (option >= MAX_OPTIONS)
		return false;
	transport = &header->transport[option];
	inner = ctf_get_option(&variant);
	if (transport->protocol == IPPROTO_TCP)
		bytes = read_nested_tcp(&transport->layout, &inner, pkt);
	else if (transport->protocol == IPPROTO_UDP)
		bytes = read_nested_udp(&transport->layout, &inner, pkt);
	else if (transport->protocol == IPPROTO_ICMP)
		bytes = read_nested_icmp(&transport->layout, &inner, pkt);
	if (!bytes)
		return false;
	pkt->dir = decoder->layout.kind->dir;
	pkt->protocol = transport->protocol;
	pkt->skb = get_layout_integer(payload, layout, SKB);
	pkt->fields |= NETSYNC_HAS_SKB;
	read_network_header(pkt, header, &ip, get_layout_integer(payload, layout, LEN), bytes);
	seen->at.place = decoder->layout.kind->place;
	device = get_layout_member(payload, layout, DEVICE);
	seen->at.device = hash_device_name(&device);
	return true;
}

bool ctf_decode_event(const struct ctf_decoder *decoder, const struct ctf_field *payload,
		      struct event_seen *seen)
{
	memset(seen, 0, sizeof(*seen));
	return decoder->layout.kind->protocol ? decode_flat_event(decoder, payload, seen) :
						decode_nested_event(decoder, payload, seen);
}
