// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events are wanted and unwanted by tracers, in reg() and unreg(), which run
 * with tracepoints_mutex held, so that taking the locks that hooks need there
 * could deadlock. They only note the wish; a work item then makes the hooks of
 * every network namespace agree with it.
 *
 * Tracers may call reg() before module init, when they waited for the module,
 * and unreg() after module exit, when they are told that it goes. The wish is
 * noted then too, and the work item left alone.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bits.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netfilter.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "compat.h"
#include "hooks.h"
#include "netsync-events.h"
#include "parse.h"

#define HOOK(where)                                                            \
	static unsigned int hook_##where(void *priv, struct sk_buff *skb,      \
					 const struct nf_hook_state *state)    \
	{                                                                      \
		struct netsync_tcp seg;                                        \
									       \
		if (trace_inet_sock_##where##_enabled() &&                     \
		    netsync_parse_tcp(skb, state->pf, &seg)) {                 \
			seg.netns = state->net->ns.inum;                       \
			trace_inet_sock_##where(&seg);                         \
		}                                                              \
		return NF_ACCEPT;                                              \
	}

HOOK(local_in)
HOOK(local_out)

enum { SOCK_LOCAL_IN, SOCK_LOCAL_OUT, NUM_EVENTS };

static const struct {
	const char *name;
	struct nf_hook_ops ops;
} events[NUM_EVENTS] = {
	[SOCK_LOCAL_IN] = {
		.name = "inet_sock_local_in",
		.ops = {
			.hook = hook_local_in,
			.pf = NFPROTO_INET,
			.hooknum = NF_INET_LOCAL_IN,
			.priority = INT_MIN,
		},
	},
	[SOCK_LOCAL_OUT] = {
		.name = "inet_sock_local_out",
		.ops = {
			.hook = hook_local_out,
			.pf = NFPROTO_INET,
			.hooknum = NF_INET_LOCAL_OUT,
			.priority = INT_MAX,
		},
	},
};

/* Events as bits: which have a user, and whether the work item may run. */
static DEFINE_SPINLOCK(wish_lock);
static unsigned long wanted;
static bool running;

/* One per network namespace. */
struct hooked_net {
	struct list_head node;
	struct net *net;
	unsigned long attached;
};

static DEFINE_MUTEX(nets_lock);
static LIST_HEAD(nets);
static unsigned int net_id __read_mostly;

static void attach(struct hooked_net *hn, unsigned long wish)
{
	int i;

	for (i = 0; i < NUM_EVENTS; i++) {
		unsigned long bit = BIT(i);

		if ((wish & bit) && !(hn->attached & bit)) {
			int err = nf_register_net_hook(hn->net, &events[i].ops);

			if (err)
				pr_warn("%s does not see network namespace %u: error %d\n",
					events[i].name, hn->net->ns.inum, err);
			else
				hn->attached |= bit;
		} else if (!(wish & bit) && (hn->attached & bit)) {
			nf_unregister_net_hook(hn->net, &events[i].ops);
			hn->attached &= ~bit;
		}
	}
}

static void follow_wish(struct work_struct *work)
{
	struct hooked_net *hn;

	mutex_lock(&nets_lock);
	list_for_each_entry(hn, &nets, node)
		attach(hn, READ_ONCE(wanted));
	mutex_unlock(&nets_lock);
}

static DECLARE_WORK(wish_work, follow_wish);

static void want(int event, bool yes)
{
	spin_lock(&wish_lock);
	if (yes)
		WRITE_ONCE(wanted, wanted | BIT(event));
	else
		WRITE_ONCE(wanted, wanted & ~BIT(event));
	if (running)
		schedule_work(&wish_work);
	spin_unlock(&wish_lock);
}

int netsync_reg_sock_local_in(void)
{
	want(SOCK_LOCAL_IN, true);
	return 0;
}

void netsync_unreg_sock_local_in(void)
{
	want(SOCK_LOCAL_IN, false);
}

int netsync_reg_sock_local_out(void)
{
	want(SOCK_LOCAL_OUT, true);
	return 0;
}

void netsync_unreg_sock_local_out(void)
{
	want(SOCK_LOCAL_OUT, false);
}

/* A namespace that appears while events are in use has its hooks at once. */
static int __net_init hooked_net_init(struct net *net)
{
	struct hooked_net *hn = net_generic(net, net_id);

	hn->net = net;
	mutex_lock(&nets_lock);
	list_add_tail(&hn->node, &nets);
	attach(hn, READ_ONCE(wanted));
	mutex_unlock(&nets_lock);
	return 0;
}

static void __net_exit hooked_net_exit(struct net *net)
{
	struct hooked_net *hn = net_generic(net, net_id);

	mutex_lock(&nets_lock);
	list_del(&hn->node);
	attach(hn, 0);
	mutex_unlock(&nets_lock);
}

static struct pernet_operations hooked_net_ops = {
	.init = hooked_net_init,
	.exit = hooked_net_exit,
	.id = &net_id,
	.size = sizeof(struct hooked_net),
};

int netsync_hooks_show(char *page)
{
	unsigned long attached = ~0UL;
	struct hooked_net *hn;
	int i, len = 0;

	mutex_lock(&nets_lock);
	if (list_empty(&nets))
		attached = 0;
	list_for_each_entry(hn, &nets, node)
		attached &= hn->attached;
	mutex_unlock(&nets_lock);

	for (i = 0; i < NUM_EVENTS; i++)
		if (attached & BIT(i))
			len += scnprintf(page + len, PAGE_SIZE - 1 - len,
					 "%s%s", len ? "," : "", events[i].name);
	page[len++] = '\n';
	page[len] = '\0';
	return len;
}

static void set_running(bool yes)
{
	spin_lock(&wish_lock);
	running = yes;
	spin_unlock(&wish_lock);
}

int netsync_hooks_init(void)
{
	int err = register_pernet_subsys(&hooked_net_ops);

	if (err)
		return err;
	set_running(true);
	/* For a wish between the two lines above. */
	schedule_work(&wish_work);
	return 0;
}

void netsync_hooks_exit(void)
{
	set_running(false);
	cancel_work_sync(&wish_work);
	unregister_pernet_subsys(&hooked_net_ops);
	/* Packets that were in a hook when it went are through after this. */
	synchronize_net();
}
