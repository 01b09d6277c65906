// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz saved messages. Saved messages must be refused without changing anything, or they are
 * merged, merged again and solved.
 */
#include <stdint.h>
#include <stdlib.h>

#include <netsync.h>

static int ignore_bytes(void *data, const void *bytes, size_t size)
{
	(void)data;
	(void)bytes;
	(void)size;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/*
	 * Computing curves for time spans of decades takes seconds. The fuzzer "reader" tests such
	 * messages.
	 */
	const struct netsync_options opt = { .size = sizeof(opt), .method = NETSYNC_METHOD_HULL };
	struct netsync *ns = netsync_new();
	const int ret = netsync_merge_messages(ns, data, size);

	if (ret && netsync_num_hosts(ns))
		abort();
	if (!ret) {
		netsync_merge_messages(ns, data, size);
		netsync_solve(ns, &opt);
		netsync_save_messages(ns, ignore_bytes, NULL);
	}
	netsync_free(ns);
	return 0;
}
