# SPDX-License-Identifier: GPL-2.0-only
# Builds and runs the benchmarks; included by the Makefile.

.PHONY: bench
bench: $(BUILD)/selftests/bench/bench
	$(MAKE) --no-print-directory bench-text
	$<
	$(MAKE) --no-print-directory bench-readers

.PHONY: bench-module
bench-module: tests
	selftests/rig/setup guest
	$(MAKE) --no-print-directory -s -C selftests/rig modules
	selftests/run selftests/module/test_cost

.PHONY: bench-sources
bench-sources: tests
	selftests/rig/setup guest
	$(MAKE) --no-print-directory -s -C selftests/rig modules
	selftests/run selftests/bench/sources

HOURS ?= 24
.PHONY: bench-stream
bench-stream: $(BUILD)/selftests/bench/bench
	$< --stream $(HOURS)

SEEDS ?= 8
.PHONY: bench-truth
bench-truth: $(BUILD)/selftests/bench/truth
	$< --seeds $(SEEDS) $(CASES)

WORLDS ?= 0 100
.PHONY: bench-worlds
bench-worlds: all
	selftests/rig/setup check
	LD_LIBRARY_PATH=$(BUILD) selftests/bench/worlds $(WORLDS) $(if $(CLASS),--class $(CLASS))

FIRST ?= 0
LAST ?= 2199
.PHONY: bench-judge
bench-judge: all
	LD_LIBRARY_PATH=$(BUILD) selftests/judge/judge --first $(FIRST) --last $(LAST) \
		$(if $(CLASS),--class $(CLASS))

.PHONY: bench-readers
bench-readers: all
	selftests/bench/readers

.PHONY: bench-requests
bench-requests: all
	selftests/bench/requests

# Number of messages that are pushed without a file. Memory is not meaningful below 1e7.
MESSAGES ?= 1e9
.PHONY: bench-scale
bench-scale: all $(BUILD)/selftests/bench/scale
	selftests/rig/setup build field mpi
	$(MAKE) --no-print-directory mpi MPICC=mpicc.openmpi
	selftests/bench/ranks
	$(BUILD)/selftests/bench/scale $(MESSAGES)

.PHONY: bench-fleet
bench-fleet: all $(BUILD)/selftests/recorder/simulated
	selftests/bench/fleet

.PHONY: bench-text
bench-text: $(BUILD)/selftests/bench/text $(TOOL)
	$< $(TOOL)

# Files shared by the benchmarks.
BENCH_SRC := $(addprefix selftests/bench/,cluster.c digest.c floor.c measure.c prior.c)
BENCH_HDR := $(BENCH_SRC:.c=.h)

$(BUILD)/selftests/bench/%: selftests/bench/%.c $(BENCH_SRC) $(BENCH_HDR) $(CORE_A)
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.c,$^) $(CORE_A) -lm -pthread

# The command and its libraries in one program, so that calls between files can go through
# stages.c. The command's own names are renamed where the libraries have the same.
STAGE_CALLS := netsync_io_read netsync_io_free netsync_push_message netsync_solve \
	matcher_settle pairs_raise pairs_settle reduce reduction_find_islands \
	reduction_fit_hosts reduction_fit_jointly reduction_fit_steered reduction_make_clock

$(BUILD)/selftests/bench/tool.o: $(SHARED_OBJ)
	@mkdir -p $(@D)
	$(LD) -r -o $@ $^
	$(OBJCOPY) --keep-global-symbol=cmd_sync $@

$(BUILD)/selftests/bench/text: selftests/bench/text.c selftests/bench/stages.c \
		selftests/bench/stages.h $(BENCH_SRC) $(BENCH_HDR) \
		$(BUILD)/selftests/bench/tool.o $(IO_OBJ) $(CORE_A)
	$(CC) $(BASE_CFLAGS) -Ilibnetsync -Itools $(CFLAGS) $(LDFLAGS) \
		$(STAGE_CALLS:%=-Wl,--wrap=%) -o $@ $(filter-out %.h %.a,$^) $(CORE_A) \
		$(filter-out $(SHARED_A) -lnetsync-io -lnetsync,$(TOOL_LIBS)) $(ZIP_LIBS)
