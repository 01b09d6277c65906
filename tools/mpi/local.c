// SPDX-License-Identifier: GPL-2.0-only
/*
 * Add the traces of each machine to a reader on every rank. A child process serves the traces to
 * the rank that reads them. All other ranks receive only descriptions of the traces.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mpi.h>

#include "../../libnetsync/util/hash.h"
#include "common/child.h"
#include "common/complain.h"
#include "common/input.h"
#include "local.h"

/* ---- ranks that serve traces ---------------------------------------------- */

/* Return the lowest rank on this machine. */
static int find_lowest_rank(int rank)
{
	MPI_Comm machine;
	int lowest;

	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &machine);
	MPI_Allreduce(&rank, &lowest, 1, MPI_INT, MPI_MIN, machine);
	MPI_Comm_free(&machine);
	return lowest;
}

/*
 * Return a hash of the arguments and of the directory to which they are relative, or 0 if there are
 * no traces.
 */
static uint64_t hash_traces(const struct input *input)
{
	char here[PATH_MAX] = "";
	uint64_t sum;

	if (!input->num_traces)
		return 0;
	sum = hash_text(1, getcwd(here, sizeof(here)) ? here : "");
	for (int i = 0; i < input->num_traces; i++)
		sum = hash_text(sum, input->traces[i]);
	return sum | 1;
}

static bool find_local_servers(struct local_traces *local, const struct input *input)
{
	struct given {
		uint64_t machine, traces;
	} own, *all;
	int rank, ranks;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	own = (struct given){ (uint64_t)find_lowest_rank(rank), hash_traces(input) };
	all = calloc(ranks, sizeof(*all));
	local->server = calloc(ranks, sizeof(*local->server));
	if (!all || !local->server) {
		free(all);
		return complain_no_memory();
	}
	MPI_Allgather(&own, 2, MPI_UINT64_T, all, 2, MPI_UINT64_T, MPI_COMM_WORLD);
	for (int i = 0; i < ranks; i++) {
		int first = 0;

		while (memcmp(&all[first], &all[i], sizeof(*all)))
			first++;
		if (first < i || !all[i].traces)
			continue;
		if (i == rank)
			local->own = local->servers;
		local->server[local->servers++] = i;
	}
	free(all);
	return true;
}

int local_compute_part(const struct local_traces *local, int rank)
{
	int before = 0;

	if (local->own >= 0)
		return local->own;
	while (before < local->servers && local->server[before] < rank)
		before++;
	return local->servers + rank - before;
}

/* ---- descriptions of traces ------------------------------------------------------ */

static struct netsync_io *new_local_reader(struct netsync **ns, unsigned int jobs)
{
	struct netsync_io *io;

	*ns = netsync_new();
	io = *ns ? netsync_io_new(*ns) : NULL;
	if (io)
		netsync_io_set_jobs(io, jobs);
	else
		complain_no_memory();
	return io;
}

static void free_local_reader(struct netsync *ns, struct netsync_io *io)
{
	netsync_io_free(io);
	netsync_free(ns);
}

/* Create a file in memory. On failure, print a message and return a negative value. */
static int open_nameless_scratch(void)
{
	const int fd = memfd_create("netsync-traces", MFD_CLOEXEC);

	if (fd < 0)
		complain("cannot create a temporary file: %s.", strerror(errno));
	return fd;
}

/*
 * Write the description of the traces to a file. Return its size. On failure, print a message and
 * return 0.
 */
static uint64_t describe_traces(const struct input *input, int fd)
{
	struct netsync *ns;
	struct netsync_io *io = new_local_reader(&ns, 0);
	off_t size = 0;

	if (io && !netsync_io_describe(io, (const char *const *)input->traces,
				       (uint32_t)input->num_traces, fd))
		size = lseek(fd, 0, SEEK_CUR);
	else if (io)
		complain("%s", netsync_io_error(io));
	free_local_reader(ns, io);
	return size > 0 ? (uint64_t)size : 0;
}

/*
 * Copy the data that rank @from has written to its file @fd to the files of all other ranks, where
 * they can be read. On failure, print a message and return false.
 */
static bool broadcast_file(int fd, uint64_t size, int from, int rank)
{
	char *bytes;

	MPI_Bcast(&size, 1, MPI_UINT64_T, from, MPI_COMM_WORLD);
	if (!size)
		return false;
	if (size > INT_MAX || (rank != from && ftruncate(fd, (off_t)size)))
		return complain_no_memory();
	bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		return complain_no_memory();
	MPI_Bcast(bytes, (int)size, MPI_BYTE, from, MPI_COMM_WORLD);
	munmap(bytes, size);
	return true;
}

