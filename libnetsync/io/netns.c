// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What the network namespaces of a machine were called, as who recorded it wrote
 * it beside the traces: a file "netsync-namespaces" with a line "INODE NAME" for each.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/io.h"

/* Of such a file (bytes): several times what 4096 namespaces take. Chosen. */
#define MAX_SIZE (4 << 20)

/* Of a namespace or a container, as they may be in the name of a host. */
static const char allowed[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_@:+";

/* What one without a name is called, by its number. */
static bool is_number(const char *name)
{
	return !strncmp(name, NETNS_PREFIX, strlen(NETNS_PREFIX)) &&
	       isdigit((unsigned char)name[strlen(NETNS_PREFIX)]);
}

/* The name in a line, of which the inode number is read as well; NULL: none. */
static char *read_line(char *line, unsigned long *inode)
{
	int length = 0;
	char *name;

	if (sscanf(line, "%lu %n", inode, &length) != 1 || !length)
		return NULL;
	name = line + length;
	name[strcspn(name, "\n")] = '\0';
	return *name && strlen(name) < NETNS_NAME_SIZE &&
	       !name[strspn(name, allowed)] && !is_number(name) ? name : NULL;
}

/* Two of one name would become one host: then it says nothing. */
static bool find_name(FILE *file, uint32_t netns, char name[NETNS_NAME_SIZE])
{
	char line[2 * NETNS_NAME_SIZE], *text;
	unsigned long inode;

	*name = '\0';
	while (!*name && fgets(line, sizeof(line), file)) {
		text = read_line(line, &inode);
		if (text && inode == netns)
			strcpy(name, text);
	}
	rewind(file);
	while (*name && fgets(line, sizeof(line), file)) {
		text = read_line(line, &inode);
		if (text && inode != netns && !strcmp(text, name))
			return false;
	}
	return *name;
}

bool io_netns_name(const struct trace *trace, uint32_t netns,
		   char name[NETNS_NAME_SIZE])
{
	char *path;
	const int fd = io_open_beside(trace, BESIDE_NETNS_NAMES, &path);
	struct stat st;
	FILE *file = fd < 0 || fstat(fd, &st) || st.st_size > MAX_SIZE ?
		NULL : fdopen(fd, "r");
	const bool found = file && find_name(file, netns, name);

	if (file)
		fclose(file);
	else if (fd >= 0)
		close(fd);
	free(path);
	return found;
}
