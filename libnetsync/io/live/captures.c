// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read captures while they are written, by netsync record, tcpdump or another program. A file is
 * open only while new packets are read from it, so that thousands of captures need one descriptor.
 *
 * Captures that already contain many packets are read in slices of time, so that the two records
 * of a packet are read soon after each other.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/direction/direction.h"
#include "io/live/internal.h"
#include "util/array.h"

/* Length of a slice (ns). Chosen, as SLICE_NS of ../io.c. */
#define READ_NS INT64_C(2000000000)
/*
 * Time after which the other hosts no longer wait for packets of a capture that does not grow, and
 * whose clock readings do not grow either (ms). Chosen: longer than "tcpdump -U" and a network delay
 * packets. Later packets are still matched.
 */
#define IDLE_MS 10000
/*
 * Time in which a packet reaches the file after a clock reading that was taken later (ns).
 * Chosen: netsync-recorder writes packets five times per second.
 */
#define LOG_LAG_NS INT64_C(2000000000)
/*
 * If the first packets of two captures are further apart than this (ns), the clocks are wrong, and
 * the captures are assumed to have begun together. Chosen: a day.
 */
#define APART_NS (INT64_C(86400) * 1000000000)
/*
 * First and longest time between attempts to infer addresses, and the time from which on failures
 * are reported (ms). Each interval is twice the previous interval. Chosen.
 */
#define INFER_MS 1000
#define INFER_REPORT_MS 4000
#define INFER_MAX_MS 60000

/* ---- the current file ---------------------------------------------------- */

/* Stop reading the current file. Its packets are kept. */
static void end_live_capture(struct live_capture *capture)
{
	if (capture->trace)
		capture->trace->info.running = 0;
	capture->trace = NULL;
	capture->is_ready = capture->is_behind = capture->lacks_address = false;
	capture->has_reported_partial = capture->has_reported_unused = false;
}

/* Make a trace of a new file. */
static int begin_live_capture(struct live_input *live, struct live_capture *capture)
{
	struct trace *trace = live_add_trace(live, capture->path);

	if (!trace)
		return -ENOMEM;
	capture->trace = trace;
	trace->real_path = realpath(capture->path, NULL);
	if (!trace->real_path)
		trace->real_path = strdup(capture->path);
	if (!trace->real_path)
		return io_fail_no_memory(live->io);
	if (pcap_begin_growing(trace) < 0)
		return -ENOMEM;
	trace->info.format = trace->reader->format;
	if (capture->host_name) {
		trace->own_name = trace->host_name;
		trace->host_name = strdup(capture->host_name);
	}
	if (!trace->host_name || io_make_printable(&trace->host_name))
		return io_fail_no_memory(live->io);
	return 0;
}

static void warn_of_missing_capture(struct live_input *live, struct live_capture *capture, int err)
{
	if (!capture->has_reported_missing)
		io_warn(live->io, "%s: %s; waiting for the file. Its last packets may be missing.",
			capture->path, strerror(err));
	capture->has_reported_missing = true;
	end_live_capture(capture);
}

/* Was the file replaced, or truncated to less than what was read of it? If so, warn. */
static bool is_capture_replaced(struct live_input *live, const struct live_capture *capture,
				const struct stat *st)
{
	if (!capture->trace)
		return false;
	if (st->st_dev != capture->dev || st->st_ino != capture->ino) {
		io_warn(live->io,
			"%s: the file was replaced; reading the new one. The last packets of the previous one may be missing.",
			capture->path);
		return true;
	}
	if ((uint64_t)st->st_size >= pcap_get_read_size(capture->trace))
		return false;
	io_warn(live->io, "%s: the file was truncated; reading it from its beginning.",
		capture->path);
	return true;
}

/* A file that ends in a packet may still be complete later. */
static void warn_of_partial_packet(struct live_input *live, struct live_capture *capture)
{
	if (capture->has_reported_partial || capture->size <= pcap_get_read_size(capture->trace) ||
	    capture->is_behind || capture->lacks_address ||
	    live_now_ms() - capture->grown_ms < IDLE_MS)
		return;
	io_warn(live->io,
		"%s: the file ends in the middle of a packet and has not grown for %d s; waiting for the rest. If tcpdump writes it, give tcpdump the option -U.",
		capture->path, IDLE_MS / 1000);
	capture->has_reported_partial = true;
}

