// SPDX-License-Identifier: GPL-2.0-only
/*
 * netsync doctor measures what recording packets costs on hosts on which netsync is not installed,
 * and how accurately the hosts' clocks can be estimated. It records the hosts for a moment with
 * each source that they allow, as netsync record does, and removes the captures afterwards.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../libnetsync/util/scratch.h"
#include "common/child.h"
#include "common/complain.h"
#include "common/folders.h"
#include "common/json-value.h"
#include "common/now.h"
#include "common/result-file.h"
#include "common/signal.h"
#include "common/value.h"
#include "doctor.h"
#include "record/agent/agent.h"
#include "record/capture.h"
#include "record/record.h"
#include "sources.h"
#include "sync/sync.h"

/* Time between checks of the end, ms. Chosen. */
#define LOOK_MS 100
/* Share of the free disk space that all captures may use, as 1/DISK_PART. Chosen. */
#define DISK_PART 4

/* ---- costs ------------------------------------------------------------------- */

/* Describe the part of the CPU time that the kernel uses for each packet. */
static void format_kernel_part(char *text, size_t size, const struct capture_costs *costs)
{
	char each[VALUE_SIZE];

	if (costs->programs_ns > 0)
		snprintf(text, size, "of which %s in BPF programs",
			 format_duration(each, costs->programs_ns / costs->recorded));
	else if (costs->programs_ns)
		snprintf(text, size, "without the BPF programs, which the kernel did not measure");
	else
		snprintf(text, size, "without the kernel's copy of each packet");
}

static void add_cost_finding(struct diagnosis *diag, const char *source,
			     const struct recorded_host *host)
{
	const struct capture_costs *costs = &host->costs;
	const double seconds = (double)costs->time_ns / NS_PER_S;
	char each[VALUE_SIZE], rate[VALUE_SIZE], part[128];
	int64_t used;

	diag->check = "cost";
	if (!costs->is_known) {
		add_finding(diag, VERDICT_NOTE, "%s: the cost is unknown; see the message above.",
			    source);
		return;
	}
	if (!costs->recorded) {
		add_finding(diag, VERDICT_NOTE,
			    "%s: no packets passed in %.1f s, so the cost is unknown.", source,
			    seconds);
		set_advice(diag, "Measure while the host communicates, or longer with --measure.");
		return;
	}
	used = costs->own_ns + (costs->programs_ns > 0 ? costs->programs_ns : 0);
	format_kernel_part(part, sizeof(part), costs);
	add_finding(
		diag, costs->lost ? VERDICT_NOTE : VERDICT_GOOD,
		"%s: %.0f packets per second, %.0f bytes per packet (%s per second); at this rate, %.2f %% of a CPU, or %s per packet, %s.",
		source, (double)costs->recorded / seconds,
		(double)host->size / (double)costs->recorded,
		format_bytes(rate, (uint64_t)((double)host->size / seconds)),
		100. * (double)used / (double)costs->time_ns,
		format_duration(each, used / costs->recorded), part);
	if (costs->lost)
		set_advice(diag, "%lld packets were lost, because they were not written in time.",
			   (long long)costs->lost);
}

/* ---- error bounds ------------------------------------------------------------ */

/* Synchronize the captures silently in a child process. Return false if that fails. */
static bool synchronize_silently(struct record_run *rec, const char *result)
{
	char **traces = calloc(rec->all.num, sizeof(*traces)), *path;
	int num = 0, status;
	pid_t child;

	for (unsigned int i = 0; i < rec->all.num && traces; i++) {
		if (!rec->hosts[i].size)
			continue;
		path = make_capture_path(rec, rec->all.list[i]);
		if (path && asprintf(&traces[num], "%s=%s", rec->all.list[i]->name, path) >= 0)
			num++;
		free(path);
	}
	fflush(stdout);
	child = num > 1 ? fork() : -1;
	if (!child) {
		const int none = open("/dev/null", O_RDWR);

		set_ending_handlers(SIG_DFL);
		dup2(none, STDOUT_FILENO);
		dup2(none, STDERR_FILENO);
		_exit(sync_recorded(traces, num, NULL, result, false));
	}
	/* After ^C, the child must end before its files are removed. */
	status = child_wait(child);
	for (int i = 0; i < num; i++)
		free(traces[i]);
	free(traces);
	return WIFEXITED(status) && !access(result, R_OK);
}

