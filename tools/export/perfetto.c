// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write a file for Perfetto and Chrome, with all hosts on one time base. The file contains packets
 * and messages, and, if requested, all other events.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "events/groups.h"
#include "perfetto.h"

struct perfetto {
	struct timeline *timeline;
	const struct export *export;
	uint64_t messages; /* number of messages written so far */
};

/* ---- packets and messages ---------------------------------------------- */

char *format_tcp_flags(uint16_t word, char text[TCP_FLAGS_SIZE])
{
	/*
	 * Names of the flags from the lowest bit on (RFC 9293, 3.1). AE was formerly NS
	 * (RFC 9768).
	 */
	static const char *const names[] = { "FIN", "SYN", "RST", "PSH", "ACK",
					     "URG", "ECE", "CWR", "AE" };
	size_t length = 0;

	*text = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (word & 1U << i)
			length += snprintf(text + length, TCP_FLAGS_SIZE - length, "%s%s",
					   length ? "|" : "", names[i]);
	return text;
}

static const char *format_protocol_name(uint8_t protocol)
{
	switch (protocol) {
	case IPPROTO_ICMP:
		return "ICMP";
	case IPPROTO_TCP:
		return "TCP";
	case IPPROTO_UDP:
		return "UDP";
	case IPPROTO_ICMPV6:
		return "ICMPv6";
	case IPPROTO_SCTP:
		return "SCTP";
	}
	return "IP";
}

/* Size of a track's name with its terminating NUL, in bytes. Chosen. */
#define NAME_SIZE 32

/* Format the name of a packet as "TCP 40000 > 80". Return @name. */
static char *format_packet_name(char name[NAME_SIZE], uint8_t protocol, bool has_ports,
				uint16_t sport, uint16_t dport)
{
	if (has_ports)
		snprintf(name, NAME_SIZE, "%s %u > %u", format_protocol_name(protocol), sport,
			 dport);
	else
		snprintf(name, NAME_SIZE, "%s", format_protocol_name(protocol));
	return name;
}

/* The arguments of a packet, with buffers for their texts. */
struct packet_args {
	struct arg list[10];
	size_t num;
	char saddr[INET6_ADDRSTRLEN];
	char daddr[INET6_ADDRSTRLEN];
	char flags[TCP_FLAGS_SIZE];
};

static void add_packet_number(struct packet_args *args, const char *name, uint64_t number)
{
	args->list[args->num++] = (struct arg){ name, ARG_UNSIGNED, { .number = number } };
}

static void add_packet_label(struct packet_args *args, const char *name, const char *text)
{
	args->list[args->num++] = (struct arg){ name, ARG_LABEL, { text } };
}

static void make_packet_args(struct packet_args *args, const struct netsync_packet *pkt)
{
	args->list[0] = (struct arg){
		"host_ns",
		ARG_TIME,
		{ .integer = pkt->time_ns },
	};
	args->num = 1;
	if (pkt->fields & NETSYNC_HAS_ADDRS) {
		add_packet_label(args, "saddr", export_format_address(pkt->saddr, args->saddr));
		add_packet_label(args, "daddr", export_format_address(pkt->daddr, args->daddr));
	}
	if (pkt->fields & NETSYNC_HAS_PORTS) {
		add_packet_number(args, "sport", pkt->sport);
		add_packet_number(args, "dport", pkt->dport);
	}
	if (pkt->fields & NETSYNC_HAS_LEN)
		add_packet_number(args, "len", pkt->len);
	if (pkt->protocol == IPPROTO_TCP) {
		add_packet_number(args, "seq", pkt->tcp.seq);
		add_packet_number(args, "ack", pkt->tcp.ack);
		add_packet_label(args, "flags", format_tcp_flags(pkt->tcp.flags, args->flags));
	}
}

