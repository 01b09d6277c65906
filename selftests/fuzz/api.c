// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz the public calls in any order. No call may crash or fail when used as documented. Bounds
 * must be consistent, and must contain the true times if the simulated clocks fulfil the
 * assumptions.
 *
 * A script must always have the same result, whether it is solved once or twice, with one thread or
 * with several threads, and whether one object gets all messages or several objects' saved messages
 * are merged.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct saved {
	uint8_t *bytes;
	size_t size;
};

static int append_to_saved(void *data, const void *bytes, size_t size)
{
	struct saved *s = data;
	uint8_t *more = realloc(s->bytes, s->size + size);

	if (!more)
		return -ENOMEM;
	s->bytes = more;
	memcpy(s->bytes + s->size, bytes, size);
	s->size += size;
	return 0;
}

static struct saved save_all_messages(struct netsync *ns)
{
	struct saved s = { 0 };
	const int ret = netsync_save_messages(ns, append_to_saved, &s);

	if (ret)
		play_fail("messages are not saved: %d, %s", ret, netsync_error(ns));
	return s;
}

/* Check that the result is the same with several threads, and when the object is solved again. */
static void check_solved_again(const struct script *s, const struct netsync *all)
{
	struct player p;

	play_begin(&p, s);
	netsync_use_threads(p.ns, 3);
	play_all(&p);
	play_solve(&p);
	check_same_results(all, p.ns, "with threads");
	play_solve(&p);
	check_same_results(all, p.ns, "solved twice");
	netsync_free(p.ns);
}

/*
 * Check that solving between calls does not change the final result, unless later input changes
 * earlier knowledge.
 */
static void check_solved_between(const struct script *s, const struct netsync *all)
{
	struct player p;

	play_begin(&p, s);
	p.solves = true;
	play_all(&p);
	play_solve(&p);
	check_result(s, p.ns);
	if (!s->has_readings)
		check_same_results(all, p.ns, "solved in between");
	netsync_free(p.ns);
}

/* Merge the saved messages of all parts into another object. */
static void check_saved_and_merged(const struct script *s, struct netsync *all)
{
	struct saved saved = save_all_messages(all);
	struct player p = { .script = s, .ns = netsync_new() };
	const int ret = netsync_merge_messages(p.ns, saved.bytes, saved.size);

	if (ret)
		play_fail("what was saved is refused: %d, %s", ret, netsync_error(p.ns));
	play_solve(&p);
	check_same_results(all, p.ns, "saved");
	netsync_free(p.ns);
	free(saved.bytes);
}

/* Save the messages of one part. */
static struct saved save_script_part(const struct script *s, uint32_t part, uint64_t *refused)
{
	struct player p;
	struct saved saved;

	play_begin(&p, s);
	p.refused = *refused;
	play_part(&p, part);
	*refused = p.refused;
	if (s->solves_parts)
		play_solve(&p);
	saved = save_all_messages(p.ns);
	netsync_free(p.ns);
	return saved;
}

/*
 * Check that merging all parts gives the result of the whole script, or fails with an error if the
 * parts do not fit together.
 */
static void check_merged_parts(const struct player *all)
{
	const struct script *s = all->script;
	struct player sum = { .script = s, .ns = netsync_new() };
	uint64_t refused = 0;
	bool merged = true;

	for (uint32_t i = 0; i < SCRIPT_PARTS; i++) {
		struct saved saved = save_script_part(s, i, &refused);
		const int ret = netsync_merge_messages(sum.ns, saved.bytes, saved.size);

		free(saved.bytes);
		if (ret && ret != -EALREADY && ret != -ERANGE && ret != -EINVAL)
			play_fail("a part is refused: %d, %s", ret, netsync_error(sum.ns));
		merged &= !ret;
	}
	play_solve(&sum);
	check_result(s, sum.ns);
	if (merged && refused == all->refused && script_has_early_readings(s) &&
	    !(s->solves_parts && s->has_readings)) {
		check_same_results(all->ns, sum.ns, "parts");
		check_truth(all, sum.ns);
	}
	netsync_free(sum.ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct script s;
	struct player all;

	script_make(&s, data, size);
	play_begin(&all, &s);
	play_all(&all);
	play_solve(&all);
	check_result(&s, all.ns);
	check_truth(&all, all.ns);
	check_solved_again(&s, all.ns);
	check_solved_between(&s, all.ns);
	check_merged_parts(&all);
	check_saved_and_merged(&s, all.ns);
	netsync_free(all.ns);
	return 0;
}
