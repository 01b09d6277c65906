/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interface of trace readers, and what the files that run the readers share.
 *
 *	paths -> find.c: struct trace -> hosts.c: struct io_host
 *	      -> io.c: a slice of each trace in turn, by trace_reader.read()
 *	      -> push.c: packets, clocks and spans -> netsync.h, or a struct io_sink
 *
 * A reader is one struct trace_reader. Its times are those that the trace prints; it
 * knows neither hosts nor shifts.
 */
#ifndef NETSYNC_IO_PRIVATE_H
#define NETSYNC_IO_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "io/disk/disk.h"
#include "io/names.h"
#include "netsync-io.h"
#include "util/number.h"

#define UUID_SIZE 16 /* bytes; RFC 9562 */
/*
 * Limit of hosts that are named in text files, and of network namespaces that are hosts. If a
 * file has more names, they are random, or another column was used by mistake. Chosen: the
 * largest machines have this many namespaces.
 */
#define IO_MAX_HOSTS 10000
/*
 * Entries of netsync_io.recent, a cache in front of the tree of observation points. Chosen: few
 * hosts record packets at more points; further entries cost only 8 bytes each.
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
struct kept_file;

struct netsync_io {
	struct netsync *ns;
	netsync_io_warn_func warn;
	void *warn_data;
	char *error;
	struct trace **traces;
	size_t num_traces;
	struct netsync_io_trace *infos; /* after reading: of traces, or of their parts */
	size_t num_infos;
	struct text_input **texts;
	size_t num_texts;
	/* Names of hosts in texts and of network namespaces -> numbers of hosts. */
	struct name_table hosts;
	bool split_netns;   /* network namespaces are hosts */
	unsigned int jobs;  /* traces read at a time; 0: one for each processor */
	int64_t timeout_ms; /* the longest wait without progress; 0: the default */
	struct disk *disk;  /* reads files */
	uint64_t *stuck;    /* file systems that were given up, as struct trace.device */
	size_t num_stuck;
	struct left_out *left_out; /* what could not be opened, and was skipped */
	size_t num_left_out;
	struct netsync_io_window window; /* all 0: everything is read */
	/*
	 * Windows for text files, by host number and in each host's own time. NULL means no
	 * limits.
	 */
	struct range *windows;
	size_t num_windows;
	bool was_read;
	struct own_addresses_list *owns; /* which machine has which address: direction.h */
	struct live_input *live;	 /* live sessions; NULL if all traces are recorded */
	/*
	 * Called with each packet instead of netsync_push_packet(), unless NULL. Packets of
	 * traces have host 0. Return 0, or a negative value after io_fail().
	 */
	int (*observe)(struct netsync_io *io, const struct netsync_packet *pkt);
	void *observe_data;
	/*
	 * Receives the contents of traces (not of text files). If NULL, they are pushed to
	 * netsync.h.
	 */
	const struct io_sink *sink;
	struct netsync_io_part *part; /* others read the rest; NULL if all is read here */
	bool part_ended;	      /* netsync_io_part.end() is being called */
	/* Hosts that stand for one of several clocks of a machine (relate.c). */
	struct clock_of_machine *machine_clocks;
	size_t num_machine_clocks;
	struct reader_process **processes; /* that read traces: reading.c */
	size_t num_processes;
	struct served **served; /* traces that other processes read: remote/ */
	size_t num_served;
	struct kept_file *kept; /* open.c: copies of files that cannot be read as they are */
	size_t num_kept;
	struct netsync_io *keeper; /* which keeps them for this one; NULL if this process does */
	void *points;		   /* tsearch() tree of struct numbered_point */
	uint32_t num_points;
	struct numbered_point *recent[IO_RECENT_POINTS]; /* by a hash of the point */
	netsync_io_progress_func progress;
	void *progress_data;
};

/* All times. */
#define RANGE_ALL ((struct range){ INT64_MIN, INT64_MAX })

