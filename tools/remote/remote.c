// SPDX-License-Identifier: GPL-2.0-only
/* Run agents on other machines, and communicate with them. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/complain.h"
#include "common/json-value.h"
#include "common/now.h"
#include "common/places.h"
#include "common/progress.h"
#include "protocol.h"
#include "remote.h"

/* Time between requests to an idle agent, ns. An agent without requests ends after a minute. */
#define QUIET_NS (20 * NS_PER_S)
/* Time between two transmissions of struct remote_work.alive, ns. Chosen. */
#define ALIVE_NS (10 * NS_PER_S)
/*
 * Maximum time without a sign of life from a working agent, ns. A working agent sends one every few
 * seconds. Chosen.
 */
#define SILENT_NS (120 * NS_PER_S)
/* Time for an agent to undo its actions after the connection is closed, ns. Chosen. */
#define GOODBYE_NS (30 * NS_PER_S)
/* Time for a process to end after a signal, ns, and period of checking, ms. Chosen. */
#define END_NS (2 * NS_PER_S)
#define NAP_MS 20
/*
 * Time limit for the greeting, ns. ssh, a login shell and netsync must start. This took up to 60 s
 * when a user's shell startup files waited for a lock. If ssh may ask for passwords, the limit is
 * longer, because sshd gives users 120 s for them (LoginGraceTime).
 */
#define GREET_NS (120 * NS_PER_S)
#define GREET_ASKED_NS (240 * NS_PER_S)

/* Exit status of ssh if it cannot connect (ssh(1)). */
#define SSH_FAILED 255
/* Maximum length of a line that ssh or a program on the machine prints, bytes. Chosen. */
#define LOG_LINE 1000

/* Descriptors of each machine that are polled. */
enum { FD_ERR, FD_FROM, FD_TO, FDS };

/* ---- names ------------------------------------------------------------- */

static char *make_safe_name(const char *name)
{
	char *safe = strdup(name);

	for (char *c = safe; c && *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr(".-_@", *c))
			*c = '_';
	if (safe && *safe == '.')
		*safe = '_';
	return safe;
}

static bool is_port_number(const char *text)
{
	char *end;
	long port = strtol(text, &end, 10);

	return isdigit((unsigned char)*text) && !*end && port > 0 && port < 65536;
}

/* Split [USER@]HOST[:PORT], and locate HOST within it. */
static bool parse_remote_host(struct remote *remote, const char *text)
{
	const char *user_end = strrchr(text, '@');
	const char *host = user_end ? user_end + 1 : text;
	const char *end, *port = NULL;
	int user_len = host - text;

	if (*host == '[') {
		host++;
		end = strchr(host, ']');
		if (!end || (end[1] && end[1] != ':'))
			return false;
		port = end[1] ? end + 2 : NULL;
	} else {
		/* Without brackets, an IPv6 address has no port. */
		end = strchr(host, ':');
		if (end && !strchr(end + 1, ':'))
			port = end + 1;
		else
			end = host + strlen(host);
	}
	if (end == host || *text == '-' || *host == '-' || (port && !is_port_number(port)))
		return false;
	if (asprintf(&remote->destination, "%.*s%.*s", user_len, text, (int)(end - host), host) < 0)
		remote->destination = NULL;
	remote->name = strndup(host, end - host);
	remote->port = port ? strdup(port) : NULL;
	return true;
}

static bool is_folder_name_taken(const struct remotes *all, const char *name)
{
	char *safe = make_safe_name(name);
	bool taken = false;

	for (unsigned int i = 0; i < all->num && safe; i++)
		taken |= !strcmp(all->list[i]->folder, safe);
	free(safe);
	return taken;
}

static void remote_free(struct remote *remote)
{
	free(remote->name);
	free(remote->folder);
	free(remote->destination);
	free(remote->port);
	free(remote->in.data);
	free(remote->log.data);
	free(remote->last_said);
	json_object_put(remote->hello);
	json_object_put(remote->answer);
	json_object_put(remote->about);
	free(remote);
}

