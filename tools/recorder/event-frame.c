// SPDX-License-Identifier: GPL-2.0-only
/* Convert events of the kernel module to frames without payload. */
#include <linux/if_ether.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "event-frame.h"

/* Sizes of headers without options, in bytes. */
#define IPV4_HEADER 20
#define IPV6_HEADER 40
#define TCP_HEADER 20
#define TCP_TIMESTAMPS 12 /* two NOPs and the option (RFC 7323, appendix A) */
#define UDP_HEADER 8
#define ICMP_HEADER 8
#define SCTP_HEADER 12
/* Size of the header of an SCTP chunk, and of DATA chunks with their transmission sequence number. */
#define CHUNK_HEADER 4
#define DATA_CHUNK_HEADER 16
#define NO_CHUNK 255
/* Types of chunks with such a number (RFC 9260, RFC 8260). */
#define DATA_CHUNK 0
#define I_DATA_CHUNK 64
/* Time to live of the headers made here, because events do not contain it. */
#define USUAL_TTL 64
/* Offset of an IPv4 address in a mapped IPv6 address (RFC 4291, 2.5.5.2), bytes. */
#define MAPPED_AT 12

/* ---- fields -------------------------------------------------------------------- */

#define EVENT_FIELD_NAME(name) #name,
static const char *const field_names[] = { EVENT_FIELDS(EVENT_FIELD_NAME) };

/* Return the place of a field's line, "field:TYPE NAME; offset:N; size:N; ...". */
static bool parse_format_line(const char *line, const char *name, struct event_field_place *place)
{
	const size_t length = strlen(name);
	const char *end = strchr(line, ';'), *begin = end;
	unsigned int at, size;

	if (strncmp(line, "field:", 6) || !end)
		return false;
	while (begin > line && begin[-1] != ' ' && begin[-1] != '\t')
		begin--;
	/* The name of an array is followed by its length in brackets. */
	if (strncmp(begin, name, length) || (begin[length] != ';' && begin[length] != '[') ||
	    sscanf(end, "; offset:%u; size:%u;", &at, &size) != 2 || at > UINT16_MAX - 16 ||
	    size > 16)
		return false;
	*place = (struct event_field_place){ .at = (uint16_t)at, .size = (uint16_t)size };
	return true;
}

bool event_parse_format(const char *text, struct event_format *format)
{
	*format = (struct event_format){ .size = 0 };
	while (text) {
		const char *line = text + strspn(text, " \t");

		for (int i = 0; i < NUM_EVENT_FIELDS; i++)
			parse_format_line(line, field_names[i], &format->place[i]);
		text = strchr(text, '\n');
		text += text != NULL;
	}
	for (int i = 0; i < NUM_EVENT_FIELDS; i++) {
		const struct event_field_place *place = &format->place[i];
		const bool is_address = i == EVENT_saddr || i == EVENT_daddr;

		if (is_address ? place->size != 16 :
				 place->size != 1 && place->size != 2 && place->size != 4)
			return false;
		if (format->size < (size_t)place->at + place->size)
			format->size = (size_t)place->at + place->size;
	}
	return true;
}

uint32_t event_get(const struct event_format *format, const uint8_t *event, enum event_field field)
{
	const uint8_t *from = event + format->place[field].at;
	uint32_t four;
	uint16_t two;

	switch (format->place[field].size) {
	case 1:
		return *from;
	case 2:
		memcpy(&two, from, sizeof(two));
		return two;
	default:
		memcpy(&four, from, sizeof(four));
		return four;
	}
}

/* ---- headers ------------------------------------------------------------------- */

/* An event, and the header that is made from it. */
struct event_header {
	const struct event_format *format;
	const uint8_t *event;
	uint8_t *to;
};

static uint8_t *put_big16(uint8_t *to, uint32_t value)
{
	to[0] = (uint8_t)(value >> 8);
	to[1] = (uint8_t)value;
	return to + 2;
}

static uint8_t *put_big32(uint8_t *to, uint32_t value)
{
	return put_big16(put_big16(to, value >> 16), value & 0xffff);
}

static uint32_t get_field(const struct event_header *h, enum event_field field)
{
	return event_get(h->format, h->event, field);
}

static uint8_t *put_event_ports(const struct event_header *h)
{
	return put_big16(put_big16(h->to, get_field(h, EVENT_sport)), get_field(h, EVENT_dport));
}

/* Make a TCP header of its original size. Options other than timestamps are replaced by NOPs. */
static size_t put_event_tcp(const struct event_header *h)
{
	static const uint8_t timestamps[] = { 1, 1, 8, 10 };
	const uint32_t flags = get_field(h, EVENT_flags);
	size_t size = (flags >> 12) * 4;
	uint8_t *to = put_event_ports(h);

	if (size < TCP_HEADER)
		size = TCP_HEADER;
	to = put_big32(put_big32(to, get_field(h, EVENT_seq)), get_field(h, EVENT_ack_seq));
	to = put_big16(to, (flags & 0xfff) | (uint32_t)(size / 4) << 12);
	to = put_big16(to, get_field(h, EVENT_window));
	to = put_big16(put_big16(to, get_field(h, EVENT_check)), 0);
	memset(to, 1, size - TCP_HEADER);
	if (get_field(h, EVENT_has_ts) && size >= TCP_HEADER + TCP_TIMESTAMPS) {
		memcpy(to, timestamps, sizeof(timestamps));
		put_big32(put_big32(to + sizeof(timestamps), get_field(h, EVENT_tsval)),
			  get_field(h, EVENT_tsecr));
	}
	return size;
}

