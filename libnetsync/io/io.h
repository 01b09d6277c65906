/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interface of trace readers, and the declarations shared by the files that run the readers.
 *
 *	paths -> find.c: struct trace -> hosts.c: struct io_host
 *	      -> io.c: a slice of each trace in turn, by trace_reader.read()
 *	      -> push.c: packets, clocks and spans -> netsync.h, or a struct io_sink
 *
 * A reader is one struct trace_reader. The times that a reader reports are those that the trace
 * prints. A reader knows neither hosts nor time shifts.
 */
#ifndef NETSYNC_IO_PRIVATE_H
#define NETSYNC_IO_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include "io/disk/disk.h"
#include "io/names.h"
#include "netsync-io.h"
#include "util/number.h"

#define UUID_SIZE 16 /* size of a UUID in bytes (RFC 9562) */
/*
 * Maximum number of hosts that text files name, and of network namespaces that are hosts. If a file
 * has more names, they are random, or the wrong column was used. Chosen: the largest machines have
 * this many namespaces.
 */
#define IO_MAX_HOSTS 10000
/*
 * Number of entries in netsync_io.recent, a cache for the tree of observation points. Chosen: few
 * hosts record packets at more points, and an entry costs only 8 bytes.
 */
#define IO_RECENT_POINTS 64

struct trace_reader;
struct event_reading;
struct text_input;
struct live_input;
struct reader_process;
struct stream_turn;
struct worker_task;
struct own_addresses_list;
struct served;
struct left_out;
struct numbered_point;
struct clock_of_machine;
struct utc_log;
struct kept_file;
struct relations;
struct unpacked;

struct netsync_io {
	struct netsync *ns;
	netsync_io_warn_func warn;
	void *warn_data;
	char *error;
	struct trace **traces;
	size_t num_traces;
	struct netsync_io_trace *infos; /* after reading: one for each trace or part of a trace */
	size_t num_infos;
	struct text_input **texts;
	size_t num_texts;
	/* Numbers of hosts that texts name, and of network namespaces, by name. */
	struct name_table hosts;
	bool split_netns;   /* whether each network namespace is a host */
	bool split_gpus;    /* whether each rank of a job is a host */
	unsigned int jobs;  /* number of traces read at a time; 0: one per processor */
	int64_t timeout_ms; /* longest wait without progress (ms), or 0 for the default */
	struct disk *disk;  /* the process that reads files */
	uint64_t *stuck;    /* file systems that were given up, identified as in trace.device */
	size_t num_stuck;
	struct left_out *left_out; /* inputs that were skipped because they could not be opened */
	size_t num_left_out;
	struct netsync_io_window window; /* if all members are 0, everything is read */
	/*
	 * Windows for text files, in each host's own time, indexed by the host's number. NULL if
	 * there are no limits.
	 */
	struct range *windows;
	size_t num_windows;
	bool was_read;
	struct own_addresses_list *owns; /* addresses of each machine: direction.h */
	struct live_input *live;	 /* live sessions, or NULL if all traces are recorded */
	/*
	 * Unless NULL, this function is called with each packet in place of netsync_push_packet().
	 * Packets of traces have host 0. On failure, it calls io_fail() and returns a negative
	 * value. Otherwise, it returns 0.
	 */
	int (*observe)(struct netsync_io *io, const struct netsync_packet *pkt);
	void *observe_data;
	/*
	 * Receives the contents of traces, but not of text files. If NULL, they are pushed to
	 * netsync.h.
	 */
	const struct io_sink *sink;
	struct netsync_io_part *part; /* what this process reads; NULL if everything */
	bool part_ended;	      /* whether netsync_io_part.end() is being called */
	/* Hosts that stand for one of several clocks of a machine (relate.c). */
	struct clock_of_machine *machine_clocks;
	size_t num_machine_clocks;
	/* Readings of clocks with bounds on their difference from UTC, and these bounds (utc.c). */
	struct utc_log *utc_logs;
	size_t num_utc_logs;
	size_t recent_utc_log; /* the one that was used last */
	struct netsync_utc_bound *utc_bounds;
	size_t num_utc_bounds;
	size_t utc_bounds_room;
	struct reader_process **processes; /* processes that read traces: reading.c */
	size_t num_processes;
	struct served **served; /* servers, whose traces other processes read (remote/) */
	size_t num_served;
	struct kept_file *kept; /* data of files that cannot be read directly (open.c) */
	size_t num_kept;
	struct netsync_io *keeper; /* object that keeps the files; NULL if this one does */
	/* Parts of relations whose other parts were not read yet; NULL before the first part. */
	struct relations *relations;
	netsync_io_relation_func relation; /* called with each relation that is used; or NULL */
	void *relation_data;
	void *points; /* tsearch() tree of struct numbered_point */
	uint32_t num_points;
	struct numbered_point *recent[IO_RECENT_POINTS]; /* indexed by a hash of the point */
	netsync_io_progress_func progress;
	void *progress_data;
};

