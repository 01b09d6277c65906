// SPDX-License-Identifier: GPL-2.0-only
/*
 * netsync-recorder writes the headers of all packets that a machine sends and receives to a capture.
 * It needs only the kernel, so that it runs on any machine that it is copied to.
 *
 *	module-source.c, probes.c or packet-socket.c -> frames.c (cut.c) -> pcapng.c
 */
#include <errno.h>
#include <fcntl.h>
#include <netsync.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "clock-log.h"
#include "common/now.h"
#include "frames.h"
#include "input.h"
#include "options.h"

/* First word of the line of --costs, which record/costs.c parses. */
#define COSTS_WORD "netsync-costs"
/* Period of checking for the end and of writing the collected data, ms. Chosen. */
#define TURN_MS 200
/*
 * Number of periods in which the kernel hands over the last block, which takes 100 ms
 * (packet-socket.c).
 */
#define LAST_TURNS 2

const struct packet_source *const packet_sources[] = { &module_source, &bpf_source,
						       &packet_socket_source };

static atomic_bool is_ended;

static void end_recording(int signal)
{
	(void)signal;
	atomic_store(&is_ended, true);
}

void complain_formatted(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	/* Lock standard error, because the clock log may be written at the same time. */
	flockfile(stderr);
	fputs(PROGRAM ": ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	funlockfile(stderr);
	va_end(arguments);
}

/* ---- recording --------------------------------------------------------------- */

/*
 * Accept pending signals. Sources accept signals only while they wait, and they do not wait
 * while frames are available.
 */
static void accept_pending_signals(const sigset_t *mask)
{
	sigset_t blocked;

	sigprocmask(SIG_SETMASK, mask, &blocked);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
}

/* Return the CPU time of this process, ns. It contains no work of the kernel for other processes. */
static uint64_t read_own_time(void)
{
	return (uint64_t)clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/*
 * Print what the recording cost: its time, ns; the packets recorded, and those lost; the CPU time
 * of this process and that of BPF programs, ns, which is -1 if unknown.
 */
static void report_costs(const struct frame_recorder *r, uint64_t time_ns, uint64_t own_ns,
			 const struct source_counts *counts)
{
	flockfile(stderr);
	fprintf(stderr, COSTS_WORD " %llu %llu %llu %llu %lld\n", (unsigned long long)time_ns,
		(unsigned long long)r->recorded, (unsigned long long)counts->lost,
		(unsigned long long)own_ns, (long long)counts->programs_ns);
	funlockfile(stderr);
}

/* Record until a signal arrives, the duration is over, standard input ends, or writing fails. */
static int record_frames(struct frame_recorder *r, const struct recorder_options *o,
			 const sigset_t *mask, struct source_counts *counts)
{
	const uint64_t duration_ns = (uint64_t)(o->duration_s * 1e9);
	const uint64_t begin = (uint64_t)now_ns(), own = read_own_time();
	uint64_t end;
	int ret = 0;

	while (ret >= 0 && !atomic_load(&is_ended) &&
	       (!duration_ns || (uint64_t)now_ns() - begin < duration_ns)) {
		ret = r->source->take(TURN_MS, mask, frame_record_seen, r);
		accept_pending_signals(mask);
		if (!capture_flush(&r->writer))
			break;
	}
	end = (uint64_t)now_ns();
	r->source->stop();
	/* Record the frames that the kernel still holds. */
	for (int turns = 0; ret >= 0 && turns < LAST_TURNS && !r->writer.error;) {
		ret = r->source->take(TURN_MS, NULL, frame_record_seen, r);
		turns += ret == 0;
	}
	r->source->count(counts);
	if (o->costs)
		report_costs(r, end - begin, read_own_time() - own, counts);
	capture_put_counts(&r->writer, (uint64_t)clock_ns(CLOCK_REALTIME), counts->received,
			   counts->lost + counts->unreadable);
	capture_flush(&r->writer);
	return ret < 0 ? ret : 0;
}

/*
 * Let signals end the recording, and block them while frames are read. *@before is set to the
 * previous mask.
 */
static void catch_ending_signals(sigset_t *before)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
	const struct sigaction action = { .sa_handler = end_recording };
	sigset_t blocked;

	sigemptyset(&blocked);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++) {
		sigaction(ending[i], &action, NULL);
		sigaddset(&blocked, ending[i]);
	}
	sigprocmask(SIG_BLOCK, &blocked, before);
	signal(SIGPIPE, SIG_IGN);
}

static void begin_capture(struct frame_recorder *r, const struct recorder_options *o)
{
	struct utsname machine;
	char program[96];
	char system[sizeof(machine.sysname) + sizeof(machine.release) + sizeof(machine.machine) + 3];
	char host[sizeof(machine.nodename) + 8];

	uname(&machine);
	snprintf(system, sizeof(system), "%s %s %s", machine.sysname, machine.release,
		 machine.machine);
	snprintf(host, sizeof(host), "host %s", machine.nodename);
	snprintf(program, sizeof(program), PROGRAM " " NETSYNC_VERSION " --via %s --sampling %u",
		 r->source->name, o->selection.sampling);
	capture_begin(&r->writer, program, system, host);
	capture_flush(&r->writer);
}

/* Create a file. On failure, print a message and return -1. */
static int create_file(const char *path, bool force)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (force ? O_TRUNC : O_EXCL),
			    0600);

	if (fd < 0 && errno == EEXIST)
		complain_formatted("%s: the file exists; give --force to overwrite it.", path);
	else if (fd < 0)
		complain_formatted("%s: %s.", path, strerror(errno));
	return fd;
}

