// SPDX-License-Identifier: GPL-2.0-only
/* The command line of netsync-recorder. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/magic.h>
#include <netsync.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "containers.h"
#include "options.h"

#define DEFAULT_BUFFER (32u << 20)
#define LARGEST_BUFFER (1u << 30)
#define LARGEST_PAYLOAD 256
/* Longest silence that can be specified, s. Chosen to be a day. */
#define LONGEST_SILENCE 86400

static const char USAGE[] =
	"Usage: netsync-recorder [OPTION...]\n"
	"\n"
	"Record the headers of all packets that this machine sends and receives, in a pcapng\n"
	"file for netsync, Wireshark and tcpdump, until ^C. By default, the payload of packets\n"
	"is not recorded. Root or capabilities are required.\n"
	"\n"
	"  -o, --output FILE      write to FILE (default: standard output)\n"
	"      --force            overwrite files that exist\n"
	"      --clock-log FILE   write to FILE how the clock is steered, for \"netsync sync\n"
	"                         --clocks FILE\"; -: to standard error\n"
	"      --via SOURCE       record with netsync's kernel module (module) or with BPF (bpf),\n"
	"                         which record all network namespaces, or with a packet socket\n"
	"                         (packet); default: the first one of these that works\n"
	"  -i, --interface NAME   record the packets of one network interface (default: all)\n"
	"      --container NAME   record the container NAME, which is a name, an ID, the\n"
	"                         beginning of an ID, or the PID of a process\n"
	"      --pod NAME         record the pod NAME of Kubernetes or Podman\n"
	"      --loopback         also record the packets of loopback interfaces\n"
	"      --payload BYTES    also record the first BYTES bytes of each payload, at most 256;\n"
	"                         64 bytes help to match UDP packets\n"
	"      --buffer MIB       use MIB MiB of memory for packets not yet written (default 32)\n"
	"      --costs            at the end, print the costs of recording to standard error\n"
	"  -d, --duration S       stop after S seconds\n"
	"      --until-eof        stop at the end of standard input, such as that of a connection\n"
	"      --until-silence S  stop if no data arrives on standard input for S seconds\n"
	"      --without A:B      skip TCP packets between the ports A and B, such as the\n"
	"                         connection through which the capture is sent (default: the\n"
	"                         ssh connection that started this program)\n"
	"  -h, --help             print this text\n"
	"  -V, --version          print the version\n"
	"\n"
	"With the module or BPF only:\n"
	"      --port PORT        record packets from or to PORT; repeat for more ports\n"
	"      --host ADDRESS     record packets from or to ADDRESS; repeat for more addresses\n"
	"\n"
	"With BPF only:\n"
	"      --cgroup FOLDER    record the packets of the control group at FOLDER, such as\n"
	"                         /sys/fs/cgroup/system.slice/nginx.service\n"
	"      --sampling N       record one of 2^N packets, the same packets on all hosts\n";

enum {
	NO_LETTER = 256,
	FORCE,
	CLOCK_LOG,
	COSTS,
	VIA,
	LOOPBACK,
	PAYLOAD,
	BUFFER,
	UNTIL_EOF,
	UNTIL_SILENCE,
	WITHOUT,
	PORT,
	HOST,
	CONTAINER,
	POD,
	CGROUP,
	SAMPLING
};

static const struct option OPTIONS[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "force", no_argument, NULL, FORCE },
	{ "clock-log", required_argument, NULL, CLOCK_LOG },
	{ "costs", no_argument, NULL, COSTS },
	{ "via", required_argument, NULL, VIA },
	{ "interface", required_argument, NULL, 'i' },
	{ "loopback", no_argument, NULL, LOOPBACK },
	{ "payload", required_argument, NULL, PAYLOAD },
	{ "buffer", required_argument, NULL, BUFFER },
	{ "duration", required_argument, NULL, 'd' },
	{ "until-eof", no_argument, NULL, UNTIL_EOF },
	{ "until-silence", required_argument, NULL, UNTIL_SILENCE },
	{ "without", required_argument, NULL, WITHOUT },
	{ "port", required_argument, NULL, PORT },
	{ "host", required_argument, NULL, HOST },
	{ "container", required_argument, NULL, CONTAINER },
	{ "pod", required_argument, NULL, POD },
	{ "cgroup", required_argument, NULL, CGROUP },
	{ "sampling", required_argument, NULL, SAMPLING },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

/* Return the inode number of the network namespace of this process, or 0 if it is unknown. */
static uint32_t read_own_namespace(void)
{
	return (uint32_t)read_namespace_inode(AT_FDCWD, "/proc/self/ns/net");
}

/* ---- values ------------------------------------------------------------------ */

/* Parse a whole number from @least to @most. */
static bool parse_whole_number(const char *text, unsigned long least, unsigned long most,
			       unsigned long *number)
{
	char *end;

	errno = 0;
	*number = strtoul(text, &end, 10);
	return !errno && *text >= '0' && *text <= '9' && !*end && *number >= least &&
	       *number <= most;
}

