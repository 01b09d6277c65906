// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read lines, words and numbers from a file or pipe in a single pass over its bytes. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/io.h"
#include "io/patience.h"
#include "io/text/lines.h"
#include "util/scratch.h"

/*
 * Size of the buffer, and maximum length of a line (bytes). Chosen to fit in the processor's cache.
 */
#define BUFFER_SIZE (256 * 1024)
/*
 * Number of bytes that are allocated behind the buffer. Integers are read in steps of eight bytes,
 * and a blank is added.
 */
#define SLACK 16
/* Number of bad lines that are reported one by one. Chosen. */
#define MOST_REPORTED 3

/* ---- files ------------------------------------------------------------- */

int lines_open(struct text_lines *l, struct netsync_io *io, const char *path, bool strict)
{
	static const char input[] = "standard input";
	const bool is_stdin = !strcmp(path, "-");
	const bool is_open = io_is_open_file(path);
	const int fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) :
		       is_open	? open(path, O_RDONLY | O_CLOEXEC) :
				  -1;

	return lines_open_from(l, io, is_stdin ? input : path, strict,
			       is_stdin || is_open ?
				       disk_adopt_fd(io_get_disk(io), fd, is_stdin ? input : path) :
				       disk_open(io_get_disk(io), path, O_RDONLY));
}

int lines_open_from(struct text_lines *l, struct netsync_io *io, const char *path, bool strict,
		    struct disk_file *from)
{
	*l = (struct text_lines){ .io = io, .strict = strict, .path = path, .file.from = from };
	if (!from)
		return io_fail_file(io, path, -errno);
	l->buffer = malloc(BUFFER_SIZE + SLACK);
	if (!l->buffer)
		return io_fail_no_memory(io);
	return S_ISDIR(from->st.st_mode) ? io_fail_file(io, path, -EISDIR) : 0;
}

static bool write_copied_lines(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0) {
			data += n;
			size -= (size_t)n;
		}
	}
	return true;
}

static int copy_lines_to(struct text_lines *l, int fd)
{
	for (uint64_t at = 0;;) {
		const ssize_t n = io_read_pipe(l->io, l->path, l->file.from->fd, l->buffer,
					       BUFFER_SIZE);
		const int ret = io_report_progress(l->io, 0);

		if (ret < 0)
			return ret;
		if (n == -ETIMEDOUT && at && !l->strict)
			return io_note_broken_off(l->io, l->path, at, STUCK_PIPE);
		if (n < 0)
			return io_fail_file(l->io, l->path, (int)n);
		at += (uint64_t)n;
		if (n > 0 && !write_copied_lines(fd, l->buffer, (size_t)n))
			return io_fail(l->io, -errno, "Cannot copy %s to $TMPDIR or /tmp: %s.",
				       l->path, strerror(errno));
		if (!n)
			return 0;
	}
}

int lines_make_seekable(struct text_lines *l)
{
	int fd, ret;

	if (S_ISREG(l->file.from->st.st_mode))
		return 0;
	fd = scratch_open_file();
	if (fd < 0)
		return io_fail(l->io, -errno,
			       "Cannot create a file in $TMPDIR or /tmp for a copy of %s: %s.",
			       l->path, strerror(errno));
	ret = copy_lines_to(l, fd);
	disk_close(l->file.from);
	l->file.from = disk_adopt_fd(NULL, fd, l->path);
	return ret || l->file.from ? ret : io_fail_file(l->io, l->path, -errno);
}

static int fail_lines_open(struct text_lines *l, int err)
{
	const struct compression *c = l->file.compression;

	if (err != -ENOSYS)
		return io_fail_file(l->io, l->path, err);
	return io_fail(l->io, err, NOT_BUILT_IN, l->path, c->name, c->command);
}

int lines_rewind(struct text_lines *l)
{
	if (!l->is_open) {
		const int ret = unpacked_open(&l->file, l->file.from);

		if (ret)
			return fail_lines_open(l, ret);
		l->is_open = true;
	}
	l->size = (uint64_t)l->file.from->st.st_size;
	l->done = 0;
	l->number = 0;
	l->bad = 0;
	l->error = 0;
	l->skip = false;
	l->ended = false;
	l->at = l->end = l->filled = l->buffer;
	return 0;
}

void lines_close(struct text_lines *l)
{
	unpacked_close(&l->file);
	free(l->buffer);
}

/* ---- lines ------------------------------------------------------------- */

void lines_skip(struct text_lines *l, const char *at)
{
	const char *end = memchr(at, '\n', (size_t)(l->end - at));

	l->at = end + 1;
}

/*
 * Report that the rest of the file is damaged. The lines before the damage are used. Return 0 or
 * -ENOMEM.
 */
static int report_damaged_lines(const struct text_lines *l)
{
	if (l->quiet)
		return 0;
	if (disk_is_stuck(l->file.from))
		return io_note_broken_off(l->io, l->path, l->done, l->file.damage);
	io_warn(l->io, "%s: read only up to byte %llu (%s).", l->path, (unsigned long long)l->done,
		l->file.damage);
	return 0;
}

