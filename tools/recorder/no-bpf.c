// SPDX-License-Identifier: GPL-2.0-only
/* Replaces the source bpf in a program that was built without clang, llvm or libbpf. */
#include <stdio.h>

#include "source.h"

static bool refuse_bpf(const struct packet_selection *selection, char why[LONGEST_REASON])
{
	(void)selection;
	snprintf(why, LONGEST_REASON,
		 "this program was built without BPF: build it with clang, llvm and libbpf");
	return false;
}

const struct packet_source bpf_source = {
	.name = "bpf",
	.open = refuse_bpf,
};
