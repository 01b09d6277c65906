/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of events and their sources. To add an event, add a row here, define the event for
 * tracers (netsync-events.h, which documents events, and netsync-lttng-events.h), and add a source.
 */
#ifndef NETSYNC_EVENTS_LIST_H
#define NETSYNC_EVENTS_LIST_H

#include <linux/types.h>

/* Each row of the table is EVENT(name, source). */
#define NETSYNC_EVENTS(EVENT)				\
	EVENT(inet_sock_local_in, local_in)		\
	EVENT(inet_sock_local_out, local_out)		\
	EVENT(inet_udp_local_in, local_in)		\
	EVENT(inet_udp_local_out, local_out)		\
	EVENT(inet_icmp_local_in, local_in)		\
	EVENT(inet_icmp_local_out, local_out)		\
	EVENT(inet_sctp_local_in, local_in)		\
	EVENT(inet_sctp_local_out, local_out)		\
	EVENT(inet_sock_create, sock_create)		\
	EVENT(inet_sock_delete, sock_delete)		\
	EVENT(inet_sock_clone, sock_clone)		\
	EVENT(inet_connect, connect)			\
	EVENT(inet_accept, accept)			\
	EVENT(inet_dev_xmit, dev_xmit)			\
	EVENT(inet_dev_receive, dev_receive)		\
	EVENT(netsync_clock, timekeeper)

/*
 * A source creates events while it is attached to hooks or probes of the
 * kernel.
 */
struct netsync_source {
	/*
	 * Attach the source. Return 0 or a negative errno value. -ENOENT is
	 * permanent: the kernel lacks the feature that @missing names.
	 */
	int (*attach)(void);
	void (*detach)(void);
	const char *missing;
	/* Only events.c uses the following members. */
	bool attached;
	bool failed;		/* attaching failed; no retry while events are enabled */
};

/* Sources that are defined in hooks.c. */
extern struct netsync_source netsync_local_in, netsync_local_out;
/* Sources that are defined in socket.c. */
extern struct netsync_source netsync_sock_create, netsync_sock_delete,
	netsync_sock_clone, netsync_connect, netsync_accept;
/* Sources that are defined in device.c. */
extern struct netsync_source netsync_dev_xmit, netsync_dev_receive;
/* The source that is defined in clock.c. */
extern struct netsync_source netsync_timekeeper;

/* Called when the first tracer enables an event, and when the last one disables it. */
#define NETSYNC_DECLARE_REG(name, source)		\
	int netsync_reg_##name(void);			\
	void netsync_unreg_##name(void);
NETSYNC_EVENTS(NETSYNC_DECLARE_REG)
#undef NETSYNC_DECLARE_REG

void netsync_events_init(void);
void netsync_events_exit(void);

/*
 * Write the names of enabled events whose source is attached to a page. Names are separated by
 * commas, and a newline follows the last name. Return the length.
 */
int netsync_events_show(char *page);

#endif /* NETSYNC_EVENTS_LIST_H */
