// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bits.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netfilter.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "compat.h"
#include "events.h"
#include "hooks.h"
#include "netsync-events.h"
#include "parse.h"

#define HOOK(where)                                                            \
	static unsigned int hook_##where(void *priv, struct sk_buff *skb,      \
					 const struct nf_hook_state *state)    \
	{                                                                      \
		union netsync_record rec netsync_filled_in;                    \
		unsigned int wanted = 0;                                       \
									       \
		if (trace_inet_sock_##where##_enabled())                       \
			wanted |= NETSYNC_TCP;                                 \
		if (trace_inet_udp_##where##_enabled())                        \
			wanted |= NETSYNC_UDP;                                 \
		if (trace_inet_icmp_##where##_enabled())                       \
			wanted |= NETSYNC_ICMP;                                \
		if (trace_inet_sctp_##where##_enabled())                       \
			wanted |= NETSYNC_SCTP;                                \
		switch (netsync_parse(skb, skb_network_offset(skb), state->pf, \
				      wanted, state->net->ns.inum, &rec)) {    \
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

/* One per network namespace. */
struct hooked_net {
	struct list_head node;
	struct net *net;
	unsigned long attached;		/* hooks as bits */
};

/* All of them, and what is to be attached to each. */
static DEFINE_MUTEX(nets_lock);
static LIST_HEAD(nets);
static unsigned long wanted;
static unsigned int net_id __read_mostly;

static void agree(struct hooked_net *hn, unsigned long wish)
{
	int i;

	for (i = 0; i < NUM_HOOKS; i++) {
		unsigned long bit = BIT(i);

		if ((wish & bit) && !(hn->attached & bit)) {
			int err = nf_register_net_hook(hn->net, &hooks[i]);

			if (err)
				pr_warn("network namespace %u gives no events: error %d\n",
					hn->net->ns.inum, err);
			else
				hn->attached |= bit;
		} else if (!(wish & bit) && (hn->attached & bit)) {
			nf_unregister_net_hook(hn->net, &hooks[i]);
			hn->attached &= ~bit;
		}
	}
}

static void want(int hook, bool yes)
{
	struct hooked_net *hn;

	mutex_lock(&nets_lock);
	if (yes)
		wanted |= BIT(hook);
	else
		wanted &= ~BIT(hook);
	list_for_each_entry(hn, &nets, node)
		agree(hn, wanted);
	mutex_unlock(&nets_lock);
}

#define SOURCE(where, hook)                                                    \
	static int attach_##where(void)                                        \
	{                                                                      \
		want(hook, true);                                              \
		return 0;                                                      \
	}                                                                      \
									       \
	static void detach_##where(void)                                       \
	{                                                                      \
		want(hook, false);                                             \
	}                                                                      \
									       \
	struct netsync_source netsync_##where = {                              \
		.attach = attach_##where,                                      \
		.detach = detach_##where,                                      \
	}

SOURCE(local_in, LOCAL_IN);
SOURCE(local_out, LOCAL_OUT);

/* A namespace that appears while events are in use has its hooks at once. */
static int __net_init hooked_net_init(struct net *net)
{
	struct hooked_net *hn = net_generic(net, net_id);

	hn->net = net;
	mutex_lock(&nets_lock);
	list_add_tail(&hn->node, &nets);
	agree(hn, wanted);
	mutex_unlock(&nets_lock);
	return 0;
}

static void __net_exit hooked_net_exit(struct net *net)
{
	struct hooked_net *hn = net_generic(net, net_id);

	mutex_lock(&nets_lock);
	list_del(&hn->node);
	agree(hn, 0);
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
	unregister_pernet_subsys(&hooked_net_ops);
	/* Packets that were in a hook when it went are through after this. */
	synchronize_net();
}
