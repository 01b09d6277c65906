// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module netsync-probes defines trace events for packets. From these events, libnetsync
 * computes the clock corrections of the hosts that exchange the packets. This file contains the
 * module's parameters, init and exit.
 */
#include <linux/module.h>

#include "address.h"
#include "attach.h"
#include "compat.h"
#include "events.h"
#include "hooks.h"
#include "parse.h"
#include "socket.h"

#define CREATE_TRACE_POINTS
#include "netsync-events.h"

#define EVENT(name, source) EXPORT_TRACEPOINT_SYMBOL_GPL(name);
NETSYNC_EVENTS(EVENT)
#undef EVENT

static int attached_get(char *page, const struct kernel_param *kp)
{
	return netsync_events_show(page);
}

static int refuse_write(const char *val, const struct kernel_param *kp)
{
	return -EPERM;
}

static const struct kernel_param_ops attached_ops = {
	.get = attached_get,
	.set = refuse_write,
};
module_param_cb(attached, &attached_ops, NULL, 0444);
MODULE_PARM_DESC(attached,
	"Comma-separated list of the enabled events that are being recorded (read-only)");

static int get_missed_count(char *page, const struct kernel_param *kp)
{
	return sysfs_emit(page, "%lu\n", netsync_sockets_missed());
}

static const struct kernel_param_ops missed_ops = {
	.get = get_missed_count,
	.set = refuse_write,
};
module_param_cb(missed, &missed_ops, NULL, 0444);
MODULE_PARM_DESC(missed,
	"Number of socket events that were missed, which should be 0 (read-only)");

module_param_named(without, netsync_without, charp, 0444);
MODULE_PARM_DESC(without,
	"Comma-separated list of kernel functions and tracepoints to treat as missing (for tests)");

static int sampling_set(const char *val, const struct kernel_param *kp)
{
	u8 exponent;
	int err = kstrtou8(val, 0, &exponent);

	if (err)
		return err;
	if (exponent > NETSYNC_MAX_SAMPLING)
		return -ERANGE;
	WRITE_ONCE(netsync_sampling, exponent);
	return 0;
}

static const struct kernel_param_ops sampling_ops = {
	.set = sampling_set,
	.get = param_get_byte,
};
module_param_cb(sampling, &sampling_ops, &netsync_sampling, 0644);
__MODULE_PARM_TYPE(sampling, "byte");
MODULE_PARM_DESC(sampling,
	"Record one of 2^N packets, the same packets on all hosts with the same N (0 to 16; default 0: all packets)");

module_param_named(digest, netsync_digest, bool, 0644);
MODULE_PARM_DESC(digest,
	"Record digests of UDP payloads, which can confirm a guess of the payload (default Y)");

module_param_named(hooks, netsync_hooks, bool, 0444);
MODULE_PARM_DESC(hooks,
	"Attach the netfilter hooks when the module is loaded instead of at first use (default N); reads Y if the hooks are attached");

module_param_named(raw_addresses, netsync_raw_addresses, bool, 0644);
MODULE_PARM_DESC(raw_addresses,
	"Record the kernel addresses of sockets and packets instead of hashes (default N)");

static int __init netsync_init(void)
{
	int err;

	netsync_address_init();
	err = netsync_hooks_init();
	if (err)
		return err;
	netsync_events_init();
	return 0;
}

static void __exit netsync_exit(void)
{
	netsync_events_exit();
	netsync_hooks_exit();
}

module_init(netsync_init);
module_exit(netsync_exit);

/* If LTTng is installed, loading this module also loads LTTng's probe for the events. */
MODULE_SOFTDEP("post: lttng-probe-netsync");
MODULE_LICENSE("GPL");
MODULE_AUTHOR("The netsync authors");
MODULE_DESCRIPTION("Trace events of packets, for clock synchronization");
