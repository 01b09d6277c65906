/* SPDX-License-Identifier: GPL-2.0-only */
/* Locations of netsync's programs, which find each other wherever they are installed. */
#ifndef NETSYNC_PLACES_H
#define NETSYNC_PLACES_H

/*
 * Relative paths from the directory of netsync to the directory of the netsync-COMMAND programs,
 * and in the opposite direction.
 */
extern const char *const place_of_commands, *const place_of_netsync;

/*
 * Return the path of the netsync executable, for use by the netsync-COMMAND programs. The caller
 * frees it. If netsync is not found, set errno and return NULL.
 */
char *make_path_of_netsync(void);

/*
 * Return the absolute path for a path that is relative to the directory of the running program. The
 * caller frees it. If the file does not exist, set errno and return NULL.
 */
char *make_path_from_here(const char *relative);

#endif
