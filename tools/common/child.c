// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/child.h"
#include "common/now.h"

/* Time between checks whether a program has ended after its output, ms. Chosen. */
#define END_CHECK_MS 5

int child_wait(pid_t pid)
{
	int status = -1;

	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* Execute the program in the child. If that fails, write errno to @error. */
static void exec_child_program(const struct child_program *program, int output, int error,
			       pid_t parent)
{
	const int none = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* If this process is killed, the program must not continue. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	if (program->prepare)
		program->prepare();
	dup2(none, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(program->reads_errors ? output : none, STDERR_FILENO);
	/* A program that is a script has children, which end with it. */
	setpgid(0, 0);
	execvp(program->argv[0], program->argv);
	if (write(error, &errno, sizeof(errno)) < 0)
		_exit(126);
	_exit(127);
}

/* Read until the output ends. Return 0 or an errno value. */
static int read_child_output(int fd, char *text, size_t most, int64_t end_ns)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN };
	size_t length = 0;
	ssize_t got = 1;

	while (got) {
		const int64_t left_ms = (end_ns - now_ns()) / 1000000;

		if (left_ms <= 0)
			return ETIMEDOUT;
		if (poll(&polled, 1, (int)left_ms) <= 0)
			continue;
		/* There is space for one byte more than the limit, to detect that it is exceeded. */
		got = read(fd, text + length, most + 1 - length);
		if (got < 0)
			return errno;
		length += (size_t)got;
		if (length > most)
			return EFBIG;
	}
	text[length] = '\0';
	return 0;
}

/*
 * Wait until a program ends, and kill it at @end_ns, because it may run after the end of its output.
 * Return its status as from waitpid().
 */
static int wait_for_program(pid_t child, int64_t end_ns)
{
	int status = -1;

	while (!waitpid(child, &status, WNOHANG)) {
		if (now_ns() >= end_ns && kill(-child, SIGKILL))
			kill(child, SIGKILL);
		poll(NULL, 0, END_CHECK_MS);
	}
	return status;
}

/* Run a program with pipes for its output and its errno. Return 0 or an errno value. */
static int run_child_program(const struct child_program *program, const int output[2],
			     const int error[2], char *text, int *status)
{
	const int64_t end_ns = now_ns() + program->limit_ns;
	const pid_t parent = getpid(), child = fork();
	int reason = 0, ret, waited;

	if (!child)
		exec_child_program(program, output[1], error[1], parent);
	close(output[1]);
	close(error[1]);
	if (child < 0)
		return errno;
	ret = read_child_output(output[0], text, program->most, end_ns);
	waited = wait_for_program(child, ret ? 0 : end_ns);
	if (WIFEXITED(waited))
		*status = WEXITSTATUS(waited);
	/* If the program was executed, the pipe is empty. */
	if (!ret && read(error[0], &reason, sizeof(reason)) == sizeof(reason))
		ret = reason;
	return ret;
}

char *child_read_output(const struct child_program *program, int *status)
{
	char *text = malloc(program->most + 1);
	int output[2], error[2], ret = text ? 0 : ENOMEM;

	*status = -1;
	if (!ret && pipe2(output, O_CLOEXEC))
		ret = errno;
	else if (!ret && pipe2(error, O_CLOEXEC)) {
		ret = errno;
		close(output[0]);
		close(output[1]);
	}
	if (!ret) {
		ret = run_child_program(program, output, error, text, status);
		close(output[0]);
		close(error[0]);
	}
	if (ret) {
		free(text);
		text = NULL;
	}
	errno = ret;
	return text;
}
