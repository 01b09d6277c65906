# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the libraries into build/, and by tools/build.mk the programs; "make help" lists all
# targets. The kernel side is Kbuild.

# The version is defined only in the public header.
VERSION := $(shell sed -n 's/^\#define NETSYNC_VERSION "\(.*\)"/\1/p' \
	libnetsync/include/netsync.h)
SOVERSION := 0

BUILD ?= build
comma := ,

CFLAGS ?= -O2 -g
WARN := -Wall -Wextra -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes \
	-Wdeclaration-after-statement -Wvla
BASE_CFLAGS := -std=gnu11 $(WARN) -Ilibnetsync/include -D_GNU_SOURCE -MMD -MP
# Symbol maps make all symbols local that the libraries do not export. The plug-in
# contains part of the tool.
LIB_CFLAGS := $(BASE_CFLAGS) -fPIC
PKG_CONFIG ?= pkg-config
OBJCOPY ?= objcopy
# Evaluated when used, so that "make modules" does not need these packages. MAX_MIP: the
# newest Message Interchange Protocol of Babeltrace 2 to use; only version 1 supports
# traces in CTF 2.
BT2_CFLAGS = $(shell $(PKG_CONFIG) --cflags babeltrace2) -DMAX_MIP=$(shell \
	$(PKG_CONFIG) --atleast-version=2.1 babeltrace2 && echo 1 || echo 0)
BT2_LIBS = $(shell $(PKG_CONFIG) --libs babeltrace2)
# Libraries that decompress traces: zlib and zstd, which trace-cmd uses as well, and
# others if they are installed.
HAS_LZMA = $(shell $(PKG_CONFIG) --exists liblzma && echo liblzma)
HAS_LZ4 = $(shell $(PKG_CONFIG) --exists liblz4 && echo liblz4)
ZIP_LIBRARIES = zlib libzstd $(HAS_LZMA) $(HAS_LZ4)
ZIP_CFLAGS = $(shell $(PKG_CONFIG) --cflags $(ZIP_LIBRARIES)) \
	$(if $(HAS_LZMA),-DHAS_LZMA) $(if $(HAS_LZ4),-DHAS_LZ4)
ZIP_LIBS = $(shell $(PKG_CONFIG) --libs $(ZIP_LIBRARIES))
# The name of OTF2's library, which is loaded when it is needed, or nothing if its header files are
# not installed.
OTF2_SONAME = $(shell $(PKG_CONFIG) --atleast-version=3 otf2 && \
	readelf -d $$($(CC) -print-file-name=libopen-trace-format2.so) | \
	sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
OTF2_CFLAGS = $(addprefix -DOTF2_SONAME=,$(patsubst %,'"%"',$(OTF2_SONAME))) \
	$(shell $(PKG_CONFIG) --cflags otf2 2> /dev/null)
JSON_CFLAGS = $(shell $(PKG_CONFIG) --cflags json-c)
JSON_LIBS = $(shell $(PKG_CONFIG) --libs json-c)
UUID_CFLAGS = $(shell $(PKG_CONFIG) --cflags uuid)
UUID_LIBS = $(shell $(PKG_CONFIG) --libs uuid)

CORE_SRC := $(filter-out libnetsync/io/%, \
	$(wildcard libnetsync/*.c libnetsync/*/*.c))
IO_SRC := $(wildcard libnetsync/io/*.c libnetsync/io/*/*.c \
	libnetsync/io/*/*/*.c)
CORE_OBJ := $(CORE_SRC:%.c=$(BUILD)/%.o)
IO_OBJ := $(IO_SRC:%.c=$(BUILD)/%.o)
CORE_SO := $(BUILD)/libnetsync.so
IO_SO := $(BUILD)/libnetsync-io.so
# Tests and benchmarks use internal functions, which the shared library hides.
CORE_A := $(BUILD)/libnetsync.a
# The installed static library hides them, too.
STATIC_A := $(BUILD)/static/libnetsync.a

# A folder page/ is not made of page.c beside it, whatever make's own rules say.
.SUFFIXES:

.PHONY: all
all: $(CORE_SO) $(CORE_A) $(STATIC_A) $(IO_SO)

# The libraries' files include each other by folder.
$(BUILD)/libnetsync/io/%.o: libnetsync/io/%.c
	@mkdir -p $(@D)
	$(CC) $(LIB_CFLAGS) -Ilibnetsync $(BT2_CFLAGS) $(JSON_CFLAGS) $(ZIP_CFLAGS) $(CFLAGS) \
		-c -o $@ $<

$(BUILD)/libnetsync/%.o: libnetsync/%.c
	@mkdir -p $(@D)
	$(CC) $(LIB_CFLAGS) -Ilibnetsync $(CFLAGS) -c -o $@ $<

# Their inner loops run over all neighbours of a host.
$(BUILD)/libnetsync/curve/fit.o $(BUILD)/libnetsync/joint/objective.o: \
	LIB_CFLAGS += -ftree-vectorize -fvect-cost-model=dynamic

$(BUILD)/libnetsync/io/otf2/%.o: LIB_CFLAGS += $(OTF2_CFLAGS)

$(CORE_SO): $(CORE_OBJ) libnetsync/netsync.map
	$(CC) -shared -Wl,-soname,libnetsync.so.$(SOVERSION) \
		-Wl,--version-script=libnetsync/netsync.map -Wl,--no-undefined \
		$(LDFLAGS) -o $@.$(VERSION) $(CORE_OBJ) -lm -pthread
	ln -sf libnetsync.so.$(VERSION) $@.$(SOVERSION)
	ln -sf libnetsync.so.$(SOVERSION) $@

# Removed first: ar keeps members whose source is gone.
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

-include $(CORE_OBJ:.o=.d) $(IO_OBJ:.o=.d)

# For dkms, only the Makefile and module/ are installed.
include module/modules.mk
# The other files use definitions of the first one.
include $(wildcard tools/build.mk)
include $(filter-out tools/build.mk,$(wildcard packaging/*.mk selftests/*.mk tools/*.mk))

.PHONY: help
help:
	@tools/help CONTRIBUTING.md

.PHONY: clean
clean:
	rm -rf $(BUILD)
