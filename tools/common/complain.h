/* SPDX-License-Identifier: GPL-2.0-only */
/* Print messages for people to stderr. */
#ifndef NETSYNC_COMPLAIN_H
#define NETSYNC_COMPLAIN_H

#include <stdbool.h>

/* Name of the program. Each message begins with this name. */
extern const char *complainer;

/* Print a message to stderr. The program's name precedes the message. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Print a message about a file or directory. errno is the reason. Return false. */
bool complain_about_path(const char *path);
/* Print a message that there is not enough memory. Return false. */
bool complain_no_memory(void);
/* Replace each character that a terminal would interpret by '?'. */
void make_text_printable(char *text);

#endif
