// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "value.h"

/* ---- looking fields up ---------------------------------------------------- */

static void set_value_number(struct value *value, int64_t number, bool is_unsigned)
{
	value->has_number = true;
	value->is_unsigned = is_unsigned;
	value->number = number;
}

static bool set_string_value(struct value *value, const char *text)
{
	value->text = text;
	return text;
}

static bool get_special_field(struct value *value, const char *name, const struct scope *scope)
{
	const struct event_task *task = scope->task;

	if (!strcmp(name, FIELD_EVENT))
		return set_string_value(value, scope->event->type->name);
	if (!strcmp(name, FIELD_REST))
		return set_string_value(value, scope->rest);
	if (!strcmp(name, FIELD_HOST))
		return set_string_value(value, scope->host);
	if (!strcmp(name, FIELD_STATE))
		return set_string_value(value, scope->state);
	if (!strcmp(name, FIELD_COMM))
		return set_string_value(value,
					task && task->name && *task->name ? task->name : "thread");
	if (!strcmp(name, FIELD_CPU)) {
		set_value_number(value, scope->event->cpu, true);
		return scope->event->cpu != EVENT_NO_CPU;
	}
	set_value_number(value, task ? task->tid : 0, true);
	return task;
}

static bool get_simple_field(struct value *value, const char *name, const struct event *event)
{
	struct arg arg;

	if (!event->fields->value(event, name, &arg))
		return false;
	switch (arg.kind) {
	case ARG_LABEL:
		value->has_number = event->fields->integer(event, name, &value->number);
		return set_string_value(value, arg.text);
	case ARG_TEXT:
		return set_string_value(value, arg.text);
	case ARG_BOOL:
		set_value_number(value, arg.truth, true);
		return true;
	case ARG_UNSIGNED:
		set_value_number(value, (int64_t)arg.number, true);
		return true;
	case ARG_SIGNED:
	case ARG_TIME:
		set_value_number(value, arg.integer, false);
		return true;
	case ARG_REAL:
		break;
	}
	return false;
}

static bool get_kept_field(struct value *value, const char *name, const struct scope *scope)
{
	for (size_t i = 0; scope->kept && i < scope->definition->num_kept; i++)
		if (scope->kept[i].is_known && !strcmp(scope->definition->kept[i], name)) {
			*value = scope->kept[i].value;
			return true;
		}
	return false;
}

static bool get_named_field(struct value *value, const char *name, const struct scope *scope)
{
	if (*name == '@')
		return get_special_field(value, name, scope);
	if (get_simple_field(value, name, scope->event))
		return true;
	value->num_bytes = scope->event->fields->bytes(scope->event, name, value->bytes,
						       VALUE_BYTES);
	if (value->num_bytes > VALUE_BYTES)
		value->num_bytes = VALUE_BYTES;
	return value->num_bytes || get_kept_field(value, name, scope);
}

bool value_get(struct value *value, const struct field *field, const struct scope *scope)
{
	value->has_number = false;
	value->is_unsigned = false;
	value->text = NULL;
	value->num_bytes = 0;
	for (size_t i = 0; i < field->num; i++)
		if (get_named_field(value, field->names[i], scope))
			return true;
	return false;
}

/* ---- as texts ----------------------------------------------------------- */

/* A text under construction, which is truncated to TEXT_SIZE. */
struct builder {
	char *text;
	size_t length;
};

static void append_builder_text(struct builder *to, const char *text, size_t length)
{
	if (length > TEXT_SIZE - 1 - to->length)
		length = TEXT_SIZE - 1 - to->length;
	memcpy(to->text + to->length, text, length);
	to->length += length;
	to->text[to->length] = '\0';
}

static void append_hex(struct builder *to, const uint8_t *bytes, size_t num)
{
	char digits[4];

	for (size_t i = 0; i < num; i++) {
		snprintf(digits, sizeof(digits), "%02x", bytes[i]);
		append_builder_text(to, digits, 2);
	}
}

/*
 * Append bytes. If all bytes before trailing zeros are printable, append them as text, otherwise in
 * hexadecimal.
 */
static void append_byte_text(struct builder *to, const uint8_t *bytes, size_t num)
{
	size_t length = num;

	while (length && !bytes[length - 1])
		length--;
	for (size_t i = 0; i < length; i++)
		if (!isascii(bytes[i]) || !isprint(bytes[i])) {
			append_hex(to, bytes, num);
			return;
		}
	append_builder_text(to, (const char *)bytes, length);
}

/* Append an address. IPv4 addresses mapped to IPv6 are written as IPv4. */
static void append_address(struct builder *to, const struct value *value)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	const bool is_mapped = value->num_bytes == 16 &&
			       !memcmp(value->bytes, mapped, sizeof(mapped));
	const bool is_v4 = value->num_bytes == 4 || is_mapped;
	char text[INET6_ADDRSTRLEN] = "";

	if (!is_v4 && value->num_bytes != 16) {
		append_hex(to, value->bytes, value->num_bytes);
		return;
	}
	inet_ntop(is_v4 ? AF_INET : AF_INET6, value->bytes + is_mapped * 12, text, sizeof(text));
	append_builder_text(to, text, strlen(text));
}

