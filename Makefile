# SPDX-License-Identifier: GPL-2.0-only
#
# The Makefile for people; the kernel side is Kbuild.
#
#   make                   library and tool, into build/
#   make modules [KDIR=]   kernel modules, into build/modules/RELEASE/
#   make mpi               netsync-mpi, for clusters; needs Open MPI or MPICH  [MPICC=]
#   make demo              synchronize the sample traces  [SETUP=1: install what is missing]
#   make check             all tests
#   make check-lib         of the library alone: no root, no guests  [SANITIZE=1]
#   make check-field       recording, and live: every test, of which check runs the short ones
#   make check-formats     long tests of what is read and written
#   make check-across      what happened across machines: a cluster of guests
#   make check-kernels     the modules, with the kernels of several Debian releases
#   make check-big-endian  the library, readers and command on a big-endian processor
#   make check-debug-kernel  the modules, with a kernel that finds faults
#   make check-packets     the modules, with a million distorted packets
#   make check-style       what can be said of the source without running it
#   make check-dkms        dkms-install and dkms-remove, in clean Debian releases
#   make check-packages    packages of distributions, in clean ones
#   make check-readme      the commands of README.md, typed in clean releases and guests
#   make fuzz              readers and agents, with what nobody wrote  [FUZZ_SECONDS=]
#   make bench             speed, as ratios against a reference
#   make bench-text        its first part: from a text of messages to coefficients, by stages
#   make bench-readers     its last part: reading each format, beside its usual tool
#   make bench-module      instructions and bytes that each event costs
#   make bench-stream      memory, while packets come for a day  [HOURS=]
#   make bench-truth       errors against known clocks  [CASES= SEEDS=]
#   make bench-worlds      the same in random worlds, by their seeds  [WORLDS= CLASS=]
#   make bench-scale       more jobs, ranks, and traces on other machines
#   make install           [DESTDIR= PREFIX=]
#   make uninstall         exactly that  [DESTDIR= PREFIX=]
#   make mpi-install       netsync-mpi, and mpi-uninstall  [MPICC= DESTDIR= PREFIX=]
#   make modules_install   [DESTDIR= KDIR=]
#   make modules_uninstall [DESTDIR= KDIR=]
#   make dkms-install      the modules, built anew for each new kernel  [KDIR=]
#   make dkms-remove
#   make host-archive      all of it for hosts without a compiler  [KDIR=]
#   make release           cut a version  VERSION= [CHECKS=]
#   make dist              the source in one file, from which packages are built
#   make deb               Debian packages, into build/deb/  [SETUP=1]
#   make rpm               RPM packages, into build/rpm/  [SETUP=1]

# The one place of the version is the public header.
VERSION := $(shell sed -n 's/^\#define NETSYNC_VERSION "\(.*\)"/\1/p' \
	libnetsync/include/netsync.h)
SOVERSION := 0

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
# Where bash, zsh and fish look, the second one as Linux distributions have set it up.
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
# modprobe looks there too if PREFIX is /usr/local, as in /lib and /etc.
MODPROBEDIR ?= $(PREFIX)/lib/modprobe.d
# Where babeltrace2 looks for plug-ins: what is installed for all users goes there.
# Else it finds them by BABELTRACE_PLUGIN_PATH.
BT2_OWN_PLUGINDIR = $(or $(shell $(PKG_CONFIG) --variable=plugindir babeltrace2),$(shell \
	$(PKG_CONFIG) --variable=libdir babeltrace2)/babeltrace2/plugins)
IS_SYSTEM = $(and $(filter /usr /usr/local,$(PREFIX)),$(DESTDIR)$(filter 0,$(shell id -u)))
BT2_PLUGINDIR ?= $(if $(IS_SYSTEM),$(BT2_OWN_PLUGINDIR),$(LIBDIR)/babeltrace2/plugins)
# The same of Python: a folder of its own below PREFIX, if it has one.
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)
PYTHON_OWN_DIR = $(shell $(PYTHON) -c 'import site; \
	print(*[p for p in site.getsitepackages() if p.startswith("$(PREFIX)/lib/")][:1])' \
	2> /dev/null)
PYTHONDIR ?= $(or $(if $(IS_SYSTEM),$(PYTHON_OWN_DIR)),$(PREFIX)/lib/python3/dist-packages)
BUILD ?= build
comma := ,

CFLAGS ?= -O2 -g
WARN := -Wall -Wextra -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes \
	-Wdeclaration-after-statement -Wvla
