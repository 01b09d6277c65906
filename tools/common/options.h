/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of a command's options. Each row has an option's name, its lines in --help, and a function
 * that takes its value and reports an invalid value.
 */
#ifndef NETSYNC_OPTIONS_H
#define NETSYNC_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct option_row {
	const char *name; /* name without hyphens */
	char letter;	  /* letter, or 0 if there is none */
	/*
	 * Name of the value in --help: "[=...]" if the value is optional, NULL if there is no
	 * value.
	 */
	const char *value;
	const char *help; /* text of --help, which may have several lines */
	/*
	 * Process the option. @value is NULL if the option has no value. If @value is invalid,
	 * print a message and return false.
	 */
	bool (*take)(void *at, const struct option_row *row, const char *value);
	size_t at; /* offset of the member that the option sets */
	/*
	 * If not NULL, the rows of another table are inserted here. @at is then the offset of this
	 * table's settings, and all other members are unused.
	 */
	const struct option_row *table;
	/*
	 * Words that are valid values, followed by NULL. The value may also be a file. NULL if
	 * there are no such words or if @names contains them.
	 */
	const char *const *words;
	/* Members for the take_...() functions below. */
	union {
		const char *example;
		const char *const *names; /* followed by NULL */
		struct {
			unsigned int least, most;
		};
	};
};

/* A row of a table. Additional arguments set other members, such as .at = ... */
#define OPTION(name_, letter_, value_, help_, take_, ...)                                        \
	{                                                                                        \
		.name = name_, .letter = letter_, .value = value_, .help = help_, .take = take_, \
		##__VA_ARGS__                                                                    \
	}
/* The row that ends a table. */
#define OPTIONS_END          \
	{                    \
		.name = NULL \
	}

bool parse_flag_option(void *at, const struct option_row *row, const char *value); /* sets a bool */
bool parse_text_option(void *at, const struct option_row *row,
		       const char *value); /* sets a char * */
/* Parse a number within the limits of @row. Do not print a message. */
bool parse_number_value(unsigned int *number, const struct option_row *row, const char *value);
/* Set an unsigned int to a number from @least to @most. */
bool parse_number_option(void *at, const struct option_row *row, const char *value);
/* Set an unsigned int to an index of @names. */
bool parse_name_option(void *at, const struct option_row *row, const char *value);
/*
 * Set a double to a positive number of ppm. Error messages contain @example, like those of the next
 * functions.
 */
bool parse_ppm_option(void *at, const struct option_row *row, const char *value);
/*
 * Set an int64_t to a duration in ns, which may be 0. parse_positive_duration_option() does not
 * accept 0.
 */
bool parse_duration_option(void *at, const struct option_row *row, const char *value);
bool parse_positive_duration_option(void *at, const struct option_row *row, const char *value);
/*
 * Set an int64_t to a duration in ns, which may be 0. A number without a unit is in seconds.
 */
bool parse_seconds_option(void *at, const struct option_row *row, const char *value);
/* Set a uint64_t to a positive number of bytes. */
bool parse_bytes_option(void *at, const struct option_row *row, const char *value);

struct usage {
	const char *begin, *end; /* texts of --help before and after the options */
	const struct option_row *options;
	bool stops;   /* whether the first argument that is not an option ends the options */
	bool numbers; /* arguments may be negative numbers, such as -1.5 */
};

/*
 * If this is the only argument, options_parse_all() prints the table of options for
 * completion/generate. The first line is that of --help. Each option then has a line whose fields
 * are separated by tabs: its name, its letter, whether it has a value ("none", "some", "maybe"),
 * the value's name, the valid words (followed by "..." if a file is accepted, too), and its text in
 * --help.
 */
#define OPTIONS_LIST "--list-options"

/*
 * Parse all options, including --help, and store them in @settings. Return the index of the first
 * argument after the options. Return 0 if the command is done, for example after --help. If an
 * option is invalid, print a message and return a negative value.
 */
int options_parse_all(const struct usage *usage, void *settings, int argc, char **argv);

#endif