static int open_recording(const struct recorder_options *o)
{
	if (o->output)
		return create_file(o->output, o->force);
	if (!isatty(STDOUT_FILENO))
		return STDOUT_FILENO;
	complain_formatted("A terminal cannot display a capture: give --output FILE, or a pipe.");
	return -1;
}

/*
 * Open the clock log, and set *@file, which is NULL if there is no log. On failure, print a
 * message and return false.
 */
static bool open_clock_log(const struct recorder_options *o, FILE **file)
{
	int fd;

	*file = NULL;
	if (!o->clock_log)
		return true;
	*file = stderr;
	if (!strcmp(o->clock_log, "-"))
		return true;
	fd = create_file(o->clock_log, o->force);
	*file = fd >= 0 ? fdopen(fd, "w") : NULL;
	return *file;
}

/* Open both output files. On failure, print a message, remove the capture, and return false. */
static bool open_outputs(struct frame_recorder *r, const struct recorder_options *o, FILE **clocks)
{
	r->writer.fd = open_recording(o);
	if (r->writer.fd < 0)
		return false;
	if (open_clock_log(o, clocks))
		return true;
	if (o->output)
		unlink(o->output);
	return false;
}

/*
 * Open a source. If a container shares its network namespace, only BPF selects the packets of the
 * container, by its control group. If no other source is left, all packets of the namespace are
 * recorded, and a message says so.
 */
static bool open_source(const struct packet_source *source, const struct recorder_options *o,
			char why[LONGEST_REASON])
{
	const char *kind = o->pod ? "pod" : "container";
	struct packet_selection selection = o->selection;

	if (selection.is_shared &&
	    (source == &packet_socket_source || (source == &module_source && o->via == source)))
		selection.cgroup = 0;
	if (!source->open(&selection, why))
		return false;
	if (selection.is_shared && !selection.cgroup)
		complain_formatted(
			"the %s %s shares its network namespace, so all packets of the namespace are recorded%s.",
			kind, o->pod ? o->pod : o->container,
			o->selection.cgroup ?
				", because only BPF can select packets by control groups" :
				", because there is no version 2 control group for it");
	return true;
}

/*
 * Open the given source, or the best source that works. If neither the module nor BPF works, report
 * why not BPF, which needs nothing on the machine.
 */
static bool open_frame_source(struct frame_recorder *r, const struct recorder_options *o)
{
	char why[NUM_SOURCES][LONGEST_REASON];
	int i = 0;

	if (o->via) {
		r->source = o->via;
		if (open_source(r->source, o, why[0]))
			return true;
		complain_formatted("--via %s: %s.", o->via->name, why[0]);
		return false;
	}
	while (i < NUM_SOURCES && !open_source(packet_sources[i], o, why[i]))
		i++;
	if (i == NUM_SOURCES) {
		complain_formatted("No packets can be recorded: %s; and %s.", why[2], why[1]);
		return false;
	}
	r->source = packet_sources[i];
	if (r->source == &packet_socket_source)
		complain_formatted(
			"recording this network namespace with a packet socket, because %s.",
			why[1]);
	return true;
}

static void report_losses(const struct frame_recorder *r, const struct source_counts *counts)
{
	if (counts->lost)
		complain_formatted(
			"%llu of %llu packets were lost, because they were not written in time; give a larger --buffer.",
			(unsigned long long)counts->lost, (unsigned long long)counts->received);
	if (counts->unreadable)
		complain_formatted(
			"%llu of %llu packets were not recorded, because BPF cannot read them before Linux 6.12; use --via packet.",
			(unsigned long long)counts->unreadable,
			(unsigned long long)counts->received);
	if (r->unrecorded)
		complain_formatted("%llu packets of more than %d interfaces were not recorded.",
				   (unsigned long long)r->unrecorded, MOST_DEVICES);
}

/*
 * Report @error, which is the result of clock_log_start() or clock_log_end(). Return true if it
 * is 0.
 */
static bool report_clock_log(const struct recorder_options *o, int error)
{
	if (error)
		complain_formatted("%s: %s; the log of the clock is incomplete.",
				   strcmp(o->clock_log, "-") ? o->clock_log : "standard error",
				   strerror(-error));
	return !error;
}

static int record_to_output(struct frame_recorder *r, const struct recorder_options *o)
{
	struct source_counts counts = { 0 };
	struct utsname machine;
	bool has_clocks = true;
	sigset_t before;
	FILE *clocks;
	int ret = 0;

	if (!open_frame_source(r, o))
		return 1;
	if (!open_outputs(r, o, &clocks)) {
		r->source->close();
		return 1;
	}
	catch_ending_signals(&before);
	uname(&machine);
	if (clocks)
		has_clocks = report_clock_log(o, clock_log_start(clocks, machine.nodename));
	begin_capture(r, o);
	if (o->until_eof || o->silence_s)
		ret = input_watch(o->silence_s, &is_ended);
	if (!ret)
		ret = record_frames(r, o, &before, &counts);
	r->source->close();
	has_clocks &= report_clock_log(o, clock_log_end());
	if (ret)
		complain_formatted("receiving packets: %s.", strerror(-ret));
	if (r->writer.error)
		complain_formatted("%s: %s; the capture is incomplete.",
				   o->output ? o->output : "standard output",
				   strerror(r->writer.error));
	report_losses(r, &counts);
	if (ret || r->writer.error)
		return 1;
	return counts.lost || counts.unreadable || r->unrecorded || !has_clocks ? 2 : 0;
}

int main(int argc, char **argv)
{
	static struct frame_recorder r;
	struct recorder_options o;
	const int status = recorder_parse_options(&o, argc, argv);

	if (status >= 0)
		return status;
	r.payload = o.selection.payload;
	return record_to_output(&r, &o);
}
