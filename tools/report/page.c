// SPDX-License-Identifier: GPL-2.0-only
/* The page that the Makefile assembles from the files in page/, without its data. */
#include "common/page.h"
#include "report.h"

__asm__(".pushsection .rodata\n"
	"page_text: .incbin \"" REPORT_PAGE "\"\n"
	".byte 0\n"
	".popsection\n");

extern const char page_text[];

bool write_report_page(FILE *out, const char *data, const struct critical_path *path)
{
	const char *rest = page_write_begin(out, page_text);
	bool ok = true;

	page_put_json(out, data);
	rest = page_write_begin(out, rest);
	if (path)
		ok = report_write_path(out, path);
	else
		fputs("null", out);
	fputs(rest, out);
	return ok && !fflush(out) && !ferror(out);
}
