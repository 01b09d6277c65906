// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decimal text becomes exact times. Relations become the messages that limit their hosts' clocks,
 * at most two for each host, and memory is limited.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../lib/test.h"
#include "io/spans/decimal.h"
#include "io/spans/relations.h"

#define MAX_MESSAGES 100

static struct netsync_io io;

/* The messages that were pushed, and the warnings. */
static struct {
	struct netsync_message message[MAX_MESSAGES];
	size_t num;
	uint64_t total;
	char warnings[2000];
} came;

/* ---- the rest of the library -------------------------------------------------- */

int netsync_push_message(struct netsync *ns, uint32_t from, uint32_t to, int64_t send_ns,
			 int64_t recv_ns)
{
	struct netsync_message message = {
		.from = from, .to = to, .send_ns = send_ns, .recv_ns = recv_ns
	};

	(void)ns;
	if (came.num < MAX_MESSAGES)
		came.message[came.num++] = message;
	came.total++;
	return 0;
}

const char *netsync_error(const struct netsync *ns)
{
	(void)ns;
	return "";
}

void io_warn(struct netsync_io *to, const char *format, ...)
{
	const size_t used = strlen(came.warnings);
	va_list arguments;

	(void)to;
	va_start(arguments, format);
	vsnprintf(came.warnings + used, sizeof(came.warnings) - used, format, arguments);
	va_end(arguments);
}

int io_fail(struct netsync_io *to, int err, const char *format, ...)
{
	(void)to;
	(void)format;
	return err;
}

int io_fail_no_memory(struct netsync_io *to)
{
	return io_fail(to, -ENOMEM, "Out of memory.");
}

/* ---- decimals ------------------------------------------------------------------ */

static void check_decimal(const char *text, int64_t ns, int64_t error_ns)
{
	struct decimal_time time;

	assert_true(decimal_parse_time(text, 3, &time));
	assert_int_equal(time.ns, ns);
	assert_int_equal(time.error_ns, error_ns);
}

static void test_decimal_times(void **state)
{
	static const char *const bad[] = { "",
					   "-1",
					   "+1",
					   ".5",
					   "1e3",
					   "1.5e3",
					   "NaN",
					   "0x10",
					   "1 ",
					   " 1",
					   "1..2",
					   "9223372036854776",
					   "9223372036854775.808",
					   "99999999999999999999" };
	struct decimal_time time;

	(void)state;
	check_decimal("0", 0, 1000);
	check_decimal("12.", 12000, 1000);
	check_decimal("12.3", 12300, 100);
	check_decimal("12.34", 12340, 10);
	check_decimal("12.345", 12345, 0);
	check_decimal("12.3459", 12345, 1);
	check_decimal("12.345000", 12345, 1);
	/* A double has no ns at this time since 1970. */
	check_decimal("1712195495520871.123", INT64_C(1712195495520871123), 0);
	check_decimal("9223372036854775.807", INT64_MAX, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(decimal_parse_time(bad[i], 3, &time));
	assert_true(decimal_parse_time("1711929600000000000", 0, &time));
	assert_int_equal(time.ns, INT64_C(1711929600000000000));
	assert_int_equal(time.error_ns, 0);
}

/* ---- relations ------------------------------------------------------------------ */

static struct span_part make_part(uint64_t key, uint32_t member, uint32_t members)
{
	return (struct span_part){
		.key = { key, ~key },
		.role = SPAN_BOTH,
		.member = member,
		.members = members,
		.step = -1,
		.group = "group",
		.what = "what",
	};
}

static void add_part(uint32_t host, const struct span_part *part)
{
	assert_int_equal(relations_add(&io, host, part), 0);
}

static const struct netsync_message *find_message(uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < came.num; i++)
		if (came.message[i].from == from && came.message[i].to == to)
			return &came.message[i];
	return NULL;
}

#define HOSTS 5
#define RANKS 15