/* ---- serving --------------------------------------------------------------------- */

static void serve_local_traces(const struct input *input, unsigned int jobs, int fd)
{
	struct netsync *ns;
	struct netsync_io *io = new_local_reader(&ns, jobs);

	if (io)
		netsync_io_serve(io, (const char *const *)input->traces,
				 (uint32_t)input->num_traces, fd, fd);
	_exit(0);
}

/* Start a process that reads and serves the traces while this process matches packets. */
static bool start_local_server(struct local_traces *local, const struct input *input,
			       unsigned int jobs)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds)) {
		complain("cannot create a socket: %s.", strerror(errno));
		return false;
	}
	local->child = fork();
	if (!local->child) {
		close(fds[0]);
		serve_local_traces(input, jobs, fds[1]);
	}
	close(fds[1]);
	local->fd = fds[0];
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	if (local->child < 0)
		complain("cannot start a process to read the traces: %s.", strerror(errno));
	return local->child > 0;
}

/* ---- all servers ------------------------------------------------------------------ */

/* Add the traces of one server. @label is the name of its machine. */
static bool add_served_traces(struct local_traces *local, int which, const char *label, int file,
			      struct netsync_io *io)
{
	const bool is_own = which == local->own;
	const int null = is_own ? -1 : open("/dev/null", O_WRONLY | O_CLOEXEC);
	const int in = is_own ? local->fd : file, out = is_own ? local->fd : null;
	const bool done = netsync_io_add_served(io, label, NULL, in, out) > 0;

	/* The whole description was read, so nothing more is written to its server. */
	if (null >= 0)
		close(null);
	return done;
}

static bool is_served_whole(const struct netsync_io *io, int which)
{
	struct netsync_io_served info = { .size = sizeof(info) };

	return !netsync_io_get_served(io, (uint32_t)which, &info) && !info.left_out;
}

static bool open_local_server(struct local_traces *local, int which, const struct input *input,
			      unsigned int jobs, struct netsync_io *io)
{
	const int from = local->server[which], file = open_nameless_scratch();
	const bool is_own = which == local->own;
	char label[MPI_MAX_PROCESSOR_NAME + 1] = "";
	int rank, length, is_broadcast, is_added, was_added;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (file < 0)
		return false;
	if (is_own)
		MPI_Get_processor_name(label, &length);
	MPI_Bcast(label, sizeof(label), MPI_CHAR, from, MPI_COMM_WORLD);
	is_broadcast = broadcast_file(file, is_own ? describe_traces(input, file) : 0, from,
				      rank) &&
		       (!is_own || start_local_server(local, input, jobs));
	is_added = is_broadcast && add_served_traces(local, which, label, file, io);
	close(file);
	/*
	 * The rank that serves the traces reports why there are none. The rank must report before
	 * any rank ends the job.
	 */
	if (is_own && is_broadcast && !is_added)
		complain("%s", netsync_io_error(io));
	/* A job on many machines must not begin with only a part of the traces. */
	if (is_own && is_added && !is_served_whole(io, which))
		complain("Not all arguments can be read on this machine.");
	was_added = is_added && is_served_whole(io, which);
	MPI_Bcast(&was_added, 1, MPI_INT, from, MPI_COMM_WORLD);
	if (was_added && is_broadcast && !is_added)
		complain("%s", netsync_io_error(io));
	return was_added && is_added;
}

bool local_open(struct local_traces *local, const struct input *input, unsigned int jobs,
		struct netsync_io *io)
{
	*local = (struct local_traces){ .own = -1, .fd = -1 };
	/* Make writing to a child that has ended fail with an error. */
	signal(SIGPIPE, SIG_IGN);
	if (!find_local_servers(local, input))
		return false;
	for (int i = 0; i < local->servers; i++)
		if (!open_local_server(local, i, input, jobs, io))
			return false;
	return true;
}

bool local_check_read(const struct local_traces *local, const struct netsync_io *io)
{
	struct netsync_io_served info = { .size = sizeof(info) };

	if (local->own < 0 || netsync_io_get_served(io, (uint32_t)local->own, &info) || !info.ended)
		return true;
	complain("The traces of this machine were not read completely.");
	return false;
}

void local_close(struct local_traces *local)
{
	free(local->server);
	local->server = NULL;
	if (local->child <= 0)
		return;
	close(local->fd);
	child_wait(local->child);
	local->child = 0;
}
