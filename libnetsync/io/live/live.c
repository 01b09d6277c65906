// SPDX-License-Identifier: LGPL-2.1-or-later
/* Live sessions: which are read, whose they are, how far they have come. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "io/ctf/files.h"
#include "io/live/live.h"

/* A relay daemon that does not answer is asked again after so long (ms). */
#define RETRY_MS 200
/* A session that could not be read: first, then twice as long each time. */
#define RETRY_SESSION_MS 1000
#define RETRY_MAX_MS 30000
/* After a viewer went, relayd takes a while to see it. */
#define LEAVING_MS 2000
/* So long one that was attached to is waited for before others go on. */
#define SETTLE_MS 10000
/* The first sessions begin together if no more than this is between two. */
#define GATHER_MS 2000

struct relay {
	struct netsync_io *io;
	char *url;		/* as given */
	char *base;		/* net://HOST[:PORT] */
	char *host;		/* of the session that is wanted, */
	char *name;		/* and its name; NULL: all */
	struct worker lister;
	int64_t retry_ms;
	int64_t asked_ms;	/* when it was last known what there is */
	bool told_down;
	bool told_empty;
	bool told_many;
};

struct session {
	struct relay *relay;
	struct live_session is;	/* as it was listed last */
	bool listed;
	struct worker viewer;
	struct trace **traces;	/* of this viewer; owned by the reader */
	size_t num_traces;
	bool late;
	bool told_late;
	bool told_busy;
	bool told_silent;
	bool failed;
	bool held;		/* until the others have begun, too */
	bool has_time;
	int64_t time_ns;	/* all before was read, as printed */
	int64_t began_ms;
	int64_t left_ms;
	int64_t retry_ms;
	int64_t delay_ms;
};

struct live {
	struct netsync_io *io;
	struct relay **relays;
	size_t num_relays;
	struct session **sessions;
	size_t num_sessions;
	struct host **hosts;
	size_t num_hosts;
	bool has_begun;		/* the first hosts were numbered */
	int64_t newest_ms;	/* when a session was attached to */
	uint64_t packets;	/* in this call */
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* ---- hosts ------------------------------------------------------------- */

static int find_host(struct live *live, struct trace *trace)
{
	struct host **more, *host = NULL;
	int ret;

	for (size_t i = 0; i < live->num_hosts && !host; i++)
		if (io_same_host(live->hosts[i]->base, trace))
			host = live->hosts[i];
	if (host)
		return io_bring_to_base(live->io, host, trace);
	host = calloc(1, sizeof(*host));
	more = realloc(live->hosts, (live->num_hosts + 1) * sizeof(*more));
	if (more)
		live->hosts = more;
	if (!host || !more) {
		free(host);
		return io_no_memory(live->io);
	}
	more[live->num_hosts++] = host;
	host->base = trace;
	host->range.end_ns = -1;
	ret = io_bring_to_base(live->io, host, trace);
	if (ret < 0)
		return ret;
	host->number = netsync_add_host(live->io->ns, trace->host_name);
	if (host->number < 0)
		return io_fail(live->io, host->number, "%s: %s",
			       trace->host_name, netsync_error(live->io->ns));
	return 0;
}

/* Until when was everything read of a host? INT64_MAX: nobody reads it. */
static int64_t host_time(const struct live *live, const struct host *host)
{
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < live->num_sessions; i++) {
		const struct session *s = live->sessions[i];

		for (size_t j = 0; j < s->num_traces; j++) {
			int64_t time;

			if (s->held || s->traces[j]->host != host)
				continue;
			if (!s->has_time)
				return INT64_MIN;
			if (!__builtin_add_overflow(s->time_ns,
					s->traces[j]->info.shift_ns, &time) &&
			    time < least)
				least = time;
		}
	}
	return least;
}

/* Is nothing known of a session that was attached to just now? */
static bool some_is_new(const struct live *live)
{
	int64_t now = now_ms();

	for (size_t i = 0; i < live->num_sessions; i++) {
		const struct session *s = live->sessions[i];

		if (s->viewer.fd >= 0 && !s->num_traces &&
		    now - s->began_ms < SETTLE_MS)
			return true;
	}
	return false;
}