BASE_CFLAGS := -std=gnu11 $(WARN) -Ilibnetsync/include -D_GNU_SOURCE -MMD -MP
# What the libraries do not export is made local by their symbol maps. Of the
# tool, the plug-in has a part.
LIB_CFLAGS := $(BASE_CFLAGS) -fPIC
PKG_CONFIG ?= pkg-config
OBJCOPY ?= objcopy
# Asked for when used, so that "make modules" does not need these packages.
# MAX_MIP: the last version of Babeltrace 2's Message Interchange Protocol; it
# tells of traces in CTF 2 by 1 only.
BT2_CFLAGS = $(shell $(PKG_CONFIG) --cflags babeltrace2) -DMAX_MIP=$(shell \
	$(PKG_CONFIG) --atleast-version=2.1 babeltrace2 && echo 1 || echo 0)
BT2_LIBS = $(shell $(PKG_CONFIG) --libs babeltrace2)
# What traces are compressed with: zlib and zstd, which trace-cmd uses as well, and others
# if they are there.
HAS_LZMA = $(shell $(PKG_CONFIG) --exists liblzma && echo liblzma)
HAS_LZ4 = $(shell $(PKG_CONFIG) --exists liblz4 && echo liblz4)
ZIP_LIBRARIES = zlib libzstd $(HAS_LZMA) $(HAS_LZ4)
ZIP_CFLAGS = $(shell $(PKG_CONFIG) --cflags $(ZIP_LIBRARIES)) \
	$(if $(HAS_LZMA),-DHAS_LZMA) $(if $(HAS_LZ4),-DHAS_LZ4)
ZIP_LIBS = $(shell $(PKG_CONFIG) --libs $(ZIP_LIBRARIES))
# What Perfetto's format is made of, by a program of its own.
PROTOBUF_CFLAGS = $(shell $(PKG_CONFIG) --cflags libprotobuf-c)
PROTOBUF_LIBS = $(shell $(PKG_CONFIG) --libs libprotobuf-c)
JSON_CFLAGS = $(shell $(PKG_CONFIG) --cflags json-c)
JSON_LIBS = $(shell $(PKG_CONFIG) --libs json-c)
# From 2.15 on LTTng has to be asked for the format that Babeltrace 2.0 reads.
LTTNG_CFLAGS = $(shell $(PKG_CONFIG) --cflags lttng-ctl) $(shell \
	$(PKG_CONFIG) --atleast-version=2.15 lttng-ctl && echo -DLTTNG_HAS_TRACE_FORMAT)
LTTNG_LIBS = $(shell $(PKG_CONFIG) --libs lttng-ctl)
UUID_CFLAGS = $(shell $(PKG_CONFIG) --cflags uuid)
UUID_LIBS = $(shell $(PKG_CONFIG) --libs uuid)

# The JavaScript library that plots in the pages of netsync report.
DYGRAPHS ?= /usr/share/javascript/dygraphs

CORE_SRC := $(filter-out libnetsync/io/%, \
	$(wildcard libnetsync/*.c libnetsync/*/*.c))
IO_SRC := $(wildcard libnetsync/io/*.c libnetsync/io/*/*.c \
	libnetsync/io/*/*/*.c)
