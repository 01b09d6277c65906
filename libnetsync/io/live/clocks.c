// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read how hosts' clocks are steered from files of clock readings that grow while sessions are
 * recorded (netsync-clocks(5), with times as in sidecar files). A file contains the readings of
 * all hosts of a recording, or is the sidecar file of the capture of one host. Readings that arrive before
 * their host's first session are kept.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/live/internal.h"
#include "io/text/clock-line.h"
#include "io/text/lines.h"
#include "util/array.h"

/* Size of the buffer for reading (bytes). Lines are shorter. Chosen. */
#define CLOCKS_BUFFER 65536
/* Maximum number of hosts in the files: the largest number of hosts in a recording. Chosen. */
#define MAX_LOGGED 65536
/* Maximum number of readings kept for a host's first session: those of 13 to 27 minutes. Chosen. */
#define MAX_WAITING ((size_t)16384)
/*
 * If the readings of a host are older than its sessions by more than this (ns), messages no
 * longer wait for them, and are treated as if there were no readings.
 */
#define MAX_LAG INT64_C(10000000000)

struct clocks_file {
	char *path;
	int fd; /* -1 if the file does not exist yet, or is not open */
	/* Index of the only host of the file, in live_input.logged; SIZE_MAX if lines name hosts. */
	size_t of;
	uint64_t at;	 /* offset of the first line that was not used (bytes) */
	uint64_t number; /* number of the last line used */
	bool failed;	 /* the file is not read any more */
	bool has_reported_bad;
};

/* A host that is named in the files, and its readings. */
struct logged_host {
	struct io_host *host;	   /* NULL if the host has no session yet */
	struct clock_event *event; /* readings kept for the host */
	size_t num;
	size_t room;
	int64_t last_ns;      /* time of the last reading, in the host's time base if it is known */
	int64_t last_read_ms; /* when the last reading was read */
	bool is_of_file;      /* the host of a file in which lines do not name hosts */
};

static void give_up_clocks_file(struct live_input *live, struct clocks_file *file, const char *why)
{
	io_warn(live->io, "%s: %s; from now on it is unknown how the clocks are steered.",
		file->path, why);
	file->failed = true;
}

static int push_clock_event(struct logged_host *logged, struct clock_event clock)
{
	struct trace *base = logged->host->base;

	if (__builtin_add_overflow(clock.time_ns, base->epoch_ns, &clock.time_ns))
		return 0;
	logged->last_ns = clock.time_ns;
	logged->last_read_ms = live_now_ms();
	return io_add_clock(base, &clock);
}

static bool is_host_called(const struct io_host *host, const char *text, size_t len)
{
	return strlen(host->base->host_name) == len && !memcmp(host->base->host_name, text, len);
}

/* Find a host by its name, or add the host. Return NULL if out of memory. */
static struct logged_host *find_or_add_logged_host(struct live_input *live,
						   const struct text_word *name)
{
	struct name *found = names_add(&live->logged_names, name);
	struct logged_host *logged;

	if (!found)
		return NULL;
	if (found->number >= 0)
		return &live->logged[found->number];
	logged = array_add(&live->logged, live->num_logged, sizeof(*logged));
	if (!logged)
		return NULL;
	*logged = (struct logged_host){ 0 };
	found->number = (int)live->num_logged++;
	for (size_t i = 0; i < live->num_hosts; i++)
		if (is_host_called(live->hosts[i], name->text, name->len))
			logged->host = live->hosts[i];
	return logged;
}

/*
 * Keep a reading. If there are too many, discard the oldest, because late sessions need recent
 * readings.
 */
static int keep_clock_event(struct live_input *live, struct logged_host *logged,
			    const struct clock_event *clock)
{
	if (logged->num == MAX_WAITING) {
		logged->num /= 2;
		memmove(logged->event, logged->event + logged->num, logged->num * sizeof(*clock));
	}
	if (array_grow(&logged->event, &logged->room, logged->num, sizeof(*clock)))
		return io_fail_no_memory(live->io);
	logged->event[logged->num++] = *clock;
	return 0;
}

