// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stores clock readings from agents and from netsync-recorder, for clocks that daemons steer.
 * They are written to a file next to each trace or capture and, while LTTng sessions are
 * recorded, to a file that "netsync live" follows.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock-reading.h"
#include "common/complain.h"
#include "common/json-value.h"
#include "common/recording.h"
#include "capture.h"
#include "record.h"
#include "remote/protocol.h"

static const char *get_reported_hostname(const struct recorded_host *host)
{
	return member_get_text(host->remote->hello, "hostname");
}

/*
 * Can "netsync live" identify the host? Live sessions are identified by host names, so the name
 * must be a single word, and unique.
 */
static bool can_host_be_followed(const struct record_run *rec, const struct recorded_host *host)
{
	const char *name = get_reported_hostname(host);

	if (!*name || *name == '#')
		return false;
	for (const char *p = name; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f)
			return false;
	for (unsigned int i = 0; i < rec->all.num; i++)
		if (&rec->hosts[i] != host && rec->hosts[i].remote->hello &&
		    !strcmp(get_reported_hostname(&rec->hosts[i]), name))
			return false;
	return true;
}

/*
 * Open the file for viewers. Return NULL if no viewer needs the file or if an error occurred,
 * which is reported.
 */
static FILE *open_followed_file(struct record_run *rec)
{
	char *path;

	if (rec->live_clocks || !rec->live || !rec->made_dir || rec->lacks_live_clocks ||
	    asprintf(&path, "%s/" RECORDING_CLOCKS, rec->dir) < 0)
		return rec->live_clocks;
	rec->live_clocks = fopen(path, "wxe");
	rec->lacks_live_clocks = !rec->live_clocks;
	if (!rec->live_clocks)
		complain("%s: %s; netsync live cannot find out how clocks are steered.", path,
			 strerror(errno));
	free(path);
	return rec->live_clocks;
}

/* Write all readings at once, so that a reader does not have to wait for more. */
static void write_followed_readings(struct record_run *rec, const struct recorded_host *host,
				    const struct clock_reading *reading, size_t num)
{
	FILE *file = can_host_be_followed(rec, host) ? open_followed_file(rec) : NULL;

	for (size_t i = 0; i < num && file; i++)
		clock_reading_write(file, get_reported_hostname(host), &reading[i]);
	if (!file || !fflush(file))
		return;
	complain("%s/" RECORDING_CLOCKS
		 ": %s; netsync live can no longer find out how clocks are steered.",
		 rec->dir, strerror(errno));
	clocks_remove_followed(rec);
	rec->lacks_live_clocks = true;
}

void clocks_remove_followed(struct record_run *rec)
{
	char *path;

	if (!rec->live_clocks)
		return;
	fclose(rec->live_clocks);
	rec->live_clocks = NULL;
	if (asprintf(&path, "%s/" RECORDING_CLOCKS, rec->dir) < 0)
		return;
	unlink(path);
	free(path);
}

void clocks_keep_readings(struct record_run *rec, struct recorded_host *host,
			  struct json_object *readings)
{
	struct clock_reading taken[PROTOCOL_CLOCKS];
	size_t num = value_get_length(readings);

	/* Lines with more readings were rejected earlier. */
	if (num > PROTOCOL_CLOCKS)
		num = PROTOCOL_CLOCKS;
	if (!num ||
	    (!host->clocks.file && !spool_open(&host->clocks, sizeof(struct clock_reading))))
		return;
	for (size_t i = 0; i < num; i++) {
		struct json_object *one = value_get_element(readings, i);
		taken[i] = (struct clock_reading){
			.time_ns = member_get_int(one, "time"),
			.raw_ns = member_get_int(one, "raw"),
			.within_ns = member_get_int(one, "within"),
		};
		spool_put_record(&host->clocks, &taken[i]);
	}
	write_followed_readings(rec, host, taken, num);
}

static bool write_spooled_reading(void *data, const void *record)
{
	return clock_reading_write(data, CLOCK_READINGS_HOST, record);
}

