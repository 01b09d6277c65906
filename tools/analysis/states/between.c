// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find waits and overlaps between spans of several objects. Spans arrive in the order of their
 * ends. A new span can therefore overlap only the last earlier span of each host, so only this span
 * is stored for each shared resource.
 *
 * If an object waited in a span, the span is deferred, together with later spans of the same
 * object. The span is deferred until no later span can have an end that, within the bounds, ended
 * the wait.
 */
#include <stdlib.h>
#include <string.h>

#include "../../../libnetsync/util/array.h"
#include "../../../libnetsync/util/hash.h"
#include "between.h"
#include "common/now.h"

/* If no bound is known, ends on two hosts may be out of order by at most this much, ns. Chosen. */
#define LONGEST_HOLD NS_PER_S

/*
 * The role of a state in its definition. In the statement "exclusive STATES with STATES", states
 * are EXCLUSIVE or WITH. In the statement "waits STATES for STATES", states are WAITING or HOLDING.
 */
enum role { EXCLUSIVE, WITH, HOLDING, WAITING, NUM_ROLES };
#define ROLE_KNOWN (1U << NUM_ROLES)

/* The last span of a host in which the state had a certain role. */
struct last {
	bool is_any;
	uint64_t object;
	uint32_t name, lane;
	int64_t begin_ns, end_ns, end_host_ns;
};

struct held_span;

struct counted {
	struct wait wait;
	struct counted *next;
};

/* A resource that several objects share, such as the resource of a lock. */
struct common {
	uint64_t hash;
	uint32_t definition;
	uint32_t host, text;	    /* its text: a number, and the host that assigned it */
	struct common *next;	    /* next one in the same bucket */
	struct last *last[WAITING]; /* last span of each host for each role, or NULL */
	struct counted *waits;
	struct held_span *first, **end; /* deferred spans of objects that share it */
};

/*
 * A span that is deferred, because its object waited, or because an earlier span of the object is
 * deferred.
 */
struct held_span {
	bool has_waited;
	struct reported_span reported;
	struct common *common;
	struct held_span *next; /* next span in the order of ends */
	struct held_span *next_common;
};

/* Tables for one host. The indexes of these tables are the numbers of the host's texts. */
struct host_texts {
	struct common **common; /* shared resources, by text and definition */
	uint8_t *roles;		/* roles of a state, by text and definition */
	size_t num;
};

struct between {
	const struct definition *definitions;
	size_t num;
	const struct timebase *base;
	const struct spans *spans;
	struct common **buckets;
	size_t room, num_common;
	struct host_texts *texts; /* tables of each host */
	int64_t *bounds;	  /* bound of the last span of each host */
	struct held_span *first, **end;
	struct exclusion *exclusions;
	struct wait *waits;
	size_t num_waits;
};

struct between *between_new(const struct definition *definitions, size_t num,
			    const struct timebase *base, const struct spans *spans)
{
	struct between *between = calloc(1, sizeof(*between));

	if (!between)
		return NULL;
	*between = (struct between){
		.definitions = definitions,
		.num = num,
		.base = base,
		.spans = spans,
		.texts = calloc(base->num_hosts + 1, sizeof(*between->texts)),
		.bounds = calloc(base->num_hosts + 1, sizeof(*between->bounds)),
		.exclusions = calloc(num + 1, sizeof(*between->exclusions)),
		.end = &between->first,
	};
	if (between->texts && between->bounds && between->exclusions)
		return between;
	between_free(between);
	return NULL;
}

static void free_common(struct common *common)
{
	while (common->waits) {
		struct counted *counted = common->waits;

		common->waits = counted->next;
		free(counted);
	}
	for (int role = 0; role < WAITING; role++)
		free(common->last[role]);
	free(common);
}

void between_free(struct between *between)
{
	if (!between)
		return;
	for (size_t i = 0; i < between->room; i++)
		while (between->buckets[i]) {
			struct common *common = between->buckets[i];

			between->buckets[i] = common->next;
			free_common(common);
		}
	while (between->first) {
		struct held_span *held = between->first;

		between->first = held->next;
		free(held);
	}
	for (uint32_t i = 0; between->texts && i < between->base->num_hosts; i++) {
		free(between->texts[i].common);
		free(between->texts[i].roles);
	}
	free(between->buckets);
	free(between->texts);
	free(between->bounds);
	free(between->exclusions);
	free(between->waits);
	free(between);
}

/* ---- tables by text ---------------------------------------------- */

/* Return the tables of a host, large enough to include @text, or NULL if out of memory. */
static struct host_texts *get_host_texts(struct between *between, uint32_t host, uint32_t text)
{
	struct host_texts *texts = &between->texts[host];
	const size_t num = (2 * (size_t)text + 64) * between->num;
	struct common **common;
	uint8_t *roles;

