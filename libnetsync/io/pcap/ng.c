// SPDX-License-Identifier: LGPL-2.1-or-later
/* Write pcapng blocks, and copy options and blocks of captures to blocks of the merged capture. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/pcap/ng.h"

/* Initial capacity of a block (bytes). Chosen. */
#define FIRST_ROOM 256
/* Maximum size of an option's value (bytes). */
#define MAX_OPTION UINT16_MAX
/* Sizes of the fields before and after the body of a block (bytes). */
#define NG_HEAD 8
#define NG_TAIL 4

/* ---- writing ------------------------------------------------------------- */

void ng_put_bytes(struct ng_block *block, const void *bytes, size_t len)
{
	size_t room = block->room ? block->room : FIRST_ROOM;
	uint8_t *more;

	if (block->is_lost || !len)
		return;
	while (room - block->len < len && room <= SIZE_MAX / 2)
		room *= 2;
	if (room != block->room) {
		more = room - block->len < len ? NULL : realloc(block->bytes, room);
		if (!more) {
			block->is_lost = true;
			return;
		}
		block->bytes = more;
		block->room = room;
	}
	memcpy(block->bytes + block->len, bytes, len);
	block->len += len;
}

void ng_put_u16(struct ng_block *block, uint16_t value)
{
	ng_put_bytes(block, &value, sizeof(value));
}

void ng_put_u32(struct ng_block *block, uint32_t value)
{
	ng_put_bytes(block, &value, sizeof(value));
}

void ng_put_padded(struct ng_block *block, const void *bytes, size_t len)
{
	static const uint8_t zeros[4];

	ng_put_bytes(block, bytes, len);
	ng_put_bytes(block, zeros, -len & 3);
}

void ng_put_time(struct ng_block *block, int64_t time_ns)
{
	ng_put_u32(block, (uint32_t)((uint64_t)time_ns >> 32));
	ng_put_u32(block, (uint32_t)time_ns);
}

void ng_begin_block(struct ng_block *block, uint32_t type)
{
	block->len = 0;
	block->is_lost = false;
	ng_put_u32(block, type);
	ng_put_u32(block, 0);
}

int ng_end_block(struct ng_block *block)
{
	const uint32_t size = (uint32_t)(block->len + NG_TAIL);

	ng_put_u32(block, size);
	if (block->is_lost)
		return -ENOMEM;
	memcpy(block->bytes + 4, &size, sizeof(size));
	return 0;
}

void ng_put_option(struct ng_block *block, uint16_t code, const void *value, size_t len)
{
	ng_put_u16(block, code);
	ng_put_u16(block, (uint16_t)len);
	ng_put_padded(block, value, len);
}

void ng_put_text(struct ng_block *block, uint16_t code, const char *text)
{
	size_t len = strlen(text);

	while (len) {
		const size_t most = len < MAX_OPTION ? len : MAX_OPTION;
		const char *line = most < len ? memrchr(text, '\n', most) : NULL;
		const size_t part = line ? (size_t)(line - text) : most;

		ng_put_option(block, code, text, part);
		text += part + (line != NULL);
		len -= part + (line != NULL);
	}
}

/* ---- byte order ---------------------------------------------------------- */

/* Reverse the bytes of each complete word. Words have @size bytes and begin at offset @from. */
static void swap_words(uint8_t *bytes, size_t len, size_t from, size_t size)
{
	for (; from + size <= len; from += size)
		for (size_t i = 0; i < size / 2; i++) {
			const uint8_t byte = bytes[from + i];

			bytes[from + i] = bytes[from + size - 1 - i];
			bytes[from + size - 1 - i] = byte;
		}
}

/* Options that contain numbers with @size bytes. All other options contain text or bytes. */
static const struct number_option {
	enum capture_kind kind;
	uint16_t code;
	uint8_t from, size;
} number_options[] = {
	{ CAPTURE_INTERFACE, 8, 0, 8 },	 /* if_speed */
	{ CAPTURE_INTERFACE, 10, 0, 4 }, /* if_tzone */
	{ CAPTURE_INTERFACE, 16, 0, 8 }, /* if_txspeed */
	{ CAPTURE_INTERFACE, 17, 0, 8 }, /* if_rxspeed */
	{ CAPTURE_PACKET, OPTION_EPB_FLAGS, 0, 4 },
	{ CAPTURE_PACKET, OPTION_EPB_DROPS, 0, 8 },
	{ CAPTURE_PACKET, 5, 0, 8 }, /* epb_packetid */
	{ CAPTURE_PACKET, 6, 0, 4 }, /* epb_queue */
	{ CAPTURE_PACKET, OPTION_EPB_VERDICT, 1, 8 },
	{ CAPTURE_PACKET, 8, 0, 4 }, /* epb_processid_threadid */
	{ CAPTURE_STATISTICS, OPTION_ISB_START, 0, 4 },
	{ CAPTURE_STATISTICS, OPTION_ISB_END, 0, 4 },
	{ CAPTURE_STATISTICS, 4, 0, 8 }, /* isb_ifrecv */
	{ CAPTURE_STATISTICS, 5, 0, 8 }, /* isb_ifdrop */
	{ CAPTURE_STATISTICS, 6, 0, 8 }, /* isb_filteraccept */
	{ CAPTURE_STATISTICS, 7, 0, 8 }, /* isb_osdrop */
	{ CAPTURE_STATISTICS, 8, 0, 8 }, /* isb_usrdeliv */
};

