// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exchange records and commands between a process and its worker. None may be lost, and neither
 * process may wait forever.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "../lib/test.h"
#include "io/worker/worker.h"

/*
 * Number of bytes that exceeds the socket buffers of both directions (Linux:
 * net.core.wmem_default).
 */
#define MUCH (8 << 20)
#define COMMAND 1000 /* size of one command, bytes */
#define COMMANDS (MUCH / COMMAND)

enum what { FILLER, HEARD, ALL };

static struct worker_task task = {
	.limits = { .timer = ITIMER_REAL, .seconds = 60, .memory = UINT64_C(1) << 40 },
};

/* The longest time to wait for a worker without progress, ms. */
static int64_t limit_ms = 60000;

static bool is_worker_wait_over(void *data, int64_t silent_ms)
{
	(void)data;
	return silent_ms >= limit_ms;
}

static const struct worker_patience waits = { is_worker_wait_over, NULL };

struct came {
	size_t filler; /* bytes */
	uint32_t heard;
	bool waiting;
};

static int check_worker_record(void *data, const struct worker_head *head, const void *payload)
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

/* Write all records before reading any command; then report each command that was read. */
static void write_and_hear(const void *data)
{
	char filler[WORKER_MAX_SIZE] = { 0 }, command[COMMAND];

	(void)data;
	for (size_t done = 0; done < MUCH; done += sizeof(filler))
		worker_put(FILLER, 0, filler, sizeof(filler));
	for (int i = 0; i < COMMANDS; i++) {
		worker_read_command(command, sizeof(command));
		worker_put(HEARD, 0, command, sizeof(uint32_t));
	}
	worker_put(ALL, 0, NULL, 0);
}

/* Start a worker and send all commands to it. Commands are numbered. */
static void send_all_commands(struct worker *worker, void (*run)(const void *data))
{
	char command[COMMAND] = { 0 };

	task.run = run;
	assert_int_equal(worker_start(worker, &task, NULL), 0);
	for (uint32_t i = 0; i < COMMANDS; i++) {
		memcpy(command, &i, sizeof(i));
		worker_send_command(worker, command, sizeof(command));
	}
}

static void test_commands_of_worker(void **state)
{
	struct came came = { .waiting = true };
	struct worker worker;

	(void)state;
	send_all_commands(&worker, write_and_hear);
	assert_int_equal(worker_receive_while(&worker, &came.waiting, check_worker_record, &came,
					      &waits),
			 1);
	assert_int_equal(came.filler, MUCH);
	assert_int_equal(came.heard, COMMANDS);
	worker_stop(&worker);
}

static void read_one_command(const void *data)
{
	char command[COMMAND];

	(void)data;
	worker_read_command(command, sizeof(command));
	raise(SIGKILL);
}

/* If a killed worker has not read its commands, the other process must not block. */
static void test_killed_worker(void **state)
{
	struct came came = { .waiting = true };
	struct worker worker;

	(void)state;
	send_all_commands(&worker, read_one_command);
	assert_int_equal(worker_receive_while(&worker, &came.waiting, check_worker_record, &came,
					      &waits),
			 0);
	assert_true(worker_was_killed(worker_stop(&worker)));
	/* The worker process no longer exists. */
	assert_int_equal(worker_receive_while(&worker, &came.waiting, check_worker_record, &came,
					      &waits),
			 0);
	assert_int_equal(worker_stop(&worker), 0);
	assert_false(worker_was_killed(0));
}

static void wait_forever(const void *data)
{
	(void)data;
	for (;;)
		pause();
}

static void work_and_wait(const void *data)
{
	char command[COMMAND];

	/* Compute for two seconds, and send nothing but reports that the worker is alive. */
	for (clock_t end = clock() + 2 * CLOCKS_PER_SEC; clock() < end;)
		;
	for (int i = 0; i < 20; i++) {
		usleep(100000);
		worker_is_alive();
	}
	worker_put(ALL, 0, NULL, 0);
	worker_read_command(command, sizeof(command));
	wait_forever(data);
}

/* The process gives up a worker that makes no progress, but not one that computes or is idle. */
static void test_stuck_worker(void **state)
{
	struct came came = { .waiting = true };
	struct worker worker;

	(void)state;
	limit_ms = 1500;
	task.run = wait_forever;
	assert_int_equal(worker_start(&worker, &task, NULL), 0);
	assert_int_equal(worker_receive_while(&worker, &came.waiting, check_worker_record, &came,
					      &waits),
			 0);
	assert_true(worker.is_stuck);
	assert_int_equal(worker_stop(&worker), -ETIMEDOUT);
	assert_int_equal(worker_run(&task, NULL, check_worker_record, &came, &waits), -ETIMEDOUT);
	task.run = work_and_wait;
	assert_int_equal(worker_start(&worker, &task, NULL), 0);
	assert_int_equal(worker_receive_while(&worker, &came.waiting, check_worker_record, &came,
					      &waits),
			 1);
	for (int i = 0; i < 3; i++)
		worker_wait(&worker);
	assert_int_equal(worker.silent_ms, 0);
	worker_stop(&worker);
	limit_ms = 60000;
}

/*
 * A worker that is stopped while it waits for a command makes no progress when a command arrives.
 */
static void test_stopped_worker(void **state)
{
	struct came came = { .waiting = true };
	struct worker worker;
	char command[COMMAND] = { 0 };

	(void)state;
	limit_ms = 1500;
	task.run = read_one_command;
	assert_int_equal(worker_start(&worker, &task, NULL), 0);
	while (!__atomic_load_n(&worker.life->is_idle, __ATOMIC_RELAXED))
		usleep(1000);
	assert_int_equal(kill(worker.pid, SIGSTOP), 0);
	worker_send_command(&worker, command, sizeof(command));
	assert_int_equal(worker_receive_while(&worker, &came.waiting, check_worker_record, &came,
					      &waits),
			 0);
	assert_true(worker.is_stuck);
	assert_int_equal(worker_stop(&worker), -ETIMEDOUT);
	limit_ms = 60000;
}

/* A worker that waits for its own worker, which is stuck, makes no progress either. */
static void wait_for_another(const void *data)
{
	struct worker_task inner = task;
	struct came came = { .waiting = true };
	struct worker worker;

	(void)data;
	limit_ms = 60000;
	inner.run = wait_forever;
	if (!worker_start(&worker, &inner, NULL))
		worker_receive_while(&worker, &came.waiting, check_worker_record, &came, &waits);
}

static void test_stuck_inside(void **state)
{
	struct came came = { .waiting = true };
	struct worker worker;

	(void)state;
	limit_ms = 3500;
	task.run = wait_for_another;
	assert_int_equal(worker_start(&worker, &task, NULL), 0);
	assert_int_equal(worker_receive_while(&worker, &came.waiting, check_worker_record, &came,
					      &waits),
			 0);
	assert_true(worker.is_stuck);
	assert_int_equal(worker_stop(&worker), -ETIMEDOUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stuck_worker),   cmocka_unit_test(test_stuck_inside),
		cmocka_unit_test(test_stopped_worker), cmocka_unit_test(test_commands_of_worker),
		cmocka_unit_test(test_killed_worker),
	};

	return cmocka_run_group_tests_name("worker", tests, NULL, NULL);
}
