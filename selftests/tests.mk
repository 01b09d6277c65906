# SPDX-License-Identifier: GPL-2.0-only
# Builds and runs the tests; included by the Makefile.

LIB_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard selftests/lib/test_*.c)) \
	$(BUILD)/selftests/io/test_worker $(BUILD)/selftests/io/test_stream $(BUILD)/selftests/io/test_spans \
	$(BUILD)/selftests/sanitized/test_threads \
	$(BUILD)/selftests/fuzz/random_api
TOOL_TESTS := $(wildcard selftests/tools/test_*)
PYTHON_TESTS := $(wildcard selftests/python/test_*)
# Claims of the library in simulated clusters, compared with the true clocks.
JUDGE_TESTS := selftests/judge/test_judge
# Tests of the program that is copied to hosts without netsync.
RECORDER_TESTS := $(BUILD)/selftests/recorder/test_cut $(BUILD)/selftests/recorder/test_wall_clock \
	selftests/recorder/test_recorder selftests/recorder/test_bpf \
	selftests/recorder/test_containers selftests/recorder/test_travel \
	selftests/recorder/test_ssh selftests/recorder/test_follow selftests/recorder/test_fleet
# Checks the lists of files in packages.
PACKAGE_LISTS := selftests/packaging/test_files
# Commands of README.md and the tutorials that need no other machine; check-readme types
# the others.
README_COMMANDS := selftests/readme/test_commands selftests/docs/test_tutorials
# Tests of the source that take almost no time.
SOURCE_TESTS := $(filter-out %/test_style,$(wildcard selftests/style/test_*))
GUEST_TESTS := $(filter-out %.c,$(wildcard selftests/module/test_*))
# Tests that boot guests, record in them, and check the recordings.
RECORDING_TESTS := $(wildcard selftests/netns/test_* selftests/pair/test_*)

# Tests of recording in the field; the short ones are part of "make check".
FIELD_PROGS := $(patsubst %.c,$(BUILD)/%,$(wildcard selftests/field/test_*.c))
FIELD_TESTS := $(FIELD_PROGS) $(filter-out %.c,$(wildcard selftests/field/test_*)) \
	selftests/newest/test_newest
FIELD_SHORT := $(FIELD_PROGS) $(addprefix selftests/field/,test_doctor \
	test_doctor_fix test_folders test_relay test_relay_hostile test_record test_hostile test_stay \
	test_three)

$(BUILD)/selftests/field/test_neighbours: selftests/field/test_neighbours.c \
		$(BUILD)/tools/remote/beacon.o $(BUILD)/tools/common/now.o
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -Itools $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka

$(BUILD)/selftests/field/test_child: selftests/field/test_child.c \
		$(BUILD)/tools/common/child.o $(BUILD)/tools/common/now.o
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -Itools $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka

$(BUILD)/selftests/field/test_buffers: selftests/field/test_buffers.c \
		$(BUILD)/tools/record/agent/buffers.o
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -Itools $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka

# Library tests use internal functions.
$(BUILD)/selftests/lib/%: selftests/lib/%.c $(CORE_A)
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -Ilibnetsync $(CFLAGS) $(LDFLAGS) -o $@ $< $(CORE_A) \
		-lcmocka -lm -pthread

$(BUILD)/selftests/io/test_worker: selftests/io/test_worker.c $(wildcard libnetsync/io/worker/*.[ch])
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -Ilibnetsync $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.c,$^) -lcmocka

$(BUILD)/selftests/io/test_stream: selftests/io/test_stream.c \
		$(wildcard libnetsync/io/stream/*.[ch] libnetsync/io/worker/*.[ch])
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -Ilibnetsync $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.c,$^) -lcmocka -lm

$(BUILD)/selftests/io/test_spans: selftests/io/test_spans.c libnetsync/io/names.c \
		$(addprefix libnetsync/io/spans/,calls.c calls.h decimal.c decimal.h relations.c relations.h \
			span-name.c span-name.h star.c)
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -Ilibnetsync $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.c,$^) -lcmocka -lm

# Tests of threads in the core with ThreadSanitizer.
$(BUILD)/selftests/sanitized/test_threads: selftests/lib/test_threads.c $(CORE_SRC) $(wildcard libnetsync/*/*.h)
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -Ilibnetsync -O1 -g -fsanitize=thread $(LDFLAGS) -o $@ \
		$(filter %.c,$^) -lcmocka -lm -pthread

