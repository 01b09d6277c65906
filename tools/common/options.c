// SPDX-License-Identifier: GPL-2.0-only
/*
 * Convert tables of options to the arguments of getopt_long() and to the text of --help, and read
 * the values of options.
 */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "nearest.h"
#include "options.h"
#include "value.h"

/* ---- values ------------------------------------------------------------ */

/* Print a message that says what kind of value an option needs, such as "a time". Return false. */
static bool complain_about_value(const struct option_row *row, const char *value, const char *what)
{
	complain("--%s %s: give %s such as %s.", row->name, value, what, row->example);
	return false;
}

bool parse_flag_option(void *at, const struct option_row *row, const char *value)
{
	(void)row;
	(void)value;
	*(bool *)at = true;
	return true;
}

bool parse_text_option(void *at, const struct option_row *row, const char *value)
{
	(void)row;
	*(const char **)at = value;
	return true;
}

bool parse_number_value(unsigned int *number, const struct option_row *row, const char *value)
{
	char *end;
	const unsigned long full = strtoul(value, &end, 10);

	*number = full;
	return isdigit((unsigned char)*value) && !*end && full >= row->least && full <= row->most;
}

bool parse_number_option(void *at, const struct option_row *row, const char *value)
{
	if (parse_number_value(at, row, value))
		return true;
	complain("--%s %s: give a number from %u to %u.", row->name, value, row->least, row->most);
	return false;
}

bool parse_name_option(void *at, const struct option_row *row, const char *value)
{
	unsigned int *which = at;
	char *list = NULL;
	size_t size;
	FILE *out;

	for (*which = 0; row->names[*which]; ++*which)
		if (!strcmp(value, row->names[*which]))
			return true;
	out = open_memstream(&list, &size);
	for (unsigned int i = 0; out && row->names[i]; i++)
		fprintf(out, "%s%s", !i ? "" : row->names[i + 1] ? ", " : " and ", row->names[i]);
	if (out)
		fclose(out);
	complain("--%s %s: give one of %s.", row->name, value, list ? list : "");
	free(list);
	return false;
}

bool parse_ppm_option(void *at, const struct option_row *row, const char *value)
{
	double *ppm = at;
	char *end;

	errno = 0;
	*ppm = strtod(value, &end);
	return (end != value && !*end && !errno && *ppm > 0 && *ppm < 1e6) ||
	       complain_about_value(row, value, "a number of ppm above 0,");
}

bool parse_duration_option(void *at, const struct option_row *row, const char *value)
{
	return parse_duration(value, at) || complain_about_value(row, value, "a time");
}

bool parse_positive_duration_option(void *at, const struct option_row *row, const char *value)
{
	return (parse_duration(value, at) && *(int64_t *)at > 0) ||
	       complain_about_value(row, value, "a time");
}

bool parse_seconds_option(void *at, const struct option_row *row, const char *value)
{
	char seconds[VALUE_SIZE];

	snprintf(seconds, sizeof(seconds), "%s%s", value,
		 value[strspn(value, "0123456789.")] ? "" : "s");
	return parse_positive_duration_option(at, row, seconds);
}

bool parse_bytes_option(void *at, const struct option_row *row, const char *value)
{
	return parse_bytes(value, at) || complain_about_value(row, value, "a size");
}

/* ---- tables ------------------------------------------------------------ */

/* Maximum number of options of a command. netsync states has 27. */
#define MAX_OPTIONS 40

struct options {
	const struct option_row *rows[MAX_OPTIONS];
	void *at[MAX_OPTIONS];
	unsigned int num;
};

static const struct option_row help_rows[] = { OPTION("help", 'h', NULL, "print this help", NULL),
					       OPTIONS_END };

static void collect_options(struct options *all, const struct option_row *row, char *at)
{
	for (; row->name || row->table; row++) {
		if (row->table) {
			collect_options(all, row->table, at + row->at);
			continue;
		}
		assert(all->num < MAX_OPTIONS);
		all->rows[all->num] = row;
		all->at[all->num++] = at + row->at;
	}
}

/* Is the value of an option optional? */
static bool is_value_optional(const struct option_row *row)
{
	return !strncmp(row->value, "[=", 2);
}

/* Column in which texts begin in --help. After longer options, two blanks precede the text. */
#define HELP_COLUMN 25

static void print_option_help(const struct usage *usage, const struct options *all)
{
	fputs(usage->begin, stdout);
	for (unsigned int i = 0; i < all->num; i++) {
		const struct option_row *row = all->rows[i];
		const bool apart = row->value && !is_value_optional(row);
		int width = row->letter ? printf("  -%c, ", row->letter) : printf("      ");

		width += printf("--%s%s%s", row->name, apart ? " " : "",
				row->value ? row->value : "");
		printf("%*s", width < HELP_COLUMN ? HELP_COLUMN - width : 2, "");
		for (const char *line = row->help; *line;) {
			const int length = strcspn(line, "\n");

			printf("%*s%.*s\n", line == row->help ? 0 : HELP_COLUMN, "", length, line);
			line += length + (line[length] == '\n');
		}
	}
	fputs(usage->end, stdout);
}

