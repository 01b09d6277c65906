// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read a pickle without running it: see pickle.h. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/spans/pickle.h"
#include "util/array.h"
#include "util/hash.h"

/* Size of the buffer of decompressed bytes. Chosen. */
#define PICKLE_BUFFER ((size_t)64 << 10)
/*
 * Maximum number of values on the stack, and of values that are kept for later. Chosen: a dump
 * usually has some 1,000 operations, and a few values for each. 4 million values need 160 MiB.
 */
#define PICKLE_MAX_VALUES ((size_t)4 << 20)
/* Maximum size of a text (bytes). Chosen: the ranks of a job of 100,000 ranks need 0.8 MB. */
#define PICKLE_MAX_TEXT ((size_t)1 << 20)
/* Maximum size of all texts (bytes). Chosen: those of a dump with call stacks need some MB. */
#define PICKLE_MAX_TEXTS ((size_t)64 << 20)
/* The version of the format that PyTorch writes. */
#define PICKLE_VERSION 2

/* Opcodes (Python's Lib/pickletools.py). */
enum pickle_opcode {
	OP_MARK = '(',
	OP_EMPTY_TUPLE = ')',
	OP_STOP = '.',
	OP_BINFLOAT = 'G',
	OP_BININT = 'J',
	OP_BININT1 = 'K',
	OP_BININT2 = 'M',
	OP_NONE = 'N',
	OP_BINUNICODE = 'X',
	OP_EMPTY_LIST = ']',
	OP_APPEND = 'a',
	OP_APPENDS = 'e',
	OP_BINGET = 'h',
	OP_LONG_BINGET = 'j',
	OP_BINPUT = 'q',
	OP_LONG_BINPUT = 'r',
	OP_SETITEM = 's',
	OP_TUPLE = 't',
	OP_SETITEMS = 'u',
	OP_EMPTY_DICT = '}',
	OP_PROTO = 0x80,
	OP_TUPLE1 = 0x85,
	OP_TUPLE2 = 0x86,
	OP_TUPLE3 = 0x87,
	OP_NEWTRUE = 0x88,
	OP_NEWFALSE = 0x89,
	OP_LONG1 = 0x8a,
};

/* Texts, one after another. They stay where they are while further ones are added. */
struct pickle_texts {
	struct pickle_texts *next;
	size_t used, size;
	char bytes[];
};

int pickle_open(struct pickle *pickle, struct netsync_io *io, const char *path)
{
	int ret;

	*pickle = (struct pickle){ .buffer = NULL };
	ret = io_open_unpacked(io, path, &pickle->file);
	if (ret)
		return ret;
	pickle->buffer = malloc(PICKLE_BUFFER);
	return pickle->buffer ? 0 : io_fail_no_memory(io);
}

void pickle_close(struct pickle *pickle)
{
	unpacked_close(&pickle->file);
	while (pickle->texts) {
		struct pickle_texts *next = pickle->texts->next;

		free(pickle->texts);
		pickle->texts = next;
	}
	free(pickle->buffer);
	free(pickle->stack);
	free(pickle->memo);
	*pickle = (struct pickle){ .buffer = NULL };
}

/* ---- values ----------------------------------------------------------------- */

static void set_pickle_kind(struct pickle_value *value, enum pickle_kind kind)
{
	*value = (struct pickle_value){ .text = "", .kind = kind };
}

void pickle_set_number(struct pickle_value *value, int64_t number)
{
	set_pickle_kind(value, PICKLE_NUMBER);
	value->number = number;
	value->hash = hash_mix((uint64_t)number + PICKLE_NUMBER);
}

void pickle_set_text(struct pickle_value *value, const char *text)
{
	set_pickle_kind(value, PICKLE_TEXT);
	value->text = text;
	value->hash = hash_text(PICKLE_TEXT, text);
}

void pickle_set_list(struct pickle_value *list)
{
	set_pickle_kind(list, PICKLE_LIST);
	list->hash = PICKLE_LIST;
}

void pickle_add_element(struct pickle_value *list, const struct pickle_value *element)
{
	list->number++;
	list->hash = hash_mix(list->hash ^ element->hash) + PICKLE_LIST;
	list->has_zero |= element->has_zero || (element->kind == PICKLE_NUMBER && !element->number);
	if (!*list->text)
		list->text = element->text;
}

/* ---- bytes ------------------------------------------------------------------ */

static int fail_pickle(struct pickle *pickle, const char *problem)
{
	snprintf(pickle->problem, sizeof(pickle->problem), "%s", problem);
	return -EILSEQ;
}

