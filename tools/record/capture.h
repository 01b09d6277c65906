/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recording of packets on hosts on which netsync is not installed:
 *
 *	netsync-recorder of this machine, or tcpdump -- ssh --> DIR/HOST/packets.pcapng
 *
 * The data from a host is written to that file. Only the greeting and the format of the capture are
 * examined. Readings of the host's clock arrive on standard error, and are written to a file next
 * to the capture.
 */
#ifndef NETSYNC_RECORD_CAPTURE_H
#define NETSYNC_RECORD_CAPTURE_H

#include <stdbool.h>

struct recorded_host;
struct record_run;
struct remote;

/*
 * Sources of packets, the best one first. VIA_LTTNG stands for no capture. VIA_BEST is the best of the other sources
 * that works on a host. VIA_AUTO occurs only in options, and stands for VIA_LTTNG, or for
 * VIA_BEST if some host has no LTTng.
 */
enum capture_via { VIA_LTTNG, VIA_MODULE, VIA_BPF, VIA_PACKET, VIA_TCPDUMP, VIA_BEST, VIA_AUTO };
extern const char *const capture_via_names[];

/*
 * Size of the name of an architecture, with a terminating NUL. Chosen; Linux has 65 bytes for
 * it.
 */
#define CAPTURE_ARCH_SIZE 33

/*
 * Time without data from netsync after which a host ends its recording, because the network is
 * broken, s. Chosen to be several periods of struct remote_work.alive.
 */
#define CAPTURE_SILENCE_S 60

/* The script for the shell of a host (record/capture-script.c). */
extern const char capture_script[];

/*
 * A part of a script. It sets "place" to the first directory in which programs may run, or to
 * nothing if there is no such directory, because a file system may forbid execution (noexec) or be
 * full: the program has less than 2 MiB. The files of this test are removed no matter how the shell
 * ends.
 */
#define CAPTURE_FIND_PLACE                                                            \
	"folder=\n"                                                                   \
	"trap 'rm -rf \"$folder\"' EXIT\n"                                            \
	"trap 'exit 1' HUP INT PIPE TERM\n"                                           \
	"place=\n"                                                                    \
	"for at in \"$XDG_RUNTIME_DIR\" /dev/shm /run /var/tmp /tmp \"$HOME\"; do\n"  \
	"	[ -d \"$at\" ] && folder=$(mktemp -d \"$at/netsync-XXXXXX\") || continue\n" \
	"	printf '#!/bin/sh\\nexit 0\\n' >\"$folder/recorder\" &&\n"                  \
	"		chmod 700 \"$folder/recorder\" && \"$folder/recorder\" &&\n"               \
	"		yes | head -c 2097152 >\"$folder/space\" && place=$at\n"                   \
	"	rm -rf \"$folder\"; folder=\n"                                              \
	"	[ -z \"$place\" ] || break\n"                                               \
	"done 2>/dev/null\n"

/*
 * Check the options, and replace VIA_AUTO. If they cannot be used together, print a message and
 * return false.
 */
bool captures_check_options(struct record_run *rec);
/*
 * Start recording on all hosts. Report the hosts that cannot record. Return false if no host
 * records.
 */
bool captures_start(struct record_run *rec);
/*
 * Return the source of a host's packets for messages, such as " (bpf)", or "" if the user chose
 * it.
 */
const char *capture_source_text(const struct record_run *rec, const struct recorded_host *host);
/* Does the host still record? */
bool capture_is_running(struct record_run *rec, struct recorded_host *host);
/* End the recording, and wait for the data that hosts still have to send. */
void captures_stop(struct record_run *rec);
void captures_free(struct record_run *rec);

/* Can the file of --merge be written? If not, print a message. (record/merge.c) */
bool captures_check_merge(const char *path);
/*
 * Write the packets of captures to the file of --merge, with the times of the result at @model.
 * @traces contains NAME=PATH. Return the exit status.
 */
int captures_merge(const struct record_run *rec, char **traces, int num, const char *model);
/*
 * Return the path of the netsync-recorder for an architecture. The caller frees the path. Return
 * NULL if out of memory.
 */
char *capture_make_path_of_recorder(const char *arch);
/* Return the path of a host's capture. The caller frees the path. Return NULL if out of memory. */
char *make_capture_path(const struct record_run *rec, const struct remote *remote);

#endif
