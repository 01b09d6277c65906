// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace Event Format, which Perfetto and Chrome show: hosts are processes, packet
 * events are slices and messages flows between these. Times are microseconds,
 * relative to a base: viewers keep them in a double.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <json.h>
#include <string.h>

#include "perfetto.h"
#include "writer.h"

#define SECOND INT64_C(1000000000)

/*
 * Flows need slices that enclose them. This is as short as slices can be, so that
 * no two overlap, in whatever order they come.
 */
#define SLICE ",\"dur\":0.001"

/* ---- writing ----------------------------------------------------------- */

void perfetto_text(FILE *out, const char *text)
{
	json_object *string = new_string(text);

	fputs(string ? json_object_to_json_string_ext(string,
		       JSON_C_TO_STRING_NOSLASHESCAPE) : "\"\"", out);
	json_object_put(string);
}

void perfetto_begin(struct perfetto *p, char phase, uint32_t host, uint32_t thread)
{
	fprintf(p->out, "%s{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u",
		p->begun ? ",\n" : "\n", phase, host + 1, thread);
	p->begun = true;
}

void perfetto_begin_at(struct perfetto *p, char phase, uint32_t host,
		       uint32_t thread, int64_t time_ref)
{
	/* Times of one trace are within 36 years. */
	const int64_t t = time_ref - p->base_ns;
	const uint64_t ns = t < 0 ? -(uint64_t)t : (uint64_t)t;

	perfetto_begin(p, phase, host, thread);
	fprintf(p->out, ",\"ts\":%s%" PRIu64 ".%03u", t < 0 ? "-" : "", ns / 1000,
		(unsigned int)(ns % 1000));
}

void perfetto_end(struct perfetto *p)
{
	putc('}', p->out);
}

static void name_it(struct perfetto *p, const char *what, uint32_t host,
		    uint32_t thread, const char *name)
{
	perfetto_begin(p, 'M', host, thread);
	fprintf(p->out, ",\"name\":\"%s\",\"args\":{\"name\":", what);
	perfetto_text(p->out, name);
	putc('}', p->out);
	perfetto_end(p);
}

void perfetto_name_thread(struct perfetto *p, uint32_t host, uint32_t thread,
			  const char *name)
{
	name_it(p, "thread_name", host, thread, name);
}

/* ---- packets and messages ---------------------------------------------- */

static const char *protocol_name(uint8_t protocol)
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

static void put_packet_args(FILE *out, const struct netsync_packet *pkt)
{
	char text[INET6_ADDRSTRLEN];

	/* No double holds it. */
	fprintf(out, ",\"args\":{\"host_ns\":\"%" PRId64 "\"", pkt->time_ns);
	if (pkt->fields & NETSYNC_HAS_ADDRS) {
		fprintf(out, ",\"saddr\":\"%s\"", export_address(pkt->saddr, text));
		fprintf(out, ",\"daddr\":\"%s\"", export_address(pkt->daddr, text));
	}
	if (pkt->fields & NETSYNC_HAS_PORTS)
		fprintf(out, ",\"sport\":%u,\"dport\":%u", pkt->sport, pkt->dport);
	if (pkt->fields & NETSYNC_HAS_LEN)
		fprintf(out, ",\"len\":%u", pkt->len);
	if (pkt->protocol == IPPROTO_TCP)
		fprintf(out, ",\"seq\":%u,\"ack\":%u,\"flags\":%u", pkt->seq,
			pkt->ack, pkt->flags);
	putc('}', out);
}

static bool put_packet(void *data, const void *record)
{
	const struct netsync_packet *pkt = record;
	const bool sent = pkt->dir == NETSYNC_OUT;
	struct perfetto *p = data;
	int64_t t;

	if (!export_time(&p->export->hosts[pkt->host], pkt->time_ns, &t))
		return true;
	perfetto_begin_at(p, 'X', pkt->host, sent ? THREAD_OUT : THREAD_IN, t);
	fprintf(p->out, SLICE ",\"cat\":\"packet\",\"name\":\"%s",
		protocol_name(pkt->protocol));
	if (pkt->fields & NETSYNC_HAS_PORTS)
		fprintf(p->out, " %u > %u", pkt->sport, pkt->dport);
	putc('"', p->out);
	put_packet_args(p->out, pkt);
	perfetto_end(p);
	return !ferror(p->out);
}

/* One that no packet event is known of. */
static void put_end(struct perfetto *p, uint32_t host, uint32_t thread, int64_t t,
		    const char *what, uint32_t other)
{
	perfetto_begin_at(p, 'X', host, thread, t);
	fprintf(p->out, SLICE ",\"cat\":\"packet\",\"name\":\"%s\","
		"\"args\":{\"host\":", what);
	perfetto_text(p->out, p->export->hosts[other].name);
	putc('}', p->out);
	perfetto_end(p);
}

static bool put_message(void *data, const void *record)
{
	static const char flow[] =
		",\"cat\":\"message\",\"name\":\"message\",\"id\":%" PRIu64;
	const struct netsync_message *msg = record;
	struct perfetto *p = data;
	int64_t sent, received;

	if (!export_time(&p->export->hosts[msg->from], msg->send_ns, &sent) ||
	    !export_time(&p->export->hosts[msg->to], msg->recv_ns, &received))
		return true;
	if (!msg->protocol) {
		put_end(p, msg->from, THREAD_OUT, sent, "send", msg->to);
		put_end(p, msg->to, THREAD_IN, received, "receive", msg->from);
	}
	p->flows++;
	perfetto_begin_at(p, 's', msg->from, THREAD_OUT, sent);
	fprintf(p->out, flow, p->flows);
	perfetto_end(p);
	perfetto_begin_at(p, 'f', msg->to, THREAD_IN, received);
	fprintf(p->out, flow, p->flows);
	fputs(",\"bp\":\"e\"", p->out);
	perfetto_end(p);
	return !ferror(p->out);
}

/* ---- all of it --------------------------------------------------------- */

/* The full second in which the first trace begins. */
static int64_t find_base(const struct export *export)
{
	int64_t base = INT64_MAX, t;

	for (uint32_t i = 0; i < export->num_hosts; i++) {
		const struct netsync_host_info info = host_info(export->ns, i);

		if (info.first_ns <= info.last_ns &&
		    export_time(&export->hosts[i], info.first_ns, &t) && t < base)
			base = t;
	}
	if (base == INT64_MAX)
		return 0;
	return base - (base % SECOND + SECOND) % SECOND;
}

static void put_hosts(struct perfetto *p)
{
	for (uint32_t i = 0; i < p->export->num_hosts; i++) {
		if (!p->export->hosts[i].clock)
			continue;
		name_it(p, "process_name", i, 0, p->export->hosts[i].name);
		perfetto_name_thread(p, i, THREAD_OUT, "packets out");
		perfetto_name_thread(p, i, THREAD_IN, "packets in");
	}
}

bool export_perfetto(FILE *out, const struct export *export)
{
	struct perfetto p = {
		.out = out, .export = export, .base_ns = find_base(export),
	};
	bool ok;

	fprintf(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"base_ns\":\"%"
		PRId64 "\",\"reference\":", p.base_ns);
	perfetto_text(out, export->reference);
	fputs(",\"made_by\":\"netsync " NETSYNC_VERSION "\"},\"traceEvents\":[", out);
	put_hosts(&p);
	ok = spool_replay(export->packets, put_packet, &p) &&
	     spool_replay(export->messages, put_message, &p) &&
	     (!export->events || perfetto_events(&p));
	fputs("\n]}\n", out);
	return ok;
}
