// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Translate a CTF 2 trace for a libbabeltrace2 that does not support CTF 2: make a scratch
 * directory with CTF 1.8 metadata (ctf2/) and links to the unchanged streams.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/ctf/ctf2/ctf2.h"
#include "io/ctf/files.h"

/*
 * Maximum size of metadata (bytes). Chosen to be many times the size of a description of all kernel
 * events.
 */
#define MAX_METADATA (64 << 20)

int ctf_fail_too_new(struct trace *trace, const char *what)
{
	return io_fail(
		trace->io, -EPROTONOSUPPORT,
		"%s: this CTF 2 trace has %s, which netsync reads only if it is built with Babeltrace 2.1 or later. Record with \"lttng create --trace-format=ctf-1.8\" (or start lttng-sessiond with --default-trace-format=ctf-1.8).",
		trace->path, what);
}

static int fail_to_write_metadata(const struct ctf_files *files, int ret)
{
	return io_fail(
		files->trace->io, ret,
		"%s: cannot create a directory below $TMPDIR to translate this CTF 2 trace to CTF 1.8: %s.",
		files->trace->path, strerror(-ret));
}

/* ---- metadata ---------------------------------------------------------- */

/*
 * Read the metadata, which must not contain a zero byte. Return 0. On failure, call io_fail() and
 * return a negative value.
 */
static int read_ctf2_metadata(const struct ctf_files *files, char **text)
{
	struct trace *trace = files->trace;
	FILE *file = fopen(files->metadata, "re");
	size_t size = 0;

	*text = malloc(MAX_METADATA + 1);
	if (file && *text)
		size = fread(*text, 1, MAX_METADATA + 1, file);
	if (file)
		fclose(file);
	if (!*text)
		return io_fail_no_memory(trace->io);
	if (size > MAX_METADATA)
		return ctf_fail_too_new(trace, "more than 64 MiB of metadata");
	(*text)[size] = '\0';
	return size && !memchr(*text, 0, size) ? 0 : ctf_fail_damaged_metadata(trace);
}

static int translate_metadata(const struct ctf_files *files, char **tsdl)
{
	char why[CTF2_WHY_SIZE], *text;
	int ret = read_ctf2_metadata(files, &text);

	if (!ret) {
		ret = ctf2_translate(text, tsdl, why);
		if (ret == -ENOTSUP)
			ret = ctf_fail_too_new(files->trace, why);
		else if (ret == -EILSEQ)
			ret = ctf_fail_damaged_metadata(files->trace);
		else if (ret)
			ret = io_fail_no_memory(files->trace->io);
	}
	free(text);
	return ret;
}

/* ---- the scratch directory --------------------------------------------- */

static int write_tsdl_metadata(const char *path, const char *text)
{
	FILE *file = fopen(path, "wex");
	bool ok = file && fputs(text, file) >= 0;

	if (file && fclose(file))
		ok = false;
	return ok ? 0 : -errno;
}

/* The directory of the original trace, and the directory of the translation. */
struct folders {
	const char *from;
	const char *to;
};

static int link_stream_file(void *folders, const char *name)
{
	const struct folders *f = folders;

	return ctf_scratch_link(f->to, f->from, name);
}

static int make_translated_folder(struct ctf_files *files, const char *tsdl)
{
	char *folder = NULL, *metadata = NULL;
	int ret = ctf_scratch_make(files);

	if (!ret)
		ret = ctf_scratch_folder(files, "whole", false, &folder);
	if (!ret) {
		metadata = io_format("%s/metadata", folder);
		ret = metadata ? write_tsdl_metadata(metadata, tsdl) : -ENOMEM;
	}
	if (!ret)
		ret = ctf_for_each_stream(files->trace->real_path, link_stream_file,
					  &(struct folders){ files->trace->real_path, folder });
	if (!ret)
		ret = ctf_set_folder(files, folder);
	free(folder);
	if (ret) {
		free(metadata);
		return fail_to_write_metadata(files, ret);
	}
	free(files->metadata);
	files->metadata = metadata;
	files->is_translated = true;
	return 0;
}

int ctf_translate_trace(struct ctf_files *files)
{
	char *tsdl;
	int ret = translate_metadata(files, &tsdl);

	if (ret)
		return ret;
	ret = make_translated_folder(files, tsdl);
	free(tsdl);
	return ret;
}
