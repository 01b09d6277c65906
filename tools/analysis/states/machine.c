// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run a state machine for each object. For each type of events, the rules that apply are looked up
 * once. For each event, the objects that it names are looked up, and the rules change their states.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "../../../libnetsync/util/array.h"
#include "common/now.h"
#include "events/task.h"
#include "machine.h"
#include "object.h"

/*
 * Size of a thread's name in bytes. The kernel's names have 15 bytes and a NUL; those of
 * other tracers may be longer.
 */
#define COMM_SIZE 32

/* A rule that applies to a type of events. */
struct use {
	uint32_t definition;
	const struct rule *rule;
	const char *rest; /* the part of the event's name that the last * of the pattern matches */
	uint64_t done;	  /* number of times the rule was used */
	/* Number of times it could not be used, because the field @missing did not exist. */
	uint64_t missed;
	const char *missing;
};

struct type {
	bool is_switch;
	struct use *uses;
	size_t num;
};

/* The thread that runs on a CPU. */
struct machine_cpu {
	bool is_known;
	uint32_t tid;
	char comm[COMM_SIZE];
};

struct machine {
	const struct definition *definitions;
	size_t num;
	const struct timebase *base;
	uint32_t host;
	struct span_writer *out;
	struct objects objects;
	struct span_counts *counts; /* counts of each definition */
	struct span_losses losses;
	struct type **types; /* all types of events */
	const char **type_names;
	size_t num_types;
	struct machine_cpu *cpus; /* threads that run on each CPU; EVENT_MAX_CPUS elements */
	bool any_lost;
	int64_t lost_ns; /* time of the most recent loss of events */
	int64_t now_ns;
	int64_t now_host_ns;
	uint64_t event;	     /* number of the current event, from 1 */
	struct object *left; /* objects that have no state after the current event */
	bool failed;	     /* memory is exhausted */
};

/* ---- rules by type of events --------------------------------------- */

/* Return the name without the subsystem, such as "dlm_ast" for "dlm:dlm_ast". */
static const char *get_plain_name(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon ? colon + 1 : name;
}

/*
 * Return whether a glob pattern matches an event's name. Set @rest to the part that the pattern's
 * last * matches.
 */
static bool matches_event_glob(const char *name, const char *glob, const char **rest)
{
	const char *full = fnmatch(glob, name, 0) ? get_plain_name(name) : name;
	const char *star = strrchr(glob, '*');
	const size_t head = star ? (size_t)(star - glob) : 0;

	if (fnmatch(glob, full, 0))
		return false;
	*rest = star && strcspn(glob, "*?[") == head && head <= strlen(full) ? full + head : full;
	return true;
}

static bool add_rule_uses(struct machine *machine, struct type *type, const char *name)
{
	for (uint32_t d = 0; d < machine->num; d++) {
		const struct definition *definition = &machine->definitions[d];

		for (size_t r = 0; r < definition->num_rules; r++) {
			const struct rule *rule = &definition->rules[r];
			const char *rest = name;
			size_t e = 0;
			struct use *use;

			while (e < rule->num_events &&
			       !matches_event_glob(name, rule->events[e], &rest))
				e++;
			if (e == rule->num_events)
				continue;
			use = array_add(&type->uses, type->num, sizeof(*use));
			if (!use)
				return false;
			*use = (struct use){ .definition = d, .rule = rule, .rest = rest };
			type->num++;
		}
	}
	return true;
}

/* Find the type of an event, or add it. Return NULL if out of memory. */
static struct type *find_machine_type(struct machine *machine, struct event_type *event_type)
{
	struct type **last;
	const char **last_name;
	struct type *type = event_type->own;

	if (type)
		return type;
	type = calloc(1, sizeof(*type));
	last = array_add(&machine->types, machine->num_types, sizeof(*last));
	last_name = array_add(&machine->type_names, machine->num_types, sizeof(*last_name));
	/* Memory is not freed, because the process ends after this host. */
	if (!type || !last || !last_name || !add_rule_uses(machine, type, event_type->name))
		return NULL;
	*last = type;
	*last_name = event_type->name;
	machine->num_types++;
	type->is_switch = !strcmp(get_plain_name(event_type->name), "sched_switch");
	event_type->own = type;
	return type;
}

