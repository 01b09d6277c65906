// SPDX-License-Identifier: GPL-2.0-only
/*
 * netsync-recorder: the headers of all packets that a machine sends and receives -> a capture.
 * It needs the kernel and nothing else, so that it runs on any machine that it is copied to.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/if_ether.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netsync.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cut.h"
#include "pcapng.h"
#include "ring.h"

#define PROGRAM "netsync-recorder"
/* How often to look for the end and to write what is collected, ms. Chosen. */
#define TURN_MS 200
/* The kernel hands over the last block after 100 ms (ring.c). */
#define LAST_TURNS 2
#define DEFAULT_RING (32u << 20)
#define LARGEST_RING (1u << 30)
/* Devices with numbers of their own; frames of more are not recorded, which is reported. */
#define MOST_DEVICES 4096
/* Bytes of a tag of a virtual LAN (IEEE 802.1Q), and where it is in an Ethernet frame. */
#define TAG_LENGTH 4
#define TAG_AT 12

/* A device that had frames. */
struct recorded_device {
	int index;
	uint32_t number;	/* in the capture */
	uint16_t linktype;
};

struct recorder {
	struct socket_ring ring;
	struct capture_writer writer;
	size_t payload;
	bool with_loopback;
	struct recorded_device device[MOST_DEVICES];
	size_t num_devices;
	uint64_t unrecorded;
};

static volatile sig_atomic_t is_ended;

static void end_recording(int signal)
{
	(void)signal;
	is_ended = 1;
}

