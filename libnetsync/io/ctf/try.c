// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Check whether libbabeltrace2 can open a CTF trace and finds a clock and time ranges in it.
 * Workers do this, because libbabeltrace2 2.0 calls abort() for some damaged streams and for
 * missing ranges.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/ctf/files.h"
#include "io/patience.h"

enum what {
	TRY_CLOCK,    /* the metadata is valid and has a clock */
	TRY_NO_CLOCK, /* the metadata is valid, but has no clock */
	TRY_OPENED,   /* the trace was opened */
	TRY_REASON,   /* why the trace could not be opened, as text */
	TRY_RANGES,   /* babeltrace.trace-infos was answered */
};

struct ctf_answer {
	uint32_t what; /* a bit for each enum value that was received */
	char *reason;
};

static int use_try_answer(void *data, const struct worker_head *head, const void *payload)
{
	struct ctf_answer *answer = data;

	if (head->what <= TRY_RANGES)
		answer->what |= 1U << head->what;
	if (head->what == TRY_REASON && !answer->reason)
		answer->reason = strdup(payload);
	return 0;
}

static bool has_try_answer(const struct ctf_answer *answer, enum what what)
{
	return answer->what & 1U << what;
}

/* Run a worker, and collect its answers. Return the same values as worker_run(). */
static int run_try_worker(struct ctf_files *files, void (*run)(const void *data),
			  struct ctf_answer *answer)
{
	const struct worker_task task = {
		.run = run,
		.limits = files->limits,
	};

	struct patience patience = io_make_trace_patience(files->trace);
	const struct worker_patience waits = io_make_worker_patience(&patience);
	int status;

	memset(answer, 0, sizeof(*answer));
	status = worker_run(&task, files, use_try_answer, answer, &waits);
	files->is_stuck |= status == -ETIMEDOUT;
	return status;
}

/* ---- opening ----------------------------------------------------------- */

static void try_opening(const void *data)
{
	const struct ctf_files *files = data;
	const bt_component_source *source;

	if (!ctf_make_graph(files, &source)) {
		worker_put_text(TRY_REASON, 0, ctf_take_error_reason());
		return;
	}
	worker_put(TRY_OPENED, 0, "", 0);
	worker_flush();
	if (bt_component_source_get_output_port_count(source) &&
	    ctf_query(files, "babeltrace.trace-infos", files->params))
		worker_put(TRY_RANGES, 0, "", 0);
}

char *ctf_try_opening(struct ctf_files *files)
{
	struct ctf_answer answer;
	int status = run_try_worker(files, try_opening, &answer);

	files->has_ranges = has_try_answer(&answer, TRY_RANGES);
	if (!has_try_answer(&answer, TRY_OPENED))
		return answer.reason ? answer.reason : strdup(ctf_explain_end(status));
	free(answer.reason);
	return NULL;
}

/* ---- metadata ---------------------------------------------------------- */

/*
 * Return whether the metadata has a clock, or has fields called timestamp, for which Babeltrace 2
 * creates a clock. Without both, version 2.0 calls abort().
 */
static bool has_metadata_clock(const char *text)
{
	return strstr(text, "clock") || strstr(text, "timestamp");
}

/*
 * Return whether the metadata is valid. Babeltrace 2.0 parses the text before it returns the text,
 * but 2.1 does not.
 */
static bool is_metadata_valid(const struct ctf_files *files)
{
	return !bt_version_get_minor() || ctf_query(files, "babeltrace.trace-infos", files->params);
}

static void check_metadata_clock(const void *data)
{
	const struct ctf_files *files = data;
	const char *text;
	const bt_value *info = ctf_read_metadata(files, &text);

	if (info && has_metadata_clock(text))
		worker_put(TRY_CLOCK, 0, "", 0);
	else if (info && is_metadata_valid(files))
		worker_put(TRY_NO_CLOCK, 0, "", 0);
}

int ctf_check_metadata(struct ctf_files *files)
{
	struct trace *trace = files->trace;
	struct ctf_answer answer;
	int status = run_try_worker(files, check_metadata_clock, &answer);

	if (files->is_stuck)
		return io_fail(trace->io, status, "%s: %s.", trace->path, ctf_explain_end(status));
	if (status < 0)
		return io_fail(trace->io, status,
			       "%s: cannot start a process to read the trace: %s.", trace->path,
			       strerror(-status));
	if (has_try_answer(&answer, TRY_CLOCK))
		return 0;
	if (has_try_answer(&answer, TRY_NO_CLOCK))
		return io_fail(trace->io, -EILSEQ,
			       "%s: the trace has no clock, so its events have no times.",
			       trace->path);
	return files->is_translated ?
		       ctf_fail_too_new(trace, "features that Babeltrace 2.0 does not support") :
		       ctf_fail_damaged_metadata(trace);
}