static inline bool range_is_all(const struct range *range)
{
	return range->lo == INT64_MIN && range->hi == INT64_MAX;
}

static inline bool range_contains(const struct range *range, int64_t time_ns)
{
	return time_ns >= range->lo && time_ns <= range->hi;
}

/* Extend a range of times (ns, as the trace prints them); an empty one has hi < lo. */
static inline void range_extend(struct range *range, int64_t lo, int64_t hi)
{
	if (range->hi < range->lo)
		*range = (struct range){ lo, hi };
	range->lo = min64(range->lo, lo);
	range->hi = max64(range->hi, hi);
}

/* The packets of a trace in one network namespace that is a host of its own. */
struct io_part {
	uint32_t netns;	  /* inode number of the namespace, as in /proc/PID/ns/net */
	uint32_t host;	  /* number of the host */
	uint64_t packets; /* pushed */
};

/* Clocks in a clock event: CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_TAI. */
#define CLOCKS_SHOWN 3

/* Readings of several clocks at one instant: the trace's clock and CLOCK_MONOTONIC_RAW. */
struct clock_event {
	int64_t time_ns; /* trace's clock, as printed */
	/* Readings, of which one is the trace's clock. */
	int64_t shown_ns[CLOCKS_SHOWN];
	int64_t raw_ns;	   /* reading of CLOCK_MONOTONIC_RAW */
	int64_t within_ns; /* bound on the error of raw_ns at time_ns */
	double rate;	   /* trace's clock per raw time, from then on; 0 if not known */
	uint32_t number;   /* one more than that of the event before; 0 if none */
	bool was_set;	   /* trace's clock, at this instant */
};

/*
 * An observation point: where on a host a packet was seen. A packet passes each point
 * once. The numbers are the reader's own, and compared within one trace only.
 */
struct observation_point {
	uint32_t place;	 /* in the network stack: which tracepoint or interface */
	uint32_t buffer; /* tracer's buffer, where several record the same packet */
	uint64_t device; /* network device; 0: the place belongs to none */
};

/* An event that concerns us, as readers and their workers hand it on. */
struct event_seen {
	bool is_clock;
	union {
		struct {
			struct netsync_packet pkt; /* without host and point */
			struct observation_point at;
		};
		struct clock_event clock;
	};
};

/*
 * Takes what readers find, with times as printed. Functions return 0, or negative after
 * io_fail().
 */
struct io_sink {
	int (*packet)(struct trace *trace, const struct netsync_packet *pkt,
		      const struct observation_point *at);
	int (*clock)(struct trace *trace, const struct clock_event *clock);
	int (*span)(struct trace *trace, int64_t first_ns, int64_t last_ns);
};

/* Sidecar files, which the recorder ("netsync record") writes next to the traces of a machine. */
enum sidecar { SIDECAR_NETNS_NAMES, SIDECAR_CLOCKS, SIDECAR_REALTIME, NUM_SIDECARS };

extern const char *const io_sidecar_names[NUM_SIDECARS];

/* A copy of such a file from another machine. */
struct copied {
	char *path; /* on that machine, for messages */
	char *bytes;
	size_t size, room; /* bytes used and allocated */
};

/* What of a trace a process of reading.c reads: all, or its share of the streams. */
struct reading_share {
	struct trace *trace;
	struct reader_process *by;
	bool was_asked;	 /* for a slice */
	bool is_awaited; /* the slice whose turn it is */
	bool has_ended;
	bool has_warned; /* of the current wait */
	bool was_begun;	 /* slices up to @read_ns were taken */
	int64_t read_ns;
	struct range packets; /* times of packets that came, ns as printed; hi < lo: none */
	void *first;	      /* io_await_share(): room for the first record, of this size */
	size_t first_size;
};

/* Counts of a trace that reading it increases: stream/counts.c. */
#define TRACE_COUNTS 7

struct trace_counts {
	uint64_t of[TRACE_COUNTS];
};

