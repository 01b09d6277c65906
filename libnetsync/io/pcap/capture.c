// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read the blocks of a pcap or pcapng file through a window of bounded size. */
#include <byteswap.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/pcap/capture.h"
#include "util/array.h"

/* Sizes of the pcap file header and of the per-packet header (bytes; pcap-savefile(5)). */
#define PCAP_HEADER 24
#define PCAP_RECORD 16

/* Type of a custom block that must not be copied. */
#define NG_CUSTOM_ONCE UINT32_C(0x40000bad)

/*
 * Sizes of the fields around the body of a block (bytes): type and length before it, and the
 * length again after it.
 */
#define NG_HEAD 8
#define NG_TAIL 4

/*
 * Initial and maximum size of the window (bytes). The initial size is small because hundreds of
 * captures may be open at the same time. The maximum exceeds the size of any packet that libpcap
 * captures (256 KiB), and of most blocks. Chosen.
 */
#define FIRST_WINDOW ((size_t)64 << 10)
#define MAX_WINDOW ((size_t)512 << 10)

/* Maximum size of a record (bytes). No packet is longer. Chosen. */
#define MAX_RECORD ((uint64_t)1 << 20)

/* Maximum number of interfaces. Without a limit, a damaged file could fill the memory. Chosen. */
#define MAX_INTERFACES 65536

/* ---- bytes ------------------------------------------------------------- */

static uint32_t read_native_u32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

uint16_t capture_read_u16(const struct capture_file *capture, const uint8_t *bytes)
{
	uint16_t value;

	memcpy(&value, bytes, sizeof(value));
	return capture->swapped ? bswap_16(value) : value;
}

uint32_t capture_read_u32(const struct capture_file *capture, const uint8_t *bytes)
{
	uint32_t value = read_native_u32(bytes);

	return capture->swapped ? bswap_32(value) : value;
}

uint64_t capture_read_u64(const struct capture_file *capture, const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return capture->swapped ? bswap_64(value) : value;
}

uint64_t capture_read_ticks(const struct capture_file *capture, const uint8_t *bytes)
{
	return (uint64_t)capture_read_u32(capture, bytes) << 32 |
	       capture_read_u32(capture, bytes + 4);
}

/* Enlarge the window so that it holds @num bytes. */
static int grow_capture_window(struct capture_file *capture, size_t num)
{
	size_t room = capture->window_room;
	uint8_t *wider;

	if (num <= room)
		return 0;
	while (room < num)
		room *= 2;
	wider = realloc(capture->window, room);
	if (!wider)
		return -ENOMEM;
	capture->window = wider;
	capture->window_room = room;
	return 0;
}

/*
 * Load @num bytes from capture->next on into the window. If the file has fewer, load these. Return
 * the number of bytes, or a negative errno value.
 */
static ssize_t load_capture_window(struct capture_file *capture, size_t num)
{
	uint64_t from = capture->next;
	size_t kept = 0;

	if (from >= capture->window_at && from - capture->window_at <= capture->window_len)
		kept = capture->window_len - (size_t)(from - capture->window_at);
	if (kept >= num)
		return (ssize_t)kept;
	if (grow_capture_window(capture, num))
		return -ENOMEM;
	memmove(capture->window, capture->window + capture->window_len - kept, kept);
	capture->window_at = from;
	capture->window_len = kept;
	while (capture->window_len < num) {
		const uint64_t at = from + capture->window_len;
		const size_t space = capture->window_room - capture->window_len;
		const ssize_t len =
			at >= capture->end ?
				0 :
				unpacked_read(&capture->file, capture->window + capture->window_len,
					      capture->end - at < space ? capture->end - at : space,
					      at);

		/* The packets that precede the damage are complete. */
		if (len == -EILSEQ || !len)
			break;
		if (len < 0)
			return len;
		capture->window_len += (size_t)len;
	}
	return (ssize_t)capture->window_len;
}

static const uint8_t *get_next_bytes(const struct capture_file *capture)
{
	return capture->window + (capture->next - capture->window_at);
}

static int fail_damaged_capture(struct capture_file *capture, const char *why)
{
	capture->damage = why;
	return -EILSEQ;
}

/* Handle the end of the file in a block. Return as capture_next_block() does. */
static int handle_end_within_block(struct capture_file *capture)
{
	if (capture->grows && !capture->file.damage)
		return 0;
	return fail_damaged_capture(capture, capture->file.damage ?
						     capture->file.damage :
						     "the file ends in the middle of a packet");
}

/* ---- opening ----------------------------------------------------------- */

static bool is_pcap_magic(uint32_t magic)
{
	return magic == CAPTURE_PCAP_US || magic == CAPTURE_PCAP_NS;
}

