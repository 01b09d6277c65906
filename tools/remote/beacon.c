// SPDX-License-Identifier: GPL-2.0-only
/* Run a beacon on one machine: choose the machine's neighbours, and exchange packets with them. */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beacon.h"
#include "common/now.h"

/* ---- neighbours ---------------------------------------------------------- */

/*
 * The machines form a circle. Each machine is connected with the machines that are k and k + 1
 * places away in both directions. This graph is connected, and usually remains connected if some
 * machines are missing. With k = ceil((sqrt(2 n - 1) - 1) / 2), any two machines are at most k
 * steps apart, which is the minimum for two distances. With up to five machines, each machine is
 * connected with all others.
 */
unsigned int beacon_choose_neighbours(unsigned int num, unsigned int id,
				      uint16_t peers[BEACON_NEIGHBOURS])
{
	unsigned int k = 0, found = 0;

	while ((2 * k + 1) * (2 * k + 1) < 2 * num - 1)
		k++;
	for (unsigned int i = 0; i < BEACON_NEIGHBOURS; i++) {
		unsigned int step = (k + i / 2) % num;
		unsigned int peer = (id + (i % 2 ? num - step : step)) % num;
		bool known = peer == id;

		for (unsigned int j = 0; j < found; j++)
			known |= peers[j] == peer;
		if (!known)
			peers[found++] = peer;
	}
	return found;
}

/* ---- sockets ------------------------------------------------------------- */

/* Open a socket. Return its port, or a negative errno value. */
static int open_beacon_socket(int family, uint16_t port, int *sock)
{
	const int yes = 1, with_id = IP_PMTUDISC_DONT;
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} address = { .v4 = { .sin_family = family, .sin_port = htons(port) } };
	socklen_t size = family == AF_INET ? sizeof(address.v4) : sizeof(address.v6);

	*sock = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*sock < 0)
		return -errno;
	if (family == AF_INET6)
		setsockopt(*sock, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes));
	else /* the kernel gives no IP id to packets that must not be fragmented */
		setsockopt(*sock, IPPROTO_IP, IP_MTU_DISCOVER, &with_id, sizeof(with_id));
	if (!bind(*sock, &address.any, size) && !getsockname(*sock, &address.any, &size))
		/* The port is at the same offset in both address structures. */
		return ntohs(address.v4.sin_port);
	port = errno;
	close(*sock);
	*sock = -1;
	return -port;
}

int beacon_open(uint16_t port, int socks[2])
{
	int first = open_beacon_socket(AF_INET, port, &socks[0]);
	int second;

	if (first < 0 && first != -EAFNOSUPPORT)
		return first;
	second = open_beacon_socket(AF_INET6, first > 0 ? first : port, &socks[1]);
	if (second >= 0)
		return second;
	/* IPv4 suffices if there is no IPv6. */
	if (first > 0 && second != -EADDRINUSE && second != -EACCES)
		return first;
	if (socks[0] >= 0)
		close(socks[0]);
	socks[0] = -1;
	return second;
}

static bool is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
	return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
}

static bool are_addresses_equal(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;

	if (a->ss_family != b->ss_family || a4->sin_port != b4->sin_port)
		return false;
	if (a->ss_family == AF_INET)
		return a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return IN6_ARE_ADDR_EQUAL(&a6->sin6_addr, &b6->sin6_addr) &&
	       a6->sin6_scope_id == b6->sin6_scope_id;
}

static void add_address(struct beacon_peer *peer, const struct addrinfo *info)
{
	struct sockaddr_storage address = { 0 };

	/* Skip loopback addresses, which would lead to this machine. */
	if (is_loopback(info->ai_addr) || peer->num_addresses == BEACON_ADDRESSES)
		return;
	memcpy(&address, info->ai_addr, info->ai_addrlen);
	for (unsigned int i = 0; i < peer->num_addresses; i++)
		if (are_addresses_equal(&peer->address[i], &address))
			return;
	peer->address[peer->num_addresses++] = address;
}

void beacon_add_address(struct beacon_peer *peer, const char *name, uint16_t port)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_DGRAM };
	struct addrinfo *list, *info;
	char service[16];

	snprintf(service, sizeof(service), "%u", port);
	if (getaddrinfo(name, service, &hints, &list))
		return;
	for (info = list; info; info = info->ai_next)
		if (info->ai_family == AF_INET || info->ai_family == AF_INET6)
			add_address(peer, info);
	freeaddrinfo(list);
}

/* ---- packets --------------------------------------------------------------- */

