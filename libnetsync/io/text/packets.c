// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The text format of packet events. The first line has the names of the columns. Every other line
 * is an event.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/packet/address.h"
#include "io/text/text.h"

enum column {
	HOST,
	DIR,
	TIME,
	PROTO,
	SADDR,
	DADDR,
	SPORT,
	DPORT,
	SEQ,
	ACK,
	FLAGS,
	LEN,
	ID,
	WINDOW,
	TSVAL,
	TSECR,
	CHECKSUM,
	DIGEST,
	ICMP_TYPE,
	ICMP_ID,
	ICMP_SEQ,
	VTAG,
	CHUNK,
	TSN,
	GSO_SIZE,
	GSO_SEGS,
	NETNS,
	POINT,
	NUM_COLUMNS,
	IGNORED = NUM_COLUMNS,
};

/* Maximum number of columns of a file, including unknown columns. Chosen. */
#define MAX_COLUMNS 64
#define REQUIRED (BIT(HOST) | BIT(DIR) | BIT(TIME) | BIT(PROTO))
#define BIT(column) (1u << (column))

static const char *const column_names[NUM_COLUMNS] = {
	"host",	 "dir",	  "time_ns",  "proto",	  "saddr",     "daddr",	  "sport",
	"dport", "seq",	  "ack",      "flags",	  "len",       "id",	  "window",
	"tsval", "tsecr", "checksum", "digest",	  "icmp_type", "icmp_id", "icmp_seq",
	"vtag",	 "chunk", "tsn",      "gso_size", "gso_segs",  "netns",	  "point",
};

/* Maximum value of each numeric column. */
static const uint64_t largest[NUM_COLUMNS] = {
	[SPORT] = UINT16_MAX,	 [DPORT] = UINT16_MAX,	  [SEQ] = UINT32_MAX,
	[ACK] = UINT32_MAX,	 [FLAGS] = UINT16_MAX,	  [LEN] = UINT32_MAX,
	[ID] = UINT16_MAX,	 [WINDOW] = UINT16_MAX,	  [TSVAL] = UINT32_MAX,
	[TSECR] = UINT32_MAX,	 [CHECKSUM] = UINT16_MAX, [DIGEST] = UINT64_MAX,
	[ICMP_TYPE] = UINT8_MAX, [ICMP_ID] = UINT16_MAX,  [ICMP_SEQ] = UINT16_MAX,
	[VTAG] = UINT32_MAX,	 [CHUNK] = UINT8_MAX,	  [TSN] = UINT32_MAX,
	[GSO_SIZE] = UINT16_MAX, [GSO_SEGS] = UINT16_MAX, [NETNS] = UINT32_MAX,
};

#define TCP_NEEDS (BIT(SEQ) | BIT(ACK) | BIT(FLAGS))
#define UDP_NEEDS (BIT(SPORT) | BIT(DPORT))
#define ECHO (BIT(ICMP_TYPE) | BIT(ICMP_ID) | BIT(ICMP_SEQ))

static void fill_tcp_from_row(struct netsync_packet *pkt, const uint64_t *value)
{
	pkt->tcp.seq = (uint32_t)value[SEQ];
	pkt->tcp.ack = (uint32_t)value[ACK];
	pkt->tcp.flags = (uint16_t)value[FLAGS];
	pkt->tcp.window = (uint16_t)value[WINDOW];
	pkt->tcp.tsval = (uint32_t)value[TSVAL];
	pkt->tcp.tsecr = (uint32_t)value[TSECR];
}

static void fill_udp_from_row(struct netsync_packet *pkt, const uint64_t *value)
{
	pkt->udp.digest = value[DIGEST];
	pkt->udp.checksum = (uint16_t)value[CHECKSUM];
}

static void fill_icmp_from_row(struct netsync_packet *pkt, const uint64_t *value)
{
	pkt->icmp.id = (uint16_t)value[ICMP_ID];
	pkt->icmp.seq = (uint16_t)value[ICMP_SEQ];
	pkt->icmp.type = (uint8_t)value[ICMP_TYPE];
}

static void fill_sctp_from_row(struct netsync_packet *pkt, const uint64_t *value)
{
	pkt->sctp.vtag = (uint32_t)value[VTAG];
	pkt->sctp.tsn = (uint32_t)value[TSN];
	pkt->sctp.chunk = (uint8_t)value[CHUNK];
}

