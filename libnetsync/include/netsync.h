/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libnetsync - bring the clocks of many hosts onto one time base by the
 * packets that they send each other. The algorithm: ESTIMATION.md.
 *
 * A caller adds hosts, pushes packet events (or ready-matched messages) in any
 * order, calls netsync_solve(), and reads a clock for every host:
 *
 *	struct netsync *ns = netsync_new();
 *	int web = netsync_add_host(ns, "web"), db = netsync_add_host(ns, "db");
 *	... netsync_push_packet(ns, &pkt) for every packet event ...
 *	if (netsync_solve(ns, NULL) < 0)
 *		fprintf(stderr, "%s\n", netsync_error(ns));
 *	netsync_convert(netsync_host_clock(ns, web), t, &t_ref, &bound);
 *
 * Terms: a *host* is one clock. A *message* is a packet seen leaving one host
 * and arriving at another. *Offset* (ns), *rate* (reference time per host
 * time) and *skew* (rate - 1) describe a clock against the reference host.
 *
 * Times are signed 64-bit nanoseconds of any epoch.
 *
 * Threads: a struct netsync may be used by one thread at a time; different
 * ones are independent, the library has no global state. It starts threads where
 * netsync_use_threads() and struct netsync_options say so; they block all signals. A struct
 * netsync_clock is read-only once made and may be shared.
 *
 * Errors: functions that can fail return a negative errno value; where they
 * take a struct netsync, netsync_error() then gives a sentence for people.
 *
 * Structures that callers pass in or that the library fills start with their
 * size as the caller knows it (sizeof), so that both sides can grow. Of arrays
 * the size of an element is beside them.
 */
#ifndef NETSYNC_H
#define NETSYNC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NETSYNC_VERSION "0.1.0"

/*
 * The version of the library that the program runs with, as NETSYNC_VERSION is
 * that of the one that it was compiled with; a static string.
 */
const char *netsync_version(void);

/* Value of a bound or delay (ns) that is not known. */
#define NETSYNC_UNKNOWN INT64_MAX

/*
 * Limits of times, ns: the magnitude of all times (years 1824 to 2116 if they count
 * from 1970), and how far those of one host may be from the first that is pushed for
 * it (36 years). Differences of two times then fit 64 bits.
 */
#define NETSYNC_MAX_TIME (INT64_C(1) << 62)
#define NETSYNC_MAX_SPAN (INT64_C(1) << 60)

/* The coarsest time stamps that can be told of, ns: minutes, as some logs have. */
#define NETSYNC_MAX_RESOLUTION INT64_C(60000000000)

struct netsync;
struct netsync_clock;

/* ---- input ------------------------------------------------------------- */

enum netsync_dir {
	NETSYNC_OUT = 0,		/* the packet leaves the host */
	NETSYNC_IN = 1,			/* the packet arrives at the host */
};

/*
 * Bits for the fields of a struct netsync_packet that the source knows. Two packet
 * events are of the same packet only if all fields agree that both know. Bits for
 * fields of another protocol than the packet's are ignored.
 */
enum netsync_packet_fields {
	NETSYNC_HAS_ADDRS = 1 << 0,	/* saddr, daddr */
	NETSYNC_HAS_PORTS = 1 << 1,	/* sport, dport */
	NETSYNC_HAS_IP_ID = 1 << 2,	/* ip_id (IPv4 only) */
	NETSYNC_HAS_LEN = 1 << 3,	/* len */
	NETSYNC_HAS_WINDOW = 1 << 4,	/* tcp.window */
	NETSYNC_HAS_TSTAMP = 1 << 5,	/* tcp.tsval, tcp.tsecr (RFC 7323) */
	NETSYNC_HAS_NO_TSTAMP = 1 << 6,	/* the packet has no timestamps option */
	NETSYNC_HAS_SKB = 1 << 7,	/* skb */
	NETSYNC_HAS_NETNS = 1 << 8,	/* netns */
	NETSYNC_HAS_GSO = 1 << 9,	/* gso_size, gso_segs */
	NETSYNC_HAS_DIGEST = 1 << 10,	/* udp.digest */
	NETSYNC_HAS_CHECKSUM = 1 << 11,	/* udp.checksum, and it is final */
	NETSYNC_HAS_ECHO = 1 << 12,	/* icmp: an echo request or reply */
	NETSYNC_HAS_SCTP = 1 << 13,	/* sctp.vtag, sctp.chunk */
	NETSYNC_HAS_TSN = 1 << 14,	/* sctp.tsn: there is a DATA chunk */
};