__attribute__((format(printf, 1, 2))) static void complain_of(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs(PROGRAM ": ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
}

/* ---- devices ----------------------------------------------------------------- */

/* Describe a device in the capture. */
static uint32_t describe_device(struct recorder *r, int index, uint16_t linktype)
{
	struct ifreq request = { .ifr_ifindex = index };
	const uint8_t *mac = NULL;

	if (ioctl(r->ring.fd, SIOCGIFNAME, &request))
		snprintf(request.ifr_name, sizeof(request.ifr_name), "if%d", index);
	else if (linktype == LINKTYPE_ETHERNET && !ioctl(r->ring.fd, SIOCGIFHWADDR, &request))
		mac = (const uint8_t *)request.ifr_hwaddr.sa_data;
	return capture_put_interface(&r->writer, request.ifr_name, linktype, mac);
}

/* The number of a device in the capture, or negative: there are too many. */
static int64_t number_device(struct recorder *r, int index, uint16_t linktype)
{
	size_t i = 0;

	while (i < r->num_devices && (r->device[i].index != index ||
				      r->device[i].linktype != linktype))
		i++;
	if (i == MOST_DEVICES)
		return -1;
	if (i == r->num_devices)
		r->device[r->num_devices++] = (struct recorded_device){
			index, describe_device(r, index, linktype), linktype
		};
	return r->device[i].number;
}

/* ---- frames ------------------------------------------------------------------ */

static uint32_t flags_of(const struct sockaddr_ll *from)
{
	switch (from->sll_pkttype) {
	case PACKET_OUTGOING:
		return FLAG_OUTBOUND;
	case PACKET_HOST:
		return FLAG_INBOUND | FLAG_UNICAST;
	case PACKET_MULTICAST:
		return FLAG_INBOUND | FLAG_MULTICAST;
	case PACKET_BROADCAST:
		return FLAG_INBOUND | FLAG_BROADCAST;
	default:
		return FLAG_INBOUND | FLAG_PROMISCUOUS;
	}
}

/* The tag that the kernel took out of the frame, as it was on the link; or false. */
static bool find_tag(const struct tpacket3_hdr *header, uint8_t tag[TAG_LENGTH])
{
	uint16_t words[2];

	if (!(header->tp_status & TP_STATUS_VLAN_VALID))
		return false;
	words[0] = htons(header->tp_status & TP_STATUS_VLAN_TPID_VALID ?
			 header->hv1.tp_vlan_tpid : ETH_P_8021Q);
	words[1] = htons((uint16_t)header->hv1.tp_vlan_tci);
	memcpy(tag, words, TAG_LENGTH);
	return true;
}

/*
 * The length of an Ethernet header with the tags that are in it, and the type behind these. What
 * the kernel says of both differs for frames that a program made.
 */
static size_t measure_ethernet(const struct ring_frame *frame, uint16_t *protocol)
{
	size_t type_at = TAG_AT;

	*protocol = 0;
	while (type_at + 2 <= frame->captured) {
		*protocol = (uint16_t)(frame->link[type_at] << 8 | frame->link[type_at + 1]);
		if (*protocol != ETH_P_8021Q && *protocol != ETH_P_8021AD)
			break;
		type_at += TAG_LENGTH;
	}
	return type_at + 2;
}

static void record_frame(void *data, const struct ring_frame *frame)
{
	struct recorder *r = data;
	const uint16_t type = frame->from->sll_hatype;
	const bool is_ethernet = type == ARPHRD_ETHER || type == ARPHRD_LOOPBACK;
	uint16_t protocol = ntohs(frame->from->sll_protocol);
	struct recorded_frame kept = {
		.flags = flags_of(frame->from),
		.time_ns = (uint64_t)frame->header->tp_sec * 1000000000 + frame->header->tp_nsec,
		.original = frame->header->tp_len,
		.head = frame->link,
	};
	const size_t link = is_ethernet ? measure_ethernet(frame, &protocol) : 0;
	int64_t number;
	uint8_t tagged[TAG_AT + TAG_LENGTH];

	if (type == ARPHRD_LOOPBACK && !r->with_loopback)
		return;
	/* Frames of other links begin with their network header. */
	if (!is_ethernet) {
		if (frame->link_length > frame->captured ||
		    (protocol != ETH_P_IP && protocol != ETH_P_IPV6))
			return;
		kept.head += frame->link_length;
		kept.original -= (uint32_t)frame->link_length;
	}
	kept.kept = (uint32_t)count_kept_bytes(kept.head, frame->captured -
					       (size_t)(kept.head - frame->link),
					       link, protocol, r->payload);
	kept.split = kept.kept;
	number = number_device(r, frame->from->sll_ifindex,
			       is_ethernet ? LINKTYPE_ETHERNET : LINKTYPE_RAW);
	if (number < 0) {
		r->unrecorded++;
		return;
	}
	if (is_ethernet && kept.kept >= TAG_AT && find_tag(frame->header, tagged + TAG_AT)) {
		memcpy(tagged, frame->link, TAG_AT);
		kept.head = tagged;
		kept.split = sizeof(tagged);
		kept.tail = frame->link + TAG_AT;
		kept.kept += TAG_LENGTH;
		kept.original += TAG_LENGTH;
	}
	kept.interface = (uint32_t)number;
	capture_put_frame(&r->writer, &kept);
}

/* ---- recording --------------------------------------------------------------- */

static uint64_t read_clock_time(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Until a signal comes, @duration_ns is over (0: never), or writing fails. */
static int record_frames(struct recorder *r, uint64_t duration_ns, const sigset_t *mask)
{
	const uint64_t begin = read_clock_time(CLOCK_MONOTONIC);
	int ret = 0;

	while (ret >= 0 && !is_ended &&
	       (!duration_ns || read_clock_time(CLOCK_MONOTONIC) - begin < duration_ns)) {
		ret = ring_take_block(&r->ring, TURN_MS, mask, record_frame, r);
		if (!capture_flush(&r->writer))
			break;
	}
	ring_stop(&r->ring);
	/* What the kernel holds. */
	for (int turns = 0; ret >= 0 && turns < LAST_TURNS && !r->writer.error;) {
		ret = ring_take_block(&r->ring, TURN_MS, NULL, record_frame, r);
		turns += ret == 0;
	}
	ring_update_counts(&r->ring);
	capture_put_counts(&r->writer, read_clock_time(CLOCK_REALTIME), r->ring.received,
			   r->ring.dropped);
	capture_flush(&r->writer);
	return ret < 0 ? ret : 0;
}

/* Signals end the recording; while frames are taken they are blocked. *before: as they were. */
static void catch_ending_signals(sigset_t *before)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
	const struct sigaction action = { .sa_handler = end_recording };
	sigset_t blocked;

	sigemptyset(&blocked);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++) {
		sigaction(ending[i], &action, NULL);
		sigaddset(&blocked, ending[i]);
	}
	sigprocmask(SIG_BLOCK, &blocked, before);
	signal(SIGPIPE, SIG_IGN);
}

