// SPDX-License-Identifier: GPL-2.0-only
/* Records captures on hosts on which netsync is not installed. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture.h"
#include "common/complain.h"
#include "common/folders.h"
#include "common/now.h"
#include "common/places.h"
#include "common/signal.h"
#include "record.h"

/*
 * Maximum size of a greeting, bytes, including anything that a shell prints before it. Chosen; the
 * greeting of an agent is also shorter.
 */
#define GREETING_SIZE (1 << 14)
#define GREETING "netsync "
/* Maximum size of netsync-recorder, bytes. Chosen; the program has less than 2 MiB. */
#define LARGEST_RECORDER (64 << 20)
/* Time for the program to arrive and start, and time for the last packets to arrive, ns. Chosen. */
#define TRAVEL_NS (300 * NS_PER_S)
#define REST_NS (150 * NS_PER_S)
/* Exit status of a shell if a program is found, but cannot be executed (POSIX). */
#define SHELL_CANNOT_EXECUTE 126
/* Number of bytes that identify the format of a capture. */
#define MAGIC_SIZE 4
/*
 * Number of bytes of a capture that are searched for its source. Chosen; the first block is
 * shorter.
 */
#define SOURCE_WITHIN 1024

const char *const capture_via_names[] = { "lttng",   "module", "bpf", "packet",
					  "tcpdump", "best",   NULL };

/* Maximum length of the name of a container or pod; Kubernetes allows 253 characters. */
#define LONGEST_NAME 253
/*
 * Maximum size of the line that announces a program, with a terminating NUL. The line has two
 * numbers, arguments, and the name of a container or pod.
 */
#define ANNOUNCEMENT_SIZE (128 + LONGEST_NAME)

/* A netsync-recorder for some hosts. The line that announces the program precedes it in memory. */
struct travel_program {
	struct travel_program *next;
	char arch[CAPTURE_ARCH_SIZE];
	const char *line; /* the announcement, followed by the program */
	size_t size;	  /* size of the announcement and the program, bytes */
	char bytes[];
};

/* ---- options --------------------------------------------------------------- */

/* Return the first given option that needs LTTng, or NULL if there is none. */
static const char *find_lttng_option(const struct record_run *rec)
{
	const struct {
		const char *name;
		bool given;
	} others[] = {
		{ "--events", json_object_array_length(rec->events.patterns) },
		{ "--syscalls", rec->events.syscalls },
		{ "--ust", rec->events.user },
		{ "--buffers", rec->buffers },
		{ "--stay", rec->stay },
		{ "--pull", rec->pull },
		{ "--relayd", rec->url },
		{ "--beacon", rec->beacons.rate },
		{ "--remote-netsync", rec->all.netsync },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i].given)
			return others[i].name;
	return NULL;
}

static bool check_rsh(const struct record_run *rec)
{
	if (!strstr(rec->rsh, "{host}") || !rec->rsh[strspn(rec->rsh, " ")]) {
		complain(
			"--rsh %s: give a command in which {host} stands for the name of the host, such as \"docker exec -i {host}\".",
			rec->rsh);
		return false;
	}
	for (unsigned int i = 0; i < rec->all.num; i++) {
		const struct remote *remote = rec->all.list[i];

		if (remote->port)
			complain("--host %s:%s: a port cannot be used with --rsh.", remote->name,
				 remote->port);
		else if (remote->destination && strpbrk(remote->name, "/="))
			complain(
				"--host %s: the name of a host cannot contain \"/\" or \"=\"; write this part of the name in --rsh, as in \"kubectl exec -i pod/{host} --\".",
				remote->name);
		else
			continue;
		return false;
	}
	return true;
}

/* Return the first given option that needs captures, or NULL if there is none. */
static const char *find_capture_option(const struct record_run *rec)
{
	return rec->rsh	      ? "--rsh" :
	       rec->container ? "--container" :
	       rec->pod	      ? "--pod" :
	       rec->merged    ? "--merge" :
				NULL;
}

