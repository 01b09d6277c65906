/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options of a sub-command, as a table: a row says what an option is called, what
 * --help says of it, and what becomes of its value. Whatever takes one complains of
 * what it cannot take.
 */
#ifndef NETSYNC_OPTIONS_H
#define NETSYNC_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct option_row {
	const char *name;	/* without hyphens */
	char letter;		/* 0: none */
	const char *value;	/* for --help; "[=...]": it can be left out; NULL: none */
	const char *help;	/* lines */
	/* @value: NULL if there is none. False: it was said what is wrong with it. */
	bool (*take)(void *at, const struct option_row *row, const char *value);
	size_t at;		/* in the settings: what that sets */
	/* In place of all that, the rows of another table, whose settings are at @at. */
	const struct option_row *table;
	/* For those below. */
	union {
		const char *example;
		const char *const *names;	/* NULL after the last */
		struct {
			unsigned int least, most;
		};
	};
};

/* A row; behind @take_ what else it needs, such as .at. */
#define OPTION(name_, letter_, value_, help_, take_, ...) \
	{ .name = name_, .letter = letter_, .value = value_, .help = help_, \
	  .take = take_, ##__VA_ARGS__ }
/* What ends a table. */
#define OPTIONS_END { .name = NULL }

bool take_flag(void *at, const struct option_row *row, const char *value);	/* bool */
bool take_text(void *at, const struct option_row *row, const char *value);	/* char * */
/* From @least to @most of @row; complains of nothing. */
bool is_number(unsigned int *number, const struct option_row *row,
	       const char *value);
/* unsigned int: from @least to @most */
bool take_number(void *at, const struct option_row *row, const char *value);
/* unsigned int: which of @names it is */
bool take_name(void *at, const struct option_row *row, const char *value);
/* double above 0; with an @example, as the next two */
bool take_ppm(void *at, const struct option_row *row, const char *value);
/* int64_t, ns; the first one may be 0 */
bool take_duration(void *at, const struct option_row *row, const char *value);
bool take_positive_duration(void *at, const struct option_row *row,
			    const char *value);
/* uint64_t, bytes above 0 */
bool take_bytes(void *at, const struct option_row *row, const char *value);

struct usage {
	const char *begin, *end;	/* of what --help says: before and after the options */
	const struct option_row *options;
	bool stops;		/* what follows the first argument is no option */
};

/*
 * What has options_take() print its table, for completion/generate: on the first line
 * what --help begins with, then a line for each option, with tabs between its name, its
 * letter, whether it has a value ("none", "some", "maybe"), what that is called, which
 * words it can be, and what --help says.
 */
#define OPTIONS_LIST "--list-options"

/*
 * Take all options, with --help, into the settings.
 * Return: where in @argv the other arguments begin; 0: there is nothing to do but
 * what was done; negative: something was wrong, and that was said.
 */
int options_take(const struct usage *usage, void *settings, int argc,
		 char **argv);

#endif
