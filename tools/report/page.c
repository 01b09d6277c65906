// SPDX-License-Identifier: GPL-2.0-only
/* The page that the Makefile put together of the files in page/, and the data in it. */
#include <string.h>

#include "report.h"

/* Where the data go. */
#define DATA_MARK "@data@"

__asm__(".pushsection .rodata\n"
	"page_text: .incbin \"" REPORT_PAGE "\"\n"
	".byte 0\n"
	".popsection\n");

extern const char page_text[];

bool write_page(FILE *out, const char *data)
{
	const char *mark = strstr(page_text, DATA_MARK);

	fwrite(page_text, 1, mark - page_text, out);
	/* A "<" in a name would be read as HTML; it occurs in strings only. */
	for (; *data; data++)
		if (*data == '<')
			fputs("\\u003c", out);
		else
			putc(*data, out);
	fputs(mark + strlen(DATA_MARK), out);
	return !fflush(out) && !ferror(out);
}
