// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find and run programs that are called netsync-COMMAND. Search netsync's own directory of commands
 * first, and then PATH, so that anyone can add a command.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../libnetsync/util/array.h"
#include "common/command.h"
#include "common/places.h"
#include "external.h"

/* ---- running ------------------------------------------------------------- */

/*
 * Return whether the error means that the program does not exist. An entry of PATH may be a file,
 * which causes ENOTDIR.
 */
static bool is_absent_error(int err)
{
	return err == ENOENT || err == ENOTDIR;
}

void run_external(char **argv)
{
	char *const command = argv[0];
	char *program, *path, *folder;

	/*
	 * A command with a slash would be a path, and a command that begins with a hyphen would be
	 * an option.
	 */
	if (!*command || *command == '-' || strchr(command, '/')) {
		errno = ENOENT;
		return;
	}
	if (asprintf(&program, PROGRAM_PREFIX "%s", command) < 0)
		return;
	folder = make_path_from_here(place_of_commands);
	argv[0] = program;
	if (folder && asprintf(&path, "%s/%s", folder, program) >= 0) {
		execv(path, argv);
		free(path);
	}
	if (!folder || is_absent_error(errno))
		execvp(program, argv);
	if (is_absent_error(errno))
		errno = ENOENT;
	argv[0] = command;
	free(folder);
	free(program);
}

/* ---- names --------------------------------------------------------------- */

static bool is_program_file(int folder, const char *name)
{
	struct stat st;

	return !fstatat(folder, name, &st, 0) && S_ISREG(st.st_mode) &&
	       !faccessat(folder, name, X_OK, AT_EACCESS);
}

static bool add_external_name(struct external_names *names, const char *name)
{
	char **at = array_add(&names->list, names->num, sizeof(*at));

	if (at)
		*at = strdup(name);
	if (!at || !*at)
		return false;
	names->num++;
	return true;
}

/*
 * Add the names of programs in a directory. Like execvp(), treat a directory that cannot be read as
 * empty.
 */
static bool find_externals_in_folder(struct external_names *names, const char *path)
{
	const size_t length = strlen(PROGRAM_PREFIX);
	DIR *folder = opendir(path);
	struct dirent *entry;
	bool ok = true;

	while (folder && ok && (entry = readdir(folder)))
		if (!strncmp(entry->d_name, PROGRAM_PREFIX, length) && entry->d_name[length] &&
		    is_program_file(dirfd(folder), entry->d_name))
			ok = add_external_name(names, entry->d_name + length);
	if (folder)
		closedir(folder);
	return ok;
}

static bool find_externals_in_path(struct external_names *names)
{
	const char *path = getenv("PATH");
	char *copy = path ? strdup(path) : NULL, *rest = copy, *folder;
	bool ok = copy || !path;

	/* An empty entry of PATH is the current directory. */
	while (ok && rest && (folder = strsep(&rest, ":")))
		ok = find_externals_in_folder(names, *folder ? folder : ".");
	free(copy);
	return ok;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Remove duplicate names, because the same program may be in several directories. */
static void keep_each_name_once(struct external_names *names)
{
	size_t num = 0;

	qsort(names->list, names->num, sizeof(*names->list), compare_names);
	for (size_t i = 0; i < names->num; i++)
		if (num && !strcmp(names->list[num - 1], names->list[i]))
			free(names->list[i]);
		else
			names->list[num++] = names->list[i];
	names->num = num;
}

bool find_externals(struct external_names *names)
{
	char *folder = make_path_from_here(place_of_commands);
	bool ok = (!folder || find_externals_in_folder(names, folder)) &&
		  find_externals_in_path(names);

	free(folder);
	if (names->num)
		keep_each_name_once(names);
	return ok;
}

bool is_external(const struct external_names *names, const char *name)
{
	return names->num &&
	       bsearch(&name, names->list, names->num, sizeof(*names->list), compare_names);
}

void release_externals(struct external_names *names)
{
	for (size_t i = 0; i < names->num; i++)
		free(names->list[i]);
	free(names->list);
}
