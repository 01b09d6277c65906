// SPDX-License-Identifier: GPL-2.0-only
/* Checks that this process may open as many files as a recording needs. */
#include <sys/resource.h>

#include "common/complain.h"
#include "record.h"

/* Number of open files of each host: three pipes to its process. */
#define PIPES 3
/* Number of open files of each host with a capture: also the capture and its clock readings. */
#define CAPTURE_FILES (PIPES + 2)
/* Number of other open files, with some slack. Chosen. */
#define OTHER_FILES 64

bool record_check_open_files(const struct record_run *rec)
{
	const unsigned long long each = rec->via || rec->may_fall_back ? CAPTURE_FILES : PIPES;
	const unsigned long long needed = OTHER_FILES + rec->all.num * each;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	    limit.rlim_cur >= needed)
		return true;
	complain(
		"%u hosts need %llu open files, but the limit is %llu: raise the limit (\"ulimit -Hn %llu\" as root), or record at most %llu hosts at a time, with several \"netsync record\", and synchronize all recordings with \"netsync sync DIR...\".",
		rec->all.num, needed, (unsigned long long)limit.rlim_cur, needed,
		limit.rlim_cur < OTHER_FILES + each ?
			1 :
			((unsigned long long)limit.rlim_cur - OTHER_FILES) / each);
	return false;
}
