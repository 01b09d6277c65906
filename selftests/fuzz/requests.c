// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz requests to an agent. The agent must answer each line; it answers lines that are not
 * requests with an error.
 *
 * An input is the data that the agent reads. Nothing is recorded: for a valid request, the agent
 * only chooses events and checks the request's members.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/exit-status.h"
#include "common/json-value.h"
#include "record/agent/agent.h"
#include "record/agent/channels.h"
#include "record/agent/events.h"
#include "record/commands.h"
#include "remote/beacon.h"
#include "remote/protocol.h"

static struct json_object *answer_with_nothing(struct json_object *request)
{
	(void)request;
	return json_object_new_object();
}

struct json_object *agent_create(struct json_object *request)
{
	static const char names[][20] = { "inet_dev_xmit", "inet_dev_receive", "sched_switch",
					  "sched_waking" };
	struct choice choice = { 0 };
	struct json_object *answer;

	choose_kernel_events(&choice, request, *names, sizeof(*names), 4);
	if (member_get_flag(request, "ust"))
		choose_user_events(&choice);
	if (choice.num < 2 || !choice_has_domain(&choice, DOMAIN_KERNEL))
		abort();
	answer = channels_plan(&choice, value_get_member(request, "buffers"));
	choice_free(&choice);
	return answer ? answer : answer_with_nothing(request);
}

struct json_object *agent_beacon_start(struct json_object *request)
{
	struct json_object *peers = value_get_member(request, "peers");

	if (value_get_length(peers) > BEACON_NEIGHBOURS ||
	    member_get_int(request, "rate") > BEACON_RATE_MAX ||
	    (peers && !json_object_is_type(peers, json_type_array)))
		abort();
	return answer_with_nothing(request);
}

struct json_object *agent_serve(struct json_object *request)
{
	if (value_get_length(value_get_member(request, "paths")) > 4096)
		abort();
	return answer_with_nothing(request);
}

struct json_object *agent_keep(struct json_object *request)
{
	return answer_with_nothing(request);
}

struct json_object *agent_store_result(struct json_object *request)
{
	if (strlen(member_get_text(request, "text")) > PROTOCOL_PIECE)
		abort();
	return answer_with_nothing(request);
}

struct json_object *agent_apply(struct json_object *request)
{
	if (value_get_length(value_get_member(request, "traces")) > 4096)
		abort();
	return answer_with_nothing(request);
}

bool agent_stream(void)
{
	return false;
}

struct json_object *agent_start(struct json_object *request)
{
	return answer_with_nothing(request);
}

struct json_object *agent_status(struct json_object *request)
{
	return answer_with_nothing(request);
}

struct json_object *agent_stop(struct json_object *request)
{
	return answer_with_nothing(request);
}

struct json_object *agent_finish(struct json_object *request)
{
	return answer_with_nothing(request);
}

struct json_object *agent_pull(struct json_object *request)
{
	static const char data[] = "data";

	if (!agent_send_data(answer_with_nothing(request), data, sizeof(data)))
		abort();
	return answer_with_nothing(request);
}

struct json_object *agent_check_machine(struct json_object *request)
{
	return answer_with_nothing(request);
}

struct json_object *agent_beacon_open(struct json_object *request)
{
	return answer_with_nothing(request);
}

struct json_object *agent_beacon_stop(struct json_object *request)
{
	return answer_with_nothing(request);
}

void steering_end(void)
{
}

void count_end(void)
{
}

void undo_end(void)
{
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *argv[] = { "agent", NULL };
	const int out = dup(STDOUT_FILENO);
	int in[2];

	/* Skip input that does not fit into a pipe. */
	if (size > 1 << 16)
		return 0;
	if (out < 0 || pipe(in) || write(in[1], data, size) != (ssize_t)size ||
	    dup2(in[0], STDIN_FILENO) < 0 || !freopen("/dev/null", "w", stdout))
		abort();
	close(in[0]);
	close(in[1]);
	if (cmd_agent(1, argv) != EXIT_DONE)
		abort();
	dup2(out, STDOUT_FILENO);
	close(out);
	return 0;
}
