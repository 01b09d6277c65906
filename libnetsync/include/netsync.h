/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libnetsync - synchronize the clocks of many hosts by the packets that they exchange.
 * ESTIMATION.md describes the algorithm; libnetsync(3) is an overview.
 *
 * Add hosts, push packet events (or already matched messages) in any order, call
 * netsync_solve(), and read the clock of every host:
 *
 *	struct netsync *ns = netsync_new();
 *	int web = netsync_add_host(ns, "web"), db = netsync_add_host(ns, "db");
 *	... netsync_push_packet(ns, &pkt) for every packet event ...
 *	if (netsync_solve(ns, NULL) < 0)
 *		fprintf(stderr, "%s\n", netsync_error(ns));
 *	netsync_convert(netsync_host_clock(ns, web), t, &t_ref, &bound);
 *
 * Terms: a *host* is one clock. A *message* is a packet that was recorded both when it left one
 * host and when it arrived at another. *Offset* (ns), *rate* (reference time per host time) and
 * *skew* (rate - 1) describe a clock relative to the reference. Times are 64-bit integers in
 * ns, relative to any epoch.
 *
 * Threads: only one thread at a time may use a struct netsync. Different objects are
 * independent; the library has no global state. The library starts threads only if
 * netsync_use_threads() or struct netsync_options requests them. These threads block all
 * signals. A struct netsync_clock is read-only and may be shared by threads.
 *
 * Errors: functions that can fail return a negative errno value. If they take a
 * struct netsync, netsync_error() then returns a sentence for the user.
 *
 * ABI: a struct shared with the caller begins with the size (sizeof) that it had when the caller
 * was compiled, so that later versions can add members. Arrays are passed with the size of
 * their elements.
 */
#ifndef NETSYNC_H
#define NETSYNC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NETSYNC_VERSION "0.1.0"

/* Return the run-time version as a static string. NETSYNC_VERSION is the compile-time version. */
const char *netsync_version(void);

/* Value of an unknown bound or delay, ns. */
#define NETSYNC_UNKNOWN INT64_MAX

/*
 * The largest magnitude of a time, in ns (years 1824 to 2116 if times count from 1970), and the
 * largest distance of a host's times from the first time pushed for the host, in ns (36 years).
 * Within these limits, the difference between two times fits into 64 bits.
 */
#define NETSYNC_MAX_TIME (INT64_C(1) << 62)
#define NETSYNC_MAX_SPAN (INT64_C(1) << 60)

/* Coarsest resolution of timestamps, in ns. Some logs have a resolution of a minute. */
#define NETSYNC_MAX_RESOLUTION INT64_C(60000000000)

struct netsync;
struct netsync_clock;

/* ---- input ------------------------------------------------------------- */

enum netsync_dir {
	NETSYNC_OUT = 0, /* the packet leaves the host */
	NETSYNC_IN = 1,	 /* the packet arrives at the host */
};

/*
 * Bits for the known members of struct netsync_packet. Two events can belong to one packet only
 * if all members that both events know are equal. Bits for members of another protocol are
 * ignored.
 */
enum netsync_packet_fields {
	NETSYNC_HAS_ADDRS = 1 << 0,	/* saddr, daddr */
	NETSYNC_HAS_PORTS = 1 << 1,	/* sport, dport */
	NETSYNC_HAS_IP_ID = 1 << 2,	/* ip_id (IPv4 only) */
	NETSYNC_HAS_LEN = 1 << 3,	/* len */
	NETSYNC_HAS_WINDOW = 1 << 4,	/* tcp.window */
	NETSYNC_HAS_TSTAMP = 1 << 5,	/* tcp.tsval, tcp.tsecr (RFC 7323) */
	NETSYNC_HAS_NO_TSTAMP = 1 << 6, /* the packet has no TCP timestamps option */
	NETSYNC_HAS_SKB = 1 << 7,	/* skb */
	NETSYNC_HAS_NETNS = 1 << 8,	/* netns */
	NETSYNC_HAS_GSO = 1 << 9,	/* gso_size, gso_segs */
	NETSYNC_HAS_DIGEST = 1 << 10,	/* udp.digest */
	NETSYNC_HAS_CHECKSUM = 1 << 11, /* udp.checksum, which is final */
	NETSYNC_HAS_ECHO = 1 << 12,	/* icmp; the packet is an echo request or reply */
	NETSYNC_HAS_SCTP = 1 << 13,	/* sctp.vtag, sctp.chunk */
	NETSYNC_HAS_TSN = 1 << 14,	/* sctp.tsn; the packet has a DATA chunk */
};

