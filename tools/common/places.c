// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where programs are, from each other. "make install" compiles this file again, with the
 * places that they are installed to; in build/ all are in one folder.
 */
#include "places.h"

#ifndef PLACE_OF_COMMANDS
#define PLACE_OF_COMMANDS "."
#define PLACE_OF_NETSYNC "."
#endif

const char *const place_of_commands = PLACE_OF_COMMANDS;
const char *const place_of_netsync = PLACE_OF_NETSYNC;
