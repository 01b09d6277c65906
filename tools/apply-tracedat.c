// SPDX-License-Identifier: GPL-2.0-only
/*
 * Of a trace.dat file the copy is the same, and has the option TIME_SHIFT: at
 * what times how much is to be added, for each processor. It is meant for the
 * traces of virtual machines, and trace-cmd and its library obey it everywhere:
 * they interpolate between two of these times, with numbers of 64 bits.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apply.h"
#include "tool.h"
#include "tracedat.h"

/*
 * What a reader multiplies, the distance from one time to the next and the
 * difference of what is added, has to fit into 64 bits.
 */
#define MAX_STEP_NS INT64_C(100000000000)
#define MAX_PRODUCT ((__int128)1 << 62)

#define SHIFT_INTERPOLATES 1
#define COPY_SIZE (1 << 20)

struct knot {
	int64_t time_ns;	/* as the trace is printed */
	int64_t offset_ns;	/* to be added there */
};

struct knots {
	const struct apply_trace *trace;
	struct knot *knot;
	size_t num;
	size_t room;
};

struct copy {
	const struct tracedat *dat;
	const char *to;
	int fd;
	uint64_t at;		/* what is written next */
};

static bool no_memory(void)
{
	complain("There is not enough memory.");
	return false;
}

/* ---- knots ------------------------------------------------------------- */

static bool knot_at(const struct apply_trace *trace, int64_t time_ns,
		    struct knot *knot)
{
	int64_t corrected_ns;

	knot->time_ns = time_ns;
	if (!apply_time(trace, time_ns, &corrected_ns) ||
	    __builtin_sub_overflow(corrected_ns, time_ns, &knot->offset_ns)) {
		complain("%s: some corrected times do not fit into 64 bits.",
			 trace->path);
		return false;
	}
	if (corrected_ns >= 0)
		return true;
	complain("%s: some corrected times are negative, which trace-cmd cannot show; with netsync sync --reference take a machine whose clock shows a later time.",
		 trace->path);
	return false;
}

static bool add_knot(struct knots *knots, int64_t time_ns)
{
	if (knots->num == knots->room) {
		size_t room = knots->room ? 2 * knots->room : 64;
		struct knot *more = realloc(knots->knot, room * sizeof(*more));

		if (!more)
			return no_memory();
		knots->knot = more;
		knots->room = room;
	}
	return knot_at(knots->trace, time_ns, &knots->knot[knots->num++]);
}

/* Go on from the last one, along a straight line. */
static bool add_line(struct knots *knots, int64_t to_ns)
{
	struct knot from = knots->knot[knots->num - 1], to;
	int64_t length = to_ns - from.time_ns, step = MAX_STEP_NS;
	__int128 rise;

	if (length <= 0)
		return true;
	if (!knot_at(knots->trace, to_ns, &to))
		return false;
	rise = (__int128)to.offset_ns - from.offset_ns;
	if (rise < 0)
		rise = -rise;
	while (step > 1 && (rise * step / length + 1) * step > MAX_PRODUCT)
		step /= 2;
	for (int64_t at = step; at < length; at += step)
		if (!add_knot(knots, from.time_ns + at))
			return false;
	return add_knot(knots, to_ns);
}

/* Where one segment of the clock ends and the next one begins. */
static bool add_corner(struct knots *knots, int64_t time_ns)
{
	struct knot before, after;

	if (!knot_at(knots->trace, time_ns - 1, &before) ||
	    !knot_at(knots->trace, time_ns, &after))
		return false;
	/* It steps there, if what is added differs by more than the rounding. */
	if (llabs(after.offset_ns - before.offset_ns) > 1 &&
	    !add_line(knots, time_ns - 1))
		return false;
	return add_line(knots, time_ns);
}

static bool make_knots(struct knots *knots)
{
	const struct apply_trace *trace = knots->trace;
	struct netsync_model model = { .size = sizeof(model) };

	if (netsync_clock_model(trace->clock, &model) ||
	    !add_knot(knots, trace->first_ns))
		return false;
	for (uint32_t i = 1; i < model.num_segments; i++) {
		int64_t at = model.segments[i].from_ns - trace->shift_ns;

		if (at > trace->first_ns && at <= trace->last_ns &&
		    !add_corner(knots, at))
			return false;
	}
	return add_line(knots, trace->last_ns + 1);
}

/* ---- the option -------------------------------------------------------- */

/* What is between two of them is interpolated, the rate is never scaled. */
static uint8_t *put_knots(const struct tracedat *dat, uint8_t *at,
			  const struct knots *knots)
{
	at = tracedat_put(dat, at, knots->num, 4);
	for (size_t i = 0; i < knots->num; i++)
		at = tracedat_put(dat, at, (uint64_t)knots->knot[i].time_ns -
				  dat->offset_ns, 8);
	for (size_t i = 0; i < knots->num; i++)
		at = tracedat_put(dat, at, knots->knot[i].offset_ns, 8);
	for (size_t i = 0; i < knots->num; i++)
		at = tracedat_put(dat, at, 1, 8);
	return at;
}

/* For all processors the same; to be given back with free(). */
static uint8_t *make_option(const struct tracedat *dat,
			    const struct knots *knots, size_t *size)
{
	/* Last come the bits by which scaling is divided: none. */
	uint64_t need = 8 + 4 + 4 + dat->num_cpus *
			(4 + (uint64_t)knots->num * (3 + 1) * 8);
	uint8_t *option, *at;

	option = need <= INT32_MAX ? calloc(1, 6 + need) : NULL;
	if (!option) {
		no_memory();
		return NULL;
	}
	at = tracedat_put(dat, option, TRACEDAT_TIME_SHIFT, 2);
	at = tracedat_put(dat, at, need, 4);
	at = tracedat_put(dat, at, 0, 8);	/* the host of a guest: none */
	at = tracedat_put(dat, at, SHIFT_INTERPOLATES, 4);
	at = tracedat_put(dat, at, dat->num_cpus, 4);
	for (uint32_t cpu = 0; cpu < dat->num_cpus; cpu++)
		at = put_knots(dat, at, knots);
	*size = 6 + need;
	return option;
}