static const struct text_protocol {
	const char *name;
	uint8_t number;
	uint32_t needs; /* a bit for each enum column that must be present */
	/* @value is indexed by column. 0 means that the value is not known. */
	void (*fill)(struct netsync_packet *pkt, const uint64_t *value);
} protocols[] = {
	{ "tcp", IPPROTO_TCP, TCP_NEEDS, fill_tcp_from_row },
	{ "udp", IPPROTO_UDP, UDP_NEEDS, fill_udp_from_row },
	{ "icmp", IPPROTO_ICMP, BIT(ICMP_TYPE), fill_icmp_from_row },
	{ "icmp6", IPPROTO_ICMPV6, BIT(ICMP_TYPE), fill_icmp_from_row },
	{ "sctp", IPPROTO_SCTP, BIT(VTAG) | BIT(CHUNK), fill_sctp_from_row },
};

#define NUM_PROTOCOLS (sizeof(protocols) / sizeof(protocols[0]))

/*
 * Find a protocol by its number. For an unknown protocol, of which only the common columns are
 * used, return NULL.
 */
static const struct text_protocol *find_protocol(uint64_t number)
{
	for (size_t i = 0; i < NUM_PROTOCOLS; i++)
		if (protocols[i].number == number)
			return &protocols[i];
	return NULL;
}

/*
 * Number of slots for recently used addresses, because addresses repeat. They are indexed by text.
 * Chosen.
 */
#define NUM_ADDRESSES 64

struct text_address {
	char text[INET6_ADDRSTRLEN];
	uint8_t len;
	uint8_t bytes[16];
};

struct packet_columns {
	uint8_t column[MAX_COLUMNS]; /* enum column */
	int num;
	int host_at;
	int netns_at;	  /* index of the column, or -1 if it is not used */
	char *netns_host; /* buffer for names of hosts that are namespaces */
	size_t netns_room;
	uint32_t present; /* a bit for each enum column */
	struct name_table points;
	struct text_address address[NUM_ADDRESSES];
};

/* ---- the first line ---------------------------------------------------- */

static bool word_equals(const struct text_word *word, const char *text)
{
	return word->len == strlen(text) && !memcmp(word->text, text, word->len);
}

static enum column find_packet_column(const struct text_word *word)
{
	int i = 0;

	while (i < NUM_COLUMNS && !word_equals(word, column_names[i]))
		i++;
	return (enum column)i;
}

static int report_bad_column_line(const struct text_lines *l, const char *what, const char *which)
{
	return io_fail(
		l->io, -EILSEQ,
		"%s: line %llu: %s %s. The first line must name the columns; see netsync-packets(5).",
		l->path, (unsigned long long)l->number, what, which);
}

static int parse_column_names(struct text_input *text, const char *p, struct text_word *unknown)
{
	struct packet_columns *c = text->columns;
	struct text_lines *l = &text->lines;

	c->num = 0;
	c->netns_at = -1;
	c->present = 0;
	while (!lines_is_end(p)) {
		struct text_word word;
		enum column column;

		p = lines_parse_word(p, &word);
		column = find_packet_column(&word);
		if (!word.len || c->num == MAX_COLUMNS)
			return report_bad_column_line(l, "not", "a line of column names");
		if (column == IGNORED && !unknown->len)
			*unknown = word;
		if (column != IGNORED && (c->present & BIT(column)))
			return report_bad_column_line(l, "duplicate column", column_names[column]);
		if (column == HOST)
			c->host_at = c->num;
		if (column == NETNS && l->io->split_netns)
			c->netns_at = c->num;
		if (column != IGNORED)
			c->present |= BIT(column);
		c->column[c->num++] = (uint8_t)column;
	}
	return 0;
}

static int packets_parse_head(struct text_input *text, const char *p)
{
	struct text_lines *l = &text->lines;
	struct text_word unknown = { 0 };
	char quote[QUOTE_SIZE];
	int ret;

	if (!text->columns)
		text->columns = calloc(1, sizeof(*text->columns));
	if (!text->columns)
		return io_fail_no_memory(l->io);
	ret = parse_column_names(text, p, &unknown);
	if (ret < 0)
		return ret;
	for (int i = 0; i < NUM_COLUMNS; i++)
		if ((REQUIRED & ~text->columns->present) & BIT(i))
			return report_bad_column_line(l, "missing column", column_names[i]);
	quote_word(quote, &unknown);
	if (unknown.len && l->strict)
		return report_bad_column_line(l, "unknown column", quote);
	if (unknown.len && !l->quiet)
		io_warn(l->io, "%s: line %llu: the unknown column %s is ignored.", l->path,
			(unsigned long long)l->number, quote);
	lines_skip(l, p);
	return 0;
}

