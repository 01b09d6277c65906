/* SPDX-License-Identifier: GPL-2.0-only */
/* What the network namespaces of this machine are called. */
#ifndef NETSYNC_AGENT_NAMESPACES_H
#define NETSYNC_AGENT_NAMESPACES_H

#include <json.h>

/*
 * Look for those that are there now: containers come and go while they are recorded.
 * What was found before is kept.
 */
void namespaces_find(void);
/* [{"inode":N,"name":NAME}...], no two of one name. */
struct json_object *namespaces_list(void);

#endif
