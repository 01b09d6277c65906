// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Look up the name of a network namespace by its inode number, in the file "netsync-namespaces"
 * that "netsync record" writes next to traces. The file has a line for each namespace:
 *
 *	INODE NAME
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/io.h"

/* Maximum size of the file (bytes). Chosen: 4096 namespaces with the longest names take 0.6 MB. */
#define MAX_SIZE (4 << 20)

/*
 * Characters that are allowed in names of namespaces and containers. Other characters could make a
 * host's name ambiguous.
 */
static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_@:+";

/* Return whether the name is only the inode number, as for a network namespace without a name. */
static bool is_netns_number_name(const char *name)
{
	return !strncmp(name, NETNS_PREFIX, strlen(NETNS_PREFIX)) &&
	       isdigit((unsigned char)name[strlen(NETNS_PREFIX)]);
}

/* Parse a line. Set @inode and return the name, or NULL if the name is not valid. */
static char *parse_netns_line(char *line, unsigned long *inode)
{
	int length = 0;
	char *name;

	if (sscanf(line, "%lu %n", inode, &length) != 1 || !length)
		return NULL;
	name = line + length;
	name[strcspn(name, "\n")] = '\0';
	return *name && strlen(name) < NETNS_NAME_SIZE && !name[strspn(name, allowed)] &&
			       !is_netns_number_name(name) ?
		       name :
		       NULL;
}

/*
 * If another namespace has the same name, return false as well, because both would become one host.
 */
static bool find_netns_name(FILE *file, uint32_t netns, char name[NETNS_NAME_SIZE])
{
	char line[2 * NETNS_NAME_SIZE], *text;
	unsigned long inode;

	*name = '\0';
	while (!*name && fgets(line, sizeof(line), file)) {
		text = parse_netns_line(line, &inode);
		if (text && inode == netns)
			strcpy(name, text);
	}
	rewind(file);
	while (*name && fgets(line, sizeof(line), file)) {
		text = parse_netns_line(line, &inode);
		if (text && inode != netns && !strcmp(text, name))
			return false;
	}
	return *name;
}

/* Read a whole file. Return NULL if the file is empty, is too large, or cannot be read. */
static char *read_whole_file(struct disk_file *file, size_t *size)
{
	const off_t all = file->st.st_size;
	char *text = all > 0 && all <= MAX_SIZE ? malloc((size_t)all) : NULL;
	ssize_t num = text ? 1 : 0;

	*size = 0;
	while (num > 0 && *size < (size_t)all) {
		num = disk_read(file, text + *size, (size_t)all - *size, *size);
		if (num > 0)
			*size += (size_t)num;
	}
	if (*size)
		return text;
	free(text);
	return NULL;
}

bool io_find_netns_name(const struct trace *trace, uint32_t netns, char name[NETNS_NAME_SIZE])
{
	size_t size = 0;
	char *path;
	struct disk_file *from = io_open_sidecar(trace, SIDECAR_NETNS_NAMES, &path);
	char *text = from ? read_whole_file(from, &size) : NULL;
	FILE *file = text ? fmemopen(text, size, "r") : NULL;
	const bool found = file && find_netns_name(file, netns, name);

	if (file)
		fclose(file);
	free(text);
	disk_close(from);
	free(path);
	return found;
}
