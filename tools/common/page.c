// SPDX-License-Identifier: GPL-2.0-only
/* Write the HTML of a page and its data as a single file that depends on no other file. */
#include <string.h>

#include "page.h"

/* Text in a page's HTML that the page's data replace. */
#define DATA_MARK "@data@"

const char *page_write_begin(FILE *out, const char *page)
{
	const char *mark = strstr(page, DATA_MARK);

	fwrite(page, 1, mark - page, out);
	return mark + strlen(DATA_MARK);
}

void page_put_json(FILE *out, const char *json)
{
	/* A browser would parse "<" as HTML. In JSON, this character occurs only in strings. */
	for (; *json; json++)
		if (*json == '<')
			fputs("\\u003c", out);
		else
			putc(*json, out);
}
