/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options of a sub-command, as a table: each row has an option's name, its line of
 * --help, and the function that takes its value and reports a bad one.
 */
#ifndef NETSYNC_OPTIONS_H
#define NETSYNC_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct option_row {
	const char *name;  /* without hyphens */
	char letter;	   /* 0 if none */
	const char *value; /* for --help; "[=...]": optional; NULL if none */
	const char *help;  /* lines */
	/*
	 * @value is NULL if there is none. If @value is invalid, print a message and return
	 * false.
	 */
	bool (*take)(void *at, const struct option_row *row, const char *value);
	size_t at; /* offset of the member that the option sets */
	/*
	 * If not NULL, only this and @at are used: the rows of another table, and the
	 * offset of its settings.
	 */
	const struct option_row *table;
	/*
	 * Values that are words, with NULL after the last; a file is also accepted. NULL if
	 * there are no such words, or if they are in @names.
	 */
	const char *const *words;
	/* For the take_...() functions below. */
	union {
		const char *example;
		const char *const *names; /* NULL after the last */
		struct {
			unsigned int least, most;
		};
	};
};

/* A row; further arguments set other members, such as .at = ... */
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

bool take_flag(void *at, const struct option_row *row, const char *value); /* bool */
bool take_text(void *at, const struct option_row *row, const char *value); /* char * */
/* Parse a number from @least to @most of @row, without messages. */
bool is_number(unsigned int *number, const struct option_row *row, const char *value);
/* unsigned int: from @least to @most */
bool take_number(void *at, const struct option_row *row, const char *value);
/* unsigned int: index among @names */
bool take_name(void *at, const struct option_row *row, const char *value);
/* double above 0, ppm; messages give @example, as in the next two */
bool take_ppm(void *at, const struct option_row *row, const char *value);
/* int64_t, ns: 0 or more; take_positive_duration(): above 0 */
bool take_duration(void *at, const struct option_row *row, const char *value);
bool take_positive_duration(void *at, const struct option_row *row, const char *value);
/* uint64_t, bytes above 0 */
bool take_bytes(void *at, const struct option_row *row, const char *value);

struct usage {
	const char *begin, *end; /* text of --help before and after the options */
	const struct option_row *options;
	bool stops;   /* the first argument that is not an option ends the options */
	bool numbers; /* arguments may be negative numbers, such as -1.5 */
};

/*
 * If this is the only argument, options_take() prints its table, for completion/generate.
 * The first line is that of --help. A line for each option follows, with tabs between:
 * its name, its letter, whether it has a value ("none", "some", "maybe"), the name of the
 * value, words that are valid (with "..." after the last: or a file), and its text in
 * --help.
 */
#define OPTIONS_LIST "--list-options"

/*
 * Take all options, with --help, into the settings. Return the index of the first argument
 * after the options; 0 if done (after --help, for example); or a negative value if an option is
 * invalid, after a message.
 */
int options_take(const struct usage *usage, void *settings, int argc, char **argv);

#endif