/* One packet event. All integers are in host byte order. */
struct netsync_packet {
	uint32_t size;		/* sizeof(struct netsync_packet) */
	uint32_t host;		/* as returned by netsync_add_host() */
	int64_t time_ns;	/* on that host's clock */
	uint32_t fields;	/* enum netsync_packet_fields */
	/*
	 * The observation point on the host: equal for two events that were made
	 * by the same tracepoint on the same device, different otherwise. Any
	 * numbering will do; a packet passes a point once.
	 */
	uint32_t point;
	uint64_t skb;		/* identifies the packet inside its host */
	uint8_t saddr[16];	/* network order; IPv4 as ::ffff:a.b.c.d */
	uint8_t daddr[16];
	uint16_t sport;
	uint16_t dport;
	uint8_t dir;		/* enum netsync_dir */
	uint8_t protocol;	/* IP protocol number: 6 TCP, 17 UDP, 132 SCTP, */
				/* 1 and 58 ICMP, of which echoes are matched */
	uint16_t ip_id;
	uint32_t len;		/* payload bytes, headers not counted */
	/*
	 * Inode number of the network namespace inside the host. A packet may
	 * pass the same point in several namespaces.
	 */
	uint32_t netns;
	/*
	 * Of a packet that stands for several ones on the wire (segmentation or
	 * receive offload): payload bytes of each but the last, and their number.
	 * gso_size 0: the packet is a single one.
	 */
	uint16_t gso_size;
	uint16_t gso_segs;
	/* By protocol. C99 has no anonymous unions, but compilers do. */
	__extension__ union {
		struct {
			uint32_t seq;
			uint32_t ack;
			uint16_t flags;	/* 4 bits data offset, 3 reserved, 9 flags */
			uint16_t window;	/* as in the header, not scaled */
			uint32_t tsval;
			uint32_t tsecr;
		} tcp;
		struct {
			uint64_t digest;	/* hash of the payload, the same on all hosts */
			uint16_t checksum;	/* as on the wire */
		} udp;
		struct {
			uint16_t id;	/* identifier of an echo request or reply */
			uint16_t seq;	/* its sequence number */
			uint8_t type;	/* 8, 0; ICMPv6: 128, 129 */
		} icmp;
		struct {
			uint32_t vtag;	/* verification tag */
			uint32_t tsn;	/* sequence number of the first DATA chunk */
			uint8_t chunk;	/* type of the first chunk */
		} sctp;
	};
};

/**
 * netsync_new() - make an empty synchronization
 *
 * Return: the object, to be given back with netsync_free(); NULL if there is
 * no memory.
 */
struct netsync *netsync_new(void);

/**
 * netsync_free() - release a synchronization and everything read from it
 * @ns: the object, or NULL
 */
void netsync_free(struct netsync *ns);

/**
 * netsync_error() - the failure of the last call, in words
 * @ns: the object
 *
 * That is the last call that takes @ns and can change it: adding hosts, pushing,
 * advancing, merging and solving.
 *
 * Return: a sentence that says what failed and what to do; "" if that call did
 * not fail. It stays valid until the next call that takes @ns.
 */
const char *netsync_error(const struct netsync *ns);

/**
 * netsync_add_host() - add a host, that is, one clock
 * @ns: the object
 * @name: a name for people; copied. Where it is taken already, the new host is
 *	called "name#2", "name#3", ...
 *
 * Several clocks of one machine (of two tracers, or of a tracer and a capture)
 * are as many hosts. Of a packet that more than one of them saw there is a
 * message from each clock of its sender to each of its receiver, where the
 * packet events say addresses.
 *
 * Return: the host's number (0, 1, ...), or -ENOMEM, or -EINVAL for an empty
 * name.
 */
int netsync_add_host(struct netsync *ns, const char *name);

/**
 * netsync_extend_span() - say that a host was traced at a time
 * @ns: the object
 * @host: the host
 * @time_ns: an instant on its clock
 *
 * Bounds are given for a host's whole span. It covers the host's packets and
 * messages by itself, but for a few that are far from all others and contradict
 * them (false timestamps); call this where the trace reaches further.
 *
 * Return: 0, -EINVAL for an unknown host, -ERANGE for a time beyond
 * NETSYNC_MAX_TIME or NETSYNC_MAX_SPAN.
 */
int netsync_extend_span(struct netsync *ns, uint32_t host, int64_t time_ns);

/**
 * netsync_push_packet() - add one packet event
 * @ns: the object
 * @pkt: the event; copied. Any order of times and of hosts will do.
 *
 * A packet whose addresses say that it never leaves its host (loopback) is
 * counted and not used. So is one of a protocol that is not matched: all but
 * TCP, UDP with ports, SCTP and ICMP echo.
 *
 * A packet is kept until its counterparts must have been pushed, which is known
 * from netsync_advance(). Without that, and while there are hosts that no
 * message connects, 8 million are kept at most (832 MiB, but see
 * netsync_limit_packets()); then the oldest are given up, which
 * netsync_get_stats() counts.
 *
 * Return: 0; -EINVAL for an unknown host, direction or size; -ERANGE for a
 * time beyond NETSYNC_MAX_TIME or NETSYNC_MAX_SPAN; -ENOMEM. After an error
 * the object is as it was before.
 */
int netsync_push_packet(struct netsync *ns, const struct netsync_packet *pkt);

/**
 * netsync_advance() - say how far the packets of a host were pushed
 * @ns: the object
 * @host: the host
 * @time_ns: all its packets of before this time, on its clock, were pushed;
 *	INT64_MAX: all, until it promises something again. Else smaller ones
 *	than before change nothing.
 *
 * Packets for which nothing more can come are matched and forgotten, so that
 * memory stays small however much is pushed. That is judged by what all hosts
 * have promised here, and needs no knowledge of their clocks. Packets that are
 * pushed against the promise are used as long as that is possible.
 *
 * Return: 0; -EINVAL for an unknown host; -ENOMEM.
 */
