// SPDX-License-Identifier: GPL-2.0-only
/* netsync doctor checks the clock of traces, and how it is steered. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "common/clock-reading.h"
#include "doctor.h"

#define CLOCK_SOURCES "/sys/devices/system/clocksource/clocksource0/"

/*
 * Is reading the clock source slow? Sources outside the processor cost about 1 us for each
 * event.
 */
static bool is_slow_clock_source(const char *source)
{
	static const char *const slow[] = {
		"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit",
	};

	for (size_t i = 0; i < sizeof(slow) / sizeof(slow[0]); i++)
		if (!strcmp(source, slow[i]))
			return true;
	return false;
}

void check_clock_source(struct diagnosis *diag)
{
	char current[64], available[256];

	if (!read_first_line(CLOCK_SOURCES "current_clocksource", current, sizeof(current))) {
		add_finding(diag, VERDICT_NOTE,
			    "Cannot read the clock source: no " CLOCK_SOURCES
			    "current_clocksource.");
		return;
	}
	read_first_line(CLOCK_SOURCES "available_clocksource", available, sizeof(available));
	if (!is_slow_clock_source(current)) {
		add_finding(diag, VERDICT_GOOD, "%s.", current);
		return;
	}
	add_finding(diag, VERDICT_NOTE, "%s: slow to read, so recording each event takes longer%s.",
		    current, strstr(current, "jiffies") ? ", and timestamps are coarse" : "");
	if (strstr(available, "tsc"))
		set_advice(diag, "echo tsc > " CLOCK_SOURCES "current_clocksource");
	else if (strstr(available, "kvm-clock"))
		set_advice(diag, "echo kvm-clock > " CLOCK_SOURCES "current_clocksource");
	else
		set_advice(
			diag,
			"To see why the kernel has no better clock source, run \"dmesg | grep -i -e tsc -e clocksource\".");
}

/* ---- time daemons ------------------------------------------------------- */

static const struct daemon {
	const char *name; /* as in /proc/PID/comm, which truncates long names */
	const char *full;
	const char *limit; /* description of its slew rate */
	const char *advice;
} daemons[] = {
	{ "chronyd", "chronyd", "at up to 83333 ppm",
	  "let the clock settle first (chronyc waitsync), or add \"maxslewrate 100\" to chrony.conf." },
	{ "ntpd", "ntpd", "at up to 500 ppm", "let the clock settle first (ntpq -p)." },
	{ "systemd-timesyn", "systemd-timesyncd", "at up to 500 ppm",
	  "let the clock settle first (timedatectl timesync-status)." },
	{ "ptp4l", "ptp4l", "as fast as the kernel allows",
	  "let the clock settle first (pmc -u \"GET CURRENT_DATA_SET\")." },
	{ "phc2sys", "phc2sys", "as fast as the kernel allows",
	  "let the clock settle first; the log of phc2sys reports how far off it is." },
};

#define NUM_DAEMONS (sizeof(daemons) / sizeof(daemons[0]))
/* Daemons that use NTP, as a set of bits. */
#define NTP_DAEMONS 7

static const struct daemon *find_clock_daemon(const char *pid)
{
	char path[300], name[64];

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	if (!read_first_line(path, name, sizeof(name)))
		return NULL;
	for (size_t i = 0; i < NUM_DAEMONS; i++)
		if (!strcmp(name, daemons[i].name))
			return &daemons[i];
	return NULL;
}

/* Return the set of running daemons, with one bit for each. */
static unsigned int list_running_daemons(void)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	unsigned int running = 0;

	if (!proc)
		return 0;
	while ((entry = readdir(proc))) {
		const struct daemon *daemon = NULL;

		if (isdigit((unsigned char)*entry->d_name))
			daemon = find_clock_daemon(entry->d_name);
		if (daemon)
			running |= 1U << (daemon - daemons);
	}
	closedir(proc);
	return running;
}

/* Write "chronyd and ptp4l steer the clock" or "No time daemon steers the clock". */
static void describe_daemons(unsigned int running, char *text, size_t size)
{
	int num = __builtin_popcount(running), left = num;

	snprintf(text, size, "%s", num ? "" : "No time daemon");
	for (size_t i = 0; i < NUM_DAEMONS; i++) {
		if (!(running >> i & 1))
			continue;
		left--;
		strncat(text, daemons[i].full, size - strlen(text) - 1);
		strncat(text, left > 1 ? ", " : left ? " and " : "", size - strlen(text) - 1);
	}
	strncat(text, num > 1 ? " steer the clock" : " steers the clock", size - strlen(text) - 1);
}

