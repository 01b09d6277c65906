// SPDX-License-Identifier: GPL-2.0-only
/* netsync agent - runs on other machines for netsync record, doctor, sync and apply. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <netsync.h>

#include "agent.h"
#include "common/complain.h"
#include "common/exit-status.h"
#include "common/json-value.h"
#include "common/now.h"
#include "record/commands.h"
#include "remote/protocol.h"

/*
 * Time without a request after which the other end counts as gone, even if TCP has not noticed,
 * ms.
 */
#define ALONE_MS (60 * 1000)
/* Period of keepalives, ns. Chosen to be far below SILENT_NS of remote.c. */
#define WORKING_NS 2000000000LL

static struct json_object *answer_nothing(struct json_object *request)
{
	(void)request;
	return json_object_new_object();
}

static const struct {
	const char *name;
	struct json_object *(*run)(struct json_object *request);
} requests[] = {
	{ "nothing", answer_nothing },
	{ "create", agent_create },
	{ "start", agent_start },
	{ "status", agent_status },
	{ "stop", agent_stop },
	{ "finish", agent_finish },
	{ "pull", agent_pull },
	{ "keep", agent_keep },
	{ "doctor", agent_check_machine },
	{ "serve", agent_serve },
	{ "result", agent_store_result },
	{ "apply", agent_apply },
	{ "beacon-open", agent_beacon_open },
	{ "beacon-start", agent_beacon_start },
	{ "beacon-stop", agent_beacon_stop },
};

#define NUM_REQUESTS (sizeof(requests) / sizeof(requests[0]))

static struct {
	char *line; /* input that was not processed yet */
	size_t len;
	int64_t said_ns; /* time of the last output */
	bool ended;	 /* nobody waits for answers any more */
	bool by_ssh;	 /* --ssh: the agent was started by ssh */
} agent;

static volatile sig_atomic_t signalled;

static void note_agent_signal(int number)
{
	signalled = number;
}

const char *agent_get_connection(void)
{
	return agent.by_ssh ? getenv("SSH_CONNECTION") : NULL;
}

/* ---- output ------------------------------------------------------------- */

static bool write_to_recorder(const void *data, size_t size)
{
	const char *from = data;

	while (size && !agent.ended) {
		ssize_t put = write(STDOUT_FILENO, from, size);

		if (put < 0 && (errno != EINTR || signalled))
			agent.ended = true;
		if (put > 0) {
			from += put;
			size -= put;
		}
	}
	agent.said_ns = now_ns();
	return !agent.ended;
}

bool agent_send(struct json_object *object)
{
	const char *text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN);
	bool ok = write_to_recorder(text, strlen(text)) && write_to_recorder("\n", 1);

	json_object_put(object);
	return ok;
}

static struct json_object *make_sentence_object(const char *key, const char *format, va_list args)
{
	struct json_object *object = json_object_new_object();
	char *text = NULL;

	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	/* Truncate a message with a long list. */
	if (text && strlen(text) > PROTOCOL_SENTENCE)
		text[PROTOCOL_SENTENCE] = '\0';
	json_object_object_add(object, key, json_object_new_string(text ? text : format));
	free(text);
	return object;
}

struct json_object *agent_make_error(const char *format, ...)
{
	struct json_object *object;
	va_list args;

	va_start(args, format);
	object = make_sentence_object("error", format, args);
	va_end(args);
	return object;
}

void agent_send_warning(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	agent_send(make_sentence_object("warning", format, args));
	va_end(args);
}

void agent_send_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	agent_send(make_sentence_object("note", format, args));
	va_end(args);
}

bool agent_send_data(struct json_object *about, const void *data, size_t size)
{
	json_object_object_add(about, "bytes", json_object_new_int64(size));
	return agent_send(about) && write_to_recorder(data, size);
}

/* ---- input -------------------------------------------------------------- */

/* Read input within @ms, and record the end of input and signals. */
static void read_requests(int ms)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	ssize_t got;
	char *line;

	if (signalled)
		agent.ended = true;
	if (agent.ended || poll(&in, 1, ms) <= 0)
		return;
	line = realloc(agent.line, agent.len + 4097);
	if (!line || agent.len > PROTOCOL_LINE) {
		agent.ended = true;
		return;
	}
	agent.line = line;
	got = read(STDIN_FILENO, line + agent.len, 4096);
	if (got > 0)
		agent.len += got;
	else if (!got || errno != EINTR)
		agent.ended = true;
}

