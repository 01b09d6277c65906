/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels that netsync is built for. Everything else
 * is written for the newest one.
 */
#ifndef NETSYNC_COMPAT_H
#define NETSYNC_COMPAT_H

#include <linux/skbuff.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 10, 0)
#error "netsync needs Linux 5.10 or later"
#endif

#if !IS_ENABLED(CONFIG_NETFILTER) || !IS_ENABLED(CONFIG_TRACEPOINTS)
#error "netsync needs a kernel with CONFIG_NETFILTER and CONFIG_TRACEPOINTS"
#endif

/* 5f60d5f6bbc1 "move asm/unaligned.h to linux/unaligned.h" */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#include <asm/unaligned.h>
#else
#include <linux/unaligned.h>
#endif

/*
 * When the device received a packet, or 0. 97dc7cd92ac6 "ptp: Support late
 * timestamp determination": it may be a driver's own data.
 */
static inline u64 netsync_hwtstamp(const struct sk_buff *skb)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 19, 0)
	if (skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP_NETDEV)
		return 0;
#endif
	return ktime_to_ns(skb_shinfo(skb)->hwtstamps.hwtstamp);
}

/*
 * What a function is called with: 94d095ffa0e1 "ftrace: abstract
 * DYNAMIC_FTRACE_WITH_ARGS accesses"; d19ad0775dcd "ftrace: Have the callbacks
 * receive a struct ftrace_regs instead of pt_regs".
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#define netsync_regs ftrace_regs
#define netsync_argument(regs, n) ftrace_regs_get_argument(regs, n)
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(5, 11, 0)
#define netsync_regs ftrace_regs
#define netsync_argument(regs, n)                                              \
	regs_get_kernel_argument(ftrace_get_regs(regs), n)
#else
#define netsync_regs pt_regs
#define netsync_argument(regs, n) regs_get_kernel_argument(regs, n)
#endif

/* Nobody can turn it off while events need it. */
#define NETSYNC_FTRACE_FLAGS                                                   \
	(FTRACE_OPS_FL_PERMANENT |                                             \
	 (IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS) ?                        \
		  FTRACE_OPS_FL_SAVE_REGS : 0))

/* Without, there are no events at functions. */
#if IS_ENABLED(CONFIG_KRETPROBES) &&                                           \
	IS_ENABLED(CONFIG_HAVE_FUNCTION_ARG_ACCESS_API) &&                     \
	(IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS) ||                        \
	 (IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_ARGS) &&                       \
	  LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)))
#define NETSYNC_FUNCTIONS
#endif

/*
 * A variable on the packet path that is filled in before it is read: kernels
 * with CONFIG_INIT_STACK_ALL_ZERO need not clear it for every packet.
 */
#if __has_attribute(__uninitialized__)
#define netsync_uninit __attribute__((__uninitialized__))
#else
#define netsync_uninit
#endif

#endif /* NETSYNC_COMPAT_H */
