// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Take samples of the packets of captures, and find the hardware addresses that their frames have
 * in common, in parallel workers:
 *
 *	capture 0   worker 0		Which packets are samples depends on all together,
 *	capture 1   worker 1		but not on their order: a worker sends those that
 *	capture 2   worker 0		may be among them, and what is left of them in this
 *	...				process is what is left without workers.
 *
 * This process samples the captures that a worker could not.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/packet/key.h"
#include "io/patience.h"
#include "io/pcap/pcap.h"
#include "io/worker/worker.h"

enum samples_what {
	SAMPLES_WHOLE,	  /* any number of struct sighted, for pcap.samples */
	SAMPLES_INSIDE,	  /* any number of struct sighted, for pcap.inside */
	SAMPLES_DIRECTED, /* any number of struct sighted, for pcap.directed */
	SAMPLES_MACS,	  /* pcap.macs, which is the last record of a capture */
	SAMPLES_FAILED,	  /* a text; the record's number is the errno value */
};

#define MAX_IN_RECORD (WORKER_MAX_SIZE / sizeof(struct sighted))

_Static_assert(sizeof(((struct pcap *)0)->macs) <= WORKER_MAX_SIZE, "one record");

/* ---- one capture --------------------------------------------------------- */

int sampling_add_by_nat_key(struct sampling *sampling, struct packet_samples *samples,
			    int64_t time_ns, const struct netsync_packet *pkt, enum direction dir)
{
	uint64_t key = packet_compute_nat_key(pkt);

	return key ? sampling_add(sampling, samples, key, time_ns, pkt, dir) : 0;
}

static int add_packet_sample(struct trace *trace, struct samplings *samplings,
			     const struct captured_packet *seen)
{
	struct pcap *pcap = trace->state;
	const enum direction dir = direction_find(NULL, &seen->link, NULL);
	int ret = sampling_add(&samplings->whole, &pcap->samples, packet_compute_key(&seen->pkt),
			       seen->time_ns, &seen->pkt, dir);

	if (!ret)
		ret = sampling_add_by_nat_key(&samplings->inside,
					      dir == DIRECTION_UNKNOWN ? &pcap->inside :
									 &pcap->directed,
					      seen->time_ns, &seen->pkt, dir);
	return ret ? io_fail_no_memory(trace->io) : 0;
}

static int sample_packets_of_capture(struct trace *trace, struct samplings *samplings)
{
	struct pcap *pcap = trace->state;
	struct captured_packet seen;
	int ret = pcap_open_capture(trace);

	while (!ret && (ret = pcap_next_packet(trace, &seen)) > 0) {
		if (seen.link.mark == FRAME_UNMARKED)
			common_mac_add(&pcap->macs[seen.interface % MAX_INTERFACES], &seen.link);
		ret = 0;
		if (seen.result == FRAME_PACKET && seen.time_ns != INT64_MAX)
			ret = add_packet_sample(trace, samplings, &seen);
	}
	pcap_close_capture(pcap);
	return ret;
}

/* ---- in a worker --------------------------------------------------------- */

/* All captures. Each worker samples every num_workers-th capture. */
struct captures {
	struct netsync_io *io;
	struct samplings *samplings;
	struct trace **trace;
	size_t num;
	size_t num_workers;
	size_t first; /* index of the first capture for the worker that is being started */
};

static void put_sample_records(enum samples_what what, const struct packet_samples *samples)
{
	for (size_t i = 0; i < samples->num; i += MAX_IN_RECORD) {
		const size_t left = samples->num - i;
		const size_t num = left < MAX_IN_RECORD ? left : MAX_IN_RECORD;

		worker_put(what, 0, &samples->of[i], num * sizeof(samples->of[0]));
	}
}

static void run_sample_worker(const void *data)
{
	const struct captures *all = data;
	int ret = 0;

	netsync_io_set_warn(all->io, NULL, NULL);
	for (size_t i = all->first; i < all->num && !ret; i += all->num_workers) {
		const struct pcap *pcap = all->trace[i]->state;

		ret = sample_packets_of_capture(all->trace[i], all->samplings);
		if (ret)
			break;
		put_sample_records(SAMPLES_WHOLE, &pcap->samples);
		put_sample_records(SAMPLES_INSIDE, &pcap->inside);
		put_sample_records(SAMPLES_DIRECTED, &pcap->directed);
		worker_put(SAMPLES_MACS, 0, pcap->macs, sizeof(pcap->macs));
		/*
		 * Flush, so that the parent process knows in which capture a worker may be stuck.
		 */
		worker_flush();
	}
	if (ret)
		worker_put_text(SAMPLES_FAILED, -ret, netsync_io_error(all->io));
}

/* ---- records from workers ------------------------------------------------ */

struct sample_taking {
	struct trace *trace;
	struct samplings *samplings;
	bool waiting;
};

