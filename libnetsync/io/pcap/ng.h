/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Write pcapng blocks in the byte order of this machine. */
#ifndef NETSYNC_IO_NG_H
#define NETSYNC_IO_NG_H

#include "io/pcap/capture.h"

/*
 * A block that is being written. Initially all members are zero. The structure is reused for
 * later blocks.
 */
struct ng_block {
	uint8_t *bytes; /* the caller releases this array */
	size_t len;
	size_t room;
	bool is_lost; /* memory was exhausted */
};

void ng_begin_block(struct ng_block *block, uint32_t type);
void ng_put_bytes(struct ng_block *block, const void *bytes, size_t len);
void ng_put_u16(struct ng_block *block, uint16_t value);
void ng_put_u32(struct ng_block *block, uint32_t value);
/* Add bytes, padded with zeros to a multiple of 4. */
void ng_put_padded(struct ng_block *block, const void *bytes, size_t len);
/* Add a time as two words, the higher one first. */
void ng_put_time(struct ng_block *block, int64_t time_ns);
void ng_put_option(struct ng_block *block, uint16_t code, const void *value, size_t len);
/* Add a text option. A text that is too long for one option is split between lines into several. */
void ng_put_text(struct ng_block *block, uint16_t code, const char *text);
/*
 * Copy an option of a block of @capture, and convert its numbers to this machine's byte order.
 * If the byte orders differ and the option is unknown, skip it.
 */
void ng_copy_option(struct ng_block *block, const struct capture_file *capture,
		    const struct capture_block *from, const struct capture_option *option);
/* Set the lengths. Return 0, or -ENOMEM for any call since ng_begin_block(). */
int ng_end_block(struct ng_block *block);

/*
 * Copy a block without times, with address names or secrets. Return false if the block is
 * damaged, or not completely in memory.
 */
bool ng_copy_names(struct ng_block *block, const struct capture_file *capture,
		   const struct capture_block *from);
bool ng_copy_secrets(struct ng_block *block, const struct capture_file *capture,
		     const struct capture_block *from);

#endif
