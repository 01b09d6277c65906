// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Send a worker's records through its socket. A timer ends a worker that shows no progress. If a
 * fatal signal arrives, the records that were collected before are still sent.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "io/worker/worker.h"

/* Minimum number of bytes that malloc() requests from the kernel (glibc: MMAP_AS_MORECORE_SIZE). */
#define PROBE_SIZE (1 << 20)

static struct {
	int fd;
	struct worker_limits limits;
	struct worker_life *life; /* NULL if this process is not a worker */
	time_t set_s;		  /* second of CLOCK_MONOTONIC_COARSE in which the timer was set */
	size_t used;		  /* number of bytes that are collected but not sent yet */
	struct worker_head last;  /* header of the record that was collected last */
	size_t last_at;		  /* offset of this record if it was reserved, otherwise SIZE_MAX */
	/*
	 * Collected records. Chosen so that one call of write() sends several hundred events, which
	 * keeps both processes busy.
	 */
	uint8_t bytes[8192];
} out;

/*
 * Commands that were received but not read yet. Chosen as the number of commands that arrive
 * together.
 */
static struct {
	size_t at, num;
	uint8_t bytes[4096];
} heard;

static time_t get_coarse_time_s(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec;
}

/* Start the timer. The timer's signal ends the worker. 0 stops the timer. */
static void set_timer(unsigned int seconds)
{
	const struct itimerval time = { .it_value.tv_sec = seconds };

	if (!out.limits.seconds)
		return;
	setitimer(out.limits.timer, &time, NULL);
	out.set_s = get_coarse_time_s();
}

/* ---- progress ------------------------------------------------------------ */

static void count_worker_beat(void)
{
	if (out.life)
		__atomic_add_fetch(&out.life->beats, 1, __ATOMIC_RELAXED);
}

static void set_worker_idle(bool is_idle)
{
	__atomic_store_n(&out.life->is_idle, is_idle, __ATOMIC_RELAXED);
}

void worker_begin_part(uint64_t part)
{
	__atomic_store_n(&out.life->doing, part, __ATOMIC_RELAXED);
}

void worker_begin_waiting(void)
{
	if (out.life)
		__atomic_store_n(&out.life->is_waiting, 1, __ATOMIC_RELAXED);
}

void worker_end_waiting(bool has_progress)
{
	if (!out.life)
		return;
	if (has_progress)
		count_worker_beat();
	__atomic_store_n(&out.life->is_waiting, 0, __ATOMIC_RELAXED);
}

/*
 * Called every few events. A system call in each call would take as long as processing the events.
 */
void worker_is_alive(void)
{
	count_worker_beat();
	if (out.set_s != get_coarse_time_s())
		set_timer(out.limits.seconds);
}

/*
 * Send the collected records. If the caller is gone, SIGPIPE ends the worker, or EPIPE ends this
 * loop.
 */
static void write_put_records(void)
{
	size_t done = 0;

	while (done < out.used) {
		ssize_t num = write(out.fd, out.bytes + done, out.used - done);

		if (num < 0 && errno != EINTR)
			return;
		if (num > 0)
			done += num;
	}
}

/* ---- records ------------------------------------------------------------- */

void worker_flush(void)
{
	set_timer(0);
	/* How long writing takes depends on the caller. */
	set_worker_idle(true);
	write_put_records();
	set_worker_idle(false);
	count_worker_beat();
	out.used = 0;
	out.last_at = SIZE_MAX;
	set_timer(out.limits.seconds);
}

/*
 * Return whether a signal means that memory is exhausted. In this case, GLib ends a program by
 * SIGTRAP, or by SIGABRT if its message needs memory, too. Babeltrace 2.0 may use the result of
 * malloc() even if it is NULL.
 */
