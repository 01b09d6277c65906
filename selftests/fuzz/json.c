// SPDX-License-Identifier: GPL-2.0-only
/* Fuzz result files. A file must be refused, or its clocks must be usable. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../tools/common/result-file.h"

static char path[] = "/dev/shm/netsync-fuzz-XXXXXX";
static int file = -1;

static void remove_file(void)
{
	unlink(path);
}

static void use_model_clock(struct model *model, const struct model_host *host)
{
	const struct model_host *found;
	struct netsync_clock *clock;
	int64_t time_ns, bound_ns, shift_ns;

	if (!model_read_clock(model, host, &clock)) {
		for (int shift = 0; shift < 63; shift += 3)
			netsync_convert(clock, INT64_C(1) << shift, &time_ns, &bound_ns);
		netsync_clock_free(clock);
	}
	if (host->has_traces && !model_find_clock(model, &host->clock, &found))
		model_find_shift(model, found, &host->clock, &shift_ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct model model;

	if (file < 0) {
		file = mkstemp(path);
		atexit(remove_file);
	}
	if (file < 0 || ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size) {
		perror(path);
		abort();
	}
	if (!model_open(&model, path))
		for (size_t i = 0; i < model.num_hosts; i++)
			use_model_clock(&model, &model.hosts[i]);
	model_close(&model);
	return 0;
}