/* One packet event. All integers are in host byte order. */
struct netsync_packet {
	uint32_t size;	 /* sizeof(struct netsync_packet) */
	uint32_t host;	 /* number returned by netsync_add_host() */
	int64_t time_ns; /* time on the host's clock */
	uint32_t fields; /* enum netsync_packet_fields */
	/*
	 * Observation point on the host. Any numbering is allowed, provided that events of the
	 * same tracepoint on the same device have the same number, and other events have other
	 * numbers. A packet passes each point only once.
	 */
	uint32_t point;
	uint64_t skb;	   /* identifies the packet inside its host */
	uint8_t saddr[16]; /* in network byte order; IPv4 as ::ffff:a.b.c.d */
	uint8_t daddr[16];
	uint16_t sport;
	uint16_t dport;
	uint8_t dir;	  /* enum netsync_dir */
	uint8_t protocol; /* IP protocol: TCP 6, UDP 17, SCTP 132, ICMP echo 1, ICMPv6 echo 58 */
	uint16_t ip_id;
	uint32_t len; /* number of payload bytes, without headers */
	/*
	 * Inode number of the network namespace. A packet may pass the same point in several
	 * namespaces.
	 */
	uint32_t netns;
	/*
	 * If the event stands for several packets on the wire (segmentation or receive offload),
	 * gso_size is the number of payload bytes of each packet except the last, and gso_segs is
	 * the number of packets. gso_size is 0 for a single packet.
	 */
	uint16_t gso_size;
	uint16_t gso_segs;
	/* Members for each protocol. C99 has no anonymous unions, but compilers support them. */
	__extension__ union {
		struct {
			uint32_t seq;
			uint32_t ack;
			uint16_t flags;	 /* data offset (4 bits), reserved (3), flags (9) */
			uint16_t window; /* as in the header, not scaled */
			uint32_t tsval;
			uint32_t tsecr;
		} tcp;
		struct {
			uint64_t digest;   /* hash of the payload, the same on all hosts */
			uint16_t checksum; /* checksum, as on the wire */
		} udp;
		struct {
			uint16_t id;  /* identifier of an echo request or reply */
			uint16_t seq; /* sequence number of the echo */
			uint8_t type; /* 8 (request) or 0 (reply); ICMPv6: 128 or 129 */
		} icmp;
		struct {
			uint32_t vtag; /* verification tag */
			uint32_t tsn;  /* sequence number of the first DATA chunk */
			uint8_t chunk; /* type of the first chunk */
		} sctp;
	};
};

/* Return a new synchronization, to be freed with netsync_free(), or NULL if out of memory. */
struct netsync *netsync_new(void);

/* Free a synchronization and all results that it owns. @ns may be NULL. */
void netsync_free(struct netsync *ns);

/*
 * Describe the failure of the last call that can change @ns (adding, pushing, advancing,
 * merging, solving). Return a sentence that explains what failed and what to do, or "" if the
 * call succeeded. The string is valid until the next call that takes @ns.
 */
const char *netsync_error(const struct netsync *ns);

/*
 * Add a host, that is, one clock. @name is displayed to the user, and is copied. If the name is
 * taken, the host is called "name#2", "name#3", ... If traces of a machine use several clocks
 * (for example, two tracers, or a tracer and a capture), add a host for each clock. If a packet
 * was recorded with several clocks of a machine, each clock of the sender has a message to each
 * clock of the receiver, provided that the events have addresses.
 *
 * Return the number of the host (0, 1, ...), -EINVAL for an empty name, or -ENOMEM.
 */
int netsync_add_host(struct netsync *ns, const char *name);

/*
 * Declare that @host was traced at @time_ns, on its own clock. Bounds cover the whole span of a
 * host. The span automatically includes the host's packets and messages, except a few that are
 * far from all others and inconsistent with them (false timestamps). Call this function if the
 * trace extends further than its packets.
 *
 * Return 0; -EINVAL for an unknown host; -ERANGE for a time beyond NETSYNC_MAX_TIME or
 * NETSYNC_MAX_SPAN.
 */
int netsync_extend_span(struct netsync *ns, uint32_t host, int64_t time_ns);

/*
 * Add one packet event. @pkt is copied. Events may be pushed in any order of times and hosts.
 *
 * Packets whose addresses show that they never leave the host (loopback), and protocols other
 * than TCP, UDP with ports, SCTP and ICMP echo, are counted but not matched.
 *
 * An event is kept until the promises of netsync_advance() show that its counterparts have
 * been pushed. Without promises, or while no message connects some hosts, at most 8 million
 * events are kept (832 MiB; see netsync_limit_packets()). The oldest are then discarded and
 * counted as evicted (struct netsync_stats).
 *
 * Return 0; -EINVAL for an unknown host, direction or size; -ERANGE for a time beyond
 * NETSYNC_MAX_TIME or NETSYNC_MAX_SPAN; -ENOMEM. An error leaves @ns unchanged.
 */
int netsync_push_packet(struct netsync *ns, const struct netsync_packet *pkt);

/*
 * Promise that all packets of @host before @time_ns, on its own clock, have been pushed. INT64_MAX
 * means that all packets have been pushed; the next promise replaces it. Any other promise can only
 * be replaced by a promise of a later time.
 *
 * If the promises of all hosts imply that all counterparts of a packet have been pushed, the
 * packet is matched and discarded, so that memory does not grow with the trace. The clocks need
 * not be known. Packets that break a promise are still used if possible.
 *
 * Return 0; -EINVAL for an unknown host; -ENOMEM.
 */
int netsync_advance(struct netsync *ns, uint32_t host, int64_t time_ns);

/*
 * Pause @host: until netsync_advance() is called for it again, the packets of other hosts do not
 * wait for packets of @host. That call may promise an earlier time than the previous one. Use this
 * if @host has had no packets for some time, and it is not known whether its packets are only late.
 *
 * Packets of @host are matched whenever they are pushed: while a host pauses, all packets are
 * kept for five minutes longer, or until netsync_limit_packets() is reached. While all hosts
 * pause, packets are kept as if no host advanced.
 *
 * Return 0; -EINVAL for an unknown host.
 */
