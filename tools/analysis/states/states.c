// SPDX-License-Identifier: GPL-2.0-only
/* netsync states: find the states of objects over time, on all hosts. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../../../libnetsync/util/array.h"
#include "analysis/commands.h"
#include "common/complain.h"
#include "common/exit-status.h"
#include "common/output.h"
#include "machine.h"
#include "states.h"

struct states_settings {
	struct input input;
	const char **names; /* names of definitions */
	size_t num_names;
	/* Output format; at most one is set, otherwise a table is printed. */
	bool json, csv, perfetto, html;
	unsigned int timeline; /* number of the format, or TIMELINE_NOT_SAID */
	bool print;	       /* print the definitions and exit */
	struct time_window window;
	unsigned int limit;
	struct destination output;
};

/* ---- the command line -------------------------------------------------- */

static void complain_about_definition_names(const char *begin)
{
	char names[256] = "";

	for (size_t i = 0; definition_names[i]; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 i ? ", " : "", definition_names[i]);
	complain("%s: %s, or a file as in netsync-states(5).", begin, names);
}

static bool check_states_arguments(const struct states_settings *set)
{
	if (!set->num_names) {
		complain_about_definition_names("Give a definition with --states");
		return false;
	}
	if (set->json + set->csv + set->perfetto + set->html > 1) {
		complain("--json, --csv, --perfetto, --html: give only one of these options.");
		return false;
	}
	if (!timeline_check_option(set->timeline, set->perfetto))
		return false;
	if (set->print)
		return true;
	if (!input_check_events(&set->input))
		return false;
	if (!set->input.num_traces) {
		complain("No traces given: use \"netsync states --states %s TRACE...\".",
			 set->names[0]);
		return false;
	}
	return input_check_model(&set->input);
}

static bool parse_definition_option(void *at, const struct option_row *row, const char *value)
{
	struct states_settings *set = at;
	const char **last;

	(void)row;
	for (size_t i = 0; i < set->num_names; i++)
		if (!strcmp(set->names[i], value)) {
			complain("--states %s: given twice.", value);
			return false;
		}
	last = array_add(&set->names, set->num_names, sizeof(*last));
	if (!last)
		return complain_no_memory();
	*last = value;
	set->num_names++;
	return true;
}

static const struct option_row options[] = {
	OPTION("states", 0, "DEFINITION",
	       "use a definition of states: block, dlm, sched, syscall, tcp, or\n"
	       "a file as in netsync-states(5) (can be repeated)",
	       parse_definition_option, .words = definition_names),
	OPTION("print", 0, NULL, "print the definitions, as a starting point for new ones",
	       parse_flag_option, .at = offsetof(struct states_settings, print)),
	OPTION("json", 0, NULL, "write the tables as JSON", parse_flag_option,
	       .at = offsetof(struct states_settings, json)),
	OPTION("csv", 0, NULL, "write a line for each time that an object was in a state",
	       parse_flag_option, .at = offsetof(struct states_settings, csv)),
	OPTION("html", 0, NULL, "write a web page with a chart of all states over time",
	       parse_flag_option, .at = offsetof(struct states_settings, html)),
	OPTION("perfetto", 0, NULL, "write a timeline for ui.perfetto.dev with a track per object",
	       parse_flag_option, .at = offsetof(struct states_settings, perfetto)),
	{ .table = timeline_options, .at = offsetof(struct states_settings, timeline) },
	OPTION("limit", 0, "NUMBER",
	       "print at most NUMBER objects and NUMBER waits, those with the\n"
	       "longest times (default 20; 0 for all)",
	       parse_number_option, .at = offsetof(struct states_settings, limit), .least = 0,
	       .most = 1000000000),
	{ .table = window_options, .at = offsetof(struct states_settings, window) },
	{ .table = output_options, .at = offsetof(struct states_settings, output) },
	{ .table = input_model_options, .at = offsetof(struct states_settings, input) },
	{ .table = input_options, .at = offsetof(struct states_settings, input) },
	OPTIONS_END
};

static const struct usage usage = {
	.begin =
		"Usage: netsync states --states DEFINITION [OPTION...] TRACE...\n\n"
		"Show the states of objects on traced machines, such as locks, requests and threads, how\n"
		"long each state lasted, and which hosts waited for which other hosts. A TRACE is as for\n"
		"\"netsync sync\".\n\n",
	.end = "\nExit status: as for \"netsync sync\".\n",
	.options = options,
};

/* ---- reading the hosts -------------------------------------------------- */

struct states_job {
	const struct states_settings *set;
	struct timebase base;
	struct definition *definitions;
	size_t num_definitions;
	struct states states;
	off_t written;	 /* bytes written to the file of spans */
	uint64_t events; /* events of all hosts that matched a rule */
};

/* Read the events of a host, in the host's child process. */
static bool read_group_states(void *data, const struct event_group *group,
			      struct group_state *state)
{
	const struct states_job *job = data;

