/* SPDX-License-Identifier: GPL-2.0-only */
/* Signals that end a sub-command. */
#ifndef NETSYNC_SIGNAL_H
#define NETSYNC_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

/* The signal that came; 0: none. */
extern volatile sig_atomic_t interrupted;

/*
 * Handler: notes the first signal in interrupted; a second one takes its default action,
 * after before_end().
 */
void catch_signal(int number);
/* Called before the end; may do what signal-safety(7) allows. NULL: nothing. */
extern void (*volatile before_end)(void);

/*
 * SIGINT, SIGTERM and SIGHUP print what was stopped, by progress_start(), and what
 * note_output() said, and take their default actions.
 */
void explain_stop(void);
/* Is this handler the one of explain_stop(), which ends the process? */
bool is_explaining_handler(void (*handler)(int number));
/* What a signal finds written, such as "nothing was written"; a string that stays. */
void note_output(const char *what);

/* Set the handler of SIGINT, SIGTERM and SIGHUP; an ignored SIGHUP stays ignored. */
void set_ends(void (*handler)(int number));

/* The second signal, with the handlers below; 0: none. */
extern volatile sig_atomic_t hurried;

/*
 * The first of SIGINT, SIGTERM and SIGHUP is noted in interrupted, the second one in
 * hurried, and a third one takes its default action.
 */
void catch_signals_twice(void);
/* SIGINT and SIGTERM print @words, then take their default actions. */
void catch_signals_last(const char *words);

#endif
