# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # the scripts that source this use them
# Where things are; sourced by the scripts of the rig and of the tests.
rig=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
top=$(readlink -f "$rig/../..")
# What was fetched and made once, for all copies of this tree.
cache=${NETSYNC_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/netsync}

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

# The kernel that guests run: the newest one whose headers are installed, or
# the one that the environment names, by KVER or as the newest one of a Debian
# release, by KERNEL. KERNEL=debug is one that finds faults.
guest_kver() {
	local kver

	if [ -n "${KVER:-}" ]; then
		echo "$KVER"
	elif [ "${KERNEL:-}" = debug ]; then
		"$top/selftests/debug/kernel"
	elif [ -n "${KERNEL:-}" ]; then
		"$top/selftests/kernels/chroot" "$KERNEL" ls /lib/modules
	else
		kver=$(cd /lib/modules 2>/dev/null &&
			printf '%s\n' */build/Makefile | grep -v '\*' |
			cut -d / -f 1 | sort -V | tail -n 1)
		[ -n "$kver" ] ||
			die "no kernel headers are installed: run $rig/setup guest"
		echo "$kver"
	fi
}