int netsync_advance(struct netsync *ns, uint32_t host, int64_t time_ns);

/**
 * netsync_limit_packets() - bound the memory for packets that wait
 * @ns: the object
 * @num: how many are kept for their counterparts (104 bytes each); it is brought
 *	to between 1024 and 8 million; and an eighth more, or 4096, until they are
 *	looked at
 *
 * For a caller that runs for long, and cannot know that hosts stay connected and
 * none falls behind. It takes effect with the next packet.
 */
void netsync_limit_packets(struct netsync *ns, uint32_t num);

/*
 * Packets are matched in so many shards, each by itself: all events of one packet, or of
 * the parts that it is cut into on its way, come to the same shard. Threads, and processes
 * on many machines, share the shards out; results do not depend on how.
 */
#define NETSYNC_SHARDS 16

/**
 * netsync_use_threads() - match packets with several threads
 * @ns: the object
 * @threads: how many, the caller's among them; at most 256. As at first, or 0: one
 *
 * The caller's thread gathers packet events, some thousands at a time, while others match
 * those before. Threads are started when they are first needed, wait for more to do, and
 * end in netsync_free(); none is at work when netsync_solve() returns, until packets are
 * pushed again. Where fewer can be started, fewer match. Results, and the order in which
 * messages are told, are the same to the last bit. Where a clock is steered
 * (netsync_push_clock()) the caller's thread waits for the others. netsync_solve() has an
 * option of its own.
 *
 * A child of fork(2) has none of the threads. It can use an object of which none was at
 * work. Of another one calls that need what was matched fail with -EOWNERDEAD, and
 * netsync_free() leaves its memory as it is until the child ends.
 */
void netsync_use_threads(struct netsync *ns, uint32_t threads);

/**
 * netsync_packet_shards() - tell which shards a packet event belongs to
 * @pkt: the event
 *
 * That depends on nothing but the protocol, len, gso_size, gso_segs, and the numbers in
 * headers that neither segmentation nor address translation changes; of a packet that is
 * not matched on host alone. An event of a packet that is sent at once and may arrive in
 * parts (segmentation offload) can belong to two or three.
 *
 * Return: a bit mask, bit n for shard n; 0 for a size that is not valid.
 */
uint32_t netsync_packet_shards(const struct netsync_packet *pkt);

/**
 * netsync_keep_shards() - match only the packets of some shards
 * @ns: the object, to which no packet was pushed yet
 * @shards: a bit mask, bit n for shard n, of NETSYNC_SHARDS; as at first: all
 *
 * For several objects, in as many processes, that share the packets of the same hosts.
 * Each is told of all hosts, by the same numbers; gets the packet events that belong to
 * its shards, from whatever host; and is told by netsync_advance() how far those of
 * every host were pushed, also if none of its packets came. Of an event that belongs to
 * shards of several objects, one counts it, and tells netsync_watch_packets(). Events
 * that belong to other shards only are ignored.
 *
 * Return: 0; -EINVAL for no shard, or one that there is not; -EALREADY if a packet was
 * pushed before.
 */
int netsync_keep_shards(struct netsync *ns, uint32_t shards);

/**
 * netsync_push_message() - add one message that is matched already
 * @ns: the object
 * @from: the host that sent it
 * @to: the host that received it; another one
 * @send_ns: when it was sent, on the clock of @from
 * @recv_ns: when it was received, on the clock of @to
 *
 * Return: as netsync_push_packet().
 */
int netsync_push_message(struct netsync *ns, uint32_t from, uint32_t to,
			 int64_t send_ns, int64_t recv_ns);

/* One instant, as read from a host's clock and from a clock that nobody steers. */
struct netsync_clock_point {
	uint32_t size;		/* sizeof(struct netsync_clock_point) */
	uint32_t host;		/* as returned by netsync_add_host() */
	int64_t time_ns;	/* on the host's clock, as packets' times are */
	/*
	 * The same instant on a raw clock: of the same oscillator, and steered by no
	 * daemon, as Linux' CLOCK_MONOTONIC_RAW. Its zero may be anywhere.
	 */
	int64_t raw_ns;
	int64_t within_ns;	/* bound on the error of raw_ns */
	/*
	 * Time of the host's clock per time of the raw clock from this instant to the
	 * next point, 0.5 to 2; every change of the rate has a point. 0: unknown.
	 */
	double rate;
	uint32_t was_set;	/* 1: the host's clock was set at this instant */
	/*
	 * Of the host's points, one more than the number of the point before; others show
	 * that points in between were lost. 0: not numbered.
	 */
	uint32_t number;
};

