// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turn updates of the kernel's timekeeper into events netsync_clock, one for
 * each change in the rate or offset of CLOCK_MONOTONIC, CLOCK_REALTIME,
 * CLOCK_BOOTTIME or CLOCK_TAI against CLOCK_MONOTONIC_RAW.
 *
 *	timekeeper, each tick -> on_timekeeper_update() -> ring -> irq_work: drain_ring() -> event
 *
 * The timekeeper calls on_timekeeper_update() with its lock held and its
 * sequence count odd. A tracer that reads the time there would wait forever, so
 * records pass through a ring.
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
 * A new record is made if the clock deviates from the line of the last record
 * by more than this, ns. The kernel alternates between the two multipliers next
 * to the rate that it wants. With a TSC, neighbouring multipliers are 0.2 ppm
 * apart. Below 50 ns, a clock that nobody steers would cause more than four
 * records a second. Chosen.
 */
#define MAX_DEVIATION 50

/*
 * Maximum number of records that wait for drain_ring(). If drain_ring() is delayed, each tick can
 * add a record. Must be a power of 2. Chosen.
 */
#define RING_SIZE 32

static struct netsync_clock_record ring[RING_SIZE];
/*
 * Number of records that on_timekeeper_update() has put into the ring, and number that drain_ring()
 * has taken out of the ring.
 */
static u32 ring_in, ring_out;
static DEFINE_RAW_SPINLOCK(out_lock);

/*
 * The last record, which the timekeeper's lock protects. The member mult is 0 if there is no record
 * yet.
 */
static struct netsync_clock_record last;
static const struct clocksource *last_source;
/*
 * Number of the next record, counted since the module was loaded. Whenever recording stops, a
 * number is skipped, because later changes are not known until recording starts again.
 */
static u32 seq;

static void drain_ring(struct irq_work *work)
{
	unsigned long flags;

	/*
	 * Another tick may queue this work on another processor, so that it runs on two processors.
	 */
	raw_spin_lock_irqsave(&out_lock, flags);
	/* Pairs with on_timekeeper_update(), which writes a record before it counts the record. */
	while (ring_out != smp_load_acquire(&ring_in)) {
		trace_netsync_clock(&ring[ring_out % RING_SIZE]);
		/*
		 * Pairs with on_timekeeper_update(), which uses the slot again only after the
		 * record was read.
		 */
		smp_store_release(&ring_out, ring_out + 1);
	}
	raw_spin_unlock_irqrestore(&out_lock, flags);
}

static struct irq_work drain_work;

/*
 * Return the reading of a clock (ns) @cycles after the timekeeper's last
 * update.
 */
static u64 read_clock_at(const struct tk_read_base *clock, u64 cycles)
{
	return ktime_to_ns(clock->base) +
	       ((cycles * clock->mult + clock->xtime_nsec) >> clock->shift);
}

static u64 cycles_since_update(const struct tk_read_base *clock)
{
	u64 cycles = (clock->clock->read(clock->clock) - clock->cycle_last) &
		     clock->mask;

	/*
	 * If this processor's counter is slightly behind the counter of the last update, return 0.
	 */
	return cycles > clock->mask / 2 ? 0 : cycles;
}

/* Return how far CLOCK_MONOTONIC deviates from the line of the last record, ns. */
static s64 compute_deviation(const struct timekeeper *tk)
{
	u64 raw = read_clock_at(&tk->tkr_raw, 0);
	s64 gain = read_clock_at(&tk->tkr_mono, 0) - raw;

	gain -= last.mono - last.raw;
	/*
	 * Use 64 bits, because multipliers can exceed 2^31. The multiplier of
	 * an HPET does.
	 */
	return gain - div64_s64((s64)(raw - last.raw) *
					((s64)last.mult - last.raw_mult),
				last.raw_mult);
}

/*
 * Return whether a record is needed. A record is needed after any change of a clock, and once a
 * second.
 */
static bool is_clock_record_needed(const struct timekeeper *tk)
{
	s64 change = (s64)tk->tkr_mono.mult - last.mult;

	return !last.mult || tk->tkr_mono.clock != last_source ||
	       tk->tkr_mono.shift != last.shift ||
	       tk->tkr_raw.mult != last.raw_mult ||
	       tk->offs_real != last.offs_real ||
	       tk->offs_boot != last.offs_boot ||
	       tk->offs_tai != last.offs_tai ||
	       tk->clock_was_set_seq != last.steps || change > 1 || change < -1 ||
	       (s64)(read_clock_at(&tk->tkr_raw, 0) - last.raw) >= NSEC_PER_SEC ||
	       abs(compute_deviation(tk)) > MAX_DEVIATION;
}

static int on_timekeeper_update(struct notifier_block *nb, unsigned long was_set, void *data)
{
	const struct timekeeper *tk = data;
	u64 cycles;

	if (!is_clock_record_needed(tk))
		return NOTIFY_OK;
	/*
	 * Record the clocks at this instant. The update took place up to a tick ago. When the
	 * multiplier changes, the clock is continuous at this instant, but not at the update.
	 */
	cycles = cycles_since_update(&tk->tkr_mono);
	last.mono = read_clock_at(&tk->tkr_mono, cycles);
	last.raw = read_clock_at(&tk->tkr_raw, cycles);
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
	 * If the ring is full, drop the record. The number of the record is then missing in the
	 * trace. Pairs with drain_ring().
	 */
	if (ring_in - smp_load_acquire(&ring_out) < RING_SIZE) {
		ring[ring_in % RING_SIZE] = last;
		/* Pairs with drain_ring(). */
		smp_store_release(&ring_in, ring_in + 1);
	}
	irq_work_queue(&drain_work);
	return NOTIFY_OK;
}

static struct notifier_block updates = { .notifier_call = on_timekeeper_update };

/* Registering calls on_timekeeper_update() once. This call makes the first record. */
static int attach_clock(void)
{
	init_irq_work(&drain_work, drain_ring);
	last.mult = 0;
	return pvclock_gtod_register_notifier(&updates);
}

static void detach_clock(void)
{
	pvclock_gtod_unregister_notifier(&updates);
	seq++;
	irq_work_sync(&drain_work);
	/*
	 * irq_work_sync() only waits for the last processor that ran the work. Take the lock to
	 * wait for all processors.
	 */
	raw_spin_lock_irq(&out_lock);
	raw_spin_unlock_irq(&out_lock);
}

struct netsync_source netsync_timekeeper = {
	.attach = attach_clock,
	.detach = detach_clock,
};
