// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: often load COUNT MODULE.ko
 *	  often toggle COUNT
 *	  often netns COUNT
 *
 * Repeat an action without starting a program each time, which takes longest on a slow
 * kernel.
 *
 *   load    load netsync-probes and remove it: unused, while events are being
 *           attached, and when they are attached
 *   toggle  switch all events on or off
 *   netns   create a network namespace, send a datagram to port 6000 of its
 *           loopback device, and leave it; the last ten are kept. The kernel
 *           removes namespaces in the background; wait for it when it allows
 *           no more (user.max_net_namespaces)
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ENABLE "/sys/kernel/tracing/events/netsync/enable"
#define ATTACHED "/sys/module/netsync_probes/parameters/attached"
#define KEPT 10
/* Milliseconds. */
#define PATIENCE 60000

static void exit_if_failed(bool failed, const char *what)
{
	if (!failed)
		return;
	fprintf(stderr, "often: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int open_or_exit(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	exit_if_failed(fd < 0, path);
	return fd;
}

static void enable_events(bool yes)
{
	int fd = open_or_exit(ENABLE, O_WRONLY);

	exit_if_failed(write(fd, yes ? "1" : "0", 1) != 1, ENABLE);
	close(fd);
}

/* Wait until the module has attached or detached its events, which takes it some time. */
static void wait_until_attached(bool yes)
{
	int fd = open_or_exit(ATTACHED, O_RDONLY), i;
	char text[4096];
	ssize_t size;

	for (i = 0; i < PATIENCE; i++) {
		size = pread(fd, text, sizeof(text), 0);
		exit_if_failed(size < 0, ATTACHED);
		if ((size > 1) == yes)
			break;
		usleep(1000);
	}
	errno = ETIMEDOUT;
	exit_if_failed(i == PATIENCE, ATTACHED);
	close(fd);
}

static void load_module_often(int count, const char *path)
{
	int fd = open_or_exit(path, O_RDONLY), i;

	for (i = 0; i < count; i++) {
		exit_if_failed(syscall(SYS_finit_module, fd, "", 0), "load");
		if (i % 2)
			enable_events(true);
		if (i % 4 == 3)
			wait_until_attached(true);
		exit_if_failed(syscall(SYS_delete_module, "netsync_probes", O_NONBLOCK), "remove");
	}
}

static void toggle_events_often(int count)
{
	int i;

	for (i = 0; i < count; i++) {
		enable_events(i % 2 == 0);
		if (i % 10 < 2)
			wait_until_attached(i % 2 == 0);
	}
	enable_events(false);
	wait_until_attached(false);
}

static void send_in_namespace(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_port = htons(6000),
				    .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char byte;

	exit_if_failed(fd < 0, "socket");
	exit_if_failed(ioctl(fd, SIOCSIFFLAGS, &lo), "lo");
	exit_if_failed(bind(fd, (void *)&addr, sizeof(addr)), "bind");
	exit_if_failed(sendto(fd, "", 1, 0, (void *)&addr, sizeof(addr)) != 1, "send");
	exit_if_failed(recv(fd, &byte, 1, 0) != 1, "receive");
	close(fd);
}

static void make_namespaces_often(int count)
{
	int kept[KEPT], i, waited = 0;

	memset(kept, -1, sizeof(kept));
	for (i = 0; i < count; i++) {
		while (unshare(CLONE_NEWNET)) {
			exit_if_failed(errno != ENOSPC || waited++ == PATIENCE, "unshare");
			usleep(1000);
		}
		waited = 0;
		send_in_namespace();
		if (kept[i % KEPT] >= 0)
			close(kept[i % KEPT]);
		kept[i % KEPT] = open_or_exit("/proc/self/ns/net", O_RDONLY);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	int count = argc > 2 ? atoi(argv[2]) : 0;

	if (!strcmp(what, "load") && argc == 4) {
		load_module_often(count, argv[3]);
	} else if (!strcmp(what, "toggle") && argc == 3) {
		toggle_events_often(count);
	} else if (!strcmp(what, "netns") && argc == 3) {
		make_namespaces_often(count);
	} else {
		fputs("often: see the first lines of its source\n", stderr);
		return 2;
	}
	return 0;
}
