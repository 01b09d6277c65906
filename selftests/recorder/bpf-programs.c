// SPDX-License-Identifier: GPL-2.0-only
/* Print the number of BPF programs in the kernel, for test_guests. */
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	union bpf_attr attr;
	unsigned int num = 0;

	memset(&attr, 0, sizeof(attr));
	while (!syscall(SYS_bpf, BPF_PROG_GET_NEXT_ID, &attr, sizeof(attr))) {
		attr.start_id = attr.next_id;
		num++;
	}
	printf("%u\n", num);
	return 0;
}