bool capture_has_magic(const uint8_t *head, size_t len)
{
	uint32_t magic, order;

	if (len < 12)
		return false;
	magic = read_native_u32(head);
	order = read_native_u32(head + 8);
	if (magic == NG_SECTION)
		return order == NG_ORDER || order == bswap_32(NG_ORDER);
	return is_pcap_magic(magic) || is_pcap_magic(bswap_32(magic));
}

int capture_resume(struct capture_file *capture, struct disk_file *from)
{
	const int ret = unpacked_open(&capture->file, from);

	if (ret)
		return ret;
	capture->window = malloc(FIRST_WINDOW);
	capture->window_room = FIRST_WINDOW;
	return capture->window ? 0 : -ENOMEM;
}

int capture_open(struct capture_file *capture, struct disk_file *from, uint64_t end)
{
	memset(capture, 0, sizeof(*capture));
	capture->end = end;
	capture->max_window = MAX_WINDOW;
	return capture_resume(capture, from);
}

void capture_suspend(struct capture_file *capture)
{
	unpacked_close(&capture->file);
	free(capture->window);
	capture->window = NULL;
	capture->window_len = 0;
}

void capture_close(struct capture_file *capture)
{
	capture_suspend(capture);
	free(capture->interfaces);
	capture->interfaces = NULL;
}

static struct capture_interface *add_capture_interface(struct capture_file *capture)
{
	struct capture_interface *new;

	if (array_grow(&capture->interfaces, &capture->interface_room, capture->num_interfaces,
		       sizeof(*capture->interfaces)))
		return NULL;
	new = &capture->interfaces[capture->num_interfaces++];
	*new = (struct capture_interface){ .resolution = 6 };
	return new;
}

/* ---- pcap -------------------------------------------------------------- */

static int read_pcap_header(struct capture_file *capture, struct capture_block *block)
{
	struct capture_interface *interface = add_capture_interface(capture);
	uint32_t magic = capture_read_u32(capture, block->bytes);

	if (!interface)
		return -ENOMEM;
	/* The upper half of the word describes frame check sequences. */
	interface->link = (uint16_t)capture_read_u32(capture, block->bytes + 20);
	interface->snaplen = capture_read_u32(capture, block->bytes + 16);
	if (magic == CAPTURE_PCAP_NS)
		interface->resolution = RESOLUTION_NS;
	block->kind = CAPTURE_HEADER;
	return 1;
}

static int read_pcap_record(struct capture_file *capture, struct capture_block *block)
{
	const uint8_t *bytes = block->bytes;

	block->kind = CAPTURE_PACKET;
	block->interface = capture->interfaces;
	block->has_time = true;
	block->ticks = capture_read_u32(capture, bytes) *
			       (block->interface->resolution == RESOLUTION_NS ?
					UINT64_C(1000000000) :
					UINT64_C(1000000)) +
		       capture_read_u32(capture, bytes + 4);
	block->data = bytes + PCAP_RECORD;
	block->captured = (size_t)block->size - PCAP_RECORD;
	block->original = capture_read_u32(capture, bytes + 12);
	return 1;
}

/* ---- pcapng ------------------------------------------------------------ */

bool capture_next_option(const struct capture_file *capture, const struct capture_block *block,
			 size_t *at, struct capture_option *option)
{
	size_t end = block->size - NG_TAIL;

	if (!*at || end > block->loaded || *at > end || end - *at < 4)
		return false;
	option->code = capture_read_u16(capture, block->bytes + *at);
	option->len = capture_read_u16(capture, block->bytes + *at + 2);
	option->value = block->bytes + *at + 4;
	if (option->code == OPTION_END || end - *at - 4 < option->len)
		return false;
	*at += 4 + ((option->len + 3u) & ~3u);
	return true;
}

static int begin_capture_section(struct capture_file *capture, struct capture_block *block)
{
	capture->num_interfaces = 0;
	block->kind = CAPTURE_HEADER;
	block->options = 24;
	if (block->size < 24 + NG_TAIL)
		return fail_damaged_capture(capture, "a section header is too short");
	if (capture_read_u16(capture, block->bytes + 12) != 1)
		return fail_damaged_capture(capture, "a section has an unsupported version");
	return 1;
}

static int read_interface_block(struct capture_file *capture, struct capture_block *block)
{
	struct capture_interface *interface;
	struct capture_option option;
	size_t at = 16;

	if (block->size < 16 + NG_TAIL)
		return fail_damaged_capture(capture, "an interface description is too short");
	if (capture->num_interfaces == MAX_INTERFACES)
		return fail_damaged_capture(capture, "a section has more than 65536 interfaces");
	interface = add_capture_interface(capture);
	if (!interface)
		return -ENOMEM;
	block->kind = CAPTURE_INTERFACE;
	block->options = at;
	block->interface = interface;
	block->interface_id = (uint32_t)capture->num_interfaces - 1;
	interface->link = capture_read_u16(capture, block->bytes + 8);
	interface->snaplen = capture_read_u32(capture, block->bytes + 12);
	while (capture_next_option(capture, block, &at, &option)) {
		if (option.code == OPTION_IF_TSRESOL && option.len == 1)
			interface->resolution = option.value[0];
		else if (option.code == OPTION_IF_TSOFFSET && option.len == 8)
			interface->offset_s = (int64_t)capture_read_u64(capture, option.value);
	}
	return 1;
}

