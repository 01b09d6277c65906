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
 * A *trace* is what one tracing session of one tracer wrote: a file, or for
 * LTTng a folder with a file "metadata". Its *host* is the clock that it was
 * recorded with: all traces with the same host name and the same clock (in CTF:
 * clock uuid, which LTTng takes from the boot) belong to one host. A copy with
 * corrected times keeps that uuid, but its clock is another one.
 *
 * Every session samples anew how far a host's clock is from the epoch. The
 * traces of a host are therefore brought to one base, that of the trace whose
 * path sorts first: time in results = time that the trace's own viewer prints
 * + the trace's shift_ns.
 *
 * Times are signed 64-bit nanoseconds.
 *
 * Threads: a struct netsync_io, and the struct netsync that it fills, may be
 * used by one thread at a time; different ones are independent.
 *
 * Errors: functions that can fail return a negative errno value, and
 * netsync_io_error() then gives a sentence for people.
 *
 * Processes: each CTF trace is read by a child process (fork), from
 * netsync_io_add() until it was read or netsync_io_free() is called, and live
 * sessions are: some damaged traces make libbabeltrace2 call abort(), or take more
 * memory than there is.
 *
 * Files: traces are only ever read. Where a stream file is damaged, the part
 * of it that can be used is copied to a folder below $TMPDIR (or /tmp) that
 * netsync_io_read() removes in the end, or netsync_io_free() if it was not
 * called. What comes from a pipe, and what compressed trace.dat and perf.data files hold,
 * is copied to nameless files there until netsync_io_free().
 */
#ifndef NETSYNC_IO_H
#define NETSYNC_IO_H

#include "netsync.h"