static void add_bound_finding(struct diagnosis *between, const char *source,
			      const struct model *model, const struct model_host *host)
{
	int64_t median, most;
	char text[VALUE_SIZE];

	model_get_bounds(host, &median, &most);
	if (median != NETSYNC_UNKNOWN)
		add_finding(between, VERDICT_GOOD,
			    "%s: about %s relative to the clock of %s, measured with the source %s.",
			    host->name, format_duration(text, median), model->reference, source);
	else
		add_finding(
			between, VERDICT_NOTE,
			"%s: unknown, because it exchanged too few packets with the other hosts while %s recorded.",
			host->name, source);
}

static void find_bounds(struct record_run *rec, const char *source, struct diagnosis *between)
{
	struct model model;
	char *result;

	if (asprintf(&result, "%s/sync.json", rec->dir) < 0)
		return;
	between->check = "error bound";
	if (!synchronize_silently(rec, result) || model_open(&model, result)) {
		add_finding(between, VERDICT_NOTE,
			    "The hosts exchanged no packets that %s could match.", source);
	} else {
		for (size_t i = 0; i < model.num_hosts; i++)
			if (!model.reference || strcmp(model.hosts[i].name, model.reference))
				add_bound_finding(between, source, &model, &model.hosts[i]);
		model_close(&model);
	}
	if (between->num && between->findings[between->num - 1].verdict == VERDICT_NOTE)
		set_advice(between,
			   "Measure while the hosts communicate, or longer with --measure.");
	free(result);
}

/* ---- recording --------------------------------------------------------------- */

static bool make_measure_folder(struct record_run *rec)
{
	if (asprintf(&rec->dir, "%s/netsync-XXXXXX", scratch_get_folder(true)) < 0) {
		rec->dir = NULL;
		return complain_no_memory();
	}
	if (mkdtemp(rec->dir))
		return true;
	complain_about_path(rec->dir);
	free(rec->dir);
	rec->dir = NULL;
	return false;
}

static void record_for_moment(struct record_run *rec, int64_t time_ns)
{
	const bool is_started = captures_start(rec);
	const int64_t end = now_ns() + time_ns;

	while (is_started && now_ns() < end && !interrupted)
		remotes_poll(&rec->all, LOOK_MS);
	captures_stop(rec);
	remotes_close(&rec->all);
}

static void measure_hosts(struct record_run *rec, const char *source, int64_t time_ns,
			  struct diagnosis **diags, struct diagnosis *between)
{
	unsigned int num = 0;

	rec->hosts = calloc(rec->all.num, sizeof(*rec->hosts));
	if (!rec->hosts || !make_measure_folder(rec))
		return;
	rec->quota = folder_get_free_space(rec->dir) / DISK_PART / rec->all.num;
	for (unsigned int i = 0; i < rec->all.num; i++)
		rec->hosts[i].remote = rec->all.list[i];
	record_for_moment(rec, time_ns);
	for (unsigned int i = 0; i < rec->all.num && !interrupted; i++) {
		add_cost_finding(diags[i], source, &rec->hosts[i]);
		num += rec->hosts[i].size > 0;
	}
	if (num > 1 && !interrupted)
		find_bounds(rec, source, between);
	remove_tree(rec->dir);
}

void measure_source(const struct remotes *shells, const struct host_facts *facts, unsigned int via,
		    int64_t time_ns, struct diagnosis **diags, struct diagnosis *between)
{
	struct record_run rec = {
		.via = via,
		.measures_costs = true,
		.announced = -1,
		.all.stop = &interrupted,
	};
	struct diagnosis **of = calloc(shells->num, sizeof(*of));

	for (unsigned int i = 0; of && i < shells->num; i++)
		if (facts[i].can_use[via] && add_same_remote(&rec.all, shells->list[i]))
			of[rec.all.num - 1] = diags[i];
	if (rec.all.num)
		measure_hosts(&rec, capture_via_names[via], time_ns, of, between);
	captures_free(&rec);
	free(rec.dir);
	free(rec.hosts);
	free(of);
	remotes_free(&rec.all);
}