static int find_block_interface(struct capture_file *capture, struct capture_block *block)
{
	if (block->interface_id >= capture->num_interfaces)
		return fail_damaged_capture(capture, "a block refers to an undefined interface");
	block->interface = &capture->interfaces[block->interface_id];
	return 1;
}

/* Set the data of a block, and the position of the options that follow the data. */
static int set_block_data(struct capture_file *capture, struct capture_block *block, size_t at,
			  uint32_t captured)
{
	uint64_t room = block->size - NG_TAIL - at;

	if (captured > room)
		return fail_damaged_capture(capture, "a packet is longer than its block");
	block->data = block->bytes + at;
	block->captured = captured;
	block->options = at + (((size_t)captured + 3) & ~(size_t)3);
	return 1;
}

static void read_packet_direction(const struct capture_file *capture, struct capture_block *block)
{
	struct capture_option option;
	size_t at = block->options;

	while (capture_next_option(capture, block, &at, &option)) {
		uint32_t bits;

		if (option.code != OPTION_EPB_FLAGS || option.len != 4)
			continue;
		bits = capture_read_u32(capture, option.value) & 3;
		if (bits == CAPTURE_IN || bits == CAPTURE_OUT)
			block->dir = bits;
	}
}

static int read_packet_block(struct capture_file *capture, struct capture_block *block)
{
	const uint8_t *bytes = block->bytes;
	int ret;

	if (block->size < 28 + NG_TAIL)
		return fail_damaged_capture(capture, "a packet block is too short");
	block->kind = CAPTURE_PACKET;
	block->interface_id = block->type == NG_PACKET ? capture_read_u32(capture, bytes + 8) :
							 capture_read_u16(capture, bytes + 8);
	block->has_time = true;
	block->time_at = 12;
	block->ticks = capture_read_ticks(capture, bytes + 12);
	block->original = capture_read_u32(capture, bytes + 24);
	ret = find_block_interface(capture, block);
	if (ret < 0)
		return ret;
	ret = set_block_data(capture, block, 28, capture_read_u32(capture, bytes + 20));
	if (ret > 0)
		read_packet_direction(capture, block);
	return ret;
}

/* Read a simple packet block, which has no time. */
static int read_simple_packet_block(struct capture_file *capture, struct capture_block *block)
{
	if (block->size < 12 + NG_TAIL)
		return fail_damaged_capture(capture, "a packet block is too short");
	block->kind = CAPTURE_PACKET;
	return find_block_interface(capture, block);
}

static int read_statistics_block(struct capture_file *capture, struct capture_block *block)
{
	if (block->size < 20 + NG_TAIL)
		return fail_damaged_capture(capture, "an interface statistics block is too short");
	block->kind = CAPTURE_STATISTICS;
	block->interface_id = capture_read_u32(capture, block->bytes + 8);
	block->time_at = 12;
	block->ticks = capture_read_ticks(capture, block->bytes + 12);
	block->options = 20;
	return find_block_interface(capture, block);
}

static int read_capture_block(struct capture_file *capture, struct capture_block *block)
{
	block->type = capture_read_u32(capture, block->bytes);
	switch (block->type) {
	case NG_SECTION:
		return begin_capture_section(capture, block);
	case NG_INTERFACE:
		return read_interface_block(capture, block);
	case NG_OLD_PACKET:
	case NG_PACKET:
		return read_packet_block(capture, block);
	case NG_SIMPLE_PACKET:
		return read_simple_packet_block(capture, block);
	case NG_STATISTICS:
		return read_statistics_block(capture, block);
	case NG_JOURNAL:
	case NG_CUSTOM:
	case NG_CUSTOM_ONCE:
	case NG_SYSDIG:
	case NG_SYSDIG_2:
	case NG_SYSDIG_LARGE:
		block->kind = CAPTURE_RECORD;
		return 1;
	default:
		return 1;
	}
}

/* ---- blocks ------------------------------------------------------------ */

