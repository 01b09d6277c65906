/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sub-commands. argv[0] is the name of the sub-command. Each function returns the
 * exit status.
 */
#ifndef NETSYNC_COMMANDS_H
#define NETSYNC_COMMANDS_H

int cmd_sync(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_apply(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_clock_log(int argc, char **argv);

#endif
