// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../../libnetsync/util/scratch.h"
#include "common/complain.h"
#include "graph.h"

/* ---- writing -------------------------------------------------------------- */

uint32_t graph_put_record(struct graph_writer *writer, const struct graph_record *record)
{
	if (writer->num == NO_RECORD) {
		writer->failed = true;
		return NO_RECORD;
	}
	fwrite(record, sizeof(*record), 1, writer->out);
	return writer->num++;
}

/* ---- the file ------------------------------------------------------------- */

static bool complain_about_graph_file(void)
{
	complain("%s: cannot store the execution graph: %s. Set TMPDIR to another directory.",
		 scratch_get_folder(false), strerror(errno));
	return false;
}

bool graph_open(struct exec_graph *graph, uint32_t num_hosts)
{
	int fd;

	*graph = (struct exec_graph){ .num_hosts = num_hosts };
	graph->hosts = calloc(num_hosts + 1, sizeof(*graph->hosts));
	if (!graph->hosts)
		return complain_no_memory();
	fd = scratch_open_file();
	graph->file = fd < 0 ? NULL : fdopen(fd, "w+");
	return graph->file || complain_about_graph_file();
}

void graph_close(struct exec_graph *graph)
{
	if (graph->map)
		munmap(graph->map, graph->size);
	for (uint32_t i = 0; graph->hosts && i < graph->num_hosts; i++)
		free(graph->hosts[i].threads);
	free(graph->hosts);
	if (graph->file)
		fclose(graph->file);
}

void graph_set_host(struct exec_graph *graph, uint32_t host)
{
	const off_t end = lseek(fileno(graph->file), 0, SEEK_END);
	const uint32_t num = (end - graph->written) / sizeof(struct graph_record);
	struct graph_host *one = &graph->hosts[host];

	/* If a host's traces are in two formats, use the graph with more records. */
	if (num > one->num) {
		one->num = num;
		one->begin = graph->written;
	}
	graph->written = end;
}

/* ---- reading -------------------------------------------------------------- */

static bool load_graph_host(struct exec_graph *graph, uint32_t host)
{
	struct graph_host *one = &graph->hosts[host];
	const struct record_host *info = graph_get_host(graph, host);
	const struct graph_record *record;

	if (!info)
		return true;
	one->threads = calloc(info->num_threads + 1, sizeof(*one->threads));
	if (!one->threads)
		return complain_no_memory();
	one->num_threads = info->num_threads;
	record = graph_get_record(graph, host, info->threads);
	while (record) {
		one->threads[record->thread.number] = record;
		record = graph_get_record(graph, host, record->thread.before);
	}
	return true;
}

bool graph_load(struct exec_graph *graph)
{
	graph->size = graph->written;
	if (!graph->size)
		return true;
	graph->map = mmap(NULL, graph->size, PROT_READ, MAP_SHARED, fileno(graph->file), 0);
	if (graph->map == MAP_FAILED) {
		graph->map = NULL;
		return complain_about_graph_file();
	}
	for (uint32_t i = 0; i < graph->num_hosts; i++) {
		graph->hosts[i].records = (const void *)((char *)graph->map +
							 graph->hosts[i].begin);
		if (!load_graph_host(graph, i))
			return false;
	}
	return true;
}

const struct graph_record *graph_get_record(const struct exec_graph *graph, uint32_t host,
					    uint32_t number)
{
	return number < graph->hosts[host].num ? &graph->hosts[host].records[number] : NULL;
}

const struct record_host *graph_get_host(const struct exec_graph *graph, uint32_t host)
{
	const uint32_t num = graph->hosts[host].num;

	return num ? &graph->hosts[host].records[num - 1].host : NULL;
}

const struct graph_record *graph_find_sent(const struct exec_graph *graph, uint32_t host,
					   int64_t time_ns)
{
	const struct graph_host *one = &graph->hosts[host];
	uint32_t low = 0, high = one->num;

	while (low < high) {
		const uint32_t at = low + (high - low) / 2;

		if (one->records[at].at_ns < time_ns)
			low = at + 1;
		else
			high = at;
	}
	for (; low < one->num && one->records[low].at_ns == time_ns; low++)
		if (one->records[low].kind == RECORD_SEND)
			return &one->records[low];
	return NULL;
}