#ifdef __cplusplus
extern "C" {
#endif

struct netsync_io;

/**
 * netsync_io_new() - make a reader
 * @ns: where hosts and packet events go; it must outlive the reader
 *
 * Return: the reader, to be given back with netsync_io_free(); NULL if there
 * is no memory.
 */
struct netsync_io *netsync_io_new(struct netsync *ns);

/**
 * netsync_io_free() - release a reader; what it pushed stays
 * @io: the reader, or NULL
 */
void netsync_io_free(struct netsync_io *io);

/**
 * netsync_io_error() - the last failure in words
 * @io: the reader
 *
 * Return: a sentence that says what failed and what to do; "" if nothing did.
 * It stays valid until the next call that takes @io.
 */
const char *netsync_io_error(const struct netsync_io *io);

/*
 * Called with a warning, while reading goes on: damaged streams, discarded events,
 * traces without network events. @sentence is valid during the call only and ends
 * without a newline.
 */
typedef void (*netsync_io_warn_func)(void *data, const char *sentence);

/**
 * netsync_io_set_warn() - set the function that takes warnings
 * @io: the reader
 * @warn: called for each one, from within netsync_io_add(),
 *	netsync_io_read() and netsync_io_poll(); NULL (as at first): nobody
 * @data: given to @warn
 */
void netsync_io_set_warn(struct netsync_io *io, netsync_io_warn_func warn,
			 void *data);

/**
 * netsync_io_add() - find the traces of a file or folder and open them
 * @io: the reader
 * @what: "PATH", or "NAME=PATH" to name the host or hosts itself instead of by
 *	what the traces say; copied. Of a folder all folders below it are
 *	searched, too; what is a trace is known by its content. ("./NAME=PATH"
 *	is a path that begins like this.) Traces that are files may be compressed by
 *	gzip, zstd, xz or lz4. PATH may be a pipe, or "-", the standard input.
 *
 * Files in a folder that look like traces, and cannot be read, are skipped with a warning;
 * netsync_io_num_left_out() counts them.
 *
 * Return: how many traces it holds, at least 1; or a negative errno:
 *	-ENOENT	no such file or folder
 *	-ESPIPE	no file, folder or pipe
 *	-ENODATA	no trace in it, or none that holds any event
 *	-EEXIST	one of its traces was added before
 *	-EPROTONOSUPPORT	a file or trace of a format that cannot be read
 *	-EILSEQ	a trace that is damaged so that nothing of it can be read
 *	-EINVAL	there is no NAME before the '='
 *	-EBUSY	netsync_io_read() was called already, or live sessions were added
 *	-ENOSYS	Babeltrace 2 is not installed in full, or this was built without the library
 *		that decompresses the file
 *	-EFBIG, -ENOSPC	a file grows too large when it is decompressed
 *	-ETIMEDOUT	nothing could be read of it in the time of netsync_io_set_timeout(),
 *		or the processes that opened its traces were killed; netsync_io_set_warn() and
 *		netsync_io_get_left_out() say of what
 *	-ENOMEM, or what the system said of a file that cannot be read
 * After -ENODATA and -ETIMEDOUT other traces may be added; after another error, only
 * netsync_io_error() and netsync_io_free() make sense.
 */
int netsync_io_add(struct netsync_io *io, const char *what);

/**
 * netsync_io_add_address() - say that an address is one of a captured host
 * @io: the reader
 * @what: "NAME=ADDRESS": an IPv4, IPv6 or hardware address of that host; copied
 *
 * For captures (pcap) whose packets do not say whether they came in or went out:
 * packets from an address of the host went out. Its addresses are those given here
 * and those that its captures name; if there are none, they are inferred from the
 * packets, with a warning.
 *
 * Return: 0; or a negative errno:
 *	-EINVAL	it is not of this form
 *	-EBUSY	netsync_io_read() was called already, or live sessions were added
 *	-ENOMEM
 */
int netsync_io_add_address(struct netsync_io *io, const char *what);

/**
 * netsync_io_add_messages(), netsync_io_add_packets(),
 * netsync_io_add_clocks() - open a text file
 * @io: the reader
 * @path: a file with a line for each matched message (netsync-messages(5)), packet
 *	event (netsync-packets(5)), or reading of a steered clock
 *	(netsync-clocks(5)). "-" is the standard input. Copied.
 * @strict: 0: lines that cannot be used are warned about and left out;
 *	anything else: netsync_io_read() fails at the first one
 *
 * Hosts are known by their names: those of the files and those of traces
 * (netsync_io_add()) are the same where their names are.
 *
 * Return: 0; or a negative errno:
 *	-EEXIST	the file was added before
 *	-EBUSY	netsync_io_read() was called already, or live sessions were added
 *	-ENOMEM, or what the system said of a file that cannot be opened
 * After an error, only netsync_io_error() and netsync_io_free() make sense.
 */
int netsync_io_add_messages(struct netsync_io *io, const char *path,
			    int strict);
int netsync_io_add_packets(struct netsync_io *io, const char *path,
			   int strict);
int netsync_io_add_clocks(struct netsync_io *io, const char *path, int strict);

/**
 * netsync_io_set_split_netns() - make a host of every network namespace
 * @io: the reader
 * @split: 0, as at first: no; anything else: yes
 *
 * Each namespace (container) of a traced kernel is then a host of its own: the
 * namespace with inode number 4026532008 of the host "web" is the host
 * "web/netns-4026532008", or "web/NAME" if a file "netsync-namespaces" in the folder
 * of the trace, or in up to three above it (above "ust" for traces of user space), has
 * a line "4026532008 NAME". The host is added to the struct netsync when its first
 * packet is read, and so comes after the hosts that are not split. A host whose packet events have no field for the
 * namespace is not split. Of a host that is split, packet events without a namespace
 * are counted in a warning and not used: they may be of the same packets as the
 * others.
 *
 * To be called before netsync_io_read(). Live sessions are not split.
 */
void netsync_io_set_split_netns(struct netsync_io *io, int split);

/**
 * netsync_io_set_jobs() - say how many traces are read at a time
 * @io: the reader
 * @jobs: 0, as at first: as many as there are processors that this process may use;
 *	1: one after the other. Where there are more jobs than traces, the streams of a CTF trace are shared
 *	out among several processes. Texts are read one after the other.
 *
 * Packets are pushed in the same order whatever @jobs is, but of a trace so damaged that a
 * process which reads it ends: streams that others read are read on. To be called before
 * netsync_io_read(). Live sessions are always read side by side.
 */
void netsync_io_set_jobs(struct netsync_io *io, uint32_t jobs);

/**
 * netsync_io_set_timeout() - limit the wait for a trace that cannot be read on
 * @io: the reader
 * @timeout_ns: the longest wait without progress, ns; 0, as at first: 120 s
 *
 * A process that reads may be stuck, as on a dead disk or network, or on another machine.
 * A warning comes after a quarter of the time, at most 30 s; at the limit reading goes on
 * without the rest of that trace, and its field stuck says so. A file system that was given
 * up once is waited for a tenth of the time from then on. A server
 * (netsync_io_add_served()) that only says that it is there, and sends nothing else, is
 * given up after ten times as long. A pipe has no limit while this was not called with
 * another one than 0. To be called before netsync_io_add().
 */
void netsync_io_set_timeout(struct netsync_io *io, int64_t timeout_ns);

/* A trace, file or folder that was skipped, or a text or pipe of which the rest was. */
struct netsync_io_left_out {
	uint32_t size;		/* sizeof, filled in by the caller */
	uint32_t reserved;
	const char *what;	/* its path; owned by the reader */
	const char *why;	/* a sentence; owned by the reader */
};

/* The number of traces, files and folders that were skipped. */
uint32_t netsync_io_num_left_out(const struct netsync_io *io);

/**
 * netsync_io_get_left_out() - say what was skipped, and why
 * @io: the reader
 * @index: which one, in the order in which they were skipped
 * @info: filled in
 *
 * Return: 0; -EINVAL for an index or size that is not valid.
 */
int netsync_io_get_left_out(const struct netsync_io *io, uint32_t index,
			    struct netsync_io_left_out *info);

/* What a limit of struct netsync_io_window is. */
enum netsync_io_limit {
	NETSYNC_IO_NO_LIMIT = 0,
	NETSYNC_IO_AT = 1,	/* a time of each host's own clock, ns since 1970 */
	NETSYNC_IO_SINCE_BEGIN = 2,	/* so long (ns) after the begin, as below */
};

struct netsync_io_window {
	uint32_t size;		/* sizeof(struct netsync_io_window) */
	uint32_t begin_is;	/* enum netsync_io_limit */
	uint32_t end_is;
	uint32_t reserved;
	int64_t begin_ns;
	int64_t end_ns;
};

/**
 * netsync_io_set_window() - read only a part of the time
 * @io: the reader
 * @window: from when to when, both included; copied
 *
 * Of traces and of lines of packets, what is outside by the time of its host is as if it
 * had not been recorded: packet events, how the clock was steered, losses, and the span
 * of events. A message of a text is inside with both its times; lines that tell of clocks
 * are read nevertheless. Times are those of each host's own clock, before correction, as
 * the trace's own viewer prints them (and in the base of its host, see above): clocks that
 * differ by so much that the parts have nothing in common leave no messages.
 *
 * NETSYNC_IO_SINCE_BEGIN is counted from the begin of the longest of all hosts' traces,
 * by each host's clock; from the begin of a host's own traces if they are nearly as long
 * as those (15/16), or have no time in common with them: clocks may be wrong.
 *
 * Packets of CTF streams as LTTng writes them, and pages of trace.dat that are not
 * compressed, are passed without a look at their events where they are outside; other
 * formats are read on. To be called before netsync_io_read(), which returns -ERANGE if
 * nothing is inside of any trace, or the end is before the begin, and -ENODATA where it is
 * not known when the traces of a host begin. Live sessions have no such limits.
 *
 * Return: 0; -EINVAL for a size or limit that is not one; -EBUSY if netsync_io_read() was
 * called already, or live sessions were added.
 */
int netsync_io_set_window(struct netsync_io *io, const struct netsync_io_window *window);

/*
 * Called in place of netsync_push_packet() and netsync_push_clock(), whose errors they may
 * return. Observation points are numbered within the part.
 */
typedef int (*netsync_io_part_func)(void *data, const struct netsync_packet *pkt);
typedef int (*netsync_io_clock_func)(void *data, const struct netsync_clock_point *point);

/*
 * Called when a slice of each trace of the part was read, of as many @slices as all parts
 * have: slice 0, of nothing, first. Return: how many slices all parts have read, of which
 * all packets were pushed here that are to be; or a negative errno, which ends the reading.
 */
typedef int (*netsync_io_slice_func)(void *data, uint32_t slice, uint32_t slices);

/*
 * Called when all of the part was read, before what was counted is looked at: for
 * netsync_io_save_counts() and netsync_io_merge_counts(). 0, or a negative errno.
 */
typedef int (*netsync_io_end_func)(void *data);

/*
 * Which part of the traces a reader reads, of which others read the rest, and functions
 * for what it finds, which are called from within netsync_io_read().
 */
struct netsync_io_part {
	uint32_t size;		/* sizeof(struct netsync_io_part) */
	uint32_t part;		/* this one, below parts */
	uint32_t parts;
	uint32_t reserved;
	netsync_io_part_func packet;
	netsync_io_clock_func clock;
	netsync_io_slice_func slice;
	netsync_io_end_func end;
	void *data;		/* given to these */
};

/**
 * netsync_io_set_part() - have other readers, in other processes, read the other traces
 * @io: the reader, to which the same traces, texts and options were given as to the others
 * @part: which part; copied
 *
 * All traces are opened, so that hosts have the same numbers everywhere, and captures are
 * looked through for who sent what; read are those of some hosts. Of texts, the first part
 * reads messages and packets, and all read how clocks were steered. Traces of the first
 * server that was added (netsync_io_add_served()) are read by part 0, those of the second
 * one by part 1, and so on; the other parts need not more of it than netsync_io_describe()
 * writes. To be called before netsync_io_read().
 *
 * Return: 0; -EINVAL for no part; -EBUSY if the reader was used, or has live sessions, as
 * is what netsync_io_read() then returns for hosts that are split by network namespaces,
 * and -EEXIST for a host whose traces two parts would read; -ENOMEM.
 */
int netsync_io_set_part(struct netsync_io *io, const struct netsync_io_part *part);

/**
 * netsync_io_save_counts() - write what was counted of the traces that were read
 * @io: the reader; from within netsync_io_part.end()
 * @write: called for the bytes, which mean the same on every machine
 * @data: given to @write
 *
 * Return: 0; what @write returned; -EBUSY at another time.
 */
int netsync_io_save_counts(struct netsync_io *io, netsync_write_func write, void *data);

/**
 * netsync_io_merge_counts() - add what the reader of another part counted
 * @io: the reader; from within netsync_io_part.end()
 * @bytes: what netsync_io_save_counts() wrote
 * @size: how many bytes these are
 *
 * netsync_io_get_trace() and warnings then tell of those traces as if they had been read
 * here. Return: 0; -EBADMSG for what is not of another part of these traces;
 * -EBUSY at another time.
 */
int netsync_io_merge_counts(struct netsync_io *io, const void *bytes, size_t size);

/**
 * netsync_io_serve() - read traces for a reader on another machine
 * @io: a new reader, for nothing else
 * @what: what netsync_io_add() takes, @num of them; no captures
 * @num: how many these are
 * @in: a descriptor to read from what the other side wants,
 * @out: and one to write to; they may be the same. Whoever is at their other end
 *	calls netsync_io_add_served(), and is trusted with these traces, but with nothing
 *	else.
 *
 * The traces are read by child processes as netsync_io_read() would; packet events are
 * what is sent, compressed, some ten bytes each. It is over when the other side closes
 * the connection, or was told why there is no more. SIGPIPE has to be ignored. Captures
 * are left out, and what of @what cannot be opened; the other side is warned of that.
 *
 * Return: 0; -EBUSY if the reader was used; -ENOMEM, or what the system said where no
 * process can be started, or the connection ended at once.
 */
int netsync_io_serve(struct netsync_io *io, const char *const *what, uint32_t num,
		     int in, int out);

/**
 * netsync_io_describe() - write which traces there are, for readers that do not read them
 * @io: a new reader, for nothing else
 * @what: what netsync_io_add() takes, @num of them; no captures
 * @num: how many these are
 * @out: a descriptor to write to what netsync_io_serve() would write at first, up to the
 *	end of it; or why the traces cannot be opened. SIGPIPE has to be ignored.
 *
 * For netsync_io_add_served() in all processes that share the reading out but the one that
 * reads these traces: see netsync_io_set_part(). They may close the descriptors at once.
 * Return: as netsync_io_serve().
 */
int netsync_io_describe(struct netsync_io *io, const char *const *what, uint32_t num,
			int out);

/**
 * netsync_io_add_served() - add the traces that another process serves
 * @io: the reader
 * @label: the machine, for people: paths become LABEL:PATH; copied
 * @name: the host's name, instead of what the traces say; or NULL; copied
 * @in: a descriptor to read from what netsync_io_serve() writes,
 * @out: and one to write to, which may be the same. Both must not block (O_NONBLOCK),
 *	and remain open until netsync_io_read() returns. SIGPIPE has to be ignored.
 *
 * Waits until the traces there are open. They then are as if they were here, to the last
 * bit of every result; but for netsync_io_trace.readable, which is NULL. Nothing that
 * comes is trusted. Where the connection ends before all was read, nothing is heard for
 * a minute, or what comes makes no sense, a warning names @label, and the reader goes on
 * with what came until then; netsync_io_get_served() tells.
 *
 * Return: how many traces these are; or a negative errno, upon which the reader is as it
 * was before:
 *	-EREMOTEIO	there is no such server, or it said why it cannot read
 *	-EEXIST	one of its traces was added before
 *	-EBUSY	netsync_io_read() was called already, or live sessions were added
 *	-ENOMEM
 */
int netsync_io_add_served(struct netsync_io *io, const char *label, const char *name,
			  int in, int out);

struct netsync_io_served {
	uint32_t size;		/* sizeof, filled in by the caller */
	uint32_t num_traces;
	const char *label;	/* printable; owned by the reader */
	uint64_t stored_bytes;	/* size of its traces' files, as it says */
	uint64_t received_bytes;	/* sent by it until now */
	uint32_t ended;		/* 1: the connection ended before all was read */
	uint32_t left_out;	/* paths and captures that it did not open, as it says */
};

/* The number of servers that were added. */
uint32_t netsync_io_num_served(const struct netsync_io *io);

/**
 * netsync_io_get_served() - what is known of a server
 * @io: the reader
 * @index: which one, in the order in which they were added
 * @info: filled in; its size field says how much of it the caller knows
 *
 * Return: 0; -EINVAL for an index or size that is not valid.
 */
int netsync_io_get_served(const struct netsync_io *io, uint32_t index,
			  struct netsync_io_served *info);

/*
 * Called with the progress of reading: @done of @total steps. Return 0 to go on,
 * anything else to stop.
 */
typedef int (*netsync_io_progress_func)(void *data, uint64_t done,
					uint64_t total);

/**
 * netsync_io_read() - read all traces and text files that were added
 * @io: the reader
 * @progress: called now and then, or NULL
 * @data: given to @progress
 *
 * Adds the hosts to the struct netsync, in the order of their names, and
 * pushes every packet event. The traces are read side by side, a slice of the
 * recorded time of each in turn: by what the clocks say, or from the beginning
 * of each where these have nothing in common. The result does not depend on the order in
 * which traces were added, nor on how many are read at a time. May be called once.
 *
 * Return: 0; -ENODATA if nothing was added, or nothing in a text file can be
 * used; -EDESTADDRREQ where addresses of a captured host must be given; -ENOENT
 * where some were given for one that is not there; -EILSEQ for a bad line, if strict,
 * and for a bad first line of packet events; -ECANCELED if @progress said to stop;
 * -EBUSY if called before, or live sessions were added; -ENOMEM, or what the system
 * said of a file that cannot be read.
 */
int netsync_io_read(struct netsync_io *io, netsync_io_progress_func progress,
		    void *data);

/**
 * netsync_io_add_live() - follow sessions while they are recorded
 * @io: the reader
 * @url: "net://HOST[:PORT]" for all live sessions of an LTTng relay daemon,
 *	those that begin later, too; or "net://HOST[:PORT]/host/NAME/SESSION" for
 *	that one; copied. Live sessions are those made by "lttng create --live".
 *
 * Nothing is asked for before netsync_io_poll(). One reader reads either live
 * sessions or what was recorded.
 *
 * Return: 0; or a negative errno:
 *	-EINVAL	this is no such URL
 *	-EEXIST	it was added before
 *	-EBUSY	traces or texts were added to the reader
 *	-ENOMEM
 */
int netsync_io_add_live(struct netsync_io *io, const char *url);

/**
 * netsync_io_add_live_clocks() - follow a file of how the hosts' clocks are steered
 * @io: the reader
 * @path: a file that grows, as in netsync-clocks(5), with times as in one beside a trace:
 *	of the clock before its offset from the epoch. Its hosts are those by whose names
 *	the sessions' machines go. It may come later than the sessions. Copied.
 *
 * netsync_io_poll() reads what was added to the file, and promises no time of a host
 * (netsync_advance()) that the file does not tell of yet, unless it has not for 10
 * seconds. Where a host's sessions themselves tell of its clock, nothing should.
 *
 * Return: 0; or a negative errno:
 *	-ENODATA	no live session was added
 *	-ENOMEM
 */
int netsync_io_add_live_clocks(struct netsync_io *io, const char *path);

/**
 * netsync_io_poll() - push what has come from live sessions
 * @io: the reader
 * @timeout_ms: how long to go on; 0: only what is there already
 *
 * Adds hosts to the struct netsync when they are met first, pushes their packet
 * events, and says by netsync_advance() how far each host was read, so that
 * memory need not grow; where that cannot be sure (a host that nobody talks
 * to), netsync_limit_packets() bounds it. netsync_solve() may be called between
 * any two calls.
 *
 * Sessions may come and go: a relay daemon that does not answer, and a session
 * that has another viewer (the daemon allows one) or could not be read any
 * further, are warned about and tried again. Sessions of a host that begin later
 * are brought to the time base of its first one. Each time that a session is
 * read from is a trace for netsync_io_get_trace(), with the session's URL as its
 * path; what went by before is missing (late).
 *
 * Sessions are read by child processes (fork), which end with netsync_io_free() or
 * this process. A signal that is caught ends the call.
 *
 * Return: how many packet events were pushed; or a negative errno:
 *	-ENODATA	no live session was added
 *	-ENOSYS	Babeltrace 2 is not installed in full
 *	-ENOMEM, or what the system said where no process can be started
 */
int netsync_io_poll(struct netsync_io *io, int timeout_ms);

struct netsync_io_trace {
	uint32_t size;		/* sizeof, filled in by the caller */
	uint32_t host;		/* as in netsync_get_host() */
	const char *path;	/* its file or folder; owned by the reader */
	int64_t shift_ns;	/* host's time = time in the trace + this */
	uint64_t packets;	/* packet events pushed */
	int64_t first_ns;	/* span of events that were read, in the host's time; */
	int64_t last_ns;	/* last < first: there are none */
	uint64_t lost_events;	/* discarded by the tracer, as it says */
	uint64_t lost_packets;	/* trace packets (sub-buffers) discarded, as it says */
	uint32_t damaged;	/* streams that were read in part or not at all */
	uint32_t netns;		/* inode of the namespace that is the host; 0: all */
	uint32_t running;	/* 1: a live session that is being read */
	uint32_t late;		/* 1: a live session that began before first_ns */

	/* Host and clock. */
	const char *format;	/* "ctf", "trace.dat", "perf.data", "pcap"; owned by the reader */
	/*
	 * By NAME=PATH, or by the trace; owned by the reader. That of a capture is found by
	 * all captures together, and valid until another trace is added.
	 */
	const char *host_name;
	/*
	 * Name of the clock among those of the machine; NULL: it has none.
	 * NETSYNC_IO_CORRECTED_CLOCK: the trace has corrected times already.
	 */
	const char *clock_name;
	int64_t epoch_ns;	/* time of the clock's zero, ns since 1970 */
	uint32_t has_clock_uuid;
	uint8_t clock_uuid[16];

	/*
	 * Path of the readable part of a damaged trace, until netsync_io_read(): for CTF
	 * a folder with a trace, for a capture the file itself. Also of a trace in CTF 2
	 * where libbabeltrace2 knows CTF 1.8 only: a folder with the same in CTF 1.8.
	 * NULL: neither.
	 */
	const char *readable;

	/* Of those that are damaged: they may not be, but the process that read them was killed, */
	uint32_t killed;
	uint32_t stuck;		/* or made no progress, and was given up */

	/*
	 * How the trace's clock relates to wall-clock time (UTC), if the trace says so: ns
	 * since 1970 = time in the trace + wall_shift_ns, at some instant near the trace's
	 * begin. A label for people: it is as good as the machine's wall clock, which
	 * no error bound covers.
	 */
	uint32_t has_wall;
	int64_t wall_shift_ns;
};

/* netsync_io_trace.host of a trace that was not read yet. */
#define NETSYNC_IO_NO_HOST UINT32_MAX

/* The name of the clock in CTF traces whose times netsync has corrected. */
#define NETSYNC_IO_CORRECTED_CLOCK "netsync"

/*
 * The number of traces. Before netsync_io_read() these are the ones that
 * netsync_io_add() has found until now, in that order; path, damaged, host and clock of
 * them are known, and first_ns and last_ns, in the time of the trace, if these need no
 * reading; host is NETSYNC_IO_NO_HOST. Live sessions are added by netsync_io_poll(). A
 * trace that is split into network namespaces is there once for each: packets are
 * those of the namespace, all other fields are of the whole trace.
 */
uint32_t netsync_io_num_traces(const struct netsync_io *io);

/**
 * netsync_io_get_trace() - what is known of a trace
 * @io: the reader
 * @index: which one; after reading they are in the order of hosts, then of paths
 * @info: filled in; its size field says how much of it the caller knows
 *
 * Return: 0; -EINVAL for an index or size that is not valid.
 */
int netsync_io_get_trace(const struct netsync_io *io, uint32_t index,
			 struct netsync_io_trace *info);

/* Where a processor is not known, and how many events were lost. */
#define NETSYNC_IO_NO_CPU UINT32_MAX
#define NETSYNC_IO_LOST_SOME UINT64_MAX

/*
 * An event of any kind; or, where lost is not 0, that the tracer lost events there, which
 * has no name and no fields.
 */
struct netsync_io_event {
	uint32_t size;		/* sizeof, as the library knows it */
	uint32_t cpu;		/* of a loss: of the last event before, in its stream */
	int64_t time_ns;	/* as babeltrace2 or trace-cmd report -t prints it, with the
				 * shift; of a loss: of the last event before, in its stream;
				 * INT64_MIN: there was none */
	uint64_t lost;		/* how many were lost, at least */
	const char *system;	/* "sched"; CTF has none: "" */
	const char *name;	/* "sched_switch"; the same pointer for all of a type */
	const char *const *fields;	/* names; those of the context come first */
	uint32_t num_fields;
	uint32_t num_context;	/* how many of these are of the context: of trace.dat, the
				 * fields that all events have */
	const void *reserved;
};

enum netsync_io_value_kind {
	NETSYNC_IO_SIGNED = 1,
	NETSYNC_IO_UNSIGNED = 2,
	NETSYNC_IO_TEXT = 3,	/* without trailing zeros */
	NETSYNC_IO_BYTES = 4,
	NETSYNC_IO_REAL = 5,
	NETSYNC_IO_BOOL = 6,
};

struct netsync_io_value {
	uint32_t size;		/* sizeof, filled in by the caller */
	uint32_t kind;		/* enum netsync_io_value_kind */
	int64_t number;		/* an integer; unsigned ones have the same bits */
	const uint8_t *bytes;	/* a text, an array of bytes, or an integer's label */
	uint32_t num_bytes;	/* of these; 0: the integer has no label */
	double real;
};

/*
 * Called with an event, which is valid during the call. Return 0 to go on, anything else
 * to stop.
 */
typedef int (*netsync_io_event_func)(void *data,
				     const struct netsync_io_event *event);

/* A trace whose events are read. */
struct netsync_io_source {
	const char *path;	/* as of struct netsync_io_trace */
	int64_t shift_ns;	/* added to all times; events beyond 64 bits are passed */
};

/**
 * netsync_io_read_events() - read all events of the traces of a host
 * @io: for errors; nothing is added to it
 * @sources: CTF traces, each the folder that holds its metadata, or trace.dat or
 *	perf.data files
 * @num: how many these are
 * @source_size: of one of them, sizeof(struct netsync_io_source): a later version may
 *	have more in it
 * @each: called for every event; those of all processors and, of CTF, all traces in the
 *	order of time; trace.dat and perf.data files are read one after the other
 * @data: given to @each
 *
 * Only what netsync_io_event_value() is asked for is decoded, where streams are as LTTng
 * writes them (CTF 1.8); libbabeltrace2 reads others. For some damaged CTF traces it ends
 * the process, so that traces of which netsync_io_add() tells damage are for a process of
 * their own. If a processor's events in a trace.dat file are damaged, those before the
 * damage are shown, and so are those of a perf.data file. netsync_io_add() and netsync_io_read() warn about that, and tell the
 * host.
 *
 * Return: 0; -ECANCELED if @each said to stop; -EILSEQ or -EPROTONOSUPPORT for a trace
 * that cannot be read; -EINVAL for traces of several formats; -ENOMEM, or what the system
 * said.
 */
int netsync_io_read_events(struct netsync_io *io,
			   const struct netsync_io_source *sources, uint32_t num,
			   size_t source_size, netsync_io_event_func each,
			   void *data);

/**
 * netsync_io_event_value() - the value of a field
 * @event: the event, as it was told
 * @field: which one, below num_fields
 * @value: filled in; its size field says how much of it the caller knows. What it points
 *	to is valid during the call for the event
 *
 * Return: 0; -EINVAL for a field or size that is not valid; -ENODATA for what is no
 * number, text or array of bytes, or not in the event; -ENOMEM.
 */
int netsync_io_event_value(const struct netsync_io_event *event, uint32_t field,
			   struct netsync_io_value *value);

/* A frame of a capture that holds a packet of a protocol that is matched. */
struct netsync_io_frame {
	uint32_t size;		/* sizeof, as the library knows it */
	uint32_t reserved;
	uint64_t number;	/* from 1 on, as frame.number of Wireshark */
	/*
	 * The begin of the tick of its timestamp, ns since 1970, and the length of a tick.
	 * As packet events, frames that were sent have time_ns, and those that were received
	 * time_ns + tick_ns - 1.
	 */
	int64_t time_ns;
	int64_t tick_ns;
	/* Without host, observation point and direction; valid during the call. */
	const struct netsync_packet *packet;
};

/* Called with a frame. Return 0 to go on, anything else to stop. */
typedef int (*netsync_io_frame_func)(void *data, const struct netsync_io_frame *frame);

/**
 * netsync_io_read_frames() - read a capture again, to find out which frames messages are
 * @io: for errors; nothing is added to it. After netsync_io_read() it still has what came
 *	from a pipe
 * @path: a pcap or pcapng file, as in struct netsync_io_trace
 * @each: called for each frame with a packet, in the order of the file
 * @data: given to @each
 *
 * Frames of other protocols, cut ones and those without a time are counted, and skipped.
 * The reading ends, without an error, where the file is damaged.
 *
 * Return: 0; -ECANCELED if @each said to stop; -EPROTONOSUPPORT for a file that is no
 * capture; -ENOMEM, or what the system said.
 */
int netsync_io_read_frames(struct netsync_io *io, const char *path,
			   netsync_io_frame_func each, void *data);

/* A time in a trace, and the time that the copy is to have instead. */
struct netsync_io_knot {
	int64_t time_ns;
	int64_t new_ns;
};

/**
 * netsync_io_copy_tracedat() - copy a trace.dat file with other times
 * @io: for errors; nothing is added to it
 * @from: the file, of trace-cmd
 * @to: the copy, a file that does not exist; what is there after an error is of
 *	no use
 * @knots: from the first event to behind the last one, as trace-cmd report -t
 *	prints their times; in order, no two at one time. Between these, readers
 *	interpolate.
 * @num: how many these are, 2 at least
 * @knot_size: of one of them, sizeof(struct netsync_io_knot): a later version may
 *	know more of each
 * @progress: called now and then while it is copied, or NULL
 * @data: given to @progress
 *
 * All else stays as it is: what readers have to add is told by the option
 * TIME_SHIFT, for all processors. They compute with 64 bits: from each knot to
 * the next one, the time that passes multiplied by the change of what is to be
 * added has to fit into these. New times must not be negative.
 *
 * Return: 0; -EINVAL for knots that cannot be used; -ENOTSUP where readers would
 * not obey (the file has that option already, counts cycles, or has events in
 * buffers with a name); -EILSEQ or -EPROTONOSUPPORT for a file that cannot be
 * read; -ECANCELED if @progress said to stop; -ENOMEM, or what the system said.
 */
int netsync_io_copy_tracedat(struct netsync_io *io, const char *from,
			     const char *to, const struct netsync_io_knot *knots,
			     uint32_t num, uint32_t knot_size,
			     netsync_io_progress_func progress, void *data);

/* Called for the time of an event, as in the original. Return 0: the copy is not to have it. */
typedef int (*netsync_io_keep_func)(void *data, int64_t time_ns);

/**
 * netsync_io_copy_tracedat_part() - copy some events of a trace.dat file
 * @keep: which events the copy is to have; NULL: all. Those of a page that lie between two
 *	that it has stay, too, though.
 * @data: given to @keep and @progress
 *
 * The others as of netsync_io_copy_tracedat(), which this does besides. Where events are
 * left out, the copy has holes, as a sparse file, and those that were compressed are not.
 *
 * Return: as netsync_io_copy_tracedat().
 */
int netsync_io_copy_tracedat_part(struct netsync_io *io, const char *from,
				  const char *to,
				  const struct netsync_io_knot *knots,
				  uint32_t num, uint32_t knot_size,
				  netsync_io_keep_func keep,
				  netsync_io_progress_func progress, void *data);

/* What a netsync_io_time_func returns for a packet that the copy is not to have. */
#define NETSYNC_IO_LEFT_OUT 1

/*
 * Called for the time that the copy is to have instead of @time_ns, to be put into
 * @new_ns. Return 0; NETSYNC_IO_LEFT_OUT, @new_ns put, too; -ERANGE if there is none;
 * another negative errno to give up.
 */
typedef int (*netsync_io_time_func)(void *data, int64_t time_ns,
				    int64_t *new_ns);

/**
 * netsync_io_copy_capture() - copy a pcap or pcapng file with other times
 * @io: for errors and warnings; nothing is added to it
 * @from: the file
 * @to: the copy, a file that does not exist; what is there after an error is
 *	of no use
 * @time: called for each packet, and for the times in statistics of interfaces
 * @data: given to @time
 *
 * Packets are left out for which @time says so; statistics, and what has no time, are not.
 * All else stays as it is, the order too; but times that were in units of more
 * than a nanosecond are in nanoseconds (of pcapng also those in binary
 * fractions of a second), which the copy's headers say. Of a damaged file what
 * is before the damage is copied, with a warning.
 *
 * Return: 0; -ERANGE for a time that cannot be changed, or written; what @time
 * returned; -ENOMEM, or what the system said.
 */
int netsync_io_copy_capture(struct netsync_io *io, const char *from,
			    const char *to, netsync_io_time_func time,
			    void *data);

/* A capture that is merged with others. */
struct netsync_io_capture {
	const char *path;	/* as of struct netsync_io_trace */
	const char *host;	/* its interfaces are called by this: "web/eth0" */
	const char *device;	/* what follows if the capture names no device; NULL: nothing */
	const char *description;	/* added to those of its interfaces; NULL: nothing */
	netsync_io_time_func time;	/* called at least twice for each packet */
	void *data;		/* given to @time */
};

/**
 * netsync_io_merge_captures() - put captures into one, in the order of other times
 * @io: for errors and warnings; nothing is added to it
 * @captures: pcap and pcapng files
 * @num: how many these are
 * @capture_size: of one of them, sizeof(struct netsync_io_capture): a later version may
 *	have more in it
 * @comment: of the merged capture; NULL: none
 * @fd: the merged capture is written there, in turn, so that a pipe will do; what was
 *	written before an error is of no use
 * @progress: called now and then, or NULL
 * @data: given to @progress
 *
 * It is pcapng, of one section, with times in nanoseconds. Packets at the same time are in
 * the order of @captures. Bytes, lengths and options of packets stay, and so do those of
 * interfaces, statistics, names of addresses and secrets; interfaces that are described in
 * the same words are one. Packets of a capture may be out of order, as far as 64 MiB of
 * them have to be held back.
 *
 * Packets are left out for which @time of their capture says so, and, with a warning, those
 * that have no time, and blocks of other kinds. Of a damaged file what is before the damage
 * is merged, with a warning. All captures are read before anything is written.
 *
 * Return: 0; -EINVAL without captures; -ERANGE for a time that cannot be changed, or is
 * negative then; what a @time returned; -E2BIG for packets too far out of order, one of more
 * than 16 MiB, or more than 65536 interfaces; -EILSEQ for a file that changes meanwhile;
 * -ECANCELED if @progress said to stop; -ENOMEM, or what the system said.
 */
int netsync_io_merge_captures(struct netsync_io *io,
			      const struct netsync_io_capture *captures, uint32_t num,
			      size_t capture_size, const char *comment, int fd,
			      netsync_io_progress_func progress, void *data);

/**
 * netsync_io_copy_perf() - copy a perf.data file of perf record with other times
 * @io: for errors and warnings; nothing is added to it
 * @from: the file
 * @to: the copy, a file that does not exist; what is there after an error is
 *	of no use
 * @time: called for each event, and for each other record that has a time, whose own one
 *	it is, or the nearest one of an event
 * @data: given to @time
 *
 * Events are left out for which @time says so; records of threads and their memory are
 * not, and those before the first event or behind the last one move as these do. All else
 * stays as it is, the order too; but what was compressed is not any more. Of a damaged file
 * what is before the damage is copied, with a warning.
 *
 * Return: 0; -ERANGE for a time that cannot be changed, or is negative then; what @time
 * returned; -ENODATA if no event has a time; -ENOTSUP for a file with AUX areas, whose
 * times have another clock, or one that perf did not end;
 * -EILSEQ or -EPROTONOSUPPORT for a file that cannot be read; -ENOMEM, or what the system
 * said.
 */
int netsync_io_copy_perf(struct netsync_io *io, const char *from, const char *to,
			 netsync_io_time_func time, void *data);

#ifdef __cplusplus
}
#endif

#endif /* NETSYNC_IO_H */
