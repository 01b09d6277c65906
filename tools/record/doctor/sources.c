// SPDX-License-Identifier: GPL-2.0-only
/*
 * netsync doctor checks hosts on which netsync is not installed. A shell reads a script from its
 * standard input, as for captures (record/capture-script.c), and prints facts. The script writes
 * nothing on the host, except a file that tests whether programs can be run, which it removes.
 */
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/complain.h"
#include "doctor.h"
#include "sources.h"

/* Time limit for the shells of all hosts, ns; the same as for the greetings of agents. Chosen. */
#define FACTS_NS (120 * INT64_C(1000000000))
/* Maximum size of a fact's line and of the whole output, bytes. Chosen. */
#define FACT_LINE 256
#define FACTS_SIZE (1 << 16)
#define FACT_WORD "netsync "

/* The capabilities that netsync-recorder needs for BPF exist from Linux 5.8 on. */
#define BPF_CAPS (UINT64_C(1) << CAP_BPF | UINT64_C(1) << CAP_PERFMON)
#define ADMIN_CAP (UINT64_C(1) << CAP_SYS_ADMIN)
#define RAW_CAP (UINT64_C(1) << CAP_NET_RAW)
#define PTRACE_CAP (UINT64_C(1) << CAP_SYS_PTRACE)
/* The initial process namespace, as readlink(1) prints it (PROC_PID_INIT_INO of Linux). */
#define INITIAL_PROCESSES "pid:[4026531836]"

static const char facts_script[] =
	"{\n"
	"set -f\n"
	"umask 077\n"
	"LC_ALL=C; export LC_ALL\n"
	"PATH=$PATH:/usr/sbin:/sbin\n"
	"say() { printf 'netsync %s\\n' \"$*\"; }\n"
	"say arch $(uname -m)\n"
	"say release $(uname -r)\n"
	"say caps $(sed -n 's/^CapEff:[^0-9a-f]*//p' /proc/self/status 2>/dev/null)\n"
	"say processes $(readlink /proc/self/ns/pid 2>/dev/null)\n"
	"say lockdown $(cat /sys/kernel/security/lockdown 2>/dev/null)\n"
	"[ -r /sys/kernel/btf/vmlinux ] && say btf\n"
	"command -v tcpdump >/dev/null && say tcpdump\n"
	"{ [ -d /sys/module/netsync_probes ] || modinfo -n netsync-probes; } >/dev/null 2>&1 &&\n"
	"	say module\n"
	"command -v lttng-sessiond >/dev/null && say lttng-sessiond\n"
	"{ [ -d /sys/module/lttng_tracer ] || modinfo -n lttng-tracer; } >/dev/null 2>&1 &&\n"
	"	say lttng-modules\n" CAPTURE_FIND_PLACE "[ -n \"$place\" ] && say exec\n"
	"say end\n"
	"}\n";

/* ---- facts ------------------------------------------------------------------------ */

/* Copy a text from a host, unless it is too long. */
static void copy_fact(char *to, size_t size, const char *text)
{
	if (strlen(text) < size)
		strcpy(to, text);
}

void host_facts_handle_line(struct host_facts *facts, const char *line)
{
	struct {
		const char *name;
		bool *is;
	} const flags[] = {
		{ "btf", &facts->has_btf },
		{ "tcpdump", &facts->has_tcpdump },
		{ "module", &facts->has_module },
		{ "lttng-sessiond", &facts->has_session_daemon },
		{ "lttng-modules", &facts->has_lttng_modules },
		{ "exec", &facts->can_execute },
		{ "end", &facts->is_complete },
	};

	if (!strncmp(line, "arch ", 5))
		copy_fact(facts->arch, sizeof(facts->arch), line + 5);
	else if (!strncmp(line, "release ", 8))
		copy_fact(facts->release, sizeof(facts->release), line + 8);
	else if (!strncmp(line, "lockdown ", 9))
		copy_fact(facts->lockdown, sizeof(facts->lockdown), line + 9);
	else if (!strncmp(line, "processes ", 10))
		facts->sees_processes = !strcmp(line + 10, INITIAL_PROCESSES);
	else if (!strncmp(line, "caps ", 5))
		facts->caps = strtoull(line + 5, NULL, 16);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		*flags[i].is |= !strcmp(line, flags[i].name);
}

/* ---- findings --------------------------------------------------------------------- */

/* Reasons why a source cannot be used, separated by commas. */
struct reasons {
	char text[512];
	size_t length;
};

