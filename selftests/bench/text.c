// SPDX-License-Identifier: GPL-2.0-only
/*
 * What "netsync sync --messages" costs from start to end, beside md5sum on the
 * same file: any program that reads a file does at least as much.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cluster.h"
#include "measure.h"

#define MESSAGES 10000000

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void write_messages(const char *path, int hosts)
{
	const struct cluster_spec spec = { .hosts = hosts, .span_s = 3600,
					   .messages = MESSAGES };
	FILE *f = fopen(path, "w");
	struct cluster c;

	if (!f || !cluster_make(&c, &spec, 1))
		die(path);
	for (long i = 0; i < c.num; i++) {
		const struct cluster_message *m = &c.msg[i];

		fprintf(f, "host%u host%u %" PRId64 " %" PRId64 "\n", m->from,
			m->to, m->send_ns, m->recv_ns);
	}
	cluster_free(&c);
	if (fclose(f))
		die(path);
}

/* In ns, the least of three: others may use the machine, too. */
static double run(char *const argv[], long *peak_kib)
{
	double least = 0;

	for (int i = 0; i < 3; i++) {
		double start = measure_time();
		struct rusage usage;
		pid_t child;
		int status;

		fflush(stdout);
		child = fork();
		if (!child) {
			if (freopen("/dev/null", "w", stdout))
				execvp(argv[0], argv);
			die(argv[0]);
		}
		if (child < 0 || wait4(child, &status, 0, &usage) < 0 || status)
			die(argv[0]);
		start = measure_time() - start;
		if (!i || start < least)
			least = start;
		*peak_kib = usage.ru_maxrss;
	}
	return least;
}

/* The argument is the netsync command. */
int main(int argc, char **argv)
{
	static const int hosts[] = { 2, 10 };
	const char *folder = getenv("TMPDIR");
	char path[4096];
	int fd;

	if (argc != 2) {
		fprintf(stderr, "usage: %s NETSYNC\n", argv[0]);
		return 1;
	}
	snprintf(path, sizeof(path), "%s/netsync-bench-XXXXXX",
		 folder ? folder : "/tmp");
	fd = mkstemp(path);
	if (fd < 0)
		die(path);
	close(fd);
	for (int i = 0; i < 2; i++) {
		char *md5sum[] = { "md5sum", path, NULL };
		char *sync[] = { argv[1], "sync", "--messages", path, NULL };
		double reference, ours;
		long peak;

		write_messages(path, hosts[i]);
		reference = run(md5sum, &peak);
		ours = run(sync, &peak);
		printf("%d lines, %2d hosts: md5sum %.2f s, netsync %.2f s (%.2f x), %ld MiB peak\n",
		       MESSAGES, hosts[i], reference * 1e-9, ours * 1e-9,
		       ours / reference, peak / 1024);
	}
	unlink(path);
	return 0;
}