struct trace {
	struct netsync_io *io;
	const struct trace_reader *reader;
	void *state;	 /* the reader's own */
	char *path;	 /* as the search found it */
	char *real_path; /* absolute, without links */
	uint64_t device; /* file system, as stat(2) numbers it; 0 if not known */

	/* Filled by open(). */
	char *host_name;
	char *own_name; /* host's name in the trace, if the user gave one */
	/*
	 * Name that distinguishes the clocks of a machine. NULL means LTTng's default clock, or
	 * that the clock is not known. Traces with one host_name but different clock names
	 * belong to different hosts.
	 */
	char *clock_name;
	bool has_clock_uuid;
	uint8_t clock_uuid[UUID_SIZE];
	int64_t epoch_ns;      /* time of the clock's zero, ns since 1970 */
	bool is_shifted;       /* times are not those that the clock showed */
	bool has_wall;	       /* netsync_io_trace.has_wall, and */
	int64_t wall_shift_ns; /* .wall_shift_ns */
	bool has_uuid;
	uint8_t uuid[UUID_SIZE];
	struct range range;   /* first and last time of all streams, as printed */
	uint64_t range_hash;  /* hash of the ranges of the single streams */
	struct range window;  /* what is wanted, as printed; RANGE_ALL: everything */
	const char *readable; /* netsync_io_trace.readable */
	bool is_grouped;      /* group() was called since it was added */
	uint32_t number;      /* in netsync_io.traces, from io_make_hosts() on */
	bool is_remote;	      /* read by another process, the server of this number, */
	size_t server;
	/* which sent these copies; NULL if there is no such file. */
	const struct copied *sidecars[NUM_SIDECARS];
	bool has_network;  /* has event classes of network events, */
	bool has_netns;	   /* some of which have the network namespace */
	bool has_unusable; /* has some that cannot be used, as a warning said */

	/* Filled while the trace is read. */
	struct io_host *host;
	struct netsync_io_trace info;
	uint32_t num_points;
	uint32_t max_points;   /* all further points are counted as one; 0 if no limit */
	struct io_part *parts; /* in the order of netns */
	size_t num_parts;
	size_t part_room; /* parts allocated */
	/* All clock events, kept for parts of which no packet was seen yet. */
	struct clock_event *clocks;
	size_t num_clocks;
	size_t clock_room;	/* clock events allocated */
	uint64_t without_netns; /* packets without a namespace where hosts are split */
	uint64_t out_of_range;	/* packets whose time netsync_push_packet() refused */
	uint64_t unused;	/* packets that the reader could not use, and warned about */
	bool clock_is_late;	/* the warning about clock events after packets was given */
	bool has_ended;		/* read() has returned 0 */
	bool is_chosen;		/* the processes that read it were chosen */
	struct reading_share *shares;
	uint32_t num_shares;	  /* 0 if this process reads the trace */
	uint32_t share, of;	  /* in a process that reads a share: its number, and of how many */
	struct trace_counts sent; /* to the process that uses what this one reads */
};

/*
 * Number of bytes at the beginning of a file that are examined. Chosen: more than magic numbers
 * need; tar has its magic number 257 bytes from the beginning.
 */
#define HEAD_SIZE 512

struct compression;

/* A file or directory that may be a trace. */
struct found {
	const char *path;
	const struct stat *st;
	const struct compression *compression; /* NULL if it is not compressed */
	/* First bytes of a file, decompressed if a library for that is built in. */
	uint8_t head[HEAD_SIZE];
	size_t head_len;    /* bytes there are of these; 0: a directory */
	const char *damage; /* why not even these can be decompressed; NULL if they can */
	bool is_claimed;    /* by a reader that does not take compressed files */
};

/*
 * foreign.c: explain why a file that no reader accepts is not a trace, and what to do, in a
 * sentence without the path, to be released with free(). Set *looks_like if its content or name
 * is that of a trace, capture or archive. Return NULL if out of memory.
 */
