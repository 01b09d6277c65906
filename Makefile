# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the libraries, the command and netsync-mpi into build/; "make help" lists all targets.
# The kernel side is Kbuild.

# The one place of the version is the public header.
VERSION := $(shell sed -n 's/^\#define NETSYNC_VERSION "\(.*\)"/\1/p' \
	libnetsync/include/netsync.h)
SOVERSION := 0

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
# What the programs share is an archive, of which each of them links what it uses.
SHARED_SRC := $(wildcard $(patsubst %,tools/%/*.c,common events path remote sync timeline))
TOOL_SRC := $(wildcard tools/*.c $(patsubst %,tools/%/*.c,apply convert export report))
RECORD_SRC := $(wildcard tools/record/*.c tools/record/*/*.c)
ANALYSIS_SRC := $(wildcard tools/analysis/*.c tools/analysis/*/*.c)
CORE_OBJ := $(CORE_SRC:%.c=$(BUILD)/%.o)
IO_OBJ := $(IO_SRC:%.c=$(BUILD)/%.o)
# The component of Babeltrace 2 that corrects: in the tool, and in a plug-in, which
# has one that reads as well.
PLUGIN_SRC := tools/babeltrace/plugin.c tools/babeltrace/source.c
CORRECT_SRC := $(filter-out $(PLUGIN_SRC),$(wildcard tools/babeltrace/*.c))
CORRECT_OBJ := $(CORRECT_SRC:%.c=$(BUILD)/%.o)
TOOL_OBJ := $(TOOL_SRC:%.c=$(BUILD)/%.o)
RECORD_OBJ := $(RECORD_SRC:%.c=$(BUILD)/%.o)
ANALYSIS_OBJ := $(ANALYSIS_SRC:%.c=$(BUILD)/%.o)
SHARED_OBJ := $(SHARED_SRC:%.c=$(BUILD)/%.o) $(CORRECT_OBJ)
PLUGIN_OBJ := $(CORRECT_OBJ) $(PLUGIN_SRC:%.c=$(BUILD)/%.o) \
	$(addprefix $(BUILD)/tools/common/,ctf-source.o json-value.o result-file.o result-uuid.o)

CORE_SO := $(BUILD)/libnetsync.so
IO_SO := $(BUILD)/libnetsync-io.so
# Tests and benchmarks reach inside the core, which the shared library hides.
CORE_A := $(BUILD)/libnetsync.a
# What is installed for programs that are linked statically hides it, too.
STATIC_A := $(BUILD)/static/libnetsync.a
SHARED_A := $(BUILD)/tools/shared.a
TOOL := $(BUILD)/netsync
# Programs of commands, which netsync becomes; each has links of the names of its commands.
RECORD_PROGRAM := $(BUILD)/netsync-record
RECORD_LINKS := netsync-live netsync-doctor netsync-agent
ANALYSIS_PROGRAM := $(BUILD)/netsync-analysis
ANALYSIS_LINKS := netsync-states netsync-path
PROGRAMS := $(TOOL) $(RECORD_PROGRAM) $(ANALYSIS_PROGRAM) \
	$(addprefix $(BUILD)/,$(RECORD_LINKS) $(ANALYSIS_LINKS))
PLUGIN := $(BUILD)/plugins/babeltrace-plugin-netsync.so
COMPLETION := $(addprefix $(BUILD)/completion/netsync.,bash zsh fish)

.PHONY: all
all: $(CORE_SO) $(CORE_A) $(STATIC_A) $(IO_SO) $(PROGRAMS) $(PLUGIN) $(COMPLETION)

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

# Pages in one piece, which become parts of programs. A folder page/ is not made of page.c
# beside it, whatever make's own rules say.
.SUFFIXES:
$(BUILD)/report.html: tools/report/page
$(BUILD)/states.html: tools/analysis/states/page
$(BUILD)/report.html $(BUILD)/states.html: $(wildcard tools/page/* tools/*/page/* tools/*/*/page/*)
	@mkdir -p $(@D)
	tools/page/assemble $(DYGRAPHS) $(filter %/page,$^) > $@.new
	mv $@.new $@

$(BUILD)/tools/analysis/states/html.o: LIB_CFLAGS += -DSTATES_PAGE='"$(BUILD)/states.html"'
$(BUILD)/tools/analysis/states/html.o: $(BUILD)/states.html

$(BUILD)/tools/report/page.o: LIB_CFLAGS += -DREPORT_PAGE='"$(BUILD)/report.html"'
$(BUILD)/tools/report/page.o: $(BUILD)/report.html

# What makes states, which becomes part of the tool.
STATES_FOLDER := tools/analysis/states/definitions
$(BUILD)/tools/analysis/states/builtin.o: LIB_CFLAGS += -DSTATES_FOLDER='"$(STATES_FOLDER)"'
$(BUILD)/tools/analysis/states/builtin.o: $(wildcard $(STATES_FOLDER)/*.states)

# Perfetto's format: code for what is in the .proto files, made by protoc-c.
PROTO_SRC := $(patsubst %.proto,$(BUILD)/%.pb-c.c,$(wildcard tools/*/*.proto))
SHARED_OBJ += $(PROTO_SRC:.c=.o)

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
$(SHARED_A): $(SHARED_OBJ)
$(CORE_A) $(SHARED_A):
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

SHARED_LIBS = $(SHARED_A) -L$(BUILD) -lnetsync-io -lnetsync $(JSON_LIBS) $(BT2_LIBS) $(UUID_LIBS) \
	-lm -pthread
# What writes files for Perfetto is in two programs.
TOOL_LIBS = $(SHARED_LIBS) $(PROTOBUF_LIBS) $(shell $(PKG_CONFIG) --libs zlib)
ANALYSIS_LIBS = $(TOOL_LIBS)
RECORD_LIBS = $(SHARED_LIBS) $(LTTNG_LIBS)
PLUGIN_MAP := tools/babeltrace/plugin.map
LINK_PLUGIN = $(CC) -shared -Wl,--version-script=$(PLUGIN_MAP) -Wl,--no-undefined \
	$(LDFLAGS) $(PLUGIN_OBJ) -L$(BUILD) -lnetsync-io -lnetsync $(JSON_LIBS) $(BT2_LIBS) \
	$(UUID_LIBS)

# Programs in build/ find the libraries beside them, and the plug-in above it.
$(TOOL): $(TOOL_OBJ) $(SHARED_A) $(CORE_SO) $(IO_SO)
	$(CC) $(LDFLAGS) -Wl,-rpath,'$$ORIGIN' -o $@ $(TOOL_OBJ) $(TOOL_LIBS)

$(RECORD_PROGRAM): $(RECORD_OBJ) $(SHARED_A) $(CORE_SO) $(IO_SO)
	$(CC) $(LDFLAGS) -Wl,-rpath,'$$ORIGIN' -o $@ $(RECORD_OBJ) $(RECORD_LIBS)

$(ANALYSIS_PROGRAM): $(ANALYSIS_OBJ) $(SHARED_A) $(CORE_SO) $(IO_SO)
	$(CC) $(LDFLAGS) -Wl,-rpath,'$$ORIGIN' -o $@ $(ANALYSIS_OBJ) $(ANALYSIS_LIBS)

$(addprefix $(BUILD)/,$(RECORD_LINKS)): $(RECORD_PROGRAM)
	ln -sf $(<F) $@

$(addprefix $(BUILD)/,$(ANALYSIS_LINKS)): $(ANALYSIS_PROGRAM)
	ln -sf $(<F) $@

$(PLUGIN): $(PLUGIN_OBJ) $(CORE_SO) $(IO_SO) $(PLUGIN_MAP)
	@mkdir -p $(@D)
	$(LINK_PLUGIN) -Wl,-rpath,'$$ORIGIN/..' -o $@

-include $(CORE_OBJ:.o=.d) $(IO_OBJ:.o=.d) $(TOOL_OBJ:.o=.d) $(SHARED_OBJ:.o=.d) \
	$(RECORD_OBJ:.o=.d) $(ANALYSIS_OBJ:.o=.d) $(PLUGIN_OBJ:.o=.d)

# dkms has the Makefile and module/ alone.
include module/modules.mk
include $(wildcard packaging/*.mk selftests/*.mk tools/*.mk)

.PHONY: help
help:
	@tools/help CONTRIBUTING.md

.PHONY: clean
clean:
	rm -rf $(BUILD)
