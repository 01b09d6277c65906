// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Merge several captures into one pcapng capture with corrected times, sorted by these times.
 *
 * Each capture is read twice. The first reading finds the interfaces, which are described before
 * any packet; the first time; and the maximum disorder of packets by the corrected times. The
 * second reading defers packets for that long. A capture is open only while its times are
 * written. Because many captures of a host follow each other in time, few are open at once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/pcap/copy.h"
#include "io/pcap/merge.h"
#include "util/array.h"
#include "util/hash.h"

/*
 * Maximum size of a capture's deferred packets (bytes). Chosen: interfaces and queues are written
 * in bursts of some MB. If packets are more out of order than this, captures were concatenated.
 */
#define MAX_HELD ((size_t)64 << 20)
/* Number of blocks between two reports of the progress. Chosen. */
#define BLOCKS_PER_LOOK 1000

/* ---- reading --------------------------------------------------------------- */

static int open_merged_capture(struct capture_merge *merge, struct merged_capture *m)
{
	struct disk_file *from = io_open_file(merge->io, m->of.path);
	int ret = from ? capture_open(&m->capture, from, UINT64_MAX) : -errno;

	m->is_open = from;
	m->capture.max_window = MERGE_MAX_BLOCK;
	m->num_seen = m->section = 0;
	return ret ? io_fail_file(merge->io, m->of.path, ret) : 0;
}

static void close_merged_capture(struct merged_capture *m)
{
	if (m->is_open)
		capture_close(&m->capture);
	m->is_open = false;
}

/* Count the bytes that have been read from the file. */
static uint64_t count_bytes_read(const struct merged_capture *m)
{
	return m->capture.file.compression ? m->capture.file.file_at : m->capture.next;
}

static int report_merge_progress(struct capture_merge *merge, const struct merged_capture *m)
{
	uint64_t done = merge->done + count_bytes_read(m);

	if (!merge->progress || ++merge->looks % BLOCKS_PER_LOOK)
		return 0;
	/* In the second reading, several files are open at the same time. */
	if (done > merge->total)
		done = merge->total;
	return merge->progress(merge->progress_data, done, merge->total) ?
		       io_fail(merge->io, -ECANCELED, "Merging was stopped.") :
		       0;
}

/*
 * Read the next block. Return 1, or 0 if there is none. On failure, call io_fail() and return a
 * negative value.
 */
static int read_merged_block(struct capture_merge *merge, struct merged_capture *m,
			     struct capture_block *block)
{
	int ret = m->capture.next < m->end ? capture_next_block(&m->capture, block) : 0;

	if (ret == -EILSEQ) {
		io_warn(merge->io, "%s: merged only up to byte %llu (%s).", m->of.path,
			(unsigned long long)m->capture.next, m->capture.damage);
		m->end = m->capture.next;
		return 0;
	}
	if (ret < 0)
		return io_fail_file(merge->io, m->of.path, ret);
	if (!ret)
		return 0;
	ret = report_merge_progress(merge, m);
	if (ret)
		return ret;
	if (block->kind == CAPTURE_HEADER)
		m->section = m->num_seen;
	if (block->kind == CAPTURE_INTERFACE || (block->kind == CAPTURE_HEADER && !m->capture.ng))
		m->num_seen++;
	return 1;
}

static int find_merged_time(struct capture_merge *merge, const struct merged_capture *m,
			    const struct capture_block *block, uint64_t ticks, int64_t *time_ns)
{
	const struct new_times of = { merge->io, m->of.path, m->of.time, m->of.data };
	const int ret = compute_corrected_time(&of, &m->capture, block->interface, ticks, time_ns);

	if (ret >= 0 && *time_ns < 0)
		return io_fail(merge->io, -ERANGE,
			       "%s: a corrected time is before 1970, which pcapng cannot represent.",
			       m->of.path);
	return ret;
}

/* ---- interfaces ------------------------------------------------------------- */