	if ((text + (size_t)1) * between->num <= texts->num)
		return texts;
	common = realloc(texts->common, num * sizeof(*common));
	if (common)
		texts->common = common;
	roles = realloc(texts->roles, num);
	if (roles)
		texts->roles = roles;
	if (!common || !roles)
		return NULL;
	memset(common + texts->num, 0, (num - texts->num) * sizeof(*common));
	memset(roles + texts->num, 0, num - texts->num);
	texts->num = num;
	return texts;
}

/* Return a bit mask of the roles of a span's state, or 0 if out of memory. */
static unsigned int find_state_roles(struct between *between, const struct state_span *span)
{
	const struct definition *d = &between->definitions[span->definition];
	struct host_texts *texts = get_host_texts(between, span->host, span->state);
	const struct state_list *lists[NUM_ROLES] = {
		[EXCLUSIVE] = &d->exclusive,
		[WITH] = &d->with,
		[HOLDING] = &d->holding,
		[WAITING] = &d->waiting,
	};
	uint8_t *roles;

	if (!texts)
		return 0;
	roles = &texts->roles[span->state * between->num + span->definition];
	for (int i = 0; i < NUM_ROLES && !(*roles & ROLE_KNOWN); i++)
		if (state_list_contains(lists[i],
					spans_get_text(between->spans, span->host, span->state)))
			*roles |= 1U << i;
	*roles |= ROLE_KNOWN;
	return *roles;
}

static uint64_t hash_shared_text(uint32_t definition, const char *text)
{
	uint64_t hash = definition + 1;

	while (*text)
		hash = hash_slot(hash + (unsigned char)*text++);
	return hash;
}

static bool grow_common_buckets(struct between *between)
{
	const size_t room = between->room ? between->room * 2 : 64;
	struct common **buckets = calloc(room, sizeof(*buckets));

	if (!buckets)
		return false;
	for (size_t i = 0; i < between->room; i++)
		while (between->buckets[i]) {
			struct common *common = between->buckets[i];

			between->buckets[i] = common->next;
			common->next = buckets[common->hash & (room - 1)];
			buckets[common->hash & (room - 1)] = common;
		}
	free(between->buckets);
	between->buckets = buckets;
	between->room = room;
	return true;
}

static struct common *add_common(struct between *between, const struct state_span *span,
				 uint64_t hash)
{
	struct common *common = calloc(1, sizeof(*common));
	struct common **bucket;

	if (!common || (between->num_common == between->room && !grow_common_buckets(between))) {
		free(common);
		return NULL;
	}
	common->hash = hash;
	common->definition = span->definition;
	common->host = span->host;
	common->text = span->shared;
	common->end = &common->first;
	bucket = &between->buckets[hash & (between->room - 1)];
	common->next = *bucket;
	*bucket = common;
	between->num_common++;
	return common;
}

/* Find the resource that a span shares, or add it. Return NULL if out of memory. */
static struct common *find_or_add_common(struct between *between, const struct state_span *span)
{
	struct host_texts *texts = get_host_texts(between, span->host, span->shared);
	const char *text = spans_get_text(between->spans, span->host, span->shared);
	struct common **slot, *common;
	uint64_t hash;

	if (!texts)
		return NULL;
	slot = &texts->common[span->shared * between->num + span->definition];
	common = *slot;
	if (common)
		return common;
	hash = hash_shared_text(span->definition, text);
	common = between->room ? between->buckets[hash & (between->room - 1)] : NULL;
	while (common && (common->hash != hash || common->definition != span->definition ||
			  strcmp(spans_get_text(between->spans, common->host, common->text), text)))
		common = common->next;
	*slot = common ? common : add_common(between, span, hash);
	return *slot;
}

/* ---- states that exclude each other --------------------------------------- */

static enum netsync_sequence order_host_times(const struct between *between, uint32_t host_a,
					      int64_t a_host_ns, uint32_t host_b, int64_t b_host_ns)
{
	const struct timebase_host *hosts = between->base->hosts;

	return netsync_order(hosts[host_a].clock, a_host_ns, hosts[host_b].clock, b_host_ns);
}

/*
 * Compare a span with the last spans that have this role. Count those that had not ended when the
 * span began.
 */
static void compare_with_last_spans(struct between *between, const struct common *common,
				    enum role role, const struct state_span *span)
{
	struct exclusion *found = &between->exclusions[span->definition];

