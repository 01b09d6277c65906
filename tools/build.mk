# SPDX-License-Identifier: GPL-2.0-only
# Builds netsync, the programs of its other commands, and the Babeltrace 2 plug-in;
# included by the Makefile.

# Needed for Perfetto's format, whose code is generated.
PROTOBUF_CFLAGS = $(shell $(PKG_CONFIG) --cflags libprotobuf-c)
PROTOBUF_LIBS = $(shell $(PKG_CONFIG) --libs libprotobuf-c)
# LTTng 2.15 and later write the format that Babeltrace 2.0 reads only if requested.
LTTNG_CFLAGS = $(shell $(PKG_CONFIG) --cflags lttng-ctl) $(shell \
	$(PKG_CONFIG) --atleast-version=2.15 lttng-ctl && echo -DLTTNG_HAS_TRACE_FORMAT)
LTTNG_LIBS = $(shell $(PKG_CONFIG) --libs lttng-ctl)

# Directory of the JavaScript library that draws the plots of netsync report.
DYGRAPHS ?= /usr/share/javascript/dygraphs

# Files of the shared archive. Each program links those that it uses.
SHARED_SRC := $(wildcard $(patsubst %,tools/%/*.c,common events path remote sync timeline))
TOOL_SRC := $(wildcard tools/*.c $(patsubst %,tools/%/*.c,apply convert export report))
RECORD_SRC := $(wildcard tools/record/*.c tools/record/*/*.c)
ANALYSIS_SRC := $(wildcard tools/analysis/*.c tools/analysis/*/*.c)
# The Babeltrace 2 component that corrects times is part of the tool and of the plug-in.
# The plug-in also has a component that reads traces.
PLUGIN_SRC := tools/babeltrace/plugin.c tools/babeltrace/source.c
CORRECT_SRC := $(filter-out $(PLUGIN_SRC),$(wildcard tools/babeltrace/*.c))
CORRECT_OBJ := $(CORRECT_SRC:%.c=$(BUILD)/%.o)
TOOL_OBJ := $(TOOL_SRC:%.c=$(BUILD)/%.o)
RECORD_OBJ := $(RECORD_SRC:%.c=$(BUILD)/%.o)
ANALYSIS_OBJ := $(ANALYSIS_SRC:%.c=$(BUILD)/%.o)
SHARED_OBJ := $(SHARED_SRC:%.c=$(BUILD)/%.o) $(CORRECT_OBJ)
PLUGIN_OBJ := $(CORRECT_OBJ) $(PLUGIN_SRC:%.c=$(BUILD)/%.o) \
	$(addprefix $(BUILD)/tools/common/,ctf-source.o json-value.o result-file.o result-uuid.o)

SHARED_A := $(BUILD)/tools/shared.a
TOOL := $(BUILD)/netsync
# Programs of other commands, which netsync executes. Links to a program have its commands' names.
RECORD_PROGRAM := $(BUILD)/netsync-record
RECORD_LINKS := netsync-live netsync-doctor netsync-agent
ANALYSIS_PROGRAM := $(BUILD)/netsync-analysis
ANALYSIS_LINKS := netsync-states netsync-path netsync-stragglers
PROGRAMS := $(TOOL) $(RECORD_PROGRAM) $(ANALYSIS_PROGRAM) \
	$(addprefix $(BUILD)/,$(RECORD_LINKS) $(ANALYSIS_LINKS))
PLUGIN := $(BUILD)/plugins/babeltrace-plugin-netsync.so
COMPLETION := $(addprefix $(BUILD)/completion/netsync.,bash zsh fish)

all: $(PROGRAMS) $(PLUGIN) $(COMPLETION)

$(BUILD)/tools/%.o: tools/%.c
	@mkdir -p $(@D)
	$(CC) $(LIB_CFLAGS) -Itools $(JSON_CFLAGS) $(LTTNG_CFLAGS) $(BT2_CFLAGS) \
		$(UUID_CFLAGS) $(CFLAGS) -c -o $@ $<

# The library versions that "netsync --version" prints.
BUILT_WITH = $(foreach library,babeltrace2 lttng-ctl json-c libprotobuf-c $(ZIP_LIBRARIES), \
	$(library) $(shell $(PKG_CONFIG) --modversion $(library))$(comma))
$(BUILD)/tools/netsync.o: LIB_CFLAGS += \
	-DBUILT_WITH='"$(subst $(comma) end,,$(strip $(BUILT_WITH)) end)"'

# Self-contained pages, which become part of the programs.
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

# Definitions of states, which become part of the program.
STATES_FOLDER := tools/analysis/states/definitions
$(BUILD)/tools/analysis/states/builtin.o: LIB_CFLAGS += -DSTATES_FOLDER='"$(STATES_FOLDER)"'
$(BUILD)/tools/analysis/states/builtin.o: $(wildcard $(STATES_FOLDER)/*.states)

# Code for Perfetto's format, generated from the .proto files by protoc-c.
PROTO_SRC := $(patsubst %.proto,$(BUILD)/%.pb-c.c,$(wildcard tools/*/*.proto))
SHARED_OBJ += $(PROTO_SRC:.c=.o)

$(BUILD)/tools/%.pb-c.c: tools/%.proto
	@mkdir -p $(@D)
	protoc-c --c_out=$(@D) -I$(<D) $<

$(BUILD)/tools/%.pb-c.o: $(BUILD)/tools/%.pb-c.c
	$(CC) $(LIB_CFLAGS) $(PROTOBUF_CFLAGS) $(CFLAGS) -c -o $@ $<

PROTO_USERS := $(addprefix $(BUILD)/tools/timeline/,clocks.o protobuf.o snapshot.o tables.o)
$(PROTO_USERS): LIB_CFLAGS += -I$(BUILD)/tools/timeline $(PROTOBUF_CFLAGS)
$(PROTO_USERS): $(PROTO_SRC)

SHARED_LIBS = $(SHARED_A) -L$(BUILD) -lnetsync-io -lnetsync $(JSON_LIBS) $(BT2_LIBS) $(UUID_LIBS) \
	-lm -pthread
# The tool and the analysis program write files for Perfetto.
TOOL_LIBS = $(SHARED_LIBS) $(PROTOBUF_LIBS) $(shell $(PKG_CONFIG) --libs zlib)
ANALYSIS_LIBS = $(TOOL_LIBS)
RECORD_LIBS = $(SHARED_LIBS) $(LTTNG_LIBS)
PLUGIN_MAP := tools/babeltrace/plugin.map
LINK_PLUGIN = $(CC) -shared -Wl,--version-script=$(PLUGIN_MAP) -Wl,--no-undefined \
	$(LDFLAGS) $(PLUGIN_OBJ) -L$(BUILD) -lnetsync-io -lnetsync $(JSON_LIBS) $(BT2_LIBS) \
	$(UUID_LIBS)

# Remove the archive first, because ar keeps members whose source is gone.
$(SHARED_A): $(SHARED_OBJ)
	rm -f $@
	$(AR) rcs $@ $^

# Programs in build/ find the libraries next to them. The plug-in finds them one directory up.
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

-include $(TOOL_OBJ:.o=.d) $(SHARED_OBJ:.o=.d) $(RECORD_OBJ:.o=.d) $(ANALYSIS_OBJ:.o=.d) \
	$(PLUGIN_OBJ:.o=.d)