/* Check --container and --pod. The shell of a host splits the arguments of the program at blanks. */
static bool check_container(const struct record_run *rec)
{
	const char *option = rec->pod ? "--pod" : "--container";
	const char *name = rec->pod ? rec->pod : rec->container;

	if (!name)
		return true;
	if (rec->pod && rec->container)
		complain("Give --container or --pod, not both.");
	else if (rec->via == VIA_LTTNG || rec->via == VIA_TCPDUMP)
		complain("%s needs netsync-recorder; use it without --via %s.", option,
			 capture_via_names[rec->via]);
	else if (!isalnum((unsigned char)*name) || strlen(name) > LONGEST_NAME ||
		 name[strspn(name,
			     "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")])
		complain("%s %s: give the name or the ID of a %s.", option, name, option + 2);
	else
		return true;
	return false;
}

bool captures_check_options(struct record_run *rec)
{
	const char *lttng_option = find_lttng_option(rec);
	const char *wants_captures = find_capture_option(rec);

	if (!check_container(rec))
		return false;
	if (rec->via == VIA_LTTNG && rec->rsh) {
		complain("--rsh cannot be used with --via lttng, whose agents need ssh.");
		return false;
	}
	if (rec->via == VIA_LTTNG && rec->merged) {
		complain("--merge joins captures; use it without --via lttng.");
		return false;
	}
	if (rec->via == VIA_AUTO && wants_captures && lttng_option) {
		complain("%s needs LTTng; use it without %s.", lttng_option, wants_captures);
		return false;
	}
	if (rec->via == VIA_AUTO) {
		rec->via = wants_captures ? VIA_BEST : VIA_LTTNG;
		rec->may_fall_back = !wants_captures && !lttng_option;
	}
	if (rec->via && lttng_option) {
		complain("%s needs LTTng; use it without --via %s.", lttng_option,
			 capture_via_names[rec->via]);
		return false;
	}
	return (!rec->rsh || check_rsh(rec)) && (!rec->merged || captures_check_merge(rec->merged));
}

/* ---- the shell of a host ----------------------------------------------------- */

/* Replace {host} in a word of --rsh by the name of the host. Return NULL if out of memory. */
static char *make_rsh_word(const char *word, const char *host)
{
	char *made = NULL;
	size_t size;
	FILE *out = open_memstream(&made, &size);
	const char *at;

	if (!out)
		return NULL;
	while ((at = strstr(word, "{host}"))) {
		fprintf(out, "%.*s%s", (int)(at - word), word, host);
		word = at + strlen("{host}");
	}
	fputs(word, out);
	return fclose(out) ? NULL : made;
}

/*
 * Execute the command of --rsh. The command is split at blanks before {host} is replaced, so
 * that the name of a host never becomes several words.
 */
static void exec_remote_shell(const char *rsh, const char *host)
{
	char *words = strdup(rsh), *word;
	char **argv = calloc(strlen(rsh) + 2, sizeof(*argv));
	int num = 0;

	while (words && argv && (word = strsep(&words, " ")))
		if (*word)
			argv[num++] = make_rsh_word(word, host);
	if (!num)
		return;
	argv[num] = "/bin/sh";
	/*
	 * Ignore ^C, which is meant for netsync. The end of a recording is sent over the
	 * connection.
	 */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	execvp(argv[0], argv);
	dprintf(STDERR_FILENO, "%s: %s.\n", argv[0], strerror(errno));
}

static void start_remote_shell(const struct remote *remote)
{
	const struct record_run *rec = get_record_run(remote);

	if (remote->destination && rec->rsh) {
		exec_remote_shell(rec->rsh, remote->destination);
	} else if (remote->destination) {
		remote_exec_ssh(remote, "exec /bin/sh");
	} else {
		/* Leave the terminal's foreground process group, which ^C ends. */
		setsid();
		execl("/bin/sh", "sh", NULL);
	}
	_exit(REMOTE_NOT_FOUND);
}

/* ---- the program that travels -------------------------------------------------- */

