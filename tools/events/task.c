// SPDX-License-Identifier: GPL-2.0-only
#include "task.h"

/* Names of fields. LTTng calls a thread's number tid; ftrace calls it pid. */
static const struct {
	const char *tid, *pid, *name;
} fields[] = {
	[TASK_SUBJECT] = { "tid", "pid", "comm" },
	[TASK_FROM] = { "prev_tid", "prev_pid", "prev_comm" },
	[TASK_TO] = { "next_tid", "next_pid", "next_comm" },
	[TASK_CHILD] = { "child_tid", "child_pid", "child_comm" },
	[TASK_DUMPED] = { "tid", "pid", "name" },
};

bool task_read(const struct event *event, enum task_role role, struct event_task *task)
{
	int64_t number;

	if ((!event->fields->integer(event, fields[role].tid, &number) &&
	     !event->fields->integer(event, fields[role].pid, &number)) ||
	    number < 0 || number > EVENT_MAX_TID)
		return false;
	*task = (struct event_task){
		number,
		event->fields->text(event, fields[role].name),
	};
	return true;
}

bool task_switch_read(const struct event *event, struct task_switch *change)
{
	return task_read(event, TASK_FROM, &change->from) &&
	       task_read(event, TASK_TO, &change->to) &&
	       event->fields->integer(event, "prev_state", &change->state);
}
