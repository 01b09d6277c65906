/* SPDX-License-Identifier: GPL-2.0-only */
/* Record of a clock event: the kernel's clocks at one instant. */
#ifndef NETSYNC_CLOCK_H
#define NETSYNC_CLOCK_H

#include <linux/types.h>

/* FIELD(type, format, name), as in parse.h; netsync-events.h documents the fields. */
#define NETSYNC_CLOCK_FIELDS(FIELD)	\
	FIELD(u64, dec, mono)		\
	FIELD(u64, dec, raw)		\
	FIELD(s64, dec, offs_real)	\
	FIELD(s64, dec, offs_boot)	\
	FIELD(s64, dec, offs_tai)	\
	FIELD(u32, dec, mult)		\
	FIELD(u32, dec, raw_mult)	\
	FIELD(u32, dec, shift)		\
	FIELD(u32, dec, steps)		\
	FIELD(u32, dec, seq)

/*
 * Size of a clocksource's name with its terminating NUL, in bytes. Chosen:
 * hyperv_clocksource_tsc_page has 27.
 */
#define NETSYNC_CLOCKSOURCE_LEN 32

#define NETSYNC_CLOCK_MEMBER(type, format, name) type name;

struct netsync_clock_record {
	NETSYNC_CLOCK_FIELDS(NETSYNC_CLOCK_MEMBER)
	char clocksource[NETSYNC_CLOCKSOURCE_LEN];
};

#endif /* NETSYNC_CLOCK_H */