int netsync_pause(struct netsync *ns, uint32_t host);

/*
 * From the next packet on, keep at most @num packet events (104 bytes each) that wait for their
 * counterparts. @num is clamped to 1024...8 million; an eighth more, or 4096, may accumulate before
 * the limit is enforced. Use this in long-running programs, where hosts may become disconnected or
 * fall behind.
 */
void netsync_limit_packets(struct netsync *ns, uint32_t num);

/*
 * Number of shards, which are matched independently. All events of a packet, or of its segments,
 * belong to the same shard. Threads and processes may divide the shards among themselves in any way
 * without changing results.
 */
#define NETSYNC_SHARDS 16

/*
 * Match packets with @threads threads including the caller's, at most 256. The default of 0
 * means 1. Results and the order in which messages are reported do not depend on @threads.
 * netsync_solve() has a separate option for its threads.
 *
 * Threads are started when first needed and end in netsync_free(). If not all of them can be
 * started, fewer threads are used. No thread is active from the return of netsync_solve() until the
 * next packet is pushed. If a clock is steered (netsync_push_clock()), the caller's thread waits
 * for the others.
 *
 * A child of fork(2) has none of the threads. It can use an object if no thread was active at
 * the time of the fork. Otherwise, calls that need the matched packets fail with -EOWNERDEAD,
 * and netsync_free() does not release the memory.
 */
void netsync_use_threads(struct netsync *ns, uint32_t threads);

/*
 * Return the shards of a packet event as a bit mask with bit n for shard n. Return 0 for an
 * invalid size. The shards depend only on the protocol, len, gso_size, gso_segs and header
 * numbers that neither segmentation nor address translation changes. For packets of unsupported
 * protocols, the shard depends on the host. An event that may arrive in parts (segmentation
 * offload) can belong to two or three shards.
 */
uint32_t netsync_packet_shards(const struct netsync_packet *pkt);

/*
 * Match only the packets of the shards in @shards, a bit mask with bit n for shard n. The
 * default is all shards. To divide the packets of the same hosts among several objects, for
 * example in several processes, call this function before any packet is pushed.
 *
 * Add all hosts to each object, with the same numbers. Push to each object the events of its
 * shards, from every host, and call netsync_advance() for every host, even if none of its
 * packets belong there. If an event belongs to shards of several objects, only one of them
 * counts the event and reports it to the function of netsync_watch_packets(). Events of other
 * shards are ignored.
 *
 * Return 0; -EINVAL if @shards is 0 or has an invalid bit; -EALREADY if a packet was pushed.
 */
int netsync_keep_shards(struct netsync *ns, uint32_t shards);

/*
 * Add one already matched message, which host @from sent at @send_ns on its own clock, and
 * which another host @to received at @recv_ns on its own clock. Return values are those of
 * netsync_push_packet().
 */
int netsync_push_message(struct netsync *ns, uint32_t from, uint32_t to, int64_t send_ns,
			 int64_t recv_ns);

/* A clock reading: one instant on a host's clock and on a raw clock that no daemon steers. */
struct netsync_clock_point {
	uint32_t size;	 /* sizeof(struct netsync_clock_point) */
	uint32_t host;	 /* number returned by netsync_add_host() */
	int64_t time_ns; /* time on the host's clock, as for packets */
	/*
	 * Time of a raw clock at the same instant. A raw clock is driven by the same oscillator but
	 * not steered by any daemon, such as Linux's CLOCK_MONOTONIC_RAW. The zero of a raw clock
	 * is arbitrary.
	 */
	int64_t raw_ns;
	int64_t within_ns; /* bound on the error of raw_ns */
	/*
	 * Rate of the host's clock relative to the raw clock, from this reading to the next,
	 * 0.5 to 2. If rates are reported, every rate change needs a reading. 0 means unknown.
	 */
	double rate;
	uint32_t was_set; /* 1 if the host's clock was stepped at this instant */
	/*
	 * Number of the reading. A host's readings are numbered consecutively; a gap means that
	 * readings were lost. 0 means that the reading is not numbered.
	 */
	uint32_t number;
};

/*
 * Report how a host's clock was steered. @point is copied. Readings may be pushed in any order.
 *
 * A daemon that steers a clock (chrony, ntpd, ptp4l) changes the rate in ways that no
 * oscillator does. A host with readings is therefore estimated on its raw clock. The limits in
 * struct netsync_options, and the rates and skews of pairs and steps, refer to the raw clock.
 * Corrections refer to the host's own clock. Steps are taken from the readings.
 * netsync_push_clock(3) describes how the clock is interpolated between readings, and which
 * messages and readings are rejected.
 *
 * Push each reading before netsync_advance() promises its time. Up to 32 MB of messages are
 * deferred until later readings arrive or netsync_solve() is called. Before the first reading,
 * the messages of a host's first 31 seconds are deferred until netsync_solve(), up to 4096 for
 * some pairs. Messages whose raw time is more than NETSYNC_MAX_SPAN from the host's first time
 * are rejected.
 *
 * Return 0; -EINVAL for an unknown host or an invalid size, rate or error; -ERANGE for a time
 * beyond NETSYNC_MAX_TIME, or more than NETSYNC_MAX_SPAN from the host's first reading or packet;
 * -EALREADY if messages a second or more later than the host's first reading were used before the
 * reading arrived (messages less than a second later only widen bounds); -ENOMEM. An error leaves
 * @ns unchanged.
 */
