// SPDX-License-Identifier: GPL-2.0-only
/* Options with bounds on clocks' differences from UTC, and a result -> how far it is from UTC. */
#include <stdlib.h>
#include <string.h>

#include "../../libnetsync/util/array.h"
#include "../../libnetsync/util/number.h"
#include "complain.h"
#include "exit-status.h"
#include "now.h"
#include "result-info.h"
#include "utc.h"
#include "value.h"

/*
 * Time before and after a host's traces for which the user's bound is also used, ns: traces of other
 * hosts do not start and end at the same time. A result covers at least the same time. Chosen.
 */
#define BOUND_SLACK (60 * NS_PER_S)
/* Maximum number of hosts whose names are printed. Chosen. */
#define MOST_NAMED 5
/* Number of times at which the error bound is computed for its median. Chosen. */
#define SAMPLES 1001

/* ---- options ------------------------------------------------------------ */

static bool parse_utc_option(void *at, const struct option_row *row, const char *value)
{
	struct utc_arguments *arguments = at;
	const char *sign = strrchr(value, '=');
	struct utc_argument *last;
	int64_t within_ns;

	if (!sign || sign == value || !parse_duration(sign + 1, &within_ns)) {
		complain("--%s %s: give the name of a host and a bound, such as web=1ms.",
			 row->name, value);
		return false;
	}
	last = array_add(&arguments->argument, arguments->num, sizeof(*last));
	if (!last)
		return complain_no_memory();
	*last = (struct utc_argument){ value, (size_t)(sign - value), within_ns };
	arguments->num++;
	return true;
}

const struct option_row utc_options[] = {
	OPTION("utc", 0, "HOST=BOUND",
	       "declare that the clock of HOST differs from UTC by at most\n"
	       "BOUND, such as web=1ms, and report the difference of the\n"
	       "common time from UTC (can be repeated)",
	       parse_utc_option),
	OPTIONS_END
};

/* ---- bounds -------------------------------------------------------------- */

/* Find the host of an argument. If there is none, print a message and return false. */
static bool find_utc_host(const struct utc_argument *argument, const struct netsync *ns,
			  uint32_t *host)
{
	for (*host = 0; *host < netsync_num_hosts(ns); ++*host) {
		const char *name = get_host_info(ns, *host).name;

		if (strlen(name) == argument->length &&
		    !memcmp(name, argument->text, argument->length))
			return true;
	}
	complain(
		"--utc %s: there is no host with this name; the first column of the table lists the names.",
		argument->text);
	return false;
}

static bool make_argument_bound(const struct utc_argument *argument, const struct netsync *ns,
				struct netsync_utc_bound *bound)
{
	struct netsync_host_info info;
	uint32_t host;

	if (!find_utc_host(argument, ns, &host))
		return false;
	info = get_host_info(ns, host);
	if (info.first_ns <= info.last_ns && info.first_ns < EPOCH_TIME) {
		complain(
			"--utc %s: the times of this host do not count from 1970, so its clock does not show UTC. Give the bound of a host whose traces use CLOCK_REALTIME.",
			argument->text);
		return false;
	}
	*bound = (struct netsync_utc_bound){
		.from_ns = info.first_ns - BOUND_SLACK,
		.to_ns = info.last_ns + BOUND_SLACK,
		.within_ns = argument->within_ns,
		.host = host,
	};
	return true;
}

/* List each host once. */
static bool list_utc_hosts(struct utc_result *utc, const struct netsync *ns,
			   const struct netsync_utc_bound *bounds, size_t num)
{
	bool *has_bound = calloc(netsync_num_hosts(ns), sizeof(*has_bound));

	utc->hosts = calloc(netsync_num_hosts(ns), sizeof(*utc->hosts));
	if (!has_bound || !utc->hosts) {
		free(has_bound);
		return complain_no_memory();
	}
	for (size_t i = 0; i < num; i++)
		has_bound[bounds[i].host] = netsync_host_clock(ns, bounds[i].host);
	for (uint32_t i = 0; i < netsync_num_hosts(ns); i++)
		if (has_bound[i])
			utc->hosts[utc->num_hosts++] = get_host_info(ns, i).name;
	free(has_bound);
	return true;
}

/* ---- the result ------------------------------------------------------------ */

static int compare_bounds(const void *a, const void *b)
{
	const int64_t *p = a, *q = b;

	return COMPARE(*p, *q);
}

