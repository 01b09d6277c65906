// SPDX-License-Identifier: GPL-2.0-only
/*
 * Corrections of all hosts -> the clocks of an archive. Perfetto converts all times to the clock
 * BOOTTIME of the reference:
 *
 *	MONOTONIC, PERF, ... of web -> BOOTTIME of web -> BOOTTIME of db
 *	               (equal)               (stairs)
 *
 * The stairs are in BOOTTIME, because Perfetto relates the clocks of its own traces to those of
 * their machine only by BOOTTIME. Only the reference has REALTIME: Perfetto assumes that this clock
 * shows the same time on all machines.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../libnetsync/util/since-1970.h"
#include "archive.h"
#include "common/complain.h"
#include "common/now.h"
#include "common/result-info.h"

/*
 * Time before and after the traces of a host for which attached files are corrected, ns: as long as
 * the traces, but within these limits. netsync_convert(3) recommends them.
 */
#define LEAST_SLACK_NS (60 * NS_PER_S)
#define MOST_SLACK_NS (3600 * NS_PER_S)
/*
 * Maximum difference between what two files report as the time that a machine was suspended, ns.
 * Chosen: Perfetto reads two clocks one after the other, which takes some us.
 */
#define MAX_DIFFERENCE_NS 1000000

/* ---- the clock of a host --------------------------------------------------- */

static const struct {
	const char *name; /* as in struct netsync_io_trace */
	enum machine_clock kind;
	enum timeline_clock_id other;
} clock_names[] = {
	{ "mono", MACHINE_MONOTONIC, TIMELINE_NO_CLOCK },
	{ "monotonic", MACHINE_MONOTONIC, TIMELINE_NO_CLOCK },
	{ "mono_raw", MACHINE_TRACE, TIMELINE_MONOTONIC_RAW },
	{ "perf", MACHINE_TRACE, TIMELINE_PERF },
	{ "local", MACHINE_TRACE, TIMELINE_PERF },
	{ "boot", MACHINE_TRACE, TIMELINE_NO_CLOCK },
	{ "global", MACHINE_TRACE, TIMELINE_NO_CLOCK },
	{ "tsc2nsec", MACHINE_TRACE, TIMELINE_NO_CLOCK },
	{ "realtime", MACHINE_WALL, TIMELINE_NO_CLOCK },
	{ "kineto", MACHINE_WALL, TIMELINE_NO_CLOCK },
};

static void name_machine_clock(struct archive_machine *machine, const char *name)
{
	machine->kind = MACHINE_UNKNOWN;
	for (size_t i = 0; i < sizeof(clock_names) / sizeof(clock_names[0]); i++) {
		if (strcmp(clock_names[i].name, name))
			continue;
		machine->kind = clock_names[i].kind;
		machine->is_boot = !strcmp(name, "boot");
		machine->other = clock_names[i].other;
	}
}

/* Find the clock of a host by one of its traces, and what the clock shows. */
static void find_machine_clock(struct archive_machine *machine,
			       const struct netsync_io_trace *trace)
{
	const bool is_ctf = !strcmp(trace->format, "ctf");

	/* LTTng's clock is CLOCK_MONOTONIC, and its traces add an offset. */
	name_machine_clock(machine, trace->clock_name ? trace->clock_name :
				    is_ctf	      ? "monotonic" :
							"");
	machine->boot_shift_ns = -trace->shift_ns;
	if (is_ctf && machine->kind == MACHINE_MONOTONIC)
		machine->boot_shift_ns -= trace->epoch_ns;
	else if (machine->kind == MACHINE_MONOTONIC && is_since_1970(trace->first_ns))
		machine->kind = MACHINE_UNKNOWN; /* trace-cmd --date adds the date to its times */
	machine->has_wall = trace->has_wall &&
			    !__builtin_sub_overflow(trace->wall_shift_ns, trace->shift_ns,
						    &machine->wall_shift_ns) &&
			    !__builtin_sub_overflow(machine->wall_shift_ns, machine->boot_shift_ns,
						    &machine->wall_shift_ns);
}

