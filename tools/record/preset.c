// SPDX-License-Identifier: GPL-2.0-only
/* The events to record, given as names or as lists of names for a purpose. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/complain.h"
#include "record.h"

/*
 * Events that show what each thread waited for: which threads ran and were woken, and which
 * interrupts, timers, disk accesses and packets occurred. netsync path reads them
 * (path/follow.c), as does the critical path analysis of Trace Compass. Trace Compass matches
 * inet_sock_local_* events with each other and LTTng's own packet events with each other. It
 * ignores inet_dev_*, which the agent adds where available.
 */
static const char critical_path[] =
	"sched_switch,sched_wakeup,sched_wakeup_new,sched_waking,"
	"sched_process_fork,sched_process_exec,sched_process_exit,sched_process_free,"
	"sched_migrate_task,sched_pi_setprio,"
	"irq_handler_entry,irq_handler_exit,"
	"irq_softirq_raise,irq_softirq_entry,irq_softirq_exit,"
	"x86_irq_vectors_*,"
	"timer_hrtimer_expire_entry,timer_hrtimer_expire_exit,"
	"block_rq_insert,block_rq_issue,block_rq_complete,"
	"inet_sock_local_in,inet_sock_local_out,net_dev_queue,net_if_receive_skb,"
	"lttng_statedump_*";

const char *const preset_names[] = { "net", "critical-path", NULL };

/* The presets, in the order of their names. */
static const struct {
	const char *events;
	bool syscalls;
} presets[] = {
	{ "", false },
	{ critical_path, true },
};

#define NUM_PRESETS (sizeof(presets) / sizeof(presets[0]))

static void add_event_patterns(struct events *events, const char *list)
{
	while (*list) {
		const size_t len = strcspn(list, ",");

		if (len)
			json_object_array_add(events->patterns,
					      json_object_new_string_len(list, len));
		list += len + (list[len] == ',');
	}
}

/*
 * Add the patterns in a file, which has one name on each line. "syscalls" and "ust" have the
 * same effect as the options.
 */
static bool add_preset_patterns(struct events *events, const char *path)
{
	FILE *file = fopen(path, "r");
	char line[512];

	if (!file) {
		if (errno == ENOENT && !strchr(path, '/'))
			complain("--preset %s: no such file; the presets are net and critical-path.",
				 path);
		else
			complain("--preset %s: %s.", path, strerror(errno));
		return false;
	}
	while (fgets(line, sizeof(line), file)) {
		char *name = line + strspn(line, " \t");

		name[strcspn(name, "# \t\r\n")] = '\0';
		if (!strcmp(name, "syscalls"))
			events->syscalls = true;
		else if (!strcmp(name, "ust"))
			events->user = true;
		else
			add_event_patterns(events, name);
	}
	fclose(file);
	return true;
}

bool parse_events_option(void *at, const struct option_row *row, const char *list)
{
	(void)row;
	add_event_patterns(at, list);
	return true;
}

bool parse_preset_option(void *at, const struct option_row *row, const char *name)
{
	struct events *events = at;

	(void)row;
	for (size_t i = 0; i < NUM_PRESETS; i++) {
		if (strcmp(name, preset_names[i]))
			continue;
		add_event_patterns(events, presets[i].events);
		events->syscalls |= presets[i].syscalls;
		return true;
	}
	return add_preset_patterns(events, name);
}
