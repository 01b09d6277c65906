// SPDX-License-Identifier: GPL-2.0-only
/* The files in definitions/, which are part of the program. */
#include <string.h>

#include "definition.h"

#define DEFINITION(name) \
	__asm__(".pushsection .rodata\n" \
		"states_" #name ": .incbin \"" STATES_FOLDER "/" #name ".states\"\n" \
		".byte 0\n" \
		".popsection\n"); \
	extern const char states_##name[]

DEFINITION(block);
DEFINITION(dlm);
DEFINITION(sched);
DEFINITION(syscall);
DEFINITION(tcp);

static const struct {
	const char *name;
	const char *text;
} builtin[] = {
	{ "block", states_block },
	{ "dlm", states_dlm },
	{ "sched", states_sched },
	{ "syscall", states_syscall },
	{ "tcp", states_tcp },
};

#define NUM (sizeof(builtin) / sizeof(builtin[0]))

const char *definition_name(size_t number)
{
	return number < NUM ? builtin[number].name : NULL;
}

const char *definition_text(const char *name)
{
	for (size_t i = 0; i < NUM; i++)
		if (!strcmp(name, builtin[i].name))
			return builtin[i].text;
	return NULL;
}
