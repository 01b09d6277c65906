// SPDX-License-Identifier: GPL-2.0-only
/* Display the progress of long work on stderr. The line has a bar or the elapsed time. */
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "now.h"
#include "progress.h"

#define WIDTH 40		  /* number of characters of the bar; chosen */
#define QUIET_NS NS_PER_S	  /* shorter work has no line; chosen */
#define REDRAW_NS (NS_PER_S / 10) /* interval between two drawings; chosen */
#define CLEAR_LINE "\r\033[K"

/* The line that is on the terminal, or NULL. */
static struct progress *volatile shown;

const char *volatile current_work;

void progress_start(struct progress *progress, const char *what)
{
	current_work = what;
	memset(progress, 0, sizeof(*progress));
	progress->what = what;
	progress->started_ns = now_ns();
	progress->is_terminal = isatty(STDERR_FILENO);
}

/* ---- work of unknown size ----------------------------------------------- */

/* Draw a line such as "estimating, 12 s". A signal handler may call this function. */
static void draw_waiting_time(struct progress *progress, int64_t now)
{
	int64_t seconds = (now - progress->started_ns) / NS_PER_S;
	char text[80], digits[24];
	size_t len = 0, num = 0;

	for (const char *c = CLEAR_LINE; *c; c++)
		text[len++] = *c;
	for (const char *c = progress->what; *c && len < sizeof(text) / 2; c++)
		text[len++] = *c;
	do {
		digits[num++] = '0' + seconds % 10;
		seconds /= 10;
	} while (seconds);
	text[len++] = ',';
	text[len++] = ' ';
	while (num)
		text[len++] = digits[--num];
	text[len++] = ' ';
	text[len++] = 's';
	if (write(STDERR_FILENO, text, len) < 0)
		return;
	progress->drawn_ns = now;
	progress->drawn = true;
	shown = progress;
}

static struct progress *volatile waiting;

static void redraw_at_alarm(int number)
{
	(void)number;
	if (waiting)
		draw_waiting_time(waiting, now_ns());
}

static void end_progress_waiting(struct progress *progress)
{
	const struct itimerval off = { 0 };

	if (waiting != progress)
		return;
	waiting = NULL;
	setitimer(ITIMER_REAL, &off, NULL);
	sigaction(SIGALRM, &progress->before, NULL);
}

void progress_wait(struct progress *progress)
{
	const struct sigaction action = {
		.sa_handler = redraw_at_alarm,
		.sa_flags = SA_RESTART,
	};
	const struct itimerval each_second = {
		.it_interval.tv_sec = 1,
		.it_value.tv_sec = 1,
	};

	if (!progress->is_terminal || waiting)
		return;
	sigaction(SIGALRM, &action, &progress->before);
	waiting = progress;
	setitimer(ITIMER_REAL, &each_second, NULL);
}

/* ---- work of known size ------------------------------------------------- */

static void draw_progress_bar(struct progress *progress, uint64_t done, uint64_t total)
{
	static const char bar[] = "########################################";
	const double part = done < total ? (double)done / total : 1;
	const int full = part * WIDTH;

	fprintf(stderr, "\r%s [%.*s%*s] %3d %%", progress->what, full, bar, WIDTH - full, "",
		(int)(part * 100));
	fflush(stderr);
}

void progress_show(struct progress *progress, uint64_t done, uint64_t total)
{
	int64_t now;

	if (!progress->is_terminal)
		return;
	now = now_ns();
	if (now - progress->started_ns < QUIET_NS || now - progress->drawn_ns < REDRAW_NS)
		return;
	if (!total) {
		draw_waiting_time(progress, now);
		return;
	}
	draw_progress_bar(progress, done, total);
	progress->drawn_ns = now;
	progress->drawn = true;
	shown = progress;
}

void progress_end(struct progress *progress)
{
	end_progress_waiting(progress);
	shown = NULL;
	current_work = NULL;
	if (progress->drawn)
		fputs(CLEAR_LINE, stderr);
	progress->drawn = false;
}

void progress_hide(void)
{
	struct progress *progress = shown;

	/* The next progress_show() or the timer draws the line again. */
	shown = NULL;
	if (progress && progress->drawn)
		fputs(CLEAR_LINE, stderr);
	if (progress)
		progress->drawn = false;
}
