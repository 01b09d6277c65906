/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sub-commands of netsync-analysis. argv[0] is the sub-command's name. Return the
 * exit status.
 */
#ifndef NETSYNC_ANALYSIS_COMMANDS_H
#define NETSYNC_ANALYSIS_COMMANDS_H

int cmd_states(int argc, char **argv);
int cmd_path(int argc, char **argv);
int cmd_stragglers(int argc, char **argv);

#endif