/* ---- values ------------------------------------------------------------ */

struct packet_row {
	uint32_t has; /* a bit for each enum column */
	int64_t time;
	uint64_t value[NUM_COLUMNS];
	struct text_word host;
	struct text_word point;
	const struct text_address *addr[2];
};

static unsigned int parse_hex_digit(char c)
{
	char lower = c | 0x20;

	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	return lower >= 'a' && lower <= 'f' ? (unsigned int)(lower - 'a') + 10 : UINT_MAX;
}

/* Parse a decimal or a hexadecimal (0x) number, which must not exceed @max. */
static bool parse_number_word(const struct text_word *word, uint64_t max, uint64_t *number)
{
	const char *p = word->text, *end = p + word->len;
	unsigned int base = 10;

	if (word->len > 2 && p[0] == '0' && (p[1] | 0x20) == 'x') {
		base = 16;
		p += 2;
	}
	for (*number = 0; p < end; p++) {
		unsigned int digit = parse_hex_digit(*p);

		if (digit >= base || __builtin_mul_overflow(*number, base, number) ||
		    __builtin_add_overflow(*number, digit, number))
			return false;
	}
	return *number <= max;
}

static bool parse_protocol_word(const struct text_word *word, uint64_t *number)
{
	for (size_t i = 0; i < NUM_PROTOCOLS; i++) {
		if (!word_equals(word, protocols[i].name))
			continue;
		*number = protocols[i].number;
		return true;
	}
	return parse_number_word(word, UINT8_MAX, number);
}

static bool parse_direction_word(const struct text_word *word, uint64_t *number)
{
	*number = word_equals(word, "in") ? NETSYNC_IN : NETSYNC_OUT;
	return *number == NETSYNC_IN || word_equals(word, "out");
}

static const struct text_address *parse_address_word(struct packet_columns *c,
						     const struct text_word *word)
{
	uint32_t hash = 0;
	struct text_address *a;

	if (word->len >= sizeof(a->text))
		return NULL;
	for (size_t i = 0; i < word->len; i++)
		hash = hash * 31 + (unsigned char)word->text[i];
	a = &c->address[hash % NUM_ADDRESSES];
	if (a->len == word->len && !memcmp(a->text, word->text, word->len))
		return a;
	memcpy(a->text, word->text, word->len);
	a->text[word->len] = '\0';
	a->len = address_read_text(a->bytes, a->text) ? (uint8_t)word->len : 0;
	return a->len ? a : NULL;
}

/* ---- lines ------------------------------------------------------------- */

static bool parse_column_value(struct packet_columns *c, enum column column,
			       const struct text_word *word, struct packet_row *r)
{
	switch (column) {
	case HOST:
		r->host = *word;
		return true;
	case POINT:
		r->point = *word;
		return true;
	case TIME:
		return lines_parse_integer(word->text, &r->time);
	case DIR:
		return parse_direction_word(word, &r->value[DIR]);
	case PROTO:
		return parse_protocol_word(word, &r->value[PROTO]);
	case SADDR:
	case DADDR:
		r->addr[column - SADDR] = parse_address_word(c, word);
		return r->addr[column - SADDR];
	default:
		return parse_number_word(word, largest[column], &r->value[column]);
	}
}

static int report_bad_value(struct text_lines *l, const char *p, enum column column,
			    const struct text_word *word)
{
	static const char *const wanted[NUM_COLUMNS] = {
		[TIME] = "a 64-bit integer",
		[DIR] = "in or out",
		[PROTO] = "tcp, udp, sctp, icmp, icmp6 or a number up to 255",
		[SADDR] = "an IP address",
		[DADDR] = "an IP address",
	};
	char quote[QUOTE_SIZE];

	quote_word(quote, word);
	if (wanted[column])
		return lines_reject(l, p, "%s is %s, which is not %s", column_names[column], quote,
				    wanted[column]);
	return lines_reject(l, p, "%s is %s, which is not a number up to %llu",
			    column_names[column], quote, (unsigned long long)largest[column]);
}

/*
 * Parse a line. Return 1, or 0 after lines_reject(). On failure, call io_fail() and return a
 * negative value.
 */