TOOL_SRC := $(filter-out tools/babeltrace/% tools/mpi/%,$(wildcard tools/*.c tools/*/*.c))
CORE_OBJ := $(CORE_SRC:%.c=$(BUILD)/%.o)
IO_OBJ := $(IO_SRC:%.c=$(BUILD)/%.o)
# The component of Babeltrace 2 that corrects: in the tool, and in a plug-in, which
# has one that reads as well.
PLUGIN_SRC := tools/babeltrace/plugin.c tools/babeltrace/source.c
CORRECT_SRC := $(filter-out $(PLUGIN_SRC),$(wildcard tools/babeltrace/*.c))
CORRECT_OBJ := $(CORRECT_SRC:%.c=$(BUILD)/%.o)
TOOL_OBJ := $(TOOL_SRC:%.c=$(BUILD)/%.o) $(CORRECT_OBJ)
PLUGIN_OBJ := $(CORRECT_OBJ) $(PLUGIN_SRC:%.c=$(BUILD)/%.o) \
	$(addprefix $(BUILD)/tools/common/,ctf-source.o json-value.o result-file.o result-uuid.o)

CORE_SO := $(BUILD)/libnetsync.so
IO_SO := $(BUILD)/libnetsync-io.so
# Tests and benchmarks reach inside the core, which the shared library hides.
CORE_A := $(BUILD)/libnetsync.a
# What is installed for programs that are linked statically hides it, too.
STATIC_A := $(BUILD)/static/libnetsync.a
TOOL := $(BUILD)/netsync
PLUGIN := $(BUILD)/plugins/babeltrace-plugin-netsync.so
COMPLETION := $(addprefix $(BUILD)/completion/netsync.,bash zsh fish)

.PHONY: all
all: $(CORE_SO) $(CORE_A) $(STATIC_A) $(IO_SO) $(TOOL) $(PLUGIN) $(COMPLETION)

# Files of the libraries name each other by their folders.
$(BUILD)/libnetsync/io/%.o: libnetsync/io/%.c
	@mkdir -p $(@D)
	$(CC) $(LIB_CFLAGS) -Ilibnetsync $(BT2_CFLAGS) $(JSON_CFLAGS) $(ZIP_CFLAGS) $(CFLAGS) \
		-c -o $@ $<

$(BUILD)/libnetsync/%.o: libnetsync/%.c
	@mkdir -p $(@D)
	$(CC) $(LIB_CFLAGS) -Ilibnetsync $(CFLAGS) -c -o $@ $<

# Its inner loops are over all neighbours of a host.
$(BUILD)/libnetsync/curve/fit.o $(BUILD)/libnetsync/joint/objective.o: \
	LIB_CFLAGS += -ftree-vectorize -fvect-cost-model=dynamic

$(BUILD)/tools/%.o: tools/%.c
	@mkdir -p $(@D)
	$(CC) $(LIB_CFLAGS) -Itools $(JSON_CFLAGS) $(LTTNG_CFLAGS) $(BT2_CFLAGS) \
		$(UUID_CFLAGS) $(CFLAGS) -c -o $@ $<

# What "netsync --version" says of the libraries that it was built with.
BUILT_WITH = $(foreach library,babeltrace2 lttng-ctl json-c libprotobuf-c $(ZIP_LIBRARIES), \
	$(library) $(shell $(PKG_CONFIG) --modversion $(library))$(comma))
$(BUILD)/tools/netsync.o: LIB_CFLAGS += \
	-DBUILT_WITH='"$(subst $(comma) end,,$(strip $(BUILT_WITH)) end)"'

# Pages in one piece, which become parts of the tool. A folder page/ is not made of page.c
# beside it, whatever make's own rules say.
.SUFFIXES:
$(BUILD)/%.html: tools/%/page $(wildcard tools/page/* tools/*/page/*)
	@mkdir -p $(@D)
	tools/page/assemble $(DYGRAPHS) $< > $@.new
	mv $@.new $@

$(BUILD)/tools/states/html.o: LIB_CFLAGS += -DSTATES_PAGE='"$(BUILD)/states.html"'
$(BUILD)/tools/states/html.o: $(BUILD)/states.html

$(BUILD)/tools/report/page.o: LIB_CFLAGS += -DREPORT_PAGE='"$(BUILD)/report.html"'
$(BUILD)/tools/report/page.o: $(BUILD)/report.html

# What makes states, which becomes part of the tool.
STATES_FOLDER := tools/states/definitions
$(BUILD)/tools/states/builtin.o: LIB_CFLAGS += -DSTATES_FOLDER='"$(STATES_FOLDER)"'
$(BUILD)/tools/states/builtin.o: $(wildcard $(STATES_FOLDER)/*.states)

# Perfetto's format: code for what is in the .proto files, made by protoc-c.
PROTO_SRC := $(patsubst %.proto,$(BUILD)/%.pb-c.c,$(wildcard tools/*/*.proto))
TOOL_OBJ += $(PROTO_SRC:.c=.o)

$(BUILD)/tools/%.pb-c.c: tools/%.proto
	@mkdir -p $(@D)
	protoc-c --c_out=$(@D) -I$(<D) $<

$(BUILD)/tools/%.pb-c.o: $(BUILD)/tools/%.pb-c.c
	$(CC) $(LIB_CFLAGS) $(PROTOBUF_CFLAGS) $(CFLAGS) -c -o $@ $<

PROTO_USERS := $(BUILD)/tools/timeline/protobuf.o $(BUILD)/tools/timeline/tables.o
$(PROTO_USERS): LIB_CFLAGS += -I$(BUILD)/tools/timeline $(PROTOBUF_CFLAGS)
$(PROTO_USERS): $(PROTO_SRC)

