// SPDX-License-Identifier: GPL-2.0-only
/*
 * Warnings about events that did not fit into a channel's buffers, with the buffers that would have
 * sufficed. LTTng only counts discarded events. The size of these events is estimated from the size
 * of recorded events, and the largest burst is estimated from the counts in successive status
 * answers:
 *
 *	discarded at each status, one a second:	0 0 5 9 2 0 0 3 0
 *	bursts:					    16      3	-> worst = 16
 *	buffers needed = buffers now + worst * bytes of an event * 5 / 4
 *
 * If the events of a second fill less than a sub-buffer, LTTng's timer starts a new sub-buffer each
 * second. The number of sub-buffers may then be too small for the longest time in which none of
 * them was read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/complain.h"
#include "common/json-value.h"
#include "common/now.h"
#include "common/value.h"
#include "record.h"
#include "record/agent/agent.h"
#include "record/agent/buffers.h"

static const char *const channels[] = { CHANNEL_PACKETS, CHANNEL_KERNEL, CHANNEL_USER };

#define NUM_CHANNELS (sizeof(channels) / sizeof(channels[0]))

/*
 * Number of bytes with a margin. A burst may have started before one status and ended after
 * another, and the next recording will differ slightly. Chosen.
 */
#define MARGIN(bytes) ((bytes) / 4 * 5)

/*
 * Number of consecutive status answers (one per second) with discarded events from which on the
 * rate of events is too high, so that larger buffers do not help. Chosen.
 */
#define STEADY_LOOKS 10

/* Maximum share of the available memory, 1/MAX_SHARE, of recommended buffers. Chosen. */
#define MAX_SHARE 2

/* The losses of a channel. */
struct loss {
	struct buffers buffers; /* buffers of each processor */
	uint64_t discarded;	/* number of events discarded in all finished sessions */
	uint64_t now;		/* number of events discarded in the current session */
	uint64_t packets;	/* number of trace packets that were overwritten */
	/* numbers of discarded events in the current and in the largest burst */
	uint64_t burst, worst;
	unsigned int looks;   /* number of status answers in the current burst */
	unsigned int longest; /* number of status answers in the longest burst */
	uint64_t bytes;	      /* number of bytes recorded until seen_ns */
	double events;	      /* number of events in these bytes; 0 if unknown */
	int64_t seen_ns;      /* time since the start of the recording */
	bool said;	      /* the warning was printed */
};

struct losses {
	struct loss of[NUM_CHANNELS];
	uint64_t processors, memory; /* of the host; memory is the number of available bytes */
};

/* ---- the option --buffers -------------------------------------------------- */

static bool is_channel_name(const char *name, size_t length)
{
	for (size_t i = 0; i < NUM_CHANNELS; i++)
		if (strlen(channels[i]) == length && !strncmp(channels[i], name, length))
			return true;
	return !length;
}

bool parse_buffers_option(void *at, const struct option_row *row, const char *text)
{
	struct json_object **all = at;
	const char *equals = strchr(text, '=');
	const size_t length = equals ? equals - text : 0;
	struct json_object *object;
	struct buffers buffers;

	if ((equals && !length) || !is_channel_name(text, length) ||
	    !buffers_parse(&buffers, equals ? equals + 1 : text)) {
		complain(
			"--%s %s: give NUMxSIZE, two powers of two such as 16x2M, with a SIZE of at least 4k; for one channel only, put netsync=, kernel= or user= before it.",
			row->name, text);
		return false;
	}
	if (!*all)
		*all = json_object_new_array();
	object = json_object_new_object();
	json_object_object_add(object, "channel", json_object_new_string_len(text, length));
	json_object_object_add(object, "size", json_object_new_int64(buffers.size));
	json_object_object_add(object, "num", json_object_new_int64(buffers.num));
	json_object_array_add(*all, object);
	return true;
}

/* ---- advice ----------------------------------------------------------------- */

