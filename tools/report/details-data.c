// SPDX-License-Identifier: GPL-2.0-only
/* Write late messages and flows as JSON for the page. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "common/input.h"
#include "common/result-info.h"
#include "report.h"

static void put_detail_number(struct json_writer *w, json_object *object, const char *key,
			      uint64_t value)
{
	json_put(w, object, key, json_object_new_int64((int64_t)value));
}

static void put_detail_address(struct json_writer *w, json_object *object, const char *key,
			       const uint8_t address[16])
{
	struct in6_addr bytes;
	char text[INET6_ADDRSTRLEN];

	memcpy(&bytes, address, sizeof(bytes));
	if (IN6_IS_ADDR_V4MAPPED(&bytes))
		inet_ntop(AF_INET, address + 12, text, sizeof(text));
	else
		inet_ntop(AF_INET6, address, text, sizeof(text));
	json_put(w, object, key, json_object_new_string(text));
}

/*
 * Write the properties that all packets of a flow share. If the messages come from a text file, no
 * property is known.
 */
static void put_flow_fields(struct json_writer *w, json_object *object,
			    const struct spooled_packet *packet)
{
	put_detail_number(w, object, "protocol", packet->protocol);
	if (packet->fields & NETSYNC_HAS_ADDRS) {
		put_detail_address(w, object, "saddr", packet->saddr);
		put_detail_address(w, object, "daddr", packet->daddr);
	}
	if (packet->fields & NETSYNC_HAS_PORTS) {
		put_detail_number(w, object, "sport", packet->sport);
		put_detail_number(w, object, "dport", packet->dport);
	}
}

/*
 * If a capture contains the packet, write the fields that distinguish the packet from others of its
 * flow.
 */
static void put_packet_identity(struct json_writer *w, json_object *object,
				const struct netsync_packet *pkt)
{
	if (!pkt->size)
		return;
	if (pkt->fields & NETSYNC_HAS_IP_ID)
		put_detail_number(w, object, "ip_id", pkt->ip_id);
	if (pkt->protocol == IPPROTO_TCP)
		put_detail_number(w, object, "seq", pkt->tcp.seq);
	else if (pkt->protocol == IPPROTO_SCTP && (pkt->fields & NETSYNC_HAS_TSN))
		put_detail_number(w, object, "tsn", pkt->sctp.tsn);
	else if (pkt->protocol == IPPROTO_ICMP || pkt->protocol == IPPROTO_ICMPV6)
		put_detail_number(w, object, "icmp_seq", pkt->icmp.seq);
}

static json_object *make_places_array(struct json_writer *w, const struct late_message *late,
				      unsigned int end)
{
	json_object *array = json_object_new_array();

	for (unsigned int i = 0; i < late->num_places[end]; i++) {
		const struct trace_place *place = &late->places[end][i];
		json_object *object = json_object_new_object();

		put_detail_number(w, object, "file", place->file);
		json_put_time(w, object, "time", place->time_ns);
		if (place->frame)
			put_detail_number(w, object, "frame", place->frame);
		json_append(w, array, object);
	}
	return array;
}

static json_object *make_late_object(struct json_writer *w, const struct late_message *late)
{
	json_object *object = json_object_new_object();

	json_put_time(w, object, "time", late->point.time_ns);
	json_put_time(w, object, "before", late->point.before_ns);
	json_put_time(w, object, "after", late->point.after_ns);
	json_put_time(w, object, "bound", late->bound_ns);
	put_flow_fields(w, object, &late->packet);
	if (late->packet.fields & NETSYNC_HAS_LEN)
		put_detail_number(w, object, "len", late->packet.len);
	put_packet_identity(w, object, &late->seen);
	json_put(w, object, "sender", make_places_array(w, late, SENDER));
	json_put(w, object, "receiver", make_places_array(w, late, RECEIVER));
	return object;
}

static json_object *make_flow_object(struct json_writer *w, const struct traffic_flow *flow)
{
	json_object *object = json_object_new_object();

	put_flow_fields(w, object, &flow->packet);
	put_detail_number(w, object, "messages", flow->messages);
	if (flow->has_bytes)
		put_detail_number(w, object, "bytes", flow->bytes);
	json_put_time(w, object, "min", flow->min_ns);
	json_put_time(w, object, "median", flow->median_ns);
	json_put_time(w, object, "max", flow->max_ns);
	return object;
}

void put_details(struct json_writer *w, json_object *object, const struct way_details *details)
{
	json_object *late = json_object_new_array(), *flows = json_object_new_array();

	for (size_t i = 0; i < details->num_late; i++)
		json_append(w, late, make_late_object(w, &details->late[i]));
	for (size_t i = 0; i < details->num_flows; i++)
		json_append(w, flows, make_flow_object(w, &details->flows[i]));
	json_put(w, object, "late", late);
	json_put(w, object, "flows", flows);
}

json_object *make_place_files_array(struct json_writer *w, const struct report_content *content)
{
	json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < netsync_io_num_traces(content->io); i++)
		json_append(w, array, new_json_string(get_io_trace_info(content->io, i).path));
	for (int i = 0; i < content->input->num_texts; i++)
		json_append(w, array, new_json_string(content->input->texts[i].path));
	return array;
}
