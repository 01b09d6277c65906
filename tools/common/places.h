/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the programs of netsync are: these find each other wherever they are installed. */
#ifndef NETSYNC_PLACES_H
#define NETSYNC_PLACES_H

/*
 * From the folder of netsync to the folder of the programs netsync-COMMAND, and back;
 * relative paths.
 */
extern const char *const place_of_commands, *const place_of_netsync;

/*
 * The path of netsync, for programs netsync-COMMAND; to be given back with free(). NULL: it
 * cannot be found; errno says why.
 */
char *path_of_netsync(void);

/*
 * A path from the folder of the program that runs, to be given back with free(). NULL: it
 * cannot be found; errno says why.
 */
char *path_from_here(const char *relative);

#endif