/* The messages from and to the host with the smallest duration, and no others. */
static void check_star(const int64_t latest[HOSTS], const int64_t earliest[HOSTS])
{
	uint32_t centre = 0;

	for (uint32_t i = 1; i < HOSTS; i++)
		if (earliest[i] - latest[i] < earliest[centre] - latest[centre])
			centre = i;
	assert_int_equal(came.num, 2 * (HOSTS - 1));
	for (uint32_t i = 0; i < HOSTS; i++) {
		const struct netsync_message *to = find_message(centre, i);
		const struct netsync_message *from = find_message(i, centre);

		if (i == centre)
			continue;
		assert_non_null(to);
		assert_non_null(from);
		assert_int_equal(to->send_ns, latest[centre]);
		assert_int_equal(to->recv_ns, earliest[i]);
		assert_int_equal(from->send_ns, latest[i]);
		assert_int_equal(from->recv_ns, earliest[centre]);
	}
}

static void test_messages_of_relations(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (uint64_t run = 0; run < 100; run++) {
		int64_t latest[HOSTS], earliest[HOSTS];

		memset(&came, 0, sizeof(came));
		for (uint32_t rank = 0; rank < RANKS; rank++) {
			struct span_part part = make_part(run, rank, RANKS);
			const uint32_t host = rank % HOSTS;

			part.start_ns = (int64_t)(draw_random64(&random) % 1000000) + host * SEC;
			part.end_ns = 1000000 + (int64_t)(draw_random64(&random) % 1000) +
				      host * SEC;
			if (rank < HOSTS || part.start_ns > latest[host])
				latest[host] = part.start_ns;
			if (rank < HOSTS || part.end_ns < earliest[host])
				earliest[host] = part.end_ns;
			assert_int_equal(came.num, 0);
			add_part(host, &part);
		}
		check_star(latest, earliest);
	}
	assert_int_equal(relations_end(&io), 0);
	assert_string_equal(came.warnings, "");
}

/* Add a relation in which rank 0 has a role, and the others have the other one. */
static void add_rooted(uint64_t key, uint32_t role)
{
	memset(&came, 0, sizeof(came));
	for (uint32_t rank = 0; rank < RANKS; rank++) {
		struct span_part part = make_part(key, rank, RANKS);

		part.role = rank ? SPAN_BOTH ^ role : role;
		part.start_ns = 100 + rank;
		part.end_ns = 1000 + rank;
		add_part(rank % HOSTS, &part);
	}
}

static void test_operations_with_root(void **state)
{
	(void)state;
	add_rooted(1, SPAN_BEFORE);
	assert_int_equal(came.num, HOSTS - 1);
	for (uint32_t host = 1; host < HOSTS; host++) {
		assert_non_null(find_message(0, host));
		assert_int_equal(find_message(0, host)->send_ns, 100);
		assert_int_equal(find_message(0, host)->recv_ns, 1000 + host);
	}
	add_rooted(2, SPAN_AFTER);
	assert_int_equal(came.num, HOSTS - 1);
	for (uint32_t host = 1; host < HOSTS; host++) {
		assert_non_null(find_message(host, 0));
		assert_int_equal(find_message(host, 0)->send_ns, 100 + host + RANKS - HOSTS);
		assert_int_equal(find_message(host, 0)->recv_ns, 1000);
	}
	assert_int_equal(relations_end(&io), 0);
}

/* ---- calls and queues -------------------------------------------------------- */

#define CALL_ID UINT64_C(0x0123456789abcdef)

static void check_call(void *data, const struct netsync_io_relation *relation)
{
	uint32_t *kind = data;

	assert_int_equal(relation->size, sizeof(*relation));
	assert_int_equal(relation->kind, *kind);
	assert_true(relation->group_id[0] == CALL_ID && relation->group_id[1] == ~CALL_ID);
	*kind = UINT32_MAX;
}

