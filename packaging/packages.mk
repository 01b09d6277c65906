# SPDX-License-Identifier: GPL-2.0-only
# Makes the source archive and packages; a part of the Makefile.

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

# The archive -> packages of Debian, or of RPM.
.PHONY: deb rpm
deb rpm:
	$(SETUP_PACKAGES) build $@
	$(MAKE) --no-print-directory -s dist
	packaging/$@ $(DIST) $(BUILD)/$@
	@ls $(BUILD)/$@/*.$@