/*
 * What all have promised lets packets be forgotten; so nothing is promised while
 * there may be one more host.
 */
static int promise(struct live *live)
{
	if (some_is_new(live))
		return 0;
	for (size_t i = 0; i < live->num_hosts; i++) {
		const struct host *host = live->hosts[i];
		int ret = netsync_advance(live->io->ns, host->number,
					  host_time(live, host));

		if (ret < 0)
			return io_fail(live->io, ret, "%s.",
				       netsync_error(live->io->ns));
	}
	return 0;
}

/* ---- what viewers send ------------------------------------------------- */

static char *text_of_time(char *buffer, size_t size, int64_t time_ns)
{
	time_t seconds = time_ns / 1000000000 - (time_ns % 1000000000 < 0);
	struct tm tm;

	if (!localtime_r(&seconds, &tm) ||
	    !strftime(buffer, size, "%F %T", &tm))
		snprintf(buffer, size, "%lld ns", (long long)time_ns);
	return buffer;
}

/* A trace is kept when its session has ended: for netsync_io_get_trace(). */
static int add_trace(struct session *session, const struct ctf_identity *is)
{
	struct netsync_io *io = session->relay->io;
	struct trace *trace = calloc(1, sizeof(*trace)), **more, **own;
	int ret;

	more = realloc(io->traces, (io->num_traces + 1) * sizeof(*more));
	if (more)
		io->traces = more;
	own = realloc(session->traces,
		      (session->num_traces + 1) * sizeof(*own));
	if (own)
		session->traces = own;
	if (!trace || !more || !own) {
		free(trace);
		return io_no_memory(io);
	}
	own[session->num_traces++] = trace;
	more[io->num_traces++] = trace;
	trace->io = io;
	trace->info.last_ns = -1;
	trace->info.format = ctf_reader.format;
	trace->info.running = 1;
	trace->info.late = session->late;
	trace->range.end_ns = -1;
	trace->max_points = LIVE_MAX_POINTS;
	trace->path = strdup(session->is.url);
	trace->real_path = strdup(session->is.url);
	ret = ctf_identify(trace, is);
	if (ret < 0)
		return ret;
	if (!trace->path || !trace->real_path ||
	    io_make_printable(&trace->host_name))
		return io_no_memory(io);
	session->held = !io->live->has_begun;
	return session->held ? 1 : find_host(io->live, trace);
}

static int use_span(struct session *session, struct trace *trace,
		    const struct range *span)
{
	char begin[64];

	if (session->late && !session->told_late) {
		io_warn(session->relay->io,
			"%s: the session was running already; its data are from %s on.",
			session->is.url,
			text_of_time(begin, sizeof(begin), span->begin_ns));
		session->told_late = true;
	}
	return io_span(trace, span->begin_ns, span->end_ns);
}

static void use_counts(struct trace *trace, const struct live_counts *counts)
{
	struct netsync_io *io = trace->io;

	if (counts->lost.lost_events && !trace->info.lost_events)
		io_warn(io, "%s: the tracer has begun to discard events; %s.",
			trace->path, ctf_reader.avoids_loss);
	if (counts->lost.lost_packets && !trace->info.lost_packets)
		io_warn(io, "%s: trace packets are missing: the tracer overwrites them.",
			trace->path);
	if (counts->lost.out_of_range && !trace->out_of_range)
		io_warn(io, "%s: there are packet events outside of the years 1824 to 2116, which are not used; is the clock of %s set?",
			trace->path, trace->host_name);
	trace->info.lost_events = counts->lost.lost_events;
	trace->info.lost_packets = counts->lost.lost_packets;
	trace->out_of_range = counts->lost.out_of_range;
	trace->has_network = counts->has_network;
}

