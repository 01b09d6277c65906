// SPDX-License-Identifier: GPL-2.0-only
/* Parse the text of a definition. Each statement is checked when it is read. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../libnetsync/util/array.h"
#include "common/complain.h"
#include "definition.h"
#include "words.h"

/* Maximum size of a definition file, in bytes. Chosen; the built-in ones have some 2 KB. */
#define MAX_SIZE (1 << 20)

struct parser {
	struct definition_words words;
	struct definition *definition;
};

/* ---- parts of statements ------------------------------------------------ */

static bool add_text_to_list(const char ***list, size_t *num, const char *text)
{
	const char **last = array_add(list, *num, sizeof(*last));

	if (!last)
		return complain_no_memory();
	*last = text;
	++*num;
	return true;
}

/* Return the next word. If the statement ends, print a message and return NULL. */
static struct word *parse_required_word(struct parser *parser, const char *what)
{
	struct word *word = words_next(&parser->words);

	if (!word)
		words_complain(&parser->words, NULL, 0, "%s is missing here.", what);
	return word;
}

static bool is_field_name_valid(const char *name)
{
	static const char *const specials[] = {
		FIELD_TID, FIELD_COMM, FIELD_CPU, FIELD_HOST, FIELD_EVENT, FIELD_REST, FIELD_STATE,
	};

	if (*name != '@')
		return true;
	for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++)
		if (!strcmp(name, specials[i]))
			return true;
	return false;
}

static bool parse_format(struct parser *parser, const struct word *word, const char *text,
			 enum field_format *format)
{
	static const struct {
		const char *name;
		enum field_format format;
	} formats[] = {
		{ "x", FIELD_HEX },
		{ "ip", FIELD_ADDRESS },
		{ "dev", FIELD_DEVICE },
	};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(text, formats[i].name)) {
			*format = formats[i].format;
			return true;
		}
	return words_complain(&parser->words, word, text - word->text,
			      "\"%s\": unknown format; use x, ip or dev after the colon.", text);
}

/* Split "prev_tid|prev_pid:x" into names and format. This modifies the word. */
static bool parse_field(struct parser *parser, const struct word *word, char *text,
			struct field *field)
{
	char *colon = strchr(text, ':'), *next = text;

	if (colon) {
		*colon = '\0';
		if (!parse_format(parser, word, colon + 1, &field->format))
			return false;
	}
	while (next) {
		char *name = next;

		next = strchr(name, '|');
		if (next)
			*next++ = '\0';
		if (!*name)
			return words_complain(&parser->words, word, name - word->text,
					      "The name of a field is missing here.");
		if (!is_field_name_valid(name))
			return words_complain(&parser->words, word, name - word->text,
					      "Unknown field %s; use %s, %s, %s, %s, %s, %s or %s.",
					      name, FIELD_TID, FIELD_COMM, FIELD_CPU, FIELD_HOST,
					      FIELD_EVENT, FIELD_REST, FIELD_STATE);
		if (!add_text_to_list(&field->names, &field->num, name))
			return false;
	}
	return true;
}

static struct template_piece *add_template_piece(struct template *template)
{
	struct template_piece *piece = array_add(&template->pieces, template->num, sizeof(*piece));

	if (piece)
		template->num++;
	else
		complain_no_memory();
	return piece;
}

static bool parse_template(struct parser *parser, struct template *template, const char *what)
{
	const struct word *word = parse_required_word(parser, what);
	char *at = word ? word->text : NULL;

	if (!word)
		return false;
	if (template->num)
		return words_complain(&parser->words, word, 0, "This statement was given before.");
	do {
		char *brace = at + strcspn(at, "{}"), *end;
		struct template_piece *piece;

		if (*brace == '}')
			return words_complain(&parser->words, word, brace - word->text,
					      "A { is missing before this.");
		if (brace > at || !*brace) {
			piece = add_template_piece(template);
			if (!piece)
				return false;
			piece->text = at;
		}
		if (!*brace)
			return true;
		end = brace + 1 + strcspn(brace + 1, "{}");
		if (*end != '}')
			return words_complain(&parser->words, word, brace - word->text,
					      "A } is missing after this.");
		*brace = *end = '\0';
		piece = add_template_piece(template);
		if (!piece || !parse_field(parser, word, brace + 1, &piece->field))
			return false;
		at = end + 1;
	} while (*at);
	return true;
}

