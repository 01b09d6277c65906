/* SPDX-License-Identifier: GPL-2.0-only */
/* Recognize containers and pods by the control groups and namespaces of their processes. */
#ifndef NETSYNC_CONTAINER_H
#define NETSYNC_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Number of digits of a container's ID, and number of those that docker ps and podman ps print. */
#define CONTAINER_ID_DIGITS 64
#define CONTAINER_SHOWN_DIGITS 12
/* Size of a container's ID or name, and of a pod's UID, with a terminating NUL. */
#define CONTAINER_ID_SIZE 128
#define POD_UID_SIZE (36 + 1)

struct container_group {
	const char *kind; /* such as "docker" */
	bool has_name;	  /* @id is a name that the user chose, as with LXC */
	char id[CONTAINER_ID_SIZE];
	size_t length; /* length of the line up to the end of the container's group, bytes */
};

/*
 * Find the innermost container in a line of /proc/PID/cgroup, "N:CONTROLLERS:PATH". Return false
 * if there is none.
 */
bool container_find_group(const char *line, struct container_group *found);
/* Find the UID of a Kubernetes pod in a line of /proc/PID/cgroup. Return false if there is none. */
bool container_find_pod(const char *line, char uid[POD_UID_SIZE]);

/* Open the file /proc/PID/NAME, where @proc is /proc. Return NULL if that fails. */
FILE *open_process_file(int proc, const char *pid, const char *name);
/*
 * Return the inode number of the namespace at a path, such as /proc/PID/ns/net, which openat(2)
 * would find from @dir. Return 0 on failure, with errno.
 */
uint64_t read_namespace_inode(int dir, const char *path);

#endif