/* Fill the table of the CRC, which has an entry for each value of the byte that is shifted out. */
static void make_sum_table(uint32_t table[256])
{
	for (uint32_t first = 0; first < 256; first++) {
		table[first] = first << 24;
		for (int bit = 0; bit < 8; bit++)
			table[first] = table[first] << 1 ^ (table[first] >> 31 ? 0x04c11db7 : 0);
	}
}

/* Compute the checksum of cksum(1) (POSIX). It detects damage, not forgery. */
static uint32_t compute_cksum(const char *bytes, size_t size)
{
	uint32_t table[256], sum = 0;

	make_sum_table(table);
	for (size_t i = 0; i < size; i++)
		sum = sum << 8 ^ table[sum >> 24 ^ (uint8_t)bytes[i]];
	for (size_t length = size; length; length >>= 8)
		sum = sum << 8 ^ table[sum >> 24 ^ (uint8_t)length];
	return ~sum;
}

/*
 * Return the path of a netsync-recorder in the directory of netsync. Programs for other
 * architectures have the name of the architecture.
 */
char *capture_make_path_of_recorder(const char *arch)
{
	char *netsync = make_path_of_netsync(), *path;
	struct utsname here;
	const bool is_here = !uname(&here) && !strcmp(here.machine, arch);

	if (!netsync || asprintf(&path, "%s-recorder%s%s", netsync, is_here ? "" : "-",
				 is_here ? "" : arch) < 0)
		path = NULL;
	free(netsync);
	return path;
}

static bool read_all_bytes(int fd, char *bytes, size_t size)
{
	ssize_t got = 1;

	for (size_t done = 0; done < size && got > 0; done += (size_t)got) {
		got = read(fd, bytes + done, size - done);
		if (!got)
			errno = EIO;
	}
	return got > 0;
}

/*
 * Read a program, and write its announcement directly before it, so that both are sent at once.
 * With VIA_BEST, the program chooses its source.
 */
static struct travel_program *make_travel_program(const struct record_run *rec, int fd, size_t size)
{
	const char *via = rec->via == VIA_BEST ? NULL : capture_via_names[rec->via];
	const char *name = rec->pod ? rec->pod : rec->container;
	struct travel_program *program = calloc(1, sizeof(*program) + ANNOUNCEMENT_SIZE + size);
	char *bytes = program ? program->bytes + ANNOUNCEMENT_SIZE : NULL;
	char line[ANNOUNCEMENT_SIZE];
	int length;

	if (!program || !read_all_bytes(fd, bytes, size)) {
		free(program);
		return NULL;
	}
	length = snprintf(line, sizeof(line), "%zu %u%s%s%s%s%s --until-silence %d --clock-log -\n",
			  size, compute_cksum(bytes, size), via ? " --via " : "", via ? via : "",
			  name ? rec->pod ? " --pod " : " --container " : "", name ? name : "",
			  rec->measures_costs ? " --costs" : "", CAPTURE_SILENCE_S);
	program->line = memcpy(bytes - length, line, (size_t)length);
	program->size = (size_t)length + size;
	return program;
}

/*
 * Find a program, which is read only once for all hosts with the same architecture. Return NULL
 * and set errno if it cannot be read. *@path is its expected path, which the caller frees.
 */
static const struct travel_program *find_travel_program(struct record_run *rec, const char *arch,
							char **path)
{
	struct travel_program *program = rec->programs;
	struct stat info;
	int fd, error;

	*path = NULL;
	while (program && strcmp(program->arch, arch))
		program = program->next;
	if (program)
		return program;
	*path = capture_make_path_of_recorder(arch);
	fd = *path ? open(*path, O_RDONLY | O_CLOEXEC) : -1;
	errno = fd >= 0 ? EFBIG : errno;
	if (fd >= 0 && !fstat(fd, &info) && info.st_size > 0 && info.st_size <= LARGEST_RECORDER)
		program = make_travel_program(rec, fd, (size_t)info.st_size);
	if (program) {
		snprintf(program->arch, sizeof(program->arch), "%s", arch);
		program->next = rec->programs;
		rec->programs = program;
	}
	error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	return program;
}

/* ---- what arrives ------------------------------------------------------------- */