$(BUILD)/selftests/recorder/test_cut: tools/recorder/cut.c tools/recorder/cut.h
$(BUILD)/selftests/recorder/test_wall_clock: tools/recorder/wall-clock.c tools/recorder/wall-clock.h \
	$(addprefix tools/common/,clock-watch.c clock-reading.c now.c)
$(BUILD)/selftests/recorder/test_wall_clock: LDFLAGS += $(addprefix -Wl$(comma)--wrap=, \
	clock_gettime timerfd_create timerfd_settime read close)
$(BUILD)/selftests/recorder/test_%: selftests/recorder/test_%.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -Itools -g $(SANITIZERS) $(CFLAGS) $(LDFLAGS) -o $@ \
		$(filter %.c,$^) -lcmocka

# A clock that runs faster, for selftests/recorder/test_travel.
FAST_CLOCK := $(BUILD)/selftests/recorder/fast-clock.so
$(FAST_CLOCK): selftests/recorder/fast-clock.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -fPIC $(CFLAGS) -shared $(LDFLAGS) -o $@ $<

# A simulated host, for selftests/recorder/test_fleet and selftests/bench/fleet.
SIMULATED := $(BUILD)/selftests/recorder/simulated
$(SIMULATED): selftests/recorder/simulated.c tools/recorder/pcapng.c tools/recorder/pcapng.h
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -Itools $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.c,$^) -lm

# Counts BPF programs in a guest that has nothing but sshd, for selftests/recorder/test_guests.
BPF_PROGRAMS := $(BUILD)/selftests/recorder/bpf-programs
$(BPF_PROGRAMS): selftests/recorder/bpf-programs.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) -static $(LDFLAGS) -o $@ $<

# A source component with all features of babeltrace2, for tests of copying.
KINDS := $(BUILD)/selftests/plugins/babeltrace-plugin-kinds.so
$(KINDS): selftests/tools/kinds.c
	@mkdir -p $(@D)
	$(CC) $(LIB_CFLAGS) $(BT2_CFLAGS) $(CFLAGS) -shared $(LDFLAGS) -o $@ $< $(BT2_LIBS)

# A disk on which reads never end, for selftests/tools/test_stuck.
STUCK := $(BUILD)/selftests/tools/stuck.so
$(STUCK): selftests/tools/stuck.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -fPIC $(CFLAGS) -shared $(LDFLAGS) -o $@ $< -ldl

# The packet parser in user space.
PARSE_TEST := $(BUILD)/selftests/parse/test_parse
$(PARSE_TEST): selftests/parse/test_parse.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -Wno-sign-compare -Wno-pointer-arith $(CFLAGS) -fsanitize=address,undefined \
		-fno-sanitize=alignment -Iselftests/parse/kernel $(LDFLAGS) -o $@ $< -lcmocka

