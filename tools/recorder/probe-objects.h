/* SPDX-License-Identifier: GPL-2.0-only */
/* The BPF programs, compiled, as parts of this program. */
#ifndef NETSYNC_RECORDER_PROBE_OBJECTS_H
#define NETSYNC_RECORDER_PROBE_OBJECTS_H

#include <stdint.h>

struct probe_object {
	const uint8_t *begin, *end;
};

/* With what kernels from 6.12 on have, and without. */
extern const struct probe_object probe_objects[2];

#endif