static bool name_local_host(struct remote *remote)
{
	char name[256] = "";

	gethostname(name, sizeof(name) - 1);
	remote->name = strdup(*name ? name : "local");
	return true;
}

bool remotes_add(struct remotes *all, const char *host)
{
	struct remote **list = realloc(all->list, (all->num + 1) * sizeof(*list));
	struct pollfd *fds = realloc(all->fds, (all->num + 1) * FDS * sizeof(*fds));
	struct remote *remote = calloc(1, sizeof(*remote));

	if (list)
		all->list = list;
	if (fds)
		all->fds = fds;
	if (!list || !fds || !remote) {
		free(remote);
		return complain_no_memory();
	}
	remote->to = remote->from = remote->err = -1;
	remote->all = all;
	if (!(host ? parse_remote_host(remote, host) : name_local_host(remote))) {
		complain(
			"--host %s: give [USER@]HOST[:PORT], with an IPv6 address in brackets if there is a port.",
			host);
		remote_free(remote);
		return false;
	}
	/* If users or ports differ, one address may stand for two hosts. */
	if (remote->name && !all->repeats && is_folder_name_taken(all, remote->name)) {
		free(remote->name);
		remote->name = strdup(host ? host : "local");
	}
	if (remote->name && !all->repeats && is_folder_name_taken(all, remote->name)) {
		complain("--host %s: given twice.", host ? host : "");
		remote_free(remote);
		return false;
	}
	remote->folder = remote->name ? make_safe_name(remote->name) : NULL;
	if (!remote->folder || (host && !remote->destination)) {
		remote_free(remote);
		return complain_no_memory();
	}
	all->list[all->num++] = remote;
	return true;
}

static bool parse_remote_host_option(void *at, const struct option_row *row, const char *value)
{
	(void)row;
	return remotes_add(at, value);
}

const struct option_row remote_options[] = {
	OPTION("host", 0, "HOST",
	       "record the machine [USER@]HOST[:PORT], over ssh\n"
	       "(can be repeated)",
	       parse_remote_host_option),
	OPTION("remote-netsync", 0, "PATH", "run the netsync at PATH on the hosts",
	       parse_text_option, .at = offsetof(struct remotes, netsync)),
	OPTIONS_END
};

/* ---- JSON -------------------------------------------------------------- */

struct json_object *request_create(const char *what)
{
	struct json_object *request = json_object_new_object();

	json_object_object_add(request, "do", json_object_new_string(what));
	return request;
}

/* ---- a machine that is lost -------------------------------------------- */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Close the agent's standard input. The agent then undoes its actions. */
void remote_give_up(struct remote *remote)
{
	close_fd(&remote->to);
	remote->out_left = 0;
	json_object_put(remote->answer);
	remote->answer = NULL;
	remote->asked = 0;
	remote->ready = false;
	if (!remote->lost)
		remote->lost_ns = now_ns();
	remote->lost = true;
}

void remote_disconnect(struct remote *remote)
{
	remote_give_up(remote);
	if (remote->pid > 0)
		kill(remote->pid, SIGTERM);
}

static void explain_remote_end(struct remote *remote, int status)
{
	const char *netsync = remote->all->netsync;
	const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

	/* The host's shell, or a program that it ran, caused this exit status. */
	remote->lacks_netsync = remote->destination && !remote->hello && code >= 0 &&
				code != SSH_FAILED && code != REMOTE_NOT_FOUND - 1;
	if (code == REMOTE_NOT_FOUND)
		remote_complain(
			remote,
			"%s not found; install netsync (package netsync-record), or give its path with --remote-netsync.",
			netsync ? netsync : "netsync");
	else if (!remote->destination)
		remote_complain(remote, "its agent ended.");
	else if (remote->hello)
		remote_complain(remote, "the connection ended.");
	else if (WIFSIGNALED(status))
		remote_complain(remote, "ssh was killed by signal %d.", WTERMSIG(status));
	else
		remote_complain(remote, "ssh could not start netsync (exit status %d).", code);
}

/* ---- starting ---------------------------------------------------------- */

static void close_pair(int fds[2])
{
	close_fd(&fds[0]);
	close_fd(&fds[1]);
}

