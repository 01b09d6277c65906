/* SPDX-License-Identifier: GPL-2.0-only */
/* Signals that end a sub-command. */
#ifndef NETSYNC_SIGNAL_H
#define NETSYNC_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

/* The first signal, or 0. */
extern volatile sig_atomic_t interrupted;

/*
 * Signal handler: records the first signal in interrupted; the second one takes its
 * default action, after before_end().
 */
void catch_signal(int number);
/* Called before the end, unless NULL; must be signal-safe (signal-safety(7)). */
extern void (*volatile before_end)(void);

/*
 * Make SIGINT, SIGTERM and SIGHUP print the work that was stopped, from progress_start(),
 * and the text of note_output(), and then take their default actions.
 */
void explain_stop(void);
/* Is this handler the one of explain_stop(), which ends the process? */
bool is_explaining_handler(void (*handler)(int number));
/*
 * Set the state of the output that a signal reports, such as "nothing was written"; a
 * static string.
 */
void note_output(const char *what);

/* Set the handler of SIGINT, SIGTERM and SIGHUP; an ignored SIGHUP stays ignored. */
void set_ends(void (*handler)(int number));

/* The second signal, with the handlers below, or 0. */
extern volatile sig_atomic_t hurried;

/*
 * Record the first of SIGINT, SIGTERM and SIGHUP in interrupted, and the second in
 * hurried; a third one takes its default action.
 */
void catch_signals_twice(void);
/* Make SIGINT and SIGTERM print @words, and then take their default actions. */
void catch_signals_last(const char *words);

#endif