static bool put_perfetto_packet(void *data, const void *record)
{
	const struct netsync_packet *pkt = record;
	const bool sent = pkt->dir == NETSYNC_OUT;
	struct perfetto *p = data;
	struct packet_args args;
	char name[NAME_SIZE];
	struct timeline_event event = {
		.track = { pkt->host, sent ? TRACK_OUT : TRACK_IN, 0 },
		.category = "packet",
		.args = args.list,
	};

	if (!timebase_correct_time(&p->export->base->hosts[pkt->host], pkt->time_ns,
				   &event.time_ns) ||
	    !timebase_contains(p->export->base, event.time_ns))
		return true;
	make_packet_args(&args, pkt);
	event.num_args = args.num;
	event.name = format_packet_name(name, pkt->protocol, pkt->fields & NETSYNC_HAS_PORTS,
					pkt->sport, pkt->dport);
	p->timeline->format->packet(p->timeline, &event);
	return !ferror(p->timeline->out);
}

/* Put an end of a message whose packet event is not known. */
static void put_message_end(struct perfetto *p, struct track track, int64_t time_ns,
			    const char *name, const char *other)
{
	const struct arg host = { "host", ARG_LABEL, { other } };
	const struct timeline_event event = {
		track, time_ns, "packet", name, &host, 1,
	};

	p->timeline->format->packet(p->timeline, &event);
}

static bool put_perfetto_message(void *data, const void *record)
{
	const struct netsync_message *msg = record;
	struct perfetto *p = data;
	const struct timebase_host *from = &p->export->base->hosts[msg->from];
	const struct timebase_host *to = &p->export->base->hosts[msg->to];
	struct timeline_message message = {
		.name = "message",
		.sent = { msg->from, TRACK_SENT, 0 },
		.received = { msg->to, TRACK_RECEIVED, 0 },
		.from = from->name,
		.to = to->name,
	};
	char name[NAME_SIZE];

	if (!timebase_correct_time(from, msg->send_ns, &message.sent_ns) ||
	    !timebase_correct_time(to, msg->recv_ns, &message.received_ns) ||
	    !timebase_contains(p->export->base, message.sent_ns) ||
	    !timebase_contains(p->export->base, message.received_ns))
		return true;
	if (msg->protocol) {
		message.name = format_packet_name(name, msg->protocol,
						  msg->fields & NETSYNC_HAS_PORTS, msg->sport,
						  msg->dport);
	} else {
		put_message_end(p, (struct track){ msg->from, TRACK_OUT, 0 }, message.sent_ns,
				"send", to->name);
		put_message_end(p, (struct track){ msg->to, TRACK_IN, 0 }, message.received_ns,
				"receive", from->name);
	}
	message.id = ++p->messages;
	p->timeline->format->message(p->timeline, &message);
	return !ferror(p->timeline->out);
}

/* ---- the whole file ------------------------------------------------------- */

static void name_packet_tracks(struct perfetto *p)
{
	static const struct {
		enum track_kind kind;
		const char *name;
	} tracks[] = {
		{ TRACK_OUT, "packets out" },
		{ TRACK_IN, "packets in" },
		{ TRACK_SENT, "messages out" },
		{ TRACK_RECEIVED, "messages in" },
	};
	struct timeline *timeline = p->timeline;

	for (uint32_t i = 0; i < p->export->base->num_hosts; i++) {
		if (!p->export->base->hosts[i].clock)
			continue;
		for (size_t j = 0; j < sizeof(tracks) / sizeof(tracks[0]); j++)
			timeline->format->name(timeline, (struct track){ i, tracks[j].kind, 0 },
					       tracks[j].name);
	}
}

bool perfetto_write_messages(struct timeline *timeline, const struct export *export)
{
	struct perfetto p = { .timeline = timeline, .export = export };

	name_packet_tracks(&p);
	return spool_read_records(export->packets, put_perfetto_packet, &p) &&
	       spool_read_records(export->messages, put_perfetto_message, &p);
}

bool export_perfetto(FILE *out, const struct export *export)
{
	struct timeline timeline;
	const bool ok = timeline_open(&timeline, export->timeline, out, export->base) &&
			perfetto_write_messages(&timeline, export) &&
			(!export->events ||
			 perfetto_write_events(&timeline, export, GROUPS_ALL_HOSTS));

	return timeline_close(&timeline, ok, "packets, messages and events");
}
