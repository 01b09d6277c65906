/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Members of the kernel's structures that the BPF programs read. libbpf finds their offsets in
 * the running kernel with its BTF.
 */
#ifndef NETSYNC_RECORDER_KERNEL_BPF_H
#define NETSYNC_RECORDER_KERNEL_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct header_ops;

struct net_device {
	int ifindex;
	unsigned short type;
	unsigned char addr_len;
	char name[16];
	const unsigned char *dev_addr;
	const struct header_ops *header_ops;
	possible_net_t nd_net;
};

struct kernfs_node {
	__u64 id;
};

struct cgroup_subsys_state {
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};

struct sock_cgroup_data {
	struct cgroup *cgroup;
};

/*
 * In kernels up to 5.14, @val is the control group's address. If its lowest bit is set, there is no
 * address.
 */
struct sock_cgroup_data___old {
	__u64 val;
};

struct sock;

struct sock_common {
	volatile unsigned char skc_state;
	struct sock *skc_listener; /* listening socket of a connection that is being established */
};

struct sock {
	struct sock_common __sk_common;
	struct sock_cgroup_data sk_cgrp_data;
};

struct skb_shared_info {
	unsigned short gso_size;
};

struct sk_buff {
	struct net_device *dev;
	struct sock *sk;
	unsigned int len;
	unsigned int data_len;
	__u8 pkt_type : 3;
	__u16 vlan_proto;
	__u16 vlan_tci;
	__u16 protocol;
	__u16 network_header;
	__u16 mac_header;
	unsigned char *head;
	unsigned char *data;
	/* an offset from @head on 64-bit machines */
	unsigned int end;
};

/*
 * In kernels up to 6.1, a bit reports whether there is a VLAN tag. In later kernels, there is a
 * tag if the two members are not both 0.
 */
struct sk_buff___old {
	__u8 vlan_present : 1;
};
#pragma clang attribute pop

#endif
