// SPDX-License-Identifier: LGPL-2.1-or-later
/* Update the list of sessions to read from the records of a relay daemon's lister. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/live/internal.h"
#include "util/array.h"

/* ---- records from listers ---------------------------------------------- */

static int warn_of_too_many_sessions(struct live_relay *relay)
{
	if (!relay->has_reported_many)
		io_warn(relay->io, "%s: there are more than %d sessions; the rest are not read.",
			relay->url, LIVE_MAX_SESSIONS);
	relay->has_reported_many = true;
	return 1;
}

/*
 * Find a session, or add it. Return 0; 1 if there are too many; or a negative value after
 * io_fail().
 */
static int find_session(struct live_input *live, struct live_relay *relay,
			const struct live_session *is, struct session **found)
{
	struct session *session, **last;
	size_t own = 0;

	for (size_t i = 0; i < live->num_sessions; i++) {
		*found = live->sessions[i];
		if (!strcmp((*found)->is.url, is->url))
			return 0;
		own += live->sessions[i]->relay == relay;
	}
	if (own >= LIVE_MAX_SESSIONS)
		return warn_of_too_many_sessions(relay);
	session = calloc(1, sizeof(*session));
	last = array_add(&live->sessions, live->num_sessions, sizeof(*last));
	if (!session || !last) {
		free(session);
		return io_fail_no_memory(relay->io);
	}
	*last = *found = session;
	live->num_sessions++;
	session->relay = relay;
	session->viewer.fd = -1;
	/* If the session did not exist a moment ago, no data can have been missed. */
	session->late = is->streams &&
			(!relay->asked_ms ||
			 (live_now_ms() - relay->asked_ms) * 1000 >= (int64_t)is->timer_us);
	return 0;
}

static int use_listed_session(struct live_relay *relay, const struct live_session *is)
{
	struct session *session = NULL;
	int ret;

	/* Sessions that are not recorded live have no data to read. */
	if (!is->timer_us ||
	    (relay->host && (strcmp(relay->host, is->host) || strcmp(relay->name, is->name))))
		return 0;
	ret = find_session(relay->io->live, relay, is, &session);
	if (ret)
		return ret < 0 ? ret : 0;
	session->is = *is;
	session->listed = true;
	return session_attach(session);
}

/*
 * After the end of the list, drop the sessions that are not in the list and are no longer read.
 * Return the number of remaining sessions.
 */
static size_t drop_unlisted_sessions(struct live_input *live, struct live_relay *relay)
{
	size_t kept = 0, own = 0;

	for (size_t i = 0; i < live->num_sessions; i++) {
		struct session *session = live->sessions[i];

		if (session->relay == relay && !session->listed && session->viewer.fd < 0) {
			session_free(session);
			continue;
		}
		if (session->relay == relay) {
			session->listed = false;
			own++;
		}
		live->sessions[kept++] = session;
	}
	live->num_sessions = kept;
	relay->asked_ms = live_now_ms();
	return own;
}

static void note_relay_up(struct live_relay *relay)
{
	size_t own = drop_unlisted_sessions(relay->io->live, relay);

	if (relay->has_reported_down)
		io_warn(relay->io, "%s: the relay daemon responds again.", relay->url);
	if (!own && !relay->has_reported_empty)
		io_warn(relay->io,
			relay->host ? "%s: no such live session; waiting for it." :
				      "%s: no live session; waiting for one.",
			relay->url);
	relay->has_reported_empty = !own;
	relay->has_reported_down = relay->has_reported_gone = false;
}

static void note_relay_down(struct live_relay *relay, const char *reason)
{
	/* If the relay daemon is gone, its sessions are gone; later sessions are new. */
	const bool gone = strstr(reason, strerror(ECONNREFUSED));
	/* When a relay daemon ends, its connections may break before new ones are refused. */
	const bool is_news = !relay->has_reported_down || (gone && !relay->has_reported_gone);

	if (gone)
		drop_unlisted_sessions(relay->io->live, relay);
	if (is_news)
		io_warn(relay->io,
			gone && relay->asked_ms ?
				"%s: the relay daemon no longer responds (%s), so it has exited; the relay daemon of netsync record does so when the recording ends. Waiting for another one." :
				"%s: the relay daemon does not respond (%s); trying again.",
			relay->url, reason);
	relay->has_reported_down = true;
	relay->has_reported_gone |= gone;
}

static int use_lister_record(void *data, const struct worker_head *head, const void *payload)
{
	struct live_relay *relay = data;

	switch (head->what) {
	case LIVE_SESSION:
		return use_listed_session(relay, payload);
	case LIVE_LISTED:
		note_relay_up(relay);
		return 0;
	case LIVE_NO_ANSWER:
		note_relay_down(relay, payload);
		return 0;
	case STREAM_ERROR:
		return io_fail(relay->io, -ENOSYS, "%s", (const char *)payload);
	default:
		return 0;
	}
}

/* Handle the end of the lister, which ends only when the relay daemon does not respond. */
static void drop_relay_lister(struct live_relay *relay)
{
	int status = worker_stop(&relay->lister);
	char reason[64];

	snprintf(reason, sizeof(reason), "for %d s", LIVE_PATIENCE_S);
	note_relay_down(relay, live_has_timed_out(status) ? reason : ctf_explain_end(status));
	relay->retry_ms = live_now_ms() + RETRY_MS;
}

int relay_start_lister(struct live_relay *relay)
{
	const struct live_task task = { relay->io, relay->base };
	int ret;

	if (relay->lister.fd >= 0 || live_now_ms() < relay->retry_ms)
		return 0;
	ret = worker_start(&relay->lister, &live_list, &task);
	return !ret ? 0 :
		      io_fail(relay->io, ret,
			      "%s: cannot start a process to list the sessions: %s.", relay->url,
			      strerror(-ret));
}

int relay_receive(struct live_relay *relay)
{
	int ret = worker_receive(&relay->lister, use_lister_record, relay);

	if (!ret)
		drop_relay_lister(relay);
	return ret < 0 ? ret : 0;
}

/* ---- given URLs ---------------------------------------------------------- */

static int fail_for_bad_url(struct netsync_io *io, const char *url)
{
	return io_fail(
		io, -EINVAL,
		"%s: not the URL of a live session; expected net://HOST[:PORT] for all live sessions of a relay daemon, or net://HOST[:PORT]/host/NAME/SESSION.",
		url);
}

/* Split a URL of the form net://HOST[:PORT][/host/NAME/SESSION]. */
static int split_relay_url(struct live_relay *relay)
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

void relay_free(struct live_relay *relay)
{
	worker_stop(&relay->lister);
	free(relay->url);
	free(relay->base);
	free(relay->host);
	free(relay->name);
	free(relay);
}

int relay_add(struct live_input *live, const char *url)
{
	struct live_relay *relay = calloc(1, sizeof(*relay)), **last;
	int ret = -ENOMEM;

	if (!relay)
		return io_fail_no_memory(live->io);
	relay->io = live->io;
	relay->lister.fd = -1;
	relay->url = strdup(url);
	if (relay->url)
		ret = split_relay_url(relay);
	last = array_add(&live->relays, live->num_relays, sizeof(*last));
	if (!last)
		ret = -ENOMEM;
	if (!ret) {
		*last = relay;
		live->num_relays++;
		return 0;
	}
	relay_free(relay);
	return ret == -EINVAL ? fail_for_bad_url(live->io, url) : io_fail_no_memory(live->io);
}
