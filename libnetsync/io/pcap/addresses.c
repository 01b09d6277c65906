// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Infer the addresses of captured hosts from samples of all traces' packets. The addresses
 * determine the directions of packets.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/pcap/pcap.h"

/* ---- traces with known directions --------------------------------------- */

struct observed {
	struct sampling *sampling;
	struct packet_samples *samples; /* of one trace, or one element per host */
};

static int sample_observed_packet(struct netsync_io *io, const struct netsync_packet *pkt)
{
	const struct observed *to = io->observe_data;

	return sampling_add_by_nat_key(to->sampling, &to->samples[pkt->host], pkt->time_ns, pkt,
				       pkt->dir == NETSYNC_OUT ? DIRECTION_OUT : DIRECTION_IN) ?
		       io_fail_no_memory(io) :
		       0;
}

/* Take samples of text input, which contains directions. @samples has an element for each host. */
static int sample_texts(struct netsync_io *io, struct sampling *sampling,
			struct packet_samples *samples)
{
	struct observed to = { sampling, samples };
	int ret;

	io->observe = sample_observed_packet;
	io->observe_data = &to;
	ret = io_observe_texts(io);
	io->observe = NULL;
	return ret;
}

static int observe_trace_packets(struct netsync_io *io, const struct trace *trace,
				 struct observed *to)
{
	char *what = io_format("%s=%s", "host", trace->path);
	int ret = what ? 0 : io_fail_no_memory(io);

	io->observe = sample_observed_packet;
	io->observe_data = to;
	io->jobs = trace->io->jobs;
	io->timeout_ms = trace->io->timeout_ms;
	io->keeper = trace->io;
	if (!ret)
		ret = netsync_io_add(io, what);
	if (ret >= 0)
		ret = netsync_io_read(io, NULL, NULL);
	free(what);
	return ret;
}

/*
 * Take samples of a trace in another format. Read the trace once more, with a separate netsync_io.
 * Ignore errors, because they are reported when the trace itself is read.
 */
static int sample_directed_trace(struct trace *trace, struct sampling *sampling,
				 struct packet_samples *samples)
{
	struct netsync *ns = netsync_new();
	struct netsync_io *io = ns ? netsync_io_new(ns) : NULL;
	struct observed to = { sampling, samples };
	int ret = io ? observe_trace_packets(io, trace, &to) : -ENOMEM;

	netsync_io_free(io);
	netsync_free(ns);
	return ret == -ENOMEM ? io_fail_no_memory(trace->io) : 0;
}

/* ---- results ------------------------------------------------------------ */

int pcap_keep_addresses(struct netsync_io *io, const char *host_name,
			const struct own_addresses *from)
{
	return own_addresses_add_all(io->owns, host_name, from) ? io_fail_no_memory(io) : 0;
}

static void warn_of_inferred_addresses(struct netsync_io *io, const struct watcher *watcher,
				       const struct own_addresses *own, const char *how)
{
	char text[ADDRESS_TEXT], *list = NULL, *longer;

	for (size_t i = 0; i < own->num && i < 8; i++) {
		longer = io_format("%s%s%s", list ? list : "", list ? ", " : "",
				   address_format(text, &own->address[i]));
		free(list);
		list = longer;
	}
	io_warn(io,
		"%s: the captures do not record packet directions; its address %s was inferred from %s.",
		watcher->name, list ? list : "", how);
	free(list);
}

/*
 * If all frames of an interface contain one hardware address, and only one, use this address. If
 * there are several, some may belong to routers.
 */
static int use_common_macs(struct netsync_io *io, const struct watcher *watcher)
{
	struct own_addresses own = { .num = 0 };
	int ret = 0;

	for (size_t i = 0; i < io->num_traces && !ret; i++) {
		const struct trace *trace = io->traces[i];
		const struct pcap *pcap = trace->state;

		if (!pcap_is_capture(trace) || strcmp(trace->host_name, watcher->name))
			continue;
		for (int j = 0; j < MAX_INTERFACES && !ret; j++) {
			struct address address = { .is_mac = true };

			if (pcap->macs[j].num != 1)
				continue;
			memcpy(address.bytes, pcap->macs[j].mac[0], MAC_SIZE);
			ret = own_addresses_add(&own, &address);
		}
	}
	if (!ret)
		ret = pcap_keep_addresses(io, watcher->name, &own);
	if (!ret && own.num)
		warn_of_inferred_addresses(io, watcher, &own, "the address common to all frames");
	free(own.address);
	return ret == -ENOMEM ? io_fail_no_memory(io) : ret;
}

