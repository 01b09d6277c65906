// SPDX-License-Identifier: GPL-2.0-only
/*
 * The source packet, which receives all frames of a network namespace through a packet socket
 * with a ring of blocks (TPACKET_V3; Documentation/networking/packet_mmap.rst). The kernel fills
 * blocks with frames, and hands over each block when it is full or after a timeout.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/container.h"
#include "cut.h"
#include "frames.h"
#include "source.h"

/*
 * Size of a block, bytes, which must be a power of two and a multiple of each page size of
 * Linux. Chosen.
 */
#define BLOCK_SIZE (256u * 1024)
/* Time after which a block with a frame is handed over even if it is not full, ms. Chosen. */
#define HAND_OVER_MS 100
/* Maximum number of bytes that the kernel copies of a frame. */
#define COPIED_BYTES (LONGEST_HEADERS + 256u)
/*
 * Position of a frame's address after the frame's header, as TPACKET_ALIGN() of an unsigned
 * size.
 */
#define RING_ADDRESS_AT                                                              \
	((sizeof(struct tpacket3_hdr) + TPACKET_ALIGNMENT - 1) / TPACKET_ALIGNMENT * \
	 TPACKET_ALIGNMENT)
/*
 * Nominal size of a frame, bytes, by which the kernel divides blocks. It has no effect in
 * version 3.
 */
#define FRAME_SIZE 2048u

static struct {
	int fd;
	uint8_t *blocks;
	size_t num_blocks;
	size_t next; /* number of the block that the kernel hands over next */
	bool with_loopback;
	uint16_t unwanted[2]; /* TCP ports of the connection to be skipped; 0 if none */
	uint32_t netns;
	struct source_counts counts;
} ring;

/* ---- the own connection -------------------------------------------------------- */

/* Sizes of headers without options, in bytes. */
#define IPV4_HEADER 20
#define IPV6_HEADER 40

/* Return the ports of a TCP frame, or NULL if it has none or they were not captured. */
static const uint8_t *find_tcp_ports(const struct seen_frame *frame)
{
	const uint8_t *network = frame->link + frame->link_length;
	size_t rest = frame->captured, header;
	uint8_t protocol;

	if (rest < frame->link_length)
		return NULL;
	rest -= frame->link_length;
	if (frame->protocol == ETH_P_IP && rest >= IPV4_HEADER) {
		header = (size_t)(network[0] & 15) * 4;
		protocol = network[9];
	} else if (frame->protocol == ETH_P_IPV6 && rest >= IPV6_HEADER) {
		header = IPV6_HEADER;
		protocol = network[6];
	} else {
		return NULL;
	}
	return protocol == IPPROTO_TCP && header + 4 <= rest ? network + header : NULL;
}

/*
 * Does the frame belong to the connection that carries this recording? Recording frames of this
 * connection would cause more of them. A socket filter would drop frames whose headers are
 * incomplete or not at the beginning of the kernel's buffer.
 */
static bool is_own_connection(const struct seen_frame *frame)
{
	const uint16_t a = ring.unwanted[0], b = ring.unwanted[1];
	const uint8_t *ports = a ? find_tcp_ports(frame) : NULL;
	uint16_t from, to;

	if (!ports)
		return false;
	from = (uint16_t)(ports[0] << 8 | ports[1]);
	to = (uint16_t)(ports[2] << 8 | ports[3]);
	return (from == a && to == b) || (from == b && to == a);
}

/* ---- the ring ------------------------------------------------------------------ */