/* "netsybcn", which distinguishes beacon packets from others. */
#define MAGIC UINT64_C(0x6e6574737962636e)

enum kind { PAIR, PROBE, REPLY };

/* A packet, with all members in network byte order. */
struct beacon_packet {
	uint64_t magic;
	uint64_t session;
	uint64_t count; /* number of all packets sent to this peer */
	uint64_t time;	/* time of a probe on the prober's clock, or 0 for other packets */
	uint16_t from;
	uint16_t to;
	uint8_t kind;
	uint8_t zero[3];
};

/*
 * Range of packet lengths over IPv6, where only lengths distinguish packets. The packets of a pair
 * differ in length. All lengths in this range fit into the minimum MTU of IPv6, minus headers.
 */
#define LENGTH_MIN 64
#define LENGTH_MAX 1232
#define LENGTH_PAIRS ((LENGTH_MAX - LENGTH_MIN) / 2)
/* Time within which lengths are not repeated if possible, s. Chosen. */
#define UNIQUE_S 30

static void fill_beacon_packet(const struct beacon *b, struct beacon_peer *peer, enum kind kind,
			       int64_t time, struct beacon_packet *packet)
{
	*packet = (struct beacon_packet){
		.magic = htobe64(MAGIC),
		.session = htobe64(b->session),
		.count = htobe64(peer->count++),
		.time = htobe64(time),
		.from = htons(b->id),
		.to = htons(peer->id),
		.kind = kind,
	};
}

static size_t choose_packet_length(const struct beacon *b, bool v6,
				   const struct beacon_packet *packet)
{
	unsigned int pairs = b->rate * UNIQUE_S;

	if (pairs > LENGTH_PAIRS)
		pairs = LENGTH_PAIRS;
	return LENGTH_MIN + (v6 ? be64toh(packet->count) % (2 * pairs) : 0);
}

/* Send several packets to one address, back to back. */
static void send_beacon_packets(const struct beacon *b, struct beacon_peer *peer,
				const struct sockaddr_storage *to, enum kind kind, int64_t time,
				unsigned int num)
{
	static uint8_t zero[LENGTH_MAX];
	const bool v6 = to->ss_family == AF_INET6;
	struct beacon_packet packets[2];
	struct iovec parts[2][2];
	struct mmsghdr messages[2] = { 0 };
	int sent;

	for (unsigned int i = 0; i < num; i++) {
		fill_beacon_packet(b, peer, kind, time, &packets[i]);
		parts[i][0] = (struct iovec){ &packets[i], sizeof(packets[i]) };
		parts[i][1] = (struct iovec){
			.iov_base = zero,
			.iov_len = choose_packet_length(b, v6, &packets[i]) - sizeof(packets[i]),
		};
		messages[i].msg_hdr = (struct msghdr){
			.msg_name = (void *)to,
			.msg_namelen = v6 ? sizeof(struct sockaddr_in6) :
					    sizeof(struct sockaddr_in),
			.msg_iov = parts[i],
			.msg_iovlen = 2,
		};
	}
	/* A packet that cannot be sent immediately counts as lost. */
	sent = b->socks[v6] < 0 ? 0 : sendmmsg(b->socks[v6], messages, num, 0);
	if (sent > 0)
		peer->sent += sent;
}

/* ---- finding each other ---------------------------------------------------- */

/*
 * The machine with the smaller id probes the other machine's addresses, and uses the first address
 * that answers. The other machine sends to the address from which it last received a packet, so
 * that both directions use the same addresses. If a machine was not found within WAIT_NS, it also
 * starts to probe, because packets may pass in one direction only.
 */
#define WAIT_NS NS_PER_S
/*
 * Number of fast probes, and the time between them, ns. All later probes are slow, because the
 * other machine may start later, or never.
 */
#define PROBES 50
#define PROBE_NS (NS_PER_S / 10)
#define PROBE_SELDOM_NS (5 * NS_PER_S)
/* Time without a packet after which a machine probes again, ns. Chosen. */
#define QUIET_NS (10 * NS_PER_S)

static bool is_first_of_pair(const struct beacon *b, const struct beacon_peer *peer)
{
	return b->id < peer->id;
}

static void note_rtt(struct beacon_peer *peer, int64_t rtt_ns)
{
	if (rtt_ns > 0 && (!peer->rtt_ns || rtt_ns < peer->rtt_ns))
		peer->rtt_ns = rtt_ns;
}