/* Quote text for the user's shell on the machine. A path may contain any character. */
static char *quote_for_shell(const char *text)
{
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	if (!out)
		return NULL;
	fputc('\'', out);
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", out);
		else
			fputc(*text, out);
	fputs("' agent --ssh", out);
	fclose(out);
	return line;
}

static void exec_remote_agent(const struct remote *remote)
{
	const char *netsync = remote->all->netsync;

	if (remote->destination)
		remote_exec_ssh(remote, netsync ? quote_for_shell(netsync) : "netsync agent --ssh");
	/* Leave the terminal's foreground process group, because ^C ends this group. */
	setsid();
	if (!netsync)
		netsync = make_path_of_netsync();
	if (netsync)
		execl(netsync, "netsync", "agent", NULL);
	_exit(REMOTE_NOT_FOUND);
}

static bool start_remote_agent(struct remote *remote)
{
	int to[2] = { -1, -1 }, from[2] = { -1, -1 }, err[2] = { -1, -1 };
	pid_t parent = getpid();

	if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		goto failed;
	remote->pid = fork();
	if (remote->pid < 0)
		goto failed;
	if (!remote->pid) {
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		dup2(err[1], STDERR_FILENO);
		signal(SIGPIPE, SIG_DFL);
		/* If netsync is killed, ssh must end as well. */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(1);
		if (remote->all->work)
			remote->all->work->start(remote);
		exec_remote_agent(remote);
	}
	remote->to = to[1];
	remote->from = from[0];
	remote->err = err[0];
	close(to[0]);
	close(from[1]);
	close(err[1]);
	fcntl(remote->to, F_SETFL, O_NONBLOCK);
	fcntl(remote->from, F_SETFL, O_NONBLOCK);
	fcntl(remote->err, F_SETFL, O_NONBLOCK);
	remote->asked = 1; /* the greeting */
	remote->heard_ns = now_ns();
	remote->limit_ns = isatty(STDIN_FILENO) ? GREET_ASKED_NS : GREET_NS;
	remote->end_ns = remote->heard_ns + remote->limit_ns;
	return true;
failed:
	remote_complain(remote, "%s.", strerror(errno));
	close_pair(to);
	close_pair(from);
	close_pair(err);
	remote->lost = true;
	return false;
}

/* ---- hearing ----------------------------------------------------------- */

static bool buffer_reserve(struct buffer *buffer, size_t more)
{
	char *data;

	if (buffer->size - buffer->len >= more)
		return true;
	data = realloc(buffer->data, buffer->len + more);
	if (!data)
		return complain_no_memory();
	buffer->data = data;
	buffer->size = buffer->len + more;
	return true;
}

void buffer_drop(struct buffer *buffer, size_t len)
{
	if (!len)
		return;
	buffer->len -= len;
	memmove(buffer->data, buffer->data + len, buffer->len);
}

/* Read available data into a buffer. Return false at the end of input or on an error. */
static bool read_into_buffer(int fd, struct buffer *buffer)
{
	ssize_t got;

	if (!buffer_reserve(buffer, 1 << 16))
		return false;
	got = read(fd, buffer->data + buffer->len, buffer->size - buffer->len);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	buffer->len += got;
	return got > 0;
}

/*
 * Parse ssh's message about a forwarded port. The message contains the port on this machine, and
 * the remote port that leads to it.
 */
static bool use_forward_line(struct remote *remote, const char *line)
{
	const char *allocated = strstr(line, "Allocated port ");
	unsigned int there, here;

	if (strstr(line, "remote port forwarding failed") ||
	    strstr(line, "ssh_confirm_remote_forward()"))
		line = allocated ? allocated : "";
	if (!*line)
		return true;
	if (sscanf(line, "Allocated port %u for remote forward to 127.0.0.1:%u", &there, &here) !=
	    2)
		return false;
	for (unsigned int i = 0; i < REMOTE_PORTS; i++)
		if (remote->all->forward[i] == here)
			remote->ports[i] = there;
	return true;
}

static bool hear_work_line(struct remote *remote, const char *line)
{
	const struct remote_work *work = remote->all->work;

	return work && work->take_line && work->take_line(remote, line);
}

