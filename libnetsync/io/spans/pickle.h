/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Read a pickle without running it. A pickle is a program for a machine with a stack, which can
 * call any function of Python. This reader knows only the opcodes that make numbers, texts, lists
 * and dictionaries, which are those that PyTorch's flight recorder writes
 * (torch/csrc/jit/serialization/pickler.cpp), and refuses all others. No objects are built: a list
 * is a hash and a few properties, and a dictionary is reported once.
 */
#ifndef NETSYNC_IO_SPANS_PICKLE_H
#define NETSYNC_IO_SPANS_PICKLE_H

#include "io/io.h"
#include "io/unpack/unpack.h"

enum pickle_kind {
	PICKLE_OTHER, /* None, a number that is no integer, or a value that is not known */
	PICKLE_MARK,  /* the begin of the elements of a list or dictionary */
	PICKLE_NUMBER,
	PICKLE_TEXT,
	PICKLE_LIST, /* or tuple */
	PICKLE_DICT,
};

struct pickle_value {
	const char *text; /* of a text, or the first text in a list; otherwise "" */
	int64_t number;	  /* an integer or boolean, or the number of elements */
	uint64_t hash;
	enum pickle_kind kind;
	bool has_zero; /* a list, or a list in it, contains the integer 0 */
};

/* Called with the keys and values of a dictionary, in turn: @num in all. Return 0 or -ENOMEM. */
typedef int (*pickle_dict_func)(void *data, const struct pickle_value *pairs, size_t num);

struct pickle {
	struct unpacked file;
	uint8_t *buffer;
	size_t buffer_at, buffer_size;
	uint64_t base; /* position of the buffer in the file (bytes, decompressed) */
	struct pickle_value *stack, *memo;
	size_t num, room, num_memo, memo_room;
	struct pickle_texts *texts;
	size_t text_size; /* of all texts */
	pickle_dict_func dict;
	void *data;
	bool is_refused;   /* the pickle does something else than the dumps that are known */
	char problem[192]; /* why the rest cannot be read; a clause */
};

int pickle_open(struct pickle *pickle, struct netsync_io *io, const char *path);
/*
 * Read the file, and report each dictionary when it is complete. Return 0; -EILSEQ with a
 * description in pickle->problem; or another negative errno value.
 */
int pickle_read(struct pickle *pickle, pickle_dict_func dict, void *data);
void pickle_close(struct pickle *pickle);

/* Return the position in the file. */
static inline uint64_t pickle_get_position(const struct pickle *pickle)
{
	return pickle->base + pickle->buffer_at;
}

/* Values that are elements of a list, also for other formats that describe the same data. */
void pickle_set_number(struct pickle_value *value, int64_t number);
void pickle_set_text(struct pickle_value *value, const char *text);
void pickle_set_list(struct pickle_value *list);
void pickle_add_element(struct pickle_value *list, const struct pickle_value *element);

#endif