static void use_time(struct session *session, int64_t time_ns)
{
	bool has_network = false;

	session->time_ns = time_ns;
	session->has_time = true;
	/* What fails again and again before that is not tried more often. */
	if (now_ms() - session->began_ms > RETRY_MAX_MS)
		session->delay_ms = 0;
	if (session->told_silent || now_ms() - session->began_ms < SETTLE_MS)
		return;
	for (size_t i = 0; i < session->num_traces; i++)
		has_network |= session->traces[i]->has_network;
	if (!has_network)
		io_warn(session->relay->io,
			"%s: there are no network events in this session; %s.",
			session->is.url, ctf_reader.to_record);
	session->told_silent = true;
}

static void say_failed(const struct session *session, const char *why)
{
	io_warn(session->relay->io,
		"%s: the session cannot be read any further (%s); trying again.",
		session->is.url, why);
}

static int use_viewer(void *data, const struct worker_head *head,
		      const void *payload)
{
	struct session *session = data;
	struct trace *trace = NULL;

	if (head->number < session->num_traces)
		trace = session->traces[head->number];
	if (!trace && (head->what == LIVE_EVENT || head->what == LIVE_SPAN ||
		       head->what == LIVE_COUNTS))
		return 0;
	switch (head->what) {
	case LIVE_TRACE:
		return add_trace(session, payload);
	case LIVE_EVENT:
		session->relay->io->live->packets +=
			!((const struct event_seen *)payload)->is_clock;
		return io_event(trace, payload);
	case LIVE_SPAN:
		return use_span(session, trace, payload);
	case LIVE_COUNTS:
		use_counts(trace, payload);
		return 0;
	case LIVE_TIME:
		use_time(session, *(const int64_t *)payload);
		return 0;
	case LIVE_WARNING:
		io_warn(session->relay->io, "%s", (const char *)payload);
		return 0;
	case LIVE_FAILED:
		say_failed(session, payload);
		session->failed = true;
		return 0;
	default:
		return 0;
	}
}

/* ---- attaching --------------------------------------------------------- */

static int attach(struct session *session)
{
	struct netsync_io *io = session->relay->io;
	const struct live_task task = { io, session->is.url };
	int ret = worker_start(&session->viewer, &live_view, &task);

	if (!session->is.streams)
		session->late = false;
	session->failed = false;
	session->told_busy = false;
	session->told_late = false;
	session->told_silent = false;
	session->has_time = false;
	session->num_traces = 0;
	session->began_ms = io->live->newest_ms = now_ms();
	if (ret < 0)
		return io_fail(io, ret, "%s: no process can be started to read it: %s.",
			       session->is.url, strerror(-ret));
	return 0;
}

/* A lister or viewer got no answer in time. */
static bool is_silent(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
}

/* The viewer has ended: with the session, or because it failed. */
static void detach(struct session *session)
{
	int status = worker_stop(&session->viewer);
	bool failed = session->failed;

	if (status && !failed) {
		if (is_silent(status))
			io_warn(session->relay->io,
				"%s: the relay daemon has not answered for %d s; trying again.",
				session->is.url, LIVE_PATIENCE_S);
		else
			say_failed(session, ctf_why_ended(status));
		failed = true;
	}
	for (size_t i = 0; i < session->num_traces; i++)
		session->traces[i]->info.running = 0;
	session->num_traces = 0;
	/* Where it is there again, something may have gone by meanwhile. */
	session->late = true;
	session->left_ms = now_ms();
	if (!failed)
		return;
	session->delay_ms = session->delay_ms ? session->delay_ms * 2 :
						RETRY_SESSION_MS;
	if (session->delay_ms > RETRY_MAX_MS)
		session->delay_ms = RETRY_MAX_MS;
	session->retry_ms = session->left_ms + session->delay_ms;
}

static int attach_if_free(struct session *session)
{
	if (session->viewer.fd >= 0 || now_ms() < session->retry_ms)
		return 0;
	if (!session->is.clients)
		return attach(session);
	/* Is that still the former one of ours? */
	if (session->left_ms && now_ms() < session->left_ms + LEAVING_MS)
		return 0;
	if (!session->told_busy)
		io_warn(session->relay->io,
			"%s: the session has another viewer already, and the relay daemon allows one; waiting until that one leaves.",
			session->is.url);
	session->told_busy = true;
	session->late = true;
	return 0;
}