static void add_reason(struct reasons *reasons, bool applies, const char *reason)
{
	const size_t left = sizeof(reasons->text) - reasons->length;
	int length;

	if (!applies)
		return;
	length = snprintf(reasons->text + reasons->length, left, "%s%s",
			  reasons->length ? ", " : "", reason);
	reasons->length += length < (int)left ? (size_t)length : left - 1;
}

/* Add a finding about a source. Return true if there is no reason against the source. */
static bool judge_source(struct diagnosis *diag, const char *name, const char *gives,
			 const struct reasons *reasons)
{
	if (reasons->length)
		add_finding(diag, VERDICT_NOTE, "%s cannot be used: %s.", name, reasons->text);
	else
		add_finding(diag, VERDICT_GOOD, "%s can be used: %s.", name, gives);
	return !reasons->length;
}

static bool is_before_5_8(const char *release)
{
	int major = 0, minor = 0;

	return sscanf(release, "%d.%d", &major, &minor) == 2 &&
	       (major < 5 || (major == 5 && minor < 8));
}

/* Can --container and --pod find containers? This needs the namespaces of other users' processes. */
static void judge_containers(const struct host_facts *facts, struct diagnosis *diag)
{
	struct reasons reasons = { .length = 0 };

	add_reason(&reasons, !(facts->caps & PTRACE_CAP),
		   "the user is not root and lacks CAP_SYS_PTRACE");
	add_reason(
		&reasons, !facts->sees_processes,
		"the shell does not run in the process namespace of the host (in Kubernetes, hostPID: true)");
	if (reasons.length)
		add_finding(diag, VERDICT_NOTE,
			    "Containers cannot be selected by --container or --pod: %s.",
			    reasons.text);
	else
		add_finding(diag, VERDICT_GOOD,
			    "Containers can be selected by --container and --pod.");
}

void host_facts_judge(struct host_facts *facts, bool has_recorder, struct diagnosis *diag)
{
	const bool is_admin = facts->caps & ADMIN_CAP;
	const char *const all = "packets of all network namespaces, before offloads";
	struct reasons lttng = { .length = 0 }, module, bpf, packet = lttng, tcpdump = lttng;

	diag->check = "sources";
	add_reason(&lttng, true, "netsync is not installed (package netsync-record)");
	add_reason(&lttng, !facts->has_session_daemon, "there is no lttng-sessiond");
	add_reason(&lttng, !facts->has_lttng_modules, "the running kernel has no modules of LTTng");
	add_reason(&packet, !has_recorder,
		   "this machine has no netsync-recorder for that architecture");
	add_reason(&packet, !facts->can_execute,
		   "all directories for a program are mounted noexec");
	module = bpf = packet;
	add_reason(&module, !facts->has_module,
		   "netsync's module is not installed for the running kernel");
	add_reason(&module, !is_admin, "the user is not root");
	add_reason(&packet, !(facts->caps & RAW_CAP), "the user is not root and lacks CAP_NET_RAW");
	add_reason(&bpf, is_before_5_8(facts->release), "the kernel is older than 5.8");
	add_reason(&bpf, !facts->has_btf, "the kernel has no BTF (/sys/kernel/btf/vmlinux)");
	add_reason(&bpf, strstr(facts->lockdown, "[confidentiality]"),
		   "the kernel is locked down (confidentiality)");
	add_reason(&bpf, !is_admin && (facts->caps & BPF_CAPS) != BPF_CAPS,
		   "the user is not root and lacks CAP_BPF and CAP_PERFMON");
	add_reason(&tcpdump, !facts->has_tcpdump, "it is not installed");
	add_reason(&tcpdump, !(facts->caps & RAW_CAP),
		   "the user is not root and lacks CAP_NET_RAW");
	judge_source(diag, "lttng", "", &lttng);
	facts->can_use[VIA_MODULE] = judge_source(diag, "module", all, &module);
	facts->can_use[VIA_BPF] = judge_source(diag, "bpf", all, &bpf);
	facts->can_use[VIA_PACKET] = judge_source(diag, "packet",
						  "packets of one network namespace", &packet);
	facts->can_use[VIA_TCPDUMP] = judge_source(
		diag, "tcpdump",
		"packets of one network namespace, but not how the clock is steered", &tcpdump);
	if (facts->can_use[VIA_MODULE] || facts->can_use[VIA_BPF] || facts->can_use[VIA_PACKET])
		judge_containers(facts, diag);
	for (unsigned int via = VIA_MODULE; via <= VIA_TCPDUMP; via++)
		if (facts->can_use[via])
			return;
	add_finding(diag, VERDICT_WRONG, "Nothing can be recorded there (%s, Linux %s).",
		    facts->arch, facts->release);
	if (!(facts->caps & RAW_CAP))
		set_advice(diag, "Reach the host as root, such as with --host root@%s.",
			   diag->host);
}