char *io_explain_foreign(const struct found *found, bool *looks_like);

struct trace_reader {
	const char *format; /* name, as in results and options */
	/* Ends of sentences: how to avoid lost events, and what to record. */
	const char *avoids_loss;
	const char *to_record;
	/* Is a file or directory a trace of this format? */
	bool (*claims)(const struct found *found);
	/* It reads compressed files as well, by io_open_plain() or unpacked_open(). */
	bool takes_compressed;
	/*
	 * Open the trace at trace->path and identify it. Return 0 if it contains no usable
	 * data, after a warning; 1 if it can be read; or a negative value after io_fail().
	 * close() is called in every case.
	 */
	int (*open)(struct trace *trace);
	/*
	 * Called when traces were added, before their hosts are used: name the hosts of traces
	 * that do not contain a name, by comparing all of these traces. NULL if each trace
	 * contains a name. Return 0, -ENOMEM, or a negative value after io_fail().
	 */
	int (*group)(const struct netsync_io *io);
	/*
	 * Called once, when all traces are open and none was read: determine what requires all
	 * traces together, such as which host has which address. NULL if not needed. Return 0,
	 * or a negative value after io_fail().
	 */
	int (*prepare)(struct netsync_io *io);
	/*
	 * Called once, before ahead() and read(): up to @most processes may read this trace at
	 * a time. NULL if only one process can read a trace; otherwise open() has started
	 * another one by io_start_share().
	 */
	void (*divide)(struct trace *trace, uint32_t most);
	/*
	 * Read until all streams are past @until_ns (as printed) or have ended. Return 1 if
	 * there is more data; 0 if the whole trace was read; or a negative value after
	 * io_fail().
	 */
	int (*read)(struct trace *trace, int64_t until_ns);
	/*
	 * Announce a call of read() with this time, so that another machine can begin to read.
	 * Only a few announced calls are outstanding. If NULL, reading.c may call read() in a
	 * child process, from the first call on.
	 */
	void (*ahead)(struct trace *trace, int64_t until_ns);
	/*
	 * Does the trace contain no events up to this time, so that read() need not be called
	 * for it? If NULL, read() is always called.
	 */
	bool (*is_idle)(const struct trace *trace, int64_t until_ns);
	/*
	 * Return the file descriptor that open() has opened in this process for read(), or -1
	 * if the file is not open in this process. NULL if read() opens the file.
	 */
	int (*file)(const struct trace *trace);
	/*
	 * Called once before all calls of ahead() and read(), if only trace->window is wanted.
	 * io_add_packet() and similar functions drop events outside the window. NULL if the reader
	 * cannot skip them.
	 */
	void (*limit)(struct trace *trace);
	/*
	 * Explain the status of a process of io_start_share() that has ended, which a damaged
	 * trace may cause.
	 */
	const char *(*why_ended)(int status);
	void (*close)(struct trace *trace);
	/*
	 * Implements netsync_io_read_events() for this format. NULL if the format contains only
	 * packets.
	 */
	int (*read_events)(const struct event_reading *reading);
};

/*
 * Return the first reader that claims a file or directory (find.c). Return NULL if no reader
 * claims it, or after an error, which is then in *@err.
 */
const struct trace_reader *io_find_reader(const struct netsync_io *io, struct found *found,
					  int *err);

extern const struct trace_reader ctf_reader;
extern const struct trace_reader tracedat_reader;
extern const struct trace_reader perf_reader;
extern const struct trace_reader pcap_reader;

/* A host: one clock. The traces of a host are adjacent in netsync_io.traces. */
struct io_host {
	char *name; /* with WORD_SLACK readable bytes behind it */
	size_t name_len;
	struct trace *base;  /* first trace, whose epoch all have; NULL if in texts only */
	struct range range;  /* of its traces, ns in time of the base */
	int64_t start_ns;    /* where reading starts, in time of the base */
	struct range window; /* what is wanted, in time of the base */
	bool split;	     /* network namespaces are hosts instead */
	int number;	     /* by netsync_add_host(); -1 if not a host itself */
	size_t index;	     /* among all, in the order of names */
};

