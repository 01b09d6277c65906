# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Make a machine of a clean release (chroot RELEASE-minimal); sourced by release, source
# and archive, which type commands there.
# shellcheck source=SCRIPTDIR/typed.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/typed.sh"

# prepare SOURCE PACKAGE...: install packages that README.md requires. Copy the source of netsync to
# /root/netsync, which becomes the current folder.
prepare() {
	local source=$1
	shift

	# Avoid questions, services and an initramfs.
	echo 'APT::Get::Assume-Yes "true";' > /etc/apt/apt.conf.d/90netsync
	printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d
	chmod +x /usr/sbin/policy-rc.d
	dpkg-divert --quiet --local --rename --add /usr/sbin/update-initramfs
	ln -s /bin/true /usr/sbin/update-initramfs
	apt-get -q -q update && apt-get -q -q install xz-utils kmod "$@" || return
	mkdir /root/netsync && tar -C /root/netsync --strip-components=1 -xf "$source" || return
	cd /root/netsync || return
	# Report the kernel release of the guest, not the running one.
	RELEASE=$(ls /lib/modules)
	LD_PRELOAD=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../../build/readme/release.so")
	export RELEASE LD_PRELOAD
}

# Answer questions of netsync with yes, as the user would.
netsync() {
	if [ "${1:-} ${2:-}" = "doctor --fix" ]; then
		command netsync "$@" --yes
	else
		command netsync "$@"
	fi
}
