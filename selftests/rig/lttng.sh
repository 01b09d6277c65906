# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# LTTng kernel sessions in a guest; sourced by the scripts that record there.

# tracer EVENTS...: start LTTng with the modules for these events.
tracer() {
	local probes=(--kmod-probes=net)

	case $* in
	*sched_*) probes=(--kmod-probes=net,sched,irq) ;;
	esac
	case $* in
	*block_*) probes=("${probes[0]},block,x86-irq-vectors") ;;
	esac
	case $* in
	*inet_*) probes+=(--extra-kmod-probes=netsync) ;;
	esac
	lttng-sessiond --daemonize "${probes[@]}"
}

# session NAME EVENTS [OPTION-OF-CREATE...]: record events, separated by commas, by
# default to /tmp/NAME. Sub-buffers are small because LTTng writes whole pages of each.
session() {
	[ $# -gt 2 ] || set -- "$@" --output="/tmp/$1"
	lttng --quiet create "$1" "${@:3}"
	lttng --quiet enable-channel --session="$1" --kernel packets \
		--subbuf-size=64K --num-subbuf=64
	lttng --quiet enable-event --session="$1" --kernel --channel=packets "$2"
	lttng --quiet start "$1"
}

# session_end NAME [FOLDER]: move its trace to the folder, if it is complete.
session_end() {
	local state

	lttng --quiet stop "$1"
	state=$(lttng list "$1")
	lttng --quiet destroy "$1"
	if ! grep -q 'Discarded events: 0$' <<< "$state"; then
		echo "${0##*/}: events were lost" >&2
		echo "$state" >&2
		return 1
	fi
	[ $# = 1 ] || cp -r --no-preserve=mode "/tmp/$1/kernel" "$2"
}