static void use_remote_log(struct remote *remote)
{
	struct buffer *log = &remote->log;
	char *end;

	while (log->len && (end = memchr(log->data, '\n', log->len))) {
		*end = '\0';
		if (end > log->data && end[-1] == '\r')
			end[-1] = '\0';
		if (*log->data && !hear_work_line(remote, log->data) &&
		    !use_forward_line(remote, log->data))
			remote_complain(remote, "%.*s", LOG_LINE, log->data);
		buffer_drop(log, end + 1 - log->data);
	}
	if (log->len >= PROTOCOL_LINE)
		log->len = 0;
}

/* Process ssh's output before the agent's output, which is the order in which both occurred. */
static void use_remote_output(struct remote *remote, bool in)
{
	if (remote->err >= 0) {
		bool more = read_into_buffer(remote->err, &remote->log);

		use_remote_log(remote);
		if (!more)
			close_fd(&remote->err);
	}
	if (!in)
		return;
	remote->heard_ns = now_ns();
	in = read_into_buffer(remote->from, &remote->in);
	if (remote->all->work)
		remote->all->work->hear(remote);
	else
		remote_use_input(remote);
	if (!in)
		close_fd(&remote->from);
}

/* When the output has ended and the process has exited, determine the reason. */
static void check_remote_end(struct remote *remote)
{
	int status = 0;

	if (remote->from >= 0 || remote->pid <= 0 || waitpid(remote->pid, &status, WNOHANG) == 0)
		return;
	remote->pid = 0;
	use_remote_output(remote, false);
	if (remote->lost)
		return;
	if (remote->all->work)
		remote->all->work->end(remote, status);
	else
		explain_remote_end(remote, status);
	remote_give_up(remote);
}

/*
 * Send a sign of life. The program on the machine ends without it, because it would not notice that
 * the network is broken.
 */
static void send_alive(struct remote *remote, int64_t now)
{
	const struct remote_work *work = remote->all->work;

	if (!work || !work->alive || remote->to < 0 || remote->out_left ||
	    now - remote->said_ns < ALIVE_NS)
		return;
	remote->said_ns = now;
	remote_send(remote, work->alive, strlen(work->alive));
}

/* Give up an agent that does not answer in time, so that it does not delay others. */
static void check_remote_time(struct remote *remote)
{
	const int64_t now = now_ns();
	const char *who = remote->all->work ? "the host" : "netsync";

	if (remote->lost) {
		/* The agent has had time to undo its actions. */
		if (remote->pid > 0 && now - remote->lost_ns > GOODBYE_NS)
			kill(remote->pid, SIGTERM);
	} else if (!remote->asked) {
		if (remote->ready && now - remote->said_ns > QUIET_NS)
			remote_ask(remote, request_create("nothing"));
		send_alive(remote, now);
	} else if (!remote->hello && now > remote->end_ns) {
		remote_complain(remote, "%s did not answer within %lld s.", who,
				(long long)(remote->limit_ns / NS_PER_S));
		remote_disconnect(remote);
	} else if (remote->hello && now - remote->heard_ns > SILENT_NS) {
		remote_complain(remote, "%s no longer answers.", who);
		remote_give_up(remote);
	} else if (now > remote->end_ns) {
		remote_complain(remote, "the request was not finished after %lld s; giving up.",
				(long long)(remote->limit_ns / NS_PER_S));
		remote_give_up(remote);
	}
}

/*
 * Send the remaining bytes. If the program does not read them, the reason is reported when the
 * program ends.
 */
static void send_pending_bytes(struct remote *remote)
{
	const ssize_t sent = write(remote->to, remote->out, remote->out_left);

	if (sent > 0) {
		remote->out += sent;
		remote->out_left -= (size_t)sent;
		/* On a slow connection, progress in sending is a sign of life. */
		remote->heard_ns = now_ns();
	} else if (sent < 0 && errno != EAGAIN && errno != EINTR) {
		remote->out_left = 0;
	}
}

