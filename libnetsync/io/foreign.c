// SPDX-License-Identifier: LGPL-2.1-or-later
/* Identify a file that no reader accepts by its first bytes and its name. Suggest what to do. */
#include <ctype.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "io/io.h"
#include "io/unpack/unpack.h"

/* A format that has certain bytes at a certain offset. */
struct foreign {
	size_t at;
	const char *magic;
	size_t magic_size;
	bool looks_like; /* whether the file may contain a trace */
	const char *why; /* why the file is not a trace, and what to do */
};

#define MAGIC(bytes) bytes, sizeof(bytes) - 1

#define IS_METADATA \
	"this is the metadata file of a CTF trace; specify the directory that contains it."
#define IS_STREAM \
	"this is a stream file of a CTF trace; specify the directory that contains it and the metadata."
#define IS_OTHER_CAPTURE(of) \
	"this is a capture in the format of " of "; convert it first (editcap -F pcapng)."

static const struct foreign foreign[] = {
	/* CTF 1.8 (specification 1.8.3, 5.2 and 7.1) in both byte orders, and CTF 2. */
	{ 0, MAGIC("\x57\x1d\xd1\x75"), true, IS_METADATA },
	{ 0, MAGIC("\x75\xd1\x1d\x57"), true, IS_METADATA },
	{ 0, MAGIC("/* CTF 1.8"), true, IS_METADATA },
	{ 0, MAGIC("\x1e{"), true, IS_METADATA },
	{ 0, MAGIC("\xc1\x1f\xfc\xc1"), true, IS_STREAM },
	{ 0, MAGIC("\xc1\xfc\x1f\xc1"), true, IS_STREAM },
	/* Other capture formats that Wireshark reads. */
	{ 0, MAGIC("snoop\0\0\0"), true, IS_OTHER_CAPTURE("snoop") },
	{ 0, MAGIC("GMBU"), true, IS_OTHER_CAPTURE("Network Monitor") },
	{ 0, MAGIC("\x34\xcd\xb2\xa1"), true, IS_OTHER_CAPTURE("a modified libpcap") },
	{ 0, MAGIC("\xa1\xb2\xcd\x34"), true, IS_OTHER_CAPTURE("a modified libpcap") },
	/* The anchor file of an archive has a reader. */
	{ 0, MAGIC(IO_OTF2_CHUNK), false,
	  "this is a part of an OTF2 archive; specify its anchor file (NAME.otf2), or the directory that contains it." },
	/* Archives, and files compressed with unsupported methods. */
	{ 257, MAGIC("ustar"), true,
	  "this is a tar archive; unpack it (tar -xf), and specify the directory or files in it." },
	{ 0, MAGIC("PK\x03\x04"), true,
	  "this is a zip archive; unpack it (unzip), and specify the directory or files in it." },
	{ 0, MAGIC("7z\xbc\xaf\x27\x1c"), true,
	  "this is a 7z archive; unpack it (7z x), and specify the directory or files in it." },
	{ 0, MAGIC("Rar!\x1a\x07"), true,
	  "this is a rar archive; unpack it (unrar x), and specify the directory or files in it." },
	{ 0, MAGIC("BZh"), false,
	  "it is compressed with bzip2, which netsync does not read; decompress it first (bunzip2)." },
	{ 0, MAGIC("\x1f\x9d"), false,
	  "it is compressed with compress, which netsync does not read; decompress it first (uncompress)." },
	{ 0, MAGIC("LZIP"), false,
	  "it is compressed with lzip, which netsync does not read; decompress it first (lzip -d)." },
	{ 0, MAGIC("\x89LZO\0"), false,
	  "it is compressed with lzop, which netsync does not read; decompress it first (lzop -d)." },
	{ 0, MAGIC("\x02\x21\x4c\x18"), false,
	  "it is compressed in the legacy lz4 format, which netsync does not read; decompress it first (unlz4)." },
};

/* Name extensions of traces, captures and archives, in lower case. */
static const char *const suffixes[] = {
	"pcap",	 "pcapng", "cap", "dmp", "dump", "ctf",	 "perf", "dat", "data",
	"snoop", "erf",	   "tar", "tgz", "txz",	 "tzst", "zip",	 "7z",	"rar",
};

/* ---- names ----------------------------------------------------------------- */

/*
 * Return whether the word is a known extension. The number of a rotated file may follow the
 * extension.
 */
static bool is_known_suffix(const char *word, size_t len)
{
	while (len && isdigit((unsigned char)word[len - 1]))
		len--;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (strlen(suffixes[i]) == len && !strncasecmp(word, suffixes[i], len))
			return true;
	return false;
}

/* Return whether the name looks like "web.pcap", "web.pcap.gz", "web.pcap12" or "trace.dat". */
static bool has_name_of_trace(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *dot = strchr(slash ? slash + 1 : path, '.');

	while (dot) {
		const char *word = dot + 1;
		const size_t len = strcspn(word, ".");

		if (is_known_suffix(word, len))
			return true;
		dot = word[len] ? word + len : NULL;
	}
	return false;
}

/* ---- contents -------------------------------------------------------------- */

static const struct foreign *find_foreign_format(const struct found *found)
{
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
		const struct foreign *f = &foreign[i];

		if (found->head_len >= f->at + f->magic_size &&
		    !memcmp(found->head + f->at, f->magic, f->magic_size))
			return f;
	}
	return NULL;
}

static bool is_text_file(const struct found *found)
{
	for (size_t i = 0; i < found->head_len; i++)
		if (found->head[i] < ' ' && !isspace(found->head[i]))
			return false;
	return true;
}

/* Return whether "netsync sync --format json" has written the file. */
static bool is_result_file(const struct found *found)
{
	return found->head[0] == '{' && memmem(found->head, found->head_len, "\"netsync-1\"", 11);
}

static const char *explain_unknown_file(const struct found *found)
{
	if (!found->head_len)
		return "the file is empty: nothing was written to it, or it was not copied completely.";
	if (is_result_file(found))
		return "this is a result of netsync sync, not a trace; netsync apply, convert, export, report, states and path take results with --model. Here, specify traces.";
	if (is_text_file(found))
		return "this text is not a trace in a known format; if its lines are messages, packets or clock readings, specify the file with --messages, --packets or --clocks.";
	return "this is not a trace in a known format; known formats are captures (pcap, pcapng), trace.dat, perf.data, traces of Perfetto, JSON of PyTorch's profiler, OpenTelemetry, Jaeger and Zipkin, OTF2 archives, and directories that contain a CTF trace.";
}

char *io_explain_foreign(const struct found *found, bool *looks_like)
{
	const struct compression *c = found->compression;
	const struct foreign *f = find_foreign_format(found);

	*looks_like = (f && f->looks_like) || found->is_claimed || has_name_of_trace(found->path);
	if (c && !c->begin)
		return io_format(
			"it is compressed with %s, and this netsync was built without support for it; decompress it first (%s).",
			c->name, c->command);
	if (found->damage)
		return io_format("%s.", found->damage);
	if (found->is_claimed)
		return io_format(
			"it is compressed with %s, but traces of this format are only read uncompressed; decompress it first (%s).",
			c->name, c->command);
	if (f)
		return strdup(f->why);
	return strdup(explain_unknown_file(found));
}
