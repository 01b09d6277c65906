# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # what it is sourced by has set these
# Running steps in clean Debian releases; sourced by a test, which runs them with
# in_releases, and by the steps.

# in_releases LOGS STEPS RELEASE...: run STEPS LOG in the chroot of each release, and print its
# output as KTAP.
in_releases() {
	local logs=$1 steps=$2 release log line results=0
	shift 2

	mkdir -p "$logs"
	echo "KTAP version 1"
	for release; do
		log=$logs/$release.log
		if ! "$top/selftests/kernels/chroot" "$release" true > "$log" 2>&1; then
			results=$((results + 1))
			echo "ok $results - $release # SKIP $(tail -n 1 "$log")"
			continue
		fi
		while IFS= read -r line; do
			case $line in
			"ok "* | "not ok "*)
				results=$((results + 1))
				echo "${line%%- *}$results - $release: ${line#*- }"
				;;
			*) echo "$line" ;;
			esac
		done < <("$top/selftests/kernels/chroot" "$release" "$steps" "$log")
	done
	echo "1..$results"
}

# check NAME COMMAND...: print "ok - NAME" or "not ok - NAME". The command's output goes to $log,
# and is also printed if the command fails. Return the command's success.
check() {
	local name=$1 start
	shift
	start=$(wc -l < "$log")
	if { echo "== $name"; "$@"; } >> "$log" 2>&1; then
		echo "ok - $name"
	else
		echo "not ok - $name"
		tail -n +$((start + 1)) "$log" | tail -n 25 | sed 's/^/# /'
		return 1
	fi
}

fails() {
	! "$@"
}