static int use_inferred_addresses(struct netsync_io *io, const struct watcher *watcher)
{
	int ret;

	if (!watcher->wanted)
		return 0;
	if (!watcher->own.num || watcher->doubtful)
		return use_common_macs(io, watcher);
	ret = pcap_keep_addresses(io, watcher->name, &watcher->own);
	if (!ret)
		warn_of_inferred_addresses(
			io, watcher, &watcher->own,
			watcher->is_inferred ?
				"the packet directions in another trace of the same packets" :
				"the times at which the captures saw the same packets");
	return ret;
}

/*
 * Return whether a capture has packets without a direction while no address of its host is known.
 */
static bool are_addresses_wanted(const struct netsync_io *io, const struct trace *trace)
{
	const struct pcap *pcap = trace->state;

	return pcap_is_capture(trace) && pcap->unmarked &&
	       !own_addresses_find(io->owns, trace->host_name);
}

static struct watcher *find_or_add_watcher(struct watcher *watchers, size_t *num, const char *name)
{
	for (size_t i = 0; i < *num; i++)
		if (!strcmp(watchers[i].name, name))
			return &watchers[i];
	watchers[*num] = (struct watcher){ .name = name };
	return &watchers[(*num)++];
}

/* Append the samples of a trace to those of another trace on the same host. */
static bool append_samples(struct packet_samples *to, struct packet_samples *from)
{
	struct sighted *all = realloc(to->of, (to->num + from->num + 1) * sizeof(*all));

	if (!all)
		return false;
	if (from->num)
		memcpy(all + to->num, from->of, from->num * sizeof(*all));
	to->of = all;
	to->num += from->num;
	free(from->of);
	*from = (struct packet_samples){ .num = 0 };
	return true;
}

/*
 * Register the samples of a trace. Samples of all traces are thinned out together, so that all
 * traces have samples of the same packets.
 */
static void register_samples(struct sampling *sampling, struct packet_samples *samples)
{
	sampling->all[sampling->num_all++] = samples;
}

/*
 * Take samples of all inputs. @others gets the samples of traces that are not captures, one element
 * per trace, followed by the samples of text input, one element per host.
 */
static int sample_all_inputs(struct netsync_io *io, struct samplings *samplings,
			     struct packet_samples *others)
{
	struct packet_samples *texts = &others[io->num_traces];
	int ret;

	for (size_t i = 0; i < io->num_traces; i++) {
		struct pcap *pcap = io->traces[i]->state;

		if (!pcap_is_capture(io->traces[i])) {
			register_samples(&samplings->inside, &others[i]);
			continue;
		}
		register_samples(&samplings->whole, &pcap->samples);
		register_samples(&samplings->inside, &pcap->inside);
		register_samples(&samplings->inside, &pcap->directed);
	}
	for (size_t i = 0; i < io->hosts.num; i++)
		register_samples(&samplings->inside, &texts[io->hosts.name[i]->number]);
	ret = pcap_sample_captures(io, samplings);
	for (size_t i = 0; i < io->num_traces && !ret; i++)
		if (!pcap_is_capture(io->traces[i]))
			ret = sample_directed_trace(io->traces[i], &samplings->inside, &others[i]);
	return ret ? ret : sample_texts(io, &samplings->inside, texts);
}

static int give_samples_to_watchers(struct netsync_io *io, struct packet_samples *others,
				    struct watcher *watchers, size_t *num)
{
	int ret = 0;

	for (size_t i = 0; i < io->num_traces && !ret; i++) {
		struct trace *trace = io->traces[i];
		struct pcap *pcap = trace->state;
		struct watcher *watcher = find_or_add_watcher(watchers, num, trace->host_name);

		watcher->wanted |= are_addresses_wanted(io, trace);
		if (pcap_is_capture(trace) ?
			    !append_samples(&watcher->samples, &pcap->samples) ||
				    !append_samples(&watcher->inside, &pcap->inside) ||
				    !append_samples(&watcher->directed, &pcap->directed) :
			    !append_samples(&watcher->directed, &others[i]))
			ret = io_fail_no_memory(io);
	}
	for (size_t i = 0; i < io->hosts.num && !ret; i++) {
		const struct name *name = io->hosts.name[i];
		struct watcher *watcher = find_or_add_watcher(watchers, num, name->text);

		if (!append_samples(&watcher->directed, &others[io->num_traces + name->number]))
			ret = io_fail_no_memory(io);
	}
	return ret;
}

