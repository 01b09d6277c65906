// SPDX-License-Identifier: GPL-2.0-only
/*
 * This module makes three packets arrive by the loopback device: to UDP port 4001 with a hardware
 * timestamp, to port 4002 without a timestamp, and to port 4003 with data from which a driver would
 * determine the time later. No device of a virtual machine provides such packets.
 */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/udp.h>
#include <linux/version.h>
#include <net/ip.h>

static unsigned long long hwtstamp;
module_param(hwtstamp, ullong, 0444);
MODULE_PARM_DESC(hwtstamp, "the time stamp, in nanoseconds");

struct packet {
	struct ethhdr eth;
	struct iphdr ip;
	struct udphdr udp;
} __packed;

static struct sk_buff *make_stamped_skb(u16 port)
{
	struct sk_buff *skb = alloc_skb(sizeof(struct packet), GFP_KERNEL);
	struct packet *packet;

	if (!skb)
		return NULL;
	packet = skb_put_zero(skb, sizeof(*packet));
	packet->eth.h_proto = htons(ETH_P_IP);
	packet->ip.version = 4;
	packet->ip.ihl = sizeof(packet->ip) / 4;
	packet->ip.ttl = 1;
	packet->ip.protocol = IPPROTO_UDP;
	packet->ip.tot_len = htons(sizeof(packet->ip) + sizeof(packet->udp));
	packet->ip.saddr = htonl(INADDR_LOOPBACK);
	packet->ip.daddr = htonl(INADDR_LOOPBACK);
	ip_send_check(&packet->ip);
	packet->udp.dest = htons(port);
	packet->udp.len = htons(sizeof(packet->udp));
	skb->protocol = eth_type_trans(skb, init_net.loopback_dev);
	return skb;
}

static int receive_stamped_skb(u16 port)
{
	struct sk_buff *skb = make_stamped_skb(port);

	if (!skb)
		return -ENOMEM;
	if (port != 4002)
		skb_hwtstamps(skb)->hwtstamp = ns_to_ktime(hwtstamp);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 19, 0)
	if (port == 4003)
		skb_shinfo(skb)->tx_flags |= SKBTX_HW_TSTAMP_NETDEV;
#endif
	local_bh_disable();
	netif_receive_skb(skb);
	local_bh_enable();
	return 0;
}

static int __init stamp_init(void)
{
	return receive_stamped_skb(4001) ?: receive_stamped_skb(4002) ?: receive_stamped_skb(4003);
}

static void __exit stamp_exit(void)
{
}

module_init(stamp_init);
module_exit(stamp_exit);
MODULE_DESCRIPTION("packets with time stamps of the hardware's, for a test");
MODULE_LICENSE("GPL");
