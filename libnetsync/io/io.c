// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read the packets and spans of hosts from traces, through the public calls of netsync-io.h.
 * Traces are read in time slices, one slice of each trace in turn:
 *
 *	trace 0  |--1--|--4--|--7--|	numbers: the order in which slices are pushed
 *	trace 1  |--2--|--5--|--8--|
 *	trace 2  |--3--|--6--|--9--|
 *
 * The two records of a packet are therefore read soon after each other.
 */
#include <errno.h>
#include <sched.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/direction/direction.h"
#include "io/io.h"
#include "io/live/live.h"
#include "io/patience.h"
#include "io/remote/remote.h"
#include "io/spans/relations.h"

/*
 * Number and length of a trace's slices. There are enough slices that few packet records wait for
 * their counterpart, and few enough that switching between traces costs nothing. Each trace has
 * NUM_SLICES steps of progress. If a step is longer than SLICE_NS, it is divided into up to
 * MAX_STEP_SLICES slices. All values are chosen.
 */
#define NUM_SLICES 1024		      /* steps of progress in a trace */
#define SLICE_NS UINT64_C(2000000000) /* ns */
#define MAX_STEP_SLICES 64	      /* maximum number of slices in a step of progress */
/*
 * Number of slices by which a trace may be read ahead, so that no process waits while another
 * process reads a long slice. Reading ahead is started for half of them at a time. Chosen:
 * sockets accept a limited amount of data, regardless of the number of slices.
 */
#define SLICES_AHEAD 64

/* ---- messages ---------------------------------------------------------- */

static char *format_list(const char *format, va_list args)
{
	char *text;

	return vasprintf(&text, format, args) < 0 ? NULL : text;
}

char *io_format(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = format_list(format, args);
	va_end(args);
	return text;
}

/* Return the length of a name without an extension, if the name has it and more. */
static size_t strip_extension(const char *name, size_t len, const char *end)
{
	const size_t num = strlen(end);

	return len > num && !strncmp(name + len - num, end, num) ? len - num : len;
}

char *io_strip_extensions(const char *path, const char *const *ends)
{
	static const char *const compressed[] = { ".gz", ".zst", ".xz", ".lz4" };
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(compressed) / sizeof(compressed[0]); i++)
		len = strip_extension(name, len, compressed[i]);
	for (; *ends; ends++)
		len = strip_extension(name, len, *ends);
	return strndup(name, len);
}

int io_fail(struct netsync_io *io, int err, const char *format, ...)
{
	va_list args;

	free(io->error);
	va_start(args, format);
	io->error = format_list(format, args);
	va_end(args);
	return err;
}

void io_forget_error(struct netsync_io *io)
{
	free(io->error);
	io->error = NULL;
}

int io_fail_no_memory(struct netsync_io *io)
{
	return io_fail(io, -ENOMEM, "Out of memory.");
}

int io_fail_file(struct netsync_io *io, const char *path, int err)
{
	if (err == -ENOMEM)
		return io_fail_no_memory(io);
	if (err == -ETIMEDOUT)
		return io_fail(io, err, "%s: nothing was read for %lld s.", path,
			       (long long)io_get_timeout_ms(io) / 1000);
	return io_fail(io, err, "%s: %s.", path, strerror(-err));
}

int io_fail_contents(struct netsync_io *io, const char *path, const struct disk_file *from,
		     const char *format, const char *problem, int err)
{
	if (!from)
		return err;
	if (disk_is_stuck(from))
		return io_fail_file(io, path, -ETIMEDOUT);
	if (err == -ENOMEM || !problem)
		return io_fail_file(io, path, err);
	return io_fail(io, err, "%s: this %s cannot be read: %s.", path, format, problem);
}

void io_warn(struct netsync_io *io, const char *format, ...)
{
	va_list args;
	char *text;

	if (!io->warn)
		return;
	va_start(args, format);
	text = format_list(format, args);
	va_end(args);
	io->warn(io->warn_data, text ? text : "Out of memory.");
	free(text);
}

/* ---- reading ----------------------------------------------------------- */

struct slices {
	unsigned int num;
	uint64_t length_ns; /* total length of all slices (ns) */
};

/*
 * Compute the end of a slice. The result is in the trace's time as printed. If @trace is NULL, it
 * is in the host's time.
 */
