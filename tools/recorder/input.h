/* SPDX-License-Identifier: GPL-2.0-only */
/* Watches standard input, to find out whether the receiver of the capture is still there. */
#ifndef NETSYNC_RECORDER_INPUT_H
#define NETSYNC_RECORDER_INPUT_H

#include <stdatomic.h>
#include <stdbool.h>

/*
 * Set *@is_ended when standard input ends, cannot be read, or is silent for @silence_s (0 means
 * no such limit). After silence, the process ends a moment later in any case, because writing a
 * capture to a broken connection can take forever. Return 0 or a negative errno value. Blocked
 * signals do not interrupt the thread.
 */
int input_watch(unsigned int silence_s, atomic_bool *is_ended);

#endif
