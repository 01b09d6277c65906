# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Types commands as a person would, one after the other in one shell; sourced by the scripts
# that type_commands writes. Each prints its number, what was typed, what came of it, and
# "=== NUMBER STATUS".

# Seconds after which what runs until ^C gets that.
UNTIL=${UNTIL:-20}
asides=()

# typed NUMBER COMMAND: in this shell, as cd and variables are for what comes after.
typed() {
	local typed_status=0

	printf -- '--- %s $ %s\n' "$1" "$2"
	eval "$2" < /dev/null || typed_status=$?
	printf -- '=== %s %s\n' "$1" "$typed_status"
}

# typed_until NUMBER COMMAND: ended by ^C.
typed_until() {
	local typed_status=0

	printf -- '--- %s $ %s\n^C after %s s\n' "$1" "$2" "$UNTIL"
	timeout -s INT "$UNTIL" bash -c "$2" < /dev/null || typed_status=$?
	case $typed_status in
	124 | 130) typed_status=0 ;;
	esac
	printf -- '=== %s %s\n' "$1" "$typed_status"
}

# typed_aside NUMBER COMMAND: it runs on until the session ends.
typed_aside() {
	printf -- '--- %s $ %s &\n' "$1" "$2"
	setsid bash -c "$2" < /dev/null > "/tmp/aside-$1" 2>&1 &
	asides+=("$!:$1")
	sleep 10
}

# end_asides: by ^C, as what was typed last would be.
end_asides() {
	local aside status

	for aside in "${asides[@]}"; do
		status=0
		kill -INT -- "-${aside%:*}"
		wait "${aside%:*}" || status=$?
		[ "$status" != 130 ] || status=0
		cat "/tmp/aside-${aside#*:}"
		printf -- '=== %s %s\n' "${aside#*:}" "$status"
	done
	asides=()
}

# typed_each[_until] NUMBER COMMAND-OF-WEB COMMAND-OF-DB: on both at the same time.
typed_each() {
	both "$1" "bash -c ${2@Q}" "bash -c ${3@Q}" "$2"
}

typed_each_until() {
	both "$1" "timeout -s INT $UNTIL bash -c ${2@Q}" "timeout -s INT $UNTIL bash -c ${3@Q}" "$2"
}

both() {
	local there here=0 status=0

	printf -- '--- %s $ %s\n' "$1" "$4"
	ssh -n db "$3" > "/tmp/db-$1" 2>&1 &
	there=$!
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
