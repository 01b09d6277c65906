// SPDX-License-Identifier: GPL-2.0-only
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "measure.h"

static double memory_at_start;

static double read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

double measure_time(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

double measure_processor_time(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

/* Return a value of /proc/self/status, in bytes. */
static double read_status_bytes(const char *key)
{
	FILE *f = fopen("/proc/self/status", "r");
	size_t len = strlen(key);
	char line[256];
	double kib = NAN;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, len))
			kib = strtod(line + len, NULL);
	if (f)
		fclose(f);
	return kib * 1024;
}

void measure_memory_start(void)
{
	FILE *f = fopen("/proc/self/clear_refs", "w");

	malloc_trim(0);
	if (f) {
		/* Reset the peak of this process's memory use. */
		fputs("5", f);
		fclose(f);
	}
	memory_at_start = read_status_bytes("VmRSS:");
}

double measure_memory(void)
{
	return read_status_bytes("VmHWM:") - memory_at_start;
}

bool measure_in_child(void (*run)(const void *arg, void *result), const void *arg, void *result,
		      size_t size)
{
	bool ok = false;
	int fd[2];
	pid_t child;

	if (pipe(fd))
		return false;
	fflush(stdout);
	child = fork();
	if (!child) {
		run(arg, result);
		_exit(write(fd[1], result, size) != (ssize_t)size);
	}
	close(fd[1]);
	if (child > 0) {
		ok = read(fd[0], result, size) == (ssize_t)size;
		waitpid(child, NULL, 0);
	}
	close(fd[0]);
	return ok;
}
