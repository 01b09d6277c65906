/* SPDX-License-Identifier: GPL-2.0-only */
/* The compiled BPF programs, which are a part of this program. */
#ifndef NETSYNC_RECORDER_PROBE_OBJECTS_H
#define NETSYNC_RECORDER_PROBE_OBJECTS_H

#include <stdint.h>

struct probe_object {
	const uint8_t *begin, *end;
};

/* The objects for kernels from 6.12 on, and for older kernels. */
extern const struct probe_object probe_objects[2];

#endif