static void list_option_names(const struct usage *usage, const struct options *all)
{
	printf("%.*s\n", (int)strcspn(usage->begin, "\n"), usage->begin);
	for (unsigned int i = 0; i < all->num; i++) {
		const struct option_row *row = all->rows[i];
		const char *const *names = row->take == parse_name_option ? row->names : row->words;

		printf("%s\t%.*s\t%s\t%s\t", row->name, row->letter != 0, &row->letter,
		       !row->value	      ? "none" :
		       is_value_optional(row) ? "maybe" :
						"some",
		       row->value ? row->value : "");
		for (; names && *names; names++)
			printf("%s%s%s", *names, names[1] ? " " : "",
			       names[1] || !row->words ? "" : " ...");
		putchar('\t');
		for (const char *c = row->help; *c; c++)
			putchar(*c == '\n' ? ' ' : *c);
		putchar('\n');
	}
}

/* If getopt_long() rejects an option, suggest the option that the user may have meant. */
static void suggest_option(const struct options *all, const char *typed)
{
	char *name = strncmp(typed, "--", 2) ? NULL : strndup(typed + 2, strcspn(typed + 2, "="));
	struct nearest nearest = { .typed = name };

	for (unsigned int i = 0; i < all->num && name; i++) {
		/* The name is an option or an abbreviation, and a message was already printed. */
		if (!strncmp(all->rows[i]->name, name, strlen(name))) {
			free(name);
			return;
		}
		nearest_consider_word(&nearest, all->rows[i]->name);
	}
	if (nearest.word)
		complain("Did you mean --%s?", nearest.word);
	free(name);
}

/*
 * First number by which getopt_long() identifies options without a letter. The number is higher
 * than all letters.
 */
#define NO_LETTER 256
/* Characters that can follow the sign of a negative number. */
#define NUMBER_LETTERS "0123456789"

/*
 * Write the first characters of getopt_long()'s string of letters. These characters determine how
 * getopt_long() treats arguments that are not options.
 */
static char *put_first_letters(char *letters, const struct usage *usage)
{
	*letters = usage->numbers ? '-' : '+';
	letters += usage->numbers || usage->stops;
	for (const char *c = NUMBER_LETTERS; usage->numbers && *c; c++)
		letters += sprintf(letters, "%c::", *c);
	return letters;
}

/*
 * Return whether an argument is not part of an option. getopt_long() returned it in its order on
 * the command line.
 */
static bool is_positional_argument(const struct usage *usage, int option)
{
	return usage->numbers &&
	       (option == 1 || (option < NO_LETTER && strchr(NUMBER_LETTERS, option)));
}

int options_parse_all(const struct usage *usage, void *settings, int argc, char **argv)
{
	struct option longs[MAX_OPTIONS + 1] = { 0 };
	char letters[2 * MAX_OPTIONS + 3 * sizeof(NUMBER_LETTERS) + 2] = { 0 };
	char *end = put_first_letters(letters, usage);
	struct options all = { .num = 0 };
	int option, others = 0;

	collect_options(&all, usage->options, settings);
	collect_options(&all, help_rows, settings);
	if (argc == 2 && !strcmp(argv[1], OPTIONS_LIST)) {
		list_option_names(usage, &all);
		return 0;
	}
	for (unsigned int i = 0; i < all.num; i++) {
		const struct option_row *row = all.rows[i];

		longs[i].name = row->name;
		longs[i].has_arg = !row->value		  ? no_argument :
				   is_value_optional(row) ? optional_argument :
							    required_argument;
		longs[i].val = row->letter ? row->letter : NO_LETTER + (int)i;
		if (row->letter) {
			*end++ = row->letter;
			if (row->value)
				*end++ = ':';
		}
	}
	while ((option = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		unsigned int i = 0;

		if (is_positional_argument(usage, option)) {
			argv[1 + others++] = argv[optind - 1];
			continue;
		}
		while (i < all.num && longs[i].val != option)
			i++;
		/* getopt_long() has already printed a message about the unknown option. */
		if (i == all.num) {
			suggest_option(&all, argv[optind - 1]);
			return -1;
		}
		if (option == help_rows->letter) {
			print_option_help(usage, &all);
			return 0;
		}
		if (!all.rows[i]->take(all.at[i], all.rows[i], optarg))
			return -1;
	}
	memmove(argv + optind - others, argv + 1, (size_t)others * sizeof(*argv));
	return optind - others;
}