/* Read more data after l->filled. Return the number of bytes, 0 at the end, or a negative value. */
static ssize_t read_more_lines(struct text_lines *l)
{
	ssize_t n = unpacked_read(&l->file, (char *)l->filled,
				  (size_t)(l->buffer + BUFFER_SIZE - l->filled), l->done);

	if (n == -EILSEQ && !l->strict)
		n = l->error = report_damaged_lines(l);
	else if (n == -EILSEQ)
		l->error = io_fail(l->io, (int)n, "%s: %s.", l->path, l->file.damage);
	else if (n < 0)
		l->error = io_fail_file(l->io, l->path, (int)n);
	if (n < 0)
		return n;
	l->filled += n;
	l->done += (uint64_t)n;
	if (!n && l->filled > l->buffer) {
		*(char *)l->filled++ = '\n';
		l->ended = true;
	}
	return n;
}

/* Find the end of the last complete line. */
static void find_last_line_end(struct text_lines *l)
{
	const char *last = memrchr(l->buffer, '\n', (size_t)(l->filled - l->buffer));

	l->at = l->buffer;
	l->end = last ? last + 1 : l->buffer;
}

/* Skip the byte order mark, which some editors write before the first line. */
static void skip_byte_order_mark(struct text_lines *l)
{
	static const char mark[] = "\xef\xbb\xbf";

	if (!l->number && (size_t)(l->end - l->at) > strlen(mark) &&
	    !memcmp(l->at, mark, strlen(mark)))
		l->at += strlen(mark);
}

/* Drop the contents of the full buffer, in which no line ends. */
static void drop_overlong_line(struct text_lines *l)
{
	if (!l->skip) {
		l->number++;
		l->error = lines_reject(l, NULL, "it is longer than %d bytes", BUFFER_SIZE);
	}
	l->skip = true;
	l->filled = l->buffer;
}

bool lines_fill_buffer(struct text_lines *l)
{
	size_t rest = (size_t)(l->filled - l->end);

	if (l->ended || l->error)
		return false;
	memmove(l->buffer, l->end, rest);
	l->filled = l->buffer + rest;
	while (!l->error) {
		ssize_t n = read_more_lines(l);

		find_last_line_end(l);
		if (l->at < l->end && l->skip)
			lines_skip(l, l->at);
		if (l->at < l->end) {
			skip_byte_order_mark(l);
			l->skip = false;
			return true;
		}
		if (n <= 0)
			return false;
		if (l->end > l->buffer) {
			/* This is the rest of a line that is too long. */
			l->skip = false;
			memmove(l->buffer, l->end, (size_t)(l->filled - l->end));
			l->filled -= l->end - l->buffer;
		} else if (l->filled == l->buffer + BUFFER_SIZE) {
			drop_overlong_line(l);
		}
	}
	return false;
}

int lines_reject(struct text_lines *l, const char *at, const char *format, ...)
{
	va_list args;
	char *why;
	int ret = 0;

	if (at)
		lines_skip(l, at);
	if (l->quiet)
		return 0;
	l->bad++;
	l->last_bad = l->number;
	if (!l->strict && l->bad > MOST_REPORTED)
		return 0;
	va_start(args, format);
	if (vasprintf(&why, format, args) < 0)
		why = NULL;
	va_end(args);
	if (l->strict)
		ret = io_fail(l->io, -EILSEQ, "%s: line %llu: %s.", l->path,
			      (unsigned long long)l->number, why ? why : "");
	else
		io_warn(l->io, "%s: line %llu is not used: %s.", l->path,
			(unsigned long long)l->number, why ? why : "");
	free(why);
	return ret;
}

void lines_warn_of_bad(const struct text_lines *l)
{
	if (l->bad > MOST_REPORTED)
		io_warn(l->io,
			"%s: %llu lines in total are not used; the last one is line %llu. Use --strict to stop at the first invalid line.",
			l->path, (unsigned long long)l->bad, (unsigned long long)l->last_bad);
}

/* ---- integers ---------------------------------------------------------- */

/* Return whether all eight bytes are digits. The first one is the lowest byte. */
static bool are_eight_digits(uint64_t v)
{
	return ((v & UINT64_C(0xf0f0f0f0f0f0f0f0)) |
		(((v + UINT64_C(0x0606060606060606)) & UINT64_C(0xf0f0f0f0f0f0f0f0)) >> 4)) ==
	       UINT64_C(0x3333333333333333);
}

/*
 * Return the value of eight digits. Combine digits to pairs, pairs to groups of four, and then both
 * groups.
 */
static uint64_t convert_eight_digits(uint64_t v)
{
	v = (v & UINT64_C(0x0f0f0f0f0f0f0f0f)) * 2561 >> 8;
	v = (v & UINT64_C(0x00ff00ff00ff00ff)) * 6553601 >> 16;
	return (v & UINT64_C(0x0000ffff0000ffff)) * UINT64_C(42949672960001) >> 32;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

const char *lines_parse_integer(const char *p, int64_t *value)
{
	bool negative = *p == '-';
	const char *start = p += negative, *digits;
	uint64_t sum = 0, eight;

	while (*p == '0')
		p++;
	digits = p;
	for (int i = 0; i < 2; i++) {
		memcpy(&eight, p, sizeof(eight));
		eight = le64toh(eight);
		if (!are_eight_digits(eight))
			break;
		sum = sum * 100000000 + convert_eight_digits(eight);
		p += 8;
	}
	for (; is_digit(*p); p++)
		sum = sum * 10 + (uint64_t)(*p - '0');
	/* At most 19 digits fit into 64 bits, so the sum did not overflow. */
	if (p == start || (unsigned char)*p > ' ' || p - digits > 19 ||
	    sum > (uint64_t)INT64_MAX + negative)
		return NULL;
	*value = (int64_t)(negative ? -sum : sum);
	return lines_skip_blanks(p);
}
