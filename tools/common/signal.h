/* SPDX-License-Identifier: GPL-2.0-only */
/* Handle signals that end a sub-command. */
#ifndef NETSYNC_SIGNAL_H
#define NETSYNC_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

/* Number of the first signal, or 0 if there was none. */
extern volatile sig_atomic_t interrupted;

/*
 * Record the first signal in interrupted. A second signal calls before_end(), and then
 * takes its default action.
 */
void catch_signal(int number);
/*
 * Called before a second signal ends the process, unless NULL. The function must be
 * signal-safe (signal-safety(7)).
 */
extern void (*volatile before_end)(void);

/*
 * Make SIGINT, SIGTERM and SIGHUP print which work was stopped, as given to
 * progress_start(), and the text given to note_partial_output(). The signals then take their
 * default actions.
 */
void explain_stop(void);
/* Does the handler belong to explain_stop(), so that the signal ends the process? */
bool is_explaining_handler(void (*handler)(int number));
/*
 * Set the state of the output that is printed after a signal, such as "nothing was
 * written". The string must be static.
 */
void note_partial_output(const char *what);

/* Set the handler of SIGINT, SIGTERM and SIGHUP. An ignored SIGHUP stays ignored. */
void set_ending_handlers(void (*handler)(int number));

/* Number of the second signal, with the handlers below, or 0 if there was none. */
extern volatile sig_atomic_t hurried;

/*
 * Record the first of SIGINT, SIGTERM and SIGHUP in interrupted, and the second one in
 * hurried. A third one takes its default action.
 */
void catch_signals_twice(void);
/* Make SIGINT and SIGTERM print @words and then take their default actions. */
void catch_signals_last(const char *words);

#endif
