// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file that the user attaches to an archive -> its format and the clock of its times. Perfetto
 * reads many formats that netsync does not; the file is copied unchanged, and its times are
 * corrected by the clocks of its machine.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../libnetsync/util/scratch.h"
#include "archive.h"
#include "common/complain.h"

/* Number of bytes by which formats are recognized. Chosen: text may begin with comments. */
#define HEAD_SIZE 4096
/* The first bytes of perf.data files, of either byte order (perf.data-file-format.txt). */
#define PERF_MAGIC "PERFILE2"
#define PERF_MAGIC_SWAPPED "2ELIFREP"

struct file_head {
	char bytes[HEAD_SIZE + 1]; /* ends with a NUL */
	size_t length;
};

static bool begins_with_bytes(const struct file_head *head, const void *bytes, size_t num)
{
	return head->length >= num && !memcmp(head->bytes, bytes, num);
}

/* ---- formats ------------------------------------------------------------ */

static bool is_perf_data(const struct file_head *head)
{
	return begins_with_bytes(head, PERF_MAGIC, 8) ||
	       begins_with_bytes(head, PERF_MAGIC_SWAPPED, 8);
}

static bool is_compressed(const struct file_head *head)
{
	return begins_with_bytes(head, "\x1f\x8b", 2) ||
	       begins_with_bytes(head, "\x28\xb5\x2f\xfd", 4) ||
	       begins_with_bytes(head,
				 "\xfd"
				 "7zXZ",
				 5) ||
	       begins_with_bytes(head, "PK\3\4", 4);
}

static bool is_json(const struct file_head *head)
{
	const char first = head->bytes[strspn(head->bytes, " \t\r\n")];

	return first == '{' || first == '[';
}

/* Return whether the file is the text of ftrace, or of trace-cmd report. */
static bool is_ftrace_text(const struct file_head *head)
{
	return begins_with_bytes(head, "# tracer:", 9) || begins_with_bytes(head, "cpus=", 5) ||
	       begins_with_bytes(head, "version = ", 10) || strstr(head->bytes, "\n# tracer:") ||
	       strstr(head->bytes, "\ncpus=");
}

/* Return whether the file may be in Perfetto's own format: its first field is a packet. */
static bool is_native_trace(const struct file_head *head)
{
	return head->length > 2 && head->bytes[0] == '\n' && head->bytes[1] &&
	       !is_ftrace_text(head) && !is_json(head);
}

static bool read_file_head(const char *path, struct file_head *head)
{
	FILE *file = fopen(path, "re");
	bool ok;

	if (!file)
		return complain_about_path(path);
	head->length = fread(head->bytes, 1, HEAD_SIZE, file);
	head->bytes[head->length] = '\0';
	ok = !ferror(file);
	if (!ok)
		complain_about_path(path);
	fclose(file);
	return ok;
}

/* ---- perf.data files --------------------------------------------------- */

static int keep_time(void *data, int64_t time_ns, int64_t *new_ns)
{
	(void)data;
	*new_ns = time_ns;
	return 0;
}

/* Copy a perf.data file without compression into @folder, and remove its name. */
static FILE *copy_perf_into_folder(const struct archive_member *member, struct netsync_io *io,
				   const char *folder)
{
	FILE *file = NULL;
	char *path;

	if (asprintf(&path, "%s/perf.data", folder) < 0) {
		complain_no_memory();
		return NULL;
	}
	if (netsync_io_copy_perf(io, member->path, path, keep_time, NULL))
		complain("%s", netsync_io_error(io));
	else if (!(file = fopen(path, "re")))
		complain_about_path(path);
	unlink(path);
	free(path);
	return file;
}

static FILE *copy_perf(const struct archive_member *member, struct netsync_io *io)
{
	FILE *file = NULL;
	char *folder;

	if (asprintf(&folder, "%s/netsync-XXXXXX", scratch_get_folder(true)) < 0) {
		complain_no_memory();
		return NULL;
	}
	if (mkdtemp(folder)) {
		file = copy_perf_into_folder(member, io, folder);
		rmdir(folder);
	} else {
		complain_about_path(folder);
	}
	free(folder);
	return file;
}

