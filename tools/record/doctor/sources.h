/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Determines which sources of packets a host without netsync can use, using only the host's shell.
 */
#ifndef NETSYNC_DOCTOR_SOURCES_H
#define NETSYNC_DOCTOR_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

#include "record/capture.h"

struct diagnosis;
struct remote;
struct remotes;

/* The facts that the shell of a host reports. All texts come from the host, and are not trusted. */
struct host_facts {
	char arch[CAPTURE_ARCH_SIZE];
	char release[65]; /* release of the kernel */
	/* such as "none [integrity] confidentiality"; "" if the kernel has no lockdown */
	char lockdown[65];
	uint64_t caps; /* effective capabilities */
	bool has_btf;
	bool sees_processes; /* the shell is in the initial process namespace */
	bool can_execute;    /* a directory allows programs to run */
	bool has_tcpdump;
	bool has_module; /* netsync's module is loaded or installed */
	bool has_session_daemon, has_lttng_modules;
	bool is_complete;	/* the last line has arrived */
	bool can_use[VIA_AUTO]; /* result of host_facts_judge(), by enum capture_via */
};

/*
 * The first function parses a line of the script's output. The second one adds findings about
 * all sources: which ones can be used, and what is missing for the others. @has_recorder means
 * that there is a netsync-recorder for the host's architecture.
 */
void host_facts_handle_line(struct host_facts *facts, const char *line);
void host_facts_judge(struct host_facts *facts, bool has_recorder, struct diagnosis *diag);

/*
 * Connect to the hosts of @all on which netsync is not installed, and add findings to @diags, in
 * the same order. Measure each source for @time_ns, and add the error bounds to @between.
 */
void examine_sources(const struct remotes *all, struct diagnosis *diags, int64_t time_ns,
		     struct diagnosis *between);

/* Add a host, with the arguments that the user gave for another connection. */
bool add_same_remote(struct remotes *all, const struct remote *remote);

/*
 * Record all hosts that can use a source, for @time_ns. Add findings about the costs to @diags, in
 * the order of @shells and @facts, and about the error bounds to @between. (doctor/measure.c)
 */
void measure_source(const struct remotes *shells, const struct host_facts *facts, unsigned int via,
		    int64_t time_ns, struct diagnosis **diags, struct diagnosis *between);

#endif