/**
 * netsync_push_clock() - tell how a host's clock was steered
 * @ns: the object
 * @point: an instant on the host's clock and on a raw one; copied. Any order.
 *
 * A daemon that steers a clock (chrony, ntpd, ptp4l) changes its rate as no
 * oscillator does. A host with points is estimated on its raw clock, for which the
 * assumptions in struct netsync_options have to hold then; results are on the
 * host's own clock all the same. Rates and skews of pairs and steps are those of
 * raw clocks. That the clock was set is then known, and not estimated: at a point, if
 * that has was_set, or number shows that none was lost before it; else at any time since
 * the point before.
 *
 * Between two points the clock is taken to be straight, if the rate of the first
 * leads to the second; or else if the rates before and after differ so little that
 * the error is at most 200 ns (and what within_ns allows). Elsewhere messages are
 * left out, and bounds are as wide as steering by 500 ppm and what was seen, by
 * steering or by a setting at either end, make them. Gaps of more than 10 seconds (30,
 * where points follow closely before and after), and times before the first and after
 * the last point, are as without points, but if the clock must have been set in a gap,
 * as it went on by more than 1000 ppm, or if messages begin within 30 seconds before
 * the first one, or end within 30 seconds after the last one, and points tell of a longer
 * time: these are left out likewise, and say no more than whether the clock was set
 * there, when nothing is known. Points that contradict their neighbours are left
 * out. So are messages whose raw time is more than NETSYNC_MAX_SPAN from the host's first
 * time.
 *
 * Messages of a host's first 31 seconds are held until netsync_solve(), up to 4096 of some
 * pairs, so that its first points may come after them. With points, messages are held (32 MB
 * of them at most) until points of a later time have
 * come, or netsync_solve() is called. Points are to be pushed, therefore, before
 * netsync_advance() promises their time.
 *
 * Return: 0; -EINVAL for an unknown host, a size, or a rate or error that is not
 * one; -ERANGE for times beyond NETSYNC_MAX_TIME, or NETSYNC_MAX_SPAN from the
 * host's first point or packet; -EALREADY if messages of a second later, or more, were
 * used before the host's first point came: others widen bounds; -ENOMEM. After an error the object is as it was
 * before.
 */
int netsync_push_clock(struct netsync *ns,
		       const struct netsync_clock_point *point);

/* ---- parts that others matched ------------------------------------------ */

/* Called with bytes, one after the other. Return 0 to go on, or a negative errno. */
typedef int (*netsync_write_func)(void *data, const void *bytes, size_t size);

/**
 * netsync_save_messages() - write what is known of all messages, for another object
 * @ns: the object, to which all was pushed
 * @write: called for the bytes, some at a time
 * @data: given to @write
 *
 * What is written is all that netsync_solve() needs: of each pair what it keeps of its
 * messages, and of each host its name, span, counts, points of its clock, and how far
 * netsync_advance() promised them. Packets that
 * found no counterpart are counted, but not written: nothing that is pushed later may
 * belong to them. The size does not grow with the number of messages: 40 MB at most for
 * some hosts, and a few kB more for each further host or pair.
 *
 * Return: 0; what @write returned, if that was not 0; -ENOMEM.
 */
int netsync_save_messages(struct netsync *ns, netsync_write_func write, void *data);

/**
 * netsync_merge_messages() - add what another object wrote
 * @ns: the object
 * @bytes: what netsync_save_messages() wrote, on this machine or any other one
 * @size: how many bytes these are
 *
 * It is then as if all that was pushed there had been pushed here, to the last bit of
 * every result, in whatever order several are added. Hosts are the same where their names
 * are; others are added. Points of a host's clock may be in several, and count once. The
 * bytes may hold anything.
 *
 * Return: 0; -EBADMSG for bytes that netsync_save_messages() did not write; -EPROTO for
 * those of another version of the library; -EINVAL if the hosts of a pair are there, but
 * were added in another order; -ERANGE for times beyond NETSYNC_MAX_TIME, or
 * NETSYNC_MAX_SPAN from others of the host; -EALREADY if messages of a steered host were
 * used by one of both before its points came, or points came in another order; -ENOMEM.
 * After another error than -ENOMEM the object is as it was before.
 */
int netsync_merge_messages(struct netsync *ns, const void *bytes, size_t size);

/* ---- watching ---------------------------------------------------------- */

/*
 * Called with a packet event as it was pushed, with its time on its host's clock.
 * @pkt is valid during the call only; its size is the library's.
 */
typedef void (*netsync_packet_func)(void *data,
				    const struct netsync_packet *pkt);

/**
 * netsync_watch_packets() - be told of each packet event
 * @ns: the object
 * @func: called for each one, once, from within netsync_push_packet(), before
 *	that returns and in the caller's thread; NULL (as at first): nobody. It
 *	must not call anything that takes @ns.
 * @data: given to @func
 *
 * @func is called for all packet events pushed from now on, by the readers of
 * libnetsync-io, too; also for those that never leave their host, or are of no
 * protocol that is matched; not for those that were refused with an error.
 */
void netsync_watch_packets(struct netsync *ns, netsync_packet_func func,
			   void *data);

