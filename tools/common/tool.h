/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the command share. */
#ifndef NETSYNC_TOOL_H
#define NETSYNC_TOOL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include <netsync-io.h>
#include <netsync.h>

enum {
	EXIT_DONE = 0,
	EXIT_BAD = 1,		/* usage or input; nothing was printed */
	EXIT_PARTIAL = 2,	/* some host could not be corrected */
};

/* Sub-commands: argv[0] is the sub-command's name. Return: exit status. */
int cmd_sync(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_live(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_agent(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_apply(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_states(int argc, char **argv);
int cmd_clock_log(int argc, char **argv);

/*
 * As netsync sync does with @num @traces, which may be put into another order:
 * write the result to the file @path, and print the table; they were recorded by us,
 * with @beacon or without. Return: exit status.
 */
int sync_recorded(char **traces, int num, const char *path, bool beacon);

/* Print a sentence to stderr, after the program's name. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Complain that there is not enough memory. Return: false. */
bool no_memory(void);
/* What a terminal obeys becomes '?'. */
void make_printable(char *text);

/* ---- values ------------------------------------------------------------ */

/* "50us", "1.5 ms", "2s", "100" (ns): not negative. */
bool parse_duration(const char *text, int64_t *ns);
/* "" or ".25", in s: at most nine decimals. */
bool parse_fraction(const char *text, int64_t *ns);
/* "500 MB", "2GB", "1.5G", "1000" (B): above 0. */
bool parse_bytes(const char *text, uint64_t *bytes);
/* "1700000000123456789" (ns) or "1700000000.123456789" (s). */
bool parse_time(const char *text, int64_t *ns, bool *is_seconds);
/* Half-way between two times, the first of which is not after the second. */
static inline int64_t middle(int64_t from_ns, int64_t to_ns)
{
	return from_ns + (int64_t)(((uint64_t)to_ns - (uint64_t)from_ns) / 2);
}

/* Room for what the functions below write. */
#define VALUE_SIZE 48

/* As parse_time() reads it. Return: @buffer. */
char *format_time(char *buffer, int64_t ns, bool is_seconds);

/*
 * Of ns since 1970: "2023-11-14 22:13:20 UTC", or in local time, as babeltrace2
 * --clock-date prints it, "2023-11-14 23:13:20.000000000". Return: @buffer.
 */
char *format_date(char *buffer, int64_t ns, bool is_utc);
/* "12.3 MB" */
char *format_bytes(char *buffer, uint64_t bytes);
/* "12.3 M events" */
char *format_events(char *buffer, uint64_t events);
/* With a unit that suits it; "unknown" for NETSYNC_UNKNOWN. */
char *format_duration(char *buffer, int64_t ns);

/* ---- results ----------------------------------------------------------- */

struct netsync_host_info host_info(const struct netsync *ns, uint32_t index);
struct netsync_pair_info pair_info(const struct netsync *ns, uint32_t index);
struct netsync_step step_info(const struct netsync *ns, uint32_t host,
			      uint32_t index);
struct netsync_stack stack_info(const struct netsync *ns, uint32_t host,
				enum netsync_dir dir);
struct netsync_steering steering_info(const struct netsync *ns, uint32_t host);
struct netsync_io_trace trace_info(const struct netsync_io *io,
				   uint32_t index);

/*
 * By how much the mean skew of a host's clock over its span can be wrong, in ppm,
 * as the error bounds at both ends tell; infinite: nothing is known.
 */
double skew_within(const struct netsync *ns, uint32_t host);

void write_table(FILE *out, const struct netsync *ns);

/* Offset and skew of a host's clock at a time on it; false: it has none. */
bool clock_at(const struct netsync *ns, uint32_t host, int64_t time_ns,
	      int64_t *offset_ns, double *skew_ppm);

/* False: there is not enough memory, or @out cannot be written to. */
bool write_json(FILE *out, const struct netsync *ns,
		const struct netsync_io *io, const char *method);

/* Options of babeltrace2, with constant offsets for each CTF trace. */
bool write_bt2_args(FILE *out, const struct netsync *ns,
		    const struct netsync_io *io);
/* Say what these leave out, and where they are poor. Return: exit status. */
int explain_bt2_args(const struct netsync *ns, const struct netsync_io *io);

enum outcome_format { FORMAT_TABLE, FORMAT_JSON, FORMAT_BT2_ARGS };

/* Where the traces are from, which advice has to fit. */
enum outcome_source { SOURCE_ANY, SOURCE_RECORD, SOURCE_RECORD_BEACON, NUM_SOURCES };

/* Where a result goes, and what is expected of it. */
struct outcome {
	const char *output;	/* a file; NULL: standard output */
	unsigned int format;	/* enum outcome_format */
	bool force;		/* overwrite the file */
	const char *method;	/* its name */
	int64_t max_bound_ns;	/* fail beyond that; negative: never */
	unsigned int source;	/* enum outcome_source */
};

#define OUTCOME_DEFAULT { .method = "auto", .max_bound_ns = -1 }

/* As output_check() and output_write(). */
bool outcome_check(const struct outcome *outcome);
bool outcome_write(const struct outcome *outcome, const struct netsync *ns,
		   const struct netsync_io *io);
/* Say what is not as it should be with the hosts. Return: exit status. */
int outcome_explain(const struct outcome *outcome, const struct netsync *ns);

/* ---- files ------------------------------------------------------------- */

/*
 * All folders that lead to a file, those that end within the first @from bytes
 * of the path excepted. False: that was complained of.
 */
bool make_folders(char *path, size_t from);
/* The same, with no more permissions than those of @original, which ends as @path. */
bool make_folders_like(char *path, size_t from, const char *original);
/* As far as that is possible. */
void remove_tree(const char *path);
/*
 * Make the folder @to, with all folders and files of @from but the file @except
 * in it: links to these files, or copies of those that cannot be linked, which
 * are counted in *@copied. False: there is something else in it, such as a symbolic
 * link, or it cannot be, which was complained of; or it was interrupted.
 */
bool link_tree(const char *from, const char *to, const char *except,
	       uint64_t *copied);

/* A file, or a folder with all that is in it. */
struct tree {
	uint64_t bytes;		/* of all files, */
	uint64_t room;		/* that all takes on the disk (bytes), */
	mode_t files;		/* permissions that all of them have, */
	mode_t folders;		/* and all folders */
};

/* The least that a file or a folder takes on a disk (bytes); ext4's and XFS' block. */
#define LEAST_ROOM 4096

/* What a file or a folder takes on the disk (bytes), however little it holds. */
uint64_t room_of(const struct stat *info);
/* False: that was complained of. */
bool measure_tree(const char *path, struct tree *tree);
/* Take permissions away that the original has not. False: that was complained of. */
bool narrow_tree(const char *path, const struct tree *original);

/* ---- time -------------------------------------------------------------- */

#define NS_PER_S INT64_C(1000000000)

int64_t clock_ns(clockid_t clock);
/* Of the clock that nobody sets. */
int64_t now_ns(void);

/* ---- being interrupted --------------------------------------------------- */

/* The signal that came; 0: none. */
extern volatile sig_atomic_t interrupted;

/*
 * The first of these signals is only noted; the second one does what it does by
 * itself, after before_end().
 */
void catch_signal(int number);
/* It may do what signal-safety(7) allows; or NULL. */
extern void (*volatile before_end)(void);

/* SIGINT, SIGTERM and SIGHUP: what they do from now on. */
void set_ends(void (*handler)(int number));

/* The signal that came after another one of those below; 0: none. */
extern volatile sig_atomic_t hurried;

/*
 * The first of SIGINT, SIGTERM and SIGHUP is noted in interrupted, the second one in
 * hurried, and the next does what it does by itself.
 */
void catch_signals_twice(void);
/* SIGINT and SIGTERM do what they do by themselves, but first print @words. */
void catch_signals_last(const char *words);

/* ---- a result while it is followed ---------------------------------------- */

struct live_host {
	bool running;		/* it is being read */
	bool late;		/* some of it went by before */
	bool known;		/* a correction is known */
	int64_t since_ns;	/* from when its data are, on its clock */
	int64_t at_ns;		/* until when; the rest is of this time */
	int64_t offset_ns;
	double skew_ppm;
	double skew_within_ppm;
	int64_t bound_ns;
	double packets_per_s;
};

struct live_pair {
	double messages_per_s[2];
};

struct live_state {
	const struct netsync *ns;
	int64_t wall_ns;	/* this machine's clock */
	struct live_host *hosts;
	struct live_pair *pairs;
};

/* Of all steps together, so many are shown: the last ones. */
#define LIVE_STEPS 5

struct live_step {
	uint32_t host;
	struct netsync_step step;
};

/* Return: how many there are, at most LIVE_STEPS; in order of corrected time. */
uint32_t live_last_steps(const struct netsync *ns, struct live_step *steps);

void write_live_table(FILE *out, const struct live_state *state);
/* A line. False: as of write_json(). */
bool write_live_json(FILE *out, const struct live_state *state);

/* ---- progress ---------------------------------------------------------- */

/* A line on stderr, if that is a terminal and it takes more than a second. */
struct progress {
	const char *what;	/* is being done; at most 32 characters */
	int64_t started_ns;
	int64_t drawn_ns;
	bool is_terminal;
	bool drawn;
	struct sigaction before;	/* of SIGALRM, while it waits */
};

/* @what: "reading" */
void progress_start(struct progress *progress, const char *what);
/*
 * A bar: so much of it is done, in bytes or whatever grows with the time that it
 * takes. @total 0: nobody knows how much there is, and the line says how long it
 * has taken.
 */
void progress_show(struct progress *progress, uint64_t done, uint64_t total);
/*
 * Until progress_end() a timer says how long it has taken: for what does not return
 * meanwhile. SIGALRM must not disturb it, nor the processes that it starts.
 */
void progress_wait(struct progress *progress);
void progress_end(struct progress *progress);
/* Whichever there is, before something else is printed there. */
void progress_hide(void);

#endif