static bool parse_ports(const char *text, uint16_t unwanted[2])
{
	int end = 0;

	return sscanf(text, "%hu:%hu%n", &unwanted[0], &unwanted[1], &end) == 2 && !text[end];
}

/* sshd reports the connection in the form "CLIENT PORT SERVER PORT". */
static void find_own_connection(uint16_t unwanted[2])
{
	const char *text = getenv("SSH_CONNECTION");

	if (!text || sscanf(text, "%*s %hu %*s %hu", &unwanted[0], &unwanted[1]) != 2)
		unwanted[0] = unwanted[1] = 0;
}

static bool parse_payload_option(struct packet_selection *s, const char *value)
{
	unsigned long number;

	if (!parse_whole_number(value, 0, LARGEST_PAYLOAD, &number)) {
		complain_formatted("--payload %s: give a number of bytes from 0 to 256.", value);
		return false;
	}
	s->payload = number;
	return true;
}

static bool parse_buffer_option(struct packet_selection *s, const char *value)
{
	unsigned long number;

	if (!parse_whole_number(value, 1, LARGEST_BUFFER >> 20, &number)) {
		complain_formatted("--buffer %s: give a number of MiB from 1 to %u.", value,
				   LARGEST_BUFFER >> 20);
		return false;
	}
	s->buffer = number << 20;
	return true;
}

static bool parse_port_option(struct packet_selection *s, const char *value)
{
	unsigned long number;

	if (!parse_whole_number(value, 1, UINT16_MAX, &number)) {
		complain_formatted("--port %s: give a port number from 1 to 65535.", value);
		return false;
	}
	if (s->num_ports == MOST_WANTED) {
		complain_formatted("--port %s: give at most %d ports.", value, MOST_WANTED);
		return false;
	}
	s->port[s->num_ports++] = (uint16_t)number;
	return true;
}

static bool parse_host_option(struct packet_selection *s, const char *value)
{
	uint8_t address[16] = { 0 };

	if (s->num_addresses == MOST_WANTED) {
		complain_formatted("--host %s: give at most %d addresses.", value, MOST_WANTED);
		return false;
	}
	if (inet_pton(AF_INET, value, address + 12) == 1) {
		address[10] = address[11] = 0xff;
	} else if (inet_pton(AF_INET6, value, address) != 1) {
		complain_formatted("--host %s: give an IPv4 or IPv6 address.", value);
		return false;
	}
	for (int i = 0; i < 4; i++) {
		uint32_t word;

		memcpy(&word, address + 4 * i, sizeof(word));
		s->address[s->num_addresses].words[i] = ntohl(word);
	}
	s->num_addresses++;
	return true;
}

/* Is the value the ID of a process? An ID of a container can consist of digits, too. */
static bool is_process_id(const char *value)
{
	unsigned long number;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%.20s", value);
	return parse_whole_number(value, 1, INT32_MAX, &number) && !access(path, F_OK);
}

static bool select_process(struct packet_selection *s, const char *value)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%.20s/ns/net", value);
	s->netns = (uint32_t)read_namespace_inode(AT_FDCWD, path);
	if (!s->netns) {
		complain_formatted("--container %s: %s: %s.", value, path, strerror(errno));
		return false;
	}
	s->process = (pid_t)strtol(value, NULL, 10);
	return true;
}

/* The inode number of a group's directory is the group's ID in the kernel. */
uint64_t find_cgroup_id(const char *path)
{
	struct statfs system;
	struct stat folder;

	if (statfs(path, &system) || system.f_type != CGROUP2_SUPER_MAGIC || stat(path, &folder) ||
	    !S_ISDIR(folder.st_mode))
		return 0;
	return folder.st_ino;
}

static bool parse_cgroup_option(struct packet_selection *s, const char *value)
{
	s->cgroup = find_cgroup_id(value);
	if (!s->cgroup)
		complain_formatted(
			"--cgroup %s: give the path of a version 2 control group, such as /sys/fs/cgroup/system.slice.",
			value);
	return s->cgroup;
}

static bool parse_sampling_option(struct packet_selection *s, const char *value)
{
	unsigned long number;

	if (!parse_whole_number(value, 0, MAX_SAMPLING, &number)) {
		complain_formatted("--sampling %s: give a number from 0 to %d.", value,
				   MAX_SAMPLING);
		return false;
	}
	s->sampling = (uint8_t)number;
	return true;
}

static bool parse_source_option(struct recorder_options *o, const char *value)
{
	for (int i = 0; i < NUM_SOURCES; i++)
		if (!strcmp(value, packet_sources[i]->name))
			o->via = packet_sources[i];
	if (!o->via)
		complain_formatted("--via %s: give module, bpf or packet.", value);
	return o->via;
}

