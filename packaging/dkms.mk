# SPDX-License-Identifier: GPL-2.0-only
# Lets dkms build the kernel modules for each new kernel; included by the Makefile.

DKMS_SRC := /usr/src/netsync-$(VERSION)
DKMS_VERSIONS = $(patsubst /var/lib/dkms/netsync/%/source,%,$(wildcard \
	/var/lib/dkms/netsync/*/source))
# $(call dkms_forget,VERSIONS): dkms must remove a version before its source is removed.
dkms_forget = for version in $(1); do \
	dkms remove netsync/$$version --all && \
	rm -rf /usr/src/netsync-$$version || exit 1; done

# Install the source from which dkms builds the modules below DESTDIR.
.PHONY: dkms-source
dkms-source:
	install -d $(DESTDIR)$(DKMS_SRC) $(DESTDIR)$(MODPROBEDIR)
	cp -r Makefile Kbuild COPYING module $(DESTDIR)$(DKMS_SRC)
	sed 's/^PACKAGE_VERSION=.*/PACKAGE_VERSION="$(VERSION)"/' dkms.conf \
		> $(DESTDIR)$(DKMS_SRC)/dkms.conf
	install -m 644 module/netsync.conf $(DESTDIR)$(MODPROBEDIR)

# After the new version is built, remove all other versions.
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

# Print that lttng-probe-netsync is installed, or why it is not and what to do. Its
# absence is an error only if LTTng's modules are installed.
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
