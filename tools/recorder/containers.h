/* SPDX-License-Identifier: GPL-2.0-only */
/* Running containers, and the network namespaces and control groups of --container and --pod. */
#ifndef NETSYNC_RECORDER_CONTAINERS_H
#define NETSYNC_RECORDER_CONTAINERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/container.h"
#include "source.h"

/* Size of a container's name, with a terminating NUL; Kubernetes allows 253 characters. */
#define CONTAINER_NAME_SIZE 256

struct running_container {
	struct container_group group;
	char pod_uid[POD_UID_SIZE];	/* "" if it is not in a pod of Kubernetes */
	char name[CONTAINER_NAME_SIZE]; /* "" if no runtime reported it */
	char pod[CONTAINER_NAME_SIZE];	/* "" if no runtime reported it */
	pid_t pid;			/* its first process */
	uint64_t start;			/* start time of this process, in ticks */
	uint32_t netns;			/* inode number of the network namespace of this process */
	char *cgroup;			/* path in the version 2 hierarchy; NULL if there is none */
	bool is_chosen;
};

struct running_containers {
	struct running_container *list;
	size_t num;
};

/* Ask the container runtimes on this host for the names of containers and pods. (runtimes.c) */
void containers_ask_names(struct running_containers *all);

/*
 * Select the packets of a container, or of a pod, which is given by its name, by its ID, or by a
 * unique prefix of its ID. If it shares its network namespace with other containers or with the
 * host, also select its control group. If it cannot be found, print a message and return false.
 */
bool select_container(struct packet_selection *s, const char *option, const char *value,
		      bool is_pod);

#endif
