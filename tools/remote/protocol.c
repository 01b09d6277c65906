// SPDX-License-Identifier: GPL-2.0-only
/* Define and check the valid messages between netsync and its agents. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "beacon.h"
#include "common/json-value.h"
#include "protocol.h"

/*
 * A member of an object. Each member is optional. If a member exists, it must have this type: an
 * integer from @least to @most, a string of at most @most bytes, or an array of at most @most
 * elements, which @each describes. The list @members of an object ends with a key of NULL.
 */
struct protocol_member {
	const char *key;
	enum json_type type;
	int64_t least, most;
	const struct protocol_member *each, *members;
};

#define INT(name, from, to)                                                   \
	{                                                                     \
		.key = name, .type = json_type_int, .least = from, .most = to \
	}
#define TEXT(name, bytes)                                            \
	{                                                            \
		.key = name, .type = json_type_string, .most = bytes \
	}
#define FLAG(name)                                     \
	{                                              \
		.key = name, .type = json_type_boolean \
	}
#define LIST(name, length, of)                                                   \
	{                                                                        \
		.key = name, .type = json_type_array, .most = length, .each = of \
	}
#define END                 \
	{                   \
		.key = NULL \
	}

#define COUNT PROTOCOL_COUNT
#define PORT UINT16_MAX
#define ID UINT16_MAX
/* Maximum length of the name of a host, an event, a channel, an address or a session of netsync. */
#define NAME 512
/* Maximum number of channels. Four are enough: for user space, the kernel, packets and metadata. */
#define CHANNELS 64
/* Maximum number of findings. Each check has only a few. */
#define FINDINGS 256
#define PATTERNS 65536
/*
 * Maximum number of namespaces on a machine, including those of containers. Keep this limit equal
 * to that in agent/namespaces.c.
 */
#define NAMESPACES 4096
/*
 * Maximum size and number of buffers, above the limits of LTTng and Linux. The product of both
 * fits into 64 bits.
 */
#define BUFFER_SIZE (INT64_C(1) << 31)
#define BUFFER_NUM 65536
#define PROCESSORS 65536
/* Maximum number of entries for buffers. There can be several for each channel. */
#define BUFFERS 64
/* Maximum number of traces, which are given on a command line. */
#define TRACES 4096

/* ---- answers ------------------------------------------------------------- */

static const struct protocol_member channel[] = {
	TEXT("name", NAME),	   INT("discarded", 0, COUNT),
	INT("lost", 0, COUNT),	   INT("size", 0, BUFFER_SIZE),
	INT("num", 0, BUFFER_NUM), INT("recorded", 0, COUNT),
	INT("events", 0, COUNT),   END,
};

static const struct protocol_member namespace[] = {
	INT("inode", 0, COUNT),
	TEXT("name", NAME),
	END,
};

static const struct protocol_member heard[] = {
	INT("id", 0, ID),
	INT("sent", 0, COUNT),
	INT("received", 0, COUNT),
	INT("rtt_ns", 0, COUNT),
	END,
};

static const struct protocol_member finding[] = {
	TEXT("check", NAME),
	TEXT("verdict", NAME),
	TEXT("finding", PROTOCOL_SENTENCE),
	TEXT("advice", PROTOCOL_SENTENCE),
	END,
};

static const struct protocol_member reading[] = {
	INT("time", 0, COUNT),
	INT("raw", 0, COUNT),
	INT("within", 0, COUNT),
	END,
};

static const struct protocol_member name = TEXT("", NAME);
static const struct protocol_member a_channel = { .type = json_type_object, .members = channel };
static const struct protocol_member a_namespace = { .type = json_type_object,
						    .members = namespace };
static const struct protocol_member a_heard = { .type = json_type_object, .members = heard };
static const struct protocol_member a_reading = { .type = json_type_object, .members = reading };
static const struct protocol_member a_finding = { .type = json_type_object, .members = finding };

