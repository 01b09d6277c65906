// SPDX-License-Identifier: GPL-2.0-only
/*
 * netsync doctor checks the machine, its kernel, virtualization, memory, disk and offloads, using
 * /proc, /sys, CPUID and the network devices.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

/* Must follow <net/if.h>, which has the same declarations. */
#include <linux/ethtool.h>
#include <linux/sockios.h>

#include "doctor.h"

#define MB (1 << 20)

/* ---- kernel ------------------------------------------------------------- */

void check_kernel(struct diagnosis *diag)
{
	struct utsname name;
	int major = 0, minor = 0;

	if (uname(&name)) {
		add_finding(diag, VERDICT_NOTE, "Cannot determine the kernel: %s.",
			    strerror(errno));
		return;
	}
	sscanf(name.release, "%d.%d", &major, &minor);
	if (major > 5 || (major == 5 && minor >= 10)) {
		add_finding(diag, VERDICT_GOOD, "%s %s, %s.", name.sysname, name.release,
			    name.machine);
		return;
	}
	add_finding(diag, VERDICT_NOTE, "%s %s, %s: the netsync modules need 5.10 or later.",
		    name.sysname, name.release, name.machine);
	set_advice(diag, "LTTng's own network events work, with larger error bounds.");
}

/* ---- machine ------------------------------------------------------------ */

#ifdef __x86_64__

/* Signatures of hypervisors in the CPUID instruction. */
static const struct {
	const char *signature;
	const char *name;
} hypervisors[] = {
	{ "KVMKVMKVM", "KVM" },	      { "TCGTCGTCGTCG", "QEMU, emulated" },
	{ "VMwareVMware", "VMware" }, { "Microsoft Hv", "Hyper-V" },
	{ "XenVMMXenVMM", "Xen" },    { "VBoxVBoxVBox", "VirtualBox" },
};

/*
 * Return the hypervisor that CPUID reports with bit 31 and twelve letters, or NULL if none is
 * reported.
 */
static const char *read_cpuid_hypervisor(void)
{
	static char signature[13];
	unsigned int a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 31))
		return NULL;
	__cpuid(0x40000000, a, b, c, d);
	memcpy(signature, &b, 4);
	memcpy(signature + 4, &c, 4);
	memcpy(signature + 8, &d, 4);
	for (size_t i = 0; i < sizeof(hypervisors) / sizeof(hypervisors[0]); i++)
		if (!strcmp(signature, hypervisors[i].signature))
			return hypervisors[i].name;
	return signature;
}

#else

static const char *read_cpuid_hypervisor(void)
{
	return NULL;
}

#endif

/* Return the hypervisor of a virtual machine, or NULL if none is detected. */
static const char *detect_hypervisor(void)
{
	static char name[64];
	const char *word = read_cpuid_hypervisor();

	if (word)
		return word;
	if (read_first_line("/proc/device-tree/hypervisor/compatible", name, sizeof(name)) ||
	    read_first_line("/sys/hypervisor/type", name, sizeof(name)))
		return name;
	if (read_first_line("/sys/class/dmi/id/sys_vendor", name, sizeof(name)) &&
	    !strcmp(name, "QEMU"))
		return name;
	return NULL;
}

/* Return the kind of container, or NULL if none is detected. */
static const char *detect_container(void)
{
	static char name[64];

	/* A process that sees kernel threads is not in a container, even if the files exist. */
	if (read_first_line("/proc/2/comm", name, sizeof(name)) && !strcmp(name, "kthreadd"))
		return NULL;
	if (read_first_line("/run/systemd/container", name, sizeof(name)))
		return name;
	if (!access("/run/.containerenv", F_OK))
		return "podman";
	if (!access("/.dockerenv", F_OK))
		return "docker";
	return NULL;
}

void check_machine(struct diagnosis *diag)
{
	const char *host = detect_hypervisor(), *kind = detect_container();

	if (kind) {
		add_finding(
			diag, VERDICT_NOTE,
			"A container (%s): kernel, modules and session daemon belong to the machine that runs it.",
			kind);
		set_advice(diag, "Run \"netsync doctor\", and record, on that machine.");
	}
	if (host)
		add_finding(
			diag, VERDICT_NOTE,
			"A virtual machine (%s): when it is paused or migrated, its clock stops or jumps; \"netsync sync\" detects such steps.",
			host);
	if (!kind && !host)
		add_finding(diag, VERDICT_GOOD,
			    "Neither a virtual machine nor a container was detected.");
}

