// SPDX-License-Identifier: GPL-2.0-only
/*
 * Record packets that devices send and receive, at tracepoints of the core of
 * the network stack, as events inet_dev_xmit and inet_dev_receive.
 */
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/net_namespace.h>
#include <trace/events/net.h>

#include "address.h"
#include "attach.h"
#include "compat.h"
#include "events.h"
#include "netsync-events.h"
#include "parse.h"

/* The position of a packet's network header. */
struct network {
	unsigned int offset;	/* offset from skb->data in bytes */
	__be16 protocol;	/* EtherType */
	u16 vlan;		/* TCI of the outermost tag, or 0 without a tag */
};

/*
 * Maximum number of VLAN tags of a frame. Chosen: networks use up to two
 * (802.1ad).
 */
#define MAX_VLAN_TAGS 4

static bool skip_vlan_tags(const struct sk_buff *skb, struct network *at)
{
	int i;

	at->vlan = skb_vlan_tag_present(skb) ? skb_vlan_tag_get(skb) : 0;
	for (i = 0; i < MAX_VLAN_TAGS && eth_type_vlan(at->protocol); i++) {
		struct vlan_hdr copy netsync_uninit;
		const struct vlan_hdr *tag;

		tag = skb_header_pointer(skb, at->offset, sizeof(copy), &copy);
		if (!tag)
			return false;
		if (!i && !skb_vlan_tag_present(skb))
			at->vlan = ntohs(tag->h_vlan_TCI);
		at->protocol = tag->h_vlan_encapsulated_proto;
		at->offset += sizeof(*tag);
	}
	return true;
}

/*
 * Find the network header of a received packet. Drivers have already removed the link header, so
 * the packet begins with its network header.
 */
static bool find_received_network(const struct sk_buff *skb, struct network *at)
{
	at->offset = 0;
	at->protocol = skb->protocol;
	return skip_vlan_tags(skb, at);
}

/*
 * Find the network header of a sent packet, which begins with the link header.
 * The length of the link header is known for Ethernet, and 0 for devices
 * without headers. Other devices need skb->network_header, which is not always
 * set.
 */
static bool find_sent_network(const struct sk_buff *skb, const struct net_device *dev,
			      struct network *at)
{
	if (dev->type == ARPHRD_ETHER || dev->type == ARPHRD_LOOPBACK) {
		struct ethhdr copy netsync_uninit;
		const struct ethhdr *eth;

		eth = skb_header_pointer(skb, 0, sizeof(copy), &copy);
		if (!eth)
			return false;
		at->offset = sizeof(*eth);
		at->protocol = eth->h_proto;
	} else if (!dev->header_ops) {
		at->offset = 0;
		at->protocol = skb->protocol;
	} else {
		int offset = skb_network_offset(skb);

		if (offset < 0 || offset > skb->len)
			return false;
		at->offset = offset;
		at->protocol = skb->protocol;
	}
	return skip_vlan_tags(skb, at);
}

/*
 * Change the fields of a record from TCP's fields to the fields that device events have for the
 * record's protocol (netsync-events.h). Fields that are common to all protocols remain in place.
 */
static noinline void name_device_fields(struct netsync_dev *rec, unsigned int protocol,
					const struct sk_buff *skb)
{
	const union netsync_record from = rec->packet;

	/* In the record, only has_ts follows the fields of the other protocols. */
	rec->has_ts = 0;
	switch (protocol) {
	case NETSYNC_UDP:
		rec->protocol = IPPROTO_UDP;
		rec->udp = (struct netsync_dev_udp){
			.digest_high = from.udp.digest >> 32,
			.digest_low = from.udp.digest,
			.check = from.udp.check,
			.check_final = from.udp.check_final,
		};
		rec->addrs = from.udp.addrs;
		break;
	case NETSYNC_ICMP:
		rec->protocol = from.icmp.family == AF_INET ? IPPROTO_ICMP :
							      IPPROTO_ICMPV6;
		rec->sport = 0;
		rec->dport = 0;
		rec->gso_segs = skb_shinfo(skb)->gso_segs;
		rec->gso_size = skb_shinfo(skb)->gso_size;
		rec->icmp = (struct netsync_dev_icmp){
			.echo_seq = from.icmp.echo_seq,
			.echo_id = from.icmp.echo_id,
			.type = from.icmp.type,
		};
		rec->addrs = from.icmp.addrs;
		break;
	case NETSYNC_SCTP:
		rec->protocol = IPPROTO_SCTP;
		rec->sctp = (struct netsync_dev_sctp){
			.tsn = from.sctp.tsn,
			.vtag = from.sctp.vtag,
			.chunk = from.sctp.chunk | from.sctp.has_tsn << 8,
		};
		rec->addrs = from.sctp.addrs;
		break;
	}
}

/* Fill in the record of a packet. Return true if the packet must be recorded. */
static __always_inline bool write_dev(struct netsync_dev *rec,
				      const struct sk_buff *skb,
				      const struct net_device *dev,
				      const struct network *at)
{
	unsigned int protocol;
	u8 family;

	if (at->protocol == htons(ETH_P_IP))
		family = AF_INET;
	else if (at->protocol == htons(ETH_P_IPV6))
		family = AF_INET6;
	else
		return false;
	protocol = netsync_parse(skb, at->offset, family, NETSYNC_ALL,
				 dev_net(dev)->ns.inum, &rec->packet);
	if (!protocol)
		return false;
	if (likely(protocol == NETSYNC_TCP))
		rec->protocol = IPPROTO_TCP;
	else
		name_device_fields(rec, protocol, skb);
	rec->skb = netsync_address(skb);
	rec->ifindex = dev->ifindex;
	rec->vlan = at->vlan;
	return true;
}

static void at_device_receive(void *data, const struct sk_buff *skb)
{
	struct netsync_dev rec netsync_uninit;
	struct network at;

	if (!find_received_network(skb, &at) || !write_dev(&rec, skb, skb->dev, &at))
		return;
	rec.hwtstamp = netsync_hwtstamp(skb);
	trace_inet_dev_receive(&rec);
}

static void at_device_xmit(void *data, const struct sk_buff *skb,
			   const struct net_device *dev)
{
	struct netsync_dev rec netsync_uninit;
	struct network at;

	if (!find_sent_network(skb, dev, &at) || !write_dev(&rec, skb, dev, &at))
		return;
	/*
	 * The packet has not been sent yet. If it is being forwarded, the skb's timestamp is that
	 * of its receipt.
	 */
	rec.hwtstamp = 0;
	trace_inet_dev_xmit(&rec);
}

static struct netsync_probe xmit[] = {
	{ NETSYNC_TRACEPOINT(net_dev_start_xmit, at_device_xmit) },
};

/* A received packet passes one of these tracepoints for each device. */
static struct netsync_probe receive[] = {
	{ NETSYNC_TRACEPOINT(napi_gro_receive_entry, at_device_receive) },
	{ NETSYNC_TRACEPOINT(napi_gro_frags_entry, at_device_receive) },
	{ NETSYNC_TRACEPOINT(netif_receive_skb_entry, at_device_receive) },
	{ NETSYNC_TRACEPOINT(netif_receive_skb_list_entry, at_device_receive) },
	{ NETSYNC_TRACEPOINT(netif_rx_entry, at_device_receive) },
#ifdef NETSYNC_HAS_NETIF_RX_NI
	{ NETSYNC_TRACEPOINT(netif_rx_ni_entry, at_device_receive) },
#endif
};

NETSYNC_SOURCE(dev_xmit, xmit);
NETSYNC_SOURCE(dev_receive, receive);
