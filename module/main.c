// SPDX-License-Identifier: GPL-2.0-only
/*
 * netsync-probes: trace events of packets, from which the clocks of the hosts
 * that exchange them can be brought onto one time base.
 */
#include <linux/module.h>

#include "compat.h"
#include "hooks.h"

#define CREATE_TRACE_POINTS
#include "netsync-events.h"

EXPORT_TRACEPOINT_SYMBOL_GPL(inet_sock_local_in);
EXPORT_TRACEPOINT_SYMBOL_GPL(inet_sock_local_out);

static int attached_get(char *page, const struct kernel_param *kp)
{
	return netsync_hooks_show(page);
}

static int attached_set(const char *val, const struct kernel_param *kp)
{
	return -EPERM;
}

static const struct kernel_param_ops attached_ops = {
	.get = attached_get,
	.set = attached_set,
};
module_param_cb(attached, &attached_ops, NULL, 0444);
MODULE_PARM_DESC(attached,
	"Read only: events that are in use and see packets by now, separated by commas");

static int __init netsync_init(void)
{
	return netsync_hooks_init();
}

static void __exit netsync_exit(void)
{
	netsync_hooks_exit();
}

module_init(netsync_init);
module_exit(netsync_exit);

/* Where LTTng is installed, its users get the events by this module alone. */
MODULE_SOFTDEP("post: lttng-probe-netsync");
MODULE_LICENSE("GPL");
MODULE_AUTHOR("The netsync authors");
MODULE_DESCRIPTION("Trace events of packets, for clock synchronization");