/* ---- what listers send ------------------------------------------------- */

static int say_too_many(struct relay *relay)
{
	if (!relay->told_many)
		io_warn(relay->io,
			"%s: there are more than %d sessions; the others are not read.",
			relay->url, LIVE_MAX_SESSIONS);
	relay->told_many = true;
	return 1;
}

/* 0; 1: there are too many; or negative after io_fail(). */
static int find_session(struct live *live, struct relay *relay,
			const struct live_session *is, struct session **found)
{
	struct session *session, **more;
	size_t own = 0;

	for (size_t i = 0; i < live->num_sessions; i++) {
		*found = live->sessions[i];
		if (!strcmp((*found)->is.url, is->url))
			return 0;
		own += live->sessions[i]->relay == relay;
	}
	if (own >= LIVE_MAX_SESSIONS)
		return say_too_many(relay);
	session = calloc(1, sizeof(*session));
	more = realloc(live->sessions,
		       (live->num_sessions + 1) * sizeof(*more));
	if (more)
		live->sessions = more;
	if (!session || !more) {
		free(session);
		return io_no_memory(relay->io);
	}
	more[live->num_sessions++] = *found = session;
	session->relay = relay;
	session->viewer.fd = -1;
	/* Where it was not there just now, nothing of it can have gone by. */
	session->late = is->streams &&
		(!relay->asked_ms ||
		 (now_ms() - relay->asked_ms) * 1000 >= (int64_t)is->timer_us);
	return 0;
}

static int use_session(struct relay *relay, const struct live_session *is)
{
	struct session *session = NULL;
	int ret;

	/* Those that are not recorded live give nothing. */
	if (!is->timer_us ||
	    (relay->host && (strcmp(relay->host, is->host) ||
			     strcmp(relay->name, is->name))))
		return 0;
	ret = find_session(relay->io->live, relay, is, &session);
	if (ret)
		return ret < 0 ? ret : 0;
	session->is = *is;
	session->listed = true;
	return attach_if_free(session);
}

static void free_session(struct session *session)
{
	worker_stop(&session->viewer);
	free(session->traces);
	free(session);
}

/*
 * All there are were named: forget the others, once they were read. Return: how
 * many there are.
 */
static size_t sweep(struct live *live, struct relay *relay)
{
	size_t kept = 0, own = 0;

	for (size_t i = 0; i < live->num_sessions; i++) {
		struct session *session = live->sessions[i];

		if (session->relay == relay && !session->listed &&
		    session->viewer.fd < 0) {
			free_session(session);
			continue;
		}
		if (session->relay == relay) {
			session->listed = false;
			own++;
		}
		live->sessions[kept++] = session;
	}
	live->num_sessions = kept;
	relay->asked_ms = now_ms();
	return own;
}

static void is_up(struct relay *relay)
{
	size_t own = sweep(relay->io->live, relay);

	if (relay->told_down)
		io_warn(relay->io, "%s: the relay daemon answers again.",
			relay->url);
	if (!own && !relay->told_empty)
		io_warn(relay->io, relay->host ?
			"%s: there is no such live session now; waiting for it." :
			"%s: there is no live session now; waiting for one.",
			relay->url);
	relay->told_empty = !own;
	relay->told_down = false;
}

static void is_down(struct relay *relay, const char *reason)
{
	/* If there is none, its sessions are gone; others will be new. */
	bool gone = strstr(reason, strerror(ECONNREFUSED));

	if (gone)
		sweep(relay->io->live, relay);
	if (!relay->told_down)
		io_warn(relay->io, gone && relay->asked_ms ?
			"%s: the relay daemon does not answer any more (%s): it has ended, as that of netsync record does with the recording; waiting for another one." :
			"%s: the relay daemon does not answer (%s); trying again.",
			relay->url, reason);
	relay->told_down = true;
}

static int use_lister(void *data, const struct worker_head *head,
		      const void *payload)
{
	struct relay *relay = data;

	switch (head->what) {
	case LIVE_SESSION:
		return use_session(relay, payload);
	case LIVE_LISTED:
		is_up(relay);
		return 0;
	case LIVE_NO_ANSWER:
		is_down(relay, payload);
		return 0;
	case LIVE_FAILED:
		return io_fail(relay->io, -ENOSYS, "%s", (const char *)payload);
	default:
		return 0;
	}
}