/* Find the host of a line. Return NULL if out of memory. */
static struct logged_host *find_host_of_line(struct live_input *live,
					     const struct clocks_file *file,
					     const struct text_word *name)
{
	return file->of == SIZE_MAX ? find_or_add_logged_host(live, name) : &live->logged[file->of];
}

static int use_clocks_line(struct live_input *live, struct clocks_file *file, const char *p)
{
	struct netsync_clock_point point;
	struct clock_line_more more;
	struct clock_event clock;
	struct logged_host *logged;
	struct text_word name;

	if (!parse_text_clock_line(p, &name, &point, &more)) {
		if (!file->has_reported_bad)
			io_warn(live->io,
				"%s: line %llu does not have the format of netsync-clocks(5); such lines are not used.",
				file->path, (unsigned long long)file->number);
		file->has_reported_bad = true;
		return 0;
	}
	if (live->num_logged == MAX_LOGGED) {
		give_up_clocks_file(live, file, "it contains too many hosts");
		return 0;
	}
	logged = find_host_of_line(live, file, &name);
	if (!logged)
		return io_fail_no_memory(live->io);
	clock = (struct clock_event){
		.time_ns = point.time_ns,
		.raw_ns = point.raw_ns,
		.within_ns = point.within_ns,
		.rate = point.rate,
		.was_set = point.was_set,
	};
	if (logged->host)
		return push_clock_event(logged, clock);
	return keep_clock_event(live, logged, &clock);
}

/* Use the complete lines in the buffer. The rest is read again by the next call. */
static int use_clocks_lines(struct live_input *live, struct clocks_file *file, size_t num)
{
	char *line = live->clocks_buffer, *end = line + num, *next;
	int ret = 0;

	while (!ret && !file->failed && (next = memchr(line, '\n', (size_t)(end - line)))) {
		const char *p = lines_skip_blanks(line);

		file->number++;
		if (!lines_is_end(p))
			ret = use_clocks_line(live, file, p);
		line = next + 1;
	}
	file->at += (uint64_t)(line - live->clocks_buffer);
	return ret;
}

