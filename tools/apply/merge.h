/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NETSYNC_APPLY_MERGE_H
#define NETSYNC_APPLY_MERGE_H

struct apply_settings;

/* Merge captures into the file @set->merge.path, which must not be NULL. Return the exit status. */
int apply_merge(const struct apply_settings *set);

#endif
