// SPDX-License-Identifier: GPL-2.0-only
/*
 * The samples of the fuzzer, among which are the files that once broke a reader,
 * whole and cut off at every 1/16. What is wrong with memory, a sanitizer says.
 */
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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

int main(void)
{
	glob_t samples;

	printf("TAP version 13\n");
	if (glob("selftests/fuzz/samples/*/*", 0, NULL, &samples)) {
		printf("1..1\nnot ok 1 - there are samples\n");
		return 1;
	}
	printf("1..%zu\n", samples.gl_pathc);
	for (size_t i = 0; i < samples.gl_pathc; i++) {
		size_t size = 0;
		uint8_t *data = read_sample(samples.gl_pathv[i], &size);

		for (size_t part = 0; data && part <= 16; part++)
			LLVMFuzzerTestOneInput(data, size * part / 16);
		printf("%sok %zu - %s\n", data ? "" : "not ", i + 1,
		       samples.gl_pathv[i]);
		fflush(stdout);
		free(data);
	}
	globfree(&samples);
	return 0;
}
