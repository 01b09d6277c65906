/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel modules in /sys/module and modules.dep. */
#ifndef NETSYNC_DOCTOR_MODULE_H
#define NETSYNC_DOCTOR_MODULE_H

#include <stdbool.h>

enum presence { ABSENT, FOR_OTHERS, LOADABLE, LOADED };

struct module {
	const char *name;	/* its name as an argument of modprobe */
	enum presence presence; /* whether the running kernel has the module */
	char others[64];	/* for FOR_OTHERS, a kernel that has the module */
	char version[32];	/* empty if unknown */
};

/* Find a module; @name must outlive the result. */
struct module find_module(const char *name);
/* Would the kernel refuse the module for lack of a signature? */
bool is_module_refused(const struct module *module);

#endif
