# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A clean release (chroot RELEASE-minimal) becomes a machine; sourced by release, source and
# archive, which type commands there.
# shellcheck source=SCRIPTDIR/typed.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/typed.sh"

# prepare SOURCE PACKAGE...: with packages that README.md takes for granted, and the source of
# netsync in /root/netsync, which becomes the current folder.
prepare() {
	local source=$1
	shift

	# Nobody is asked, nothing is served, and nobody boots from an initramfs.
	echo 'APT::Get::Assume-Yes "true";' > /etc/apt/apt.conf.d/90netsync
	printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d
	chmod +x /usr/sbin/policy-rc.d
	dpkg-divert --quiet --local --rename --add /usr/sbin/update-initramfs
	ln -s /bin/true /usr/sbin/update-initramfs
	apt-get -q -q update && apt-get -q -q install xz-utils kmod "$@" || return
	mkdir /root/netsync && tar -C /root/netsync --strip-components=1 -xf "$source" || return
	cd /root/netsync || return
	# The kernel of that machine is not the one that runs this.
	RELEASE=$(ls /lib/modules)
	LD_PRELOAD=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../../build/readme/release.so")
	export RELEASE LD_PRELOAD
}

# Who types agrees.
netsync() {
	if [ "${1:-} ${2:-}" = "doctor --fix" ]; then
		command netsync "$@" --yes
	else
		command netsync "$@"
	fi
}