static int parse_packet_row(struct text_input *text, const char *start, struct packet_row *r)
{
	struct packet_columns *c = text->columns;
	struct text_lines *l = &text->lines;
	const char *p = start;
	int i;

	for (i = 0; i < c->num && !lines_is_end(p); i++) {
		enum column column = (enum column)c->column[i];
		struct text_word word;

		p = lines_parse_word(p, &word);
		if (!word.len)
			break;
		if (column == IGNORED || word_equals(&word, "-"))
			continue;
		if (!parse_column_value(c, column, &word, r))
			return report_bad_value(l, start, column, &word);
		r->has |= BIT(column);
	}
	if (i == c->num && lines_is_end(p))
		return 1;
	i = count_words(start);
	if (i == INT_MAX)
		return lines_reject(l, start, "it contains a control character");
	return lines_reject(l, start, "it has %d columns instead of %d as in the first line", i,
			    c->num);
}

static bool has_all_columns(const struct packet_row *r, uint32_t columns)
{
	return (r->has & columns) == columns;
}

/*
 * Reject a line in which columns are missing, with a message such as "seq, ack and flags must be
 * given".
 */
static int report_missing_columns(struct text_lines *l, const char *start, uint32_t missing)
{
	char names[128] = "";

	for (int i = 0; i < NUM_COLUMNS; i++) {
		if (!(missing & BIT(i)))
			continue;
		missing &= ~BIT(i);
		strcat(names, column_names[i]);
		if (missing)
			strcat(names, missing & (missing - 1) ? ", " : " and ");
	}
	return lines_reject(l, start, "%s must be given", names);
}

/* Return whether the record is an ICMP echo request or reply. */
static bool is_icmp_echo(const struct packet_row *r)
{
	uint64_t type = r->value[ICMP_TYPE];

	if (!(r->has & BIT(ICMP_TYPE)))
		return false;
	return (r->value[PROTO] == IPPROTO_ICMP && (!type || type == 8)) ||
	       (r->value[PROTO] == IPPROTO_ICMPV6 && (type == 128 || type == 129));
}

static int check_packet_row(struct text_lines *l, const char *start, const struct packet_row *r)
{
	const struct text_protocol *protocol = find_protocol(r->value[PROTO]);
	uint32_t needs = REQUIRED;

	if (protocol)
		needs |= protocol->needs;
	if (is_icmp_echo(r))
		needs |= ECHO;
	return has_all_columns(r, needs) ? 1 : report_missing_columns(l, start, needs & ~r->has);
}

static void fill_packet_from_row(struct netsync_packet *pkt, const struct packet_row *r)
{
	static const struct {
		uint32_t columns;
		uint32_t field;
	} fields[] = {
		{ BIT(SADDR) | BIT(DADDR), NETSYNC_HAS_ADDRS },
		{ BIT(SPORT) | BIT(DPORT), NETSYNC_HAS_PORTS },
		{ BIT(ID), NETSYNC_HAS_IP_ID },
		{ BIT(LEN), NETSYNC_HAS_LEN },
		{ BIT(WINDOW), NETSYNC_HAS_WINDOW },
		{ BIT(TSVAL) | BIT(TSECR), NETSYNC_HAS_TSTAMP },
		{ BIT(CHECKSUM), NETSYNC_HAS_CHECKSUM },
		{ BIT(DIGEST), NETSYNC_HAS_DIGEST },
		{ BIT(VTAG) | BIT(CHUNK), NETSYNC_HAS_SCTP },
		{ BIT(TSN), NETSYNC_HAS_TSN },
		{ BIT(GSO_SIZE) | BIT(GSO_SEGS), NETSYNC_HAS_GSO },
		{ BIT(NETNS), NETSYNC_HAS_NETNS },
	};
	const struct text_protocol *protocol = find_protocol(r->value[PROTO]);

	*pkt = (struct netsync_packet){
		.size = sizeof(*pkt),
		.time_ns = r->time,
		.dir = (uint8_t)r->value[DIR],
		.protocol = (uint8_t)r->value[PROTO],
		.sport = (uint16_t)r->value[SPORT],
		.dport = (uint16_t)r->value[DPORT],
		.len = (uint32_t)r->value[LEN],
		.ip_id = (uint16_t)r->value[ID],
		.gso_size = (uint16_t)r->value[GSO_SIZE],
		.gso_segs = (uint16_t)r->value[GSO_SEGS],
		.netns = (uint32_t)r->value[NETNS],
	};
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (has_all_columns(r, fields[i].columns))
			pkt->fields |= fields[i].field;
	if (protocol)
		protocol->fill(pkt, r->value);
	if (is_icmp_echo(r))
		pkt->fields |= NETSYNC_HAS_ECHO;
	if (r->addr[0])
		memcpy(pkt->saddr, r->addr[0]->bytes, sizeof(pkt->saddr));
	if (r->addr[1])
		memcpy(pkt->daddr, r->addr[1]->bytes, sizeof(pkt->daddr));
}