/* The range of all times. */
#define RANGE_ALL ((struct range){ INT64_MIN, INT64_MAX })

static inline bool range_is_all(const struct range *range)
{
	return range->lo == INT64_MIN && range->hi == INT64_MAX;
}

static inline bool range_contains(const struct range *range, int64_t time_ns)
{
	return time_ns >= range->lo && time_ns <= range->hi;
}

/* Extend a range of times (ns, as the trace prints them). If hi < lo, the range is empty. */
static inline void range_extend(struct range *range, int64_t lo, int64_t hi)
{
	if (range->hi < range->lo)
		*range = (struct range){ lo, hi };
	range->lo = min64(range->lo, lo);
	range->hi = max64(range->hi, hi);
}

/* The packets of one network namespace in a trace, if the namespace is a separate host. */
struct io_part {
	uint32_t netns;	  /* inode number of the namespace, as in /proc/PID/ns/net */
	uint32_t host;	  /* number of the host */
	uint64_t packets; /* number of packets pushed */
};

/* Number of clocks in a clock event: CLOCK_MONOTONIC, CLOCK_BOOTTIME and CLOCK_TAI. */
#define CLOCKS_SHOWN 3

/*
 * Readings of several clocks and of CLOCK_MONOTONIC_RAW at one instant. One of the clocks is the
 * trace's clock.
 */
struct clock_event {
	int64_t time_ns; /* time of the trace's clock, as printed */
	/* Readings of the clocks (ns). */
	int64_t shown_ns[CLOCKS_SHOWN];
	int64_t raw_ns;	   /* reading of CLOCK_MONOTONIC_RAW */
	int64_t within_ns; /* error bound of raw_ns at time_ns */
	/*
	 * Rate of the trace's clock relative to the raw clock from this instant on, or 0 if not
	 * known.
	 */
	double rate;
	uint32_t number; /* of the previous event, plus one; 0 if events have no numbers */
	bool was_set;	 /* whether the trace's clock was stepped at this instant */
};

/*
 * An observation point is a place on a host where a packet was seen. A packet passes through each
 * point once. The reader chooses the numbers, which are compared only within one trace.
 */
struct observation_point {
	uint32_t place;	 /* place in the network stack: a tracepoint or interface */
	uint32_t buffer; /* number of the tracer's buffer, if several buffers record a packet */
	uint64_t device; /* network device, or 0 if the place belongs to no device */
};

/* A packet event or clock event, as passed on by readers and their workers. */
struct event_seen {
	bool is_clock;
	union {
		struct {
			struct netsync_packet pkt; /* does not include host and point */
			struct observation_point at;
		};
		struct clock_event clock;
	};
};

/* Short names of roles: enum netsync_io_role. */
#define SPAN_BEFORE NETSYNC_IO_BEFORE
#define SPAN_AFTER NETSYNC_IO_AFTER
#define SPAN_BOTH (NETSYNC_IO_BEFORE | NETSYNC_IO_AFTER)
#define SPAN_ALL_ROLES (2 * NETSYNC_IO_ENCLOSES - 1)

/* Maximum size of the names in a part (bytes), with the terminating NUL; chosen. */
#define SPAN_NAME_SIZE 64

/*
 * A part of a relation between spans: what one member did, such as one rank of a collective
 * operation. Parts of one relation have the same key, on whichever host they were recorded.
 */
