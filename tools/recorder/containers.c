// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find containers by their processes. The control group of a process contains the ID of its
 * container, whichever runtime started it. Only runtimes know the names of containers.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../libnetsync/util/array.h"
#include "containers.h"
#include "options.h"

/* Maximum number of containers. Chosen; no machine has as many. */
#define MOST_CONTAINERS 4096
/* Number of candidates that a message lists. Chosen. */
#define MOST_CANDIDATES 10
/* Size of a list of candidates, bytes. Chosen. */
#define CANDIDATES_SIZE 2048
/* Number of the field of /proc/PID/stat that contains the start time, after the name (proc(5)). */
#define START_FIELD 20

/* ---- processes --------------------------------------------------------------- */

/* Return the time at which a process was started, or UINT64_MAX if it has ended. */
static uint64_t read_start_time(int proc, const char *pid)
{
	FILE *file = open_process_file(proc, pid, "stat");
	char line[2048], *at = NULL;

	if (file && fgets(line, sizeof(line), file))
		at = strrchr(line, ')');
	if (file)
		fclose(file);
	for (int i = 0; at && i < START_FIELD; i++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : UINT64_MAX;
}

/* Read the container of a process. The caller frees the cgroup. */
static bool read_process_container(int proc, const char *pid, struct running_container *found)
{
	FILE *file = open_process_file(proc, pid, "cgroup");
	struct container_group group;
	bool is_found = false;
	char line[4096];

	*found = (struct running_container){ .pid = atoi(pid) };
	while (file && fgets(line, sizeof(line), file)) {
		if (!container_find_group(line, &group))
			continue;
		is_found = true;
		found->group = group;
		container_find_pod(line, found->pod_uid);
		if (!strncmp(line, "0::", 3) && !found->cgroup)
			found->cgroup = strndup(line + 3, group.length - 3);
	}
	if (file)
		fclose(file);
	return is_found;
}

static void keep_container(struct running_containers *all, struct running_container *found)
{
	struct running_container *known = all->list, *end = known + all->num;

	while (known < end && strcmp(known->group.id, found->group.id))
		known++;
	if (known == end && all->num < MOST_CONTAINERS)
		known = array_add(&all->list, all->num, sizeof(*known));
	else if (known == end || known->start <= found->start)
		known = NULL;
	if (!known) {
		free(found->cgroup);
		return;
	}
	all->num += known == all->list + all->num;
	free(known->cgroup);
	*known = *found;
}

static void find_running_containers(struct running_containers *all)
{
	DIR *dir = opendir("/proc");
	struct running_container found;
	struct dirent *entry;
	char path[300];

	while (dir && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)*entry->d_name) ||
		    !read_process_container(dirfd(dir), entry->d_name, &found))
			continue;
		snprintf(path, sizeof(path), "%s/ns/net", entry->d_name);
		found.start = read_start_time(dirfd(dir), entry->d_name);
		found.netns = (uint32_t)read_namespace_inode(dirfd(dir), path);
		if (found.start != UINT64_MAX && found.netns)
			keep_container(all, &found);
		else
			free(found.cgroup);
	}
	if (dir)
		closedir(dir);
}

/*
 * Give each container of a Kubernetes pod the name of the pod. Runtimes do not list the container
 * that only keeps the namespaces of the pod.
 */
static void share_pod_names(struct running_containers *all)
{
	for (size_t i = 0; i < all->num; i++) {
		struct running_container *c = &all->list[i];

		for (size_t j = 0; j < all->num && *c->pod_uid && !*c->pod; j++)
			if (!strcmp(all->list[j].pod_uid, c->pod_uid))
				memcpy(c->pod, all->list[j].pod, sizeof(c->pod));
	}
}

/* ---- choosing ---------------------------------------------------------------- */

static bool has_container_name(const struct running_container *c, const char *value, bool is_pod)
{
	return !strcmp(is_pod ? c->pod : c->name, value) ||
	       (!is_pod && c->group.has_name && !strcmp(c->group.id, value));
}

static bool has_container_prefix(const struct running_container *c, const char *value, bool is_pod)
{
	return (is_pod || !c->group.has_name) &&
	       !strncmp(is_pod ? c->pod_uid : c->group.id, value, strlen(value));
}

/* Are both containers one choice for the user? All containers of a pod are one choice. */
static bool is_same_choice(const struct running_container *a, const struct running_container *b,
			   bool is_pod)
{
	return a == b || (is_pod && !strcmp(a->pod, b->pod) && !strcmp(a->pod_uid, b->pod_uid));
}

/* Was an earlier container marked that is the same choice as this one? */
static bool is_choice_known(const struct running_containers *all, const struct running_container *c,
			    bool is_pod)
{
	for (const struct running_container *other = all->list; other < c; other++)
		if (other->is_chosen && is_same_choice(other, c, is_pod))
			return true;
	return false;
}

/*
 * Mark all containers that @value names, and set *@num to the number of choices among them. Return
 * the first marked container, or NULL.
 */
