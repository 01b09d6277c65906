// SPDX-License-Identifier: LGPL-2.1-or-later
/* The public calls for input. Files in other folders contain the processing steps. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/parallel.h"
#include "clock.h"
#include "handle.h"
#include "save/save.h"

/*
 * Minimum size of struct netsync_packet. Older callers do not have the members for later protocols.
 */
#define MIN_PACKET_SIZE offsetof(struct netsync_packet, tcp)

/*
 * Add a matched message. If no host is steered, several threads may call this function at the same
 * time, for pairs in different parts.
 */
static int use_matched_message(void *arg, uint32_t from, uint32_t to, int64_t send, int64_t recv)
{
	struct netsync *ns = arg;

	return handle_add_message(ns, from, to, send - ns->host[from].origin,
				  recv - ns->host[to].origin);
}

static void report_watched_message(void *arg, const struct netsync_message *msg)
{
	const struct netsync *ns = arg;

	if (ns->message_func)
		ns->message_func(ns->message_data, msg);
}

static void share_matched_pairs(void *arg)
{
	struct netsync *ns = arg;

	pairs_share_budget(&ns->pairs);
}

const char *netsync_version(void)
{
	return NETSYNC_VERSION;
}

struct netsync *netsync_new(void)
{
	const struct match_calls calls = {
		.found = use_matched_message,
		.tell = report_watched_message,
		.done = share_matched_pairs,
	};
	struct netsync *ns = calloc(1, sizeof(*ns));

	if (!ns)
		return NULL;
	parallel_init(&ns->parallel);
	matcher_init(&ns->matcher, &calls, ns, &ns->parallel);
	return ns;
}

void netsync_free(struct netsync *ns)
{
	/*
	 * If this process lacks the threads of a matcher, the matcher remains allocated until the
	 * process ends.
	 */
	if (!ns || matcher_is_lost(&ns->matcher))
		return;
	/* Release the matcher first, because its threads may still be working. */
	matcher_release(&ns->matcher);
	parallel_release(&ns->parallel);
	handle_drop_results(ns);
	for (size_t i = 0; i < ns->num_hosts; i++) {
		free(ns->host[i].name);
		steering_release(&ns->steering[i]);
	}
	for (size_t i = 0; i < PAIR_PARTS; i++) {
		free(ns->used[i]);
		free(ns->early[i].message);
	}
	free(ns->host);
	free(ns->steering);
	held_release(&ns->held);
	pairs_release(&ns->pairs);
	free(ns);
}

const char *netsync_error(const struct netsync *ns)
{
	return ns->error;
}

/* ---- input ------------------------------------------------------------- */

/* Allocate space for another host. Return 0 or -ENOMEM. */
static int grow_hosts(struct netsync *ns)
{
	int ret = array_grow(&ns->host, &ns->host_room, ns->num_hosts, sizeof(*ns->host));

	if (!ret)
		ret = array_grow(&ns->steering, &ns->steering_room, ns->num_hosts,
				 sizeof(*ns->steering));
	for (size_t i = 0; i < PAIR_PARTS && !ret; i++)
		ret = array_grow(&ns->used[i], &ns->used_room[i], ns->num_hosts,
				 sizeof(**ns->used));
	return ret;
}

int netsync_add_host(struct netsync *ns, const char *name)
{
	size_t len = name ? strlen(name) : 0;
	char *unique;
	int ret;

	handle_forget_error(ns);
	if (!len)
		return handle_fail(ns, -EINVAL, "a host must have a name");
	ret = matcher_wait(&ns->matcher);
	if (ret)
		return handle_fail_to_match(ns, ret);
	if (ns->num_hosts >= INT_MAX || grow_hosts(ns))
		return handle_fail_no_memory(ns);
	unique = malloc(len + sizeof("#4294967295"));
	if (!unique)
		return handle_fail_no_memory(ns);
	if (matcher_add_host(&ns->matcher)) {
		free(unique);
		return handle_fail_no_memory(ns);
	}
	strcpy(unique, name);
	for (uint32_t n = 2; handle_find_host(ns, unique) != NO_HOST; n++)
		sprintf(unique, "%s#%u", name, n);
	ns->host[ns->num_hosts] = (struct host){
		.name = unique,
		.first = INT64_MAX,
		.last = INT64_MIN,
		.said = { INT64_MAX, INT64_MIN },
		.last_used = INT64_MIN,
	};
	ns->steering[ns->num_hosts] = (struct steering){ 0 };
	for (size_t i = 0; i < PAIR_PARTS; i++)
		ns->used[i][ns->num_hosts] = (struct used){ .last = INT64_MIN };
	return (int)ns->num_hosts++;
}

