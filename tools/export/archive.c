// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write a tar archive that Perfetto opens as one trace of several machines: the clocks, the
 * messages, and a file for each trace. Perfetto reads perf.data files itself. Events of CTF traces
 * and trace.dat files are written in Perfetto's format:
 *
 *	perfetto_manifest.json	which member belongs to which machine
 *	0-netsync.pftrace	the clocks of all machines
 *	1-messages.pftrace	packets and messages, with corrected times
 *	2-web.pftrace		events of web
 *	hosts/db/perf.data	a file of the user's, unchanged
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../libnetsync/util/array.h"
#include "../../libnetsync/util/scratch.h"
#include "archive.h"
#include "common/complain.h"
#include "common/result-info.h"
#include "events/groups.h"
#include "perfetto.h"

/* ---- names ---------------------------------------------------------------- */

/* Append a name, in which other characters than letters, digits, ".", "_" and "-" become "_". */
static void append_plain_name(char *to, size_t size, const char *name)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t length = strlen(to);

	for (; *name && length + 1 < size; name++)
		to[length++] = strchr(plain, *name) ? *name : '_';
	to[length] = '\0';
}

static bool is_name_used(const struct archive *archive, const char *name)
{
	for (size_t i = 0; i < archive->num_members; i++)
		if (!strcmp(archive->members[i].name, name))
			return true;
	return false;
}

/*
 * Maximum length of a part of a member's name, in bytes. Chosen so that a name of all parts fits.
 */
#define MAX_PART 40

/* Format "BEGIN HOST MIDDLE FILE END", with a number before FILE if the name is used. */
static void make_member_name(const struct archive *archive, char name[USTAR_NAME_LENGTH + 1],
			     const char *begin, const char *host, const char *middle,
			     const char *file)
{
	char plain_host[MAX_PART + 1] = "", plain_file[MAX_PART + 1] = "", more[12] = "";

	append_plain_name(plain_host, sizeof(plain_host), host);
	append_plain_name(plain_file, sizeof(plain_file), file);
	/* "." and ".." are not names of files. */
	if (*plain_host == '.')
		*plain_host = '_';
	for (unsigned int i = 2;; i++) {
		snprintf(name, USTAR_NAME_LENGTH + 1, "%s%s%s%s%s", begin, plain_host, middle, more,
			 plain_file);
		if (!is_name_used(archive, name))
			return;
		snprintf(more, sizeof(more), "%u-", i);
	}
}

/* ---- members -------------------------------------------------------------- */

static struct archive_member *add_archive_member(struct archive *archive)
{
	struct archive_member *last = array_add(&archive->members, archive->num_members,
						sizeof(*last));

	if (last)
		*last = (struct archive_member){ .kind = MEMBER_CLOCKS };
	return last;
}

static bool add_own_member(struct archive *archive, int kind, const char *name)
{
	struct archive_member *last = add_archive_member(archive);

	if (!last)
		return false;
	last->kind = kind;
	strcpy(last->name, name);
	archive->num_members++;
	return true;
}

static bool add_events_member(struct archive *archive, const struct archive_machine *machine)
{
	struct archive_member *last = add_archive_member(archive);

	if (!last)
		return false;
	last->kind = MEMBER_EVENTS;
	last->machine = machine;
	make_member_name(archive, last->name, "2-", machine->name, "", ".pftrace");
	archive->num_members++;
	return true;
}

/* Remove the ending of a compressed file, whose member is not compressed. */
static void cut_compressed_ending(char *name)
{
	static const char *const endings[] = { ".gz", ".xz", ".zst", ".lz4" };
	char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && i < sizeof(endings) / sizeof(endings[0]); i++) {
		if (!strcmp(dot, endings[i])) {
			*dot = '\0';
			return;
		}
	}
}

/* Return whether Perfetto reads traces in this format itself. */
static bool is_perfetto_format(const char *format)
{
	return !strcmp(format, "perf.data") || !strcmp(format, "perfetto");
}