/* Follow another file. The host stays the same. Return 0 or -ENOMEM. */
static int replace_capture_path(struct live_input *live, struct live_capture *capture, char *path)
{
	if (!capture->host_name && capture->trace && capture->is_ready) {
		capture->host_name = strdup(capture->trace->host_name);
		if (!capture->host_name) {
			free(path);
			return io_fail_no_memory(live->io);
		}
	}
	end_live_capture(capture);
	free(capture->path);
	capture->path = path;
	return 0;
}

/*
 * If the program has continued in another file, follow that file after all packets of the current
 * one, which the program no longer changes, were read.
 */
static int follow_rotation(struct live_input *live, struct live_capture *capture)
{
	struct stat st;
	char *next;

	if (stat(capture->path, &st)) {
		next = capture->trace ? NULL : rotation_find_file(live, capture, NULL);
		return next ? replace_capture_path(live, capture, next) : 0;
	}
	if (!capture->trace || capture->is_behind || capture->lacks_address)
		return 0;
	next = rotation_find_file(live, capture, &st.st_mtim);
	/* Packets may have been added just before the next file was created. */
	if (next && !stat(capture->path, &st) && !capture->trace->info.damaged &&
	    (uint64_t)st.st_size > capture->size) {
		free(next);
		return 0;
	}
	return next ? replace_capture_path(live, capture, next) : 0;
}

static int examine_live_capture(struct live_input *live, struct live_capture *capture)
{
	struct stat st;
	int ret = follow_rotation(live, capture);

	if (ret < 0)
		return ret;
	if (stat(capture->path, &st)) {
		warn_of_missing_capture(live, capture, errno);
		return 0;
	}
	if (is_capture_replaced(live, capture, &st))
		end_live_capture(capture);
	if (!capture->trace) {
		ret = begin_live_capture(live, capture);
		if (ret < 0)
			return ret;
		capture->dev = st.st_dev;
		capture->ino = st.st_ino;
		capture->size = 0;
		capture->begun_ms = live_now_ms();
		capture->has_reported_missing = false;
	}
	if (capture->trace->info.damaged)
		return 0;
	if ((uint64_t)st.st_size > capture->size) {
		capture->size = (uint64_t)st.st_size;
		capture->grown_ms = live_now_ms();
		capture->is_behind = !capture->lacks_address;
	}
	warn_of_partial_packet(live, capture);
	return 0;
}

/* ---- addresses ------------------------------------------------------------ */

/* Drop a packet of a reading that only infers addresses. */
static int drop_packet(struct netsync_io *io, const struct netsync_packet *pkt)
{
	(void)io;
	(void)pkt;
	return 0;
}

/* Read all captures with @probe, so that it infers addresses. Failures are tried again later. */
static void probe_captures(const struct live_input *live, struct netsync_io *probe)
{
	int ret = 0;

	probe->observe = drop_packet;
	probe->jobs = 1;
	for (size_t i = 0; i < live->num_captures && (ret >= 0 || ret == -ENODATA); i++) {
		const struct live_capture *capture = live->captures[i];
		char *what;

		if (!capture->is_ready)
			continue;
		what = io_format("%s=%s", capture->trace->host_name, capture->path);
		ret = what ? netsync_io_add(probe, what) : -ENOMEM;
		free(what);
	}
	if (ret >= 0 || ret == -ENODATA)
		netsync_io_read(probe, NULL, NULL);
}

