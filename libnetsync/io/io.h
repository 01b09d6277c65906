/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Between the readers and what is common to all of them.
 *
 * find.c searches folders and asks each reader of the table whether it knows
 * what is there, hosts.c gives traces to hosts, and io.c lets the readers read
 * in turn. A reader is one struct trace_reader; it knows nothing of hosts and
 * shifts.
 */
#ifndef NETSYNC_IO_PRIVATE_H
#define NETSYNC_IO_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "io/names.h"
#include "netsync-io.h"
#include "util/number.h"

#define UUID_SIZE 16
/* Points that are found without a search. Chosen: few hosts see packets at more. */
#define IO_RECENT_POINTS 64

struct trace_reader;
struct text;
struct live;
struct owns;
struct served;
struct numbered_point;

struct netsync_io {
	struct netsync *ns;
	netsync_io_warn_func warn;
	void *warn_data;
	char *error;
	struct trace **traces;
	size_t num_traces;
	struct netsync_io_trace *infos;	/* of traces, or of their parts */
	size_t num_infos;
	struct text **texts;
	size_t num_texts;
	/* Of all texts and network namespaces; the number is the host's. */
	struct names hosts;
	bool split_netns;
	unsigned int jobs;	/* traces read at a time; 0: by the processors */
	bool was_read;
	struct owns *owns;	/* addresses of machines: direction.h */
	struct live *live;	/* NULL: there are none but recorded ones */
	/*
	 * Instead of pushing packets; NULL: they are pushed. Their host is 0, but
	 * for those of texts. 0, or a negative errno after io_fail().
	 */
	int (*observe)(struct netsync_io *io, const struct netsync_packet *pkt);
	void *observe_data;
	/* Instead of pushing, but for texts, all that is found; NULL: it is pushed. */
	const struct io_sink *sink;
	struct served **served;	/* traces that others read for us: remote/ */
	size_t num_served;
	void *points;		/* tsearch() tree of struct numbered_point */
	uint32_t num_points;
	struct numbered_point *recent[IO_RECENT_POINTS];
	netsync_io_progress_func progress;
	void *progress_data;
};

/* Of recorded times, in ns as the trace prints them; one that was empty becomes these. */
static inline void range_extend(struct range *range, int64_t lo, int64_t hi)
{
	if (range->hi < range->lo)
		*range = (struct range){ lo, hi };
	range->lo = min64(range->lo, lo);
	range->hi = max64(range->hi, hi);
}

/* What one network namespace saw, if these are hosts of their own. */
struct part {
	uint32_t netns;
	uint32_t host;
	uint64_t packets;
};

/* Of the kernel's clocks: CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_TAI. */
#define CLOCKS_SHOWN 3

/* An instant of a trace's clock, and what a raw clock showed then. */
struct clock_event {
	int64_t time_ns;	/* as printed */
	int64_t shown_ns[CLOCKS_SHOWN];	/* of which one is the trace's */
	int64_t raw_ns;
	int64_t within_ns;	/* how far off that can be */
	double rate;		/* from then on, of the trace's clock per raw time; 0: not known */
};

/*
 * Where on a host a packet was seen: it passes each point once. Numbers of the
 * reader's own, which mean something in one trace only.
 */
struct point {
	uint32_t place;		/* of the network stack */
	uint32_t buffer;	/* of the tracer, where each records the same packet */
	uint64_t device;	/* 0: the place is none of a device */
};

/* What an event tells of, as readers and their workers hand it on. */
struct event_seen {
	bool is_clock;
	union {
		struct {
			struct netsync_packet pkt;	/* but for host and point */
			struct point at;
		};
		struct clock_event clock;
	};
};

/* Where what is found goes, as it was read. 0, or negative: io_fail() was called. */
struct io_sink {
	int (*packet)(struct trace *trace, const struct netsync_packet *pkt,
		      const struct point *at);
	int (*clock)(struct trace *trace, const struct clock_event *clock);
	int (*span)(struct trace *trace, int64_t first_ns, int64_t last_ns);
};

