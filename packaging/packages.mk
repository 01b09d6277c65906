# SPDX-License-Identifier: GPL-2.0-only
# Builds the source archive and packages; included by the Makefile.

# Write the source archive, which is reproducible bit by bit.
DIST = $(BUILD)/netsync-$(VERSION).tar.xz

.PHONY: release
release:
	packaging/release $(VERSION)

.PHONY: dist
dist:
	packaging/dist netsync-$(VERSION) $(DIST)
	@echo "$(DIST)"

# Missing packages are installed only with SETUP=1.
SETUP ?=
SETUP_PACKAGES = @selftests/rig/setup $(if $(filter-out 0,$(SETUP)),,-n)

# Build Debian or RPM packages from the archive.
.PHONY: deb rpm
deb rpm:
	$(SETUP_PACKAGES) build $@
	$(MAKE) --no-print-directory -s dist
	packaging/$@ $(DIST) $(BUILD)/$@
	@ls $(BUILD)/$@/*.$@
