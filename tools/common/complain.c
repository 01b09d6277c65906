// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print messages to stderr. Parts of a message can come from any source, so messages are made
 * printable.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../../libnetsync/util/utf8.h"
#include "complain.h"
#include "progress.h"

/*
 * Text from other machines and files is not trusted. Terminals interpret control
 * characters, including those that UTF-8 encodes in two bytes (C1). Some terminals also
 * interpret single bytes above 0x7f that are not UTF-8.
 */
void make_text_printable(char *text)
{
	for (size_t left = strlen(text), length; left; left -= length, text += length) {
		const unsigned char first = *text;

		length = utf8_length(text, left);
		if (length ? utf8_is_control(text, length) : first < 0xa0)
			memset(text, '?', length ? length : 1);
		length = length ? length : 1;
	}
}

const char *complainer = "netsync";

void complain(const char *format, ...)
{
	char *sentence = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&sentence, format, args) < 0)
		sentence = NULL;
	va_end(args);
	if (sentence)
		make_text_printable(sentence);
	progress_hide();
	fprintf(stderr, "%s: %s\n", complainer, sentence ? sentence : format);
	free(sentence);
}

bool complain_about_path(const char *path)
{
	complain("%s: %s.", path, strerror(errno));
	return false;
}

bool complain_no_memory(void)
{
	complain("There is not enough memory.");
	return false;
}