/*
 * Mark captures of hosts whose packets no other trace has. The directions of such captures do not
 * matter: a machine without traffic to the others is no reason to fail. Whether other traces have
 * the packets is known only if all inputs are captures.
 */
static void mark_lone_captures(struct netsync_io *io, struct watcher *watchers, size_t num)
{
	for (size_t i = 0; i < io->num_traces; i++)
		if (io->num_texts || !pcap_is_capture(io->traces[i]))
			return;
	for (size_t i = 0; i < io->num_traces; i++) {
		const char *name = io->traces[i]->host_name;
		struct pcap *pcap = io->traces[i]->state;

		pcap->alone = !find_or_add_watcher(watchers, &num, name)->met;
	}
}

static int infer_own_addresses(struct netsync_io *io)
{
	/* Text input may have more hosts. */
	const size_t num_others = io->num_traces + netsync_num_hosts(io->ns);
	/* Each capture has three kinds of samples: one kind in @whole, and two in @inside. */
	struct packet_samples **all = calloc(2 * io->num_traces + num_others, sizeof(*all));
	struct packet_samples *others = calloc(num_others, sizeof(*others));
	struct watcher *watchers = calloc(num_others, sizeof(*watchers));
	struct samplings samplings = { .whole.all = all };
	size_t num = 0;
	int ret = all && others && watchers ? 0 : io_fail_no_memory(io);

	if (!ret) {
		samplings.inside.all = all + io->num_traces;
		ret = sample_all_inputs(io, &samplings, others);
	}
	if (!ret)
		ret = give_samples_to_watchers(io, others, watchers, &num);
	if (!ret && (infer_from_known_directions(watchers, num) ||
		     infer_from_shared_packets(watchers, num)))
		ret = io_fail_no_memory(io);
	for (size_t i = 0; i < num && !ret; i++)
		ret = use_inferred_addresses(io, &watchers[i]);
	if (!ret)
		mark_lone_captures(io, watchers, num);
	for (size_t i = 0; i < num; i++) {
		free(watchers[i].samples.of);
		free(watchers[i].inside.of);
		free(watchers[i].directed.of);
		free(watchers[i].own.address);
		free(watchers[i].other.address);
	}
	for (size_t i = 0; i < num_others && others; i++)
		free(others[i].of);
	free(others);
	free(watchers);
	free(all);
	return ret;
}

static bool has_capture_of_host(const struct netsync_io *io, const char *host)
{
	for (size_t i = 0; i < io->num_traces; i++)
		if (pcap_is_capture(io->traces[i]) && !strcmp(io->traces[i]->host_name, host))
			return true;
	return false;
}

/*
 * Check that each host with given addresses has captures. If a host has no captures, its name was
 * mistyped, unless captures were skipped, for example on a failed disk: the host may be that of a
 * skipped capture.
 */
int pcap_check_given_addresses(struct netsync_io *io)
{
	for (size_t i = 0; i < io->owns->num; i++) {
		const struct own_addresses *own = &io->owns->own[i];

		if (!own->given || has_capture_of_host(io, own->host_name))
			continue;
		if (!io->num_left_out)
			return io_fail(
				io, -ENOENT,
				"An address was given for host \"%s\", but no capture is from a host of that name.",
				own->host_name);
		io_warn(io,
			"An address was given for host \"%s\", but no capture of that host could be read.",
			own->host_name);
	}
	return 0;
}

/*
 * If the packets allow this, take the direction from the file's name, such as "db-in.pcap": each
 * packet that a machine receives contains the machine's address. Known addresses take precedence.
 */
static void use_direction_from_name(struct netsync_io *io, const struct trace *trace)
{
	struct pcap *pcap = trace->state;
	const bool out = pcap->name.way == NAME_OUT;

	if (pcap->name.way == NAME_BOTH || !are_addresses_wanted(io, trace) ||
	    !traits_are_one_way(&pcap->traits, out))
		return;
	pcap->way = out ? FRAME_OUT : FRAME_IN;
	pcap->unmarked = 0;
}

/* Return whether this direction is taken from the name of one of the host's captures. */
static bool has_direction_from_name(const struct trace *trace, const char *host_name,
				    enum frame_mark way)
{
	return pcap_is_capture(trace) && ((const struct pcap *)trace->state)->way == way &&
	       !strcmp(trace->host_name, host_name);
}

