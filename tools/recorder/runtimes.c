// SPDX-License-Identifier: GPL-2.0-only
/* Ask the container runtimes on this host for the names of containers and pods. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/now.h"
#include "containers.h"

/* Time limit for the answer of a runtime, ns, and maximum size of the answer, bytes. Chosen. */
#define ANSWER_NS (5 * NS_PER_S)
#define ANSWER_SIZE (4u << 20)
/* What the names of containers of Kubernetes begin with (nerdctl, pkg/labels/k8slabels). */
#define KUBERNETES_NAME "k8s://"
/* Time between checks whether a runtime has ended, ms. Chosen. */
#define END_CHECK_MS 5

/*
 * The output of each command has a container in each line. All but the last print the ID, the
 * name and, with Podman, the pod. crictl prints a table with a header. The containers of Kubernetes
 * are in a namespace of containerd, which nerdctl does not list by default.
 */
static const struct {
	char *argv[8];
	bool is_table;
} runtimes[] = {
	{ .argv = { "docker", "ps", "--no-trunc", "--format", "{{.ID}} {{.Names}}" } },
	{ .argv = { "podman", "ps", "--no-trunc", "--format", "{{.ID}} {{.Names}} {{.PodName}}" } },
	{ .argv = { "nerdctl", "--namespace", "k8s.io", "ps", "--no-trunc", "--format",
		    "{{.ID}} {{.Names}}" } },
	{ .argv = { "nerdctl", "ps", "--no-trunc", "--format", "{{.ID}} {{.Names}}" } },
	{ .argv = { "crictl", "ps", "--no-trunc" }, .is_table = true },
};

#define NUM_RUNTIMES (sizeof(runtimes) / sizeof(runtimes[0]))

/* ---- running a runtime ------------------------------------------------------- */

static void exec_runtime(char *const argv[], int output, pid_t parent)
{
	const int none = open("/dev/null", O_RDWR);

	/* If the recorder is killed, the runtime must not stay on the host. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	dup2(none, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	/* Its complaints, such as that its daemon is not running, do not concern the user. */
	dup2(none, STDERR_FILENO);
	/* A runtime that is a script has children, which end with it. */
	setpgid(0, 0);
	execvp(argv[0], argv);
	_exit(127);
}

/* Read until the output ends. Return false if it is later than @end_ns, or if there is too much. */
static bool read_runtime_output(int fd, char *text, int64_t end_ns)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN };
	size_t length = 0;
	ssize_t got = 1;

	while (got > 0 && length < ANSWER_SIZE - 1) {
		const int64_t left_ms = (end_ns - now_ns()) / 1000000;

		if (left_ms <= 0 || poll(&polled, 1, (int)left_ms) <= 0)
			return false;
		got = read(fd, text + length, ANSWER_SIZE - 1 - length);
		length += got > 0 ? (size_t)got : 0;
	}
	text[length] = '\0';
	return !got;
}

/*
 * Wait until a runtime ends, and kill it at @end_ns, because it may run after the end of its output.
 * Return its status.
 */
static int wait_for_runtime(pid_t child, int64_t end_ns)
{
	int status = -1;

	while (!waitpid(child, &status, WNOHANG)) {
		if (now_ns() >= end_ns && kill(-child, SIGKILL))
			kill(child, SIGKILL);
		poll(NULL, 0, END_CHECK_MS);
	}
	return status;
}

/* Run a runtime. Return its output, to be freed, or NULL if it cannot be used. */
static char *run_runtime(char *const argv[])
{
	const int64_t end_ns = now_ns() + ANSWER_NS;
	const pid_t parent = getpid();
	char *text = malloc(ANSWER_SIZE);
	bool is_read = false;
	int ends[2], status = -1;
	pid_t child;

	if (!text || pipe2(ends, O_CLOEXEC)) {
		free(text);
		return NULL;
	}
	child = fork();
	if (!child)
		exec_runtime(argv, ends[1], parent);
	close(ends[1]);
	if (child > 0) {
		is_read = read_runtime_output(ends[0], text, end_ns);
		status = wait_for_runtime(child, is_read ? end_ns : 0);
	}
	close(ends[0]);
	if (is_read && !status)
		return text;
	free(text);
	return NULL;
}