$(CORE_SO): $(CORE_OBJ) libnetsync/netsync.map
	$(CC) -shared -Wl,-soname,libnetsync.so.$(SOVERSION) \
		-Wl,--version-script=libnetsync/netsync.map -Wl,--no-undefined \
		$(LDFLAGS) -o $@.$(VERSION) $(CORE_OBJ) -lm -pthread
	ln -sf libnetsync.so.$(VERSION) $@.$(SOVERSION)
	ln -sf libnetsync.so.$(SOVERSION) $@

# Anew each time: ar keeps members whose source is gone.
$(CORE_A): $(CORE_OBJ)
	rm -f $@
	$(AR) rcs $@ $^

$(STATIC_A): $(CORE_OBJ) libnetsync/netsync.map
	@mkdir -p $(@D)
	rm -f $@
	$(LD) -r -o $(@:.a=.o) $(CORE_OBJ)
	sed -n 's/^\t\(netsync_[a-z_]*\);$$/\1/p' libnetsync/netsync.map > $(@:.a=.names)
	$(OBJCOPY) --keep-global-symbols=$(@:.a=.names) $(@:.a=.o)
	$(AR) rcs $@ $(@:.a=.o)

$(IO_SO): $(IO_OBJ) $(CORE_SO) libnetsync/io/netsync-io.map
	$(CC) -shared -Wl,-soname,libnetsync-io.so.$(SOVERSION) \
		-Wl,--version-script=libnetsync/io/netsync-io.map -Wl,--no-undefined \
		$(LDFLAGS) -o $@.$(VERSION) $(IO_OBJ) -L$(BUILD) -lnetsync $(BT2_LIBS) \
		$(JSON_LIBS) $(ZIP_LIBS)
	ln -sf libnetsync-io.so.$(VERSION) $@.$(SOVERSION)
	ln -sf libnetsync-io.so.$(SOVERSION) $@

TOOL_LIBS = -L$(BUILD) -lnetsync-io -lnetsync $(JSON_LIBS) $(LTTNG_LIBS) $(BT2_LIBS) \
	$(PROTOBUF_LIBS) $(UUID_LIBS) $(ZIP_LIBS) -lm -pthread
PLUGIN_MAP := tools/babeltrace/plugin.map
LINK_PLUGIN = $(CC) -shared -Wl,--version-script=$(PLUGIN_MAP) -Wl,--no-undefined \
	$(LDFLAGS) $(PLUGIN_OBJ) -L$(BUILD) -lnetsync-io -lnetsync $(JSON_LIBS) $(BT2_LIBS) \
	$(UUID_LIBS)

# The tool in build/ finds the libraries beside it, and the plug-in above it.
$(TOOL): $(TOOL_OBJ) $(CORE_SO) $(IO_SO)
	$(CC) $(LDFLAGS) -Wl,-rpath,'$$ORIGIN' -o $@ $(TOOL_OBJ) $(TOOL_LIBS)

$(PLUGIN): $(PLUGIN_OBJ) $(CORE_SO) $(IO_SO) $(PLUGIN_MAP)
	@mkdir -p $(@D)
	$(LINK_PLUGIN) -Wl,-rpath,'$$ORIGIN/..' -o $@

# Where there is MPI. MPICC and MPI_BUILD may be given for each of several kinds.
MPICC ?= mpicc
MPI_BUILD ?= $(BUILD)
MPI_TOOL := $(MPI_BUILD)/netsync-mpi
MPI_OBJ := $(patsubst tools/%.c,$(MPI_BUILD)/tools/%.o,$(wildcard tools/mpi/*.c))

$(MPI_BUILD)/tools/mpi/%.o: tools/mpi/%.c
	@mkdir -p $(@D)
	$(MPICC) $(BASE_CFLAGS) -Itools $(CFLAGS) -c -o $@ $<

# The command's own files, but the one that begins.
MPI_ALL_OBJ = $(MPI_OBJ) $(filter-out $(BUILD)/tools/netsync.o,$(TOOL_OBJ))

$(MPI_TOOL): $(MPI_OBJ) $(TOOL_OBJ) $(CORE_SO) $(IO_SO)
	$(MPICC) $(LDFLAGS) -Wl,-rpath,$(abspath $(BUILD)) -o $@ $(MPI_ALL_OBJ) $(TOOL_LIBS)

.PHONY: mpi
mpi: $(MPI_TOOL)

# What shells offer after "netsync": of the tool's own tables of options.
$(BUILD)/completion/netsync.%: $(TOOL) tools/completion/generate tools/completion/table.awk \
		tools/completion/%.awk
	@mkdir -p $(@D)
	tools/completion/generate $* $(TOOL) > $@.new
	mv $@.new $@

-include $(MPI_OBJ:.o=.d) $(CORE_OBJ:.o=.d) $(IO_OBJ:.o=.d) $(TOOL_OBJ:.o=.d) $(PLUGIN_OBJ:.o=.d)

# ---- kernel modules ----------------------------------------------------------

# The running kernel; where its headers are missing, the newest that are not.
KDIR ?= $(or $(wildcard /lib/modules/$(shell uname -r)/build),$(lastword \
	$(sort $(wildcard /lib/modules/*/build))))
