// SPDX-License-Identifier: GPL-2.0-only
/*
 * Convert times in text to ns, and back to text in the original format with the original number of
 * decimals.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/now.h"
#include "common/value.h"
#include "stamp.h"

/*
 * Formats of dates. The first one that matches is used. Letters stand for elements:
 *
 *	Y m d b a	year, month and day of two digits, names of month and day of the week
 *	e		a day of one digit or two, and the padding before one digit
 *	H M S		hour, minute, second
 *	f		decimals of the second, or nothing
 *	z		a zone, or nothing: "Z", "+0100", " +01:00", " UTC"
 *	n		the name of a zone after a blank
 *	T		the separator between date and time of day
 *	-		the same separator each time
 *	$		the end; only a bracket may follow
 *
 * All other characters stand for themselves.
 */
static const char *const formats[] = {
	"Y-m-dTH:M:Sfz",		   /* RFC 3339, ISO 8601, journalctl -o short-iso, nginx */
	"a Y-m-dTH:M:Sfz",		   /* journalctl -o short-full */
	"a b e H:M:Sf Y",		   /* ctime(3), dmesg -T */
	"a b e H:M:Sfn Y",		   /* date(1) */
	"a, e b Y H:M:Sfz",		   /* RFC 5322 */
	"e/b/Y:H:M:Sfz",		   /* logs of web servers */
	"b e Y H:M:Sfz",		   /* Cisco */
	"b e H:M:Sf Y$",    "b e H:M:Sfz", /* RFC 3164, journalctl */
};

#define NUM_FORMATS (sizeof(formats) / sizeof(formats[0]))