/* Return the mean size of a recorded event, bytes. */
static double estimate_event_bytes(const struct loss *loss, const char *channel)
{
	return loss->events >= 1 ? loss->bytes / loss->events : buffers_get_event_bytes(channel);
}

/* Convert a size to an integer within limits. The numbers come from another host. */
static uint64_t round_up_bytes(double bytes)
{
	return bytes >= 0 && bytes < 1e18 ? bytes : 1e18;
}

/*
 * Return the rate of recorded and discarded events on all processors, bytes per second, or 0 if
 * unknown.
 */
static uint64_t compute_seen_byte_rate(const struct loss *loss, const char *channel)
{
	const double lost = (double)(loss->discarded + loss->now) *
			    estimate_event_bytes(loss, channel);

	return loss->seen_ns > 0 ? round_up_bytes((loss->bytes + lost) * 1e9 / loss->seen_ns) : 0;
}

/*
 * Is a sub-buffer larger than the data of one second? After one second, LTTng starts a new
 * sub-buffer.
 */
static bool is_partly_filled(const struct loss *loss, const char *channel)
{
	const uint64_t rate = compute_seen_byte_rate(loss, channel);

	return rate && rate < loss->buffers.size;
}

/* Return the buffers that would have sufficed for the largest burst or the longest pause. */
static struct buffers suggest_sufficient_buffers(const struct loss *loss, const char *channel)
{
	const uint64_t pause_s = loss->buffers.num + loss->longest;

	if (is_partly_filled(loss, channel))
		return buffers_adapt_to_pause(loss->buffers, pause_s + pause_s / 4);
	return buffers_choose_for(
		buffers_get_bytes(loss->buffers) +
		MARGIN(round_up_bytes(loss->worst * estimate_event_bytes(loss, channel))));
}

/*
 * Print "; --buffers netsync=32x2M ..." if the host has enough memory for such buffers, or other
 * advice if not.
 */
static void print_buffer_advice(FILE *out, const struct recorded_host *host,
				const struct loss *loss, const char *channel)
{
	const struct losses *all = host->losses;
	const struct buffers more = suggest_sufficient_buffers(loss, channel);
	char text[BUFFERS_TEXT];

	if (buffers_get_bytes(more) * all->processors <= all->memory / MAX_SHARE)
		fprintf(out, "; --buffers %s=%s would have been sufficient", channel,
			buffers_format(text, more));
	else
		fputs("; the host has too little memory for sufficient buffers", out);
	if (loss->longest >= STEADY_LOOKS)
		fprintf(out,
			", but events arrived faster than they were collected for %u s without a pause: record fewer events%s",
			loss->longest,
			host->pull ? "" : ", or use --pull to record to its own disk");
	else if (!host->pull)
		fputs(", and --pull avoids the network", out);
	fputs(".", out);
}

static void report_loss(const struct recorded_host *host, const struct loss *loss,
			const char *channel, const char *how)
{
	char text[BUFFERS_TEXT], value[VALUE_SIZE];
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	if (!out)
		return;
	fprintf(out, "%s: buffers of %s for each of %llu CPUs overflowed", how,
		buffers_format(text, loss->buffers), (unsigned long long)host->losses->processors);
	if (loss->seen_ns > 0)
		fprintf(out, " at about %s per second",
			format_bytes(value, compute_seen_byte_rate(loss, channel)));
	if (is_partly_filled(loss, channel))
		fputs(", and a partly filled buffer was flushed every second", out);
	print_buffer_advice(out, host, loss, channel);
	fclose(out);
	complain("%s: %s", host->remote->name, line);
	free(line);
}

static void warn_of_loss(struct record_run *rec, const struct recorded_host *host,
			 struct loss *loss, const char *channel)
{
	char how[160];

	snprintf(how, sizeof(how), "warning: channel %s is discarding events (%llu so far)",
		 channel, (unsigned long long)loss->now);
	clear_status_line(rec);
	report_loss(host, loss, channel, how);
	loss->said = true;
}