/* ---- memory and disk ------------------------------------------------------ */

/*
 * Fraction of memory that buffers take, and limits in bytes per processor. Recording fails below
 * BUFFERS_LEAST; from the other limit on, buffers are large enough. Chosen.
 */
#define SHARE 8
#define BUFFERS_LEAST (384LL << 10)
#define BUFFERS_ENOUGH (4LL * MB)

void check_memory(struct diagnosis *diag)
{
	const int64_t cpus = sysconf(_SC_NPROCESSORS_CONF);
	const int64_t free_kb = read_key_value("/proc/meminfo", "MemAvailable");
	const int64_t each = free_kb * 1024 / SHARE / cpus;

	if (free_kb < 0) {
		add_finding(diag, VERDICT_NOTE,
			    "Cannot read the available memory: no MemAvailable in /proc/meminfo.");
		return;
	}
	add_finding(diag,
		    each >= BUFFERS_ENOUGH ? VERDICT_GOOD :
		    each >= BUFFERS_LEAST  ? VERDICT_NOTE :
					     VERDICT_WRONG,
		    "%" PRId64
		    " MB available, of which recording uses an eighth for the buffers of %" PRId64
		    " CPU%s%s.",
		    free_kb / 1024, cpus, cpus == 1 ? "" : "s",
		    each >= BUFFERS_ENOUGH ? "" :
		    each >= BUFFERS_LEAST  ? ": the buffers will be small, and events may be lost" :
					     ": this is too little");
	if (each < BUFFERS_ENOUGH)
		set_advice(diag, "Free some memory.");
}

/*
 * Free space on a disk, bytes. Below DISK_LEAST, a recording ends soon; below DISK_ENOUGH, it
 * may end early. Chosen.
 */
#define DISK_LEAST (16LL * MB)
#define DISK_ENOUGH (1024LL * MB)

/* Return the deepest existing directory on @path. */
static char *find_existing_directory(const char *path)
{
	char *folder = strdup(path), *slash;

	while (folder && access(folder, F_OK) && (slash = strrchr(folder, '/')))
		slash[slash == folder] = '\0';
	if (!folder || !access(folder, F_OK))
		return folder;
	free(folder);
	return strdup(".");
}

static void check_recording_folder(struct diagnosis *diag, const char *folder)
{
	/* Machines that do not collect traces need space only for --pull. */
	const bool needed = diag->roles & ROLE_COLLECTS && diag->job != JOB_CAPTURES;
	const enum verdict bad = needed ? VERDICT_WRONG : VERDICT_NOTE;
	const char *advice =
		diag->job == JOB_CAPTURES || needed ?
			"Give another directory with --output." :
			"This directory is for --pull; set TMPDIR to another one, or omit --pull.";
	char inside[PATH_MAX];
	struct statvfs disk;
	int64_t left;

	/* Append "/." so that a path of a file is an error, too. */
	snprintf(inside, sizeof(inside), "%s/.", folder);
	if (access(inside, W_OK | X_OK) || statvfs(inside, &disk)) {
		add_finding(diag, bad, "%s is not writable: %s.", folder, strerror(errno));
		set_advice(diag, "%s", advice);
		return;
	}
	left = (int64_t)(disk.f_bavail * disk.f_frsize);
	if (left >= DISK_ENOUGH) {
		add_finding(diag, VERDICT_GOOD, "%" PRId64 " MB free in %s.", left / MB, folder);
	} else {
		add_finding(diag, left < DISK_LEAST ? bad : VERDICT_NOTE,
			    "Only %" PRId64
			    " MB free in %s; a busy machine records several MB per second.",
			    left / MB, folder);
		set_advice(diag, "Free some space. %s", advice);
	}
}

void check_disk(struct diagnosis *diag)
{
	char *folder = find_existing_directory(diag->folder);
	char *path = folder ? realpath(folder, NULL) : NULL;

	if (folder)
		check_recording_folder(diag, path ? path : folder);
	else
		diag->failed = true;
	free(path);
	free(folder);
}

