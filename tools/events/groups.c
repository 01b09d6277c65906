// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read the traces of all hosts. A child process reads all traces of one host, because
 * libbabeltrace2 ends its process for some damaged streams.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/child.h"
#include "common/complain.h"
#include "common/ctf-source.h"
#include "common/progress.h"
#include "common/result-info.h"
#include "groups.h"

/*
 * Exit status of a reader process that cannot read. Any other status is the errno of a failed
 * write, or 0.
 */
#define CANNOT_READ 255

/* Interval at which the progress bar is updated, ms. Chosen. */
#define POLL_MS 100

struct groups {
	const struct groups_reader *reader;
	struct event_group *list;
	uint32_t num;
	struct netsync_io_source *sources; /* sources of all groups */
	uint64_t bytes;			   /* bytes of all groups */
	uint64_t done;			   /* bytes of finished groups */
	struct group_state *state;	   /* state of the current group */
	struct progress progress;
};

/* ---- in the child ------------------------------------------------------- */

static void prepare_group_child(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prepare_ctf_child();
}

static int read_group_in_child(const struct groups *groups, const struct event_group *group)
{
	const struct groups_reader *reader = groups->reader;
	FILE *out = reader->out;

	prepare_group_child();
	errno = 0;
	if (!reader->read(reader->data, group, groups->state) && !ferror(out))
		return CANNOT_READ;
	return ferror(out) || fflush(out) ? errno : 0;
}

/* Discard an event. This function is used to check whether traces can be read. */
static int discard_event(void *data, const struct netsync_io_event *event)
{
	(void)data;
	(void)event;
	return 0;
}

/* ---- waiting for the child ------------------------------------------------- */

/* Display the progress. The position in the files is assumed to be proportional to time. */
static void show_group_progress(struct groups *groups, const struct event_group *group)
{
	const double span = (double)group->last_ns - (double)group->first_ns;
	double part = (double)groups->state->now_ns - (double)group->first_ns;

	part = span > 0 && part > 0 ? part / span : 0;
	if (part > 1)
		part = 1;
	progress_show(&groups->progress, groups->done + part * group->bytes, groups->bytes);
}

/*
 * Wait until a child process ends. Return its status as waitpid() does. @group is the
 * group that the process reads, or NULL.
 */
static int wait_for_reader(struct groups *groups, const struct event_group *group, pid_t child)
{
	struct pollfd pidfd = { .events = POLLIN };

	pidfd.fd = child > 0 ? pidfd_open(child, 0) : -1;
	while (pidfd.fd >= 0 && poll(&pidfd, 1, POLL_MS) <= 0)
		if (group)
			show_group_progress(groups, group);
	if (pidfd.fd >= 0)
		close(pidfd.fd);
	return child_wait(child);
}

/* ---- traces that cannot be read -------------------------------------------- */

static bool can_read_events(struct groups *groups, const struct netsync_io_source *source)
{
	const pid_t child = fork();

	if (!child) {
		prepare_group_child();
		_exit(netsync_io_read_events(groups->reader->base->io, source, 1, sizeof(*source),
					     discard_event, NULL) != 0);
	}
	return !wait_for_reader(groups, NULL, child);
}

/* Remove sources that cannot be read from a group. Return true if any were removed. */
static bool skip_unreadable_sources(struct groups *groups, struct event_group *group)
{
	uint32_t num = 0;

	/* For trace.dat and perf.data files, the readable part is read in any case. */
	for (uint32_t i = 0; i < group->num && !group->is_tracefs; i++) {
		if (can_read_events(groups, &group->sources[i])) {
			group->sources[num++] = group->sources[i];
			continue;
		}
		complain(
			"warning: %s: only packet events are used, because Babeltrace 2 cannot read the other events.",
			group->sources[i].path);
	}
	if (num == group->num || group->is_tracefs)
		return false;
	group->num = num;
	return true;
}

/* Remove everything that was written from @begin on. On failure, set errno and return false. */
static bool remove_written(FILE *out, off_t begin)
{
	if (begin >= 0 && !ftruncate(fileno(out), begin) && !fseeko(out, begin, SEEK_SET))
		return true;
	complain(
		"A trace cannot be read to its end, and data that was written to a pipe cannot be withdrawn; write to a file with --output.");
	errno = ESPIPE;
	return false;
}

/* ---- all groups ------------------------------------------------------------- */

