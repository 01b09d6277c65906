# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # the tests that source this use them
# Functions that the tests of the modules share: KTAP, waiting, tracers, two namespaces.
# They run in a guest, or under kselftest, in the top folder of the tree.
set -u
PATH=$PWD/build/selftests:$PATH
tmp=$(mktemp -d)
tracing=/sys/kernel/tracing
attached=/sys/module/netsync_probes/parameters/attached
both=inet_sock_local_in,inet_sock_local_out
# All events, in the same order as in the module.
all=$both,inet_udp_local_in,inet_udp_local_out
all+=,inet_icmp_local_in,inet_icmp_local_out
all+=,inet_sctp_local_in,inet_sctp_local_out
sockets=inet_sock_create,inet_sock_delete,inet_sock_clone,inet_connect,inet_accept
wire=inet_dev_xmit,inet_dev_receive
all+=,$sockets,$wire,netsync_clock
results=0
failures=0

# The next test may run on the same kernel. It starts as soon as no process keeps this test's output
# open.
clean_up() {
	# shellcheck disable=SC2046 # one for each process
	kill $(jobs -p) $(pidof lttng-sessiond)
	ip -all netns delete
	modprobe -r lttng-probe-netsync || modprobe -r netsync-probes
	rm -rf "$tmp"
} > /dev/null 2>&1
trap clean_up EXIT

echo "KTAP version 1"

# skip_all WHY: skip this test, with the exit status that kselftest expects.
skip_all() {
	echo "1..0 # SKIP $1"
	exit 4
}

[ "$(id -u)" = 0 ] || skip_all "needs root"
modprobe --dry-run --quiet netsync-probes ||
	skip_all "netsync-probes is not installed for this kernel"
dmesg --clear

# check NAME COMMAND...: report a test result. If the command fails, its output explains the reason.
check() {
	local name=$1 verdict=ok output
	shift
	output=$("$@" 2>&1) || {
		verdict="not ok"
		failures=$((failures + 1))
	}
	results=$((results + 1))
	echo "$verdict $results - $name"
	[ -z "$output" ] || head -n 40 <<< "$output" | sed 's/^/# /'
}

skip() {
	results=$((results + 1))
	echo "ok $results - $1 # SKIP $2"
}

finish() {
	check "the kernel log has no errors" quiet
	echo "1..$results"
	exit $((failures > 0))
}

fails() {
	! "$@"
}

# Print nothing unless the kernel has reported a problem. Ignore these messages: the first two occur
# for every module from outside of the kernel's tree; those about time occur if a busy machine
# delays the guest; the next one counts messages about packets, the first of which would be printed
# by this function; then one of LTTng's own, if its statedump finds no list of disks, as on arm64
# and 686; and one about programs that look for events below debugfs, as libbpf does, in kernels
# later than 6.12.
quiet() {
	! dmesg --notime --level=emerg,alert,crit,err,warn | grep -v \
		-e 'loading out-of-tree module taints kernel' \
		-e 'module verification failed: signature' \
		-e 'hrtimer: interrupt took' \
		-e 'clocksource: ' -e 'TSC found unstable after boot' \
		-e 'net_ratelimit: [0-9]* callbacks suppressed' \
		-e 'LTTng: block device enumeration is not supported by kernel' \
		-e 'Automounting of tracing to debugfs is deprecated'
}

# Wait up to a minute until the command succeeds. Slow kernels on busy machines need this much time.
wait_for() {
	local end=$((SECONDS + 60))

	while ((SECONDS <= end)); do
		"$@" > /dev/null 2>&1 && return
		sleep 0.01
	done
	echo "this did not come true: $*"
	return 1
}

# attached_is LIST: check that exactly these events are attached.
attached_is() {
	[ "$(cat $attached)" = "$1" ]
}

# hooks_are Y|N: check whether the netfilter hooks are attached.
hooks_are() {
	[ "$(cat ${attached%/*}/hooks)" = "$1" ]
}