static int64_t compute_slice_end(const struct io_host *host, const struct trace *trace,
				 unsigned int slice, const struct slices *slices)
{
	__int128 end;

	/* Whatever the window is, a host has no more packets after its last slice. */
	if (slice == slices->num || host->range.hi < host->range.lo)
		return trace ? trace->window.hi : INT64_MAX;
	end = host->start_ns - (__int128)(trace ? trace->info.shift_ns : 0) +
	      (__int128)slices->length_ns * slice / slices->num;
	/* Readers use INT64_MIN for "nothing was read yet". */
	if (trace && end > trace->window.hi)
		end = trace->window.hi;
	return end > INT64_MAX ? INT64_MAX : end <= INT64_MIN ? INT64_MIN + 1 : end;
}

/*
 * Tell the library (netsync.h) that all packets of hosts up to the end of a slice have been pushed.
 */
static int advance_hosts(struct netsync_io *io, const struct io_host *hosts, size_t num,
			 unsigned int slice, const struct slices *slices)
{
	int ret = 0;

	for (size_t i = 0; i < num && !ret; i++)
		if (hosts[i].number >= 0)
			ret = netsync_advance(io->ns, (uint32_t)hosts[i].number,
					      compute_slice_end(&hosts[i], NULL, slice, slices));
	for (size_t i = 0; i < io->num_traces; i++)
		for (size_t j = 0; j < io->traces[i]->num_parts && !ret; j++)
			ret = netsync_advance(io->ns, io->traces[i]->parts[j].host,
					      compute_slice_end(io->traces[i]->host, NULL, slice,
								slices));
	return ret < 0 ? io_fail(io, ret, "%s.", netsync_error(io->ns)) : 0;
}

/* ---- slices in turn ---------------------------------------------------- */

/*
 * A turn is one slice of one trace: turn number = slice * traces + trace. Workers read ahead,
 * but events are pushed in the order of turns, so that results do not depend on the number of
 * jobs.
 */
struct slice_turns {
	struct netsync_io *io;
	const struct slices *slices;
	unsigned int jobs;
	uint64_t ahead; /* number of turns that may be read ahead of the current turn */
	uint64_t begun; /* first turn that has not been announced to a worker yet */
	/* For each trace with its own worker: the number of turns begun but not yet used. */
	unsigned int *pending;
	unsigned int reading; /* number of traces with pending turns, at most the number of jobs */
};

/* Return the number of processors that this process may use. */
static unsigned int count_usable_processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return (unsigned int)CPU_COUNT(&set);
}

unsigned int io_get_jobs(const struct netsync_io *io)
{
	return io->jobs ? io->jobs : count_usable_processors();
}

void io_divide_traces(struct netsync_io *io, size_t ours)
{
	const size_t each = ours ? io_get_jobs(io) / ours : 0;

	for (size_t i = 0; i < io->num_traces && each > 1; i++) {
		struct trace *trace = io->traces[i];

		if (trace->reader->divide && io_reads_trace(io, trace))
			trace->reader->divide(trace, (uint32_t)each);
	}
}

static int64_t compute_turn_end(const struct slice_turns *turns, uint64_t turn)
{
	const struct netsync_io *io = turns->io;
	const struct trace *trace = io->traces[turn % io->num_traces];

	return compute_slice_end(trace->host, trace, turn / io->num_traces + 1, turns->slices);
}

/*
 * Count a turn that the trace's own worker begins. Return false if all jobs are busy, so that the
 * turn cannot begin yet.
 */
static bool count_begun_turn(struct slice_turns *turns, size_t i, bool is_next)
{
	const struct trace_reader *reader = turns->io->traces[i]->reader;

	if (!reader->ahead && !reader->divide)
		return true;
	if (!is_next && !turns->pending[i] && turns->reading >= turns->jobs)
		return false;
	turns->reading += !turns->pending[i]++;
	return true;
}

static void count_read_turn(struct slice_turns *turns, size_t i)
{
	if (!turns->pending[i])
		return;
	turns->pending[i] = turns->io->traces[i]->has_ended ? 0 : turns->pending[i] - 1;
	turns->reading -= !turns->pending[i];
}

/*
 * Begin turns ahead. Turns are begun in batches of half the limit, because each announcement to a
 * worker takes time.
 */
static void begin_turns_ahead(struct slice_turns *turns, uint64_t turn)
{
	const size_t num = turns->io->num_traces;

	if (turns->begun > turn + turns->ahead / 2)
		return;
	for (; turns->begun <= turn + turns->ahead && turns->begun < num * turns->slices->num;
	     turns->begun++) {
		const size_t i = turns->begun % num;

		if (turns->io->traces[i]->has_ended)
			continue;
		if (!count_begun_turn(turns, i, turns->begun == turn))
			break;
		io_read_ahead(turns->io->traces[i], compute_turn_end(turns, turns->begun));
	}
	io_begin_reading(turns->io);
}