static void begin_capture(struct recorder *r)
{
	struct utsname machine;
	char system[sizeof(machine.sysname) + sizeof(machine.release) +
		    sizeof(machine.machine) + 3];
	char host[sizeof(machine.nodename) + 8];

	uname(&machine);
	snprintf(system, sizeof(system), "%s %s %s", machine.sysname, machine.release,
		 machine.machine);
	snprintf(host, sizeof(host), "host %s", machine.nodename);
	capture_begin(&r->writer, PROGRAM " " NETSYNC_VERSION, system, host);
	capture_flush(&r->writer);
}

/* ---- the command line -------------------------------------------------------- */

struct recorder_options {
	const char *output;
	const char *device;
	double duration_s;
	size_t ring;
	size_t payload;
	bool force;
	bool with_loopback;
	struct unwanted_connection unwanted;
};

static const char USAGE[] =
	"Usage: netsync-recorder [OPTION...]\n"
	"\n"
	"Record the headers of all packets that this machine sends and receives, in a pcapng\n"
	"file for netsync, Wireshark and tcpdump, until ^C. The payload of packets is not\n"
	"recorded. This needs root, or CAP_NET_RAW.\n"
	"\n"
	"  -o, --output FILE      write to FILE (default: standard output)\n"
	"      --force            overwrite FILE if it exists\n"
	"  -i, --interface NAME   record the packets of one network interface (default: all)\n"
	"      --loopback         also record the packets of loopback interfaces\n"
	"      --payload BYTES    also record BYTES of the payload of each packet, at most 256;\n"
	"                         64 help to match UDP packets\n"
	"      --buffer MIB       use so much memory for packets not yet written (default 32)\n"
	"  -d, --duration S       end after S seconds\n"
	"      --without A:B      skip TCP packets between the ports A and B, such as those of\n"
	"                         the connection that the capture is sent by; an ssh connection\n"
	"                         that started this program is found automatically\n"
	"  -h, --help             print this text\n"
	"  -V, --version          print the version\n";

enum { NO_LETTER = 256, FORCE, LOOPBACK, PAYLOAD, BUFFER, WITHOUT };

static const struct option OPTIONS[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "force", no_argument, NULL, FORCE },
	{ "interface", required_argument, NULL, 'i' },
	{ "loopback", no_argument, NULL, LOOPBACK },
	{ "payload", required_argument, NULL, PAYLOAD },
	{ "buffer", required_argument, NULL, BUFFER },
	{ "duration", required_argument, NULL, 'd' },
	{ "without", required_argument, NULL, WITHOUT },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

/* A whole number from @least to @most. */
static bool parse_whole(const char *text, unsigned long least, unsigned long most,
			unsigned long *number)
{
	char *end;

	errno = 0;
	*number = strtoul(text, &end, 10);
	return !errno && *text >= '0' && *text <= '9' && !*end && *number >= least &&
	       *number <= most;
}

static bool parse_ports(const char *text, struct unwanted_connection *unwanted)
{
	int end = 0;

	return sscanf(text, "%hu:%hu%n", &unwanted->port[0], &unwanted->port[1], &end) == 2 &&
	       !text[end];
}

/* sshd says whose connection it is: "CLIENT PORT SERVER PORT". */
static void find_own_connection(struct unwanted_connection *unwanted)
{
	const char *text = getenv("SSH_CONNECTION");

	if (!text || sscanf(text, "%*s %hu %*s %hu", &unwanted->port[0],
			    &unwanted->port[1]) != 2)
		*unwanted = (struct unwanted_connection){ { 0, 0 } };
}