static void extend_machine_span(struct archive_machine *machine, int64_t first_ns, int64_t last_ns)
{
	if (first_ns > last_ns)
		return;
	if (first_ns < machine->stairs.from_ns)
		machine->stairs.from_ns = first_ns;
	if (last_ns > machine->stairs.to_ns)
		machine->stairs.to_ns = last_ns;
}

/* Return how far before and after the traces of a host its files are corrected. */
static int64_t get_slack(const struct archive_machine *machine, const struct export *export)
{
	int64_t length_ns;

	if (__builtin_sub_overflow(machine->stairs.to_ns, machine->stairs.from_ns, &length_ns))
		length_ns = MOST_SLACK_NS;
	for (size_t i = 0; i < export->num_files; i++)
		if (!strcmp(export->files[i].host, machine->name))
			return length_ns < LEAST_SLACK_NS ? LEAST_SLACK_NS :
			       length_ns > MOST_SLACK_NS  ? MOST_SLACK_NS :
							    length_ns;
	return 0;
}

static int64_t find_largest_bound(const struct archive_machine *machine)
{
	struct netsync_model model = { .size = sizeof(model) };
	int64_t corrected, most, bound;

	netsync_clock_model(machine->stairs.host->clock, &model);
	if (netsync_convert(machine->stairs.host->clock,
			    machine->stairs.from_ns + machine->stairs.host->shift_ns, &corrected,
			    &most) ||
	    netsync_convert(machine->stairs.host->clock,
			    machine->stairs.to_ns + machine->stairs.host->shift_ns, &corrected,
			    &bound))
		return NETSYNC_UNKNOWN;
	most = bound > most ? bound : most;
	for (uint32_t i = 0; i < model.num_knots; i++) {
		const struct netsync_knot *knot = netsync_model_knot(&model, i);

		most = knot->below_ns > most ? knot->below_ns : most;
		most = knot->above_ns > most ? knot->above_ns : most;
	}
	return most;
}

static void find_machine(struct archive_machine *machine, const struct export *export,
			 uint32_t host)
{
	const struct timebase *base = export->base;
	const struct netsync_host_info info = get_host_info(base->ns, host);
	bool has_trace = false;
	int64_t slack_ns;

	*machine = (struct archive_machine){
		.host = host,
		.name = base->hosts[host].name,
		.kind = MACHINE_UNKNOWN,
		.stairs = { &base->hosts[host], INT64_MAX, INT64_MIN, 0 },
	};
	extend_machine_span(machine, info.first_ns, info.last_ns);
	for (uint32_t i = 0; i < netsync_io_num_traces(base->io); i++) {
		const struct netsync_io_trace trace = get_io_trace_info(base->io, i);

		if (trace.host != host)
			continue;
		extend_machine_span(machine, trace.first_ns, trace.last_ns);
		if (!has_trace)
			find_machine_clock(machine, &trace);
		has_trace = true;
	}
	if (machine->stairs.from_ns > machine->stairs.to_ns)
		machine->stairs.from_ns = machine->stairs.to_ns = 0;
	machine->bound_ns = find_largest_bound(machine);
	slack_ns = get_slack(machine, export);
	if (__builtin_sub_overflow(machine->stairs.from_ns, slack_ns, &machine->stairs.from_ns))
		machine->stairs.from_ns = INT64_MIN;
	if (__builtin_add_overflow(machine->stairs.to_ns, slack_ns, &machine->stairs.to_ns))
		machine->stairs.to_ns = INT64_MAX;
	/* Times in Perfetto are not negative. */
	if (machine->stairs.from_ns < -machine->boot_shift_ns)
		machine->stairs.from_ns = -machine->boot_shift_ns;
	stairs_choose_step(&machine->stairs);
}

/*
 * If traces of Perfetto are attached, let BOOTTIME of the machine be what it is in these traces. It
 * otherwise stands for the clock of the host's traces.
 */
