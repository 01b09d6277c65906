// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../libnetsync/util/array.h"
#include "common/container.h"
#include "namespaces.h"

/* Directory of the namespaces that ip-netns(8) named. */
#define NAMED "/run/netns"

/*
 * Maximum number of namespaces, and maximum size of a name. Chosen; no machine has as many
 * containers.
 */
#define MAX_NAMESPACES 4096
#define NAME_SIZE 100
#define INODE_SIZE sizeof("-18446744073709551615")

static struct netns {
	uint64_t inode;
	char name[NAME_SIZE];
} * namespaces;

static size_t num_namespaces;

static bool is_namespace_known(uint64_t inode)
{
	for (size_t i = 0; i < num_namespaces; i++)
		if (namespaces[i].inode == inode)
			return true;
	return false;
}

static void add_namespace(uint64_t inode, const char *name)
{
	struct netns *last;

	if (!inode || is_namespace_known(inode) || num_namespaces == MAX_NAMESPACES)
		return;
	last = array_add(&namespaces, num_namespaces, sizeof(*last));
	if (!last)
		return;
	last->inode = inode;
	snprintf(last->name, NAME_SIZE - INODE_SIZE, "%s", name);
	/* If another namespace has the same name, append the inode number. */
	for (size_t i = 0; i < num_namespaces; i++)
		if (!strcmp(namespaces[i].name, last->name)) {
			snprintf(last->name + strlen(last->name), INODE_SIZE, "-%llu",
				 (unsigned long long)inode);
			break;
		}
	num_namespaces++;
}

/* Find a container's name in a line of /proc/PID/cgroup. */
static bool find_container(const char *line, char name[NAME_SIZE])
{
	struct container_group group;

	if (!container_find_group(line, &group))
		return false;
	snprintf(name, NAME_SIZE, "%s-%.*s", group.kind,
		 group.has_name ? NAME_SIZE : CONTAINER_SHOWN_DIGITS, group.id);
	return true;
}

static bool find_container_name(int proc, const char *pid, char name[NAME_SIZE])
{
	FILE *file = open_process_file(proc, pid, "cgroup");
	bool found = false;
	char line[4096];

	while (file && !found && fgets(line, sizeof(line), file))
		found = find_container(line, name);
	if (file)
		fclose(file);
	return found;
}

static void find_named_namespaces(void)
{
	DIR *dir = opendir(NAMED);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (*entry->d_name != '.')
			add_namespace(read_namespace_inode(dirfd(dir), entry->d_name),
				      entry->d_name);
	if (dir)
		closedir(dir);
}

static void find_containers(void)
{
	DIR *dir = opendir("/proc");
	char name[NAME_SIZE], path[300];
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		uint64_t inode;

		if (!isdigit((unsigned char)*entry->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/ns/net", entry->d_name);
		inode = read_namespace_inode(dirfd(dir), path);
		if (inode && !is_namespace_known(inode) &&
		    find_container_name(dirfd(dir), entry->d_name, name))
			add_namespace(inode, name);
	}
	if (dir)
		closedir(dir);
}

void namespaces_find(void)
{
	/*
	 * Add the machine's own namespace first, so that containers that share it do not name
	 * it.
	 */
	add_namespace(read_namespace_inode(AT_FDCWD, "/proc/1/ns/net"), "host");
	find_named_namespaces();
	find_containers();
}

struct json_object *namespaces_make_list(void)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < num_namespaces; i++) {
		struct json_object *object = json_object_new_object();

		json_object_object_add(object, "inode", json_object_new_int64(namespaces[i].inode));
		json_object_object_add(object, "name", json_object_new_string(namespaces[i].name));
		json_object_array_add(list, object);
	}
	return list;
}
