// SPDX-License-Identifier: GPL-2.0-only
/*
 * Updates of the kernel's timekeeper -> events netsync_clock, one for each change
 * of what makes CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_BOOTTIME and CLOCK_TAI out
 * of CLOCK_MONOTONIC_RAW.
 *
 * The timekeeper calls see_update() at every tick, with its lock held and its
 * sequence count odd: a tracer that reads the time there would wait forever. So
 * records go through a ring to hand_over(), which runs after that.
 */
#include <linux/clocksource.h>
#include <linux/irq_work.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/pvclock_gtod.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timekeeper_internal.h>

#include "clock.h"
#include "events.h"
#include "netsync-events.h"

/*
 * The kernel goes back and forth between two neighbouring multipliers where the
 * one that it wants lies in between. That is no change as long as the clock is so
 * near to the line of the last record, ns. A multiplier is 0.2 ppm from the next
 * (TSC), so that less would give more than four records a second of clocks that
 * nobody steers. Chosen.
 */
#define MAX_DEVIATION 50

/* Records that wait: one for each tick that hand_over() is held up. A power of 2. */
#define RING_SIZE 32

static struct netsync_clock ring[RING_SIZE];
/* Counts of records; see_update() writes the first one, hand_over() the second. */
static u32 ring_in, ring_out;
static DEFINE_RAW_SPINLOCK(out_lock);

/* The last record, protected by the timekeeper's lock; mult 0: none yet. */
static struct netsync_clock last;
static const struct clocksource *last_source;
/* Of records, since the module is loaded. */
static u32 seq;

static void hand_over(struct irq_work *work)
{
	unsigned long flags;

	/* Another processor may have been asked to do the same by now. */
	raw_spin_lock_irqsave(&out_lock, flags);
	/* Pairs with see_update(): a record is there before it is counted. */
	while (ring_out != smp_load_acquire(&ring_in)) {
		trace_netsync_clock(&ring[ring_out % RING_SIZE]);
		/* Pairs with see_update(): its place is free when it is counted. */
		smp_store_release(&ring_out, ring_out + 1);
	}
	raw_spin_unlock_irqrestore(&out_lock, flags);
}

static struct irq_work hand_over_work;

/* What a clock shows so many cycles after the timekeeper's last update. */
static u64 clock_at(const struct tk_read_base *clock, u64 cycles)
{
	return ktime_to_ns(clock->base) +
	       ((cycles * clock->mult + clock->xtime_nsec) >> clock->shift);
}

static u64 cycles_since_update(const struct tk_read_base *clock)
{
	u64 cycles = (clock->clock->read(clock->clock) - clock->cycle_last) &
		     clock->mask;

	/* Counters of other processors may be a little behind. */
	return cycles > clock->mask / 2 ? 0 : cycles;
}

/* How far CLOCK_MONOTONIC is off the line of the last record, ns. */
static s64 deviation(const struct timekeeper *tk)
{
	u64 raw = clock_at(&tk->tkr_raw, 0);
	s64 gain = clock_at(&tk->tkr_mono, 0) - raw;

	gain -= last.mono - last.raw;
	/* Multipliers can be beyond 2^31, as that of an hpet is. */
	return gain - div64_s64((s64)(raw - last.raw) *
					((s64)last.mult - last.raw_mult),
				last.raw_mult);
}

static bool is_new(const struct timekeeper *tk)
{
	s64 change = (s64)tk->tkr_mono.mult - last.mult;

	return !last.mult || tk->tkr_mono.clock != last_source ||
	       tk->tkr_mono.shift != last.shift ||
	       tk->tkr_raw.mult != last.raw_mult ||
	       tk->offs_real != last.offs_real ||
	       tk->offs_boot != last.offs_boot ||
	       tk->offs_tai != last.offs_tai ||
	       tk->clock_was_set_seq != last.steps || change > 1 || change < -1 ||
	       (s64)(clock_at(&tk->tkr_raw, 0) - last.raw) >= NSEC_PER_SEC ||
	       abs(deviation(tk)) > MAX_DEVIATION;
}

static int see_update(struct notifier_block *nb, unsigned long was_set, void *data)
{
	const struct timekeeper *tk = data;
	u64 cycles;

	if (!is_new(tk))
		return NOTIFY_OK;
	/*
	 * Now, not at the update's own time, which is up to a tick ago: a new
	 * multiplier is made such that the clock goes on from here without a step.
	 */
	cycles = cycles_since_update(&tk->tkr_mono);
	last.mono = clock_at(&tk->tkr_mono, cycles);
	last.raw = clock_at(&tk->tkr_raw, cycles);
	last.offs_real = ktime_to_ns(tk->offs_real);
	last.offs_boot = ktime_to_ns(tk->offs_boot);
	last.offs_tai = ktime_to_ns(tk->offs_tai);
	last.mult = tk->tkr_mono.mult;
	last.raw_mult = tk->tkr_raw.mult;
	last.shift = tk->tkr_mono.shift;
	last.steps = tk->clock_was_set_seq;
	last.seq = seq++;
	last_source = tk->tkr_mono.clock;
	strscpy_pad(last.clocksource, last_source->name,
		    sizeof(last.clocksource));
	/*
	 * Where there is no room, its number is missing in the trace. Pairs with
	 * hand_over().
	 */
	if (ring_in - smp_load_acquire(&ring_out) < RING_SIZE) {
		ring[ring_in % RING_SIZE] = last;
		/* Pairs with hand_over(). */
		smp_store_release(&ring_in, ring_in + 1);
	}
	irq_work_queue(&hand_over_work);
	return NOTIFY_OK;
}

static struct notifier_block updates = { .notifier_call = see_update };

/* see_update() is called once by this, and the first record made. */
static int attach_clock(void)
{
	init_irq_work(&hand_over_work, hand_over);
	last.mult = 0;
	return pvclock_gtod_register_notifier(&updates);
}

static void detach_clock(void)
{
	pvclock_gtod_unregister_notifier(&updates);
	irq_work_sync(&hand_over_work);
	/* It knows of the last processor only that ran it. */
	raw_spin_lock_irq(&out_lock);
	raw_spin_unlock_irq(&out_lock);
}

struct netsync_source netsync_timekeeper = {
	.attach = attach_clock,
	.detach = detach_clock,
};
