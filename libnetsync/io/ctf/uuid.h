/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A uuid as text -> its bytes. */
#ifndef NETSYNC_CTF_UUID_H
#define NETSYNC_CTF_UUID_H

#include <stdbool.h>
#include <stdint.h>

#include "io/io.h"

/* False: @text is NULL or no uuid. Dashes may be anywhere, and digits of either case. */
bool ctf_parse_uuid(uint8_t to[UUID_SIZE], const char *text);

#endif