struct span_part {
	uint64_t key[2]; /* hash of what identifies the relation */
	/* Hash of what must be equal in all parts; relations with other values are not used. */
	uint64_t check;
	uint64_t group_id[2]; /* as in struct netsync_io_relation */
	/*
	 * When the member began and ended (ns, as printed). The error of either time widens the
	 * span.
	 */
	int64_t start_ns, end_ns;
	uint32_t kind;		    /* enum netsync_io_relation_kind */
	uint32_t role;		    /* bits of enum netsync_io_role */
	uint32_t member;	    /* number of the member, such as its rank */
	uint32_t members;	    /* number of parts of the relation */
	int32_t step;		    /* step of the program in which the span began; -1 if unknown */
	char group[SPAN_NAME_SIZE]; /* name of the members together, for messages */
	char what[SPAN_NAME_SIZE];  /* kind of relation, such as "allreduce" */
};

/*
 * Functions that receive what readers find, with times as printed. Each returns 0. On failure, each
 * calls io_fail() and returns a negative value.
 */
struct io_sink {
	int (*packet)(struct trace *trace, const struct netsync_packet *pkt,
		      const struct observation_point *at);
	int (*clock)(struct trace *trace, const struct clock_event *clock);
	int (*span)(struct trace *trace, int64_t first_ns, int64_t last_ns);
	int (*part)(struct trace *trace, const struct span_part *part);
};

/* Sidecar files, which the recorder ("netsync record") writes next to the traces of a machine. */
enum sidecar { SIDECAR_NETNS_NAMES, SIDECAR_CLOCKS, SIDECAR_REALTIME, NUM_SIDECARS };

extern const char *const io_sidecar_names[NUM_SIDECARS];

/* A copy of a sidecar file from another machine. */
struct copied {
	char *path; /* path on that machine, for messages */
	char *bytes;
	size_t size, room; /* number of bytes used and allocated */
};

/*
 * The part of a trace that a process started by reading.c reads: the whole trace, or a share of its
 * streams.
 */
struct reading_share {
	struct trace *trace;
	struct reader_process *by;
	bool was_asked;	 /* whether a slice was requested */
	bool is_awaited; /* whether the caller waits for the slice */
	bool has_ended;
	bool has_warned; /* whether a warning about the current wait was given */
	bool was_begun;	 /* whether slices up to @read_ns were used */
	int64_t read_ns;
	/* Times of the packets that were received (ns, as printed); if hi < lo, there are none. */
	struct range packets;
	void *first; /* io_await_share() stores the first record here: @first_size bytes */
	size_t first_size;
};

/* Number of counts in struct trace_counts, which grow while a trace is read (stream/counts.c). */
#define TRACE_COUNTS 7

struct trace_counts {
	uint64_t of[TRACE_COUNTS];
};

struct trace {
	struct netsync_io *io;
	const struct trace_reader *reader;
	void *state;	 /* state that belongs to the reader */
	char *path;	 /* path under which the search found it */
	char *real_path; /* absolute path without symbolic links */
	uint64_t device; /* file system, as identified by stat(2), or 0 if not known */

	/* open() sets the following members. */
	char *host_name;
	char *own_name; /* host name that the trace contains, if the user gave another name */
	/*
	 * Name that distinguishes the clocks of a machine. NULL stands for LTTng's default clock or
	 * an unknown clock. If two traces have the same host_name but different clock names, they
	 * belong to different hosts.
	 */
	char *clock_name;
	bool has_clock_uuid;
	uint8_t clock_uuid[UUID_SIZE];
	int64_t epoch_ns;      /* time at which the clock shows zero (ns since 1970) */
	bool is_shifted;       /* whether printed times differ from the clock's readings */
	bool has_wall;	       /* netsync_io_trace.has_wall */
	int64_t wall_shift_ns; /* netsync_io_trace.wall_shift_ns */
	bool has_uuid;
	uint8_t uuid[UUID_SIZE];
	struct range range;   /* first and last time in all streams, as printed */
	uint64_t range_hash;  /* hash of the time ranges of all streams */
	struct range window;  /* requested time window, as printed, or RANGE_ALL without limits */
	const char *readable; /* netsync_io_trace.readable */
	bool is_grouped;      /* whether group() was called after the trace was added */
	uint32_t number;      /* index in netsync_io.traces, from io_make_hosts() on */
	bool is_remote;	      /* whether another process reads the trace: server @server */
	size_t server;
	/* Copies that the server has sent. NULL if there is no such file. */
	const struct copied *sidecars[NUM_SIDECARS];
	bool has_network;  /* whether there are event classes of network events */
	bool has_netns;	   /* whether some of these classes record the network namespace */
	bool has_unusable; /* whether some of these classes cannot be used; a warning was given */

