// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The definitions of an archive -> its hosts, ranks and communicators. The host of a location is
 * the nearest node of the system tree above it whose processors share memory, or whose class is
 * "node" or "host". If there is none, each node to which location groups belong is a host, because
 * a host with two clocks would be wrong, but two hosts with one clock are not.
 */
#ifdef OTF2_SONAME
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "io/otf2/scan.h"
#include "io/worker/worker.h"
#include "util/array.h"

/* Maximum number of nodes from a location group to the root. Chosen; tree loops end there. */
#define MAX_DEPTH 64

void *otf2_need_memory(void *memory)
{
	if (!memory)
		_exit(WORKER_NO_MEMORY);
	return memory;
}

bool otf2_report_failure(struct otf2_scan *scan, const char *what)
{
	const char *why = scan->error ? scan->otf2->Error_GetDescription(scan->error) : NULL;
	char *text = io_format(why ? "%s (%s)" : "%s", what, why);

	worker_put_text(OTF2_RECORD_FAILURE, 0, otf2_need_memory(text));
	free(text);
	return false;
}

/* ---- tables --------------------------------------------------------------- */

static void *add_definition(struct otf2_table *table, size_t size)
{
	if (array_grow(&table->data, &table->room, table->num, size))
		otf2_need_memory(NULL);
	table->size = size;
	return memset((char *)table->data + table->num++ * size, 0, size);
}

static int compare_definitions(const void *a, const void *b)
{
	const uint64_t *p = a, *q = b;

	return COMPARE(*p, *q);
}

static void sort_definitions(struct otf2_table *table)
{
	if (table->num)
		qsort(table->data, table->num, table->size, compare_definitions);
}

void *otf2_find(const struct otf2_table *table, uint64_t id)
{
	return table->num ?
		       bsearch(&id, table->data, table->num, table->size, compare_definitions) :
		       NULL;
}

const char *otf2_find_text(const struct otf2_scan *scan, uint32_t id)
{
	const struct otf2_string *string = otf2_find(&scan->strings, id);

	return string ? string->text : "";
}

struct otf2_thread *otf2_get_threads(const struct otf2_scan *scan, size_t *num)
{
	*num = scan->threads.num;
	return scan->threads.data;
}

/* ---- what the library calls ------------------------------------------------- */

