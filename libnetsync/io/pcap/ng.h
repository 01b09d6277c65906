/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Write pcapng blocks in the byte order of this machine. */
#ifndef NETSYNC_IO_NG_H
#define NETSYNC_IO_NG_H

#include "io/pcap/capture.h"

/*
 * A block that is being written. At first, all members are zero. The structure can be used again
 * for later blocks.
 */
struct ng_block {
	uint8_t *bytes; /* the caller releases this array */
	size_t len;
	size_t room;
	bool is_lost; /* whether memory was exhausted */
};

void ng_begin_block(struct ng_block *block, uint32_t type);
void ng_put_bytes(struct ng_block *block, const void *bytes, size_t len);
void ng_put_u16(struct ng_block *block, uint16_t value);
void ng_put_u32(struct ng_block *block, uint32_t value);
/* Add bytes, and then zeros up to a multiple of 4 bytes. */
void ng_put_padded(struct ng_block *block, const void *bytes, size_t len);
/* Add a time as two words. The higher word comes first. */
void ng_put_time(struct ng_block *block, int64_t time_ns);
void ng_put_option(struct ng_block *block, uint16_t code, const void *value, size_t len);
/*
 * Add a text option. If a text is too long for one option, it is divided into several options at
 * the ends of lines.
 */
void ng_put_text(struct ng_block *block, uint16_t code, const char *text);
/*
 * Copy an option from a block of @capture. Convert its numbers to this machine's byte order. If the
 * byte orders differ and the option is not known, skip it.
 */
void ng_copy_option(struct ng_block *block, const struct capture_file *capture,
		    const struct capture_block *from, const struct capture_option *option);
/*
 * Set the lengths. Return 0, or -ENOMEM if any call since ng_begin_block() has run out of memory.
 */
int ng_end_block(struct ng_block *block);

/*
 * Copy a block that has no times but names of addresses or secrets. Return false if the block is
 * damaged or is not completely in memory.
 */
bool ng_copy_names(struct ng_block *block, const struct capture_file *capture,
		   const struct capture_block *from);
bool ng_copy_secrets(struct ng_block *block, const struct capture_file *capture,
		     const struct capture_block *from);

#endif