static int refuse_pickle(struct pickle *pickle, const char *problem)
{
	pickle->is_refused = true;
	return fail_pickle(pickle, problem);
}

/* Make at least one byte available. Return 0 or a negative value. */
static int need_pickle_byte(struct pickle *pickle)
{
	ssize_t len;

	if (pickle->buffer_at < pickle->buffer_size)
		return 0;
	pickle->base += pickle->buffer_size;
	pickle->buffer_at = pickle->buffer_size = 0;
	len = unpacked_read(&pickle->file, pickle->buffer, PICKLE_BUFFER, pickle->base);
	if (len == -EILSEQ)
		return fail_pickle(pickle, pickle->file.damage);
	if (!len)
		return fail_pickle(pickle, "the file ends before the end of the pickle");
	pickle->buffer_size = len > 0 ? (size_t)len : 0;
	return len < 0 ? (int)len : 0;
}

/* Read bytes, to @to unless it is NULL. */
static int take_pickle_bytes(struct pickle *pickle, void *to, size_t size)
{
	for (size_t done = 0; done < size;) {
		const int ret = need_pickle_byte(pickle);
		const size_t left = pickle->buffer_size - pickle->buffer_at;
		const size_t num = left < size - done ? left : size - done;

		if (ret)
			return ret;
		if (to)
			memcpy((char *)to + done, pickle->buffer + pickle->buffer_at, num);
		pickle->buffer_at += num;
		done += num;
	}
	return 0;
}

/* Read an integer of up to 8 bytes, the lowest byte first. */
static int take_pickle_integer(struct pickle *pickle, size_t size, bool is_signed, int64_t *number)
{
	uint8_t bytes[8];
	uint64_t value = 0;
	const int ret = take_pickle_bytes(pickle, bytes, size);

	if (ret)
		return ret;
	for (size_t i = size; i > 0; i--)
		value = value << 8 | bytes[i - 1];
	if (is_signed && size && size < 8 && bytes[size - 1] & 0x80)
		value |= UINT64_MAX << 8 * size;
	*number = (int64_t)value;
	return 0;
}

/* Make space for a text. Return NULL if out of memory. */
static char *add_pickle_text(struct pickle *pickle, size_t size)
{
	struct pickle_texts *texts = pickle->texts;

	if (!texts || texts->size - texts->used < size) {
		const size_t new_size = size > PICKLE_BUFFER ? size : PICKLE_BUFFER;

		texts = malloc(sizeof(*texts) + new_size);
		if (!texts)
			return NULL;
		*texts = (struct pickle_texts){ .next = pickle->texts, .size = new_size };
		pickle->texts = texts;
	}
	texts->used += size;
	pickle->text_size += size;
	return texts->bytes + texts->used - size;
}

/* ---- the stack -------------------------------------------------------------- */

static int push_pickle_value(struct pickle *pickle, const struct pickle_value *value)
{
	if (pickle->num == PICKLE_MAX_VALUES)
		return refuse_pickle(pickle,
				     "the pickle needs more than 4 million values at a time");
	if (array_grow(&pickle->stack, &pickle->room, pickle->num, sizeof(*value)))
		return -ENOMEM;
	pickle->stack[pickle->num++] = *value;
	return 0;
}

static int push_pickle_kind(struct pickle *pickle, enum pickle_kind kind)
{
	struct pickle_value value;

	set_pickle_kind(&value, kind);
	if (kind == PICKLE_LIST)
		pickle_set_list(&value);
	return push_pickle_value(pickle, &value);
}

static int push_pickle_number(struct pickle *pickle, size_t size, bool is_signed)
{
	struct pickle_value value;
	int64_t number = 0;
	const int ret = take_pickle_integer(pickle, size, is_signed, &number);

	pickle_set_number(&value, number);
	return ret ? ret : push_pickle_value(pickle, &value);
}

static int push_pickle_text(struct pickle *pickle)
{
	struct pickle_value value;
	int64_t size = 0;
	char *text;
	int ret = take_pickle_integer(pickle, 4, false, &size);

	if (ret)
		return ret;
	if ((size_t)size > PICKLE_MAX_TEXT || pickle->text_size + (size_t)size >= PICKLE_MAX_TEXTS)
		return refuse_pickle(pickle, "its texts are too long");
	text = add_pickle_text(pickle, (size_t)size + 1);
	if (!text)
		return -ENOMEM;
	ret = take_pickle_bytes(pickle, text, (size_t)size);
	if (ret)
		return ret;
	text[size] = '\0';
	pickle_set_text(&value, text);
	return push_pickle_value(pickle, &value);
}