/* ---- writing ----------------------------------------------------------- */

static bool failed(const char *path)
{
	complain("%s: %s.", path, strerror(errno));
	return false;
}

static bool put_bytes(struct copy *copy, const void *bytes, size_t size)
{
	while (size) {
		ssize_t num = pwrite(copy->fd, bytes, size, copy->at);

		if (num < 0 && errno == EINTR && !interrupted)
			continue;
		if (num < 0)
			return failed(copy->to);
		bytes = (const char *)bytes + num;
		copy->at += num;
		size -= num;
	}
	return true;
}

/* What is in the original from there on, up to there. */
static bool copy_bytes(struct copy *copy, uint64_t from, uint64_t to)
{
	char *buffer = malloc(COPY_SIZE);
	bool ok = buffer || no_memory();

	while (ok && from < to && !interrupted) {
		size_t size = to - from < COPY_SIZE ? to - from : COPY_SIZE;
		ssize_t num = pread(copy->dat->fd, buffer, size, from);

		if (num < 0 && errno == EINTR)
			continue;
		if (!num)
			errno = ENODATA;
		ok = num > 0 ? put_bytes(copy, buffer, num) :
			       failed(copy->dat->path);
		from += num;
	}
	free(buffer);
	return ok && !interrupted;
}

static bool put_number(struct copy *copy, uint64_t number, unsigned int size)
{
	uint8_t bytes[8];

	tracedat_put(copy->dat, bytes, number, size);
	return put_bytes(copy, bytes, size);
}

/* Version 7: one more section of options, to which the last one leads. */
static bool write_7(struct copy *copy, const uint8_t *option, size_t size)
{
	const struct tracedat *dat = copy->dat;

	if (!copy_bytes(copy, 0, dat->size) ||
	    !put_number(copy, 0, 4) ||
	    !put_bytes(copy, dat->description, sizeof(dat->description)) ||
	    !put_number(copy, size + 14, 8) ||
	    !put_bytes(copy, option, size) ||
	    !put_number(copy, 0, 2) || !put_number(copy, 8, 4) ||
	    !put_number(copy, 0, 8))
		return false;
	copy->at = dat->next_at;
	return put_number(copy, dat->size, 8);
}

/*
 * Version 6: the option is the last one, what follows moves; events do by whole
 * pages, since readers map them. What is told by its place is told anew.
 */
static bool write_6(struct copy *copy, const uint8_t *option, size_t size)
{
	static const char begin[10] = "options  ", end[2];
	struct tracedat dat = *copy->dat;
	uint64_t moved = size + (dat.no_options ? sizeof(begin) + sizeof(end) : 0);
	uint64_t by = (moved + dat.page_size - 1) & ~((uint64_t)dat.page_size - 1);

	if (!copy_bytes(copy, 0, dat.options_end) ||
	    (dat.no_options && !put_bytes(copy, begin, sizeof(begin))) ||
	    !put_bytes(copy, option, size) ||
	    (dat.no_options && !put_bytes(copy, end, sizeof(end))) ||
	    !copy_bytes(copy, dat.options_end, dat.data))
		return false;
	copy->at = dat.data + by;
	if (!copy_bytes(copy, dat.data, dat.size))
		return false;
	for (size_t i = 0; i < dat.num_places; i++) {
		uint64_t at = dat.places[i], place;

		dat.at = at;
		place = tracedat_get(&dat, 8);
		copy->at = at >= dat.data ? at + by :
			   at >= dat.options_end ? at + moved : at;
		if (place >= dat.data && !put_number(copy, place + by, 8))
			return false;
	}
	return true;
}

static bool write_copy(const struct tracedat *dat, const struct knots *knots,
		       const char *to)
{
	struct copy copy = { .dat = dat, .to = to };
	uint8_t *option;
	size_t size;
	bool ok;

	option = make_option(dat, knots, &size);
	if (!option)
		return false;
	copy.fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (copy.fd < 0) {
		free(option);
		return failed(to);
	}
	ok = dat->version < 7 ? write_6(&copy, option, size) :
				write_7(&copy, option, size);
	if (close(copy.fd) && ok)
		ok = failed(to);
	free(option);
	return ok;
}

/* Can what reads it be told how to correct it? */
static bool can_shift(const struct tracedat *dat)
{
	if (dat->is_shifted)
		complain("%s: its times are shifted already (option TIME_SHIFT), and trace-cmd can do that only once; correct the original.",
			 dat->path);
	else if (dat->is_tsc)
		complain("%s: it counts cycles, which trace-cmd converts only after correcting them; record with trace-cmd record -C mono.",
			 dat->path);
	else if (dat->has_named)
		complain("%s: there are events in a buffer with a name (option -B of trace-cmd record), which trace-cmd shows uncorrected; record without that.",
			 dat->path);
	return !dat->is_shifted && !dat->is_tsc && !dat->has_named;
}

bool apply_tracedat(const struct apply_trace *trace, const char *to)
{
	struct knots knots = { .trace = trace };
	struct tracedat dat;
	bool ok = tracedat_open(&dat, trace->path) && can_shift(&dat);

	ok = ok && make_knots(&knots) && write_copy(&dat, &knots, to);
	free(knots.knot);
	tracedat_close(&dat);
	return ok;
}