/* Report the directions that are taken from names, once for each host. */
static void report_directions_from_names(struct netsync_io *io, size_t first)
{
	const struct trace *trace = io->traces[first];
	const enum frame_mark way = ((const struct pcap *)trace->state)->way;
	const bool out = way == FRAME_OUT;
	size_t num = 0;

	for (size_t i = 0; i < io->num_traces; i++) {
		if (!has_direction_from_name(io->traces[i], trace->host_name, way))
			continue;
		if (i < first)
			return;
		num++;
	}
	io_warn(io,
		"%s: %zu of its captures, such as %s, do not record packet directions; because their names contain \"%s\" and all packets have the same %s, these packets are assumed to be the ones that %s %s.",
		trace->host_name, num, trace->path, out ? "out" : "in", out ? "sender" : "receiver",
		trace->host_name, out ? "sent" : "received");
}

/* Return whether the packets of at least two hosts have directions. */
static bool has_directed_pair(const struct netsync_io *io)
{
	const char *one = io->hosts.num ? io->hosts.name[0]->text : NULL;

	if (io->hosts.num > 1)
		return true;
	for (size_t i = 0; i < io->num_traces; i++) {
		const struct trace *trace = io->traces[i];
		const struct pcap *pcap = trace->state;

		if (pcap_is_capture(trace) && (pcap->alone || are_addresses_wanted(io, trace)))
			continue;
		if (one && strcmp(one, trace->host_name))
			return true;
		one = trace->host_name;
	}
	return false;
}

/*
 * Reject a capture whose directions are not known. If two other hosts can be synchronized, only
 * print a warning. Otherwise, return the error.
 */
static int refuse_capture(struct netsync_io *io, const struct trace *capture)
{
	static const char problem[] =
		"%s: the capture does not record which packets %s sent, and this cannot be inferred; specify an address of that host with --address %s=ADDRESS.%s";
	const char *host = capture->host_name;

	if (!has_directed_pair(io))
		return io_fail(io, -EDESTADDRREQ, problem, capture->path, host, host, "");
	io_warn(io, problem, capture->path, host, host, " Its packets are not used.");
	/* No further warnings are needed for the host's other captures. */
	for (size_t i = 0; i < io->num_traces; i++)
		if (pcap_is_capture(io->traces[i]) && !strcmp(io->traces[i]->host_name, host))
			((struct pcap *)io->traces[i]->state)->alone = true;
	return 0;
}

int pcap_prepare(struct netsync_io *io)
{
	bool wanted = false;
	int ret = pcap_check_given_addresses(io);

	if (!ret)
		ret = pcap_report_groups(io);
	for (size_t i = 0; i < io->num_traces && !ret; i++) {
		const struct trace *trace = io->traces[i];

		if (pcap_is_capture(trace))
			ret = pcap_keep_addresses(io, trace->host_name,
						  &((const struct pcap *)trace->state)->found);
	}
	for (size_t i = 0; i < io->num_traces && !ret; i++)
		if (pcap_is_capture(io->traces[i]))
			use_direction_from_name(io, io->traces[i]);
	for (size_t i = 0; i < io->num_traces && !ret; i++)
		if (pcap_is_capture(io->traces[i]) &&
		    ((const struct pcap *)io->traces[i]->state)->way != FRAME_UNMARKED)
			report_directions_from_names(io, i);
	for (size_t i = 0; i < io->num_traces; i++)
		wanted |= are_addresses_wanted(io, io->traces[i]);
	if (!ret && wanted)
		ret = infer_own_addresses(io);
	for (size_t i = 0; i < io->num_traces && !ret; i++) {
		const struct trace *trace = io->traces[i];
		struct pcap *pcap = trace->state;

		if (!pcap_is_capture(trace))
			continue;
		if (are_addresses_wanted(io, trace) && !pcap->alone)
			ret = refuse_capture(io, trace);
		pcap->own = own_addresses_find(io->owns, trace->host_name);
	}
	return ret;
}

int netsync_io_add_address(struct netsync_io *io, const char *what)
{
	const char *equal = strrchr(what, '=');
	struct address address;
	struct own_addresses *own = NULL;
	char *name;
	int ret;

	ret = io_check_can_add(io, what);
	if (ret < 0)
		return ret;
	if (!equal || equal == what || !address_parse(&address, equal + 1))
		return io_fail(
			io, -EINVAL,
			"%s: not an address of a host; expected NAME=ADDRESS with an IP or hardware address, such as web=10.0.0.1.",
			what);
	name = strndup(what, equal - what);
	if (name && !io_make_printable(&name))
		own = own_addresses_find_or_add(io->owns, name);
	free(name);
	if (!own || own_addresses_add(own, &address))
		return io_fail_no_memory(io);
	own->given = true;
	return 0;
}
