// SPDX-License-Identifier: GPL-2.0-only
/* Handle signals so that a command ends in an orderly way. */
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "progress.h"
#include "signal.h"

volatile sig_atomic_t interrupted;
void (*volatile before_end)(void);

static void note_first_signal(int number)
{
	if (!interrupted) {
		interrupted = number;
		return;
	}
	if (before_end)
		before_end();
	signal(number, SIG_DFL);
	raise(number);
}

/*
 * Set a signal handler. If SIGHUP is ignored, continue to ignore it, because nohup(1) starts
 * commands in this way.
 */
static void set_signal_handler(int number, void (*handler)(int number))
{
	const struct sigaction action = { .sa_handler = handler };
	struct sigaction old;

	if (number == SIGHUP && !sigaction(number, NULL, &old) && old.sa_handler == SIG_IGN)
		return;
	sigaction(number, &action, NULL);
}

void catch_signal(int number)
{
	set_signal_handler(number, note_first_signal);
}

/* ---- a signal that stops a command ---------------------------------------- */

static const char *volatile written = "nothing was written";

void note_partial_output(const char *what)
{
	written = what;
}

/* Write a text from a signal handler, which may use write(2) but not stdio. */
static void write_to_stderr(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return;
}

static void explain_and_end(int number)
{
	const char *work = current_work, *what = written;

	/* Erase the progress line, and the ^C that the terminal has echoed. */
	if (isatty(STDERR_FILENO))
		write_to_stderr("\r\033[K");
	write_to_stderr("netsync: stopped");
	if (work) {
		write_to_stderr(" while ");
		write_to_stderr(work);
	}
	write_to_stderr("; ");
	write_to_stderr(what);
	write_to_stderr(".\n");
	set_ending_handlers(SIG_DFL);
	raise(number);
}

bool is_explaining_handler(void (*handler)(int number))
{
	return handler == explain_and_end;
}

void explain_stop(void)
{
	set_ending_handlers(explain_and_end);
}

/* ---- two signals -------------------------------------------------------- */

static const int ends[] = { SIGINT, SIGTERM, SIGHUP };

#define NUM_ENDS (sizeof(ends) / sizeof(ends[0]))

volatile sig_atomic_t hurried;
static char last_words[PATH_MAX + 128];

void set_ending_handlers(void (*handler)(int number))
{
	for (size_t i = 0; i < NUM_ENDS; i++)
		set_signal_handler(ends[i], handler);
}

static void handle_signal_twice(int number)
{
	if (interrupted) {
		hurried = number;
		set_ending_handlers(SIG_DFL);
	}
	interrupted = number;
}

void catch_signals_twice(void)
{
	set_ending_handlers(handle_signal_twice);
}

static void handle_last_signal(int number)
{
	const ssize_t put = write(STDERR_FILENO, last_words, strlen(last_words));

	(void)put;
	set_ending_handlers(SIG_DFL);
	raise(number);
}

void catch_signals_last(const char *words)
{
	const struct sigaction action = { .sa_handler = handle_last_signal };

	snprintf(last_words, sizeof(last_words), "%s", words);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}
