// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Collectives of a rank -> the keys by which they are found in the traces of the other ranks.
 *
 * Since 2025, PyTorch numbers the collectives of a group ("Seq"). Otherwise, the ranks of a group
 * count its operations in each step, in the order in which they start:
 *
 *	step 4	a b b	  step 5  a b b		rank 0
 *	    b b		  step 5  a b b		rank 1; its profile begins within step 4
 *
 * The key contains the sequence of all operations of the group in that step. If a rank recorded
 * only a part of the step, its operations therefore match none of other ranks, rather than the
 * wrong ones.
 */
#include <stdlib.h>

#include "io/spans/kineto.h"
#include "util/hash.h"
#include "util/number.h"
#include "util/search.h"

static int compare_launches(const void *a, const void *b)
{
	const struct kineto_launch *p = a, *q = b;

	return COMPARE(p->id, q->id);
}

static int compare_steps(const void *a, const void *b)
{
	const struct kineto_step *p = a, *q = b;

	return COMPARE(p->start_ns, q->start_ns);
}

static int compare_collectives_by_start(const void *a, const void *b)
{
	const struct kineto_collective *p = a, *q = b;
	const int order = COMPARE(p->start_ns, q->start_ns);

	return order ? order : COMPARE(p->end_ns, q->end_ns);
}

/* Group the operations that are counted together, in the order in which they start. */
static int compare_collectives_by_run(const void *a, const void *b)
{
	const struct kineto_collective *p = a, *q = b;
	int order = COMPARE(p->group, q->group);

	if (!order)
		order = COMPARE(p->step, q->step);
	return order ? order : compare_collectives_by_start(a, b);
}

/* Find the step in which a collective was launched. Return -1 if it is unknown. */
static int32_t find_step(const struct kineto *kineto, const struct kineto_collective *collective)
{
	const struct kineto_launch key = { .id = collective->launch }, *launch = NULL;
	size_t started; /* number of steps that start before the launch, or with it */

	if (kineto->num_launches)
		launch = bsearch(&key, kineto->launch, kineto->num_launches,
				 sizeof(*kineto->launch), compare_launches);
	if (!launch)
		return -1;
	started = SEARCH(kineto->step, kineto->num_steps, start_ns, launch->time_ns, true);
	if (!started || kineto->step[started - 1].end_ns < launch->time_ns)
		return -1;
	return kineto->step[started - 1].number;
}

static bool is_same_run(const struct kineto_collective *a, const struct kineto_collective *b)
{
	return a->group == b->group && a->step == b->step;
}

/*
 * Merge the kernels of a numbered operation, if NCCL divided it among several: it starts with the
 * first of them, and ends with the last. The other kernels do not relate to kernels of other ranks.
 */
static void merge_kernels(struct kineto_collective *run, size_t num)
{
	struct kineto_collective *first = run;

	for (size_t i = 1; i < num; i++) {
		struct kineto_collective *next = &run[i];

		if (next->sequence < 0 || next->sequence != first->sequence || next->launch < 0 ||
		    next->launch != first->launch || next->check != first->check) {
			first = next;
			continue;
		}
		first->end_ns = max64(first->end_ns, next->end_ns);
		next->role = 0;
	}
}

/* Set the keys of operations that are counted together. */
static void number_run(struct kineto_collective *run, size_t num)
{
	uint64_t all = num;

	for (size_t i = 0; i < num; i++)
		all = hash_mix(all ^ run[i].check) + run[i].members;
	for (size_t i = 0; i < num; i++) {
		const bool is_numbered = run[i].sequence >= 0;
		const uint64_t number = is_numbered ? (uint64_t)run[i].sequence : i;
		const uint64_t base = is_numbered ? 1 : hash_mix(all + (uint64_t)run[i].step);

		run[i].key[0] = hash_mix(hash_mix(run[i].group ^ base) + number);
		run[i].key[1] = hash_mix(hash_mix(run[i].group + base) ^ number);
	}
}

void kineto_make_keys(struct kineto *kineto)
{
	struct kineto_collective *first = kineto->collective;
	size_t num;

	if (!kineto->num)
		return;
	if (kineto->num_launches)
		qsort(kineto->launch, kineto->num_launches, sizeof(*kineto->launch),
		      compare_launches);
	if (kineto->num_steps)
		qsort(kineto->step, kineto->num_steps, sizeof(*kineto->step), compare_steps);
	for (size_t i = 0; i < kineto->num; i++)
		first[i].step = find_step(kineto, &first[i]);
	qsort(first, kineto->num, sizeof(*first), compare_collectives_by_run);
	for (size_t i = 0; i < kineto->num; i += num) {
		for (num = 1; i + num < kineto->num && is_same_run(&first[i], &first[i + num]);)
			num++;
		merge_kernels(&first[i], num);
		number_run(&first[i], num);
	}
	qsort(first, kineto->num, sizeof(*first), compare_collectives_by_start);
	free(kineto->launch);
	free(kineto->step);
	kineto->launch = NULL;
	kineto->step = NULL;
	kineto->num_launches = kineto->num_steps = 0;
}