static bool parse_seconds_to_record(struct recorder_options *o, const char *value)
{
	char *end;

	o->duration_s = strtod(value, &end);
	if (end != value && !*end && o->duration_s > 0 && o->duration_s < 1e9)
		return true;
	complain_formatted("--duration %s: give a number of seconds, such as 10.", value);
	return false;
}

static bool take_silence(struct recorder_options *o, const char *value)
{
	unsigned long number;

	if (!parse_whole_number(value, 1, LONGEST_SILENCE, &number)) {
		complain_formatted("--until-silence %s: give a number of seconds from 1 to %d.",
				   value, LONGEST_SILENCE);
		return false;
	}
	o->silence_s = (unsigned int)number;
	return true;
}

static bool parse_without_option(struct packet_selection *s, const char *value)
{
	if (parse_ports(value, s->unwanted))
		return true;
	complain_formatted("--without %s: give two port numbers, such as 22:50123.", value);
	return false;
}

/* ---- options ----------------------------------------------------------------- */

static bool parse_recorder_option(struct recorder_options *o, int option, const char *value)
{
	struct packet_selection *s = &o->selection;

	switch (option) {
	case 'o':
		o->output = value;
		return true;
	case FORCE:
		return o->force = true;
	case CLOCK_LOG:
		o->clock_log = value;
		return true;
	case COSTS:
		return o->costs = s->measures_programs = true;
	case VIA:
		return parse_source_option(o, value);
	case 'i':
		o->device = value;
		return true;
	case LOOPBACK:
		return s->with_loopback = true;
	case PAYLOAD:
		return parse_payload_option(s, value);
	case BUFFER:
		return parse_buffer_option(s, value);
	case 'd':
		return parse_seconds_to_record(o, value);
	case UNTIL_EOF:
		return o->until_eof = true;
	case UNTIL_SILENCE:
		return take_silence(o, value);
	case WITHOUT:
		return parse_without_option(s, value);
	case PORT:
		return parse_port_option(s, value);
	case HOST:
		return parse_host_option(s, value);
	case CONTAINER:
		o->container = value;
		return true;
	case POD:
		o->pod = value;
		return true;
	case CGROUP:
		return parse_cgroup_option(s, value);
	case SAMPLING:
		return parse_sampling_option(s, value);
	default:
		fputs("\"" PROGRAM " --help\" lists the options.\n", stderr);
		return false;
	}
}

static bool find_recorded_device(struct recorder_options *o)
{
	if (!o->device)
		return true;
	o->selection.device = (int)if_nametoindex(o->device);
	if (!o->selection.device) {
		complain_formatted("%s: there is no such network interface.", o->device);
		return false;
	}
	/*
	 * A user who specifies an interface wants its packets, even if it is the loopback
	 * interface.
	 */
	o->selection.with_loopback = true;
	o->selection.netns = read_own_namespace();
	return true;
}

static bool find_recorded_container(struct recorder_options *o)
{
	struct packet_selection *s = &o->selection;
	const uint64_t cgroup = s->cgroup;
	bool is_found = true;

	s->cgroup = 0;
	if (o->pod)
		is_found = select_container(s, "--pod", o->pod, true);
	else if (o->container && is_process_id(o->container))
		is_found = select_process(s, o->container);
	else if (o->container)
		is_found = select_container(s, "--container", o->container, false);
	if (cgroup) {
		/* The given group replaces that of the container. */
		s->cgroup = cgroup;
		s->is_shared = false;
	}
	return is_found;
}

/*
 * If the recorder runs in a network namespace other than the initial one, record only that
 * namespace, because the user entered it for that purpose. Only the initial namespace has this
 * setting, which any user can read.
 */
static void choose_namespace(struct packet_selection *s)
{
	if (!s->netns && access("/proc/sys/net/core/dev_weight", F_OK))
		s->netns = read_own_namespace();
}

int recorder_parse_options(struct recorder_options *o, int argc, char **argv)
{
	int option;

	*o = (struct recorder_options){ .selection.buffer = DEFAULT_BUFFER };
	find_own_connection(o->selection.unwanted);
	while ((option = getopt_long(argc, argv, "o:i:d:hV", OPTIONS, NULL)) >= 0) {
		if (option == 'h' || option == 'V') {
			fputs(option == 'h' ? USAGE : PROGRAM " " NETSYNC_VERSION "\n", stdout);
			return 0;
		}
		if (!parse_recorder_option(o, option, optarg))
			return 1;
	}
	if (optind < argc) {
		complain_formatted("%s: this program takes options only.", argv[optind]);
		return 1;
	}
	if (!!o->device + !!o->container + !!o->pod > 1) {
		complain_formatted("Give only one of --interface, --container and --pod.");
		return 1;
	}
	if (!find_recorded_device(o) || !find_recorded_container(o))
		return 1;
	choose_namespace(&o->selection);
	return -1;
}
