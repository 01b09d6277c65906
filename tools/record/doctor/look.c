// SPDX-License-Identifier: GPL-2.0-only
/* Reads files of any kind and the output of programs that may hang, for netsync doctor. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/now.h"
#include "doctor.h"

/* Time limit of a program, ms. Chosen. */
#define PROGRAM_MS 10000
/* Maximum size of a program's output, bytes. Chosen. */
#define OUTPUT_MAX (1 << 20)

/* Open a file without blocking, even if it is a FIFO or a terminal. */
static FILE *open_without_blocking(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd < 0 ? NULL : fdopen(fd, "r");
}

bool read_first_line(const char *path, char *line, size_t size)
{
	FILE *file = open_without_blocking(path);
	bool ok;

	*line = '\0';
	if (!file)
		return false;
	ok = fgets(line, size, file);
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return ok;
}

int64_t read_key_value(const char *path, const char *key)
{
	FILE *file = open_without_blocking(path);
	const size_t length = strlen(key);
	int64_t value = -1;
	char line[256];

	if (!file)
		return -1;
	while (value < 0 && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, length) && line[length] == ':')
			value = strtoll(line + length + 1, NULL, 10);
	fclose(file);
	return value;
}

/* ---- programs ---------------------------------------------------------- */

/* Read the output of a program until its end, but no longer than PROGRAM_MS. */
static char *read_program_output(int fd, bool *ended)
{
	const int64_t end_ns = now_ns() + PROGRAM_MS * 1000000LL;
	char *text = malloc(OUTPUT_MAX + 1);
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	size_t length = 0;
	int64_t left;
	ssize_t got;

	*ended = false;
	while (text && length < OUTPUT_MAX && (left = (end_ns - now_ns()) / 1000000) > 0) {
		if (poll(&poll_fd, 1, left) <= 0)
			continue;
		got = read(fd, text + length, OUTPUT_MAX - length);
		if (got <= 0) {
			*ended = !got;
			break;
		}
		length += got;
	}
	if (text)
		text[length] = '\0';
	return text;
}

void set_root_path(void)
{
	const char *path = getenv("PATH");
	char *longer;

	/* A user's PATH may lack the directories of modinfo and other programs. */
	if (asprintf(&longer, "%s:/usr/sbin:/sbin", path ? path : "/usr/bin:/bin") < 0)
		return;
	setenv("PATH", longer, 1);
	free(longer);
}

/* Execute a program in the child. If that fails, write errno to @error. */
static void exec_program(char *const argv[], int output, int error)
{
	set_root_path();
	setenv("LC_ALL", "C", 1);
	dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	setpgid(0, 0);
	execvp(argv[0], argv);
	if (write(error, &errno, sizeof(errno)) < 0)
		_exit(126);
	_exit(127);
}

char *run_and_read_program(char *const argv[], int *status)
{
	int output[2], error[2], reason = 0, waited;
	char *text = NULL;
	bool ended;
	pid_t pid;

	*status = -1;
	if (pipe2(output, O_CLOEXEC))
		return NULL;
	if (pipe2(error, O_CLOEXEC)) {
		close(output[0]);
		close(output[1]);
		return NULL;
	}
	pid = fork();
	if (!pid)
		exec_program(argv, output[1], error[1]);
	close(output[1]);
	close(error[1]);
	if (pid < 0) {
		reason = errno;
	} else {
		if (read(error[0], &reason, sizeof(reason)) < 0)
			reason = errno;
		text = read_program_output(output[0], &ended);
		/* A program that has closed its outputs is about to exit. */
		if (!ended) {
			kill(-pid, SIGKILL);
			reason = ETIMEDOUT;
		}
		while (waitpid(pid, &waited, 0) < 0 && errno == EINTR)
			;
		if (WIFEXITED(waited) && !reason)
			*status = WEXITSTATUS(waited);
	}
	close(output[0]);
	close(error[0]);
	if (reason) {
		free(text);
		text = NULL;
	}
	errno = reason ? reason : ENOMEM;
	return text;
}

char *find_version_word(char *text)
{
	while (*text) {
		char *word = text + strspn(text, " \n");
		size_t length = strcspn(word, " \n");

		if (isdigit((unsigned char)*word)) {
			word[length] = '\0';
			return word;
		}
		text = word + length;
	}
	return text;
}