/* Parse the template for the shared resource. A pair has two templates. */
static bool parse_shared_template(struct parser *parser, struct shared *shared, bool has_second)
{
	return parse_template(parser, &shared->sides[0], "The shared object") &&
	       (!has_second || parse_template(parser, &shared->sides[1], ""));
}

static bool parse_integer(const char *text, int64_t *number)
{
	char *end;

	errno = 0;
	/* A number above INT64_MAX is stored with the bits of an unsigned field. */
	*number = *text == '-' ? strtoll(text, &end, 0) : (int64_t)strtoull(text, &end, 0);
	return end != text && !*end && !errno;
}

/* ---- rules --------------------------------------------------------------- */

static bool parse_operands(struct parser *parser, struct condition *condition)
{
	const bool is_bits = condition->comparison >= IS_LESS;
	const struct word *word = parse_required_word(parser, "The value to compare with");
	char *next = word ? word->text : NULL;

	while (next) {
		struct operand *operand = array_add(&condition->operands, condition->num,
						    sizeof(*operand));

		if (!operand)
			return complain_no_memory();
		condition->num++;
		operand->glob = next;
		next = strchr(next, ',');
		if (next)
			*next++ = '\0';
		operand->is_number = parse_integer(operand->glob, &operand->number);
		if (is_bits && (!operand->is_number || next))
			return words_complain(&parser->words, word, operand->glob - word->text,
					      "A single number is required here.");
	}
	return word;
}

static bool parse_condition(struct parser *parser, struct rule *rule)
{
	static const char *const signs[] = {
		[IS] = "=",	 [IS_NOT] = "!=", [IS_LESS] = "<",
		[IS_MORE] = ">", [HAS] = "has",	  [LACKS] = "lacks",
	};
	struct condition *condition = array_add(&rule->conditions, rule->num_conditions,
						sizeof(*condition));
	struct word *word = parse_required_word(parser, "The name of a field");

	if (!condition)
		return complain_no_memory();
	rule->num_conditions++;
	if (!word || !parse_field(parser, word, word->text, &condition->field))
		return false;
	word = parse_required_word(parser, "One of = != < > has lacks");
	if (!word)
		return false;
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (!strcmp(word->text, signs[i])) {
			condition->comparison = i;
			return parse_operands(parser, condition);
		}
	return words_complain(&parser->words, word, 0,
			      "Unknown comparison; use =, !=, <, >, has or lacks.");
}

/*
 * Parse the action, the last part of a rule. If the action is missing or invalid, print a message
 * and return false.
 */
static bool parse_action(struct parser *parser, struct rule *rule, const struct word *word)
{
	static const char *const actions[] = {
		[BEGIN] = "begin",
		[CHANGE] = "change",
		[END] = "end",
	};

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (strcmp(word->text, actions[i]))
			continue;
		rule->action = i;
		return i == END || parse_template(parser, &rule->label, "The name of the state");
	}
	return words_complain(
		&parser->words, word, 0,
		"\"%s\" is unknown; use if, object, name, shared, begin, change or end.",
		word->text);
}

static bool parse_rule_statement(struct parser *parser)
{
	static const char *const stops[] = { "if",    "object", "name", "shared",
					     "begin", "change", "end" };
	struct definition *definition = parser->definition;
	struct rule *rule = array_add(&definition->rules, definition->num_rules, sizeof(*rule));
	struct word *word;

	if (!rule)
		return complain_no_memory();
	definition->num_rules++;
	rule->line = parser->words.list[0].line;
	while ((word = words_peek(&parser->words))) {
		for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++)
			if (!strcmp(word->text, stops[i]))
				goto events_end;
		words_next(&parser->words);
		if (!add_text_to_list(&rule->events, &rule->num_events, word->text))
			return false;
	}
events_end:
	if (!rule->num_events)
		return words_complain(&parser->words, word, 0,
				      "The name of an event is missing here.");
	for (;;) {
		word = parse_required_word(parser, "begin, change or end");
		if (!word)
			return false;
		if (!strcmp(word->text, "if")) {
			if (!parse_condition(parser, rule))
				return false;
		} else if (!strcmp(word->text, "object")) {
			if (!parse_template(parser, &rule->object, "An object"))
				return false;
		} else if (!strcmp(word->text, "name")) {
			if (!parse_template(parser, &rule->name, "A name"))
				return false;
		} else if (!strcmp(word->text, "shared")) {
			if (!parse_shared_template(parser, &rule->shared, false))
				return false;
		} else {
			return parse_action(parser, rule, word);
		}
	}
}

