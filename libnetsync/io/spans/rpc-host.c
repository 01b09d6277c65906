// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The spans of each host -> records, which one reading of the file writes to an unnamed temporary
 * file, and which are read when they are due. Memory does not depend on the number of spans.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/spans/rpc.h"
#include "io/spans/span-name.h"
#include "util/array.h"
#include "util/scratch.h"

/* Times before this one (ns since 1970) are of clocks that were never set: 2001. */
#define RPC_FIRST_NS INT64_C(1000000000000000000)
/*
 * Maximum duration of a span, and time between spans of a host (ns). Chosen: nobody keeps traces for
 * ten years, and spans that never ended have absurd times.
 */
#define RPC_LONGEST_NS INT64_C(315360000000000000)

/* ---- hosts ------------------------------------------------------------------ */

static struct rpc_host *add_rpc_host(struct rpc_file *file, struct name *name, const char *text)
{
	struct rpc_host *host;

	if (array_grow(&file->host, &file->host_room, file->num_hosts, sizeof(*host)))
		return NULL;
	host = &file->host[file->num_hosts];
	*host = (struct rpc_host){ .name = strdup(text), .range.hi = -1 };
	host->record = malloc(RPC_BLOCK * sizeof(*host->record));
	name->number = (int)file->num_hosts++;
	return host->name && host->record ? host : NULL;
}

/* Find or add a host. Return NULL if out of memory. */
static struct rpc_host *find_rpc_host(struct rpc_file *file, const char *text)
{
	char padded[sizeof(((struct rpc_origin *)0)->host) + WORD_SLACK] = "";
	const struct text_word word = { padded, strlen(text) };
	struct name *name;

	memcpy(padded, text, word.len);
	name = names_add(&file->by_name, &word);
	if (!name)
		return NULL;
	return name->number >= 0 ? &file->host[name->number] : add_rpc_host(file, name, text);
}

static bool has_rpc_host(const struct rpc_file *file, const char *text)
{
	char padded[sizeof(((struct rpc_origin *)0)->host) + WORD_SLACK] = "";
	const struct text_word word = { padded, strlen(text) };

	memcpy(padded, text, word.len);
	return names_find(&file->by_name, &word);
}

void rpc_release_hosts(struct rpc_file *file)
{
	for (size_t i = 0; i < file->num_hosts; i++) {
		free(file->host[i].name);
		free(file->host[i].record);
		free(file->host[i].block);
	}
	free(file->host);
	names_release(&file->by_name);
	names_release(&file->names);
	if (file->spool >= 0)
		close(file->spool);
}

/* ---- times ------------------------------------------------------------------ */

int64_t rpc_get_end(const struct rpc_span *span)
{
	int64_t end = span->end;

	if (end < 0 &&
	    (span->duration < 0 || __builtin_add_overflow(span->start, span->duration, &end)))
		end = span->start;
	return end;
}

bool rpc_get_times(const struct rpc_file *file, const struct rpc_span *span, int64_t *start_ns,
		   int64_t *end_ns)
{
	const int64_t end = rpc_get_end(span);

	return span->start >= 0 && end >= span->start &&
	       !__builtin_mul_overflow(span->start, file->format->unit_ns, start_ns) &&
	       !__builtin_mul_overflow(end, file->format->unit_ns, end_ns) &&
	       *start_ns >= RPC_FIRST_NS && *end_ns - *start_ns <= RPC_LONGEST_NS;
}

static bool is_near_range(const struct range *range, int64_t time_ns)
{
	return range->hi < range->lo || (time_ns / 2 - range->hi / 2 <= RPC_LONGEST_NS / 2 &&
					 range->lo / 2 - time_ns / 2 <= RPC_LONGEST_NS / 2);
}

int64_t rpc_get_resolution(const struct rpc_file *file, const struct rpc_host *host)
{
	const int64_t unit_ns = file->format->unit_ns;
	const int64_t found_ns = !host->has_us ? 1000000 : !host->has_ns ? 1000 : 1;

	return found_ns > unit_ns ? found_ns : unit_ns;
}

/* ---- records ---------------------------------------------------------------- */

