// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read an archive with a worker, because OTF2's library trusts its files. The records that the
 * worker sends become hosts, and the parts of each host, in the order of time, in an unnamed
 * temporary file. Memory does not depend on the number of parts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/otf2/otf2.h"
#include "io/patience.h"
#include "util/array.h"
#include "util/scratch.h"

#ifdef OTF2_SONAME
/*
 * Limits of the worker between two signs of progress (s of processor time), and of its memory
 * (bytes). Chosen: 2^17 events take some ms, and OTF2 uses 1 MiB for each location of a host.
 */
#define SCAN_SECONDS 60
#define SCAN_MEMORY (UINT64_C(4) << 30)

/* ---- the temporary file ------------------------------------------------------- */

static int write_otf2_block(struct otf2_archive *archive)
{
	const size_t size = archive->block_used * sizeof(*archive->block);
	const off_t at = (off_t)((archive->num_parts - archive->block_used) *
				 sizeof(*archive->block));
	ssize_t len;

	if (archive->spool < 0)
		archive->spool = scratch_open_file();
	len = archive->spool < 0 ? -1 : pwrite(archive->spool, archive->block, size, at);
	archive->block_used = 0;
	if (len == (ssize_t)size)
		return 0;
	return io_fail(
		archive->io, len < 0 ? -errno : -ENOSPC,
		"%s: writing its messages to a temporary file in %s failed: %s. Set TMPDIR to a directory with more space.",
		archive->path, scratch_get_folder(false), strerror(len < 0 ? errno : ENOSPC));
}

static int keep_otf2_part(struct otf2_archive *archive, struct otf2_host *host,
			  const struct otf2_part *part)
{
	if (!archive->block)
		archive->block = malloc(OTF2_BLOCK * sizeof(*archive->block));
	if (!archive->block)
		return io_fail_no_memory(archive->io);
	archive->block[archive->block_used++] = *part;
	archive->num_parts++;
	host->num_parts++;
	return archive->block_used == OTF2_BLOCK ? write_otf2_block(archive) : 0;
}

/* ---- records -------------------------------------------------------------------- */

static int keep_otf2_host(struct otf2_archive *archive, const char *name)
{
	struct otf2_host *host;

	if (array_grow(&archive->host, &archive->host_room, archive->num_hosts, sizeof(*host)))
		return io_fail_no_memory(archive->io);
	host = &archive->host[archive->num_hosts++];
	*host = (struct otf2_host){ .ticks.last = -1, .first_part = archive->num_parts };
	host->name = strdup(*name ? name : "unnamed");
	return host->name ? 0 : io_fail_no_memory(archive->io);
}

static int keep_otf2_comm(struct otf2_archive *archive, const char *name)
{
	char *comm;

	if (array_grow(&archive->comm, &archive->comm_room, archive->num_comms,
		       sizeof(*archive->comm)))
		return io_fail_no_memory(archive->io);
	comm = archive->comm[archive->num_comms];
	if (*name)
		snprintf(comm, SPAN_NAME_SIZE, "%s", name);
	else
		snprintf(comm, SPAN_NAME_SIZE, "communicator %zu", archive->num_comms);
	archive->num_comms++;
	return 0;
}

static int keep_otf2_offset(struct otf2_archive *archive, struct otf2_host *host,
			    const struct otf2_offset *offset)
{
	if (array_grow(&host->offset, &host->offset_room, host->num_offsets, sizeof(*offset)))
		return io_fail_no_memory(archive->io);
	host->offset[host->num_offsets++] = *offset;
	return 0;
}

static int keep_otf2_location(struct otf2_archive *archive, struct otf2_host *host, uint64_t id)
{
	if (array_grow(&host->location, &host->location_room, host->num_locations, sizeof(id)))
		return io_fail_no_memory(archive->io);
	host->location[host->num_locations++] = id;
	return 0;
}

static int keep_otf2_text(struct otf2_archive *archive, char **kept, const char *text)
{
	if (!*kept)
		*kept = strdup(text);
	return *kept ? 0 : io_fail_no_memory(archive->io);
}

/* Use a record that belongs to the last host. */
static int use_host_record(struct otf2_archive *archive, const struct worker_head *head,
			   const void *payload)
{
	struct otf2_host *host = &archive->host[archive->num_hosts - 1];
	const struct otf2_part *part = payload;

	if (head->what == OTF2_RECORD_OFFSET && head->size == sizeof(struct otf2_offset))
		return keep_otf2_offset(archive, host, payload);
	if (head->what == OTF2_RECORD_LOCATION && head->size == sizeof(uint64_t))
		return keep_otf2_location(archive, host, *(const uint64_t *)payload);
	if (head->what == OTF2_RECORD_TICKS && head->size == sizeof(host->ticks))
		host->ticks = *(const struct otf2_ticks *)payload;
	if (head->what == OTF2_RECORD_PART && head->size == sizeof(*part) &&
	    part->comm < archive->num_comms && part->role <= SPAN_BOTH)
		return keep_otf2_part(archive, host, part);
	return 0;
}

