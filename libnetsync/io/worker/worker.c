// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Run a task in a child process with limited resources. Receive the process's records and exit
 * status.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <linux/sockios.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "io/worker/worker.h"

/* Size of the buffer for received bytes. Chosen as the size of a pipe in Linux. */
#define BUFFER_SIZE 65536

/*
 * Limit private writable memory (RLIMIT_DATA) to what the process uses already, which is much with
 * a sanitizer, plus @bytes.
 */
static void limit_memory(uint64_t bytes)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long data;
	struct rlimit limit;

	if (!file)
		return;
	if (fscanf(file, "%*u %*u %*u %*u %*u %llu", &data) == 1 &&
	    !getrlimit(RLIMIT_DATA, &limit)) {
		bytes += data * sysconf(_SC_PAGESIZE);
		if (bytes < limit.rlim_cur)
			limit.rlim_cur = bytes;
		setrlimit(RLIMIT_DATA, &limit);
	}
	fclose(file);
}

/*
 * Let the kernel's OOM killer end workers before other processes. Many workers together may need
 * more memory than the machine has, even if each is within its limit.
 */
static void prefer_oom_kill(void)
{
	static const char most[] = "1000";
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, most, strlen(most)) < 0)
		errno = 0;
	close(fd);
}

static bool is_file_kept(int file, int fd, const struct worker_task *task)
{
	for (size_t i = 0; i < task->num_keep; i++)
		if (task->keep[i] == file)
			return true;
	return file == fd;
}

/*
 * Close the sockets of other workers. Otherwise, the caller would not notice when these workers
 * end.
 */
static void close_other_files(int fd, const struct worker_task *task)
{
	const int null = open("/dev/null", O_RDWR);
	int last = fd > STDERR_FILENO ? fd : STDERR_FILENO;

	for (size_t i = 0; i < task->num_keep; i++)
		if (task->keep[i] > last)
			last = task->keep[i];
	for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
		if (!is_file_kept(i, fd, task))
			dup2(null, i);
	for (int i = STDERR_FILENO + 1; i < last; i++)
		if (!is_file_kept(i, fd, task))
			close(i);
	close_range(last + 1, ~0U, 0);
}

/* In the child process, release the caller's files and signal handlers, and set limits. */
static void become_worker(int fd, const struct worker_task *task)
{
	static const int signals[] = { SIGPIPE, SIGTERM, SIGHUP };
	const struct rlimit no_core = { 0 };
	sigset_t none;

	/*
	 * If the user presses Ctrl-C, the terminal signals all processes. The caller decides what
	 * happens to its workers.
	 */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setrlimit(RLIMIT_CORE, &no_core);
	limit_memory(task->limits.memory);
	prefer_oom_kill();
	close_other_files(fd, task);
}

static void free_buffers(struct worker *worker)
{
	free(worker->buffer);
	free(worker->unsent);
	if (worker->life)
		munmap(worker->life, sizeof(*worker->life));
	worker->buffer = NULL;
	worker->unsent = NULL;
	worker->life = NULL;
}

int worker_start(struct worker *worker, const struct worker_task *task, const void *data)
{
	int fds[2], ret = -ENOMEM;

	*worker = (struct worker){ .fd = -1 };
	worker->buffer = malloc(BUFFER_SIZE);
	worker->life = mmap(NULL, sizeof(*worker->life), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (worker->life == MAP_FAILED)
		worker->life = NULL;
	if (!worker->buffer || !worker->life)
		goto fail;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds)) {
		ret = -errno;
		goto fail;
	}
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	worker->pid = fork();
	if (!worker->pid) {
		become_worker(fds[1], task);
		worker_begin(fds[1], &task->limits, worker->life);
		task->run(data);
		worker_flush();
		_exit(0);
	}
	ret = -errno;
	close(fds[1]);
	if (worker->pid > 0) {
		worker->fd = fds[0];
		return 0;
	}
	close(fds[0]);
fail:
	free_buffers(worker);
	return ret;
}

