/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libnetsync-io - read traces, live sessions and text files into libnetsync
 *
 *	struct netsync *ns = netsync_new();
 *	struct netsync_io *io = netsync_io_new(ns);
 *
 *	if (netsync_io_add(io, "web=/traces/web") < 0 ||
 *	    netsync_io_add(io, "/traces/db") < 0 ||
 *	    netsync_io_read(io, NULL, NULL) < 0)
 *		fprintf(stderr, "%s\n", netsync_io_error(io));
 *	netsync_solve(ns, NULL);
 *
 * A *trace* is the output of one tracing session of one tracer. It is a file or, for LTTng, a
 * directory that contains the file "metadata". Its *host* is the clock that timestamped its
 * events. Traces with the same host name and the same clock belong to one host. In CTF, the
 * clock is identified by its uuid, which LTTng derives from the boot. A copy with corrected
 * times keeps the uuid but has another clock.
 *
 * Each session measures the offset of a host's clock from the epoch again. All traces of a host are
 * therefore converted to the time base of the trace whose path sorts first. A time in results is
 * the time that the trace's own viewer displays, plus shift_ns of the trace.
 *
 * Times are signed 64-bit nanoseconds.
 *
 * Threads: only one thread at a time may use a struct netsync_io and the struct netsync that
 * it fills. Different objects are independent.
 *
 * Errors: functions that can fail return a negative errno value; netsync_io_error() then
 * returns a sentence for the user.
 *
 * Processes: a child process (fork) reads each CTF trace and each live session, because some
 * damaged traces make libbabeltrace2 call abort() or exhaust memory. The process of a trace runs
 * from netsync_io_add() until the trace is read or netsync_io_free() is called.
 *
 * Files: the library never writes to traces. If a stream file is damaged, the undamaged part is
 * copied to a directory in $TMPDIR (or /tmp). netsync_io_read() removes the directory when it
 * returns; if netsync_io_read() was not called, netsync_io_free() removes the directory. Input from
 * pipes, and the contents of compressed trace.dat and perf.data files, are stored in unnamed files
 * in $TMPDIR until netsync_io_free() is called.
 */
#ifndef NETSYNC_IO_H
#define NETSYNC_IO_H

#include "netsync.h"

