// SPDX-License-Identifier: GPL-2.0-only
/* netsync doctor checks kernel modules, LTTng, and the permissions to use them. */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <lttng/lttng.h>

#include <netsync.h>

#include "doctor.h"
#include "lttng-setup.h"
#include "module.h"

/* ---- kernel modules -------------------------------------------------------- */

static const char *get_presence_name(const struct module *module)
{
	static const char *const names[] = {
		[ABSENT] = "not installed",
		[FOR_OTHERS] = "not built for this kernel",
		[LOADABLE] = "can be loaded",
		[LOADED] = "loaded",
	};

	return names[module->presence];
}

#define FIX_LTTNG "Run \"netsync doctor --fix lttng\" as root"

/* Advise how to build a module of netsync that the running kernel lacks. */
static void advise_to_build(struct diagnosis *diag, const struct module *module)
{
	if (module->presence == FOR_OTHERS)
		set_advice(
			diag,
			"The module is installed for %s. Install the headers of this kernel, and dkms builds it; if dkms does not have it (\"dkms status\"), install netsync-dkms, or run \"make dkms-install\" in the source of netsync.",
			module->others);
	else
		set_advice(
			diag,
			"Install netsync-dkms and the headers of this kernel; or run \"make dkms-install\" or \"make modules modules_install\" in the source of netsync.");
}

/* Advise how to get LTTng's probe if netsync-probes exists only for ftrace. */
static void advise_to_probe(struct diagnosis *diag, const struct module *probe)
{
	struct lttng_setup setup;

	lttng_setup_find(&setup);
	if (!*setup.netsync)
		advise_to_build(diag, probe);
	else if (lttng_setup_is_mendable(&setup))
		set_advice(diag, FIX_LTTNG);
	else
		set_advice(
			diag,
			"dkms also builds it after it has built LTTng's modules for this kernel; then run: dkms unbuild netsync/%s; dkms install netsync/%s",
			setup.netsync, setup.netsync);
}

#define FALL_BACK "LTTng's own network events work, with larger error bounds"

/*
 * Check netsync-probes without LTTng. ftrace's own events have no addresses, so netsync cannot
 * use them.
 */
static void check_probes_alone(struct diagnosis *diag, const struct module *probes)
{
	if (probes->presence < LOADABLE) {
		add_finding(diag, VERDICT_WRONG,
			    "netsync-probes is %s; ftrace's own network events cannot be used.",
			    get_presence_name(probes));
		advise_to_build(diag, probes);
	} else if (is_module_refused(probes)) {
		add_finding(
			diag, VERDICT_WRONG,
			"netsync-probes is not signed, and this kernel loads only signed modules.");
		set_advice(diag, "Sign it; see \"Secure Boot\" in netsync's INSTALL.md.");
	} else {
		add_finding(diag, VERDICT_GOOD, "netsync-probes: %s.", get_presence_name(probes));
		if (probes->presence == LOADABLE)
			set_advice(diag, "Before recording, run as root: modprobe netsync-probes");
	}
}

void check_netsync_modules(struct diagnosis *diag)
{
	const struct module probes = find_module("netsync-probes");
	const struct module lttng = find_module("lttng-probe-netsync");

	if (diag->job == JOB_TRACE_CMD) {
		check_probes_alone(diag, &probes);
		return;
	}
	if (probes.presence < LOADABLE) {
		add_finding(diag, VERDICT_NOTE, "netsync-probes is %s: " FALL_BACK ".",
			    get_presence_name(&probes));
		advise_to_build(diag, &probes);
	} else if (lttng.presence < LOADABLE) {
		add_finding(
			diag, VERDICT_NOTE,
			"netsync-probes is %s, for ftrace and perf; lttng-probe-netsync is %s: " FALL_BACK
			".",
			probes.presence == LOADED ? "loaded" : "installed",
			get_presence_name(&lttng));
		advise_to_probe(diag, &lttng);
	} else if (is_module_refused(&probes) || is_module_refused(&lttng)) {
		add_finding(
			diag, VERDICT_NOTE,
			"netsync-probes and lttng-probe-netsync are not signed, and this kernel loads only signed modules: " FALL_BACK
			".");
		set_advice(diag, "Sign them; see \"Secure Boot\" in netsync's INSTALL.md.");
	} else {
		add_finding(diag, VERDICT_GOOD, "netsync-probes: %s; lttng-probe-netsync: %s.",
			    get_presence_name(&probes), get_presence_name(&lttng));
	}
}