/* ---- connections ------------------------------------------------------------------ */

/*
 * The shells of all hosts. The remotes are a member, so that their callbacks can find the
 * structure.
 */
struct shells {
	struct remotes all;
	struct host_facts *facts; /* in the order of all.list */
};

static void start_facts_shell(const struct remote *remote)
{
	remote_exec_ssh(remote, "exec /bin/sh");
}

static struct host_facts *find_facts(const struct remote *remote)
{
	const struct shells *shells = (void *)((char *)remote->all - offsetof(struct shells, all));
	unsigned int i = 0;

	while (shells->all.list[i] != remote)
		i++;
	return &shells->facts[i];
}

static void hear_facts(struct remote *remote)
{
	struct host_facts *facts = find_facts(remote);
	char line[FACT_LINE], *end;

	while ((end = memchr(remote->in.data, '\n', remote->in.len))) {
		const size_t length = end - remote->in.data;

		snprintf(line, sizeof(line), "%.*s", (int)length, remote->in.data);
		if (!strncmp(line, FACT_WORD, strlen(FACT_WORD)) && length < sizeof(line))
			host_facts_handle_line(facts, line + strlen(FACT_WORD));
		buffer_drop(&remote->in, length + 1);
		if (facts->is_complete)
			break;
	}
	if (facts->is_complete) {
		remote_end_input(remote, 0);
		remote->asked = 0;
	} else if (remote->in.len > FACTS_SIZE) {
		remote_disconnect(remote);
	}
}

static void end_facts_shell(struct remote *remote, int status)
{
	(void)remote;
	(void)status;
}

static const struct remote_work facts_work = {
	.start = start_facts_shell,
	.hear = hear_facts,
	.end = end_facts_shell,
};

bool add_same_remote(struct remotes *shells, const struct remote *remote)
{
	const char *host = strrchr(remote->destination, '@');
	char *text;
	bool ok;

	host = host ? host + 1 : remote->destination;
	if (asprintf(&text, "%.*s%s%s%s%s", (int)(host - remote->destination), remote->destination,
		     remote->port ? "[" : "", host, remote->port ? "]:" : "",
		     remote->port ? remote->port : "") < 0)
		return complain_no_memory();
	ok = remotes_add(shells, text);
	free(text);
	return ok;
}

static void judge_shells(struct shells *shells, struct diagnosis **diags)
{
	for (unsigned int i = 0; i < shells->all.num; i++) {
		struct host_facts *facts = &shells->facts[i];
		char *path;

		if (!facts->is_complete) {
			diags[i]->check = "sources";
			add_finding(diags[i], VERDICT_WRONG, "Its shell does not answer.");
			continue;
		}
		path = capture_make_path_of_recorder(facts->arch);
		host_facts_judge(facts, path && !access(path, R_OK), diags[i]);
		free(path);
	}
}

void examine_sources(const struct remotes *all, struct diagnosis *diags, int64_t time_ns,
		     struct diagnosis *between)
{
	struct shells shells = {
		.all = { .work = &facts_work, .repeats = true, .stop = all->stop }
	};
	struct diagnosis **of = calloc(all->num, sizeof(struct diagnosis *));

	shells.facts = calloc(all->num, sizeof(*shells.facts));
	for (unsigned int i = 0; of && shells.facts && i < all->num; i++)
		if (all->list[i]->lacks_netsync && add_same_remote(&shells.all, all->list[i]))
			of[shells.all.num - 1] = &diags[i];
	for (unsigned int i = 0; i < shells.all.num; i++)
		remote_send(shells.all.list[i], facts_script, strlen(facts_script));
	if (shells.all.num) {
		remotes_connect(&shells.all);
		judge_shells(&shells, of);
		remotes_close(&shells.all);
		for (unsigned int via = VIA_MODULE; via < VIA_TCPDUMP; via++)
			measure_source(&shells.all, shells.facts, via, time_ns, of, between);
	}
	remotes_free(&shells.all);
	free(shells.facts);
	free(of);
}
