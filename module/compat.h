/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between kernels. All other files are written for the newest kernel. Distributions
 * backport features to older kernels, so each difference has a test, NETSYNC_HAS_..., which Kbuild
 * applies to the headers. The kernel version decides only if all supported kernels have the older
 * form, or none has.
 */
#ifndef NETSYNC_COMPAT_H
#define NETSYNC_COMPAT_H

#include <linux/skbuff.h>
#include <linux/version.h>

/* Older kernels are untested, even with backports. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 10, 0)
#error "netsync needs Linux 5.10 or later"
#endif

#if !IS_ENABLED(CONFIG_NETFILTER) || !IS_ENABLED(CONFIG_TRACEPOINTS)
#error "netsync needs a kernel with CONFIG_NETFILTER and CONFIG_TRACEPOINTS"
#endif

/* Changed by 5f60d5f6bbc1 "move asm/unaligned.h to linux/unaligned.h". */
#ifdef NETSYNC_HAS_LINUX_UNALIGNED
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/*
 * Return the time at which the device received a packet (ns of the device's clock), or 0.
 * Since 97dc7cd92ac6 "ptp: Support late timestamp determination", the field may hold data of
 * the driver instead.
 */
static inline u64 netsync_hwtstamp(const struct sk_buff *skb)
{
#ifdef NETSYNC_HAS_LATE_HWTSTAMP
	if (skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP_NETDEV)
		return 0;
#endif
	return ktime_to_ns(skb_shinfo(skb)->hwtstamps.hwtstamp);
}

/*
 * Get argument @n of a function from the registers. On s390, regs_get_kernel_argument() calls a
 * function that is not exported. Arguments begin in register 2 on s390.
 */
#if IS_ENABLED(CONFIG_S390)
#define netsync_kernel_argument(regs, n) ((regs)->gprs[2 + (n)])
#else
#define netsync_kernel_argument(regs, n) regs_get_kernel_argument(regs, n)
#endif

/*
 * Get argument @n in a callback of ftrace. Changed by 94d095ffa0e1 "ftrace:
 * abstract DYNAMIC_FTRACE_WITH_ARGS accesses" and d19ad0775dcd "ftrace: Have
 * the callbacks receive a struct ftrace_regs instead of pt_regs".
 */
#if defined(NETSYNC_HAS_FTRACE_ARGUMENT) && !IS_ENABLED(CONFIG_S390)
#define netsync_regs ftrace_regs
#define netsync_argument(regs, n) ftrace_regs_get_argument(regs, n)
#elif defined(NETSYNC_HAS_FTRACE_REGS)
#define netsync_regs ftrace_regs
#define netsync_argument(regs, n)                                              \
	netsync_kernel_argument(ftrace_get_regs(regs), n)
#else
#define netsync_regs pt_regs
#define netsync_argument(regs, n) netsync_kernel_argument(regs, n)
#endif

/*
 * FTRACE_OPS_FL_PERMANENT keeps the sysctl kernel.ftrace_enabled from being set to 0 while events
 * need ftrace.
 */
#define NETSYNC_FTRACE_FLAGS                                                   \
	(FTRACE_OPS_FL_PERMANENT |                                             \
	 (IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS) ?                        \
		  FTRACE_OPS_FL_SAVE_REGS : 0))

/*
 * Largest offset of the ftrace call from the start of a function, bytes. On arm64 with
 * -fpatchable-function-entry=2, the call is the second of two NOPs, which a BTI instruction
 * may precede; instructions have 4 bytes. Since aebfd12521d9 "x86/ibt,ftrace: Search for
 * __fentry__ location", ftrace searches for the call.
 */
#if IS_ENABLED(CONFIG_ARM64)
#define NETSYNC_FTRACE_OFFSET 8
#else
#define NETSYNC_FTRACE_OFFSET 0
#endif
#define NETSYNC_FTRACE_ALIGN 4

/*
 * Names of the missing features, for a message. This macro exists only if functions cannot be
 * probed.
 */
#if !IS_ENABLED(CONFIG_KRETPROBES)
#define NETSYNC_NO_FUNCTIONS "CONFIG_KRETPROBES"
#elif !IS_ENABLED(CONFIG_FUNCTION_TRACER)
#define NETSYNC_NO_FUNCTIONS "CONFIG_FUNCTION_TRACER"
#elif !IS_ENABLED(CONFIG_HAVE_FUNCTION_ARG_ACCESS_API)
#define NETSYNC_NO_FUNCTIONS "access to the arguments of functions"
#elif !IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS) &&                          \
	!(IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_ARGS) &&                       \
	  defined(NETSYNC_HAS_FTRACE_ARGUMENT))
#define NETSYNC_NO_FUNCTIONS "CONFIG_DYNAMIC_FTRACE_WITH_REGS"
#endif

/*
 * Attribute for a variable on the packet path that is written before it is read. Kernels with
 * CONFIG_INIT_STACK_ALL_ZERO then do not clear it for every packet.
 */
#if __has_attribute(__uninitialized__)
#define netsync_uninit __attribute__((__uninitialized__))
#else
#define netsync_uninit
#endif

#endif /* NETSYNC_COMPAT_H */