/* ---- other statements ---------------------------------------------------- */

static bool parse_title_statement(struct parser *parser)
{
	const struct word *word = parse_required_word(parser, "A title");

	if (word)
		parser->definition->title = word->text;
	return word;
}

static bool parse_object_statement(struct parser *parser)
{
	return parse_template(parser, &parser->definition->object, "An object");
}

static bool parse_name_statement(struct parser *parser)
{
	return parse_template(parser, &parser->definition->name_of, "A name");
}

static bool parse_shared_statement(struct parser *parser)
{
	return parse_shared_template(parser, &parser->definition->shared, parser->words.num > 2);
}

static bool parse_kept_statement(struct parser *parser)
{
	struct definition *definition = parser->definition;
	const struct word *word = parse_required_word(parser, "The name of a field");

	for (; word; word = words_next(&parser->words)) {
		if (*word->text == '@')
			return words_complain(&parser->words, word, 0,
					      "Only fields of events can be kept.");
		if (!add_text_to_list(&definition->kept, &definition->num_kept, word->text))
			return false;
	}
	return definition->num_kept;
}

static bool parse_label(struct parser *parser, const struct word *word, struct labels *labels)
{
	struct label *label = array_add(&labels->list, labels->num, sizeof(*label));
	char *equals = strchr(word->text, '=');

	if (!label)
		return complain_no_memory();
	labels->num++;
	if (!equals)
		return words_complain(&parser->words, word, 0,
				      "NUMBER=LABEL or *=LABEL is required here.");
	*equals = '\0';
	label->text = equals + 1;
	label->is_other = !strcmp(word->text, "*");
	if (!*label->text)
		return words_complain(&parser->words, word, equals + 1 - word->text,
				      "The label is missing here.");
	if (!label->is_other && !parse_integer(word->text, &label->number))
		return words_complain(&parser->words, word, 0, "\"%s\" is not a number.",
				      word->text);
	return true;
}

static bool parse_labels_statement(struct parser *parser)
{
	struct definition *definition = parser->definition;
	struct labels *labels = array_add(&definition->labels, definition->num_labels,
					  sizeof(*labels));
	const struct word *word;

	if (!labels)
		return complain_no_memory();
	definition->num_labels++;
	word = parse_required_word(parser, "The name of a field");
	if (!word)
		return false;
	labels->field = word->text;
	word = parse_required_word(parser, "NUMBER=LABEL");
	for (; word; word = words_next(&parser->words))
		if (!parse_label(parser, word, labels))
			return false;
	return labels->num;
}

/* Parse the states before and after the word @between. */
static bool parse_two_state_lists(struct parser *parser, struct state_list *first,
				  const char *between, struct state_list *second)
{
	struct state_list *list = first;
	const struct word *word = parse_required_word(parser, "The name of a state");

	if (first->num)
		return words_complain(&parser->words, word, 0, "This statement was given before.");
	for (; word; word = words_next(&parser->words)) {
		if (!strcmp(word->text, between) && list == first && first->num)
			list = second;
		else if (!add_text_to_list(&list->globs, &list->num, word->text))
			return false;
	}
	if (list == second && !second->num)
		return words_complain(&parser->words, NULL, 0,
				      "The name of a state is missing here.");
	return first->num;
}

static bool parse_exclusive_statement(struct parser *parser)
{
	return parse_two_state_lists(parser, &parser->definition->exclusive, "with",
				     &parser->definition->with);
}

static bool parse_waits_statement(struct parser *parser)
{
	struct definition *definition = parser->definition;

	if (!parse_two_state_lists(parser, &definition->waiting, "for", &definition->holding))
		return false;
	return definition->holding.num ||
	       words_complain(
		       &parser->words, NULL, 0,
		       "\"for\" is missing here, followed by the states that these states wait for.");
}

static const struct {
	const char *name;
	bool (*parse)(struct parser *parser);
} statements[] = {
	{ "title", parse_title_statement },
	{ "object", parse_object_statement },
	{ "name", parse_name_statement },
	{ "shared", parse_shared_statement },
	{ "keep", parse_kept_statement },
	{ "values", parse_labels_statement },
	{ "exclusive", parse_exclusive_statement },
	{ "waits", parse_waits_statement },
	{ "on", parse_rule_statement },
};

