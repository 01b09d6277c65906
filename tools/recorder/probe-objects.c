// SPDX-License-Identifier: GPL-2.0-only
/* Includes the BPF objects. The Makefile defines their paths. */
#include "probe-objects.h"

/* Embed an object. Objects are read in place, and their structures require alignment. */
#define EMBED(name, path)                                                                 \
	__asm__(".section .rodata\n"                                                      \
		".balign 16\n"                                                            \
		"probe_object_" #name ":\n"                                               \
		".incbin \"" path "\"\n"                                                  \
		"probe_object_" #name "_end:\n"                                           \
		".byte 0\n"                                                               \
		".previous\n");                                                           \
	extern const uint8_t probe_object_##name[] __attribute__((visibility("hidden"))); \
	extern const uint8_t probe_object_##name##_end[] __attribute__((visibility("hidden")))

EMBED(pages, PROBES_PAGES);
EMBED(linear, PROBES_LINEAR);

const struct probe_object probe_objects[2] = {
	{ probe_object_pages, probe_object_pages_end },
	{ probe_object_linear, probe_object_linear_end },
};
