// SPDX-License-Identifier: GPL-2.0-only
/* Merges the captures of all hosts into one capture with corrected times, with netsync apply. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture.h"
#include "common/child.h"
#include "common/complain.h"
#include "common/exit-status.h"
#include "common/places.h"
#include "common/signal.h"
#include "record.h"

bool captures_check_merge(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, slash > path ? (size_t)(slash - path) : 1) :
			       strdup(".");
	bool ok = false;

	if (!folder)
		complain_no_memory();
	else if (!strcmp(path, "-"))
		complain(
			"--merge -: the table is written to standard output; give the name of a file.");
	else if (!access(path, F_OK))
		complain("--merge %s: the file exists; give a new one.", path);
	else if (access(folder, W_OK))
		complain("--merge %s: %s: %s.", path, folder, strerror(errno));
	else
		ok = true;
	free(folder);
	return ok;
}

static void exec_apply(char **traces, int num, const char *model, char *merged)
{
	char *words[] = { "netsync", "apply", "-m", (char *)model, "--merge", merged };
	const size_t first = sizeof(words) / sizeof(words[0]);
	char **argv = calloc(first + (size_t)num + 1, sizeof(*argv));
	const char *netsync = make_path_of_netsync();

	if (argv && netsync) {
		memcpy(argv, words, sizeof(words));
		memcpy(argv + first, traces, (size_t)num * sizeof(*traces));
		set_ending_handlers(SIG_DFL);
		execv(netsync, argv);
	}
	complain("netsync apply: %s.", strerror(errno));
	_exit(EXIT_BAD);
}

int captures_merge(const struct record_run *rec, char **traces, int num, const char *model)
{
	int status;
	pid_t pid;

	if (access(model, F_OK)) {
		complain("%s was not written, because the captures could not be synchronized.",
			 rec->merged);
		return EXIT_BAD;
	}
	pid = fork();
	if (!pid)
		exec_apply(traces, num, model, rec->merged);
	status = child_wait(pid);
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	complain("%s was not written, because a signal ended netsync apply.", rec->merged);
	return EXIT_BAD;
}
