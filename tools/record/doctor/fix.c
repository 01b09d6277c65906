// SPDX-License-Identifier: GPL-2.0-only
/*
 * netsync doctor --fix lttng plans the next step towards LTTng's kernel tracer, prints the
 * commands of this step, asks, runs them, and checks again, until nothing is missing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/complain.h"
#include "common/exit-status.h"
#include "common/signal.h"
#include "doctor.h"
#include "fix.h"
#include "lttng-setup.h"

/*
 * Maximum number of steps, which are for packages, for probes that fail to compile one after the
 * other, and for netsync's own probe. More steps would mean that nothing changes. Chosen.
 */
#define MAX_ROUNDS 8

static void show_fix_plan(const struct plan *plan)
{
	printf("%s Commands to run as root:\n\n", plan->reason);
	for (unsigned int i = 0; i < plan->num; i++)
		printf("    %s\n", plan->commands[i]);
	putchar('\n');
	fflush(stdout);
}

/* Ask on the terminal, or on stdin if stdin is not a terminal. */
static bool ask_for_agreement(void)
{
	char line[16];

	fputs("Run them? [y/N] ", stdout);
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) && (*line == 'y' || *line == 'Y');
}

/*
 * Run all commands. Failures are ignored, because the next check finds them, or the next command
 * repairs them.
 */
static void run_fix_plan(const struct plan *plan)
{
	for (unsigned int i = 0; i < plan->num && !interrupted; i++) {
		int status;

		printf("+ %s\n", plan->commands[i]);
		fflush(stdout);
		status = system(plan->commands[i]);
		if (status)
			printf("This command failed%s.\n",
			       WIFEXITED(status) ? "" : ": it was killed");
	}
}

static bool is_same_fix_plan(const struct plan *a, const struct plan *b)
{
	if (a->num != b->num)
		return false;
	for (unsigned int i = 0; i < a->num; i++)
		if (strcmp(a->commands[i], b->commands[i]))
			return false;
	return true;
}

/* Report that nothing is missing, or that doctor cannot repair it. Return the exit status. */
static int conclude_fix(const struct lttng_setup *setup)
{
	if (setup->tracer.presence < LOADABLE) {
		complain(
			"apt-get not found, and only Debian's packages are supported: build or install LTTng's modules for kernel %s.",
			setup->kernel);
		return EXIT_BAD;
	}
	if (!setup->has_daemon) {
		complain("apt-get not found: install lttng-tools.");
		return EXIT_BAD;
	}
	printf("LTTng's kernel tracer is installed for kernel %s", setup->kernel);
	if (setup->probe.presence >= LOADABLE)
		puts(", with lttng-probe-netsync.");
	else
		puts(", with LTTng's own network events. For smaller error bounds, install netsync-dkms, or run \"make dkms-install\" in the source of netsync.");
	if (setup->tracer.presence != LOADED)
		puts("If lttng-sessiond is already running, restart it: systemctl restart lttng-sessiond");
	return EXIT_DONE;
}

/* Report that the commands of the last round changed nothing. */
static void explain_fix_failure(const struct lttng_setup *setup)
{
	char path[256];

	lttng_setup_log_path(setup, path, sizeof(path));
	if (setup->tracer.presence < LOADABLE && *setup->error)
		complain("LTTng's modules do not compile for kernel %s: %s. The full log is in %s.",
			 setup->kernel, setup->error, path);
	else if (setup->tracer.presence < LOADABLE && !setup->has_headers)
		complain(
			"The headers of the running kernel, %s, are missing. If apt-get offers only those of a newer kernel, install and boot that kernel.",
			setup->kernel);
	else if (setup->tracer.presence < LOADABLE)
		complain(
			"LTTng's modules are still missing for kernel %s; see the output of the commands.",
			setup->kernel);
	else
		complain(
			"lttng-probe-netsync is still missing for kernel %s; to see why, run \"make modules KDIR=/lib/modules/%s/build\" in /usr/src/netsync-%s.",
			setup->kernel, setup->kernel, setup->netsync);
}

int fix_lttng(bool asks)
{
	struct plan plan = { .num = 0 }, before;
	struct lttng_setup setup;

	if (!geteuid())
		set_root_path();
	for (int round = 0; round < MAX_ROUNDS; round++) {
		before = plan;
		lttng_setup_find(&setup);
		lttng_setup_plan(&setup, &plan);
		if (!plan.num)
			return conclude_fix(&setup);
		if (is_same_fix_plan(&plan, &before))
			break;
		show_fix_plan(&plan);
		if (geteuid()) {
			complain(
				"Nothing was done, as this requires root. Run \"netsync doctor --fix lttng\" as root.");
			return EXIT_BAD;
		}
		if (asks && !ask_for_agreement()) {
			complain("Nothing%s was done.", round ? " more" : "");
			return EXIT_BAD;
		}
		run_fix_plan(&plan);
		if (interrupted)
			return EXIT_BAD;
	}
	explain_fix_failure(&setup);
	return EXIT_BAD;
}