/* Files that whoever recorded a machine writes beside its traces. */
enum beside { BESIDE_NETNS_NAMES, BESIDE_CLOCKS, NUM_BESIDE };

extern const char *const io_beside_names[NUM_BESIDE];

/* A copy of one of another machine. */
struct copied {
	char *path;
	char *bytes;
	size_t size, room;
};

struct trace {
	struct netsync_io *io;
	const struct trace_reader *reader;
	void *state;		/* the reader's own */
	char *path;		/* as it was found */
	char *real_path;

	/* What open() found out. */
	char *host_name;
	char *own_name;		/* where the user gave it another one, that */
	/*
	 * Of the clocks of a machine the one with this name; NULL: that which
	 * LTTng takes, if it was traced by that. Traces of one host_name whose
	 * clocks have different names are different hosts.
	 */
	char *clock_name;
	bool has_clock_uuid;
	uint8_t clock_uuid[UUID_SIZE];
	int64_t epoch_ns;	/* of the clock's zero */
	bool has_uuid;
	uint8_t uuid[UUID_SIZE];
	struct range range;	/* of all streams together */
	uint64_t range_hash;	/* of the ranges of all streams */
	const char *readable;	/* instead of it; NULL: all of it is */
	/* Of one of another machine: what is beside it. */
	bool is_remote;
	const struct copied *beside[NUM_BESIDE];	/* NULL: there is none */
	bool has_network;	/* there are event classes of network events */
	bool has_netns;		/* some of which say the network namespace */

	/* What reading found. */
	struct host *host;
	struct netsync_io_trace info;
	uint32_t num_points;
	uint32_t max_points;	/* of more, these are one; 0: there is no limit */
	struct part *parts;	/* by netns */
	size_t num_parts;
	size_t part_room;
	/* How the clock was steered, for parts that are still to be found. */
	struct clock_event *clocks;
	size_t num_clocks;
	size_t clock_room;
	uint64_t without_netns;
	uint64_t out_of_range;
	uint64_t unused;	/* packets, as the reader warned */
	bool clock_is_late;	/* what is known of it came too late, as was warned */
};

/* A file or folder that may be a trace. */
struct found {
	const char *path;
	const struct stat *st;
	uint8_t head[16];	/* how a file begins */
	size_t head_len;	/* so much of that is there; of a folder 0 */
};

struct trace_reader {
	const char *format;	/* its name */
	/* For people: what avoids that events are lost, and what is to be recorded. */
	const char *avoids_loss;
	const char *to_record;
	/* Is it a trace of this kind? */
	bool (*claims)(const struct found *found);
	/*
	 * Open the trace at trace->path and find out what it is. 0: there is
	 * nothing to be read in it, which the reader has warned about; 1: it
	 * can be read; negative: io_fail() was called. close() is called in
	 * every case.
	 */
	int (*open)(struct trace *trace);
	/*
	 * All traces are known and none was read: find out what takes all of
	 * them together. Called once; NULL: there is nothing like that. 0, or
	 * negative: io_fail() was called.
	 */
	int (*prepare)(struct netsync_io *io);
	/*
	 * Read on until all streams are past @until_ns (as printed) or ended.
	 * 1: there is more; 0: all was read; negative: io_fail() was called.
	 */
	int (*read)(struct trace *trace, int64_t until_ns);
	/*
	 * That read() will be called with this time, of which no more than a few
	 * are outstanding: another process may begin. NULL: there is none.
	 */
	void (*ahead)(struct trace *trace, int64_t until_ns);
	void (*close)(struct trace *trace);
};

extern const struct trace_reader ctf_reader;
extern const struct trace_reader tracedat_reader;
extern const struct trace_reader pcap_reader;

/* One clock; traces of one host lie beside each other. */
struct host {
	char *name;		/* with WORD_SLACK */
	size_t name_len;
	struct trace *base;	/* its first trace; NULL: it is in texts only */
	struct range range;	/* of all its traces, in the host's time */
	int64_t start_ns;	/* its time when reading starts */
	bool split;		/* its network namespaces are hosts */
	int number;		/* -1: it is none itself */
};