static bool take_option(struct recorder_options *o, int option, const char *value)
{
	unsigned long number = 0;
	char *end;

	switch (option) {
	case 'o':
		o->output = value;
		return true;
	case FORCE:
		return o->force = true;
	case 'i':
		o->device = value;
		return true;
	case LOOPBACK:
		return o->with_loopback = true;
	case PAYLOAD:
		if (!parse_whole(value, 0, 256, &number))
			complain_of("--payload %s: give a number of bytes from 0 to 256.", value);
		else
			o->payload = number;
		return o->payload == number;
	case BUFFER:
		if (!parse_whole(value, 1, LARGEST_RING >> 20, &number)) {
			complain_of("--buffer %s: give a number of MiB from 1 to %u.", value,
				    LARGEST_RING >> 20);
			return false;
		}
		o->ring = number << 20;
		return true;
	case 'd':
		o->duration_s = strtod(value, &end);
		if (end != value && !*end && o->duration_s > 0 && o->duration_s < 1e9)
			return true;
		complain_of("--duration %s: give a number of seconds, such as 10.", value);
		return false;
	case WITHOUT:
		if (parse_ports(value, &o->unwanted))
			return true;
		complain_of("--without %s: give two port numbers, such as 22:50123.", value);
		return false;
	default:
		fputs("\"" PROGRAM " --help\" lists the options.\n", stderr);
		return false;
	}
}

static int open_recording(const struct recorder_options *o)
{
	int fd;

	if (!o->output) {
		if (!isatty(STDOUT_FILENO))
			return STDOUT_FILENO;
		complain_of("A terminal cannot display a capture: give --output FILE, or a pipe.");
		return -1;
	}
	fd = open(o->output, O_WRONLY | O_CREAT | O_CLOEXEC | (o->force ? O_TRUNC : O_EXCL),
		  0600);
	if (fd < 0 && errno == EEXIST)
		complain_of("%s: the file exists; give --force to overwrite it.", o->output);
	else if (fd < 0)
		complain_of("%s: %s.", o->output, strerror(errno));
	return fd;
}

static void explain_open(int error, const char *what)
{
	if (error == -EPERM || error == -EACCES)
		complain_of("%s is not permitted: run this as root, or with CAP_NET_RAW.", what);
	else if (error == -ENOMEM)
		complain_of("%s: there is no memory; give a smaller --buffer.", what);
	else
		complain_of("%s: %s.", what, strerror(-error));
}

static int record_to(struct recorder *r, const struct recorder_options *o, int device)
{
	const char *what;
	sigset_t before;
	int ret;

	ret = ring_open(&r->ring, o->ring, device, &o->unwanted, &what);
	if (ret) {
		explain_open(ret, what);
		return 1;
	}
	r->writer.fd = open_recording(o);
	if (r->writer.fd < 0) {
		ring_close(&r->ring);
		return 1;
	}
	catch_ending_signals(&before);
	begin_capture(r);
	ret = record_frames(r, (uint64_t)(o->duration_s * 1e9), &before);
	ring_close(&r->ring);
	if (ret)
		complain_of("receiving packets: %s.", strerror(-ret));
	if (r->writer.error)
		complain_of("%s: %s; the capture ends before the recording did.",
			    o->output ? o->output : "standard output",
			    strerror(r->writer.error));
	if (r->ring.dropped)
		complain_of("%llu of %llu packets were lost, as they were not written in time: give a larger --buffer.",
			    (unsigned long long)r->ring.dropped,
			    (unsigned long long)r->ring.received);
	if (r->unrecorded)
		complain_of("%llu packets of more than %d interfaces were not recorded.",
			    (unsigned long long)r->unrecorded, MOST_DEVICES);
	return ret || r->writer.error ? 1 : r->ring.dropped || r->unrecorded ? 2 : 0;
}

int main(int argc, char **argv)
{
	static struct recorder r;
	struct recorder_options o = { .ring = DEFAULT_RING };
	int option, device = 0;

	find_own_connection(&o.unwanted);
	while ((option = getopt_long(argc, argv, "o:i:d:hV", OPTIONS, NULL)) >= 0) {
		if (option == 'h' || option == 'V') {
			fputs(option == 'h' ? USAGE : PROGRAM " " NETSYNC_VERSION "\n", stdout);
			return 0;
		}
		if (!take_option(&o, option, optarg))
			return 1;
	}
	if (optind < argc) {
		complain_of("%s: this program takes options only.", argv[optind]);
		return 1;
	}
	if (o.device) {
		device = (int)if_nametoindex(o.device);
		if (!device) {
			complain_of("%s: there is no such network interface.", o.device);
			return 1;
		}
	}
	r.payload = o.payload;
	/* Whoever names the interface wants it. */
	r.with_loopback = o.with_loopback || device;
	return record_to(&r, &o, device);
}