/* Find the byte order from the first bytes of a file or section. */
static int find_capture_byte_order(struct capture_file *capture, const uint8_t *bytes)
{
	uint32_t magic = read_native_u32(bytes), order = read_native_u32(bytes + 8);

	if (magic == NG_SECTION && !(capture->next && !capture->ng)) {
		capture->ng = true;
		capture->swapped = order != NG_ORDER;
		if (capture->swapped && order != bswap_32(NG_ORDER))
			return fail_damaged_capture(capture,
						    "a section has an unknown byte order mark");
	} else if (!capture->next) {
		capture->ng = false;
		capture->swapped = !is_pcap_magic(magic);
		if (capture->swapped && !is_pcap_magic(bswap_32(magic)))
			return fail_damaged_capture(capture, "the file is neither pcap nor pcapng");
	}
	return 0;
}

static int find_block_size(struct capture_file *capture, struct capture_block *block)
{
	if (capture->ng) {
		block->size = capture_read_u32(capture, block->bytes + 4);
		if (block->size < NG_HEAD + NG_TAIL || block->size % 4)
			return fail_damaged_capture(capture, "a block has an impossible length");
	} else if (!block->at) {
		block->size = PCAP_HEADER;
	} else {
		block->size = capture_read_u32(capture, block->bytes + 8);
		if (block->size > MAX_RECORD)
			return fail_damaged_capture(capture, "a packet has an impossible length");
		block->size += PCAP_RECORD;
	}
	return 0;
}

/* Check that the whole block is in the file. Return as capture_next_block() does. */
static int check_block_end(struct capture_file *capture, struct capture_block *block)
{
	uint8_t end[NG_TAIL];
	const uint8_t *last = end;

	if (block->loaded == block->size)
		last = block->bytes + block->size - NG_TAIL;
	else if (block->size <= capture->max_window ||
		 unpacked_read(&capture->file, end, NG_TAIL, block->at + block->size - NG_TAIL) !=
			 NG_TAIL)
		return handle_end_within_block(capture);
	if (capture->ng && capture_read_u32(capture, last) != block->size)
		return fail_damaged_capture(capture, "the two length fields of a block differ");
	return 1;
}

int capture_next_block(struct capture_file *capture, struct capture_block *block)
{
	const size_t head = capture->ng && capture->next ? NG_HEAD + NG_TAIL : PCAP_RECORD;
	ssize_t there = load_capture_window(capture, head);
	size_t wanted;
	int ret;

	*block = (struct capture_block){ .kind = CAPTURE_OTHER, .at = capture->next };
	if (there < 0 || (!there && !capture->file.damage))
		return (int)there;
	if ((size_t)there < head)
		return handle_end_within_block(capture);
	block->bytes = get_next_bytes(capture);
	ret = find_capture_byte_order(capture, block->bytes);
	if (!ret)
		ret = find_block_size(capture, block);
	if (ret < 0)
		return ret;
	wanted = block->size < capture->max_window ? (size_t)block->size : capture->max_window;
	there = load_capture_window(capture, wanted);
	if (there < 0)
		return (int)there;
	block->bytes = get_next_bytes(capture);
	block->loaded = (size_t)there < wanted ? (size_t)there : wanted;
	ret = check_block_end(capture, block);
	if (ret <= 0)
		return ret;
	if (capture->ng)
		ret = read_capture_block(capture, block);
	else
		ret = block->at ? read_pcap_record(capture, block) :
				  read_pcap_header(capture, block);
	if (ret < 0)
		return ret;
	if (block->data && block->captured > block->loaded - (size_t)(block->data - block->bytes))
		block->captured = block->loaded - (size_t)(block->data - block->bytes);
	capture->next += block->size;
	return 1;
}

/* ---- times ------------------------------------------------------------- */

/*
 * Duration of a tick of 10^-i s (ns). A table is used because each packet needs this, and divisions
 * would take as long as parsing a packet's headers.
 */
static const int64_t decimal_ns[RESOLUTION_NS + 1] = {
	1000000000, 100000000, 10000000, 1000000, 100000, 10000, 1000, 100, 10, 1,
};

bool capture_convert_ticks(const struct capture_interface *interface, uint64_t ticks,
			   int64_t *time_ns)
{
	const unsigned int exponent = interface->resolution & 0x7f;
	unsigned __int128 ns = ticks;
	__int128 time;

	if (interface->resolution & 0x80) {
		ns = ns * 1000000000 >> exponent;
	} else {
		if (exponent < RESOLUTION_NS)
			ns *= (uint64_t)decimal_ns[exponent];
		for (unsigned int i = RESOLUTION_NS; i < exponent && ns; i++)
			ns /= 10;
	}
	time = (__int128)interface->offset_s * 1000000000 + (__int128)ns;
	*time_ns = (int64_t)time;
	return time == *time_ns;
}

int64_t capture_get_tick_ns(const struct capture_interface *interface)
{
	const unsigned int exponent = interface->resolution & 0x7f;

	if (interface->resolution & 0x80)
		return exponent < 30 ? ((decimal_ns[0] - 1) >> exponent) + 1 : 1;
	return exponent < RESOLUTION_NS ? decimal_ns[exponent] : 1;
}
