/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parse UUIDs in text form. */
#ifndef NETSYNC_CTF_UUID_H
#define NETSYNC_CTF_UUID_H

#include <stdbool.h>
#include <stdint.h>

#include "io/io.h"

/*
 * Parse a UUID. Dashes may be anywhere, and digits in upper or lower case. If @text is NULL or not
 * a UUID, return false.
 */
bool ctf_parse_uuid(uint8_t to[UUID_SIZE], const char *text);

#endif