void clocks_write_file(const char *dir, struct recorded_host *host)
{
	FILE *file;
	char *path;

	if (!host->clocks.file ||
	    asprintf(&path, "%s/%s/netsync-clocks", dir, host->remote->folder) < 0)
		return;
	/* The file cannot be created if the host has no trace, and therefore no directory. */
	file = fopen(path, "wxe");
	if (file) {
		fputs(CLOCK_READINGS_HEAD, file);
		spool_read_records(&host->clocks, write_spooled_reading, file);
		if (ferror(file) | fclose(file))
			complain_about_path(path);
	}
	spool_close(&host->clocks);
	free(path);
}

/* ---- captures ------------------------------------------------------------------ */

static char *make_path_of_clock_file(const struct record_run *rec, const struct recorded_host *host)
{
	char *path;

	if (asprintf(&path, "%s/%s/netsync-clocks-realtime", rec->dir, host->remote->folder) >= 0)
		return path;
	complain_no_memory();
	return NULL;
}

/*
 * Stop writing the clock readings of a host after an error. The packets are kept; only the
 * steering of the clock remains unknown.
 */
static void lose_clock_file(struct record_run *rec, struct recorded_host *host)
{
	char *path = make_path_of_clock_file(rec, host);

	if (path)
		complain("%s: %s; how the clock is steered from then on is unknown.", path,
			 strerror(errno));
	free(path);
	host->lacks_clock_file = true;
	rec->partial = true;
}

static void open_clock_file(struct record_run *rec, struct recorded_host *host)
{
	char *path = make_path_of_clock_file(rec, host);

	host->clock_file = path ? fopen(path, "wxe") : NULL;
	free(path);
	if (!host->clock_file) {
		lose_clock_file(rec, host);
		return;
	}
	clock_reading_write_head(host->clock_file, "CLOCK_REALTIME", NULL);
	if (host->has_first_reading)
		clock_reading_write(host->clock_file, CLOCK_READINGS_HOST, &host->first_reading);
}

/* Parse a number, and move *@text after it. Return false if there is no number. */
static bool parse_line_number(const char **text, int64_t *number)
{
	const char *begin = *text;
	char *end;

	if (*begin != ' ' || (!isdigit((unsigned char)begin[1]) && begin[1] != '-'))
		return false;
	errno = 0;
	*number = strtoll(begin + 1, &end, 10);
	*text = end;
	return !errno && end > begin + 1;
}

static bool parse_clock_line(const char *line, struct clock_reading *reading)
{
	*reading = (struct clock_reading){ .was_set = false };
	if (strncmp(line, CLOCK_READINGS_WORD, strlen(CLOCK_READINGS_WORD)))
		return false;
	line += strlen(CLOCK_READINGS_WORD);
	if (!parse_line_number(&line, &reading->time_ns) ||
	    !parse_line_number(&line, &reading->raw_ns) ||
	    !parse_line_number(&line, &reading->within_ns))
		return false;
	reading->was_set = !strcmp(line, " 0 1");
	return !*line || reading->was_set;
}

bool clocks_handle_line(struct record_run *rec, struct recorded_host *host, const char *line)
{
	struct clock_reading reading;

	if (!parse_clock_line(line, &reading))
		return false;
	/* Ignore readings that cannot be stored any more. */
	if (host->remote->lost || host->lacks_clock_file)
		return true;
	/* The last reading before the capture begins is earlier than all of its packets. */
	if (host->capture < 0) {
		host->first_reading = reading;
		host->has_first_reading = true;
		return true;
	}
	if (!host_count_data(rec, host, strlen(line))) {
		host_give_up(rec, host);
		return true;
	}
	if (!host->clock_file)
		open_clock_file(rec, host);
	/* Write each line immediately, so that readers do not have to wait. */
	if (host->clock_file &&
	    (!clock_reading_write(host->clock_file, CLOCK_READINGS_HOST, &reading) ||
	     fflush(host->clock_file)))
		lose_clock_file(rec, host);
	return true;
}

void clocks_close_file(struct record_run *rec, struct recorded_host *host)
{
	if (host->clock_file && fclose(host->clock_file) && !host->lacks_clock_file)
		lose_clock_file(rec, host);
	host->clock_file = NULL;
}

void clocks_discard_file(struct record_run *rec, struct recorded_host *host)
{
	char *path = host->clock_file ? make_path_of_clock_file(rec, host) : NULL;

	clocks_close_file(rec, host);
	if (path)
		unlink(path);
	free(path);
}
