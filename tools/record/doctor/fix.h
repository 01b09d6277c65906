/* SPDX-License-Identifier: GPL-2.0-only */
/* netsync doctor --fix repairs this machine step by step. */
#ifndef NETSYNC_DOCTOR_FIX_H
#define NETSYNC_DOCTOR_FIX_H

#include <stdbool.h>

/*
 * Install everything that recording with LTTng needs: its packages, its modules for the running
 * kernel, and netsync's probe. With @asks, ask before running commands. Return the exit status.
 */
int fix_lttng(bool asks);

#endif