void remote_send(struct remote *remote, const char *data, size_t size)
{
	remote->out = data;
	remote->out_left = size;
}

void remote_end_input(struct remote *remote, int64_t limit_ns)
{
	close_fd(&remote->to);
	remote->out_left = 0;
	remote->asked = 1;
	remote->limit_ns = limit_ns;
	remote->heard_ns = now_ns();
	remote->end_ns = remote->heard_ns + limit_ns;
}

void remotes_poll(struct remotes *all, int timeout_ms)
{
	struct pollfd *fds = all->fds;

	for (unsigned int i = 0; i < all->num; i++) {
		const struct remote *remote = all->list[i];

		fds[FDS * i + FD_ERR] = (struct pollfd){ remote->err, POLLIN, 0 };
		fds[FDS * i + FD_FROM] = (struct pollfd){ remote->from, POLLIN, 0 };
		fds[FDS * i + FD_TO] = (struct pollfd){ remote->out_left ? remote->to : -1, POLLOUT,
							0 };
	}
	if (poll(fds, FDS * all->num, timeout_ms) < 0)
		return;
	for (unsigned int i = 0; i < all->num; i++) {
		struct remote *remote = all->list[i];

		if (fds[FDS * i + FD_ERR].revents || fds[FDS * i + FD_FROM].revents)
			use_remote_output(remote, fds[FDS * i + FD_FROM].revents);
		if (remote->out_left && fds[FDS * i + FD_TO].revents)
			send_pending_bytes(remote);
		check_remote_end(remote);
		check_remote_time(remote);
	}
}

/* ---- asking ------------------------------------------------------------ */

/* Set the time limit for an answer. If several requests are pending, the longest limit applies. */
static void set_answer_deadline(struct remote *remote, struct json_object *request)
{
	const struct protocol_request *known = protocol_find_request(
		member_get_text(request, "do"));
	int64_t end_ns;

	remote->limit_ns = known->limit_s * NS_PER_S;
	end_ns = now_ns() + remote->limit_ns;
	if (!remote->asked || remote->end_ns < end_ns)
		remote->end_ns = end_ns;
	remote->takes_data = known->data;
	remote->step = 0;
}

/* Send a line, which may be longer than the capacity of the pipe. */
static bool send_request_line(const struct remote *remote, const char *line, size_t len)
{
	const int64_t end_ns = now_ns() + SILENT_NS;
	struct pollfd to = { .fd = remote->to, .events = POLLOUT };

	while (len) {
		const ssize_t sent = write(remote->to, line, len);

		if (sent > 0) {
			line += sent;
			len -= (size_t)sent;
			continue;
		}
		if ((sent < 0 && errno != EAGAIN && errno != EINTR) || now_ns() > end_ns)
			return false;
		poll(&to, 1, 100);
	}
	return true;
}

void remote_ask(struct remote *remote, struct json_object *request)
{
	const char *text = json_object_to_json_string_ext(request, JSON_C_TO_STRING_PLAIN);
	char *line = NULL;
	int len = asprintf(&line, "%s\n", text);

	json_object_put(remote->answer);
	remote->answer = NULL;
	set_answer_deadline(remote, request);
	remote->asked++;
	remote->said_ns = remote->heard_ns = now_ns();
	if (len < 0 || !send_request_line(remote, line, (size_t)len)) {
		remote_complain(remote, "netsync no longer accepts requests.");
		remote_give_up(remote);
	}
	if (len >= 0)
		free(line);
	json_object_put(request);
}

bool remote_hand_over(struct remote *remote, int *in, int *out)
{
	remote_ask(remote, request_create("stream"));
	remote->asked = 0;
	remote->handed_over = !remote->lost;
	*in = remote->from;
	*out = remote->to;
	return remote->handed_over;
}

static bool is_stop_requested(const struct remotes *all)
{
	return all->stop && *all->stop;
}

/* Display the progress, but not while ssh may ask for a password on the same terminal. */
static void show_waiting_remotes(struct remotes *all, struct progress *line)
{
	static char what[33];

	if (all->show && all->show(all, line))
		return;
	for (unsigned int i = 0; i < all->num; i++) {
		if (!all->list[i]->asked || !all->list[i]->hello)
			continue;
		snprintf(what, sizeof(what), "waiting for %s", all->list[i]->name);
		line->what = what;
		progress_show(line, 0, 0);
		return;
	}
}