int netsync_push_clock(struct netsync *ns, const struct netsync_clock_point *point);

/* ---- messages matched by another object ---------------------------------- */

/* Called with consecutive bytes. Return 0 to continue, or a negative errno value to stop. */
typedef int (*netsync_write_func)(void *data, const void *bytes, size_t size);

/*
 * Save the state of all messages for another object, after all packets were pushed. @write is
 * called with @data for each part of the state. The state consists of all data that
 * netsync_solve() needs: the messages kept for each pair, and the name, span, counts, clock
 * readings and netsync_advance() promises of each host. Packets without a counterpart are
 * counted but not saved. Therefore push both events of a packet to the same object. The size
 * does not grow with the number of messages. It is at most 40 MB for a few hosts, and grows by
 * a few kB for each further host or pair.
 *
 * Return 0; the return value of @write, if not 0; -ENOMEM.
 */
int netsync_save_messages(struct netsync *ns, netsync_write_func write, void *data);

/*
 * Add the state that netsync_save_messages() wrote on any machine. The state has @size bytes,
 * which may come from an untrusted source. Results are bit-identical to those of pushing all
 * events to @ns, regardless of the order in which states are merged. Hosts are matched by name;
 * unknown hosts are added. If several states contain the same clock reading, the reading counts
 * once.
 *
 * Return 0; -EBADMSG for bytes that netsync_save_messages() did not write; -EPROTO for another
 * version of the library; -EINVAL if the hosts of a pair exist, but were added in another
 * order; -ERANGE for times beyond NETSYNC_MAX_TIME, or more than NETSYNC_MAX_SPAN from other
 * times of the host; -EALREADY if either object used messages of a steered host before its
 * readings arrived, or readings arrived in another order; -ENOMEM. Errors other than -ENOMEM
 * leave @ns unchanged.
 */
int netsync_merge_messages(struct netsync *ns, const void *bytes, size_t size);

/* ---- watching ---------------------------------------------------------- */

/*
 * Called with a pushed event, which is valid during the call. The event's member size is that of
 * the library's struct netsync_packet.
 */
typedef void (*netsync_packet_func)(void *data, const struct netsync_packet *pkt);

/*
 * Call @func once for each event pushed from now on, from within netsync_push_packet() and in
 * the caller's thread. @func must not call functions that take @ns. If @func is NULL, which is
 * the default, no events are reported. Events pushed by the readers of libnetsync-io, packets
 * that never leave their host, and packets of unsupported protocols are included. Events that
 * are rejected with an error are not included.
 */
void netsync_watch_packets(struct netsync *ns, netsync_packet_func func, void *data);

/* A packet that was recorded both when it left one host and when it arrived at another. */
struct netsync_message {
	uint32_t size; /* sizeof, as the library knows it */
	uint32_t from; /* host that sent the message */
	uint32_t to;   /* host that received the message */
	/*
	 * Bits for the known members: NETSYNC_HAS_ADDRS, _PORTS and _LEN of enum
	 * netsync_packet_fields. 0 for messages added by netsync_push_message().
	 */
	uint32_t fields;
	int64_t send_ns; /* send time, on the clock of @from */
	int64_t recv_ns; /* receive time, on the clock of @to */
	/* As recorded by the sender; addresses may have been translated later. */
	uint8_t saddr[16];
	uint8_t daddr[16];
	uint16_t sport;
	uint16_t dport;
	uint32_t len;	  /* payload bytes of all packets that the event stands for */
	uint8_t protocol; /* IP protocol number; 0 if unknown */
	uint8_t reserved[7];
};

/* Called with a message, which is valid during the call. */
typedef void (*netsync_message_func)(void *data, const struct netsync_message *msg);

/*
 * Call @func once for each message found from now on, in the caller's thread and from within
 * the call that finds it: netsync_push_packet(), netsync_advance(), netsync_push_message() or
 * netsync_solve(). @func must not call functions that take @ns. If @func is NULL, which is the
 * default, no messages are reported.
 *
 * Messages are reported in the order of discovery, not in time order, after the packet events
 * of both ends. When netsync_solve() returns, all messages that the result uses have been
 * reported. Messages that netsync_solve() rejects as inconsistent (enum netsync_quality) have
 * been reported, too; they are neither marked nor withdrawn. Ambiguous packets are not reported
 * as messages.
 *
 * Addresses are kept from now on, which takes 32 more bytes for each event without its
 * counterpart. The addresses of events pushed earlier are unknown.
 */
void netsync_watch_messages(struct netsync *ns, netsync_message_func func, void *data);

/* ---- solving ----------------------------------------------------------- */

enum netsync_method {
	/*
	 * A curve that is no more flexible than the data require. The curve is a straight line if
	 * the data show no change in the clock's rate. Otherwise, its rate changes smoothly, and it
	 * may have steps in rate or offset. Hosts with fewer than 32 messages in a direction get
	 * the straight line of the method hull. If the minimum delays change over time, the curve
	 * may follow these changes.
	 */
	NETSYNC_METHOD_AUTO = 0,
	/*
	 * A straight line for each clock, computed with convex hulls. Bounds hold for clocks
	 * with constant rates. No bound is claimed for a host whose clock readings
	 * (netsync_push_clock()) do not span its whole trace.
	 */
	NETSYNC_METHOD_HULL = 1,
	/*
	 * The mean of the two least-squares lines of each pair, one for each direction. All
	 * delays affect this line, not only the smallest ones. This method is for comparison.
	 */
	NETSYNC_METHOD_REGRESSION = 2,
	/*
	 * The posterior mean of a probabilistic model of all clocks and delays, computed by
	 * expectation propagation. This method is experimental, and its results may change. It
	 * is intended to replace the method auto.
	 */
	NETSYNC_METHOD_MODEL = 3,
};

