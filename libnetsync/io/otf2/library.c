// SPDX-License-Identifier: LGPL-2.1-or-later
/* Load OTF2's library, the version with which netsync was built. */
#ifdef OTF2_SONAME
#include <dlfcn.h>

#include "io/otf2/library.h"

#define LOAD(member, name)                                              \
	library.member = (__typeof__(library.member))dlsym(file, name); \
	is_whole &= !!library.member
#define LOAD_FUNCTION(name) LOAD(name, "OTF2_" #name)
#define LOAD_EVENT(name) LOAD(set_##name, "OTF2_EvtReaderCallbacks_Set" #name "Callback")
#define LOAD_DEFINITION(name) LOAD(set_##name, "OTF2_GlobalDefReaderCallbacks_Set" #name "Callback")

const struct otf2_library *otf2_load_library(const char **why)
{
	static struct otf2_library library;
	void *file = dlopen(OTF2_SONAME, RTLD_NOW | RTLD_LOCAL);
	bool is_whole = true;

	*why = "the library " OTF2_SONAME
	       " is not installed; install it (Debian: libopen-trace-format2-10)";
	if (!file)
		return NULL;
	OTF2_FUNCTIONS(LOAD_FUNCTION);
	OTF2_EVENTS(LOAD_EVENT);
	OTF2_DEFINITIONS(LOAD_DEFINITION);
	*why = "the library " OTF2_SONAME " lacks functions; netsync needs OTF2 3.0 or newer";
	return is_whole ? &library : NULL;
}
#endif
