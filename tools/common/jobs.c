// SPDX-License-Identifier: GPL-2.0-only
#include <sched.h>
#include <stdlib.h>

#include "complain.h"
#include "jobs.h"
#include "options.h"

bool jobs_find(unsigned int given, unsigned int *jobs)
{
	static const struct option_row row = { .least = 1, .most = MAX_JOBS };
	const char *value = getenv(JOBS_VARIABLE);

	*jobs = given;
	if (*jobs || !value || !*value)
		return true;
	if (parse_number_value(jobs, &row, value))
		return true;
	complain(JOBS_VARIABLE "=%s: give a number from %u to %u.", value, row.least, row.most);
	return false;
}

unsigned int count_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : (unsigned int)CPU_COUNT(&set);
}