KREL = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' \
	$(KDIR)/include/generated/utsrelease.h 2>/dev/null)
MODULES = $(abspath $(BUILD))/modules/$(KREL)

# The source of LTTng's modules, and what their build for this kernel exports:
# as given, else where dkms has them, else where the test rig has them.
DKMS_LTTNG = $(patsubst %/,%,$(dir $(lastword $(wildcard \
	/var/lib/dkms/lttng-modules/*/$(KREL)/*/module/lttng-tracer.ko*))))
LTTNG_MODULES = $(firstword $(wildcard \
	$(addsuffix /source,$(firstword $(subst /$(KREL)/, ,$(DKMS_LTTNG)))) \
	$(BUILD)/rig/$(KREL)/lttng-modules))
# dkms 3.0.10 keeps the modules alone: then these tell what they export.
READ_SYMVERS = $(MODULES)/lttng.symvers
LTTNG_SYMVERS = $(if $(LTTNG_MODULES),$(firstword \
	$(wildcard $(abspath $(LTTNG_MODULES))/src/Module.symvers \
	$(abspath $(LTTNG_MODULES))/Module.symvers $(DKMS_LTTNG)/Module.symvers) \
	$(if $(DKMS_LTTNG),$(READ_SYMVERS))))

KBUILD = $(MAKE) -C $(KDIR) M=$(MODULES) CONFIG_DEBUG_INFO_BTF_MODULES= \
	LTTNG_MODULES=$(if $(LTTNG_SYMVERS),$(abspath $(LTTNG_MODULES))) \
	KBUILD_EXTRA_SYMBOLS=$(LTTNG_SYMVERS)

define check_headers
	@test -n "$(KREL)" || { echo "There are no kernel headers in" \
		"$(or $(KDIR),/lib/modules/*/build): install them (Debian:" \
		"linux-headers-amd64), or say where they are with KDIR=FOLDER." >&2; false; }
endef