/* ---- its answer -------------------------------------------------------------- */

static void copy_container_name(char to[CONTAINER_NAME_SIZE], const char *text, size_t length)
{
	if (length && length < CONTAINER_NAME_SIZE && !*to) {
		memcpy(to, text, length);
		to[length] = '\0';
	}
}

static struct running_container *find_by_id(struct running_containers *all, const char *line)
{
	for (size_t i = 0; i < all->num; i++)
		if (!all->list[i].group.has_name &&
		    !strncmp(all->list[i].group.id, line, CONTAINER_ID_DIGITS))
			return &all->list[i];
	return NULL;
}

/* Return the word of a line, at a column that begins there, or NULL. */
static const char *find_word_at(const char *line, size_t column, size_t *length)
{
	if (column >= strlen(line))
		return NULL;
	*length = strcspn(line + column, " ");
	return line + column;
}

/* Return the column at which a heading begins, or SIZE_MAX if there is none. */
static size_t find_column_start(const char *header, const char *heading)
{
	const size_t length = strlen(heading);

	for (const char *at = strstr(header, heading); at; at = strstr(at + 1, heading)) {
		/* Columns are at least two blanks apart, and headings can contain one. */
		const bool begins = at == header || (at >= header + 2 && !strncmp(at - 2, "  ", 2));

		if (begins && (!at[length] || !strncmp(at + length, "  ", 2)))
			return (size_t)(at - header);
	}
	return SIZE_MAX;
}

static void take_table_row(struct running_container *c, const char *line, const char *header)
{
	size_t length;
	const char *name = find_word_at(line, find_column_start(header, "NAME"), &length);

	if (name)
		copy_container_name(c->name, name, length);
	name = find_word_at(line, find_column_start(header, "POD"), &length);
	if (name)
		copy_container_name(c->pod, name, length);
}

/* Take the name that nerdctl has for containers of Kubernetes, "NAMESPACE/POD/CONTAINER". */
static void take_kubernetes_name(struct running_container *c, const char *text)
{
	const char *pod = text + strcspn(text, "/ "), *name;

	if (*pod++ != '/')
		return;
	name = pod + strcspn(pod, "/ ");
	copy_container_name(c->pod, pod, (size_t)(name - pod));
	if (*name++ == '/')
		copy_container_name(c->name, name, strcspn(name, "/ "));
}

/* Take "ID NAME[,NAME...] [POD]". */
static void take_named_row(struct running_container *c, const char *line)
{
	const char *name = line + CONTAINER_ID_DIGITS;

	if (*name++ != ' ')
		return;
	if (!strncmp(name, KUBERNETES_NAME, strlen(KUBERNETES_NAME))) {
		take_kubernetes_name(c, name + strlen(KUBERNETES_NAME));
		return;
	}
	copy_container_name(c->name, name, strcspn(name, " ,"));
	name += strcspn(name, " ");
	if (*name)
		copy_container_name(c->pod, name + 1, strcspn(name + 1, " "));
}

void containers_ask_names(struct running_containers *all)
{
	for (size_t i = 0; i < NUM_RUNTIMES && all->num; i++) {
		char *text = run_runtime(runtimes[i].argv);
		char *rest = text, *header = NULL, *line;

		while (rest && (line = strsep(&rest, "\n"))) {
			struct running_container *c = find_by_id(all, line);

			if (runtimes[i].is_table && !header)
				header = line;
			else if (c && runtimes[i].is_table)
				take_table_row(c, line, header);
			else if (c)
				take_named_row(c, line);
		}
		free(text);
	}
}