	for (uint32_t host = 0; common->last[role] && host < between->base->num_hosts; host++) {
		const struct last *last = &common->last[role][host];
		enum netsync_sequence sequence;

		if (!last->is_any || (host == span->host && last->object == span->object))
			continue;
		sequence = order_host_times(between, host, last->end_host_ns, span->host,
					    span->begin_host_ns);
		/* On one host, a span may end at the instant at which the next span begins. */
		if (sequence == NETSYNC_UNCERTAIN && host != span->host)
			found->uncertain++;
		if (sequence != NETSYNC_AFTER)
			continue;
		if (!found->at_once++ || last->end_ns - span->begin_ns > found->longest_ns) {
			found->longest_ns = last->end_ns - span->begin_ns;
			found->from_ns = span->begin_ns;
			found->hosts[0] = host;
			found->names[0] = last->name;
			found->hosts[1] = span->host;
			found->names[1] = span->name;
		}
	}
}

static void count_exclusions(struct between *between, struct common *common,
			     const struct state_span *span, unsigned int roles)
{
	if (roles & 1U << EXCLUSIVE) {
		between->exclusions[span->definition].spans++;
		compare_with_last_spans(between, common, EXCLUSIVE, span);
		compare_with_last_spans(between, common, WITH, span);
	} else if (roles & 1U << WITH) {
		compare_with_last_spans(between, common, EXCLUSIVE, span);
	}
}

static bool remember_last_span(const struct between *between, struct common *common,
			       const struct state_span *span, unsigned int roles)
{
	for (int role = 0; role < WAITING; role++) {
		if (!(roles & 1U << role))
			continue;
		if (!common->last[role])
			common->last[role] = calloc(between->base->num_hosts, sizeof(struct last));
		if (!common->last[role])
			return false;
		common->last[role][span->host] = (struct last){
			true,		span->object, span->name,	 span->lane,
			span->begin_ns, span->end_ns, span->end_host_ns,
		};
	}
	return true;
}

/* ---- waiting ------------------------------------------------------------- */

/*
 * If the deferred span may have waited for the end of @last, make @last its holder. The latest
 * possible end is used.
 */
static void offer_wait_holder(struct between *between, struct held_span *held, uint32_t host,
			      const struct last *last)
{
	const struct state_span *span = &held->reported.span;
	enum netsync_sequence sequence;

	if (!held->has_waited || !last->is_any || last->end_ns < span->begin_ns ||
	    last->begin_ns >= span->end_ns ||
	    (host == span->host && last->object == span->object) ||
	    (held->reported.has_holder && last->end_ns < held->reported.holder_end_ns))
		return;
	sequence = order_host_times(between, host, last->end_host_ns, span->host,
				    span->end_host_ns);
	if (sequence == NETSYNC_AFTER)
		return;
	held->reported.has_holder = true;
	held->reported.is_uncertain = sequence == NETSYNC_UNCERTAIN;
	held->reported.holder_host = host;
	held->reported.holder_name = last->name;
	held->reported.holder_lane = last->lane;
	held->reported.holder_end_ns = last->end_ns;
}

static struct wait *find_or_add_wait(struct between *between, const struct held_span *held)
{
	const struct reported_span *reported = &held->reported;
	struct common *common = held->common;
	struct counted *counted = common->waits;

	while (counted && (counted->wait.host != reported->span.host ||
			   counted->wait.is_known != reported->has_holder ||
			   (reported->has_holder && counted->wait.holder != reported->holder_host)))
		counted = counted->next;
	if (counted)
		return &counted->wait;
	counted = calloc(1, sizeof(*counted));
	if (!counted)
		return NULL;
	counted->wait = (struct wait){
		.definition = reported->span.definition,
		.shared_host = common->host,
		.shared = common->text,
		.host = reported->span.host,
		.is_known = reported->has_holder,
		.holder = reported->holder_host,
	};
	counted->next = common->waits;
	common->waits = counted;
	between->num_waits++;
	return &counted->wait;
}

static bool release_first_held_span(struct between *between, between_tell *tell, void *data)
{
	struct held_span *held = between->first;
	const struct state_span *span = &held->reported.span;
	const int64_t lasted = span->end_ns - span->begin_ns;
	struct wait *wait = held->has_waited ? find_or_add_wait(between, held) : NULL;
	bool ok = (wait || !held->has_waited) && tell(data, &held->reported);

	if (wait) {
		wait->times++;
		wait->uncertain += held->reported.is_uncertain;
		wait->total_ns += lasted;
		if (lasted > wait->longest_ns)
			wait->longest_ns = lasted;
	}
	between->first = held->next;
	if (!between->first)
		between->end = &between->first;
	held->common->first = held->next_common;
	if (!held->common->first)
		held->common->end = &held->common->first;
	free(held);
	return ok;
}

