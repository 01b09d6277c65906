// SPDX-License-Identifier: LGPL-2.1-or-later
#include "io/ctf/clock.h"

/* Frequency of a clock that counts nanoseconds (Hz). */
#define NS_PER_S 1000000000

bool ctf_clock_set(struct ctf_clock *clock, const bt_clock_class *class)
{
	__int128 epoch;

	clock->frequency = bt_clock_class_get_frequency(class);
	/* The offset in cycles is always less than a second. */
	bt_clock_class_get_offset(class, &clock->offset_s, &clock->offset);
	epoch = (__int128)clock->offset_s * NS_PER_S +
		(__int128)clock->offset * NS_PER_S / clock->frequency;
	clock->epoch_ns = (int64_t)epoch;
	return epoch <= INT64_MAX && epoch >= INT64_MIN;
}

bool ctf_clock_time(const struct ctf_clock *clock, uint64_t cycles, int64_t *time_ns)
{
	if (clock->frequency == NS_PER_S)
		return cycles <= INT64_MAX &&
		       !__builtin_add_overflow(clock->epoch_ns, (int64_t)cycles, time_ns);
	if (!bt_util_clock_cycles_to_ns_from_origin(cycles, clock->frequency, clock->offset_s,
						    clock->offset, time_ns))
		return true;
	bt_current_thread_clear_error();
	return false;
}

uint64_t ctf_clock_cycles(const struct ctf_clock *clock, int64_t time_ns)
{
	const __int128 since = (__int128)time_ns - clock->epoch_ns - 1;
	const __int128 cycles = since * clock->frequency / NS_PER_S;

	return cycles < 0 ? 0 : cycles > INT64_MAX ? INT64_MAX : (uint64_t)cycles;
}
