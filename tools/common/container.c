// SPDX-License-Identifier: GPL-2.0-only
/* Recognize containers and pods by the control groups and namespaces of their processes. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "container.h"

/*
 * Control groups of containers. Each entry has the text that precedes the container's ID or name,
 * and the kind of the container. The last entry is for any other runtime.
 */
static const struct {
	const char *before;
	const char *kind;
	bool has_name;
} kinds[] = {
	{ "/docker-", "docker", false },  { "/docker/", "docker", false },
	{ "/libpod-", "podman", false },  { "/cri-containerd-", "containerd", false },
	{ "/crio-", "crio", false },	  { "/nerdctl-", "nerdctl", false },
	{ "/lxc.payload.", "lxc", true }, { "/lxc/", "lxc", true },
	{ "/machine-", "machine", true }, { "/systemd-nspawn@", "machine", true },
	{ "/", "container", false },
};

#define NUM_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/*
 * Return the length of the ID or name at the beginning of a text, or 0 if there is none. Users who
 * are not root can also name control groups, so only names that terminals can print are accepted.
 */
static size_t measure_container_id(const char *at, bool is_name)
{
	static const char *const units[] = { ".scope", ".service" };
	size_t length = strspn(at, "0123456789abcdef");

	if (!is_name)
		return length == CONTAINER_ID_DIGITS ? length : 0;
	length = strcspn(at, "/\n");
	for (size_t i = 0; i < length; i++)
		if (at[i] <= ' ' || at[i] > '~')
			return 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		const size_t unit = strlen(units[i]);

		if (length > unit && !strncmp(at + length - unit, units[i], unit)) {
			length -= unit;
			break;
		}
	}
	return length < CONTAINER_ID_SIZE ? length : 0;
}

/* Return the value of a hexadecimal digit, or -1. */
static int get_hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Copy the ID or name of a container. In names, decode the characters that systemd writes as \xHH,
 * such as "-" (systemd-escape(1)), unless the result could not be printed.
 */
static void copy_container_id(char to[CONTAINER_ID_SIZE], const char *id, size_t length,
			      bool is_name)
{
	const char *end = id + length;

	while (id < end) {
		const bool is_escape = is_name && end - id >= 4 && id[0] == '\\' && id[1] == 'x' &&
				       get_hex_digit(id[2]) >= 0 && get_hex_digit(id[3]) >= 0;
		const int c = is_escape ? get_hex_digit(id[2]) * 16 + get_hex_digit(id[3]) : *id;
		const bool is_decoded = is_escape && c > ' ' && c <= '~';

		*to++ = is_decoded ? (char)c : *id;
		id += is_decoded ? 4 : 1;
	}
	*to = '\0';
}

bool container_find_group(const char *line, struct container_group *found)
{
	const char *last = NULL;

	for (const char *at = strchr(line, '/'); at; at = strchr(at + 1, '/'))
		for (size_t i = 0; i < NUM_KINDS; i++) {
			const size_t before = strlen(kinds[i].before);
			const char *id = at + before;
			size_t length;

			if (strncmp(at, kinds[i].before, before) || id == last)
				continue;
			length = measure_container_id(id, kinds[i].has_name);
			if (!length)
				continue;
			found->kind = kinds[i].kind;
			found->has_name = kinds[i].has_name;
			copy_container_id(found->id, id, length, kinds[i].has_name);
			found->length = (size_t)(id - line) + strcspn(id, "/\n");
			last = id;
			break;
		}
	return last;
}

bool container_find_pod(const char *line, char uid[POD_UID_SIZE])
{
	for (const char *at = strstr(line, "pod"); at; at = strstr(at + 1, "pod")) {
		const char *begin = at + strlen("pod");

		if (strspn(begin, "0123456789abcdef-_") != POD_UID_SIZE - 1)
			continue;
		snprintf(uid, POD_UID_SIZE, "%s", begin);
		/* systemd does not allow "-" in the name of a slice. */
		for (char *c = uid; *c; c++)
			*c = *c == '_' ? '-' : *c;
		return true;
	}
	return false;
}

FILE *open_process_file(int proc, const char *pid, const char *name)
{
	char path[300];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", pid, name);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? NULL : fdopen(fd, "r");
}

uint64_t read_namespace_inode(int dir, const char *path)
{
	struct stat info;

	return fstatat(dir, path, &info, 0) ? 0 : info.st_ino;
}