/* Add a file of the user's, which is either a trace in this format, or attached. */
static bool add_file_member(struct archive *archive, const struct archive_machine *machine,
			    const char *path, const char *format,
			    const struct attached_file *attached)
{
	struct archive_member *last = add_archive_member(archive);
	const char *base = strrchr(path, '/');
	char *file = strdup(base ? base + 1 : path);

	if (!last || !file) {
		free(file);
		errno = 0;
		return false;
	}
	if (format)
		cut_compressed_ending(file);
	last->kind = format && !strcmp(format, "perf.data") ? MEMBER_PERF : MEMBER_FILE;
	last->machine = machine;
	last->path = path;
	make_member_name(archive, last->name, "hosts/", machine->name, "/", file);
	free(file);
	if (attached ? !attached_examine(attached, machine, last) :
		       last->kind == MEMBER_FILE && !attached_check_trace(path)) {
		errno = ECANCELED;
		return false;
	}
	archive->num_members++;
	return true;
}

/*
 * Return whether Perfetto can correct the times of a trace that it reads. It treats CLOCK_REALTIME
 * as equal on all machines, does not know CLOCK_TAI, and converts ftrace events of its own traces to
 * CLOCK_BOOTTIME by clocks in these traces.
 */
static bool can_perfetto_correct(const struct archive_machine *machine, const char *format)
{
	if (!strcmp(format, "perf.data"))
		return machine->kind == MACHINE_MONOTONIC || machine->kind == MACHINE_TRACE;
	return machine->is_boot;
}

static bool add_perfetto_trace(struct archive *archive, const struct archive_machine *machine,
			       const struct netsync_io_trace *trace)
{
	if (can_perfetto_correct(machine, trace->format))
		return add_file_member(archive, machine, trace->path, trace->format, NULL);
	complain(
		"warning: %s: this file is not in the archive, because Perfetto cannot correct times of the clock %s; record with the clock %s.",
		trace->path, trace->clock_name ? trace->clock_name : "of this trace",
		strcmp(trace->format, "perf.data") ? "boot" : "mono");
	return true;
}

/* Add the traces of a machine. All traces of a host have the same format. */
static bool add_machine_members(struct archive *archive, const struct archive_machine *machine)
{
	const struct timebase *base = archive->export->base;

	for (uint32_t i = 0; i < netsync_io_num_traces(base->io); i++) {
		const struct netsync_io_trace trace = get_io_trace_info(base->io, i);

		if (trace.host != machine->host)
			continue;
		if (!strcmp(trace.format, "ctf") || !strcmp(trace.format, "trace.dat"))
			return add_events_member(archive, machine);
		if (is_perfetto_format(trace.format) &&
		    !add_perfetto_trace(archive, machine, &trace))
			return false;
	}
	return true;
}

static bool add_attached_member(struct archive *archive, const struct attached_file *file)
{
	const struct archive_machine *machine = machines_find_name(&archive->machines, file->host);

	if (machine)
		return add_file_member(archive, machine, file->path, NULL, file);
	complain("--file %s=%s: there is no host %s whose clock is corrected.", file->host,
		 file->path, file->host);
	errno = ECANCELED;
	return false;
}

static bool find_members(struct archive *archive)
{
	const struct export *export = archive->export;

	if (!add_own_member(archive, MEMBER_CLOCKS, ARCHIVE_CLOCKS) ||
	    !add_own_member(archive, MEMBER_MESSAGES, ARCHIVE_MESSAGES))
		return false;
	for (size_t i = 0; i < archive->machines.num; i++)
		if (!add_machine_members(archive, &archive->machines.list[i]))
			return false;
	for (size_t i = 0; i < export->num_files; i++)
		if (!add_attached_member(archive, &export->files[i]))
			return false;
	return true;
}

/* ---- contents ------------------------------------------------------------- */

static bool write_archive_messages(FILE *out, const struct archive *archive)
{
	struct timeline timeline;
	const bool ok = timeline_open_messages(&timeline, out, archive->export->base,
					       archive->machines.ref_shift_ns) &&
			perfetto_write_messages(&timeline, archive->export);

	return timeline_close(&timeline, ok, "packets and messages");
}

static bool write_archive_events(FILE *out, const struct archive *archive,
				 const struct archive_machine *machine)
{
	struct timeline timeline;
	const bool ok = timeline_open_machine(&timeline, out, archive->export->base,
					      archive->machines.ref_shift_ns, machine->host,
					      machine->boot_shift_ns) &&
			perfetto_write_events(&timeline, archive->export, machine->host);

	return timeline_close(&timeline, ok, "events");
}