static int set_ring_memory(size_t size)
{
	const int version = TPACKET_V3;
	struct tpacket_req3 request = {
		.tp_block_size = BLOCK_SIZE,
		.tp_block_nr = (unsigned int)(size < 2 * BLOCK_SIZE ? 2 : size / BLOCK_SIZE),
		.tp_frame_size = FRAME_SIZE,
		.tp_retire_blk_tov = HAND_OVER_MS,
	};

	request.tp_frame_nr = request.tp_block_nr * (BLOCK_SIZE / FRAME_SIZE);
	if (setsockopt(ring.fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) ||
	    setsockopt(ring.fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof(request)))
		return -errno;
	ring.num_blocks = request.tp_block_nr;
	ring.blocks = mmap(NULL, ring.num_blocks * BLOCK_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
			   ring.fd, 0);
	if (ring.blocks == MAP_FAILED) {
		ring.blocks = NULL;
		return -errno;
	}
	return 0;
}

static int bind_ring(uint16_t protocol, int device)
{
	const struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(protocol),
		.sll_ifindex = device,
	};

	return bind(ring.fd, (const struct sockaddr *)&address, sizeof(address)) ? -errno : 0;
}

static void close_ring(void)
{
	if (ring.blocks)
		munmap(ring.blocks, ring.num_blocks * BLOCK_SIZE);
	if (ring.fd >= 0)
		close(ring.fd);
	ring.fd = -1;
	ring.blocks = NULL;
}

static void explain_ring_error(int error, const char *what, char why[LONGEST_REASON])
{
	if (error == -EPERM || error == -EACCES)
		snprintf(why, LONGEST_REASON,
			 "%s is not permitted: run this as root, or with CAP_NET_RAW", what);
	else if (error == -ENOMEM)
		snprintf(why, LONGEST_REASON, "%s: there is no memory; give a smaller --buffer",
			 what);
	else
		snprintf(why, LONGEST_REASON, "%s: %s", what, strerror(-error));
}

/* Enter the namespace, so that sockets that are opened from then on belong to it. */
static int enter_namespace(const struct packet_selection *s)
{
	char path[64];
	struct stat netns;
	int fd, ret;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)s->process);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* The process may have ended, and another process may have its ID. */
	ret = fstat(fd, &netns)			 ? -errno :
	      (uint32_t)netns.st_ino != s->netns ? -ESRCH :
	      setns(fd, CLONE_NEWNET)		 ? -errno :
						   0;
	close(fd);
	if (!ret)
		ring.netns = s->netns;
	return ret;
}

static void explain_namespace_error(int error, char why[LONGEST_REASON])
{
	if (error == -EPERM || error == -EACCES)
		snprintf(
			why, LONGEST_REASON,
			"entering the network namespace is not permitted: run this as root, or with CAP_SYS_ADMIN");
	else
		snprintf(why, LONGEST_REASON, "entering the network namespace: %s",
			 strerror(-error));
}

static int open_ring_socket(const struct packet_selection *s, const char **what)
{
	int ret;

	/* A socket with no protocol receives nothing until all settings are made. */
	ring.fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	*what = "a packet socket";
	if (ring.fd < 0)
		return -errno;
	*what = "the ring of packets";
	ret = set_ring_memory(s->buffer);
	if (!ret) {
		*what = "receiving packets";
		ret = bind_ring(ETH_P_ALL, s->device);
	}
	return ret;
}

static bool open_ring(const struct packet_selection *s, char why[LONGEST_REASON])
{
	const char *what;
	int ret;

	if (s->num_ports || s->num_addresses || s->sampling || s->cgroup) {
		snprintf(
			why, LONGEST_REASON,
			"a packet socket does not select packets by --port, --host, --cgroup or --sampling");
		return false;
	}
	ring.netns = (uint32_t)read_namespace_inode(AT_FDCWD, "/proc/self/ns/net");
	if (s->netns && s->netns != ring.netns) {
		ret = enter_namespace(s);
		if (ret) {
			explain_namespace_error(ret, why);
			return false;
		}
	}
	ring.with_loopback = s->with_loopback;
	memcpy(ring.unwanted, s->unwanted, sizeof(ring.unwanted));
	ret = open_ring_socket(s, &what);
	if (ret) {
		explain_ring_error(ret, what, why);
		close_ring();
	}
	return !ret;
}

