// SPDX-License-Identifier: GPL-2.0-only
/*
 * A library to preload. The library makes uname() report the kernel release $RELEASE, as if this
 * kernel were running.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

int uname(struct utsname *name)
{
	const char *release = getenv("RELEASE");

	if (syscall(SYS_uname, name))
		return -1;
	if (release)
		snprintf(name->release, sizeof(name->release), "%s", release);
	return 0;
}
