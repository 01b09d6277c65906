// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording session of LTTng on this machine. No other file calls LTTng; events.c
 * chooses the events of each channel.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <lttng/lttng.h>

#include "agent.h"
#include "channels.h"
#include "common/json-value.h"
#include "events.h"
#include "namespaces.h"
#include "remote/protocol.h"

/* Time after which data that has not arrived is lost, ms. Chosen. */
#define PENDING_MS (60 * 1000)
/*
 * Time after which a session that was not destroyed is abandoned, and period of checking, ms.
 * Chosen.
 */
#define DESTROY_MS (10 * 1000)
#define POLL_MS 50
/* Period in which LTTng sends data even if there are few events, us. Chosen. */
#define SWITCH_US 1000000
/* Period of decoding a packet, ns. Decoding takes time on the traced machine. Chosen. */
#define SAMPLE_NS 10000000000LL

/*
 * Name of the metadata channel. By default, LTTng sends metadata of user space only at the end. A
 * trace that does not end properly cannot be read without metadata. Before LTTng 2.15, metadata has
 * a channel with a timer. Since then, metadata is sent earlier only in live sessions.
 */
#define METADATA "metadata"
/*
 * Period of the metadata channel's timer, us. If lttng-consumerd 2.13 has metadata that the relay
 * daemon does not receive, lttng-consumerd can deadlock when the session is destroyed. Metadata
 * that cannot be sent must therefore be discarded before the session is destroyed.
 */
#define METADATA_US 5000000
#ifdef LTTNG_HAS_TRACE_FORMAT
#define HAS_METADATA_CHANNEL false
#else
#define HAS_METADATA_CHANNEL true
#endif

static struct {
	char *name;   /* NULL if there is no session */
	char *folder; /* directory of its files; NULL if data is streamed */
	bool stays;   /* the directory stays on this host after the recording */
	bool domains[NUM_DOMAINS];
	bool tells_clock; /* an event reports clock steering */
} session;

static const struct {
	const char *name;
	enum lttng_domain_type type;
	enum lttng_buffer_type buffers;
} domains[NUM_DOMAINS] = {
	[DOMAIN_KERNEL] = { "kernel", LTTNG_DOMAIN_KERNEL, LTTNG_BUFFER_GLOBAL },
	[DOMAIN_USER] = { "user", LTTNG_DOMAIN_UST, LTTNG_BUFFER_PER_UID },
};

/* ---- handles ----------------------------------------------------------- */

static struct lttng_handle *create_domain_handle(enum domain domain)
{
	struct lttng_domain of = {
		.type = domains[domain].type,
		.buf_type = domains[domain].buffers,
	};

	return lttng_create_handle(session.name, &of);
}

static void forget_own_session(void)
{
	if (session.name)
		undo_drop_action(UNDO_SESSION, session.name);
	free(session.name);
	session.name = NULL;
}

/* Destroy a session. This takes several seconds only after errors. */
static bool destroy_session(const char *name, bool (*wait)(int ms))
{
	struct lttng_destruction_handle *handle = NULL;
	enum lttng_destruction_handle_status status;
	int left_ms = DESTROY_MS;

	if (lttng_destroy_session_ext(name, &handle) != LTTNG_OK)
		return false;
	do {
		status = lttng_destruction_handle_wait_for_completion(handle, POLL_MS);
		left_ms -= POLL_MS;
	} while (status == LTTNG_DESTRUCTION_HANDLE_STATUS_TIMEOUT && left_ms > 0 &&
		 (!wait || wait(0)));
	lttng_destruction_handle_destroy(handle);
	return status == LTTNG_DESTRUCTION_HANDLE_STATUS_COMPLETED;
}

void lttng_undo_session(const char *name)
{
	destroy_session(name, NULL);
}

/* ---- creating ---------------------------------------------------------- */

static struct json_object *fail_for_missing_sessiond(void)
{
	return agent_make_error(
		"no LTTng session daemon answers; start it (systemctl start lttng-sessiond, or lttng-sessiond -d)%s.",
		getuid() ? ", as root, and join the group \"tracing\"" : "");
}

