# SPDX-License-Identifier: GPL-2.0-only
# Rules that build netsync-recorder, which needs only the kernel; included by the Makefile.

RECORDER := $(BUILD)/netsync-recorder
LLVM_STRIP ?= $(shell clang -print-prog-name=llvm-strip)
# What is missing to build the source bpf. If anything is, the program has only the source packet.
find_library = $(findstring /,$(shell $(CC) -print-file-name=$(1)))
RECORDER_LACKS := $(strip \
	$(if $(shell command -v clang),$(if $(shell command -v $(LLVM_STRIP)),,llvm),clang) \
	$(if $(shell $(PKG_CONFIG) --atleast-version=1.0 libbpf 2> /dev/null && echo yes),,libbpf) \
	$(foreach library,libbpf.a libelf.a libz.a,$(if $(call find_library,$(library)),,$(library))))
BPF_SRC := $(addprefix tools/recorder/,probes.c probe-objects.c probe-reason.c libelf-needs.c)
RECORDER_SRC := $(filter-out %.bpf.c $(if $(RECORDER_LACKS),$(BPF_SRC),tools/recorder/no-bpf.c), \
	$(wildcard tools/recorder/*.c))
# Objects of files that the recorder shares with other programs, compiled with its own flags.
RECORDER_SHARED := $(addprefix $(BUILD)/tools/recorder/common/,child.o clock-reading.o \
	clock-watch.o container.o now.o)
RECORDER_OBJ := $(RECORDER_SRC:%.c=$(BUILD)/%.o) $(RECORDER_SHARED)
# BPF programs: the first one uses features of Linux 6.12, the second one does not.
PROBES := $(BUILD)/tools/recorder/probes-pages.bpf.o $(BUILD)/tools/recorder/probes.bpf.o

all: $(RECORDER)

COMPILE_RECORDER = $(CC) $(BASE_CFLAGS) -Itools -fPIE -Os $(CFLAGS) -pthread -c -o $@ $<

$(BUILD)/tools/recorder/%.o: tools/recorder/%.c
	@mkdir -p $(@D)
	$(COMPILE_RECORDER)

$(BUILD)/tools/recorder/common/%.o: tools/common/%.c
	@mkdir -p $(@D)
	$(COMPILE_RECORDER)

# The byte order is that of $(CC). Debian has asm/types.h in the directory given by -I.
BPF_TARGET = bpf$(if $(findstring BIG,$(shell $(CC) -dM -E -x c /dev/null | \
	grep -w __BYTE_ORDER__)),eb,el)
BPF_CC = clang -O2 -g -Wall -target $(BPF_TARGET) \
	-I$(PKG_CONFIG_SYSROOT_DIR)/usr/include/$(shell $(CC) -print-multiarch)

# Debug information is not loaded, so remove it.
$(BUILD)/tools/recorder/probes-pages.bpf.o: BPF_CC += -DREAD_PAGES
$(PROBES): tools/recorder/probes.bpf.c $(wildcard tools/recorder/*.bpf.h) \
		tools/recorder/probe-record.h
	@mkdir -p $(@D)
	$(BPF_CC) -c -o $@ $<
	$(LLVM_STRIP) -g $@

$(BUILD)/tools/recorder/probe-objects.o: BASE_CFLAGS += \
	-DPROBES_PAGES='"$(word 1,$(PROBES))"' -DPROBES_LINEAR='"$(word 2,$(PROBES))"'
$(BUILD)/tools/recorder/probe-objects.o: $(PROBES)

# The program is linked statically, because it is copied to hosts that may lack libraries.
$(RECORDER): $(RECORDER_OBJ)
	$(if $(RECORDER_LACKS),@echo "netsync-recorder has no BPF: $(RECORDER_LACKS) missing")
	$(CC) $(LDFLAGS) -static-pie -pthread -o $@ $(RECORDER_OBJ) \
		$(if $(RECORDER_LACKS),,$(shell $(PKG_CONFIG) --static --libs libbpf))

# Build the program for arm64. On Debian, this needs gcc-aarch64-linux-gnu and
# libc6-dev-arm64-cross, and, for the source bpf, clang, llvm and libraries for arm64:
#	dpkg --add-architecture arm64; apt-get update; apt-get install libbpf-dev:arm64
.PHONY: recorder-arm64
recorder-arm64:
	PKG_CONFIG_LIBDIR=/usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig \
		$(MAKE) CC=aarch64-linux-gnu-gcc BUILD=$(BUILD)/arm64 $(BUILD)/arm64/netsync-recorder

-include $(RECORDER_OBJ:.o=.d)
