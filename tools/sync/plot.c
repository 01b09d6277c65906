// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print scatter plots of the one-way delays of the busiest pairs' messages, in
 * characters. For each direction there are two panels side by side:
 *
 *	web -> db
 *	             as recorded               corrected, log
 *	  1.234 ms | .  :  .           250 us | .    '
 *	           |   '   .                  |  : .   :
 *	-0.020 ms  |                    80 us |.  '  '
 *	            0 s          10 s          0 s          10 s
 *
 * A character is a cell of 2 x 4 dots (Braille patterns of Unicode), or of 1 x 2 dots if
 * the locale is not UTF-8.
 */
#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/complain.h"
#include "common/result-info.h"
#include "common/traffic.h"
#include "common/value.h"
#include "plot.h"

#define MAX_PAIRS 4 /* maximum number of pairs, because more do not fit on a screen; chosen */
/*
 * Maximum number of messages that are stored. Chosen: 4,000 in each direction, which is several for
 * each column of dots.
 */
#define MAX_POINTS (MAX_PAIRS * 2 * 4000)

/* Sizes in characters. All are chosen except LABEL. */
#define USUAL_WIDTH 80 /* width if the width of the terminal is not known */
#define MAX_WIDTH 240  /* maximum width of a line */
#define ROWS 6	       /* height of a panel */
#define LABEL 11       /* width of a delay such as "-123.456 ms" */
#define MIN_CELLS 10   /* minimum width of a panel, even on a narrow terminal */

/* The layout of a panel's cells. */
struct raster {
	bool is_braille;
	int across; /* number of dots in a row of a cell */
	int down;   /* number of dots in a column of a cell */
	int cells;  /* number of cells in a row of a panel */
};

struct panel {
	const struct raster *raster;
	bool log;		       /* delays have a logarithmic scale */
	int64_t low_ns;		       /* delay at the lower edge */
	int64_t high_ns;	       /* delay at the upper edge */
	uint8_t cell[ROWS][MAX_WIDTH]; /* a bit for each dot, see get_dot_bit() */
};

/* ---- the terminal ------------------------------------------------------ */

static bool knows_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", NULL);
	bool is_utf8;

	if (!locale)
		return false;
	is_utf8 = !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");
	freelocale(locale);
	return is_utf8;
}

static int compute_plot_width(FILE *out)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	int width = 0;

	if (!ioctl(fileno(out), TIOCGWINSZ, &size))
		width = size.ws_col;
	if (width <= 0 && columns)
		width = atoi(columns);
	return width <= 0 ? USUAL_WIDTH : width > MAX_WIDTH ? MAX_WIDTH : width;
}

static struct raster choose_raster(FILE *out)
{
	struct raster raster = { .is_braille = knows_utf8() };

	raster.across = raster.is_braille ? 2 : 1;
	raster.down = raster.is_braille ? 4 : 2;
	raster.cells = compute_plot_width(out) / 2 - LABEL - 3;
	if (raster.cells < MIN_CELLS)
		raster.cells = MIN_CELLS;
	return raster;
}

/* ---- panels ------------------------------------------------------------ */

/*
 * Return the bit of a dot in its cell. For Braille, the bits are those of the code points
 * U+2800 to U+28FF, which number the dots by columns of three, followed by the lowest
 * row:
 *
 *	0 3
 *	1 4
 *	2 5
 *	6 7
 */
static uint8_t get_dot_bit(const struct raster *raster, int x, int y)
{
	static const uint8_t braille[4][2] = {
		{ 0x01, 0x08 },
		{ 0x02, 0x10 },
		{ 0x04, 0x20 },
		{ 0x40, 0x80 },
	};

	return raster->is_braille ? braille[y][x] : 1 << y;
}

/* Return the index, among @num dots, of the dot at a fraction (0 to 1) of a range. */
static int get_plot_dot(double share, int num)
{
	const int dot = share * num;

	return dot < 0 ? 0 : dot < num ? dot : num - 1;
}

