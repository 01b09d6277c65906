// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"
#include "babeltrace/mip.h"
#include "common/child.h"
#include "common/ctf-source.h"
#include "common/folders.h"
#include "common/now.h"
#include "packet.h"

/*
 * Limits of the decoding process, in s and bytes. A damaged packet could otherwise take any
 * amount of time and memory. Chosen.
 */
#define MAX_CPU_S 2
#define MAX_MEMORY (UINT64_C(1) << 30)

/* Free space left for the recording, which may be on the same disk, bytes. Chosen. */
#define SPARE_ROOM (32 << 20)

static struct {
	pid_t pid;	  /* process ID of the decoding child; 0 if there is none */
	char *folder;	  /* directory with a trace that consists of the packet */
	uint64_t *events; /* number of events counted so far, in shared memory */
} job;

/* ---- in the child ------------------------------------------------------ */

static bool link_metadata(const char *stream)
{
	char *from, *to;

	return asprintf(&from, "%.*s/metadata", (int)(strrchr(stream, '/') - stream), stream) >=
		       0 &&
	       asprintf(&to, "%s/metadata", job.folder) >= 0 && !symlink(from, to);
}

static bool copy_sampled_packet(const struct stream_packet *packet)
{
	off_t offset = packet->offset;
	size_t left = packet->size;
	ssize_t put = 1;
	char *to;
	int in, out;

	if (asprintf(&to, "%s/stream", job.folder) < 0)
		return false;
	in = open(packet->stream, O_RDONLY);
	out = open(to, O_WRONLY | O_CREAT | O_EXCL, 0600);
	while (left && put > 0) {
		put = sendfile(out, in, &offset, left);
		left -= put > 0 ? put : 0;
	}
	return !left;
}

static bt_graph_simple_sink_component_consume_func_status
count_packet_events(bt_message_iterator *iterator, void *data)
{
	uint64_t *events = data;
	bt_message_array_const messages;
	uint64_t num;
	const bt_message_iterator_next_status status = bt_message_iterator_next(iterator, &messages,
										&num);

	/* The iterator and the sink use the same numbers for their status. */
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return (int)status;
	for (uint64_t i = 0; i < num; i++) {
		*events += bt_message_get_type(messages[i]) == BT_MESSAGE_TYPE_EVENT;
		bt_message_put_ref(messages[i]);
	}
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

/* Count the events of the packet, which is the only packet of the only stream in the directory. */
static bool count_events_in_folder(void)
{
	const bt_plugin *ctf = find_ctf_plugin();
	bt_graph *graph = bt_graph_create(MAX_MIP);
	const bt_component_source *source = NULL;
	const bt_component_sink *sink;

	if (ctf && graph)
		source = add_ctf_source(graph, ctf, job.folder);
	return source && bt_component_source_get_output_port_count(source) == 1 &&
	       !bt_graph_add_simple_sink_component(graph, "count", NULL, count_packet_events, NULL,
						   job.events, &sink) &&
	       !bt_graph_connect_ports(
		       graph, bt_component_source_borrow_output_port_by_index_const(source, 0),
		       bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL) &&
	       bt_graph_run(graph) == BT_GRAPH_RUN_STATUS_OK;
}

/* Decode the packet. If the packet is damaged, libbabeltrace2 may call abort() or not return. */
static void decode_packet(const struct stream_packet *packet)
{
	const struct rlimit cpu = { MAX_CPU_S, MAX_CPU_S };
	const struct rlimit memory = { MAX_MEMORY, MAX_MEMORY };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prepare_ctf_child();
	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_AS, &memory);
	setpriority(PRIO_PROCESS, 0, 19);
	/* Close all descriptors, so that no reader waits for this process to end. */
	close_range(0, UINT32_MAX, 0);
	for (int fd = open("/dev/null", O_RDWR); fd >= 0 && fd < STDERR_FILENO;)
		fd = dup(fd);
	_exit(!link_metadata(packet->stream) || !copy_sampled_packet(packet) ||
	      !count_events_in_folder());
}

/* ---- in the parent ------------------------------------------------------- */

static bool prepare_packet_folder(const struct stream_packet *packet)
{
	job.events = mmap(NULL, sizeof(*job.events), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (job.events == MAP_FAILED)
		job.events = NULL;
	job.folder = folder_create_temporary("");
	if (!job.events || !job.folder)
		return false;
	undo_add_action(UNDO_FOLDER, job.folder);
	return folder_get_free_space(job.folder) >= packet->size + SPARE_ROOM;
}

static void clean_up_decoding(void)
{
	if (job.folder) {
		remove_tree(job.folder);
		undo_drop_action(UNDO_FOLDER, job.folder);
	}
	if (job.events)
		munmap(job.events, sizeof(*job.events));
	free(job.folder);
	memset(&job, 0, sizeof(job));
}

bool packet_start_decoding(const struct stream_packet *packet)
{
	job.pid = prepare_packet_folder(packet) ? fork() : -1;
	if (!job.pid)
		decode_packet(packet);
	if (job.pid > 0)
		return true;
	clean_up_decoding();
	return false;
}

static int64_t timeval_to_ns(struct timeval time)
{
	return time.tv_sec * NS_PER_S + time.tv_usec * 1000LL;
}

bool packet_get_decoded(struct decoded *decoded)
{
	struct rusage usage;
	int status;

	if (!wait4(job.pid, &status, WNOHANG, &usage))
		return false;
	decoded->events = status ? 0 : *job.events;
	decoded->cpu_ns = timeval_to_ns(usage.ru_utime) + timeval_to_ns(usage.ru_stime);
	clean_up_decoding();
	return true;
}

void packet_stop_decoding(void)
{
	if (job.pid <= 0)
		return;
	kill(job.pid, SIGKILL);
	child_wait(job.pid);
	clean_up_decoding();
}
