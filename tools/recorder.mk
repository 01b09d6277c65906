# SPDX-License-Identifier: GPL-2.0-only
# Rules that build netsync-recorder, which only needs the kernel; included by the Makefile.

RECORDER := $(BUILD)/netsync-recorder
LLVM_STRIP ?= $(shell clang -print-prog-name=llvm-strip)
# What the source bpf is built with, and is missing: then there is only the source packet.
RECORDER_LACKS := $(strip $(if $(shell command -v clang),$(if $(shell command -v $(LLVM_STRIP)),, \
	llvm),clang) $(if $(shell $(PKG_CONFIG) --atleast-version=1.0 libbpf && echo yes),,libbpf))
BPF_SRC := tools/recorder/probes.c tools/recorder/probe-objects.c tools/recorder/probe-reason.c
RECORDER_SRC := $(filter-out %.bpf.c $(if $(RECORDER_LACKS),$(BPF_SRC),tools/recorder/no-bpf.c), \
	$(wildcard tools/recorder/*.c))
RECORDER_OBJ := $(RECORDER_SRC:%.c=$(BUILD)/%.o)
# The programs for the kernel: with what it has from 6.12 on, and without.
PROBES := $(BUILD)/tools/recorder/probes-pages.bpf.o $(BUILD)/tools/recorder/probes.bpf.o

all: $(RECORDER)

$(BUILD)/tools/recorder/%.o: tools/recorder/%.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -fPIE -Os $(CFLAGS) -c -o $@ $<

# Static, because it is copied to hosts whose libraries may be of another release.
$(RECORDER): $(RECORDER_OBJ)
	$(if $(RECORDER_LACKS),@echo "netsync-recorder has no BPF: $(RECORDER_LACKS) missing")
	$(CC) $(LDFLAGS) -static-pie -o $@ $(RECORDER_OBJ) \
		$(if $(RECORDER_LACKS),,$(shell $(PKG_CONFIG) --static --libs libbpf))

-include $(RECORDER_OBJ:.o=.d)