static int write_rpc_block(struct rpc_file *file, struct rpc_host *host)
{
	const size_t size = RPC_BLOCK * sizeof(*host->record);
	ssize_t len;

	if (!host->num_records)
		return 0;
	if (file->spool < 0)
		file->spool = scratch_open_file();
	if (array_grow(&host->block, &host->block_room, host->num_blocks, sizeof(*host->block)))
		return io_fail_no_memory(file->io);
	len = file->spool < 0 ? -1 :
				pwrite(file->spool, host->record, size, (off_t)file->spool_size);
	if (len != (ssize_t)size)
		return io_fail(
			file->io, len < 0 ? -errno : -ENOSPC,
			"%s: writing its spans to a temporary file in %s failed: %s. Set TMPDIR to a directory with more space.",
			file->path, scratch_get_folder(false), strerror(len < 0 ? errno : ENOSPC));
	host->block[host->num_blocks++] = file->spool_size;
	file->spool_size += size;
	host->num_records = 0;
	return 0;
}

ssize_t rpc_read_block(const struct rpc_file *file, const struct rpc_host *host, size_t block,
		       struct rpc_record records[RPC_BLOCK])
{
	const size_t size = RPC_BLOCK * sizeof(*records);
	ssize_t len;

	if (block == host->num_blocks) {
		memcpy(records, host->record, host->num_records * sizeof(*records));
		return (ssize_t)host->num_records;
	}
	len = block < host->num_blocks ?
		      pread(file->spool, records, size, (off_t)host->block[block]) :
		      0;
	return len < 0 ? -errno : len / (ssize_t)sizeof(*records);
}

static int add_rpc_record(struct rpc_file *file, struct rpc_host *host,
			  const struct rpc_record *new, const struct rpc_id *of)
{
	struct rpc_record *record;
	int ret = host->num_records == RPC_BLOCK ? write_rpc_block(file, host) : 0;

	if (ret < 0)
		return ret;
	record = &host->record[host->num_records++];
	*record = *new;
	memcpy(record->id.trace, of->trace, sizeof(of->trace));
	record->of = of->span;
	return 0;
}

/* Add a record for each other span that this one is related to. */
static int add_rpc_records(struct rpc_file *file, struct rpc_host *host,
			   const struct rpc_span *span, const struct rpc_record *new)
{
	int ret = 0;

	if (span->kind == RPC_CLIENT || span->kind == RPC_PRODUCER)
		return add_rpc_record(file, host, new, &span->id);
	/* Some libraries say "shared" although the server has an identifier of its own. */
	if (span->is_shared)
		ret = add_rpc_record(file, host, new, &span->id);
	if (span->parent.span && !ret)
		ret = add_rpc_record(file, host, new, &span->parent);
	for (size_t i = 0; i < span->num_links && span->kind == RPC_CONSUMER && !ret; i++)
		ret = add_rpc_record(file, host, new, &span->link[i]);
	return ret;
}

int rpc_keep_span(struct rpc_file *file, const struct rpc_span *span, const char *text)
{
	struct rpc_record new = { .id = span->id, .kind = (uint8_t)span->kind };
	struct rpc_host *host;

	if (!text)
		return 0;
	if (!span->id.span || (!span->id.trace[0] && !span->id.trace[1]))
		return rpc_skip_span(file, RPC_BAD_ID, span);
	if (!rpc_get_times(file, span, &new.start_ns, &new.end_ns))
		return rpc_skip_span(file, RPC_BAD_TIME, span);
	if (file->num_hosts >= IO_MAX_HOSTS && !has_rpc_host(file, text))
		return rpc_skip_span(file, RPC_MANY_HOSTS, span);
	host = find_rpc_host(file, text);
	if (!host)
		return io_fail_no_memory(file->io);
	if (!is_near_range(&host->range, new.start_ns))
		return rpc_skip_span(file, RPC_BAD_TIME, span);
	range_extend(&host->range, new.start_ns, new.end_ns);
	host->has_ns |= new.start_ns % 1000 || new.end_ns % 1000;
	host->has_us |= new.start_ns % 1000000 || new.end_ns % 1000000;
	host->spans++;
	if (span->kind < RPC_SERVER)
		return 0;
	new.name = span_name_keep(&file->names, span->name);
	if (!new.name)
		return io_fail_no_memory(file->io);
	new.has_failed = span->has_failed;
	return add_rpc_records(file, host, span, &new);
}
