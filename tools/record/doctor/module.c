// SPDX-License-Identifier: GPL-2.0-only
/* Finds out whether the running kernel can load a kernel module, for netsync doctor. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "doctor.h"
#include "module.h"

static bool is_module_loaded(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/%s", name);
	for (char *at = path; *at; at++)
		if (*at == '-')
			*at = '_';
	return !access(path, F_OK);
}

/* Does a modules.dep file list the module? */
static bool is_module_listed(const char *list, const char *name)
{
	FILE *file = fopen(list, "re");
	char *line = NULL, wanted[64];
	size_t size = 0;
	bool listed = false;

	if (!file)
		return false;
	snprintf(wanted, sizeof(wanted), "/%s.ko", name);
	while (!listed && getline(&line, &size, file) > 0) {
		line[strcspn(line, ":")] = '\0';
		listed = strstr(line, wanted);
	}
	free(line);
	fclose(file);
	return listed;
}

/* Find a kernel that has the module, other than the running kernel. */
static void find_module_elsewhere(struct module *module)
{
	glob_t lists;

	if (glob("/lib/modules/*/modules.dep", 0, NULL, &lists))
		return;
	for (size_t i = 0; i < lists.gl_pathc; i++) {
		const char *kernel = lists.gl_pathv[i] + strlen("/lib/modules/");

		if (!is_module_listed(lists.gl_pathv[i], module->name))
			continue;
		module->presence = FOR_OTHERS;
		snprintf(module->others, sizeof(module->others), "%.*s", (int)strcspn(kernel, "/"),
			 kernel);
	}
	globfree(&lists);
}

/* Return a field of modinfo's output, or NULL if it is unknown. The caller frees the field. */
static char *read_module_info(const char *name, char *field)
{
	char *const argv[] = { "modinfo", "-F", field, (char *)name, NULL };
	int status;
	char *text = run_and_read_program(argv, &status);

	if (!status)
		return text;
	free(text);
	return NULL;
}

struct module find_module(const char *name)
{
	struct module module = { .name = name };
	struct utsname system;
	char list[256], *version;

	uname(&system);
	snprintf(list, sizeof(list), "/lib/modules/%s/modules.dep", system.release);
	if (is_module_loaded(name))
		module.presence = LOADED;
	else if (is_module_listed(list, name))
		module.presence = LOADABLE;
	else
		find_module_elsewhere(&module);
	version = module.presence >= LOADABLE ? read_module_info(name, "version") : NULL;
	snprintf(module.version, sizeof(module.version), "%s",
		 version ? find_version_word(version) : "");
	free(version);
	return module;
}

bool is_module_refused(const struct module *module)
{
	char line[128], *signer;
	bool refused;

	if (module->presence != LOADABLE)
		return false;
	read_first_line("/sys/module/module/parameters/sig_enforce", line, sizeof(line));
	if (*line != 'Y') {
		read_first_line("/sys/kernel/security/lockdown", line, sizeof(line));
		if (!strstr(line, "[integrity]") && !strstr(line, "[confidentiality]"))
			return false;
	}
	signer = read_module_info(module->name, "signer");
	refused = signer && !*signer;
	free(signer);
	return refused;
}
