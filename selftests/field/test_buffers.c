// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check the sizes of trace buffers: they must be large enough for the events of a pause, and must
 * fit in memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "record/agent/buffers.h"

#define PLENTY (UINT64_C(1) << 40)

/* Packets per second that one processor must handle, and size of each event, bytes. */
#define RATE 100000
#define IPV6_BYTES 110

static const char *const channels[] = { CHANNEL_PACKETS, CHANNEL_KERNEL, CHANNEL_USER };

/*
 * Return the usable capacity of the buffers. Two sub-buffers do not count, because one is being
 * filled and one is being read.
 */
static uint64_t count_held_bytes(struct buffers buffers)
{
	return buffers.size * (buffers.num - 2);
}

/*
 * Return true if no event is lost in @seconds when LTTng reads periodically, but sometimes stops
 * for @stall_us.
 */
static bool do_buffers_keep_up(struct buffers buffers, unsigned int read_us, unsigned int stall_us,
			       unsigned int seconds)
{
	const uint64_t period_us = read_us > stall_us ? read_us : stall_us;
	const uint64_t rate = (uint64_t)RATE * IPV6_BYTES;
	uint64_t filled = 0;

	for (uint64_t us = 0; us < seconds * UINT64_C(1000000); us += period_us) {
		filled += rate * period_us / 1000000;
		if (filled > buffers_get_bytes(buffers))
			return false;
		/* A sub-buffer that is not full is not read. */
		filled %= buffers.size;
	}
	return true;
}

static void test_hundred_thousand(void **state)
{
	const struct buffers buffers = buffers_choose_default(CHANNEL_PACKETS, PLENTY);
	const unsigned int read_us = buffers_compute_read_us(CHANNEL_PACKETS, buffers);

	(void)state;
	assert_true(do_buffers_keep_up(buffers, read_us, 0, 60));
	assert_true(do_buffers_keep_up(buffers, read_us, 2000000, 60));
	assert_true(count_held_bytes(buffers) >= (uint64_t)RATE * IPV6_BYTES * 2);
	/* The eight sub-buffers of 2 MiB of earlier versions did not suffice. */
	assert_false(do_buffers_keep_up((struct buffers){ 2 << 20, 8 }, 200000, 2000000, 60));
	/*
	 * Less memory suffices if LTTng stops for a shorter time. The least memory is an eighth of
	 * 1 GiB, divided among four processors.
	 */
	for (uint64_t room = PLENTY; room >= 32 << 20; room /= 2) {
		const struct buffers less = buffers_choose_default(CHANNEL_PACKETS, room);

		assert_true(do_buffers_keep_up(less, buffers_compute_read_us(CHANNEL_PACKETS, less),
					       1000000, 60));
	}
	/* If there is little memory, LTTng must read more often. */
	for (uint64_t room = 32 << 20; room >= 1 << 20; room /= 2) {
		const struct buffers less = buffers_choose_default(CHANNEL_PACKETS, room);

		assert_true(do_buffers_keep_up(less, buffers_compute_read_us(CHANNEL_PACKETS, less),
					       0, 60));
	}
}

static void test_within_room(void **state)
{
	(void)state;
	for (unsigned int c = 0; c < 3; c++)
		for (uint64_t room = 1 << 14; room < PLENTY; room += room / 3) {
			const struct buffers buffers = buffers_choose_default(channels[c], room);

			assert_true(buffers_are_valid(buffers));
			assert_true(buffers_get_bytes(buffers) <= room);
			assert_true(buffers_compute_read_us(channels[c], buffers) <= 200000);
		}
}

static void test_chosen_buffer_sizes(void **state)
{
	(void)state;
	for (uint64_t bytes = 1; bytes < PLENTY; bytes += bytes / 3 + 1) {
		const struct buffers buffers = buffers_choose_for(bytes);

		assert_true(buffers_are_valid(buffers));
		assert_true(count_held_bytes(buffers) >= bytes);
		assert_true(bytes < 1 << 18 || buffers_get_bytes(buffers) < 3 * bytes);
	}
	/* If more is requested than LTTng allows, the maximum is used. */
	assert_true(buffers_are_valid(buffers_choose_for(UINT64_MAX)));
}

/*
 * During a pause, each second fills one more sub-buffer. The buffers take no more memory than
 * without a pause.
 */
static void test_pause_held(void **state)
{
	const struct buffers usual = { 1 << 20, 16 };

	(void)state;
	for (unsigned int seconds = 1; seconds < 5000; seconds += seconds / 3 + 1) {
		const struct buffers buffers = buffers_adapt_to_pause(usual, seconds);

		assert_true(buffers_are_valid(buffers));
		assert_true(buffers.num - 2 >= seconds || buffers.num == BUFFER_NUM_MAX);
		assert_true(buffers_get_bytes(buffers) >= buffers_get_bytes(usual));
		assert_true(seconds > 900 ||
			    buffers_get_bytes(buffers) == buffers_get_bytes(usual));
	}
	assert_int_equal(buffers_adapt_to_pause(usual, 30).num, 32);
}

static void test_buffers_text(void **state)
{
	static const struct {
		const char *text;
		struct buffers buffers; /* 0 if the size in the text is invalid */
	} all[] = {
		{ "16x2M", { 2 << 20, 16 } },
		{ "2x4k", { 4096, 2 } },
		{ "2x4096", { 4096, 2 } },
		{ "4096x1G", { 1 << 30, 4096 } },
		{ "", { 0, 0 } },
		{ "x", { 0, 0 } },
		{ "16", { 0, 0 } },
		{ "16x", { 0, 0 } },
		{ "16xM", { 0, 0 } },
		{ "x2M", { 0, 0 } },
		{ "-16x2M", { 0, 0 } },
		{ "16x-2M", { 0, 0 } },
		{ "16x 2M", { 0, 0 } },
		{ "3x2M", { 0, 0 } },
		{ "16x3M", { 0, 0 } },
		{ "1x2M", { 0, 0 } },
		{ "16x2k", { 0, 0 } },
		{ "16x2T", { 0, 0 } },
		{ "16x2MB", { 0, 0 } },
		{ "16x2G", { 0, 0 } },
		{ "8192x1M", { 0, 0 } },
		{ "16x18446744073709551616", { 0, 0 } },
		{ "99999999999999999999x2M", { 0, 0 } },
	};
	char back[BUFFERS_TEXT];
	struct buffers buffers;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		assert_int_equal(buffers_parse(&buffers, all[i].text), all[i].buffers.num != 0);
		if (!all[i].buffers.num)
			continue;
		assert_int_equal(buffers.num, all[i].buffers.num);
		assert_int_equal(buffers.size, all[i].buffers.size);
		assert_true(buffers_parse(&buffers, buffers_format(back, buffers)));
		assert_int_equal(buffers.num, all[i].buffers.num);
		assert_int_equal(buffers.size, all[i].buffers.size);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hundred_thousand),    cmocka_unit_test(test_within_room),
		cmocka_unit_test(test_chosen_buffer_sizes), cmocka_unit_test(test_pause_held),
		cmocka_unit_test(test_buffers_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
