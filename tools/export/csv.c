// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write messages as comma-separated values (RFC 4180). Each message is a line. Times are
 * integers in ns. Unknown values are empty.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "common/csv.h"
#include "common/result-info.h"
#include "export.h"

static const char header[] = "from,to,send_ns,recv_ns,send_ref_ns,send_bound_ns,recv_ref_ns,"
			     "recv_bound_ns,delay_raw_ns,delay_ns,delay_min_ns,delay_max_ns,"
			     "protocol,saddr,sport,daddr,dport,len";
/* Last columns if the method computed standard deviations. */
static const char deviation_header[] = ",send_deviation_ns,recv_deviation_ns";

struct message_csv {
	FILE *out;
	const struct export *export;
	bool has_deviations;
};

/* One end of a message, with the end's corrected time. */
struct end {
	bool known;
	int64_t time_ns;
	int64_t bound_ns;
	int64_t deviation_ns;
	int64_t lo_ns; /* earliest time of the end; INT64_MIN if unknown */
	int64_t hi_ns; /* latest time of the end; INT64_MAX if unknown */
};

static struct end correct_message_end(const struct timebase_host *host, int64_t time_ns)
{
	struct end end = { .deviation_ns = NETSYNC_UNKNOWN,
			   .lo_ns = INT64_MIN,
			   .hi_ns = INT64_MAX };
	int64_t t;

	end.known = host->clock && !__builtin_add_overflow(time_ns, host->shift_ns, &t) &&
		    !netsync_convert(host->clock, t, &end.time_ns, &end.bound_ns) &&
		    !netsync_interval(host->clock, t, &end.lo_ns, &end.hi_ns);
	if (end.known)
		end.deviation_ns = netsync_deviation(host->clock, t);
	return end;
}

static void put_csv_time(FILE *out, bool known, int64_t ns)
{
	if (known)
		fprintf(out, ",%" PRId64, ns);
	else
		putc(',', out);
}

static void put_csv_end(FILE *out, const struct end *end)
{
	put_csv_time(out, end->known, end->time_ns);
	put_csv_time(out, end->known && end->bound_ns != NETSYNC_UNKNOWN, end->bound_ns);
}

static void put_csv_difference(FILE *out, bool known, int64_t a, int64_t b)
{
	int64_t difference;

	known = known && !__builtin_sub_overflow(a, b, &difference);
	put_csv_time(out, known, known ? difference : 0);
}

static void put_csv_delay(FILE *out, const struct netsync_message *msg, const struct end *send,
			  const struct end *recv)
{
	const bool known = send->known && recv->known;

	put_csv_difference(out, true, msg->recv_ns, msg->send_ns);
	put_csv_difference(out, known, recv->time_ns, send->time_ns);
	put_csv_difference(out, known && recv->lo_ns != INT64_MIN && send->hi_ns != INT64_MAX,
			   recv->lo_ns, send->hi_ns);
	put_csv_difference(out, known && recv->hi_ns != INT64_MAX && send->lo_ns != INT64_MIN,
			   recv->hi_ns, send->lo_ns);
}

static void put_csv_port(FILE *out, const struct netsync_message *msg, const uint8_t address[16],
			 uint16_t port)
{
	char text[INET6_ADDRSTRLEN] = "";

	if (msg->fields & NETSYNC_HAS_ADDRS)
		export_format_address(address, text);
	fprintf(out, ",%s", text);
	put_csv_time(out, msg->fields & NETSYNC_HAS_PORTS, port);
}

/* Return whether an end of a message is within the window. An uncorrected time is in no window. */
static bool is_end_in_window(const struct export *export, const struct end *end)
{
	const bool is_whole = export->base->begin_ns == INT64_MIN &&
			      export->base->end_ns == INT64_MAX;

	return is_whole || (end->known && timebase_contains(export->base, end->time_ns));
}

static bool put_csv_message(void *data, const void *record)
{
	const struct netsync_message *msg = record;
	const struct message_csv *csv = data;
	const struct timebase_host *from = &csv->export->base->hosts[msg->from];
	const struct timebase_host *to = &csv->export->base->hosts[msg->to];
	const struct end send = correct_message_end(from, msg->send_ns);
	const struct end recv = correct_message_end(to, msg->recv_ns);

	if (!is_end_in_window(csv->export, &send) || !is_end_in_window(csv->export, &recv))
		return true;
	csv_put_text(csv->out, from->name);
	putc(',', csv->out);
	csv_put_text(csv->out, to->name);
	put_csv_time(csv->out, true, msg->send_ns);
	put_csv_time(csv->out, true, msg->recv_ns);
	put_csv_end(csv->out, &send);
	put_csv_end(csv->out, &recv);
	put_csv_delay(csv->out, msg, &send, &recv);
	put_csv_time(csv->out, msg->protocol, msg->protocol);
	put_csv_port(csv->out, msg, msg->saddr, msg->sport);
	put_csv_port(csv->out, msg, msg->daddr, msg->dport);
	put_csv_time(csv->out, msg->fields & NETSYNC_HAS_LEN, msg->len);
	if (csv->has_deviations) {
		put_csv_time(csv->out, send.deviation_ns != NETSYNC_UNKNOWN, send.deviation_ns);
		put_csv_time(csv->out, recv.deviation_ns != NETSYNC_UNKNOWN, recv.deviation_ns);
	}
	fputs("\r\n", csv->out);
	return !ferror(csv->out);
}

/* Has any clock a standard deviation? */
static bool has_clock_deviations(const struct timebase *base)
{
	for (size_t i = 0; i < base->num_hosts; i++)
		if (clock_has_deviations(base->hosts[i].clock))
			return true;
	return false;
}

bool export_csv(FILE *out, const struct export *export)
{
	struct message_csv csv = { out, export, has_clock_deviations(export->base) };

	fprintf(out, "%s%s\r\n", header, csv.has_deviations ? deviation_header : "");
	return spool_read_records(export->messages, put_csv_message, &csv);
}