static uint64_t hash_description_bytes(const uint8_t *bytes, size_t len)
{
	uint64_t hash = len;

	for (size_t i = 0; i < len; i++)
		hash = hash_mix(hash ^ bytes[i]);
	return hash;
}

/* Return the number of the interface with this description. If there is none, add it. */
static int number_interface(struct capture_merge *merge, struct ng_block *block, uint32_t *number)
{
	const uint64_t hash = hash_description_bytes(block->bytes, block->len);
	struct described_interface *new;

	for (size_t i = 0; i < merge->num_interfaces; i++) {
		const struct described_interface *old = &merge->interfaces[i];

		if (old->hash != hash || old->block.len != block->len ||
		    memcmp(old->block.bytes, block->bytes, block->len))
			continue;
		free(block->bytes);
		*number = (uint32_t)i;
		return 0;
	}
	new = merge->num_interfaces < MERGE_MAX_INTERFACES ?
		      array_add(&merge->interfaces, merge->num_interfaces, sizeof(*new)) :
		      NULL;
	if (!new) {
		free(block->bytes);
		return merge->num_interfaces < MERGE_MAX_INTERFACES ?
			       io_fail_no_memory(merge->io) :
			       io_fail(merge->io, -E2BIG,
				       "The captures have more than %d interfaces in total; merge fewer captures.",
				       MERGE_MAX_INTERFACES);
	}
	*new = (struct described_interface){ hash, *block };
	*number = (uint32_t)merge->num_interfaces++;
	return 0;
}

/* Write the name of an interface, such as "web/eth0", or "web" if the device is not known. */
static void put_interface_name(struct ng_block *block, const struct merged_capture *m,
			       const char *device, size_t len)
{
	char *name = io_format("%s%s%.*s", m->of.host, len ? "/" : "", (int)len, device);

	if (name)
		ng_put_option(block, OPTION_IF_NAME, name, strnlen(name, UINT16_MAX));
	block->is_lost |= !name;
	free(name);
}

/* Write the description of an interface: first the capture's description, then the caller's. */
static void put_interface_description(struct ng_block *block, const struct merged_capture *m,
				      const char *own, size_t len)
{
	const char *more = m->of.description ? m->of.description : "";
	char *text = io_format("%.*s%s%s", (int)len, own, len && *more ? "; " : "", more);

	if (text && *text)
		ng_put_text(block, OPTION_IF_DESCRIPTION, text);
	block->is_lost |= !text;
	free(text);
}

static bool is_option_replaced(uint16_t code)
{
	return code == OPTION_IF_NAME || code == OPTION_IF_DESCRIPTION ||
	       code == OPTION_IF_TSRESOL || code == OPTION_IF_TSOFFSET;
}

/* Find an option of the interface. Return false if it has no such option. */
static bool find_interface_option(const struct merged_capture *m, const struct capture_block *from,
				  uint16_t code, struct capture_option *option)
{
	size_t at = from->options;

	while (capture_next_option(&m->capture, from, &at, option))
		if (option->code == code)
			return true;
	return false;
}

static int describe_interface(struct capture_merge *merge, struct merged_capture *m,
			      const struct capture_block *from)
{
	const struct capture_interface *interface = from->kind == CAPTURE_INTERFACE ?
							    from->interface :
							    m->capture.interfaces;
	const char *device = m->of.device ? m->of.device : "", *own = "";
	size_t device_len = strlen(device), own_len = 0, at = from->options;
	const uint8_t resolution = RESOLUTION_NS;
	struct ng_block block = { .len = 0 };
	struct capture_option option;
	uint32_t *number;

	if (find_interface_option(m, from, OPTION_IF_NAME, &option) && option.len) {
		device = (const char *)option.value;
		device_len = option.len;
	}
	if (find_interface_option(m, from, OPTION_IF_DESCRIPTION, &option)) {
		own = (const char *)option.value;
		own_len = option.len;
	}
	ng_begin_block(&block, NG_INTERFACE);
	ng_put_u16(&block, interface->link);
	ng_put_u16(&block, 0);
	ng_put_u32(&block, interface->snaplen);
	put_interface_name(&block, m, device, device_len);
	put_interface_description(&block, m, own, own_len);
	ng_put_option(&block, OPTION_IF_TSRESOL, &resolution, sizeof(resolution));
	while (capture_next_option(&m->capture, from, &at, &option))
		if (!is_option_replaced(option.code))
			ng_copy_option(&block, &m->capture, from, &option);
	ng_put_option(&block, OPTION_END, NULL, 0);
	number = ng_end_block(&block) ?
			 NULL :
			 array_add(&m->interfaces, m->num_interfaces, sizeof(*number));
	if (!number) {
		free(block.bytes);
		return io_fail_no_memory(merge->io);
	}
	m->num_interfaces++;
	return number_interface(merge, &block, number);
}

