/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Traces that another process reads for this process, usually on another machine. */
#ifndef NETSYNC_IO_REMOTE_H
#define NETSYNC_IO_REMOTE_H

#include "io/io.h"
#include "io/worker/worker.h"

struct served;

/* Free a server's state. Traces of the server that are in use are freed by io_free_trace(). */
void served_free(struct served *served);

/* ---- receive.c: frames -> records ------------------------------------------- */

struct receiver;

/*
 * Create a receiver. The receiver's warnings go to @io, and name the machine @label. The caller
 * owns the file descriptors, which must be non-blocking. Return NULL if out of memory.
 */
struct receiver *receiver_new(struct netsync_io *io, const char *label, int in, int out);
void receiver_free(struct receiver *receiver);
/*
 * Wait for the next record. The record's payload ends with a zero byte, and is valid until the next
 * call. If there are no more records, return false. receiver_get_why() then returns the reason.
 */
bool receiver_next_record(struct receiver *receiver, struct worker_head *head,
			  const char **payload);
/* Queue data for the server. Send as much as the connection accepts. */
bool receiver_send_data(struct receiver *receiver, const void *data, size_t size);
const char *receiver_get_why(const struct receiver *receiver);
uint64_t receiver_get_bytes(const struct receiver *receiver);

/* ---- served.c ------------------------------------------------------------------ */

/*
 * Process a record of a server, which is not trusted. Return 0, or 1 if the awaited answer ends
 * with this record. If the record is invalid, return a negative value; no more data may then be
 * received.
 */
int served_use_record(struct served *served, const struct worker_head *head, const char *payload);
struct served *served_new(struct netsync_io *io, const char *label, const char *name);

#endif