/*
 * Replace a host's name by the name of one of the host's namespaces. Return false if out of memory.
 */
static bool make_netns_host_name(struct packet_columns *c, struct text_word *host, uint32_t netns)
{
	const size_t room = host->len + sizeof("/netns-4294967295") + WORD_SLACK;

	if (c->netns_room < room) {
		char *bigger = realloc(c->netns_host, room * 2);

		if (!bigger)
			return false;
		c->netns_host = bigger;
		c->netns_room = room * 2;
	}
	host->len = (size_t)sprintf(c->netns_host, NETNS_HOST, (int)host->len, host->text, netns);
	host->text = c->netns_host;
	return true;
}

/* Return the number of a place in the network stack. If out of memory, return a negative value. */
static int64_t number_stack_place(struct text_input *text, struct text_word word)
{
	struct packet_columns *c = text->columns;
	struct name *name;

	if (!word.len)
		word = (struct text_word){ "-       ", 1 };
	name = names_add(&c->points, &word);
	if (!name)
		return io_fail_no_memory(text->lines.io);
	if (name->number < 0)
		name->number = (int)text->lines.io->num_points++;
	return name->number;
}

static int packets_push_line(struct text_input *text, const char *start)
{
	struct text_lines *l = &text->lines;
	struct netsync_packet pkt;
	struct packet_row r;
	int64_t point;
	int ret, host;

	memset(&r, 0, sizeof(r));
	ret = parse_packet_row(text, start, &r);
	if (ret > 0)
		ret = check_packet_row(l, start, &r);
	if (ret <= 0)
		return ret;
	if (l->quiet && !l->io->observe) {
		lines_skip(l, start);
		return 1;
	}
	if (text->columns->netns_at >= 0 && (r.has & BIT(NETNS)) &&
	    !make_netns_host_name(text->columns, &r.host, (uint32_t)r.value[NETNS]))
		return io_fail_no_memory(l->io);
	host = text_find_host(text, &r.host);
	if (host < 0)
		return text_reject_host(text, start);
	fill_packet_from_row(&pkt, &r);
	pkt.host = (uint32_t)host;
	if (l->io->observe) {
		lines_skip(l, start);
		return l->io->observe(l->io, &pkt);
	}
	if (!io_is_time_wanted(l->io, pkt.host, pkt.time_ns)) {
		lines_skip(l, start);
		return 1;
	}
	point = number_stack_place(text, r.point);
	if (point < 0)
		return (int)point;
	pkt.point = (uint32_t)point;
	return text_check_push(text, start, io_push_packet(l->io, &pkt));
}

static int packets_parse_hosts(const struct text_input *text, const char *p,
			       struct text_word *hosts)
{
	struct packet_columns *c = text->columns;
	const int last = c->netns_at > c->host_at ? c->netns_at : c->host_at;
	uint64_t netns;

	for (int i = 0; i <= last; i++) {
		struct text_word word;

		p = lines_parse_word(p, &word);
		if (!word.len)
			return 0;
		if (i == c->host_at)
			hosts[0] = word;
		if (i == c->netns_at)
			hosts[1] = word;
	}
	/*
	 * If out of memory, the host's name does not change, and packets_push_line() reports the
	 * error.
	 */
	if (c->netns_at >= 0 && parse_number_word(&hosts[1], UINT32_MAX, &netns))
		make_netns_host_name(c, &hosts[0], (uint32_t)netns);
	return 1;
}

static void free_packet_columns(struct text_input *text)
{
	if (text->columns) {
		names_release(&text->columns->points);
		free(text->columns->netns_host);
	}
	free(text->columns);
}

const struct text_format packet_format = {
	.things = "packet",
	.head = packets_parse_head,
	.hosts = packets_parse_hosts,
	.line = packets_push_line,
	.close = free_packet_columns,
};