/* A packet that was seen leaving one host and arriving at another. */
struct netsync_message {
	uint32_t size;		/* sizeof, as the library knows it */
	uint32_t from;		/* the host that sent it */
	uint32_t to;		/* the host that received it */
	/*
	 * Known fields of the packet: NETSYNC_HAS_ADDRS, _PORTS and _LEN of enum
	 * netsync_packet_fields; 0 for messages of netsync_push_message().
	 */
	uint32_t fields;
	int64_t send_ns;	/* on the clock of @from */
	int64_t recv_ns;	/* on the clock of @to */
	/* As the sender saw it: addresses may have been translated later. */
	uint8_t saddr[16];
	uint8_t daddr[16];
	uint16_t sport;
	uint16_t dport;
	uint32_t len;		/* payload bytes; of all packets that it stands for */
	uint8_t protocol;	/* IP protocol number; 0: unknown */
	uint8_t reserved[7];
};

/* Called with a message, which is valid during the call only. */
typedef void (*netsync_message_func)(void *data,
				     const struct netsync_message *msg);

/**
 * netsync_watch_messages() - be told of each message as it is found
 * @ns: the object
 * @func: called for each one, once, in the caller's thread, from within the
 *	call that found it: netsync_push_packet(), netsync_advance(),
 *	netsync_push_message() or netsync_solve(); NULL (as at first): nobody.
 *	It must not call anything that takes @ns.
 * @data: given to @func
 *
 * @func is called for all messages found from now on, after the packet events at
 * both ends, in the order of finding them, which is not that of times. When
 * netsync_solve() returns, it was called for each message that the result is made
 * of, and for more: messages that netsync_solve() leaves out since they contradict
 * others (enum netsync_quality) are not marked, and none is taken back. Ambiguous
 * packets are no messages.
 *
 * Addresses are kept for this from now on (32 bytes for each packet event that
 * waits for its counterpart); they are unknown for packet events pushed before.
 */
void netsync_watch_messages(struct netsync *ns, netsync_message_func func,
			    void *data);

/* ---- solving ----------------------------------------------------------- */

enum netsync_method {
	/*
	 * A curve whose flexibility comes from the data: a straight line where
	 * the data show no bend, smooth bends, steps of the rate and of the
	 * offset. Hosts with few messages (less than 32 in one direction) get
	 * the line of the method hull. Where the smallest delays wander it may
	 * follow them.
	 */
	NETSYNC_METHOD_AUTO = 0,
	/*
	 * A straight line for every clock, by convex hulls. Bounds are those of
	 * clocks that never change their rates: no bound is claimed of hosts whose
	 * readings (netsync_push_clock()) leave out a part of their time.
	 */
	NETSYNC_METHOD_HULL = 1,
	/*
	 * For comparison: of every pair the line half-way between the least
	 * squares of both directions. Every delay moves it, not the smallest
	 * ones alone.
	 */
	NETSYNC_METHOD_REGRESSION = 2,
	/*
	 * Experimental: the posterior mean of one probabilistic model of clocks
	 * and delays, by expectation propagation. It is to replace the method
	 * auto, and its results may change.
	 */
	NETSYNC_METHOD_MODEL = 3,
};

struct netsync_options {
	uint32_t size;		/* sizeof(struct netsync_options) */
	uint32_t method;	/* enum netsync_method */
	/*
	 * The host whose clock becomes the time base; NULL: the one with the
	 * smallest total bound; of more than 1024 connected hosts nearly so, by samples.
	 */
	const char *reference;
	/*
	 * No two clocks differ in rate by more than this (ppm). 0: 500 ppm,
	 * which is the most that Linux' NTP discipline allows itself; and where
	 * clocks seem to be steered another 500 ppm of each, as adjtime(3) slews.
	 */
	double max_skew_ppm;
	/*
	 * The rate of no clock changes faster than this (ppm per second), but
	 * at steps that are found and reported (struct netsync_step). 0: 0.1,
	 * which is much for a quartz in a machine that warms up. The method
	 * hull takes clocks to be straight, and ignores this.
	 *
	 * 0 also says that daemons may steer the clocks: in silences, where no
	 * messages before and after tell that they do not, nor
	 * netsync_push_clock() how (of both hosts), bounds assume no drift, but the
	 * largest skew, and of each clock 500 ppm more if max_skew_ppm is 0. With
	 * a value, nobody steers them there; of hosts with readings this is assumed
	 * only where readings report how the clock was steered.
	 *
	 * Bounds are guaranteed if max_skew_ppm and max_drift_ppm_s hold, and if
	 * messages show the steps of clocks: a clock that is stepped away and back
	 * between two messages of one direction shows nothing, nor does one that is
	 * stepped by no more than steering may do in that time: by the largest skew, and
	 * 500 ppm of each clock, 1500 ppm by default. Where a step was found,
	 * and messages of one direction are more than a second apart, a second one is
	 * allowed for: no bound is claimed. Delays need not be equal in both
	 * directions.
	 */
	double max_drift_ppm_s;
	/*
	 * Threads that estimate side by side, the caller's among them; at most
	 * 256. 0: one. The result is the same to the last bit.
	 */
	uint32_t threads;
	uint32_t reserved;
	/*
	 * Times of all hosts are cut off to multiples of this, ns, or of more: one of t was
	 * read before t + resolution_ns. At most NETSYNC_MAX_RESOLUTION. 0: as the times
	 * themselves show, by what divides those of a host; which is not seen where a clock
	 * goes on with a timer's tick, and its ticks are not whole multiples of one.
	 */
	int64_t resolution_ns;
};

