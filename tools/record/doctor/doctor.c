// SPDX-License-Identifier: GPL-2.0-only
/* netsync doctor - check machines before a recording fails on them. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "common/complain.h"
#include "common/exit-status.h"
#include "common/json-writer.h"
#include "common/now.h"
#include "common/options.h"
#include "common/signal.h"
#include "doctor.h"
#include "fix.h"
#include "record/commands.h"
#include "remote/beacon.h"

#define FORMAT_NAME "netsync-doctor-1"

struct doctor_settings {
	const char *folder;
	unsigned int beacon_port;
	int64_t measure_ns;
	bool local;
	unsigned int format; /* index in formats[] */
	unsigned int job;    /* enum job, or NUM_JOBS if not given */
	unsigned int fix;    /* index in fixes[] */
	bool yes;
	struct remotes all;
};

/* ---- writing ----------------------------------------------------------- */

static void write_findings(FILE *out, const struct diagnosis *diag)
{
	for (size_t i = 0; i < diag->num; i++) {
		const struct finding *finding = &diag->findings[i];

		fprintf(out, "%-15s%-18s%s\n", get_verdict_name(finding->verdict), finding->check,
			finding->text);
		if (finding->advice)
			fprintf(out, "%33s%s\n", "", finding->advice);
	}
}

/* Write all findings, with names of machines only if there are several. */
static void write_diagnoses(FILE *out, const struct diagnosis *diags, unsigned int num,
			    const struct diagnosis *between)
{
	for (unsigned int i = 0; i < num; i++) {
		if (num > 1)
			fprintf(out, "%s%s:\n", i ? "\n" : "", diags[i].host);
		write_findings(out, &diags[i]);
	}
	if (between->num)
		fputs("\nbetween them:\n", out);
	write_findings(out, between);
}