/* Find the elements above the last mark. Return false if there is no mark. */
static bool find_pickle_mark(const struct pickle *pickle, size_t *first)
{
	for (*first = pickle->num; *first > 0; (*first)--)
		if (pickle->stack[*first - 1].kind == PICKLE_MARK)
			return true;
	return false;
}

static int fail_pickle_stack(struct pickle *pickle)
{
	return fail_pickle(pickle, "an opcode lacks its operands");
}

/* ---- opcodes ---------------------------------------------------------------- */

/* Replace values from @first on, and @below values before these, by a tuple. */
static int make_pickle_tuple(struct pickle *pickle, size_t first, size_t below)
{
	struct pickle_value tuple;

	pickle_set_list(&tuple);
	for (size_t i = first; i < pickle->num; i++) {
		if (pickle->stack[i].kind == PICKLE_MARK)
			return fail_pickle_stack(pickle);
		pickle_add_element(&tuple, &pickle->stack[i]);
	}
	pickle->num = first - below;
	return push_pickle_value(pickle, &tuple);
}

/* Add the values from @first on to the list before them, of which @below marks follow. */
static int append_pickle_values(struct pickle *pickle, size_t first, size_t below)
{
	struct pickle_value *list;

	if (first < below + 1 || pickle->stack[first - below - 1].kind != PICKLE_LIST)
		return fail_pickle_stack(pickle);
	list = &pickle->stack[first - below - 1];
	for (size_t i = first; i < pickle->num; i++)
		pickle_add_element(list, &pickle->stack[i]);
	pickle->num = first - below;
	return 0;
}

/* Add the pairs from @first on to the dictionary before them, as append_pickle_values(). */
static int set_pickle_items(struct pickle *pickle, size_t first, size_t below)
{
	struct pickle_value *dict;
	const size_t num = pickle->num - first;

	if (first < below + 1 || num % 2 || pickle->stack[first - below - 1].kind != PICKLE_DICT)
		return fail_pickle_stack(pickle);
	dict = &pickle->stack[first - below - 1];
	dict->number += (int64_t)(num / 2);
	pickle->num = first - below;
	return pickle->dict(pickle->data, &pickle->stack[first], num);
}

/* Run an opcode that collects values. Return 0, a negative value, or 1 for another opcode. */
static int collect_pickle_values(struct pickle *pickle, uint8_t opcode)
{
	size_t first = 0;

	if (opcode >= OP_TUPLE1 && opcode <= OP_TUPLE3) {
		first = (size_t)opcode - OP_TUPLE1 + 1;
		return pickle->num < first ? fail_pickle_stack(pickle) :
					     make_pickle_tuple(pickle, pickle->num - first, 0);
	}
	if (opcode == OP_APPEND)
		return pickle->num < 2 || pickle->stack[pickle->num - 1].kind == PICKLE_MARK ?
			       fail_pickle_stack(pickle) :
			       append_pickle_values(pickle, pickle->num - 1, 0);
	if (opcode == OP_SETITEM)
		return pickle->num < 3 ? fail_pickle_stack(pickle) :
					 set_pickle_items(pickle, pickle->num - 2, 0);
	if (opcode != OP_TUPLE && opcode != OP_APPENDS && opcode != OP_SETITEMS)
		return 1;
	if (!find_pickle_mark(pickle, &first))
		return fail_pickle_stack(pickle);
	return opcode == OP_TUPLE   ? make_pickle_tuple(pickle, first, 1) :
	       opcode == OP_APPENDS ? append_pickle_values(pickle, first, 1) :
				      set_pickle_items(pickle, first, 1);
}

/* Keep the last value under a number, which values are given in turn. */
static int put_pickle_memo(struct pickle *pickle, size_t size)
{
	int64_t number = 0;
	const int ret = take_pickle_integer(pickle, size, false, &number);

	if (ret)
		return ret;
	if (!pickle->num || (size_t)number > pickle->num_memo)
		return fail_pickle(pickle, "a value is kept under an unexpected number");
	if ((size_t)number < pickle->num_memo) {
		pickle->memo[number] = pickle->stack[pickle->num - 1];
		return 0;
	}
	if (pickle->num_memo == PICKLE_MAX_VALUES)
		return refuse_pickle(pickle, "the pickle keeps more than 4 million values");
	if (array_grow(&pickle->memo, &pickle->memo_room, pickle->num_memo, sizeof(*pickle->memo)))
		return -ENOMEM;
	pickle->memo[pickle->num_memo++] = pickle->stack[pickle->num - 1];
	return 0;
}