static int use_worker_samples(struct trace *trace, struct sampling *sampling,
			      struct packet_samples *samples, const struct sighted *taken,
			      size_t num)
{
	for (size_t i = 0; i < num; i++)
		if (sampling_put(sampling, samples, &taken[i]))
			return io_fail_no_memory(trace->io);
	return 0;
}

static int use_sample_record(void *data, const struct worker_head *head, const void *payload)
{
	struct sample_taking *taking = data;
	struct samplings *samplings = taking->samplings;
	struct trace *trace = taking->trace;
	struct pcap *pcap = trace->state;
	const size_t num = head->size / sizeof(struct sighted);

	switch (head->what) {
	case SAMPLES_WHOLE:
		return use_worker_samples(trace, &samplings->whole, &pcap->samples, payload, num);
	case SAMPLES_INSIDE:
		return use_worker_samples(trace, &samplings->inside, &pcap->inside, payload, num);
	case SAMPLES_DIRECTED:
		return use_worker_samples(trace, &samplings->inside, &pcap->directed, payload, num);
	case SAMPLES_MACS:
		memcpy(pcap->macs, payload, sizeof(pcap->macs));
		taking->waiting = false;
		return 1;
	case SAMPLES_FAILED:
		return io_fail(trace->io, head->number ? -head->number : -EIO, "%s",
			       (const char *)payload);
	default:
		return 0;
	}
}

/* Drop the samples of a capture that a worker has not finished. */
static void drop_unfinished_samples(struct sampling *sampling, struct packet_samples *samples)
{
	sampling->num -= samples->num;
	samples->num = 0;
}

static void drop_capture_samples(struct trace *trace, struct samplings *samplings)
{
	struct pcap *pcap = trace->state;

	drop_unfinished_samples(&samplings->whole, &pcap->samples);
	drop_unfinished_samples(&samplings->inside, &pcap->inside);
	drop_unfinished_samples(&samplings->inside, &pcap->directed);
}

static int sample_captures_in_process(struct trace *trace, struct samplings *samplings)
{
	drop_capture_samples(trace, samplings);
	return sample_packets_of_capture(trace, samplings);
}

static void start_sample_worker(struct captures *all, struct worker *worker, size_t first)
{
	int *keep = malloc((all->io->num_kept + 1) * sizeof(*keep));
	const struct worker_task task = {
		.run = run_sample_worker,
		.keep = keep,
		.num_keep = keep ? io_list_kept_files(all->io, keep) : 0,
		/* The readers in this process apply limits of their own. */
		.limits = { .memory = UINT64_MAX / 2 },
	};

	all->first = first;
	worker_start(worker, &task, all);
	free(keep);
}

/* Skip a capture in which a worker is stuck. Its packets are not used to determine directions. */
static void skip_stuck_capture(struct captures *all, struct worker *worker, size_t index)
{
	worker_stop(worker);
	drop_capture_samples(all->trace[index], all->samplings);
	start_sample_worker(all, worker, index + all->num_workers);
}

static int receive_worker_samples(struct captures *all, struct worker *worker, size_t index)
{
	struct trace *trace = all->trace[index];
	struct sample_taking taking = { trace, all->samplings, .waiting = true };
	struct patience patience = io_make_trace_patience(trace);
	const struct worker_patience waits = io_make_worker_patience(&patience);
	int ret = worker_receive_while(worker, &taking.waiting, use_sample_record, &taking, &waits);

	if (ret)
		return ret < 0 ? ret : 0;
	if (worker->is_stuck) {
		skip_stuck_capture(all, worker, index);
		return 0;
	}
	/* The worker was never started, or has ended, for example because memory was exhausted. */
	worker_stop(worker);
	return sample_captures_in_process(trace, all->samplings);
}

static int sample_captures_by_workers(struct captures *all)
{
	struct worker *workers = calloc(all->num_workers, sizeof(*workers));
	int ret = 0;

	if (!workers)
		return io_fail_no_memory(all->io);
	for (size_t i = 0; i < all->num_workers; i++)
		start_sample_worker(all, &workers[i], i);
	for (size_t i = 0; i < all->num && !ret; i++)
		ret = receive_worker_samples(all, &workers[i % all->num_workers], i);
	for (size_t i = 0; i < all->num_workers; i++)
		worker_stop(&workers[i]);
	free(workers);
	return ret;
}

int pcap_sample_captures(struct netsync_io *io, struct samplings *samplings)
{
	struct captures all = {
		.io = io,
		.samplings = samplings,
		.trace = malloc((io->num_traces + 1) * sizeof(struct trace *)),
		.num_workers = io_get_jobs(io),
	};
	int ret = 0;

	if (!all.trace)
		return io_fail_no_memory(io);
	for (size_t i = 0; i < io->num_traces; i++)
		if (pcap_is_capture(io->traces[i]))
			all.trace[all.num++] = io->traces[i];
	if (all.num_workers > all.num)
		all.num_workers = all.num;
	if (all.num)
		ret = sample_captures_by_workers(&all);
	free(all.trace);
	return ret;
}
