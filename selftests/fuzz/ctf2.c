// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz metadata in CTF 2. The metadata must be refused with a reason, or translated to a separate
 * text, which the parser of CTF 1.8 accepts or refuses. walk.c and ctf.c read traces with
 * translated metadata.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/ctf/ctf2/ctf2.h"
#include "io/ctf/direct/metadata.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *tsdl, why[CTF2_WHY_SIZE];
	struct metadata metadata;

	memcpy(text, data, size);
	text[size] = '\0';
	if (ctf2_translate(text, &tsdl, why)) {
		if (tsdl || !*why)
			abort();
	} else {
		if (*tsdl == CTF2_BEGIN)
			abort();
		metadata_parse(&metadata, tsdl);
		metadata_release(&metadata);
	}
	free(tsdl);
	free(text);
	return 0;
}