FILE *attached_open_perf(const struct archive_member *member, struct netsync_io *io)
{
	FILE *file = fopen(member->path, "re");
	char magic[8];

	if (file && fread(magic, 1, sizeof(magic), file) == sizeof(magic) &&
	    (!memcmp(magic, PERF_MAGIC, sizeof(magic)) ||
	     !memcmp(magic, PERF_MAGIC_SWAPPED, sizeof(magic)))) {
		rewind(file);
		return file;
	}
	if (file)
		fclose(file);
	return copy_perf(member, io);
}

/* ---- clocks ------------------------------------------------------------- */

static bool complain_about_clock(const struct attached_file *file, const char *clock)
{
	complain(
		"%s: its times are those of %s, but netsync does not know how the traces of %s relate to this clock. Record %s with the clock mono.",
		file->path, clock, file->host, file->host);
	return false;
}

static bool pin_json(const struct attached_file *file, const struct archive_machine *machine,
		     struct archive_member *member)
{
	member->is_pinned = true;
	if (file->clock != ATTACHED_REALTIME)
		return machine->kind == MACHINE_MONOTONIC ||
		       complain_about_clock(file, "CLOCK_MONOTONIC");
	if (!machine->has_wall)
		return complain_about_clock(file, "CLOCK_REALTIME");
	member->offset_ns = -machine->wall_shift_ns;
	if (machine->kind != MACHINE_WALL)
		complain(
			"warning: %s: its times come from the wall clock of %s, whose error has no bound.",
			file->path, file->host);
	return true;
}

static bool complain_about_compression(const char *path)
{
	complain(
		"%s: decompress this file, as Perfetto does not read compressed files in an archive.",
		path);
	return false;
}

static bool complain_about_format(const struct attached_file *file, const struct file_head *head)
{
	if (is_perf_data(head))
		complain("%s: this is a perf.data file; give it as a trace: \"%s=%s\".", file->path,
			 file->host, file->path);
	else if (is_compressed(head))
		complain_about_compression(file->path);
	else
		complain(
			"%s: this is neither a trace of Perfetto, nor JSON, nor the text of ftrace; --file takes only these.",
			file->path);
	return false;
}

bool attached_check_trace(const char *path)
{
	struct file_head head;

	return read_file_head(path, &head) &&
	       (!is_compressed(&head) || complain_about_compression(path));
}

bool attached_examine(const struct attached_file *file, const struct archive_machine *machine,
		      struct archive_member *member)
{
	struct file_head head;

	if (!read_file_head(file->path, &head))
		return false;
	if (!is_perf_data(&head) && !is_compressed(&head) && is_json(&head))
		return pin_json(file, machine, member);
	if (is_native_trace(&head) && file->clock == ATTACHED_DEFAULT)
		return true;
	if (!is_ftrace_text(&head))
		return complain_about_format(file, &head);
	if (file->clock == ATTACHED_REALTIME) {
		complain(
			"%s: Perfetto treats all times of ftrace as CLOCK_MONOTONIC; do not specify the clock realtime.",
			file->path);
		return false;
	}
	/* Perfetto assumes CLOCK_MONOTONIC, which stands for any clock of the kernel's tracers. */
	return machine->kind == MACHINE_MONOTONIC || machine->kind == MACHINE_TRACE ||
	       complain_about_clock(file, "a clock of ftrace");
}

bool attached_find_suspended(const struct attached_file *file,
			     const struct archive_machine *machine, bool *is_native,
			     int64_t *suspended_ns)
{
	struct file_head head;
	FILE *from;
	int ret;

	if (!read_file_head(file->path, &head))
		return false;
	*is_native = is_native_trace(&head);
	if (!*is_native)
		return true;
	if (machine->kind != MACHINE_MONOTONIC && !machine->is_boot)
		return complain_about_clock(file, "CLOCK_BOOTTIME");
	from = fopen(file->path, "re");
	if (!from)
		return complain_about_path(file->path);
	ret = timeline_find_suspended(from, suspended_ns);
	fclose(from);
	if (machine->is_boot && (!ret || ret == -ENODATA)) {
		/* The clock of the host's traces is that of the file. */
		*suspended_ns = 0;
		return true;
	}
	if (ret == -ENOMEM)
		return complain_no_memory();
	if (ret)
		complain("%s: this trace of Perfetto %s, so that its times cannot be corrected.",
			 file->path,
			 ret == -ENODATA ? "does not relate CLOCK_BOOTTIME to CLOCK_MONOTONIC" :
					   "is damaged");
	return !ret;
}