/* Get the recorded bytes and events of a channel. */
static void use_recorded_size(const struct record_run *rec, const struct recorded_host *host,
			      struct loss *loss, const char *channel, struct json_object *answer)
{
	struct recorded recorded = { 0 };
	char *path;

	if (host->pull) {
		recorded.bytes = member_get_int(answer, "recorded");
		recorded.events = member_get_int(answer, "events");
	}
	for (unsigned int i = 0; i < host->num_sessions && !host->pull; i++) {
		if (!rec->relay.folder ||
		    asprintf(&path, "%s/%s", rec->relay.folder, host->sessions[i]) < 0)
			return;
		count_recorded_channel(&recorded, path, channel);
		free(path);
	}
	/* If the size has decreased, not everything was measured. */
	if (recorded.bytes < loss->bytes || !recorded.bytes)
		return;
	loss->bytes = recorded.bytes;
	loss->events = recorded.is_unclear ? 0 : recorded.events;
	loss->seen_ns = now_ns() - rec->started_ns;
}

static void use_loss_count(struct record_run *rec, struct recorded_host *host, struct loss *loss,
			   const char *channel, struct json_object *answer)
{
	const uint64_t discarded = member_get_int(answer, "discarded");
	uint64_t came;

	/* The count of a new session starts at 0. */
	if (discarded < loss->now) {
		loss->discarded += loss->now;
		loss->now = 0;
	}
	came = discarded - loss->now;
	loss->now = discarded;
	loss->packets = member_get_int(answer, "lost");
	loss->buffers.size = member_get_int(answer, "size");
	loss->buffers.num = member_get_int(answer, "num");
	use_recorded_size(rec, host, loss, channel, answer);
	host->discarded += loss->discarded + loss->now;
	loss->burst = came ? loss->burst + came : 0;
	loss->looks = came ? loss->looks + 1 : 0;
	if (loss->burst > loss->worst)
		loss->worst = loss->burst;
	if (loss->looks > loss->longest)
		loss->longest = loss->looks;
}

void losses_update(struct record_run *rec, struct recorded_host *host)
{
	struct json_object *answer = host->remote->answer;
	struct json_object *list = value_get_member(answer, "channels");
	const size_t num = value_get_length(list);

	if (!host->losses)
		host->losses = calloc(1, sizeof(*host->losses));
	if (!host->losses)
		return;
	host->losses->processors = member_get_int(answer, "processors");
	host->losses->memory = member_get_int(answer, "memory");
	host->discarded = 0;
	for (size_t i = 0; i < num; i++) {
		struct json_object *channel = value_get_element(list, i);

		for (size_t c = 0; c < NUM_CHANNELS; c++)
			if (!strcmp(member_get_text(channel, "name"), channels[c]))
				use_loss_count(rec, host, &host->losses->of[c], channels[c],
					       channel);
	}
	rec->is_losing |= host->discarded > 0;
	for (size_t c = 0; c < NUM_CHANNELS && !host->ended; c++)
		if (host->losses->of[c].now && !host->losses->of[c].said)
			warn_of_loss(rec, host, &host->losses->of[c], channels[c]);
}

void losses_report(struct record_run *rec, struct recorded_host *host)
{
	char how[160];

	host->ended = true;
	losses_update(rec, host);
	for (size_t c = 0; c < NUM_CHANNELS && host->losses; c++) {
		const struct loss *loss = &host->losses->of[c];
		const uint64_t sum = loss->discarded + loss->now;

		if (!sum && !loss->packets)
			continue;
		snprintf(
			how, sizeof(how),
			"EVENTS ARE MISSING: channel %s discarded %llu events and lost %llu packets of events",
			channels[c], (unsigned long long)sum, (unsigned long long)loss->packets);
		report_loss(host, loss, channels[c], how);
		rec->partial = true;
	}
}