/* Compute the bounds over the reference's traced time. */
static void summarize_utc(struct utc_result *utc, const struct netsync *ns)
{
	const struct netsync_host_info info = get_host_info(ns, (uint32_t)netsync_reference(ns));
	const int64_t span = info.last_ns - info.first_ns;
	const int64_t middle = compute_middle_time(info.first_ns, info.last_ns);
	int64_t bounds[SAMPLES], at;

	for (int i = 0; i < SAMPLES; i++) {
		const int64_t t = info.first_ns + (int64_t)((double)span / (SAMPLES - 1) * i);

		if (netsync_convert(utc->clock, t > info.last_ns ? info.last_ns : t, &at,
				    &bounds[i]))
			bounds[i] = NETSYNC_UNKNOWN;
	}
	qsort(bounds, SAMPLES, sizeof(*bounds), compare_bounds);
	utc->bound_median_ns = bounds[SAMPLES / 2];
	utc->bound_max_ns = bounds[SAMPLES - 1];
	if (!netsync_convert(utc->clock, middle, &at, NULL))
		utc->offset_ns = at - middle;
}

static int make_utc_result(struct utc_result *utc, struct netsync *ns,
			   const struct netsync_utc_bound *bounds, size_t num)
{
	const int ret = netsync_utc_clock_new(ns, bounds, num, sizeof(*bounds), &utc->clock);

	if (ret) {
		utc->clock = NULL;
		complain("warning: %s", netsync_error(ns));
		return EXIT_PARTIAL;
	}
	if (!list_utc_hosts(utc, ns, bounds, num))
		return EXIT_BAD;
	summarize_utc(utc, ns);
	return EXIT_DONE;
}

/* Add a bound to an array of @num bounds. */
static bool add_utc_bound(struct netsync_utc_bound **bounds, size_t num,
			  const struct netsync_utc_bound *bound)
{
	struct netsync_utc_bound *last = array_add(bounds, num, sizeof(*last));

	if (!last)
		return complain_no_memory();
	*last = *bound;
	return true;
}

/* Collect all bounds. On failure, print a message and return false. */
static bool collect_utc_bounds(const struct utc_arguments *arguments, const struct netsync *ns,
			       const struct netsync_io *io, struct netsync_utc_bound **bounds,
			       size_t *num)
{
	struct netsync_utc_bound bound;

	for (size_t i = 0; i < arguments->num; i++, ++*num)
		if (!make_argument_bound(&arguments->argument[i], ns, &bound) ||
		    !add_utc_bound(bounds, *num, &bound))
			return false;
	for (uint32_t i = 0; !netsync_io_get_utc_bound(io, i, &bound, sizeof(bound)); i++, ++*num)
		if (!add_utc_bound(bounds, *num, &bound))
			return false;
	return true;
}

int utc_compute(struct utc_result *utc, const struct utc_arguments *arguments, struct netsync *ns,
		const struct netsync_io *io)
{
	struct netsync_utc_bound *bounds = NULL;
	int status = EXIT_BAD;
	size_t num = 0;

	*utc = (struct utc_result){ 0 };
	if (collect_utc_bounds(arguments, ns, io, &bounds, &num))
		status = num ? make_utc_result(utc, ns, bounds, num) : EXIT_DONE;
	free(bounds);
	return status;
}

void utc_release(struct utc_result *utc)
{
	netsync_clock_free(utc->clock);
	free(utc->hosts);
	*utc = (struct utc_result){ 0 };
}

/* Print the names of the hosts as "web", "web and db", or "a, b, c and 17 more". */
static void print_utc_hosts(FILE *out, const struct utc_result *utc)
{
	const size_t num = utc->num_hosts > MOST_NAMED ? MOST_NAMED - 1 : utc->num_hosts;

	for (size_t i = 0; i < num; i++)
		fprintf(out, "%s%s",
			!i		       ? "" :
			i + 1 < utc->num_hosts ? ", " :
						 " and ",
			utc->hosts[i]);
	if (num < utc->num_hosts)
		fprintf(out, " and %zu more", utc->num_hosts - num);
}

void utc_print(FILE *out, const struct utc_result *utc, const struct netsync *ns)
{
	const char *reference = get_host_info(ns, (uint32_t)netsync_reference(ns)).name;
	char offset[VALUE_SIZE], median[VALUE_SIZE], max[VALUE_SIZE];

	if (!utc->clock)
		return;
	fprintf(out, "\nUTC: %s's clock %s%s s, error bound %s / %s (median / max), by ", reference,
		utc->offset_ns >= 0 ? "+" : "", format_time(offset, utc->offset_ns, true),
		format_duration(median, utc->bound_median_ns),
		format_duration(max, utc->bound_max_ns));
	print_utc_hosts(out, utc);
	fputc('\n', out);
}
