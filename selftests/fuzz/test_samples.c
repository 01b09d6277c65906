// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run a fuzz target on its samples, which are in the folders SAMPLES. Files that revealed faults in
 * the past are among the samples. Each sample is used as a whole and truncated after each sixteenth
 * of its size. Sanitizers report memory errors.
 */
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *read_sample(const char *path, size_t *size)
{
	FILE *file = fopen(path, "r");
	uint8_t *data = NULL;
	struct stat st;

	if (file && !fstat(fileno(file), &st)) {
		*size = (size_t)st.st_size;
		data = malloc(*size + 1);
	}
	if (data && fread(data, 1, *size, file) != *size) {
		free(data);
		data = NULL;
	}
	if (file)
		fclose(file);
	return data;
}

static void find_samples(glob_t *samples)
{
	char folders[] = SAMPLES, *rest = folders, *folder, pattern[256];
	int more = 0;

	while ((folder = strsep(&rest, " "))) {
		snprintf(pattern, sizeof(pattern), "selftests/fuzz/samples/%s/*", folder);
		if (!glob(pattern, more, NULL, samples))
			more = GLOB_APPEND;
	}
}

int main(void)
{
	glob_t samples = { .gl_pathc = 0 };

	find_samples(&samples);
	if (!samples.gl_pathc)
		return 1;
	printf("TAP version 13\n1..%zu\n", samples.gl_pathc);
	for (size_t i = 0; i < samples.gl_pathc; i++) {
		size_t size = 0;
		uint8_t *data = read_sample(samples.gl_pathv[i], &size);

		for (size_t part = 0; data && part <= 16; part++)
			LLVMFuzzerTestOneInput(data, size * part / 16);
		printf("%sok %zu - %s\n", data ? "" : "not ", i + 1, samples.gl_pathv[i]);
		fflush(stdout);
		free(data);
	}
	globfree(&samples);
	return 0;
}
