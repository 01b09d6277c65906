/* SPDX-License-Identifier: GPL-2.0-only */
/* Standard input as a sign that whoever takes the capture is there. */
#ifndef NETSYNC_RECORDER_INPUT_H
#define NETSYNC_RECORDER_INPUT_H

#include <stdatomic.h>
#include <stdbool.h>

/*
 * Set *@is_ended when standard input ends, cannot be read, or brings nothing for @silence_s (0: no
 * such limit). After silence, the process ends a moment later in any case: writing a capture to a
 * broken connection can take forever. Return 0, or a negative errno value. Signals that are
 * blocked do not interrupt it.
 */
int input_watch(unsigned int silence_s, atomic_bool *is_ended);

#endif