#ifdef __cplusplus
extern "C" {
#endif

struct netsync_io;

/*
 * Return a new reader that adds hosts and packet events to @ns, or NULL if out of memory. @ns
 * must outlive the reader, which is to be freed with netsync_io_free().
 */
struct netsync_io *netsync_io_new(struct netsync *ns);

/*
 * Free a reader and its temporary files. Events that the reader pushed are kept. @io may be
 * NULL.
 */
void netsync_io_free(struct netsync_io *io);

/*
 * Describe the last failure. Return a sentence that explains what failed and what to do, or ""
 * if nothing failed. The string is valid until the next call that takes @io.
 */
const char *netsync_io_error(const struct netsync_io *io);

/*
 * Called with a warning, after which reading continues. Examples are warnings about damaged
 * streams, discarded events, and traces without network events. @sentence is valid during the
 * call and has no newline.
 */
typedef void (*netsync_io_warn_func)(void *data, const char *sentence);

/*
 * Call @warn with each warning, from within netsync_io_add(), netsync_io_read() and
 * netsync_io_poll(). If @warn is NULL, which is the default, no warnings are reported.
 */
void netsync_io_set_warn(struct netsync_io *io, netsync_io_warn_func warn, void *data);

/*
 * Open a trace, or recursively search a directory for traces and open them. @what is copied. It
 * is "PATH", or "NAME=PATH" to replace the host names that are stored in the traces. Write
 * "./NAME=PATH" for a path that begins with "NAME=". Trace formats are recognized by content. Files
 * may be compressed by gzip, zstd, xz or lz4. PATH may be a pipe, or "-" for the standard
 * input. A file with several hosts (OTLP, Jaeger, Zipkin or OTF2) is a trace of each host.
 *
 * If files in a directory look like traces but cannot be read, they are skipped with a warning,
 * and netsync_io_num_left_out() counts them.
 *
 * Return the number of traces found, at least 1, or a negative errno value:
 *	-ENOENT	no such file or directory
 *	-ESPIPE	neither a file, a directory nor a pipe
 *	-ENODATA	no trace found, or no trace with events
 *	-EEXIST	one of the traces was added before
 *	-EPROTONOSUPPORT	format not supported
 *	-EILSEQ	a trace is damaged so badly that nothing can be read
 *	-EINVAL	no NAME before the '=', or a NAME for a file with spans of several hosts
 *	-EBUSY	netsync_io_read() was called, or live sessions were added
 *	-ENOSYS	Babeltrace 2 is not fully installed, or this library was built without the
 *		decompression library for the file
 *	-EFBIG, -ENOSPC	a file becomes too large when decompressed
 *	-ETIMEDOUT	nothing could be read within the time of netsync_io_set_timeout(), or
 *		the processes that opened the traces were killed; warnings and
 *		netsync_io_get_left_out() name the traces
 *	-ENOMEM, or the error of a file that cannot be read
 * After -ENODATA and -ETIMEDOUT, other traces may be added. After other errors, call only
 * netsync_io_error() and netsync_io_free().
 */
int netsync_io_add(struct netsync_io *io, const char *what);

/*
 * Declare that an address belongs to a captured host. @what is "NAME=ADDRESS" with an IPv4,
 * IPv6 or hardware address; it is copied.
 *
 * If a capture (pcap) does not record the direction of packets, packets from an address of the
 * host are treated as sent. A host's addresses are those given here and those stored in its
 * captures. If neither contains an address, the addresses are inferred from the packets, with a
 * warning.
 *
 * Return 0; -EINVAL if @what has another form; -EBUSY if netsync_io_read() was called or live
 * sessions were added; -ENOMEM.
 */
int netsync_io_add_address(struct netsync_io *io, const char *what);

/*
 * Open a text file of matched messages (netsync-messages(5)), packet events
 * (netsync-packets(5)) or clock readings (netsync-clocks(5)), one per line. @path is copied;
 * "-" is the standard input. If @strict is not 0, netsync_io_read() fails at the first invalid
 * line; otherwise, invalid lines are skipped with a warning. If a text file and a trace contain
 * the same host name, both refer to one host.
 *
 * Return 0; -EEXIST if the file was added before; -EBUSY if netsync_io_read() was called or
 * live sessions were added; -ENOMEM, or the error of a file that cannot be opened. After an
 * error, call only netsync_io_error() and netsync_io_free().
 */
int netsync_io_add_messages(struct netsync_io *io, const char *path, int strict);
int netsync_io_add_packets(struct netsync_io *io, const char *path, int strict);
int netsync_io_add_clocks(struct netsync_io *io, const char *path, int strict);

/*
 * Treat every network namespace as a separate host if @split is not 0; the default is 0. Call
 * this before netsync_io_read(). Live sessions are not split.
 *
 * The namespace (container) with inode number 4026532008 of the host "web" becomes the host
 * "web/netns-4026532008". A file "netsync-namespaces" with a line "4026532008 NAME" changes the
 * name to "web/NAME". The file must be in the directory of the trace, or in one of up to three
 * parent directories (of "ust" for user-space traces). The host of a namespace is added when
 * its first packet is read, after the hosts that are not split. A host whose events have no
 * namespace field is not split. If a host is split, its events without a namespace are not
 * used, because other events may report the same packets; a warning reports their number.
 */
void netsync_io_set_split_netns(struct netsync_io *io, int split);

/*
 * If @split is not 0, treat every rank of a job as a host of its own in profiles that are added
 * from now on, such as "web/rank3". The profiler converts the times of each GPU separately, so the
 * GPUs of a machine may have different clocks. Traces with a given name, and traces read on other
 * machines, are not split.
 */
void netsync_io_set_split_gpus(struct netsync_io *io, int split);

/*
 * Read up to @jobs traces at a time. The default of 0 stands for the number of processors that
 * this process may use; with 1, traces are read one after the other. If there are more jobs
 * than traces, the streams of a CTF trace are divided among several processes. Text files are
 * read one after the other. Call this before netsync_io_read(). Live sessions are always read
 * in parallel.
 *
 * The order of packets does not depend on @jobs, with one exception. If damage ends a process
 * that reads a trace, other processes continue with their streams of the trace.
 */
void netsync_io_set_jobs(struct netsync_io *io, uint32_t jobs);

/*
 * Stop reading a trace after @timeout_ns without progress (because of a failed disk or network,
 * or a stopped remote host). The default of 0 stands for 120 s. Call this before
 * netsync_io_add().
 *
 * A warning is given after a quarter of this time, and after 30 s at the latest. At the limit,
 * reading continues without the rest of the trace, and the member stuck of struct
 * netsync_io_trace counts its streams. After one trace has exceeded the limit, the limit for
 * other traces on the same file system is ten times shorter. For a server
 * (netsync_io_add_served()) that sends only keepalives, the limit is ten times longer. The limit
 * applies to pipes only if @timeout_ns is not 0.
 */
void netsync_io_set_timeout(struct netsync_io *io, int64_t timeout_ns);

/* A trace, file or directory that was skipped, or a text file or pipe whose rest was skipped. */
struct netsync_io_left_out {
	uint32_t size; /* sizeof, set by the caller */
	uint32_t reserved;
	const char *what; /* path of the input; owned by the reader */
	const char *why;  /* a sentence; owned by the reader */
};

/* Return the number of traces, files and directories that were skipped. */
uint32_t netsync_io_num_left_out(const struct netsync_io *io);

/*
 * Read the path of a skipped input, and the reason. Inputs are numbered from 0 in the order in
 * which they were skipped. Return 0, or -EINVAL for an invalid index or size.
 */
int netsync_io_get_left_out(const struct netsync_io *io, uint32_t index,
			    struct netsync_io_left_out *info);

/*
 * Read a bound on the difference between a host's clock and UTC, which netsync_io_read() found in
 * files of clock readings (netsync-clocks(5)). Bounds are numbered from 0, in any order, for
 * netsync_utc_clock_new(). @bound_size is sizeof(struct netsync_utc_bound), which may grow. Return
 * 0, or -EINVAL for the index after the last one, or an invalid size.
 */
int netsync_io_get_utc_bound(const struct netsync_io *io, uint32_t index,
			     struct netsync_utc_bound *bound, size_t bound_size);

/* Kinds of limits in struct netsync_io_window. */
enum netsync_io_limit {
	NETSYNC_IO_NO_LIMIT = 0,
	/* The limit is a time on each host's own clock, ns since 1970. */
	NETSYNC_IO_AT = 1,
	/* The limit is in ns after the start; see netsync_io_set_window(). */
	NETSYNC_IO_SINCE_BEGIN = 2,
};

struct netsync_io_window {
	uint32_t size;	   /* sizeof(struct netsync_io_window) */
	uint32_t begin_is; /* enum netsync_io_limit */
	uint32_t end_is;
	uint32_t reserved;
	int64_t begin_ns;
	int64_t end_ns;
};

/*
 * Read only a part of the recorded time. @window gives the first and the last time, both
 * inclusive, and is copied. Call this before netsync_io_read(). Live sessions cannot be limited.
 *
 * Packet events, clock readings and losses outside the window are treated as not recorded, and
 * the span of a trace is limited to the window. A message of a text file is used if both its
 * times are inside the window. Text files of clock readings are always read completely. Times are
 * those of each host's own clock before correction, as displayed by the trace's own viewer (in
 * the time base of its host, see above). If two clocks differ by more than the length of the
 * window, no messages remain.
 *
 * NETSYNC_IO_SINCE_BEGIN counts from the start of the longest host's traces, on each host's
 * clock. Because clocks may be wrong, it counts from the start of a host's own traces if they are
 * at least 15/16 as long as the longest, or do not overlap with the longest in time.
 *
 * In CTF streams written by LTTng and in uncompressed trace.dat files, parts outside the window
 * are skipped without decoding. All other formats are decoded completely.
 *
 * Return 0; -EINVAL for an invalid size or limit; -EBUSY if netsync_io_read() was called or live
 * sessions were added. netsync_io_read() returns -ERANGE if no trace has any event inside the
 * window, or the end is before the start, and -ENODATA if the start of a host's traces is not
 * known.
 */
int netsync_io_set_window(struct netsync_io *io, const struct netsync_io_window *window);

/*
 * Called instead of netsync_push_packet() and netsync_push_clock(), with the same return
 * values. Each part numbers its observation points separately.
 */
typedef int (*netsync_io_part_func)(void *data, const struct netsync_packet *pkt);
typedef int (*netsync_io_clock_func)(void *data, const struct netsync_clock_point *point);

/*
 * Called when a time slice of each trace of the part was read, first with the empty slice 0.
 * @slices is the same for all parts. Return the number of slices that all parts have read, and
 * whose packets for this process have all been pushed. Return a negative errno value to stop
 * reading.
 */
typedef int (*netsync_io_slice_func)(void *data, uint32_t slice, uint32_t slices);

/*
 * Called when the part was read, before counts are evaluated, for netsync_io_save_counts() and
 * netsync_io_merge_counts(). Return 0 or a negative errno value.
 */
typedef int (*netsync_io_end_func)(void *data);

/* The part of the traces that a reader reads, and functions called by netsync_io_read(). */
struct netsync_io_part {
	uint32_t size; /* sizeof(struct netsync_io_part) */
	uint32_t part; /* number of this part, below parts */
	uint32_t parts;
	uint32_t reserved;
	netsync_io_part_func packet;
	netsync_io_clock_func clock;
	netsync_io_slice_func slice;
	netsync_io_end_func end;
	void *data; /* passed to all functions of this struct */
};

/*
 * Read only part of the traces; readers in other processes read the other parts. @part is
 * copied. Add the same traces, text files and options to all readers. Call this before
 * netsync_io_read().
 *
 * All traces are opened, so that hosts have the same numbers in all readers, and captures are
 * scanned to find the directions of packets. Only the traces of some hosts are read. The first
 * part reads the messages and packets of text files; all parts read clock readings. Part 0
 * reads the traces of the first server (netsync_io_add_served()), part 1 those of the second
 * server, and so on. The other parts need only the output of netsync_io_describe() of a server.
 *
 * Return 0; -EINVAL for an invalid part; -EBUSY if the reader was used or has live sessions;
 * -ENOMEM. netsync_io_read() returns -EBUSY for hosts that are split by network namespaces,
 * and -EEXIST if two parts would read the traces of one host.
 */
int netsync_io_set_part(struct netsync_io *io, const struct netsync_io_part *part);

/*
 * Write the counts of the traces that were read by calling @write with @data, in a
 * machine-independent format. Call this from within netsync_io_part.end(). Return 0; the return
 * value of @write; -EBUSY at any other time.
 */
int netsync_io_save_counts(struct netsync_io *io, netsync_write_func write, void *data);

/*
 * Add the counts that the reader of another part saved, in @size bytes, so that
 * netsync_io_get_trace() and warnings report its traces as if they had been read here. Call
 * this from within netsync_io_part.end(). Return 0; -EBADMSG for bytes that were not written
 * for another part of these traces; -EBUSY at any other time.
 */
int netsync_io_merge_counts(struct netsync_io *io, const void *bytes, size_t size);

/*
 * Read traces for a reader on another machine.
 * @io: a new reader, which cannot be used for any other purpose
 * @what: @num paths as for netsync_io_add(), without captures
 * @in, @out: descriptors to read the other side's requests from, and to write to; may be the
 *	same. The other side calls netsync_io_add_served(). It can read these traces, but no
 *	other files. SIGPIPE must be ignored.
 *
 * Child processes read the traces as netsync_io_read() does, and send the packet events, compressed
 * to about ten bytes each. The call returns when the other side closes the connection. If an error
 * ends the call early, the other side first receives the reason. Captures, and paths that cannot be
 * opened, are skipped with a warning to the other side.
 *
 * Return 0; -EBUSY if the reader was used; -ENOMEM, or the system's error if no process can be
 * started or the connection ended immediately.
 */
int netsync_io_serve(struct netsync_io *io, const char *const *what, uint32_t num, int in, int out);

/*
 * Write the list of traces in @what to @out, or the reason why they cannot be opened.
 * netsync_io_serve() writes the same list first, and has the same parameters and return values. If
 * reading is divided among several processes (netsync_io_set_part()), each process passes this list
 * to netsync_io_add_served() for traces that another process reads. The process may then close its
 * descriptors immediately.
 */
int netsync_io_describe(struct netsync_io *io, const char *const *what, uint32_t num, int out);

/*
 * Add the traces that another process serves, and wait until they are open.
 * @label: name of the machine for messages; paths become LABEL:PATH; copied
 * @name: name of the host, which replaces the names in the traces, or NULL; copied
 * @in, @out: descriptors to read the output of netsync_io_serve() from, and to write to; may
 *	be the same. They must be non-blocking (O_NONBLOCK) and stay open until
 *	netsync_io_read() returns. SIGPIPE must be ignored.
 *
 * Results are bit-identical to those for local traces, except that netsync_io_trace.readable is
 * NULL. Received data is not trusted. If the connection ends early, is silent for a minute, or
 * sends invalid data, a warning names @label, and the reader continues with the data received
 * so far; netsync_io_get_served() reports the early end.
 *
 * Return the number of traces, or a negative errno value, which leaves the reader unchanged:
 *	-EREMOTEIO	the other side is not such a server, or reported why it cannot read
 *	-EEXIST	one of the traces was added before
 *	-EBUSY	netsync_io_read() was called, or live sessions were added
 *	-ENOMEM
 */
int netsync_io_add_served(struct netsync_io *io, const char *label, const char *name, int in,
			  int out);

struct netsync_io_served {
	uint32_t size; /* sizeof, set by the caller */
	uint32_t num_traces;
	const char *label;	 /* printable name of the machine; owned by the reader */
	uint64_t stored_bytes;	 /* reported size of the trace files */
	uint64_t received_bytes; /* bytes received until now */
	uint32_t ended;		 /* 1 if the connection ended before all data was read */
	uint32_t left_out;	 /* reported number of paths and captures that were skipped */
};

/* Return the number of servers that were added. */
uint32_t netsync_io_num_served(const struct netsync_io *io);

/*
 * Read the state of a server. Servers are numbered from 0 in the order in which they were
 * added. Return 0, or -EINVAL for an invalid index or size.
 */
int netsync_io_get_served(const struct netsync_io *io, uint32_t index,
			  struct netsync_io_served *info);

/* Called after @done of @total steps. Return 0 to continue, or any other value to stop. */
typedef int (*netsync_io_progress_func)(void *data, uint64_t done, uint64_t total);

/*
 * Read all traces and text files that were added. Call this once. Unless @progress is NULL, it
 * is called from time to time with @data.
 *
 * Hosts are added to the struct netsync in the order of their names, and every packet event is
 * pushed. Traces are read in parallel, one slice of recorded time after another. Slices are
 * aligned by the clocks, or by the start of each trace if the clocks have no time in common.
 * The result depends neither on the order in which traces were added, nor on the number of
 * traces read at a time.
 *
 * Return 0; -ENODATA if nothing was added, or a text file contains no usable data;
 * -EDESTADDRREQ if addresses of a captured host must be given; -ENOENT if addresses were given
 * for an unknown host; -EILSEQ for an invalid first line of packet events or, if strict, for
 * any invalid line; -ECANCELED if @progress requested a stop; -EBUSY if called before, or live
 * sessions were added; -ENOMEM, or the error of a file that cannot be read.
 */
int netsync_io_read(struct netsync_io *io, netsync_io_progress_func progress, void *data);

/*
 * Follow sessions or captures while they are recorded. @what is copied: "net://HOST[:PORT]" for
 * all live sessions of an LTTng relay daemon, including sessions that begin later;
 * "net://HOST[:PORT]/host/NAME/SESSION" for one session; or "[NAME=]PATH" for a capture (pcap or
 * pcapng) to which packets are appended. "lttng create --live" creates live sessions. A reader
 * reads either live sessions, or growing captures, or recorded traces. The first
 * netsync_io_poll() connects.
 *
 * Return 0; -EINVAL if the URL has neither form, or the file is not a regular file; -EEXIST if
 * @what was added before; -EBUSY if inputs of another kind were added; -EPROTONOSUPPORT if the
 * file is not an uncompressed capture; -ENOMEM, or the error of a file that cannot be opened.
 */
int netsync_io_add_live(struct netsync_io *io, const char *what);

/*
 * Follow a file of clock readings that grows while sessions are recorded. @path is copied. The file
 * has the format of netsync-clocks(5). As in a trace's sidecar file, times exclude the clock's
 * offset from the epoch. Each host in the file has the host name of a machine whose session is
 * read. The file may be created later than the sessions. Do not use it for hosts whose sessions
 * contain clock readings.
 *
 * netsync_io_poll() reads lines appended to the file. It does not call netsync_advance() for a
 * time of a host that the file has not reached, unless no line is appended for 10 seconds.
 *
 * Return 0; -ENODATA if no live session or capture was added; -ENOMEM.
 */
int netsync_io_add_live_clocks(struct netsync_io *io, const char *path);

/*
 * Push the events of live sessions and growing captures, for @timeout_ms milliseconds. With 0,
 * push only events that have already arrived. If a signal is caught, the call returns.
 *
 * Hosts are added when they first appear. netsync_advance() is called for each host, so that
 * memory use stays limited, and netsync_pause() for hosts that are not read now. For hosts that
 * exchange no messages with others, netsync_limit_packets() limits memory use. netsync_solve() may be called between calls.
 *
 * A warning is given and the attempt is repeated if a relay daemon does not answer, if a
 * session has another viewer (the daemon allows only one), or if a session cannot be read
 * further. Later sessions of a host are converted to the time base of its first session. Each
 * period in which a session is read is a trace for netsync_io_get_trace(), with the session's
 * URL as its path; earlier events are missing (late).
 *
 * A capture can continue in other files, as with tcpdump -C, -G and -W. The path of such a capture
 * is the one given to tcpdump -w: conversions of strftime(3) stand for any text, and digits can
 * follow. Each file is another trace of the host.
 *
 * If a capture is truncated, replaced or removed, a warning is given, and the new file is another
 * trace of the host. If a capture is damaged, a warning is given, and the capture is not read
 * further. If a capture does not grow for 10 seconds, netsync_pause() is called for its host, until
 * the capture or its clock readings grow. Clock readings are read from a sidecar file
 * netsync-clocks-realtime.
 *
 * Child processes (fork) read the sessions. They end in netsync_io_free(), or when this process
 * ends.
 *
 * Return the number of packet events pushed; -ENODATA if nothing was added; -ENOSYS if
 * Babeltrace 2 is not fully installed; -ENOMEM, or the system's error if no process can be
 * started.
 */
int netsync_io_poll(struct netsync_io *io, int timeout_ms);

struct netsync_io_trace {
	uint32_t size;	  /* sizeof, set by the caller */
	uint32_t host;	  /* number of the host, as in netsync_get_host() */
	const char *path; /* file or directory; owned by the reader */
	int64_t shift_ns; /* host time = time in the trace + shift_ns */
	uint64_t packets; /* number of packet events pushed */
	int64_t first_ns; /* time of the first event that was read, in host time */
	/* Time of the last event that was read; less than first_ns if no event was read. */
	int64_t last_ns;
	uint64_t lost_events;  /* number of events discarded, as reported by the tracer */
	uint64_t lost_packets; /* number of trace packets (sub-buffers) discarded, as reported */
	uint32_t damaged;      /* number of streams that were read in part or not at all */
	uint32_t netns;	       /* inode number of the namespace that is the host; 0 if not split */
	uint32_t running;      /* 1 if this is a live session or growing capture being read */
	uint32_t late;	       /* 1 if this is a live session that began before first_ns */

	/* The following members describe the host and its clock. */
	const char *format; /* such as "ctf" or "pcap", as in netsync_io_get_trace(3) */
	/*
	 * Host name given by NAME=PATH or stored in the trace; owned by the reader. The name of
	 * a capture depends on all captures, and is valid until another trace is added.
	 */
	const char *host_name;
	/*
	 * Name that distinguishes the clocks of a machine, or NULL. NETSYNC_IO_CORRECTED_CLOCK
	 * means that the times of the trace are already corrected.
	 */
	const char *clock_name;
	int64_t epoch_ns; /* time at which the clock shows zero, ns since 1970 */
	uint32_t has_clock_uuid;
	uint8_t clock_uuid[16];

	/*
	 * Path from which a damaged or unsupported trace can be read, until netsync_io_read().
	 * For a damaged CTF trace, it is a directory with the readable part; for a damaged
	 * capture, the file itself. For a CTF 2 trace, it is a directory with a CTF 1.8
	 * translation if libbabeltrace2 supports only CTF 1.8. NULL for all other traces.
	 */
	const char *readable;

	/*
	 * Numbers of damaged streams whose reader process was killed (the streams may be
	 * intact), and of damaged streams that made no progress and were given up.
	 */
	uint32_t killed;
	uint32_t stuck;

	/*
	 * If has_wall is 1, wall-clock time (UTC), ns since 1970, is time in the trace +
	 * wall_shift_ns at some instant near the start of the trace. Use this value for display
	 * only, because it is only as accurate as the machine's wall clock, which no error
	 * bound covers.
	 */
	uint32_t has_wall;
	int64_t wall_shift_ns;
};

/* Value of netsync_io_trace.host before the trace is read. */
#define NETSYNC_IO_NO_HOST UINT32_MAX

/* Name of the clock in CTF traces that netsync has corrected. */
#define NETSYNC_IO_CORRECTED_CLOCK "netsync"

/*
 * Return the number of traces. netsync_io_poll() adds live sessions. A trace that is split into
 * network namespaces counts once for each namespace. Its member packets is the number for the
 * namespace; all other members refer to the whole trace.
 *
 * Before netsync_io_read(), the traces are those found by netsync_io_add() so far, in the order
 * in which they were found. The members path and damaged, and the host and clock members, are
 * known. If the span can be determined without reading the events, first_ns and last_ns are
 * known, in trace time. host is NETSYNC_IO_NO_HOST.
 */
uint32_t netsync_io_num_traces(const struct netsync_io *io);

/*
 * Get information about a trace. After netsync_io_read(), traces are sorted by host, then by
 * path. Return 0, or -EINVAL for an invalid index or size.
 */
int netsync_io_get_trace(const struct netsync_io *io, uint32_t index,
			 struct netsync_io_trace *info);

/* Values for an unknown processor and an unknown number of lost events. */
#define NETSYNC_IO_NO_CPU UINT32_MAX
#define NETSYNC_IO_LOST_SOME UINT64_MAX

/*
 * An event of any kind. If lost is not 0, the struct is not an event, but reports that the
 * tracer lost events, and has no name and no fields. cpu and time_ns of the report are those of
 * the previous event in its stream.
 */
struct netsync_io_event {
	uint32_t size; /* sizeof, as the library knows it */
	uint32_t cpu;
	/*
	 * Time as displayed by babeltrace2 or trace-cmd report -t, plus the shift.
	 * INT64_MIN for a loss without a previous event.
	 */
	int64_t time_ns;
	uint64_t lost;	    /* minimum number of lost events */
	const char *system; /* such as "sched"; "" in CTF, which has no systems */
	/* Such as "sched_switch"; the same pointer for all events of a type. */
	const char *name;
	const char *const *fields; /* names of the fields; those of the context come first */
	uint32_t num_fields;
	/* Number of context fields; in trace.dat, the fields common to all events. */
	uint32_t num_context;
	const void *reserved;
};

enum netsync_io_value_kind {
	NETSYNC_IO_SIGNED = 1,
	NETSYNC_IO_UNSIGNED = 2,
	NETSYNC_IO_TEXT = 3, /* text without trailing zeros */
	NETSYNC_IO_BYTES = 4,
	NETSYNC_IO_REAL = 5,
	NETSYNC_IO_BOOL = 6,
};

struct netsync_io_value {
	uint32_t size;	      /* sizeof, set by the caller */
	uint32_t kind;	      /* enum netsync_io_value_kind */
	int64_t number;	      /* integer; if unsigned, cast it to uint64_t */
	const uint8_t *bytes; /* text, array of bytes, or label of an integer */
	uint32_t num_bytes;   /* size of @bytes; 0 if an integer has no label */
	double real;
};

/* Called with an event, valid during the call. Return 0 to continue, or any other value to stop. */
typedef int (*netsync_io_event_func)(void *data, const struct netsync_io_event *event);

/* A trace whose events are read. */
struct netsync_io_source {
	const char *path; /* path of the trace, as in struct netsync_io_trace */
	int64_t shift_ns; /* added to all times; events whose sums exceed 64 bits are skipped */
};

/*
 * Read all events of a host's traces.
 * @io: receives errors; nothing is added to it
 * @sources: @num CTF traces (the directories that contain the metadata), trace.dat or perf.data
 *	files
 * @source_size: sizeof(struct netsync_io_source), which may grow
 * @each: called with @data for every event, in time order across processors and CTF traces;
 *	trace.dat and perf.data files are read one after the other
 *
 * In CTF 1.8 streams written by LTTng, only the fields requested by netsync_io_event_value()
 * are decoded; libbabeltrace2 decodes all other streams. Some damaged CTF traces make
 * libbabeltrace2 terminate the process. If netsync_io_add() reports a trace as damaged, read
 * the trace in a separate process. If a trace.dat file is damaged, the events of each processor
 * before the damage are read. If a perf.data file is damaged, the events before the damage are
 * read. netsync_io_add() and netsync_io_read() warn about the damage and name the host.
 *
 * Return 0; -ECANCELED if @each requested a stop; -EILSEQ or -EPROTONOSUPPORT for a trace that
 * cannot be read; -EINVAL for traces of several formats; -ENOMEM, or the system's error.
 */
int netsync_io_read_events(struct netsync_io *io, const struct netsync_io_source *sources,
			   uint32_t num, size_t source_size, netsync_io_event_func each,
			   void *data);

/*
 * Read the value of field @field, which is less than num_fields. The caller sets the member
 * size of @value, which is filled in up to that size. Bytes that @value points to are valid
 * until the function that was called with the event returns. Return 0; -EINVAL for an invalid
 * field or size; -ENODATA for a field that is not in the event, or is neither a number, a text
 * nor an array of bytes; -ENOMEM.
 */
int netsync_io_event_value(const struct netsync_io_event *event, uint32_t field,
			   struct netsync_io_value *value);

/* What related spans did together. */
enum netsync_io_relation_kind {
	NETSYNC_IO_COLLECTIVE = 0, /* an operation of the ranks of a job, or a message of two */
	NETSYNC_IO_CALL = 1,	   /* a client, and the server that it called */
	NETSYNC_IO_QUEUE = 2,	   /* a producer, and a consumer of what it produced */
};

/*
 * What the times of a span say about the other spans of its relation. For example, the client of
 * a call starts first and ends last, and a producer only starts first.
 */
enum netsync_io_role {
	NETSYNC_IO_BEFORE = 1, /* its start precedes the end of each NETSYNC_IO_AFTER span */
	NETSYNC_IO_AFTER = 2,  /* its end follows the start of each NETSYNC_IO_BEFORE span */
	NETSYNC_IO_STARTS_FIRST =
		4, /* its start precedes that of each NETSYNC_IO_STARTS_LAST span */
	NETSYNC_IO_STARTS_LAST = 8, /* its start follows that of each NETSYNC_IO_STARTS_FIRST span */
	NETSYNC_IO_ENDS_FIRST = 16, /* its end precedes that of each NETSYNC_IO_ENDS_LAST span */
	NETSYNC_IO_ENDS_LAST = 32,  /* its end follows that of each NETSYNC_IO_ENDS_FIRST span */
	/* its times are limits: what it stands for started after its start, and ended before its end */
	NETSYNC_IO_ENCLOSES = 64,
};

/* The time that one member of a relation took, such as one rank of a collective operation. */
struct netsync_io_span {
	int64_t start_ns; /* host time */
	int64_t end_ns;
	uint32_t host;	 /* number of the host, as in netsync_get_host() */
	uint32_t member; /* number of the member, such as its rank */
	uint32_t role;	 /* bits of enum netsync_io_role */
	uint32_t reserved;
};

/* Spans of all hosts that belong together, such as a collective operation or a call. */
struct netsync_io_relation {
	uint32_t size;	    /* sizeof, as the library knows it */
	uint32_t members;   /* number of members; some of their spans may be missing */
	const char *group;  /* name of the members together; printable */
	const char *what;   /* kind of operation, such as "allreduce"; printable */
	int32_t step;	    /* step of the program; -1 if unknown */
	uint32_t num_spans; /* number of spans, which are ordered by host */
	uint32_t span_size; /* sizeof(struct netsync_io_span), as the library knows it */
	uint32_t kind;	    /* enum netsync_io_relation_kind */
	const struct netsync_io_span *spans;
	/*
	 * Identifies the group, which may share its name with others: a hash of the process group of
	 * a collective operation, or the 128 bits of the trace of a call, the upper ones first.
	 */
	uint64_t group_id[2];
};

/* Called with a relation, which is valid during the call. */
typedef void (*netsync_io_relation_func)(void *data, const struct netsync_io_relation *relation);

/*
 * Call @func once for each relation from which netsync_io_read() makes messages, in the order in
 * which the relations were completely read. @func must not call functions that take @io or its
 * struct netsync. If @func is NULL, which is the default, no relations are reported.
 */
void netsync_io_watch_relations(struct netsync_io *io, netsync_io_relation_func func, void *data);

/* A frame of a capture that contains a packet of a supported protocol. */
struct netsync_io_frame {
	uint32_t size; /* sizeof, as the library knows it */
	uint32_t reserved;
	uint64_t number; /* from 1, like frame.number in Wireshark */
	/*
	 * Start (ns since 1970) and length of the tick of the timestamp. The packet event of a
	 * sent frame has the time time_ns; that of a received frame has time_ns + tick_ns - 1.
	 */
	int64_t time_ns;
	int64_t tick_ns;
	/* Valid during the call; host, observation point and direction are not set. */
	const struct netsync_packet *packet;
};

/* Called with a frame. Return 0 to continue, or any other value to stop. */
typedef int (*netsync_io_frame_func)(void *data, const struct netsync_io_frame *frame);

/*
 * Read a capture again, to find the frames of messages. @path is a pcap or pcapng file as in
 * struct netsync_io_trace. If @io read @path from a pipe earlier, the stored copy of the data
 * is used. @io receives errors; nothing is added to it. @each is called with @data for each
 * frame that has a packet, in file order.
 *
 * Frames of other protocols, truncated frames and frames without a time are counted but not
 * reported. If the file is damaged, reading ends before the damage without an error.
 *
 * Return 0; -ECANCELED if @each requested a stop; -EPROTONOSUPPORT if the file is not a
 * capture; -ENOMEM, or the system's error.
 */
int netsync_io_read_frames(struct netsync_io *io, const char *path, netsync_io_frame_func each,
			   void *data);

/* A time in a trace, and the new time in the copy. */
struct netsync_io_knot {
	int64_t time_ns;
	int64_t new_ns;
};

/*
 * Copy a trace-cmd trace.dat file with new times.
 * @io: receives errors; nothing is added to it
 * @to: the copy, which must not exist; to be discarded after an error
 * @knots: @num knots, at least 2, in time order and at different times as trace-cmd report -t
 *	displays them. The first knot must not be after the first event, and the last knot must
 *	be after the last event. Readers interpolate between knots.
 * @knot_size: sizeof(struct netsync_io_knot), which may grow
 * @progress: called from time to time with @data, or NULL
 *
 * Only the option TIME_SHIFT is added, which contains offsets that readers add to the times of
 * all processors. Readers use 64-bit arithmetic. The time from each knot to the next,
 * multiplied by the change in the added offset, must therefore fit into 64 bits. New times must
 * not be negative.
 *
 * Return 0; -EINVAL for invalid knots; -ENOTSUP if readers would ignore the option (the file
 * has it already, counts cycles, or has events in named buffers); -EILSEQ or -EPROTONOSUPPORT
 * for a file that cannot be read; -ECANCELED if @progress requested a stop; -ENOMEM, or the
 * system's error.
 */
int netsync_io_copy_tracedat(struct netsync_io *io, const char *from, const char *to,
			     const struct netsync_io_knot *knots, uint32_t num, uint32_t knot_size,
			     netsync_io_progress_func progress, void *data);

/* Called with the original time of an event. Return 0 to reject the event. */
typedef int (*netsync_io_keep_func)(void *data, int64_t time_ns);

/*
 * Copy selected events of a trace.dat file, otherwise as netsync_io_copy_tracedat(). @keep
 * selects the events; if it is NULL, all events are copied. @keep and @progress are called with
 * @data. A rejected event is copied nevertheless if its page has kept events both before and
 * after it. The copy is a sparse file with holes in place of rejected events. Its events are
 * not compressed.
 */
int netsync_io_copy_tracedat_part(struct netsync_io *io, const char *from, const char *to,
				  const struct netsync_io_knot *knots, uint32_t num,
				  uint32_t knot_size, netsync_io_keep_func keep,
				  netsync_io_progress_func progress, void *data);

/* Return value of a netsync_io_time_func that skips a packet. */
#define NETSYNC_IO_LEFT_OUT 1

/*
 * Called to set @new_ns to the new time for @time_ns. Return 0; NETSYNC_IO_LEFT_OUT to skip the
 * packet, with @new_ns set, too; -ERANGE if there is no new time; another negative errno value
 * to stop.
 */
typedef int (*netsync_io_time_func)(void *data, int64_t time_ns, int64_t *new_ns);

/*
 * Copy a pcap or pcapng file with new times.
 * @io: receives errors and warnings; nothing is added to it
 * @to: the copy, which must not exist; to be discarded after an error
 * @time: called with @data for each packet, and for the times in interface statistics
 *
 * Packets are skipped if @time returns NETSYNC_IO_LEFT_OUT. Statistics, and packets without a
 * time, are always copied. All other data is copied unchanged and in the same order. If the
 * unit of times is coarser than a nanosecond or, in pcapng, a binary fraction of a second, the
 * copy has times in nanoseconds, and its headers are changed accordingly. If the file is
 * damaged, the part before the damage is copied, with a warning.
 *
 * Return 0; -ERANGE for a time that cannot be changed or written; the value of @time; -ENOMEM,
 * or the system's error.
 */
int netsync_io_copy_capture(struct netsync_io *io, const char *from, const char *to,
			    netsync_io_time_func time, void *data);

/* A capture that is merged with others. */
struct netsync_io_capture {
	const char *path;   /* path of the trace, as in struct netsync_io_trace */
	const char *host;   /* first part of the names of interfaces: "web/eth0" */
	const char *device; /* second part if the capture names no device; NULL if none */
	/* Added to the description of each interface; NULL adds nothing. */
	const char *description;
	netsync_io_time_func time; /* returns the new time; called at least twice for each packet */
	void *data;		   /* passed to @time */
};

/*
 * Merge captures into one, sorted by the new times.
 * @io: receives errors and warnings; nothing is added to it
 * @captures: @num pcap and pcapng files
 * @capture_size: sizeof(struct netsync_io_capture), which may grow
 * @comment: comment of the merged capture, or NULL
 * @fd: where to write the merged capture, sequentially, such as a pipe; incomplete output is to
 *	be discarded after an error
 * @progress: called from time to time with @data, or NULL
 *
 * The result is pcapng with one section and times in nanoseconds. Packets with equal times are
 * in the order of @captures. The bytes, lengths and options of packets are kept, as are
 * interface options, interface statistics, address names and secrets. Interfaces with identical
 * descriptions are merged. Packets of a capture may be out of order by up to 64 MiB of packets.
 *
 * Packets are skipped if @time of their capture returns NETSYNC_IO_LEFT_OUT. Packets without a
 * time and blocks of other kinds are skipped with a warning. If a file is damaged, the part
 * before the damage is merged, with a warning. All captures are read once before the first byte
 * is written.
 *
 * Return 0; -EINVAL for no captures; -ERANGE for a time that cannot be changed, or becomes
 * negative; the value of @time; -E2BIG for packets too far out of order, a packet of more than
 * 16 MiB, or more than 65536 interfaces; -EILSEQ for a file that changes while it is read;
 * -ECANCELED if @progress requested a stop; -ENOMEM, or the system's error.
 */
int netsync_io_merge_captures(struct netsync_io *io, const struct netsync_io_capture *captures,
			      uint32_t num, size_t capture_size, const char *comment, int fd,
			      netsync_io_progress_func progress, void *data);

/*
 * Copy a perf.data file with new times.
 * @io: receives errors and warnings; nothing is added to it
 * @to: the copy, which must not exist; to be discarded after an error
 * @time: called with @data for each event, and for each other record that has a time, with its
 *	own time or that of the nearest event
 *
 * Events are skipped if @time returns NETSYNC_IO_LEFT_OUT. Records of threads and their memory
 * are always copied. Records before the first or after the last event are shifted by the same
 * amount as that event. All other data is copied unchanged and in the same order, but
 * compressed data is written uncompressed. If the file is damaged, the part before the damage
 * is copied, with a warning.
 *
 * Return 0; -ERANGE for a time that cannot be changed, or becomes negative; the value of
 * @time; -ENODATA if no event has a time; -ENOTSUP for a file with AUX areas, whose times use
 * another clock, or a file that perf did not complete; -EILSEQ or -EPROTONOSUPPORT for a file
 * that cannot be read; -ENOMEM, or the system's error.
 */
int netsync_io_copy_perf(struct netsync_io *io, const char *from, const char *to,
			 netsync_io_time_func time, void *data);

/*
 * Copy a trace of PyTorch's profiler Kineto with new times, as netsync_io_copy_perf() copies
 * perf.data files.
 *
 * @time is called for the start and the end of each span, and for each other event, with its own
 * time or that of the nearest span. Events are skipped if @time returns NETSYNC_IO_LEFT_OUT, but
 * the names of processes and threads are always copied. All other bytes are copied unchanged; a
 * compressed file is written uncompressed. If the file is damaged, the events before the damage
 * are copied, with a warning.
 *
 * Return 0; -ERANGE for a time that cannot be changed; the value of @time; -ENODATA if no span has
 * a time; -EILSEQ if the end of the file, to which its times refer, is missing; -ENOMEM, or the
 * system's error.
 */
int netsync_io_copy_kineto(struct netsync_io *io, const char *from, const char *to,
			   netsync_io_time_func time, void *data);

/*
 * Copy a file of Retis with new times, as netsync_io_copy_perf() copies perf.data files.
 *
 * @time is called for the time of each event, and again for the times at which Retis first saw the
 * packet. Events are skipped if @time returns NETSYNC_IO_LEFT_OUT, except the event of the start. A
 * line with a list of events ("retis sort") is skipped if all of its events are. The offset of
 * CLOCK_MONOTONIC is changed by the opposite of the time of the start, so that Retis prints this
 * event with the same date as before. All other bytes are copied unchanged; a compressed file is
 * written uncompressed. Invalid lines are copied unchanged, with a warning. If the file is damaged,
 * the lines before the damage are copied, with a warning.
 *
 * Return 0; -ERANGE for a time that cannot be changed, or becomes negative; the value of @time;
 * -ENODATA if no event has a time; -ENOMEM, or the system's error.
 */
int netsync_io_copy_retis(struct netsync_io *io, const char *from, const char *to,
			  netsync_io_time_func time, void *data);

/* Like netsync_io_time_func, for a time of the host that the file calls @host. */
typedef int (*netsync_io_host_time_func)(void *data, const char *host, int64_t time_ns,
					 int64_t *new_ns);

/*
 * Copy a file of OTLP, Jaeger or Zipkin, which contains the spans of several hosts, with new times,
 * as netsync_io_copy_perf() copies perf.data files.
 *
 * @time is called for the start and the end of each span, and for each event within it. Spans are
 * skipped if @time returns NETSYNC_IO_LEFT_OUT for their start. Spans with invalid times or an
 * unknown host are copied unchanged, and a warning reports the number of spans with an unknown
 * host. All other bytes are copied unchanged; a compressed file is written uncompressed. If the
 * file is damaged, the damaged part is copied unchanged, with a warning.
 *
 * Return 0; -ERANGE for a time that cannot be changed; the value of @time; -EPROTONOSUPPORT for
 * another file; -ENOMEM, or the system's error.
 */
int netsync_io_copy_spans(struct netsync_io *io, const char *from, const char *to,
			  netsync_io_host_time_func time, void *data);

/*
 * Copy an OTF2 archive, whose anchor file is @from, with new times.
 * @io: receives errors and warnings; nothing is added to it
 * @to: the anchor file of the copy, with the suffix .otf2; neither the file nor the other files
 *	and the folder of this name may exist; to be discarded after an error
 * @time: called with @data for the first and last event of each host, and for some times between
 *	them
 *
 * All events are copied unchanged. The definitions of each location have new clock offsets, which
 * OTF2's library adds to the times of events, in place of those that they had. If times leave the
 * range of times in the definitions of the archive, this range is extended. All other bytes are
 * copied unchanged.
 *
 * Return 0; -EINVAL if @time returns NETSYNC_IO_LEFT_OUT; -ERANGE for a time that cannot be changed,
 * or becomes negative; the value of @time; -E2BIG for too many clock offsets; -EILSEQ for an archive
 * that cannot be read, or definitions that cannot be changed; -ENOSYS if netsync was built without
 * OTF2; -ENOMEM, or the system's error.
 */
int netsync_io_copy_otf2(struct netsync_io *io, const char *from, const char *to,
			 netsync_io_host_time_func time, void *data);

#ifdef __cplusplus
}
#endif

#endif /* NETSYNC_IO_H */
