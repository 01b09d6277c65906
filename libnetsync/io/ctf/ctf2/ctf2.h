/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metadata of CTF 2 -> metadata of CTF 1.8 (TSDL) that describe the same bytes. */
#ifndef NETSYNC_CTF2_H
#define NETSYNC_CTF2_H

/* Each JSON text of the metadata begins with it (CTF2-SPEC-2.0, 5). */
#define CTF2_BEGIN 0x1e

/* Bytes of a reason. Chosen; names in it are cut. */
#define CTF2_WHY_SIZE 160

/*
 * Translate metadata. 0: *@tsdl is to be freed with free(). -ENOTSUP: they have something
 * that CTF 1.8 has not, or that is not known here; @why is words for it, as in "it has
 * ...". -EILSEQ: they are not what the specification allows; @why as well. -ENOMEM.
 */
int ctf2_translate(const char *text, char **tsdl, char why[CTF2_WHY_SIZE]);

#endif
