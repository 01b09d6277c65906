/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sub-commands of netsync-record. argv[0] is the sub-command's name. Return the exit
 * status.
 */
#ifndef NETSYNC_RECORD_COMMANDS_H
#define NETSYNC_RECORD_COMMANDS_H

int cmd_record(int argc, char **argv);
int cmd_live(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_agent(int argc, char **argv);

#endif
