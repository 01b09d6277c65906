/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of netsync doctor share. */
#ifndef NETSYNC_DOCTOR_H
#define NETSYNC_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "remote/remote.h"

enum verdict {
	VERDICT_GOOD,
	VERDICT_NOTE,		/* worth knowing; recording works */
	VERDICT_WRONG,		/* recording would fail */
};

/* Texts are ASCII without control characters, whatever they were made of. */
struct finding {
	const char *check;
	enum verdict verdict;
	char *text;
	char *advice;		/* NULL: there is nothing to do */
};

/* What a machine is for: it is traced, or the traces are collected there. */
enum { ROLE_TRACED = 1, ROLE_COLLECTS = 2 };

struct diagnosis {
	const char *host;	/* its name, for people */
	unsigned int roles;
	const char *folder;	/* where a recording would go */
	const char *check;	/* the one that runs */
	struct finding *findings;
	size_t num;
	bool failed;		/* there was not enough memory */
};

/*
 * Look at this machine. @diag has its roles and folder. Findings are added, to
 * be given back with diagnosis_free().
 */
void examine(struct diagnosis *diag);
void diagnosis_free(struct diagnosis *diag);

/* An array of the findings; and add those of such an array, or NULL. */
struct json_object *diagnosis_json(const struct diagnosis *diag);
void diagnosis_read(struct diagnosis *diag, struct json_object *list);

/* Return: "good", "worth knowing" or "wrong". */
const char *verdict_name(enum verdict verdict);

/* ---- several machines (doctor/hosts.c) ---------------------------------------- */

/*
 * Have each other machine of @all look at itself, into @diags, in their order;
 * and see what lies between all of them, into @between. Those that cannot be
 * reached are found wrong.
 */
void examine_hosts(struct remotes *all, struct diagnosis *diags,
		   struct diagnosis *between, unsigned int beacon_port);

/* ---- for the checks ---------------------------------------------------- */

void found(struct diagnosis *diag, enum verdict verdict, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* What to do about the last finding. */
void advise(struct diagnosis *diag, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * The first line of a file, without its end. @size is that of @line. Return:
 * false if it cannot be read; @line is empty then.
 */
bool look_line(const char *path, char *line, size_t size);
/* The value of "KEY: 123" in a file of such lines; -1: it is not there. */
int64_t look_value(const char *path, const char *key);

/*
 * What a program prints on both of its outputs, to be freed; found as a shell
 * of root finds it, in the C locale, with ten seconds to end. @status is its
 * exit status, or -1 if it had none: errno is then why.
 * Return: NULL if there is none at all.
 */
char *look_program(char *const argv[], int *status);
/* The first word that begins with a digit, in place; "" if there is none. */
char *look_version(char *text);

/* ---- the checks -------------------------------------------------------- */

void check_kernel(struct diagnosis *diag);
void check_machine(struct diagnosis *diag);
void check_memory(struct diagnosis *diag);
void check_disk(struct diagnosis *diag);
void check_offloads(struct diagnosis *diag);

void check_clock_source(struct diagnosis *diag);
void check_discipline(struct diagnosis *diag);

void check_modules(struct diagnosis *diag);
void check_lttng_tools(struct diagnosis *diag);
void check_relay_daemon(struct diagnosis *diag);
void check_lttng_modules(struct diagnosis *diag);
void check_session_daemon(struct diagnosis *diag);
void check_group(struct diagnosis *diag);
void check_events(struct diagnosis *diag);

#endif
