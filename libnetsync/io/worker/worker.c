// SPDX-License-Identifier: LGPL-2.1-or-later
/* Child processes, and what comes from them. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/worker/worker.h"

#define BUFFER_SIZE 65536

/*
 * What is written to memory of our own is counted: what is there from before, too,
 * of which a sanitizer's is large.
 */
static void limit_memory(uint64_t bytes)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long data;
	struct rlimit limit;

	if (!file)
		return;
	if (fscanf(file, "%*u %*u %*u %*u %*u %llu", &data) == 1 &&
	    !getrlimit(RLIMIT_DATA, &limit)) {
		bytes += data * sysconf(_SC_PAGESIZE);
		if (bytes < limit.rlim_cur)
			limit.rlim_cur = bytes;
		setrlimit(RLIMIT_DATA, &limit);
	}
	fclose(file);
}

/*
 * Where many take what each of them may, and that is more than there is, the kernel
 * is to end them, and not another process.
 */
static void offer_memory(void)
{
	static const char most[] = "1000";
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, most, strlen(most)) < 0)
		errno = 0;
	close(fd);
}

/* Nothing of the caller's is to be touched, but its memory, which is a copy. */
static void become_child(int fd, const struct child_limits *limits)
{
	static const int signals[] = { SIGPIPE, SIGTERM, SIGHUP };
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
	limit_memory(limits->memory);
	offer_memory();
	/* Who reads from other children is to see them end. */
	for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
		if (i != fd)
			dup2(null, i);
	for (int i = STDERR_FILENO + 1; i < fd; i++)
		close(i);
	if (fd > STDERR_FILENO)
		close_range(fd + 1, ~0U, 0);
}

int child_start(struct child *child, const struct child_work *work,
		struct netsync_io *io, const void *data)
{
	int fds[2], ret = -ENOMEM;

	child->fd = -1;
	child->used = 0;
	child->buffer = malloc(BUFFER_SIZE);
	if (!child->buffer)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds)) {
		ret = -errno;
		goto fail;
	}
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	child->pid = fork();
	if (!child->pid) {
		become_child(fds[1], &work->limits);
		child_begin(fds[1], work, io);
		work->run(io, data);
		child_flush();
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

int child_stop(struct child *child)
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

static int use_buffer(struct child *child, child_use use, void *data)
{
	union {
		char bytes[CHILD_MAX_SIZE + 1];
		int64_t aligned;
	} payload;
	struct child_head head;
	size_t at = 0;
	int ret = 0;

	while (!ret && child->used - at >= sizeof(head)) {
		memcpy(&head, child->buffer + at, sizeof(head));
		if (head.size > CHILD_MAX_SIZE)
			return -EPROTO;
		if (child->used - at - sizeof(head) < head.size)
			break;
		memcpy(payload.bytes, child->buffer + at + sizeof(head),
		       head.size);
		/* Whatever it is, a text ends. */
		payload.bytes[head.size] = '\0';
		at += sizeof(head) + head.size;
		ret = use(data, &head, payload.bytes);
	}
	child->used -= at;
	memmove(child->buffer, child->buffer + at, child->used);
	return ret;
}

int child_receive(struct child *child, child_use use, void *data)
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

void child_tell(struct child *child, const void *data, size_t size)
{
	while (send(child->fd, data, size, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

void child_wait(const struct child *child)
{
	struct pollfd fd = { .fd = child->fd, .events = POLLIN };

	poll(&fd, 1, -1);
}

int child_run(const struct child_work *work, struct netsync_io *io,
	      const void *data, child_use use, void *use_data)
{
	struct child child;
	int ret = child_start(&child, work, io, data), status;

	if (ret < 0)
		return ret;
	while ((ret = child_receive(&child, use, use_data)) > 0)
		child_wait(&child);
	status = child_stop(&child);
	return ret < 0 ? ret : status;
}

const char *child_end(int status)
{
	if (status < 0)
		return strerror(-status);
	if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_NO_MEMORY)
		return "Babeltrace 2 gave up on it: it takes more memory than it may";
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF ?
	       "Babeltrace 2 does not come to an end with it" :
	       "Babeltrace 2 gave up on it";
}