	return machine_run(job->definitions, job->num_definitions, &job->base, group, state,
			   spans_get_file(job->states.spans));
}

static void keep_written_states(void *data, const struct event_group *group,
				const struct group_state *state)
{
	struct states_job *job = data;

	job->events += state->number;
	job->written = spans_set_part(job->states.spans, group->host, job->written);
}

/* Print a message that no rule was used, and return false. */
static bool complain_about_missing_events(const struct states_job *job)
{
	for (size_t d = 0; d < job->num_definitions; d++) {
		const struct definition *definition = &job->definitions[d];
		char names[256] = "";

		for (size_t i = 0; i < definition->num_rules; i++) {
			const char *name = definition->rules[i].events[0];

			if (!strstr(names, name))
				snprintf(names + strlen(names), sizeof(names) - strlen(names),
					 "%s%s", *names ? ", " : "", name);
		}
		complain(
			"No states of %s found: these traces contain none of its events (%s), or only in parts that could not be read or corrected.",
			definition->name, names);
	}
	return false;
}

static bool read_host_states(struct states_job *job)
{
	const struct groups_reader reader = {
		.base = &job->base,
		.host = GROUPS_ALL_HOSTS,
		.action = "reading",
		.out = spans_get_file(job->states.spans),
		.read = read_group_states,
		.done = keep_written_states,
		.data = job,
	};

	if (groups_read(&reader))
		return job->events || complain_about_missing_events(job);
	complain("Cannot store states: %s. Set TMPDIR to another directory.", strerror(errno));
	return false;
}

/* ---- spans of all hosts ------------------------------------------------------- */

struct telling {
	struct states *states;
	between_tell *tell;
	void *data;
};

static bool add_reported_span(void *data, const struct reported_span *reported)
{
	struct telling *telling = data;

	if (!totals_add(&telling->states->totals, &reported->span)) {
		telling->states->failed = true;
		return false;
	}
	return !telling->tell || telling->tell(telling->data, reported);
}

static bool use_read_span(void *data, const struct state_span *span)
{
	struct telling *telling = data;

	return between_add_span(telling->states->between, span, add_reported_span, telling);
}

static void use_read_missing(void *data, uint32_t host, const struct span_missing *missing)
{
	struct states *states = ((struct telling *)data)->states;
	struct states_missing *last = array_add(&states->missing, states->num_missing,
						sizeof(*last));

	if (!last) {
		states->failed = true;
		return;
	}
	*last = (struct states_missing){ host, *missing };
	states->num_missing++;
}

static void use_read_counts(void *data, uint32_t host, uint32_t definition,
			    const struct span_counts *counts)
{
	const struct states *states = ((struct telling *)data)->states;

	states->counts[host * states->num_definitions + definition] = *counts;
}

static void use_read_losses(void *data, uint32_t host, const struct span_losses *losses)
{
	((struct telling *)data)->states->losses[host] = *losses;
}

bool states_read(struct states *states, between_tell *tell, void *data)
{
	struct telling telling = { states, tell, data };
	const struct spans_listener listener = {
		use_read_span, use_read_missing, use_read_counts, use_read_losses, &telling,
	};

	return spans_read(states->spans, &listener) &&
	       between_end(states->between, add_reported_span, &telling) && !states->failed;
}

/* ---- warnings ----------------------------------------- */

static void explain_losses(const struct states *states, uint32_t host)
{
	const struct span_losses *losses = &states->losses[host];
	uint64_t doubtful = 0;

	if (!losses->places)
		return;
	for (size_t d = 0; d < states->num_definitions; d++)
		doubtful += states_get_counts(states, host, d)->doubtful;
	if (losses->is_known)
		complain("warning: %s: %" PRIu64 " events were lost, at %" PRIu64
			 " places; %" PRIu64
			 " states that lasted beyond a loss may be wrong (\"doubtful\").",
			 states->base->hosts[host].name, losses->number, losses->places, doubtful);
	else
		complain("warning: %s: an unknown number of events was lost at %" PRIu64
			 " places; %" PRIu64
			 " states that lasted beyond a loss may be wrong (\"doubtful\").",
			 states->base->hosts[host].name, losses->places, doubtful);
}

static void explain_counts(const struct states *states, uint32_t host, size_t d)
{
	const struct span_counts *counts = states_get_counts(states, host, d);
	const char *name = states->base->hosts[host].name;
	const char *definition = states->definitions[d].name;

	if (!counts->events)
		complain("warning: %s: no events of %s in these traces, so no states are known.",
			 name, definition);
	if (counts->doubles)
		complain(
			"warning: %s, %s: %" PRIu64
			" states began while the object was in another state, which is assumed to end at that time.",
			name, definition, counts->doubles);
	if (counts->unbegun)
		complain("warning: %s, %s: %" PRIu64
			 " states have no beginning in the traces, and were skipped.",
			 name, definition, counts->unbegun);
	if (counts->open)
		complain(
			"warning: %s, %s: %" PRIu64
			" states had not ended at the end of the traces; their duration is counted up to that point (\"open\").",
			name, definition, counts->open);
}

