// SPDX-License-Identifier: GPL-2.0-only
/*
 * Record when the kernel creates, clones, connects, accepts and frees TCP and
 * UDP sockets, as events inet_sock_create, inet_connect and so on.
 */
#include <linux/kernel.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include <net/tcp_states.h>
#include <trace/events/sock.h>

#include "address.h"
#include "attach.h"
#include "compat.h"
#include "events.h"
#include "netsync-events.h"
#include "parse.h"
#include "socket.h"

static bool is_traced_sock(const struct sock *sk)
{
	return (sk->sk_family == AF_INET || sk->sk_family == AF_INET6) &&
	       (sk->sk_protocol == IPPROTO_TCP ||
		sk->sk_protocol == IPPROTO_UDP);
}

static u32 get_socket_netns(const struct sock *sk)
{
	return sock_net(sk)->ns.inum;
}

#define WRITE_SOCK(rec, _sk, _netns)				\
	do {							\
		(rec)->family = (_sk)->sk_family;		\
		(rec)->protocol = (_sk)->sk_protocol;		\
		(rec)->netns = _netns;				\
	} while (0)

static void write_sock(struct netsync_sock *rec, const struct sock *sk,
		       u32 netns)
{
	rec->sk = netsync_address(sk);
	WRITE_SOCK(rec, sk, netns);
}

/* Write both ends of a connected socket, whose packets are IPv4 or IPv6. */
static void write_flow(struct netsync_flow *rec, const struct sock *sk,
		       bool ipv4)
{
	const struct inet_sock *inet = inet_sk(sk);

	rec->sk = netsync_address(sk);
	WRITE_SOCK(rec, sk, get_socket_netns(sk));
	rec->family = ipv4 ? AF_INET : AF_INET6;
	rec->sport = ntohs(inet->inet_sport);
	rec->dport = ntohs(inet->inet_dport);
	if (ipv4)
		netsync_write_addrs(&rec->addrs, &inet->inet_saddr,
				    &inet->inet_daddr, 4);
#if IS_ENABLED(CONFIG_IPV6)
	else
		netsync_write_addrs(&rec->addrs, &sk->sk_v6_rcv_saddr,
				    &sk->sk_v6_daddr, 16);
#endif
}

static bool talks_ipv4(const struct sock *sk)
{
#if IS_ENABLED(CONFIG_IPV6)
	return sk->sk_family == AF_INET || ipv6_addr_v4mapped(&sk->sk_v6_daddr);
#else
	return true;
#endif
}

/* ---- handlers ------------------------------------------------------------- */

static void at_sock_create(const void *first, const void *second)
{
	const struct sock *sk = first;
	struct netsync_sock rec;

	if (is_traced_sock(sk)) {
		write_sock(&rec, sk, get_socket_netns(sk));
		trace_inet_sock_create(&rec);
	}
}

/*
 * Do not read the namespace of the kernel's own sockets. Such a socket holds no reference to its
 * namespace, and may outlive the namespace while a packet that they sent waits in another
 * namespace.
 */
static void at_sock_delete(const void *first, const void *second)
{
	const struct sock *sk = first;
	struct netsync_sock rec;

	if (is_traced_sock(sk)) {
		write_sock(&rec, sk, sk->sk_net_refcnt ? get_socket_netns(sk) : 0);
		trace_inet_sock_delete(&rec);
	}
}

static void at_sock_clone(const void *first, const void *second)
{
	const struct sock *nsk = second;
	struct netsync_clone rec;

	if (is_traced_sock(nsk)) {
		rec.osk = netsync_address(first);
		rec.nsk = netsync_address(nsk);
		WRITE_SOCK(&rec, nsk, get_socket_netns(nsk));
		trace_inet_sock_clone(&rec);
	}
}

static void at_tcp_connect(const void *first, const void *second)
{
	const struct sock *sk = first;
	struct netsync_flow rec;

	if (is_traced_sock(sk)) {
		write_flow(&rec, sk, talks_ipv4(sk));
		trace_inet_connect(&rec);
	}
}

static int keep_probed_sock(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	*(struct sock **)ri->data =
		(struct sock *)netsync_kernel_argument(regs, 0);
	return 0;
}

static void record_udp_connect(struct kretprobe_instance *ri,
			       struct pt_regs *regs, bool ipv4)
{
	const struct sock *sk = *(struct sock **)ri->data;
	struct netsync_flow rec;

	if ((int)regs_return_value(regs) || !is_traced_sock(sk))
		return;
	write_flow(&rec, sk, ipv4);
	trace_inet_connect(&rec);
}

static int at_udp_connect(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	record_udp_connect(ri, regs, true);
	return 0;
}

/*
 * Record the connection of an IPv6 socket. If the address is an IPv4 address,
 * __ip6_datagram_connect() calls __ip4_datagram_connect(), which has a probe of its own.
 */
static int at_udpv6_connect(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (!talks_ipv4(*(struct sock **)ri->data))
		record_udp_connect(ri, regs, false);
	return 0;
}

/* Record the last step of the handshake at the end that accepts the connection. */
static void at_sock_set_state(void *data, const struct sock *sk, int oldstate,
			      int newstate)
{
	struct netsync_flow rec;

	if (oldstate == TCP_SYN_RECV && newstate == TCP_ESTABLISHED &&
	    is_traced_sock(sk)) {
		write_flow(&rec, sk, talks_ipv4(sk));
		trace_inet_accept(&rec);
	}
}

/* ---- sources -------------------------------------------------------------- */

static struct netsync_probe create[] = {
	{ .name = "tcp_init_sock", .begin = at_sock_create },
	{ .name = "udp_init_sock", .begin = at_sock_create },
	/* Kernels without udpv6_init_sock() use udp_init_sock() for IPv6 as well. */
	{ .name = "udpv6_init_sock", .begin = at_sock_create, .optional = true },
};

static struct netsync_probe delete[] = {
	{ .name = "inet_sock_destruct", .begin = at_sock_delete },
};

/* sk_clone_lock() calls this function if the new socket is a copy of a listening socket. */
static struct netsync_probe clone[] = {
	{ .name = "bpf_sk_storage_clone", .begin = at_sock_clone },
};

static struct netsync_probe connect[] = {
	{ .name = "tcp_connect", .begin = at_tcp_connect },
	{ .name = "__ip4_datagram_connect",
	  .keep = keep_probed_sock, .end = at_udp_connect },
	{ .name = "__ip6_datagram_connect",
	  .keep = keep_probed_sock, .end = at_udpv6_connect, .optional = true },
};

static struct netsync_probe accept[] = {
	{ NETSYNC_TRACEPOINT(inet_sock_set_state, at_sock_set_state) },
};

NETSYNC_SOURCE(sock_create, create);
NETSYNC_SOURCE(sock_delete, delete);
NETSYNC_SOURCE(sock_clone, clone);
NETSYNC_SOURCE(connect, connect);
NETSYNC_SOURCE(accept, accept);

unsigned long netsync_sockets_missed(void)
{
	return netsync_missed(create, ARRAY_SIZE(create)) +
	       netsync_missed(delete, ARRAY_SIZE(delete)) +
	       netsync_missed(clone, ARRAY_SIZE(clone)) +
	       netsync_missed(connect, ARRAY_SIZE(connect));
}
