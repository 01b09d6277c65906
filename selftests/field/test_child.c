// SPDX-License-Identifier: GPL-2.0-only
/* Run programs that answer, fail, hang or write too much, and wait for child processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/child.h"
#include "common/now.h"

#define LIMIT_NS (NS_PER_S / 2)
#define MOST 100

static char *run_script(const char *script, bool reads_errors, int *status)
{
	char *const argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, strdup(script), NULL };
	const struct child_program program = {
		.argv = argv,
		.limit_ns = LIMIT_NS,
		.most = MOST,
		.reads_errors = reads_errors,
	};
	char *text = child_read_output(&program, status);
	const int error = errno;

	free(argv[2]);
	errno = error;
	return text;
}

static void expect_output(const char *script, bool reads_errors, const char *expected,
			  int ends_with)
{
	int status;
	char *text = run_script(script, reads_errors, &status);

	assert_non_null(text);
	assert_string_equal(text, expected);
	assert_int_equal(status, ends_with);
	free(text);
}

static void expect_error(const char *script, int error)
{
	int status;

	assert_null(run_script(script, false, &status));
	assert_int_equal(errno, error);
}

static void test_output_of_program(void **state)
{
	(void)state;
	expect_output("echo a; echo b >&2", false, "a\n", 0);
	expect_output("echo a; echo b >&2", true, "a\nb\n", 0);
	expect_output("exit 3", false, "", 3);
	expect_output("cat", false, "", 0); /* standard input is empty */
	expect_output("echo a; kill -9 $$", false, "a\n", -1);
	expect_output("sleep 0.1 > /dev/null; echo a", false, "a\n", 0);
}

static void test_limits_of_program(void **state)
{
	const int64_t begin_ns = now_ns();

	(void)state;
	expect_output("printf %100d 1 | tr ' ' 0", false,
		      "00000000000000000000000000000000000000000000000000"
		      "00000000000000000000000000000000000000000000000001",
		      0);
	expect_error("printf %101d 1", EFBIG);
	expect_error("yes", EFBIG);
	expect_error("sleep 60", ETIMEDOUT);
	/* A process that the program started, and that has its output, is ended, too. */
	expect_error("sleep 60 & echo a", ETIMEDOUT);
	/* The program runs after the end of its output. */
	expect_output("echo a; exec > /dev/null 2>&1; sleep 60", false, "a\n", -1);
	assert_true(now_ns() - begin_ns < 30 * NS_PER_S);
}

static void test_missing_program(void **state)
{
	char *const argv[] = { (char[]){ "/nonexistent/program" }, NULL };
	const struct child_program program = { .argv = argv, .limit_ns = LIMIT_NS, .most = MOST };
	int status;

	(void)state;
	assert_null(child_read_output(&program, &status));
	assert_int_equal(errno, ENOENT);
	assert_int_equal(status, 127);
}

static void ignore_alarm(int number)
{
	(void)number;
}

/* Signals that interrupt the wait do not end it. */
static void test_wait_despite_signals(void **state)
{
	const struct sigaction action = { .sa_handler = ignore_alarm };
	const struct itimerval often = { { 0, 10000 }, { 0, 10000 } },
			       never = { { 0, 0 }, { 0, 0 } };
	pid_t child;

	(void)state;
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	child = fork();
	if (!child) {
		usleep(200000);
		_exit(7);
	}
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	assert_int_equal(WEXITSTATUS(child_wait(child)), 7);
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	assert_int_equal(child_wait(child), -1);
	assert_int_equal(child_wait(0), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_output_of_program),
		cmocka_unit_test(test_limits_of_program),
		cmocka_unit_test(test_missing_program),
		cmocka_unit_test(test_wait_despite_signals),
	};

	return cmocka_run_group_tests_name("child", tests, NULL, NULL);
}
