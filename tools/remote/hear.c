// SPDX-License-Identifier: GPL-2.0-only
/* Parse the output of agents into greetings, messages, data and answers. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netsync.h>

#include "common/complain.h"
#include "common/json-value.h"
#include "common/now.h"
#include "protocol.h"
#include "remote.h"

/*
 * Maximum number of messages that are printed for one machine, and maximum number of messages that
 * an agent may send besides its answers. LTTng and ssh print some warnings for each channel and
 * port. More messages would hide the messages of other machines. Chosen.
 */
#define MAX_SENTENCES 1000

/* Beginning of a greeting. This text distinguishes the greeting from earlier output of a shell. */
#define GREETING "{\"netsync\":"

void remote_complain(struct remote *remote, const char *format, ...)
{
	char *sentence = NULL;
	va_list args;

	if (remote->said > MAX_SENTENCES)
		return;
	va_start(args, format);
	if (vasprintf(&sentence, format, args) < 0)
		sentence = NULL;
	va_end(args);
	if (remote->said++ < MAX_SENTENCES) {
		complain("%s: %s", remote->name, sentence ? sentence : format);
		free(remote->last_said);
		remote->last_said = sentence;
		sentence = NULL;
	} else {
		complain("%s: further messages are suppressed.", remote->name);
	}
	free(sentence);
}

/* Disconnect a machine whose output is not that of an agent. */
static void refuse_answer(struct remote *remote, const char *why)
{
	complain("%s: invalid answer: %s.", remote->name, why);
	remote_disconnect(remote);
}

static void print_remote_sentence(struct remote *remote, const char *kind, const char *sentence)
{
	if (++remote->sentences > MAX_SENTENCES)
		refuse_answer(remote, "too many warnings and notes");
	else
		remote_complain(remote, "%s%s", kind, sentence);
}

static void use_greeting(struct remote *remote, struct json_object *hello)
{
	const char *version = member_get_text(hello, "netsync");

	remote->hello = json_object_get(hello);
	remote->asked = 0;
	if (!strcmp(version, NETSYNC_VERSION)) {
		remote->ready = true;
		return;
	}
	remote->lacks_netsync = true;
	remote_complain(remote,
			"netsync %s is installed, but this machine has " NETSYNC_VERSION
			"; install the same version on both.",
			version);
	remote_give_up(remote);
}

static void use_clock_readings(struct remote *remote, struct json_object *readings)
{
	if (!remote->asked || remote->has_new_clocks) {
		refuse_answer(remote, "more readings of its clock than requested");
		return;
	}
	remote->has_new_clocks = true;
	if (remote->all->clocks)
		remote->all->clocks(remote, readings);
}

static void use_answer_line(struct remote *remote, struct json_object *line)
{
	if (!remote->hello) {
		use_greeting(remote, line);
	} else if (value_get_member(line, "warning")) {
		print_remote_sentence(remote, "warning: ", member_get_text(line, "warning"));
	} else if (value_get_member(line, "note")) {
		print_remote_sentence(remote, "", member_get_text(line, "note"));
	} else if (value_get_member(line, "clocks")) {
		use_clock_readings(remote, value_get_member(line, "clocks"));
	} else if (!value_get_member(line, "working") && remote->asked) {
		remote->has_new_clocks = false;
		json_object_put(remote->answer);
		remote->answer = NULL;
		remote->asked--;
		if (value_get_member(line, "error"))
			remote_complain(remote, "%s", member_get_text(line, "error"));
		else
			remote->answer = json_object_get(line);
	}
}

/* Use announced data. If the sender is too slow, the machine is lost. */
static void use_remote_data(struct remote *remote, const char *data)
{
	struct remotes *all = remote->all;

	if (!all->data || !all->data(remote, remote->about, data, remote->due))
		remote_disconnect(remote);
	remote->step += remote->due;
	if (remote->step >= PROTOCOL_STEP) {
		remote->step = 0;
		remote->end_ns = now_ns() + remote->limit_ns;
	}
	remote->due = 0;
	json_object_put(remote->about);
	remote->about = NULL;
}

/* Process a line. @text ends with a NUL byte. */
static void use_remote_line(struct remote *remote, const char *text)
{
	struct json_object *line;
	char why[PROTOCOL_WHY];
	int64_t bytes;

	if (!remote->hello && strncmp(text, GREETING, strlen(GREETING)))
		return;
	line = json_tokener_parse(text);
	bytes = member_get_int(line, "bytes");
	if (!protocol_check_answer(line, why)) {
		refuse_answer(remote, why);
	} else if (!bytes) {
		use_answer_line(remote, line);
	} else if (remote->hello && remote->asked && remote->takes_data) {
		remote->about = json_object_get(line);
		remote->due = bytes;
	} else {
		refuse_answer(remote, "unexpected data");
	}
	json_object_put(line);
}

/*
 * Process a line or announced data. Return the size in bytes, or 0 if the line or the data are
 * incomplete.
 */
static size_t use_next_line_or_data(struct remote *remote, char *data, size_t size)
{
	size_t due = remote->due;
	char *end;

	if (due) {
		if (size < due)
			return 0;
		use_remote_data(remote, data);
		return due;
	}
	end = size ? memchr(data, '\n', size) : NULL;
	if (!end) {
		if (size >= PROTOCOL_LINE)
			refuse_answer(remote, "a line is too long");
		return 0;
	}
	*end = '\0';
	use_remote_line(remote, data);
	return end + 1 - data;
}

void remote_use_input(struct remote *remote)
{
	struct buffer *in = &remote->in;
	size_t used = 0, more = 1;

	while (more && !remote->lost) {
		more = use_next_line_or_data(remote, in->data + used, in->len - used);
		used += more;
	}
	if (remote->lost)
		used = in->len;
	buffer_drop(in, used);
}
