/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * File by which netsync live finds a recording. netsync record writes the URL of its relay daemon
 * to a file in its directory, and keeps the file locked while it records. The lock also reveals
 * the end of a recording that was killed.
 */
#ifndef NETSYNC_RECORDING_H
#define NETSYNC_RECORDING_H

#include <stdbool.h>

/* File in the directory of the recording. No host's directory begins with "+". */
#define RECORDING_FILE "+live.url"

/*
 * File that reports how the hosts' clocks are steered, until the recording ends, in the
 * format of netsync-clocks(5) with the machines' host names. It is created before
 * RECORDING_FILE.
 */
#define RECORDING_CLOCKS "+live.clocks"

/* Size of "net://127.0.0.1:65535" with some slack, in bytes. */
#define RECORDING_URL 64

struct recording {
	const char *dir;
	char url[RECORDING_URL];
	bool ended;
};

/*
 * Announce a recording (netsync record). Return a descriptor for recording_withdraw(), or -1
 * after a message on failure.
 */
int recording_announce(const char *dir, unsigned int port);
void recording_withdraw(const char *dir, int fd);

/*
 * Find a recording (netsync live). If no recording is running in the directory, print a message
 * and return false.
 */
bool recording_find(struct recording *recording, const char *dir);
bool recording_has_ended(struct recording *recording);

#endif