/* Add parts on hosts 0, 1 and 2, which last from 100 to 1000, 120 to 980, and 140 to 960. */
static void add_nested_parts(uint32_t kind, uint32_t outer, uint32_t inner)
{
	uint32_t expected = kind;

	memset(&came, 0, sizeof(came));
	io.relation = check_call;
	io.relation_data = &expected;
	for (uint32_t i = 0; i < 3; i++) {
		struct span_part part = make_part(kind, i, 3);

		part.kind = kind;
		part.role = i ? inner : outer;
		part.group_id[0] = CALL_ID;
		part.group_id[1] = ~CALL_ID;
		part.start_ns = 100 + 20 * i;
		part.end_ns = 1000 - 20 * i;
		add_part(i, &part);
	}
	assert_int_equal(relations_end(&io), 0);
	assert_int_equal(expected, UINT32_MAX);
	io.relation = NULL;
}

#define CLIENT (NETSYNC_IO_STARTS_FIRST | NETSYNC_IO_ENDS_LAST)
#define SERVER (NETSYNC_IO_STARTS_LAST | NETSYNC_IO_ENDS_FIRST)

static void add_call_part(uint64_t key, uint32_t host, uint32_t role, int64_t start_ns,
			  int64_t end_ns)
{
	struct span_part part = make_part(key, host, 0);

	part.kind = NETSYNC_IO_CALL;
	part.role = role;
	part.start_ns = start_ns;
	part.end_ns = end_ns;
	add_part(host, &part);
}

/* A client starts before its server, and ends after it. Spans that came twice are used once. */
static void test_calls(void **state)
{
	(void)state;
	memset(&came, 0, sizeof(came));
	for (int i = 0; i < 2; i++) {
		add_call_part(1, 1, SERVER, 520, 580);
		add_call_part(1, 0, CLIENT, 100, 200);
	}
	assert_int_equal(relations_end(&io), 0);
	assert_string_equal(came.warnings, "");
	assert_int_equal(came.num, 2);
	assert_int_equal(find_message(0, 1)->send_ns, 100);
	assert_int_equal(find_message(0, 1)->recv_ns, 520);
	assert_int_equal(find_message(1, 0)->send_ns, 580);
	assert_int_equal(find_message(1, 0)->recv_ns, 200);
}

/* A client that repeated its call may have waited for either server: only the starts are used. */
static void test_retries(void **state)
{
	(void)state;
	add_nested_parts(NETSYNC_IO_CALL, CLIENT, SERVER);
	assert_non_null(strstr(came.warnings, "In 1 of 1 calls"));
	assert_int_equal(came.num, 2);
	for (uint32_t host = 1; host < 3; host++) {
		assert_int_equal(find_message(0, host)->send_ns, 100);
		assert_int_equal(find_message(0, host)->recv_ns, 100 + 20 * host);
	}
}

/* Calls of an operation whose servers are often longer than their clients are asynchronous. */
static void test_asynchronous_calls(void **state)
{
	(void)state;
	for (uint64_t every = 10; every <= 100; every *= 10) {
		memset(&came, 0, sizeof(came));
		for (uint64_t key = 0; key < 200; key++) {
			add_call_part(key, 0, CLIENT, 100, 200);
			add_call_part(key, 1, SERVER, 520, key % every ? 580 : 700);
		}
		assert_int_equal(relations_end(&io), 0);
		assert_int_equal(came.total, every == 10 ? 200 : 398);
		assert_non_null(
			strstr(came.warnings, every == 10 ? "In 200 of 200" : "In 2 of 200"));
	}
}

/* Two spans of one client with other times are not used; nor is a server without its client. */
static void test_bad_calls(void **state)
{
	(void)state;
	memset(&came, 0, sizeof(came));
	add_call_part(1, 0, CLIENT, 100, 200);
	add_call_part(1, 0, CLIENT, 101, 200);
	add_call_part(1, 1, SERVER, 520, 580);
	add_call_part(2, 1, SERVER, 520, 580);
	assert_int_equal(relations_end(&io), 0);
	assert_int_equal(came.num, 0);
	assert_non_null(strstr(came.warnings, "1 calls were not used, because several spans"));
	assert_non_null(strstr(came.warnings, "None of the 1 spans of clients"));
}