/*
 * Return whether this is a custom option. A custom option begins with a 4-byte enterprise number,
 * on which the meaning of the rest depends.
 */
static bool is_custom_option(uint16_t code)
{
	return code == 2988 || code == 2989 || code == 19372 || code == 19373;
}

static void swap_option_words(uint8_t *value, const struct capture_block *from,
			      const struct capture_option *option)
{
	if (is_custom_option(option->code))
		swap_words(value, option->len < 4 ? option->len : 4, 0, 4);
	for (size_t i = 0; i < sizeof(number_options) / sizeof(number_options[0]); i++) {
		const struct number_option *number = &number_options[i];

		if (number->kind == from->kind && number->code == option->code)
			swap_words(value, option->len, number->from, number->size);
	}
}

/*
 * Return whether the option may contain numbers of unknown size, so that its byte order cannot be
 * changed.
 */
static bool is_option_unswappable(const struct capture_block *from,
				  const struct capture_option *option)
{
	return from->kind == CAPTURE_INTERFACE && option->code == OPTION_IF_FILTER && option->len &&
	       option->value[0];
}

void ng_copy_option(struct ng_block *block, const struct capture_file *capture,
		    const struct capture_block *from, const struct capture_option *option)
{
	const bool is_bytes = from->kind == CAPTURE_PACKET && option->code == OPTION_EPB_VERDICT &&
			      option->len && !option->value[0];
	size_t at;

	if (capture->swapped && is_option_unswappable(from, option))
		return;
	ng_put_u16(block, option->code);
	ng_put_u16(block, option->len);
	at = block->len;
	ng_put_padded(block, option->value, option->len);
	if (capture->swapped && !is_bytes && !block->is_lost)
		swap_option_words(block->bytes + at, from, option);
}

/* ---- blocks without a time ------------------------------------------------- */

static bool is_block_whole(const struct capture_block *from)
{
	return from->loaded == from->size;
}

/* Copy the options after the body of a block whose options contain only text and bytes. */
static void copy_body_options(struct ng_block *block, const struct capture_file *capture,
			      const struct capture_block *from, size_t at)
{
	struct capture_option option;
	const size_t first = at;

	while (capture_next_option(capture, from, &at, &option))
		ng_copy_option(block, capture, from, &option);
	if (at > first)
		ng_put_option(block, OPTION_END, NULL, 0);
}

bool ng_copy_names(struct ng_block *block, const struct capture_file *capture,
		   const struct capture_block *from)
{
	/* Records have the same form as options. */
	struct capture_option record;
	size_t at = NG_HEAD;

	if (!is_block_whole(from))
		return false;
	ng_begin_block(block, NG_NAMES);
	while (capture_next_option(capture, from, &at, &record))
		ng_put_option(block, record.code, record.value, record.len);
	ng_put_option(block, 0, NULL, 0);
	copy_body_options(block, capture, from, at + 4);
	return true;
}

bool ng_copy_secrets(struct ng_block *block, const struct capture_file *capture,
		     const struct capture_block *from)
{
	const uint8_t *body = from->bytes + NG_HEAD;
	uint32_t len;

	if (!is_block_whole(from) || from->size < NG_HEAD + 8 + NG_TAIL)
		return false;
	len = capture_read_u32(capture, body + 4);
	if (len > from->size - NG_HEAD - 8 - NG_TAIL)
		return false;
	ng_begin_block(block, NG_SECRETS);
	ng_put_u32(block, capture_read_u32(capture, body));
	ng_put_u32(block, len);
	ng_put_padded(block, body + 8, len);
	copy_body_options(block, capture, from, NG_HEAD + 8 + (((size_t)len + 3) & ~(size_t)3));
	return true;
}
