// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Records that a worker puts -> its socket. A timer ends a worker that gives no sign of
 * life; at a fatal signal the records put before are still sent.
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

/* Bytes that malloc() asks the kernel for at least (glibc: MMAP_AS_MORECORE_SIZE). */
#define PROBE_SIZE (1 << 20)

static struct {
	int fd;
	struct worker_limits limits;
	struct worker_life *life;	/* NULL: this process is no worker */
	time_t set_s;		/* second of CLOCK_MONOTONIC_COARSE when the timer was set */
	size_t used;		/* bytes put and not sent */
	char bytes[65536];	/* chosen: one call of write() for some hundred records */
} out;

static time_t get_coarse_time_s(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec;
}

/* Start the timer, whose signal ends the worker; 0: stop it. */
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

/* Called every few events: a system call each time would take as long as the events. */
void worker_is_alive(void)
{
	count_worker_beat();
	if (out.set_s != get_coarse_time_s())
		set_timer(out.limits.seconds);
}

/* Send what was put. If the caller is gone, SIGPIPE ends the worker, or EPIPE the loop. */
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
	/* It takes as long as the caller wants. */
	set_worker_idle(true);
	write_put_records();
	set_worker_idle(false);
	count_worker_beat();
	out.used = 0;
	set_timer(out.limits.seconds);
}

/*
 * Does a signal mean that memory is used up? GLib then ends a program by SIGTRAP, or by
 * SIGABRT if its message needs memory, too; Babeltrace 2.0 may use a NULL of malloc().
 */
static bool is_out_of_memory(int number)
{
	void *probe;

	if (number == SIGALRM || number == SIGPROF)
		return false;
	if (number == SIGTRAP || errno == ENOMEM)
		return true;
	probe = mmap(NULL, PROBE_SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (probe == MAP_FAILED)
		return true;
	munmap(probe, PROBE_SIZE);
	return false;
}

/* Handler of fatal signals: send what was put before, which is good, and end. */
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
		SIGABRT, SIGALRM, SIGBUS, SIGFPE, SIGILL, SIGPROF, SIGSEGV,
		SIGTRAP,
	};
	const struct sigaction action = {
		.sa_handler = end_by_signal,
		.sa_flags = SA_RESETHAND,
	};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
}

void worker_put(uint16_t what, uint16_t number, const void *data, size_t size)
{
	const struct worker_head head = { .size = size, .what = what,
					 .number = number };

	if (out.used + sizeof(head) + size > sizeof(out.bytes))
		worker_flush();
	memcpy(out.bytes + out.used, &head, sizeof(head));
	memcpy(out.bytes + out.used + sizeof(head), data, size);
	out.used += sizeof(head) + size;
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

bool worker_was_told(void)
{
	return poll_socket(POLLIN, 0);
}

void worker_hear(void *data, size_t size)
{
	size_t done = 0;

	/* A caller that has sent the next command does not wait for records. */
	if (!poll_socket(POLLIN, 0))
		worker_flush();
	set_timer(0);
	set_worker_idle(true);
	while (done < size) {
		ssize_t num = read(out.fd, (char *)data + done, size - done);

		if (!num || (num < 0 && errno != EINTR))
			_exit(0);
		if (num > 0)
			done += num;
	}
	set_worker_idle(false);
	count_worker_beat();
	set_timer(out.limits.seconds);
}

void worker_begin(int fd, const struct worker_limits *limits, struct worker_life *life)
{
	out.fd = fd;
	out.limits = *limits;
	out.life = life;
	/* Records in this copy of memory are those of the worker that started this one. */
	out.used = 0;
	catch_signals();
	set_timer(out.limits.seconds);
}