	/* The following members are set while the trace is read. */
	struct io_host *host;
	struct netsync_io_trace info;
	uint32_t num_points;
	uint32_t max_points;   /* 0: no limit; all points beyond it count as one */
	struct io_part *parts; /* in the order of network namespaces */
	size_t num_parts;
	size_t part_room; /* number of parts allocated */
	/* All clock events. Parts that have had no packet yet will need these events. */
	struct clock_event *clocks;
	size_t num_clocks;
	size_t clock_room;	/* number of clock events allocated */
	uint64_t without_netns; /* number of packets without a namespace, if hosts are split */
	uint64_t out_of_range;	/* number of packets whose time was rejected */
	uint64_t unused; /* number of packets that the reader could not use; a warning was given */
	bool clock_is_late; /* whether a warning about clock events after packets was given */
	bool has_ended;	    /* whether read() has returned 0 */
	bool is_chosen;	    /* whether the processes that read the trace have been chosen */
	struct reading_share *shares;
	uint32_t num_shares;	  /* 0 if this process reads the trace */
	uint32_t share, of;	  /* in a reader process: number of its share, and of all shares */
	struct trace_counts sent; /* counts that were sent to the process that uses the trace */
};

/*
 * Number of bytes at the beginning of a file that are examined. Chosen to exceed what magic numbers
 * need. The magic number of tar is 257 bytes from the beginning.
 */
#define HEAD_SIZE 512

struct compression;

/* A file or directory that may be a trace. */
struct found {
	const char *path;
	const struct stat *st;
	const struct compression *compression; /* NULL if the file is not compressed */
	/*
	 * First bytes of the file. The bytes are decompressed if netsync was built with support for
	 * the compression.
	 */
	uint8_t head[HEAD_SIZE];
	size_t head_len;    /* number of bytes in @head, or 0 for a directory */
	const char *damage; /* reason why even these bytes cannot be decompressed, or NULL */
	bool is_claimed;    /* by a reader that does not read compressed files */
};

/* First bytes of all files of an OTF2 archive: the head of a chunk, and little-endian numbers. */
#define IO_OTF2_CHUNK "\3B"

/*
 * Explain why a file that no reader accepts is not a trace, and what to do (foreign.c). Return a
 * sentence without the path, which the caller frees. If the file's content or name is that of a
 * trace, capture or archive, set *looks_like. Return NULL if out of memory.
 */
char *io_explain_foreign(const struct found *found, bool *looks_like);

