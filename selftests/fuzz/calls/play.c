// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "play.h"

/* Minimum delay of messages, and maximum excess, ns, as on a LAN. */
#define LEAST_DELAY (30 * US)
#define MORE_DELAY (200 * US)

/* Flags of messages and packets. */
#define BOTH_DIRECTIONS 1
#define ONE_IS_SLOW 2
/* Flags of clock readings. */
#define TELLS_RATE 1
#define IS_NUMBERED 2
#define TELLS_SETTING 4
#define IS_COARSE 8
#define FORGETS_SOME 16
/* Flags of calls that promise that earlier input is complete. */
#define PROMISES_ALL 1
#define PAUSES 2

void play_fail(const char *what, ...)
{
	va_list ap;

	va_start(ap, what);
	vfprintf(stderr, what, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}

static void note_refused(struct player *p, const struct call *c, uint32_t i, int error)
{
	uint64_t state = p->refused + (uint64_t)(c - p->script->call) * 64 + i;

	p->refused = script_draw_random(&state) + (uint64_t)-error;
}

/* Accept only documented errors, and only with a message. */
static bool is_call_accepted(struct player *p, const struct call *c, uint32_t i, int ret)
{
	const char *why = netsync_error(p->ns);

	if ((ret < 0) != (*why != 0))
		play_fail("error %d says \"%s\"", ret, why);
	if (!ret)
		return true;
	if (ret != -ERANGE && ret != -EINVAL && ret != -EALREADY)
		play_fail("refused: %d, %s", ret, why);
	note_refused(p, c, i, ret);
	return false;
}

/* Return a time near an overflow. */
static int64_t draw_wild_time(uint64_t *state)
{
	static const int64_t times[] = {
		0,
		INT64_MIN,
		INT64_MAX,
		NETSYNC_MAX_TIME,
		-NETSYNC_MAX_TIME,
		EPOCH,
		-EPOCH,
		NETSYNC_MAX_TIME - NETSYNC_MAX_SPAN,
		NETSYNC_MAX_SPAN,
		-NETSYNC_MAX_SPAN,
		EPOCH + NETSYNC_MAX_SPAN,
		EPOCH - NETSYNC_MAX_SPAN,
	};
	const uint64_t bits = script_draw_random(state);
	const int64_t by = (int64_t)(bits >> 8 & 0xffff) << (bits & 31);
	int64_t t = times[(bits >> 24) % (sizeof(times) / sizeof(*times))];

	if (bits & 0x40000000)
		t = t < 0 ? t + by : t - by;
	return t;
}

static int64_t draw_time_of_host(const struct player *p, uint32_t host, int64_t t, uint64_t *state)
{
	return p->script->is_wild && script_draw_random(state) % 4 == 0 ?
		       draw_wild_time(state) :
		       script_compute_shown(&p->script->clock[host], t);
}

/* Return the number of a host. Add the host when it is first used. */
static uint32_t get_host_number(struct player *p, uint32_t host)
{
	char name[8];
	int number;

	if (p->added[host])
		return p->added[host] - 1;
	snprintf(name, sizeof(name), "h%u", host);
	number = netsync_add_host(p->ns, name);
	if (number < 0)
		play_fail("a host is refused: %d", number);
	p->added[host] = (uint32_t)number + 1;
	return (uint32_t)number;
}

static int64_t draw_call_delay(const struct call *c, uint32_t i, uint64_t *state)
{
	const int64_t slow = c->flags & ONE_IS_SLOW && i == c->num / 2 ? 300 * MS : 0;

	return LEAST_DELAY + slow + (int64_t)(script_draw_random(state) % MORE_DELAY);
}

/* The hosts and times of one message of a call. */
struct trip {
	uint32_t from;
	uint32_t to;
	int64_t send;
	int64_t recv;
};

static struct trip make_trip(const struct player *p, const struct call *c, uint32_t i,
			     uint64_t *state)
{
	const bool back = c->flags & BOTH_DIRECTIONS && i & 1;
	const int64_t at = c->at + i * c->apart;
	struct trip t = { .from = c->host[back], .to = c->host[!back] };

	t.send = draw_time_of_host(p, t.from, at, state);
	t.recv = draw_time_of_host(p, t.to, at + draw_call_delay(c, i, state), state);
	return t;
}

static void play_messages(struct player *p, const struct call *c, uint64_t *state)
{
	for (uint32_t i = 0; i < c->num; i++) {
		const struct trip t = make_trip(p, c, i, state);
		const uint32_t from = get_host_number(p, t.from), to = get_host_number(p, t.to);

		is_call_accepted(p, c, i, netsync_push_message(p->ns, from, to, t.send, t.recv));
	}
}

static struct netsync_packet make_trip_packet(const struct trip *t, uint64_t digest)
{
	struct netsync_packet pkt = {
		.size = sizeof(pkt),
		.fields = NETSYNC_HAS_ADDRS | NETSYNC_HAS_PORTS | NETSYNC_HAS_LEN |
			  NETSYNC_HAS_DIGEST,
		.protocol = 17,
		.sport = 1000,
		.dport = 2000,
		.len = 100,
		.udp = { .digest = digest },
	};
	uint8_t from[16] = { [10] = 0xff, 0xff, 10, 0, 0, (uint8_t)t->from };
	uint8_t to[16] = { [10] = 0xff, 0xff, 10, 0, 0, (uint8_t)t->to };

	memcpy(pkt.saddr, from, sizeof(from));
	memcpy(pkt.daddr, to, sizeof(to));
	return pkt;
}

static void play_packets(struct player *p, const struct call *c, uint64_t *state)
{
	for (uint32_t i = 0; i < c->num; i++) {
		const struct trip t = make_trip(p, c, i, state);
		struct netsync_packet pkt = make_trip_packet(&t, script_draw_random(state));

		pkt.dir = NETSYNC_OUT;
		pkt.host = get_host_number(p, t.from);
		pkt.time_ns = t.send;
		is_call_accepted(p, c, 2 * i, netsync_push_packet(p->ns, &pkt));
		/* Drop some packets. */
		if (script_draw_random(state) % 8 == 0)
			continue;
		pkt.dir = NETSYNC_IN;
		pkt.host = get_host_number(p, t.to);
		pkt.time_ns = t.recv;
		is_call_accepted(p, c, 2 * i + 1, netsync_push_packet(p->ns, &pkt));
	}
}

static void play_reading(struct player *p, const struct call *c, uint32_t i,
			 const struct netsync_clock_point *point, int64_t at)
{
	const uint32_t h = c->host[0];

	if (!is_call_accepted(p, c, i, netsync_push_clock(p->ns, point)))
		return;
	p->readings[h][at >= p->script->clock[h].set_at]++;
}

/* Push consecutive readings of a clock, one of them at the clock's step. */
static void play_readings(struct player *p, const struct call *c, uint64_t *state)
{
	const struct true_clock *clock = &p->script->clock[c->host[0]];
	const int64_t within = c->flags & IS_COARSE ? 10 * US : 100;
	const uint32_t number = 1 + (uint32_t)(c - p->script->call) * 1000;
	bool was_set = c->at >= clock->set_at;
	uint32_t passed = 0;

	for (uint32_t i = 0; i < c->num; i++) {
		int64_t at = c->at + i * c->apart;
		const bool sets = !was_set && at >= clock->set_at && clock->set_by;
		struct netsync_clock_point point = {
			.size = sizeof(point),
			.host = get_host_number(p, c->host[0]),
			.within_ns = within,
			.rate = c->flags & TELLS_RATE ? 1 + clock->steering : 0,
			.number = c->flags & IS_NUMBERED ? number + passed : 0,
		};

		passed++;
		if (sets) {
			was_set = true;
			at = clock->set_at;
			point.was_set = c->flags & TELLS_SETTING ? 1 : 0;
		}
		/*
		 * Skip some readings, but not the one at the step. The sequence numbers of the
		 * readings reveal the gap.
		 */
		if (c->flags & FORGETS_SOME && i % 5 == 4 && !sets)
			continue;
		point.time_ns = draw_time_of_host(p, c->host[0], at, state);
		point.raw_ns = script_compute_raw(clock, at) +
			       (int64_t)(script_draw_random(state) % (2 * (uint64_t)within + 1)) -
			       within;
		play_reading(p, c, i, &point, at);
	}
}

static void check_watched_packet(void *data, const struct netsync_packet *pkt)
{
	struct player *p = data;

	p->seen_packets += pkt->size == sizeof(*pkt);
}

static void check_watched_message(void *data, const struct netsync_message *msg)
{
	struct player *p = data;

	p->seen_messages += msg->from != msg->to;
}

static void play_extended_span(struct player *p, const struct call *c, uint64_t *state)
{
	const uint32_t host = get_host_number(p, c->host[0]);
	const int64_t t = draw_time_of_host(p, c->host[0], c->at, state);

	is_call_accepted(p, c, 0, netsync_extend_span(p->ns, host, t));
}

static void play_promise(struct player *p, const struct call *c, uint64_t *state)
{
	const uint32_t host = get_host_number(p, c->host[0]);
	const int64_t t = c->flags & PROMISES_ALL ? INT64_MAX :
						    draw_time_of_host(p, c->host[0], c->at, state);

	is_call_accepted(p, c, 0,
			 c->flags & PAUSES ? netsync_pause(p->ns, host) :
					     netsync_advance(p->ns, host, t));
}

/* Solve between two calls. Any result is accepted, because later calls may change it. */
static void solve_between(struct player *p)
{
	if (p->solves)
		play_solve(p);
}

static void make_call(struct player *p, const struct call *c)
{
	/*
	 * Each call has its own random numbers, which do not depend on the parts that are played.
	 */
	uint64_t state = (uint64_t)(c - p->script->call) * 977 + c->flags;

	switch (c->kind) {
	case CALL_MESSAGES:
		play_messages(p, c, &state);
		break;
	case CALL_PACKETS:
		play_packets(p, c, &state);
		break;
	case CALL_READINGS:
		play_readings(p, c, &state);
		break;
	case CALL_SPAN:
		play_extended_span(p, c, &state);
		break;
	case CALL_ADVANCE:
		play_promise(p, c, &state);
		break;
	case CALL_SOLVE:
		solve_between(p);
		break;
	case CALL_WATCH:
		netsync_watch_packets(p->ns, c->flags & 1 ? check_watched_packet : NULL, p);
		netsync_watch_messages(p->ns, c->flags & 2 ? check_watched_message : NULL, p);
		break;
	case CALL_LIMIT:
		netsync_limit_packets(p->ns, c->flags << 8);
		break;
	}
}

void play_begin(struct player *p, const struct script *s)
{
	*p = (struct player){ .script = s, .ns = netsync_new() };
	if (!p->ns)
		play_fail("there is no memory");
	for (uint32_t i = 0; i < SCRIPT_HOSTS && !s->adds_hosts_late; i++)
		get_host_number(p, i);
}

void play_part(struct player *p, uint32_t part)
{
	for (uint32_t i = 0; i < p->script->num; i++)
		if (p->script->call[i].part == part)
			make_call(p, &p->script->call[i]);
}

void play_all(struct player *p)
{
	for (uint32_t i = 0; i < SCRIPT_PARTS; i++)
		play_part(p, i);
}

void play_solve(struct player *p)
{
	const int ret = netsync_solve(p->ns, &p->script->options);

	/* A script may name a host that is added later or does not exist. */
	if (ret && ret != -ENOENT)
		play_fail("not solved: %d, %s", ret, netsync_error(p->ns));
}