static struct lttng_session_descriptor *describe_session(const char *name, const char *control,
							 const char *data, int64_t live_us)
{
	struct lttng_session_descriptor *descriptor;

	/* If only one URL is given, it is used for both control and data. */
	if (!*data)
		data = NULL;
	if (!*control)
		descriptor = lttng_session_descriptor_local_create(name, session.folder);
	else if (live_us)
		descriptor = lttng_session_descriptor_live_network_create(name, control, data,
									  live_us);
	else
		descriptor = lttng_session_descriptor_network_create(name, control, data);
#ifdef LTTNG_HAS_TRACE_FORMAT
	/* Select the format that Babeltrace 2.0 can read. */
	if (descriptor)
		lttng_session_descriptor_set_trace_format(descriptor, LTTNG_TRACE_FORMAT_CTF_1_8);
#endif
	return descriptor;
}

static struct json_object *create_session(const char *name, const char *control, const char *data,
					  int64_t live_us)
{
	struct lttng_session_descriptor *descriptor;
	enum lttng_error_code code;
	struct json_object *answer;

	descriptor = describe_session(name, control, data, live_us);
	if (!descriptor)
		return agent_make_error("%s %s: LTTng cannot send traces to this address.", control,
					data);
	session.name = strdup(name);
	undo_add_action(UNDO_SESSION, name);
	code = lttng_create_session_ext(descriptor);
	lttng_session_descriptor_destroy(descriptor);
	if (code == LTTNG_OK)
		return NULL;
	forget_own_session();
	answer = agent_make_error("cannot create the session: %s.", lttng_strerror(-code));
	return answer;
}

static int enable_lttng_channel(struct lttng_handle *handle, enum domain domain, const char *name,
				bool live)
{
	struct lttng_domain of = {
		.type = domains[domain].type,
		.buf_type = domains[domain].buffers,
	};
	struct lttng_channel *channel = lttng_channel_create(&of);
	const struct buffers buffers = channel_get_buffers(name);
	bool metadata = !strcmp(name, METADATA);
	int ret;

	if (!channel)
		return -LTTNG_ERR_NOMEM;
	snprintf(channel->name, sizeof(channel->name), "%s", name);
	/* LTTng 2.13 enables all new channels; 2.16 enables them only if requested. */
	channel->enabled = 1;
	if (metadata) {
		channel->attr.subbuf_size = getpagesize();
		channel->attr.num_subbuf = 2;
	} else {
		channel->attr.subbuf_size = buffers.size;
		channel->attr.num_subbuf = buffers.num;
	}
	if (domain == DOMAIN_KERNEL)
		channel->attr.read_timer_interval = buffers_compute_read_us(name, buffers);
	if (!live)
		channel->attr.switch_timer_interval = metadata ? METADATA_US : SWITCH_US;
	ret = lttng_enable_channel(handle, channel);
	lttng_channel_destroy(channel);
	return ret;
}

static int enable_lttng_event(struct lttng_handle *handle, const char *channel,
			      const struct chosen *chosen)
{
	struct lttng_event *event = lttng_event_create();
	int ret;

	if (!event)
		return -LTTNG_ERR_NOMEM;
	event->type = chosen->syscalls ? LTTNG_EVENT_SYSCALL : LTTNG_EVENT_TRACEPOINT;
	event->loglevel_type = LTTNG_EVENT_LOGLEVEL_ALL;
	event->loglevel = -1;
	snprintf(event->name, sizeof(event->name), "%s", chosen->name);
	ret = lttng_enable_event(handle, event, channel);
	lttng_event_destroy(event);
	return ret;
}

