// SPDX-License-Identifier: GPL-2.0-only
/* Handing out a result: where it goes, and what is not as it should be. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

/* ---- writing ----------------------------------------------------------- */

static bool complain_of_output(const char *path)
{
	if (errno == EEXIST)
		complain("%s: it exists already; --force overwrites it.", path);
	else
		complain("%s: %s.", path, strerror(errno));
	return false;
}

bool output_check(const char *path, bool force)
{
	if (!path || force || access(path, F_OK))
		return true;
	errno = EEXIST;
	return complain_of_output(path);
}

/* False: that was not all, and errno says why. */
static bool write_to(FILE *out, output_func *write, const void *data)
{
	bool ok;

	errno = 0;
	ok = write(out, data);
	if (fflush(out) || ferror(out))
		ok = false;
	if (!ok && !errno)
		errno = ENOMEM;
	return ok;
}

bool output_write(const char *path, bool force, output_func *write,
		  const void *data)
{
	const int how = force ? O_TRUNC : O_EXCL;
	FILE *out;
	int fd;

	if (!path)
		return write_to(stdout, write, data) ||
		       complain_of_output("standard output");
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out)
		return complain_of_output(path);
	if (!write_to(out, write, data)) {
		complain_of_output(path);
		fclose(out);
		return false;
	}
	return !fclose(out) || complain_of_output(path);
}

struct result {
	const struct outcome *outcome;
	const struct netsync *ns;
	const struct netsync_io *io;
};

static bool write_result(FILE *out, const void *data)
{
	const struct result *result = data;

	switch (result->outcome->format) {
	case FORMAT_JSON:
		return write_json(out, result->ns, result->io,
				  result->outcome->method);
	case FORMAT_BT2_ARGS:
		return write_bt2_args(out, result->ns, result->io);
	default:
		write_table(out, result->ns);
		return true;
	}
}

bool outcome_check(const struct outcome *outcome)
{
	return output_check(outcome->output, outcome->force);
}

bool outcome_write(const struct outcome *outcome, const struct netsync *ns,
		   const struct netsync_io *io)
{
	const struct result result = { outcome, ns, io };

	return output_write(outcome->output, outcome->force, write_result,
			    &result);
}

/* ---- what is not as it should be --------------------------------------- */

/* The names of the hosts of an island: "web", "web and db", "a, b and c". */
static char *island_names(const struct netsync *ns, uint32_t island,
			  uint32_t *num)
{
	char *names = NULL;
	uint32_t left;
	size_t size;
	FILE *list = open_memstream(&names, &size);

	*num = 0;
	for (uint32_t i = 0; i < netsync_num_hosts(ns); i++)
		*num += host_info(ns, i).island == island;
	left = *num;
	for (uint32_t i = 0; i < netsync_num_hosts(ns) && list; i++) {
		const struct netsync_host_info info = host_info(ns, i);

		if (info.island != island)
			continue;
		left--;
		fprintf(list, "%s%s", info.name,
			left > 1 ? ", " : left ? " and " : "");
	}
	if (list)
		fclose(list);
	return names;
}

/* Every island but the reference's is out of reach. */
static void explain_islands(const struct netsync *ns)
{
	uint32_t main = host_info(ns, netsync_reference(ns)).island;
	uint32_t num_reached, num;
	char *reached = island_names(ns, main, &num_reached);

	for (uint32_t i = 0; i < netsync_num_hosts(ns); i++) {
		char *names;

		if (host_info(ns, i).island != i || i == main)
			continue;
		names = island_names(ns, i, &num);
		complain("warning: %s %s no packet with %s: record the netsync events, or net_dev_queue and net_if_receive_skb, on both sides, and make them talk meanwhile.",
			 reached ? reached : "",
			 num_reached > 1 ? "share" : "shares",
			 names ? names : "");
		free(names);
	}
	free(reached);
}

static bool explain_host(const struct outcome *outcome, const struct netsync *ns,
			 uint32_t host)
{
	const struct netsync_host_info info = host_info(ns, host);
	char bound[VALUE_SIZE], limit[VALUE_SIZE];

	switch (info.quality) {
	case NETSYNC_ABSENT:
		return false;
	case NETSYNC_INCOMPLETE:
		complain("warning: %s: messages were seen in one direction only, so its offset is a guess, and the error is bounded on one side only.",
			 info.name);
		return false;
	case NETSYNC_APPROXIMATE:
		complain(info.bound_max_ns == NETSYNC_UNKNOWN ?
			 "warning: %s: messages contradict what is assumed of the clocks, so the correction is a compromise and nothing is known about the error." :
			 "warning: %s: some messages contradict what is assumed of the clocks; they were left out, and the bound holds if they are wrong.",
			 info.name);
		break;
	case NETSYNC_ACCURATE:
		break;
	}
	if (outcome->max_bound_ns < 0 || info.bound_max_ns <= outcome->max_bound_ns)
		return true;
	complain("%s: the error bound, %s, is above --max-bound, %s.",
		 info.name, format_duration(bound, info.bound_max_ns),
		 format_duration(limit, outcome->max_bound_ns));
	return false;
}

int outcome_explain(const struct outcome *outcome, const struct netsync *ns)
{
	int status = EXIT_DONE;

	if (netsync_num_hosts(ns) == 1)
		complain("warning: all traces are of one host, %s, so there is nothing to synchronize.",
			 host_info(ns, 0).name);
	explain_islands(ns);
	for (uint32_t i = 0; i < netsync_num_hosts(ns); i++)
		if (!explain_host(outcome, ns, i))
			status = EXIT_PARTIAL;
	return status;
}