static bool parse_statement(struct parser *parser)
{
	const struct word *word = words_next(&parser->words), *more;

	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
		if (strcmp(word->text, statements[i].name))
			continue;
		if (!statements[i].parse(parser))
			return false;
		more = words_next(&parser->words);
		return !more ||
		       words_complain(
			       &parser->words, more, 0,
			       "Unexpected word \"%s\"; put text with blanks between \" and \".",
			       more->text);
	}
	return words_complain(
		&parser->words, word, 0,
		"Unknown statement \"%s\"; use title, object, name, shared, keep, values, exclusive, waits or on.",
		word->text);
}

/* ---- whole definitions -------------------------------------------------- */

/* Make the checks for which the whole definition must be known. */
static bool check_definition(const struct parser *parser)
{
	const struct definition *d = parser->definition;

	for (size_t i = 0; i < d->num_rules; i++) {
		if (d->object.num || d->rules[i].object.num)
			continue;
		complain(
			"%s:%u:1: This statement has no object; add \"object {FIELD}\" here, or for the whole file.",
			d->name, d->rules[i].line);
		return false;
	}
	if (!d->num_rules)
		complain("%s: The events are missing; add an \"on\" statement.", d->name);
	else if ((d->exclusive.num || d->waiting.num) && !d->shared.sides[0].num)
		complain("%s: \"exclusive\" and \"waits\" require a \"shared\" statement.",
			 d->name);
	else
		return true;
	return false;
}

static bool parse_definition(struct definition *definition)
{
	struct parser parser = {
		.words = { .path = definition->name, .at = definition->text },
		.definition = definition,
	};
	bool ok = true;

	while (ok) {
		ok = words_next_statement(&parser.words);
		if (!ok || !parser.words.num)
			break;
		ok = parse_statement(&parser);
	}
	ok = ok && check_definition(&parser);
	words_release(&parser.words);
	return ok;
}

static char *read_file(const char *path)
{
	char *text = calloc(1, MAX_SIZE + 1);
	FILE *file = fopen(path, "r");
	size_t size = 0;

	if (!text)
		complain_no_memory();
	else if (!file && errno == ENOENT && !strchr(path, '/'))
		complain(
			"--states %s: no such definition or file; \"netsync states --help\" lists the definitions.",
			path);
	else if (!file)
		complain_about_path(path);
	else
		size = fread(text, 1, MAX_SIZE + 1, file);
	if (file && ferror(file))
		complain_about_path(path);
	else if (size > MAX_SIZE)
		complain("%s: not a definition, as the file has more than %u bytes.", path,
			 MAX_SIZE);
	else if (file && text && strlen(text) != size)
		complain("%s: not a text file.", path);
	else if (file && text) {
		fclose(file);
		return text;
	}
	if (file)
		fclose(file);
	free(text);
	return NULL;
}

bool definition_read(struct definition *definition, const char *name)
{
	const char *text = definition_find_text(name);

	*definition = (struct definition){ .name = name };
	definition->text = text ? strdup(text) : read_file(name);
	if (!definition->text)
		return text ? complain_no_memory() : false;
	definition->title = name;
	return parse_definition(definition);
}

static void release_template(struct template *template)
{
	for (size_t i = 0; i < template->num; i++)
		free(template->pieces[i].field.names);
	free(template->pieces);
}

static void release_shared_templates(struct shared *shared)
{
	release_template(&shared->sides[0]);
	release_template(&shared->sides[1]);
}

static void release_rule(struct rule *rule)
{
	for (size_t i = 0; i < rule->num_conditions; i++) {
		free(rule->conditions[i].field.names);
		free(rule->conditions[i].operands);
	}
	free(rule->conditions);
	free(rule->events);
	release_template(&rule->object);
	release_template(&rule->name);
	release_shared_templates(&rule->shared);
	release_template(&rule->label);
}

void definition_release(struct definition *d)
{
	for (size_t i = 0; i < d->num_rules; i++)
		release_rule(&d->rules[i]);
	for (size_t i = 0; i < d->num_labels; i++)
		free(d->labels[i].list);
	release_template(&d->object);
	release_template(&d->name_of);
	release_shared_templates(&d->shared);
	free(d->rules);
	free(d->labels);
	free(d->kept);
	free(d->exclusive.globs);
	free(d->with.globs);
	free(d->waiting.globs);
	free(d->holding.globs);
	free(d->text);
}

bool state_list_contains(const struct state_list *list, const char *state)
{
	for (size_t i = 0; i < list->num; i++)
		if (!fnmatch(list->globs[i], state, 0))
			return true;
	return false;
}
