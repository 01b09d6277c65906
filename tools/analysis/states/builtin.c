// SPDX-License-Identifier: GPL-2.0-only
/*
 * The built-in definitions, which are the files in definitions/ and are compiled into the program.
 */
#include <string.h>

#include "definition.h"

#define DEFINITION(name)                                                             \
	__asm__(".pushsection .rodata\n"                                             \
		"states_" #name ": .incbin \"" STATES_FOLDER "/" #name ".states\"\n" \
		".byte 0\n"                                                          \
		".popsection\n");                                                    \
	extern const char states_##name[]

DEFINITION(block);
DEFINITION(dlm);
DEFINITION(sched);
DEFINITION(syscall);
DEFINITION(tcp);

const char *const definition_names[] = { "block", "dlm", "sched", "syscall", "tcp", NULL };

/* Texts of the definitions, in the order of definition_names. */
static const char *const texts[] = {
	states_block, states_dlm, states_sched, states_syscall, states_tcp,
};

#define NUM (sizeof(texts) / sizeof(texts[0]))

const char *definition_find_text(const char *name)
{
	for (size_t i = 0; i < NUM; i++)
		if (!strcmp(name, definition_names[i]))
			return texts[i];
	return NULL;
}