/* Members of an agent's lines. Each name has one meaning in all lines. */
static const struct protocol_member answers[] = {
	TEXT("netsync", NAME),
	TEXT("hostname", NAME),
	TEXT("ssh", NAME),
	TEXT("warning", PROTOCOL_SENTENCE),
	TEXT("note", PROTOCOL_SENTENCE),
	TEXT("error", PROTOCOL_SENTENCE),
	FLAG("working"),
	INT("bytes", 1, PROTOCOL_DATA),
	TEXT("file", PATH_MAX),
	TEXT("folder", PATH_MAX),
	LIST("channels", CHANNELS, &a_channel),
	LIST("clocks", PROTOCOL_CLOCKS, &a_reading),
	INT("processors", 0, PROCESSORS),
	INT("memory", 0, COUNT),
	LIST("namespaces", NAMESPACES, &a_namespace),
	INT("size", 0, COUNT),
	INT("events", 0, COUNT),
	INT("room", 0, COUNT),
	FLAG("connected"),
	FLAG("reachable"),
	INT("traffic", 0, COUNT),
	INT("traffic_trace", 0, COUNT),
	LIST("checks", FINDINGS, &a_finding),
	INT("port", 0, PORT),
	LIST("addresses", PROTOCOL_ADDRESSES, &name),
	LIST("peers", BEACON_NEIGHBOURS, &a_heard),
	INT("status", 0, UINT8_MAX),
	END,
};

/* ---- requests ------------------------------------------------------------ */

static const struct protocol_member nothing[] = { END };

static const struct protocol_member buffer[] = {
	TEXT("channel", NAME),
	INT("size", 0, BUFFER_SIZE),
	INT("num", 0, BUFFER_NUM),
	END,
};

static const struct protocol_member a_buffer = { .type = json_type_object, .members = buffer };

static const struct protocol_member create[] = {
	TEXT("session", NAME),
	LIST("events", PATTERNS, &name),
	FLAG("syscalls"),
	FLAG("ust"),
	LIST("buffers", BUFFERS, &a_buffer),
	TEXT("control", PATH_MAX),
	TEXT("data", PATH_MAX),
	INT("live_us", 0, INT32_MAX),
	TEXT("stay", PATH_MAX),
	END,
};

static const struct protocol_member a_path = TEXT("", PATH_MAX);
static const struct protocol_member serve[] = {
	LIST("paths", TRACES, &a_path),
	INT("timeout", 0, COUNT),
	END,
};
static const struct protocol_member result[] = {
	TEXT("name", NAME),
	TEXT("text", PROTOCOL_PIECE),
	END,
};

static const struct protocol_member apply[] = {
	LIST("traces", TRACES, &a_path),
	TEXT("output", PATH_MAX),
	FLAG("metadata_only"),
	FLAG("extrapolate"),
	END,
};

static const struct protocol_member doctor[] = { TEXT("for", NAME), END };
static const struct protocol_member status[] = { FLAG("events"), END };
static const struct protocol_member finish[] = { FLAG("lost"), END };
static const struct protocol_member open_beacon[] = { INT("port", 0, PORT), END };

static const struct protocol_member peer[] = {
	INT("id", 0, ID),
	INT("port", 0, PORT),
	/*
	 * Two further addresses are possible: the host's name, and the address at which ssh has
	 * reached it.
	 */
	LIST("addresses", PROTOCOL_ADDRESSES + 2, &name),
	END,
};

static const struct protocol_member a_peer = { .type = json_type_object, .members = peer };

static const struct protocol_member start_beacon[] = {
	INT("session", INT64_MIN, INT64_MAX),	   INT("id", 0, ID),
	INT("rate", 1, BEACON_RATE_MAX),	   FLAG("probe"),
	LIST("peers", BEACON_NEIGHBOURS, &a_peer), END,
};

