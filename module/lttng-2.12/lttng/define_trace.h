/* SPDX-License-Identifier: GPL-2.0-only */
/* The location of this header in LTTng 2.12. */
#include <probes/define_trace.h>