static int read_slice_turn(struct slice_turns *turns, uint64_t turn)
{
	const size_t i = turn % turns->io->num_traces;
	int ret;

	begin_turns_ahead(turns, turn);
	if (turns->io->traces[i]->has_ended)
		return 0;
	ret = io_read_slice(turns->io->traces[i], compute_turn_end(turns, turn));
	if (ret < 0)
		return ret;
	count_read_turn(turns, i);
	return 0;
}

/* Return the number of slices in a step of progress. */
static unsigned int count_step_slices(uint64_t length_ns)
{
	uint64_t more = length_ns / (NUM_SLICES * SLICE_NS);

	return more < MAX_STEP_SLICES ? (unsigned int)more + 1 : MAX_STEP_SLICES;
}

static int read_slices(struct netsync_io *io, struct io_host *hosts, size_t num_hosts,
		       uint64_t done)
{
	const uint64_t length_ns = io_set_starts(hosts, num_hosts);
	const unsigned int step = count_step_slices(length_ns);
	const struct slices slices = { NUM_SLICES * step, length_ns };
	const size_t num = io->num_traces;
	unsigned int everywhere;
	size_t ours = 0;
	struct slice_turns turns = {
		.io = io,
		.slices = &slices,
		.jobs = io_get_jobs(io),
		.pending = calloc(num, sizeof(*turns.pending)),
	};
	int ret = turns.pending ? 0 : io_fail_no_memory(io);

	for (size_t i = 0; i < num && !ret; i++) {
		/* Other processes read the other parts' traces. */
		io->traces[i]->has_ended = !io_reads_trace(io, io->traces[i]);
		ours += !io->traces[i]->has_ended;
	}
	if (turns.jobs > 1)
		turns.ahead = SLICES_AHEAD * (uint64_t)num;
	if (!ret)
		io_divide_traces(io, ours);
	if (!ret)
		ret = io_end_slice(io, 0, slices.num, &everywhere);
	for (uint64_t turn = 0; turn < num * slices.num && !ret; turn++) {
		const unsigned int slice = turn / num + 1;

		ret = read_slice_turn(&turns, turn);
		if (!ret && slice % step == 0)
			ret = io_report_progress(io, ++done);
		if (ret || turn % num != num - 1)
			continue;
		ret = io_end_slice(io, slice, slices.num, &everywhere);
		if (!ret && everywhere)
			ret = advance_hosts(io, hosts, num_hosts, everywhere, &slices);
	}
	io_stop_reading(io);
	free(turns.pending);
	return ret;
}

int io_warn_broken_off(struct trace *trace, const struct range *packets, const char *which,
		       const char *why)
{
	trace->info.damaged++;
	if (packets->hi < packets->lo) {
		io_warn(trace->io, "%s: %snot read (%s).", trace->path, which, why);
		return 0;
	}
	io_warn(trace->io, "%s: %sread only up to the packet event at %lld ns (%s).", trace->path,
		which, (long long)packets->hi, why);
	return io_add_span(trace, packets->lo, packets->hi);
}

static void warn_of_losses(struct netsync_io *io, const struct trace *trace)
{
	const struct netsync_io_trace *info = &trace->info;

	if (info->lost_events)
		io_warn(io, "%s: the tracer discarded at least %llu events; %s.", trace->path,
			(unsigned long long)info->lost_events, trace->reader->avoids_loss);
	if (info->lost_packets)
		io_warn(io,
			"%s: at least %llu trace packets are missing because the tracer overwrote them; %s.",
			trace->path, (unsigned long long)info->lost_packets,
			trace->reader->avoids_loss);
	if (trace->without_netns)
		io_warn(io,
			"%s: %llu packet events do not report their network namespace and were not used; to split a host, record only inet_sock_local_in and inet_sock_local_out.",
			trace->path, (unsigned long long)trace->without_netns);
	if (trace->out_of_range)
		io_warn(io,
			"%s: %llu packet events were not used: their times are outside the years 1824 to 2116, or more than 36 years from the other events or from the clock readings; check that the clock of %s is set, and that the readings are from that clock.",
			trace->path, (unsigned long long)trace->out_of_range, trace->host_name);
}