static void explain_missing(const struct states *states)
{
	for (size_t i = 0; i < states->num_missing; i++) {
		const struct states_missing *one = &states->missing[i];
		const struct span_missing *missing = &one->missing;

		complain("warning: %s: the events %s have no field %s, so line %" PRIu32
			 " of %s was not used (%" PRIu64 " times).",
			 states->base->hosts[one->host].name,
			 spans_get_text(states->spans, one->host, missing->event),
			 spans_get_text(states->spans, one->host, missing->field), missing->line,
			 states->definitions[missing->definition].name, missing->times);
	}
}

static void explain_states(const struct states *states)
{
	for (uint32_t host = 0; host < states->base->num_hosts; host++) {
		if (!states->base->hosts[host].clock)
			continue;
		explain_losses(states, host);
		for (size_t d = 0; d < states->num_definitions; d++)
			explain_counts(states, host, d);
	}
	explain_missing(states);
}

/* ---- the sub-command ---------------------------------------------------- */

static bool write_states(FILE *out, const void *data)
{
	struct states_job *job = (struct states_job *)data;

	return job->set->json	  ? states_write_json(out, &job->states) :
	       job->set->csv	  ? states_write_csv(out, &job->states) :
	       job->set->perfetto ? states_write_perfetto(out, &job->states) :
	       job->set->html	  ? states_write_html(out, &job->states) :
				    states_print_table(out, &job->states);
}

static bool open_states(struct states_job *job)
{
	struct states *states = &job->states;

	states->definitions = job->definitions;
	states->num_definitions = job->num_definitions;
	states->base = &job->base;
	states->limit = job->set->limit;
	states->timeline = timeline_find_format(job->set->timeline, job->set->output.path);
	states->spans = spans_new(job->base.num_hosts);
	if (!states->spans)
		return false;
	states->between = between_new(job->definitions, job->num_definitions, &job->base,
				      states->spans);
	states->counts = calloc(job->base.num_hosts * job->num_definitions + 1,
				sizeof(*states->counts));
	states->losses = calloc(job->base.num_hosts + 1, sizeof(*states->losses));
	return (states->between && states->counts && states->losses) || complain_no_memory();
}

static bool read_definitions(struct states_job *job)
{
	job->definitions = calloc(job->set->num_names + 1, sizeof(*job->definitions));
	if (!job->definitions)
		return complain_no_memory();
	for (size_t i = 0; i < job->set->num_names; i++) {
		job->num_definitions++;
		if (!definition_read(&job->definitions[i], job->set->names[i]))
			return false;
	}
	return true;
}

static int find_and_write_states(struct states_job *job)
{
	const struct states_settings *set = job->set;
	int status;

	if (!read_definitions(job) || !output_check(&set->output) ||
	    !timebase_open(&job->base, &set->input))
		return EXIT_BAD;
	status = timebase_find(&job->base, &set->input);
	if (status == EXIT_BAD || !timebase_set_window(&job->base, &set->window, true) ||
	    !open_states(job) || !read_host_states(job) ||
	    !output_write(&set->output, write_states, job))
		return EXIT_BAD;
	explain_states(&job->states);
	return timebase_explain(&job->base, &set->input, status);
}

static void release_states_job(struct states_job *job)
{
	free(job->states.missing);
	free(job->states.losses);
	free(job->states.counts);
	totals_release(&job->states.totals);
	between_free(job->states.between);
	spans_free(job->states.spans);
	timebase_close(&job->base);
	for (size_t i = 0; i < job->num_definitions; i++)
		definition_release(&job->definitions[i]);
	free(job->definitions);
}

static bool write_definitions(FILE *out, const void *data)
{
	const struct states_settings *set = data;

	for (size_t i = 0; i < set->num_names; i++)
		fputs(definition_find_text(set->names[i]), out);
	return !ferror(out);
}

static int print_definitions(const struct states_settings *set)
{
	for (size_t i = 0; i < set->num_names; i++)
		if (!definition_find_text(set->names[i])) {
			complain("--print: no built-in definition %s.", set->names[i]);
			return EXIT_BAD;
		}
	return output_write(&set->output, write_definitions, set) ? EXIT_DONE : EXIT_BAD;
}

static int show_host_states(const struct states_settings *set)
{
	struct states_job job = { .set = set };
	const int status = find_and_write_states(&job);

	release_states_job(&job);
	return status;
}

int cmd_states(int argc, char **argv)
{
	struct states_settings set = {
		.input = INPUT_DEFAULT,
		.timeline = TIMELINE_NOT_SAID,
		.limit = 20,
	};
	int status = input_parse_arguments(&usage, &set, &set.input, argc, argv);

	if (status < 0 && !check_states_arguments(&set))
		status = EXIT_BAD;
	if (status < 0)
		status = set.print ? print_definitions(&set) : show_host_states(&set);
	input_release(&set.input);
	free(set.names);
	return status;
}
