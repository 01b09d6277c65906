/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Translate CTF 2 metadata to CTF 1.8 metadata (TSDL) that describes the same bytes. */
#ifndef NETSYNC_CTF2_H
#define NETSYNC_CTF2_H

/* First byte of each JSON text of the metadata (CTF2-SPEC-2.0, 5). */
#define CTF2_BEGIN 0x1e

/* Maximum size of a reason (bytes). Names in a reason are truncated. Chosen. */
#define CTF2_WHY_SIZE 160

/*
 * Translate metadata. Return 0 and set *@tsdl, which the caller frees, or return a negative errno
 * value. -ENOTSUP means that the metadata has a feature that CTF 1.8 lacks or that is not
 * supported. -EILSEQ means that the metadata violates the specification. For both, @why completes
 * "it has ...". -ENOMEM means that memory is exhausted.
 */
int ctf2_translate(const char *text, char **tsdl, char why[CTF2_WHY_SIZE]);

#endif
