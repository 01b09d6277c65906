// SPDX-License-Identifier: GPL-2.0-only
/*
 * netsync-mpi sync: run netsync sync in many processes of an MPI job. Each rank knows all traces,
 * reads the traces of some hosts, and matches the packets of some shards. The first rank then
 * merges the messages of all ranks, estimates the clocks, and reports the result.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <mpi.h>

#include "../../libnetsync/util/array.h"
#include "../../libnetsync/util/hash.h"
#include "common/complain.h"
#include "common/exit-status.h"
#include "common/input.h"
#include "common/result-info.h"
#include "exchange.h"
#include "local.h"
#include "sync/sync.h"

/* Maximum size of one MPI message in bytes, because MPI counts them by an int. Chosen. */
#define PART_SIZE ((size_t)1 << 26)
#define STATE_TAG 2

/* Interval at which a rank checks whether the others have ended, ns. Chosen. */
#define PAUSE_NS 5000000

struct mpi_job {
	struct input_share share; /* the first member, because other functions get a pointer to it */
	int rank, ranks;
	struct netsync_io *io;
	struct exchange *exchange;
	struct local_traces local;
	bool is_local; /* whether each machine has its traces on its own disks */
};

/* A growing array of bytes. */
struct bytes {
	char *at;
	size_t num, room;
};

static int append_saved_bytes(void *data, const void *bytes, size_t size)
{
	struct bytes *b = data;

	while (b->room < b->num + size)
		if (array_grow(&b->at, &b->room, b->room, 1))
			return -ENOMEM;
	memcpy(b->at + b->num, bytes, size);
	b->num += size;
	return 0;
}

/* ---- from all ranks to the first one ----------------------------------------- */

static void send_saved_bytes(const struct bytes *b)
{
	const uint64_t size = b->num;

	MPI_Send(&size, 1, MPI_UINT64_T, 0, STATE_TAG, MPI_COMM_WORLD);
	for (size_t at = 0; at < b->num; at += PART_SIZE) {
		const size_t left = b->num - at;

		MPI_Send(b->at + at, (int)(left < PART_SIZE ? left : PART_SIZE), MPI_BYTE, 0,
			 STATE_TAG, MPI_COMM_WORLD);
	}
}