/* netsync_solve(3) describes the assumptions under which bounds are guaranteed. */
struct netsync_options {
	uint32_t size;	 /* sizeof(struct netsync_options) */
	uint32_t method; /* enum netsync_method */
	/*
	 * Name of the host whose clock becomes the time base. NULL selects the host with the
	 * smallest total bound, estimated from samples if more than 1024 hosts are connected.
	 */
	const char *reference;
	/*
	 * Largest difference in rate between two clocks, ppm. 0 selects 500 ppm, the limit of
	 * the Linux NTP discipline. If clocks appear to be steered, 0 adds another 500 ppm for
	 * each clock, because adjtime(3) slews at this rate.
	 */
	double max_skew_ppm;
	/*
	 * Largest drift (change in the rate) of a clock, ppm per second, except at steps that are
	 * found and reported (struct netsync_step). 0 selects 0.1, which is generous even for the
	 * crystal of a machine that is warming up. 0 also allows for daemons that steer the clocks
	 * while no messages pass, or at any time if all messages of two hosts pass in one
	 * direction. A positive value declares that no daemon steers the clocks then. The method
	 * hull assumes constant rates and ignores this value.
	 */
	double max_drift_ppm_s;
	/*
	 * Number of threads including the caller's, at most 256. 0 means one thread.
	 * Results do not depend on this number.
	 */
	uint32_t threads;
	uint32_t reserved;
	/*
	 * Resolution of the timestamps of all hosts, in ns, at most NETSYNC_MAX_RESOLUTION.
	 * Timestamps are truncated to multiples of this value or of a larger one, so a timestamp
	 * t was read before t + resolution_ns. 0 selects a common divisor of each host's
	 * timestamps. Clocks that advance by timer ticks without a common divisor are not
	 * detected.
	 */
	int64_t resolution_ns;
};

/*
 * Match the remaining packets and estimate every clock. @opt may be NULL for the defaults.
 *
 * Call this at any time, and again after pushing more. Results depend neither on earlier calls
 * nor on the order of pushes, with one exception. A message found by an earlier call is kept
 * even if the key of its packet repeats later. If a host cannot be corrected, the call does not
 * fail; see the quality of the host.
 *
 * Return 0; -ENOENT if no host has the reference's name; -EINVAL for invalid options; -ENOMEM.
 */
int netsync_solve(struct netsync *ns, const struct netsync_options *opt);

/* ---- results: valid from netsync_solve() until the next one ------------ */

enum netsync_quality {
	/*
	 * No message connects the host with the reference, directly or through other hosts.
	 * The reference itself is absent if no message connects it with any host.
	 */
	NETSYNC_ABSENT = 0,
	/*
	 * Messages pass in one direction only, and those of other hosts do not limit the time on
	 * the other side, so the offset and the bound are one-sided.
	 */
	NETSYNC_INCOMPLETE = 1,
	/*
	 * Messages are inconsistent with the assumptions of struct netsync_options, the bound
	 * or the corrected times; or the assumptions may not hold. If few messages are
	 * inconsistent, they are rejected, and the bound holds if the rejected messages are
	 * wrong. If many messages are inconsistent, or messages that were kept are inconsistent
	 * with a bound, no bound is claimed.
	 */
	NETSYNC_APPROXIMATE = 2,
	/*
	 * The bound holds, and all messages are consistent with the assumptions, the bound and
	 * the corrected times, except near a step whose time is not known exactly.
	 */
	NETSYNC_ACCURATE = 3,
};

/* Return the quality as one lower-case word ("accurate"), a static string. */
const char *netsync_quality_name(enum netsync_quality quality);

struct netsync_host_info {
	uint32_t size; /* sizeof, set by the caller */
	enum netsync_quality quality;
	const char *name; /* name of the host, owned by the library */
	uint64_t packets; /* packet events pushed for this host */
	int64_t first_ns; /* start of the span, on the host's clock */
	int64_t last_ns;  /* end of the span; less than first_ns if the span is empty */
	/* Median and maximum over the span of the bound of netsync_convert(). */
	int64_t bound_median_ns;
	int64_t bound_max_ns;
	uint32_t island;    /* smallest host number among the hosts connected by messages */
	uint32_t num_steps; /* number of the clock's steps; see netsync_get_step() */
	/*
	 * Lower limit on the time (ns) in the span during which the bound allows for steering.
	 * During this time, packets of one direction are a second or more apart, and neither
	 * clock readings nor options (max_drift_ppm_s) exclude steering.
	 */
	int64_t silent_ns;
	/*
	 * 1 if all messages of one of the host's pairs can only be explained by a step, or by
	 * clocks beyond max_skew_ppm or max_drift_ppm_s. Also 1 if the intervals that result from
	 * the host's neighbours do not overlap. 0 if messages are consistent, regardless of the
	 * quality.
	 */
	uint32_t contradicted;
	uint32_t reserved;
	/*
	 * Median and maximum over the span of netsync_deviation(). An unknown deviation counts as
	 * larger than any known one.
	 */
	int64_t deviation_median_ns;
	int64_t deviation_max_ns;
};