/**
 * netsync_solve() - match what is not matched yet and estimate every clock
 * @ns: the object
 * @opt: options, or NULL for the defaults
 *
 * May be called at any time, and again after more was pushed: the last result
 * is the same as if it had been called only then. The order of the pushes does
 * not matter either. Messages that were found once stay, though: a key that
 * repeats after a call does not take them back.
 *
 * Hosts that cannot be corrected are no error: their quality says so.
 *
 * Return: 0, -ENOENT if there is no host of the reference's name, -EINVAL for
 * senseless options, -ENOMEM.
 */
int netsync_solve(struct netsync *ns, const struct netsync_options *opt);

/* ---- results: valid from netsync_solve() until the next one ------------ */

enum netsync_quality {
	/* No message connects it, directly or through others; the reference: with no host. */
	NETSYNC_ABSENT = 0,
	/*
	 * Messages in one direction only: the offset is known from one side, and
	 * the bound, too.
	 */
	NETSYNC_INCOMPLETE = 1,
	/*
	 * Messages contradict the assumptions of struct netsync_options, the bound or
	 * the corrected times; or it is not certain that the assumptions hold. Messages
	 * were left out, if they are few, and the bound holds if they are wrong. Where
	 * they are many, or where messages that were kept contradict a bound, none is
	 * claimed.
	 */
	NETSYNC_APPROXIMATE = 2,
	/*
	 * No message contradicts the assumptions, the bound or the corrected times, but
	 * about a step whose time is not known exactly; and the bound holds.
	 */
	NETSYNC_ACCURATE = 3,
};

/* The quality in one lower-case word ("accurate"); a static string. */
const char *netsync_quality_name(enum netsync_quality quality);

struct netsync_host_info {
	uint32_t size;		/* sizeof, filled in by the caller */
	enum netsync_quality quality;
	const char *name;	/* owned by the library */
	uint64_t packets;	/* packet events pushed for this host */
	int64_t first_ns;	/* its span, on its own clock; */
	int64_t last_ns;	/* last < first: nothing was ever seen */
	/* Median and maximum over the span of the bound by netsync_convert(). */
	int64_t bound_median_ns;
	int64_t bound_max_ns;
	/*
	 * The smallest host number of the island: hosts with the same number
	 * are connected by messages, others are not.
	 */
	uint32_t island;
	uint32_t num_steps;	/* of its clock; see netsync_get_step() */
	/*
	 * Of its span, for how long, ns, at least, its bound is wider as a daemon may have
	 * steered the clocks: no packets passed for a second or longer, and neither clock events
	 * nor options say that none did (see max_drift_ppm_s).
	 */
	int64_t silent_ns;
	/*
	 * 1: no clocks within max_skew_ppm and max_drift_ppm_s of struct netsync_options, and without
	 * steps, satisfy all messages of one of its pairs; or no time is in the intervals over all its
	 * neighbours. 0: whatever the quality, messages contradict nothing.
	 */
	uint32_t contradicted;
	uint32_t reserved;
};

/*
 * A sudden change of a clock, against the reference. One of the reference's own
 * clock shows as a step of all others.
 */
struct netsync_step {
	uint32_t size;		/* sizeof, filled in by the caller */
	uint32_t known;		/* 1: told by netsync_push_clock(), not found */
	/* Time of the step on the host's clock; if that was set, just before. */
	int64_t time_ns;
	int64_t within_ns;	/* uncertainty of time_ns, on either side */
	/* Phase step: forward if positive. 0: only the rate changed. */
	int64_t offset_ns;
	double skew_ppm;	/* rate step: faster from then on if positive */
};

struct netsync_pair_info {
	uint32_t size;		/* sizeof, filled in by the caller */
	enum netsync_quality quality;
	uint32_t host[2];	/* host[0] < host[1] */
	/* Of two values, [0] is for host[0] -> host[1], [1] the way back. */
	uint64_t messages[2];
	uint64_t hull[2];	/* vertices of the convex hulls */
	int64_t min_delay_ns[2];/* after correction; NETSYNC_UNKNOWN: none */
	/*
	 * Messages that are received before they are sent, by uncorrected and by
	 * corrected times, as stamps are, whatever their resolution. The latter are
	 * counted among those with the smallest delays only: 0 is exact, more means at
	 * least so many. Where messages pass in one direction only, there are none, if
	 * any correction leaves none.
	 */
	uint64_t inversions_before;
	uint64_t inversions_after;
	/*
	 * Bounds of the rate of every straight clock that satisfies all messages, in
	 * time of host[0] per time of host[1].
	 */
	double rate_min;
	double rate_max;
	/*
	 * Packet events on the two hosts; one packet that was cut into many (GSO) is
	 * as many events.
	 */
	uint64_t matched;	/* with a counterpart on the other host */
	uint64_t nat;		/* of these, with translated addresses */
	/* Of packet events with an address of the other host: */
	uint64_t ambiguous;	/* could be of several packets */
	uint64_t unmatched;	/* without a counterpart there */
};

