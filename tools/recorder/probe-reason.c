// SPDX-License-Identifier: GPL-2.0-only
/* Finds out from errors of loading BPF programs what the kernel or the user lacks. */
#include <errno.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "probe-reason.h"

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"
#define LOCKDOWN "/sys/kernel/security/lockdown"
/* The first kernel version that has the BPF ring buffer. */
#define LEAST_MAJOR 5
#define LEAST_MINOR 8

/* The first warning of libbpf, which usually is the most informative one. */
static char first_warning[96];

int reason_keep_warning(enum libbpf_print_level level, const char *format, va_list arguments)
{
	if (level == LIBBPF_WARN && !first_warning[0]) {
		vsnprintf(first_warning, sizeof(first_warning), format, arguments);
		first_warning[strcspn(first_warning, "\n")] = '\0';
	}
	return 0;
}

static bool has_capability(const struct __user_cap_data_struct *data, int number)
{
	return data[number / 32].effective & 1u << number % 32;
}

/* Does the user have the capabilities for BPF? Root has them, unless a container took them away. */
static bool can_use_bpf(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	if (syscall(SYS_capget, &header, data))
		return false;
	return has_capability(data, CAP_SYS_ADMIN) ||
	       (has_capability(data, CAP_BPF) && has_capability(data, CAP_PERFMON));
}

/* Does lockdown for confidentiality keep BPF programs from reading the kernel's memory? */
static bool is_locked_down(void)
{
	char mode[64] = "";
	FILE *file = fopen(LOCKDOWN, "re");

	if (!file)
		return false;
	if (!fgets(mode, sizeof(mode), file))
		mode[0] = '\0';
	fclose(file);
	return strstr(mode, "[confidentiality]");
}

static bool is_kernel_old(const struct utsname *machine)
{
	int major, minor;

	return sscanf(machine->release, "%d.%d", &major, &minor) == 2 &&
	       (major < LEAST_MAJOR || (major == LEAST_MAJOR && minor < LEAST_MINOR));
}

void reason_find(int error, char why[LONGEST_REASON])
{
	struct utsname machine;

	uname(&machine);
	if (is_kernel_old(&machine))
		snprintf(why, LONGEST_REASON, "Linux %s is older than 5.8", machine.release);
	else if (!can_use_bpf())
		snprintf(why, LONGEST_REASON, "BPF needs root, or CAP_BPF and CAP_PERFMON");
	else if (is_locked_down())
		snprintf(why, LONGEST_REASON,
			 "kernel lockdown (confidentiality) forbids BPF to read packets");
	else if (access(KERNEL_BTF, R_OK))
		snprintf(why, LONGEST_REASON,
			 "the kernel has no BTF (" KERNEL_BTF ", CONFIG_DEBUG_INFO_BTF)");
	else if (error == -EPERM)
		snprintf(
			why, LONGEST_REASON,
			"BPF is not permitted here, for example by a container or by a security policy");
	else if (error == -ENOMEM)
		snprintf(why, LONGEST_REASON, "there is no memory; give a smaller --buffer");
	else if (error == -ENOSYS)
		snprintf(why, LONGEST_REASON, "the kernel has no BPF (CONFIG_BPF_SYSCALL)");
	else
		snprintf(why, LONGEST_REASON, "%s (%s)", strerror(-error),
			 first_warning[0] ? first_warning : "BPF");
}
