// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run a fuzz target on random bytes instead of a fuzzer's inputs. The inputs have numbers: the
 * first SCRIPTS ones, which are the same in each run, and others that revealed faults in the past.
 * One argument selects a single input by its number, and two arguments select a range of inputs.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "calls/script.h"

/* Maximum size of an input, bytes, which is the size of the longest script (script.c). */
#define MOST_BYTES 336

/* Numbers of later inputs that revealed faults. Each comment describes the fault. */
static const uint16_t found_faults[] = {
	539,   /* a regression line with slope -1, which cannot be a clock */
	682,   /* growth of a bound in an outermost segment that was replaced later */
	1120,  /* the method hull where readings report nothing */
	2115,  /* an extrapolated offset of more than 64 bits */
	2727,  /* wrong readings that lead to times beyond any limit */
	6124,  /* the method hull before the first reading of the reference */
	20098, /* corrected times whose difference from a host's times does not fit into 64 bits */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_script(uint64_t number)
{
	uint64_t state = number * 0x10001;
	const size_t size = 24 + (size_t)(script_draw_random(&state) % (MOST_BYTES - 24));
	uint8_t data[MOST_BYTES];

	for (size_t i = 0; i < size; i++)
		data[i] = (uint8_t)script_draw_random(&state);
	LLVMFuzzerTestOneInput(data, size);
}

static void try_numbered(uint64_t number)
{
	/*
	 * A fault ends the program, so that the last line of output has the number of the failing
	 * input.
	 */
	printf("# script %llu\n", (unsigned long long)number);
	fflush(stdout);
	try_script(number);
}

int main(int argc, char **argv)
{
	const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	const uint64_t last = argc > 2 ? strtoull(argv[2], NULL, 10) :
			      argc > 1 ? first :
					 SCRIPTS - 1;

	printf("TAP version 13\n1..1\n");
	for (uint64_t i = first; i <= last; i++)
		try_numbered(i);
	for (size_t i = 0; argc < 2 && i < sizeof(found_faults) / sizeof(*found_faults); i++)
		try_numbered(found_faults[i]);
	printf("ok 1 - scripts\n");
	return 0;
}
