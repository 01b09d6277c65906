// SPDX-License-Identifier: GPL-2.0-only
/* Select the recorded part of each frame, and number its device. */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>

#include "cut.h"
#include "frames.h"

/* Size of a VLAN tag (IEEE 802.1Q) and its offset in an Ethernet frame, bytes. */
#define TAG_LENGTH 4
#define TAG_AT 12

/* ---- devices ----------------------------------------------------------------- */

/* Describe a device in the capture. */
static uint32_t describe_device(struct frame_recorder *r, const struct seen_frame *frame,
				uint16_t linktype)
{
	struct seen_device device = { .has_mac = false };
	char place[64];

	if (!r->source->describe(frame, &device))
		snprintf(device.name, sizeof(device.name), "if%d", frame->device);
	snprintf(place, sizeof(place), "interface %d of network namespace %u", frame->device,
		 frame->netns);
	return capture_put_interface(&r->writer, device.name, place, linktype,
				     device.has_mac && linktype == LINKTYPE_ETHERNET ? device.mac :
										       NULL);
}

/*
 * Return the number of a device in the capture, or a negative value if there are too many
 * devices.
 */
static int64_t number_device(struct frame_recorder *r, const struct seen_frame *frame,
			     uint16_t linktype)
{
	size_t i = 0;

	while (i < r->num_devices &&
	       (r->device[i].index != frame->device || r->device[i].netns != frame->netns ||
		r->device[i].serial != frame->serial || r->device[i].linktype != linktype))
		i++;
	if (i == MOST_DEVICES)
		return -1;
	if (i == r->num_devices)
		r->device[r->num_devices++] = (struct recorded_device){
			.index = frame->device,
			.netns = frame->netns,
			.serial = frame->serial,
			.number = describe_device(r, frame, linktype),
			.linktype = linktype,
		};
	return r->device[i].number;
}

/* ---- frames ------------------------------------------------------------------ */

uint32_t frame_get_flags(unsigned int type)
{
	switch (type) {
	case PACKET_OUTGOING:
		return FLAG_OUTBOUND;
	case PACKET_HOST:
		return FLAG_INBOUND | FLAG_UNICAST;
	case PACKET_MULTICAST:
		return FLAG_INBOUND | FLAG_MULTICAST;
	case PACKET_BROADCAST:
		return FLAG_INBOUND | FLAG_BROADCAST;
	default:
		return FLAG_INBOUND | FLAG_PROMISCUOUS;
	}
}

/*
 * Return the length of an Ethernet header with its VLAN tags. Set *@protocol to the type after
 * them. For frames made by a program, the kernel reports both values differently.
 */
static size_t measure_ethernet_header(const struct seen_frame *frame, uint16_t *protocol)
{
	size_t type_at = TAG_AT;

	*protocol = 0;
	while (type_at + 2 <= frame->captured) {
		*protocol = (uint16_t)(frame->link[type_at] << 8 | frame->link[type_at + 1]);
		if (*protocol != ETH_P_8021Q && *protocol != ETH_P_8021AD)
			break;
		type_at += TAG_LENGTH;
	}
	return type_at + 2;
}

/* Insert the VLAN tag that the kernel removed from the frame, at its position on the link. */
static void insert_vlan_tag(struct recorded_frame *kept, uint8_t tagged[TAG_AT + TAG_LENGTH],
			    const struct seen_frame *frame)
{
	const uint16_t words[2] = { htons(frame->tag_protocol), htons(frame->tag) };

	memcpy(tagged, frame->link, TAG_AT);
	memcpy(tagged + TAG_AT, words, TAG_LENGTH);
	kept->head = tagged;
	kept->split = TAG_AT + TAG_LENGTH;
	kept->tail = frame->link + TAG_AT;
	kept->kept += TAG_LENGTH;
	kept->original += TAG_LENGTH;
}

void frame_record_seen(void *data, const struct seen_frame *frame)
{
	struct frame_recorder *r = data;
	const bool is_ethernet = frame->device_type == ARPHRD_ETHER ||
				 frame->device_type == ARPHRD_LOOPBACK;
	uint16_t protocol = frame->protocol;
	struct recorded_frame kept = {
		.flags = frame->flags,
		.time_ns = frame->time_ns,
		.original = frame->original,
		.head = frame->link,
	};
	const size_t link = is_ethernet ? measure_ethernet_header(frame, &protocol) : 0;
	int64_t number;
	uint8_t tagged[TAG_AT + TAG_LENGTH];

	/* On other links, the recorded frame begins with its network header. */
	if (!is_ethernet) {
		if (frame->link_length > frame->captured ||
		    (protocol != ETH_P_IP && protocol != ETH_P_IPV6))
			return;
		kept.head += frame->link_length;
		kept.original -= (uint32_t)frame->link_length;
	}
	kept.kept = (uint32_t)count_kept_bytes(kept.head,
					       frame->captured - (size_t)(kept.head - frame->link),
					       link, protocol, r->payload);
	kept.split = kept.kept;
	number = number_device(r, frame, is_ethernet ? LINKTYPE_ETHERNET : LINKTYPE_RAW);
	if (number < 0) {
		r->unrecorded++;
		return;
	}
	if (is_ethernet && kept.kept >= TAG_AT && frame->tag_protocol)
		insert_vlan_tag(&kept, tagged, frame);
	kept.interface = (uint32_t)number;
	capture_put_frame(&r->writer, &kept);
	r->recorded++;
}
