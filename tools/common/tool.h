/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions that several sub-commands share. */
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

#include "output.h"

struct input_share;
struct remote_traces;

enum {
	EXIT_DONE = 0,
	EXIT_BAD = 1,		/* usage or input; nothing was printed */
	EXIT_PARTIAL = 2,	/* some host could not be corrected */
};

/* Sub-commands: argv[0] is the sub-command's name. Return: exit status. */
int cmd_sync(int argc, char **argv);
/*
 * The same as one of several processes, each of which reads a part of the traces; @argv[0]
 * is the name of the program with the sub-command's.
 */
int sync_shared(int argc, char **argv, struct input_share *share);
int cmd_convert(int argc, char **argv);
int cmd_live(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_agent(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_apply(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_states(int argc, char **argv);
int cmd_path(int argc, char **argv);
int cmd_clock_log(int argc, char **argv);

/*
 * Run netsync sync on @num @traces that netsync record recorded, with @beacon or without;
 * their order may be changed; and on the traces of @remote, unless that is NULL. Writes
 * the result to the file @path, and prints the table.
 * Return: exit status.
 */
int sync_recorded(char **traces, int num, struct remote_traces *remote, const char *path,
		  bool beacon);

/* The program's name, as sentences begin with it. */
extern const char *complainer;

/* Print a sentence to stderr, after the program's name. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Complain of a file or folder, with the reason in errno. Return: false. */
bool complain_of_path(const char *path);
/* Complain that there is not enough memory. Return: false. */
bool no_memory(void);
/* Replace what a terminal would obey by '?'. */
void make_printable(char *text);

/* ---- values ------------------------------------------------------------ */

/* "50us", "1.5 ms", "2s", "100" (ns): 0 or more. */
bool parse_duration(const char *text, int64_t *ns);
/* "" or ".25", a part of a second with at most nine decimals. */
bool parse_fraction(const char *text, int64_t *ns);
/* "500 MB", "2GB", "1.5G", "1000" (B): above 0. */
bool parse_bytes(const char *text, uint64_t *bytes);
/* "1700000000123456789" (ns) or "1700000000.123456789" (s). */
bool parse_time(const char *text, int64_t *ns, bool *is_seconds);
/* The middle between two times, the first of which is not after the second. */
static inline int64_t middle_of_times(int64_t from_ns, int64_t to_ns)
{
	return from_ns + (int64_t)(((uint64_t)to_ns - (uint64_t)from_ns) / 2);
}

/* Bytes of the buffers that the functions below write to. Chosen. */
#define VALUE_SIZE 48

/* A time, so that parse_time() reads it. Return: @buffer. */
char *format_time(char *buffer, int64_t ns, bool is_seconds);

/*
 * A time since 1970: "2023-11-14 22:13:20 UTC"; or in local time, as babeltrace2
 * --clock-date prints it, "2023-11-14 23:13:20.000000000". Return: @buffer.
 */
char *format_date(char *buffer, int64_t ns, bool is_utc);
/* "12.3 MB" */
char *format_bytes(char *buffer, uint64_t bytes);
/* "12.3 M events" */
char *format_events(char *buffer, uint64_t events);
/* A duration in the unit that suits it; "unknown" for NETSYNC_UNKNOWN. */
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

/* A clause that says what a quality means, for people. */
const char *quality_meaning(enum netsync_quality quality);

/*
 * How wrong the mean skew of a host's clock over its span can be, ppm, by the error
 * bounds at both ends; infinite: nothing is known.
 */
double skew_within(const struct netsync *ns, uint32_t host);

void write_table(FILE *out, const struct netsync *ns);

/* Offset and skew of a host's clock at a time on it; false: there is no correction. */
bool clock_at(const struct netsync *ns, uint32_t host, int64_t time_ns,
	      int64_t *offset_ns, double *skew_ppm);

struct outcome;
struct remote_traces;

/* False: there is not enough memory, or @out cannot be written to. */
bool write_json(FILE *out, const struct netsync *ns,
		const struct netsync_io *io, const struct outcome *outcome);

/* Options of babeltrace2, with constant offsets for each CTF trace. */
bool write_bt2_args(FILE *out, const struct netsync *ns,
		    const struct netsync_io *io);
/* Say which traces the options leave out, and which are poor. Return: exit status. */
int explain_bt2_args(const struct netsync *ns, const struct netsync_io *io);

enum outcome_format { FORMAT_TABLE, FORMAT_JSON, FORMAT_BT2_ARGS };

/* Where the traces are from; advice depends on it. */
enum outcome_source { SOURCE_ANY, SOURCE_RECORD, SOURCE_RECORD_BEACON, NUM_SOURCES };

/* Where a result is written, in which format, and how it is judged. */
struct outcome {
	struct destination output;
	unsigned int format;	/* enum outcome_format */
	const char *method;	/* its name */
	int64_t max_bound_ns;	/* the largest bound that is no failure; negative: any */
	unsigned int source;	/* enum outcome_source */
	const struct remote_traces *remote;	/* hosts that were to be read; NULL: none */
	bool is_shared;		/* several processes read: none knows what came to all */
};

#define OUTCOME_DEFAULT { .method = "auto", .max_bound_ns = -1 }

/* output_check() and output_write() for a result. */
bool outcome_check(const struct outcome *outcome);
bool outcome_write(const struct outcome *outcome, const struct netsync *ns,
		   const struct netsync_io *io);
/* Warn of hosts that are not or badly corrected. Return: exit status. */
int outcome_explain(const struct outcome *outcome, const struct netsync *ns);

/* ---- files ------------------------------------------------------------- */

/*
 * Make all folders that lead to a file, except those that end within the first @from
 * bytes of the path. False: that failed, and was said.
 */
bool make_folders(char *path, size_t from);
/*
 * The same, with no more permissions than the folders of @original, which ends as @path.
 */
bool make_folders_like(char *path, size_t from, const char *original);
/* Remove a folder with all that is in it, as far as possible. */
void remove_tree(const char *path);
/*
 * Make the folder @to, with all folders and files of @from but the file @except in it:
 * links to these files, or copies where links cannot be made, which are counted in
 * *@copied. False: something is no file or folder, such as a symbolic link, or an
 * operation failed, which was said; or it was interrupted.
 */
bool link_tree(const char *from, const char *to, const char *except,
	       uint64_t *copied);

/* A file, or a folder with all that is in it. */
struct folder_tree {
	uint64_t bytes;		/* of all files */
	uint64_t room;		/* that everything takes on the disk, bytes */
	mode_t files;		/* permissions that all files have */
	mode_t folders;		/* permissions that all folders have */
};

/* The least that a file or a folder takes on a disk, bytes: a block of ext4 or XFS. */
#define LEAST_ROOM 4096

/* What a file or a folder takes on the disk, bytes; LEAST_ROOM at least. */
uint64_t room_of(const struct stat *info);
/* False: that failed, and was said. */
bool measure_tree(const char *path, struct folder_tree *tree);
/* Remove permissions that the original lacks. False: that failed, and was said. */
bool narrow_tree(const char *path, const struct folder_tree *original);

/* ---- time -------------------------------------------------------------- */

#define NS_PER_S INT64_C(1000000000)

int64_t clock_ns(clockid_t clock);
/* Now, on a clock that nobody sets. */
int64_t now_ns(void);

/* ---- signals ------------------------------------------------------------ */

/* The signal that came; 0: none. */
extern volatile sig_atomic_t interrupted;

/*
 * Handler: notes the first signal in interrupted; a second one takes its default action,
 * after before_end().
 */
void catch_signal(int number);
/* Called before the end; may do what signal-safety(7) allows. NULL: nothing. */
extern void (*volatile before_end)(void);

/*
 * SIGINT, SIGTERM and SIGHUP print what was stopped, by progress_start(), and what
 * note_output() said, and take their default actions.
 */
void explain_stop(void);
/* Is this handler the one of explain_stop(), which ends the process? */
bool is_explaining_handler(void (*handler)(int number));
/* What a signal finds written, such as "nothing was written"; a string that stays. */
void note_output(const char *what);

/* Set the handler of SIGINT, SIGTERM and SIGHUP; an ignored SIGHUP stays ignored. */
void set_ends(void (*handler)(int number));

/* The second signal, with the handlers below; 0: none. */
extern volatile sig_atomic_t hurried;

/*
 * The first of SIGINT, SIGTERM and SIGHUP is noted in interrupted, the second one in
 * hurried, and a third one takes its default action.
 */
void catch_signals_twice(void);
/* SIGINT and SIGTERM print @words, then take their default actions. */
void catch_signals_last(const char *words);

/* ---- results of netsync live -------------------------------------------- */

struct live_host {
	bool running;		/* it is being read */
	bool late;		/* a part of its data went by before */
	bool known;		/* a correction is known */
	int64_t since_ns;	/* from when on there are data, on its clock */
	int64_t at_ns;		/* the time of the values below, on its clock */
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

/* Steps that are shown at most: the last ones of all hosts. Chosen. */
#define LIVE_STEPS 5

struct live_step {
	uint32_t host;
	struct netsync_step step;
};

/* Return: how many steps there are, at most LIVE_STEPS; sorted by corrected time. */
uint32_t live_last_steps(const struct netsync *ns, struct live_step *steps);

void write_live_table(FILE *out, const struct live_state *state);
/* Write a line. False: as of write_json(). */
bool write_live_json(FILE *out, const struct live_state *state);

/* ---- progress ---------------------------------------------------------- */

/* A line on stderr, if that is a terminal and the work takes more than a second. */
struct progress {
	const char *what;	/* work that is being done; at most 32 characters */
	int64_t started_ns;
	int64_t drawn_ns;
	bool is_terminal;
	bool drawn;
	struct sigaction before;	/* action of SIGALRM before progress_wait() */
};

/* The work that was begun last; NULL: none. */
extern const char *volatile current_work;

/* @what: the work, such as "reading" */
void progress_start(struct progress *progress, const char *what);
/*
 * Draw a bar: @done of @total, in bytes or another unit that grows with time. @total 0:
 * the size is unknown, and the line shows the time so far.
 */
void progress_show(struct progress *progress, uint64_t done, uint64_t total);
/*
 * For a call that returns late: a timer draws the time so far until progress_end().
 * SIGALRM must not disturb the call, nor processes that it starts.
 */
void progress_wait(struct progress *progress);
void progress_end(struct progress *progress);
/* Remove the line that is shown, before something else is printed there. */
void progress_hide(void);

#endif
