// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write the headers of packets that devices send and receive, in all network namespaces, to a
 * ring. The tracepoints are the same as in the kernel module (module/device.c). Each packet
 * passes one of them for each device, before receive offload and after the queueing discipline.
 */
#include "parse.bpf.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20); /* size in bytes, which --buffer replaces */
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct probe_counts);
} counts SEC(".maps");

struct device_key {
	__u32 netns;
	__u32 ifindex;
};

/*
 * A device that was reported to the recorder. The address distinguishes the device from a later
 * device with the same number.
 */
struct reported_device {
	__u64 address;
	__u64 serial;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct device_key);
	__type(value, struct reported_device);
} reported_devices SEC(".maps");

/* ---- devices ------------------------------------------------------------------- */

static __always_inline bool put_device(struct net_device *dev, const struct device_key *key,
				       __u64 serial)
{
	struct probe_device *record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);

	if (!record)
		return false;
	__builtin_memset(record, 0, sizeof(*record));
	record->kind = PROBE_DEVICE;
	record->netns = key->netns;
	record->serial = serial;
	record->ifindex = key->ifindex;
	bpf_probe_read_kernel(record->name, sizeof(record->name), dev->name);
	record->mac_length = dev->addr_len;
	bpf_probe_read_kernel(record->mac, sizeof(record->mac), dev->dev_addr);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return true;
}

/*
 * Return the serial number of a device, or 0 on failure. The device is reported before its first
 * frame.
 */
static __always_inline __u64 report_device(struct net_device *dev, const struct device_key *key,
					   __u64 time_ns)
{
	const struct reported_device new = { .address = (__u64)dev, .serial = time_ns };
	const struct reported_device *known = bpf_map_lookup_elem(&reported_devices, key);

	if (known && known->address == new.address)
		return known->serial;
	if (!put_device(dev, key, time_ns))
		return 0;
	if (!bpf_map_update_elem(&reported_devices, key, &new, known ? BPF_ANY : BPF_NOEXIST))
		return time_ns;
	/* Another processor has reported the device in the meantime. */
	known = bpf_map_lookup_elem(&reported_devices, key);
	return known ? known->serial : 0;
}

static __always_inline bool is_device_wanted(const struct net_device *dev,
					     const struct device_key *key)
{
	if (dev->type == ARPHRD_LOOPBACK && !settings.with_loopback)
		return false;
	if (settings.netns && key->netns != settings.netns)
		return false;
	return !settings.ifindex || key->ifindex == settings.ifindex;
}

/* ---- records ------------------------------------------------------------------- */

/*
 * Copy the headers of a packet and examine them. In a few packets, the headers are longer than
 * usual, or a part of them is in pages.
 */
static __always_inline int judge_packet(struct seen_packet *p, struct sk_buff *skb, __u32 number,
					struct probe_counts *count)
{
	bool is_copied = copy_linear_bytes(p, USUAL_HEADERS);
	int verdict = is_copied ? parse_packet(number) : PACKET_TOO_SHORT;

	if (is_copied && p->copied < p->length &&
	    (verdict == PACKET_TOO_SHORT || (verdict == PACKET_WANTED && p->kept > p->copied))) {
		is_copied = copy_frame_bytes(p, skb);
		verdict = is_copied ? parse_packet(number) : PACKET_TOO_SHORT;
	}
	if (verdict != PACKET_TOO_SHORT)
		return verdict;
	/* The copied data fills the largest record, or the rest of the data is in pages. */
	if (!is_copied || (p->copied < p->length && p->copied < MOST_HEADERS)) {
		count->wanted++;
		count->unreadable++;
		return PACKET_UNWANTED;
	}
	/*
	 * If the headers are truncated, the ports are unknown, so the packet is not from a
	 * wanted port.
	 */
	return is_selective(&settings) ? PACKET_UNWANTED : PACKET_WANTED;
}

static __always_inline void put_frame(struct seen_packet *p, struct probe_counts *count)
{
	__u64 len = p->kept, flags = BPF_RB_NO_WAKEUP;

	if (len > p->copied)
		len = p->copied;
	p->frame.captured = len;
	BOUND(len, MOST_HEADERS);
	/* The recorder reads the ring periodically. Waking it for each packet would cost more. */
	if (bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA) > settings.wakeup_bytes)
		flags = BPF_RB_FORCE_WAKEUP;
	count->wanted++;
	if (bpf_ringbuf_output(&records, &p->frame, sizeof(p->frame) + len, flags))
		count->lost++;
}

static __always_inline void record_packet(struct seen_packet *p, struct probe_counts *count,
					  struct sk_buff *skb, struct net_device *dev, bool is_out,
					  __u32 number)
{
	const struct device_key key = {
		.netns = dev->nd_net.net->ns.inum,
		.ifindex = dev->ifindex,
	};

	p->frame.time_ns = bpf_ktime_get_ns();
	if (!is_device_wanted(dev, &key))
		return;
	p->frame.kind = PROBE_FRAME;
	p->frame.netns = key.netns;
	p->frame.ifindex = key.ifindex;
	p->frame.device_type = dev->type;
	p->frame.is_out = is_out;
	find_frame(p, skb, dev);
	read_vlan_tag(&p->frame, skb);
	if (settings.sampling)
		read_gso_size(p, skb);
	if (settings.cgroup)
		p->group = is_out ? find_group(skb, settings.cgroup) : GROUP_UNKNOWN;
	if (judge_packet(p, skb, number, count) != PACKET_WANTED)
		return;
	p->frame.serial = report_device(dev, &key, p->frame.time_ns);
	put_frame(p, count);
}

static __always_inline int see_packet(struct sk_buff *skb, struct net_device *dev, bool is_out)
{
	struct probe_counts *count;
	struct seen_packet *p;
	const __u32 zero = 0;
	__u32 number = 0;

	count = bpf_map_lookup_elem(&counts, &zero);
	if (!count)
		return 0;
	/*
	 * Another context can interrupt this one: an interrupt or, with PREEMPT_RT, also a task,
	 * in any order.
	 */
	while (number < MOST_AT_ONCE && count->used & 1ULL << number)
		number++;
	p = get_packet(number);
	if (!p) {
		count->wanted++;
		count->lost++;
		return 0;
	}
	count->used |= 1ULL << number;
	record_packet(p, count, skb, dev, is_out, number);
	count->used &= ~(1ULL << number);
	return 0;
}

/* ---- tracepoints ----------------------------------------------------------------- */

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(device_xmit, struct sk_buff *skb, struct net_device *dev)
{
	return see_packet(skb, dev, true);
}

/* Handle a received packet. This is a separate function, because several programs share it. */
static __noinline int see_received_packet(struct sk_buff *skb)
{
	return see_packet(skb, skb->dev, false);
}

#define RECEIVE(tracepoint)                           \
	SEC("tp_btf/" #tracepoint)                    \
	int BPF_PROG(tracepoint, struct sk_buff *skb) \
	{                                             \
		return see_received_packet(skb);      \
	}

RECEIVE(napi_gro_receive_entry)
RECEIVE(napi_gro_frags_entry)
RECEIVE(netif_receive_skb_entry)
RECEIVE(netif_receive_skb_list_entry)
RECEIVE(netif_rx_entry)
/* This tracepoint exists in kernels up to 5.17. */
RECEIVE(netif_rx_ni_entry)
