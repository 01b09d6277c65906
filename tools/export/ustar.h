/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write tar archives (POSIX.1-1988 ustar) of regular files.
 *
 * libarchive would be a new dependency, and Perfetto rejects its archives: Perfetto's reader
 * (tar_trace_reader.cc) requires sizes that end with a NUL, where libarchive's ustar writes a space,
 * and no extended headers, which libarchive's pax adds for large files.
 */
#ifndef NETSYNC_EXPORT_USTAR_H
#define NETSYNC_EXPORT_USTAR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Maximum length of a member's name in bytes, without NUL: Perfetto's page reads no longer ones. */
#define USTAR_NAME_LENGTH 99

/*
 * Write the header of a member. The caller writes @size bytes next, and then calls
 * ustar_put_padding(). @mtime_s is the modification time, s since 1970. Return false if writing
 * failed, or if the name is empty or too long, with errno set.
 */
bool ustar_put_header(FILE *out, const char *name, uint64_t size, int64_t mtime_s);
/* Fill the last block of a member of @size bytes. */
bool ustar_put_padding(FILE *out, uint64_t size);
/* Write the end of the archive. */
bool ustar_put_end(FILE *out);

/*
 * Write a member from @from, which is at its beginning. If @from has fewer than @size bytes, fail
 * with ESTALE; if it has more, ignore these.
 */
bool ustar_put_file(FILE *out, const char *name, FILE *from, uint64_t size, int64_t mtime_s);

#endif
