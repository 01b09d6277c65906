/* SPDX-License-Identifier: GPL-2.0-only */
/* Sentences for people, on stderr. */
#ifndef NETSYNC_COMPLAIN_H
#define NETSYNC_COMPLAIN_H

#include <stdbool.h>

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

#endif
