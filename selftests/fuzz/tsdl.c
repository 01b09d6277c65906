// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz metadata whose clock is replaced. If the metadata has one clock, the result must have the
 * new clock in the same place. The text may only grow because numbers become longer.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/apply/tsdl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tsdl_clock clock = {
		.freq = 1000000007,
		.offset = INT64_MAX,
		.uuid = "5e814231-d576-4f76-af81-5c4cc1096463",
	};
	struct tsdl_clock found;
	char *text = malloc(size + 1), *changed;

	memcpy(text, data, size);
	text[size] = '\0';
	if (!tsdl_read_clock(text, &found)) {
		changed = tsdl_change_clock(text, &clock);
		if (tsdl_read_clock(changed, &found) || found.freq != clock.freq ||
		    found.offset != clock.offset || found.offset_s || !strstr(changed, clock.uuid))
			abort();
		free(changed);
	}
	free(text);
	return 0;
}
