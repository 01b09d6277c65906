// SPDX-License-Identifier: GPL-2.0-only
/* Reads files of any kind and the output of programs that may hang, for netsync doctor. */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/child.h"
#include "common/now.h"
#include "doctor.h"

/* Time limit of a program, ns. Chosen. */
#define PROGRAM_NS (10 * NS_PER_S)
/* Maximum size of a program's output, bytes. Chosen. */
#define OUTPUT_MAX (1 << 20)

/* Open a file without blocking, even if it is a FIFO or a terminal. */
static FILE *open_without_blocking(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd < 0 ? NULL : fdopen(fd, "r");
}

bool read_first_line(const char *path, char *line, size_t size)
{
	FILE *file = open_without_blocking(path);
	bool ok;

	*line = '\0';
	if (!file)
		return false;
	ok = fgets(line, size, file);
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return ok;
}

int64_t read_key_value(const char *path, const char *key)
{
	FILE *file = open_without_blocking(path);
	const size_t length = strlen(key);
	int64_t value = -1;
	char line[256];

	if (!file)
		return -1;
	while (value < 0 && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, length) && line[length] == ':')
			value = strtoll(line + length + 1, NULL, 10);
	fclose(file);
	return value;
}

/* ---- programs ---------------------------------------------------------- */

void set_root_path(void)
{
	const char *path = getenv("PATH");
	char *longer;

	/* A user's PATH may lack the directories of modinfo and other programs. */
	if (asprintf(&longer, "%s:/usr/sbin:/sbin", path ? path : "/usr/bin:/bin") < 0)
		return;
	setenv("PATH", longer, 1);
	free(longer);
}

static void set_environment_of_program(void)
{
	set_root_path();
	setenv("LC_ALL", "C", 1);
}

char *run_and_read_program(char *const argv[], int *status)
{
	const struct child_program program = {
		.argv = argv,
		.limit_ns = PROGRAM_NS,
		.most = OUTPUT_MAX,
		.reads_errors = true,
		.prepare = set_environment_of_program,
	};

	return child_read_output(&program, status);
}

char *find_version_word(char *text)
{
	while (*text) {
		char *word = text + strspn(text, " \n");
		size_t length = strcspn(word, " \n");

		if (isdigit((unsigned char)*word)) {
			word[length] = '\0';
			return word;
		}
		text = word + length;
	}
	return text;
}