static void explain_missing_tracer(struct diagnosis *diag, const struct module *tracer)
{
	struct lttng_setup setup;

	lttng_setup_find(&setup);
	if (*setup.error)
		add_finding(
			diag, VERDICT_WRONG,
			"The kernel tracer (lttng-tracer) is %s: LTTng's modules %s do not compile for it (%s).",
			get_presence_name(tracer), setup.source, setup.error);
	else
		add_finding(diag, VERDICT_WRONG, "The kernel tracer (lttng-tracer) is %s%s%s%s.",
			    get_presence_name(tracer), *tracer->others ? ", only for " : "",
			    tracer->others,
			    setup.is_unconfigured ?
				    "; dpkg could not configure lttng-modules-dkms" :
				    "");
	if (!setup.has_apt)
		set_advice(
			diag,
			"Install LTTng's modules (Debian: lttng-modules-dkms) and the headers of this kernel.");
	else if (*setup.source)
		set_advice(diag, FIX_LTTNG);
	else
		set_advice(diag, FIX_LTTNG
			   ", which installs lttng-modules-dkms and the headers of this kernel.");
}

void check_lttng_modules(struct diagnosis *diag)
{
	const struct module tracer = find_module("lttng-tracer");

	if (is_module_refused(&tracer)) {
		add_finding(
			diag, VERDICT_WRONG,
			"The kernel tracer (lttng-tracer) is not signed, and this kernel loads only signed modules.");
		set_advice(
			diag,
			"Sign LTTng's modules: dkms signs them with its key, after \"mokutil --import /var/lib/dkms/mok.pub\" has been confirmed.");
	} else if (tracer.presence >= LOADABLE) {
		add_finding(diag, VERDICT_GOOD, "The kernel tracer%s%s: %s.",
			    *tracer.version ? " " : "", tracer.version, get_presence_name(&tracer));
	} else {
		explain_missing_tracer(diag, &tracer);
	}
}

/* ---- LTTng's programs --------------------------------------------------------- */

static void check_program_version(struct diagnosis *diag, char *name, const char *advice)
{
	char *const argv[] = { name, "--version", NULL };
	int status;
	char *text = run_and_read_program(argv, &status);

	if (text && !status) {
		add_finding(diag, VERDICT_GOOD, "%s %s.", name, find_version_word(text));
	} else {
		add_finding(diag, VERDICT_WRONG, "Cannot run %s: %s.", name,
			    text ? "it failed" : strerror(errno));
		set_advice(diag, "%s", advice);
	}
	free(text);
}

void check_lttng_tools(struct diagnosis *diag)
{
	check_program_version(diag, "lttng-sessiond", "Install lttng-tools.");
}

/* Check the relay daemon, which receives traces over the network. */
void check_relay_daemon(struct diagnosis *diag)
{
	check_program_version(diag, "lttng-relayd", "Install lttng-tools, or record with --pull.");
}

/* ---- other programs ------------------------------------------------------------ */

/*
 * Does the program print its version? The exit status is ignored, because programs such as
 * trace-cmd exit with any value.
 */
static bool find_program_version(struct diagnosis *diag, char *name, const char *does)
{
	char *const argv[] = { name, "--version", NULL };
	int status;
	char *text = run_and_read_program(argv, &status);
	bool has_version = text && strstr(text, "version");

	if (has_version)
		add_finding(diag, VERDICT_GOOD, "%s %s %s.", name, find_version_word(text), does);
	free(text);
	return has_version;
}

