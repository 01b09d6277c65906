/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pushed state that netsync_solve() needs <-> bytes that mean the same on every
 * machine.
 *
 *	save.c		struct netsync -> bytes
 *	take.c		bytes, which are not trusted -> struct saved, checked
 *	merge.c		struct saved -> another struct netsync
 *
 * The bytes name each host once, and then refer to hosts by the order of these names.
 */
#ifndef NETSYNC_SAVE_SAVE_H
#define NETSYNC_SAVE_SAVE_H

#include <stddef.h>
#include <stdint.h>

#include "handle.h"

/*
 * Write the state. Packets that have found no counterpart are not included. Return 0 or a negative
 * errno value.
 */
int saved_write(struct netsync *ns, netsync_write_func write, void *data);

/*
 * Add state that saved_write() has written. Return 0 or a negative errno value. On failure, *@why
 * is the reason, or NULL if out of memory. If the error is not -ENOMEM, the object has not been
 * changed.
 */
int saved_merge(struct netsync *ns, const void *bytes, size_t size, const char **why);

#endif
