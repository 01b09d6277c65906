// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attach and detach the sources of events that tracers enable and disable.
 *
 *	tracer -> reg(), unreg(): a bit of enabled -> work item -> attach_source(), detach()
 *
 * reg() and unreg() run with tracepoints_mutex held, and the locks that sources
 * need could deadlock there. The work item brings the sources in sync with the
 * bits.
 *
 * A tracer that waited for the module may call reg() before module init. A
 * tracer that is notified of module exit calls unreg() after it. Both calls
 * then only change the bit, and do not schedule the work item.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "events.h"

#define EVENT(name, source) EVENT_##name,
enum { NETSYNC_EVENTS(EVENT) NUM_EVENTS };
#undef EVENT

static const struct {
	const char *name;
	struct netsync_source *source;
} events[NUM_EVENTS] = {
#define EVENT(_name, _source) \
	[EVENT_##_name] = { .name = #_name, .source = &netsync_##_source },
	NETSYNC_EVENTS(EVENT)
#undef EVENT
};

/* Protects enabled and running. */
static DEFINE_SPINLOCK(enabled_lock);
static unsigned long enabled;	/* a bit for each event that a tracer has enabled */
static bool running;		/* whether the work item may be scheduled */

/* Protects the sources. */
static DEFINE_MUTEX(sources_lock);

static void warn_of_missing_event(const char *event, const struct netsync_source *source,
				  int err)
{
	if (err == -ENOENT)
		pr_warn("this kernel has no %s, so there are no events %s\n",
			source->missing, event);
	else
		pr_warn("no events %s: error %d\n", event, err);
}

static void attach_source(const char *event, struct netsync_source *source)
{
	int err;

	if (source->attached || source->failed)
		return;
	err = source->attach();
	if (err)
		warn_of_missing_event(event, source, err);
	source->attached = !err;
	/*
	 * Do not retry while events are enabled. All errors except -ENOENT are forgotten when no
	 * event is enabled.
	 */
	source->failed = err;
}

static void sync_sources(unsigned long mask)
{
	int i, j;

	mutex_lock(&sources_lock);
	for (i = 0; i < NUM_EVENTS; i++) {
		struct netsync_source *source = events[i].source;
		bool used = false;

		if (mask & BIT(i)) {
			attach_source(events[i].name, source);
			continue;
		}
		for (j = 0; j < NUM_EVENTS; j++)
			used |= events[j].source == source && (mask & BIT(j));
		if (used)
			continue;
		if (source->attached)
			source->detach();
		source->attached = false;
		source->failed = source->failed && source->missing;
	}
	mutex_unlock(&sources_lock);
}

static void sync_work_func(struct work_struct *work)
{
	sync_sources(READ_ONCE(enabled));
}

static DECLARE_WORK(sync_work, sync_work_func);

static void set_enabled(int event, bool yes)
{
	spin_lock(&enabled_lock);
	if (yes)
		WRITE_ONCE(enabled, enabled | BIT(event));
	else
		WRITE_ONCE(enabled, enabled & ~BIT(event));
	if (running)
		schedule_work(&sync_work);
	spin_unlock(&enabled_lock);
}

#define EVENT(name, source)			\
	int netsync_reg_##name(void)		\
	{					\
		set_enabled(EVENT_##name, true);	\
		return 0;			\
	}					\
						\
	void netsync_unreg_##name(void)		\
	{					\
		set_enabled(EVENT_##name, false);	\
	}
NETSYNC_EVENTS(EVENT)
#undef EVENT

int netsync_events_show(char *page)
{
	unsigned long mask = READ_ONCE(enabled);
	int i, len = 0;

	mutex_lock(&sources_lock);
	for (i = 0; i < NUM_EVENTS; i++)
		if ((mask & BIT(i)) && events[i].source->attached)
			len += scnprintf(page + len, PAGE_SIZE - 1 - len,
					 "%s%s", len ? "," : "", events[i].name);
	mutex_unlock(&sources_lock);
	page[len++] = '\n';
	page[len] = '\0';
	return len;
}

static void set_events_running(bool yes)
{
	spin_lock(&enabled_lock);
	running = yes;
	/* Tracers may have enabled events before this point. */
	if (yes)
		schedule_work(&sync_work);
	spin_unlock(&enabled_lock);
}

void netsync_events_init(void)
{
	set_events_running(true);
}

void netsync_events_exit(void)
{
	set_events_running(false);
	cancel_work_sync(&sync_work);
	sync_sources(0);
}
