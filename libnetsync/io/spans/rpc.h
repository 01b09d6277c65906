/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files of distributed tracing: spans of many hosts, which are related by the identifiers of the
 * calls between them.
 *
 *	otlp.c, jaeger.c, zipkin.c: a JSON text -> struct rpc_span, and where its host is named
 *	rpc-span.c: -> the host of each span
 *	rpc-host.c: -> records of each host, in a temporary file
 *	rpc.c: -> one trace of each host, and the parts of its calls
 */
#ifndef NETSYNC_IO_SPANS_RPC_H
#define NETSYNC_IO_SPANS_RPC_H

#include "io/io.h"
#include "io/names.h"
#include "io/spans/scan.h"

/* Kinds of spans, numbered as in OTLP (enum SpanKind of trace.proto). */
enum rpc_kind { RPC_UNKNOWN, RPC_INTERNAL, RPC_SERVER, RPC_CLIENT, RPC_PRODUCER, RPC_CONSUMER };

/* Maximum number of references of a span that are used. Chosen: each of them is a message. */
#define RPC_MAX_LINKS 8
/*
 * Maximum number of spans that wait for the name of their host, which follows them in some files.
 * Chosen: traces have tens to thousands of spans, and each takes 0.4 KiB.
 */
#define RPC_MAX_HELD (1 << 18)

/* Identifies a span. */
struct rpc_id {
	uint64_t trace[2]; /* 128 bits, the upper ones first */
	uint64_t span;	   /* 0 if unknown */
};

/* What a number in the file means. */
enum rpc_number { RPC_START, RPC_END, RPC_DURATION, RPC_EVENT };

/* The digits of a time or duration in the file. */
struct rpc_digits {
	uint64_t at, end; /* position of the first digit, and of the byte after the last one */
	int64_t value;	  /* in the unit of the format; -1 if it is no valid number */
	enum rpc_number is;
};

struct rpc_span {
	struct rpc_id id, parent, link[RPC_MAX_LINKS];
	size_t num_links;
	enum rpc_kind kind;
	int64_t start, end; /* in the unit of the format; -1 if unknown */
	int64_t duration;   /* given instead of an end; -1 if unknown */
	bool has_failed;    /* the client may not have waited for its server */
	bool is_shared;	    /* a server span that has the identifier of its client span */
	char name[SPAN_NAME_SIZE];
	/* For copies: all times, in the order of the file, and the element that contains them. */
	struct rpc_digits *digits;
	size_t num_digits, digits_room;
	uint64_t from, to;
	uint64_t list; /* number of the list that contains the element */
};

/* A span as it is kept until its host is read. The struct occupies one cache line. */
struct rpc_record {
	struct rpc_id id;
	uint64_t of; /* the span of the client or producer */
	int64_t start_ns, end_ns;
	const struct name *name;
	uint8_t kind; /* enum rpc_kind */
	bool has_failed;
};

/* Number of records that are written to the temporary file at a time. Chosen: 4 KiB. */
#define RPC_BLOCK 64

/* A host of the file. */
struct rpc_host {
	char *name;
	struct range range;  /* time range of its spans (ns) */
	bool has_ns, has_us; /* whether some times are no multiples of 1 us, and of 1 ms */
	struct rpc_record *record;
	size_t num_records; /* number of records that are not in the file yet */
	uint64_t *block;    /* positions in the file */
	size_t num_blocks, block_room;
	uint64_t spans;
};

/* Reasons why spans are not used. */
enum rpc_unused {
	RPC_NO_HOST,
	RPC_BROWSER,
	RPC_MANY_HOSTS,
	RPC_BAD_TIME,
	RPC_BAD_ID,
	RPC_NUM_UNUSED
};

struct rpc_file;

struct rpc_format {
	const char *name;
	int64_t unit_ns; /* unit of times in the file */
	char first;	 /* first byte of a text: '{' or '[' */
	/* Scan a text, and pass on its spans. Return 1, or a negative value. */
	int (*scan)(struct rpc_file *file);
};

extern const struct rpc_format otlp_format, jaeger_format, zipkin_format;

/* An attribute of a span or of its host. Longer texts are truncated. */
struct rpc_attribute {
	char key[256], value[256];
};

/* What identifies the host of a span, as far as the file reports it. */
struct rpc_origin {
	char host[256];	   /* "" if unknown */
	int quality;	   /* how well @host identifies a clock; larger is better */
	char browser[256]; /* session or user agent of a browser; "" if unknown */
	bool is_browser;
};

/* A span that waits for its host, which follows in the file under a key. */
struct rpc_held {
	struct rpc_span span;
	uint64_t process; /* hash of the key */
};