/* Use the addresses that were inferred for the host of a capture. */
static int use_probed_addresses(struct live_input *live, struct live_capture *capture,
				const struct netsync_io *probe)
{
	const char *host = capture->trace->host_name;
	const struct own_addresses *own = own_addresses_find(probe->owns, host);
	char text[ADDRESS_TEXT];

	if (!own || !own->num) {
		if (live->infer_delay_ms < INFER_REPORT_MS && !live->wants_all)
			return 0;
		if (!capture->has_reported_address)
			io_warn(live->io,
				"%s: the capture does not record which packets %s sent, and this cannot be inferred yet; waiting for packets that another host also captures. To give an address of %s, use --address %s=ADDRESS.",
				capture->path, host, host, host);
		capture->has_reported_address = true;
		return 0;
	}
	if (!own_addresses_find(live->io->owns, host))
		io_warn(live->io,
			"%s: the capture does not record packet directions; the address %s%s of %s was inferred from the packets so far.",
			capture->path, address_format(text, &own->address[0]),
			own->num > 1 ? " and others" : "", host);
	capture->lacks_address = false;
	capture->is_behind = true;
	return own_addresses_add_all(live->io->owns, host, own) ? io_fail_no_memory(live->io) : 0;
}

/* Is it time for an attempt? A caller that wants all packets so far does not wait. */
static bool is_inference_due(struct live_input *live)
{
	const int64_t now_ms = live_now_ms();

	if (!live->infer_ms) {
		live->infer_delay_ms = INFER_MS;
		live->infer_ms = now_ms + INFER_MS;
	}
	return now_ms >= live->infer_ms ||
	       (live->wants_all && now_ms - live->inferred_ms >= RETRY_MS);
}

/* Infer the addresses of captures that need them, from all packets so far. */
static int infer_live_addresses(struct live_input *live)
{
	struct netsync *ns;
	struct netsync_io *probe;
	bool any = false;
	int ret = 0;

	for (size_t i = 0; i < live->num_captures; i++)
		any |= live->captures[i]->lacks_address;
	if (!any || !is_inference_due(live))
		return 0;
	ns = netsync_new();
	probe = ns ? netsync_io_new(ns) : NULL;
	if (probe)
		probe_captures(live, probe);
	for (size_t i = 0; probe && i < live->num_captures && !ret; i++)
		if (live->captures[i]->lacks_address)
			ret = use_probed_addresses(live, live->captures[i], probe);
	netsync_io_free(probe);
	netsync_free(ns);
	live->infer_delay_ms = min64(2 * live->infer_delay_ms, INFER_MAX_MS);
	live->inferred_ms = live_now_ms();
	live->infer_ms = live->inferred_ms + live->infer_delay_ms;
	return ret;
}

/* ---- reading ------------------------------------------------------------- */

/*
 * Read the clock readings of a capture from its sidecar file, which may be created shortly after
 * the capture.
 */
static int find_capture_clocks(struct live_input *live, struct live_capture *capture)
{
	struct disk_file *file;
	char *path;
	int ret = 0;

	if (capture->has_clocks)
		return 0;
	file = io_open_sidecar(capture->trace, SIDECAR_REALTIME, &path);
	disk_close(file);
	if (file && !clocks_has_file_of_host(live, capture->trace->host))
		ret = clocks_add_file_of_host(live, capture->trace->host, path);
	capture->has_clocks = file || live_now_ms() - capture->begun_ms > IDLE_MS;
	free(path);
	return ret;
}

/* Warn once for each file of packets that cannot be used. */
static void warn_of_unusable_packets(struct live_input *live, struct live_capture *capture)
{
	struct trace *trace = capture->trace;
	const char *why = pcap_explain_unused(trace);

	if (why && !capture->has_reported_unused)
		io_warn(live->io, "%s: some packets are not used: %s.", capture->path, why);
	capture->has_reported_unused |= why != NULL;
}

