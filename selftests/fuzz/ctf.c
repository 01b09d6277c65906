// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz the files of a CTF trace. All readable data must be read, quickly and with little memory.
 *
 * An input is the metadata, followed by a stream file after each SEPARATOR. Child processes read
 * the files. libbabeltrace2 may end these processes, but errors of netsync's own code in them are
 * reported.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <netsync-io.h>

#define SEPARATOR "\n%%\n"

/*
 * The trace's directory is in memory. The process that creates the directory removes it at its own
 * end.
 */
static char named[] = "host=/dev/shm/netsync-fuzz-XXXXXX";
static char *const folder = named + sizeof("host=") - 1;
static const char *const files[] = { "metadata", "0", "1", "2" };
static int at = -1;

#define NUM_FILES (sizeof(files) / sizeof(files[0]))

/* ---- errors in child processes ------------------------------------------ */

/* An error report. The child processes share this memory with this process. */
static struct report {
	volatile bool is_wrong;
	char text[1 << 16];
} * report;
static bool is_child;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);
void __ubsan_on_report(void);
void __ubsan_get_current_report_data(const char **kind, const char **message, const char **file,
				     unsigned int *line, unsigned int *column, char **memory);

/*
 * Let signals end child processes. A handler has already reported the errors that cause these
 * signals.
 */
const char *__asan_default_options(void)
{
	return "handle_segv=2:handle_sigbus=2:handle_sigfpe=2:handle_sigill=2:allocator_may_return_null=1:quarantine_size_mb=16";
}

void __ubsan_on_report(void)
{
	const char *kind, *message, *file;
	unsigned int line, column;
	char *memory;

	if (!is_child)
		return;
	__ubsan_get_current_report_data(&kind, &message, &file, &line, &column, &memory);
	snprintf(report->text, sizeof(report->text), "%s:%u: %s", file, line, message);
	report->is_wrong = true;
}

/* Store a sanitizer's report, except for errors in a library. */
static void keep_sanitizer_report(const char *text)
{
	Dl_info here, there;

	if (!dladdr(__asan_get_report_pc(), &there) ||
	    !dladdr((void *)LLVMFuzzerTestOneInput, &here) || here.dli_fbase != there.dli_fbase)
		return;
	snprintf(report->text, sizeof(report->text), "%s", text);
	report->is_wrong = true;
}

static void become_child(void)
{
	is_child = true;
	__asan_set_error_report_callback(keep_sanitizer_report);
	/* The fuzzer's own callback would end the whole run, so remove it. */
	__sanitizer_set_death_callback(NULL);
}

/*
 * Begin and end of clang's counters of executed code, or 0. Assembly code refers to these symbols,
 * because the fuzzer's declarations of them have another meaning in C.
 */
extern const uintptr_t counters[2];
__asm__(".pushsection .data\n"
	".balign 8\n"
	".weak __start___sancov_cntrs, __stop___sancov_cntrs\n"
	"counters: .quad __start___sancov_cntrs, __stop___sancov_cntrs\n"
	".popsection");

/*
 * Let child processes count executed code in this process's counters. Only pages that contain
 * nothing but counters are shared.
 */
static bool share_counters(void)
{
	const uintptr_t page = sysconf(_SC_PAGESIZE);
	const uintptr_t start = (counters[0] + page - 1) / page * page;
	const uintptr_t end = counters[1] / page * page;

	return start >= end || mmap((void *)start, end - start, PROT_READ | PROT_WRITE,
				    MAP_FIXED | MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

/* ---- the trace --------------------------------------------------------- */

static void remove_ctf_files(void)
{
	for (size_t i = 0; i < NUM_FILES; i++)
		unlinkat(at, files[i], 0);
	rmdir(folder);
}

static bool begin_ctf_folder(void)
{
	if (!mkdtemp(folder))
		return false;
	at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	return at >= 0 && report != MAP_FAILED && share_counters() && !atexit(remove_ctf_files) &&
	       !pthread_atfork(NULL, NULL, become_child) && !setenv("TMPDIR", "/dev/shm", 1);
}

static bool put_file(const char *name, const uint8_t *data, size_t size)
{
	int fd = openat(at, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	bool ok = fd >= 0 && write(fd, data, size) == (ssize_t)size;

	close(fd);
	return ok;
}

static bool put_ctf_files(const uint8_t *data, size_t size)
{
	const size_t separator = sizeof(SEPARATOR) - 1;
	bool ok = true;

	for (size_t i = 0; i < NUM_FILES && ok; i++) {
		const uint8_t *end = data && i + 1 < NUM_FILES ?
					     memmem(data, size, SEPARATOR, separator) :
					     NULL;
		const size_t used = end ? (size_t)(end - data) : size;

		if (data)
			ok = put_file(files[i], data, used);
		else
			unlinkat(at, files[i], 0);
		data = end ? end + separator : NULL;
		size = end ? size - used - separator : 0;
	}
	return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct netsync *ns = netsync_new();
	struct netsync_io *io = netsync_io_new(ns);

	if ((at < 0 && !begin_ctf_folder()) || !put_ctf_files(data, size)) {
		perror(folder);
		abort();
	}
	if (netsync_io_add(io, named) > 0 && !netsync_io_read(io, NULL, NULL))
		netsync_solve(ns, NULL);
	netsync_io_free(io);
	netsync_free(ns);
	if (report->is_wrong) {
		fprintf(stderr, "in a child process: %s\n", report->text);
		abort();
	}
	return 0;
}
