// SPDX-License-Identifier: GPL-2.0-only
/* Records and commands between a process and its worker: none is lost, and nobody waits for ever. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "../lib/test.h"
#include "io/worker/worker.h"

/* More than the sockets of both directions take, bytes (Linux: net.core.wmem_default). */
#define MUCH (8 << 20)
#define COMMAND 1000 /* bytes of one */
#define COMMANDS (MUCH / COMMAND)

enum what { FILLER, HEARD, ALL };

static struct worker_task task = {
	.limits = { .timer = ITIMER_REAL, .seconds = 60, .memory = UINT64_C(1) << 40 },
};

struct came {
	size_t filler; /* bytes */
	uint32_t heard;
	bool waiting;
};

static int use(void *data, const struct worker_head *head, const void *payload)
{
	struct came *came = data;
	uint32_t number;

	switch ((enum what)head->what) {
	case FILLER:
		came->filler += head->size;
		return 0;
	case HEARD:
		memcpy(&number, payload, sizeof(number));
		assert_int_equal(number, came->heard);
		came->heard++;
		return 0;
	case ALL:
		came->waiting = false;
		return 1;
	}
	fail();
	return -1;
}

/* Writes before it hears, and says what it has heard. */
static void write_and_hear(const void *data)
{
	char filler[WORKER_MAX_SIZE] = { 0 }, command[COMMAND];

	(void)data;
	for (size_t done = 0; done < MUCH; done += sizeof(filler))
		worker_put(FILLER, 0, filler, sizeof(filler));
	for (int i = 0; i < COMMANDS; i++) {
		worker_hear(command, sizeof(command));
		worker_put(HEARD, 0, command, sizeof(uint32_t));
	}
	worker_put(ALL, 0, NULL, 0);
}

/* Start a worker, and tell it all commands, which are numbered. */
static void tell_all(struct worker *worker, void (*run)(const void *data))
{
	char command[COMMAND] = { 0 };

	task.run = run;
	assert_int_equal(worker_start(worker, &task, NULL), 0);
	for (uint32_t i = 0; i < COMMANDS; i++) {
		memcpy(command, &i, sizeof(i));
		worker_tell(worker, command, sizeof(command));
	}
}

static void test_commands(void **state)
{
	struct came came = { .waiting = true };
	struct worker worker;

	(void)state;
	tell_all(&worker, write_and_hear);
	assert_int_equal(worker_receive_while(&worker, &came.waiting, use, &came), 1);
	assert_int_equal(came.filler, MUCH);
	assert_int_equal(came.heard, COMMANDS);
	worker_stop(&worker);
}

static void hear_one(const void *data)
{
	char command[COMMAND];

	(void)data;
	worker_hear(command, sizeof(command));
	raise(SIGKILL);
}

/* What it did not hear stops nobody. */
static void test_killed(void **state)
{
	struct came came = { .waiting = true };
	struct worker worker;

	(void)state;
	tell_all(&worker, hear_one);
	assert_int_equal(worker_receive_while(&worker, &came.waiting, use, &came), 0);
	assert_true(worker_was_killed(worker_stop(&worker)));
	/* There is none any more. */
	assert_int_equal(worker_receive_while(&worker, &came.waiting, use, &came), 0);
	assert_int_equal(worker_stop(&worker), 0);
	assert_false(worker_was_killed(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_killed),
	};

	return cmocka_run_group_tests_name("worker", tests, NULL, NULL);
}
