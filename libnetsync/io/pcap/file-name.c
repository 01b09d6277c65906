// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Find the host name in the name of a capture file. Endings, and then dates and counters, are
 * removed from the end, token by token:
 *
 *	db_00001_20261127093000.pcapng.gz	dumpcap, gzip
 *	db-093000.pcap3				tcpdump -G 1 -C 1 -w db-%H%M%S.pcap
 *	db.pcap-20261127.1			logrotate
 *	|  |full
 *	|dated
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/pcap/file-name.h"

/* Characters that separate the tokens of a name, such as 2026-11-27T09:30:00.5+0100. */
#define SEPARATORS "-_.:+@ "

/*
 * Minimum number of digits of a date, and of a time of day that follows a separator. %H%M%S has six
 * digits. Fewer digits may be a machine's number.
 */
#define MIN_DATE_DIGITS 8
#define MIN_TIME_DIGITS 6

/* Name, without ending, of the capture that "netsync record" writes into a host's directory. */
#define RECORDED_NAME "packets"

static bool is_name_separator(char c)
{
	return c && strchr(SEPARATORS, c);
}

/*
 * Return the index of the word in a list that equals the @len bytes at @text, regardless of case.
 * If there is none, return -1.
 */
static int find_listed_word(const char *const *words, const char *text, size_t len)
{
	for (int i = 0; words[i]; i++)
		if (strlen(words[i]) == len && !strncasecmp(words[i], text, len))
			return i;
	return -1;
}

/* ---- endings ------------------------------------------------------------- */

/* Return the length of the name without the endings of compression formats. */
static size_t strip_compression(const char *name, size_t len)
{
	static const char *const endings[] = { "gz",  "zst",  "zstd", "xz", "lz4",
					       "bz2", "lzma", "lzo",  "z",  NULL };
	size_t dot = len;

	while (dot && name[dot - 1] != '.')
		dot--;
	if (dot < 2 || find_listed_word(endings, name + dot, len - dot) < 0)
		return len;
	return strip_compression(name, dot - 1);
}

/* Find ".pcap" or a similar ending in a name of @len bytes. If there is none, return @len. */
static size_t find_capture_ending(const char *name, size_t len)
{
	static const char *const endings[] = { ".pcap", ".cap", ".dmp", ".dump" };

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		const char *ending = strcasestr(name, endings[i]);

		if (ending && ending > name && ending < name + len)
			return (size_t)(ending - name);
	}
	return len;
}

/* ---- tokens ---------------------------------------------------------------- */

/*
 * Return whether the text is a word that strftime() writes: a day, a month, AM or PM, or a time
 * zone.
 */
static bool is_date_word(const char *text, size_t len)
{
	static const char *const words[] = {
		"mon",	    "tue",	"wed",	     "thu",	 "fri",	   "sat",	"sun",
		"monday",   "tuesday",	"wednesday", "thursday", "friday", "saturday",	"sunday",
		"jan",	    "feb",	"mar",	     "apr",	 "may",	   "jun",	"jul",
		"aug",	    "sep",	"oct",	     "nov",	 "dec",	   "january",	"february",
		"march",    "april",	"june",	     "july",	 "august", "september", "october",
		"november", "december", "am",	     "pm",	 "t",	   "z",		"utc",
		"gmt",	    "cet",	"cest",	     NULL
	};

	return find_listed_word(words, text, len) >= 0;
}

static enum name_way get_word_direction(const char *text, size_t len)
{
	static const char *const in[] = { "in",	     "rx",   "inbound",	 "incoming",
					  "ingress", "recv", "received", NULL };
	static const char *const out[] = { "out",    "tx",   "outbound", "outgoing",
					   "egress", "send", "sent",	 NULL };

	return find_listed_word(in, text, len) >= 0  ? NAME_IN :
	       find_listed_word(out, text, len) >= 0 ? NAME_OUT :
						       NAME_BOTH;
}

static size_t skip_separators(const char *name, size_t len)
{
	while (len && is_name_separator(name[len - 1]))
		len--;
	return len;
}

/* Find the start of the digits, or of the letters, at the end of a name. */
static size_t find_token_begin(const char *name, size_t len, bool digits)
{
	while (len && (digits ? isdigit((unsigned char)name[len - 1]) :
				isalpha((unsigned char)name[len - 1])))
		len--;
	return len;
}

/*
 * Return whether the name ends with an IPv4 address, as in "web-192.168.10.21". More than four
 * numbers in a row, or numbers with leading zeros, are a date.
 */
