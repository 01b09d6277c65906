// SPDX-License-Identifier: GPL-2.0-only
/* Ask the container runtimes on this host for the names of containers and pods. */
#include <stdlib.h>
#include <string.h>

#include "common/child.h"
#include "common/now.h"
#include "containers.h"

/* Time limit for the answer of a runtime, ns, and maximum size of the answer, bytes. Chosen. */
#define ANSWER_NS (5 * NS_PER_S)
#define ANSWER_SIZE (4u << 20)
/* What the names of containers of Kubernetes begin with (nerdctl, pkg/labels/k8slabels). */
#define KUBERNETES_NAME "k8s://"

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

/* Run a runtime. Return its output, to be freed, or NULL if it cannot be used. */
static char *run_runtime(char *const argv[])
{
	const struct child_program program = {
		.argv = argv,
		.limit_ns = ANSWER_NS,
		.most = ANSWER_SIZE,
	};
	int status;
	char *text = child_read_output(&program, &status);

	if (!status)
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