/* Wait until a killed worker ends. If the worker does not end, return false. */
static bool reap_worker(const struct worker *worker, int *status)
{
	struct pollfd fd = { .fd = worker->fd };
	pid_t pid;

	/*
	 * No other process has the worker's end of the socket open, so it closes when the worker
	 * ends.
	 */
	while (poll(&fd, 1, WORKER_END_MS) < 0 && errno == EINTR)
		;
	while ((pid = waitpid(worker->pid, status, fd.revents ? 0 : WNOHANG)) < 0 && errno == EINTR)
		;
	return pid;
}

int worker_stop(struct worker *worker)
{
	bool has_ended;
	int status = 0;

	if (worker->fd < 0)
		return 0;
	/* If a worker has ended before, it keeps its own status. */
	kill(worker->pid, SIGKILL);
	has_ended = reap_worker(worker, &status);
	close(worker->fd);
	worker->fd = -1;
	free_buffers(worker);
	return has_ended && !worker->is_stuck ? status : -ETIMEDOUT;
}

void worker_forget(struct worker *worker)
{
	if (worker->fd < 0)
		return;
	close(worker->fd);
	worker->fd = -1;
	free_buffers(worker);
}

bool worker_was_killed(int status)
{
	return status > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

void worker_encode_head(uint8_t bytes[WORKER_HEAD_SIZE], const struct worker_head *head)
{
	const uint64_t both = htole64(head->size | (uint64_t)head->what << 32 |
				      (uint64_t)head->number << 48);

	memcpy(bytes, &both, WORKER_HEAD_SIZE);
}

ssize_t worker_decode_record(const void *bytes, size_t num, struct worker_head *head,
			     char payload[WORKER_MAX_SIZE + 1])
{
	uint64_t both;

	if (num < WORKER_HEAD_SIZE)
		return 0;
	memcpy(&both, bytes, WORKER_HEAD_SIZE);
	both = le64toh(both);
	*head = (struct worker_head){ (uint32_t)both, (uint16_t)(both >> 32), both >> 48 };
	if (head->size > WORKER_MAX_SIZE)
		return -EPROTO;
	if (num - WORKER_HEAD_SIZE < head->size)
		return 0;
	memcpy(payload, (const char *)bytes + WORKER_HEAD_SIZE, head->size);
	/* If the payload is a text, this terminates it. */
	payload[head->size] = '\0';
	return WORKER_HEAD_SIZE + head->size;
}

static int use_buffered_records(struct worker *worker, worker_use use, void *data)
{
	union {
		char bytes[WORKER_MAX_SIZE + 1];
		int64_t aligned;
	} payload;
	struct worker_head head;
	size_t at = 0;
	ssize_t num;
	int ret = 0;

	while (!ret && (num = worker_decode_record(worker->buffer + at, worker->used - at, &head,
						   payload.bytes))) {
		if (num < 0)
			return num;
		at += num;
		ret = use(data, &head, payload.bytes);
	}
	worker->used -= at;
	memmove(worker->buffer, worker->buffer + at, worker->used);
	return ret;
}

/* Send as many waiting commands as the socket accepts. */
static void send_unsent_commands(struct worker *worker)
{
	const ssize_t sent = send(worker->fd, worker->unsent, worker->num_unsent,
				  MSG_NOSIGNAL | MSG_DONTWAIT);

	if (sent <= 0)
		return;
	worker->num_unsent -= sent;
	memmove(worker->unsent, worker->unsent + sent, worker->num_unsent);
}

/*
 * Send a command without waiting, because the worker may wait for this process before it receives
 * commands. If out of memory, end the worker.
 */
void worker_send_command(struct worker *worker, const void *data, size_t size)
{
	char *unsent = realloc(worker->unsent, worker->num_unsent + size);

	if (!unsent) {
		shutdown(worker->fd, SHUT_RDWR);
		return;
	}
	worker->unsent = unsent;
	memcpy(unsent + worker->num_unsent, data, size);
	worker->num_unsent += size;
	send_unsent_commands(worker);
}

int worker_receive(struct worker *worker, worker_use use, void *data)
{
	int ret = use_buffered_records(worker, use, data);
	ssize_t num;

	if (ret)
		return ret == -EPROTO ? 0 : ret;
	if (worker->num_unsent)
		send_unsent_commands(worker);
	num = read(worker->fd, worker->buffer + worker->used, BUFFER_SIZE - worker->used);
	if (num < 0)
		return errno == EAGAIN || errno == EINTR;
	if (!num)
		return 0;
	worker->used += num;
	ret = use_buffered_records(worker, use, data);
	return ret == -EPROTO ? 0 : ret < 0 ? ret : 1;
}

bool worker_has_more(const struct worker *worker)
{
	struct pollfd fd = { .fd = worker->fd, .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

/* ---- waiting ------------------------------------------------------------- */

static int64_t read_clock_ns(clockid_t clock)
{
	struct timespec now;

	/* A process that has ended has no clock. */
	if (clock_gettime(clock, &now))
		return -1;
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/*
 * Return whether the worker waits for a command and has read all commands in its socket. A stopped
 * worker, as in a debugger, does not read commands.
 */
static bool is_worker_idle(const struct worker *worker)
{
	int unread = 0;

	return __atomic_load_n(&worker->life->is_idle, __ATOMIC_RELAXED) && !worker->num_unsent &&
	       (ioctl(worker->fd, SIOCOUTQ, &unread) || !unread);
}

bool worker_made_progress(struct worker *worker)
{
	const struct worker_life *life = worker->life;
	const uint64_t beats = __atomic_load_n(&life->beats, __ATOMIC_RELAXED);
	bool moved = beats != worker->seen_beats || is_worker_idle(worker);
	clockid_t clock;
	int64_t cpu_ns;

	worker->seen_beats = beats;
	if (clock_getcpuclockid(worker->pid, &clock))
		return moved;
	cpu_ns = read_clock_ns(clock);
	moved |= cpu_ns != worker->seen_cpu_ns &&
		 !__atomic_load_n(&life->is_waiting, __ATOMIC_RELAXED);
	worker->seen_cpu_ns = cpu_ns;
	return moved;
}

uint64_t worker_get_part(const struct worker *worker)
{
	return __atomic_load_n(&worker->life->doing, __ATOMIC_RELAXED);
}

void worker_wait(struct worker *worker)
{
	struct pollfd fd = {
		.fd = worker->fd,
		.events = POLLIN | (worker->num_unsent ? POLLOUT : 0),
	};
	const int64_t begin_ns = read_clock_ns(CLOCK_MONOTONIC);
	int64_t ms;
	bool moved;
	int num;

	worker_begin_waiting();
	num = poll(&fd, 1, WORKER_TICK_MS);
	moved = num > 0 || worker_made_progress(worker);
	worker_end_waiting(moved);
	ms = (read_clock_ns(CLOCK_MONOTONIC) - begin_ns) / 1000000;
	/* Both processes may have been stopped for a long time, for example by ^Z. */
	worker->silent_ms += ms < 2 * WORKER_TICK_MS ? ms : WORKER_TICK_MS;
	if (moved)
		worker->silent_ms = 0;
}

/* Wait for a worker. If the worker was given up, return false. */
static bool wait_patiently(struct worker *worker, const struct worker_patience *patience)
{
	worker_wait(worker);
	if (worker->silent_ms < WORKER_TICK_MS ||
	    !patience->is_over(patience->data, worker->silent_ms))
		return true;
	worker->is_stuck = true;
	return false;
}

int worker_receive_while(struct worker *worker, const bool *waiting, worker_use use, void *data,
			 const struct worker_patience *patience)
{
	int ret = worker->fd < 0 || worker->is_stuck ? 0 : 1;

	worker->silent_ms = 0;
	while (ret > 0 && (ret = worker_receive(worker, use, data)) > 0) {
		if (!*waiting)
			return 1;
		if (!wait_patiently(worker, patience))
			return 0;
	}
	return ret;
}

int worker_run(const struct worker_task *task, const void *data, worker_use use, void *use_data,
	       const struct worker_patience *patience)
{
	struct worker worker;
	int ret = worker_start(&worker, task, data), status;

	if (ret < 0)
		return ret;
	while ((ret = worker_receive(&worker, use, use_data)) > 0 &&
	       wait_patiently(&worker, patience))
		;
	status = worker_stop(&worker);
	return ret < 0 ? ret : status;
}
