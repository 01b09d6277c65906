// SPDX-License-Identifier: GPL-2.0-only
/*
 * Explain in a sentence how far times are outside of those that a result covers, and how large the
 * error is there.
 */
#include <errno.h>
#include <stdio.h>

#include "now.h"
#include "result-file.h"
#include "value.h"

#define S_PER_HOUR 3600ULL
#define S_PER_DAY 86400ULL

/*
 * Format a duration as "200 days" or "7 h". Durations below 2 h are formatted by
 * format_duration().
 */
static const char *format_distance(char *buffer, uint64_t ns)
{
	if (ns < 2 * S_PER_HOUR * NS_PER_S)
		return format_duration(buffer, (int64_t)ns);
	if (ns < 2 * S_PER_DAY * NS_PER_S)
		snprintf(buffer, VALUE_SIZE, "%llu h",
			 (unsigned long long)(ns / (S_PER_HOUR * NS_PER_S)));
	else
		snprintf(buffer, VALUE_SIZE, "%llu days",
			 (unsigned long long)(ns / (S_PER_DAY * NS_PER_S)));
	return buffer;
}

static int64_t get_bound_at(const struct netsync_clock *clock, int64_t time_ns)
{
	int64_t corrected, bound;

	return netsync_convert(clock, time_ns, &corrected, &bound) ? NETSYNC_UNKNOWN : bound;
}

int model_check_span(struct model *model, const struct model_host *host,
		     const struct netsync_clock *clock, int64_t first_ns, int64_t last_ns)
{
	const struct host_span *span = &host->span;
	const uint64_t early = first_ns < span->first_ns ?
				       (uint64_t)span->first_ns - (uint64_t)first_ns :
				       0;
	const uint64_t late = last_ns > span->last_ns ?
				      (uint64_t)last_ns - (uint64_t)span->last_ns :
				      0;
	const int64_t bound = get_bound_at(clock, early > late ? first_ns : last_ns);
	char from[VALUE_SIZE], to[VALUE_SIZE], far[VALUE_SIZE], off[VALUE_SIZE];

	if (model_contains_span(model, host, first_ns, last_ns))
		return 0;
	return model_fail(
		model, -ERANGE,
		"%s covers %s to %s on the clock of %s, but the given times extend to %s %s, where the error bound is %s.",
		model->path, format_date(from, span->first_ns, true),
		format_date(to, span->last_ns, true), host->name,
		format_distance(far, early > late ? early : late),
		early > late ? "before this range" : "after this range",
		bound == NETSYNC_UNKNOWN ? "unknown" : format_distance(off, (uint64_t)bound));
}
