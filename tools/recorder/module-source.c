// SPDX-License-Identifier: GPL-2.0-only
/*
 * The source module: events of netsync's kernel module (module/netsync-events.h), which reports the
 * packets of all network namespaces. The events are read through perf, without LTTng. If the module
 * is installed but not loaded, it is loaded. The last recorder that uses it then removes it.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/container.h"
#include "event-frame.h"
#include "frames.h"
#include "perf-rings.h"
#include "source.h"
#include "wall-clock.h"

#define MODULE "netsync-probes"
#define TRACEFS "/sys/kernel/tracing"
/*
 * Directories that recorders lock. All mounts of tracefs have the same ones, and a lock ends with its
 * process. The first lock is held while a recorder loads, begins to use, or removes the module. The
 * second one is shared by all recorders that use the module, if one of them has loaded it.
 */
#define CHANGE_LOCK TRACEFS
#define LOADED_LOCK TRACEFS "/events"
/* Maximum number of events that are read before the recorder checks whether to end. Chosen. */
#define MOST_TAKEN 65536
/* Maximum size of the file that describes an event, bytes. The kernel's limit is a page. */
#define LONGEST_FORMAT 65536
/* Maximum size of a filter with all ports, bytes. */
#define LONGEST_FILTER (128 + MOST_WANTED * 32)
/* Index of the loopback device in each network namespace. */
#define LOOPBACK_INDEX 1

enum { EVENT_XMIT, EVENT_RECEIVE, NUM_EVENTS };
static const char *const event_names[] = { "inet_dev_xmit", "inet_dev_receive" };

static struct {
	struct event_format format[NUM_EVENTS];
	struct wall_clock clock;
	struct wanted_address address[MOST_WANTED];
	uint8_t num_addresses;
	bool was_loaded; /* this or another recorder has loaded the module */
	int loaded_lock; /* descriptor of LOADED_LOCK, or -1 */
	uint32_t own_netns;
	uint64_t received;
	/* Set while events are read. */
	take_frame_fn take;
	void *data;
} state;

/* ---- tracefs ------------------------------------------------------------------- */

/*
 * Read a file of an event into @text, which has @size bytes. Return 0 or a negative errno value.
 */
