// SPDX-License-Identifier: GPL-2.0-only
/* Write a path as text: its sums, its pieces in order, and the threads that they are charged to. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/complain.h"
#include "common/table.h"
#include "common/value.h"
#include "sums.h"
#include "view.h"

struct writing {
	const struct critical_path *path;
	unsigned int limit; /* maximum number of rows */
	struct sums sums;
	uint32_t *charges; /* index of the charge in each row */
};

/* ---- cells ----------------------------------------------------------------- */

static void put_actor_host(char *cell, const struct critical_path *path, struct actor who)
{
	cell_put_text(cell, path->base->hosts[who.host].name);
}

/* Format a thread as "nginx (1234)". */
static void put_actor_thread(char *cell, const struct critical_path *path, struct actor who)
{
	const struct record_thread *thread = path_find_thread(path, who);

	if (thread)
		snprintf(cell, CELL_SIZE, "%s (%" PRIu32 ")", *thread->name ? thread->name : "?",
			 thread->tid);
	else
		snprintf(cell, CELL_SIZE, "interrupts");
	make_text_printable(cell);
}

/* Format what the thread waited for: "by kworker/0:1 (12)", "from db, postgres (99)", "8:0". */
static void put_piece_detail(char *cell, const struct critical_path *path,
			     const struct path_piece *piece)
{
	char host[CELL_SIZE], thread[CELL_SIZE];

	*cell = '\0';
	if (piece->kind == PIECE_UNKNOWN || piece->reason)
		snprintf(cell, CELL_SIZE, "%s", path_get_reason_text(piece->reason));
	else if (piece->kind == PIECE_PREEMPTED && !piece->has_other)
		snprintf(cell, CELL_SIZE, "by none: its CPU was waking up");
	else if (piece->kind == PIECE_DISK)
		/*
		 * The kernel's internal encoding of device numbers has 20 minor bits
		 * (MINORBITS).
		 */
		snprintf(cell, CELL_SIZE, "device %" PRIu32 ":%" PRIu32, piece->detail >> 20,
			 piece->detail & 0xfffff);
	else if (piece->kind == PIECE_INTERRUPT)
		snprintf(cell, CELL_SIZE, "number %" PRIu32, piece->detail);
	if (!piece->has_other)
		return;
	put_actor_host(host, path, piece->other);
	put_actor_thread(thread, path, piece->other);
	if (piece->kind == PIECE_PREEMPTED)
		snprintf(cell, CELL_SIZE, "by %.*s", CELL_SIZE - 4, thread);
	else
		snprintf(cell, CELL_SIZE, "from %.60s, %.80s", host, thread);
}

static void put_sum_cell(const void *data, uint32_t row, unsigned int column, char *cell)
{
	const struct writing *writing = data;
	const struct critical_path *path = writing->path;
	const struct sum *sum = &writing->sums.list[row];
	const uint64_t whole = path->end_ns - path->begin_ns;

	switch (column) {
	case 0:
		put_actor_host(cell, path, sum->piece->who);
		break;
	case 1:
		put_actor_thread(cell, path, sum->piece->who);
		break;
	case 2:
		snprintf(cell, CELL_SIZE, "%s", path_get_kind_name(sum->piece->kind));
		break;
	case 3:
		snprintf(cell, CELL_SIZE, "%" PRIu64, sum->times);
		break;
	case 4:
		cell_put_duration(cell, sum->total_ns);
		break;
	case 5:
		snprintf(cell, CELL_SIZE, "%.1f %%", whole ? 100.0 * sum->total_ns / whole : 0.0);
		break;
	case 6:
		cell_put_duration(cell, sum->longest_ns);
		break;
	case 7:
		put_piece_detail(cell, path, sum->piece);
		break;
	}
}