struct trace_reader {
	const char *format; /* name of the format in results and options */
	/* Ends of sentences about how to avoid lost events, and about what to record. */
	const char *avoids_loss;
	const char *to_record;
	/* Return whether a file or directory is a trace in this format. */
	bool (*claims)(const struct found *found);
	/* Whether the reader also reads compressed files, by io_open_plain() or unpacked_open(). */
	bool takes_compressed;
	/*
	 * Open the trace at trace->path and identify it. Return 1 if it can be read. If the trace
	 * contains no usable data, print a warning and return 0. On failure, call io_fail() and
	 * return a negative value. close() is called in all cases.
	 */
	int (*open)(struct trace *trace);
	/*
	 * A file may contain several hosts, of which open() uses the first one. Make @next, whose path
	 * is set, the trace of the host that follows the one of @trace. Return 1, 0 if there is none,
	 * or -ENOMEM. NULL if a file is of one host.
	 */
	int (*open_next)(const struct trace *trace, struct trace *next);
	/*
	 * Called after traces were added, before their hosts are used. If traces of this format do
	 * not contain the names of their hosts, compare all such traces and name the hosts. NULL if
	 * each trace contains a name. Return 0 or -ENOMEM. On another failure, call io_fail() and
	 * return a negative value.
	 */
	int (*group)(const struct netsync_io *io);
	/*
	 * Called once, when all traces are open and none has been read. Determine what depends on
	 * all traces together, such as the addresses of each host. NULL if not needed. Return 0. On
	 * failure, call io_fail() and return a negative value.
	 */
	int (*prepare)(struct netsync_io *io);
	/*
	 * Called once, before ahead() and read(). At most @most processes may read this trace at a
	 * time. Start more processes by io_start_share(). NULL if only one process can read a
	 * trace.
	 */
	void (*divide)(struct trace *trace, uint32_t most);
	/*
	 * Read until each stream is beyond @until_ns (as printed) or has ended. Return 1 if there
	 * are more data, or 0 if the whole trace has been read. On failure, call io_fail() and
	 * return a negative value.
	 */
	int (*read)(struct trace *trace, int64_t until_ns);
	/*
	 * Announce a later call of read() with this time, so that another machine can begin to
	 * read. Only a few announced calls are pending at a time. If NULL, reading.c may call
	 * read() in a child process, from the first call on.
	 */
	void (*ahead)(struct trace *trace, int64_t until_ns);
	/*
	 * Return whether the trace has no events up to this time, so that read() need not be
	 * called. If NULL, read() is always called.
	 */
	bool (*is_idle)(const struct trace *trace, int64_t until_ns);
	/*
	 * Return the file descriptor that open() has opened in this process for read(), or -1 if
	 * the file is not open in this process. NULL if read() opens the file.
	 */
	int (*file)(const struct trace *trace);
	/*
	 * Called once before all calls of ahead() and read() if only trace->window is requested.
	 * NULL if the reader cannot skip events outside of the window. io_add_packet() and similar
	 * functions drop such events anyway.
	 */
	void (*limit)(struct trace *trace);
	/*
	 * Explain the status of a process that io_start_share() has started and that ended early,
	 * possibly because the trace is damaged.
	 */
	const char *(*why_ended)(int status);
	void (*close)(struct trace *trace);
	/* The reader calls io_add_part(), so one process must read all traces. */
	bool has_parts;
	/*
	 * Implement netsync_io_read_events() for this format. NULL if the format contains only
	 * packets.
	 */
	int (*read_events)(const struct event_reading *reading);
};

/*
 * Return the first reader that claims a file or directory (find.c). If none does, or after an
 * error, return NULL. An error is stored in *@err.
 */
const struct trace_reader *io_find_reader(const struct netsync_io *io, struct found *found,
					  int *err);

extern const struct trace_reader ctf_reader;
extern const struct trace_reader tracedat_reader;
extern const struct trace_reader perf_reader;
extern const struct trace_reader pcap_reader;
extern const struct trace_reader kineto_reader;
extern const struct trace_reader flight_reader;
extern const struct trace_reader inspector_reader;
extern const struct trace_reader pftrace_reader;
extern const struct trace_reader retis_reader;
extern const struct trace_reader otlp_reader;
extern const struct trace_reader jaeger_reader;
extern const struct trace_reader zipkin_reader;
extern const struct trace_reader otf2_reader;

/* A host, which is one clock. The traces of a host are next to each other in netsync_io.traces. */
struct io_host {
	char *name; /* WORD_SLACK readable bytes follow */
	size_t name_len;
	struct trace *base; /* first trace, whose epoch all use; NULL if the host is only in texts */
	struct range range;  /* time range of the host's traces, in the time of @base (ns) */
	int64_t start_ns;    /* time at which reading starts, in the time of @base (ns) */
	struct range window; /* requested time window, in the time of @base (ns) */
	bool split;	     /* the host's network namespaces are hosts in its place */
	int number;	     /* number from netsync_add_host(), or -1 if the host was not added */
	size_t index;	     /* index among all hosts, in the order of names */
};

/*
 * Make hosts of traces and of the names in texts, and add them to netsync.h in the order of
 * names. The caller frees the array, even after an error.
 */
int io_make_hosts(struct netsync_io *io, struct io_host **hosts, size_t *num);
void io_free_hosts(struct io_host *hosts, size_t num);
bool io_is_same_host(const struct trace *a, const struct trace *b);
/*
 * Compute the time shift of a trace. Adding it to the trace's times gives times of the host's base.
 */
int io_bring_to_base(struct netsync_io *io, struct io_host *host, struct trace *trace);
/*
 * After reading, add the hosts that should have been split by network namespace but have no
 * packets.
 */
int io_register_other_hosts(struct netsync_io *io, struct io_host *hosts, size_t num);

/*
 * Functions of relate.c: declare that a host is one of several clocks of a machine; store a reading
 * of the host's clock; and relate the clocks when all readings have been stored. Each returns 0.
 * For a reading, -ENOMEM is also possible. On another failure, each calls io_fail() and returns a
 * negative value.
 */
