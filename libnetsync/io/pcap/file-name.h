/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The host name in the name of a capture file, without what tools added. */
#ifndef NETSYNC_IO_FILE_NAME_H
#define NETSYNC_IO_FILE_NAME_H

#include <stddef.h>

/* The direction that a word in the name reports: "db-in.pcap", "db_rx.pcap". */
enum name_way {
	NAME_BOTH, /* no such word */
	NAME_IN,
	NAME_OUT,
};

struct file_name {
	char *full; /* name without the ending ".pcap" and the ending of a compression */
	/*
	 * Name without the date or time that tools add to each of many files. If nothing remains,
	 * or only "packets", this is the directory's name.
	 */
	char *dated;
	char *base; /* @dated without the direction word at its end */
	char *stem; /* @base without the digits at its end */
	enum name_way way;
};

/* Split the name of a file. Return 0 or -ENOMEM. Call file_name_release() in every case. */
int file_name_parse(struct file_name *name, const char *path, const char *real_path);
void file_name_release(struct file_name *name);

#endif