/* The lister has ended by itself: it never does but for being told nothing. */
static void drop_lister(struct relay *relay)
{
	int status = worker_stop(&relay->lister);
	char reason[64];

	snprintf(reason, sizeof(reason), "for %d s", LIVE_PATIENCE_S);
	is_down(relay, is_silent(status) ? reason : ctf_why_ended(status));
	relay->retry_ms = now_ms() + RETRY_MS;
}

/* ---- waiting ----------------------------------------------------------- */

static int start_listers(struct live *live)
{
	for (size_t i = 0; i < live->num_relays; i++) {
		struct relay *relay = live->relays[i];
		const struct live_task task = { live->io, relay->base };
		int ret;

		if (relay->lister.fd >= 0 || now_ms() < relay->retry_ms)
			continue;
		ret = worker_start(&relay->lister, &live_list, &task);
		if (ret < 0)
			return io_fail(live->io, ret,
				"%s: no process can be started to ask for sessions: %s.",
				relay->url, strerror(-ret));
	}
	return 0;
}

static int receive_from_lister(struct relay *relay)
{
	int ret = worker_receive(&relay->lister, use_lister, relay);

	if (!ret)
		drop_lister(relay);
	return ret < 0 ? ret : 0;
}

static int receive_from_viewer(struct session *session)
{
	int ret = worker_receive(&session->viewer, use_viewer, session);

	if (!ret)
		detach(session);
	return ret < 0 ? ret : 0;
}

static int by_host_name(const void *a, const void *b)
{
	const struct trace *p = *(struct trace **)a, *q = *(struct trace **)b;

	return strcmp(p->host_name, q->host_name);
}

/*
 * The first sessions wait for each other, so that their hosts are numbered by
 * name, as those of recorded traces are: then the result is the same to the last
 * digit.
 */
static int begin(struct live *live)
{
	struct netsync_io *io = live->io;
	int ret = 0;

	if (live->has_begun || !io->num_traces || some_is_new(live) ||
	    now_ms() - live->newest_ms < GATHER_MS)
		return 0;
	live->has_begun = true;
	qsort(io->traces, io->num_traces, sizeof(*io->traces), by_host_name);
	for (size_t i = 0; i < io->num_traces && !ret; i++)
		ret = find_host(live, io->traces[i]);
	for (size_t i = 0; i < live->num_sessions && !ret; i++) {
		struct session *session = live->sessions[i];

		if (session->held)
			ret = receive_from_viewer(session);
		session->held = false;
	}
	return ret;
}

/* Wait for what is sent, and use it: once from each that has something. */
static int receive(struct live *live, int timeout_ms)
{
	size_t num = live->num_relays, max = num + live->num_sessions;
	struct pollfd *fds = calloc(max + 1, sizeof(*fds));
	int ret;

	if (!fds)
		return io_no_memory(live->io);
	for (size_t i = 0; i < max; i++)
		fds[i] = (struct pollfd){
			.fd = i < num ? live->relays[i]->lister.fd :
			      live->sessions[i - num]->held ? -1 :
			      live->sessions[i - num]->viewer.fd,
			.events = POLLIN,
		};
	ret = poll(fds, max, timeout_ms);
	if (ret < 0)
		ret = io_fail(live->io, -errno, "%s.", strerror(errno));
	else if (ret > 0)
		ret = 0;
	/* Viewers first: to them listers can add, and take some away. */
	for (size_t i = max; i-- > 0 && !ret;) {
		if (!(fds[i].revents & (POLLIN | POLLHUP | POLLERR)))
			continue;
		if (i < num)
			ret = receive_from_lister(live->relays[i]);
		else
			ret = receive_from_viewer(live->sessions[i - num]);
	}
	free(fds);
	return ret;
}

