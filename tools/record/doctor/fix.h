/* SPDX-License-Identifier: GPL-2.0-only */
/* netsync doctor --fix: mends this machine, step by step. */
#ifndef NETSYNC_DOCTOR_FIX_H
#define NETSYNC_DOCTOR_FIX_H

#include <stdbool.h>

/*
 * Bring what recording with LTTng needs: its packages, its modules for the running kernel,
 * and the probe of netsync. @asks: ask before anything is run. Return: exit status.
 */
int fix_lttng(bool asks);

#endif