static size_t put_event_udp(const struct event_header *h)
{
	const uint32_t length = UDP_HEADER + get_field(h, EVENT_len);
	uint8_t *to = put_event_ports(h);

	/* A large packet, which segmentation offload splits, may exceed the field. */
	put_big16(put_big16(to, length <= UINT16_MAX ? length : 0), get_field(h, EVENT_check));
	return UDP_HEADER;
}

static size_t put_event_icmp(const struct event_header *h)
{
	h->to[0] = (uint8_t)get_field(h, EVENT_flags);
	h->to[1] = 0;
	put_big16(put_big16(put_big16(h->to + 2, 0), get_field(h, EVENT_ack_seq)),
		  get_field(h, EVENT_seq));
	return ICMP_HEADER;
}

/* Make the headers of a packet and its first chunk. Other sources record no more of it either. */
static size_t put_event_sctp(const struct event_header *h)
{
	const uint32_t flags = get_field(h, EVENT_flags), chunk = flags & 0xff;
	const bool has_tsn = flags >> 8 && (chunk == DATA_CHUNK || chunk == I_DATA_CHUNK);
	const size_t size = has_tsn ? DATA_CHUNK_HEADER : chunk == NO_CHUNK ? 0 : CHUNK_HEADER;
	uint8_t *to = put_event_ports(h);

	to = put_big32(put_big32(to, get_field(h, EVENT_ack_seq)), 0);
	memset(to, 0, size);
	if (size) {
		to[0] = (uint8_t)chunk;
		put_big16(to + 2, get_field(h, EVENT_len) & 0xffff);
	}
	if (has_tsn)
		put_big32(to + CHUNK_HEADER, get_field(h, EVENT_seq));
	return SCTP_HEADER + size;
}

/* Make the transport header. Return its size, or 0 if the protocol is another one. */
static size_t put_event_transport(const struct event_header *h)
{
	switch (get_field(h, EVENT_protocol)) {
	case IPPROTO_TCP:
		return put_event_tcp(h);
	case IPPROTO_UDP:
		return put_event_udp(h);
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return put_event_icmp(h);
	case IPPROTO_SCTP:
		return put_event_sctp(h);
	default:
		return 0;
	}
}

/* Compute the checksum of an IPv4 header (RFC 791), whose own field is 0. */
static uint32_t compute_ipv4_checksum(const uint8_t *header)
{
	uint32_t sum = 0;

	for (int i = 0; i < IPV4_HEADER; i += 2)
		sum += (uint32_t)header[i] << 8 | header[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	return ~(sum + (sum >> 16)) & 0xffff;
}

/* Make the IPv4 or IPv6 header of a packet whose rest has @rest bytes. */
static void put_event_network(const struct event_header *h, uint32_t rest)
{
	const uint8_t *saddr = h->event + h->format->place[EVENT_saddr].at;
	const uint8_t *daddr = h->event + h->format->place[EVENT_daddr].at;
	const uint8_t protocol = (uint8_t)get_field(h, EVENT_protocol);
	const uint32_t total = IPV4_HEADER + rest;
	uint8_t *to = h->to;

	if (get_field(h, EVENT_family) == AF_INET6) {
		/* The length of packets that exceed the field is 0, as in jumbograms (RFC 2675). */
		to = put_big16(put_big32(to, 6u << 28), rest <= UINT16_MAX ? rest : 0);
		to[0] = protocol;
		to[1] = USUAL_TTL;
		memcpy(to + 2, saddr, 16);
		memcpy(to + 18, daddr, 16);
		return;
	}
	to = put_big16(put_big16(to, 0x4500), total <= UINT16_MAX ? total : 0);
	to = put_big16(put_big16(to, get_field(h, EVENT_id)), 0);
	to = put_big16(put_big16(to, (uint32_t)USUAL_TTL << 8 | protocol), 0);
	memcpy(to, saddr + MAPPED_AT, 4);
	memcpy(to + 4, daddr + MAPPED_AT, 4);
	put_big16(h->to + 10, compute_ipv4_checksum(h->to));
}

/* Return the number of bytes after the network header, where the transport header has @size bytes. */
static uint32_t count_event_bytes(const struct event_header *h, size_t size)
{
	const uint32_t len = get_field(h, EVENT_len);

	/* The length of SCTP packets includes their chunks. */
	if (get_field(h, EVENT_protocol) == IPPROTO_SCTP)
		return SCTP_HEADER + len;
	return (uint32_t)size + len;
}

bool event_make_frame(const struct event_format *format, const uint8_t *event,
		      uint8_t headers[LONGEST_EVENT_HEADERS], struct seen_frame *frame)
{
	const bool is_ipv6 = event_get(format, event, EVENT_family) == AF_INET6;
	const size_t network = is_ipv6 ? IPV6_HEADER : IPV4_HEADER;
	struct event_header h = { format, event, headers + network };
	const size_t transport = put_event_transport(&h);
	uint32_t rest;

	if (!transport || (!is_ipv6 && event_get(format, event, EVENT_family) != AF_INET))
		return false;
	rest = count_event_bytes(&h, transport);
	h.to = headers;
	put_event_network(&h, rest);
	*frame = (struct seen_frame){
		.netns = event_get(format, event, EVENT_netns),
		.device = (int)event_get(format, event, EVENT_ifindex),
		.device_type = ARPHRD_NONE,
		.protocol = is_ipv6 ? ETH_P_IPV6 : ETH_P_IP,
		.original = (uint32_t)network + rest,
		.captured = network + (rest < transport ? rest : transport),
		.link = headers,
	};
	return true;
}