/* The contents of a shell's greeting. */
struct shell_greeting {
	char arch[CAPTURE_ARCH_SIZE];
	bool can_execute; /* a directory allows programs to run */
	bool has_tcpdump;
};

static bool is_architecture(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_')
			return false;
	return length && length < CAPTURE_ARCH_SIZE;
}

/* Parse a greeting, where @line is the text after "netsync ". Return false if it is invalid. */
static bool parse_greeting(const char *line, size_t length, struct shell_greeting *greeting)
{
	const char *space = memchr(line, ' ', length);
	const size_t arch = space ? (size_t)(space - line) : length;
	char rest[sizeof(" exec tcpdump")];

	if (!is_architecture(line, arch) || length - arch >= sizeof(rest))
		return false;
	snprintf(greeting->arch, sizeof(greeting->arch), "%.*s", (int)arch, line);
	snprintf(rest, sizeof(rest), "%.*s", (int)(length - arch), line + arch);
	greeting->can_execute = !strncmp(rest, " exec", 5);
	greeting->has_tcpdump = !strcmp(rest + (greeting->can_execute ? 5 : 0), " tcpdump");
	return !rest[(greeting->can_execute ? 5 : 0) + (greeting->has_tcpdump ? 8 : 0)];
}

/* Start tcpdump on the host. */
static void send_tcpdump(struct recorded_host *host)
{
	static const char line[] = "0 0\n";

	host->via = VIA_TCPDUMP;
	remote_send(host->remote, line, strlen(line));
}

/*
 * Start recording. Send netsync-recorder, or use the host's tcpdump if the host can use nothing
 * better.
 */
static void answer_greeting(struct record_run *rec, struct recorded_host *host,
			    const struct shell_greeting *greeting)
{
	struct remote *remote = host->remote;
	const bool can_use_tcpdump = rec->via == VIA_BEST && greeting->has_tcpdump &&
				     !rec->container && !rec->pod;
	const struct travel_program *program;
	char *path;

	if (rec->via == VIA_TCPDUMP) {
		send_tcpdump(host);
		return;
	}
	if (can_use_tcpdump && !greeting->can_execute) {
		remote_complain(
			remote,
			"recording with tcpdump, because no directory there allows programs to run (noexec).");
		send_tcpdump(host);
		return;
	}
	program = find_travel_program(rec, greeting->arch, &path);
	if (program) {
		remote_send(remote, program->line, program->size);
	} else if (can_use_tcpdump) {
		remote_complain(
			remote,
			"recording with tcpdump, because the architecture of the host is %s and %s cannot be read (%s).",
			greeting->arch, path ? path : "netsync-recorder", strerror(errno));
		send_tcpdump(host);
	} else {
		remote_complain(
			remote,
			"its architecture is %s, and %s cannot be read (%s): build netsync-recorder for %s and put it there, or use --via tcpdump.",
			greeting->arch, path ? path : "netsync-recorder", strerror(errno),
			greeting->arch);
		host_give_up(rec, host);
	}
	free(path);
}

/* Answer the greeting of a shell. Return false if no complete greeting has arrived. */
static bool answer_shell(struct record_run *rec, struct recorded_host *host)
{
	struct remote *remote = host->remote;
	char *line = remote->in.data, *end;
	const char *last = line + remote->in.len;
	struct shell_greeting greeting;

	while ((end = memchr(line, '\n', last - line)) &&
	       ((size_t)(end - line) < strlen(GREETING) ||
		memcmp(line, GREETING, strlen(GREETING))))
		line = end + 1;
	line += strlen(GREETING);
	if (end && parse_greeting(line, end - line, &greeting)) {
		buffer_drop(&remote->in, end + 1 - remote->in.data);
		remote->hello = json_object_new_object();
		remote->limit_ns = TRAVEL_NS;
		remote->end_ns = now_ns() + TRAVEL_NS;
		answer_greeting(rec, host, &greeting);
		return true;
	}
	if (end || remote->in.len > GREETING_SIZE) {
		remote_complain(remote, "the data received is not the answer of a shell.");
		host_give_up(rec, host);
	}
	return false;
}