void check_packet_captures(struct diagnosis *diag)
{
	add_finding(diag, VERDICT_GOOD,
		    "netsync " NETSYNC_VERSION
		    " synchronizes captures and other existing traces; nothing else is needed.");
	if (find_program_version(diag, "tcpdump", "can capture here"))
		return;
	add_finding(diag, VERDICT_NOTE,
		    "tcpdump is not installed, so it cannot capture packets here.");
	set_advice(diag, "To capture the packets of this machine, install tcpdump.");
}

void check_trace_cmd(struct diagnosis *diag)
{
	if (!find_program_version(diag, "trace-cmd", "is installed")) {
		add_finding(diag, VERDICT_WRONG, "trace-cmd is not installed.");
		set_advice(diag, "Install trace-cmd.");
	}
	if (geteuid())
		add_finding(diag, VERDICT_NOTE,
			    "Only root can record with trace-cmd, and this user is not root.");
}

/* ---- the session daemon ---------------------------------------------------- */

/* Socket of root's daemon, which is the only one that traces the kernel. */
static const struct sockaddr_un daemon_socket = {
	.sun_family = AF_UNIX,
	.sun_path = "/var/run/lttng/client-lttng-sessiond",
};

/*
 * Return 0 or the errno value of connecting. Try LTTng's library first, because recording uses
 * it, and it may know another socket. However, the library does not report why it fails.
 */
static int try_session_daemon(void)
{
	int sock, error = EACCES;

	if (lttng_session_daemon_alive() == 1)
		return 0;
	sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sock < 0)
		return errno;
	if (connect(sock, (const struct sockaddr *)&daemon_socket, sizeof(daemon_socket)))
		error = errno;
	close(sock);
	return error;
}

void check_session_daemon(struct diagnosis *diag)
{
	int error = try_session_daemon();

	switch (error) {
	case 0:
		add_finding(diag, VERDICT_GOOD, "lttng-sessiond is running.");
		break;
	case EACCES:
	case EPERM:
		add_finding(
			diag, VERDICT_NOTE,
			"Cannot tell whether lttng-sessiond answers: this user may not connect to its socket.");
		break;
	case ENOENT:
	case ENOTDIR:
	case ECONNREFUSED:
		add_finding(diag, VERDICT_WRONG, "lttng-sessiond is not running%s.",
			    error == ECONNREFUSED ? " any more" : "");
		set_advice(diag, "Run as root: lttng-sessiond --daemonize");
		break;
	default:
		add_finding(diag, VERDICT_WRONG, "lttng-sessiond does not answer at %s: %s.",
			    daemon_socket.sun_path, strerror(error));
		set_advice(diag, "Restart it, as root: lttng-sessiond --daemonize");
	}
}

/* ---- the tracing group --------------------------------------------------------- */

static bool is_process_in_group(gid_t group)
{
	int num = getgroups(0, NULL);
	gid_t *groups = num > 0 ? calloc(num, sizeof(*groups)) : NULL;
	bool in = getegid() == group;

	num = groups ? getgroups(num, groups) : 0;
	for (int i = 0; i < num; i++)
		in |= groups[i] == group;
	free(groups);
	return in;
}

/* Will the user be in the group after the next login? */
static bool is_member_of_group(const struct group *group, const char *user)
{
	for (char **member = group->gr_mem; *member; member++)
		if (!strcmp(*member, user))
			return true;
	return false;
}

void check_tracing_group(struct diagnosis *diag)
{
	const struct passwd *entry = getpwuid(geteuid());
	const char *user = entry ? entry->pw_name : "this user";
	const struct group *group;

	if (!geteuid()) {
		add_finding(diag, VERDICT_GOOD, "Not needed: this is root.");
		return;
	}
	group = getgrnam("tracing");
	if (!group) {
		add_finding(diag, VERDICT_WRONG,
			    "The group tracing does not exist, so only root can record.");
		set_advice(
			diag,
			"As root: groupadd --system tracing; usermod -aG tracing %s; then restart lttng-sessiond, and log in again.",
			user);
	} else if (is_process_in_group(group->gr_gid)) {
		add_finding(diag, VERDICT_GOOD, "%s is in the group %s.", user, group->gr_name);
	} else if (is_member_of_group(group, user)) {
		add_finding(diag, VERDICT_WRONG,
			    "%s is in the group %s, but not in this login session.", user,
			    group->gr_name);
		set_advice(diag, "Log in again, or run: newgrp %s", group->gr_name);
	} else {
		add_finding(diag, VERDICT_WRONG,
			    "%s is not in the group %s, so only root can record.", user,
			    group->gr_name);
		set_advice(diag, "As root: usermod -aG %s %s; then log in again.", group->gr_name,
			   user);
	}
}

