/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Selects packets of a control group. A sent packet has its socket, and thus the group of the
 * socket. A received packet has no socket yet. It belongs to the group if the group has sent
 * from its local port before.
 */
#ifndef NETSYNC_RECORDER_CGROUP_BPF_H
#define NETSYNC_RECORDER_CGROUP_BPF_H

#include "seen-packet.bpf.h"

/* Maximum number of nested groups that are examined. Chosen. */
#define MOST_GROUPS 16
/* States in which a socket's structure is shorter than a full socket (include/net/tcp_states.h). */
#define STATE_TIME_WAIT 6
#define STATE_NEW_SYN_RECV 12

/* The group of a packet, as determined by its socket. */
enum packet_group { GROUP_UNKNOWN, GROUP_WANTED, GROUP_OTHER };

struct group_port {
	__u32 netns;
	__u16 port; /* port, or identifier of ICMP echo requests */
	__u16 protocol;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct group_port);
	__type(value, __u8);
} group_ports SEC(".maps");

static __always_inline struct cgroup *get_cgroup(const struct sock *sk)
{
	const struct sock_cgroup_data___old *old = (const void *)&sk->sk_cgrp_data;

	if (bpf_core_field_exists(sk->sk_cgrp_data.cgroup))
		return BPF_CORE_READ(sk, sk_cgrp_data.cgroup);
	return (struct cgroup *)(BPF_CORE_READ(old, val) & ~3ULL);
}

static __always_inline enum packet_group find_group(const struct sk_buff *skb, __u64 wanted)
{
	const struct sock *sk = BPF_CORE_READ(skb, sk);
	__u8 state = sk ? BPF_CORE_READ(sk, __sk_common.skc_state) : STATE_TIME_WAIT;
	struct cgroup *group;

	if (state == STATE_NEW_SYN_RECV) {
		sk = BPF_CORE_READ(sk, __sk_common.skc_listener);
		state = 0;
	}
	if (!sk || state == STATE_TIME_WAIT)
		return GROUP_UNKNOWN;
	group = get_cgroup(sk);
	for (int i = 0; i < MOST_GROUPS && group; i++) {
		struct cgroup_subsys_state *parent = BPF_CORE_READ(group, self.parent);

		if (BPF_CORE_READ(group, kn, id) == wanted)
			return GROUP_WANTED;
		if (!parent)
			break;
		group = (void *)parent - bpf_core_field_offset(struct cgroup, self);
	}
	return GROUP_OTHER;
}

/* Has the group sent a packet from @local, which is the port or the identifier of this end? */
static __always_inline bool is_group_wanted(const struct seen_packet *p, __u16 local)
{
	const struct group_port key = {
		.netns = p->frame.netns,
		.port = local,
		.protocol = p->protocol,
	};
	const __u8 one = 1;

	if (p->group == GROUP_WANTED && local)
		bpf_map_update_elem(&group_ports, &key, &one, BPF_ANY);
	return p->group == GROUP_WANTED ||
	       (p->group == GROUP_UNKNOWN && local && bpf_map_lookup_elem(&group_ports, &key));
}

#endif
