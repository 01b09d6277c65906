// SPDX-License-Identifier: GPL-2.0-only
/*
 * A simulated host with netsync-recorder, for netsync record --rsh. Usage:
 *
 *	simulated HOST HOSTS RATE /bin/sh	HOST is 0, 1, ...
 *
 * It answers as the shell of a host does, drops the program that it receives, and writes a capture
 * of RATE packets per second and clock readings, five and ten times per second. Host I pings hosts
 * 2 I and 2 I + 1, modulo HOSTS (a de Bruijn graph): each host talks to four others, and a few links
 * lead from any host to any other, as in a fleet of services. Clocks differ by 1 ms from host to host.
 */
#include <arpa/inet.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "recorder/pcapng.h"

#define NS_PER_S UINT64_C(1000000000)
#define TURN_NS (NS_PER_S / 5)
#define CLOCK_STEP_NS 1000000 /* difference of the clocks of two neighbours */
/* Least delay, and mean of a further delay that has an exponential distribution, ns. */
#define LEAST_DELAY_NS 50000
#define MEAN_DELAY_NS 100000
#define ANSWER_NS 20000 /* time between request and reply */
#define LINK_ETHERNET 1
#define FRAME_SIZE 98
#define LINKS 4 /* of a host */

static struct capture_writer writer;
static uint32_t host, hosts, rate;

static uint64_t read_true_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Return a delay that both hosts of a link compute equally (splitmix64). */
static uint64_t compute_delay(uint32_t link, uint64_t number, bool is_reply)
{
	uint64_t x = (((uint64_t)link << 40) ^ (number << 1) ^ is_reply) + 0x9e3779b97f4a7c15;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return LEAST_DELAY_NS - (uint64_t)(MEAN_DELAY_NS * log(((double)(x >> 32) + 1) / 0x1p32));
}

static void put_ping(uint32_t link, uint64_t number, bool is_reply, bool is_out, uint64_t true_ns)
{
	const uint32_t ends[2] = { link / 2, link % hosts };
	const uint32_t from = htonl(0x0a000000 + ends[is_reply]);
	const uint32_t to = htonl(0x0a000000 + ends[!is_reply]);
	uint8_t frame[FRAME_SIZE] = { 2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0, 0, 84 };
	const uint16_t id = htons((uint16_t)link), seq = htons((uint16_t)number);

	frame[22] = 64;
	frame[23] = 1;
	memcpy(frame + 18, &seq, sizeof(seq));
	memcpy(frame + 26, &from, sizeof(from));
	memcpy(frame + 30, &to, sizeof(to));
	frame[34] = is_reply ? 0 : 8;
	memcpy(frame + 38, &id, sizeof(id));
	memcpy(frame + 40, &seq, sizeof(seq));
	memcpy(frame + 42, &number, sizeof(number));
	capture_put_frame(&writer, &(struct recorded_frame){
					   .flags = FLAG_UNICAST | (is_out ? FLAG_OUTBOUND : 1),
					   .time_ns = true_ns + (uint64_t)host * CLOCK_STEP_NS,
					   .original = FRAME_SIZE,
					   .kept = FRAME_SIZE,
					   .head = frame,
					   .split = FRAME_SIZE,
				   });
}

/* Put the packets of a ping that this host sees. The links of a host are used one after the other. */
static void put_exchange(uint32_t link, uint64_t number, uint64_t period_ns)
{
	const uint64_t sent_ns = number * period_ns + link % LINKS * period_ns / LINKS;
	const bool is_client = host == link / 2;
	const uint64_t there_ns = sent_ns + compute_delay(link, number, false);
	const uint64_t back_ns = there_ns + ANSWER_NS + compute_delay(link, number, true);

	put_ping(link, number, false, is_client, is_client ? sent_ns : there_ns);
	put_ping(link, number, true, !is_client, is_client ? back_ns : there_ns + ANSWER_NS);
}

static void put_clock_reading(uint64_t true_ns)
{
	dprintf(STDERR_FILENO, "netsync-clocks %llu %llu 50\n",
		(unsigned long long)(true_ns + (uint64_t)host * CLOCK_STEP_NS),
		(unsigned long long)(true_ns % (NS_PER_S * 100000000)));
}

/* Wait for input. Return false at its end. */
static bool wait_for_input(uint64_t until_ns)
{
	struct pollfd in = { STDIN_FILENO, POLLIN, 0 };
	uint64_t now_ns;
	char bytes[4096];

	while ((now_ns = read_true_time()) < until_ns)
		if (poll(&in, 1, (int)((until_ns - now_ns) / 1000000) + 1) > 0 &&
		    read(STDIN_FILENO, bytes, sizeof(bytes)) <= 0)
			return false;
	return true;
}

static void record_pings(void)
{
	const uint32_t links[LINKS] = { 2 * host, 2 * host + 1, host, host + hosts };
	/* A host sees two packets of each of its links in each period. */
	const uint64_t period_ns = 2 * LINKS * NS_PER_S / rate;
	uint64_t done = read_true_time() / period_ns, received = 0;
	bool goes_on = true;

	while (goes_on && !writer.error) {
		const uint64_t now_ns = read_true_time();

		put_clock_reading(now_ns);
		/* The last replies must have arrived. */
		for (; (done + 1) * period_ns < now_ns; done++)
			for (int i = 0; i < LINKS; i++, received += 2)
				if (links[i] / 2 != links[i] % hosts)
					put_exchange(links[i], done, period_ns);
		capture_flush(&writer);
		goes_on = wait_for_input(now_ns + TURN_NS / 2);
		put_clock_reading(read_true_time());
		goes_on = goes_on && wait_for_input(now_ns + TURN_NS);
	}
	capture_put_counts(&writer, read_true_time(), received, 0);
	capture_flush(&writer);
}

/* Skip the script, which ends with a brace. */
static void skip_script(void)
{
	char last[2] = "", c;

	while (read(STDIN_FILENO, &c, 1) == 1 &&
	       !(last[0] == '\n' && last[1] == '}' && c == '\n')) {
		last[0] = last[1];
		last[1] = c;
	}
}

static void skip_program(void)
{
	char line[128], bytes[65536];
	size_t size, len = 0;
	ssize_t got;

	while (len < sizeof(line) - 1 && read(STDIN_FILENO, line + len, 1) == 1 &&
	       line[len++] != '\n')
		;
	line[len] = '\0';
	size = strtoul(line, NULL, 10);
	while (size &&
	       (got = read(STDIN_FILENO, bytes, size < sizeof(bytes) ? size : sizeof(bytes))) > 0)
		size -= (size_t)got;
}

int main(int argc, char **argv)
{
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 1 };
	struct utsname machine;

	if (argc < 4)
		return 1;
	host = (uint32_t)strtoul(argv[1], NULL, 10);
	hosts = (uint32_t)strtoul(argv[2], NULL, 10);
	rate = (uint32_t)strtoul(argv[3], NULL, 10);
	uname(&machine);
	skip_script();
	dprintf(STDOUT_FILENO, "netsync %s exec\n", machine.machine);
	skip_program();
	put_clock_reading(read_true_time());
	writer.fd = STDOUT_FILENO;
	capture_begin(&writer, "netsync-recorder --via packet --sampling 0", "simulated",
		      "simulated");
	capture_put_interface(&writer, "eth0", "device 2 in network namespace 1", LINK_ETHERNET,
			      mac);
	capture_flush(&writer);
	record_pings();
	return writer.error ? 1 : 0;
}