/*
 * Give traces and the names in texts to hosts, and number these by name. The
 * caller frees the array in every case.
 */
int io_make_hosts(struct netsync_io *io, struct host **hosts, size_t *num);
void io_free_hosts(struct host *hosts, size_t num);
bool io_same_host(const struct trace *a, const struct trace *b);
/* Find the shift of a trace of the host, whose base is known. */
int io_bring_to_base(struct netsync_io *io, struct host *host,
		     struct trace *trace);
/* After reading: a host that was to be split and held no packet is one. */
int io_number_rest(struct netsync_io *io, struct host *hosts, size_t num);

/* The part of a trace that is in a network namespace; NULL: io_fail(). */
struct part *io_find_part(struct trace *trace, uint32_t netns);
/* The name of the host that a namespace of another one is. */
#define NETNS_PREFIX "netns-"
#define NETNS_HOST "%.*s/" NETNS_PREFIX "%u"

/*
 * Open the nearest of these files that who recorded a trace wrote beside it, in its
 * folder or above, up to the machine's (beside.c). -1: there is none; else the caller
 * frees @path.
 */
int io_open_beside(const struct trace *trace, enum beside which, char **path);

/* What a namespace was called when it was recorded (netns.c); false: not known. */
#define NETNS_NAME_SIZE 128	/* chosen: a container's id has 64 digits */
bool io_netns_name(const struct trace *trace, uint32_t netns,
		   char name[NETNS_NAME_SIZE]);

/*
 * Texts: first all hosts in them are found, then they are read. *@done counts
 * progress: each text is 2 * TEXT_STEPS.
 */
#define TEXT_STEPS 1024
int io_find_hosts_in_texts(struct netsync_io *io, uint64_t *done);
int io_read_texts(struct netsync_io *io, uint64_t *done);
/* How clocks were steered, as was written beside their traces. */
int io_read_clocks_beside(struct netsync_io *io, const struct host *hosts,
			  size_t num);
/* Show all packets in them to netsync_io.observe. */
int io_observe_texts(struct netsync_io *io);
void io_free_text(struct text *text);

/* The reader closes it; what is known of it stays. */
void io_close_trace(struct trace *trace);
void io_free_trace(struct trace *trace);

/* The trace was opened: it is one more, called @name if that is not NULL. 1 or negative. */
int io_keep_trace(struct netsync_io *io, struct trace *trace, const char *name);

/* Which reads this format; NULL: none of these. */
const struct trace_reader *io_find_format(const char *format);

/* Let all readers prepare. */
int io_prepare(struct netsync_io *io);

/*
 * Terminals obey control characters; a trace's word is not to be trusted. The name is
 * replaced, by utf8_escape(). 0 or -ENOMEM, with a name that is NULL.
 */
int io_make_printable(char **name);

/* What can be asked for of each trace, or of each of its parts: 0 or -ENOMEM. */
int io_make_infos(struct netsync_io *io);

/* Tell how far reading has come. 0, or negative to stop. */
int io_progress(struct netsync_io *io, uint64_t done);

/* Can something recorded be added by now? 0, or negative: io_fail() was called. */
int io_check_new(struct netsync_io *io, const char *what);

/* Remember why something failed, as a sentence; gives @err back. */
int io_fail(struct netsync_io *io, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int io_no_memory(struct netsync_io *io);
void io_warn(struct netsync_io *io, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Push a packet that was seen at pkt->time_ns, as printed. 0 or negative. */
int io_packet(struct trace *trace, struct netsync_packet *pkt,
	      const struct point *at);
/* Push what is known of the trace's clock at clock->time_ns, as printed. */
int io_clock(struct trace *trace, const struct clock_event *clock);
/* The one or the other. */
int io_event(struct trace *trace, const struct event_seen *seen);
/* Say that the trace reaches over these times, as printed. */
int io_span(struct trace *trace, int64_t first_ns, int64_t last_ns);

/* printf into memory of its own; NULL if there is none. */
char *io_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