# Check that no event is attached any more. The hooks remain until the module is unloaded, because
# removing them would drop queued packets.
at_rest() {
	attached_is "" && hooks_are Y
}

loaded() {
	[ -e "/sys/module/${1//-/_}" ]
}

unloaded() {
	! loaded "$1"
}

# Check that the files have the same lines, in any order.
same() {
	[ -s "$1" ] || {
		echo "nothing to compare with"
		return 1
	}
	sort "$1" > "$1.sorted" && sort "$2" > "$2.sorted" &&
		diff "$1.sorted" "$2.sorted"
}

# ftrace_on [EVENTS]: start tracing into a large enough, empty buffer.
ftrace_on() {
	local event list=${1:-$both}

	echo 16384 > $tracing/buffer_size_kb
	echo > $tracing/trace
	for event in ${list//,/ }; do
		echo 1 > "$tracing/events/netsync/$event/enable" || return
	done
	wait_for attached_is "$list"
}

ftrace_off() {
	echo 0 > $tracing/events/netsync/enable
}

ftrace_lost_nothing() {
	! grep -h -E '^(overrun|commit overrun|dropped events): [^0]' \
		$tracing/per_cpu/cpu*/stats
}

# Load LTTng's own modules, and ours if requested.
sessiond() {
	lttng-sessiond --daemonize --kmod-probes=statedump "$@" &&
		wait_for lttng list
}

sessiond_end() {
	local pid

	pid=$(pidof lttng-sessiond) || return 0
	# shellcheck disable=SC2086 # one for each process
	kill $pid
	wait_for fails pidof lttng-sessiond
}

# lttng_on NAME EVENTS: record a session to $tmp/NAME.
lttng_on() {
	lttng create "$1" --output="$tmp/$1" &&
		lttng enable-channel -k all --subbuf-size=1M --num-subbuf=8 &&
		lttng enable-event -k -c all "$2" &&
		lttng start "$1"
}

lttng_off() {
	lttng stop "$1" && lttng list "$1" > "$tmp/$1.statistics" &&
		lttng destroy "$1"
}

lttng_lost_nothing() {
	grep -q 'Discarded events: 0' "$tmp/$1.statistics" &&
		! grep -E '(Discarded events|Lost packets): [^0]' "$tmp/$1.statistics"
}

# Create two namespaces, a and b, with a link between them that is called eth in both.
netns_pair() {
	local mtu=${1:-1500} ns

	ip netns add a && ip netns add b &&
		ip -n a link add eth address 02:00:00:00:00:01 mtu "$mtu" \
			type veth peer name eth netns b \
			address 02:00:00:00:00:02 mtu "$mtu" || return
	for ns in a b; do
		ip -n $ns link set lo up && ip -n $ns link set eth up
	done
	ip -n a addr add 10.9.0.1/24 dev eth && ip -n b addr add 10.9.0.2/24 dev eth &&
		ip -n a addr add fd09::1/64 dev eth nodad &&
		ip -n b addr add fd09::2/64 dev eth nodad
}

inum() {
	stat -L -c %i "/run/netns/$1"
}

in_ns() {
	ip netns exec "$@"
}

# background NAMESPACE COMMAND...: start the command, and wait until it prints "ready".
background() {
	local log

	log=$(mktemp -p "$tmp")
	ip netns exec "$@" 2> "$log" &
	wait_for grep -q ready "$log" || {
		cat "$log"
		return 1
	}
}

# Let TCP send packets with this many segments. Even on a slow machine, the kernel does not make
# such packets smaller to spread them in time. The kernel would segment packets that exceed the
# device's limit before they reach the device.
segments() {
	in_ns a sysctl -q net.ipv4.tcp_min_tso_segs="$1" &&
		in_ns b sysctl -q net.ipv4.tcp_min_tso_segs="$1"
}