/* ---- the first reading ------------------------------------------------------ */

/* Record the time of a packet, and how much later an earlier packet in the file was. */
static int scan_merged_packet(struct capture_merge *merge, struct merged_capture *m,
			      const struct capture_block *block)
{
	int64_t time_ns;
	int ret;

	if (!block->has_time) {
		m->untimed++;
		return 0;
	}
	if (block->loaded < block->size)
		return io_fail(
			merge->io, -E2BIG,
			"%s: the packet at byte %llu is longer than %zu MiB and cannot be merged.",
			m->of.path, (unsigned long long)block->at, MERGE_MAX_BLOCK >> 20);
	ret = find_merged_time(merge, m, block, block->ticks, &time_ns);
	if (ret)
		return ret < 0 ? ret : 0;
	if (!m->has_packets || time_ns < m->first_ns)
		m->first_ns = time_ns;
	if (!m->has_packets || time_ns > m->newest_ns)
		m->newest_ns = time_ns;
	if (m->newest_ns - time_ns > m->disorder_ns)
		m->disorder_ns = m->newest_ns - time_ns;
	m->has_packets = true;
	return 0;
}

static int scan_merged_block(struct capture_merge *merge, struct merged_capture *m,
			     const struct capture_block *block)
{
	int64_t time_ns;
	int ret;

	switch (block->kind) {
	case CAPTURE_HEADER:
		return m->capture.ng ? 0 : describe_interface(merge, m, block);
	case CAPTURE_INTERFACE:
		return describe_interface(merge, m, block);
	case CAPTURE_PACKET:
		return scan_merged_packet(merge, m, block);
	case CAPTURE_STATISTICS:
		/*
		 * Check all times before anything is written, so that a time that cannot be
		 * corrected is found early.
		 */
		ret = find_merged_time(merge, m, block, block->ticks, &time_ns);
		return ret < 0 ? ret : 0;
	default:
		m->others += block->type != NG_NAMES && block->type != NG_SECRETS;
		return 0;
	}
}

static void warn_of_skipped_blocks(const struct capture_merge *merge,
				   const struct merged_capture *m)
{
	if (m->untimed)
		io_warn(merge->io, "%s: %llu packets without a time were skipped.", m->of.path,
			(unsigned long long)m->untimed);
	if (m->others)
		io_warn(merge->io,
			"%s: %llu blocks were skipped, because they are neither packets nor other blocks that can be merged.",
			m->of.path, (unsigned long long)m->others);
}

static int scan_merged_capture(struct capture_merge *merge, struct merged_capture *m)
{
	struct capture_block block;
	int ret = open_merged_capture(merge, m);

	while (!ret && (ret = read_merged_block(merge, m, &block)) > 0)
		ret = scan_merged_block(merge, m, &block);
	if (!ret)
		warn_of_skipped_blocks(merge, m);
	if (!ret && m->end == UINT64_MAX)
		m->end = m->capture.next;
	close_merged_capture(m);
	merge->done += m->size;
	/* If a capture has no packets, it may have statistics. It is written last. */
	if (!m->has_packets)
		m->first_ns = INT64_MAX;
	m->newest_ns = INT64_MIN;
	return ret;
}