/* ---- threads ------------------------------------------------------------- */

/*
 * Record which thread runs next on the CPU. Call this function after the rules were used, because a
 * sched_switch event belongs to the thread that stops running.
 */
static void note_running_thread(struct machine *machine, const struct event *event)
{
	struct event_task task = { 0 };
	struct machine_cpu *cpu;
	size_t length;

	if (event->cpu == EVENT_NO_CPU)
		return;
	cpu = &machine->cpus[event->cpu];
	cpu->is_known = task_read(event, TASK_TO, &task);
	cpu->tid = task.tid;
	length = task.name ? strnlen(task.name, sizeof(cpu->comm) - 1) : 0;
	memcpy(cpu->comm, task.name ? task.name : "", length);
	cpu->comm[length] = '\0';
}

/* Find the thread in which the event occurred. Return false if the thread is unknown. */
static bool find_task(const struct machine *machine, const struct event *event,
		      struct event_task *task)
{
	const struct machine_cpu *cpu = event->cpu == EVENT_NO_CPU ? NULL :
								     &machine->cpus[event->cpu];
	const bool is_given = event->fields->task(event, task);

	if (!cpu || !cpu->is_known)
		return is_given;
	if (!is_given)
		*task = (struct event_task){ cpu->tid, cpu->comm };
	else if (!task->name && task->tid == cpu->tid)
		task->name = cpu->comm;
	return true;
}

/* ---- states -------------------------------------------------------------- */

/* Limit a span to the window. Return false if the span is completely outside of the window. */
static bool cut_span_to_window(const struct timebase *base, struct state_span *span)
{
	if (span->begin_ns > base->end_ns || span->end_ns < base->begin_ns)
		return false;
	if (span->begin_ns < base->begin_ns)
		span->begin_ns = base->begin_ns;
	if (span->end_ns > base->end_ns)
		span->end_ns = base->end_ns;
	return true;
}

/* End the state of an object, and write its span. */
static void leave_state(struct machine *machine, struct object *object, bool is_open)
{
	struct span_counts *counts = &machine->counts[object->definition];
	struct state_span span = {
		.host = machine->host,
		.definition = object->definition,
		.object = object->number,
		.lane = object->lane,
		.name = object->name,
		.state = object->label,
		.shared = object->shared,
		.is_open = is_open,
		.is_doubtful = machine->any_lost && object->begin_ns <= machine->lost_ns,
		.begin_ns = object->begin_ns,
		.end_ns = machine->now_ns,
		.begin_host_ns = object->begin_host_ns,
		.end_host_ns = machine->now_host_ns,
	};

	object_leave_lane(object);
	free(object->state);
	object->state = NULL;
	if (!cut_span_to_window(machine->base, &span))
		return;
	counts->open += is_open;
	counts->doubtful += span.is_doubtful;
	span_put(machine->out, &span);
}

/*
 * Find the resource that the object shares. Set @text to the number of the resource's text, or to
 * NO_TEXT if the object shares none. Return false if a field is missing.
 */
static bool find_shared(struct machine *machine, const struct shared *shared,
			const struct scope *scope, uint32_t *text, const char **missing)
{
	char sides[2][TEXT_SIZE], both[2 * TEXT_SIZE];
	int order;

	*text = NO_TEXT;
	if (!shared->sides[0].num)
		return true;
	if (!template_expand(&shared->sides[0], scope, sides[0], missing))
		return false;
	if (!shared->sides[1].num) {
		*text = span_put_text(machine->out, sides[0]);
	} else {
		if (!template_expand(&shared->sides[1], scope, sides[1], missing))
			return false;
		order = strcmp(sides[0], sides[1]) > 0;
		snprintf(both, sizeof(both), "%s %s", sides[order], sides[!order]);
		*text = span_put_text(machine->out, both);
	}
	machine->failed |= *text == NO_TEXT;
	return true;
}

