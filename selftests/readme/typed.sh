# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Types commands as a person would, one after the other in one shell; sourced by the scripts
# that type_commands writes. Each prints its number, what was typed, what came of it, and
# "=== NUMBER STATUS".

# typed NUMBER COMMAND: in this shell, as cd and variables are for what comes after.
typed() {
	local typed_status=0

	printf -- '--- %s $ %s\n' "$1" "$2"
	eval "$2" < /dev/null || typed_status=$?
	printf -- '=== %s %s\n' "$1" "$typed_status"
}

# typed_until SECONDS NUMBER COMMAND: ended by ^C after these.
typed_until() {
	local typed_status=0

	printf -- '--- %s $ %s\n^C after %s s\n' "$2" "$3" "$1"
	timeout -s INT "$1" bash -c "$3" < /dev/null || typed_status=$?
	case $typed_status in
	124 | 130) typed_status=0 ;;
	esac
	printf -- '=== %s %s\n' "$2" "$typed_status"
}

# typed_aside WORDS NUMBER COMMAND: once it prints these, it runs on until end_aside.
typed_aside() {
	printf -- '--- %s $ %s &\n' "$2" "$3"
	setsid bash -c "$3" < /dev/null > "/tmp/aside-$2" 2>&1 &
	aside=$!
	until grep -q -E "$1" "/tmp/aside-$2" || ! kill -0 "$aside"; do
		sleep 0.5
	done
}

# end_aside NUMBER: by ^C.
end_aside() {
	local status=0

	printf -- '--- %s $ ^C\n' "$1"
	kill -INT -- "-$aside"
	wait "$aside" || status=$?
	[ "$status" != 130 ] || status=0
	cat "/tmp/aside-$1"
	printf -- '=== %s %s\n' "$1" "$status"
}

# typed_each[_until SECONDS] NUMBER COMMAND-OF-WEB COMMAND-OF-DB: on both at the same time.
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
	# On a busy machine, ssh takes as long as what is typed.
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
