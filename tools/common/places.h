/* SPDX-License-Identifier: GPL-2.0-only */
/* Where netsync's programs are. They find each other wherever they are installed. */
#ifndef NETSYNC_PLACES_H
#define NETSYNC_PLACES_H

/*
 * Relative paths from the directory of netsync to that of the programs netsync-COMMAND, and
 * back.
 */
extern const char *const place_of_commands, *const place_of_netsync;

/*
 * Return the path of netsync, for programs netsync-COMMAND; to be freed with free(). If it is
 * not found, set errno and return NULL.
 */
char *path_of_netsync(void);

/*
 * Return a path relative to the directory of the running program; to be freed with free(). If
 * it is not found, set errno and return NULL.
 */
char *path_from_here(const char *relative);

#endif