/* Enable all events of a domain, and their channels. */
static struct json_object *enable_lttng_domain(enum domain domain, const struct choice *choice,
					       bool live)
{
	struct lttng_handle *handle = create_domain_handle(domain);
	struct json_object *answer = NULL;
	const char *channel = "";
	int ret;

	if (!handle)
		return agent_make_error("not enough memory.");
	if (domain == DOMAIN_USER && HAS_METADATA_CHANNEL)
		enable_lttng_channel(handle, domain, METADATA, live);
	for (size_t i = 0; i < choice->num && !answer; i++) {
		const struct chosen *chosen = &choice->list[i];

		if (chosen->domain != domain)
			continue;
		/* Each call to LTTng takes time, in which the other end needs a keepalive. */
		agent_wait_for_request(0);
		if (strcmp(channel, chosen->channel)) {
			channel = chosen->channel;
			ret = enable_lttng_channel(handle, domain, channel, live);
			if (ret < 0) {
				answer = agent_make_error("cannot create the channel %s: %s.",
							  channel, lttng_strerror(ret));
				break;
			}
		}
		ret = enable_lttng_event(handle, channel, chosen);
		if (ret < 0 && ret != -LTTNG_ERR_UST_EVENT_ENABLED &&
		    ret != -LTTNG_ERR_KERN_EVENT_EXIST)
			answer = agent_make_error("cannot enable the event %s: %s.", chosen->name,
						  lttng_strerror(ret));
		session.domains[domain] = true;
	}
	lttng_destroy_handle(handle);
	return answer;
}

/* Return the kernel's tracepoints, or NULL with the error in *@num. */
static struct lttng_event *list_tracepoints(int *num)
{
	struct lttng_domain kernel = {
		.type = LTTNG_DOMAIN_KERNEL,
		.buf_type = LTTNG_BUFFER_GLOBAL,
	};
	struct lttng_handle *handle = lttng_create_handle(NULL, &kernel);
	struct lttng_event *events = NULL;

	*num = handle ? lttng_list_tracepoints(handle, &events) : -LTTNG_ERR_NOMEM;
	lttng_destroy_handle(handle);
	return events;
}

/* Choose the events to record among the events of this machine. */
static struct json_object *choose_session_events(struct json_object *request, struct choice *choice)
{
	const bool user = member_get_flag(request, "ust");
	struct lttng_event *events;
	int num;

	events = list_tracepoints(&num);
	if (num > 0) {
		choose_kernel_events(choice, request, events[0].name, sizeof(events[0]), num);
	} else if (user) {
		agent_send_warning("only user space is recorded; kernel events are unavailable: %s.",
				   num ? lttng_strerror(num) : "none found");
	} else {
		free(events);
		return agent_make_error(
			"kernel events are unavailable: %s. Check that LTTng's kernel modules are installed for this kernel, and that the session daemon runs as root.",
			num ? lttng_strerror(num) : "none found");
	}
	free(events);
	if (user)
		choose_user_events(choice);
	return NULL;
}

/* Return the period of the live timer, us, or 0 if the session is not live. */
static int64_t get_live_period_us(struct json_object *request, const struct choice *choice)
{
	const int64_t live_us = member_get_int(request, "live_us");

	if (!*member_get_text(request, "control"))
		return 0;
	if (!live_us && !HAS_METADATA_CHANNEL && choice_has_domain(choice, DOMAIN_USER))
		return SWITCH_US;
	return live_us;
}

/*
 * Create a session. Without URLs, data is recorded to a directory of this machine. The request
 * contains
 * {"session":NAME,"events":[PATTERN...],"syscalls":BOOL,"ust":BOOL,
 *  "buffers":[{"channel":NAME,"size":N,"num":N}...],"control":URL,"data":URL,
 *  "live_us":N}
 */
struct json_object *agent_create(struct json_object *request)
{
	const char *control = member_get_text(request, "control");
	struct json_object *answer;
	struct choice choice = { 0 };
	int64_t live_us;