/* Return the height of a delay in a panel, from 0 (lower edge) to 1 (upper edge). */
static double compute_plot_height(const struct panel *panel, int64_t ns)
{
	if (panel->high_ns == panel->low_ns)
		return 0.5;
	if (panel->log)
		return log((double)ns / panel->low_ns) /
		       log((double)panel->high_ns / panel->low_ns);
	return ((double)ns - panel->low_ns) / ((double)panel->high_ns - panel->low_ns);
}

static void add_plot_dot(struct panel *panel, double when, int64_t ns)
{
	const struct raster *raster = panel->raster;
	const int x = get_plot_dot(when, raster->cells * raster->across);
	const int y = get_plot_dot(1 - compute_plot_height(panel, ns), ROWS * raster->down);

	panel->cell[y / raster->down][x / raster->across] |= get_dot_bit(raster, x % raster->across,
									 y % raster->down);
}

static void print_raster_cell(FILE *out, const struct raster *raster, uint8_t dots)
{
	/* The characters for no dot, the upper dot, the lower dot, and both dots. */
	static const char ascii[] = " '.:";

	if (raster->is_braille)
		fprintf(out, "\xe2%c%c", 0xa0 | dots >> 6, 0x80 | (dots & 0x3f));
	else
		putc(ascii[dots & 3], out);
}

static void print_panel_row(FILE *out, const struct panel *panel, int row)
{
	char label[VALUE_SIZE] = "";

	if (row == 0)
		format_duration(label, panel->high_ns);
	else if (row == ROWS - 1)
		format_duration(label, panel->low_ns);
	fprintf(out, "%*s %s", LABEL, label, panel->raster->is_braille ? "│" : "|");
	for (int i = 0; i < panel->raster->cells; i++)
		print_raster_cell(out, panel->raster, panel->cell[row][i]);
}

/* ---- directions -------------------------------------------------------- */

static int64_t get_delay_of_point(const struct traffic_point *point, int is_after)
{
	return is_after ? point->after_ns : point->before_ns;
}

/*
 * Set the range of delays. Corrected delays have a logarithmic scale if the largest one is more
 * than 4 times the smallest one (chosen). On a linear scale, a long tail would hide all other
 * delays.
 */
static void set_panel_range(struct panel *panel, const struct traffic_way *way, int is_after)
{
	panel->low_ns = INT64_MAX;
	panel->high_ns = INT64_MIN;
	for (size_t i = 0; i < way->num_points; i++) {
		const int64_t ns = get_delay_of_point(&way->points[i], is_after);

		panel->low_ns = ns < panel->low_ns ? ns : panel->low_ns;
		panel->high_ns = ns > panel->high_ns ? ns : panel->high_ns;
	}
	panel->log = is_after && panel->low_ns > 0 && panel->high_ns / 4 > panel->low_ns;
}

static void print_time_axis(FILE *out, const struct raster *raster, int64_t span_ns)
{
	char length[VALUE_SIZE];

	format_duration(length, span_ns);
	for (int p = 0; p < 2; p++)
		fprintf(out, "%s%*s0 s%*s", p ? "  " : "", LABEL + 2, "", raster->cells - 3,
			length);
	putc('\n', out);
}

/* Print the two panels of a direction. All panels have the same time axis. */
static void print_way_panel(FILE *out, const struct netsync *ns, const struct raster *raster,
			    const struct traffic_way *way, int64_t first_ns, int64_t span_ns)
{
	struct panel panels[2] = { { .raster = raster }, { .raster = raster } };

	for (int p = 0; p < 2; p++) {
		set_panel_range(&panels[p], way, p);
		for (size_t i = 0; i < way->num_points; i++)
			add_plot_dot(&panels[p],
				     (double)(way->points[i].time_ns - first_ns) / span_ns,
				     get_delay_of_point(&way->points[i], p));
	}
	fprintf(out, "\n%s -> %s\n%*s%-*s  %*scorrected%s\n", get_host_info(ns, way->from).name,
		get_host_info(ns, way->to).name, LABEL + 2, "", raster->cells, "as recorded",
		LABEL + 2, "", panels[1].log ? ", log" : "");
	for (int row = 0; row < ROWS; row++) {
		print_panel_row(out, &panels[0], row);
		fputs("  ", out);
		print_panel_row(out, &panels[1], row);
		putc('\n', out);
	}
	print_time_axis(out, raster, span_ns);
}

