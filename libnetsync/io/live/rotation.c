// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Find the next file of a program that continues its capture in files with other names, such as
 * tcpdump with -C, -G or -W. The user gives the name as to tcpdump -w: conversions of strftime(3)
 * stand for any text, and digits can follow.
 */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/live/internal.h"

/* Size of a capture's smallest header, that of pcap (bytes). Shorter files are not used yet. */
#define LEAST_CAPTURE 24

/* Make a pattern of fnmatch(3) from a name as given to tcpdump -w. Return NULL if out of memory. */
static char *make_name_pattern(const char *name)
{
	char *pattern = malloc(2 * strlen(name) + 1), *to = pattern;

	while (pattern && *name) {
		if (name[0] == '%' && name[1]) {
			*to++ = '*';
			name += 2;
			continue;
		}
		if (strchr("*?[]\\", *name))
			*to++ = '\\';
		*to++ = *name++;
	}
	if (pattern)
		*to = '\0';
	return pattern;
}

/* Is this the name of one of the files? */
static bool is_rotated_name(const char *pattern, char *name)
{
	size_t length = strlen(name);
	char last;
	bool matches;

	if (!fnmatch(pattern, name, FNM_PERIOD))
		return true;
	while (length && name[length - 1] >= '0' && name[length - 1] <= '9')
		length--;
	last = name[length];
	name[length] = '\0';
	matches = last && !fnmatch(pattern, name, FNM_PERIOD);
	name[length] = last;
	return matches;
}

static int compare_file_times(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? (a->tv_sec > b->tv_sec) - (a->tv_sec < b->tv_sec) :
					(a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

/* Was the file given as a capture of its own? */
static bool is_given_capture(const struct live_input *live, const struct live_capture *than,
			     const char *path)
{
	for (size_t i = 0; i < live->num_captures; i++)
		if (live->captures[i] != than && !strcmp(live->captures[i]->given, path))
			return true;
	return false;
}

/*
 * Return the path of the oldest file in @dir whose name matches and that was written after @after,
 * or NULL. @begin is the path of the directory as given, with a '/', or empty.
 */
static char *find_oldest_file(const struct live_input *live, const struct live_capture *capture,
			      DIR *dir, const char *begin, const char *pattern,
			      const struct timespec *after)
{
	struct timespec oldest = { 0 };
	struct dirent *entry;
	char *found = NULL;
	struct stat st;

	while ((entry = readdir(dir))) {
		char *path;

		if (!is_rotated_name(pattern, entry->d_name) ||
		    fstatat(dirfd(dir), entry->d_name, &st, 0) || !S_ISREG(st.st_mode) ||
		    st.st_size < LEAST_CAPTURE ||
		    (after && compare_file_times(&st.st_mtim, after) <= 0) ||
		    (found && compare_file_times(&st.st_mtim, &oldest) >= 0))
			continue;
		path = io_format("%s%s", begin, entry->d_name);
		if (!path || is_given_capture(live, capture, path)) {
			free(path);
			continue;
		}
		free(found);
		found = path;
		oldest = st.st_mtim;
	}
	return found;
}

char *rotation_find_file(const struct live_input *live, const struct live_capture *capture,
			 const struct timespec *after)
{
	const char *slash = strrchr(capture->given, '/');
	const char *name = slash ? slash + 1 : capture->given;
	char *begin = strndup(capture->given, (size_t)(name - capture->given));
	char *pattern = make_name_pattern(name), *found = NULL;
	DIR *dir = begin && pattern ? opendir(*begin ? begin : ".") : NULL;

	if (dir) {
		found = find_oldest_file(live, capture, dir, begin, pattern, after);
		closedir(dir);
	}
	free(pattern);
	free(begin);
	return found;
}