/*
 * Make hosts of traces and of the names in texts, and add them to netsync.h in the order
 * of names. The caller frees the array in every case.
 */
int io_make_hosts(struct netsync_io *io, struct io_host **hosts, size_t *num);
void io_free_hosts(struct io_host *hosts, size_t num);
bool io_is_same_host(const struct trace *a, const struct trace *b);
/* Compute the shift of a trace: its times + shift are times of the host's base. */
int io_bring_to_base(struct netsync_io *io, struct io_host *host, struct trace *trace);
/* After reading, add hosts to be split by network namespace that have no packets. */
int io_register_other_hosts(struct netsync_io *io, struct io_host *hosts, size_t num);

/*
 * relate.c: declare that a host is one of several clocks of a machine; keep a reading of it;
 * relate the clocks when all readings were kept. Return 0, -ENOMEM (for a reading), or a
 * negative value after io_fail().
 */
int io_add_machine_clock(struct netsync_io *io, const struct io_host *host);
int io_keep_clock_reading(struct netsync_io *io, const struct netsync_clock_point *point);
int io_relate_clocks(struct netsync_io *io);
void io_free_machine_clocks(struct netsync_io *io);

/*
 * Find or add a trace's part for a network namespace. On failure, call io_fail() and return
 * NULL.
 */
struct io_part *io_find_part(struct trace *trace, uint32_t netns);
/* printf() format of a namespace's name as a host: the machine's name, and the inode. */
#define NETNS_PREFIX "netns-"
#define NETNS_HOST "%.*s/" NETNS_PREFIX "%u"

/*
 * Open the nearest file of this kind in the trace's directory or above, up to the machine's
 * directory (sidecar.c). Return NULL if there is none. Otherwise the caller frees @path.
 */
struct disk_file *io_open_sidecar(const struct trace *trace, enum sidecar which, char **path);

/*
 * Find the name that a namespace had when it was recorded (netns.c). Return false if the name
 * is not known.
 */
#define NETNS_NAME_SIZE 128 /* bytes with the 0; chosen: ids of containers have 64 */
bool io_find_netns_name(const struct trace *trace, uint32_t netns, char name[NETNS_NAME_SIZE]);

/*
 * Texts are read twice: for the hosts in them, and for their lines. *@done counts steps
 * of progress, TEXT_STEPS in each of the two (chosen: as NUM_SLICES for a trace).
 */
#define TEXT_STEPS 1024
int io_find_hosts_in_texts(struct netsync_io *io, uint64_t *done);
int io_read_texts(struct netsync_io *io, uint64_t *done);
/* Push clock events in the sidecar files with clock readings. */
int io_read_sidecar_clocks(struct netsync_io *io, const struct io_host *hosts, size_t num);
/* Call netsync_io.observe with all packets in texts. */
int io_observe_texts(struct netsync_io *io);
void io_free_text(struct text_input *text);

/* Close a trace's files; the results of reading stay in struct trace. */
void io_close_trace(struct trace *trace);
void io_free_trace(struct trace *trace);

/*
 * Append an opened trace to netsync_io.traces, with @name as the name of its host unless @name
 * is NULL. Return 1, or a negative value after io_fail().
 */
int io_keep_trace(struct netsync_io *io, struct trace *trace, const char *name);

/* Return the reader of the format with this name, or NULL if there is none. */
const struct trace_reader *io_find_format(const char *format);

/* part.c: are messages and packets of texts read here, is a trace? */
bool io_reads_texts(const struct netsync_io *io);
bool io_reads_trace(const struct netsync_io *io, const struct trace *trace);
/* Is each host read by one part? 0, or io_fail(). */
int io_check_part_of_hosts(struct netsync_io *io);
/*
 * Push a packet or clock event to the process that distributes the events of all parts, if any,
 * and otherwise to netsync.h. Return its error.
 */
