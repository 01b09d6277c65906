// SPDX-License-Identifier: GPL-2.0-only
/* What the words for the quality of a correction mean; netsync-sync(1) has the same words. */
#include "quality.h"

const char *quality_meaning(enum netsync_quality quality)
{
	static const char *const meanings[] = {
		[NETSYNC_ABSENT] =
			"no message connects the host with the reference, or the reference with any host",
		[NETSYNC_INCOMPLETE] =
			"messages were seen in one direction only, so that the bound is known on one side only",
		[NETSYNC_APPROXIMATE] =
			"some messages contradict the corrected times, the bound or what is assumed of the clocks; or these assumptions are not certain to hold, as a clock may have been stepped or steered. Few such messages are rejected, and the bound holds if they are wrong; otherwise the bound is unknown, or unknown for a part of the time",
		[NETSYNC_ACCURATE] =
			"no message contradicts the corrected times, the bound or what is assumed of the clocks, except about a step whose time is not known exactly; and the bound holds",
	};

	return meanings[quality];
}