/* A producer starts before its consumers; their ends have no order. */
static void test_queues(void **state)
{
	(void)state;
	add_nested_parts(NETSYNC_IO_QUEUE, NETSYNC_IO_STARTS_FIRST, NETSYNC_IO_STARTS_LAST);
	assert_int_equal(came.num, 2);
	for (uint32_t host = 1; host < 3; host++) {
		assert_int_equal(find_message(0, host)->send_ns, 100);
		assert_int_equal(find_message(0, host)->recv_ns, 100 + 20 * host);
	}
}

/*
 * A host whose ranks have different clocks is not the centre, so that only its own messages are
 * wrong; it is reported.
 */
static void test_unordered_host(void **state)
{
	(void)state;
	memset(&came, 0, sizeof(came));
	for (uint32_t rank = 0; rank < 6; rank++) {
		struct span_part part = make_part(1, rank, 6);

		part.start_ns = rank == 3 ? 500 : 100;
		part.end_ns = rank == 3 ? 600 : 200 + rank / 2;
		add_part(rank / 2, &part);
	}
	assert_int_equal(came.num, 4);
	assert_non_null(find_message(0, 2));
	assert_non_null(find_message(2, 0));
	assert_int_equal(relations_end(&io), 0);
	assert_non_null(strstr(came.warnings, "In 1 collective operations, ranks of one host end"));
}

/* Operations of different runs, whose times cannot match, are reported. */
static void test_operations_of_other_runs(void **state)
{
	(void)state;
	for (int64_t apart_ns = 59 * SEC; apart_ns < 62 * SEC; apart_ns += 2 * SEC) {
		memset(&came, 0, sizeof(came));
		for (uint32_t rank = 0; rank < 2; rank++) {
			struct span_part part = make_part(1, rank, 2);

			part.start_ns = rank * (apart_ns + 100);
			part.end_ns = part.start_ns + 100;
			add_part(rank, &part);
		}
		assert_int_equal(came.num, 2);
		assert_int_equal(relations_end(&io), 0);
		assert_int_equal(strstr(came.warnings, "more than a minute after") != NULL,
				 apart_ns > 60 * SEC);
	}
}

/* A relation in which a member has two parts is not used, even if it seems complete. */
static void test_repeated_member(void **state)
{
	static const uint32_t members[] = { 0, 1, 0, 2 };

	(void)state;
	memset(&came, 0, sizeof(came));
	for (uint64_t key = 0; key < 2; key++)
		for (uint32_t i = 0; i < 3 + key; i++) {
			const struct span_part part = make_part(key, members[i], 3);

			add_part(i, &part);
		}
	assert_int_equal(relations_end(&io), 0);
	assert_int_equal(came.total, 0);
	assert_non_null(strstr(came.warnings, "2 collective operations were not used"));
	assert_null(strstr(came.warnings, "lack"));
}

/* Relations that are never complete are used when too many wait, the oldest first. */
static void test_limit_of_incomplete_relations(void **state)
{
	const uint64_t num = 600000;

	(void)state;
	memset(&came, 0, sizeof(came));
	for (uint64_t key = 0; key < num; key++)
		for (uint32_t rank = 0; rank < 2; rank++) {
			const struct span_part part = make_part(key, rank, 3);

			add_part(rank, &part);
		}
	/* The limit is half a million spans. */
	assert_true(came.total > 600000 && came.total < 2 * num);
	assert_int_equal(relations_end(&io), 0);
	assert_int_equal(came.total, 2 * num);
	assert_non_null(strstr(came.warnings, "600000 of 600000 collective operations lack"));
	assert_non_null(strstr(came.warnings, "with 2 of 3 ranks"));
	assert_non_null(strstr(came.warnings, "waited for those of other ranks"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decimal_times),
		cmocka_unit_test(test_messages_of_relations),
		cmocka_unit_test(test_operations_with_root),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_retries),
		cmocka_unit_test(test_asynchronous_calls),
		cmocka_unit_test(test_bad_calls),
		cmocka_unit_test(test_queues),
		cmocka_unit_test(test_unordered_host),
		cmocka_unit_test(test_operations_of_other_runs),
		cmocka_unit_test(test_repeated_member),
		cmocka_unit_test(test_limit_of_incomplete_relations),
	};

	return cmocka_run_group_tests_name("spans", tests, NULL, NULL);
}
