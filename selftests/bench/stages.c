// SPDX-License-Identifier: GPL-2.0-only
#include "match/match.h"
#include "measure.h"
#include "message/message.h"
#include "netsync-io.h"
#include "reduce/internal.h"
#include "stages.h"

/*
 * Number of messages that are pushed between two clock readings. The two readings take 1.3 us
 * (measured), and pushing a message takes 0.1 to 0.4 us. Chosen to fit in the processor's cache.
 */
#define CHUNK 1024

static enum stage now;
static double since; /* time at which the current stage was entered or resumed, ns */
static double total[NUM_STAGES];

static struct message {
	uint32_t from;
	uint32_t to;
	int64_t send_ns;
	int64_t recv_ns;
} chunk[CHUNK];
static size_t num; /* number of messages in the chunk */

/* Enter a stage. Return the previous stage, so that the caller can resume it later. */
static enum stage enter_stage(enum stage stage)
{
	const enum stage before = now;
	const double time = measure_processor_time();

	total[before] += time - since;
	since = time;
	now = stage;
	return before;
}

void stages_begin(void)
{
	for (int i = 0; i < NUM_STAGES; i++)
		total[i] = 0;
	now = STAGE_REST;
	since = measure_processor_time();
}

void stages_end(double spent[NUM_STAGES])
{
	enter_stage(STAGE_REST);
	for (int i = 0; i < NUM_STAGES; i++)
		spent[i] = total[i];
}

/* ---- wrapped calls, and the functions that replace them ----------------- */

#define CALL(name) __typeof__(name) __wrap_##name, __real_##name

CALL(netsync_io_read);
CALL(netsync_io_free);
CALL(netsync_push_message);
CALL(netsync_solve);
CALL(matcher_settle);
CALL(pairs_raise);
CALL(pairs_settle);
CALL(reduce);
CALL(reduction_find_islands);
CALL(reduction_fit_hosts);
CALL(reduction_fit_jointly);
CALL(reduction_fit_steered);
CALL(reduction_make_clock);

/* Evaluate an expression, count its time in a stage, and return its value. */
#define IN_STAGE(number, expression)                                \
	({                                                          \
		const enum stage before_ = enter_stage(number);     \
		const __typeof__(expression) value_ = (expression); \
                                                                    \
		enter_stage(before_);                               \
		value_;                                             \
	})

static int push_kept_messages(struct netsync *ns)
{
	int ret = 0;

	for (size_t i = 0; i < num && !ret; i++)
		ret = __real_netsync_push_message(ns, chunk[i].from, chunk[i].to, chunk[i].send_ns,
						  chunk[i].recv_ns);
	num = 0;
	return ret;
}

int __wrap_netsync_push_message(struct netsync *ns, uint32_t from, uint32_t to, int64_t send_ns,
				int64_t recv_ns)
{
	chunk[num++] = (struct message){ from, to, send_ns, recv_ns };
	return num == CHUNK ? IN_STAGE(STAGE_PUSH, push_kept_messages(ns)) : 0;
}

int __wrap_netsync_io_read(struct netsync_io *io, netsync_io_progress_func progress, void *data)
{
	return IN_STAGE(STAGE_READ, __real_netsync_io_read(io, progress, data));
}

int __wrap_netsync_solve(struct netsync *ns, const struct netsync_options *opt)
{
	int ret = IN_STAGE(STAGE_PUSH, push_kept_messages(ns));

	if (!ret)
		ret = IN_STAGE(STAGE_LINES, __real_netsync_solve(ns, opt));
	/* After this point, the command only frees memory. */
	enter_stage(STAGE_WRITE);
	return ret;
}

void __wrap_netsync_io_free(struct netsync_io *io)
{
	enter_stage(STAGE_REST);
	__real_netsync_io_free(io);
}

int __wrap_matcher_settle(struct matcher *m)
{
	return IN_STAGE(STAGE_PUSH, __real_matcher_settle(m));
}

void __wrap_pairs_raise(struct pairs *ps, const int64_t *resolution, double slope)
{
	const enum stage before = enter_stage(STAGE_PUSH);

	__real_pairs_raise(ps, resolution, slope);
	enter_stage(before);
}

int __wrap_pairs_settle(struct pairs *ps)
{
	return IN_STAGE(STAGE_PUSH, __real_pairs_settle(ps));
}

int __wrap_reduce(struct host *host, uint32_t num_hosts, struct estimate *est, uint32_t num_pairs,
		  struct task *task)
{
	return IN_STAGE(STAGE_PAIR_BOUNDS, __real_reduce(host, num_hosts, est, num_pairs, task));
}

void __wrap_reduction_find_islands(struct reduction *r)
{
	const enum stage before = enter_stage(STAGE_REFERENCE);

	__real_reduction_find_islands(r);
	enter_stage(before);
}

int __wrap_reduction_fit_hosts(struct reduction *r)
{
	return IN_STAGE(STAGE_HOST_FITS, __real_reduction_fit_hosts(r));
}

int __wrap_reduction_fit_jointly(struct reduction *r)
{
	return IN_STAGE(STAGE_JOINT_FIT, __real_reduction_fit_jointly(r));
}

int __wrap_reduction_fit_steered(struct reduction *r, bool *explains)
{
	return IN_STAGE(STAGE_JOINT_FIT, __real_reduction_fit_steered(r, explains));
}

int __wrap_reduction_make_clock(const struct reduction *r, uint32_t h)
{
	return IN_STAGE(STAGE_HOST_BOUNDS, __real_reduction_make_clock(r, h));
}
