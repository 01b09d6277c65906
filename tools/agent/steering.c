// SPDX-License-Identifier: GPL-2.0-only
/*
 * How this machine's clock is steered, where no event tells: a process reads the
 * clock that LTTng takes beside the raw one, and who records is told what it read
 * before each answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"
#include "common/clock-reading.h"
#include "common/tool.h"
#include "remote/protocol.h"

static struct {
	pid_t process;		/* 0: there is none */
	int readings;		/* a pipe, from it */
} steering;

/* Readings that nobody takes for minutes are left out: then it is not known. */
static void read_on(int to)
{
	int64_t next = now_ns();
	struct clock_reading reading;

	while (clock_read_wait(&next))
		if (clock_read(CLOCK_MONOTONIC, CLOCK_TRIES, &reading) &&
		    write(to, &reading, sizeof(reading)) < 0 && errno != EAGAIN)
			break;
	_exit(0);
}

void steering_start(void)
{
	const pid_t parent = getpid();
	int ends[2];

	steering_end();
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return;
	steering.process = fork();
	if (!steering.process) {
		/* The agent ends it, and it is silent. */
		set_ends(SIG_IGN);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[0]);
		if (getppid() == parent)
			read_on(ends[1]);
		_exit(1);
	}
	close(ends[1]);
	steering.readings = ends[0];
	if (steering.process > 0)
		return;
	close(ends[0]);
	steering.process = 0;
}

static void add_member(struct json_object *object, const char *key, int64_t value)
{
	json_object_object_add(object, key, json_object_new_int64(value));
}

void steering_say(void)
{
	struct json_object *list, *line;
	struct clock_reading reading;

	if (!steering.process)
		return;
	list = json_object_new_array();
	while (json_object_array_length(list) < PROTOCOL_CLOCKS &&
	       read(steering.readings, &reading, sizeof(reading)) ==
		       sizeof(reading)) {
		struct json_object *one = json_object_new_object();

		add_member(one, "time", reading.time_ns);
		add_member(one, "raw", reading.raw_ns);
		add_member(one, "within", reading.within_ns);
		json_object_array_add(list, one);
	}
	line = json_object_new_object();
	json_object_object_add(line, "clocks", list);
	agent_say(line);
}

void steering_end(void)
{
	if (!steering.process)
		return;
	kill(steering.process, SIGKILL);
	waitpid(steering.process, NULL, 0);
	close(steering.readings);
	steering.process = 0;
}