static bool hold_back_span(struct between *between, const struct reported_span *reported,
			   struct common *common, bool has_waited)
{
	struct held_span *held = calloc(1, sizeof(*held));

	if (!held)
		return false;
	held->has_waited = has_waited;
	held->reported = *reported;
	held->common = common;
	*between->end = held;
	between->end = &held->next;
	*common->end = held;
	common->end = &held->next_common;
	for (uint32_t host = 0;
	     has_waited && common->last[HOLDING] && host < between->base->num_hosts; host++)
		offer_wait_holder(between, held, host, &common->last[HOLDING][host]);
	return true;
}

/* Is an earlier span of the same object deferred? */
static bool is_object_held(const struct common *common, const struct state_span *span)
{
	for (const struct held_span *h = common->first; h; h = h->next_common)
		if (h->reported.span.host == span->host && h->reported.span.object == span->object)
			return true;
	return false;
}

/* Are the ends of all future spans certainly later than the end of the deferred span? */
static bool is_held_span_over(const struct between *between, const struct held_span *held,
			      int64_t now_ns)
{
	int64_t most = 0, until;

	for (uint32_t i = 0; i < between->base->num_hosts; i++)
		if (between->bounds[i] > most)
			most = between->bounds[i];
	if (held->reported.end_bound_ns == NETSYNC_UNKNOWN || most > LONGEST_HOLD ||
	    held->reported.end_bound_ns > LONGEST_HOLD)
		most = LONGEST_HOLD;
	else
		most += held->reported.end_bound_ns;
	return __builtin_add_overflow(held->reported.span.end_ns, most, &until) || until < now_ns;
}

/* ---- public functions --------------------------------------------------- */

static int64_t get_span_bound(const struct between *between, uint32_t host, int64_t time_ns)
{
	int64_t t, bound;

	return netsync_convert(between->base->hosts[host].clock, time_ns, &t, &bound) ?
		       NETSYNC_UNKNOWN :
		       bound;
}

bool between_add_span(struct between *between, const struct state_span *span, between_tell *tell,
		      void *data)
{
	const struct reported_span reported = {
		.span = *span,
		.begin_bound_ns = get_span_bound(between, span->host, span->begin_host_ns),
		.end_bound_ns = get_span_bound(between, span->host, span->end_host_ns),
	};
	const struct definition *definition = &between->definitions[span->definition];
	const unsigned int roles = find_state_roles(between, span);
	struct common *common;
	bool has_waited;

	between->bounds[span->host] = reported.end_bound_ns == NETSYNC_UNKNOWN ?
					      LONGEST_HOLD :
					      reported.end_bound_ns;
	while (between->first && is_held_span_over(between, between->first, span->end_ns))
		if (!release_first_held_span(between, tell, data))
			return false;
	if (!roles)
		return false;
	if ((!definition->waiting.num && !definition->exclusive.num) || span->shared == NO_TEXT)
		return tell(data, &reported);
	common = find_or_add_common(between, span);
	if (!common)
		return false;
	count_exclusions(between, common, span, roles);
	if (!remember_last_span(between, common, span, roles))
		return false;
	if (roles & 1U << HOLDING)
		for (struct held_span *h = common->first; h; h = h->next_common)
			offer_wait_holder(between, h, span->host,
					  &common->last[HOLDING][span->host]);
	has_waited = roles & 1U << WAITING && !span->is_open;
	return has_waited || is_object_held(common, span) ?
		       hold_back_span(between, &reported, common, has_waited) :
		       tell(data, &reported);
}

bool between_end(struct between *between, between_tell *tell, void *data)
{
	bool ok = true;

	while (between->first && ok)
		ok = release_first_held_span(between, tell, data);
	return ok;
}

const struct exclusion *between_get_exclusion(const struct between *between, size_t definition)
{
	return &between->exclusions[definition];
}

static int compare_waits_longest_first(const void *one, const void *other)
{
	const struct wait *a = one, *b = other;

	if (a->definition != b->definition)
		return a->definition < b->definition ? -1 : 1;
	return (a->total_ns < b->total_ns) - (a->total_ns > b->total_ns);
}

bool between_list_waits(struct between *between, const struct wait **waits, size_t *num)
{
	struct wait *at;

	free(between->waits);
	between->waits = at = calloc(between->num_waits + 1, sizeof(*at));
	*waits = at;
	*num = between->num_waits;
	if (!at)
		return false;
	for (size_t i = 0; i < between->room; i++)
		for (struct common *c = between->buckets[i]; c; c = c->next)
			for (struct counted *w = c->waits; w; w = w->next)
				*at++ = w->wait;
	qsort(between->waits, between->num_waits, sizeof(*between->waits),
	      compare_waits_longest_first);
	return true;
}