/* Warn about a host without packets in any of its traces, which begin at index @from. */
static void warn_of_silence(struct netsync_io *io, size_t from, size_t to)
{
	const struct trace *trace = io->traces[from];
	bool has_network = false;

	for (size_t i = from; i < to; i++) {
		const struct trace *part = io->traces[i];

		/* An earlier warning explained why packets were not used. */
		if (part->info.packets || part->unused || part->has_unusable ||
		    part->without_netns || part->out_of_range || part->info.killed ||
		    part->info.stuck)
			return;
		has_network |= io->traces[i]->has_network;
	}
	if (io->window.begin_is || io->window.end_is)
		io_warn(io,
			"%s: no packet events of %s in the requested time window, which refers to the clock of that host.",
			trace->path, trace->host_name);
	else if (has_network)
		io_warn(io,
			"%s: no TCP, UDP, SCTP or echo packets were recorded on %s; hosts can be synchronized only if they exchange packets while they are traced.",
			trace->path, trace->host_name);
	else
		io_warn(io, "%s: no network events of %s; %s.", trace->path, trace->host_name,
			trace->reader->to_record);
}

static void warn_of_all_traces(struct netsync_io *io)
{
	size_t from = 0;

	for (size_t i = 0; i < io->num_traces; i++) {
		warn_of_losses(io, io->traces[i]);
		if (i + 1 < io->num_traces && io->traces[i]->host == io->traces[i + 1]->host)
			continue;
		warn_of_silence(io, from, i + 1);
		from = i + 1;
	}
}

int io_report_progress(struct netsync_io *io, uint64_t done)
{
	uint64_t total = io->num_texts * 2 * TEXT_STEPS + io->num_traces * NUM_SLICES;

	if (!io->progress || !io->progress(io->progress_data, done, total))
		return 0;
	return io_fail(io, -ECANCELED, "Reading was stopped.");
}

static int compare_infos_by_host_and_path(const void *a, const void *b)
{
	const struct netsync_io_trace *p = a, *q = b;

	if (p->host != q->host)
		return p->host < q->host ? -1 : 1;
	return strcmp(p->path, q->path);
}

static struct netsync_io_trace get_trace_info(const struct trace *trace)
{
	struct netsync_io_trace info = trace->info;

	info.path = trace->path;
	info.host_name = trace->host_name;
	info.clock_name = trace->clock_name;
	info.epoch_ns = trace->epoch_ns;
	info.has_wall = trace->has_wall;
	info.wall_shift_ns = trace->wall_shift_ns;
	info.has_clock_uuid = trace->has_clock_uuid;
	memcpy(info.clock_uuid, trace->clock_uuid, UUID_SIZE);
	return info;
}

int io_make_infos(struct netsync_io *io)
{
	size_t num = io->num_traces;

	for (size_t i = 0; i < io->num_traces; i++)
		num += io->traces[i]->num_parts;
	free(io->infos);
	io->num_infos = 0;
	io->infos = calloc(num + 1, sizeof(*io->infos));
	if (!io->infos)
		return io_fail_no_memory(io);
	for (size_t i = 0; i < io->num_traces; i++) {
		const struct trace *trace = io->traces[i];
		struct netsync_io_trace info = get_trace_info(trace);

		if (!trace->host)
			continue;
		info.host = (uint32_t)trace->host->number;
		if (!trace->num_parts && trace->host->number >= 0)
			io->infos[io->num_infos++] = info;
		for (size_t j = 0; j < trace->num_parts; j++) {
			info.netns = trace->parts[j].netns;
			info.host = trace->parts[j].host;
			info.packets = trace->parts[j].packets;
			io->infos[io->num_infos++] = info;
		}
	}
	qsort(io->infos, io->num_infos, sizeof(*io->infos), compare_infos_by_host_and_path);
	return 0;
}

static int read_all_traces(struct netsync_io *io)
{
	struct io_host *hosts = NULL;
	size_t num_hosts = 0;
	uint64_t done = 0;
	int ret;

	ret = io_group_traces(io);
	if (ret == -ENOMEM)
		ret = io_fail_no_memory(io);
	if (!ret)
		ret = io_find_hosts_in_texts(io, &done);
	if (!ret)
		ret = io_make_hosts(io, &hosts, &num_hosts);
	if (!ret)
		ret = io_set_windows(io, hosts, num_hosts);
	if (!ret)
		ret = io_check_part_of_hosts(io);
	if (!ret)
		ret = io_prepare_readers(io);
	if (!ret)
		ret = io_read_texts(io, &done);
	if (!ret)
		ret = io_read_sidecar_clocks(io, hosts, num_hosts);
	if (!ret && io->num_traces)
		ret = read_slices(io, hosts, num_hosts, done);
	if (!ret)
		ret = relations_end(io);
	if (!ret)
		ret = io_relate_clocks(io);
	if (!ret)
		ret = io_end_utc_readings(io);
	if (!ret)
		ret = io_end_part(io);
	if (!ret)
		ret = io_register_other_hosts(io, hosts, num_hosts);
	if (!ret)
		ret = io_make_infos(io);
	if (!ret)
		warn_of_all_traces(io);
	for (size_t i = 0; i < io->num_traces; i++)
		io_close_trace(io->traces[i]);
	disk_stop(io->disk);
	io_free_machine_clocks(io);
	io_free_utc_readings(io);
	io_free_hosts(hosts, num_hosts);
	return ret;
}