	if (session.name)
		return agent_make_error("a session already exists.");
	if (!undo_start())
		return agent_make_error("%s.", strerror(errno));
	if (!lttng_session_daemon_alive())
		return fail_for_missing_sessiond();
	if (!*control && !session.folder) {
		session.stays = value_get_member(request, "stay");
		session.folder = folder_create_temporary(member_get_text(request, "stay"));
		if (!session.folder)
			return agent_make_error("cannot create a directory for the recording: %s.",
						strerror(errno));
		undo_add_action(UNDO_FOLDER, session.folder);
	}
	relay_watch_connection(control);
	memset(session.domains, 0, sizeof(session.domains));
	answer = choose_session_events(request, &choice);
	session.tells_clock = choice_has_clock_event(&choice);
	if (!answer)
		answer = channels_plan(&choice, value_get_member(request, "buffers"));
	live_us = get_live_period_us(request, &choice);
	agent_wait_for_request(0);
	if (!answer)
		answer = create_session(member_get_text(request, "session"), control,
					member_get_text(request, "data"), live_us);
	for (int i = 0; i < NUM_DOMAINS && !answer; i++)
		if (choice_has_domain(&choice, i))
			answer = enable_lttng_domain(i, &choice, live_us);
	choice_free(&choice);
	if (answer && session.name) {
		destroy_session(session.name, NULL);
		forget_own_session();
	}
	return answer ? answer : json_object_new_object();
}

bool session_is_staying(void)
{
	return session.folder && session.stays;
}

const char *session_get_folder(void)
{
	return session.folder;
}

/* ---- recording ---------------------------------------------------------- */

struct json_object *agent_start(struct json_object *request)
{
	int ret;

	(void)request;
	if (!session.name)
		return agent_make_error("no session to start.");
	traffic_start_counting();
	namespaces_find();
	if (!session.tells_clock)
		steering_start();
	ret = lttng_start_tracing(session.name);
	if (ret < 0)
		return agent_make_error("cannot start the recording: %s.", lttng_strerror(ret));
	/* A viewer of the recording gets clock readings before the first packet. */
	steering_send_readings();
	return json_object_new_object();
}

/* Add the number of bytes and events of a channel, from its packets in the directory. */
static void add_counted_bytes(struct json_object *channel, const char *name)
{
	struct recorded recorded = { 0 };

	count_recorded_channel(&recorded, session.folder, name);
	json_object_object_add(channel, "recorded", json_object_new_int64(recorded.bytes));
	if (!recorded.is_unclear)
		json_object_object_add(channel, "events", json_object_new_int64(recorded.events));
}

/*
 * Correct a counter of LTTng's consumer. The consumer sums the growth of a buffer's counter
 * between packets. If a counter goes back by N, because packets need not be counted in the order
 * of reading, the consumer mistakes this for the wrap of a signed long, and adds 2^63 - N. The
 * sum is correct modulo 2^63.
 */
static uint64_t undo_counter_wrap(uint64_t sum)
{
	return sum & INT64_MAX;
}

static void add_channel_counts(struct json_object *list, enum domain domain)
{
	struct lttng_handle *handle = create_domain_handle(domain);
	struct lttng_channel *channels = NULL;
	int num = handle ? lttng_list_channels(handle, &channels) : 0;

	for (int i = 0; i < num; i++) {
		struct json_object *channel = json_object_new_object();
		uint64_t discarded = 0, lost = 0;

		lttng_channel_get_discarded_event_count(&channels[i], &discarded);
		lttng_channel_get_lost_packet_count(&channels[i], &lost);
		json_object_object_add(channel, "name", json_object_new_string(channels[i].name));
		json_object_object_add(channel, "discarded",
				       json_object_new_int64(undo_counter_wrap(discarded)));
		json_object_object_add(channel, "lost", json_object_new_int64(lost));
		json_object_object_add(channel, "size",
				       json_object_new_int64(channels[i].attr.subbuf_size));
		json_object_object_add(channel, "num",
				       json_object_new_int64(channels[i].attr.num_subbuf));
		if (session.folder)
			add_counted_bytes(channel, channels[i].name);
		json_object_array_add(list, channel);
	}
	free(channels);
	lttng_destroy_handle(handle);
}

static void add_recorded_counts(struct json_object *answer, bool events)
{
	struct recorded recorded = { 0 };

	count_recorded_folder(&recorded, session.folder);
	if (events)
		count_sample(SAMPLE_NS);
	json_object_object_add(answer, "size", json_object_new_int64(recorded.bytes));
	if (events && !recorded.is_unclear)
		json_object_object_add(answer, "events", json_object_new_int64(recorded.events));
}

