/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Name of a capture's file -> the host's name in it, and what tools added to that. */
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
	char *full; /* without the ending ".pcap" and what compresses the file */
	/*
	 * Without the date or time that tools add to each of many files. Where the name is
	 * nothing else, or "packets": the folder's name.
	 */
	char *dated;
	char *base; /* without the word for a direction at the end of that */
	char *stem; /* without any digits at the end of that */
	enum name_way way;
};

/* Take the name of a file apart. Return 0 or -ENOMEM; release it in every case. */
int file_name_parse(struct file_name *name, const char *path, const char *real_path);
void file_name_release(struct file_name *name);

#endif