bool agent_wait_for_request(int ms)
{
	read_requests(ms);
	if (now_ns() - agent.said_ns >= WORKING_NS) {
		struct json_object *word = json_object_new_object();

		json_object_object_add(word, "working", json_object_new_boolean(true));
		agent_send(word);
	}
	return !agent.ended && !signalled;
}

/*
 * End the ssh connection. If TCP does not notice that the other end is gone, the ssh
 * server keeps the connection for a quarter of an hour, and LTTng waits for its data to
 * be received.
 */
static void end_connection(void)
{
	char path[64], name[64] = "";
	pid_t pid = getppid();
	FILE *stat;

	/* A shell may be between the agent and the server's process for this connection. */
	while (agent_get_connection() && pid > 1) {
		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		stat = fopen(path, "r");
		if (!stat || fscanf(stat, "%*d (%63[^)]) %*c %d", name, &pid) != 2)
			pid = 0;
		if (stat)
			fclose(stat);
		if (!strncmp(name, "sshd", 4)) {
			sscanf(path, "/proc/%d", &pid);
			kill(pid, SIGTERM);
			return;
		}
	}
}

/* Return the next request, or NULL if the other end is gone. */
static struct json_object *read_next_request(void)
{
	struct json_object *request;
	int alone_ms = 0;
	char *end = NULL;
	size_t len;

	/* Ignore requests that were read before, because they could not be answered. */
	if (agent.ended)
		return NULL;
	while (!agent.len || !(end = memchr(agent.line, '\n', agent.len))) {
		const size_t had = agent.len;

		read_requests(1000);
		alone_ms = agent.len > had ? 0 : alone_ms + 1000;
		if (alone_ms > ALONE_MS)
			end_connection();
		if (agent.ended || alone_ms > ALONE_MS)
			return NULL;
	}
	*end = '\0';
	request = json_tokener_parse(agent.line);
	/* A line that is not JSON is answered like a request without a name. */
	if (!request)
		request = json_object_new_object();
	len = end + 1 - agent.line;
	agent.len -= len;
	memmove(agent.line, end + 1, agent.len);
	return request;
}

static bool is_stream_request(struct json_object *request)
{
	return !strcmp(member_get_text(request, "do"), "stream");
}

static struct json_object *answer_request(struct json_object *request)
{
	const char *name = member_get_text(request, "do");
	const struct protocol_request *known = protocol_find_request(name);
	char why[PROTOCOL_WHY];

	if (known && !protocol_check_request(known, request, why))
		return agent_make_error("invalid request \"%s\": %s.", name, why);
	for (size_t i = 0; i < NUM_REQUESTS && known; i++)
		if (!strcmp(name, requests[i].name))
			return requests[i].run(request);
	return agent_make_error("unknown request \"%s\".", name);
}

/* ---- the sub-command ---------------------------------------------------- */

static void send_greeting(void)
{
	struct json_object *hello = json_object_new_object();
	const char *ssh = agent_get_connection();
	struct utsname system;

	/*
	 * This member must come first, because the other end recognizes the greeting by its first
	 * member.
	 */
	json_object_object_add(hello, "netsync", json_object_new_string(NETSYNC_VERSION));
	uname(&system);
	json_object_object_add(hello, "hostname", json_object_new_string(system.nodename));
	json_object_object_add(hello, "ssh", json_object_new_string(ssh ? ssh : ""));
	agent_send(hello);
}

int cmd_agent(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = note_agent_signal };
	struct json_object *request;

	const bool by_ssh = argc == 2 && !strcmp(argv[1], "--ssh");

	if (argc > 1 && !by_ssh) {
		complain("netsync agent is internal: only other netsync commands start it.");
		return EXIT_BAD;
	}
	memset(&agent, 0, sizeof(agent));
	agent.by_ssh = by_ssh;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	send_greeting();
	while ((request = read_next_request())) {
		if (is_stream_request(request))
			agent.ended = !agent_stream();
		else
			agent_send(answer_request(request));
		json_object_put(request);
	}
	json_object_put(agent_beacon_stop(NULL));
	steering_end();
	count_end();
	undo_end();
	free(agent.line);
	return EXIT_DONE;
}