static int read_event_file(const char *event, const char *file, char *text, size_t size)
{
	char path[128];
	size_t length = 0;
	ssize_t got = 1;
	int fd;

	snprintf(path, sizeof(path), TRACEFS "/events/netsync/%s/%s", event, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (got > 0 && length < size - 1) {
		got = read(fd, text + length, size - 1 - length);
		length += got > 0 ? (size_t)got : 0;
	}
	text[length] = '\0';
	close(fd);
	return got < 0 ? -EIO : 0;
}

/*
 * Make sure that there is tracefs. Mount it for this process only, so that nothing has to be
 * undone. The copy of tracefs in debugfs is not used, because opening it mounts tracefs for all
 * processes.
 */
static bool provide_tracefs(void)
{
	return !access(TRACEFS "/events", F_OK) ||
	       (!unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
		!mount("tracefs", TRACEFS, "tracefs", 0, NULL));
}

/* ---- the module ---------------------------------------------------------------- */

/* Lock a directory. Return its descriptor, or -1. */
static int lock_directory(const char *path, int operation)
{
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int ret = -1;

	while (fd >= 0 && (ret = flock(fd, operation)) && errno == EINTR)
		;
	if (!ret)
		return fd;
	close(fd);
	return -1;
}

/*
 * Find out whether a recorder has loaded the module, and if so, share its duty to remove it. Call
 * this with CHANGE_LOCK held.
 */
static void share_loaded_module(bool has_loaded)
{
	int fd = -1;

	/* If no recorder shares the lock, something else has loaded the module. */
	if (!has_loaded)
		fd = lock_directory(LOADED_LOCK, LOCK_EX | LOCK_NB);
	if (fd >= 0)
		close(fd);
	else
		state.loaded_lock = lock_directory(LOADED_LOCK, LOCK_SH | LOCK_NB);
	state.was_loaded = has_loaded || state.loaded_lock >= 0;
}

/* Run modprobe, whose messages are of no interest. Return true if it succeeds. */
static bool run_modprobe(const char *option)
{
	const pid_t child = fork();
	int status = 0;

	if (!child) {
		const int null = open("/dev/null", O_RDWR);

		for (int fd = 0; fd <= STDERR_FILENO; fd++)
			dup2(null, fd);
		setenv("PATH", "/usr/sbin:/sbin:/usr/bin:/bin", 1);
		execlp("modprobe", "modprobe", option, MODULE, (char *)NULL);
		_exit(127);
	}
	return child > 0 && waitpid(child, &status, 0) == child && !status;
}

/* Read what is needed to record an event. Return its number, or a negative errno value. */
static int find_event(unsigned int number)
{
	static char text[LONGEST_FORMAT];
	int ret = read_event_file(event_names[number], "format", text, sizeof(text));

	if (ret)
		return ret;
	if (!event_parse_format(text, &state.format[number]))
		return -EPROTO;
	ret = read_event_file(event_names[number], "id", text, sizeof(text));
	return ret ? ret : atoi(text);
}

/* Find the events, and load the module if they do not exist. */
static int find_events(uint32_t ids[NUM_EVENTS])
{
	int ret = find_event(0);

	if (ret == -ENOENT && !geteuid() && run_modprobe("-q")) {
		share_loaded_module(true);
		ret = find_event(0);
	} else if (ret >= 0) {
		share_loaded_module(false);
	}
	for (unsigned int i = 0; i < NUM_EVENTS && ret >= 0; i++) {
		ret = find_event(i);
		ids[i] = (uint32_t)ret;
	}
	return ret < 0 ? ret : 0;
}

static void explain_module_error(int error, char why[LONGEST_REASON])
{
	const char *what = strerror(-error);

	if (error == -ENOENT)
		what = "the module " MODULE
		       " is neither loaded nor installed for the running kernel: install it, or use another source";
	else if (error == -ENODEV)
		what = "tracefs cannot be mounted: run this as root";
	else if (error == -EPERM || error == -EACCES)
		what = "reading its events is not permitted: run this as root";
	else if (error == -EPROTO)
		what = "the module " MODULE " that is loaded has other events than this version";
	else if (error == -ENOMEM)
		what = "there is no memory; give a smaller --buffer";
	snprintf(why, LONGEST_REASON, "%s", what);
}

/* ---- selection ----------------------------------------------------------------- */

/* A filter of events that is being written. */
struct event_filter {
	char text[LONGEST_FILTER];
	size_t length;
};

__attribute__((format(printf, 2, 3))) static void add_to_filter(struct event_filter *f,
								const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	f->length += (size_t)vsnprintf(f->text + f->length, sizeof(f->text) - f->length, format,
				       arguments);
	va_end(arguments);
}

/* Begin a further condition, which events have to fulfil. */
static void begin_condition(struct event_filter *f)
{
	add_to_filter(f, "%s", f->length ? " && " : "");
}

static void make_event_filter(struct event_filter *f, const struct packet_selection *s)
{
	*f = (struct event_filter){ .length = 0 };
	if (s->netns) {
		begin_condition(f);
		add_to_filter(f, "netns == %u", s->netns);
	}
	if (s->device || !s->with_loopback) {
		begin_condition(f);
		add_to_filter(f, "ifindex %s %d",
			      s->device ? "==" : "!=", s->device ? s->device : LOOPBACK_INDEX);
	}
	if (s->unwanted[0]) {
		begin_condition(f);
		add_to_filter(f,
			      "(protocol != 6 || ((sport != %u || dport != %u) && "
			      "(sport != %u || dport != %u)))",
			      s->unwanted[0], s->unwanted[1], s->unwanted[1], s->unwanted[0]);
	}
	for (int i = 0; i < s->num_ports; i++) {
		if (!i)
			begin_condition(f);
		add_to_filter(f, "%ssport == %u || dport == %u%s", i ? " || " : "(", s->port[i],
			      s->port[i], i == s->num_ports - 1 ? ")" : "");
	}
}

/* Does an address of the event equal one of the given ones? Filters cannot compare addresses. */
static bool has_wanted_address(const struct event_format *format, const uint8_t *event)
{
	for (int field = EVENT_saddr; field <= EVENT_daddr; field++) {
		uint32_t words[4];

		memcpy(words, event + format->place[field].at, sizeof(words));
		for (int k = 0; k < 4; k++)
			words[k] = be32toh(words[k]);
		for (int i = 0; i < state.num_addresses; i++)
			if (!memcmp(words, state.address[i].words, sizeof(words)))
				return true;
	}
	return !state.num_addresses;
}

/* ---- the source ---------------------------------------------------------------- */

static void pass_module_event(void *data, unsigned int number, const struct perf_event *event)
{
	const struct event_format *format = &state.format[number];
	uint8_t headers[LONGEST_EVENT_HEADERS];
	struct seen_frame frame;

	(void)data;
	if (event->size < format->size || !has_wanted_address(format, event->data) ||
	    !event_make_frame(format, event->data, headers, &frame))
		return;
	state.received++;
	frame.time_ns = event->time_ns + (uint64_t)state.clock.offset_ns;
	frame.flags = number == EVENT_XMIT ? FLAG_OUTBOUND : FLAG_INBOUND;
	state.take(state.data, &frame);
}

static int pass_module_events(int timeout_ms, const sigset_t *mask, take_frame_fn take, void *data)
{
	static unsigned int taken;
	int ret = 0;

	if (taken < MOST_TAKEN)
		ret = perf_rings_wait(timeout_ms, mask);
	if (ret < 0)
		return ret;
	state.take = take;
	state.data = data;
	taken = perf_rings_read(MOST_TAKEN, pass_module_event, NULL);
	/* Events that were in the rings before CLOCK_REALTIME was stepped have the old offset. */
	wall_clock_update(&state.clock);
	return taken > 0;
}

/* Find the events, and open rings for them. Return 0 or a negative errno value. */
static int begin_using_module(const char *filter, size_t buffer)
{
	const int change_lock = lock_directory(CHANGE_LOCK, LOCK_EX);
	uint32_t ids[NUM_EVENTS];
	int ret = find_events(ids);

	if (!ret)
		ret = perf_rings_open(ids, NUM_EVENTS, filter, buffer);
	close(change_lock);
	return ret;
}

/* While another recorder uses the module, modprobe does not remove it. */
static void close_module(void)
{
	const int change_lock = lock_directory(CHANGE_LOCK, LOCK_EX);

	perf_rings_close();
	wall_clock_close(&state.clock);
	if (state.was_loaded)
		run_modprobe("-rq");
	state.was_loaded = false;
	close(state.loaded_lock);
	state.loaded_lock = -1;
	close(change_lock);
}

static bool open_module(const struct packet_selection *s, char why[LONGEST_REASON])
{
	struct event_filter filter;
	int ret;

	state.clock.fd = -1;
	state.loaded_lock = -1;
	if (s->cgroup || s->sampling || s->payload) {
		snprintf(
			why, LONGEST_REASON,
			"events of the module have no --payload, and are not selected by --cgroup or --sampling");
		return false;
	}
	state.own_netns = (uint32_t)read_namespace_inode(AT_FDCWD, "/proc/self/ns/net");
	state.num_addresses = s->num_addresses;
	memcpy(state.address, s->address, sizeof(state.address));
	make_event_filter(&filter, s);
	wall_clock_open(&state.clock);
	ret = provide_tracefs() ? begin_using_module(filter.text, s->buffer) : -ENODEV;
	if (ret) {
		explain_module_error(ret, why);
		close_module();
	}
	return !ret;
}

static void count_module_losses(struct source_counts *counts)
{
	*counts = (struct source_counts){ .lost = perf_rings_count_lost() };
	counts->received = state.received + counts->lost;
}

/* Events contain the number of a device, whose name is known only in the own namespace. */
static bool describe_module_device(const struct seen_frame *frame, struct seen_device *described)
{
	return frame->netns == state.own_netns &&
	       if_indextoname((unsigned int)frame->device, described->name);
}

const struct packet_source module_source = {
	.name = "module",
	.open = open_module,
	.take = pass_module_events,
	.stop = perf_rings_stop,
	.count = count_module_losses,
	.describe = describe_module_device,
	.close = close_module,
};
