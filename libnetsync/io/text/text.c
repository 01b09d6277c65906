// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Text inputs in all formats. Each text is read twice. The first time, only names of hosts are
 * read, because hosts are numbered by name, not by their order in the files.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "io/text/text.h"
#include "util/array.h"
#include "util/utf8.h"

/* Number of lines between two reports of progress. Chosen. */
#define LINES_PER_STEP 65536

/* ---- helpers for formats ------------------------------------------------ */

const char *quote_word(char *quote, const struct text_word *word)
{
	size_t i;

	for (i = 0; i < word->len && i < QUOTE_SIZE - 4; i++) {
		unsigned char c = (unsigned char)word->text[i];

		quote[i] = c < ' ' || c >= 0x7f ? '?' : word->text[i];
	}
	strcpy(quote + i, i < word->len ? "..." : "");
	return quote;
}

int count_words(const char *p)
{
	struct text_word word;
	int n;

	for (n = 0; !lines_is_end(p); n++) {
		p = lines_parse_word(p, &word);
		if (!word.len)
			return INT_MAX;
	}
	return n;
}

int find_bad_integer(struct text_lines *l, const char **p, const char *const *columns, int num)
{
	char quote[QUOTE_SIZE];
	struct text_word word;
	int64_t value;

	for (int i = 0; i < num && !lines_is_end(*p); i++) {
		const char *next = lines_parse_word(*p, &word);

		if (!lines_parse_integer(*p, &value))
			return lines_reject(l, *p, "%s is %s, which is not a 64-bit integer",
					    columns[i], quote_word(quote, &word));
		*p = next;
	}
	return 1;
}

int text_reject_host(struct text_input *text, const char *p)
{
	struct text_lines *l = &text->lines;

	if (l->io->hosts.num < IO_MAX_HOSTS)
		return lines_reject(
			l, p, "its host name is not valid UTF-8, or contains control characters");
	return lines_reject(
		l, p,
		"it names another host after %d hosts, and netsync does not support more; check which column contains the hosts",
		IO_MAX_HOSTS);
}

int text_check_push(struct text_input *text, const char *p, int ret)
{
	struct text_lines *l = &text->lines;
	const char *error = netsync_error(l->io->ns);

	if (!ret) {
		lines_skip(l, p);
		return 1;
	}
	if (ret == -ENOMEM)
		return io_fail(l->io, ret, "%s: %s.", l->path, error);
	return lines_reject(l, p, "%s", error);
}

/* ---- opening ----------------------------------------------------------- */

void io_free_text(struct text_input *text)
{
	if (!text)
		return;
	if (text->format->close)
		text->format->close(text);
	lines_close(&text->lines);
	free(text->path);
	free(text);
}

/* Find the text input that is the same file. If there is none, return NULL. */
static const struct text_input *find_same_text(const struct netsync_io *io, const struct stat *st)
{
	for (size_t i = 0; i < io->num_texts; i++)
		if (io->texts[i]->st.st_dev == st->st_dev && io->texts[i]->st.st_ino == st->st_ino)
			return io->texts[i];
	return NULL;
}

const char *io_find_text(const struct netsync_io *io, const struct stat *st)
{
	const struct text_input *same = find_same_text(io, st);

	return same ? same->lines.path : NULL;
}

static int open_text(struct netsync_io *io, struct text_input *text, bool strict)
{
	int ret = lines_open(&text->lines, io, text->path, strict);
	const char *same;

	if (ret < 0)
		return ret;
	text->st = text->lines.file.from->st;
	same = io_find_text(io, &text->st);
	if (!same)
		same = io_find_kept(io, &text->st);
	return same ? io_fail(io, -EEXIST,
			      "%s: this file was already given as %s; specify each file once.",
			      text->lines.path, same) :
		      0;
}

static int add_text_input(struct netsync_io *io, const char *path, bool strict,
			  const struct text_format *format)
{
	struct text_input *text, **last;
	int ret;

	ret = io_check_can_add(io, path);
	if (ret < 0)
		return ret;
	last = array_add(&io->texts, io->num_texts, sizeof(*last));
	text = last ? calloc(1, sizeof(*text)) : NULL;
	if (!text)
		return io_fail_no_memory(io);
	text->format = format;
	text->path = strdup(path);
	ret = text->path ? open_text(io, text, strict) : io_fail_no_memory(io);
	if (ret < 0) {
		io_free_text(text);
		return ret;
	}
	*last = text;
	io->num_texts++;
	return 0;
}

int netsync_io_add_messages(struct netsync_io *io, const char *path, int strict)
{
	return add_text_input(io, path, strict, &message_format);
}

int netsync_io_add_packets(struct netsync_io *io, const char *path, int strict)
{
	return add_text_input(io, path, strict, &packet_format);
}

int netsync_io_add_clocks(struct netsync_io *io, const char *path, int strict)
{
	return add_text_input(io, path, strict, &clock_format);
}

/* ---- reading ----------------------------------------------------------- */

static int report_text_progress(const struct text_input *text, uint64_t before)
{
	const struct text_lines *l = &text->lines;
	const uint64_t done = l->file.compression ? l->file.file_at : l->done;
	double part = l->size ? (double)done / (double)l->size : 1;

	if (l->number % LINES_PER_STEP)
		return 0;
	return io_report_progress(l->io, before + (uint64_t)(part * TEXT_STEPS));
}

/*
 * Call @use for each line, except the line with the names of columns. Report the progress, unless
 * @done is NULL.
 */