/*
 * Report the status of the recording. The request contains {"events":BOOL}, and the answer is
 * {"channels":[{"name":NAME,"discarded":N,"lost":N,"size":N,"num":N}...],"processors":N,"memory":N}
 * with the memory in bytes. If the session records to this machine, the answer also has
 * {"size":N,"room":N} in bytes, and {"recorded":N,"events":N} for each channel. It has an estimate
 * {"events":N} if this was requested and is already known. If the session records to a relay
 * daemon, the answer has {"connected":BOOL} and, if that is false, {"reachable":BOOL}. If no event
 * reports how the clock is steered, steering_send_readings() is called first.
 */
struct json_object *agent_status(struct json_object *request)
{
	const bool events = member_get_flag(request, "events");
	struct json_object *answer, *channels;

	if (!lttng_session_daemon_alive())
		return agent_make_error("LTTng's session daemon ended.");
	steering_send_readings();
	answer = json_object_new_object();
	channels = json_object_new_array();
	if (session.folder)
		add_recorded_counts(answer, events);
	for (int i = 0; i < NUM_DOMAINS && session.name; i++)
		if (session.domains[i])
			add_channel_counts(channels, i);
	json_object_object_add(answer, "channels", channels);
	json_object_object_add(answer, "processors", json_object_new_int(get_nprocs_conf()));
	json_object_object_add(answer, "memory", json_object_new_int64(memory_read_available()));
	if (session.folder) {
		const uint64_t room = folder_get_free_space(session.folder);

		json_object_object_add(answer, "room",
				       json_object_new_int64(
					       room < PROTOCOL_COUNT ? room : PROTOCOL_COUNT));
	}
	if (relay_is_watched()) {
		const bool connected = relay_is_connected();

		json_object_object_add(answer, "connected", json_object_new_boolean(connected));
		if (!connected)
			json_object_object_add(answer, "reachable",
					       json_object_new_boolean(relay_is_reachable()));
	}
	return answer;
}

/* Stop recording without waiting. agent_finish() waits until all data has arrived. */
struct json_object *agent_stop(struct json_object *request)
{
	int ret;

	(void)request;
	if (!session.name)
		return agent_make_error("no session to stop.");
	ret = lttng_stop_tracing_no_wait(session.name);
	if (ret < 0 && ret != -LTTNG_ERR_TRACE_ALREADY_STOPPED)
		return agent_make_error("cannot stop the recording: %s.", lttng_strerror(ret));
	return json_object_new_object();
}

static void add_own_traffic(struct json_object *answer)
{
	const struct agent_traffic traffic = traffic_get_since_start();

	json_object_object_add(answer, "traffic", json_object_new_int64(traffic.all));
	json_object_object_add(answer, "traffic_trace", json_object_new_int64(traffic.trace));
}

/*
 * End the recording, and wait for the last data. The request contains {"lost":BOOL}, which is true
 * if nobody receives the data. The answer is that of agent_status(), with the network traffic in
 * bytes, {"traffic":N,"traffic_trace":N}, and {"namespaces":[{"inode":N,"name":NAME}...]}.
 */
struct json_object *agent_finish(struct json_object *request)
{
	const bool lost = member_get_flag(request, "lost");
	struct json_object *answer;
	int left_ms = PENDING_MS;

	if (!session.name)
		return agent_make_error("no session to end.");
	while (!lost && left_ms > 0 && lttng_data_pending(session.name) == 1) {
		left_ms -= POLL_MS;
		if (!agent_wait_for_request(POLL_MS))
			break;
	}
	if (left_ms <= 0)
		agent_send_warning("the last data did not arrive within %d s.", PENDING_MS / 1000);
	answer = agent_status(request);
	steering_end();
	count_end();
	add_own_traffic(answer);
	namespaces_find();
	json_object_object_add(answer, "namespaces", namespaces_make_list());
	if (destroy_session(session.name, agent_wait_for_request))
		forget_own_session();
	return answer;
}