static struct running_container *mark_chosen_containers(struct running_containers *all,
							const char *value, bool is_pod, size_t *num)
{
	bool (*const tests[])(const struct running_container *, const char *,
			      bool) = { has_container_name, has_container_prefix };
	struct running_container *first = NULL;

	*num = 0;
	for (size_t test = 0; test < 2 && !first; test++)
		for (size_t i = 0; i < all->num; i++) {
			struct running_container *c = &all->list[i];

			if (!tests[test](c, value, is_pod))
				continue;
			c->is_chosen = true;
			if (!first)
				first = c;
			*num += !is_choice_known(all, c, is_pod);
		}
	return first;
}

/* ---- messages ---------------------------------------------------------------- */

/* Write a container as the user can give it, such as "web (docker 0123456789ab)". */
static int format_candidate(char *text, size_t size, const struct running_container *c, bool is_pod)
{
	const char *name = is_pod ? c->pod : c->name;

	if (is_pod && !*name)
		return snprintf(text, size, "%s", c->pod_uid);
	if (is_pod && !*c->pod_uid)
		return snprintf(text, size, "%s", name);
	if (is_pod)
		return snprintf(text, size, "%s (%s)", name, c->pod_uid);
	if (c->group.has_name)
		return snprintf(text, size, "%s", c->group.id);
	return snprintf(text, size, "%s%s%s %.*s%s", name, *name ? " (" : "", c->group.kind,
			CONTAINER_SHOWN_DIGITS, c->group.id, *name ? ")" : "");
}

/*
 * List the chosen containers, or all containers. Return the number of listed choices, or one more
 * if further choices do not fit.
 */
static size_t list_candidates(const struct running_containers *all, bool is_pod, bool chosen_only,
			      char text[CANDIDATES_SIZE])
{
	size_t length = 0, num = 0;

	*text = '\0';
	for (size_t i = 0; i < all->num; i++) {
		const struct running_container *c = &all->list[i];
		bool is_skipped = (chosen_only && !c->is_chosen) ||
				  (is_pod && !*c->pod && !*c->pod_uid);

		for (size_t j = 0; j < i && is_pod && !is_skipped; j++)
			is_skipped = is_same_choice(&all->list[j], c, true);
		if (is_skipped)
			continue;
		if (num++ == MOST_CANDIDATES) {
			snprintf(text + length, CANDIDATES_SIZE - length, ", ...");
			break;
		}
		if (num > 1)
			length += (size_t)snprintf(text + length, CANDIDATES_SIZE - length, ", ");
		if (length < CANDIDATES_SIZE)
			length += (size_t)format_candidate(text + length, CANDIDATES_SIZE - length,
							   c, is_pod);
		if (length >= CANDIDATES_SIZE)
			break;
	}
	return num;
}

static void explain_choice(const struct running_containers *all, const char *option,
			   const char *value, bool is_pod, size_t num)
{
	const char *kind = is_pod ? "pod" : "container";
	char text[CANDIDATES_SIZE];
	const size_t listed = list_candidates(all, is_pod, num, text);

	if (num)
		complain_formatted("%s %s: there are %zu such %ss; give the ID of one: %s.", option,
				   value, num, kind, text);
	else if (listed)
		complain_formatted("%s %s: no running %s has this name or ID; those found are %s.",
				   option, value, kind, text);
	else
		complain_formatted(
			"%s %s: no running %s was found; run this as root, or with CAP_SYS_PTRACE, in the process namespace of the host.",
			option, value, kind);
}

/* ---- selecting --------------------------------------------------------------- */

/* Does the host, or a container outside of the choice, use the network namespace, too? */
static bool is_namespace_shared(const struct running_containers *all,
				const struct running_container *chosen, bool is_pod)
{
	if (read_namespace_inode(AT_FDCWD, "/proc/1/ns/net") == chosen->netns)
		return true;
	for (size_t i = 0; i < all->num; i++)
		if (all->list[i].netns == chosen->netns &&
		    !is_same_choice(chosen, &all->list[i], is_pod))
			return true;
	return false;
}

/*
 * Select the control group. The control group of a pod is the parent of its containers' control
 * groups.
 */
static void select_container_cgroup(struct packet_selection *s,
				    const struct running_container *chosen, bool is_pod)
{
	static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	size_t length = chosen->cgroup ? strlen(chosen->cgroup) : 0;
	char path[4200];

	while (is_pod && length && chosen->cgroup[--length] != '/')
		;
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]) && length && !s->cgroup; i++) {
		snprintf(path, sizeof(path), "%s%.*s", mounts[i], (int)length, chosen->cgroup);
		s->cgroup = find_cgroup_id(path);
	}
}

bool select_container(struct packet_selection *s, const char *option, const char *value,
		      bool is_pod)
{
	struct running_containers all = { 0 };
	struct running_container *chosen;
	size_t num;

	find_running_containers(&all);
	containers_ask_names(&all);
	share_pod_names(&all);
	chosen = *value ? mark_chosen_containers(&all, value, is_pod, &num) : NULL;
	if (chosen && num == 1) {
		s->netns = chosen->netns;
		s->process = chosen->pid;
		s->is_shared = is_namespace_shared(&all, chosen, is_pod);
		if (s->is_shared)
			select_container_cgroup(s, chosen, is_pod);
	} else {
		explain_choice(&all, option, value, is_pod, chosen ? num : 0);
	}
	for (size_t i = 0; i < all.num; i++)
		free(all.list[i].cgroup);
	free(all.list);
	return s->process;
}