/*
 * A sudden change of a clock, relative to the reference. A step of the reference's own clock
 * appears as a step of all other hosts.
 */
struct netsync_step {
	uint32_t size;	   /* sizeof, set by the caller */
	uint32_t known;	   /* 1 if reported by netsync_push_clock(), 0 if detected */
	int64_t time_ns;   /* on the host's clock; at a phase step, just before it */
	int64_t within_ns; /* uncertainty of time_ns, before and after */
	int64_t offset_ns; /* change in the offset, forward if positive; 0 if none */
	double skew_ppm;   /* change in the rate; if positive, the clock is faster from then on */
};

struct netsync_pair_info {
	uint32_t size; /* sizeof, set by the caller */
	enum netsync_quality quality;
	uint32_t host[2]; /* numbers of the hosts; host[0] < host[1] */
	/* In arrays, [0] is the direction from host[0] to host[1], [1] the opposite direction. */
	uint64_t messages[2];
	uint64_t hull[2];	 /* number of vertices of the convex hulls */
	int64_t min_delay_ns[2]; /* minimum delays after correction; NETSYNC_UNKNOWN if none */
	/*
	 * Numbers of messages that were received before they were sent, according to
	 * uncorrected and corrected timestamps as recorded, regardless of their resolution.
	 * inversions_after counts only messages with the smallest delays, so 0 is exact, and
	 * other numbers are lower limits. If messages pass in one direction only,
	 * inversions_after is 0 if any correction can achieve 0.
	 */
	uint64_t inversions_before;
	uint64_t inversions_after;
	/*
	 * Range of the rates of all linear clocks that satisfy every message, as the rate of
	 * host[0]'s clock relative to host[1]'s clock.
	 */
	double rate_min;
	double rate_max;
	/* Packet events on both hosts. A segmented packet (GSO) counts once per event. */
	uint64_t matched; /* events with a counterpart on the other host */
	uint64_t nat;	  /* matched events with translated addresses */
	/* Numbers of packet events with an address of the other host. */
	uint64_t ambiguous; /* events that could belong to several packets */
	uint64_t unmatched; /* events without a counterpart on the other host */
};

/* Numbers of packet events on all hosts. */
struct netsync_stats {
	uint32_t size; /* sizeof, set by the caller */
	uint32_t reserved;
	uint64_t packets;     /* events pushed */
	uint64_t matched;     /* events with a counterpart on another host */
	uint64_t unmatched;   /* events without a counterpart until now */
	uint64_t ambiguous;   /* events that could belong to several packets */
	uint64_t loopback;    /* events of packets that never leave their host */
	uint64_t unsupported; /* events whose protocol is not matched */
	uint64_t nat;	      /* matched events with translated addresses */
	uint64_t evicted;     /* events discarded without a counterpart for lack of capacity */
};

/*
 * Time that packets spend in a host's network stack, from the first to the last observation
 * point (such as a socket and a device) in a direction. Packets that are segmented or merged
 * between these points are not counted, nor are forwarded packets.
 */
struct netsync_stack {
	uint32_t size; /* sizeof, set by the caller */
	uint32_t reserved;
	uint64_t packets;  /* number of packets seen at several observation points */
	int64_t min_ns;	   /* NETSYNC_UNKNOWN if there are no such packets */
	int64_t median_ns; /* from a histogram, accurate to 3 %, as is p99_ns */
	int64_t p99_ns;	   /* 99th percentile */
	int64_t max_ns;
};

/* Steering of a host's clock in its span, according to readings of netsync_push_clock(). */
struct netsync_steering {
	uint32_t size; /* sizeof, set by the caller */
	uint32_t reserved;
	uint64_t points; /* number of readings used; if 0, the other members are meaningless */
	/*
	 * Smallest and largest skew of the host's clock relative to its raw clock. For readings
	 * without a rate, these are averages over one second. NAN if there are too few
	 * readings.
	 */
	double min_ppm;
	double max_ppm;
	int64_t unknown_ns; /* part of the span in which steering is unreported, ns */
	int64_t until_ns;   /* end of the readings; later bounds are wider or unknown */
};

/* Return the number of hosts, and of pairs of hosts that exchanged messages. */
uint32_t netsync_num_hosts(const struct netsync *ns);
uint32_t netsync_num_pairs(const struct netsync *ns);

/* Return the number of the reference host, or -ENODATA before netsync_solve(). */
int netsync_reference(const struct netsync *ns);

/*
 * Read the results of a host or pair. @index is the number of the host or pair. The caller sets the
 * member size of the struct, which is filled in up to that size. Return 0; -EINVAL for an invalid
 * index or size; -ENODATA before netsync_solve().
 */
int netsync_get_host(const struct netsync *ns, uint32_t index, struct netsync_host_info *info);
int netsync_get_pair(const struct netsync *ns, uint32_t index, struct netsync_pair_info *info);
int netsync_get_stats(const struct netsync *ns, struct netsync_stats *info);

/* Read a step of the host's clock. @index is less than num_steps; steps are in time order. */
int netsync_get_step(const struct netsync *ns, uint32_t host, uint32_t index,
		     struct netsync_step *step);