char *make_capture_path(const struct record_run *rec, const struct remote *remote)
{
	char *path;

	if (asprintf(&path, "%s/%s/packets.%s", rec->dir, remote->folder,
		     find_recorded_host(remote)->via == VIA_TCPDUMP ? "pcap" : "pcapng") >= 0)
		return path;
	complain_no_memory();
	return NULL;
}

/* Do the bytes begin a pcapng capture, or a pcap capture of either byte order? */
static bool is_capture_magic(const char *bytes)
{
	static const char *const begins[] = { "\x0a\x0d\x0d\x0a", "\xa1\xb2\x3c\x4d",
					      "\x4d\x3c\xb2\xa1", "\xa1\xb2\xc3\xd4",
					      "\xd4\xc3\xb2\xa1" };

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!memcmp(bytes, begins[i], MAGIC_SIZE))
			return true;
	return false;
}

/*
 * Return the source that netsync-recorder reports in the first block of its capture, or
 * VIA_LTTNG if the block does not contain it. The host controls this text.
 */
static unsigned int find_source(const struct buffer *in)
{
	const size_t size = in->len < SOURCE_WITHIN ? in->len : SOURCE_WITHIN;
	char text[32];

	for (unsigned int via = VIA_MODULE; via < VIA_TCPDUMP; via++) {
		const int length = snprintf(text, sizeof(text), " --via %s ",
					    capture_via_names[via]);

		if (memmem(in->data, size, text, (size_t)length))
			return via;
	}
	return VIA_LTTNG;
}

/*
 * Create the file of a host's capture when its first bytes have arrived. From then on, the host
 * counts as recording.
 */
static bool open_capture_file(struct record_run *rec, struct recorded_host *host)
{
	char *path;

	if (!is_capture_magic(host->remote->in.data)) {
		remote_complain(host->remote, "the data received is not a capture.");
		return false;
	}
	if (!host->via)
		host->via = find_source(&host->remote->in);
	path = make_capture_path(rec, host->remote);
	if (!path || !make_folders(path, strlen(rec->dir) + 1)) {
		free(path);
		return false;
	}
	host->capture = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (host->capture < 0)
		complain_about_path(path);
	free(path);
	host->recording = host->capture >= 0;
	host->remote->asked = 0;
	return host->recording;
}

static bool write_capture_data(struct record_run *rec, struct recorded_host *host, const char *data,
			       size_t size)
{
	ssize_t put = 0;
	char *path;

	if (!host_count_data(rec, host, size))
		return false;
	for (size_t done = 0; done < size; done += (size_t)put) {
		put = write(host->capture, data + done, size - done);
		if (put > 0 || (put < 0 && errno == EINTR)) {
			put = put < 0 ? 0 : put;
			host->size += (uint64_t)put;
			continue;
		}
		path = make_capture_path(rec, host->remote);
		if (path)
			complain_about_path(path);
		free(path);
		return false;
	}
	return true;
}

static void receive_capture(struct remote *remote)
{
	struct record_run *rec = get_record_run(remote);
	struct recorded_host *host = find_recorded_host(remote);
	struct buffer *in = &remote->in;

	if (!remote->lost && !remote->hello && in->len && !answer_shell(rec, host))
		return;
	if (!remote->lost && host->capture < 0 && in->len < MAGIC_SIZE)
		return;
	if (!remote->lost && ((host->capture < 0 && !open_capture_file(rec, host)) ||
			      !write_capture_data(rec, host, in->data, in->len)))
		host_give_up(rec, host);
	in->len = 0;
}

/* Report that the kernel of a host refused to execute a file that may be executed. */
static void explain_denied_program(struct remote *remote, bool is_tcpdump)
{
	remote_complain(
		remote,
		"no packets can be recorded there, because the security policy of the host (such as SELinux, AppArmor or fapolicyd) does not allow %s to run (exit status %d): allow it there, or use %s.",
		is_tcpdump ? "tcpdump" : "netsync-recorder", SHELL_CANNOT_EXECUTE,
		is_tcpdump ? "--via packet" : "--via tcpdump");
}

