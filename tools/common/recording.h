/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * File by which netsync live finds a recording. netsync record writes what to follow to a file in
 * its directory: a line with the URL of its relay daemon, or a line NAME=PATH for each capture, with
 * the path in the directory. It keeps the file locked while it records. The lock also reveals the
 * end of a recording that was killed.
 */
#ifndef NETSYNC_RECORDING_H
#define NETSYNC_RECORDING_H

#include <stdbool.h>

/* The file's name in the directory of the recording. Directories of hosts never begin with "+". */
#define RECORDING_FILE "+live.url"

/*
 * A file that reports how the hosts' clocks are steered, until the recording ends. The file's
 * format is that of netsync-clocks(5), and the file has the machines' host names. It is created
 * before RECORDING_FILE.
 */
#define RECORDING_CLOCKS "+live.clocks"

/*
 * Announce a recording (netsync record), with the lines of the file. Return a descriptor for
 * recording_withdraw(), or -1 after a message on failure.
 */
int recording_announce(const char *dir, const char *sources);
void recording_withdraw(const char *dir, int fd);

/*
 * Find a recording (netsync live). Return the lines of the file, which the caller frees. If no
 * recording is running in the directory, print a message and return NULL.
 */
char *recording_find(const char *dir);
/* Is a recording running in the directory? */
bool recording_is_running(const char *dir);

#endif
