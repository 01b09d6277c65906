// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes corrected copies of this machine's traces, using a result file from another machine.
 * netsync apply runs in a separate process, and its messages are sent to the other machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"
#include "common/argument.h"
#include "common/child.h"
#include "common/exit-status.h"
#include "common/folders.h"
#include "common/json-value.h"
#include "common/places.h"
#include "remote/protocol.h"

/* Maximum size of a result file, bytes. Chosen; the result for a thousand hosts is much smaller. */
#define MAX_RESULT (INT64_C(1) << 30)
/* Period of checking whether the other end is still waiting, ms. Chosen. */
#define LOOK_MS 100
/* Time for removing incomplete copies, ms. Chosen. */
#define END_MS 20000
/* Number of words of the command line in addition to the traces. */
#define MORE_WORDS 14

static struct {
	char *folder;
	char *path;
	FILE *file;
	int64_t size;
} result;

static void drop_received_result(void)
{
	if (result.file)
		fclose(result.file);
	if (result.folder) {
		remove_tree(result.folder);
		undo_drop_action(UNDO_FOLDER, result.folder);
	}
	free(result.folder);
	free(result.path);
	memset(&result, 0, sizeof(result));
}

/*
 * Open the result file with the name that it has on the other machine, but without its
 * directory, so that messages contain this name.
 */
static bool open_result_file(const char *name)
{
	const char *slash = strrchr(name, '/');

	if (!undo_start())
		return false;
	result.folder = folder_create_temporary("");
	if (!result.folder)
		return false;
	undo_add_action(UNDO_FOLDER, result.folder);
	name = slash ? slash + 1 : name;
	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		name = "result";
	if (asprintf(&result.path, "%s/%s", result.folder, name) < 0)
		result.path = NULL;
	result.file = result.path ? fopen(result.path, "wxe") : NULL;
	return result.file;
}

struct json_object *agent_store_result(struct json_object *request)
{
	const char *text = member_get_text(request, "text");

	result.size += (int64_t)strlen(text);
	if ((result.file || open_result_file(member_get_text(request, "name"))) &&
	    result.size <= MAX_RESULT && fputs(text, result.file) >= 0)
		return json_object_new_object();
	drop_received_result();
	return agent_make_error("cannot store the result temporarily: %s.",
				strerror(errno ? errno : EFBIG));
}

/* ---- the process ----------------------------------------------------------- */

/* Prefix a relative path with "./", so that it cannot be mistaken for another kind of argument. */
static char *protect_relative_path(const char *trace)
{
	const size_t name = argument_get_name_length(trace);
	char *path = agent_expand(trace + (name ? name + 1 : 0)), *argument = NULL;

	if (path && asprintf(&argument, "%.*s%s%s", name ? (int)name + 1 : 0, trace,
			     *path == '/' ? "" : "./", path) < 0)
		argument = NULL;
	free(path);
	return argument;
}

struct argument_list {
	char **list;
	size_t num;
	bool failed; /* out of memory */
};

/* Take ownership of @word. A @word of NULL means out of memory. */
static void append_apply_argument(struct argument_list *words, char *word)
{
	words->failed |= !word;
	words->list[words->num++] = word;
}

/* Add an option with a number, such as --begin, if requested. */
static void add_number_word(struct argument_list *words, struct json_object *request,
			    const char *option, const char *name)
{
	char *word = NULL;

	if (!value_get_member(request, name))
		return;
	if (asprintf(&word, "%s=%lld", option, (long long)member_get_int(request, name)) < 0)
		word = NULL;
	append_apply_argument(words, word);
}

/* Make the command line of netsync apply. Return false if out of memory. */
static bool make_apply_arguments(struct argument_list *words, struct json_object *request)
{
	struct json_object *traces = value_get_member(request, "traces");
	const char *output = member_get_text(request, "output");

	words->list = calloc(value_get_length(traces) + MORE_WORDS, sizeof(*words->list));
	if (!words->list)
		return false;
	append_apply_argument(words, strdup("netsync"));
	append_apply_argument(words, strdup("apply"));
	append_apply_argument(words, strdup("-m"));
	append_apply_argument(words, strdup(result.path));
	if (member_get_flag(request, "metadata_only"))
		append_apply_argument(words, strdup("--metadata-only"));
	if (member_get_flag(request, "extrapolate"))
		append_apply_argument(words, strdup("--extrapolate"));
	if (*output) {
		append_apply_argument(words, strdup("-o"));
		append_apply_argument(words, agent_expand(output));
	}
	add_number_word(words, request, "--jobs", "jobs");
	add_number_word(words, request, "--begin", "begin_ns");
	add_number_word(words, request, "--end", "end_ns");
	append_apply_argument(words, strdup("--"));
	for (size_t i = 0; i < value_get_length(traces); i++)
		append_apply_argument(words, protect_relative_path(value_get_text(
						     value_get_element(traces, i), PATH_MAX)));
	return !words->failed;
}

