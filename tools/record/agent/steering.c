// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records how this machine's clock is steered if no event reports it. A process reads LTTng's
 * clock together with the raw clock, and the readings are sent before each answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "agent.h"
#include "common/child.h"
#include "common/clock-reading.h"
#include "common/now.h"
#include "common/signal.h"
#include "remote/protocol.h"

/* Time limit of the first reading, which is made immediately, ms. Chosen. */
#define FIRST_READING_MS 1000

static struct {
	pid_t process; /* 0 if not running */
	int readings;  /* pipe from the process */
} steering;

/*
 * Read the clocks until the process is ended. Readings are dropped if the pipe stays full, which
 * takes minutes. Steering is unknown for that time.
 */
static void read_clocks_forever(int to)
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
		/* Only the agent ends this process, which prints nothing. */
		set_ending_handlers(SIG_IGN);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[0]);
		if (getppid() == parent)
			read_clocks_forever(ends[1]);
		_exit(1);
	}
	close(ends[1]);
	steering.readings = ends[0];
	if (steering.process > 0) {
		/* Wait for the first reading, so that steering is known from here on. */
		poll(&(struct pollfd){ .fd = ends[0], .events = POLLIN }, 1, FIRST_READING_MS);
		return;
	}
	close(ends[0]);
	steering.process = 0;
}

static void add_int_member(struct json_object *object, const char *key, int64_t value)
{
	json_object_object_add(object, key, json_object_new_int64(value));
}

void steering_send_readings(void)
{
	struct clock_reading readings[PROTOCOL_CLOCKS];
	struct json_object *list, *line;
	size_t num = 0;

	if (!steering.process)
		return;
	while (num < PROTOCOL_CLOCKS &&
	       read(steering.readings, &readings[num], sizeof(*readings)) == sizeof(*readings))
		num++;
	/* Readings of a recording that stays on this host are not sent. */
	if (session_is_staying()) {
		stay_write_clock_readings(readings, num);
		return;
	}
	list = json_object_new_array();
	for (size_t i = 0; i < num; i++) {
		struct json_object *one = json_object_new_object();

		add_int_member(one, "time", readings[i].time_ns);
		add_int_member(one, "raw", readings[i].raw_ns);
		add_int_member(one, "within", readings[i].within_ns);
		json_object_array_add(list, one);
	}
	line = json_object_new_object();
	json_object_object_add(line, "clocks", list);
	agent_send(line);
}

void steering_end(void)
{
	if (!steering.process)
		return;
	kill(steering.process, SIGKILL);
	child_wait(steering.process);
	close(steering.readings);
	steering.process = 0;
}
