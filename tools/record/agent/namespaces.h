/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of this machine's network namespaces. */
#ifndef NETSYNC_AGENT_NAMESPACES_H
#define NETSYNC_AGENT_NAMESPACES_H

#include <json.h>

/*
 * Find the current namespaces, and keep those found before. Call this function more than once,
 * because containers start and stop while recording.
 */
void namespaces_find(void);
/* Return the list [{"inode":N,"name":NAME}...], in which all names differ. */
struct json_object *namespaces_make_list(void);

#endif
