// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Infer the addresses of hosts whose captures have no directions. Use samples of traces that record
 * directions (kernel events, captures with directions).
 */
#include <errno.h>
#include <string.h>

#include "io/direction/direction.h"

/*
 * Number of votes for an address that outweigh one vote against it. A few votes are wrong, because
 * packets can be confused by chance. Chosen.
 */
#define MAJORITY 10

static bool is_same_sighting(const struct sighted *a, const struct sighted *b)
{
	return a->dir == b->dir && a->back == b->back && !memcmp(a->addr, b->addr, sizeof(a->addr));
}

/* If samples of a packet at several places of a host agree, merge them. */
static void keep_agreeing_samples(struct packet_samples *samples)
{
	size_t kept = 0;

	samples_sort(samples);
	for (size_t i = 0, j; i < samples->num; i = j) {
		bool agree = true;

		for (j = i + 1; j < samples->num && samples->of[j].key == samples->of[i].key; j++)
			agree &= is_same_sighting(&samples->of[i], &samples->of[j]);
		if (agree)
			samples->of[kept++] = samples->of[i];
	}
	samples->num = kept;
}

/* Votes about an address: [0] that it is the host's own, [1] that it is not. */
struct tally {
	struct address address;
	size_t votes[2];
};

/*
 * Maximum number of addresses of a host and its peers. More addresses are useless and make searches
 * slow. Chosen.
 */
#define MAX_TALLIES 256

struct tallies {
	struct tally of[MAX_TALLIES];
	size_t num;
};

static void count_address_vote(struct tallies *tallies, const uint8_t bytes[16], bool own)
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

/* Vote on the addresses in the samples of @a, using packets whose direction @b knows. */
static void vote_on_addresses(struct tallies *tallies, const struct watcher *a,
			      const struct watcher *b)
{
	const struct packet_samples *saw = &a->inside, *knew = &b->directed;
	const bool same_host = !strcmp(a->name, b->name);

	for (size_t i = 0, j = 0; i < saw->num && j < knew->num;) {
		const struct sighted *p = &saw->of[i], *q = &knew->of[j];
		/* The sender has the first address, or the second one if @back is set. */
		bool sent = (q->dir == DIRECTION_OUT) == same_host;

		if (p->key == q->key) {
			count_address_vote(tallies, p->addr[p->back], sent);
			count_address_vote(tallies, p->addr[!p->back], !sent);
		}
		i += p->key <= q->key;
		j += q->key <= p->key;
	}
}

/*
 * Adopt a host's own addresses. On a router, addresses in both networks get votes for and against
 * them, so that no address is adopted.
 */
static int adopt_own_addresses(struct watcher *watcher, const struct tallies *tallies)
{
	int ret = 0;

	for (size_t i = 0; i < tallies->num && !ret; i++) {
		const struct tally *tally = &tallies->of[i];

		if (tally->votes[0] <= MAJORITY * tally->votes[1])
			continue;
		watcher->is_inferred = true;
		ret = own_addresses_add(&watcher->own, &tally->address);
	}
	return ret;
}

int infer_from_known_directions(struct watcher *watchers, size_t num)
{
	int ret = 0;

	for (size_t i = 0; i < num; i++) {
		keep_agreeing_samples(&watchers[i].inside);
		keep_agreeing_samples(&watchers[i].directed);
	}
	for (size_t i = 0; i < num && !ret; i++) {
		struct tallies tallies = { .num = 0 };

		if (!watchers[i].wanted)
			continue;
		for (size_t j = 0; j < num; j++)
			vote_on_addresses(&tallies, &watchers[i], &watchers[j]);
		watchers[i].met |= tallies.num;
		ret = adopt_own_addresses(&watchers[i], &tallies);
	}
	return ret;
}