static OTF2_CallbackCode keep_timer(void *data, uint64_t resolution, uint64_t start,
				    uint64_t length, uint64_t realtime_ns)
{
	struct otf2_scan *scan = data;

	scan->has_timer = true;
	scan->timer = (struct otf2_timer){
		.resolution = resolution > INT64_MAX ? -1 : (int64_t)resolution,
		.start = start > INT64_MAX ? -1 : (int64_t)start,
		.length = length > INT64_MAX ? 0 : (int64_t)length,
		.realtime_ns = realtime_ns > INT64_MAX ? -1 : (int64_t)realtime_ns,
	};
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode keep_string(void *data, OTF2_StringRef id, const char *text)
{
	struct otf2_scan *scan = data;
	struct otf2_string *new = add_definition(&scan->strings, sizeof(*new));

	*new = (struct otf2_string){ id, otf2_need_memory(strdup(text)) };
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode keep_node(void *data, OTF2_SystemTreeNodeRef id, OTF2_StringRef name,
				   OTF2_StringRef class, OTF2_SystemTreeNodeRef parent)
{
	struct otf2_scan *scan = data;
	struct otf2_node *new = add_definition(&scan->nodes, sizeof(*new));

	*new = (struct otf2_node){ .id = id, .name = name, .class = class, .parent = parent };
	return OTF2_CALLBACK_SUCCESS;
}

/* A domain follows its node. */
static OTF2_CallbackCode keep_domain(void *data, OTF2_SystemTreeNodeRef id,
				     OTF2_SystemTreeDomain domain)
{
	struct otf2_scan *scan = data;
	struct otf2_node *nodes = scan->nodes.data;

	for (size_t i = scan->nodes.num; i-- > 0;)
		if (nodes[i].id == id) {
			nodes[i].is_machine |= domain == OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY;
			break;
		}
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode keep_process(void *data, OTF2_LocationGroupRef id, OTF2_StringRef name,
				      OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef node,
				      OTF2_LocationGroupRef creator)
{
	struct otf2_scan *scan = data;
	struct otf2_process *new = add_definition(&scan->processes, sizeof(*new));

	(void)name;
	(void)type;
	(void)creator;
	*new = (struct otf2_process){ .id = id, .node = node, .rank = OTF2_NONE };
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode keep_thread(void *data, OTF2_LocationRef id, OTF2_StringRef name,
				     OTF2_LocationType type, uint64_t num_events,
				     OTF2_LocationGroupRef group)
{
	struct otf2_scan *scan = data;
	struct otf2_thread *new;

	(void)name;
	/* Metrics have no threads, and some tools define locations without events. */
	if (type == OTF2_LOCATION_TYPE_METRIC || !num_events)
		return OTF2_CALLBACK_SUCCESS;
	new = add_definition(&scan->threads, sizeof(*new));
	*new = (struct otf2_thread){ .id = id, .group = group };
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode keep_group(void *data, OTF2_GroupRef id, OTF2_StringRef name,
				    OTF2_GroupType type, OTF2_Paradigm paradigm,
				    OTF2_GroupFlag flags, uint32_t num, const uint64_t *members)
{
	struct otf2_scan *scan = data;
	struct otf2_group *new;

	(void)name;
	if (paradigm != OTF2_PARADIGM_MPI ||
	    (type != OTF2_GROUP_TYPE_COMM_LOCATIONS && type != OTF2_GROUP_TYPE_COMM_GROUP &&
	     type != OTF2_GROUP_TYPE_COMM_SELF))
		return OTF2_CALLBACK_SUCCESS;
	new = add_definition(&scan->groups, sizeof(*new));
	*new = (struct otf2_group){
		.id = id,
		.type = type,
		.num = num,
		.member = otf2_need_memory(calloc(num ? num : 1, sizeof(*members))),
		.is_global = flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS,
	};
	if (num)
		memcpy(new->member, members, num * sizeof(*members));
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode keep_comm(void *data, OTF2_CommRef id, OTF2_StringRef name,
				   OTF2_GroupRef group, OTF2_CommRef parent, OTF2_CommFlag flags)
{
	struct otf2_scan *scan = data;
	struct otf2_comm *new = add_definition(&scan->comms, sizeof(*new));

	(void)parent;
	(void)flags;
	*new = (struct otf2_comm){ .id = id, .name = name, .group = group };
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode keep_offset(void *data, OTF2_TimeStamp time, int64_t offset,
				     double deviation)
{
	struct otf2_thread *thread = data;
	const struct otf2_offset new = { (int64_t)time, offset };
	const size_t num = thread->num_offsets;

	(void)deviation;
	if (time > INT64_MAX || (num && thread->offset[num - 1].time >= new.time))
		return OTF2_CALLBACK_SUCCESS;
	if (array_grow(&thread->offset, &thread->offset_room, num, sizeof(new)))
		otf2_need_memory(NULL);
	thread->offset[thread->num_offsets++] = new;
	return OTF2_CALLBACK_SUCCESS;
}

/* ---- hosts and ranks ------------------------------------------------------------ */

static bool is_host_node(const struct otf2_scan *scan, const struct otf2_node *node)
{
	const char *class = otf2_find_text(scan, node->class);

	return node->is_machine || !strcasecmp(class, "node") || !strcasecmp(class, "host");
}

/* Return the names of a node and those above it, except the root, to be freed. */
static char *make_node_path(const struct otf2_scan *scan, const struct otf2_node *node)
{
	char *path = otf2_need_memory(strdup(otf2_find_text(scan, node->name)));
	const struct otf2_node *parent = otf2_find(&scan->nodes, node->parent);

	for (int i = 0; i < MAX_DEPTH && parent; i++) {
		const struct otf2_node *above = otf2_find(&scan->nodes, parent->parent);
		char *longer = above ? io_format("%s/%s", otf2_find_text(scan, parent->name),
						 path) :
				       path;

		if (longer != path)
			free(path);
		path = otf2_need_memory(longer);
		parent = above;
	}
	return path;
}

/* Return the name of the host of a node, to be freed. */
static char *make_host_name(const struct otf2_scan *scan, uint32_t id)
{
	const struct otf2_node *lowest = otf2_find(&scan->nodes, id), *node = lowest;

	for (int i = 0; i < MAX_DEPTH && node && !is_host_node(scan, node); i++)
		node = otf2_find(&scan->nodes, node->parent);
	if (node && is_host_node(scan, node))
		return otf2_need_memory(strdup(otf2_find_text(scan, node->name)));
	return lowest ? make_node_path(scan, lowest) : otf2_need_memory(strdup(""));
}

static int compare_processes_by_node(const void *a, const void *b)
{
	const struct otf2_process *const *p = a, *const *q = b;

	return COMPARE((*p)->node, (*q)->node);
}

/* Find or add the host with this name, which is freed or kept. */
static uint32_t find_host(struct otf2_scan *scan, char *name)
{
	size_t i = 0;

	while (i < scan->num_hosts && strcmp(scan->host[i], name))
		i++;
	if (i < scan->num_hosts) {
		free(name);
		return (uint32_t)i;
	}
	if (array_grow(&scan->host, &scan->host_room, i, sizeof(*scan->host)))
		otf2_need_memory(NULL);
	scan->host[scan->num_hosts++] = name;
	return (uint32_t)i;
}

/* Find the host of each process. Two nodes of one name are one host. */
static void find_hosts(struct otf2_scan *scan)
{
	const size_t num = scan->processes.num;
	struct otf2_process *process = scan->processes.data, **sorted;

	sorted = otf2_need_memory(calloc(num + 1, sizeof(struct otf2_process *)));
	for (size_t i = 0; i < num; i++)
		sorted[i] = &process[i];
	qsort(sorted, num, sizeof(*sorted), compare_processes_by_node);
	for (size_t i = 0; i < num; i++)
		sorted[i]->host = i && sorted[i]->node == sorted[i - 1]->node ?
					  sorted[i - 1]->host :
					  find_host(scan, make_host_name(scan, sorted[i]->node));
	free(sorted);
}

/* The rank of a process is the index of one of its locations in the group of all ranks. */
static void find_ranks(struct otf2_scan *scan)
{
	const struct otf2_group *groups = scan->groups.data;
	struct otf2_comm *comms = scan->comms.data;

	for (size_t i = 0; i < scan->groups.num; i++)
		if (groups[i].type == OTF2_GROUP_TYPE_COMM_LOCATIONS)
			scan->world = &groups[i];
	for (uint32_t i = 0; scan->world && i < scan->world->num; i++) {
		struct otf2_thread *thread = otf2_find(&scan->threads, scan->world->member[i]);

		if (thread && thread->process)
			thread->process->rank = i;
	}
	for (size_t i = 0; i < scan->comms.num; i++)
		comms[i].ranks = otf2_find(&scan->groups, comms[i].group);
}

static bool relate_definitions(struct otf2_scan *scan)
{
	struct otf2_table *const tables[] = { &scan->strings, &scan->nodes,  &scan->processes,
					      &scan->threads, &scan->groups, &scan->comms };
	size_t num;
	struct otf2_thread *threads = otf2_get_threads(scan, &num);

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		sort_definitions(tables[i]);
	for (size_t i = 0; i < num; i++) {
		threads[i].process = otf2_find(&scan->processes, threads[i].group);
		if (!threads[i].process)
			return otf2_report_failure(scan, "a location has no location group");
	}
	find_hosts(scan);
	find_ranks(scan);
	if (!scan->has_timer || !otf2_has_valid_timer(&scan->timer))
		return otf2_report_failure(scan, "it does not report the resolution of its timer");
	return true;
}

/* ---- reading ---------------------------------------------------------------------- */

static bool read_global_definitions(struct otf2_scan *scan)
{
	const struct otf2_library *otf2 = scan->otf2;
	OTF2_GlobalDefReaderCallbacks *callbacks = otf2->GlobalDefReaderCallbacks_New();
	OTF2_GlobalDefReader *reader = otf2->Reader_GetGlobalDefReader(scan->reader);
	uint64_t num;

	if (!callbacks || !reader)
		return otf2_report_failure(scan, "its definitions cannot be read");
	otf2->set_ClockProperties(callbacks, keep_timer);
	otf2->set_String(callbacks, keep_string);
	otf2->set_SystemTreeNode(callbacks, keep_node);
	otf2->set_SystemTreeNodeDomain(callbacks, keep_domain);
	otf2->set_LocationGroup(callbacks, keep_process);
	otf2->set_Location(callbacks, keep_thread);
	otf2->set_Group(callbacks, keep_group);
	otf2->set_Comm(callbacks, keep_comm);
	otf2->Reader_RegisterGlobalDefCallbacks(scan->reader, reader, callbacks, scan);
	return !otf2->Reader_ReadAllGlobalDefinitions(scan->reader, reader, &num) ||
	       otf2_report_failure(scan, "its definitions cannot be read");
}

/*
 * Read the identifiers that the events of a location use, and its clock offsets, if it has a file
 * of definitions.
 */
static bool read_thread_definitions(struct otf2_scan *scan, struct otf2_thread *thread,
				    OTF2_DefReaderCallbacks *callbacks)
{
	const struct otf2_library *otf2 = scan->otf2;
	OTF2_DefReader *reader;
	OTF2_ErrorCode ret;
	uint64_t num;

	scan->error = OTF2_SUCCESS;
	reader = otf2->Reader_GetDefReader(scan->reader, thread->id);
	if (!reader)
		return scan->error == OTF2_ERROR_ENOENT;
	otf2->Reader_RegisterDefCallbacks(scan->reader, reader, callbacks, thread);
	ret = otf2->Reader_ReadAllLocalDefinitions(scan->reader, reader, &num);
	otf2->Reader_CloseDefReader(scan->reader, reader);
	return !ret;
}

static bool read_local_definitions(struct otf2_scan *scan)
{
	const struct otf2_library *otf2 = scan->otf2;
	OTF2_DefReaderCallbacks *callbacks = otf2_need_memory(otf2->DefReaderCallbacks_New());
	size_t num;
	struct otf2_thread *threads = otf2_get_threads(scan, &num);

	for (size_t i = 0; i < num; i++)
		otf2->Reader_SelectLocation(scan->reader, threads[i].id);
	otf2->DefReaderCallbacks_SetClockOffsetCallback(callbacks, keep_offset);
	if (otf2->Reader_OpenDefFiles(scan->reader))
		return otf2_report_failure(scan, "its folder cannot be read");
	for (size_t i = 0; i < num; i++) {
		worker_is_alive();
		if (!read_thread_definitions(scan, &threads[i], callbacks))
			return otf2_report_failure(scan,
						   "the definitions of a location are damaged");
	}
	otf2->Reader_CloseDefFiles(scan->reader);
	scan->error = OTF2_SUCCESS;
	return true;
}

bool otf2_scan_definitions(struct otf2_scan *scan)
{
	return read_global_definitions(scan) && relate_definitions(scan) &&
	       read_local_definitions(scan);
}
#endif
