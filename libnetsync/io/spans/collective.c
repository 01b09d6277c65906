// SPDX-License-Identifier: LGPL-2.1-or-later
/* Kinds of collective operations: see collective.h. */
#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "io/spans/collective.h"

/* Size of the longest name that is compared. Chosen: the longest kind has 27 characters. */
#define KIND_SIZE 64

/* Operations of PyTorch's ProcessGroupNCCL, and of NCCL. */
static const struct collective_kind kinds[] = {
	{ "allreduce", COLLECTIVE_ALL, SIZES_EQUAL },
	{ "allreducesparse", COLLECTIVE_ALL, SIZES_ANY },
	{ "allreducecoalesced", COLLECTIVE_ALL, SIZES_ANY },
	{ "allgather", COLLECTIVE_ALL, SIZES_ANY },
	{ "allgatherbase", COLLECTIVE_ALL, SIZES_EQUAL },
	{ "allgatherintotensorcoalesced", COLLECTIVE_ALL, SIZES_ANY },
	{ "reducescatter", COLLECTIVE_ALL, SIZES_ANY },
	{ "reducescatterbase", COLLECTIVE_ALL, SIZES_EQUAL },
	{ "reducescattertensorcoalesced", COLLECTIVE_ALL, SIZES_ANY },
	{ "alltoall", COLLECTIVE_ALL, SIZES_SPLIT },
	{ "alltoallv", COLLECTIVE_ALL, SIZES_SPLIT },
	{ "alltoallbase", COLLECTIVE_ALL, SIZES_SPLIT },
	{ "barrier", COLLECTIVE_ALL, SIZES_NONE },
	{ "allreducebarrier", COLLECTIVE_ALL, SIZES_NONE },
	{ "broadcast", COLLECTIVE_FROM_ROOT, SIZES_EQUAL },
	{ "broadcastoop", COLLECTIVE_FROM_ROOT, SIZES_EQUAL },
	{ "scatter", COLLECTIVE_FROM_ROOT, SIZES_ANY },
	{ "reduce", COLLECTIVE_TO_ROOT, SIZES_EQUAL },
	{ "reduceoop", COLLECTIVE_TO_ROOT, SIZES_EQUAL },
	{ "gather", COLLECTIVE_TO_ROOT, SIZES_ANY },
	{ "send", COLLECTIVE_SEND, SIZES_ANY },
	{ "recv", COLLECTIVE_RECEIVE, SIZES_ANY },
};

const struct collective_kind *collective_find_kind(const char *name)
{
	char plain[KIND_SIZE];
	size_t len = 0;

	for (; *name && len < sizeof(plain) - 1; name++)
		if (*name != '_')
			plain[len++] = (char)tolower((unsigned char)*name);
	plain[len] = '\0';
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, plain))
			return &kinds[i];
	return NULL;
}
