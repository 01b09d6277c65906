// SPDX-License-Identifier: GPL-2.0-only
/* Find zones by name, and convert dates in these zones to times. The C library does the work. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/complain.h"
#include "zone.h"

/* Directory in which the C library searches for zones if TZDIR is not set. */
#define ZONES "/usr/share/zoneinfo"

/*
 * Largest change of clocks for daylight saving time, in seconds. On Lord Howe Island, clocks change
 * by 30 min; elsewhere, by 1 or 2 h.
 */
#define MAX_JUMP 10800
/* All changes of clocks for daylight saving time are multiples of this, in seconds. */
#define JUMP_UNIT 900

/* Read two digits. Return a negative value if there are not two digits. */
static int read_two_digits(const char *at)
{
	return isdigit((unsigned char)at[0]) && isdigit((unsigned char)at[1]) ?
		       (at[0] - '0') * 10 + at[1] - '0' :
		       -1;
}

/* Read an offset from UTC, such as "+01:00", "+0100", "-05" or "Z". */
static bool read_zone_offset(const char *name, int *east_s)
{
	const bool is_west = *name == '-';
	int hours, minutes = 0;

	*east_s = 0;
	if (!strcmp(name, "Z") || !strcmp(name, "UTC") || !strcmp(name, "GMT"))
		return true;
	if (!is_west && *name != '+')
		return false;
	hours = read_two_digits(++name);
	name += hours < 0 ? 0 : 2;
	name += *name == ':';
	if (hours >= 0 && *name) {
		minutes = read_two_digits(name);
		name += minutes < 0 ? 0 : 2;
	}
	*east_s = (is_west ? -60 : 60) * (hours * 60 + minutes);
	return hours >= 0 && hours <= 23 && minutes >= 0 && minutes <= 59 && !*name;
}

/* Return whether the zone is known. The C library treats unknown zones as UTC without an error. */
static bool is_known_zone(const char *name)
{
	const char *folder = getenv("TZDIR"), *offset = name;
	char *path;
	bool is_file;

	name += *name == ':';
	if (asprintf(&path, "%s%s%s",
		     *name == '/' ? "" :
		     folder	  ? folder :
				    ZONES,
		     *name == '/' ? "" : "/", name) < 0)
		return false;
	is_file = *name && !strstr(name, "..") && !access(path, R_OK);
	free(path);
	/* In a rule such as "CET-1CEST,M3.5.0,M10.5.0/3", an offset follows the first name. */
	while (isalpha((unsigned char)*offset))
		offset++;
	return is_file || (offset >= name + 3 &&
			   (*offset == '-' || *offset == '+' || isdigit((unsigned char)*offset)));
}

bool zone_choose(struct zone *zone, const char *name)
{
	const char *variable = getenv("TZ");

	*zone = (struct zone){ .kind = ZONE_ASSUMED, .name = name, .is_chosen = name };
	if (!name && (!variable || !*variable))
		return true;
	if (!name)
		zone->name = variable;
	if (read_zone_offset(zone->name, &zone->east_s)) {
		zone->kind = ZONE_OFFSET;
		return true;
	}
	zone->kind = ZONE_TZ;
	if (!is_known_zone(zone->name)) {
		complain("%s %s: unknown time zone; give one such as Europe/Berlin or +01:00.",
			 name ? "--zone" : "TZ", zone->name);
		return false;
	}
	if (name && setenv("TZ", name, 1))
		return complain_no_memory();
	tzset();
	return true;
}

void zone_warn_of_assumption(const struct zone *zone)
{
	static bool is_said;

	if (is_said || zone->is_chosen)
		return;
	is_said = true;
	if (zone->kind == ZONE_ASSUMED)
		complain(
			"warning: dates without a zone are read as UTC; if this is wrong, give --zone, such as --zone Europe/Berlin or --zone +01:00.");
	else
		complain(
			"warning: dates without a zone are read in the time zone of TZ, %s; use --zone to specify another zone.",
			zone->name);
}

static bool is_same_date(const struct tm *a, const struct tm *b)
{
	return a->tm_year == b->tm_year && a->tm_mon == b->tm_mon && a->tm_mday == b->tm_mday &&
	       a->tm_hour == b->tm_hour && a->tm_min == b->tm_min;
}

bool zone_compute_utc_seconds(const struct tm *date, int64_t *seconds)
{
	struct tm tm = *date;

	*seconds = timegm(&tm);
	/*
	 * Converting a valid date to days since 1970 and back does not change the date. 30 February
	 * changes.
	 */
	return tm.tm_mday == date->tm_mday && tm.tm_mon == date->tm_mon && date->tm_hour < 24 &&
	       date->tm_min < 60 && date->tm_sec <= 60;
}

/* Find a date with the C library. Try all times close to the one that mktime() finds. */
static enum zone_answer find_local_seconds(const struct tm *date, const char *short_name,
					   int64_t *seconds)
{
	struct tm guess = *date, tm;
	unsigned int found = 0, others = 0;
	int64_t base;

	guess.tm_isdst = -1;
	guess.tm_sec = 0;
	base = mktime(&guess);
	for (int jump = -MAX_JUMP; jump <= MAX_JUMP; jump += JUMP_UNIT) {
		const time_t t = base + jump;

		if (!localtime_r(&t, &tm) || !is_same_date(&tm, date))
			continue;
		if (short_name && strcmp(short_name, tm.tm_zone)) {
			others++;
			continue;
		}
		found++;
		*seconds = t + date->tm_sec;
	}
	if (found)
		return found == 1 ? ZONE_FOUND : ZONE_TWICE;
	return others ? ZONE_OTHER_NAME : ZONE_NEVER;
}

enum zone_answer zone_find_seconds(const struct zone *zone, const struct tm *date,
				   const char *short_name, int64_t *seconds)
{
	if (!zone_compute_utc_seconds(date, seconds))
		return ZONE_NO_DATE;
	if (zone->kind == ZONE_TZ)
		return find_local_seconds(date, short_name, seconds);
	*seconds -= zone->east_s;
	return short_name ? ZONE_OTHER_NAME : ZONE_FOUND;
}

bool zone_compute_date(const struct zone *zone, int64_t seconds, struct tm *date)
{
	const time_t t = seconds + zone->east_s;

	return zone->kind == ZONE_TZ ? localtime_r(&t, date) : gmtime_r(&t, date);
}
