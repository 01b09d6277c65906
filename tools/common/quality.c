// SPDX-License-Identifier: GPL-2.0-only
/* Explain the words for a correction's quality. netsync-sync(1) uses the same words. */
#include "quality.h"

const char *quality_get_meaning(enum netsync_quality quality)
{
	static const char *const meanings[] = {
		[NETSYNC_ABSENT] =
			"No messages connect the host with the reference, or the reference with any host.",
		[NETSYNC_INCOMPLETE] =
			"Messages were seen in one direction only, so only one side of the bound is known.",
		[NETSYNC_APPROXIMATE] =
			"Some messages are inconsistent with the corrected times, the bound or the clock assumptions, or these assumptions are uncertain because a clock may have been stepped or steered. If only few messages are inconsistent, they are rejected, and the bound holds if these messages are wrong. Otherwise the bound is unknown for all or part of the time.",
		[NETSYNC_ACCURATE] =
			"All messages are consistent with the corrected times, the bound and the clock assumptions, except near a step whose time is not known exactly. The bound holds.",
	};

	return meanings[quality];
}

const char *quality_get_summary(enum netsync_quality quality)
{
	static const char *const summaries[] = {
		[NETSYNC_ABSENT] = "no messages, so the clock is not corrected",
		[NETSYNC_INCOMPLETE] = "messages in one direction only, so the offset is a guess",
		[NETSYNC_APPROXIMATE] =
			"some messages are inconsistent, or a clock may have been stepped or steered",
		[NETSYNC_ACCURATE] =
			"all messages are consistent with the correction, and the bound holds",
	};

	return summaries[quality];
}
