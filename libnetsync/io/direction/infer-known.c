// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Whose the addresses in a capture are that does not know directions, by traces that
 * do: events of the kernel, and captures of which each packet says it.
 */
#include <errno.h>
#include <string.h>

#include "io/direction/direction.h"

/* Votes for each against: so few may be of other packets by chance. Chosen. */
#define MAJORITY 10

static bool is_same(const struct sighted *a, const struct sighted *b)
{
	return a->dir == b->dir && a->back == b->back &&
	       !memcmp(a->addr, b->addr, sizeof(a->addr));
}

/* What was seen at several places of one host is one, if all agree on it. */
static void keep_agreeing(struct samples *samples)
{
	size_t kept = 0;

	samples_sort(samples);
	for (size_t i = 0, j; i < samples->num; i = j) {
		bool agree = true;

		for (j = i + 1; j < samples->num &&
				samples->of[j].key == samples->of[i].key; j++)
			agree &= is_same(&samples->of[i], &samples->of[j]);
		if (agree)
			samples->of[kept++] = samples->of[i];
	}
	samples->num = kept;
}

/* How often an address was seen to be one of the host's own, and not. */
struct tally {
	struct address address;
	size_t votes[2];
};

/* Those of one host and its peers: more are of no use, and a search takes time. Chosen. */
#define MAX_TALLIES 256

struct tallies {
	struct tally of[MAX_TALLIES];
	size_t num;
};

static void count(struct tallies *tallies, const uint8_t bytes[16], bool own)
{
	struct tally *tally = tallies->of;
	size_t i = 0;

	while (i < tallies->num && memcmp(tally[i].address.bytes, bytes, 16))
		i++;
	if (i == MAX_TALLIES)
		return;
	if (i == tallies->num) {
		tally[i] = (struct tally){ .address.is_mac = false };
		memcpy(tally[i].address.bytes, bytes, 16);
		tallies->num++;
	}
	tally[i].votes[!own]++;
}

/* @a saw packets, of which @b says which it sent. */
static void compare(struct tallies *tallies, const struct watcher *a,
		    const struct watcher *b)
{
	const struct samples *saw = &a->inside, *knew = &b->directed;
	const bool same_host = !strcmp(a->name, b->name);

	for (size_t i = 0, j = 0; i < saw->num && j < knew->num;) {
		const struct sighted *p = &saw->of[i], *q = &knew->of[j];
		/* The one who sent it is the first, or with back the second. */
		bool sent = (q->dir == DIRECTION_OUT) == same_host;

		if (p->key == q->key) {
			count(tallies, p->addr[p->back], sent);
			count(tallies, p->addr[!p->back], !sent);
		}
		i += p->key <= q->key;
		j += q->key <= p->key;
	}
}

/* A router has both sides' addresses for its own, and then for none. */
static int take_own(struct watcher *watcher, const struct tallies *tallies)
{
	int ret = 0;

	for (size_t i = 0; i < tallies->num && !ret; i++) {
		const struct tally *tally = &tallies->of[i];

		if (tally->votes[0] <= MAJORITY * tally->votes[1])
			continue;
		watcher->told = true;
		ret = own_add_address(&watcher->own, &tally->address);
	}
	return ret;
}

int infer_from_known(struct watcher *watchers, size_t num)
{
	int ret = 0;

	for (size_t i = 0; i < num; i++) {
		keep_agreeing(&watchers[i].inside);
		keep_agreeing(&watchers[i].directed);
	}
	for (size_t i = 0; i < num && !ret; i++) {
		struct tallies tallies = { .num = 0 };

		if (!watchers[i].wanted)
			continue;
		for (size_t j = 0; j < num; j++)
			compare(&tallies, &watchers[i], &watchers[j]);
		watchers[i].met |= tallies.num;
		ret = take_own(&watchers[i], &tallies);
	}
	return ret;
}
