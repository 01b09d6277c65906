// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz the answers of an agent. netsync must use an answer, or refuse it and give up the host. In
 * both cases, it must do so quickly and with little memory, while it continues to record the other
 * host.
 *
 * An input is the data that the host web sends during a recording; each read by netsync gets one
 * line. The host db answers correctly.
 */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/folders.h"
#include "common/json-value.h"
#include "common/now.h"
#include "record/agent/agent.h"
#include "record/doctor/doctor.h"
#include "record/record.h"

enum { WEB, DB, NUM };

/* Number of descriptors of each machine that remotes_poll() waits for. */
#define FDS 3

/* A valid answer to any request. */
static const char answer[] =
	"{\"port\":7712,\"addresses\":[\"10.0.0.2\"],\"channels\":[{\"name\":\"netsync\","
	"\"discarded\":0,\"lost\":0}],\"size\":1,\"events\":1,\"room\":100000000,"
	"\"connected\":true,\"traffic\":2,\"traffic_trace\":1,\"checks\":[],"
	"\"peers\":[{\"id\":0,\"sent\":1,\"received\":1,\"rtt_ns\":1000}]}\n";
static const char greeting[] = "{\"netsync\":\"" NETSYNC_VERSION
			       "\",\"hostname\":\"db\",\"ssh\":\"10.0.0.1 5000 10.0.0.2 22\"}\n";

static char folder[] = "/dev/shm/netsync-fuzz-XXXXXX";
static struct record_run rec;
static struct recorded_host hosts[NUM];
static int feeds[NUM]; /* pipes from which netsync reads the hosts' answers */
static const char *input;
static size_t input_left;

/* ---- functions that are not tested here --------------------------------- */

void count_recorded_folder(struct recorded *recorded, const char *path)
{
	(void)recorded;
	(void)path;
}

void count_recorded_channel(struct recorded *recorded, const char *path, const char *name)
{
	(void)recorded;
	(void)path;
	(void)name;
}

void clear_status_line(struct record_run *record)
{
	(void)record;
}

/* ---- simulated machines without processes -------------------------------- */

static void close_feed(int which)
{
	if (feeds[which] >= 0)
		close(feeds[which]);
	feeds[which] = -1;
}

static void feed_bytes(int which, const char *data, size_t size)
{
	if (write(feeds[which], data, size) != (ssize_t)size)
		abort();
}

static void feed_bytes_to_web(void)
{
	const char *end = input_left ? memchr(input, '\n', input_left) : NULL;
	size_t size = end ? (size_t)(end + 1 - input) : input_left;

	/* Do not write more than a pipe can hold. */
	if (size > 1 << 15)
		size = 1 << 15;
	if (!size || rec.all.list[WEB]->lost) {
		close_feed(WEB);
		return;
	}
	feed_bytes(WEB, input, size);
	input += size;
	input_left -= size;
}

static void feed_bytes_to_db(void)
{
	const struct remote *db = rec.all.list[DB];

	if (db->lost)
		close_feed(DB);
	else if (!db->hello)
		feed_bytes(DB, greeting, strlen(greeting));
	else if (db->asked)
		feed_bytes(DB, answer, strlen(answer));
}

/* Replace the C library's poll(). Deliver the data that netsync waits for. */
int poll(struct pollfd *fds, nfds_t num, int timeout_ms)
{
	(void)timeout_ms;
	if (num != FDS * NUM)
		return 0;
	if (feeds[WEB] >= 0)
		feed_bytes_to_web();
	if (feeds[DB] >= 0)
		feed_bytes_to_db();
	for (nfds_t i = 0; i < num; i++)
		fds[i].revents = fds[i].fd >= 0 ? POLLIN : 0;
	return NUM;
}