/* ---- pairs ------------------------------------------------------------- */

/* Order pairs by their number of messages, the largest number first. */
static int compare_pairs_by_messages(const void *a, const void *b)
{
	const struct netsync_pair_info *p = a, *q = b;
	const uint64_t m = p->messages[0] + p->messages[1];
	const uint64_t n = q->messages[0] + q->messages[1];

	return m < n ? 1 : m > n ? -1 : 0;
}

/* Return whether this is a direction of one of these pairs and has corrected delays. */
static bool is_way_of_pairs(const struct traffic_way *way, const struct netsync_pair_info *pairs,
			    uint32_t num)
{
	for (uint32_t i = 0; i < num; i++)
		for (int from = 0; from < 2; from++)
			if (way->from == pairs[i].host[from] && way->to == pairs[i].host[!from])
				return way->corrected && way->num_points;
	return false;
}

static void print_pair_panels(FILE *out, const struct netsync *ns, const struct traffic *traffic,
			      const struct netsync_pair_info *pairs, uint32_t num)
{
	const struct raster raster = choose_raster(out);
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;

	for (size_t i = 0; i < traffic->num_ways; i++) {
		const struct traffic_way *way = &traffic->ways[i];

		if (!is_way_of_pairs(way, pairs, num))
			continue;
		first_ns = way->first_ns < first_ns ? way->first_ns : first_ns;
		last_ns = way->last_ns > last_ns ? way->last_ns : last_ns;
	}
	for (size_t i = 0; i < traffic->num_ways; i++)
		if (is_way_of_pairs(&traffic->ways[i], pairs, num))
			print_way_panel(out, ns, &raster, &traffic->ways[i], first_ns,
					last_ns - first_ns + 1);
}

static struct netsync_pair_info *choose_busiest_pairs(const struct netsync *ns)
{
	const uint32_t num = netsync_num_pairs(ns);
	struct netsync_pair_info *pairs = calloc((size_t)num + 1, sizeof(*pairs));

	for (uint32_t i = 0; i < num && pairs; i++)
		pairs[i] = get_pair_info(ns, i);
	if (pairs)
		qsort(pairs, num, sizeof(*pairs), compare_pairs_by_messages);
	return pairs;
}

bool plot_delays(FILE *out, const struct netsync *ns, struct spool *spool)
{
	const uint32_t num = netsync_num_hosts(ns);
	struct traffic_host *hosts = calloc((size_t)num + 1, sizeof(*hosts));
	struct netsync_pair_info *pairs = choose_busiest_pairs(ns);
	const uint32_t num_pairs = netsync_num_pairs(ns);
	struct traffic traffic = { 0 };
	bool ok = hosts && pairs;

	if (!ok)
		complain_no_memory();
	for (uint32_t i = 0; i < num && ok; i++)
		hosts[i].clock = netsync_host_clock(ns, i);
	ok = ok && traffic_collect(&traffic, spool, hosts, MAX_POINTS);
	if (ok)
		print_pair_panels(out, ns, &traffic, pairs,
				  num_pairs < MAX_PAIRS ? num_pairs : MAX_PAIRS);
	if (ok && num_pairs > MAX_PAIRS)
		fprintf(out,
			"\nThese are the busiest %d of %" PRIu32
			" pairs; use \"netsync report\" to plot all.\n",
			MAX_PAIRS, num_pairs);
	traffic_release(&traffic);
	free(hosts);
	free(pairs);
	return ok;
}
