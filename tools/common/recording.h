/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How netsync live finds a recording: netsync record writes the URL of its relay daemon to a
 * file in its directory, and keeps the file locked while it records. The lock also reveals the
 * end of a recording that was killed.
 */
#ifndef NETSYNC_RECORDING_H
#define NETSYNC_RECORDING_H

#include <stdbool.h>

/* In the directory of the recording; no host's directory begins with "+". */
#define RECORDING_FILE "+live.url"

/*
 * How the hosts' clocks are steered, until the recording ends: netsync-clocks(5), with
 * the machines' host names. This file is created before RECORDING_FILE.
 */
#define RECORDING_CLOCKS "+live.clocks"

/* Bytes of "net://127.0.0.1:65535", with a margin. */
#define RECORDING_URL 64

struct recording {
	const char *dir;
	char url[RECORDING_URL];
	bool ended;
};

/*
 * For netsync record. Return a descriptor for recording_withdraw(), or -1 after a message on
 * failure.
 */
int recording_announce(const char *dir, unsigned int port);
void recording_withdraw(const char *dir, int fd);

/*
 * For netsync live. If no recording is running in the directory, print a message and return
 * false.
 */
bool recording_find(struct recording *recording, const char *dir);
bool recording_has_ended(struct recording *recording);

#endif
