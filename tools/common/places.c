// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locations of programs relative to each other. "make install" compiles this file again for the
 * locations of installed programs. In build/, all programs are in one directory.
 */
#include "places.h"

#ifndef PLACE_OF_COMMANDS
#define PLACE_OF_COMMANDS "."
#define PLACE_OF_NETSYNC "."
#endif

const char *const place_of_commands = PLACE_OF_COMMANDS;
const char *const place_of_netsync = PLACE_OF_NETSYNC;