static void add_fed_remote(int which, const char *name)
{
	struct remote *remote;
	int fds[2];

	if (!remotes_add(&rec.all, name) || pipe2(fds, O_NONBLOCK))
		abort();
	remote = rec.all.list[which];
	feeds[which] = fds[1];
	remote->from = fds[0];
	remote->to = open("/dev/null", O_WRONLY);
	/* No process exists. The connection ends as soon as no more data arrive. */
	remote->pid = INT_MAX;
	remote->asked = 1;
	remote->heard_ns = remote->end_ns = now_ns();
	remote->end_ns += INT64_C(1000000000) * 60;
	hosts[which] = (struct recorded_host){ .remote = remote };
}

static bool check_put_data(struct remote *remote, struct json_object *about, const char *data,
			   size_t size)
{
	return files_put_data(folder, remote, about, data, size);
}

static void keep_readings(struct remote *remote, struct json_object *readings)
{
	clocks_keep_readings(&rec, &hosts[remote == rec.all.list[DB] ? DB : WEB], readings);
}

/* ---- a recording ----------------------------------------------------------- */

static void check_all_diagnoses(void)
{
	struct diagnosis diag = { .host = "web" };

	for (unsigned int i = 0; i < NUM; i++)
		if (rec.all.list[i]->ready)
			remote_ask(rec.all.list[i], request_create("doctor"));
	remotes_wait(&rec.all, 0);
	for (unsigned int i = 0; i < NUM; i++)
		diagnosis_read(&diag, value_get_member(rec.all.list[i]->answer, "checks"));
	diagnosis_free(&diag);
}

static void request_all_status(void)
{
	for (unsigned int i = 0; i < NUM; i++)
		if (hosts[i].recording && hosts[i].remote->ready)
			host_ask_status(&rec, &hosts[i]);
	remotes_wait(&rec.all, 0);
	for (unsigned int i = 0; i < NUM; i++) {
		if (hosts[i].remote->answer)
			host_use_status(&rec, &hosts[i]);
		else
			hosts[i].recording = false;
	}
}

static void run_all_requests(void)
{
	remotes_wait(&rec.all, 0);
	check_all_diagnoses();
	hosts_create_sessions(&rec);
	record_beacon_start(&rec);
	hosts_start_sessions(&rec);
	request_all_status();
	hosts_renew_sessions(&rec);
	hosts_stop(&rec);
	record_beacon_stop(&rec);
	hosts_pull_traces(&rec);
	for (unsigned int i = 0; i < NUM; i++) {
		files_name_namespaces(folder, &hosts[i]);
		clocks_write_file(folder, &hosts[i]);
	}
	if (rec.all.list[DB]->lost || !hosts[DB].recording)
		abort();
}

static void release_record_run(void)
{
	remotes_free(&rec.all);
	for (int i = 0; i < NUM; i++) {
		close_feed(i);
		for (unsigned int k = 0; k < hosts[i].num_sessions; k++)
			free(hosts[i].sessions[k]);
		free(hosts[i].sessions);
		free(hosts[i].losses);
		json_object_put(hosts[i].namespaces);
	}
	json_object_put(rec.events.patterns);
}

static void remove_output_folder(void)
{
	remove_tree(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Messages are formatted, but they are not printed. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *nowhere;
	FILE *err = stderr;

	if (!nowhere) {
		nowhere = fopen("/dev/null", "w");
		if (!nowhere || !mkdtemp(folder) || atexit(remove_output_folder))
			abort();
	}
	stderr = nowhere;
	input = (const char *)data;
	input_left = size;
	rec = (struct record_run){
		.hosts = hosts,
		.beacons.rate = 1,
		.all.data = check_put_data,
		.all.clocks = keep_readings,
		.events.patterns = json_object_new_array(),
		/* The size of the input determines the kind of transfer. */
		.quota = 1 << 20,
		.pull = size % 2,
		.url = size % 2 ? NULL : "net://10.0.0.3",
	};
	add_fed_remote(WEB, "web");
	add_fed_remote(DB, "db");
	run_all_requests();
	release_record_run();
	stderr = err;
	return 0;
}