/* Receive the bytes of a rank. If out of memory, print a message and return false. */
static bool receive_saved_bytes(struct bytes *b, int from)
{
	uint64_t size;

	MPI_Recv(&size, 1, MPI_UINT64_T, from, STATE_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	*b = (struct bytes){ .at = malloc(size + 1), .num = size };
	if (!b->at)
		return complain_no_memory();
	for (size_t at = 0; at < size; at += PART_SIZE) {
		const size_t left = size - at;

		MPI_Recv(b->at + at, (int)(left < PART_SIZE ? left : PART_SIZE), MPI_BYTE, from,
			 STATE_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	return true;
}

/*
 * In the first rank, pass the bytes of all other ranks to @use in the order of ranks. In another
 * rank, send its bytes.
 */
static int collect_saved_bytes(struct mpi_job *job, const struct bytes *own,
			       int (*use)(void *to, const void *bytes, size_t size), void *to)
{
	int ret = 0;

	if (job->rank) {
		send_saved_bytes(own);
		return 0;
	}
	for (int from = 1; from < job->ranks && !ret; from++) {
		struct bytes b;

		if (!receive_saved_bytes(&b, from))
			return -ENOMEM;
		ret = use(to, b.at, b.num);
		free(b.at);
	}
	return ret;
}

static int merge_rank_counts(void *io, const void *bytes, size_t size)
{
	return netsync_io_merge_counts(io, bytes, size);
}

static int merge_rank_messages(void *ns, const void *bytes, size_t size)
{
	return netsync_merge_messages(ns, bytes, size);
}

/* ---- reading ------------------------------------------------------------------ */

/*
 * Return a hash, by which ranks check that all of them see the same traces and run the same
 * program.
 */
static uint64_t hash_trace_set(const struct netsync_io *io)
{
	uint64_t sum = hash_mix(sizeof(struct netsync_packet) ^ 0x01020304);

	sum = hash_text(sum, netsync_version());
	for (uint32_t i = 0; i < netsync_io_num_traces(io); i++) {
		const struct netsync_io_trace trace = get_io_trace_info(io, i);

		sum = hash_text(hash_text(sum, trace.path), trace.host_name);
		sum = hash_mix(sum ^ (uint64_t)trace.first_ns);
		sum = hash_mix(sum ^ (uint64_t)trace.last_ns);
	}
	return sum;
}

static bool check_same_traces(const struct mpi_job *job, const struct netsync_io *io)
{
	const uint64_t own = hash_trace_set(io);
	uint64_t both[2] = { own, ~own };

	MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
	if (both[0] == ~both[1])
		return true;
	if (!job->rank)
		complain(
			"The processes do not see the same traces, or have different versions of netsync-mpi. Put the traces where all machines see them under the same path.");
	return false;
}

static int handle_slice(void *data, uint32_t slice, uint32_t slices)
{
	struct mpi_job *job = data;

	job->share.is_quiet = false;
	return exchange_end_slice(job->exchange, slice, slices);
}

static int handle_packet(void *data, const struct netsync_packet *pkt)
{
	return exchange_send_packet(((struct mpi_job *)data)->exchange, pkt);
}

static int handle_clock(void *data, const struct netsync_clock_point *point)
{
	return exchange_send_clock(((struct mpi_job *)data)->exchange, point);
}

/*
 * End the reading. The first rank gets the counts of all ranks. Later warnings are about all
 * traces, so only the first rank prints them.
 */
static int handle_end(void *data)
{
	struct mpi_job *job = data;
	struct bytes counts = { 0 };
	int ret = exchange_end(job->exchange);

	if (!ret && job->is_local && !local_check_read(&job->local, job->io))
		ret = -EREMOTEIO;
	job->share.is_quiet = job->rank > 0;
	if (!ret && job->rank)
		ret = netsync_io_save_counts(job->io, append_saved_bytes, &counts);
	if (!ret)
		ret = collect_saved_bytes(job, &counts, merge_rank_counts, job->io);
	free(counts.at);
	return ret;
}

static bool open_local_traces(struct input_share *share, const struct input *input,
			      unsigned int jobs, struct netsync_io *io)
{
	struct mpi_job *job = (struct mpi_job *)share;

	job->is_local = true;
	return local_open(&job->local, input, jobs, io);
}

static bool begin_exchange(struct input_share *share, struct netsync *ns, struct netsync_io *io)
{
	struct mpi_job *job = (struct mpi_job *)share;
	const uint32_t shards = exchange_choose_shards(job->rank, job->ranks);
	const struct netsync_io_part part = {
		.size = sizeof(part),
		.part = (uint32_t)(job->is_local ? local_compute_part(&job->local, job->rank) :
						   job->rank),
		.parts = (uint32_t)job->ranks,
		.packet = handle_packet,
		.clock = handle_clock,
		.slice = handle_slice,
		.end = handle_end,
		.data = job,
	};

	if (!check_same_traces(job, io))
		return false;
	job->io = io;
	job->exchange = exchange_new(ns, job->rank, job->ranks);
	if (!job->exchange)
		return complain_no_memory();
	if (shards)
		netsync_keep_shards(ns, shards);
	if (!netsync_io_set_part(io, &part))
		return true;
	complain("%s", netsync_io_error(io));
	return false;
}

static bool gather_messages(struct input_share *share, struct netsync *ns)
{
	struct mpi_job *job = (struct mpi_job *)share;
	struct bytes state = { 0 };
	int ret = job->rank ? netsync_save_messages(ns, append_saved_bytes, &state) : 0;

	if (!ret)
		ret = collect_saved_bytes(job, &state, merge_rank_messages, ns);
	free(state.at);
	if (ret)
		complain("%s", ret == -ENOMEM ? "There is not enough memory." : netsync_error(ns));
	exchange_free(job->exchange);
	job->exchange = NULL;
	if (job->is_local)
		local_close(&job->local);
	return !ret;
}

/* ---- the program ---------------------------------------------------------------- */

/* Let the messages of a rank begin with the rank's number. */
static void set_rank_name(const struct mpi_job *job)
{
	static char name[MPI_MAX_PROCESSOR_NAME + 64];
	char host[MPI_MAX_PROCESSOR_NAME + 1] = "";
	int length;

	MPI_Get_processor_name(host, &length);
	snprintf(name, sizeof(name), "netsync-mpi: rank %d on %s", job->rank, host);
	complainer = job->ranks > 1 ? name : "netsync-mpi";
}

/*
 * Wait until all ranks have reached the end. MPI itself would poll without a pause, on processors
 * that the first rank needs for the estimation.
 */
static void wait_for_all_ranks(void)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	MPI_Request all;
	int done;

	MPI_Ibarrier(MPI_COMM_WORLD, &all);
	for (MPI_Test(&all, &done, MPI_STATUS_IGNORE); !done;
	     MPI_Test(&all, &done, MPI_STATUS_IGNORE))
		nanosleep(&pause, NULL);
}

static int run_rank(struct mpi_job *job, int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "sync"))
		return sync_shared(argc - 1, argv + 1, &job->share);
	if (argc == 2 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))) {
		puts("netsync-mpi " NETSYNC_VERSION);
		return EXIT_DONE;
	}
	if (!job->rank)
		fputs("Usage: mpirun netsync-mpi sync [OPTION...] [TRACE...]\n"
		      "       netsync-mpi sync --help\n",
		      argc > 1 && !strcmp(argv[1], "--help") ? stdout : stderr);
	return argc > 1 && !strcmp(argv[1], "--help") ? EXIT_DONE : EXIT_BAD;
}

int main(int argc, char **argv)
{
	struct mpi_job job = { .share = { .open = open_local_traces,
					  .begin = begin_exchange,
					  .gather = gather_messages } };
	int status;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
	job.share.is_first = !job.rank;
	job.share.is_quiet = job.rank > 0;
	set_rank_name(&job);
	input_allow_many_files();
	if (job.rank && !freopen("/dev/null", "w", stdout))
		complain("warning: standard output cannot be closed.");
	status = run_rank(&job, argc, argv);
	fflush(stdout);
	/* Other ranks may be waiting for this rank, so end the whole job. */
	if (status == EXIT_BAD)
		MPI_Abort(MPI_COMM_WORLD, EXIT_BAD);
	wait_for_all_ranks();
	MPI_Finalize();
	return status;
}