static bool ends_in_address(const char *name, size_t len)
{
	const char *separator = NULL;
	size_t end = len;

	for (int group = 0; group < 4; group++) {
		const size_t begin = find_token_begin(name, end, true);

		if (begin == end || end - begin > 3 || atoi(name + begin) > 255 ||
		    (name[begin] == '0' && end - begin > 1))
			return false;
		if (group == 3)
			return begin < 2 || !is_name_separator(name[begin - 1]) ||
			       !isdigit((unsigned char)name[begin - 2]);
		if (!begin || !strchr(".-", name[begin - 1]) ||
		    (separator && *separator != name[begin - 1]))
			return false;
		separator = &name[begin - 1];
		end = begin - 1;
	}
	return false;
}

/*
 * Return the length of a name without the numbers and date words at its end. *@digits is the number
 * of digits that were removed. A single letter, such as the T in 20261127T093000, needs no
 * separator.
 */
static size_t strip_numbers(const char *name, size_t len, size_t *digits)
{
	size_t end = len;

	*digits = 0;
	while (end) {
		const size_t last = skip_separators(name, end);
		size_t begin = find_token_begin(name, last, true);

		if (ends_in_address(name, last))
			break;
		if (begin < last) {
			*digits += last - begin;
			end = begin;
			continue;
		}
		begin = find_token_begin(name, last, false);
		if (begin == last || !begin || !is_date_word(name + begin, last - begin) ||
		    !(is_name_separator(name[begin - 1]) ||
		      isdigit((unsigned char)name[begin - 1])))
			break;
		end = begin;
	}
	return skip_separators(name, end);
}

/*
 * Return the length of a name without the date or time at its end. If the name is only a date or
 * time, return 0.
 */
static size_t strip_date(const char *name, size_t len)
{
	size_t digits;
	const size_t shorter = strip_numbers(name, len, &digits);

	return digits >= MIN_DATE_DIGITS || (digits >= MIN_TIME_DIGITS &&
					     (!shorter || is_name_separator(name[shorter]))) ?
		       shorter :
		       len;
}

/* Return the length of a name without a direction word at its end. Set *@way to the direction. */
static size_t strip_direction(const char *name, size_t len, enum name_way *way)
{
	const size_t begin = find_token_begin(name, len, false);

	*way = NAME_BOTH;
	if (begin < 2 || !is_name_separator(name[begin - 1]))
		return len;
	*way = get_word_direction(name + begin, len - begin);
	return *way == NAME_BOTH ? len : skip_separators(name, begin);
}

/* ---- the whole name --------------------------------------------------------- */

/* Return the name of a file's directory. */
static char *copy_folder_name(const char *real_path)
{
	const char *slash = strrchr(real_path, '/');
	const char *from = slash;

	while (from && from > real_path && from[-1] != '/')
		from--;
	return from && from < slash ? strndup(from, (size_t)(slash - from)) : strdup("capture");
}

/* Use the directory's name as the name of the host. A directory's name contains no date and no
 * direction. */
static int name_by_folder(struct file_name *name, const char *real_path)
{
	name->way = NAME_BOTH;
	name->full = copy_folder_name(real_path);
	name->dated = copy_folder_name(real_path);
	name->base = copy_folder_name(real_path);
	name->stem = copy_folder_name(real_path);
	return name->full && name->dated && name->base && name->stem ? 0 : -ENOMEM;
}

int file_name_parse(struct file_name *name, const char *path, const char *real_path)
{
	const char *slash = strrchr(path, '/');
	const char *file = slash ? slash + 1 : path;
	const size_t len = strip_compression(file, strlen(file));
	/* Only a counter or a date can follow the ending. */
	const size_t full = find_capture_ending(file, len);
	const size_t dated = strip_date(file, full);
	size_t base_len, stem_len, digits;

	if (full == strlen(RECORDED_NAME) && !strncmp(file, RECORDED_NAME, full))
		return name_by_folder(name, real_path);
	name->full = strndup(file, full);
	/* The name is only a date or time, as in %F_%T.pcap. */
	name->dated = dated ? strndup(file, dated) : copy_folder_name(real_path);
	if (!name->full || !name->dated)
		return -ENOMEM;
	base_len = strip_direction(name->dated, strlen(name->dated), &name->way);
	stem_len = strip_numbers(name->dated, base_len, &digits);
	name->base = strndup(name->dated, base_len);
	name->stem = strndup(name->dated, stem_len ? stem_len : base_len);
	return name->base && name->stem ? 0 : -ENOMEM;
}

void file_name_release(struct file_name *name)
{
	free(name->full);
	free(name->dated);
	free(name->base);
	free(name->stem);
}