static int use_otf2_record(void *data, const struct worker_head *head, const void *payload)
{
	struct otf2_archive *archive = data;

	switch (head->what) {
	case OTF2_RECORD_TIMER:
		if (head->size == sizeof(archive->timer))
			archive->timer = *(const struct otf2_timer *)payload;
		return 0;
	case OTF2_RECORD_CHUNK:
		if (head->size == sizeof(archive->chunk))
			archive->chunk = *(const uint64_t *)payload;
		return 0;
	case OTF2_RECORD_HOST:
		return keep_otf2_host(archive, payload);
	case OTF2_RECORD_COMM:
		return keep_otf2_comm(archive, payload);
	case OTF2_RECORD_UNUSED:
		if (head->number < OTF2_NUM_UNUSED && head->size == sizeof(uint64_t))
			archive->unused[head->number] = *(const uint64_t *)payload;
		return 0;
	case OTF2_RECORD_DAMAGE:
		return keep_otf2_text(archive, &archive->damage, payload);
	case OTF2_RECORD_FAILURE:
		return keep_otf2_text(archive, &archive->failure, payload);
	case OTF2_RECORD_END:
		archive->has_ended = true;
		return 0;
	default:
		return archive->num_hosts ? use_host_record(archive, head, payload) : 0;
	}
}

/* ---- reading ---------------------------------------------------------------------- */

static const char *explain_scan_end(int status)
{
	if (status == -ETIMEDOUT)
		return WORKER_WAS_STUCK;
	if (status < 0)
		return strerror(-status);
	if (WIFEXITED(status) && WEXITSTATUS(status) == WORKER_NO_MEMORY)
		return "OTF2's library exceeded its memory limit";
	if (worker_was_killed(status))
		return WORKER_WAS_KILLED;
	return "OTF2's library crashed or ran too long, so its files are probably damaged";
}

int otf2_read_archive(struct otf2_archive *archive)
{
	const struct worker_task task = {
		.run = otf2_scan_archive,
		.limits = { ITIMER_PROF, SCAN_SECONDS, SCAN_MEMORY },
	};
	struct patience patience = { .io = archive->io, .path = archive->path };
	const struct worker_patience waits = io_make_worker_patience(&patience);
	int ret;

	archive->spool = -1;
	ret = worker_run(&task, archive, use_otf2_record, archive, &waits);
	if (ret >= 0 && archive->block_used && write_otf2_block(archive))
		return -EIO;
	if (archive->failure)
		return io_fail(archive->io, -EILSEQ, "%s: this archive cannot be read: %s.",
			       archive->path, archive->failure);
	if (!archive->has_ended)
		return io_fail(archive->io, ret < 0 ? ret : -EILSEQ,
			       "%s: this archive cannot be read: %s.", archive->path,
			       explain_scan_end(ret));
	return 0;
}
#else
int otf2_read_archive(struct otf2_archive *archive)
{
	archive->spool = -1;
	return io_fail(
		archive->io, -ENOSYS,
		"%s: this is an OTF2 archive, and this netsync was built without support for it; install OTF2's library and header files (Debian: libopen-trace-format2-dev), and build netsync again.",
		archive->path);
}
#endif

ssize_t otf2_read_parts(const struct otf2_archive *archive, const struct otf2_host *host,
			uint64_t from, struct otf2_part parts[OTF2_BLOCK])
{
	const uint64_t left = host->num_parts - from;
	const size_t size = (left < OTF2_BLOCK ? (size_t)left : OTF2_BLOCK) * sizeof(*parts);
	const off_t at = (off_t)((host->first_part + from) * sizeof(*parts));
	const ssize_t len = size ? pread(archive->spool, parts, size, at) : 0;

	if (len < 0)
		return -errno;
	return len == (ssize_t)size ? len / (ssize_t)sizeof(*parts) : -EIO;
}

void otf2_release(struct otf2_archive *archive)
{
	for (size_t i = 0; i < archive->num_hosts; i++) {
		free(archive->host[i].name);
		free(archive->host[i].offset);
		free(archive->host[i].location);
	}
	free(archive->host);
	free(archive->comm);
	free(archive->block);
	free(archive->damage);
	free(archive->failure);
	if (archive->spool >= 0)
		close(archive->spool);
}
