// SPDX-License-Identifier: LGPL-2.1-or-later
/* Decimal text -> integer ns: see decimal.h. */
#include <ctype.h>

#include "io/spans/decimal.h"

/* Append a digit to a number. Return false if the number exceeds the range. */
static bool append_digit(int64_t *number, int digit)
{
	return !__builtin_mul_overflow(*number, 10, number) &&
	       !__builtin_add_overflow(*number, digit, number);
}

bool decimal_parse_time(const char *text, int digits, struct decimal_time *time)
{
	*time = (struct decimal_time){ 0, 1 };
	if (!isdigit((unsigned char)*text))
		return false;
	for (; isdigit((unsigned char)*text); text++)
		if (!append_digit(&time->ns, *text - '0'))
			return false;
	text += *text == '.';
	for (; isdigit((unsigned char)*text) && digits; text++, digits--)
		if (!append_digit(&time->ns, *text - '0'))
			return false;
	if (!digits && !*text)
		time->error_ns = 0;
	for (; digits; digits--) {
		time->error_ns *= 10;
		if (!append_digit(&time->ns, 0))
			return false;
	}
	while (isdigit((unsigned char)*text))
		text++;
	return !*text;
}
