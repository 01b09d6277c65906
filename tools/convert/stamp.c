// SPDX-License-Identifier: GPL-2.0-only
/* Times in text -> ns, and back in the format and with the decimals that they had. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/tool.h"
#include "stamp.h"

struct text {
	const char *at, *end;
};

static bool take_char(struct text *text, const char *of, char *which)
{
	if (text->at == text->end || !*text->at || !strchr(of, *text->at))
		return false;
	*which = *text->at++;
	return true;
}

/* A number of exactly @digits digits. */
static bool take_digits(struct text *text, int digits, int *number)
{
	*number = 0;
	for (; digits; digits--, text->at++) {
		if (text->at == text->end || !isdigit((unsigned char)*text->at))
			return false;
		*number = *number * 10 + (*text->at - '0');
	}
	return true;
}

/* Decimals of a second, at most nine. */
static bool take_decimals(struct text *text, int *decimals, int64_t *ns)
{
	*ns = 0;
	for (*decimals = 0; text->at < text->end && isdigit((unsigned char)*text->at);
	     ++*decimals, text->at++)
		*ns = *decimals < 9 ? *ns * 10 + (*text->at - '0') : *ns;
	for (int i = *decimals; i < 9; i++)
		*ns *= 10;
	return *decimals >= 1 && *decimals <= 9;
}

/* "Z", "+01:00", "+0100" or "+01" */
static bool take_zone(struct text *text, struct stamp *stamp)
{
	const char *begin = text->at;
	int hours, minutes = 0;
	char sign, colon;

	if (take_char(text, "Zz", &sign)) {
		stamp->zone_s = 0;
	} else if (take_char(text, "+-", &sign) && take_digits(text, 2, &hours)) {
		const bool has_colon = take_char(text, ":", &colon);
		const bool has_minutes = text->at < text->end &&
					 isdigit((unsigned char)*text->at);

		if ((has_colon || has_minutes) && !take_digits(text, 2, &minutes))
			return false;
		if (hours > 23 || minutes > 59)
			return false;
		stamp->zone_s = (sign == '-' ? -1 : 1) * (hours * 60 + minutes) * 60;
	} else {
		return false;
	}
	snprintf(stamp->zone, sizeof(stamp->zone), "%.*s", (int)(text->at - begin), begin);
	return true;
}

/* Days since 1970 must be those of this day: 30 February is none. */
static bool find_seconds(struct tm *tm, int64_t *seconds)
{
	const struct tm given = *tm;

	*seconds = timegm(tm);
	return tm->tm_mday == given.tm_mday && tm->tm_mon == given.tm_mon &&
	       given.tm_hour < 24 && given.tm_min < 60 && given.tm_sec <= 60;
}

static bool read_date(struct stamp *stamp, struct text *text)
{
	struct tm tm = { 0 };
	int64_t ns = 0, seconds;
	char ignored;

	if (!take_digits(text, 4, &tm.tm_year) || !take_char(text, "-", &ignored) ||
	    !take_digits(text, 2, &tm.tm_mon) || !take_char(text, "-", &ignored) ||
	    !take_digits(text, 2, &tm.tm_mday) || !take_char(text, "Tt ", &stamp->between) ||
	    !take_digits(text, 2, &tm.tm_hour) || !take_char(text, ":", &ignored) ||
	    !take_digits(text, 2, &tm.tm_min) || !take_char(text, ":", &ignored) ||
	    !take_digits(text, 2, &tm.tm_sec))
		return false;
	if (take_char(text, ".,", &stamp->point) &&
	    !take_decimals(text, &stamp->decimals, &ns))
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	if (!take_zone(text, stamp) || !find_seconds(&tm, &seconds))
		return false;
	seconds -= stamp->zone_s;
	stamp->is_date = true;
	return !__builtin_mul_overflow(seconds, NS_PER_S, &stamp->time_ns) &&
	       !__builtin_add_overflow(stamp->time_ns, ns, &stamp->time_ns);
}

static bool read_number(struct stamp *stamp, struct text *text)
{
	char number[VALUE_SIZE];
	const char *begin = text->at, *point;
	bool is_seconds;
	char sign;

	take_char(text, "-", &sign);
	while (text->at < text->end && (isdigit((unsigned char)*text->at) || *text->at == '.'))
		text->at++;
	/* "17.": the end of a sentence. */
	if (text->at > begin && text->at[-1] == '.')
		text->at--;
	if ((size_t)(text->at - begin) >= sizeof(number))
		return false;
	snprintf(number, sizeof(number), "%.*s", (int)(text->at - begin), begin);
	point = strchr(number, '.');
	stamp->decimals = point ? (int)strlen(point + 1) : -1;
	return stamp->decimals <= 9 && parse_time(number, &stamp->time_ns, &is_seconds);
}

bool stamp_read(struct stamp *stamp, const char *text, size_t size)
{
	struct text date = { text, text + size }, number = date;
	const struct text *found = &date;

	*stamp = (struct stamp){ .decimals = 0, .point = '.' };
	if (!read_date(stamp, &date)) {
		*stamp = (struct stamp){ .point = '.' };
		if (!read_number(stamp, &number))
			return false;
		found = &number;
	}
	stamp->length = found->at - text;
	/* A longer word, such as "5th", or a date without a zone, is no time. */
	if (found->at == found->end)
		return true;
	if (*found->at == ':')
		return found->at + 1 == found->end || !isdigit((unsigned char)found->at[1]);
	return !isalnum((unsigned char)*found->at) && !strchr("_-+/", *found->at);
}

/* To the nearest multiple of the last decimal. */
static bool round_time(int64_t *time_ns, int decimals)
{
	int64_t unit = 1, rest;

	for (int i = decimals; i < 9; i++)
		unit *= 10;
	rest = (*time_ns % unit + unit) % unit;
	if (__builtin_sub_overflow(*time_ns, rest, time_ns))
		return false;
	return rest < unit - rest || !__builtin_add_overflow(*time_ns, unit, time_ns);
}

bool stamp_write(char to[STAMP_SIZE], const struct stamp *stamp, int64_t time_ns)
{
	char decimals[VALUE_SIZE];
	time_t seconds;
	struct tm tm;
	int64_t rest;

	if (!stamp->is_date && stamp->decimals < 0) {
		snprintf(to, STAMP_SIZE, "%lld", (long long)time_ns);
		return true;
	}
	if (!round_time(&time_ns, stamp->decimals))
		return false;
	rest = (time_ns % NS_PER_S + NS_PER_S) % NS_PER_S;
	snprintf(decimals, sizeof(decimals), "%09lld", (long long)rest);
	if (!stamp->is_date) {
		format_time(to, time_ns, true);
		to[strcspn(to, ".") + 1 + stamp->decimals] = '\0';
		return true;
	}
	seconds = (time_ns - rest) / NS_PER_S + stamp->zone_s;
	if (!gmtime_r(&seconds, &tm) || tm.tm_year < -1900 || tm.tm_year > 9999 - 1900)
		return false;
	snprintf(to, STAMP_SIZE, "%04d-%02d-%02d%c%02d:%02d:%02d%.*s%.*s%s", tm.tm_year + 1900,
		 tm.tm_mon + 1, tm.tm_mday, stamp->between, tm.tm_hour, tm.tm_min, tm.tm_sec,
		 stamp->decimals > 0, &stamp->point, stamp->decimals, decimals, stamp->zone);
	return true;
}