static bool is_time_in_range(int64_t t)
{
	return t < NETSYNC_MAX_TIME && t > -NETSYNC_MAX_TIME;
}

/*
 * Return whether two times are too far apart. Both times satisfy is_time_in_range(), so their
 * difference fits into 64 bits.
 */
static bool is_time_too_far(int64_t a, int64_t b)
{
	const int64_t d = a - b;

	return d > NETSYNC_MAX_SPAN || d < -NETSYNC_MAX_SPAN;
}

/* Check that a time is valid for a host. Return 0 or a negative errno value. */
static int check_host_time(struct netsync *ns, uint32_t host, int64_t t)
{
	const struct steering *s;
	const struct host *h;

	if (host >= ns->num_hosts)
		return handle_fail(ns, -EINVAL, "no host has the number %u", host);
	h = &ns->host[host];
	s = &ns->steering[host];
	if (!is_time_in_range(t))
		return handle_fail(ns, -ERANGE,
				   "time %lld of host %s is outside the years 1824 to 2116",
				   (long long)t, h->name);
	if (s->num && is_time_too_far(t, s->point[0].t))
		return handle_fail(
			ns, -ERANGE,
			"time %lld of host %s is more than 36 years from its first clock reading, %lld",
			(long long)t, h->name, (long long)s->point[0].t);
	if (h->first <= h->last && is_time_too_far(t, h->origin))
		return handle_fail(
			ns, -ERANGE,
			"time %lld of host %s is more than 36 years from its first time, %lld",
			(long long)t, h->name, (long long)h->origin);
	return 0;
}

/* Convert a valid time to a time relative to the host's origin, which is the host's first time. */
static int64_t make_time_relative(struct host *h, int64_t t)
{
	if (h->first > h->last)
		h->origin = t;
	return t - h->origin;
}

static void extend_host_range(struct host *h, int64_t t)
{
	if (t < h->first)
		h->first = t;
	if (t > h->last)
		h->last = t;
}

int netsync_extend_span(struct netsync *ns, uint32_t host, int64_t time_ns)
{
	struct host *h;
	int ret;

	handle_forget_error(ns);
	ret = check_host_time(ns, host, time_ns);
	if (ret)
		return ret;
	h = &ns->host[host];
	time_ns = make_time_relative(h, time_ns);
	h->said.lo = min64(h->said.lo, time_ns);
	h->said.hi = max64(h->said.hi, time_ns);
	extend_host_range(h, time_ns);
	return 0;
}

static bool is_loopback_address(const uint8_t *addr)
{
	static const uint8_t v4[13] = { [10] = 0xff, [11] = 0xff, [12] = 127 };
	static const uint8_t v6[16] = { [15] = 1 };

	return !memcmp(addr, v4, sizeof(v4)) || !memcmp(addr, v6, sizeof(v6));
}

/*
 * Set members that the caller's version of a packet lacks to zero. If this requires a copy, the
 * copy is in @room. Return NULL if the size is invalid.
 */
static const struct netsync_packet *complete_packet(const struct netsync_packet *pkt,
						    struct netsync_packet *room)
{
	if (pkt->size >= sizeof(*pkt))
		return pkt;
	if (pkt->size < MIN_PACKET_SIZE)
		return NULL;
	memset(room, 0, sizeof(*room));
	return memcpy(room, pkt, pkt->size);
}

void netsync_use_threads(struct netsync *ns, uint32_t threads)
{
	ns->matcher.threads = threads ? threads : 1;
}

uint32_t netsync_packet_shards(const struct netsync_packet *pkt)
{
	struct netsync_packet room;
	const struct netsync_packet *p = complete_packet(pkt, &room);

	return p ? matcher_find_shards(p).all : 0;
}

int netsync_keep_shards(struct netsync *ns, uint32_t shards)
{
	handle_forget_error(ns);
	if (!shards || shards & ~ALL_SHARDS)
		return handle_fail(ns, -EINVAL, "0x%x is not a subset of the %d shards", shards,
				   NETSYNC_SHARDS);
	if (ns->packets || ns->matcher.number)
		return handle_fail(ns, -EALREADY,
				   "packets have already been pushed; select the shards first");
	ns->matcher.kept = shards;
	return 0;
}

static int match_packet(struct netsync *ns, const struct netsync_packet *p)
{
	int ret = 0;

	if (!matcher_supports(p))
		ns->unsupported++;
	else if ((p->fields & NETSYNC_HAS_ADDRS) &&
		 (is_loopback_address(p->saddr) || is_loopback_address(p->daddr)))
		ns->loopback++;
	else
		ret = matcher_add_packet(&ns->matcher, p);
	return ret ? handle_fail_to_match(ns, ret) : 0;
}