static bool is_out_of_memory(int number)
{
	void *probe;

	if (number == SIGALRM || number == SIGPROF)
		return false;
	if (number == SIGTRAP || errno == ENOMEM)
		return true;
	probe = mmap(NULL, PROBE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (probe == MAP_FAILED)
		return true;
	munmap(probe, PROBE_SIZE);
	return false;
}

/* Handle a fatal signal: send the valid records that have been collected, and end. */
static void end_by_signal(int number)
{
	const bool no_memory = is_out_of_memory(number);

	write_put_records();
	if (no_memory)
		_exit(WORKER_NO_MEMORY);
	raise(number);
}

static void catch_signals(void)
{
	static const int signals[] = {
		SIGABRT, SIGALRM, SIGBUS, SIGFPE, SIGILL, SIGPROF, SIGSEGV, SIGTRAP,
	};
	const struct sigaction action = {
		.sa_handler = end_by_signal,
		.sa_flags = SA_RESETHAND,
	};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
}

/* Begin a record. Reserve @most bytes after its header. */
static uint8_t *begin_record(const struct worker_head *head, size_t most)
{
	uint8_t *at;

	if (out.used + WORKER_HEAD_SIZE + most > sizeof(out.bytes))
		worker_flush();
	at = out.bytes + out.used;
	worker_encode_head(at, head);
	return at + WORKER_HEAD_SIZE;
}

void worker_put(uint16_t what, uint16_t number, const void *data, size_t size)
{
	const struct worker_head head = { .size = size, .what = what, .number = number };

	memcpy(begin_record(&head, size), data, size);
	out.used += WORKER_HEAD_SIZE + size;
	out.last_at = SIZE_MAX;
}

uint8_t *worker_reserve_bytes(uint16_t what, uint16_t number, size_t most)
{
	if (out.last_at < SIZE_MAX && out.last.what == what && out.last.number == number &&
	    out.last.size + most <= WORKER_MAX_SIZE && out.used + most <= sizeof(out.bytes))
		return out.bytes + out.used;
	out.last = (struct worker_head){ .what = what, .number = number };
	begin_record(&out.last, most);
	out.last_at = out.used;
	out.used += WORKER_HEAD_SIZE;
	return out.bytes + out.used;
}

void worker_commit_bytes(const uint8_t *end)
{
	out.used = end - out.bytes;
	out.last.size = out.used - out.last_at - WORKER_HEAD_SIZE;
	worker_encode_head(out.bytes + out.last_at, &out.last);
}

void worker_put_text(uint16_t what, uint16_t number, const char *text)
{
	char copy[WORKER_MAX_SIZE];

	snprintf(copy, sizeof(copy), "%s", text);
	worker_put(what, number, copy, strlen(copy) + 1);
}

static bool poll_socket(short events, int timeout_ms)
{
	struct pollfd fd = { .fd = out.fd, .events = events };

	return poll(&fd, 1, timeout_ms) > 0;
}

bool worker_is_alone(int timeout_ms)
{
	return poll_socket(0, timeout_ms);
}

bool worker_has_command(void)
{
	return heard.at < heard.num || poll_socket(POLLIN, 0);
}

/* Wait for commands. */
static void receive_commands(void)
{
	ssize_t num;

	/* If the caller has already sent the next command, it is not waiting for records. */
	if (!poll_socket(POLLIN, 0))
		worker_flush();
	set_timer(0);
	set_worker_idle(true);
	while ((num = read(out.fd, heard.bytes, sizeof(heard.bytes))) < 0 && errno == EINTR)
		;
	if (num <= 0)
		_exit(0);
	heard.at = 0;
	heard.num = num;
	set_worker_idle(false);
	count_worker_beat();
	set_timer(out.limits.seconds);
}

void worker_read_command(void *data, size_t size)
{
	for (size_t done = 0; done < size;) {
		size_t num;

		if (heard.at == heard.num)
			receive_commands();
		num = heard.num - heard.at < size - done ? heard.num - heard.at : size - done;
		memcpy((char *)data + done, heard.bytes + heard.at, num);
		heard.at += num;
		done += num;
	}
}

void worker_begin(int fd, const struct worker_limits *limits, struct worker_life *life)
{
	out.fd = fd;
	out.limits = *limits;
	out.life = life;
	/* Records in this copy of the memory belong to the worker that has started this worker. */
	out.used = 0;
	out.last_at = SIZE_MAX;
	heard.at = heard.num = 0;
	catch_signals();
	set_timer(out.limits.seconds);
}