# Prints events of CTF files as the direct reader sees them.
WALK_SRC := libnetsync/io/ctf/uuid.c $(filter-out %/direct.c %/agree.c,$(wildcard \
	libnetsync/io/ctf/direct/*.c libnetsync/io/ctf/ctf2/*.c))
DIRECT_WALK := $(BUILD)/selftests/direct/walk
$(DIRECT_WALK): selftests/direct/walk.c $(WALK_SRC) $(wildcard libnetsync/io/ctf/direct/*.h \
		libnetsync/io/ctf/ctf2/*.h)
	@mkdir -p $(@D)
	$(CC) $(LIB_CFLAGS) -Ilibnetsync $(JSON_CFLAGS) $(SANITIZERS) $(LDFLAGS) -o $@ $(filter %.c,$^) \
		$(JSON_LIBS)

# Prints all events of traces, using the public API.
ALL_EVENTS := $(BUILD)/selftests/direct/events
$(ALL_EVENTS): selftests/direct/events.c $(CORE_SO) $(IO_SO)
	@mkdir -p $(@D)
	$(CC) $(LIB_CFLAGS) $(LDFLAGS) -Wl,-rpath,'$$ORIGIN/../..' -o $@ $< -L$(BUILD) \
		-lnetsync-io -lnetsync

# Fuzzers and their sample folders: a program is a file, and a row here.
FUZZERS := reader ctf walk ctf2 tsdl json answers requests served saved api
FUZZ_SRC_reader := $(CORE_SRC) $(IO_SRC)
FUZZ_SRC_ctf := $(CORE_SRC) $(IO_SRC)
FUZZ_SRC_served := $(CORE_SRC) $(IO_SRC)
FUZZ_SRC_saved := $(CORE_SRC)
FUZZ_SRC_api := $(CORE_SRC) $(wildcard selftests/fuzz/calls/*.c)
FUZZ_SRC_walk := $(WALK_SRC)
FUZZ_SRC_ctf2 := $(WALK_SRC)
FUZZ_SRC_tsdl := tools/apply/tsdl.c
FUZZ_SRC_json := $(CORE_SRC) $(addprefix tools/common/,json-value.c result-file.c)
# Answers of agents, and requests to them.
FUZZ_SRC_answers := $(filter-out %/traces.c,$(wildcard tools/remote/*.c)) $(addprefix tools/,record/agent/buffers.c \
	$(addprefix common/,child.c clock-reading.c complain.c folders.c here.c json-value.c json-writer.c nearest.c now.c \
	options.c places.c progress.c signal.c spool.c value.c) \
	$(addprefix record/doctor/,checks.c clock.c look.c lttng-setup.c machine.c module.c tracing.c) \
	$(addprefix record/,beacon.c clocks.c files.c hosts.c losses.c))
FUZZ_SRC_requests := $(addprefix tools/,record/agent/agent.c record/agent/buffers.c \
	record/agent/channels.c record/agent/events.c common/complain.c common/json-value.c \
	common/now.c common/progress.c common/value.c remote/protocol.c)
FUZZ_SAMPLES_ctf := ctf
FUZZ_SAMPLES_walk := walk ctf
FUZZ_SAMPLES_ctf2 := ctf2
FUZZ_SAMPLES_tsdl := tsdl
FUZZ_SAMPLES_json := json
FUZZ_SAMPLES_answers := answers
FUZZ_SAMPLES_requests := requests
FUZZ_SAMPLES_served := served
FUZZ_SAMPLES_saved := saved
FUZZ_SAMPLES_api := api
FUZZ_SAMPLES_reader := $(filter-out $(FUZZERS),$(notdir $(wildcard selftests/fuzz/samples/*)))
FUZZ_CFLAGS = $(LIB_CFLAGS) -Ilibnetsync -Itools $(BT2_CFLAGS) $(ZIP_CFLAGS) $(JSON_CFLAGS) \
	$(LTTNG_CFLAGS) $(UUID_CFLAGS) -g1 -O1
FUZZ_LIBS = $(BT2_LIBS) $(ZIP_LIBS) $(JSON_LIBS) $(LTTNG_LIBS) $(UUID_LIBS) -lm -pthread

# Run all samples again, without a fuzzer.
SAMPLES_TESTS := $(FUZZERS:%=$(BUILD)/selftests/fuzz/test_%)
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=undefined

$(BUILD)/sanitized/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(FUZZ_CFLAGS) $(SANITIZERS) -c -o $@ $<

define samples_test
$(BUILD)/selftests/fuzz/test_$(1): selftests/fuzz/test_samples.c \
		$(patsubst %.c,$(BUILD)/sanitized/%.o,selftests/fuzz/$(1).c $(FUZZ_SRC_$(1)))
	@mkdir -p $$(@D)
	$$(CC) $$(FUZZ_CFLAGS) $$(SANITIZERS) -DSAMPLES='"$(FUZZ_SAMPLES_$(1))"' \
		$$(LDFLAGS) -o $$@ $$^ $$(FUZZ_LIBS)
-include $(patsubst %.c,$(BUILD)/sanitized/%.d,selftests/fuzz/$(1).c $(FUZZ_SRC_$(1)))
endef
$(foreach name,$(FUZZERS),$(eval $(call samples_test,$(name))))

# Public calls in reproducible random orders.
API_SCRIPTS := 150
$(BUILD)/selftests/fuzz/random_api: selftests/fuzz/random_scripts.c \
		$(patsubst %.c,$(BUILD)/sanitized/%.o,selftests/fuzz/api.c $(FUZZ_SRC_api))
	@mkdir -p $(@D)
	$(CC) $(FUZZ_CFLAGS) $(SANITIZERS) -DSCRIPTS=$(API_SCRIPTS) $(LDFLAGS) -o $@ $^ -lm -pthread

# Programs used by guest tests.
GUEST_PROGS := $(patsubst selftests/module/%.c,$(BUILD)/selftests/%, \
	$(wildcard selftests/module/*.c)) $(BUILD)/selftests/often

$(BUILD)/selftests/%: selftests/module/%.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(LDFLAGS) -pthread -o $@ $< $(LDLIBS)

$(BUILD)/selftests/queue: LDLIBS = $(shell $(PKG_CONFIG) --libs libnetfilter_queue libmnl)

$(BUILD)/selftests/%: selftests/debug/%.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $<

# Programs with BPF, if their dependencies are installed: the example, and a test of
# netsync_clock.
BPF_PROGS := $(if $(and $(shell command -v clang),$(shell $(PKG_CONFIG) --modversion libbpf \
	2> /dev/null)),$(addprefix $(BUILD)/,examples/packets examples/packets.bpf.o \
	selftests/bpf/clock selftests/bpf/clock.bpf.o))

$(BUILD)/examples/%.bpf.o: examples/%.bpf.c examples/%.h
	@mkdir -p $(@D)
	$(BPF_CC) -c -o $@ $<

$(BUILD)/examples/packets: examples/packets.c examples/packets.h $(CORE_SO)
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(LDFLAGS) -Wl,-rpath,'$$ORIGIN/..' -o $@ $< \
		-L$(BUILD) -lnetsync $(shell $(PKG_CONFIG) --cflags --libs libbpf)

$(BUILD)/selftests/bpf/%.bpf.o: selftests/module/bpf/%.bpf.c module/%.h
	@mkdir -p $(@D)
	$(BPF_CC) -c -o $@ $<

$(BUILD)/selftests/bpf/clock: LDLIBS = $(shell $(PKG_CONFIG) --libs libbpf)
$(BUILD)/selftests/bpf/clock: module/clock.h

-include $(LIB_TESTS:=.d) $(PARSE_TEST).d $(GUEST_PROGS:=.d) $(FIELD_PROGS:=.d)

.PHONY: tests guest-programs
tests: $(LIB_TESTS) $(filter $(BUILD)/%,$(RECORDER_TESTS)) $(PARSE_TEST) $(SAMPLES_TESTS) $(KINDS) $(STUCK) $(FAST_CLOCK) $(SIMULATED) $(BPF_PROGRAMS) $(DIRECT_WALK) $(ALL_EVENTS) $(FIELD_PROGS) guest-programs
guest-programs: $(GUEST_PROGS) $(BPF_PROGS)

# Use all processors, unless the command line sets the number of jobs.
PARALLEL = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

# All packages that building, the demonstration and "make check" need.
.PHONY: setup
setup:
	selftests/rig/setup build check guest field mpi otf2

.PHONY: check
check: setup
	$(MAKE) $(PARALLEL) --no-print-directory all tests
	$(MAKE) --no-print-directory -s -C selftests/rig modules
	selftests/run $(LIB_TESTS) $(PARSE_TEST) $(SAMPLES_TESTS) $(SOURCE_TESTS) $(TOOL_TESTS) $(RECORDER_TESTS) $(PYTHON_TESTS) $(JUDGE_TESTS) $(PACKAGE_LISTS) $(README_COMMANDS) $(GUEST_TESTS) $(RECORDING_TESTS) \
		$(FIELD_SHORT)

# Needs a compiler and cmocka, and writes only to build/. To run one test: make
# build/selftests/lib/test_match && build/selftests/lib/test_match
.PHONY: check-lib
ifdef SANITIZE
check-lib:
	$(MAKE) --no-print-directory check-lib SANITIZE= BUILD=$(BUILD)/check-lib \
		CFLAGS="-O1 -g $(SANITIZERS)"
else
check-lib: $(LIB_TESTS)
	selftests/run $(LIB_TESTS)
endif

.PHONY: check-field
check-field:
	selftests/rig/setup build check guest field kernels
	$(MAKE) $(PARALLEL) --no-print-directory all tests
	$(MAKE) --no-print-directory -s -C selftests/rig modules
	selftests/run $(FIELD_TESTS)

# Tests in clusters of guests.
LOCKER := $(BUILD)/selftests/across/dlm/locker
$(LOCKER): selftests/across/dlm/locker.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< -ldlm_lt

CHAIN := $(BUILD)/selftests/across/path/chain
$(CHAIN): selftests/across/path/chain.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(LDFLAGS) -pthread -o $@ $<

.PHONY: check-across
check-across:
	selftests/rig/setup build check guest across
	$(MAKE) $(PARALLEL) --no-print-directory all tests $(LOCKER) $(CHAIN)
	$(MAKE) --no-print-directory -s -C selftests/rig modules
	selftests/run selftests/across/test_dlm selftests/across/test_path \
		selftests/across/test_path_lttng

# Recording on guests that have only sshd, once for each of RELEASES.
.PHONY: check-sshd
check-sshd:
	selftests/rig/setup build check guest kernels
	$(MAKE) $(PARALLEL) --no-print-directory all tests
	RELEASES='$(RELEASES)' selftests/run selftests/recorder/test_guests

# Tests that take long or need a browser.
FORMAT_TESTS := selftests/report/test_browser selftests/report/test_gantt \
	selftests/ways/test_ways \
	selftests/tracedat/test_record selftests/tracedat/test_perf

.PHONY: check-formats
check-formats:
	selftests/rig/setup build check guest browser
	$(MAKE) $(PARALLEL) --no-print-directory all tests
	$(MAKE) --no-print-directory -s -C selftests/rig modules
	selftests/run $(FORMAT_TESTS)

# Tests with kernels of other Debian releases, each downloaded once.
.PHONY: check-kernels
check-kernels:
	selftests/rig/setup build check guest kernels foreign debug
	$(MAKE) --no-print-directory -s tests
	selftests/run selftests/kernels/test_without
	selftests/kernels/check $(RELEASES)

# Tests built for s390x, and emulated one program at a time on this machine's kernel.
BIG_ENDIAN := $(BUILD)/s390x
# ThreadSanitizer does not support s390x, and that root has no sanitizer library.
BIG_ENDIAN_TESTS := $(patsubst $(BUILD)/%,$(BIG_ENDIAN)/%,$(filter-out %/sanitized/test_threads,$(LIB_TESTS)))
# Except tests that measure memory, or make babeltrace2 load the plug-in.
BIG_ENDIAN_TOOL_TESTS := $(addprefix selftests/tools/test_,convert ctf2 direct endian hosts \
	input jobs layouts netns pcap result spans states steered text timeline tracedat)
BIG_ENDIAN_PROGRAMS := $(BIG_ENDIAN_TESTS) $(patsubst $(BUILD)/%,$(BIG_ENDIAN)/%, \
	$(PROGRAMS) $(DIRECT_WALK) $(ALL_EVENTS))

.PHONY: check-big-endian
check-big-endian: export NETSYNC_SLOWER := 20
check-big-endian: export NETSYNC := $(abspath $(BIG_ENDIAN))/emulated/netsync
check-big-endian:
	selftests/rig/setup build check kernels foreign
	selftests/kernels/cross bookworm-s390x SANITIZERS= $(BIG_ENDIAN_PROGRAMS)
	selftests/kernels/emulated bookworm-s390x $(BIG_ENDIAN_PROGRAMS)
	selftests/run $(patsubst $(BIG_ENDIAN)/%,$(BIG_ENDIAN)/emulated/%,$(BIG_ENDIAN_TESTS)) \
		$(BIG_ENDIAN_TOOL_TESTS)

# Tests with a debug kernel, built once. test_cost is excluded: its instruction counts do
# not apply.
.PHONY: check-debug-kernel
check-debug-kernel: export KERNEL := debug
check-debug-kernel:
	selftests/rig/setup build check guest debug
	$(MAKE) --no-print-directory -s tests
	$(MAKE) --no-print-directory -s -C selftests/rig modules
	selftests/run $(filter-out %/test_cost,$(GUEST_TESTS)) selftests/debug/test_endurance

.PHONY: check-packets
check-packets:
	selftests/rig/setup build check guest
	$(MAKE) --no-print-directory -s tests
	$(MAKE) --no-print-directory -s -C selftests/rig modules
	selftests/run selftests/packets/test_million

.PHONY: check-style
check-style:
	selftests/rig/setup build check guest style
	$(MAKE) --no-print-directory -s -C selftests/rig modules
	selftests/run $(SOURCE_TESTS) selftests/style/test_style

.PHONY: check-dkms
check-dkms:
	selftests/rig/setup kernels
	selftests/run selftests/dkms/test_dkms

# RELEASES=bookworm: only one of the two releases.
.PHONY: check-readme
check-readme:
	selftests/rig/setup build check guest kernels
	$(MAKE) --no-print-directory -s all
	selftests/run $(README_COMMANDS) selftests/readme/test_typed

.PHONY: check-packages
check-packages:
	selftests/rig/setup build kernels guest deb rpm
	$(MAKE) --no-print-directory -s all
	selftests/run $(wildcard selftests/packaging/test_*)

# Fuzz file contents, with a folder of samples for each format. New inputs that increase
# coverage are kept in build/fuzz. Inputs that crash a reader are beside them; once fixed,
# they become samples, which SAMPLES_TESTS try again.
FUZZ_SECONDS ?= 600
FUZZ_FORMATS ?= $(notdir $(wildcard selftests/fuzz/samples/*))
FUZZ_CC := clang
FUZZ_SAN := -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined

$(BUILD)/fuzz/%.o: %.c
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_CFLAGS) $(FUZZ_SAN) -c -o $@ $<

define fuzzer
$(BUILD)/fuzz/try-$(1): $(patsubst %.c,$(BUILD)/fuzz/%.o,selftests/fuzz/$(1).c $(FUZZ_SRC_$(1)))
	$$(FUZZ_CC) -fsanitize=address,undefined,fuzzer -o $$@ $$^ $$(FUZZ_LIBS)
-include $(patsubst %.c,$(BUILD)/fuzz/%.d,selftests/fuzz/$(1).c $(FUZZ_SRC_$(1)))
endef
$(foreach name,$(FUZZERS),$(eval $(call fuzzer,$(name))))

.PHONY: fuzz
fuzz:
	selftests/rig/setup build fuzz
	$(MAKE) --no-print-directory -s $(FUZZERS:%=$(BUILD)/fuzz/try-%)
	for format in $(FUZZ_FORMATS); do \
		case " $(FUZZERS) " in *" $$format "*) what=$$format;; *) what=reader;; esac; \
		mkdir -p $(BUILD)/fuzz/$$format && $(BUILD)/fuzz/try-$$what \
			-max_total_time=$(FUZZ_SECONDS) -timeout=30 -rss_limit_mb=1024 \
			-print_final_stats=1 -artifact_prefix=$(BUILD)/fuzz/$$format- \
			$$(find selftests/fuzz -name $$format.dict -printf -dict=%p) \
			$(BUILD)/fuzz/$$format selftests/fuzz/samples/$$format || exit 1; \
	done

.PHONY: demo
demo:
	$(SETUP_PACKAGES) build
	$(MAKE) --no-print-directory -s all
	$(TOOL) sync selftests/data/web-db/web selftests/data/web-db/db
