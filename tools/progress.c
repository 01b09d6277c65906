// SPDX-License-Identifier: GPL-2.0-only
/* A progress bar. */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tool.h"

#define WIDTH 40
#define QUIET_NS 1000000000LL
#define REDRAW_NS 100000000LL

int64_t clock_ns(clockid_t clock)
{
	struct timespec now = { 0 };

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* The one that is on the terminal, or NULL. */
static struct progress *shown;

void progress_start(struct progress *progress)
{
	memset(progress, 0, sizeof(*progress));
	progress->started_ns = now_ns();
	progress->is_terminal = isatty(STDERR_FILENO);
}

void progress_show(struct progress *progress, uint64_t done, uint64_t total)
{
	static const char bar[] = "########################################";
	int64_t now;
	int full;

	if (!progress->is_terminal || !total)
		return;
	now = now_ns();
	if (now - progress->started_ns < QUIET_NS ||
	    now - progress->drawn_ns < REDRAW_NS)
		return;
	full = done * WIDTH / total;
	fprintf(stderr, "\rreading [%.*s%*s] %3llu %%", full, bar, WIDTH - full,
		"", (unsigned long long)(done * 100 / total));
	fflush(stderr);
	progress->drawn_ns = now;
	progress->drawn = true;
	shown = progress;
}

void progress_end(struct progress *progress)
{
	if (progress->drawn)
		fputs("\r\033[K", stderr);
	progress->drawn = false;
	shown = NULL;
}

void progress_hide(void)
{
	if (shown)
		progress_end(shown);
}
