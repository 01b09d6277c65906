/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The agent: does on this machine what netsync asks for that runs elsewhere
 * (remote.h says in which words). It knows of no other machine. Once its
 * standard input ends, or a signal says so, everything is undone that it did.
 */
#ifndef NETSYNC_AGENT_H
#define NETSYNC_AGENT_H

#include <stdbool.h>
#include <stddef.h>

#include <json.h>

/*
 * A request is a function and a row of the table in agent.c: it returns the
 * answer, an object, and may say and wait as below before.
 */

/* Answers: {"error":SENTENCE}; and what may come before one. */
struct json_object *agent_error(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
void agent_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void agent_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* @about gets "bytes"; it is released. False: nobody reads them. */
bool agent_data(struct json_object *about, const void *data, size_t size);

/*
 * Wait so long, and say now and then that the work goes on. False: nobody
 * waits for its end any more.
 */
bool agent_wait(int ms);

#endif
