# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # the scripts that source this use them
# Where things are; sourced by the scripts of the rig and of the tests.
rig=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
top=$(readlink -f "$rig/../..")

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

# The kernel that guests run: the newest one whose headers are installed, or
# the one that the environment names.
guest_kver() {
	local kver

	kver=${KVER:-$(cd /lib/modules 2>/dev/null &&
		printf '%s\n' */build/Makefile | grep -v '\*' |
		cut -d / -f 1 | sort -V | tail -n 1)}
	[ -n "$kver" ] || die "no kernel headers are installed: run $rig/setup guest"
	echo "$kver"
}