/* Read how long packets spent in the network stack of @host in one direction. */
int netsync_get_stack(const struct netsync *ns, uint32_t host, enum netsync_dir dir,
		      struct netsync_stack *stack);

/* Read how the clock of @host was steered. */
int netsync_get_steering(const struct netsync *ns, uint32_t host, struct netsync_steering *info);

/*
 * Return the clock of a host relative to the reference, or NULL if the host could not be
 * corrected. @ns owns the clock, which is valid until the next netsync_solve() or
 * netsync_free().
 */
const struct netsync_clock *netsync_host_clock(const struct netsync *ns, uint32_t host);

/* ---- clocks ------------------------------------------------------------ */

/*
 * In a segment, t_ref = t + offset_ns + (rate - 1) * (t - from_ns). Segments are contiguous;
 * the first and the last extend outward.
 */
struct netsync_segment {
	int64_t from_ns; /* start of the segment, on the host's clock */
	int64_t to_ns;
	int64_t offset_ns; /* offset at from_ns */
	double rate;	   /* reference time per unit of host time */
	int64_t bound_ns;  /* largest bound of netsync_convert() in the segment */
};

/*
 * A knot of the error bounds. At a knot, the true time is at most below_ns before and above_ns
 * after the corrected time. Between knots, both distances are linear in the host's time. Before the
 * first and after the last knot, both distances grow by growth_ppm. Intervals next to a knot with
 * NETSYNC_UNKNOWN have no bound.
 */
struct netsync_knot {
	int64_t time_ns;
	int64_t below_ns;
	int64_t above_ns;
};

/*
 * A knot of the standard deviation of the correction. Between knots, the deviation is linear in
 * the host's time. It is unknown before the first and after the last knot, and next to a knot
 * with NETSYNC_UNKNOWN. See netsync_deviation().
 */
struct netsync_deviation_knot {
	int64_t time_ns;
	int64_t deviation_ns;
};

struct netsync_model {
	uint32_t size;	       /* sizeof(struct netsync_model) */
	uint32_t num_segments; /* number of segments, at least 1 */
	uint32_t num_knots;    /* 0 if no bound is known */
	/*
	 * Size of an element of each array, in bytes, in the version that filled in the struct.
	 * The size can be smaller or larger than sizeof.
	 */
	uint32_t segment_size;
	uint32_t knot_size;
	uint32_t reserved;
	/* Read these with netsync_model_segment() and netsync_model_knot(). */
	const struct netsync_segment *segments;
	const struct netsync_knot *knots;
	/*
	 * Growth of the bounds before the first knot, and after the last one, ppm of the time to
	 * that knot.
	 */
	double growth_ppm[2];
	uint32_t num_deviations; /* 0 if no standard deviation is known */
	uint32_t deviation_size; /* size of an element of deviations, as for segment_size */
	/* Read these with netsync_model_deviation(). */
	const struct netsync_deviation_knot *deviations;
};

/*
 * Return an element of an array, whatever the size of the array's elements; @index must be valid.
 */
const struct netsync_segment *netsync_model_segment(const struct netsync_model *model,
						    uint32_t index);
const struct netsync_knot *netsync_model_knot(const struct netsync_model *model, uint32_t index);
const struct netsync_deviation_knot *netsync_model_deviation(const struct netsync_model *model,
							     uint32_t index);

/*
 * Create a clock from the numbers in @model, which are copied. Set @clock to the clock, to be
 * freed with netsync_clock_free().
 *
 * Return 0; -EINVAL if segments or knots are not in order, a rate is not positive and finite,
 * a bound, growth or deviation is negative, or a size is invalid; -ENOMEM.
 */
int netsync_clock_new(const struct netsync_model *model, struct netsync_clock **clock);

/* Free a clock that was created by netsync_clock_new(), or NULL. */
void netsync_clock_free(struct netsync_clock *clock);

/*
 * Read the numbers of a clock, which owns the arrays. The caller sets the member size of
 * @model, which is filled in up to that size. Return 0, or -EINVAL for an invalid size.
 */
int netsync_clock_model(const struct netsync_clock *clock, struct netsync_model *model);

/*
 * Correct a timestamp. Set @t_ref to the instant on the reference clock at which @clock showed
 * @t, rounded to 1 ns. Unless @bound is NULL, set it to the largest possible error of @t_ref,
 * in ns, or to NETSYNC_UNKNOWN if no bound is known.
 *
 * Times outside the host's span (first_ns to last_ns of struct netsync_host_info) are
 * extrapolated. The bound grows with the distance from the span, and holds if the limits in
 * struct netsync_options hold. The command "netsync convert" and the Python package reject
 * times that are farther from the span than its length; this limit is at least 60 s and at most
 * an hour. Callers that correct traces should do the same.
 *
 * Return 0, or -ERANGE if the result does not fit into 64 bits.
 */
int netsync_convert(const struct netsync_clock *clock, int64_t t, int64_t *t_ref, int64_t *bound);

/*
 * Correct @num timestamps @t, in any order, as netsync_convert() does. @t_ref, which may be
 * @t, and @bound, unless NULL, are arrays for the results. Return 0, or -ERANGE if a result
 * does not fit into 64 bits; the results before it are stored.
 */
int netsync_convert_many(const struct netsync_clock *clock, size_t num, const int64_t *t,
			 int64_t *t_ref, int64_t *bound);