/* Add advice for a clock that is slewed by a daemon, or by an unknown process. */
static void advise_slewing(struct diagnosis *diag, const struct daemon *daemon,
			   const char *without_daemon)
{
	set_advice(
		diag,
		"\"netsync record\" records the slewing, as does \"netsync clock-log\" for other tracers, and \"netsync sync\" corrects it. Otherwise, %s",
		daemon ? daemon->advice : without_daemon);
}

/* ---- measuring ---------------------------------------------------------- */

/*
 * Number of tries for each reading, of which the least disturbed one is used. Chosen to suffice
 * for virtual machines, too.
 */
#define TRIES 100

/*
 * Return the current rate of the clock relative to its oscillator, ppm. Set *@error to the error
 * of this rate, ppm.
 */
static double measure_clock_error_ppm(double *error)
{
	const struct timespec pause = { .tv_nsec = 200000000 };
	struct clock_reading first, last;
	double span;

	*error = INFINITY;
	if (!clock_read(CLOCK_MONOTONIC, TRIES, &first))
		return 0;
	nanosleep(&pause, NULL);
	if (!clock_read(CLOCK_MONOTONIC, TRIES, &last))
		return 0;
	span = last.raw_ns - first.raw_ns;
	*error = (first.within_ns + last.within_ns) / span * 1e6;
	return (last.time_ns - first.time_ns - span) / span * 1e6;
}

/* Return the rate correction that the kernel applies permanently, ppm. */
static double read_steady_correction_ppm(const struct timex *clock)
{
	const double ticks_s = sysconf(_SC_CLK_TCK);

	return clock->freq / 65536.0 + clock->tick * ticks_s - 1e6;
}

/*
 * Maximum rate of a clock relative to its oscillator that needs no advice, ppm. Two clocks with
 * this rate are within the limits of "netsync sync". Chosen.
 */
#define SMALL_PPM 100
/*
 * Maximum difference between the measured and the permanent rate of a clock that is not slewing,
 * ppm. Chosen.
 */
#define SLEW_PPM 3

void check_discipline(struct diagnosis *diag)
{
	const unsigned int running = list_running_daemons();
	const struct daemon *daemon = running ? &daemons[__builtin_ctz(running)] : NULL;
	struct timex clock = { .modes = 0 };
	double reported, measured, error;
	char who[160];

	describe_daemons(running, who, sizeof(who));
	if (adjtimex(&clock) < 0) {
		add_finding(diag, VERDICT_NOTE,
			    "%s; cannot determine how the kernel corrects the clock: %s.", who,
			    strerror(errno));
		return;
	}
	reported = read_steady_correction_ppm(&clock);
	measured = measure_clock_error_ppm(&error);
	if (fabs(measured - reported) > SLEW_PPM + error) {
		add_finding(
			diag, VERDICT_NOTE,
			"%s; the clock is slewing, which distorts timestamps: it runs at %+.1f ppm against its oscillator, and its steady correction is %+.1f ppm.",
			who, measured, reported);
		advise_slewing(
			diag, daemon,
			"find out what steers the clock: a time daemon elsewhere on this machine, or an agent of the hypervisor.");
	} else if (fabs(measured) > SMALL_PPM) {
		add_finding(
			diag, VERDICT_NOTE,
			"%s; the clock runs at %+.1f ppm against its oscillator, and may be slewing%s%s.",
			who, measured, daemon ? ", which this daemon does " : "",
			daemon ? daemon->limit : "");
		advise_slewing(
			diag, daemon,
			"use \"netsync sync --max-skew\" if clocks differ by more than 500 ppm.");
	} else if (daemon && clock.status & STA_UNSYNC) {
		add_finding(
			diag, VERDICT_NOTE,
			"%s, but the kernel reports the clock as not synchronized yet: it may start to slew, %s.",
			who, daemon->limit);
		advise_slewing(diag, daemon, "");
	} else {
		add_finding(
			diag, VERDICT_GOOD,
			"%s; the clock runs at %+.1f ppm against its oscillator, and is not slewing.",
			who, measured);
	}
	if (__builtin_popcount(running & NTP_DAEMONS) > 1) {
		add_finding(diag, VERDICT_NOTE,
			    "Several NTP daemons steer the clock, and work against each other.");
		set_advice(diag, "Stop all but one.");
	}
}