static void handle_beacon_packet(struct beacon *b, const uint8_t *data, ssize_t size,
				 const struct sockaddr_storage *from)
{
	struct beacon_peer *peer = NULL;
	struct beacon_packet packet;

	if (size < (ssize_t)sizeof(packet))
		return;
	memcpy(&packet, data, sizeof(packet));
	if (be64toh(packet.magic) != MAGIC || be64toh(packet.session) != b->session ||
	    ntohs(packet.to) != b->id)
		return;
	for (unsigned int i = 0; i < b->num_peers; i++)
		if (b->peers[i].id == ntohs(packet.from))
			peer = &b->peers[i];
	if (!peer)
		return;
	peer->received++;
	if (!peer->path.ss_family)
		peer->next_ns = now_ns();
	if (!peer->path.ss_family || !is_first_of_pair(b, peer))
		peer->path = *from;
	if (are_addresses_equal(&peer->path, from))
		peer->heard_ns = now_ns();
	if (packet.kind == PROBE)
		send_beacon_packets(b, peer, from, REPLY, be64toh(packet.time), 1);
	if (packet.kind == REPLY)
		note_rtt(peer, now_ns() - (int64_t)be64toh(packet.time));
}

static void receive_beacons(struct beacon *b, int sock)
{
	uint8_t data[sizeof(struct beacon_packet)];
	struct sockaddr_storage from = { 0 };
	socklen_t from_size = sizeof(from);
	ssize_t size;

	/* Limit the number of packets that are read at a time, because the port may be flooded. */
	for (int i = 0; i < 64; i++) {
		size = recvfrom(sock, data, sizeof(data), 0, (struct sockaddr *)&from, &from_size);
		if (size < 0)
			return;
		handle_beacon_packet(b, data, size, &from);
		from_size = sizeof(from);
	}
}

static void send_probe_packets(struct beacon *b, struct beacon_peer *peer)
{
	for (unsigned int i = 0; i < peer->num_addresses; i++)
		send_beacon_packets(b, peer, &peer->address[i], PROBE, now_ns(), 1);
	peer->probes++;
	peer->next_ns += peer->probes < PROBES ? PROBE_NS : PROBE_SELDOM_NS;
}

/* ---- all together ------------------------------------------------------------ */

/* Vary the period by a tenth, so that beacons do not synchronize with other activities. */
static int64_t choose_period_ns(const struct beacon *b)
{
	const int64_t period = NS_PER_S / b->rate;

	return period - period / 10 + random() % (period / 5);
}

static void send_due_packets(struct beacon *b, struct beacon_peer *peer, int64_t now)
{
	if (peer->path.ss_family && now - peer->heard_ns > QUIET_NS) {
		peer->path.ss_family = 0;
		peer->probes = 0;
	}
	if (now < peer->next_ns)
		return;
	if (!peer->path.ss_family) {
		send_probe_packets(b, peer);
		return;
	}
	if (b->probe)
		send_beacon_packets(b, peer, &peer->path, PROBE, now, 1);
	else
		send_beacon_packets(b, peer, &peer->path, PAIR, 0, 2);
	/* Do not send packets later that were missed while the machine was busy. */
	peer->next_ns = now + choose_period_ns(b);
}

static int64_t find_next_send_ns(const struct beacon *b)
{
	int64_t next = INT64_MAX;

	for (unsigned int i = 0; i < b->num_peers; i++)
		if (b->peers[i].next_ns < next)
			next = b->peers[i].next_ns;
	return next;
}

void beacon_run(struct beacon *beacon, const volatile sig_atomic_t *stop)
{
	struct pollfd fds[2] = {
		{ .fd = beacon->socks[0], .events = POLLIN },
		{ .fd = beacon->socks[1], .events = POLLIN },
	};
	sigset_t none;

	sigemptyset(&none);
	srandom(beacon->session + beacon->id);
	for (unsigned int i = 0; i < beacon->num_peers; i++)
		beacon->peers[i].next_ns = now_ns() + (is_first_of_pair(beacon, &beacon->peers[i]) ?
							       0 :
							       WAIT_NS);
	while (!*stop) {
		int64_t wait = find_next_send_ns(beacon) - now_ns();
		struct timespec timeout;

		if (wait < 0)
			wait = 0;
		timeout = (struct timespec){ wait / NS_PER_S, wait % NS_PER_S };
		if (ppoll(fds, 2, &timeout, &none) > 0)
			for (int i = 0; i < 2; i++)
				if (fds[i].revents)
					receive_beacons(beacon, fds[i].fd);
		for (unsigned int i = 0; i < beacon->num_peers; i++)
			send_due_packets(beacon, &beacon->peers[i], now_ns());
	}
}
