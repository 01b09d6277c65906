// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffers.h"

/*
 * Longest time between two reads of a buffer by LTTng, ms. LTTng reads when its timer expires
 * (READ_US), and a connection may wait for lost packets (TCP retransmits after 0.2 s, then 0.4 s,
 * and so on). Chosen; twice the time takes twice the memory.
 */
#define HOLD_MS 2000

/*
 * Amount of data on each processor in HOLD_MS. One processor may have to handle all packets of a
 * machine if the network card has only one queue, or if all packets belong to one connection on the
 * loopback interface.
 *
 * One processor handles 100,000 packets per second for a connection of 1 Gbit/s (81,000 full
 * frames) with its replies. A packet event takes 73 bytes (net_dev_queue) or 86 bytes
 * (inet_sock_local_in, IPv4), and 24 bytes more with IPv6, as measured in the traces of
 * selftests/data.
 *
 * The same number of other events is assumed, with 64 bytes each, which is the size of
 * sched_switch.
 */
#define EVENT_RATE 100000
#define PACKET_BYTES 110
#define OTHER_BYTES 64

/*
 * Usual number of sub-buffers, and limits of their size in bytes. Sub-buffers are filled and read
 * as a whole. With 16 sub-buffers, the one being filled and the one being read take an eighth of
 * the memory. Sizes above 2 MiB save nothing, because copying the data of a sub-buffer then takes
 * far longer than the overhead of reading it. Chosen.
 */
#define USUAL_NUM 16
#define USUAL_MIN (UINT64_C(16) << 10)
#define USUAL_MAX (UINT64_C(2) << 20)

/*
 * Period in which LTTng reads channels of the kernel, and its minimum, us. Channels of user
 * space need no such period.
 */
#define READ_US 200000
#define READ_MIN_US 10000

unsigned int buffers_get_event_bytes(const char *channel)
{
	return strcmp(channel, CHANNEL_PACKETS) ? OTHER_BYTES : PACKET_BYTES;
}

static uint64_t compute_byte_rate(const char *channel)
{
	return (uint64_t)EVENT_RATE * buffers_get_event_bytes(channel);
}

static struct buffers halve_buffers(struct buffers buffers)
{
	if (buffers.size > USUAL_MIN)
		buffers.size /= 2;
	else if (buffers.num > BUFFER_NUM_MIN)
		buffers.num /= 2;
	else
		buffers.size /= 2;
	return buffers;
}

struct buffers buffers_choose_for(uint64_t bytes)
{
	struct buffers buffers = { USUAL_MIN, USUAL_NUM };

	/* Two sub-buffers add no capacity, because one is being filled and one is being read. */
	while (buffers.size < USUAL_MAX && buffers.size * (buffers.num - 2) < bytes)
		buffers.size *= 2;
	while (buffers.num < BUFFER_NUM_MAX && buffers.size * (buffers.num - 2) < bytes)
		buffers.num *= 2;
	while (buffers.size < BUFFER_SIZE_MAX && buffers.size * (buffers.num - 2) < bytes)
		buffers.size *= 2;
	return buffers;
}

struct buffers buffers_adapt_to_pause(struct buffers buffers, unsigned int seconds)
{
	while (buffers.num < BUFFER_NUM_MAX && buffers.num - 2 < seconds) {
		buffers.num *= 2;
		if (buffers.size > USUAL_MIN)
			buffers.size /= 2;
	}
	return buffers;
}

struct buffers buffers_choose_default(const char *channel, uint64_t room)
{
	struct buffers buffers = buffers_choose_for(compute_byte_rate(channel) / 1000 * HOLD_MS);

	while (buffers_get_bytes(buffers) > room &&
	       buffers_get_bytes(buffers) > BUFFER_SIZE_MIN * BUFFER_NUM_MIN)
		buffers = halve_buffers(buffers);
	return buffers;
}

/* Return a quarter of the time in which the buffers fill, within limits, us. */
unsigned int buffers_compute_read_us(const char *channel, struct buffers buffers)
{
	const double fill_us = 1e6 * buffers_get_bytes(buffers) / compute_byte_rate(channel);

	return fill_us / 4 > READ_US	 ? READ_US :
	       fill_us / 4 < READ_MIN_US ? READ_MIN_US :
					   fill_us / 4;
}

static bool is_power_of_two(uint64_t number)
{
	return number && !(number & (number - 1));
}

bool buffers_are_valid(struct buffers buffers)
{
	return is_power_of_two(buffers.size) && is_power_of_two(buffers.num) &&
	       buffers.size >= BUFFER_SIZE_MIN && buffers.size <= BUFFER_SIZE_MAX &&
	       buffers.num >= BUFFER_NUM_MIN && buffers.num <= BUFFER_NUM_MAX;
}

bool buffers_parse(struct buffers *buffers, const char *text)
{
	static const char units[] = "kMG";
	unsigned long long num, size;
	const char *unit;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	num = strtoull(text, &end, 10);
	if (*end != 'x' || end[1] < '0' || end[1] > '9')
		return false;
	size = strtoull(end + 1, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	if (size > BUFFER_SIZE_MAX || (*end && (!unit || end[1])))
		return false;
	if (unit)
		size <<= 10 * (unit - units + 1);
	*buffers = (struct buffers){ size, num };
	return buffers_are_valid(*buffers);
}

char *buffers_format(char *text, struct buffers buffers)
{
	const bool mega = buffers.size >= 1 << 20;

	snprintf(text, BUFFERS_TEXT, "%llux%llu%c", (unsigned long long)buffers.num,
		 (unsigned long long)(buffers.size >> (mega ? 20 : 10)), mega ? 'M' : 'k');
	return text;
}
