/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where netsync record can be followed live, for netsync live: a file in the folder
 * that it records to holds the URL of its relay daemon, and is locked as long as it
 * records, so that one that was killed is known, too.
 */
#ifndef NETSYNC_RECORDING_H
#define NETSYNC_RECORDING_H

#include <stdbool.h>

/* Below the folder; the folder of no host begins with a "+". */
#define RECORDING_FILE "+live.url"

/* "net://127.0.0.1:65535" */
#define RECORDING_URL 64

struct recording {
	const char *dir;
	char url[RECORDING_URL];
	bool ended;
};

/* Of netsync record. Return: a descriptor for recording_withdraw(); -1: it was said. */
int recording_announce(const char *dir, unsigned int port);
void recording_withdraw(const char *dir, int fd);

/* Of netsync live. False: none goes on there, and that was said. */
bool recording_find(struct recording *recording, const char *dir);
bool recording_has_ended(struct recording *recording);

#endif
