/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of a sub-command's options. Each row has an option's name, its line in --help,
 * and the function that takes its value and reports an invalid one.
 */
#ifndef NETSYNC_OPTIONS_H
#define NETSYNC_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct option_row {
	const char *name; /* name without hyphens */
	char letter;	  /* 0 if none */
	/* Name of the value in --help; "[=...]" if optional; NULL if there is none. */
	const char *value;
	const char *help; /* lines of --help */
	/*
	 * Take the option. @value is NULL if the option has none. If @value is invalid, print a
	 * message and return false.
	 */
	bool (*take)(void *at, const struct option_row *row, const char *value);
	size_t at; /* offset of the member that the option sets */
	/*
	 * If not NULL, the rows of another table are used, and @at is the offset of its
	 * settings. All other members are then unused.
	 */
	const struct option_row *table;
	/*
	 * Words that are valid values, followed by NULL; a file is accepted as well. NULL if
	 * there are no such words, or if they are in @names.
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

/* A row of a table. Further arguments set other members, such as .at = ... */
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
/* Parse a number within the limits of @row, without printing messages. */
bool parse_number_value(unsigned int *number, const struct option_row *row, const char *value);
/* Set an unsigned int, from @least to @most. */
bool parse_number_option(void *at, const struct option_row *row, const char *value);
/* Set an unsigned int to an index of @names. */
bool parse_name_option(void *at, const struct option_row *row, const char *value);
/* Set a double above 0, in ppm. Messages show @example, as do those of the next functions. */
bool parse_ppm_option(void *at, const struct option_row *row, const char *value);
/* Set an int64_t, in ns, of at least 0; parse_positive_duration_option() requires more than 0. */
bool parse_duration_option(void *at, const struct option_row *row, const char *value);
bool parse_positive_duration_option(void *at, const struct option_row *row, const char *value);
/* Set a uint64_t, in bytes, above 0. */
bool parse_bytes_option(void *at, const struct option_row *row, const char *value);

struct usage {
	const char *begin, *end; /* texts of --help before and after the options */
	const struct option_row *options;
	bool stops;   /* the first argument that is not an option ends the options */
	bool numbers; /* arguments may be negative numbers, such as -1.5 */
};

/*
 * If this is the only argument, options_parse_all() prints its table, for completion/generate.
 * The first line is that of --help. Then there is a line for each option, with fields
 * separated by tabs: its name, its letter, whether it has a value ("none", "some",
 * "maybe"), the name of the value, the valid words (followed by "..." if a file is also
 * accepted), and its text in --help.
 */
#define OPTIONS_LIST "--list-options"

/*
 * Parse all options, including --help, into the settings. Return the index of the first argument
 * after the options, 0 if nothing more is to be done (after --help, for example), or a negative
 * value, after a message, if an option is invalid.
 */
int options_parse_all(const struct usage *usage, void *settings, int argc, char **argv);

#endif
