# SPDX-License-Identifier: GPL-2.0-only
# Rules that install everything except the kernel modules and netsync-mpi; included by the
# Makefile.

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
# Contains a directory for the programs that netsync executes.
LIBEXECDIR ?= $(PREFIX)/libexec
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
# Directories in which bash, zsh and fish search for completions. Linux distributions
# configure zsh to search in this one.
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
# modprobe searches in /lib and /etc, and also here if PREFIX is /usr/local.
MODPROBEDIR ?= $(PREFIX)/lib/modprobe.d
# Directory in which babeltrace2 searches for plug-ins, if they are installed for all
# users. Otherwise, babeltrace2 finds plug-ins by BABELTRACE_PLUGIN_PATH.
BT2_OWN_PLUGINDIR = $(or $(shell $(PKG_CONFIG) --variable=plugindir babeltrace2),$(shell \
	$(PKG_CONFIG) --variable=libdir babeltrace2)/babeltrace2/plugins)
IS_SYSTEM = $(and $(filter /usr /usr/local,$(PREFIX)),$(DESTDIR)$(filter 0,$(shell id -u)))
BT2_PLUGINDIR ?= $(if $(IS_SYSTEM),$(BT2_OWN_PLUGINDIR),$(LIBDIR)/babeltrace2/plugins)
# Directory in which Python searches for packages, if there is one below PREFIX.
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)
PYTHON_OWN_DIR = $(shell $(PYTHON) -c 'import site; \
	print(*[p for p in site.getsitepackages() if p.startswith("$(PREFIX)/lib/")][:1])' \
	2> /dev/null)
PYTHONDIR ?= $(or $(if $(IS_SYSTEM),$(PYTHON_OWN_DIR)),$(PREFIX)/lib/python3/dist-packages)

# Generate shell completion for "netsync" from the programs' own tables of options.
$(BUILD)/completion/netsync.%: $(PROGRAMS) tools/completion/generate tools/completion/table.awk \
		tools/completion/%.awk
	@mkdir -p $(@D)
	tools/completion/generate $* $(TOOL) > $@.new
	mv $@.new $@

# The loader searches /lib and /usr/lib by default.
RPATH = $(if $(filter /lib% /usr/lib%,$(LIBDIR)),,-Wl$(comma)-rpath$(comma)$(LIBDIR))
# Relative paths by which programs find each other, even if they are moved together. See
# common/places.h.
COMMANDDIR = $(LIBEXECDIR)/netsync
RELATIVE = $(shell realpath -ms --relative-to=$(1) $(2))
PLACES = -DPLACE_OF_COMMANDS='"$(call RELATIVE,$(BINDIR),$(COMMANDDIR))"' \
	-DPLACE_OF_NETSYNC='"$(call RELATIVE,$(COMMANDDIR),$(BINDIR))"' tools/common/places.c
LINK_INSTALLED = $(CC) -std=gnu11 -fPIC $(CFLAGS) $(LDFLAGS) $(RPATH) $(PLACES)
INSTALL_PC = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
	-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(VERSION)|'
MAN1 := $(wildcard tools/man/*.1) tools/recorder/netsync-recorder.1
MAN3 := $(wildcard libnetsync/man/*.3)
MAN5 := $(wildcard libnetsync/man/*.5 tools/man/*.5)
MAN7 := $(wildcard tools/man/*.7)

# List of the installed files, for uninstall.
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

# Make the loader find new libraries.
LDCONFIG = $(if $(DESTDIR)$(filter-out 0,$(shell id -u)),,PATH="$$PATH:/sbin:/usr/sbin" ldconfig)

# Install the Python package. If the loader does not search the libraries' directory, the
# package contains the path of this directory.
.PHONY: python-stage
python-stage:
	install -d $(DESTDIR)$(PYTHONDIR)/netsync $(DESTDIR)$(MANDIR)/man3
	install -m 644 $(wildcard python/netsync/*.py) python/netsync/py.typed \
		$(DESTDIR)$(PYTHONDIR)/netsync
	$(if $(RPATH),sed -i 's|^LIBDIR = .*|LIBDIR = "$(LIBDIR)"|' \
		$(DESTDIR)$(PYTHONDIR)/netsync/libraries.py)
	install -m 644 $(wildcard python/man/*.3) $(DESTDIR)$(MANDIR)/man3

# Write everything that is to be installed to DESTDIR, which must be empty. The programs
# find the libraries in their installed directory.
.PHONY: stage
stage: python-stage
	install -d $(DESTDIR)$(PREFIX)/share/netsync $(DESTDIR)$(BINDIR) $(DESTDIR)$(COMMANDDIR) \
		$(DESTDIR)$(LIBDIR)/pkgconfig \
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
	$(LINK_INSTALLED) -o $(DESTDIR)$(BINDIR)/netsync $(TOOL_OBJ) $(TOOL_LIBS)
	$(LINK_INSTALLED) -o $(DESTDIR)$(COMMANDDIR)/netsync-record $(RECORD_OBJ) $(RECORD_LIBS)
	$(LINK_INSTALLED) -o $(DESTDIR)$(COMMANDDIR)/netsync-analysis $(ANALYSIS_OBJ) \
		$(ANALYSIS_LIBS)
	for link in $(RECORD_LINKS); do \
		ln -sf netsync-record $(DESTDIR)$(COMMANDDIR)/$$link || exit 1; \
	done
	for link in $(ANALYSIS_LINKS); do \
		ln -sf netsync-analysis $(DESTDIR)$(COMMANDDIR)/$$link || exit 1; \
	done
	install -m 755 $(RECORDER) $(DESTDIR)$(BINDIR)
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
	# A page for several functions is available under the name of each function.
	for page in $(MAN3); do \
		sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm \([^ ]*\).*/\1/p' $$page | \
		while read -r name; do \
			file=$(DESTDIR)$(MANDIR)/man3/$$name.3; \
			[ -e $$file ] || ln -s $${page##*/} $$file || exit 1; \
		done || exit 1; \
	done

# Archive for hosts with the same release and kernel, which then need no compiler. It
# contains everything that install and modules_install create, and the list of files.
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
