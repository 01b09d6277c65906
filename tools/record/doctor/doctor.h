/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations that the files of netsync doctor share. */
#ifndef NETSYNC_DOCTOR_H
#define NETSYNC_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "remote/remote.h"

enum verdict {
	VERDICT_GOOD,
	VERDICT_NOTE,  /* worth knowing; the job will succeed */
	VERDICT_WRONG, /* the job would fail */
};

/* A finding; texts are ASCII without control characters. */
struct finding {
	const char *check;
	enum verdict verdict;
	char *text;
	char *advice; /* NULL if none is needed */
};

/* Roles of a machine: it is traced, or it collects traces. */
enum { ROLE_TRACED = 1, ROLE_COLLECTS = 2 };

/* Jobs of a machine: to synchronize captures, or to record with one of two tracers. */
enum job { JOB_CAPTURES, JOB_TRACE_CMD, JOB_LTTNG, NUM_JOBS };

/*
 * Names of the jobs in --for and in requests to agents: "captures", "trace-cmd", "lttng"; NULL
 * after the last one.
 */
extern const char *const job_names[NUM_JOBS + 1];

struct diagnosis {
	const char *host; /* its name, for messages */
	unsigned int roles;
	enum job job;
	/* it suffices to record packets only, for which netsync need not be installed */
	bool may_capture;
	const char *folder; /* the directory of a recording */
	const char *check;  /* name of the running check */
	struct finding *findings;
	size_t num;
	bool failed; /* out of memory */
};

/*
 * Check this machine for the roles, the job and the directory in @diag. Add the findings to
 * @diag; diagnosis_free() frees them.
 */
void run_checks(struct diagnosis *diag);
/* Check whether @job will succeed on this machine, and add one finding with the result. */
void examine_job_briefly(struct diagnosis *diag, enum job job);
void diagnosis_free(struct diagnosis *diag);

/*
 * The first function returns the findings as a JSON array. The second one adds the findings of a
 * JSON array, which may be NULL.
 */
struct json_object *diagnosis_make_json(const struct diagnosis *diag);
void diagnosis_read(struct diagnosis *diag, struct json_object *list);

/* Return "good", "worth knowing" or "wrong". */
const char *get_verdict_name(enum verdict verdict);

/* ---- several machines (doctor/hosts.c) ---------------------------------------- */

/*
 * Make each other machine of @all check itself for the job set in @diags, and add the findings
 * to @diags, in the same order. Check connections between all of them, with findings in
 * @between. Measure for @measure_ns what each source of packets costs. An unreachable machine is a
 * finding with the verdict wrong.
 */
void examine_hosts(struct remotes *all, struct diagnosis *diags, struct diagnosis *between,
		   unsigned int beacon_port, int64_t measure_ns);

/* ---- helpers for checks ------------------------------------------------- */

void add_finding(struct diagnosis *diag, enum verdict verdict, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Add advice to the last finding. */
void set_advice(struct diagnosis *diag, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Read the first line of a file, without its newline, into @line of size @size. If the file
 * cannot be read, set @line to "" and return false.
 */
bool read_first_line(const char *path, char *line, size_t size);
/* Return the value of the line "KEY: 123" in a file, or -1 if there is no such line. */
int64_t read_key_value(const char *path, const char *key);

/*
 * Run a program, and return its complete output, to be freed, or NULL if there is no output.
 * PATH is that of root's shell, the locale is C, and the program must end within ten seconds.
 * @status is set to the exit status, or to -1 with errno on failure.
 */
char *run_and_read_program(char *const argv[], int *status);
/* Append the directories of root's programs to the PATH of this process. */
void set_root_path(void);
/* Return the first word that begins with a digit, terminated in place, or "" if there is none. */
char *find_version_word(char *text);

/* ---- the checks -------------------------------------------------------- */

void check_kernel(struct diagnosis *diag);
void check_machine(struct diagnosis *diag);
void check_memory(struct diagnosis *diag);
void check_disk(struct diagnosis *diag);
void check_offloads(struct diagnosis *diag);

void check_clock_source(struct diagnosis *diag);
void check_discipline(struct diagnosis *diag);

void check_packet_captures(struct diagnosis *diag);
void check_trace_cmd(struct diagnosis *diag);
void check_netsync_modules(struct diagnosis *diag);
void check_lttng_tools(struct diagnosis *diag);
void check_relay_daemon(struct diagnosis *diag);
void check_lttng_modules(struct diagnosis *diag);
void check_session_daemon(struct diagnosis *diag);
void check_tracing_group(struct diagnosis *diag);
void check_netsync_events(struct diagnosis *diag);

#endif
