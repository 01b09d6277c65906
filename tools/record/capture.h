/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recording packets on hosts that have nothing of netsync:
 *
 *	netsync-recorder of this machine, or tcpdump -- ssh --> DIR/HOST/packets.pcapng
 *
 * What arrives is written to that file. Only its greeting and the kind of the file are examined.
 * How the clock is steered arrives on standard error, and is written next to the capture.
 */
#ifndef NETSYNC_RECORD_CAPTURE_H
#define NETSYNC_RECORD_CAPTURE_H

#include <stdbool.h>

struct recorded_host;
struct record_run;
struct remote;

/*
 * What records packets; VIA_LTTNG: no capture. VIA_BEST: of the others, the best one that a host
 * has. VIA_AUTO, only in options: VIA_LTTNG, or VIA_BEST if some host has no LTTng.
 */
enum capture_via { VIA_LTTNG, VIA_PACKET, VIA_BPF, VIA_TCPDUMP, VIA_BEST, VIA_AUTO };
extern const char *const capture_via_names[];

/* Bytes of the name of an architecture, with a 0. Chosen; Linux has 65 for it. */
#define CAPTURE_ARCH_SIZE 33

/*
 * A host ends its recording if nothing was sent to it for this time, s: the network is broken.
 * Chosen: several periods of struct remote_work.alive.
 */
#define CAPTURE_SILENCE_S 60

/* The script for the shell of a host (record/capture-script.c). */
extern const char capture_script[];

/*
 * Part of a script: set place to the first folder in which programs may run, because a file
 * system may forbid execution (noexec); or to nothing. Files are removed, however the shell ends.
 */
#define CAPTURE_FIND_PLACE                                                            \
	"folder=\n"                                                                   \
	"trap 'rm -rf \"$folder\"' EXIT\n"                                            \
	"trap 'exit 1' HUP INT PIPE TERM\n"                                           \
	"place=\n"                                                                    \
	"for at in \"$XDG_RUNTIME_DIR\" /dev/shm /run /var/tmp /tmp \"$HOME\"; do\n"  \
	"	[ -d \"$at\" ] && folder=$(mktemp -d \"$at/netsync-XXXXXX\") || continue\n" \
	"	printf '#!/bin/sh\\nexit 0\\n' >\"$folder/recorder\" &&\n"                  \
	"		chmod 700 \"$folder/recorder\" && \"$folder/recorder\" && place=$at\n"     \
	"	rm -rf \"$folder\"; folder=\n"                                              \
	"	[ -z \"$place\" ] || break\n"                                               \
	"done 2>/dev/null\n"

/*
 * Check the options, and replace VIA_AUTO. False: they cannot be used together; a message was
 * printed.
 */
bool captures_check_options(struct record_run *rec);
/* Record on all hosts. Hosts that cannot are reported. False: no host records. */
bool captures_start(struct record_run *rec);
/* " (bpf)", what records the packets of a host, if the user did not choose that; otherwise "". */
const char *capture_source_text(const struct record_run *rec, const struct recorded_host *host);
/* Does the host still record? */
bool capture_is_running(struct record_run *rec, struct recorded_host *host);
/* End the recording, and wait for what hosts still have. */
void captures_stop(struct record_run *rec);
void captures_free(struct record_run *rec);

/* Can the file of --merge be written? Otherwise a message was printed. (record/merge.c) */
bool captures_check_merge(const char *path);
/*
 * Write the packets of captures, NAME=PATH, to the file of --merge, with the times of the result
 * at @model. Return the exit status.
 */
int captures_merge(const struct record_run *rec, char **traces, int num, const char *model);
/* The netsync-recorder of an architecture here; to be freed with free(). NULL: out of memory. */
char *capture_make_path_of_recorder(const char *arch);
/* The file of a host; to be freed with free(). NULL: out of memory. */
char *make_capture_path(const struct record_run *rec, const struct remote *remote);

#endif