int io_push_packet(struct netsync_io *io, const struct netsync_packet *pkt);
int io_push_clock(struct netsync_io *io, const struct netsync_clock_point *point);
/*
 * A slice was read: *@done are those that were read everywhere. Return 0, or the result of
 * io_fail().
 */
int io_end_slice(struct netsync_io *io, unsigned int slice, unsigned int slices,
		 unsigned int *done);
/* All was read here: 0, or negative. */
int io_end_part(struct netsync_io *io);

/*
 * window.c: guess each host's time at the start of the longest trace. Return the length of that
 * (ns).
 */
uint64_t io_set_starts(struct io_host *hosts, size_t num);
/* Set the windows of hosts and their traces. Return 0, or a negative value after io_fail(). */
int io_set_windows(struct netsync_io *io, struct io_host *hosts, size_t num);
/* Does a time of a host, by its number, lie in its window? */
bool io_is_time_wanted(const struct netsync_io *io, uint32_t host, int64_t time_ns);

/*
 * reading.c: io_read_slice() is trace_reader.read(), in a process if there is one for the
 * trace; io_read_ahead() announces it, which alone starts processes that read several traces;
 * these begin to read when io_begin_reading() is called. The first two are called with the
 * same times in the same order.
 */
void io_read_ahead(struct trace *trace, int64_t until_ns);
void io_begin_reading(struct netsync_io *io);
int io_read_slice(struct trace *trace, int64_t until_ns);
void io_stop_reading(struct netsync_io *io);
/*
 * Start a process that reads only this trace, or a share of it: its task sends one record
 * STREAM_OTHER, and calls io_read_turns(). Return 0 or a negative errno value.
 */
int io_start_share(struct trace *trace, const struct worker_task *task, const void *data);
/*
 * Wait for that record of a process. Return 1; 0 if the process has ended; or a negative value
 * after io_fail().
 */
int io_await_share(struct trace *trace, uint32_t share, void *record, size_t size);
/* Stop the process that was started last. Return its status, as worker_stop(). */
int io_stop_share(struct trace *trace);
void io_release_shares(struct trace *trace);
/*
 * In a process that reads: read the turns of all traces, or only those of @own, until this
 * fails, or until the process that started this one is gone.
 */
void io_read_turns(struct netsync_io *io, struct trace *own);
/*
 * Read a turn, and send what is found with this number. Return 0, or a negative value after
 * io_fail().
 */
int io_read_turn(struct trace *trace, uint32_t number, const struct stream_turn *turn);
/* Traces that are read at a time: those given, or one for each processor. */
unsigned int io_get_jobs(const struct netsync_io *io);

/* Call group() of all readers, if traces were added. Return 0, or a negative value. */
int io_group_traces(const struct netsync_io *io);
/*
 * open.c: open files for readers. Data from a pipe, and compressed data that is read at random
 * positions, is copied to an unnamed file, which is kept for later calls with the same path.
 */
/* Open a file, which may be compressed. Return NULL and set errno on failure. */
struct disk_file *io_open_file(const struct netsync_io *io, const char *path);
/* The reader process of this object's files. */
struct disk *io_get_disk(const struct netsync_io *io);
/* Is the path the name of an open file, which must be read through its descriptor? */
bool io_is_open_file(const char *path);
/* Get the status of the file that io_open_file() opens, as stat(2). */
int io_stat_file(const struct netsync_io *io, const char *path, struct stat *st);
/*
 * Open a file, and decompress it to a copy if needed. Return 0, or a negative value after
 * io_fail(), with *@opened set to NULL.
 */
int io_open_plain(struct netsync_io *io, const char *path, struct disk_file **opened);
/*
 * Keep all data from @fd as the file @path: data from a pipe as a copy, a regular file as it
 * is. Return 0, or a negative value after io_fail().
 */