/*
 * Return the standard deviation of the correction of time @t, in ns. The deviation is the root mean
 * square error of the result of netsync_convert() that the model of NETSYNC_METHOD_MODEL expects,
 * given all messages, if the minimum delays of both directions of each pair are equal. Unlike the
 * bound, it is an estimate of the typical error, and not a guarantee. The model learns the noise of
 * clocks and delays, and treats it as exact: errors are typically 0.5 to 2 times as large. If a
 * clock is stepped or steered, or if delays grow for minutes, the model's assumptions fail, and
 * errors can be more than a hundred times as large.
 *
 * Return NETSYNC_UNKNOWN if the method computes no deviation, if messages pass in one direction
 * only, and outside the host's span. The deviation of the reference's own times is 0.
 *
 * Let d0 and d1 be the deviations at the last knot (struct netsync_deviation_knot) at or before
 * @t, and at the next one, at the times t0 and t1. The result is d0 + (d1 - d0) * (t - t0) /
 * (t1 - t0), rounded up to 1 ns, or the bound at @t if the bound is smaller. The deviation of a
 * linear interpolation is at most this large, regardless of the correlation of the errors at the
 * two knots (Minkowski's inequality). The library adds knots where a clock may deviate from a
 * linear interpolation.
 */
int64_t netsync_deviation(const struct netsync_clock *clock, int64_t t);

/*
 * Compute the standard deviations at @num times @t, in any order, as netsync_deviation() does.
 * @deviation, which may be @t, is an array for the results.
 */
void netsync_deviation_many(const struct netsync_clock *clock, size_t num, const int64_t *t,
			    int64_t *deviation);

/*
 * Find the interval of reference time, @lo to @hi, that contains an event at time @t on
 * @clock. INT64_MIN and INT64_MAX mean that no limit is known. The interval is guaranteed under
 * the assumptions of struct netsync_options. The result of netsync_convert(), the likeliest
 * time, need not be at the center of the interval. Return 0, or -ERANGE if the corrected time
 * does not fit into 64 bits.
 */
int netsync_interval(const struct netsync_clock *clock, int64_t t, int64_t *lo, int64_t *hi);

enum netsync_sequence {
	NETSYNC_BEFORE = -1,
	NETSYNC_UNCERTAIN = 0,
	NETSYNC_AFTER = 1,
};

/*
 * Determine which of two events was first: @t1 on @clock_a or @t2 on @clock_b. Both clocks must
 * come from the same netsync_solve(). Return NETSYNC_BEFORE if the event at @t1 was certainly
 * first, NETSYNC_AFTER if the event at @t2 was certainly first, and NETSYNC_UNCERTAIN if the
 * intervals of the two events touch. If both clocks are the same, the times are compared
 * directly, and only equal times are uncertain.
 */
enum netsync_sequence netsync_order(const struct netsync_clock *clock_a, int64_t t1,
				    const struct netsync_clock *clock_b, int64_t t2);

/* ---- UTC --------------------------------------------------------------- */

/* A bound on the difference between a host's clock and UTC. */
struct netsync_utc_bound {
	int64_t from_ns; /* start of the interval in which the bound holds, on the host's clock */
	int64_t to_ns;	 /* end of the interval */
	/*
	 * The clock differs from UTC by at most this, ns. The bound may come from a time daemon,
	 * such as chronyd, or from the owner of the host.
	 */
	int64_t within_ns;
	uint32_t host; /* number returned by netsync_add_host() */
	uint32_t reserved;
};

/*
 * Make the clock that converts reference time to UTC, from bounds on the differences between hosts'
 * clocks and UTC.
 * @bounds: @num bounds, in any order
 * @bound_size: sizeof(struct netsync_utc_bound), which may grow
 * @utc: set to the clock, to be freed with netsync_clock_free(). It remains valid when @ns changes.
 *
 * For this clock, the argument of netsync_convert() is a reference time, and the result is UTC: the
 * middle of the interval in which UTC must be. Its bound includes the bounds of the hosts'
 * corrections, and is at least the smallest bound in @bounds. If the bounds of several hosts hold
 * at a time, their intersection is used. If no bound holds at a time, the bound of the result is
 * NETSYNC_UNKNOWN. A bound does not hold near steps of its host's clock.
 *
 * UTC is counted like CLOCK_REALTIME counts it (POSIX), without leap seconds. In a leap second, the
 * clock is stepped, or differs from UTC by up to a second; @bounds must take this into account.
 *
 * Return 0; -ENODATA before netsync_solve(), or if no host of @bounds has a correction with a known
 * bound; -EDOM if the bounds of two hosts contradict each other; -EINVAL for an invalid bound;
 * -ENOMEM.
 */
int netsync_utc_clock_new(struct netsync *ns, const struct netsync_utc_bound *bounds, size_t num,
			  size_t bound_size, struct netsync_clock **utc);

/*
 * Find the interval of UTC, @lo to @hi, that contains an event at time @t on @clock. INT64_MIN and
 * INT64_MAX mean that no limit is known. @utc is the clock that netsync_utc_clock_new() made from
 * the same result. Return 0, or -ERANGE if a time does not fit into 64 bits.
 */
int netsync_utc_interval(const struct netsync_clock *clock, const struct netsync_clock *utc,
			 int64_t t, int64_t *lo, int64_t *hi);

#ifdef __cplusplus
}
#endif

#endif /* NETSYNC_H */
