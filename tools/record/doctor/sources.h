/* SPDX-License-Identifier: GPL-2.0-only */
/* What a host without netsync can be recorded with, found by its shell alone. */
#ifndef NETSYNC_DOCTOR_SOURCES_H
#define NETSYNC_DOCTOR_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

#include "record/capture.h"

struct diagnosis;
struct remotes;

/* What the shell of a host reports; texts are of the host. */
struct host_facts {
	char arch[CAPTURE_ARCH_SIZE];
	char release[65];  /* of the kernel */
	char lockdown[65]; /* "none [integrity] confidentiality"; "": it has none */
	uint64_t caps;	   /* effective capabilities */
	bool has_btf;
	bool can_execute; /* programs that arrive */
	bool has_tcpdump;
	bool has_session_daemon, has_lttng_modules;
	bool is_complete; /* the last line arrived */
};

/*
 * Take a line of what the script prints, and add findings about all sources: which can be used,
 * and what is missing for others. @has_recorder: there is a program for that architecture.
 */
void host_facts_handle_line(struct host_facts *facts, const char *line);
void host_facts_judge(const struct host_facts *facts, bool has_recorder, struct diagnosis *diag);

/*
 * Connect to the hosts of @all that have no netsync, and add findings to @diags, in the same
 * order.
 */
void examine_sources(const struct remotes *all, struct diagnosis *diags);

#endif