static bool write_own_content(FILE *out, const struct archive *archive,
			      const struct archive_member *member)
{
	if (!member)
		return manifest_write(out, archive);
	if (member->kind == MEMBER_CLOCKS)
		return machines_write_clocks(out, &archive->machines, archive->export->base);
	if (member->kind == MEMBER_MESSAGES)
		return write_archive_messages(out, archive);
	return write_archive_events(out, archive, member->machine);
}

/*
 * Write a member of netsync's own. The size of a member precedes its data, so the data is first
 * written to a scratch file. Without @member, write the manifest.
 */
static bool put_own_member(FILE *out, const struct archive *archive,
			   const struct archive_member *member)
{
	const int fd = scratch_open_file();
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w+");
	off_t size;
	bool ok;

	if (!file) {
		spool_report_error();
		errno = ECANCELED;
		return false;
	}
	errno = 0;
	ok = write_own_content(file, archive, member) && !fflush(file) && !ferror(file);
	size = ok ? ftello(file) : 0;
	ok = ok && size >= 0 && !fseeko(file, 0, SEEK_SET) &&
	     ustar_put_file(out, member ? member->name : ARCHIVE_MANIFEST, file, (uint64_t)size,
			    time(NULL));
	fclose(file);
	return ok;
}

/* Open a file of the user's. On failure, print a message and return NULL. */
static FILE *open_user_file(const struct archive *archive, const struct archive_member *member,
			    struct stat *state)
{
	FILE *file = member->kind == MEMBER_PERF ?
			     attached_open_perf(member, archive->export->base->io) :
			     fopen(member->path, "re");

	if (!file) {
		if (member->kind != MEMBER_PERF)
			complain_about_path(member->path);
		return NULL;
	}
	if (!fstat(fileno(file), state) && S_ISREG(state->st_mode))
		return file;
	complain("%s: not a regular file, which an archive needs.", member->path);
	fclose(file);
	return NULL;
}

/* Write a file of the user's, unchanged. */
static bool put_user_file(FILE *out, const struct archive *archive,
			  const struct archive_member *member)
{
	struct stat state;
	FILE *file = open_user_file(archive, member, &state);
	bool ok;

	if (!file) {
		errno = ECANCELED;
		return false;
	}
	ok = ustar_put_file(out, member->name, file, (uint64_t)state.st_size, state.st_mtime);
	if (!ok && !ferror(out)) {
		if (errno == ESTALE)
			complain("%s: the file became shorter while it was read.", member->path);
		else
			complain_about_path(member->path);
		errno = ECANCELED;
	}
	fclose(file);
	return ok;
}

static bool put_all_members(FILE *out, const struct archive *archive)
{
	if (!put_own_member(out, archive, NULL))
		return false;
	for (size_t i = 0; i < archive->num_members; i++) {
		const struct archive_member *member = &archive->members[i];

		if (member->kind == MEMBER_FILE || member->kind == MEMBER_PERF ?
			    !put_user_file(out, archive, member) :
			    !put_own_member(out, archive, member))
			return false;
	}
	return ustar_put_end(out);
}

/* If stairs are higher than usual, report it. */
static void note_stairs(const struct archive_machines *machines)
{
	for (size_t i = 0; i < machines->num; i++) {
		const struct archive_machine *machine = &machines->list[i];

		if (machine->id && stairs_are_coarse(&machine->stairs))
			complain(
				"note: %s: Perfetto displays its times with an additional error of up to %lld ns, because its clock deviates too much for finer stairs.",
				machine->name, (long long)stairs_get_error(&machine->stairs));
	}
}

bool export_archive(FILE *out, const struct export *export)
{
	struct archive archive = { .export = export };
	bool ok;

	errno = 0;
	ok = machines_find(&archive.machines, export) && find_members(&archive);
	if (ok) {
		note_stairs(&archive.machines);
		ok = put_all_members(out, &archive);
	}
	free(archive.members);
	machines_release(&archive.machines);
	return ok;
}
