// SPDX-License-Identifier: GPL-2.0-only
/*
 * Record packets at netfilter's LOCAL_IN and LOCAL_OUT, in all network
 * namespaces, as events inet_*_local_in and inet_*_local_out.
 *
 * A packet in a queue (NFQUEUE) stores the index of its hook among the hooks of
 * its hook point and namespace. If a hook is registered before the packet's
 * hook, the packet passes its hook twice. If any hook is unregistered, the
 * kernel drops all packets in queues of the namespace. The hooks of this module
 * are therefore registered at the first use of an event, or, with
 * netsync_hooks, when the module is loaded. The hooks stay until the module is unloaded. A static
 * key makes them return at once while no tracer uses the events.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bits.h>
#include <linux/jump_label.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netfilter.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "address.h"
#include "compat.h"
#include "events.h"
#include "hooks.h"
#include "netsync-events.h"
#include "parse.h"

#define HOOK(where)                                                            \
	static DEFINE_STATIC_KEY_FALSE(where##_used);                          \
									       \
	static noinline void record_##where(const struct sk_buff *skb,         \
					    const struct nf_hook_state *state) \
	{                                                                      \
		union netsync_record rec netsync_uninit;                    \
		unsigned int wanted = 0, protocol;                             \
									       \
		if (trace_inet_sock_##where##_enabled())                       \
			wanted |= NETSYNC_TCP;                                 \
		if (trace_inet_udp_##where##_enabled())                        \
			wanted |= NETSYNC_UDP;                                 \
		if (trace_inet_icmp_##where##_enabled())                       \
			wanted |= NETSYNC_ICMP;                                \
		if (trace_inet_sctp_##where##_enabled())                       \
			wanted |= NETSYNC_SCTP;                                \
		protocol = netsync_parse(skb, skb_network_offset(skb),         \
					 state->pf, wanted,                    \
					 state->net->ns.inum, &rec);           \
		if (!protocol)                                                 \
			return;                                                \
		rec.ip.sk = netsync_address(skb->sk);                          \
		switch (protocol) {                                            \
		case NETSYNC_TCP:                                              \
			trace_inet_sock_##where(&rec.tcp);                     \
			break;                                                 \
		case NETSYNC_UDP:                                              \
			trace_inet_udp_##where(&rec.udp);                      \
			break;                                                 \
		case NETSYNC_ICMP:                                             \
			trace_inet_icmp_##where(&rec.icmp);                    \
			break;                                                 \
		case NETSYNC_SCTP:                                             \
			trace_inet_sctp_##where(&rec.sctp);                    \
			break;                                                 \
		}                                                              \
	}                                                                      \
									       \
	static unsigned int hook_##where(void *priv, struct sk_buff *skb,      \
					 const struct nf_hook_state *state)    \
	{                                                                      \
		if (static_branch_unlikely(&where##_used))                     \
			record_##where(skb, state);                            \
		return NF_ACCEPT;                                              \
	}

HOOK(local_in)
HOOK(local_out)

enum { LOCAL_IN, LOCAL_OUT, NUM_HOOKS };

static const struct nf_hook_ops hooks[NUM_HOOKS] = {
	[LOCAL_IN] = {
		.hook = hook_local_in,
		.pf = NFPROTO_INET,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = INT_MIN,
	},
	[LOCAL_OUT] = {
		.hook = hook_local_out,
		.pf = NFPROTO_INET,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = INT_MAX,
	},
};

bool netsync_hooks;

/* The hooks that are registered in a network namespace. */
struct hooked_net {
	struct list_head node;
	struct net *net;
	/* A bit for each hook that is registered. */
	unsigned long attached;
	/* Whether detach_all() has registered filler hooks. */
	bool has_fillers;
};

/* Protects nets and netsync_hooks. */
static DEFINE_MUTEX(nets_lock);
static LIST_HEAD(nets);
static unsigned int net_id __read_mostly;

static void attach_net_hooks(struct hooked_net *hn)
{
	int i;

	for (i = 0; i < NUM_HOOKS; i++) {
		int err;

		if (hn->attached & BIT(i))
			continue;
		err = nf_register_net_hook(hn->net, &hooks[i]);
		if (err)
			pr_warn("no events from network namespace %u: error %d\n",
				hn->net->ns.inum, err);
		else
			hn->attached |= BIT(i);
	}
}

static void detach_net_hooks(struct hooked_net *hn)
{
	int i;

	for (i = 0; i < NUM_HOOKS; i++)
		if (hn->attached & BIT(i))
			nf_unregister_net_hook(hn->net, &hooks[i]);
	hn->attached = 0;
}

