// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: events [-k] < TEXT
 *
 * Print a line for every netsync event in what ftrace, trace-cmd or
 * babeltrace2 print: the segment, see segment.h; with -k the socket instead.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "segment.h"

/* The text behind "NAME=" or "NAME = ". */
static const char *find(const char *line, const char *name)
{
	size_t len = strlen(name);
	const char *p;

	for (p = line; (p = strstr(p, name)); p += len) {
		const char *value = p + len;

		if (p[-1] != ' ')
			continue;
		value += strspn(value, " ");
		if (*value == '=')
			return value + 1 + strspn(value + 1, " ");
	}
	fprintf(stderr, "events: no field %s in: %s", name, line);
	exit(1);
}

static uint64_t number(const char *line, const char *name)
{
	return strtoull(find(line, name), NULL, 0);
}

/* "::ffff:10.0.0.1" or "[ [0] = 0, [1] = 0, ... ]". */
static void address(const char *line, const char *name, uint8_t *addr)
{
	const char *p = find(line, name);
	char text[INET6_ADDRSTRLEN] = "";
	int i;

	if (*p != '[') {
		memcpy(text, p, strcspn(p, " \n") % sizeof(text));
		if (inet_pton(AF_INET6, text, addr) == 1)
			return;
		fprintf(stderr, "events: bad address %s in: %s", name, line);
		exit(1);
	}
	for (i = 0; i < 16; i++) {
		p = strstr(p, "] =") + 3;
		addr[i] = strtoul(p, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	int sockets = argc > 1 && !strcmp(argv[1], "-k");
	static char line[4096];

	while (fgets(line, sizeof(line), stdin)) {
		const char *p = strstr(line, " inet_sock_local_");
		struct segment seg;

		if (!p)
			continue;
		p += strlen(" inet_sock_local_");
		seg.dir = *p == 'i' ? "in" : "out";
		seg.netns = number(p, "netns");
		seg.family = number(p, "family");
		seg.seq = number(p, "seq");
		seg.ack_seq = number(p, "ack_seq");
		seg.check = number(p, "check");
		seg.window = number(p, "window");
		seg.flags = number(p, "flags");
		address(p, "saddr", seg.saddr);
		address(p, "daddr", seg.daddr);
		seg.sport = number(p, "sport");
		seg.dport = number(p, "dport");
		seg.id = number(p, "id");
		seg.len = number(p, "len");
		seg.gso_size = number(p, "gso_size");
		seg.gso_segs = number(p, "gso_segs");
		seg.has_ts = number(p, "has_ts");
		seg.tsval = number(p, "tsval");
		seg.tsecr = number(p, "tsecr");
		/* A packet that is not to be split says 0 or 1; it is one. */
		if (!seg.gso_size && seg.gso_segs == 0)
			seg.gso_segs = 1;
		if (sockets)
			printf("%s netns=%" PRIu32 " port=%u flags=%04x len=%"
			       PRIu32 " sk=%" PRIx64 "\n",
			       seg.dir, seg.netns,
			       seg.dir[0] == 'i' ? seg.dport : seg.sport,
			       seg.flags, seg.len, number(p, "sk"));
		else
			segment_print(&seg);
	}
	return 0;
}
