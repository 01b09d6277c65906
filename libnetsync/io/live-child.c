// SPDX-License-Identifier: LGPL-2.1-or-later
/* The processes that read live sessions. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live.h"

#define BUFFER_SIZE 65536

/* Nothing of the caller's is to be touched, but its memory, which is a copy. */
static void become_child(int fd)
{
	static const int signals[] = { SIGALRM, SIGPIPE, SIGTERM, SIGHUP };
	const struct rlimit no_core = { 0 };
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	/* From the keyboard they come to all; who started us decides. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setrlimit(RLIMIT_CORE, &no_core);
	/* Who reads other pipes is to see them end. */
	for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
		if (i != fd)
			dup2(null, i);
	for (int i = STDERR_FILENO + 1; i < fd; i++)
		close(i);
	if (fd > STDERR_FILENO)
		close_range(fd + 1, ~0U, 0);
}

int live_start(struct live_child *child, struct netsync_io *io,
	       live_work work, const char *url)
{
	int fds[2], ret = -ENOMEM;

	child->fd = -1;
	child->used = 0;
	child->buffer = malloc(BUFFER_SIZE);
	if (!child->buffer)
		return -ENOMEM;
	if (pipe2(fds, O_CLOEXEC)) {
		ret = -errno;
		goto fail;
	}
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	child->pid = fork();
	if (!child->pid) {
		close(fds[0]);
		become_child(fds[1]);
		work(io, url, fds[1]);
		_exit(0);
	}
	ret = -errno;
	close(fds[1]);
	if (child->pid > 0) {
		child->fd = fds[0];
		return 0;
	}
	close(fds[0]);
fail:
	free(child->buffer);
	child->buffer = NULL;
	return ret;
}

int live_stop(struct live_child *child)
{
	int status = 0;

	if (child->fd < 0)
		return 0;
	close(child->fd);
	child->fd = -1;
	/* In vain where it has ended, whose status is then its own. */
	kill(child->pid, SIGKILL);
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	free(child->buffer);
	child->buffer = NULL;
	return status;
}

static int use_buffer(struct live_child *child, live_use use, void *data)
{
	union {
		char bytes[LIVE_MAX_SIZE];
		int64_t aligned;
	} payload;
	struct live_head head;
	size_t at = 0;
	int ret = 0;

	while (!ret && child->used - at >= sizeof(head)) {
		memcpy(&head, child->buffer + at, sizeof(head));
		if (head.size > sizeof(payload))
			return -EPROTO;
		if (child->used - at - sizeof(head) < head.size)
			break;
		memcpy(payload.bytes, child->buffer + at + sizeof(head),
		       head.size);
		at += sizeof(head) + head.size;
		ret = use(data, &head, payload.bytes);
	}
	child->used -= at;
	memmove(child->buffer, child->buffer + at, child->used);
	return ret;
}

int live_receive(struct live_child *child, live_use use, void *data)
{
	int ret = use_buffer(child, use, data);
	ssize_t num;

	if (ret)
		return ret == -EPROTO ? 0 : ret;
	num = read(child->fd, child->buffer + child->used,
		   BUFFER_SIZE - child->used);
	if (num < 0)
		return errno == EAGAIN || errno == EINTR;
	if (!num)
		return 0;
	child->used += num;
	ret = use_buffer(child, use, data);
	return ret == -EPROTO ? 0 : ret < 0 ? ret : 1;
}