static void pass_ring_frame(const struct tpacket3_hdr *header, take_frame_fn take, void *data)
{
	const uint8_t *begin = (const uint8_t *)header;
	const struct sockaddr_ll *from = (const void *)(begin + RING_ADDRESS_AT);
	struct seen_frame frame = {
		.time_ns = (uint64_t)header->tp_sec * 1000000000 + header->tp_nsec,
		.netns = ring.netns,
		.device = from->sll_ifindex,
		.device_type = from->sll_hatype,
		.protocol = ntohs(from->sll_protocol),
		.flags = frame_get_flags(from->sll_pkttype),
		.original = header->tp_len,
		.captured = header->tp_snaplen,
		.link = begin + header->tp_mac,
		.link_length = (size_t)(header->tp_net - header->tp_mac),
	};

	if ((from->sll_hatype == ARPHRD_LOOPBACK && !ring.with_loopback) ||
	    is_own_connection(&frame))
		return;
	if (header->tp_status & TP_STATUS_VLAN_VALID) {
		frame.tag_protocol = header->tp_status & TP_STATUS_VLAN_TPID_VALID ?
					     header->hv1.tp_vlan_tpid :
					     ETH_P_8021Q;
		frame.tag = (uint16_t)header->hv1.tp_vlan_tci;
	}
	take(data, &frame);
}

static int pass_ring_block(int timeout_ms, const sigset_t *mask, take_frame_fn take, void *data)
{
	struct tpacket_block_desc *block = (void *)(ring.blocks + ring.next * BLOCK_SIZE);
	const struct tpacket_hdr_v1 *head = &block->hdr.bh1;
	struct pollfd polled = { .fd = ring.fd, .events = POLLIN };
	const struct timespec timeout = { timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000 };
	const uint8_t *frame;

	if (!(__atomic_load_n(&block->hdr.bh1.block_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER)) {
		if (ppoll(&polled, 1, &timeout, mask) < 0)
			return errno == EINTR ? 0 : -errno;
		if (!(__atomic_load_n(&block->hdr.bh1.block_status, __ATOMIC_ACQUIRE) &
		      TP_STATUS_USER))
			return 0;
	}
	frame = (const uint8_t *)block + head->offset_to_first_pkt;
	for (uint32_t i = 0; i < head->num_pkts; i++) {
		const struct tpacket3_hdr *header = (const void *)frame;

		pass_ring_frame(header, take, data);
		frame += header->tp_next_offset;
	}
	__atomic_store_n(&block->hdr.bh1.block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
	ring.next = (ring.next + 1) % ring.num_blocks;
	return 1;
}

static void stop_ring(void)
{
	const struct sock_filter none = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog program = { .len = 1, .filter = (struct sock_filter *)&none };

	setsockopt(ring.fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

static void count_ring_losses(struct source_counts *counts)
{
	struct tpacket_stats_v3 since;
	socklen_t size = sizeof(since);

	/* Reading the statistics sets them to zero. */
	if (!getsockopt(ring.fd, SOL_PACKET, PACKET_STATISTICS, &since, &size)) {
		ring.counts.received += since.tp_packets;
		ring.counts.lost += since.tp_drops;
	}
	*counts = ring.counts;
}

static bool describe_ring_device(const struct seen_frame *frame, struct seen_device *described)
{
	struct ifreq request = { .ifr_ifindex = frame->device };

	if (ioctl(ring.fd, SIOCGIFNAME, &request))
		return false;
	memcpy(described->name, request.ifr_name, sizeof(described->name));
	described->has_mac = !ioctl(ring.fd, SIOCGIFHWADDR, &request);
	if (described->has_mac)
		memcpy(described->mac, request.ifr_hwaddr.sa_data, sizeof(described->mac));
	return true;
}

const struct packet_source packet_socket_source = {
	.name = "packet",
	.open = open_ring,
	.take = pass_ring_block,
	.stop = stop_ring,
	.count = count_ring_losses,
	.describe = describe_ring_device,
	.close = close_ring,
};
