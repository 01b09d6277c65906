/* SPDX-License-Identifier: GPL-2.0-only */
/* Handle signals that end a command. */
#ifndef NETSYNC_SIGNAL_H
#define NETSYNC_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

/* Number of the first signal, or 0 before any signal. */
extern volatile sig_atomic_t interrupted;

/*
 * Record the first signal in interrupted. A second signal calls before_end() and then takes its
 * default action.
 */
void catch_signal(int number);
/*
 * If not NULL, this function is called before a second signal ends the process. It must be
 * async-signal-safe (signal-safety(7)).
 */
extern void (*volatile before_end)(void);

/*
 * Let SIGINT, SIGTERM and SIGHUP print which work was stopped (see progress_start()), and the text
 * given to note_partial_output(). The signals then take their default actions.
 */
void explain_stop(void);
/* Return whether explain_stop() has set this handler, so that the signal ends the process. */
bool is_explaining_handler(void (*handler)(int number));
/*
 * Set the text about the state of the output that is printed after a signal, such as "nothing was
 * written". The string must be static.
 */
void note_partial_output(const char *what);

/* Set the handler of SIGINT, SIGTERM and SIGHUP. If SIGHUP is ignored, continue to ignore it. */
void set_ending_handlers(void (*handler)(int number));

/* Number of the second signal, or 0 before it. The handlers below set this. */
extern volatile sig_atomic_t hurried;

/*
 * Record the first of SIGINT, SIGTERM and SIGHUP in interrupted, and the second one in hurried. A
 * third one takes its default action.
 */
void catch_signals_twice(void);
/* Let SIGINT and SIGTERM print @words and then take their default actions. */
void catch_signals_last(const char *words);

#endif