/* Write the output of a group. If the output cannot be written, set errno and return false. */
static bool write_event_group(struct groups *groups, struct event_group *group)
{
	const struct groups_reader *reader = groups->reader;
	FILE *out = reader->out;
	off_t begin;
	pid_t child;
	int status;

	if (reader->flush)
		reader->flush(reader->data);
	if (fflush(out))
		return false;
	*groups->state = (struct group_state){ .now_ns = INT64_MIN };
	begin = ftello(out);
	child = fork();
	if (!child)
		_exit(read_group_in_child(groups, group));
	status = wait_for_reader(groups, group, child);
	if (!status) {
		reader->done(reader->data, group, groups->state);
		return begin < 0 || !fseeko(out, 0, SEEK_END);
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) != CANNOT_READ) {
		errno = WEXITSTATUS(status);
		return false;
	}
	if (!remove_written(out, begin))
		return false;
	if (skip_unreadable_sources(groups, group))
		return !group->num || write_event_group(groups, group);
	complain(
		"warning: %s: only packet events are used, because there is not enough memory for the other events.",
		reader->base->hosts[group->host].name);
	return true;
}

/* Return the size of a trace, which is a file or the stream files in a directory. */
static uint64_t measure_trace_bytes(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	uint64_t bytes = 0;
	struct stat file;

	if (!folder)
		return stat(path, &file) ? 0 : file.st_size;
	while ((entry = readdir(folder)))
		if (!fstatat(dirfd(folder), entry->d_name, &file, 0) && S_ISREG(file.st_mode))
			bytes += file.st_size;
	closedir(folder);
	return bytes;
}

static void add_trace_to_group(struct groups *groups, struct event_group *group,
			       const struct netsync_io_trace *trace)
{
	const struct timebase *base = groups->reader->base;
	const struct timebase_host *host = &base->hosts[group->host];
	const struct netsync_host_info info = get_host_info(base->ns, group->host);
	/* Traces without packets were not read. Assume that they are as long as the others. */
	const bool is_read = trace->first_ns <= trace->last_ns;
	int64_t t;

	/* If traces are damaged, libbabeltrace2 may end the process that reads them. */
	if (trace->damaged && !group->is_tracefs) {
		complain("warning: %s: only packet events are used, because the trace is damaged.",
			 trace->path);
		return;
	}
	group->sources[group->num++] = (struct netsync_io_source){ trace->path, trace->shift_ns };
	group->bytes += measure_trace_bytes(trace->path);
	if (timebase_correct_time(host, is_read ? trace->first_ns : info.first_ns, &t) &&
	    t < group->first_ns)
		group->first_ns = t;
	if (timebase_correct_time(host, is_read ? trace->last_ns : info.last_ns, &t) &&
	    t > group->last_ns)
		group->last_ns = t < base->end_ns ? t : base->end_ns;
}

static void find_event_groups(struct groups *groups)
{
	const struct timebase *base = groups->reader->base;
	struct netsync_io_source *sources = groups->sources;

	for (uint32_t host = 0; host < base->num_hosts; host++) {
		struct event_group *group = &groups->list[groups->num];

		*group = (struct event_group){
			.host = host,
			.sources = sources,
			.first_ns = INT64_MAX,
			.last_ns = INT64_MIN,
		};
		if (!base->hosts[host].clock ||
		    (groups->reader->host != GROUPS_ALL_HOSTS && groups->reader->host != host))
			continue;
		for (uint32_t i = 0; i < netsync_io_num_traces(base->io); i++) {
			const struct netsync_io_trace trace = get_io_trace_info(base->io, i);

			if (trace.host != host)
				continue;
			/* All traces of a host have one clock and therefore one format. */
			group->is_tracefs = !strcmp(trace.format, "trace.dat") ||
					    !strcmp(trace.format, "perf.data");
			if (group->is_tracefs || !strcmp(trace.format, "ctf"))
				add_trace_to_group(groups, group, &trace);
		}
		sources += group->num;
		groups->num += group->num > 0;
		groups->bytes += group->bytes;
	}
}

static bool open_groups(struct groups *groups)
{
	const struct timebase *base = groups->reader->base;
	const size_t size = sizeof(*groups->state);

	groups->list = calloc(base->num_hosts + 1, sizeof(*groups->list));
	groups->sources = calloc(netsync_io_num_traces(base->io) + 1, sizeof(*groups->sources));
	groups->state = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (groups->state == MAP_FAILED)
		groups->state = NULL;
	if (groups->list && groups->sources && groups->state)
		return true;
	errno = ENOMEM;
	return false;
}

static void close_groups(struct groups *groups)
{
	if (groups->state)
		munmap(groups->state, sizeof(*groups->state));
	free(groups->sources);
	free(groups->list);
}

bool groups_read(const struct groups_reader *reader)
{
	struct groups groups = { .reader = reader };
	bool ok = open_groups(&groups);
	int error;

	if (ok)
		find_event_groups(&groups);
	progress_start(&groups.progress, reader->action);
	for (uint32_t i = 0; i < groups.num && ok; i++) {
		ok = write_event_group(&groups, &groups.list[i]);
		groups.done += groups.list[i].bytes;
	}
	error = errno;
	progress_end(&groups.progress);
	close_groups(&groups);
	errno = error;
	return ok;
}
