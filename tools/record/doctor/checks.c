// SPDX-License-Identifier: GPL-2.0-only
/* netsync doctor runs the checks of a machine, which are in a table, and keeps their findings. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../libnetsync/util/array.h"
#include "common/json-value.h"
#include "common/json-writer.h"
#include "doctor.h"

const char *const job_names[NUM_JOBS + 1] = {
	[JOB_CAPTURES] = "captures",
	[JOB_TRACE_CMD] = "trace-cmd",
	[JOB_LTTNG] = "lttng",
};

/* Jobs that a check applies to; each job is one bit. */
enum {
	CAPTURES = 1 << JOB_CAPTURES,
	TRACE_CMD = 1 << JOB_TRACE_CMD,
	LTTNG = 1 << JOB_LTTNG,
	RECORDING = TRACE_CMD | LTTNG,
	ALL_JOBS = CAPTURES | RECORDING,
};

/* The checks. Each check is a function and a row of this table. */
static const struct {
	const char *name;
	void (*run)(struct diagnosis *diag);
	unsigned int roles;
	unsigned int jobs;
} checks[] = {
	{ "captures", check_packet_captures, ROLE_TRACED, CAPTURES },
	{ "kernel", check_kernel, ROLE_TRACED, RECORDING },
	{ "machine", check_machine, ROLE_TRACED, ALL_JOBS },
	{ "clock source", check_clock_source, ROLE_TRACED, ALL_JOBS },
	{ "clock discipline", check_discipline, ROLE_TRACED, ALL_JOBS },
	{ "netsync modules", check_netsync_modules, ROLE_TRACED, RECORDING },
	{ "trace-cmd", check_trace_cmd, ROLE_TRACED, TRACE_CMD },
	{ "LTTng tools", check_lttng_tools, ROLE_TRACED, LTTNG },
	{ "LTTng modules", check_lttng_modules, ROLE_TRACED, LTTNG },
	{ "session daemon", check_session_daemon, ROLE_TRACED, LTTNG },
	{ "tracing group", check_tracing_group, ROLE_TRACED, LTTNG },
	{ "events", check_netsync_events, ROLE_TRACED, RECORDING },
	{ "offloads", check_offloads, ROLE_TRACED, ALL_JOBS },
	{ "memory", check_memory, ROLE_TRACED, LTTNG },
	{ "relay daemon", check_relay_daemon, ROLE_COLLECTS, LTTNG },
	{ "disk", check_disk, ROLE_TRACED | ROLE_COLLECTS, ALL_JOBS },
};

#define NUM_CHECKS (sizeof(checks) / sizeof(checks[0]))

static const char *const verdicts[] = {
	[VERDICT_GOOD] = "good",
	[VERDICT_NOTE] = "worth knowing",
	[VERDICT_WRONG] = "wrong",
};

const char *get_verdict_name(enum verdict verdict)
{
	return verdicts[verdict];
}

/* ---- findings ---------------------------------------------------------- */

/*
 * Format a text as printable ASCII. Files and programs may print anything, and findings go to
 * terminals and to JSON.
 */
static char *format_printable(const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0)
		return NULL;
	for (char *at = text; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	return text;
}

void add_finding(struct diagnosis *diag, enum verdict verdict, const char *format, ...)
{
	struct finding *last = array_add(&diag->findings, diag->num, sizeof(*last));
	va_list args;
	char *text;

	va_start(args, format);
	text = format_printable(format, args);
	va_end(args);
	if (!last || !text) {
		free(text);
		diag->failed = true;
		return;
	}
	*last = (struct finding){ diag->check, verdict, text, NULL };
	diag->num++;
}

void set_advice(struct diagnosis *diag, const char *format, ...)
{
	struct finding *last;
	va_list args;

	if (diag->failed)
		return;
	last = &diag->findings[diag->num - 1];
	va_start(args, format);
	last->advice = format_printable(format, args);
	va_end(args);
	if (!last->advice)
		diag->failed = true;
}

void run_checks(struct diagnosis *diag)
{
	for (size_t i = 0; i < NUM_CHECKS; i++) {
		if (!(checks[i].roles & diag->roles) || !(checks[i].jobs >> diag->job & 1))
			continue;
		diag->check = checks[i].name;
		checks[i].run(diag);
	}
}

/* List the names of the checks that found a problem, without repetitions. */
static void print_wrong_checks(FILE *out, const struct diagnosis *diag)
{
	const char *last = NULL;

	for (size_t i = 0; i < diag->num; i++) {
		const struct finding *finding = &diag->findings[i];

		if (finding->verdict != VERDICT_WRONG || finding->check == last)
			continue;
		fprintf(out, "%s%s", last ? ", " : "", finding->check);
		last = finding->check;
	}
}

void examine_job_briefly(struct diagnosis *diag, enum job job)
{
	struct diagnosis all = {
		.roles = diag->roles,
		.folder = diag->folder,
		.job = job,
	};
	char *wrong = NULL;
	size_t size;
	FILE *out = open_memstream(&wrong, &size);

	run_checks(&all);
	if (out)
		print_wrong_checks(out, &all);
	if (!out || fclose(out) || all.failed) {
		diag->failed = true;
	} else {
		diag->check = job_names[job];
		if (*wrong)
			add_finding(diag, VERDICT_NOTE,
				    "Recording here with this tracer would fail: %s.", wrong);
		else
			add_finding(diag, VERDICT_GOOD,
				    "Recording here with this tracer would work.");
		set_advice(diag, "For details, run \"netsync doctor --for %s\".", job_names[job]);
	}
	free(wrong);
	diagnosis_free(&all);
}

void diagnosis_free(struct diagnosis *diag)
{
	for (size_t i = 0; i < diag->num; i++) {
		free(diag->findings[i].text);
		free(diag->findings[i].advice);
	}
	free(diag->findings);
}

/* ---- JSON --------------------------------------------------------------- */

static void add_text_member(json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, new_json_string(text));
}

json_object *diagnosis_make_json(const struct diagnosis *diag)
{
	json_object *list = json_object_new_array();

	for (size_t i = 0; i < diag->num; i++) {
		const struct finding *finding = &diag->findings[i];
		json_object *object = json_object_new_object();

		add_text_member(object, "check", finding->check);
		add_text_member(object, "verdict", get_verdict_name(finding->verdict));
		add_text_member(object, "finding", finding->text);
		if (finding->advice)
			add_text_member(object, "advice", finding->advice);
		json_object_array_add(list, object);
	}
	return list;
}

/* Add a finding given in JSON. Skip checks that this version does not know. */
static void read_finding(struct diagnosis *diag, json_object *object)
{
	const char *advice = member_get_text(object, "advice");
	enum verdict verdict = VERDICT_GOOD;

	while (verdict < VERDICT_WRONG &&
	       strcmp(member_get_text(object, "verdict"), verdicts[verdict]))
		verdict++;
	for (size_t i = 0; i < NUM_CHECKS; i++) {
		if (strcmp(member_get_text(object, "check"), checks[i].name))
			continue;
		diag->check = checks[i].name;
		add_finding(diag, verdict, "%s", member_get_text(object, "finding"));
		/* The advice must be followed on that machine. */
		if (*advice)
			set_advice(diag, "On %s: %s", diag->host, advice);
	}
}

void diagnosis_read(struct diagnosis *diag, json_object *list)
{
	for (size_t i = 0; i < value_get_length(list); i++)
		read_finding(diag, value_get_element(list, i));
}
