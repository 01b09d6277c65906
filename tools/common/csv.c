// SPDX-License-Identifier: GPL-2.0-only
/* Write values as CSV fields (RFC 4180). */
#include <stdbool.h>
#include <string.h>

#include "csv.h"

/*
 * Return whether a spreadsheet would evaluate a cell as a formula (OWASP, "CSV injection"): the
 * cell begins with = + - @ or their full-width forms, possibly after a blank, which spreadsheets
 * skip.
 */
static bool is_formula(const char *text)
{
	static const char *const begins[] = {
		"=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20",
	};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(text, begins[i], strlen(begins[i])))
			return true;
	return false;
}

void csv_put_text(FILE *out, const char *text)
{
	const bool formula = is_formula(text);

	if (!formula && !strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	putc('"', out);
	/* Every spreadsheet treats a cell that begins with an apostrophe as text. */
	if (formula)
		putc('\'', out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
}