int netsync_io_poll(struct netsync_io *io, int timeout_ms)
{
	struct live *live = io->live;
	int64_t end = now_ms() + timeout_ms, left;
	int ret;

	if (!live)
		return io_fail(io, -ENODATA, "No live session was given.");
	live->packets = 0;
	do {
		ret = start_listers(live);
		left = end - now_ms();
		if (!ret)
			ret = receive(live, left < 0 ? 0 :
				      left < RETRY_MS ? left : RETRY_MS);
		if (!ret)
			ret = begin(live);
		if (!ret)
			ret = promise(live);
	} while (!ret && now_ms() < end);
	if (ret == -EINTR)
		ret = 0;
	if (!ret)
		ret = io_make_infos(io);
	if (ret < 0)
		return ret;
	return live->packets < INT_MAX ? live->packets : INT_MAX;
}

/* ---- the rest of the interface ----------------------------------------- */

static int bad_url(struct netsync_io *io, const char *url)
{
	return io_fail(io, -EINVAL,
		"%s: give net://HOST[:PORT] for all live sessions of a relay daemon, or net://HOST[:PORT]/host/NAME/SESSION.",
		url);
}

/* net://HOST[:PORT][/host/NAME/SESSION] */
static int split_url(struct relay *relay)
{
	const char *start = relay->url + strlen("net://"), *slash, *middle;

	if (strncmp(relay->url, "net://", strlen("net://")))
		return -EINVAL;
	slash = strchrnul(start, '/');
	if (slash == start)
		return -EINVAL;
	relay->base = strndup(relay->url, slash - relay->url);
	if (!relay->base)
		return -ENOMEM;
	if (!*slash || !slash[1])
		return 0;
	if (strncmp(slash, "/host/", strlen("/host/")))
		return -EINVAL;
	slash += strlen("/host/");
	middle = strchr(slash, '/');
	if (!middle || middle == slash || !middle[1] || strchr(middle + 1, '/'))
		return -EINVAL;
	relay->host = strndup(slash, middle - slash);
	relay->name = strdup(middle + 1);
	return relay->host && relay->name ? 0 : -ENOMEM;
}

static void free_relay(struct relay *relay)
{
	worker_stop(&relay->lister);
	free(relay->url);
	free(relay->base);
	free(relay->host);
	free(relay->name);
	free(relay);
}

static int add_relay(struct live *live, const char *url)
{
	struct relay *relay = calloc(1, sizeof(*relay)), **more;
	int ret = -ENOMEM;

	if (!relay)
		return io_no_memory(live->io);
	relay->io = live->io;
	relay->lister.fd = -1;
	relay->url = strdup(url);
	if (relay->url)
		ret = split_url(relay);
	more = realloc(live->relays, (live->num_relays + 1) * sizeof(*more));
	if (more)
		live->relays = more;
	else
		ret = -ENOMEM;
	if (!ret) {
		more[live->num_relays++] = relay;
		return 0;
	}
	free_relay(relay);
	return ret == -EINVAL ? bad_url(live->io, url) : io_no_memory(live->io);
}

int netsync_io_add_live(struct netsync_io *io, const char *url)
{
	if (io->was_read || io->num_texts || (io->num_traces && !io->live))
		return io_fail(io, -EBUSY,
			"%s: live sessions and recorded traces are not read together.",
			url);
	if (!io->live)
		io->live = calloc(1, sizeof(*io->live));
	if (!io->live)
		return io_no_memory(io);
	io->live->io = io;
	for (size_t i = 0; i < io->live->num_relays; i++)
		if (!strcmp(io->live->relays[i]->url, url))
			return io_fail(io, -EEXIST,
				"%s: this was given already.", url);
	return add_relay(io->live, url);
}

void live_free(struct live *live)
{
	if (!live)
		return;
	for (size_t i = 0; i < live->num_sessions; i++)
		free_session(live->sessions[i]);
	for (size_t i = 0; i < live->num_relays; i++)
		free_relay(live->relays[i]);
	for (size_t i = 0; i < live->num_hosts; i++)
		free(live->hosts[i]);
	free(live->sessions);
	free(live->relays);
	free(live->hosts);
	free(live);
}