/* ---- offloads ------------------------------------------------------------- */

/* Offloads that merge or split packets, in the device or in the kernel. */
static const struct {
	const char *name;
	uint32_t get;
	uint32_t mask;
} offloads[] = {
	{ "TSO", ETHTOOL_GTSO, 1 },
	{ "GSO", ETHTOOL_GGSO, 1 },
	{ "GRO", ETHTOOL_GGRO, 1 },
	{ "LRO", ETHTOOL_GFLAGS, ETH_FLAG_LRO },
};

#define NUM_OFFLOADS (sizeof(offloads) / sizeof(offloads[0]))
#define HAS_LRO (1U << (NUM_OFFLOADS - 1))
#define MAX_SETS (1U << NUM_OFFLOADS)

/* Return the enabled offloads, one bit each, or -1 if the device is down or the loopback device. */
static int list_device_offloads(int sock, const char *device)
{
	struct ifreq request = { 0 };
	int set = 0;

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", device);
	if (ioctl(sock, SIOCGIFFLAGS, &request) || !(request.ifr_flags & IFF_UP) ||
	    request.ifr_flags & IFF_LOOPBACK)
		return -1;
	for (size_t i = 0; i < NUM_OFFLOADS; i++) {
		struct ethtool_value value = { .cmd = offloads[i].get };

		request.ifr_data = (void *)&value;
		if (!ioctl(sock, SIOCETHTOOL, &request) && value.data & offloads[i].mask)
			set |= 1 << i;
	}
	return set;
}

/* Print the offloads of a set, such as "TSO, GRO on" for 5 or "No offloads on" for 0. */
static void print_offload_set(FILE *out, unsigned int set)
{
	unsigned int left = set;

	for (size_t i = 0; i < NUM_OFFLOADS; i++) {
		if (!(set >> i & 1))
			continue;
		left &= ~(1U << i);
		fprintf(out, "%s%s", offloads[i].name, left ? ", " : "");
	}
	fputs(set ? " on" : "No offloads on", out);
}

/*
 * Maximum number of devices that are listed, because machines with many containers have
 * hundreds. Chosen.
 */
#define MAX_DEVICES 4

/* List the devices with this set of offloads. Return the number of devices. */
static unsigned int print_devices_with_set(FILE *out, int sock, unsigned int set,
					   const struct if_nameindex *names)
{
	unsigned int num = 0;

	for (; names->if_index; names++) {
		if (list_device_offloads(sock, names->if_name) != (int)set)
			continue;
		if (!num)
			print_offload_set(out, set);
		if (num < MAX_DEVICES)
			fprintf(out, "%s %s", num ? "," : "", names->if_name);
		num++;
	}
	if (num > MAX_DEVICES)
		fprintf(out, " and %u more", num - MAX_DEVICES);
	return num;
}

static void check_offload_set(struct diagnosis *diag, int sock, unsigned int set,
			      const struct if_nameindex *names)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	unsigned int num;

	if (!out) {
		diag->failed = true;
		return;
	}
	num = print_devices_with_set(out, sock, set, names);
	if (fclose(out)) {
		diag->failed = true;
	} else if (num && set & HAS_LRO) {
		add_finding(
			diag, VERDICT_NOTE,
			"%s: the device merges packets before they are recorded, so packets are recorded late, and many cannot be matched.",
			text);
		set_advice(diag, "ethtool -K DEVICE lro off");
	} else if (num) {
		add_finding(diag, VERDICT_GOOD, "%s%s.", text,
			    set ? ": \"netsync sync\" matches the parts of merged packets" : "");
	}
	free(text);
}

void check_offloads(struct diagnosis *diag)
{
	int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct if_nameindex *names = if_nameindex();
	size_t before = diag->num;

	if (sock < 0)
		sock = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sock < 0 || !names) {
		add_finding(diag, VERDICT_NOTE, "Cannot list the network devices: %s.",
			    strerror(errno));
	} else {
		for (unsigned int set = 0; set < MAX_SETS; set++)
			check_offload_set(diag, sock, set, names);
		if (diag->num == before && !diag->failed)
			add_finding(diag, VERDICT_NOTE, "No network device except loopback is up.");
	}
	if (names)
		if_freenameindex(names);
	if (sock >= 0)
		close(sock);
}