/*
 * Requests and their time limits. The limits are several times the durations on busy machines. An
 * agent waits 60 s for the last data, and 10 s for the session to end. The limit for data applies
 * to every PROTOCOL_STEP bytes. Copying large traces can take days.
 */
static const struct protocol_request requests[] = {
	{ "nothing", 120, false, nothing },
	{ "create", 300, false, create },
	{ "start", 120, false, nothing },
	{ "status", 60, false, status },
	{ "stop", 60, false, nothing },
	{ "finish", 150, false, finish },
	{ "pull", 120, true, nothing },
	{ "keep", 60, false, nothing },
	{ "doctor", 180, false, doctor },
	{ "serve", 60, false, serve },
	{ "stream", 60, false, nothing },
	{ "result", 60, false, result },
	{ "apply", 1000000, false, apply },
	{ "beacon-open", 60, false, open_beacon },
	{ "beacon-start", 60, false, start_beacon },
	{ "beacon-stop", 60, false, nothing },
};

#define NUM_REQUESTS (sizeof(requests) / sizeof(requests[0]))

const struct protocol_request *protocol_find_request(const char *what)
{
	for (size_t i = 0; i < NUM_REQUESTS; i++)
		if (!strcmp(what, requests[i].name))
			return &requests[i];
	return NULL;
}

/* ---- checking ------------------------------------------------------------ */

static bool check_protocol_members(struct json_object *object,
				   const struct protocol_member *members, char why[PROTOCOL_WHY]);

/*
 * Explain why a member is invalid. Return false. @key comes from the tables, not from the other
 * end.
 */
static bool explain_bad_member(const struct protocol_member *member, const char *key,
			       char why[PROTOCOL_WHY])
{
	const char *what = json_type_to_name(member->type);

	if (member->type == json_type_int)
		snprintf(why, PROTOCOL_WHY, "\"%s\" must be a number from %lld to %lld", key,
			 (long long)member->least, (long long)member->most);
	else if (member->most)
		snprintf(why, PROTOCOL_WHY, "\"%s\" must be of type %s, and at most %lld %s long",
			 key, what, (long long)member->most, member->each ? "elements" : "bytes");
	else
		snprintf(why, PROTOCOL_WHY, "\"%s\" must be of type %s", key, what);
	return false;
}

static bool check_member_value(struct json_object *value, const struct protocol_member *member,
			       const char *key, char why[PROTOCOL_WHY])
{
	int64_t number;

	if (!json_object_is_type(value, member->type) ||
	    (member->type == json_type_int &&
	     !value_get_int(value, member->least, member->most, &number)) ||
	    (member->type == json_type_string && !value_get_text(value, member->most)) ||
	    (member->type == json_type_array && value_get_length(value) > (size_t)member->most))
		return explain_bad_member(member, key, why);
	for (size_t i = 0; i < value_get_length(value); i++)
		if (!check_member_value(value_get_element(value, i), member->each, key, why))
			return false;
	return !member->members || check_protocol_members(value, member->members, why);
}

static bool check_protocol_members(struct json_object *object,
				   const struct protocol_member *members, char why[PROTOCOL_WHY])
{
	for (; members->key; members++) {
		struct json_object *value = value_get_member(object, members->key);

		if (value && !check_member_value(value, members, members->key, why))
			return false;
	}
	return true;
}

static bool check_protocol_line(struct json_object *line, const struct protocol_member *members,
				char why[PROTOCOL_WHY])
{
	if (json_object_is_type(line, json_type_object))
		return check_protocol_members(line, members, why);
	snprintf(why, PROTOCOL_WHY, "a line must be a JSON object");
	return false;
}

bool protocol_check_request(const struct protocol_request *request, struct json_object *object,
			    char why[PROTOCOL_WHY])
{
	return check_protocol_line(object, request->members, why);
}

bool protocol_check_answer(struct json_object *object, char why[PROTOCOL_WHY])
{
	return check_protocol_line(object, answers, why);
}