/* ---- writing ---------------------------------------------------------------- */

static int flush_merged_output(struct capture_merge *merge)
{
	size_t at = 0;

	while (at < merge->out_len) {
		const ssize_t len = write(merge->fd, merge->out + at, merge->out_len - at);

		if (len < 0 && errno != EINTR) {
			return io_fail(merge->io, -errno, "Cannot write the merged capture: %s.",
				       strerror(errno));
		}
		at += len < 0 ? 0 : (size_t)len;
	}
	merge->out_len = 0;
	return 0;
}

static int write_merged_bytes(struct capture_merge *merge, const uint8_t *bytes, size_t len)
{
	while (len) {
		const size_t room = sizeof(merge->out) - merge->out_len;
		const size_t part = len < room ? len : room;
		int ret;

		memcpy(merge->out + merge->out_len, bytes, part);
		merge->out_len += part;
		bytes += part;
		len -= part;
		ret = merge->out_len == sizeof(merge->out) ? flush_merged_output(merge) : 0;
		if (ret)
			return ret;
	}
	return 0;
}

/* End the current block, and write it. */
static int write_merged_block(struct capture_merge *merge)
{
	if (ng_end_block(&merge->block))
		return io_fail_no_memory(merge->io);
	return write_merged_bytes(merge, merge->block.bytes, merge->block.len);
}

static int write_merged_section(struct capture_merge *merge, const char *comment)
{
	/* The section has the byte order magic, the version 1.0 and an unknown length. */
	static const uint16_t version[] = { 1, 0 };
	static const int64_t length = -1;
	int ret;

	ng_begin_block(&merge->block, NG_SECTION);
	ng_put_u32(&merge->block, NG_ORDER);
	ng_put_bytes(&merge->block, version, sizeof(version));
	ng_put_bytes(&merge->block, &length, sizeof(length));
	if (comment)
		ng_put_text(&merge->block, OPTION_COMMENT, comment);
	ng_put_text(&merge->block, OPTION_SHB_USERAPPL, "netsync " NETSYNC_VERSION);
	ng_put_option(&merge->block, OPTION_END, NULL, 0);
	ret = write_merged_block(merge);
	for (size_t i = 0; i < merge->num_interfaces && !ret; i++)
		ret = write_merged_bytes(merge, merge->interfaces[i].block.bytes,
					 merge->interfaces[i].block.len);
	return ret;
}

static uint32_t get_output_interface(const struct merged_capture *m,
				     const struct capture_block *block)
{
	return m->interfaces[m->section + block->interface_id];
}

/* If a block has options from offset @first on, append the mark of the end of the options. */
static void end_block_options(struct ng_block *to, size_t first)
{
	if (to->len > first)
		ng_put_option(to, OPTION_END, NULL, 0);
}

static int write_merged_statistics(struct capture_merge *merge, const struct merged_capture *m,
				   const struct capture_block *block)
{
	struct ng_block *to = &merge->block;
	struct capture_option option;
	size_t at = block->options, first;
	int64_t time_ns;
	int ret = find_merged_time(merge, m, block, block->ticks, &time_ns);

	ng_begin_block(to, NG_STATISTICS);
	ng_put_u32(to, get_output_interface(m, block));
	ng_put_time(to, time_ns);
	first = to->len;
	while (ret >= 0 && capture_next_option(&m->capture, block, &at, &option)) {
		if ((option.code != OPTION_ISB_START && option.code != OPTION_ISB_END) ||
		    option.len != 8) {
			ng_copy_option(to, &m->capture, block, &option);
			continue;
		}
		ret = find_merged_time(merge, m, block,
				       capture_read_ticks(&m->capture, option.value), &time_ns);
		ng_put_u16(to, option.code);
		ng_put_u16(to, option.len);
		ng_put_time(to, time_ns);
	}
	end_block_options(to, first);
	return ret < 0 ? ret : write_merged_block(merge);
}