# Kbuild writes beside the source, so that it gets its own copy.
.PHONY: modules
modules:
	$(check_headers)
	@mkdir -p $(MODULES)
	@$(if $(filter $(READ_SYMVERS),$(LTTNG_SYMVERS)), \
		module/symvers $(wildcard $(DKMS_LTTNG)/*.ko*) > $(READ_SYMVERS))
	@cp -rp Kbuild module $(MODULES)
	@$(if $(LTTNG_SYMVERS),,rm -f $(MODULES)/lttng-probe-netsync.*; echo \
		"No LTTng modules built for $(KREL): netsync-probes only")
	$(KBUILD) modules

# For one kernel, modprobe may not find modules of two origins.
HAS_MODULES = $(DESTDIR)/lib/modules/$(KREL)
OWN_INSTALLED = $(shell find $(HAS_MODULES)/ -path '*/updates/dkms' -prune -o \( \
	-name 'netsync-probes.ko*' -o -name 'lttng-probe-netsync.ko*' \) -print 2> /dev/null)
DKMS_INSTALLED = $(wildcard $(HAS_MODULES)/updates/dkms/netsync-probes.ko*)

.PHONY: modules_install
modules_install: modules
	@test -z "$(DKMS_INSTALLED)" || { echo "dkms has installed the modules:" \
		"$(DKMS_INSTALLED). First: make dkms-remove" >&2; false; }
	$(KBUILD) INSTALL_MOD_PATH=$(DESTDIR) INSTALL_MOD_DIR=updates modules_install
	$(if $(DESTDIR),,depmod $(KREL))

.PHONY: modules_uninstall
modules_uninstall:
	$(check_headers)
	rm -f $(OWN_INSTALLED)
	$(if $(DESTDIR),,depmod $(KREL))

# ---- dkms: the modules follow each new kernel --------------------------------

DKMS_SRC := /usr/src/netsync-$(VERSION)
DKMS_VERSIONS = $(patsubst /var/lib/dkms/netsync/%/source,%,$(wildcard \
	/var/lib/dkms/netsync/*/source))
# $(call dkms_forget,VERSIONS): before its sources go, dkms has to know.
dkms_forget = for version in $(1); do \
	dkms remove netsync/$$version --all && \
	rm -rf /usr/src/netsync-$$version || exit 1; done

# What dkms builds from, below DESTDIR.
.PHONY: dkms-source
dkms-source:
	install -d $(DESTDIR)$(DKMS_SRC) $(DESTDIR)$(MODPROBEDIR)
	cp -r Makefile Kbuild COPYING module $(DESTDIR)$(DKMS_SRC)
	sed 's/^PACKAGE_VERSION=.*/PACKAGE_VERSION="$(VERSION)"/' dkms.conf \
		> $(DESTDIR)$(DKMS_SRC)/dkms.conf
	install -m 644 module/netsync.conf $(DESTDIR)$(MODPROBEDIR)

# In place of any other version, once the new one is built.
.PHONY: dkms-install
dkms-install:
	@command -v dkms > /dev/null || { echo "dkms is not installed" >&2; false; }
	$(check_headers)
	@test -z "$(OWN_INSTALLED)" || { echo "\"make modules_install\" has installed" \
		"the modules: $(OWN_INSTALLED). First: make modules_uninstall$(if \
		$(filter file,$(origin KDIR)),, KDIR=$(KDIR))" >&2; false; }
	$(call dkms_forget,$(filter $(VERSION),$(DKMS_VERSIONS)))
	rm -rf $(DKMS_SRC)
	$(MAKE) --no-print-directory -s dkms-source DESTDIR=
	dkms add netsync/$(VERSION)
	dkms build netsync/$(VERSION) -k $(KREL)
	dkms install netsync/$(VERSION) -k $(KREL)
	$(call dkms_forget,$(filter-out $(VERSION),$(DKMS_VERSIONS)))
	@$(say_lttng)

# That lttng-probe-netsync is there, or why not, and what to do. It is an error only
# where LTTng's modules are there.
LTTNG_KNOWN = $(firstword $(notdir $(wildcard /usr/src/lttng-modules-*)))
define say_lttng
if ls /var/lib/dkms/netsync/$(VERSION)/$(KREL)/*/module/lttng-probe-netsync.ko* \
		> /dev/null 2>&1; then \
	echo "netsync-probes and lttng-probe-netsync are installed for $(KREL)."; \
elif [ -n "$(DKMS_LTTNG)" ]; then \
	echo "netsync-probes is installed for $(KREL), but lttng-probe-netsync does not" \
		"compile with LTTng's modules of dkms, so that LTTng does not know the" \
		"netsync events: \"make modules KDIR=$(KDIR)\" shows why." >&2; \
	false; \
elif [ -n "$(LTTNG_KNOWN)" ]; then \
	echo "netsync-probes is installed for $(KREL), but LTTng does not know the netsync" \
		"events: dkms has not built $(LTTNG_KNOWN) for this kernel. As root:" \
		"netsync doctor --fix lttng" >&2; \
else \
	echo "netsync-probes is installed for $(KREL), for ftrace, perf, trace-cmd and BPF." \
		"For LTTng install lttng-modules-dkms, and again: make dkms-install" >&2; \
fi
endef

.PHONY: dkms-remove
dkms-remove:
	$(call dkms_forget,$(DKMS_VERSIONS))
	rm -f $(MODPROBEDIR)/netsync.conf

# ---- tests -------------------------------------------------------------------

# Not where DKMS builds the modules.
include $(wildcard selftests/tests.mk)

# ---- installing ----------------------------------------------------------------

# The loader looks into these by itself.
RPATH = $(if $(filter /lib% /usr/lib%,$(LIBDIR)),,-Wl$(comma)-rpath$(comma)$(LIBDIR))
INSTALL_PC = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
	-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(VERSION)|'
MAN1 := $(wildcard tools/man/*.1)
MAN3 := $(wildcard libnetsync/man/*.3)
MAN5 := $(wildcard libnetsync/man/*.5 tools/man/*.5)
MAN7 := $(wildcard tools/man/*.7)

# What was installed, for uninstall.
INSTALLED = $(PREFIX)/share/netsync/installed

.PHONY: install
install: all
	@stage=$$(mktemp -d) && trap 'rm -rf "$$stage"' EXIT && \
		$(MAKE) --no-print-directory stage DESTDIR="$$stage" \
			BT2_PLUGINDIR="$(BT2_PLUGINDIR)" PYTHONDIR="$(PYTHONDIR)" && \
		tools/install put "$$stage" "$(DESTDIR)" "$(INSTALLED)"
	$(LDCONFIG)
	@$(if $(filter $(BT2_OWN_PLUGINDIR) $(HOME)/.local/lib/babeltrace2/plugins, \
		$(BT2_PLUGINDIR)),,echo "For babeltrace2 to find netsync's component classes:" && \
		echo "    export BABELTRACE_PLUGIN_PATH=$(BT2_PLUGINDIR)")
	@$(if $(filter $(PYTHON_OWN_DIR),$(PYTHONDIR)),,echo "For python3 to find netsync:" && \
		echo "    export PYTHONPATH=$(PYTHONDIR)")

.PHONY: uninstall
uninstall:
	tools/install remove "$(DESTDIR)" "$(INSTALLED)"
	$(LDCONFIG)

# As the loader finds libraries that are new.
LDCONFIG = $(if $(DESTDIR)$(filter-out 0,$(shell id -u)),,PATH="$$PATH:/sbin:/usr/sbin" ldconfig)

# The package of Python; where the loader does not look, it is told of the libraries.
.PHONY: python-stage
python-stage:
	install -d $(DESTDIR)$(PYTHONDIR)/netsync $(DESTDIR)$(MANDIR)/man3
	install -m 644 $(wildcard python/netsync/*.py) python/netsync/py.typed \
		$(DESTDIR)$(PYTHONDIR)/netsync
	$(if $(RPATH),sed -i 's|^LIBDIR = .*|LIBDIR = "$(LIBDIR)"|' \
		$(DESTDIR)$(PYTHONDIR)/netsync/libraries.py)
	install -m 644 $(wildcard python/man/*.3) $(DESTDIR)$(MANDIR)/man3

# All that is installed, below DESTDIR, which is empty. The tool that is installed
# finds the libraries where they are installed.
.PHONY: stage
stage: python-stage
	install -d $(DESTDIR)$(PREFIX)/share/netsync $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBDIR)/pkgconfig \
		$(DESTDIR)$(INCLUDEDIR) $(DESTDIR)$(MANDIR)/man1 \
		$(DESTDIR)$(MANDIR)/man3 $(DESTDIR)$(MANDIR)/man5 $(DESTDIR)$(MANDIR)/man7 \
		$(DESTDIR)$(MODPROBEDIR) $(DESTDIR)$(BT2_PLUGINDIR) $(DESTDIR)$(BASHDIR) \
		$(DESTDIR)$(ZSHDIR) $(DESTDIR)$(FISHDIR)
	touch $(DESTDIR)$(INSTALLED)
	install -m 644 module/netsync.conf $(DESTDIR)$(MODPROBEDIR)
	for lib in libnetsync.so libnetsync-io.so; do \
		install -m 755 $(BUILD)/$$lib.$(VERSION) $(DESTDIR)$(LIBDIR) && \
		ln -sf $$lib.$(VERSION) $(DESTDIR)$(LIBDIR)/$$lib.$(SOVERSION) && \
		ln -sf $$lib.$(SOVERSION) $(DESTDIR)$(LIBDIR)/$$lib || exit 1; \
	done
	install -m 644 $(STATIC_A) $(DESTDIR)$(LIBDIR)
	$(CC) $(LDFLAGS) $(RPATH) -o $(DESTDIR)$(BINDIR)/netsync $(TOOL_OBJ) $(TOOL_LIBS)
	$(LINK_PLUGIN) $(RPATH) -o $(DESTDIR)$(BT2_PLUGINDIR)/$(notdir $(PLUGIN))
	install -m 644 $(wildcard libnetsync/include/*.h) $(DESTDIR)$(INCLUDEDIR)
	$(INSTALL_PC) libnetsync/netsync.pc.in \
		> $(DESTDIR)$(LIBDIR)/pkgconfig/netsync.pc
	$(INSTALL_PC) libnetsync/io/netsync-io.pc.in \
		> $(DESTDIR)$(LIBDIR)/pkgconfig/netsync-io.pc
	install -m 644 $(BUILD)/completion/netsync.bash $(DESTDIR)$(BASHDIR)/netsync
	install -m 644 $(BUILD)/completion/netsync.zsh $(DESTDIR)$(ZSHDIR)/_netsync
	install -m 644 $(BUILD)/completion/netsync.fish $(DESTDIR)$(FISHDIR)/netsync.fish
	install -m 644 $(MAN1) $(DESTDIR)$(MANDIR)/man1
	install -m 644 $(MAN3) $(DESTDIR)$(MANDIR)/man3
	install -m 644 $(MAN5) $(DESTDIR)$(MANDIR)/man5
	install -m 644 $(MAN7) $(DESTDIR)$(MANDIR)/man7
	# A page for several functions is found by the name of each.
	for page in $(MAN3); do \
		sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm \([^ ]*\).*/\1/p' $$page | \
		while read -r name; do \
			file=$(DESTDIR)$(MANDIR)/man3/$$name.3; \
			[ -e $$file ] || ln -s $${page##*/} $$file || exit 1; \
		done || exit 1; \
	done

# netsync-mpi and its page, beside the rest.
MPI_INSTALLED = $(PREFIX)/share/netsync/installed-mpi

.PHONY: mpi-install
mpi-install: mpi
	@stage=$$(mktemp -d) && trap 'rm -rf "$$stage"' EXIT && \
		install -d "$$stage$(BINDIR)" "$$stage$(MANDIR)/man1" \
			"$$stage$(PREFIX)/share/netsync" && \
		touch "$$stage$(MPI_INSTALLED)" && \
		install -m 644 tools/mpi/netsync-mpi.1 "$$stage$(MANDIR)/man1" && \
		$(MPICC) $(LDFLAGS) $(RPATH) -o "$$stage$(BINDIR)/netsync-mpi" $(MPI_ALL_OBJ) \
			$(TOOL_LIBS) && \
		tools/install put "$$stage" "$(DESTDIR)" "$(MPI_INSTALLED)"

.PHONY: mpi-uninstall
mpi-uninstall:
	tools/install remove "$(DESTDIR)" "$(MPI_INSTALLED)"

# For hosts of the same release and kernel, which need no compiler then: all that
# install and modules_install put there, with the list of it.
HOST_ARCHIVE = $(BUILD)/netsync-$(VERSION)-$(KREL).tar.gz

.PHONY: host-archive
host-archive: all modules
	@stage=$$(mktemp -d) && trap 'rm -rf "$$stage"' EXIT && \
		$(MAKE) --no-print-directory stage DESTDIR="$$stage/all" \
			BT2_PLUGINDIR="$(BT2_OWN_PLUGINDIR)" \
			PYTHONDIR="$(or $(PYTHON_OWN_DIR),$(PYTHONDIR))" && \
		for module in $(MODULES)/*.ko; do \
			install -D -m 644 -t "$$stage/all/usr/lib/modules/$(KREL)/updates" \
				"$$module" || exit 1; \
		done && \
		tools/install put "$$stage/all" "$$stage/listed" "$(INSTALLED)" && \
		tar -C "$$stage/listed" --owner=root:0 --group=root:0 -czf $(HOST_ARCHIVE) \
			$$(ls "$$stage/all")
	@echo "$(HOST_ARCHIVE)"

# ---- packages --------------------------------------------------------------------

# The source in one file: the same bits each time.
DIST = $(BUILD)/netsync-$(VERSION).tar.xz

.PHONY: release
release:
	packaging/release $(VERSION)

.PHONY: dist
dist:
	packaging/dist netsync-$(VERSION) $(DIST)
	@echo "$(DIST)"

# Packages that are missing are installed only if SETUP=1 asks for it.
SETUP ?=
SETUP_PACKAGES = @selftests/rig/setup $(if $(filter-out 0,$(SETUP)),,-n)

# Of Debian, of that.
.PHONY: deb
deb:
	$(SETUP_PACKAGES) build deb
	$(MAKE) --no-print-directory -s dist
	packaging/deb $(DIST) $(BUILD)/deb
	@ls $(BUILD)/deb/*.deb

# Of RPM, of that.
.PHONY: rpm
rpm:
	$(SETUP_PACKAGES) build rpm
	$(MAKE) --no-print-directory -s dist
	packaging/rpm $(DIST) $(BUILD)/rpm
	@ls $(BUILD)/rpm/*.rpm

.PHONY: clean
clean:
	rm -rf $(BUILD)
