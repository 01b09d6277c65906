// SPDX-License-Identifier: GPL-2.0-only
/*
 * A client asks a web server, which asks a database, which reads a disk. Each program
 * prints what it did and when, as "REQUEST NAME BEGIN END" in ns of the traced clock:
 * computing, sleeping, reading, and waiting for an answer. The output is compared with
 * netsync path. A thread's CPU time in the kernel is no measure: if an emulated processor
 * stops, it counts differently than clocks.
 *
 * usage: chain client WEB PLAN     a line of PLAN for each request: "FAULT MICROSECONDS"
 *        chain web PORT DB
 *        chain db PORT DEVICE...   disk devices, the first one of which is not slow
 *
 * Faults last for the given time: "server": web computes longer; "lock": a thread of db
 * holds the lock; "disk": db reads the slow device; "network": a queue delays packets;
 * "preempt": another process with a higher priority takes the client's processor;
 * "timer": web sleeps longer.
 */
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* Duration of each step without a fault, us. Chosen to be well above the kernel's overhead. */
#define CLIENT_US 2000
#define WEB_US 3000
#define SLEEP_US 5000
#define DB_US 2000

#define BLOCK 4096

static const char *const faults[] = { "none",	 "server",  "lock", "disk",
				      "network", "preempt", "timer" };
enum { NONE, SERVER, LOCK, SLOW_DISK, NETWORK, PREEMPT, TIMER, NUM_FAULTS };

struct request {
	uint32_t number;
	uint32_t fault;
	uint32_t us;
	uint32_t device;
};

static int64_t read_chain_clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int64_t read_elapsed_ns(void)
{
	return read_chain_clock_ns(CLOCK_MONOTONIC);
}

static int64_t read_thread_cpu_ns(void)
{
	return read_chain_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void log_span(uint32_t number, const char *name, int64_t begin_ns, int64_t end_ns)
{
	printf("%u %s %lld %lld\n", number, name, (long long)begin_ns, (long long)end_ns);
}

/* Log an activity that began at the given time and ends now. */
static void log_span_until_now(uint32_t number, const char *name, int64_t begin_ns)
{
	log_span(number, name, begin_ns, read_elapsed_ns());
}

/*
 * Compute until the thread has used this much processor time. Elapsed time would include times at
 * which the thread was preempted.
 */
static void compute_for_us(uint32_t us)
{
	const int64_t end_ns = read_thread_cpu_ns() + us * INT64_C(1000);

	while (read_thread_cpu_ns() < end_ns)
		;
}

static void sleep_for_us(uint32_t us)
{
	const struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

/* ---- connections --------------------------------------------------------- */

static int open_tcp_socket(void)
{
	const int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)))
		err(1, "socket");
	return fd;
}

/* Connect to an address like "10.1.1.2:80", whose server may not listen yet. */
static int connect_to(const char *address)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	char host[32];
	int fd = open_tcp_socket(), port, tries = 0;

	if (sscanf(address, "%31[^:]:%d", host, &port) != 2 ||
	    inet_pton(AF_INET, host, &to.sin_addr) != 1)
		errx(1, "%s: that is no address", address);
	to.sin_port = htons(port);
	while (connect(fd, (struct sockaddr *)&to, sizeof(to))) {
		if (++tries == 600)
			err(1, "%s", address);
		close(fd);
		usleep(100000);
		fd = open_tcp_socket();
	}
	return fd;
}

static int accept_one_at(const char *port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };
	const int fd = open_tcp_socket(), one = 1;
	int peer;

	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 1))
		err(1, "port %s", port);
	peer = accept(fd, NULL, NULL);
	if (peer < 0)
		err(1, "accept");
	setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return peer;
}

static void send_request(int fd, const struct request *request)
{
	if (write(fd, request, sizeof(*request)) != sizeof(*request))
		err(1, "write");
}

/* Receive a request. Return false at the end of requests. */
static int receive_request(int fd, struct request *request)
{
	return recv(fd, request, sizeof(*request), MSG_WAITALL) == sizeof(*request);
}

/*
 * Wait for the answer, and log the wait as ME-wait. Return false if there is no answer. The thread
 * reads the clock some time before it waits. If its emulated processor stops in between, the wait
 * begins much later than logged. The processor time that the thread used since the reading is
 * logged as ME-awake. The thread begins to wait no later than at the end of ME-awake.
 */
static int await_answer(int fd, struct request *request, const char *me)
{
	const int64_t begin_ns = read_elapsed_ns(), begin_cpu_ns = read_thread_cpu_ns();
	const int heard = receive_request(fd, request);
	char name[32];

	snprintf(name, sizeof(name), "%s-awake", me);
	log_span(request->number, name, begin_ns, begin_ns + read_thread_cpu_ns() - begin_cpu_ns);
	snprintf(name, sizeof(name), "%s-wait", me);
	log_span_until_now(request->number, name, begin_ns);
	return heard;
}

/* ---- the client ----------------------------------------------------------- */

static int hog_pipe[2];

/*
 * Start a process with the highest priority. The process computes for a given time whenever it
 * receives a request.
 */
static void start_hog(void)
{
	const struct sched_param first = { .sched_priority = 10 };
	uint32_t us;

	if (pipe(hog_pipe))
		err(1, "pipe");
	if (fork())
		return;
	prctl(PR_SET_NAME, "hog");
	if (sched_setscheduler(0, SCHED_FIFO, &first))
		err(1, "SCHED_FIFO");
	close(hog_pipe[1]);
	while (read(hog_pipe[0], &us, sizeof(us)) == sizeof(us))
		compute_for_us(us);
	_exit(0);
}