/*
 * Report how a recording ended. The host's own messages, which contain the reason, were already
 * printed.
 */
static void explain_capture_end(struct remote *remote, int status)
{
	struct record_run *rec = get_record_run(remote);
	struct recorded_host *host = find_recorded_host(remote);
	const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	const bool was_asked_to = remote->to < 0;

	host->ended = true;
	if (was_asked_to && !code)
		return;
	rec->partial = true;
	if (!remote->hello)
		remote_complain(remote, "no shell could be started there (exit status %d).", code);
	else if (!host->recording && code == SHELL_CANNOT_EXECUTE)
		explain_denied_program(remote, host->via == VIA_TCPDUMP);
	else if (!host->recording)
		remote_complain(remote, "no packets can be recorded there (exit status %d).", code);
	else if (!was_asked_to)
		remote_complain(
			remote,
			"the recording ended early (exit status %d); the packets received so far are kept.",
			code);
	else if (code != 2) /* with status 2, the host has reported lost packets */
		remote_complain(remote, "the recording was not completed (exit status %d).", code);
	host->recording = false;
}

static bool handle_capture_line(struct remote *remote, const char *line)
{
	struct recorded_host *host = find_recorded_host(remote);

	return clocks_handle_line(get_record_run(remote), host, line) ||
	       costs_handle_line(&host->costs, line);
}

static const struct remote_work capture_work = {
	.start = start_remote_shell,
	.hear = receive_capture,
	.take_line = handle_capture_line,
	.alive = "\n",
	.end = explain_capture_end,
};

/* ---- all hosts --------------------------------------------------------------- */

/* Remove the files of a host from a recording that is not used. */
static void discard_capture_data(struct record_run *rec, struct recorded_host *host)
{
	char *path = host->capture < 0 ? NULL : make_capture_path(rec, host->remote);

	if (!path)
		return;
	clocks_discard_file(rec, host);
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	free(path);
}

bool captures_start(struct record_run *rec)
{
	bool any = false;

	rec->all.work = &capture_work;
	for (unsigned int i = 0; i < rec->all.num; i++) {
		rec->hosts[i].capture = -1;
		remote_send(rec->all.list[i], capture_script, strlen(capture_script));
	}
	remotes_connect(&rec->all);
	for (unsigned int i = 0; i < rec->all.num; i++) {
		any |= rec->hosts[i].recording;
		rec->partial |= !rec->hosts[i].recording;
	}
	if (any && !interrupted)
		return true;
	for (unsigned int i = 0; i < rec->all.num; i++)
		discard_capture_data(rec, &rec->hosts[i]);
	return false;
}

const char *capture_source_text(const struct record_run *rec, const struct recorded_host *host)
{
	static const char *const texts[] = {
		[VIA_LTTNG] = "",	    [VIA_MODULE] = " (module)",	  [VIA_BPF] = " (bpf)",
		[VIA_PACKET] = " (packet)", [VIA_TCPDUMP] = " (tcpdump)",
	};

	return rec->via == VIA_BEST ? texts[host->via] : "";
}

bool capture_is_running(struct record_run *rec, struct recorded_host *host)
{
	if (host->recording && host->remote->lost) {
		host->recording = false;
		rec->partial = true;
	}
	return host->recording;
}

void captures_stop(struct record_run *rec)
{
	for (unsigned int i = 0; i < rec->all.num; i++)
		if (rec->hosts[i].recording)
			remote_end_input(rec->all.list[i], REST_NS);
	remotes_wait(&rec->all, 0);
	for (unsigned int i = 0; i < rec->all.num; i++) {
		struct recorded_host *host = &rec->hosts[i];
		char *path = host->capture < 0 ? NULL : make_capture_path(rec, host->remote);

		rec->partial |= !host->ended;
		clocks_close_file(rec, host);
		if (path && close(host->capture)) {
			complain_about_path(path);
			rec->partial = true;
		}
		free(path);
	}
}

void captures_free(struct record_run *rec)
{
	while (rec->programs) {
		struct travel_program *program = rec->programs;

		rec->programs = program->next;
		free(program);
	}
}