/*
 * Append a number. Most values are numbers, and snprintf() would take a third of an event's
 * processing time.
 */
static void append_decimal(struct builder *to, uint64_t number, bool is_negative)
{
	char digits[24];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	if (is_negative)
		digits[--at] = '-';
	append_builder_text(to, digits + at, sizeof(digits) - at);
}

static void append_number(struct builder *to, const struct value *value, enum field_format format)
{
	/* Number of minor bits in the kernel's MKDEV(). */
	const unsigned int minor_bits = 20;
	const uint64_t bits = (uint64_t)value->number;
	const bool is_negative = !value->is_unsigned && value->number < 0;
	char text[24];

	if (format == FIELD_HEX) {
		snprintf(text, sizeof(text), "%" PRIx64, bits);
		append_builder_text(to, text, strlen(text));
	} else if (format == FIELD_DEVICE) {
		append_decimal(to, bits >> minor_bits, false);
		append_builder_text(to, ":", 1);
		append_decimal(to, bits & ((1U << minor_bits) - 1), false);
	} else {
		append_decimal(to, is_negative ? -bits : bits, is_negative);
	}
}

/* Return the definition's label for the value of a field, or NULL if there is none. */
static const char *find_value_label(const struct definition *definition, const struct field *field,
				    const struct value *value)
{
	const char *other = NULL;

	for (size_t i = 0; i < definition->num_labels && value->has_number; i++) {
		const struct labels *labels = &definition->labels[i];
		bool is_field = false;

		for (size_t j = 0; j < field->num; j++)
			is_field |= !strcmp(labels->field, field->names[j]);
		for (size_t j = 0; is_field && j < labels->num; j++) {
			if (labels->list[j].is_other)
				other = labels->list[j].text;
			else if (labels->list[j].number == value->number)
				return labels->list[j].text;
		}
	}
	return other;
}

static void append_value(struct builder *to, const struct value *value, const struct field *field,
			 const struct scope *scope)
{
	const char *label = find_value_label(scope->definition, field, value);

	if (label)
		append_builder_text(to, label, strlen(label));
	else if (value->text)
		append_builder_text(to, value->text, strlen(value->text));
	else if (value->has_number)
		append_number(to, value, field->format);
	else if (field->format == FIELD_ADDRESS)
		append_address(to, value);
	else if (field->format == FIELD_HEX)
		append_hex(to, value->bytes, value->num_bytes);
	else
		append_byte_text(to, value->bytes, value->num_bytes);
}

bool template_expand(const struct template *template, const struct scope *scope,
		     char text[TEXT_SIZE], const char **missing)
{
	struct builder to = { .text = text };

	*text = '\0';
	for (size_t i = 0; i < template->num; i++) {
		const struct template_piece *piece = &template->pieces[i];
		struct value value;

		if (piece->text) {
			append_builder_text(&to, piece->text, strlen(piece->text));
			continue;
		}
		if (!value_get(&value, &piece->field, scope)) {
			*missing = piece->field.names[0];
			return false;
		}
		append_value(&to, &value, &piece->field, scope);
	}
	return true;
}

/* ---- conditions --------------------------------------------------------- */

static bool equals_operand(const struct value *value, const struct field *field,
			   const struct operand *operand, const struct scope *scope)
{
	char text[TEXT_SIZE];
	struct builder to = { .text = text };

	if (value->has_number && operand->is_number)
		return value->number == operand->number;
	*text = '\0';
	append_value(&to, value, field, scope);
	return !fnmatch(operand->glob, text, 0);
}

bool condition_is_true(const struct condition *condition, const struct scope *scope,
		       const char **missing)
{
	const struct operand *operand = condition->operands;
	struct value value;
	bool is_one = false;

	if (!value_get(&value, &condition->field, scope)) {
		*missing = condition->field.names[0];
		return false;
	}
	switch (condition->comparison) {
	case IS:
	case IS_NOT:
		for (size_t i = 0; i < condition->num && !is_one; i++)
			is_one = equals_operand(&value, &condition->field, &operand[i], scope);
		return is_one == (condition->comparison == IS);
	case IS_LESS:
		return value.has_number && value.number < operand->number;
	case IS_MORE:
		return value.has_number && value.number > operand->number;
	case HAS:
		return value.has_number && (value.number & operand->number) == operand->number;
	case LACKS:
		return value.has_number && !(value.number & operand->number);
	}
	return false;
}

/* ---- keeping values -------------------------------------------------------- */

bool kept_set_value(struct kept *kept, const struct value *value)
{
	char *text = value->text ? strdup(value->text) : NULL;

	if (value->text && !text)
		return false;
	free((char *)kept->value.text);
	kept->value = *value;
	kept->value.text = text;
	kept->is_known = true;
	return true;
}