/* Delay all packets in the device's queue. */
static void set_queue_delay(uint32_t us)
{
	char command[128];

	snprintf(command, sizeof(command), "tc qdisc replace dev eth0 root netem delay %uus",
		 us ? us : 1);
	if (system(command))
		errx(1, "%s failed", command);
}

static uint32_t find_fault(const char *name)
{
	for (uint32_t i = 0; i < NUM_FAULTS; i++)
		if (!strcmp(faults[i], name))
			return i;
	errx(1, "%s: there is no such fault", name);
}

static void ask_web(int web, struct request *request)
{
	const int64_t whole_ns = read_elapsed_ns();
	int64_t begin_ns = whole_ns;

	compute_for_us(CLIENT_US);
	log_span_until_now(request->number, "client-1", begin_ns);
	if (request->fault == PREEMPT && write(hog_pipe[1], &request->us, sizeof(request->us)) < 0)
		err(1, "pipe");
	send_request(web, request);
	if (!await_answer(web, request, "client"))
		errx(1, "the web server is gone");
	begin_ns = read_elapsed_ns();
	compute_for_us(CLIENT_US);
	log_span_until_now(request->number, "client-2", begin_ns);
	log_span_until_now(request->number, faults[request->fault], whole_ns);
}

static void run_as_client(const char *address, const char *plan)
{
	FILE *file = fopen(plan, "r");
	struct request request = { 0 };
	const int web = connect_to(address);
	uint32_t slow[8] = { 0 }, queue_us = 0, i;
	char fault[16];

	if (!file)
		err(1, "%s", plan);
	start_hog();
	while (fscanf(file, "%15s %u", fault, &request.us) == 2) {
		request.fault = find_fault(fault);
		request.device = 0;
		/* The database's devices have the same order as their delays in the plan. */
		for (i = 1; i < 8 && request.fault == SLOW_DISK; i++) {
			if (slow[i] && slow[i] != request.us)
				continue;
			slow[i] = request.us;
			request.device = i;
			break;
		}
		i = request.fault == NETWORK ? request.us : 0;
		if (i != queue_us)
			set_queue_delay(i);
		queue_us = i;
		/* Wait until all machines are idle again. */
		sleep_for_us(20000);
		ask_web(web, &request);
		request.number++;
	}
}

/* ---- the web server -------------------------------------------------------- */

static void run_as_web(const char *port, const char *address)
{
	const int db = connect_to(address), client = accept_one_at(port);
	struct request request;

	while (receive_request(client, &request)) {
		int64_t begin_ns = read_elapsed_ns();

		compute_for_us(WEB_US + (request.fault == SERVER ? request.us : 0));
		log_span_until_now(request.number, "web-1", begin_ns);
		begin_ns = read_elapsed_ns();
		sleep_for_us(SLEEP_US + (request.fault == TIMER ? request.us : 0));
		log_span_until_now(request.number, "web-sleep", begin_ns);
		send_request(db, &request);
		if (!await_answer(db, &request, "web"))
			errx(1, "the database is gone");
		begin_ns = read_elapsed_ns();
		compute_for_us(WEB_US);
		log_span_until_now(request.number, "web-2", begin_ns);
		send_request(client, &request);
	}
}

/* ---- the database ---------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t wanted, taken;
static uint32_t lock_us;

/* Take the lock and hold it for lock_us microseconds, each time that the client requests this. */
static void *hold_lock_when_asked(void *data)
{
	prctl(PR_SET_NAME, "locker");
	for (;;) {
		sem_wait(&wanted);
		pthread_mutex_lock(&lock);
		sem_post(&taken);
		sleep_for_us(lock_us);
		pthread_mutex_unlock(&lock);
	}
	return data;
}

static void run_as_db(const char *port, char **devices, int num)
{
	void *block = aligned_alloc(BLOCK, BLOCK);
	struct request request;
	pthread_t locker;
	int files[8], client;

	for (int i = 0; i < num && i < 8; i++) {
		files[i] = open(devices[i], O_RDONLY | O_DIRECT);
		if (files[i] < 0)
			err(1, "%s", devices[i]);
	}
	sem_init(&wanted, 0, 0);
	sem_init(&taken, 0, 0);
	if (!block || pthread_create(&locker, NULL, hold_lock_when_asked, NULL))
		err(1, "thread");
	client = accept_one_at(port);
	while (receive_request(client, &request)) {
		int64_t begin_ns = read_elapsed_ns();

		compute_for_us(DB_US);
		log_span_until_now(request.number, "db-1", begin_ns);
		if (request.fault == LOCK) {
			lock_us = request.us;
			sem_post(&wanted);
			sem_wait(&taken);
		}
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
		begin_ns = read_elapsed_ns();
		if (pread(files[request.device < (uint32_t)num ? request.device : 0], block, BLOCK,
			  0) != BLOCK)
			err(1, "pread");
		log_span_until_now(request.number, "db-read", begin_ns);
		send_request(client, &request);
	}
}

int main(int argc, char **argv)
{
	/* Write all output at the end, so that no request waits for output. */
	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	if (argc == 4 && !strcmp(argv[1], "client"))
		run_as_client(argv[2], argv[3]);
	else if (argc == 4 && !strcmp(argv[1], "web"))
		run_as_web(argv[2], argv[3]);
	else if (argc >= 4 && !strcmp(argv[1], "db"))
		run_as_db(argv[2], argv + 3, argc - 3);
	else
		errx(1, "see the first lines of %s", __FILE__);
	return 0;
}
