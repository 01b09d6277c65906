# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Type commands one after the other in one shell, as a person would; sourced by the
# scripts that type_commands writes. For each command, print its number, the command, its
# output, and "=== NUMBER STATUS".

# typed NUMBER COMMAND: run the command in this shell, because cd and variables affect later
# commands.
typed() {
	local typed_status=0

	printf -- '--- %s $ %s\n' "$1" "$2"
	eval "$2" < /dev/null || typed_status=$?
	printf -- '=== %s %s\n' "$1" "$typed_status"
}

# typed_until SECONDS NUMBER COMMAND: run the command, and end it by ^C after this time.
typed_until() {
	local typed_status=0

	printf -- '--- %s $ %s\n^C after %s s\n' "$2" "$3" "$1"
	timeout -s INT "$1" bash -c "$3" < /dev/null || typed_status=$?
	case $typed_status in
	124 | 130) typed_status=0 ;;
	esac
	printf -- '=== %s %s\n' "$2" "$typed_status"
}

# typed_aside WORDS NUMBER COMMAND: start the command, and wait until it prints WORDS. It continues
# until end_aside.
typed_aside() {
	printf -- '--- %s $ %s &\n' "$2" "$3"
	setsid bash -c "$3" < /dev/null > "/tmp/aside-$2" 2>&1 &
	aside=$!
	until grep -q -E "$1" "/tmp/aside-$2" || ! kill -0 "$aside"; do
		sleep 0.5
	done
}

# end_aside NUMBER: end the command by ^C.
end_aside() {
	local status=0

	printf -- '--- %s $ ^C\n' "$1"
	kill -INT -- "-$aside"
	wait "$aside" || status=$?
	[ "$status" != 130 ] || status=0
	cat "/tmp/aside-$1"
	printf -- '=== %s %s\n' "$1" "$status"
}

# typed_each[_until SECONDS] NUMBER COMMAND-OF-WEB COMMAND-OF-DB: run both commands at the same
# time.
typed_each() {
	both "$1" "bash -c ${2@Q}" "bash -c ${3@Q}" "$2"
}

typed_each_until() {
	both "$2" "timeout -s INT $1 bash -c ${3@Q}" "timeout -s INT $1 bash -c ${4@Q}" "$3"
}

both() {
	local there here=0 status=0

	printf -- '--- %s $ %s\n' "$1" "$4"
	ssh -n db "touch /share/begun-$1; $3" > "/tmp/db-$1" 2>&1 &
	there=$!
	# On a busy machine, starting ssh takes as long as the command itself.
	while [ ! -e "/share/begun-$1" ] && kill -0 $there; do
		sleep 0.1
	done
	eval "$2" < /dev/null || here=$?
	wait $there || status=$?
	sed 's/^/db: /' "/tmp/db-$1"
	for status in $here $status; do
		case $status in
		0 | 124 | 130) ;;
		*) here=$status ;;
		esac
	done
	case $here in
	124 | 130) here=0 ;;
	esac
	printf -- '=== %s %s\n' "$1" "$here"
}