int io_keep_open(struct netsync_io *io, const char *path, int fd);
/*
 * Return the path of the kept file that came from this pipe or open file, or NULL if there is
 * none.
 */
const char *io_find_kept(const struct netsync_io *io, const struct stat *st);
/* Return the path of the text input that is this file or pipe, or NULL if there is none. */
const char *io_find_text(const struct netsync_io *io, const struct stat *st);
/* Write the kept files to @files, for workers. Return their number, io->num_kept. */
size_t io_list_kept_files(const struct netsync_io *io, int *files);
void io_free_kept(struct netsync_io *io);
/* printf() format of that: the path, and the compression's name and command. */
#define NOT_BUILT_IN \
	"%s: it is compressed with %s, and this netsync was built without support for it; decompress it first (%s)."

/* Arguments of netsync_io_copy_capture() and the other functions that copy a file. */
struct copy_task {
	struct netsync_io *io;
	const char *from; /* path of the original */
	const char *to;
};

/*
 * Create the copy of a file with this mode, to be written. Return a negative value after
 * io_fail().
 */
int io_create_copy(const struct copy_task *task, mode_t mode);

/* Call prepare() of all readers. */
int io_prepare_readers(struct netsync_io *io);

/* If there are more jobs than traces read by this process, divide the jobs among the traces. */
void io_divide_traces(struct netsync_io *io, size_t ours);

/*
 * Replace a name by utf8_escape() of it: terminals obey control characters, and traces
 * are not trusted. 0; or -ENOMEM, and the name is NULL.
 */
int io_make_printable(char **name);

/* Fill netsync_io.infos after reading. Return 0 or -ENOMEM. */
int io_make_infos(struct netsync_io *io);

/*
 * Warn that the process which reads a trace ended early: @which (the trace, if empty) was read
 * only up to the last of @packets (hi < lo: not at all), because of @why. Return as io_add_span().
 */
int io_warn_broken_off(struct trace *trace, const struct range *packets, const char *which,
		       const char *why);

/* Report progress, steps done of all. Return 0, or a negative value to stop. */
int io_report_progress(struct netsync_io *io, uint64_t done);

/* May a trace or text still be added? 0, or negative: io_fail() was called. */
int io_check_can_add(struct netsync_io *io, const char *what);

/* Keep an error sentence for netsync_io_error(). Return @err. */
int io_fail(struct netsync_io *io, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int io_fail_no_memory(struct netsync_io *io);
/* Keep an error for a negative errno of opening or reading a file. Return @err. */
int io_fail_file(struct netsync_io *io, const char *path, int err);
/*
 * Store an error for a file of @format that cannot be read because of @problem, a clause, or
 * because of @err if @problem is NULL. If the file was not opened (@from is NULL), the error
 * was reported before. Return the negative errno value.
 */
int io_fail_contents(struct netsync_io *io, const char *path, const struct disk_file *from,
		     const char *format, const char *problem, int err);
void io_forget_error(struct netsync_io *io);
void io_warn(struct netsync_io *io, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Readers call the next four functions with their findings; times are as printed. These
 * functions return 0, or a negative value after io_fail().
 */
/* A packet, seen at pkt->time_ns. */
int io_add_packet(struct trace *trace, struct netsync_packet *pkt,
		  const struct observation_point *at);
/* Readings of clocks at one instant. */
int io_add_clock(struct trace *trace, const struct clock_event *clock);
/*
 * Use readings from a sidecar file, which are used outside of the trace's window, too.
 */
int io_add_sidecar_clock(struct trace *trace, const struct clock_event *clock);
/* A packet, as for io_add_packet(), which changes it, or a clock event. */
int io_add_event(struct trace *trace, struct event_seen *seen);
/* The trace has events, of any kind, from @first_ns to @last_ns. */
int io_add_span(struct trace *trace, int64_t first_ns, int64_t last_ns);

/* printf() into allocated memory. Return NULL if out of memory. */
char *io_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