/* Numbers of packet events, over all hosts. */
struct netsync_stats {
	uint32_t size;		/* sizeof, filled in by the caller */
	uint32_t reserved;
	uint64_t packets;	/* pushed */
	uint64_t matched;	/* with a counterpart on another host */
	uint64_t unmatched;	/* without one until now */
	uint64_t ambiguous;	/* could be of several packets */
	uint64_t loopback;	/* never leave their host */
	uint64_t unsupported;	/* of a protocol that is not matched */
	uint64_t nat;		/* matched, with translated addresses */
	uint64_t evicted;	/* unmatched, and given up for lack of room */
};

/*
 * Time that packets take through the network stack of a host: from the first to the
 * last observation point on their way out, or in, such as a socket and a device.
 * Packets that are cut or merged in between do not count, nor do forwarded ones.
 */
struct netsync_stack {
	uint32_t size;		/* sizeof, filled in by the caller */
	uint32_t reserved;
	uint64_t packets;	/* seen at several observation points */
	int64_t min_ns;		/* of these; NETSYNC_UNKNOWN: there are none */
	int64_t median_ns;	/* to 3 %, as p99_ns: from a histogram */
	int64_t p99_ns;		/* 99th percentile */
	int64_t max_ns;
};

/* Steering of a host's clock in its span, by the points of netsync_push_clock(). */
struct netsync_steering {
	uint32_t size;		/* sizeof, filled in by the caller */
	uint32_t reserved;
	uint64_t points;	/* used; 0: the other fields have no meaning */
	/*
	 * Smallest and largest skew of the host's clock against its raw clock; from
	 * points without a rate, means over a second. NAN: there are too few points.
	 */
	double min_ppm;
	double max_ppm;
	int64_t unknown_ns;	/* part of the span that points say nothing about */
	/* points tell about the host's clock up to here; later bounds are wider, or unknown */
	int64_t until_ns;
};

/* The number of hosts, and of pairs of hosts that exchanged messages. */
uint32_t netsync_num_hosts(const struct netsync *ns);
uint32_t netsync_num_pairs(const struct netsync *ns);

/* The number of the reference host, or -ENODATA before netsync_solve(). */
int netsync_reference(const struct netsync *ns);

/**
 * netsync_get_host(), netsync_get_pair(), netsync_get_stats() - read results
 * @ns: the object
 * @index: which host or pair
 * @info: filled in; its size field says how much of it the caller knows
 *
 * Return: 0; -EINVAL for an index or size that is not valid; -ENODATA before
 * netsync_solve().
 */
int netsync_get_host(const struct netsync *ns, uint32_t index,
		     struct netsync_host_info *info);
int netsync_get_pair(const struct netsync *ns, uint32_t index,
		     struct netsync_pair_info *info);
int netsync_get_stats(const struct netsync *ns, struct netsync_stats *info);

/**
 * netsync_get_step() - read a step of a host's clock
 * @ns: the object
 * @host: the host
 * @index: which one, below the host's num_steps; in order of time
 * @step: filled in; its size field says how much of it the caller knows
 *
 * Return: as netsync_get_host().
 */
int netsync_get_step(const struct netsync *ns, uint32_t host, uint32_t index,
		     struct netsync_step *step);

/**
 * netsync_get_stack() - read how long packets took through a host's stack
 * @ns: the object
 * @host: the host
 * @dir: out or in
 * @stack: filled in; its size field says how much of it the caller knows
 *
 * Return: as netsync_get_host().
 */
int netsync_get_stack(const struct netsync *ns, uint32_t host,
		      enum netsync_dir dir, struct netsync_stack *stack);

/**
 * netsync_get_steering() - read how a host's clock was steered
 * @ns: the object
 * @host: the host
 * @info: filled in; its size field says how much of it the caller knows
 *
 * Return: as netsync_get_host().
 */
int netsync_get_steering(const struct netsync *ns, uint32_t host,
			 struct netsync_steering *info);

/**
 * netsync_host_clock() - the clock of a host against the reference
 * @ns: the object
 * @host: the host
 *
 * Return: the clock, owned by @ns and valid until the next netsync_solve() or
 * netsync_free(); NULL where the host could not be corrected.
 */
const struct netsync_clock *netsync_host_clock(const struct netsync *ns,
					       uint32_t host);

/* ---- clocks ------------------------------------------------------------ */

/*
 * In a segment t_ref = t + offset_ns + (rate - 1) * (t - from_ns). Segments
 * follow each other without gaps; the first and the last extend outward.
 */
struct netsync_segment {
	int64_t from_ns;	/* on the host's clock */
	int64_t to_ns;
	int64_t offset_ns;	/* at from_ns */
	double rate;		/* reference time per host time */
	int64_t bound_ns;	/* largest bound by netsync_convert() in the segment */
};

/*
 * A knot of the error bounds: true time is from below_ns before to above_ns after the
 * corrected time. Both are linear in the host's time between knots, and grow before the
 * first and after the last (growth_ppm). From a knot with NETSYNC_UNKNOWN to its
 * neighbours nothing is known.
 */
