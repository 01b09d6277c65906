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
