// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run the beacons of several machines. Each machine gets a list of its neighbours and their
 * addresses.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "beacon.h"
#include "beacons.h"
#include "common/json-value.h"
#include "common/now.h"

/* Time limit for the answers of all hosts in a step, ns. Chosen, like QUIET_NS of remote.c. */
#define STEP_NS (20 * NS_PER_S)

struct beacon_host {
	struct remote *remote;
	struct json_object *opened; /* answer with its port and addresses */
};

/* ---- addresses ----------------------------------------------------------- */

static void append_text_element(struct json_object *list, const char *text, size_t length)
{
	if (length)
		json_object_array_add(list, json_object_new_string_len(text, length));
}

/*
 * Add an address from SSH_CONNECTION. @index selects a word: the variable contains the client, its
 * port, the server and its port.
 */
static void add_connection_address(struct json_object *list, const struct remote *remote,
				   unsigned int index)
{
	const char *text = member_get_text(remote->hello, "ssh");

	while (index--) {
		text += strcspn(text, " ");
		text += strspn(text, " ");
	}
	append_text_element(list, text, strcspn(text, " "));
}

/*
 * Return the addresses at which @from may reach @to: the name that the user gave, which @from
 * resolves; the address of the ssh server on @to or, if @to is this machine, the address from which
 * it connected; and all addresses of @to.
 */
static struct json_object *get_beacon_addresses(const struct beacon_host *to,
						const struct beacon_host *from)
{
	struct json_object *list = json_object_new_array();
	struct json_object *own = value_get_member(to->opened, "addresses");
	const char *destination = to->remote->destination;
	const char *user_end = destination ? strrchr(destination, '@') : NULL;

	if (destination) {
		if (user_end)
			destination = user_end + 1;
		append_text_element(list, destination, strlen(destination));
		add_connection_address(list, to->remote, 2);
	} else {
		add_connection_address(list, from->remote, 0);
	}
	for (size_t i = 0; i < value_get_length(own); i++)
		json_object_array_add(list, json_object_get(value_get_element(own, i)));
	return list;
}

/* ---- beginning ------------------------------------------------------------- */

static void open_all_beacons(struct beacons *beacons, struct remotes *all, const bool *wanted)
{
	for (unsigned int i = 0; i < all->num; i++) {
		struct json_object *request;

		if (!wanted[i] || !all->list[i]->ready)
			continue;
		request = request_create("beacon-open");
		json_object_object_add(request, "port", json_object_new_int(beacons->port));
		remote_ask(all->list[i], request);
	}
	remotes_wait(all, STEP_NS);
	for (unsigned int i = 0; i < all->num; i++)
		if (wanted[i] && all->list[i]->answer)
			beacons->hosts[beacons->num++] = (struct beacon_host){
				.remote = all->list[i],
				.opened = json_object_get(all->list[i]->answer),
			};
}

static struct json_object *get_beacon_peers(const struct beacons *beacons, unsigned int id)
{
	struct json_object *list = json_object_new_array();
	uint16_t peers[BEACON_NEIGHBOURS];
	unsigned int num = beacon_choose_neighbours(beacons->num, id, peers);

	for (unsigned int i = 0; i < num; i++) {
		const struct beacon_host *peer = &beacons->hosts[peers[i]];
		struct json_object *object = json_object_new_object();

		json_object_object_add(object, "id", json_object_new_int(peers[i]));
		json_object_object_add(object, "port",
				       json_object_new_int64(member_get_int(peer->opened, "port")));
		json_object_object_add(object, "addresses",
				       get_beacon_addresses(peer, &beacons->hosts[id]));
		json_object_array_add(list, object);
	}
	return list;
}

static void start_all_beacons(const struct beacons *beacons, struct remotes *all)
{
	int64_t session;

	/*
	 * If no random number is available, use the time, which at least differs in each session.
	 */
	if (getrandom(&session, sizeof(session), GRND_NONBLOCK) < 0)
		session = now_ns();
	for (unsigned int id = 0; id < beacons->num; id++) {
		struct json_object *request = request_create("beacon-start");

		json_object_object_add(request, "session", json_object_new_int64(session));
		json_object_object_add(request, "id", json_object_new_int(id));
		json_object_object_add(request, "rate", json_object_new_int(beacons->rate));
		json_object_object_add(request, "probe", json_object_new_boolean(beacons->probe));
		json_object_object_add(request, "peers", get_beacon_peers(beacons, id));
		remote_ask(beacons->hosts[id].remote, request);
	}
	remotes_wait(all, STEP_NS);
}

unsigned int beacons_start(struct beacons *beacons, struct remotes *all, const bool *wanted)
{
	beacons->hosts = calloc(all->num + 1, sizeof(*beacons->hosts));
	if (!beacons->hosts)
		return 0;
	open_all_beacons(beacons, all, wanted);
	if (beacons->num > 1)
		start_all_beacons(beacons, all);
	return beacons->num;
}

/* ---- the end ----------------------------------------------------------------- */

static void report_host_links(const struct beacons *beacons, struct beacon_host *host,
			      void (*tell)(void *data, const struct beacon_link *link), void *data)
{
	struct json_object *peers = value_get_member(host->remote->answer, "peers");

	for (size_t i = 0; i < value_get_length(peers); i++) {
		struct json_object *peer = value_get_element(peers, i);
		const uint64_t id = member_get_int(peer, "id");

		if (id < beacons->num)
			tell(data, &(struct beacon_link){
					   .from = beacons->hosts[id].remote,
					   .to = host->remote,
					   .port = member_get_int(host->opened, "port"),
					   .received = member_get_int(peer, "received"),
					   .rtt_ns = member_get_int(peer, "rtt_ns"),
				   });
	}
}

void beacons_stop(struct beacons *beacons, struct remotes *all,
		  void (*tell)(void *data, const struct beacon_link *link), void *data)
{
	for (unsigned int i = 0; i < beacons->num; i++)
		if (beacons->hosts[i].remote->ready)
			remote_ask(beacons->hosts[i].remote, request_create("beacon-stop"));
	remotes_wait(all, STEP_NS);
	for (unsigned int i = 0; i < beacons->num; i++) {
		struct beacon_host *host = &beacons->hosts[i];

		if (host->remote->answer)
			report_host_links(beacons, host, tell, data);
	}
	beacons_free(beacons);
}

void beacons_free(struct beacons *beacons)
{
	for (unsigned int i = 0; i < beacons->num; i++)
		json_object_put(beacons->hosts[i].opened);
	free(beacons->hosts);
	beacons->hosts = NULL;
	beacons->num = 0;
}