bool remotes_wait(struct remotes *all, int64_t limit_ns)
{
	const int64_t end_ns = now_ns() + limit_ns;
	struct progress line;
	bool waiting = true;

	progress_start(&line, "waiting");
	while (waiting && !is_stop_requested(all) && (!limit_ns || now_ns() < end_ns)) {
		waiting = false;
		for (unsigned int i = 0; i < all->num; i++)
			waiting |= all->list[i]->asked;
		if (waiting) {
			remotes_poll(all, 100);
			show_waiting_remotes(all, &line);
		}
	}
	progress_end(&line);
	return !waiting;
}

unsigned int remotes_connect(struct remotes *all)
{
	/* Connect to one machine at a time if ssh may ask for passwords. */
	const bool asks = isatty(STDIN_FILENO);
	unsigned int ready = 0;

	signal(SIGPIPE, SIG_IGN);
	for (unsigned int i = 0; i < all->num && !is_stop_requested(all); i++)
		if (start_remote_agent(all->list[i]) && asks)
			remotes_wait(all, 0);
	remotes_wait(all, 0);
	for (unsigned int i = 0; i < all->num; i++)
		ready += all->list[i]->ready;
	return ready;
}

/* ---- the end ----------------------------------------------------------- */

/*
 * End the process of a machine. A stopped process handles no other signal, so SIGKILL is necessary.
 */
static void end_remote_process(struct remote *remote)
{
	const int64_t end_ns = now_ns() + END_NS;

	kill(remote->pid, SIGTERM);
	while (!waitpid(remote->pid, NULL, WNOHANG)) {
		if (now_ns() > end_ns)
			kill(remote->pid, SIGKILL);
		poll(NULL, 0, NAP_MS);
	}
	remote->pid = 0;
}

void remotes_close(struct remotes *all)
{
	int64_t end_ns = now_ns() + GOODBYE_NS;
	bool waiting = true;

	for (unsigned int i = 0; i < all->num; i++) {
		struct remote *remote = all->list[i];

		/* An agent that has not sent its greeting yet may be waiting for any input. */
		if (!remote->hello && remote->pid > 0)
			kill(remote->pid, SIGTERM);
		/* Output from now on belongs to the new owner of the connection. */
		if (remote->handed_over)
			close_fd(&remote->from);
		remote_give_up(remote);
	}
	while (waiting && now_ns() < end_ns) {
		waiting = false;
		for (unsigned int i = 0; i < all->num; i++)
			waiting |= all->list[i]->pid > 0;
		if (waiting)
			remotes_poll(all, 100);
		if (is_stop_requested(all) && end_ns > now_ns() + END_NS)
			end_ns = now_ns() + END_NS;
	}
	for (unsigned int i = 0; i < all->num; i++) {
		struct remote *remote = all->list[i];

		if (remote->pid > 0) {
			remote_complain(remote, "%s does not exit; closing the connection.",
					all->work ? "the program there" : "netsync");
			end_remote_process(remote);
		}
		close_fd(&remote->from);
		close_fd(&remote->err);
	}
}

void remotes_reset(struct remotes *all)
{
	for (unsigned int i = 0; i < all->num; i++) {
		struct remote *remote = all->list[i];

		json_object_put(remote->hello);
		json_object_put(remote->about);
		remote->hello = remote->about = NULL;
		remote->lost = remote->has_new_clocks = remote->lacks_netsync = false;
		remote->in.len = remote->log.len = 0;
		remote->due = 0;
		remote->sentences = 0;
		memset(remote->ports, 0, sizeof(remote->ports));
	}
}

void remotes_free(struct remotes *all)
{
	remotes_close(all);
	for (unsigned int i = 0; i < all->num; i++)
		remote_free(all->list[i]);
	free(all->list);
	free(all->fds);
	all->list = NULL;
	all->fds = NULL;
	all->num = 0;
}
