// SPDX-License-Identifier: LGPL-2.1-or-later
/* Keep names of groups and operations: see span-name.h. */
#include <string.h>

#include "io/io.h"
#include "io/spans/span-name.h"

const struct name *span_name_keep(struct name_table *names, const char *text)
{
	static const char others[SPAN_NAME_SIZE + WORD_SLACK] = "others";
	char padded[SPAN_NAME_SIZE + WORD_SLACK] = "";
	const struct text_word word = { padded, strnlen(text, SPAN_NAME_SIZE - 1) };
	const struct name *name;

	for (size_t i = 0; i < word.len; i++)
		padded[i] = text[i] < ' ' || text[i] > '~' ? '?' : text[i];
	name = names_find(names, &word);
	if (!name && names->num >= SPAN_MAX_NAMES)
		return names_add(names, &(struct text_word){ others, strlen(others) });
	return name ? name : names_add(names, &word);
}
