# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # the scripts that source this use them
# Paths; sourced by the scripts of the rig and of the tests.
rig=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
top=$(readlink -f "$rig/../..")
# Downloads and builds that all copies of this source tree share.
cache=${NETSYNC_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/netsync}

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

# Other processors. Columns: the last word of a release's name, as in bookworm-arm64; Debian's name
# of the processor; the kernel's flavour; the prefix of the compiler; the kernel's name of the
# processor; and QEMU's name.
processors="
arm64  arm64  arm64    aarch64-linux-gnu  arm64  aarch64
s390x  s390x  s390x    s390x-linux-gnu    s390   s390x
686    i386   686-pae  i686-linux-gnu     i386   i386
"

# processor RELEASE [COLUMN]: print a value from this table, or nothing for this machine's own
# processor.
processor() {
	awk -v last="${1##*-}" -v column="${2:-1}" '$1 == last { print $column }' \
		<<< "$processors"
}

# cross RELEASE: print the arguments of make for the release's kernel.
cross() {
	[ -z "$(processor "$1")" ] ||
		echo "ARCH=$(processor "$1" 5) CROSS_COMPILE=$(processor "$1" 4)-"
}

# Set the kernel that guests run. By default, this is the newest kernel whose headers are installed.
# The environment can choose another one: KVER gives its version, and KERNEL names a Debian release
# whose newest kernel is used. KERNEL=debug chooses a kernel with fault detection.
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
