// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Infer the addresses of hosts from samples of their captures. Whatever the clocks are, a packet
 * arrives after it was sent.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/direction/direction.h"
#include "util/array.h"

/* Maximum number of samples of all captures, which take about 16 MB. Chosen. */
#define MAX_SAMPLES ((size_t)1 << 18)

/*
 * Maximum difference between the rates of two clocks (ns per ns). Larger differences between times
 * are caused by delays. Chosen to be twice the limit of the Linux NTP discipline.
 */
#define MAX_SKEW 1e-3

/*
 * Number of votes for an address that outweigh one vote against it. If clocks are stepped, a few
 * votes are wrong. Chosen.
 */
#define MAJORITY 10

/* ---- samples ----------------------------------------------------------- */

static void thin_out_samples(struct sampling *sampling)
{
	sampling->mask = sampling->mask << 1 | 1;
	sampling->num = 0;
	for (size_t i = 0; i < sampling->num_all; i++) {
		struct packet_samples *samples = sampling->all[i];
		size_t kept = 0;

		for (size_t j = 0; j < samples->num; j++)
			if (!(samples->of[j].key & sampling->mask))
				samples->of[kept++] = samples->of[j];
		samples->num = kept;
		sampling->num += kept;
	}
}

int sampling_put(struct sampling *sampling, struct packet_samples *samples,
		 const struct sighted *sample)
{
	if (sample->key & sampling->mask)
		return 0;
	if (array_grow(&samples->of, &samples->room, samples->num, sizeof(*sample)))
		return -ENOMEM;
	samples->of[samples->num++] = *sample;
	sampling->num++;
	/*
	 * Repeat this until there are few enough samples. The remaining samples then do not depend
	 * on the order in which samples were added.
	 */
	while (sampling->num > MAX_SAMPLES && sampling->mask < UINT64_MAX)
		thin_out_samples(sampling);
	return 0;
}

int sampling_add(struct sampling *sampling, struct packet_samples *samples, uint64_t key,
		 int64_t time_ns, const struct netsync_packet *pkt, enum direction dir)
{
	const bool back = memcmp(pkt->saddr, pkt->daddr, 16) > 0;
	struct sighted sample = { .key = key, .time_ns = time_ns, .back = back, .dir = dir };

	if (key & sampling->mask)
		return 0;
	memcpy(sample.addr[back], pkt->saddr, 16);
	memcpy(sample.addr[!back], pkt->daddr, 16);
	return sampling_put(sampling, samples, &sample);
}

static int compare_samples_by_key(const void *a, const void *b)
{
	const struct sighted *p = a, *q = b;

	return p->key < q->key ? -1 : p->key > q->key;
}

void samples_sort(struct packet_samples *samples)
{
	if (samples->num)
		qsort(samples->of, samples->num, sizeof(*samples->of), compare_samples_by_key);
}

void samples_drop_repeated(struct packet_samples *samples)
{
	size_t kept = 0;

	samples_sort(samples);
	for (size_t i = 0, j; i < samples->num; i = j) {
		for (j = i + 1; j < samples->num && samples->of[j].key == samples->of[i].key; j++)
			;
		if (j == i + 1)
			samples->of[kept++] = samples->of[i];
	}
	samples->num = kept;
}

/* ---- two hosts ---------------------------------------------------------- */

/* A packet that is a sample of both hosts. */
struct shared_packet {
	const struct sighted *of;
	int64_t times[2];
};

static int compare_shared_by_pair_and_time(const void *a, const void *b)
{
	const struct shared_packet *p = a, *q = b;
	int order = memcmp(p->of->addr, q->of->addr, sizeof(p->of->addr));

	if (order)
		return order;
	return p->times[0] < q->times[0] ? -1 : p->times[0] > q->times[0];
}

/* Find packets that are in both captures. Return their number, or -ENOMEM. */
static ssize_t find_shared_packets(const struct packet_samples *a, const struct packet_samples *b,
				   struct shared_packet **shared)
{
	size_t num = 0;

	*shared = malloc((a->num < b->num ? a->num : b->num) * sizeof(**shared) + 1);
	if (!*shared)
		return -ENOMEM;
	for (size_t i = 0, j = 0; i < a->num && j < b->num;) {
		const struct sighted *p = &a->of[i], *q = &b->of[j];

		if (p->key == q->key)
			(*shared)[num++] = (struct shared_packet){ p, { p->time_ns, q->time_ns } };
		i += p->key <= q->key;
		j += q->key <= p->key;
	}
	if (num)
		qsort(*shared, num, sizeof(**shared), compare_shared_by_pair_and_time);
	return (ssize_t)num;
}