/* Read a capture up to a packet later than @until_ns. */
static int read_live_capture(struct live_input *live, struct live_capture *capture,
			     int64_t until_ns)
{
	struct trace *trace = capture->trace;
	const uint64_t packets = trace->info.packets;
	struct disk_file *file = disk_open(NULL, capture->path, O_RDONLY | O_NONBLOCK);
	int ret = -errno;

	capture->is_behind = false;
	/* The next examination reports that the file is gone or was replaced. */
	if (!file && (ret == -ENOENT || ret == -ESTALE))
		return 0;
	if (file && (file->st.st_dev != capture->dev || file->st.st_ino != capture->ino ||
		     (uint64_t)file->st.st_size < pcap_get_read_size(trace))) {
		disk_close(file);
		return 0;
	}
	if (file)
		ret = pcap_read_growing(trace, file, until_ns);
	else
		io_fail_file(live->io, capture->path, ret);
	live->packets += trace->info.packets - packets;
	if (ret == -ENOMEM)
		return ret;
	if (ret < 0) {
		io_warn(live->io, "%s netsync continues to follow the other captures.",
			netsync_io_error(live->io));
		io_forget_error(live->io);
		trace->info.damaged++;
	}
	if (trace->info.damaged) {
		trace->info.running = 0;
		return 0;
	}
	capture->is_ready |= ret == GROWTH_FIRST;
	capture->is_behind = ret == GROWTH_FIRST || ret == GROWTH_LATER;
	capture->lacks_address = ret == GROWTH_UNDIRECTED;
	warn_of_unusable_packets(live, capture);
	return 0;
}

/* Find the first packets of new captures, so that their hosts can be added. */
static int find_first_packets(struct live_input *live)
{
	int ret = 0;

	for (size_t i = 0; i < live->num_captures && !ret; i++) {
		struct live_capture *capture = live->captures[i];

		if (!capture->is_behind || capture->is_ready)
			continue;
		ret = read_live_capture(live, capture, INT64_MAX);
		if (!ret && capture->is_ready && live->has_begun)
			ret = live_find_host(live, capture->trace);
	}
	return ret;
}

/* Can packets of this capture be read now? */
static bool is_capture_readable(const struct live_capture *capture)
{
	return capture->is_behind && capture->is_ready && capture->trace->host;
}

/*
 * Return the time on a capture's clock at which another capture, @first, begins. If both clocks are
 * about right, it is the same time on both.
 */
static int64_t get_start_time(const struct live_capture *first, const struct live_capture *capture)
{
	const int64_t a = first->trace->range.lo, b = capture->trace->range.lo;

	return (b > a ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b) < APART_NS ? a : b;
}