/*
 * Receives each span with its host, which is NULL if it is unknown. Return 0, or a negative value
 * after io_fail().
 */
typedef int (*rpc_use_func)(struct rpc_file *file, const struct rpc_span *span, const char *host);

struct rpc_file {
	struct netsync_io *io;
	const char *path;
	const struct rpc_format *format;
	unsigned int users; /* number of traces that use the file */
	bool is_damaged;
	struct json_scan scan;
	struct rpc_span span; /* the current span */
	struct rpc_held *held;
	size_t num_held, held_room;
	uint64_t lists;	   /* number of lists of spans so far */
	uint64_t not_held; /* number of spans beyond RPC_MAX_HELD */
	uint64_t unused[RPC_NUM_UNUSED];
	char example[RPC_NUM_UNUSED][SPAN_NAME_SIZE];
	rpc_use_func use;
	int use_error; /* what it returned */
	void *use_data;
	bool is_copied; /* whether the positions of times are needed */
	/* rpc-host.c: */
	struct name_table by_name, names; /* numbers of hosts; names of spans */
	struct rpc_host *host;
	size_t num_hosts, host_room;
	int spool; /* the temporary file */
	uint64_t spool_size;
};

/* ---- rpc-span.c: functions for the formats ------------------------------------ */

/* Scan the value of a member, or an element of a list. Return a negative value on failure. */
typedef int (*rpc_scan_func)(struct rpc_file *file, void *data);

/*
 * Call @each with @data for each member of an object (scan.key has its name), or for each element of
 * a list. Return 1; 0 if the next value is something else, which is skipped; or a negative value.
 */
int rpc_scan_object(struct rpc_file *file, rpc_scan_func each, void *data);
int rpc_scan_list(struct rpc_file *file, rpc_scan_func each, void *data);
/* Like rpc_scan_object(), for the next span, which becomes the current one. */
int rpc_scan_span(struct rpc_file *file, rpc_scan_func each, void *data);
/*
 * Read the next value: an identifier, which is a text of hexadecimal digits, or any other; a time
 * or duration of the current span; or the name of the current span. Return a positive value, or a
 * negative one.
 */
int rpc_scan_trace_id(struct rpc_file *file, uint64_t id[2]);
int rpc_scan_span_id(struct rpc_file *file, uint64_t *id);
int rpc_scan_number(struct rpc_file *file, enum rpc_number is);
int rpc_scan_name(struct rpc_file *file);
/* Scan an event within the span, whose time, in member @key, is corrected as well. */
int rpc_scan_event(struct rpc_file *file, const char *key);
void rpc_add_link(struct rpc_span *span, const struct rpc_id *id);
/* Use what an attribute says about the host. */
void rpc_note_attribute(struct rpc_origin *origin, const char *key, const char *value);
/* End the current span, and pass it on. */
int rpc_pass_span(struct rpc_file *file, const struct rpc_origin *origin);
/* End the current span, and keep it until the host under a key is known. */
int rpc_hold_span(struct rpc_file *file, uint64_t process);
/* Pass on all spans that wait; find() returns the origin under a key, or NULL. */
int rpc_pass_held_spans(struct rpc_file *file,
			const struct rpc_origin *(*find)(const void *data, uint64_t process),
			const void *data);

/* Scan the whole file. Return 0, or a negative value after io_fail(). */
int rpc_scan_file(struct rpc_file *file, rpc_use_func use);
/* Count a span that is not used. Return 0. */
int rpc_skip_span(struct rpc_file *file, enum rpc_unused why, const struct rpc_span *span);

/* ---- rpc-host.c ------------------------------------------------------------------ */

/* Return the end of a span, in the unit of the format; its start if the end is unknown. */
int64_t rpc_get_end(const struct rpc_span *span);
/* Convert the times of a span to ns. Return false if they are not valid. */
bool rpc_get_times(const struct rpc_file *file, const struct rpc_span *span, int64_t *start_ns,
		   int64_t *end_ns);
/* Keep the spans of each host: the function for rpc_scan_file(). */
int rpc_keep_span(struct rpc_file *file, const struct rpc_span *span, const char *host);
/* Read a block of records. Return their number, or a negative errno value; -EIO is the spool's. */
ssize_t rpc_read_block(const struct rpc_file *file, const struct rpc_host *host, size_t block,
		       struct rpc_record records[RPC_BLOCK]);
/* Return the resolution of the host's times (ns). */
int64_t rpc_get_resolution(const struct rpc_file *file, const struct rpc_host *host);
void rpc_release_hosts(struct rpc_file *file);

#endif
