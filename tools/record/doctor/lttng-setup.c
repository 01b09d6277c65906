// SPDX-License-Identifier: GPL-2.0-only
/*
 * Determines what is missing to record with LTTng's kernel tracer, from modules, packages, and
 * the dkms log of LTTng's modules. Lists the commands that install it.
 */
#include <ctype.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "doctor.h"
#include "lttng-setup.h"

#define DKMS_TREE "/var/lib/dkms/"
#define SOURCES "/usr/src/lttng-modules-"

/* ---- what is there ----------------------------------------------------------- */

/* Is the text, a version or a file name, safe in a command? */
static bool is_safe_in_command(const char *text)
{
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr(".+~_-", *text))
			return false;
	return true;
}

/*
 * Find the last path that matches a pattern, and copy the part from @from up to the next slash
 * to @name, or "" if there is none.
 */
static void find_path_part(const char *pattern, size_t from, char *name, int size)
{
	glob_t paths;

	*name = '\0';
	if (glob(pattern, 0, NULL, &paths))
		return;
	for (size_t i = 0; i < paths.gl_pathc; i++) {
		const char *part = paths.gl_pathv[i] + from;

		snprintf(name, size, "%.*s", (int)strcspn(part, "/"), part);
	}
	globfree(&paths);
	if (!is_safe_in_command(name))
		*name = '\0';
}

/* Is the package unpacked, but dpkg failed to configure it? */
static bool is_package_unconfigured(char *package)
{
	char *const argv[] = {
		"dpkg-query", "-W", "-f", "${db:Status-Status}", package, NULL,
	};
	int status;
	char *text = run_and_read_program(argv, &status);
	bool unconfigured = text && !status &&
			    (!strcmp(text, "half-configured") || !strcmp(text, "unpacked"));

	free(text);
	return unconfigured;
}

static bool has_working_program(char *name)
{
	char *const argv[] = { name, "--version", NULL };
	int status;

	free(run_and_read_program(argv, &status));
	return !status;
}

/*
 * Note which probe failed. The line "...probes/lttng-probe-timer.o] Error 1" means that
 * "lttng-probe-timer" failed.
 */
static void note_failed_probe(struct lttng_setup *setup, const char *line)
{
	const char *name = strstr(line, "probes/lttng-probe-");
	char *probe;

	if (!name || !strstr(name, ".o] Error ") || setup->num_failed == MAX_FAILED_PROBES)
		return;
	name += strlen("probes/");
	probe = setup->failed[setup->num_failed];
	snprintf(probe, sizeof(setup->failed[0]), "%.*s", (int)strcspn(name, "."), name);
	if (is_safe_in_command(probe))
		setup->num_failed++;
}

/*
 * Note an error without its directory. The line "/var/lib/dkms/.../timer.c:1:2: error:
 * conflicting types" becomes "timer.c:1:2: error: ...".
 */
static void note_error(struct lttng_setup *setup, char *line)
{
	char *name = line;

	if (*setup->error || !strstr(line, "rror: "))
		return;
	line[strcspn(line, "\n")] = '\0';
	for (char *at = line; *at && *at != ':'; at++)
		if (*at == '/')
			name = at + 1;
	snprintf(setup->error, sizeof(setup->error), "%s", name);
}

void lttng_setup_log_path(const struct lttng_setup *setup, char *path, int size)
{
	snprintf(path, size, DKMS_TREE "lttng-modules/%s/build/make.log", setup->source);
}

/* Read the log of the last build if its first line names the running kernel. */
static void read_build_log(struct lttng_setup *setup)
{
	char path[256], wanted[80], *line = NULL;
	size_t size = 0;
	FILE *file;

	lttng_setup_log_path(setup, path, sizeof(path));
	file = fopen(path, "re");
	if (!file)
		return;
	snprintf(wanted, sizeof(wanted), " kernel %s ", setup->kernel);
	setup->has_log = getline(&line, &size, file) > 0 && strstr(line, wanted);
	while (setup->has_log && getline(&line, &size, file) > 0) {
		note_failed_probe(setup, line);
		note_error(setup, line);
	}
	free(line);
	fclose(file);
}

void lttng_setup_find(struct lttng_setup *setup)
{
	struct utsname name;
	char path[256];

	*setup = (struct lttng_setup){ 0 };
	uname(&name);
	if (is_safe_in_command(name.release))
		snprintf(setup->kernel, sizeof(setup->kernel), "%s", name.release);
	snprintf(path, sizeof(path), "/lib/modules/%s/build/Makefile", setup->kernel);
	setup->has_headers = !access(path, F_OK);
	setup->has_apt = !access("/usr/bin/apt-get", X_OK) && !access("/usr/bin/dpkg", X_OK);
	setup->has_daemon = has_working_program("lttng-sessiond");
	setup->tracer = find_module("lttng-tracer");
	setup->probe = find_module("lttng-probe-netsync");
	find_path_part(SOURCES "*", strlen(SOURCES), setup->source, sizeof(setup->source));
	if (*setup->source && setup->tracer.presence < LOADABLE)
		read_build_log(setup);
	setup->is_unconfigured = is_package_unconfigured("lttng-modules-dkms");
	snprintf(path, sizeof(path), DKMS_TREE "netsync/*/%s/*/module/netsync-probes.ko*",
		 setup->kernel);
	find_path_part(path, strlen(DKMS_TREE "netsync/"), setup->netsync, sizeof(setup->netsync));
}