static const char months[][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
				  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
static const char days[][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };

/*
 * Short names of zones other than UTC. Any other word, such as ERROR, is not taken for a zone. Some
 * names stand for several zones.
 */
static const char *const short_names[] = {
	"ACDT", "ACST", "ADT", "AEDT", "AEST", "AKDT", "AKST", "AST",  "AWST", "BRT",  "BST",
	"CDT",	"CEST", "CET", "CST",  "EAT",  "EDT",  "EEST", "EET",  "EST",  "HKT",  "HST",
	"IDT",	"IST",	"JST", "KST",  "MDT",  "MSK",  "MST",  "NDT",  "NST",  "NZDT", "NZST",
	"PDT",	"PHT",	"PKT", "PST",  "SAST", "SGT",  "WAT",  "WEST", "WET",  "WIB",
};

static const char other_zone[] =
	"the abbreviation stands for several time zones; write the offset, such as +0100, or give --zone, such as --zone Europe/Berlin";

struct text {
	const char *at, *end;
};

/* ---- elements ------------------------------------------------------------- */

static bool is_digit_at(const struct text *text, size_t offset)
{
	return (size_t)(text->end - text->at) > offset && isdigit((unsigned char)text->at[offset]);
}

static bool parse_char_of(struct text *text, const char *of, char *which)
{
	if (text->at == text->end || !*text->at || !strchr(of, *text->at))
		return false;
	*which = *text->at++;
	return true;
}

/* Read a number of exactly @digits digits. */
static bool parse_digits_of(struct text *text, int digits, int *number)
{
	*number = 0;
	for (; digits; digits--, text->at++) {
		if (!is_digit_at(text, 0))
			return false;
		*number = *number * 10 + (*text->at - '0');
	}
	return true;
}

/* Read a name from a list of names with three letters. */
static bool parse_short_name(struct text *text, const char (*names)[4], int num, int *which)
{
	for (*which = 0; *which < num; ++*which)
		if (text->end - text->at >= 3 && !memcmp(text->at, names[*which], 3)) {
			text->at += 3;
			return true;
		}
	return false;
}

/* Read a day of the month. A single digit may follow a blank, a zero or nothing. */
static bool parse_day_of_month(struct text *text, struct stamp *stamp, int *day)
{
	char pad = 0;

	if (is_digit_at(text, 0) && is_digit_at(text, 1) && *text->at != '0')
		return parse_digits_of(text, 2, day);
	parse_char_of(text, " 0", &pad);
	stamp->pad = pad;
	return parse_digits_of(text, 1, day);
}

/* Read the decimals of a second, at most nine, if there are any. */
static bool parse_second_decimals(struct text *text, struct stamp *stamp, int64_t *ns)
{
	*ns = 0;
	/* If no digit follows a separator, as in "13:04:05, ", the separator is punctuation. */
	if (!is_digit_at(text, 1) || !parse_char_of(text, ".,", &stamp->point))
		return true;
	for (; is_digit_at(text, 0); stamp->decimals++, text->at++)
		*ns = stamp->decimals < 9 ? *ns * 10 + (*text->at - '0') : *ns;
	for (int i = stamp->decimals; i < 9; i++)
		*ns *= 10;
	return stamp->decimals <= 9;
}

static size_t measure_zone_word(const struct text *text)
{
	size_t len = 0;

	while (len < (size_t)(text->end - text->at) &&
	       (isalnum((unsigned char)text->at[len]) || text->at[len] == '_'))
		len++;
	return len;
}

static void keep_zone_text(struct stamp *stamp, const char *begin, size_t len)
{
	stamp->has_zone = true;
	snprintf(stamp->zone, sizeof(stamp->zone), "%.*s", (int)len, begin);
}

/* Read the name of a zone, such as "UTC" or "CET". */
static bool parse_zone_name(struct text *text, struct stamp *stamp)
{
	const size_t len = measure_zone_word(text);

	stamp->is_local = false;
	if ((len == 1 && (*text->at == 'Z' || *text->at == 'z')) ||
	    (len == 3 && (!memcmp(text->at, "UTC", 3) || !memcmp(text->at, "GMT", 3)))) {
		keep_zone_text(stamp, text->at, len);
		text->at += len;
		return true;
	}
	for (size_t i = 0; i < sizeof(short_names) / sizeof(short_names[0]); i++) {
		if (strlen(short_names[i]) != len || memcmp(text->at, short_names[i], len))
			continue;
		keep_zone_text(stamp, text->at, len);
		text->at += len;
		stamp->is_local = true;
		return true;
	}
	stamp->is_local = true;
	return false;
}

/*
 * Read an offset such as "+01:00" or "+0100". Without a blank before it, "+01" is an offset, too.
 */
static bool parse_zone_offset(struct text *text, struct stamp *stamp)
{
	const char *begin = text->at;
	int hours, minutes = 0;
	char sign, colon;
	bool has_minutes;

	if (!parse_char_of(text, "+-", &sign) || !parse_digits_of(text, 2, &hours))
		return false;
	has_minutes = parse_char_of(text, ":", &colon) || is_digit_at(text, 0);
	if (has_minutes ? !parse_digits_of(text, 2, &minutes) : stamp->has_gap)
		return false;
	if (hours > 23 || minutes > 59)
		return false;
	stamp->zone_s = (sign == '-' ? -1 : 1) * (hours * 60 + minutes) * 60;
	stamp->is_local = false;
	keep_zone_text(stamp, begin, (size_t)(text->at - begin));
	return true;
}

/* Read a zone, if there is one. */
static void parse_zone(struct text *text, struct stamp *stamp)
{
	struct text behind = *text;
	char blank;

	stamp->has_gap = parse_char_of(&behind, " ", &blank);
	stamp->is_local = true;
	if (parse_zone_name(&behind, stamp)) {
		*text = behind;
		return;
	}
	if (parse_zone_offset(&behind, stamp))
		*text = behind;
	else
		stamp->has_gap = false;
}

/* ---- dates ----------------------------------------------------------------- */

struct date {
	struct tm tm;
	bool has_year;
	int week_day; /* day of the week, or a negative value if not given */
	int64_t ns;
};

static bool parse_date_separator(struct text *text, struct stamp *stamp)
{
	char separator;

	if (!parse_char_of(text, "-/", &separator) ||
	    (stamp->separator && separator != stamp->separator))
		return false;
	stamp->separator = separator;
	return true;
}

static bool parse_year(struct text *text, struct date *date)
{
	const bool ok = parse_digits_of(text, 4, &date->tm.tm_year);

	date->tm.tm_year -= 1900;
	date->has_year = true;
	return ok;
}

static bool parse_month(struct text *text, struct date *date)
{
	const bool ok = parse_digits_of(text, 2, &date->tm.tm_mon);

	date->tm.tm_mon--;
	return ok;
}

/* Read the element that a letter in a format stands for. */
static bool parse_format_letter(struct text *text, char letter, struct stamp *stamp,
				struct date *date)
{
	char which;

	switch (letter) {
	case 'Y':
		return parse_year(text, date);
	case 'm':
		return parse_month(text, date);
	case 'd':
		return parse_digits_of(text, 2, &date->tm.tm_mday);
	case 'e':
		return parse_day_of_month(text, stamp, &date->tm.tm_mday);
	case 'b':
		return parse_short_name(text, months, 12, &date->tm.tm_mon);
	case 'a':
		return parse_short_name(text, days, 7, &date->week_day);
	case 'H':
		return parse_digits_of(text, 2, &date->tm.tm_hour);
	case 'M':
		return parse_digits_of(text, 2, &date->tm.tm_min);
	case 'S':
		return parse_digits_of(text, 2, &date->tm.tm_sec);
	case 'f':
		return parse_second_decimals(text, stamp, &date->ns);
	case 'z':
		parse_zone(text, stamp);
		return true;
	case 'n':
		return parse_char_of(text, " ", &which) && parse_zone_name(text, stamp);
	case 'T':
		return parse_char_of(text, "Tt ", &stamp->between);
	case '-':
		return parse_date_separator(text, stamp);
	case '$':
		return text->at == text->end || *text->at == ']' || *text->at == ')';
	default:
		return parse_char_of(text, (char[]){ letter, '\0' }, &which);
	}
}

static bool parse_date(struct text *text, const char *format, struct stamp *stamp,
		       struct date *date)
{
	*stamp = (struct stamp){ .format = format, .point = '.', .pad = ' ', .is_local = true };
	*date = (struct date){ .week_day = -1 };
	if (*format == 'e' || !strncmp(format, "a,", 2))
		stamp->pad = '0';
	for (const char *c = format; *c; c++)
		if (!parse_format_letter(text, *c, stamp, date))
			return false;
	return true;
}

/* Find the number of seconds since 1970 for a date with a year. */
static enum zone_answer find_seconds(const struct stamp *stamp, const struct stamp_rules *rules,
				     const struct tm *tm, int64_t *seconds)
{
	if (stamp->is_local)
		return zone_find_seconds(&rules->zone, tm, stamp->has_zone ? stamp->zone : NULL,
					 seconds);
	if (!zone_compute_utc_seconds(tm, seconds))
		return ZONE_NO_DATE;
	*seconds -= stamp->zone_s;
	return ZONE_FOUND;
}

/*
 * Number of years, in both directions, in which a date without a year is searched. The nearest leap
 * year is never farther away.
 */
#define YEARS_AROUND 8

static enum zone_answer find_nearest_year(const struct stamp *stamp,
					  const struct stamp_rules *rules, struct tm *tm,
					  int64_t *seconds)
{
	enum zone_answer best = ZONE_NO_DATE;
	const time_t near = rules->near_ns / NS_PER_S;
	struct tm given = *tm, base;

	if (!gmtime_r(&near, &base))
		return ZONE_NO_DATE;
	for (int year = base.tm_year - YEARS_AROUND; year <= base.tm_year + YEARS_AROUND; year++) {
		enum zone_answer answer;
		int64_t t;

		given.tm_year = year;
		answer = find_seconds(stamp, rules, &given, &t);
		if (answer == ZONE_NO_DATE ||
		    (best != ZONE_NO_DATE && llabs(t - near) >= llabs(*seconds - near)))
			continue;
		best = answer;
		*seconds = t;
		*tm = given;
	}
	return best;
}

static const char *explain_zone_answer(enum zone_answer answer)
{
	switch (answer) {
	case ZONE_NEVER:
		return "this time does not exist in its zone, where clocks are put forward; write the offset from UTC, such as +0100";
	case ZONE_TWICE:
		return "this time occurs twice in its zone, where clocks are put back; write the offset from UTC, such as +0100";
	default:
		return other_zone;
	}
}

static int compute_week_day(const struct tm *date)
{
	struct tm tm = *date;

	timegm(&tm);
	return tm.tm_wday;
}

static enum stamp_answer finish_date(struct stamp *stamp, const struct stamp_rules *rules,
				     struct date *date, const char **why)
{
	int64_t seconds = 0;
	const enum zone_answer answer = date->has_year ?
						find_seconds(stamp, rules, &date->tm, &seconds) :
						find_nearest_year(stamp, rules, &date->tm,
								  &seconds);

	if (answer == ZONE_NO_DATE)
		return STAMP_NONE;
	if (answer != ZONE_FOUND) {
		*why = explain_zone_answer(answer);
		return STAMP_REFUSED;
	}
	if (date->week_day >= 0 && date->week_day != compute_week_day(&date->tm)) {
		*why = "the date is another day of the week; remove the day of the week, or correct it";
		return STAMP_REFUSED;
	}
	return __builtin_mul_overflow(seconds, NS_PER_S, &stamp->time_ns) ||
			       __builtin_add_overflow(stamp->time_ns, date->ns, &stamp->time_ns) ?
		       STAMP_NONE :
		       STAMP_FOUND;
}

/* ---- numbers ---------------------------------------------------------------- */

static bool parse_time_number(struct stamp *stamp, struct text *text)
{
	char number[VALUE_SIZE];
	const char *begin = text->at, *point;
	bool is_seconds;
	char sign;

	*stamp = (struct stamp){ .point = '.' };
	parse_char_of(text, "-", &sign);
	while (text->at < text->end && (isdigit((unsigned char)*text->at) || *text->at == '.'))
		text->at++;
	/* If no digit follows a point, as in "17.", the point ends a sentence. */
	if (text->at > begin && text->at[-1] == '.')
		text->at--;
	if ((size_t)(text->at - begin) >= sizeof(number))
		return false;
	snprintf(number, sizeof(number), "%.*s", (int)(text->at - begin), begin);
	point = strchr(number, '.');
	stamp->decimals = point ? (int)strlen(point + 1) : -1;
	return stamp->decimals <= 9 && parse_time(number, &stamp->time_ns, &is_seconds);
}

/* ---- texts that are rejected ------------------------------------------------ */

/* Skip at most @most digits. Return how many were skipped. */
static int skip_digits(struct text *text, int most)
{
	int num = 0;

	for (; num < most && is_digit_at(text, 0); num++)
		text->at++;
	return num;
}

/* Return whether the text begins with a time of day, such as "9:30" or "09:30:00". */
static bool is_time_of_day(struct text text)
{
	char colon;

	return skip_digits(&text, 2) && parse_char_of(&text, ":", &colon) &&
	       skip_digits(&text, 3) == 2;
}

/*
 * Return whether the text begins with a date whose order of day and month is ambiguous, such as
 * "11/27/2026" or "27.11.26 13:04".
 */
static bool is_ambiguous_date(struct text text)
{
	char separator, again;
	int year;

	if (!skip_digits(&text, 2) || !parse_char_of(&text, "/.-", &separator) ||
	    !skip_digits(&text, 2) || !parse_char_of(&text, "/.-", &again) || separator != again)
		return false;
	year = skip_digits(&text, 5);
	if (year != 2 && year != 4)
		return false;
	if (!parse_char_of(&text, " ,T:", &again))
		return year == 4 && text.at == text.end;
	parse_char_of(&text, " ", &again);
	return is_time_of_day(text);
}

/* Return whether " AM" or " PM" follows a time. */
static bool has_half_of_day(struct text text)
{
	char letter;

	parse_char_of(&text, " ", &letter);
	return parse_char_of(&text, "AaPp", &letter) && parse_char_of(&text, "Mm", &letter) &&
	       !measure_zone_word(&text);
}

/* Return whether an invalid offset follows a time, such as " +1:00" or " -330". */
static bool has_invalid_offset(struct text text)
{
	char which;
	int num;

	if (!parse_char_of(&text, " ", &which) || !parse_char_of(&text, "+-", &which))
		return false;
	num = skip_digits(&text, 5);
	return num >= 3 || (num && parse_char_of(&text, ":", &which));
}

/* ---- both directions --------------------------------------------------------- */

/* Return whether the time ends here. A longer word, such as "5th", is not a time. */
static bool is_at_stamp_end(const struct text *text)
{
	if (text->at == text->end)
		return true;
	if (*text->at == ':')
		return text->at + 1 == text->end || !isdigit((unsigned char)text->at[1]);
	return !isalnum((unsigned char)*text->at) && !strchr("_-+/", *text->at);
}

static const char day_first[] = "day and month are ambiguous; write the date as 2026-11-27 13:04:05";
static const char no_date[] = "a time of day needs a date; write both, as in 2026-11-27 13:04:05";
static const char odd_offset[] =
	"the offset after the time is invalid; write it with four digits, such as +0100";
static const char half_day[] = "AM and PM are not supported; write hours from 00 to 23";

enum stamp_answer stamp_read(struct stamp *stamp, const struct stamp_rules *rules, const char *text,
			     size_t size, const char **why)
{
	const struct text whole = { text, text + size };
	struct text rest;
	struct date date;

	for (size_t i = 0; i < NUM_FORMATS; i++) {
		rest = whole;
		if (!parse_date(&rest, formats[i], stamp, &date) || !is_at_stamp_end(&rest))
			continue;
		*why = has_half_of_day(rest) ? half_day : odd_offset;
		if (has_half_of_day(rest) || (!stamp->has_zone && has_invalid_offset(rest)))
			return STAMP_REFUSED;
		stamp->length = rest.at - text;
		return finish_date(stamp, rules, &date, why);
	}
	*why = is_ambiguous_date(whole) ? day_first : no_date;
	if (is_ambiguous_date(whole) || is_time_of_day(whole))
		return STAMP_REFUSED;
	rest = whole;
	if (!parse_time_number(stamp, &rest) || !is_at_stamp_end(&rest))
		return STAMP_NONE;
	stamp->length = rest.at - text;
	return STAMP_FOUND;
}

/* Round a time to the nearest multiple of its last decimal. Return false on overflow. */
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

static void put_stamp_zone(FILE *out, const struct stamp *stamp, const struct tm *tm)
{
	if (stamp->has_zone)
		fprintf(out, "%s%s", stamp->has_gap ? " " : "",
			stamp->is_local ? tm->tm_zone : stamp->zone);
}

static void put_stamp_day(FILE *out, const struct stamp *stamp, int day)
{
	if (day < 10 && stamp->pad)
		fputc(stamp->pad, out);
	fprintf(out, "%d", day);
}

static void put_format_letter(FILE *out, char letter, const struct stamp *stamp,
			      const struct tm *tm, const char *decimals)
{
	switch (letter) {
	case 'Y':
		fprintf(out, "%04d", tm->tm_year + 1900);
		break;
	case 'm':
		fprintf(out, "%02d", tm->tm_mon + 1);
		break;
	case 'd':
		fprintf(out, "%02d", tm->tm_mday);
		break;
	case 'e':
		put_stamp_day(out, stamp, tm->tm_mday);
		break;
	case 'b':
		fputs(months[tm->tm_mon], out);
		break;
	case 'a':
		fputs(days[tm->tm_wday], out);
		break;
	case 'H':
		fprintf(out, "%02d", tm->tm_hour);
		break;
	case 'M':
		fprintf(out, "%02d", tm->tm_min);
		break;
	case 'S':
		fprintf(out, "%02d", tm->tm_sec);
		break;
	case 'f':
		fprintf(out, "%.*s%.*s", stamp->decimals > 0, &stamp->point, stamp->decimals,
			decimals);
		break;
	case 'n':
		fputc(' ', out);
		put_stamp_zone(out, stamp, tm);
		break;
	case 'z':
		put_stamp_zone(out, stamp, tm);
		break;
	case 'T':
		fputc(stamp->between, out);
		break;
	case '-':
		fputc(stamp->separator, out);
		break;
	case '$':
		break;
	default:
		fputc(letter, out);
	}
}

bool stamp_write(char to[STAMP_SIZE], const struct stamp *stamp, const struct stamp_rules *rules,
		 int64_t time_ns)
{
	const struct zone named = { .kind = ZONE_OFFSET, .east_s = stamp->zone_s };
	char decimals[VALUE_SIZE];
	int64_t rest;
	struct tm tm;
	FILE *out;

	if (!stamp->format && stamp->decimals < 0) {
		snprintf(to, STAMP_SIZE, "%lld", (long long)time_ns);
		return true;
	}
	if (!round_time(&time_ns, stamp->decimals))
		return false;
	if (!stamp->format) {
		format_time(to, time_ns, true);
		to[strcspn(to, ".") + 1 + stamp->decimals] = '\0';
		return true;
	}
	rest = (time_ns % NS_PER_S + NS_PER_S) % NS_PER_S;
	snprintf(decimals, sizeof(decimals), "%09lld", (long long)rest);
	if (!zone_compute_date(stamp->is_local ? &rules->zone : &named, (time_ns - rest) / NS_PER_S,
			       &tm) ||
	    tm.tm_year < -1900 || tm.tm_year > 9999 - 1900)
		return false;
	out = fmemopen(to, STAMP_SIZE, "w");
	for (const char *c = stamp->format; *c && out; c++)
		put_format_letter(out, *c, stamp, &tm, decimals);
	return out && !fclose(out);
}
