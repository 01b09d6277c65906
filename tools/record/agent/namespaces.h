/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of this machine's network namespaces. */
#ifndef NETSYNC_AGENT_NAMESPACES_H
#define NETSYNC_AGENT_NAMESPACES_H

#include <json.h>

/*
 * Find the current namespaces, because containers start and stop while recording. Those
 * found before are kept.
 */
void namespaces_find(void);
/* [{"inode":N,"name":NAME}...]; all names differ. */
struct json_object *namespaces_make_list(void);

#endif