static int64_t add_times(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

int captures_read(struct live_input *live)
{
	const struct live_capture *first = NULL;
	int64_t least_ns = INT64_MAX;
	int ret = infer_live_addresses(live);

	for (size_t i = 0; i < live->num_captures; i++) {
		const struct live_capture *capture = live->captures[i];

		if (!is_capture_readable(capture))
			continue;
		first = first ? first : capture;
		least_ns = min64(least_ns, add_times(capture->trace->range.hi,
						     -get_start_time(first, capture)));
	}
	for (size_t i = 0; i < live->num_captures && !ret; i++) {
		struct live_capture *capture = live->captures[i];

		if (!is_capture_readable(capture))
			continue;
		ret = find_capture_clocks(live, capture);
		if (!ret)
			ret = read_live_capture(live, capture,
						add_times(get_start_time(first, capture),
							  add_times(least_ns, READ_NS)));
	}
	return ret;
}

int captures_examine(struct live_input *live)
{
	int ret = 0;

	for (size_t i = 0; i < live->num_captures && !ret; i++)
		ret = examine_live_capture(live, live->captures[i]);
	return ret ? ret : find_first_packets(live);
}

bool captures_are_behind(const struct live_input *live)
{
	for (size_t i = 0; i < live->num_captures; i++)
		if (is_capture_readable(live->captures[i]))
			return true;
	return false;
}

bool captures_have_begun(const struct live_input *live)
{
	bool all = true, any = false;

	for (size_t i = 0; i < live->num_captures; i++) {
		all &= live->captures[i]->is_ready;
		any |= live->captures[i]->is_ready;
	}
	return all || (any && live_now_ms() - live->newest_ms >= GATHER_MS);
}

int captures_check_addresses(struct live_input *live)
{
	if (!live->has_begun || live->knows_owners)
		return 0;
	for (size_t i = 0; i < live->num_captures; i++)
		if (!live->captures[i]->is_ready)
			return 0;
	live->knows_owners = true;
	return pcap_check_given_addresses(live->io);
}

/* Has nothing been written for some time: neither packets nor clock readings? */
static bool is_capture_idle(const struct live_input *live, const struct live_capture *capture)
{
	const int64_t last_read_ms = clocks_get_last_read_ms(live, capture->trace->host);

	return !capture->is_behind &&
	       live_now_ms() - max64(capture->grown_ms, last_read_ms) > IDLE_MS;
}

int64_t capture_get_read_time(const struct live_input *live, const struct live_capture *capture)
{
	const struct trace *trace = capture->trace;
	int64_t logged_ns;

	if (capture->lacks_address)
		return INT64_MIN;
	if (trace->info.damaged || is_capture_idle(live, capture))
		return INT64_MAX;
	if (trace->info.last_ns < trace->info.first_ns)
		return INT64_MIN;
	logged_ns = capture->is_behind ? INT64_MIN : clocks_get_last_ns(live, trace->host);
	return max64(add_times(trace->range.hi, -PCAP_DISORDER),
		     logged_ns == INT64_MIN ? INT64_MIN : add_times(logged_ns, -LOG_LAG_NS));
}

/* ---- given paths ---------------------------------------------------------- */

bool capture_is_path(const char *what)
{
	return !strstr(what, "://");
}

/* Check that an existing file can be a capture. Return 0, or the result of io_fail(). */
static int check_live_capture(struct live_input *live, const char *path)
{
	struct netsync_io *io = live->io;
	struct stat st;
	uint8_t head[12];
	ssize_t len = 0;
	struct disk_file *file;

	if (stat(path, &st))
		return io_fail_file(io, path, -errno);
	if (!S_ISREG(st.st_mode))
		return io_fail(
			io, -EINVAL,
			"%s: not a regular file; give captures (pcap or pcapng) that are being written.",
			path);
	file = disk_open(NULL, path, O_RDONLY | O_NONBLOCK);
	if (!file)
		return io_fail_file(io, path, -errno);
	len = disk_read(file, head, sizeof(head), 0);
	disk_close(file);
	if (len < 0)
		return io_fail_file(io, path, (int)len);
	if (len < (ssize_t)sizeof(head) || pcap_is_head(head, sizeof(head)))
		return 0;
	return io_fail(
		io, -EPROTONOSUPPORT,
		"%s: not an uncompressed pcap or pcapng capture; only LTTng sessions and such captures can be followed. To read complete traces, use \"netsync sync\".",
		path);
}

static void free_live_capture(struct live_capture *capture)
{
	free(capture->given);
	free(capture->path);
	free(capture->host_name);
	free(capture);
}

int captures_add(struct live_input *live, const char *what)
{
	const char *equal = strchr(what, '='), *slash = strchr(what, '/');
	const bool has_name = equal && !(slash && slash < equal);
	const char *path = has_name ? equal + 1 : what;
	struct live_capture *capture, **last;
	int ret;

	if (has_name && equal == what)
		return io_fail(live->io, -EINVAL, "%s: no host name before the '='.", what);
	for (size_t i = 0; i < live->num_captures; i++)
		if (!strcmp(live->captures[i]->given, path))
			return io_fail(live->io, -EEXIST, "%s: this capture was already given.",
				       path);
	capture = calloc(1, sizeof(*capture));
	last = array_add(&live->captures, live->num_captures, sizeof(*last));
	if (capture) {
		capture->given = strdup(path);
		capture->host_name = has_name ? strndup(what, (size_t)(equal - what)) : NULL;
	}
	if (capture && capture->given) {
		capture->path = rotation_find_file(live, capture, NULL);
		if (!capture->path)
			capture->path = strdup(path);
	}
	if (!last || !capture || !capture->path || (has_name && !capture->host_name)) {
		if (capture)
			free_live_capture(capture);
		return io_fail_no_memory(live->io);
	}
	ret = check_live_capture(live, capture->path);
	if (ret < 0) {
		free_live_capture(capture);
		return ret;
	}
	*last = capture;
	live->num_captures++;
	live->newest_ms = capture->grown_ms = live_now_ms();
	return 0;
}

void captures_free(struct live_input *live)
{
	for (size_t i = 0; i < live->num_captures; i++)
		free_live_capture(live->captures[i]);
	free(live->captures);
}