int io_add_machine_clock(struct netsync_io *io, const struct io_host *host);
int io_keep_clock_reading(struct netsync_io *io, const struct netsync_clock_point *point);
int io_relate_clocks(struct netsync_io *io);
void io_free_machine_clocks(struct netsync_io *io);

/*
 * Functions of utc.c: store a reading of a clock that a text contains, with the bound on the clock's
 * difference from UTC, or 0 if this bound is unknown; and make bounds for intervals of time when all
 * readings have been stored. Each returns 0 or -ENOMEM; the second one calls io_fail().
 */
int io_keep_utc_reading(struct netsync_io *io, const struct netsync_clock_point *point,
			int64_t utc_within_ns);
int io_end_utc_readings(struct netsync_io *io);
void io_free_utc_readings(struct netsync_io *io);

/*
 * Find or add the part of a trace for a network namespace. On failure, call io_fail() and return
 * NULL.
 */
struct io_part *io_find_part(struct trace *trace, uint32_t netns);
/* printf() format of a namespace's host name: the name of the machine and the inode number. */
#define NETNS_PREFIX "netns-"
#define NETNS_HOST "%.*s/" NETNS_PREFIX "%u"

/*
 * Open the nearest sidecar file of this kind (sidecar.c). Search from the trace's directory up to
 * the machine's directory. Return NULL if there is no such file. Otherwise, the caller frees @path.
 */
struct disk_file *io_open_sidecar(const struct trace *trace, enum sidecar which, char **path);

/*
 * Find the name that a namespace had when the trace was recorded (netns.c). Return false if the
 * name is not known.
 */
#define NETNS_NAME_SIZE 128 /* bytes, with the terminating NUL; chosen: container ids have 64 */
bool io_find_netns_name(const struct trace *trace, uint32_t netns, char name[NETNS_NAME_SIZE]);

/*
 * Read texts twice: once to find the names of hosts, and once to use the lines. *@done counts steps
 * of the progress. Each pass has TEXT_STEPS steps. Chosen as NUM_SLICES for a trace.
 */
#define TEXT_STEPS 1024
int io_find_hosts_in_texts(struct netsync_io *io, uint64_t *done);
int io_read_texts(struct netsync_io *io, uint64_t *done);
/* Push the clock events of the sidecar files with clock readings. */
int io_read_sidecar_clocks(struct netsync_io *io, const struct io_host *hosts, size_t num);
/* Pass all packets in texts to netsync_io.observe(). */
int io_observe_texts(struct netsync_io *io);
void io_free_text(struct text_input *text);

/* Close a trace's files. The results of reading stay in struct trace. */
void io_close_trace(struct trace *trace);
void io_free_trace(struct trace *trace);

/*
 * Append an open trace to netsync_io.traces. Unless @name is NULL, it becomes the name of the
 * trace's host. Return 1. On failure, call io_fail() and return a negative value.
 */
int io_keep_trace(struct netsync_io *io, struct trace *trace, const char *name);

/* Return the reader of the format with this name, or NULL if there is none. */
const struct trace_reader *io_find_format(const char *format);

/* Return whether this process reads the messages and packets in texts, or this trace (part.c). */
bool io_reads_texts(const struct netsync_io *io);
bool io_reads_trace(const struct netsync_io *io, const struct trace *trace);
/* Check that one part reads all traces of each host. Return 0 or the result of io_fail(). */
int io_check_part_of_hosts(struct netsync_io *io);
/*
 * Push a packet or clock event to the process that distributes the events of all parts. Without
 * parts, push it to netsync.h. Return the error of this call.
 */
int io_push_packet(struct netsync_io *io, const struct netsync_packet *pkt);
int io_push_clock(struct netsync_io *io, const struct netsync_clock_point *point);
/*
 * Report that this process has read a slice. Set *@done to the last slice that all parts have read.
 * Return 0 or the result of io_fail().
 */
int io_end_slice(struct netsync_io *io, unsigned int slice, unsigned int slices,
		 unsigned int *done);
/* Report that this process has read all its traces. Return 0, or a negative value. */
int io_end_part(struct netsync_io *io);

/*
 * Guess each host's time at the start of the longest trace (window.c). Return the length of the
 * longest trace (ns).
 */