/* Open a file of readings if it exists. The first reading may create it late. */
static void open_clocks_file(struct live_input *live, struct clocks_file *file)
{
	struct stat st;

	file->fd = open(file->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (file->fd < 0 && errno != ENOENT)
		give_up_clocks_file(live, file, strerror(errno));
	else if (file->fd >= 0 && (fstat(file->fd, &st) || !S_ISREG(st.st_mode)))
		give_up_clocks_file(live, file, "not a regular file");
}

/* Use the data of an open file that was not used before. */
static int read_clocks_data(struct live_input *live, struct clocks_file *file)
{
	int ret = 0;

	while (!ret && !file->failed) {
		const uint64_t at = file->at;
		ssize_t num = pread(file->fd, live->clocks_buffer, CLOCKS_BUFFER, (off_t)at);

		if (!num || (num < 0 && errno == EINTR))
			break;
		if (num < 0) {
			give_up_clocks_file(live, file, strerror(errno));
			break;
		}
		ret = use_clocks_lines(live, file, (size_t)num);
		if (file->at > at)
			continue;
		if (num == CLOCKS_BUFFER)
			give_up_clocks_file(live, file, "it contains a line that is too long");
		break;
	}
	return ret;
}

/*
 * Read a file. There may be thousands of sidecar files of captures, so they are open only while
 * they are read. A file of a recording is removed at the end, so it stays open.
 */
static int read_clocks_file(struct live_input *live, struct clocks_file *file)
{
	struct stat st;
	int ret = 0;

	if (file->failed ||
	    (file->of != SIZE_MAX && (stat(file->path, &st) || (uint64_t)st.st_size <= file->at)))
		return 0;
	if (file->fd < 0)
		open_clocks_file(live, file);
	if (file->fd >= 0)
		ret = read_clocks_data(live, file);
	if (file->of != SIZE_MAX && file->fd >= 0) {
		close(file->fd);
		file->fd = -1;
	}
	return ret;
}

int clocks_read_files(struct live_input *live)
{
	int ret = 0;

	for (size_t i = 0; i < live->num_files && !ret; i++)
		ret = read_clocks_file(live, live->files[i]);
	return ret;
}

/* Add a file. Return NULL after io_fail(). */
static struct clocks_file *add_clocks_file(struct live_input *live, const char *path)
{
	struct clocks_file *file = calloc(1, sizeof(*file)), **last = NULL;

	/* Words are parsed several bytes at a time. */
	if (!live->clocks_buffer)
		live->clocks_buffer = calloc(1, CLOCKS_BUFFER + WORD_SLACK);
	if (file) {
		file->fd = -1;
		file->of = SIZE_MAX;
		file->path = strdup(path);
		if (file->path && live->clocks_buffer)
			last = array_add(&live->files, live->num_files, sizeof(*last));
	}
	if (last) {
		*last = file;
		live->num_files++;
		return file;
	}
	if (file)
		free(file->path);
	free(file);
	io_fail_no_memory(live->io);
	return NULL;
}

int clocks_add_file(struct live_input *live, const char *path)
{
	return add_clocks_file(live, path) ? 0 : -ENOMEM;
}

int clocks_add_file_of_host(struct live_input *live, struct io_host *host, const char *path)
{
	struct clocks_file *file = add_clocks_file(live, path);
	struct logged_host *logged = file ? array_add(&live->logged, live->num_logged,
						      sizeof(*logged)) :
					    NULL;

	if (!logged) {
		if (file)
			file->failed = true;
		return io_fail_no_memory(live->io);
	}
	*logged = (struct logged_host){ .host = host, .last_ns = INT64_MIN, .is_of_file = true };
	file->of = live->num_logged++;
	return read_clocks_file(live, file);
}

static const struct logged_host *find_host_with_file(const struct live_input *live,
						     const struct io_host *host)
{
	for (size_t i = 0; i < live->num_logged; i++)
		if (live->logged[i].is_of_file && live->logged[i].host == host)
			return &live->logged[i];
	return NULL;
}

bool clocks_has_file_of_host(const struct live_input *live, const struct io_host *host)
{
	return find_host_with_file(live, host);
}

int64_t clocks_get_last_ns(const struct live_input *live, const struct io_host *host)
{
	const struct logged_host *logged = find_host_with_file(live, host);

	return logged ? logged->last_ns : INT64_MIN;
}

int64_t clocks_get_last_read_ms(const struct live_input *live, const struct io_host *host)
{
	const struct logged_host *logged = find_host_with_file(live, host);

	return logged ? logged->last_read_ms : 0;
}

int clocks_join_host(struct live_input *live, struct io_host *host)
{
	struct logged_host *logged = NULL;
	int ret = 0;

	for (size_t i = 0; i < live->logged_names.num && !logged; i++) {
		const struct name *name = live->logged_names.name[i];

		if (name->number >= 0 && is_host_called(host, name->text, name->len))
			logged = &live->logged[name->number];
	}
	/*
	 * If two hosts have this name, the readings belong to the first. The writer of the file
	 * avoids this.
	 */
	if (!logged || logged->host)
		return 0;
	logged->host = host;
	for (size_t i = 0; i < logged->num && !ret; i++)
		ret = push_clock_event(logged, logged->event[i]);
	free(logged->event);
	logged->event = NULL;
	logged->num = logged->room = 0;
	return ret;
}

int64_t clocks_find_known_until(const struct live_input *live, const struct io_host *host,
				int64_t time_ns)
{
	/* A host that is no longer read has no times later than those already read. */
	const int64_t end = time_ns < INT64_MAX ? time_ns : host->base->info.last_ns;
	int64_t lag;

	for (size_t i = 0; i < live->num_logged; i++) {
		const struct logged_host *logged = &live->logged[i];

		if (logged->host != host || logged->last_ns >= end)
			continue;
		if (__builtin_sub_overflow(end, logged->last_ns, &lag) || lag > MAX_LAG)
			continue;
		return logged->last_ns;
	}
	return time_ns;
}

void clocks_free(struct live_input *live)
{
	for (size_t i = 0; i < live->num_files; i++) {
		if (live->files[i]->fd >= 0)
			close(live->files[i]->fd);
		free(live->files[i]->path);
		free(live->files[i]);
	}
	for (size_t i = 0; i < live->num_logged; i++)
		free(live->logged[i].event);
	free(live->clocks_buffer);
	names_release(&live->logged_names);
	free(live->files);
	free(live->logged);
}