static void write_diagnoses_json(FILE *out, const struct diagnosis *diags, unsigned int num,
				 const struct diagnosis *between)
{
	json_object *top = json_object_new_object();
	json_object *hosts = json_object_new_array();

	for (unsigned int i = 0; i < num; i++) {
		json_object *host = json_object_new_object();

		json_object_object_add(host, "host", new_json_string(diags[i].host));
		json_object_object_add(host, "checks", diagnosis_make_json(&diags[i]));
		json_object_array_add(hosts, host);
	}
	json_object_object_add(top, "format", json_object_new_string(FORMAT_NAME));
	json_object_object_add(top, "hosts", hosts);
	json_object_object_add(top, "between", diagnosis_make_json(between));
	fprintf(out, "%s\n",
		json_object_to_json_string_ext(top, JSON_C_TO_STRING_PRETTY |
							    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(top);
}

static bool has_wrong_finding(const struct diagnosis *diag)
{
	for (size_t i = 0; i < diag->num; i++)
		if (diag->findings[i].verdict == VERDICT_WRONG)
			return true;
	return diag->failed;
}

/* ---- the command line -------------------------------------------------- */

static const char *const formats[] = { "table", "json", NULL };
enum { DOCTOR_TABLE, DOCTOR_JSON };

static const char *const fixes[] = { "lttng", NULL };
enum { FIX_LTTNG, FIX_NOTHING };

static const struct option_row options[] = {
	{ .table = remote_options, .at = offsetof(struct doctor_settings, all) },
	OPTION("local", 0, NULL,
	       "check this machine for recording, too; without --host, only\n"
	       "this one",
	       parse_flag_option, .at = offsetof(struct doctor_settings, local)),
	OPTION("output", 'o', "DIR", "check the free disk space for a recording in DIR (default .)",
	       parse_text_option, .at = offsetof(struct doctor_settings, folder)),
	OPTION("beacon-port", 0, "PORT", "use UDP PORT to test the connections (default 7712)",
	       parse_number_option, .at = offsetof(struct doctor_settings, beacon_port), .least = 0,
	       .most = UINT16_MAX),
	OPTION("measure", 0, "TIME",
	       "measure for TIME what recording packets costs on hosts without\n"
	       "netsync (default 1s)",
	       parse_seconds_option, .at = offsetof(struct doctor_settings, measure_ns),
	       .example = "10s, 1.5s or 500ms"),
	OPTION("format", 'f', "FORMAT", "print a table, or json (default table)", parse_name_option,
	       .at = offsetof(struct doctor_settings, format), .names = formats),
	OPTION("for", 0, "JOB",
	       "check for captures, trace-cmd or lttng (default: lttng with\n"
	       "--host or --local; otherwise captures, and briefly the others)",
	       parse_name_option, .at = offsetof(struct doctor_settings, job), .names = job_names),
	OPTION("fix", 0, "WHAT",
	       "repair this machine: lttng installs what recording with LTTng\n"
	       "needs; commands are displayed, and run after confirmation",
	       parse_name_option, .at = offsetof(struct doctor_settings, fix), .names = fixes),
	OPTION("yes", 0, NULL, "with --fix, run the commands without asking", parse_flag_option,
	       .at = offsetof(struct doctor_settings, yes)),
	OPTIONS_END
};

static const struct usage usage = {
	.begin =
		"Usage: netsync doctor [OPTION...]\n\n"
		"Check whether this machine or other machines have everything that synchronizing captures\n"
		"or recording needs, and test the connections between the machines. Report what is good,\n"
		"worth knowing or wrong, and what to do. Nothing is changed without --fix. Checks that\n"
		"require root are reported as such.\n\n",
	.end = "\nExit status: 0 if the job can be done, 1 if the job would fail or the usage is wrong.\n",
	.options = options,
};

/* Parse the command line. Return -1 to continue, or the exit status. */
static int parse_doctor_arguments(struct doctor_settings *set, int argc, char **argv)
{
	const int first = options_parse_all(&usage, set, argc, argv);

	if (first <= 0)
		return first ? EXIT_BAD : EXIT_DONE;
	if (set->yes && set->fix == FIX_NOTHING)
		complain("--yes requires --fix.");
	else if (set->fix != FIX_NOTHING && (set->all.num || set->local))
		complain(
			"--fix changes this machine only; run it on each host that needs it, without --host and --local.");
	else if (first == argc)
		return -1;
	else
		complain("\"%s\": unexpected argument; netsync doctor takes only options.",
			 argv[first]);
	return EXIT_BAD;
}

/* ---- the sub-command ---------------------------------------------------- */

static int write_doctor_report(const struct doctor_settings *set, const struct diagnosis *diags,
			       unsigned int num, const struct diagnosis *between)
{
	bool wrong = has_wrong_finding(between);

	if (set->format == DOCTOR_JSON)
		write_diagnoses_json(stdout, diags, num, between);
	else
		write_diagnoses(stdout, diags, num, between);
	for (unsigned int i = 0; i < num; i++)
		wrong |= has_wrong_finding(&diags[i]);
	return wrong ? EXIT_BAD : EXIT_DONE;
}

/* Check all machines, with this machine in diags[0]. */
static int diagnose_machines(struct doctor_settings *set, struct diagnosis *diags)
{
	const unsigned int num = set->all.num;
	const bool is_general = !num && !set->local && set->job == NUM_JOBS;
	struct diagnosis between = { 0 };
	struct utsname name;
	int status = EXIT_BAD;

	diags[0].host = uname(&name) ? "this machine" : name.nodename;
	diags[0].folder = set->folder;
	diags[0].roles = ROLE_COLLECTS | (!num || set->local ? ROLE_TRACED : 0);
	for (unsigned int i = 0; i <= num; i++)
		diags[i].may_capture = set->job == NUM_JOBS;
	if (set->job == NUM_JOBS)
		set->job = is_general ? JOB_CAPTURES : JOB_LTTNG;
	for (unsigned int i = 0; i <= num; i++)
		diags[i].job = set->job;
	run_checks(&diags[0]);
	if (is_general) {
		examine_job_briefly(&diags[0], JOB_TRACE_CMD);
		examine_job_briefly(&diags[0], JOB_LTTNG);
	}
	for (unsigned int i = 0; i < num; i++)
		diags[i + 1].host = set->all.list[i]->name;
	if (num && (!set->local || remotes_add(&set->all, NULL)))
		examine_hosts(&set->all, diags + 1, &between, set->beacon_port, set->measure_ns);
	if (!interrupted)
		status = write_doctor_report(set, diags, num + 1, &between);
	for (unsigned int i = 0; i <= num; i++)
		diagnosis_free(&diags[i]);
	diagnosis_free(&between);
	return status;
}

int cmd_doctor(int argc, char **argv)
{
	struct doctor_settings set = {
		.folder = ".",
		.beacon_port = BEACON_PORT,
		.measure_ns = NS_PER_S,
		.job = NUM_JOBS,
		.fix = FIX_NOTHING,
	};
	int status = parse_doctor_arguments(&set, argc, argv);
	struct diagnosis *diags;

	if (status < 0) {
		catch_signal(SIGINT);
		catch_signal(SIGTERM);
		set.all.stop = &interrupted;
	}
	if (status < 0 && set.fix == FIX_LTTNG) {
		status = fix_lttng(!set.yes);
	} else if (status < 0) {
		diags = calloc(set.all.num + 1, sizeof(*diags));
		status = diags ? diagnose_machines(&set, diags) : EXIT_BAD;
		if (!diags)
			complain_no_memory();
		free(diags);
	}
	remotes_free(&set.all);
	return status;
}
