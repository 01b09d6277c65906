// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <string.h>

#include "script.h"

/*
 * Span of the true times of all calls, ns. Chosen to be longer than gaps after which an interval
 * counts as unreported.
 */
#define WORLD_SPAN (200 * SEC)

struct cursor {
	const uint8_t *at;
	size_t left;
};

static uint32_t read_script_byte(struct cursor *c)
{
	if (!c->left)
		return 0;
	c->left--;
	return *c->at++;
}

static uint32_t read_script_short(struct cursor *c)
{
	const uint32_t high = read_script_byte(c);

	return high << 8 | read_script_byte(c);
}

uint64_t script_draw_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

int64_t script_compute_raw(const struct true_clock *c, int64_t t)
{
	return c->raw + t + llround(c->skew * (double)t);
}

int64_t script_compute_shown(const struct true_clock *c, int64_t t)
{
	const int64_t run = script_compute_raw(c, t) - c->raw;

	return EPOCH + c->offset + run + llround(c->steering * (double)run) +
	       (t >= c->set_at ? c->set_by : 0);
}

/*
 * Read a clock. Two clocks differ by at most 400 ppm, which is within the default limit of 500
 * ppm.
 */
static struct true_clock read_script_clock(struct cursor *c)
{
	static const int64_t offsets[] = { 0, 3 * SEC, -40 * MS, 3600 * SEC };
	const uint32_t kind = read_script_byte(c), rates = read_script_byte(c);

	return (struct true_clock){
		.offset = offsets[kind & 3],
		.raw = (kind >> 2 & 3) * 1000 * SEC,
		.skew = ((int)(rates & 15) - 8) * 12e-6,
		.steering = ((int)(rates >> 4) - 8) * 12e-6,
		.set_at = read_script_byte(c) * (WORLD_SPAN / 256) + 12345,
		.set_by = kind & 0x40 ? (kind & 0x80 ? 1 : -1) * (int64_t)(1 + (kind >> 4 & 3)) *
						300 * MS :
					0,
	};
}

static void read_script_options(struct cursor *c, struct netsync_options *o)
{
	static const char *const names[] = { "h0", "h1", "h2", "h3" };
	static const int64_t resolutions[] = { 0, 1, 1000, 4 * MS };
	const uint32_t bits = read_script_byte(c), more = read_script_byte(c);

	*o = (struct netsync_options){
		.size = sizeof(*o),
		.method = bits & 3,
		.reference = bits & 4 ? names[bits >> 3 & 3] : NULL,
		.max_skew_ppm = bits & 0x20 ? 1000 : 0,
		.max_drift_ppm_s = bits & 0x40 ? 1 : 0,
		.threads = more & 3,
		.resolution_ns = more & 4 ? resolutions[more >> 3 & 3] : 0,
	};
}

static struct call read_script_call(struct cursor *c)
{
	/* Messages and readings are the most frequent kinds, as in practice. */
	static const enum call_kind kinds[] = {
		CALL_MESSAGES, CALL_MESSAGES, CALL_MESSAGES, CALL_MESSAGES,
		CALL_MESSAGES, CALL_MESSAGES, CALL_PACKETS,  CALL_PACKETS,
		CALL_READINGS, CALL_READINGS, CALL_READINGS, CALL_SPAN,
		CALL_ADVANCE,  CALL_SOLVE,    CALL_WATCH,    CALL_LIMIT,
	};
	static const int64_t steps[] = { 0, 1, MS, 100 * MS, SEC, 2 * SEC, 5 * SEC, 12 * SEC };
	const uint32_t kind = read_script_byte(c), hosts = read_script_byte(c),
		       many = read_script_byte(c);
	struct call call = {
		.kind = kinds[kind & 15],
		.part = (kind >> 4) % SCRIPT_PARTS,
		.host = { hosts % SCRIPT_HOSTS, (hosts >> 4) % SCRIPT_HOSTS },
		.apart = steps[many & 7],
		.num = 1 + (many >> 3),
	};

	call.at = (int64_t)read_script_short(c) * (WORLD_SPAN >> 16);
	call.flags = read_script_byte(c);
	return call;
}

static bool has_call_host(const struct call *c, uint32_t host)
{
	return c->kind != CALL_SOLVE && c->kind != CALL_WATCH && c->kind != CALL_LIMIT &&
	       (c->host[0] == host || c->host[1] == host);
}

bool script_has_early_readings(const struct script *s)
{
	for (uint32_t i = 0; i < s->num; i++) {
		const struct call *c = &s->call[i];

		for (uint32_t k = 0; k < i && c->kind == CALL_READINGS; k++)
			if (s->call[k].part == c->part && s->call[k].kind != CALL_READINGS &&
			    has_call_host(&s->call[k], c->host[0]))
				return false;
	}
	return true;
}

void script_make(struct script *s, const uint8_t *data, size_t size)
{
	struct cursor c = { data, size };
	const uint32_t bits = read_script_byte(&c);

	memset(s, 0, sizeof(*s));
	s->is_wild = bits % 4 == 3;
	s->adds_hosts_late = bits & 4;
	s->solves_parts = bits & 8;
	read_script_options(&c, &s->options);
	for (size_t i = 0; i < SCRIPT_HOSTS; i++)
		s->clock[i] = read_script_clock(&c);
	while (c.left && s->num < SCRIPT_CALLS) {
		s->call[s->num] = read_script_call(&c);
		s->has_readings |= s->call[s->num++].kind == CALL_READINGS;
	}
}
