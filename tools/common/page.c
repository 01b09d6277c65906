// SPDX-License-Identifier: GPL-2.0-only
/* The HTML of a page and its data -> a single file without dependencies. */
#include <string.h>

#include "page.h"

/* Marks the place of the data in a page. */
#define DATA_MARK "@data@"

const char *page_begin(FILE *out, const char *page)
{
	const char *mark = strstr(page, DATA_MARK);

	fwrite(page, 1, mark - page, out);
	return mark + strlen(DATA_MARK);
}

void page_put(FILE *out, const char *json)
{
	/* A "<" in a name would be read as HTML; it occurs in strings only. */
	for (; *json; json++)
		if (*json == '<')
			fputs("\\u003c", out);
		else
			putc(*json, out);
}