static void put_piece_cell(const void *data, uint32_t row, unsigned int column, char *cell)
{
	const struct writing *writing = data;
	const struct critical_path *path = writing->path;
	const struct path_piece *piece = &path->pieces[row];
	char bound[VALUE_SIZE];

	switch (column) {
	case 0:
		cell_put_duration(cell, piece->begin_ns - path->begin_ns);
		break;
	case 1:
		cell_put_duration(cell, piece->end_ns - piece->begin_ns);
		break;
	case 2:
		*cell = '\0';
		if (piece->kind == PIECE_NETWORK && !piece->reason)
			snprintf(cell, CELL_SIZE, "+-%s%s", format_duration(bound, piece->bound_ns),
				 piece->is_uncertain ? " (order open)" : "");
		break;
	case 3:
		put_actor_host(cell, path, piece->who);
		break;
	case 4:
		put_actor_thread(cell, path, piece->who);
		break;
	case 5:
		snprintf(cell, CELL_SIZE, "%s", path_get_kind_name(piece->kind));
		break;
	case 6:
		put_piece_detail(cell, path, piece);
		break;
	}
}

/* ---- who is charged --------------------------------------------------------- */

static void put_charge_cell(const void *data, uint32_t row, unsigned int column, char *cell)
{
	const struct writing *writing = data;
	const struct critical_path *path = writing->path;
	const struct charge *charge = &path->charges[writing->charges[row]];
	const uint64_t self_ns = charge->ns[PIECE_RUNNING];
	const uint64_t total_ns = charge_compute_total(path, writing->charges[row]);
	uint64_t all_ns = 0;
	char thread[CELL_SIZE];

	for (size_t i = 0; i < NUM_PIECES; i++)
		all_ns += charge->ns[i];
	switch (column) {
	case 0:
		put_actor_thread(thread, path, charge->who);
		snprintf(cell, CELL_SIZE, "%*s%.100s",
			 2 * (int)(charge->depth < 20 ? charge->depth : 20), "", thread);
		break;
	case 1:
		put_actor_host(cell, path, charge->who);
		break;
	case 2:
		cell_put_duration(cell, self_ns);
		break;
	case 3:
		cell_put_duration(cell, total_ns - self_ns);
		break;
	case 4:
		cell_put_duration(cell, total_ns);
		break;
	case 5:
		cell_put_duration(cell, all_ns - self_ns);
		break;
	}
}

/* ---- the whole output ------------------------------------------------------- */

static void print_path_head(FILE *out, const struct critical_path *path)
{
	char host[CELL_SIZE], thread[CELL_SIZE], date[VALUE_SIZE], length[VALUE_SIZE];

	put_actor_host(host, path, path->who);
	put_actor_thread(thread, path, path->who);
	fprintf(out, "%s, %s: %s from %s on\n", host, thread,
		format_duration(length, path->end_ns - path->begin_ns),
		format_date(date, path->begin_ns, false));
}

static void print_pieces(FILE *out, const struct writing *writing)
{
	const struct critical_path *path = writing->path;
	const struct table table = {
		.columns = 7,
		.heads = { "at", "for", "bound", "host", "thread", "what", "" },
		.cell = put_piece_cell,
	};

	table_print_some(out, writing, &table, path->num_pieces, writing->limit, "segments");
}

/* Print which threads are charged. Return false if out of memory. */
static bool print_charges(FILE *out, struct writing *writing)
{
	const struct critical_path *path = writing->path;
	const struct table table = {
		.columns = 6,
		.heads = { "charged", "host", "CPU itself", "on its behalf", "CPU in all",
			   "not running" },
		.cell = put_charge_cell,
	};
	uint32_t charge = 0;

	writing->charges = calloc(path->num_charges, sizeof(*writing->charges));
	if (!writing->charges)
		return false;
	for (uint32_t row = 0; row < path->num_charges; row++) {
		writing->charges[row] = charge;
		charge = charge_get_next(path, charge);
	}
	table_print_some(out, writing, &table, path->num_charges, writing->limit, "threads");
	free(writing->charges);
	return true;
}

bool path_print_table(FILE *out, const struct path_view *view)
{
	struct writing writing = { .path = view->path, .limit = view->limit };
	const struct table table = {
		.columns = 8,
		.heads = { "host", "thread", "what", "times", "total", "part", "longest", "" },
		.cell = put_sum_cell,
	};
	bool ok;

	errno = 0;
	if (!sums_compute(&writing.sums, view->path))
		return false;
	print_path_head(out, view->path);
	table_print_some(out, &writing, &table, writing.sums.num, view->limit, "rows");
	print_pieces(out, &writing);
	ok = !view->account || print_charges(out, &writing);
	sums_release(&writing.sums);
	return ok && !ferror(out);
}
