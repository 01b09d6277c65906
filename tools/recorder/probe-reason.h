/* SPDX-License-Identifier: GPL-2.0-only */
/* The reason why the kernel does not load BPF programs, as a sentence. */
#ifndef NETSYNC_RECORDER_PROBE_REASON_H
#define NETSYNC_RECORDER_PROBE_REASON_H

#include <bpf/libbpf.h>

#include "source.h"

/* Store libbpf's messages. Use this function as an argument of libbpf_set_print(). */
int reason_keep_warning(enum libbpf_print_level level, const char *format, va_list arguments);

/* Find the reason for @error, which is the negative errno value of the failed operation. */
void reason_find(int error, char why[LONGEST_REASON]);

#endif
