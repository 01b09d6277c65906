/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Find the host's name in the name of a capture file, without the parts that tools have added. */
#ifndef NETSYNC_IO_FILE_NAME_H
#define NETSYNC_IO_FILE_NAME_H

#include <stddef.h>

/* The direction that a word in the name reports: "db-in.pcap", "db_rx.pcap". */
enum name_way {
	NAME_BOTH, /* the name has no such word */
	NAME_IN,
	NAME_OUT,
};

struct file_name {
	char *full; /* name without ".pcap" and without the ending of a compression format */
	/*
	 * Name without the date or time that tools add to each of many files. If nothing or only
	 * "packets" is left, this is the name of the directory.
	 */
	char *dated;
	char *base; /* @dated without a word for the direction at its end */
	char *stem; /* @base without the digits at its end */
	enum name_way way;
};

/* Split the name of a file. Return 0 or -ENOMEM. Call file_name_release() even on failure. */
int file_name_parse(struct file_name *name, const char *path, const char *real_path);
void file_name_release(struct file_name *name);

#endif
