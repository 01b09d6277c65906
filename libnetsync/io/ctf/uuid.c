// SPDX-License-Identifier: LGPL-2.1-or-later
/* Parse a UUID in text form (from CTF 1.8 metadata, or a CTF 2 UID). */
#include <ctype.h>
#include <string.h>

#include "io/ctf/uuid.h"

bool ctf_parse_uuid(uint8_t to[UUID_SIZE], const char *text)
{
	static const char digits[] = "0123456789abcdef";
	unsigned int num = 0;
	const char *digit;

	for (; text && *text && num < 2 * UUID_SIZE; text++) {
		if (*text == '-')
			continue;
		digit = strchr(digits, tolower((unsigned char)*text));
		if (!digit)
			return false;
		to[num / 2] = to[num / 2] << 4 | (digit - digits);
		num++;
	}
	return num == 2 * UUID_SIZE && !*text;
}