/* Register all hooks. Also register hooks for which memory was short in an earlier call. */
static void attach_all(void)
{
	struct hooked_net *hn;

	mutex_lock(&nets_lock);
	netsync_hooks = true;
	list_for_each_entry(hn, &nets, node)
		attach_net_hooks(hn);
	mutex_unlock(&nets_lock);
}

#define SOURCE(where)                                                          \
	static int attach_##where(void)                                        \
	{                                                                      \
		attach_all();                                                  \
		static_branch_enable(&where##_used);                           \
		return 0;                                                      \
	}                                                                      \
									       \
	static void detach_##where(void)                                       \
	{                                                                      \
		static_branch_disable(&where##_used);                          \
	}                                                                      \
									       \
	struct netsync_source netsync_##where = {                              \
		.attach = attach_##where,                                      \
		.detach = detach_##where,                                      \
	}

SOURCE(local_in);
SOURCE(local_out);

/* ---- unloading the module ------------------------------------------------- */

static unsigned int accept_packet(void *priv, struct sk_buff *skb,
				  const struct nf_hook_state *state)
{
	return NF_ACCEPT;
}

#define FILLER(where)                                                          \
	{                                                                      \
		.hook = accept_packet,                                         \
		.pf = NFPROTO_INET,                                            \
		.hooknum = NF_INET_##where,                                    \
		.priority = INT_MAX,                                           \
	}

/* Two sets of hooks: fillers 1 and fillers 2 of detach_all(). */
static const struct nf_hook_ops fillers[2 * NUM_HOOKS] = {
	FILLER(LOCAL_IN), FILLER(LOCAL_OUT),
	FILLER(LOCAL_IN), FILLER(LOCAL_OUT),
};

/*
 * Unregister all hooks. Until 6.10, the kernel warns, and may panic, when it drops a
 * queued packet whose hook index is not below the current number of hooks. The index of
 * the last hook becomes invalid when ours is unregistered before it. Filler hooks that
 * are registered after it keep the index valid:
 *
 *	index of a hook            0      1         2         3
 *	                           ours   queue     filler 1  filler 2
 *	ours unregistered          queue  filler 1  filler 2
 *	filler 2 unregistered      queue  filler 1
 *	filler 1 unregistered      queue
 *
 * After an RCU grace period, all packets with old indexes are in queues; unregistering
 * filler 2 drops them. If there is no memory for fillers, the hooks are unregistered
 * nevertheless.
 */
static void detach_all(void)
{
	struct hooked_net *hn;

	mutex_lock(&nets_lock);
	netsync_hooks = false;
	list_for_each_entry(hn, &nets, node)
		hn->has_fillers = hn->attached &&
			!nf_register_net_hooks(hn->net, fillers,
					       ARRAY_SIZE(fillers));
	list_for_each_entry(hn, &nets, node)
		detach_net_hooks(hn);
	synchronize_net();
	list_for_each_entry(hn, &nets, node)
		if (hn->has_fillers) {
			nf_unregister_net_hooks(hn->net, fillers + NUM_HOOKS,
						NUM_HOOKS);
			nf_unregister_net_hooks(hn->net, fillers, NUM_HOOKS);
		}
	mutex_unlock(&nets_lock);
}

/* ---- namespaces ----------------------------------------------------------- */

static int __net_init hooked_net_init(struct net *net)
{
	struct hooked_net *hn = net_generic(net, net_id);

	hn->net = net;
	mutex_lock(&nets_lock);
	list_add_tail(&hn->node, &nets);
	if (netsync_hooks)
		attach_net_hooks(hn);
	mutex_unlock(&nets_lock);
	return 0;
}

/*
 * Unregister the hooks of a namespace that ends. No fillers are needed: a queued packet would hold
 * a reference to a device, and so keep the namespace alive.
 */
static void __net_exit hooked_net_exit(struct net *net)
{
	struct hooked_net *hn = net_generic(net, net_id);

	mutex_lock(&nets_lock);
	list_del(&hn->node);
	detach_net_hooks(hn);
	mutex_unlock(&nets_lock);
}

static struct pernet_operations hooked_net_ops = {
	.init = hooked_net_init,
	.exit = hooked_net_exit,
	.id = &net_id,
	.size = sizeof(struct hooked_net),
};

int netsync_hooks_init(void)
{
	return register_pernet_subsys(&hooked_net_ops);
}

void netsync_hooks_exit(void)
{
	detach_all();
	unregister_pernet_subsys(&hooked_net_ops);
	/* Wait until no packet is in this module's functions. */
	synchronize_net();
}
