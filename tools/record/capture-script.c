// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a shell does on a host that has nothing of netsync. The shell reads the script from its
 * standard input, whose rest is for the script: so no quoting by a login shell, or by the program
 * of --rsh, can change it. Braces around all of it make the shell read all of it first. A shell
 * reads ahead, so what follows is sent only after the greeting: "netsync", the architecture, and
 * "exec" and "tcpdump" if a program can be run that arrives, and if the host has tcpdump.
 *
 * On the next line come the size and the sum of a program, as cksum prints it, and arguments; then
 * the program. Its file is removed before it is filled, and then runs as a descriptor: nothing is
 * left, however the shell, the connection or the host ends. A process cannot execute a file that is
 * open for writing, so descriptor 3 is for that.
 *
 * Or the size is 0: the host's tcpdump records. It does not end with its standard input: a process
 * beside it waits for that, or for silence. It has no other descriptor of the connection, which ends when tcpdump
 * does. When tcpdump is ended, it drops what the kernel holds, which are the packets of at most the
 * last second.
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
	" /var/tmp, /tmp or HOME: mount one without noexec, or use --via tcpdump.\n"
	"	folder=$(mktemp -d \"$place/netsync-XXXXXX\") || exit 1\n"
	"	: >\"$folder/recorder\" && chmod 700 \"$folder/recorder\"\n"
	"	exec 3<\"$folder/recorder\" 4>\"$folder/recorder\"\n"
	"	rm -rf \"$folder\"; folder=\n"
	"	[ -x /proc/self/fd/3 ] || fail /proc is not mounted.\n"
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
	/* Packets of the connection would make more packets. */
	"set -- $SSH_CONNECTION\n"
	"exec 3<&0\n"
	/* If tcpdump has ended, another process may have its number. */
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