uint64_t io_set_starts(struct io_host *hosts, size_t num);
/*
 * Set the windows of hosts and their traces. Return 0. On failure, call io_fail() and return a
 * negative value.
 */
int io_set_windows(struct netsync_io *io, struct io_host *hosts, size_t num);
/* Return whether a time of the host with this number is in the host's window. */
bool io_is_time_wanted(const struct netsync_io *io, uint32_t host, int64_t time_ns);

/*
 * reading.c: io_read_slice() does what trace_reader.read() does, in the trace's reader process if
 * it has one. io_read_ahead() announces the call; only announced calls start processes that read
 * several traces. These processes begin to read when io_begin_reading() is called.
 * io_read_slice() and io_read_ahead() are called with the same times in the same order.
 */
void io_read_ahead(struct trace *trace, int64_t until_ns);
void io_begin_reading(struct netsync_io *io);
int io_read_slice(struct trace *trace, int64_t until_ns);
void io_stop_reading(struct netsync_io *io);
/*
 * Start a process that reads only this trace, or a share of it. The process must send one
 * STREAM_OTHER record and then call io_read_turns(). Return 0 or a negative errno value.
 */
int io_start_share(struct trace *trace, const struct worker_task *task, const void *data);
/*
 * Wait for the STREAM_OTHER record of a process that io_start_share() started. Return 1, or 0 if
 * the process has ended. On failure, call io_fail() and return a negative value.
 */
int io_await_share(struct trace *trace, uint32_t share, void *record, size_t size);
/* Stop the process that was started last. Return its status like worker_stop(). */
int io_stop_share(struct trace *trace);
void io_release_shares(struct trace *trace);
/*
 * Called in a reader process: read when requested, all traces or only those of @own, until reading
 * fails or the parent process is gone.
 */
void io_read_turns(struct netsync_io *io, struct trace *own);
/*
 * Read one slice, and send the findings under this trace number. Return 0. On failure, call
 * io_fail() and return a negative value.
 */
int io_read_turn(struct trace *trace, uint32_t number, const struct stream_turn *turn);
/* Return the number of traces that are read at a time: the given number, or one per processor. */
unsigned int io_get_jobs(const struct netsync_io *io);

/* If traces were added, call group() of all readers. Return 0 or a negative value. */
int io_group_traces(const struct netsync_io *io);
/*
 * open.c: open files for readers. Data from a pipe, and compressed data that is read at random
 * positions, is copied to an unnamed file, which is kept for later calls with the same path.
 */
/* Open a file, which may be compressed. Return NULL and set errno on failure. */
struct disk_file *io_open_file(const struct netsync_io *io, const char *path);
/* Return the process that reads the files of this object. */
struct disk *io_get_disk(const struct netsync_io *io);
/*
 * Return whether the path stands for an open file, which must be read through its file descriptor.
 */
bool io_is_open_file(const char *path);
/* Get the status, as stat(2), of the file that io_open_file() opens. */
int io_stat_file(const struct netsync_io *io, const char *path, struct stat *st);
/*
 * Open a file that may be compressed, to be read by unpacked_read(). Return 0, or a negative value
 * after io_fail(). Call unpacked_close() in both cases.
 */
int io_open_unpacked(struct netsync_io *io, const char *path, struct unpacked *file);
/*
 * Open a file. If necessary, decompress it to a copy. Return 0. On failure, call io_fail(), set
 * *@opened to NULL, and return a negative value.
 */
int io_open_plain(struct netsync_io *io, const char *path, struct disk_file **opened);
/*
 * Store all data from @fd under the path @path: copy the data of a pipe, and keep a regular file
 * open. Return 0. On failure, call io_fail() and return a negative value.
 */
int io_keep_open(struct netsync_io *io, const char *path, int fd);
/* Return the path under which the data of this pipe or open file are stored, or NULL. */
const char *io_find_kept(const struct netsync_io *io, const struct stat *st);
/* Return the path of the text input that has this file status, or NULL. */
const char *io_find_text(const struct netsync_io *io, const struct stat *st);
/*
 * Store the file descriptors of the kept files in @files, for workers. Return their number,
 * io->num_kept.
 */