/* ---- events ------------------------------------------------------------------ */

/* Does the output of lttng list have a line "name (...)"? */
static bool has_listed_event(const char *list, const char *name)
{
	const size_t length = strlen(name);

	for (const char *at = list; (at = strstr(at, name)); at += length)
		if (at > list && at[-1] == ' ' && at[length] == ' ')
			return true;
	return false;
}

static void check_event_list(struct diagnosis *diag, const char *list)
{
	if (has_listed_event(list, "inet_sock_local_in") &&
	    has_listed_event(list, "inet_sock_local_out")) {
		add_finding(diag, VERDICT_GOOD, "LTTng has the netsync events.");
	} else if (has_listed_event(list, "net_dev_queue") &&
		   has_listed_event(list, "net_if_receive_skb")) {
		add_finding(
			diag, VERDICT_NOTE,
			"LTTng has its own network events, but not those of netsync; they work, with larger error bounds.");
		if (find_module("lttng-probe-netsync").presence >= LOADABLE)
			set_advice(
				diag,
				"Run as root: modprobe lttng-probe-netsync (put netsync.conf into /etc/modprobe.d to have lttng-sessiond do so)");
	} else {
		add_finding(diag, VERDICT_WRONG,
			    "LTTng has neither the netsync events nor its own network events.");
		set_advice(
			diag,
			"Run as root: modprobe lttng-probe-netsync, or modprobe lttng-probe-net; lttng-sessiond loads them itself without --kmod-probes.");
	}
}

/* Check the events of ftrace and perf, which need root but no daemon. */
static void check_ftrace(struct diagnosis *diag)
{
	static const char *const folders[] = {
		"/sys/kernel/tracing/events/",
		"/sys/kernel/debug/tracing/events/",
	};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		char path[128];

		if (access(folders[i], F_OK))
			continue;
		snprintf(path, sizeof(path), "%snetsync/inet_sock_local_in", folders[i]);
		add_finding(diag, VERDICT_GOOD, "ftrace has %s.",
			    access(path, F_OK) ? "network events (net), but not those of netsync" :
						 "the netsync events");
		return;
	}
	add_finding(diag, VERDICT_NOTE, "Cannot list the events of ftrace: %s.",
		    geteuid() ? "this requires root" : "tracefs is not mounted");
}

void check_netsync_events(struct diagnosis *diag)
{
	char *const argv[] = { "lttng", "--no-sessiond", "list", "--kernel", NULL };
	char *list = NULL;
	int status;

	check_ftrace(diag);
	if (diag->job != JOB_LTTNG)
		return;
	if (try_session_daemon()) {
		add_finding(diag, VERDICT_NOTE,
			    "Cannot list the events of LTTng: no session daemon answers.");
		return;
	}
	list = run_and_read_program(argv, &status);
	if (!list) {
		add_finding(diag, VERDICT_NOTE,
			    "Cannot list the events of LTTng: cannot run lttng: %s.",
			    strerror(errno));
		set_advice(diag, "Install lttng-tools.");
	} else if (status) {
		add_finding(diag, VERDICT_WRONG, "lttng-sessiond lists no kernel events: %.*s.",
			    (int)strcspn(list, "\n"), list);
		set_advice(
			diag,
			"If the kernel tracer can be loaded, restart lttng-sessiond as root, and read its output with --verbose.");
	} else {
		check_event_list(diag, list);
	}
	free(list);
}