static int make_packet_block(const struct merged_capture *m, const struct capture_block *block,
			     int64_t time_ns, struct ng_block *to)
{
	/*
	 * In an obsolete packet block, the number of lost packets is in this place, or all bits are
	 * ones.
	 */
	const uint16_t drops = block->type == NG_OLD_PACKET ?
				       capture_read_u16(&m->capture, block->bytes + 10) :
				       UINT16_MAX;
	const uint64_t lost = drops;
	struct capture_option option;
	size_t at = block->options, first;

	ng_begin_block(to, NG_PACKET);
	ng_put_u32(to, get_output_interface(m, block));
	ng_put_time(to, time_ns);
	ng_put_u32(to, (uint32_t)block->captured);
	ng_put_u32(to, block->original);
	ng_put_padded(to, block->data, block->captured);
	first = to->len;
	while (capture_next_option(&m->capture, block, &at, &option))
		ng_copy_option(to, &m->capture, block, &option);
	if (drops != UINT16_MAX && drops)
		ng_put_option(to, OPTION_EPB_DROPS, &lost, sizeof(lost));
	end_block_options(to, first);
	return ng_end_block(to);
}

/* ---- the second reading ----------------------------------------------------- */

static int hold_merged_packet(struct capture_merge *merge, struct merged_capture *m,
			      const struct capture_block *block)
{
	struct time_heap_item item = { .rank = m->num_held };
	struct held_packet *held;
	int64_t time_ns;
	const int ret = find_merged_time(merge, m, block, block->ticks, &time_ns);

	if (ret)
		return ret < 0 ? ret : 0;
	if (make_packet_block(m, block, time_ns, &merge->block) ||
	    array_grow(&m->held.items, &m->held_room, m->held.num, sizeof(*m->held.items)))
		return io_fail_no_memory(merge->io);
	m->held_bytes += merge->block.len;
	if (m->held_bytes > MAX_HELD && m->held.num)
		return io_fail(
			merge->io, -E2BIG,
			"%s: packets are out of order by up to %.3f s, which is too much to merge; sort the capture with \"reordercap %s SORTED\" and merge SORTED.",
			m->of.path, (double)m->disorder_ns / 1e9, m->of.path);
	item.time_ns = time_ns;
	item.stream = malloc(sizeof(*held) + merge->block.len);
	held = item.stream;
	if (!held)
		return io_fail_no_memory(merge->io);
	held->len = merge->block.len;
	memcpy(held->bytes, merge->block.bytes, held->len);
	time_heap_add(&m->held, item);
	m->num_held++;
	if (time_ns > m->newest_ns)
		m->newest_ns = time_ns;
	return 0;
}

static int use_merged_block(struct capture_merge *merge, struct merged_capture *m,
			    const struct capture_block *block)
{
	if (block->interface && m->section + block->interface_id >= m->num_interfaces)
		return io_fail(merge->io, -EILSEQ,
			       "%s: the file changed while it was being merged.", m->of.path);
	switch (block->type) {
	case NG_NAMES:
		return ng_copy_names(&merge->block, &m->capture, block) ?
			       write_merged_block(merge) :
			       0;
	case NG_SECRETS:
		return ng_copy_secrets(&merge->block, &m->capture, block) ?
			       write_merged_block(merge) :
			       0;
	case NG_STATISTICS:
		return write_merged_statistics(merge, m, block);
	default:
		return block->kind == CAPTURE_PACKET && block->has_time ?
			       hold_merged_packet(merge, m, block) :
			       0;
	}
}

/*
 * Read until no later packet can be earlier than the first deferred packet. Blocks that have no
 * place among the packets are written immediately.
 */
static int hold_more_packets(struct capture_merge *merge, struct merged_capture *m)
{
	struct capture_block block;
	int ret = 0;

	while (!ret && m->is_open &&
	       (!m->held.num || m->newest_ns - m->disorder_ns < m->held.items[0].time_ns)) {
		ret = read_merged_block(merge, m, &block);
		if (ret > 0) {
			ret = use_merged_block(merge, m, &block);
		} else if (!ret) {
			close_merged_capture(m);
			merge->done += m->size;
		}
	}
	return ret;
}

