// SPDX-License-Identifier: GPL-2.0-only
/*
 * Convert times, durations and sizes to text and back. Only integers are used, because 64 bits hold
 * times in ns exactly.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <netsync.h>

#include "now.h"
#include "value.h"

static const struct unit {
	const char *name;
	int64_t ns;
	int digits; /* number of decimals for a resolution of 1 ns */
} units[] = {
	{ "s", NS_PER_S, 9 },
	{ "ms", 1000000, 6 },
	{ "us", 1000, 3 },
	{ "ns", 1, 0 },
};

#define NUM_UNITS (sizeof(units) / sizeof(units[0]))

/*
 * Parse the number that begins at *@text. Add the number times @scale to *@value. Return false on
 * overflow, or if there are no digits.
 */
static bool add_digits(const char **text, int64_t scale, int64_t *value)
{
	int64_t number = 0;

	if (!isdigit((unsigned char)**text))
		return false;
	for (; isdigit((unsigned char)**text); (*text)++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, **text - '0', &number))
			return false;
	return !__builtin_mul_overflow(number, scale, &number) &&
	       !__builtin_add_overflow(*value, number, value);
}

/* Add decimals. The first @digits decimals give whole ns. All further decimals must be 0. */
static bool add_decimals(const char **text, int digits, int64_t *value)
{
	int64_t number = 0;

	if (!isdigit((unsigned char)**text))
		return false;
	for (; isdigit((unsigned char)**text); (*text)++) {
		if (digits-- > 0)
			number = number * 10 + (**text - '0');
		else if (**text != '0')
			return false;
	}
	while (digits-- > 0)
		number *= 10;
	return !__builtin_add_overflow(*value, number, value);
}

static const struct unit *find_unit(const char *text)
{
	text += strspn(text, "0123456789.");
	text += strspn(text, " ");
	if (!*text)
		return &units[NUM_UNITS - 1];
	for (size_t i = 0; i < NUM_UNITS; i++)
		if (!strcmp(text, units[i].name))
			return &units[i];
	return NULL;
}

bool parse_fraction(const char *text, int64_t *ns)
{
	*ns = 0;
	return !*text ||
	       (*text++ == '.' && strlen(text) <= 9 && add_decimals(&text, 9, ns) && !*text);
}

bool parse_duration(const char *text, int64_t *ns)
{
	const struct unit *unit = find_unit(text);

	*ns = 0;
	if (!unit || !add_digits(&text, unit->ns, ns))
		return false;
	if (*text != '.')
		return true;
	text++;
	return add_decimals(&text, unit->digits, ns) && *text != '.';
}

/* The units that format_bytes() prints. parse_bytes() also accepts them without the B. */
static const char *const byte_units[] = { "B", "kB", "MB", "GB", "TB" };

#define NUM_BYTE_UNITS (sizeof(byte_units) / sizeof(byte_units[0]))

bool parse_bytes(const char *text, uint64_t *bytes)
{
	const char *unit = text + strspn(text, "0123456789.");
	const char *rest = text;
	int64_t value = 0, scale = 1;
	bool ok = false;

	unit += strspn(unit, " ");
	for (unsigned int i = 0; i < NUM_BYTE_UNITS && !ok; i++) {
		ok = !*unit || !strcmp(unit, byte_units[i]) ||
		     (i && unit[0] == byte_units[i][0] && !unit[1]);
		if (!ok)
			scale *= 1000;
	}
	ok = ok && add_digits(&rest, scale, &value);
	if (ok && *rest == '.') {
		rest++;
		/* Use only the decimals that give whole bytes. */
		for (; scale >= 10 && isdigit((unsigned char)*rest); rest++) {
			scale /= 10;
			value += (*rest - '0') * scale;
		}
	}
	*bytes = value;
	return ok && value > 0 && rest + strspn(rest, " ") == unit;
}

bool parse_time(const char *text, int64_t *ns, bool *is_seconds)
{
	bool negative = *text == '-';
	int64_t value = 0;

	text += negative;
	*is_seconds = strchr(text, '.');
	if (!add_digits(&text, *is_seconds ? NS_PER_S : 1, &value))
		return false;
	if (*is_seconds) {
		if (*text++ != '.' || !add_decimals(&text, 9, &value))
			return false;
	}
	*ns = negative ? -value : value;
	return !*text;
}

char *format_time(char *buffer, int64_t ns, bool is_seconds)
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	if (is_seconds)
		snprintf(buffer, VALUE_SIZE, "%s%llu.%09llu", ns < 0 ? "-" : "",
			 (unsigned long long)(size / NS_PER_S),
			 (unsigned long long)(size % NS_PER_S));
	else
		snprintf(buffer, VALUE_SIZE, "%lld", (long long)ns);
	return buffer;
}

char *format_duration(char *buffer, int64_t ns)
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	const struct unit *unit = units;

	if (ns == NETSYNC_UNKNOWN) {
		snprintf(buffer, VALUE_SIZE, "unknown");
		return buffer;
	}
	while (unit->digits && size < (uint64_t)unit->ns)
		unit++;
	if (!unit->digits)
		snprintf(buffer, VALUE_SIZE, "%s%llu ns", ns < 0 ? "-" : "",
			 (unsigned long long)size);
	else
		snprintf(buffer, VALUE_SIZE, "%s%llu.%03llu %s", ns < 0 ? "-" : "",
			 (unsigned long long)(size / unit->ns),
			 (unsigned long long)(size % unit->ns / (unit->ns / 1000)), unit->name);
	return buffer;
}

/* Format a number with its unit. @names contains the units for 1, 1000, 1000^2 and so on. */
static char *format_scaled(char *buffer, uint64_t number, const char *const names[5])
{
	unsigned int unit = 0;
	uint64_t scale = 1;

	while (unit < 4 && number >= scale * 1000) {
		scale *= 1000;
		unit++;
	}
	if (unit)
		snprintf(buffer, VALUE_SIZE, "%llu.%llu %s", (unsigned long long)(number / scale),
			 (unsigned long long)(number % scale / (scale / 10)), names[unit]);
	else
		snprintf(buffer, VALUE_SIZE, "%llu %s", (unsigned long long)number, *names);
	return buffer;
}

char *format_bytes(char *buffer, uint64_t bytes)
{
	return format_scaled(buffer, bytes, byte_units);
}

char *format_events(char *buffer, uint64_t events)
{
	static const char *const names[] = { "events", "k events", "M events", "G events",
					     "T events" };

	return format_scaled(buffer, events, names);
}

char *format_date(char *buffer, int64_t ns, bool is_utc)
{
	const int64_t fraction = (ns % NS_PER_S + NS_PER_S) % NS_PER_S;
	const time_t seconds = ns / NS_PER_S - (ns % NS_PER_S < 0);
	struct tm tm;
	size_t length = 0;

	if (is_utc ? gmtime_r(&seconds, &tm) : localtime_r(&seconds, &tm))
		length = strftime(buffer, VALUE_SIZE, "%Y-%m-%d %H:%M:%S", &tm);
	if (is_utc)
		snprintf(buffer + length, VALUE_SIZE - length, " UTC");
	else
		snprintf(buffer + length, VALUE_SIZE - length, ".%09u", (unsigned int)fraction);
	return buffer;
}