static bool relate_boot_time(struct archive_machine *machine, const struct export *export)
{
	const struct attached_file *first = NULL;

	for (size_t i = 0; i < export->num_files; i++) {
		const struct attached_file *file = &export->files[i];
		int64_t suspended_ns = 0;
		bool is_native = false;

		if (strcmp(file->host, machine->name))
			continue;
		if (!attached_find_suspended(file, machine, &is_native, &suspended_ns))
			return false;
		if (!is_native)
			continue;
		if (first && llabs(suspended_ns - machine->suspended_ns) > MAX_DIFFERENCE_NS) {
			complain(
				"%s and %s: %s was suspended between these recordings, so that one archive cannot contain both.",
				first->path, file->path, file->host);
			return false;
		}
		if (!first)
			machine->suspended_ns = suspended_ns;
		first = first ? first : file;
	}
	machine->boot_shift_ns += machine->suspended_ns;
	machine->wall_shift_ns -= machine->suspended_ns;
	return true;
}

/* ---- all machines ---------------------------------------------------------- */

bool machines_find(struct archive_machines *machines, const struct export *export)
{
	const struct timebase *base = export->base;
	uint32_t last_id = 0;

	machines->reference = base->reference;
	machines->list = calloc(base->num_hosts + 1, sizeof(*machines->list));
	if (!machines->list)
		return false;
	for (uint32_t i = 0; i < base->num_hosts; i++) {
		struct archive_machine *machine = &machines->list[machines->num];

		if (!base->hosts[i].clock)
			continue;
		find_machine(machine, export, i);
		machines->num++;
		if (!relate_boot_time(machine, export)) {
			errno = ECANCELED;
			return false;
		}
		if (strcmp(machine->name, base->reference))
			machine->id = ++last_id;
		else
			machines->ref_shift_ns = machine->boot_shift_ns;
	}
	return true;
}

const struct archive_machine *machines_find_name(const struct archive_machines *machines,
						 const char *name)
{
	for (size_t i = 0; i < machines->num; i++)
		if (!strcmp(machines->list[i].name, name))
			return &machines->list[i];
	return NULL;
}

void machines_release(struct archive_machines *machines)
{
	free(machines->list);
}

/* ---- the member with the clocks --------------------------------------------- */

struct stair_writer {
	struct timeline timeline;
	const struct archive_machine *machine;
	int64_t ref_shift_ns;
};

static bool write_stair(void *data, int64_t time_ns, int64_t corrected_ns)
{
	struct stair_writer *writer = data;
	int64_t boot_ns, ref_ns;

	if (!__builtin_add_overflow(time_ns, writer->machine->boot_shift_ns, &boot_ns) &&
	    !__builtin_add_overflow(corrected_ns, writer->ref_shift_ns, &ref_ns) && boot_ns >= 0 &&
	    ref_ns >= 0)
		timeline_put_stair(&writer->timeline, writer->machine->id, boot_ns, ref_ns);
	return !writer->timeline.failed && !ferror(writer->timeline.out);
}

/* Relate the clocks of a machine to each other, at the beginning of its traces. */
static void put_machine_clocks(struct timeline *timeline, const struct archive_machine *machine,
			       const struct timebase *base)
{
	const int64_t boot_ns = machine->stairs.from_ns + machine->boot_shift_ns;
	struct timeline_clock clocks[4] = {
		{ TIMELINE_BOOTTIME, boot_ns },
		{ TIMELINE_MONOTONIC, boot_ns - machine->suspended_ns },
	};
	size_t num = 2;
	int64_t wall_ns;

	if (machine->other)
		clocks[num++] = (struct timeline_clock){ machine->other, boot_ns };
	if (!machine->id && timebase_find_wall_shift(base, &wall_ns) &&
	    !__builtin_add_overflow(machine->stairs.from_ns, wall_ns, &wall_ns) && wall_ns >= 0)
		clocks[num++] = (struct timeline_clock){ TIMELINE_REALTIME, wall_ns };
	timeline_put_clocks(timeline, machine->id, clocks, num);
}

bool machines_write_clocks(FILE *out, const struct archive_machines *machines,
			   const struct timebase *base)
{
	struct stair_writer writer = { .ref_shift_ns = machines->ref_shift_ns };
	bool ok = timeline_open_clocks(&writer.timeline, out);

	for (size_t i = 0; i < machines->num && ok; i++) {
		writer.machine = &machines->list[i];
		put_machine_clocks(&writer.timeline, writer.machine, base);
		if (writer.machine->id)
			ok = stairs_walk(&writer.machine->stairs, write_stair, &writer);
	}
	return timeline_close(&writer.timeline, ok, "clocks");
}