/* ---- what to do ---------------------------------------------------------------- */

static void plan_add_command(struct plan *plan, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void plan_add_command(struct plan *plan, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(plan->commands[plan->num++], sizeof(plan->commands[0]), format, args);
	va_end(args);
}

static void plan_set_reason(struct plan *plan, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void plan_set_reason(struct plan *plan, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(plan->reason, sizeof(plan->reason), format, args);
	va_end(args);
}

/* Plan to install missing programs, source and headers. */
static void plan_installing_packages(const struct lttng_setup *setup, struct plan *plan)
{
	const bool builds = setup->tracer.presence < LOADABLE;
	const bool needs_headers = builds && !setup->has_headers;
	const bool needs_source = builds && !*setup->source;

	if (setup->has_daemon && !needs_source && !needs_headers)
		return;
	plan_set_reason(plan, "Some packages are not installed.");
	plan_add_command(plan, "apt-get update");
	plan_add_command(plan, "apt-get install -y --no-install-recommends%s%s%s%s",
			 setup->has_daemon ? "" : " lttng-tools",
			 needs_source ? " lttng-modules-dkms" : "",
			 needs_headers ? " linux-headers-" : "",
			 needs_headers ? setup->kernel : "");
}

/* Plan to remove probes that do not compile from the source of LTTng's modules. */
static void plan_building_without_failed(const struct lttng_setup *setup, struct plan *plan)
{
	char path[128], names[MAX_FAILED_PROBES * sizeof(setup->failed[0])] = "";

	snprintf(path, sizeof(path), SOURCES "%s/src/probes/Kbuild", setup->source);
	for (unsigned int i = 0; i < setup->num_failed; i++) {
		const char *name = setup->failed[i];

		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 i ? ", " : "", name);
		/* Versions before 2.12 have no directory src/. */
		plan_add_command(plan, "sed -i '/%s\\.o/d' " SOURCES "%s/%sprobes/Kbuild", name,
				 setup->source, access(path, F_OK) ? "" : "src/");
		plan_add_command(plan, "sed -i '/\"%s\"/,/^i=/d' " SOURCES "%s/dkms.conf", name,
				 setup->source);
	}
	plan_set_reason(
		plan,
		"LTTng's modules %s do not compile for kernel %s because of %s. Without these probes they do; LTTng then lacks the events of these probes.",
		setup->source, setup->kernel, names);
}

static void plan_building_modules(const struct lttng_setup *setup, struct plan *plan)
{
	if (setup->num_failed)
		plan_building_without_failed(setup, plan);
	else
		plan_set_reason(plan, "dkms has not built LTTng's modules %s for kernel %s.",
				setup->source, setup->kernel);
	if (setup->is_unconfigured)
		plan_add_command(plan, "dpkg --configure -a");
	else
		plan_add_command(plan, "dkms install lttng-modules/%s -k %s", setup->source,
				 setup->kernel);
}

static void plan_rebuilding_netsync(const struct lttng_setup *setup, struct plan *plan)
{
	plan_set_reason(
		plan,
		"dkms built the netsync modules before LTTng's modules, and therefore without lttng-probe-netsync.");
	plan_add_command(plan, "dkms unbuild netsync/%s -k %s", setup->netsync, setup->kernel);
	plan_add_command(plan, "dkms install netsync/%s -k %s", setup->netsync, setup->kernel);
}

void lttng_setup_plan(const struct lttng_setup *setup, struct plan *plan)
{
	const bool builds = setup->tracer.presence < LOADABLE;

	plan->num = 0;
	if (!setup->has_apt || !*setup->kernel)
		return;
	/*
	 * Build the modules before installing packages, because apt-get fails while dpkg cannot
	 * configure a package.
	 */
	if (builds && *setup->source && setup->has_headers)
		plan_building_modules(setup, plan);
	else
		plan_installing_packages(setup, plan);
	if (!plan->num && *setup->netsync && setup->probe.presence < LOADABLE)
		plan_rebuilding_netsync(setup, plan);
}

bool lttng_setup_is_mendable(const struct lttng_setup *setup)
{
	struct plan plan;

	lttng_setup_plan(setup, &plan);
	return plan.num;
}
