/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Did a host send a captured packet, or receive it? Some captures say that of
 * each packet. Of others it is known by the addresses of the host:
 *
 *	direction.c	addresses that are given, and what they tell
 *	infer.c		addresses by what the captures of several hosts show
 *	infer-known.c	addresses by what traces show that know the directions
 */
#ifndef NETSYNC_IO_DIRECTION_H
#define NETSYNC_IO_DIRECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/io.h"
#include "io/packet/frame.h"

struct address {
	bool is_mac;		/* the first MAC_SIZE bytes; else all 16 */
	uint8_t bytes[16];	/* as in struct netsync_packet */
};

/* Those of one machine. */
struct own {
	char *host_name;
	bool given;		/* by the caller */
	struct address *address;
	size_t num;
	size_t room;
};

struct owns {
	struct own *own;
	size_t num;
	size_t room;
};

enum direction {
	DIRECTION_UNKNOWN,	/* no address of the host tells */
	DIRECTION_LOCAL,	/* it never leaves the host */
	DIRECTION_IN,
	DIRECTION_OUT,
};

/* The addresses of a host; NULL: none is known, or there is no memory. */
struct own *own_find(const struct owns *owns, const char *host_name);
struct own *own_add(struct owns *owns, const char *host_name);
/* One more, if it is none that is there already: 0 or -ENOMEM. */
int own_add_address(struct own *own, const struct address *address);
/* "10.0.0.1", "fe80::1" or "02:00:00:00:00:01" */
bool address_parse(struct address *address, const char *text);
#define ADDRESS_TEXT 48
char *address_format(char text[ADDRESS_TEXT], const struct address *address);
void owns_release(struct owns *owns);

/* @own may be NULL. */
enum direction direction_of(const struct own *own, const struct frame_link *link,
			    const struct netsync_packet *pkt);

/* ---- inferring --------------------------------------------------------- */

/* A packet that a capture saw, one of those that are looked at closely. */
struct sighted {
	uint64_t key;		/* of the packet, the same in all captures */
	int64_t time_ns;
	uint8_t addr[2][16];	/* the lower one first */
	bool back;		/* from the second to the first */
	enum direction dir;	/* as the trace says */
};

/*
 * Samples of a capture. Their number over all captures is bounded; they are
 * chosen by their keys, so that all captures have samples of the same packets.
 */
struct samples {
	struct sighted *of;
	size_t num;
	size_t room;
};

/* How the samples of all captures are chosen. */
struct sampling {
	struct samples **all;
	size_t num_all;
	uint64_t mask;		/* keys of which no bit of this is set */
	size_t num;
};

/* 0 or -ENOMEM. */
int sampling_add(struct sampling *sampling, struct samples *samples,
		 uint64_t key, int64_t time_ns, const struct netsync_packet *pkt,
		 enum direction dir);
void samples_sort(struct samples *samples);

/* A machine, or rather a clock of it, and what was seen with it. */
struct watcher {
	const char *name;
	struct samples samples;	/* of all its captures together; sorted here */
	struct samples inside;	/* by packet_key_inside(): of captures that do */
	struct samples directed;	/* not know directions, and of other traces */
	bool wanted;		/* its addresses are not known */
	bool told;		/* they are, by a trace that knows directions */
	bool met;		/* another one saw some of the same packets */
	bool doubtful;		/* inferred ones contradict each other */
	struct own own;		/* inferred: addresses of its own, */
	struct own other;	/* and of the hosts that it talked to */
};

/*
 * Of every packet from x to y and every packet back, seen by two captures: the
 * one at the host x sees more time from the first to the second than the one
 * at y, or less from a packet back to one forth, by the sum of both packets'
 * delays. Whatever the clocks show, that tells whose x is. 0 or -ENOMEM.
 */
int infer_addresses(struct watcher *watchers, size_t num);

/*
 * A packet that one host sent, and that another one saw, came to that one; and one
 * that the first received was sent by it. So of those that do not know directions,
 * but saw packets of a trace that does, the addresses are known: as they see them,
 * whatever a router between them makes of addresses. 0 or -ENOMEM.
 */
int infer_from_known(struct watcher *watchers, size_t num);

/*
 * The hardware address that all frames of an interface have in common is its
 * own, if they have no other one in common.
 */
struct common_mac {
	bool any;		/* a frame was seen */
	unsigned int num;	/* so many candidates are left */
	uint8_t mac[2][MAC_SIZE];
};

void common_mac_add(struct common_mac *common, const struct frame_link *link);

#endif
