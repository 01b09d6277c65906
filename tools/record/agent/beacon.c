// SPDX-License-Identifier: GPL-2.0-only
/* Requests for the beacon; a child process sends and receives its packets. */
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "agent.h"
#include "common/child.h"
#include "common/json-value.h"
#include "remote/beacon.h"
#include "remote/protocol.h"

/* Time for the beacon's process to end, ms; a busy machine may delay it. Chosen. */
#define STOP_MS 2000

static struct {
	bool open;
	int socks[2];
	pid_t process; /* 0 if not running */
	int results;   /* pipe from the process, for the results of the peers */
} beacon;

static volatile sig_atomic_t stop;

static void request_beacon_stop(int number)
{
	stop = number;
}

/* ---- sockets and addresses ---------------------------------------------- */

static bool is_reachable_address(const struct ifaddrs *entry)
{
	const struct sockaddr *address = entry->ifa_addr;

	if (!address || !(entry->ifa_flags & IFF_UP) || entry->ifa_flags & IFF_LOOPBACK)
		return false;
	if (address->sa_family == AF_INET6)
		return !IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)address)->sin6_addr);
	return address->sa_family == AF_INET;
}

static struct json_object *list_own_addresses(void)
{
	struct json_object *list = json_object_new_array();
	struct ifaddrs *entries;

	if (getifaddrs(&entries))
		return list;
	for (struct ifaddrs *entry = entries; entry && value_get_length(list) < PROTOCOL_ADDRESSES;
	     entry = entry->ifa_next) {
		char name[NI_MAXHOST];
		socklen_t size;

		if (!is_reachable_address(entry))
			continue;
		size = entry->ifa_addr->sa_family == AF_INET ? sizeof(struct sockaddr_in) :
							       sizeof(struct sockaddr_in6);
		if (!getnameinfo(entry->ifa_addr, size, name, sizeof(name), NULL, 0,
				 NI_NUMERICHOST))
			json_object_array_add(list, json_object_new_string(name));
	}
	freeifaddrs(entries);
	return list;
}

static void close_beacon_sockets(void)
{
	for (int i = 0; i < 2 && beacon.open; i++)
		if (beacon.socks[i] >= 0)
			close(beacon.socks[i]);
	beacon.open = false;
}

struct json_object *agent_beacon_open(struct json_object *request)
{
	const int64_t wanted = member_get_int(request, "port");
	struct json_object *answer;
	int port;

	if (beacon.open || wanted < 0 || wanted > UINT16_MAX)
		return agent_make_error("invalid request to open the beacon.");
	port = beacon_open(wanted, beacon.socks);
	if (port < 0)
		return agent_make_error(
			"UDP port %d for the beacon: %s; give another one with --beacon-port.",
			(int)wanted, strerror(-port));
	beacon.open = true;
	answer = json_object_new_object();
	json_object_object_add(answer, "port", json_object_new_int(port));
	json_object_object_add(answer, "addresses", list_own_addresses());
	return answer;
}

/* ---- running ---------------------------------------------------------------- */

static void read_beacon_peer(struct beacon_peer *peer, struct json_object *request)
{
	struct json_object *list = value_get_member(request, "addresses");
	const int port = member_get_int(request, "port");

	peer->id = member_get_int(request, "id");
	for (size_t i = 0; i < value_get_length(list); i++) {
		const char *address = value_get_text(value_get_element(list, i), SIZE_MAX);

		if (address)
			beacon_add_address(peer, address, port);
	}
}

/* Run the beacon in the child. SIGTERM is blocked except while the beacon waits. */
static void run_beacon(struct json_object *request, int results)
{
	struct json_object *list = value_get_member(request, "peers");
	struct sigaction action = { .sa_handler = request_beacon_stop };
	struct beacon run = {
		.session = member_get_int(request, "session"),
		.id = member_get_int(request, "id"),
		.rate = member_get_int(request, "rate"),
		.probe = member_get_flag(request, "probe"),
		.socks = { beacon.socks[0], beacon.socks[1] },
	};
	const size_t num = value_get_length(list);

	sigaction(SIGTERM, &action, NULL);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		close(fd);
	run.num_peers = num < BEACON_NEIGHBOURS ? num : BEACON_NEIGHBOURS;
	for (unsigned int i = 0; i < run.num_peers; i++)
		read_beacon_peer(&run.peers[i], value_get_element(list, i));
	beacon_run(&run, &stop);
	if (write(results, run.peers, run.num_peers * sizeof(*run.peers)) < 0)
		_exit(1);
	_exit(0);
}

struct json_object *agent_beacon_start(struct json_object *request)
{
	const int64_t rate = member_get_int(request, "rate");
	const pid_t parent = getpid();
	sigset_t blocked, before;
	int results[2];

	if (!beacon.open || beacon.process || rate < 1 || rate > BEACON_RATE_MAX)
		return agent_make_error("invalid request to start the beacon.");
	if (pipe2(results, O_CLOEXEC))
		return agent_make_error("cannot start the beacon: %s.", strerror(errno));
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	beacon.process = fork();
	if (!beacon.process) {
		close(results[0]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		run_beacon(request, results[1]);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(results[1]);
	close_beacon_sockets();
	beacon.results = results[0];
	if (beacon.process > 0)
		return json_object_new_object();
	beacon.process = 0;
	close(results[0]);
	return agent_make_error("cannot start the beacon: %s.", strerror(errno));
}

/* ---- the end ---------------------------------------------------------------- */

static struct json_object *make_peer_object(const struct beacon_peer *peer)
{
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "id", json_object_new_int(peer->id));
	json_object_object_add(object, "sent", json_object_new_int64(peer->sent));
	json_object_object_add(object, "received", json_object_new_int64(peer->received));
	json_object_object_add(object, "rtt_ns", json_object_new_int64(peer->rtt_ns));
	return object;
}

/* Read the results from the ending process within STOP_MS. Return the number of peers. */
static unsigned int read_beacon_results(struct beacon_peer *peers)
{
	struct pollfd in = { .fd = beacon.results, .events = POLLIN };
	char *to = (char *)peers;
	const size_t size = BEACON_NEIGHBOURS * sizeof(*peers);
	size_t len = 0;
	ssize_t got = 1;

	while (got > 0 && len < size && poll(&in, 1, STOP_MS) > 0) {
		got = read(beacon.results, to + len, size - len);
		if (got > 0)
			len += got;
	}
	return len / sizeof(*peers);
}

struct json_object *agent_beacon_stop(struct json_object *request)
{
	struct json_object *answer, *list;
	struct beacon_peer peers[BEACON_NEIGHBOURS];
	unsigned int num = 0;

	(void)request;
	close_beacon_sockets();
	list = json_object_new_array();
	if (beacon.process) {
		kill(beacon.process, SIGTERM);
		num = read_beacon_results(peers);
		kill(beacon.process, SIGKILL);
		child_wait(beacon.process);
		close(beacon.results);
		beacon.process = 0;
	}
	for (unsigned int i = 0; i < num; i++)
		json_object_array_add(list, make_peer_object(&peers[i]));
	answer = json_object_new_object();
	json_object_object_add(answer, "peers", list);
	return answer;
}