struct netsync_knot {
	int64_t time_ns;
	int64_t below_ns;
	int64_t above_ns;
};

struct netsync_model {
	uint32_t size;		/* sizeof(struct netsync_model) */
	uint32_t num_segments;	/* at least 1 */
	uint32_t num_knots;	/* 0: nothing is known about the error */
	/*
	 * Bytes of an element of each array, by the version of the library of whoever
	 * filled this in: larger than sizeof, or smaller.
	 */
	uint32_t segment_size;
	uint32_t knot_size;
	uint32_t reserved;
	/* To be read with netsync_model_segment() and netsync_model_knot(). */
	const struct netsync_segment *segments;
	const struct netsync_knot *knots;
	/* Growth of the bounds: ppm of the distance to the first and to the last knot */
	double growth_ppm[2];
};

/* An element of an array, whatever its size; @index is below their number. */
const struct netsync_segment *
netsync_model_segment(const struct netsync_model *model, uint32_t index);
const struct netsync_knot *netsync_model_knot(const struct netsync_model *model,
					      uint32_t index);

/**
 * netsync_clock_new() - make a clock of stored numbers
 * @model: its numbers; copied
 * @clock: where to put it; to be given back with netsync_clock_free()
 *
 * Return: 0; -EINVAL if segments or knots are not in order, a rate is not
 * positive and finite, a bound or growth is negative, or a size is not valid;
 * -ENOMEM.
 */
int netsync_clock_new(const struct netsync_model *model,
		      struct netsync_clock **clock);

/* Release a clock made by netsync_clock_new(); NULL is allowed. */
void netsync_clock_free(struct netsync_clock *clock);

/**
 * netsync_clock_model() - the numbers of a clock
 * @clock: the clock
 * @model: filled in; its size field says how much of it the caller knows. The
 *	arrays belong to @clock.
 *
 * Return: 0, or -EINVAL for a size that is not valid.
 */
int netsync_clock_model(const struct netsync_clock *clock,
			struct netsync_model *model);

/**
 * netsync_convert() - correct a timestamp
 * @clock: the host's clock
 * @t: a time on it
 * @t_ref: the same instant on the reference clock, rounded to 1 ns
 * @bound: NULL, or where to put how far @t_ref can be from the truth;
 *	NETSYNC_UNKNOWN where nothing is known
 *
 * A time outside of the host's span, first_ns to last_ns of struct netsync_host_info, is
 * extrapolated: @bound grows with the distance, and holds as long as the assumptions in struct
 * netsync_options do. The command "netsync convert" and the package for Python refuse times
 * that are farther away than the span is long, but 60 s at least and an hour at most: callers
 * that correct traces should do the same.
 *
 * Return: 0; -ERANGE if the result does not fit into 64 bits.
 */
int netsync_convert(const struct netsync_clock *clock, int64_t t,
		    int64_t *t_ref, int64_t *bound);

/**
 * netsync_convert_many() - correct many timestamps
 * @clock: the host's clock
 * @num: how many
 * @t: times on it, in any order
 * @t_ref: where to put as many times, each as netsync_convert() gives it; may be @t
 * @bound: NULL, or where to put as many bounds
 *
 * Return: 0; -ERANGE if one of the results does not fit into 64 bits: those of the
 * times before it are there.
 */
int netsync_convert_many(const struct netsync_clock *clock, size_t num,
			 const int64_t *t, int64_t *t_ref, int64_t *bound);

/**
 * netsync_interval() - between what times on the reference clock an event was
 * @clock: the host's clock
 * @t: a time on it
 * @lo: not earlier than this; INT64_MIN where nothing is known
 * @hi: not later than this; INT64_MAX where nothing is known
 *
 * It holds under the assumptions of struct netsync_options. Its ends are not
 * equally far from what netsync_convert() gives, which is the likeliest time.
 *
 * Return: 0; -ERANGE if the corrected time does not fit into 64 bits.
 */
int netsync_interval(const struct netsync_clock *clock, int64_t t,
		     int64_t *lo, int64_t *hi);

enum netsync_sequence {
	NETSYNC_BEFORE = -1,
	NETSYNC_UNCERTAIN = 0,
	NETSYNC_AFTER = 1,
};

/**
 * netsync_order() - which of two events was first
 * @clock_a: the clock of the first one's host
 * @t1: its time on that clock
 * @clock_b: the clock of the second one's host; of the same netsync_solve()
 * @t2: its time on that clock
 *
 * Return: NETSYNC_BEFORE if the first one was certainly before the second,
 * NETSYNC_AFTER if it was certainly after it, NETSYNC_UNCERTAIN if their
 * intervals touch. Of one and the same clock the times themselves decide, and
 * only equal ones are uncertain.
 */
enum netsync_sequence netsync_order(const struct netsync_clock *clock_a,
				    int64_t t1,
				    const struct netsync_clock *clock_b,
				    int64_t t2);

#ifdef __cplusplus
}
#endif

#endif /* NETSYNC_H */