static const struct template *choose_template(const struct template *own,
					      const struct template *other)
{
	return own->num ? own : other;
}

/* Change the object to the rule's state. Return false if a field is missing. */
static bool enter_rule_state(struct machine *machine, const struct use *use,
			     const struct scope *scope, struct object *object, const char **missing)
{
	const struct definition *definition = scope->definition;
	const struct rule *rule = use->rule;
	const struct shared *shared = rule->shared.sides[0].num ? &rule->shared :
								  &definition->shared;
	const struct template *names = choose_template(
		&rule->name, choose_template(&definition->name_of,
					     choose_template(&rule->object, &definition->object)));
	char label[TEXT_SIZE], name[TEXT_SIZE];
	uint32_t shared_text;

	if (!template_expand(&rule->label, scope, label, missing) ||
	    !template_expand(names, scope, name, missing) ||
	    !find_shared(machine, shared, scope, &shared_text, missing))
		return false;
	if (object->state) {
		machine->counts[use->definition].doubles += rule->action == BEGIN;
		leave_state(machine, object, false);
	}
	object->state = strdup(label);
	object->label = span_put_text(machine->out, label);
	object->name = span_put_text(machine->out, name);
	object->shared = shared_text;
	object->begin_ns = machine->now_ns;
	object->begin_host_ns = machine->now_host_ns;
	machine->failed |= !object->state || object->label == NO_TEXT || object->name == NO_TEXT ||
			   !object_enter_lane(&machine->objects, object, object->name);
	return true;
}

/* ---- rules --------------------------------------------------------------- */

static void keep_event_fields(struct machine *machine, const struct scope *scope,
			      struct object *object)
{
	const struct definition *definition = scope->definition;

	for (size_t i = 0; i < definition->num_kept; i++) {
		const struct field field = { &definition->kept[i], 1, FIELD_PLAIN };
		struct value value;
		struct scope own = *scope;

		/* Use only fields of the event itself. */
		own.kept = NULL;
		if (value_get(&value, &field, &own) && !kept_set_value(&object->kept[i], &value))
			machine->failed = true;
	}
}

static bool do_rule_action(struct machine *machine, const struct use *use, struct scope *scope,
			   struct object *object, const char **missing)
{
	if (use->rule->action != END) {
		keep_event_fields(machine, scope, object);
		scope->kept = object->kept;
		return enter_rule_state(machine, use, scope, object, missing);
	}
	if (object->state)
		leave_state(machine, object, false);
	else
		machine->counts[use->definition].unbegun++;
	return true;
}

static bool do_all_conditions_hold(const struct rule *rule, const struct scope *scope,
				   const char **missing)
{
	for (size_t i = 0; i < rule->num_conditions; i++)
		if (!condition_is_true(&rule->conditions[i], scope, missing))
			return false;
	return true;
}

/* Use a rule for an event if its conditions hold. Return false if a field is missing. */
static bool use_rule(struct machine *machine, const struct use *use, struct scope *scope,
		     const char **missing)
{
	const struct definition *definition = scope->definition;
	const struct rule *rule = use->rule;
	char key[TEXT_SIZE];
	struct object *object;
	bool ok;

	if (!template_expand(choose_template(&rule->object, &definition->object), scope, key,
			     missing))
		return false;
	object = object_find(&machine->objects, use->definition, key);
	/* For each object, an event uses only the first rule that applies. */
	if (object && object->seen == machine->event)
		return true;
	scope->kept = object ? object->kept : NULL;
	scope->state = object && object->state ? object->state : "";
	if (!do_all_conditions_hold(rule, scope, missing))
		return !*missing;
	if (!object)
		object = object_find_or_add(&machine->objects, use->definition, key,
					    definition->num_kept);
	if (!object) {
		machine->failed = true;
		return true;
	}
	object->seen = machine->event;
	machine->counts[use->definition].events++;
	ok = do_rule_action(machine, use, scope, object, missing);
	if (!object->state) {
		object->next_left = machine->left;
		machine->left = object;
	}
	return ok;
}