static int for_each_text_line(struct text_input *text, uint64_t *done,
			      int (*use)(struct text_input *text, const char *p))
{
	struct text_lines *l = &text->lines;
	const char *p;
	int ret = lines_rewind(l);

	if (!ret && text->format->head && (p = lines_next(l)))
		ret = text->format->head(text, p);
	while (ret >= 0 && (p = lines_next(l))) {
		ret = use(text, p);
		if (ret >= 0 && done)
			ret = report_text_progress(text, *done);
	}
	if (done)
		*done += TEXT_STEPS;
	return ret < 0 ? ret : l->error;
}

static bool are_hosts_known(const struct text_input *text, const struct text_word *hosts, int num)
{
	for (int i = 0; i < num; i++)
		if (!names_find(&text->lines.io->hosts, &hosts[i]))
			return false;
	return num;
}

/* Add the hosts of a line, if the line is valid. */
static int find_hosts_of_line(struct text_input *text, const char *p)
{
	struct text_lines *l = &text->lines;
	struct text_word hosts[MAX_HOSTS_IN_LINE];
	int num = text->format->hosts(text, p, hosts), ret;

	if (are_hosts_known(text, hosts, num)) {
		lines_skip(l, p);
		return 0;
	}
	ret = text->format->line(text, p);
	if (ret <= 0)
		return ret;
	for (int i = 0; i < num; i++) {
		/*
		 * A name must be plain text, without control characters that a terminal would
		 * interpret.
		 */
		if (!utf8_is_plain(hosts[i].text, hosts[i].len))
			continue;
		if (l->io->hosts.num < IO_MAX_HOSTS && !names_add(&l->io->hosts, &hosts[i]))
			return io_fail_no_memory(l->io);
	}
	return 0;
}

int io_find_hosts_in_texts(struct netsync_io *io, uint64_t *done)
{
	int ret = 0;

	for (size_t i = 0; i < io->num_texts && !ret; i++) {
		struct text_lines *l = &io->texts[i]->lines;

		ret = lines_make_seekable(l);
		l->quiet = true;
		if (!ret)
			ret = for_each_text_line(io->texts[i], done, find_hosts_of_line);
		l->quiet = false;
	}
	return ret;
}

int io_observe_texts(struct netsync_io *io)
{
	int ret = 0;

	for (size_t i = 0; i < io->num_texts && !ret; i++) {
		struct text_input *text = io->texts[i];

		if (text->format != &packet_format)
			continue;
		text->lines.quiet = true;
		ret = for_each_text_line(text, NULL, text->format->line);
		text->lines.quiet = false;
	}
	return ret;
}

static int read_text_line(struct text_input *text, const char *p)
{
	int ret = text->format->line(text, p);

	text->used += ret == 1;
	return ret;
}

static int check_lines_used(const struct text_input *text)
{
	const struct text_lines *l = &text->lines;

	lines_warn_of_bad(l);
	if (text->used)
		return 0;
	if (l->bad)
		return io_fail(l->io, -ENODATA,
			       "%s: no usable lines; see netsync-%ss(5) for the format.", l->path,
			       text->format->things);
	return io_fail(l->io, -ENODATA,
		       "%s: no lines other than comments; see netsync-%ss(5) for the format.",
		       l->path, text->format->things);
}

static int read_texts(struct netsync_io *io, uint64_t *done, bool clocks)
{
	int ret = 0;

	for (size_t i = 0; i < io->num_texts && !ret; i++) {
		if ((io->texts[i]->format == &clock_format) != clocks ||
		    (!clocks && !io_reads_texts(io)))
			continue;
		ret = for_each_text_line(io->texts[i], done, read_text_line);
		if (!ret)
			ret = check_lines_used(io->texts[i]);
	}
	return ret;
}

int io_read_texts(struct netsync_io *io, uint64_t *done)
{
	/* The steering of a clock must be known before packets of the clock's host are pushed. */
	int ret = read_texts(io, done, true);

	return ret ? ret : read_texts(io, done, false);
}

/* ---- sidecar files ------------------------------------------------------ */

/* Read how a clock was steered from a sidecar file. The trace is read even if this fails. */
static int read_sidecar_clocks(struct netsync_io *io, struct trace *trace, char *path,
			       struct disk_file *file)
{
	struct text_input text = {
		.format = &clock_format,
		.path = path,
		.trace = trace,
	};
	int ret = lines_open_from(&text.lines, io, path, false, file);

	text.st = file->st;
	if (!ret && !find_same_text(io, &text.st)) {
		ret = for_each_text_line(&text, NULL, read_text_line);
		lines_warn_of_bad(&text.lines);
	}
	lines_close(&text.lines);
	if (ret < 0 && ret != -ENOMEM) {
		io_warn(io, "%s: cannot be read (%s), so it is unknown how the clock was steered.",
			path, strerror(-ret));
		ret = 0;
	}
	return ret;
}

/*
 * Open the sidecar file with readings of the trace's clock. Only LTTng's default clock and
 * CLOCK_REALTIME can have a sidecar file.
 */
static struct disk_file *open_sidecar_clocks(const struct trace *trace, char **path)
{
	*path = NULL;
	if (!trace->clock_name)
		return io_open_sidecar(trace, SIDECAR_CLOCKS, path);
	return strcmp(trace->clock_name, "realtime") ?
		       NULL :
		       io_open_sidecar(trace, SIDECAR_REALTIME, path);
}

int io_read_sidecar_clocks(struct netsync_io *io, const struct io_host *hosts, size_t num)
{
	int ret = 0;

	for (size_t i = 0; i < num && !ret; i++) {
		struct trace *base = hosts[i].base;
		char *path = NULL;
		struct disk_file *file = base ? open_sidecar_clocks(base, &path) : NULL;

		if (file)
			ret = read_sidecar_clocks(io, base, path, file);
		free(path);
	}
	return ret;
}
