/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the beginning of a packet's frame in the kernel (skb), and copies bytes of the frame. */
#ifndef NETSYNC_RECORDER_SEEN_PACKET_BPF_H
#define NETSYNC_RECORDER_SEEN_PACKET_BPF_H

#include <linux/if_ether.h>
#include <bpf/bpf_endian.h>

#include "kernel.bpf.h"
#include "probe-record.h"

/* Types of devices from <linux/if_arp.h>, which BPF programs cannot include. */
#define ARPHRD_ETHER 1
#define ARPHRD_LOOPBACK 772
/* Maximum length of a link header, bytes. Chosen; the header of Ethernet has 14 bytes. */
#define LONGEST_LINK 64
/*
 * Maximum number of bytes that are examined together. No fixed header and no digested payload is
 * longer.
 */
#define LONGEST_LOOK 64
/* Value of skb->mac_header and similar members that were not set. */
#define NO_OFFSET 0xffff

struct seen_packet {
	const __u8 *start; /* address of the link header */
	__u32 pulled;	   /* number of bytes between @start and skb->data */
	__u32 linear;	   /* number of bytes at @start; the others are in pages */
	__u32 length;	   /* length of the frame, bytes */
	__u32 copied;	   /* number of these bytes that were copied to @frame.bytes */
	__u32 kept;	   /* number of these bytes that are headers or requested payload */
	/* Offsets in the frame, bytes. */
	__u32 network;	 /* the network header */
	__u32 addresses; /* source and destination addresses */
	__u32 transport; /* transport header; 0 if there is none */
	__u32 end;	 /* end of the packet */
	__u16 gso_size;
	__u8 protocol; /* IPPROTO_... */
	__u8 is_ipv4;
	__u8 group; /* enum packet_group */
	/* The record that is being built; the bytes after it are never written. */
	struct probe_frame frame;
	__u8 bytes[MOST_HEADERS + LONGEST_LOOK];
};

/*
 * Maximum number of programs that can run at once on a processor, in a task and in the kinds of
 * interrupts. Chosen.
 */
#define MOST_AT_ONCE 4

/*
 * The packets of each processor. Functions that are not inlined get the number of a packet in this
 * map, because the verifier then checks them once instead of once for each path that calls them. A
 * second reason is that the verifier does not track values in maps.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, MOST_AT_ONCE);
	__type(key, __u32);
	__type(value, struct seen_packet);
} packets SEC(".maps");

static __always_inline struct seen_packet *get_packet(__u32 number)
{
	return bpf_map_lookup_elem(&packets, &number);
}

/* ---- the frame ------------------------------------------------------------------- */

static __always_inline void read_vlan_tag(struct probe_frame *frame, const struct sk_buff *skb)
{
	frame->tag_protocol = 0;
	frame->tag = 0;
	if (bpf_core_field_exists(((struct sk_buff___old *)skb)->vlan_present) ?
		    BPF_CORE_READ_BITFIELD((struct sk_buff___old *)skb, vlan_present) :
		    skb->vlan_proto) {
		frame->tag_protocol = bpf_ntohs(skb->vlan_proto);
		frame->tag = skb->vlan_tci;
	}
}

/*
 * Read the size of segments. A datagram before segmentation offload is digested like the
 * datagrams on the link.
 */
static __always_inline void read_gso_size(struct seen_packet *p, const struct sk_buff *skb)
{
	const struct skb_shared_info *shared = (const void *)(skb->head + skb->end);

	p->gso_size = 0;
	bpf_core_read(&p->gso_size, sizeof(p->gso_size), &shared->gso_size);
}

/* Find the frame of a packet. In received packets, the link header precedes skb->data. */
static __always_inline void find_frame(struct seen_packet *p, const struct sk_buff *skb,
				       const struct net_device *dev)
{
	const __u8 *head = skb->head, *data = skb->data;
	const __u32 offset = (__u32)(data - head);
	__u32 link = 0;

	p->pulled = 0;
	if (p->frame.is_out) {
		/* Devices without link headers do not always set the offset. */
		if (dev->header_ops && skb->network_header != NO_OFFSET &&
		    skb->network_header >= offset)
			link = skb->network_header - offset;
	} else if (skb->mac_header != NO_OFFSET && skb->mac_header <= offset &&
		   offset - skb->mac_header <= LONGEST_LINK) {
		link = offset - skb->mac_header;
		p->pulled = link;
	}
	p->start = data - p->pulled;
	p->length = skb->len + p->pulled;
	p->linear = p->length - skb->data_len;
	p->frame.link_length = link;
	p->frame.original = p->length;
	p->frame.packet_type = BPF_CORE_READ_BITFIELD(skb, pkt_type);
	p->frame.protocol = bpf_ntohs(skb->protocol);
}

/*
 * Make the verifier see that @value is at most @most, a constant. The compiler already knows
 * this, and would otherwise compare a copy.
 */
#define BOUND(value, most)                                \
	asm volatile("if %[number] <= %[limit] goto +1\n" \
		     "%[number] = %[limit]"               \
		     : [number] "+r"(value)               \
		     : [limit] "i"(most))

/* ---- bytes ----------------------------------------------------------------------- */

/* Copy the linear part of the frame's first bytes, at most @most bytes, which is a constant. */
static __always_inline bool copy_linear_bytes(struct seen_packet *p, const __u32 most)
{
	__u64 len = p->linear < p->length ? p->linear : p->length;

	BOUND(len, most);
	p->copied = len;
	return !bpf_probe_read_kernel(p->frame.bytes, len, p->start);
}

#ifdef READ_PAGES
/* In kernels from 6.12 on, BPF programs at tracepoints can read the pages of packets. */
extern int bpf_dynptr_from_skb(struct sk_buff *skb, __u64 flags, struct bpf_dynptr *dynptr) __ksym;

/* Copy @len bytes at skb->data to @to. */
static __always_inline bool copy_page_bytes(struct sk_buff *skb, void *to, __u64 len)
{
	struct bpf_dynptr dynptr;

	return !bpf_dynptr_from_skb(skb, 0, &dynptr) && !bpf_dynptr_read(to, len, &dynptr, 0, 0);
}

/* Copy as many bytes of the frame as fit into a record. */
static __always_inline bool copy_frame_bytes(struct seen_packet *p, struct sk_buff *skb)
{
	__u8 *to = p->frame.bytes;
	__u64 len = p->length;

	BOUND(len, MOST_HEADERS);
	if (len <= p->linear)
		return copy_linear_bytes(p, MOST_HEADERS);
	p->copied = len;
	if (!p->pulled)
		return copy_page_bytes(skb, to, len);
	/* The verifier must know where the bytes of the pages are stored. */
	if (p->pulled != ETH_HLEN || len < ETH_HLEN ||
	    bpf_probe_read_kernel(to, ETH_HLEN, p->start))
		return false;
	len -= ETH_HLEN;
	BOUND(len, MOST_HEADERS - ETH_HLEN);
	return copy_page_bytes(skb, to + ETH_HLEN, len);
}
#else
static __always_inline bool copy_frame_bytes(struct seen_packet *p, struct sk_buff *skb)
{
	return copy_linear_bytes(p, MOST_HEADERS);
}
#endif

/*
 * Return the address of @len bytes at @offset in the frame, where @len is at most LONGEST_LOOK,
 * or NULL if these bytes were not copied.
 */
static __always_inline const __u8 *get_copied_bytes(const struct seen_packet *p, __u64 offset,
						    __u32 len)
{
	if (offset + len > p->copied)
		return NULL;
	BOUND(offset, MOST_HEADERS);
	return p->frame.bytes + offset;
}

#endif
