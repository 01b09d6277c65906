// SPDX-License-Identifier: GPL-2.0-only
/* Sub-commands that are interrupted end in order. */
#include <stddef.h>

#include "tool.h"

volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	interrupted = number;
}

void catch_signal(int number, struct sigaction *before)
{
	const struct sigaction action = {
		.sa_handler = on_signal,
		.sa_flags = SA_RESETHAND,	/* the second time it ends */
	};

	sigaction(number, &action, before);
}