/*
 * Forget the objects that have no state after this event. Call this function after all rules were
 * used, because rules check whether another rule was already used for an object.
 */
static void forget_left_objects(struct machine *machine)
{
	while (machine->left) {
		struct object *object = machine->left;

		machine->left = object->next_left;
		object_forget(&machine->objects, object,
			      machine->definitions[object->definition].num_kept);
	}
}

static bool apply_rules(void *data, const struct event *event)
{
	struct machine *machine = data;
	struct type *type = find_machine_type(machine, event->type);
	struct event_task task;
	const bool has_task = find_task(machine, event, &task);

	machine->now_ns = event->time_ns;
	machine->now_host_ns = event->host_ns;
	machine->event++;
	for (size_t i = 0; type && i < type->num; i++) {
		struct use *use = &type->uses[i];
		const char *missing = NULL;
		struct scope scope = {
			.definition = &machine->definitions[use->definition],
			.event = event,
			.rest = use->rest,
			.host = machine->base->hosts[machine->host].name,
			.task = has_task ? &task : NULL,
		};

		if (use_rule(machine, use, &scope, &missing)) {
			use->done++;
		} else {
			use->missed++;
			use->missing = missing;
		}
	}
	forget_left_objects(machine);
	if (type && type->is_switch)
		note_running_thread(machine, event);
	return type && !machine->failed;
}

static bool note_lost_events(void *data, const struct event_loss *loss)
{
	struct machine *machine = data;

	machine->any_lost = true;
	machine->lost_ns = loss->time_ns;
	if (loss->cpu != EVENT_NO_CPU)
		machine->cpus[loss->cpu].is_known = false;
	if (!machine->losses.places)
		machine->losses.is_known = true;
	machine->losses.places++;
	machine->losses.is_known &= loss->has_number;
	machine->losses.number += loss->number;
	return true;
}

/* ---- the end ------------------------------------------------------------- */

static void leave_all_states(struct machine *machine)
{
	for (size_t i = 0; i < machine->objects.room; i++)
		for (struct object *o = machine->objects.buckets[i]; o; o = o->next)
			if (o->state)
				leave_state(machine, o, true);
}

static void report_missing_fields(struct machine *machine)
{
	for (size_t t = 0; t < machine->num_types; t++)
		for (size_t i = 0; i < machine->types[t]->num; i++) {
			const struct use *use = &machine->types[t]->uses[i];
			const struct span_missing missing = {
				.definition = use->definition,
				.line = use->rule->line,
				.event = span_put_text(machine->out, machine->type_names[t]),
				.field = use->missing ? span_put_text(machine->out, use->missing) :
							NO_TEXT,
				.times = use->missed,
			};

			if (use->missed && !use->done)
				span_put_missing(machine->out, &missing);
		}
}

bool machine_run(const struct definition *definitions, size_t num, const struct timebase *base,
		 const struct event_group *group, struct group_state *state, FILE *out)
{
	struct machine machine = {
		.definitions = definitions,
		.num = num,
		.base = base,
		.host = group->host,
		.out = span_writer_new(out),
		.counts = calloc(num + 1, sizeof(*machine.counts)),
		.cpus = calloc(EVENT_MAX_CPUS, sizeof(*machine.cpus)),
		.now_ns = INT64_MIN,
	};
	const struct event_listener listener = { apply_rules, note_lost_events, &machine };
	int64_t until_ns;

	/* Memory is not freed, because the process ends. */
	if (!machine.out || !machine.counts || !machine.cpus ||
	    !group_read_events(group, base, &listener, state, &until_ns))
		return false;
	if (machine.now_ns != INT64_MIN) {
		machine.now_ns = until_ns;
		leave_all_states(&machine);
	}
	report_missing_fields(&machine);
	for (uint32_t i = 0; i < num; i++) {
		span_put_counts(machine.out, i, &machine.counts[i]);
		state->number += machine.counts[i].events;
	}
	if (machine.losses.places)
		span_put_losses(machine.out, &machine.losses);
	return !machine.failed;
}
