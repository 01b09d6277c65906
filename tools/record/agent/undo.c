// SPDX-License-Identifier: GPL-2.0-only
/*
 * Undoes the actions of an agent in a child process, which reads from a pipe what to undo:
 * "+sNAME" and "+fPATH" add an action, "-sNAME" and "-fPATH" remove it. When the pipe ends, no
 * matter how the agent ended, the child undoes the remaining actions, the last one first.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../libnetsync/util/array.h"
#include "agent.h"
#include "common/child.h"
#include "common/folders.h"
#include "common/signal.h"

static struct {
	int pipe;
	pid_t pid;
} undo = { -1, 0 };

/* ---- in the child ------------------------------------------------------ */

static void undo_action(const char *what)
{
	if (*what == UNDO_SESSION)
		lttng_undo_session(what + 1);
	else if (*what == UNDO_FOLDER)
		remove_tree(what + 1);
}

static void run_undo_process(int from)
{
	FILE *in = fdopen(from, "r");
	char **todo = NULL, *line = NULL;
	size_t num = 0, size = 0;
	ssize_t len;

	while (in && (len = getline(&line, &size, in)) > 1) {
		line[len - 1] = '\0';
		if (*line == '+') {
			if (!array_add(&todo, num, sizeof(*todo)))
				break;
			todo[num++] = strdup(line + 1);
			continue;
		}
		for (size_t i = 0; i < num; i++) {
			if (!todo[i] || strcmp(todo[i], line + 1))
				continue;
			free(todo[i]);
			todo[i] = NULL;
		}
	}
	while (num--)
		if (todo[num])
			undo_action(todo[num]);
	_exit(0);
}

/* ---- in the agent ------------------------------------------------------ */

bool undo_start(void)
{
	int fds[2];

	if (undo.pid > 0)
		return true;
	if (pipe2(fds, O_CLOEXEC))
		return false;
	undo.pid = fork();
	if (!undo.pid) {
		close(fds[1]);
		/*
		 * Reserve descriptor 0, because LTTng's library cannot use a socket with this
		 * number.
		 */
		dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
		/* Signals that end the agent must not end the child. */
		setsid();
		set_ending_handlers(SIG_IGN);
		run_undo_process(fds[0]);
	}
	close(fds[0]);
	undo.pipe = fds[1];
	if (undo.pid > 0)
		return true;
	close(fds[1]);
	return false;
}

static void write_undo_line(char how, enum undo what, const char *name)
{
	char *line;
	int len = asprintf(&line, "%c%c%s\n", how, what, name);

	if (len < 0)
		return;
	while (write(undo.pipe, line, len) < 0 && errno == EINTR)
		;
	free(line);
}

void undo_add_action(enum undo what, const char *name)
{
	write_undo_line('+', what, name);
}

void undo_drop_action(enum undo what, const char *name)
{
	write_undo_line('-', what, name);
}

void undo_end(void)
{
	if (undo.pid <= 0)
		return;
	close(undo.pipe);
	child_wait(undo.pid);
	undo.pid = 0;
}