static int get_pickle_memo(struct pickle *pickle, size_t size)
{
	struct pickle_value value;
	int64_t number = 0;
	const int ret = take_pickle_integer(pickle, size, false, &number);

	if (ret)
		return ret;
	if ((size_t)number >= pickle->num_memo || pickle->memo[number].kind == PICKLE_MARK)
		return fail_pickle(pickle, "it refers to a value that does not exist");
	value = pickle->memo[number];
	/* Elements may have been added after the list was kept. */
	if ((value.kind == PICKLE_LIST || value.kind == PICKLE_DICT) && !value.number)
		set_pickle_kind(&value, PICKLE_OTHER);
	return push_pickle_value(pickle, &value);
}

/* Skip a number that no integer is expected to be. */
static int push_pickle_other(struct pickle *pickle, size_t size)
{
	const int ret = take_pickle_bytes(pickle, NULL, size);

	return ret ? ret : push_pickle_kind(pickle, PICKLE_OTHER);
}

static int push_pickle_long(struct pickle *pickle)
{
	int64_t size = 0;
	const int ret = take_pickle_integer(pickle, 1, false, &size);

	if (ret)
		return ret;
	return size > 8 ? push_pickle_other(pickle, (size_t)size) :
			  push_pickle_number(pickle, (size_t)size, true);
}

static int push_pickle_boolean(struct pickle *pickle, bool boolean)
{
	struct pickle_value value;

	pickle_set_number(&value, boolean);
	return push_pickle_value(pickle, &value);
}

static int check_pickle_version(struct pickle *pickle)
{
	int64_t version = 0;
	const int ret = take_pickle_integer(pickle, 1, false, &version);

	if (ret || version == PICKLE_VERSION)
		return ret;
	return refuse_pickle(
		pickle,
		"it is not of version 2 of the format, which PyTorch writes; keep the bytes as PyTorch returns them");
}

static int refuse_pickle_opcode(struct pickle *pickle, uint8_t opcode)
{
	pickle->is_refused = true;
	snprintf(pickle->problem, sizeof(pickle->problem),
		 isprint(opcode) ? "it contains the opcode '%c' at byte %llu, which %s" :
				   "it contains the opcode 0x%02x at byte %llu, which %s",
		 opcode, (unsigned long long)pickle_get_position(pickle) - 1,
		 "PyTorch does not write in dumps and which could run a program");
	return -EILSEQ;
}

/* Run an opcode that makes a value. */
static int make_pickle_value(struct pickle *pickle, uint8_t opcode)
{
	switch (opcode) {
	case OP_PROTO:
		return check_pickle_version(pickle);
	case OP_MARK:
		return push_pickle_kind(pickle, PICKLE_MARK);
	case OP_EMPTY_DICT:
		return push_pickle_kind(pickle, PICKLE_DICT);
	case OP_EMPTY_LIST:
	case OP_EMPTY_TUPLE:
		return push_pickle_kind(pickle, PICKLE_LIST);
	case OP_NONE:
		return push_pickle_kind(pickle, PICKLE_OTHER);
	case OP_BINFLOAT:
		return push_pickle_other(pickle, 8);
	case OP_BININT:
		return push_pickle_number(pickle, 4, true);
	case OP_BININT1:
		return push_pickle_number(pickle, 1, false);
	case OP_BININT2:
		return push_pickle_number(pickle, 2, false);
	case OP_LONG1:
		return push_pickle_long(pickle);
	case OP_NEWTRUE:
	case OP_NEWFALSE:
		return push_pickle_boolean(pickle, opcode == OP_NEWTRUE);
	case OP_BINUNICODE:
		return push_pickle_text(pickle);
	case OP_BINPUT:
	case OP_LONG_BINPUT:
		return put_pickle_memo(pickle, opcode == OP_BINPUT ? 1 : 4);
	case OP_BINGET:
	case OP_LONG_BINGET:
		return get_pickle_memo(pickle, opcode == OP_BINGET ? 1 : 4);
	default:
		return refuse_pickle_opcode(pickle, opcode);
	}
}

int pickle_read(struct pickle *pickle, pickle_dict_func dict, void *data)
{
	int ret;

	pickle->dict = dict;
	pickle->data = data;
	do {
		uint8_t opcode;

		ret = take_pickle_bytes(pickle, &opcode, 1);
		if (ret || opcode == OP_STOP)
			return ret;
		ret = collect_pickle_values(pickle, opcode);
		if (ret > 0)
			ret = make_pickle_value(pickle, opcode);
	} while (!ret);
	return ret;
}