/*
 * Return the vote of two successive packets: +1 if the lower address belongs to the first host, -1
 * if it belongs to the second host, 0 if the packets do not show which.
 */
static int vote_on_lower_address(const struct shared_packet *p, const struct shared_packet *q)
{
	const double gap = (double)(q->times[0] - p->times[0]);
	/*
	 * How much longer the time between the two packets is for the second host than for the
	 * first one (ns).
	 */
	double later = (double)(q->times[1] - p->times[1]) - gap;

	if (p->of->back == q->of->back)
		return 0;
	/* The sign must be as if the first packet went to the lower address. */
	if (p->of->back == false)
		later = -later;
	if (later > gap * MAX_SKEW)
		return 1;
	return later < -gap * MAX_SKEW ? -1 : 0;
}

static int claim_addresses(struct watcher *watcher, const uint8_t own[16], const uint8_t other[16])
{
	struct address address = { .is_mac = false };
	int ret;

	if (watcher->is_inferred)
		return 0;
	memcpy(address.bytes, own, 16);
	ret = own_addresses_add(&watcher->own, &address);
	if (ret)
		return ret;
	memcpy(address.bytes, other, 16);
	return own_addresses_add(&watcher->other, &address);
}

static int count_votes(struct watcher *a, struct watcher *b, const struct shared_packet *shared,
		       size_t num)
{
	const uint8_t(*addr)[16] = shared->of->addr;
	size_t votes[2] = { 0, 0 };
	int ret;

	for (size_t i = 1; i < num; i++) {
		int won = vote_on_lower_address(&shared[i - 1], &shared[i]);

		if (won)
			votes[won < 0]++;
	}
	if (votes[0] > MAJORITY * votes[1]) {
		ret = claim_addresses(a, addr[0], addr[1]);
		return ret ? ret : claim_addresses(b, addr[1], addr[0]);
	}
	if (votes[1] > MAJORITY * votes[0]) {
		ret = claim_addresses(a, addr[1], addr[0]);
		return ret ? ret : claim_addresses(b, addr[0], addr[1]);
	}
	return 0;
}

static int compare_watchers(struct watcher *a, struct watcher *b)
{
	struct shared_packet *shared;
	ssize_t num = find_shared_packets(&a->samples, &b->samples, &shared);
	int ret = num < 0 ? (int)num : 0;

	a->met |= num > 0;
	b->met |= num > 0;
	for (ssize_t i = 0, j; i < num && !ret; i = j) {
		for (j = i + 1; j < num && !memcmp(shared[i].of->addr, shared[j].of->addr,
						   sizeof(shared[i].of->addr));
		     j++)
			;
		ret = count_votes(a, b, &shared[i], (size_t)(j - i));
	}
	free(shared);
	return ret;
}

/* Mark a host if its addresses are also addresses of its peers, because it may forward packets. */
static void mark_doubtful_watcher(struct watcher *watcher)
{
	for (size_t i = 0; i < watcher->own.num; i++)
		for (size_t j = 0; j < watcher->other.num; j++)
			if (!memcmp(watcher->own.address[i].bytes, watcher->other.address[j].bytes,
				    16))
				watcher->doubtful = true;
}

int infer_from_shared_packets(struct watcher *watchers, size_t num)
{
	int ret = 0;

	for (size_t i = 0; i < num; i++)
		samples_drop_repeated(&watchers[i].samples);
	for (size_t i = 0; i < num; i++)
		for (size_t j = i + 1; j < num && !ret; j++)
			if (watchers[i].wanted || watchers[j].wanted)
				ret = compare_watchers(&watchers[i], &watchers[j]);
	for (size_t i = 0; i < num; i++)
		mark_doubtful_watcher(&watchers[i]);
	return ret;
}

/* ---- hardware addresses -------------------------------------------------- */

void common_mac_add(struct common_mac *common, const struct frame_link *link)
{
	unsigned int kept = 0;

	if (!link->from || link->from[0] & 1 || link->to[0] & 1)
		return;
	if (!common->any) {
		common->any = true;
		common->num = memcmp(link->from, link->to, MAC_SIZE) ? 2 : 0;
		memcpy(common->mac[0], link->from, MAC_SIZE);
		memcpy(common->mac[1], link->to, MAC_SIZE);
		return;
	}
	for (unsigned int i = 0; i < common->num; i++)
		if (!memcmp(common->mac[i], link->from, MAC_SIZE) ||
		    !memcmp(common->mac[i], link->to, MAC_SIZE))
			memmove(common->mac[kept++], common->mac[i], MAC_SIZE);
	common->num = kept;
}