static int write_first_held_packet(struct capture_merge *merge, struct merged_capture *m)
{
	struct held_packet *held = m->held.items[0].stream;
	const int ret = write_merged_bytes(merge, held->bytes, held->len);

	m->held_bytes -= held->len;
	time_heap_end_first(&m->held);
	free(held);
	return ret;
}

static int write_merged_packets(struct capture_merge *merge)
{
	struct time_heap heap = { calloc(merge->num, sizeof(*heap.items)), 0 };
	int ret = heap.items ? 0 : io_fail_no_memory(merge->io);

	for (size_t i = 0; i < merge->num && !ret; i++)
		time_heap_add(&heap, (struct time_heap_item){ merge->captures[i].first_ns,
							      &merge->captures[i], i });
	while (!ret && heap.num) {
		struct merged_capture *m = heap.items[0].stream;

		if (m->has_begun)
			ret = write_first_held_packet(merge, m);
		else
			ret = open_merged_capture(merge, m);
		m->has_begun = true;
		if (!ret)
			ret = hold_more_packets(merge, m);
		if (m->held.num)
			time_heap_advance_first(&heap, m->held.items[0].time_ns);
		else
			time_heap_end_first(&heap);
	}
	free(heap.items);
	return ret ? ret : flush_merged_output(merge);
}

/* ---- the public call --------------------------------------------------------- */

static int copy_given_captures(struct capture_merge *merge,
			       const struct netsync_io_capture *captures, uint32_t num,
			       size_t capture_size)
{
	const size_t known = sizeof(struct netsync_io_capture);

	merge->captures = calloc(num, sizeof(*merge->captures));
	if (!merge->captures)
		return io_fail_no_memory(merge->io);
	for (merge->num = 0; merge->num < num; merge->num++) {
		struct merged_capture *m = &merge->captures[merge->num];
		struct stat st;

		memcpy(&m->of, (const char *)captures + merge->num * capture_size,
		       capture_size < known ? capture_size : known);
		if (io_stat_file(merge->io, m->of.path, &st))
			return io_fail_file(merge->io, m->of.path, -errno);
		m->size = (uint64_t)st.st_size;
		m->end = UINT64_MAX;
		merge->total += 2 * m->size;
	}
	return 0;
}

static void release_capture_merge(struct capture_merge *merge)
{
	for (size_t i = 0; i < merge->num; i++) {
		struct merged_capture *m = &merge->captures[i];

		close_merged_capture(m);
		while (m->held.num)
			free(m->held.items[--m->held.num].stream);
		free(m->held.items);
		free(m->interfaces);
	}
	for (size_t i = 0; i < merge->num_interfaces; i++)
		free(merge->interfaces[i].block.bytes);
	free(merge->interfaces);
	free(merge->captures);
	free(merge->block.bytes);
	free(merge);
}

int netsync_io_merge_captures(struct netsync_io *io, const struct netsync_io_capture *captures,
			      uint32_t num, size_t capture_size, const char *comment, int fd,
			      netsync_io_progress_func progress, void *data)
{
	struct capture_merge *merge;
	int ret;

	if (!num || capture_size < sizeof(struct netsync_io_capture))
		return io_fail(io, -EINVAL, "No capture was given to merge.");
	merge = calloc(1, sizeof(*merge));
	if (!merge)
		return io_fail_no_memory(io);
	merge->io = io;
	merge->fd = fd;
	merge->progress = progress;
	merge->progress_data = data;
	ret = copy_given_captures(merge, captures, num, capture_size);
	for (size_t i = 0; i < merge->num && !ret; i++)
		ret = scan_merged_capture(merge, &merge->captures[i]);
	if (!ret)
		ret = write_merged_section(merge, comment);
	if (!ret)
		ret = write_merged_packets(merge);
	release_capture_merge(merge);
	return ret;
}
