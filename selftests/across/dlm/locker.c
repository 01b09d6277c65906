// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: locker NUMBER MICROSECONDS
 *
 * Hold the DLM's lock "res0" exclusively NUMBER times, each time for MICROSECONDS. The
 * value of the resource counts how often any node has held it. Each time, the value is
 * printed on a line, which gives the true order of all holders.
 */
#include <sys/types.h>

#include <libdlm.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The kernel's DLM_LVB_LEN. */
#define VALUE_SIZE 32
#define LOCKSPACE "states"
#define RESOURCE "res0"

static void exit_with_perror(const char *what)
{
	perror(what);
	exit(1);
}

static dlm_lshandle_t join_lockspace(void)
{
	dlm_lshandle_t space = dlm_open_lockspace(LOCKSPACE);

	return space ? space : dlm_create_lockspace(LOCKSPACE, 0600);
}

/* Keep a lock on the resource, because a resource without any lock loses its value. */
static void keep_null_lock(dlm_lshandle_t space, struct dlm_lksb *lock)
{
	if (dlm_ls_lock_wait(space, LKM_NLMODE, lock, 0, RESOURCE, strlen(RESOURCE), 0, NULL, NULL,
			     NULL) ||
	    lock->sb_status)
		exit_with_perror("lock");
}

static uint64_t hold_lock(dlm_lshandle_t space, unsigned int us)
{
	_Alignas(8) char value[VALUE_SIZE] = { 0 };
	struct dlm_lksb lock = { .sb_lvbptr = value };
	uint64_t count;

	if (dlm_ls_lock_wait(space, LKM_EXMODE, &lock, LKF_VALBLK, RESOURCE, strlen(RESOURCE), 0,
			     NULL, NULL, NULL) ||
	    lock.sb_status)
		exit_with_perror("lock");
	memcpy(&count, value, sizeof(count));
	count++;
	memcpy(value, &count, sizeof(count));
	usleep(us);
	/* libdlm passes a value to the kernel on conversion, but not on unlocking. */
	if (dlm_ls_lock_wait(space, LKM_NLMODE, &lock, LKF_CONVERT | LKF_VALBLK, RESOURCE,
			     strlen(RESOURCE), 0, NULL, NULL, NULL) ||
	    lock.sb_status)
		exit_with_perror("convert");
	if (dlm_ls_unlock_wait(space, lock.sb_lkid, 0, &lock))
		exit_with_perror("unlock");
	return count;
}

int main(int argc, char **argv)
{
	dlm_lshandle_t space = join_lockspace();
	struct dlm_lksb kept = { 0 };

	if (argc != 3)
		return 1;
	if (!space)
		exit_with_perror("lockspace");
	keep_null_lock(space, &kept);
	for (int i = 0; i < atoi(argv[1]); i++)
		printf("%" PRIu64 "\n", hold_lock(space, atoi(argv[2])));
	fflush(stdout);
	/* The other node may still use the lockspace. */
	dlm_close_lockspace(space);
	return 0;
}
