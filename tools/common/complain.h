/* SPDX-License-Identifier: GPL-2.0-only */
/* Print messages for people on stderr. */
#ifndef NETSYNC_COMPLAIN_H
#define NETSYNC_COMPLAIN_H

#include <stdbool.h>

/* The program's name, which begins each message. */
extern const char *complainer;

/* Print a message to stderr, after the program's name. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Print a message about a file or directory, with the reason in errno. Return false. */
bool complain_of_path(const char *path);
/* Print that there is not enough memory. Return false. */
bool complain_no_memory(void);
/* Replace each character that a terminal would interpret by '?'. */
void make_text_printable(char *text);

#endif