int netsync_io_read(struct netsync_io *io, netsync_io_progress_func progress, void *data)
{
	if (io->was_read || io->live)
		return io_fail(io, -EBUSY,
			       io->live ? "Live sessions are read with netsync_io_poll()." :
					  "The traces have already been read.");
	if (!io->num_traces && !io->num_texts)
		return io_fail(io, -ENODATA, "No traces were given, or none could be opened.");
	if (io->part && io->split_netns)
		return io_fail(
			io, -EBUSY,
			"Hosts that are split by network namespaces must be read by one reader.");
	io->was_read = true;
	io->progress = progress;
	io->progress_data = data;
	return read_all_traces(io);
}

/* ---- other public calls ------------------------------------------------ */

struct netsync_io *netsync_io_new(struct netsync *ns)
{
	struct netsync_io *io = calloc(1, sizeof(*io));

	if (!io)
		return NULL;
	io->ns = ns;
	io->owns = calloc(1, sizeof(*io->owns));
	io->disk = io_new_disk(io);
	if (io->owns && io->disk)
		return io;
	netsync_io_free(io);
	return NULL;
}

void netsync_io_free(struct netsync_io *io)
{
	if (!io)
		return;
	live_free(io->live);
	io_stop_reading(io);
	for (size_t i = 0; i < io->num_traces; i++)
		io_free_trace(io->traces[i]);
	free(io->traces);
	for (size_t i = 0; i < io->num_served; i++)
		served_free(io->served[i]);
	free(io->served);
	relations_free(io->relations);
	io_free_kept(io);
	free(io->infos);
	free(io->windows);
	for (size_t i = 0; i < io->num_texts; i++)
		io_free_text(io->texts[i]);
	free(io->texts);
	free(io->utc_bounds);
	names_release(&io->hosts);
	if (io->owns)
		own_addresses_release(io->owns);
	free(io->owns);
	tdestroy(io->points, free);
	free(io->part);
	disk_free(io->disk);
	io_free_skipped(io);
	free(io->error);
	free(io);
}

const char *netsync_io_error(const struct netsync_io *io)
{
	return io->error ? io->error : "";
}

void netsync_io_set_warn(struct netsync_io *io, netsync_io_warn_func warn, void *data)
{
	io->warn = warn;
	io->warn_data = data;
}

void netsync_io_watch_relations(struct netsync_io *io, netsync_io_relation_func func, void *data)
{
	io->relation = func;
	io->relation_data = data;
}

void netsync_io_set_split_netns(struct netsync_io *io, int split)
{
	io->split_netns = split;
}

void netsync_io_set_split_gpus(struct netsync_io *io, int split)
{
	io->split_gpus = split;
}

void netsync_io_set_jobs(struct netsync_io *io, uint32_t jobs)
{
	io->jobs = jobs;
}

/* Return information about a trace before the trace is read. */
static struct netsync_io_trace get_found_trace_info(const struct trace *trace)
{
	struct netsync_io_trace info = get_trace_info(trace);

	info.first_ns = trace->range.lo;
	info.last_ns = trace->range.hi;
	info.readable = trace->readable;
	return info;
}

static bool was_io_read(const struct netsync_io *io)
{
	return io->was_read || io->live;
}

uint32_t netsync_io_num_traces(const struct netsync_io *io)
{
	return (uint32_t)(was_io_read(io) ? io->num_infos : io->num_traces);
}

int netsync_io_get_trace(const struct netsync_io *io, uint32_t index, struct netsync_io_trace *info)
{
	struct netsync_io_trace full;
	uint32_t size = info->size;
	int ret;

	if (index >= netsync_io_num_traces(io) || size < sizeof(size))
		return -EINVAL;
	if (!was_io_read(io) && (ret = io_group_traces(io)))
		return ret;
	full = was_io_read(io) ? io->infos[index] : get_found_trace_info(io->traces[index]);
	if (size > sizeof(full)) {
		memset((char *)info + sizeof(full), 0, size - sizeof(full));
		size = sizeof(full);
	}
	full.size = info->size;
	memcpy(info, &full, size);
	return 0;
}
