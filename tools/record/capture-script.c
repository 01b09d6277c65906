// SPDX-License-Identifier: GPL-2.0-only
/*
 * The script that a shell runs on a host on which netsync is not installed. The shell reads the
 * script from its standard input, and the script reads the rest. Quoting by a login shell or by the
 * program of --rsh can therefore not change it. Braces around the script make the shell read all of
 * it before running any of it. A shell reads ahead, so everything else is sent only after the
 * greeting: "netsync" and the architecture, "exec" if a directory allows programs to run, and
 * "tcpdump" if the host has tcpdump.
 *
 * The line after the script contains the size and the checksum of a program, as printed by cksum,
 * and its arguments. The program follows. The file for the program is removed before it is filled,
 * and is then run through its descriptor. Nothing is left on the host, no matter how the shell, the
 * connection or the host ends. A process cannot execute a file that is open for writing, so the
 * program runs through descriptor 3, which is open for reading. If the host's security policy
 * forbids that, the shell exits with status 126, which netsync explains.
 *
 * If the size is 0, the host's tcpdump records. tcpdump does not end with its standard input, so a
 * separate process waits until the input ends or is silent. This process has no other descriptor of
 * the connection, so that the connection ends when tcpdump does. When tcpdump is ended, it drops
 * the packets that the kernel still holds, which are at most those of the last second.
 */
#include "capture.h"

#define TEXT_OF_WORD(word) #word
#define TEXT_OF(value) TEXT_OF_WORD(value)

const char capture_script[] =
	"{\n"
	"set -f\n"
	"umask 077\n"
	"LC_ALL=C; export LC_ALL\n"
	"PATH=$PATH:/usr/sbin:/sbin\n"
	"fail() { printf \"%s\\n\" \"$*\" >&2; exit 1; }\n" CAPTURE_FIND_PLACE
	"tcpdump=$(command -v tcpdump)\n"
	"printf 'netsync %s\\n' \"$(uname -m)${place:+ exec}${tcpdump:+ tcpdump}\"\n"
	"IFS=' ' read -r size sum arguments || fail the connection ended too early.\n"
	"if [ \"$size\" != 0 ]; then\n"
	"	[ -n \"$place\" ] || fail no program may run in XDG_RUNTIME_DIR, /dev/shm, /run,"
	" /var/tmp, /tmp or HOME: provide one with 2 MiB of space that is not noexec, or use --via tcpdump.\n"
	"	folder=$(mktemp -d \"$place/netsync-XXXXXX\") || exit 1\n"
	"	: >\"$folder/recorder\" && chmod 700 \"$folder/recorder\"\n"
	"	exec 3<\"$folder/recorder\" 4>\"$folder/recorder\"\n"
	"	rm -rf \"$folder\"; folder=\n"
	"	[ -e /proc/self/fd/3 ] || fail /proc is not mounted.\n"
	"	head -c \"$size\" >&4\n"
	"	exec 4>&-\n"
	"	got=$(wc -c </proc/self/fd/3)\n"
	"	[ $((got)) = \"$size\" ] || fail only $((got)) of \"$size\" bytes of"
	" netsync-recorder arrived.\n"
	"	if command -v cksum >/dev/null; then\n"
	"		set -- $(cksum </proc/self/fd/3)\n"
	"		[ \"$1\" = \"$sum\" ] || fail netsync-recorder arrived damaged:"
	" the connection changes data.\n"
	"	fi\n"
	"	exec /proc/self/fd/3 $arguments\n"
	"fi\n"
	"[ -n \"$tcpdump\" ] || fail 'tcpdump not found; install it there,"
	" or use --via packet.'\n"
	/* Each recorded packet of this connection would cause further packets. */
	"set -- $SSH_CONNECTION\n"
	"exec 3<&0\n"
	/* If tcpdump has ended, another process may have its process ID. */
	"( exec <&3 3<&- >/dev/null 2>&1\n"
	"if command -v timeout; then\n"
	"	while [ $(timeout " TEXT_OF(
		CAPTURE_SILENCE_S) " head -c 1 | wc -c) -gt 0 ]; do :; done\n"
				   "else\n"
				   "	cat\n"
				   "fi\n"
				   "sleep 2\n"
				   "case $(cat /proc/$$/comm) in *tcpdump*) kill $$;; esac ) &\n"
				   "exec tcpdump -i any -s 128 --time-stamp-precision=nano -U -w -"
				   " ${4:+not (tcp port $2 and tcp port $4)} 3<&- </dev/null\n"
				   "}\n";