size_t io_list_kept_files(const struct netsync_io *io, int *files);
void io_free_kept(struct netsync_io *io);
/*
 * printf() format of the error for unsupported compression: the path, and the compression's name
 * and command.
 */
#define NOT_BUILT_IN \
	"%s: it is compressed with %s, and this netsync was built without support for it; decompress it first (%s)."

/* Arguments of netsync_io_copy_capture() and the other functions that copy a file. */
struct copy_task {
	struct netsync_io *io;
	const char *from; /* path of the original */
	const char *to;
};

/*
 * Create the copy of a file with this mode, for writing. Return a file descriptor. On failure, call
 * io_fail() and return a negative value.
 */
int io_create_copy(const struct copy_task *task, mode_t mode);

/*
 * Create the copy of a file with the mode of the original, set *@out to a stream for it while
 * @write(@copy) writes it, and close it. Return the result of @write. On other failures, call
 * io_fail() and return a negative value.
 */
int io_write_copy(const struct copy_task *task, FILE **out, int (*write)(void *copy), void *copy);

/* Call prepare() of all readers. */
int io_prepare_readers(struct netsync_io *io);

/*
 * If there are more jobs than the @ours traces that this process reads, divide the jobs among the
 * traces.
 */
void io_divide_traces(struct netsync_io *io, size_t ours);

/*
 * Replace a name by its utf8_escape() form, because terminals interpret control characters, and
 * traces are not trusted. Return 0. If out of memory, set the name to NULL and return -ENOMEM.
 */
int io_make_printable(char **name);

/* Fill netsync_io.infos after reading. Return 0 or -ENOMEM. */
int io_make_infos(struct netsync_io *io);

/*
 * Warn that the process that reads a trace ended early because of @why. @which (or the trace, if it
 * is empty) was read only up to the last of @packets (or not at all, if hi < lo). Return the result
 * of io_add_span().
 */
int io_warn_broken_off(struct trace *trace, const struct range *packets, const char *which,
		       const char *why);

/* Report how many steps are done. Return 0, or a negative value to stop. */
int io_report_progress(struct netsync_io *io, uint64_t done);

/*
 * Check that a trace or text can still be added. Return 0. On failure, call io_fail() and return a
 * negative value.
 */
int io_check_can_add(struct netsync_io *io, const char *what);

/* Store an error sentence for netsync_io_error(). Return @err. */
int io_fail(struct netsync_io *io, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int io_fail_no_memory(struct netsync_io *io);
/* Store an error sentence for the negative errno @err of opening or reading a file. Return @err. */
int io_fail_file(struct netsync_io *io, const char *path, int err);
/*
 * Store an error for a file of @format that cannot be read. The reason is @problem (a clause), or
 * @err if @problem is NULL. If the file was not opened (@from is NULL), the error was already
 * stored. Return the negative errno value.
 */
int io_fail_contents(struct netsync_io *io, const char *path, const struct disk_file *from,
		     const char *format, const char *problem, int err);
void io_forget_error(struct netsync_io *io);
void io_warn(struct netsync_io *io, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Readers pass what they find to the following functions, with times as printed. The functions
 * return 0. On failure, they call io_fail() and return a negative value.
 */
/* Add a packet that was seen at pkt->time_ns. */
int io_add_packet(struct trace *trace, struct netsync_packet *pkt,
		  const struct observation_point *at);
/* Add readings of several clocks at one instant. */
int io_add_clock(struct trace *trace, const struct clock_event *clock);
/*
 * Add readings from a sidecar file. Unlike other readings, they are used even outside of the
 * trace's window.
 */
int io_add_sidecar_clock(struct trace *trace, const struct clock_event *clock);
/* Add a clock event, or a packet like io_add_packet(), which changes the packet. */
int io_add_event(struct trace *trace, struct event_seen *seen);
/* Report that the trace has events, of any kind, from @first_ns to @last_ns. */
int io_add_span(struct trace *trace, int64_t first_ns, int64_t last_ns);

/* Add a part of a relation between spans. */
int io_add_part(struct trace *trace, const struct span_part *part);

/* Format as printf() does, into allocated memory. Return NULL if out of memory. */
char *io_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Return the name of a file in a path, without the extensions of compression and then @ends, each of
 * which is removed once, in this order; NULL ends @ends. Return NULL if out of memory.
 */
char *io_strip_extensions(const char *path, const char *const *ends);

#endif
