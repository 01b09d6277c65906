// SPDX-License-Identifier: GPL-2.0-only
/* netsync doctor checks several machines, and the network between them. */
#include <stdlib.h>
#include <string.h>

#include <netsync.h>

#include "../../../libnetsync/util/scratch.h"
#include "common/json-value.h"
#include "common/json-writer.h"
#include "common/now.h"
#include "common/value.h"
#include "doctor.h"
#include "record/agent/agent.h"
#include "remote/beacons.h"
#include "sources.h"

#define NS_PER_MS 1000000LL
/* Time limit for the answers of all hosts to a request, ns. Chosen. */
#define STEP_NS (120 * 1000 * NS_PER_MS)

/* ---- on each machine --------------------------------------------------------- */

struct json_object *agent_check_machine(struct json_object *request)
{
	struct diagnosis diag = {
		.roles = ROLE_TRACED,
		.job = JOB_LTTNG,
		.folder = scratch_get_folder(true),
	};
	struct json_object *answer;

	for (enum job job = 0; job < NUM_JOBS; job++)
		if (!strcmp(member_get_text(request, "for"), job_names[job]))
			diag.job = job;
	run_checks(&diag);
	answer = json_object_new_object();
	json_object_object_add(answer, "checks", diagnosis_make_json(&diag));
	diagnosis_free(&diag);
	return answer;
}

/* Does an agent check the machine? The machine of this process is only a peer of the beacon. */
static bool is_other_machine(const struct remote *remote)
{
	return remote->destination;
}

static void ask_all_for_checks(struct remotes *all, struct diagnosis *diags)
{
	for (unsigned int i = 0; i < all->num; i++) {
		struct json_object *request;

		if (!is_other_machine(all->list[i]) || !all->list[i]->ready)
			continue;
		request = request_create("doctor");
		json_object_object_add(request, "for", new_json_string(job_names[diags[i].job]));
		remote_ask(all->list[i], request);
	}
	remotes_wait(all, STEP_NS);
	for (unsigned int i = 0; i < all->num; i++) {
		struct json_object *answer = all->list[i]->answer;

		if (is_other_machine(all->list[i]) && answer)
			diagnosis_read(&diags[i], value_get_member(answer, "checks"));
	}
}

/* ---- the connection ------------------------------------------------------------ */

/* Number of requests, of which the fastest answer is used. Chosen. */
#define TRIES 5

/* Return the shortest response time to an empty request, ns, or 0 if there is no answer. */
static int64_t measure_answer_ns(struct remotes *all, struct remote *remote)
{
	int64_t best = 0;

	for (int i = 0; i < TRIES && remote->ready; i++) {
		int64_t start = now_ns(), took;

		remote_ask(remote, request_create("nothing"));
		remotes_wait(all, STEP_NS);
		took = now_ns() - start;
		if (remote->answer && (!best || took < best))
			best = took;
	}
	return best;
}

static void check_connection(struct remotes *all, struct remote *remote, struct diagnosis *diag)
{
	int64_t took = measure_answer_ns(all, remote);
	char text[VALUE_SIZE];

	diag->check = "connection";
	if (remote->lacks_netsync && diag->may_capture) {
		add_finding(
			diag, VERDICT_NOTE,
			"This version of netsync is not installed, so only packets can be recorded, which does not need netsync there.");
		return;
	}
	if (!remote->ready || !took) {
		add_finding(diag, VERDICT_WRONG, "netsync does not answer.");
		set_advice(diag, "See the message above; \"ssh %s netsync --version\" must work.",
			   remote->destination);
		return;
	}
	if (!remote->ports[0]) {
		add_finding(
			diag, VERDICT_NOTE,
			"The ssh server refuses port forwarding: the host records to its own disk, and the trace is copied at the end, as with --pull.");
		set_advice(
			diag,
			"To follow the recording live, allow port forwarding (AllowTcpForwarding in sshd_config).");
	}
	add_finding(diag, VERDICT_GOOD, "netsync " NETSYNC_VERSION " answers in %s.",
		    format_duration(text, took));
}

/* ---- network ------------------------------------------------------------ */

/*
 * Time for machines to find each other and exchange probes, ms, and rate of probes, pairs per
 * second. Chosen.
 */
#define PROBE_MS 2500
#define PROBE_RATE 20
/* Minimum round trip that causes a note, ns. Errors can be half of a round trip. Chosen. */
#define LONG_NS (20 * NS_PER_MS)

static void check_beacon_link(void *data, const struct beacon_link *link)
{
	struct diagnosis *between = data;
	char trip[VALUE_SIZE], half[VALUE_SIZE];

	if (!link->received) {
		add_finding(
			between, VERDICT_NOTE,
			"%s -> %s: packets to UDP port %d do not arrive, so --beacon would not work.",
			link->from->name, link->to->name, link->port);
		set_advice(
			between,
			"If these hosts exchange little other traffic, open this port, or choose another one with --beacon-port.");
		return;
	}
	/* Report the round trip of a pair only once. */
	if (!link->rtt_ns || strcmp(link->from->name, link->to->name) > 0)
		return;
	format_duration(trip, link->rtt_ns);
	format_duration(half, link->rtt_ns / 2);
	if (link->rtt_ns < LONG_NS)
		add_finding(between, VERDICT_GOOD, "%s - %s: a round trip takes %s.",
			    link->from->name, link->to->name, trip);
	else
		add_finding(between, VERDICT_NOTE,
			    "%s - %s: a round trip takes %s, so error bounds will be about %s.",
			    link->from->name, link->to->name, trip, half);
}

static void check_beacon_between_hosts(struct remotes *all, struct diagnosis *between,
				       unsigned int port)
{
	struct beacons beacons = {
		.rate = PROBE_RATE,
		.port = port,
		.probe = true,
	};
	bool *wanted = calloc(all->num, sizeof(*wanted));
	const int64_t end = now_ns() + PROBE_MS * NS_PER_MS;

	for (unsigned int i = 0; wanted && i < all->num; i++)
		wanted[i] = true;
	between->check = "round trip";
	if (wanted && beacons_start(&beacons, all, wanted) > 1)
		while (now_ns() < end && !(all->stop && *all->stop))
			remotes_poll(all, 100);
	beacons_stop(&beacons, all, check_beacon_link, between);
	free(wanted);
}

void examine_hosts(struct remotes *all, struct diagnosis *diags, struct diagnosis *between,
		   unsigned int beacon_port, int64_t measure_ns)
{
	/* Request a port that nothing listens on, to test whether forwarding is allowed. */
	all->forward[0] = 9;
	remotes_connect(all);
	for (unsigned int i = 0; i < all->num; i++)
		if (is_other_machine(all->list[i]))
			check_connection(all, all->list[i], &diags[i]);
	ask_all_for_checks(all, diags);
	check_beacon_between_hosts(all, between, beacon_port);
	examine_sources(all, diags, measure_ns, between);
}