static void free_apply_arguments(struct argument_list *words)
{
	for (size_t i = 0; i < words->num; i++)
		free(words->list[i]);
	free(words->list);
}

/*
 * Run netsync apply in the child process, which must end with the agent even if the agent is
 * killed.
 */
static void run_apply(char **words, int out, pid_t parent)
{
	const int nothing = open("/dev/null", O_RDONLY);
	char *netsync;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_BAD);
	dup2(nothing, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	signal(SIGPIPE, SIG_DFL);
	netsync = make_path_of_netsync();
	if (netsync)
		execv(netsync, words);
	dprintf(STDERR_FILENO, "netsync: %s.\n", strerror(errno));
	_exit(EXIT_BAD);
}

static void report_apply_line(const char *line)
{
	static const char me[] = "netsync: ", warning[] = "warning: ";

	if (!strncmp(line, me, strlen(me)))
		line += strlen(me);
	if (!strncmp(line, warning, strlen(warning)))
		agent_send_warning("%s", line + strlen(warning));
	else
		agent_send_note("%s", line);
}

/*
 * Forward the complete lines that are available. Return 1 if data was read, 0 at the end of the
 * output, or -EAGAIN if no data has arrived.
 */
static int forward_apply_output(int in, char **text, size_t *used)
{
	char bytes[4096], *end, *more;
	const ssize_t num = read(in, bytes, sizeof(bytes));

	if (num < 0 && (errno == EAGAIN || errno == EINTR))
		return -EAGAIN;
	/* Messages are shorter than this limit. */
	more = num > 0 && *used < PROTOCOL_SENTENCE ? realloc(*text, *used + num + 1) : NULL;
	if (!more)
		return 0;
	*text = more;
	memcpy(more + *used, bytes, num);
	*used += num;
	more[*used] = '\0';
	while ((end = memchr(more, '\n', *used))) {
		*end = '\0';
		report_apply_line(more);
		*used -= end + 1 - more;
		memmove(more, end + 1, *used + 1);
	}
	return 1;
}

/* Stop netsync apply, and wait until it has removed incomplete copies. */
static void stop_apply(pid_t child)
{
	int left_ms = END_MS;

	kill(child, SIGTERM);
	while (!waitpid(child, NULL, WNOHANG)) {
		usleep(LOOK_MS * 1000);
		left_ms -= LOOK_MS;
		if (left_ms < 0)
			kill(child, SIGKILL);
	}
}

/* Return the exit status of the child process. */
static int wait_for_apply(pid_t child, int in)
{
	char *text = NULL;
	bool waited = true;
	size_t used = 0;
	int status, ret;

	while (waited && (ret = forward_apply_output(in, &text, &used)))
		waited = agent_wait_for_request(ret > 0 ? 0 : LOOK_MS);
	free(text);
	if (!waited) {
		stop_apply(child);
		return EXIT_BAD;
	}
	status = child_wait(child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_BAD;
}

/* Start netsync apply, and forward its output. Return the exit status. */
static int start_apply(char **words)
{
	const pid_t me = getpid();
	int ends[2], status;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return EXIT_BAD;
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	child = fork();
	if (!child)
		run_apply(words, ends[1], me);
	close(ends[1]);
	status = child > 0 ? wait_for_apply(child, ends[0]) : EXIT_BAD;
	close(ends[0]);
	return status;
}

struct json_object *agent_apply(struct json_object *request)
{
	struct json_object *answer = NULL;
	struct argument_list words = { 0 };

	if (!result.file || !value_get_length(value_get_member(request, "traces")))
		answer = agent_make_error("no result or no traces in this request.");
	else if (fflush(result.file))
		answer = agent_make_error("cannot store the result temporarily: %s.",
					  strerror(errno));
	else if (!make_apply_arguments(&words, request))
		answer = agent_make_error("not enough memory.");
	if (!answer) {
		answer = json_object_new_object();
		json_object_object_add(answer, "status",
				       json_object_new_int(start_apply(words.list)));
	}
	free_apply_arguments(&words);
	drop_received_result();
	return answer;
}