static void report_watched_packet(const struct netsync *ns, const struct netsync_packet *p)
{
	struct netsync_packet sent = *p;

	sent.size = sizeof(sent);
	ns->packet_func(ns->packet_data, &sent);
}

/* Add a valid packet event, whose relative time is @t. Return 0 or -ENOMEM. */
static int add_checked_packet(struct netsync *ns, const struct netsync_packet *p, int64_t t)
{
	int ret = match_packet(ns, p);

	if (ret)
		return ret;
	ns->packets++;
	ns->host[p->host].packets++;
	extend_host_range(&ns->host[p->host], t);
	if (ns->packet_func)
		report_watched_packet(ns, p);
	return 0;
}

/*
 * Add a packet event if other objects match the other shards. Each object then counts only some of
 * the events.
 */
static int add_shared_packet(struct netsync *ns, const struct netsync_packet *p, int64_t t)
{
	const struct shards shards = matcher_find_shards(p);
	int ret;

	if (ns->matcher.kept >> shards.home & 1)
		return add_checked_packet(ns, p, t);
	if (!(ns->matcher.kept & shards.all))
		return 0;
	ret = matcher_add_packet(&ns->matcher, p);
	if (ret)
		return handle_fail_to_match(ns, ret);
	extend_host_range(&ns->host[p->host], t);
	return 0;
}

int netsync_push_packet(struct netsync *ns, const struct netsync_packet *pkt)
{
	struct netsync_packet room;
	const struct netsync_packet *p = complete_packet(pkt, &room);
	int64_t t;
	int ret;

	handle_forget_error(ns);
	if (!p)
		return handle_fail(ns, -EINVAL, "a packet of %u bytes is too short", pkt->size);
	if (p->dir != NETSYNC_OUT && p->dir != NETSYNC_IN)
		return handle_fail(ns, -EINVAL,
				   "the direction of a packet must be out or in, not %u", p->dir);
	ret = check_host_time(ns, p->host, p->time_ns);
	if (ret)
		return ret;
	t = make_time_relative(&ns->host[p->host], p->time_ns);
	return ns->matcher.kept == ALL_SHARDS ? add_checked_packet(ns, p, t) :
						add_shared_packet(ns, p, t);
}

int netsync_advance(struct netsync *ns, uint32_t host, int64_t time_ns)
{
	handle_forget_error(ns);
	if (host >= ns->num_hosts)
		return handle_fail(ns, -EINVAL, "no host has the number %u", host);
	steering_promise(&ns->steering[host], time_ns);
	matcher_advance(&ns->matcher, host, time_ns);
	return 0;
}

int netsync_pause(struct netsync *ns, uint32_t host)
{
	handle_forget_error(ns);
	if (host >= ns->num_hosts)
		return handle_fail(ns, -EINVAL, "no host has the number %u", host);
	matcher_pause(&ns->matcher, host);
	return 0;
}

void netsync_limit_packets(struct netsync *ns, uint32_t num)
{
	const uint32_t least = 1024;

	ns->matcher.limit = num < least ? least : num > RING_MAX ? RING_MAX : num;
}

int netsync_push_message(struct netsync *ns, uint32_t from, uint32_t to, int64_t send_ns,
			 int64_t recv_ns)
{
	int64_t send, recv;
	size_t pairs;
	int ret;

	handle_forget_error(ns);
	if (from == to)
		return handle_fail(
			ns, -EINVAL,
			"the sender and the receiver of a message must be different hosts");
	ret = check_host_time(ns, from, send_ns);
	if (!ret)
		ret = check_host_time(ns, to, recv_ns);
	if (ret)
		return ret;
	/* Wait for the threads that match packets, because they also add pairs. */
	ret = matcher_wait(&ns->matcher);
	if (ret)
		return handle_fail_to_match(ns, ret);
	send = make_time_relative(&ns->host[from], send_ns);
	recv = make_time_relative(&ns->host[to], recv_ns);
	pairs = ns->pairs.part[get_pair_part(from, to)].num;
	if (handle_add_message(ns, from, to, send, recv))
		return handle_fail_no_memory(ns);
	if (ns->pairs.part[get_pair_part(from, to)].num != pairs)
		pairs_share_budget(&ns->pairs);
	extend_host_range(&ns->host[from], send);
	extend_host_range(&ns->host[to], recv);
	report_watched_message(ns, &(struct netsync_message){
					   .size = sizeof(struct netsync_message),
					   .from = from,
					   .to = to,
					   .send_ns = send_ns,
					   .recv_ns = recv_ns,
				   });
	return 0;
}

