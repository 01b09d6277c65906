// SPDX-License-Identifier: GPL-2.0-only
/*
 * A library for LD_PRELOAD that simulates a dead disk. In reader processes of the command,
 * reading the file $STUCK at or after byte $STUCK_AT never returns. The first process that
 * reads there is excepted if it can create the new file $STUCK_SPARE. If $STUCK_KILL is set,
 * no process can be killed. If $STUCK_HURRY is set, waiting for a second takes 10 ms.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static pid_t command;

static void __attribute__((constructor)) note_command(void)
{
	command = getpid();
}

/* Is this the first process that reads there, and may it therefore continue? */
static int is_process_spared(void)
{
	const char *path = getenv("STUCK_SPARE");
	static pid_t spared;
	int fd;

	if (!path || spared == getpid())
		return path != NULL;
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
	if (fd < 0)
		return 0;
	close(fd);
	spared = getpid();
	return 1;
}

ssize_t pread(int fd, void *to, size_t size, off_t at)
{
	static ssize_t (*real)(int, void *, size_t, off_t);
	const char *stuck = getenv("STUCK"), *from = getenv("STUCK_AT");
	char link[64], path[PATH_MAX];
	ssize_t length;

	if (!real)
		real = (ssize_t(*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread");
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	path[length < 0 ? 0 : length] = '\0';
	if (getpid() == command || !stuck || strcmp(path, stuck) ||
	    at + (off_t)size <= (from ? atol(from) : 0) || is_process_spared())
		return real(fd, to, size, at);
	/* The process ends at the latest when the command ends. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

int poll(struct pollfd *fds, nfds_t num, int ms)
{
	static int (*real)(struct pollfd *, nfds_t, int);

	if (!real)
		real = (int (*)(struct pollfd *, nfds_t, int))dlsym(RTLD_NEXT, "poll");
	return real(fds, num, ms == 1000 && getenv("STUCK_HURRY") ? 10 : ms);
}

int kill(pid_t pid, int number)
{
	static int (*real)(pid_t, int);

	if (!real)
		real = (int (*)(pid_t, int))dlsym(RTLD_NEXT, "kill");
	return number == SIGKILL && getenv("STUCK_KILL") ? 0 : real(pid, number);
}