/* Check a clock reading and its host. Return 0 or a negative errno value. */
static int check_clock_point(struct netsync *ns, const struct netsync_clock_point *p)
{
	const struct host *h;
	const struct steering *s;

	if (p->size < sizeof(*p))
		return handle_fail(ns, -EINVAL, "a clock reading of %u bytes is too short",
				   p->size);
	if (p->host >= ns->num_hosts)
		return handle_fail(ns, -EINVAL, "no host has the number %u", p->host);
	h = &ns->host[p->host];
	s = &ns->steering[p->host];
	if (!s->num)
		handle_gather_parts(ns, p->host);
	if (p->within_ns < 0 || p->within_ns >= NETSYNC_MAX_SPAN ||
	    !(p->rate == 0 || (p->rate > 0.5 && p->rate < 2)))
		return handle_fail(
			ns, -EINVAL,
			"a clock reading cannot have a rate of %g and an error of %lld ns", p->rate,
			(long long)p->within_ns);
	if (!is_time_in_range(p->time_ns) || !is_time_in_range(p->raw_ns) ||
	    (h->first <= h->last && is_time_too_far(p->time_ns, h->origin)) ||
	    (s->num && (is_time_too_far(p->raw_ns, s->point[0].raw) ||
			is_time_too_far(p->time_ns, s->point[0].t))))
		return handle_fail(
			ns, -ERANGE,
			"times %lld and %lld of a clock reading of host %s are more than 36 years from its other times",
			(long long)p->time_ns, (long long)p->raw_ns, h->name);
	if (h->last_used > INT64_MIN &&
	    steering_is_late(s, p->time_ns, p->raw_ns, h->origin + h->last_used))
		return handle_fail(
			ns, -EALREADY,
			"messages of host %s have already been used; push its clock readings first",
			h->name);
	return 0;
}

int netsync_push_clock(struct netsync *ns, const struct netsync_clock_point *point)
{
	const struct clock_point p = {
		.t = point->time_ns,
		.raw = point->raw_ns,
		.within = point->within_ns,
		.rate = point->rate,
		.set = point->was_set,
		.number = point->number,
	};
	int ret;

	handle_forget_error(ns);
	ret = matcher_wait(&ns->matcher);
	if (ret)
		return handle_fail_to_match(ns, ret);
	ret = check_clock_point(ns, point);
	if (ret)
		return ret;
	if (steering_add(&ns->steering[point->host], &p))
		return handle_fail_no_memory(ns);
	ns->steered = true;
	/* From now on, all messages are deferred to one list. */
	ns->matcher.one_thread = true;
	/*
	 * Messages that cannot be deferred now, because memory is short, are deferred before
	 * they are used.
	 */
	if (ns->steering[point->host].num == 1)
		handle_sort_early_messages(ns, false);
	return 0;
}

void netsync_watch_packets(struct netsync *ns, netsync_packet_func func, void *data)
{
	ns->packet_func = func;
	ns->packet_data = data;
}

void netsync_watch_messages(struct netsync *ns, netsync_message_func func, void *data)
{
	/*
	 * Report messages that have been matched so far to the old callback. If matching fails, the
	 * next call returns the error again.
	 */
	matcher_wait(&ns->matcher);
	ns->message_func = func;
	ns->message_data = data;
	matcher_set_watched(&ns->matcher, func);
}

/* ---- parts that others matched ----------------------------------------- */

int netsync_save_messages(struct netsync *ns, netsync_write_func write, void *data)
{
	int ret;

	handle_forget_error(ns);
	ret = matcher_settle(&ns->matcher);
	if (!ret)
		ret = handle_sort_early_messages(ns, true);
	if (ret)
		return handle_fail_to_match(ns, ret);
	for (uint32_t i = 0; i < ns->num_hosts; i++)
		handle_gather_parts(ns, i);
	ret = saved_write(ns, write, data);
	return ret ? handle_fail(ns, ret, "cannot write the messages") : 0;
}

int netsync_merge_messages(struct netsync *ns, const void *bytes, size_t size)
{
	const char *why = NULL;
	int ret;

	handle_forget_error(ns);
	ret = matcher_wait(&ns->matcher);
	if (ret)
		return handle_fail_to_match(ns, ret);
	ret = saved_merge(ns, bytes, size, &why);
	if (!ret && ns->steered)
		handle_sort_early_messages(ns, false);
	if (ret && !why)
		return handle_fail_no_memory(ns);
	return ret ? handle_fail(ns, ret, "cannot merge the messages: %s", why) : 0;
}
