# SPDX-License-Identifier: GPL-2.0-only
# Rules that build and install the kernel modules; included by the Makefile.

# Use the running kernel, or, if it has no headers, the newest kernel that has some.
KDIR ?= $(or $(wildcard /lib/modules/$(shell uname -r)/build),$(lastword \
	$(sort $(wildcard /lib/modules/*/build))))
KREL = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' \
	$(KDIR)/include/generated/utsrelease.h 2>/dev/null)
MODULES = $(abspath $(BUILD))/modules/$(KREL)

# Source of LTTng's modules, and exports of their build for this kernel. Use the given
# paths, or those of dkms, or those of the test rig.
DKMS_LTTNG = $(patsubst %/,%,$(dir $(lastword $(wildcard \
	/var/lib/dkms/lttng-modules/*/$(KREL)/*/module/lttng-tracer.ko*))))
LTTNG_MODULES = $(firstword $(wildcard \
	$(addsuffix /source,$(firstword $(subst /$(KREL)/, ,$(DKMS_LTTNG)))) \
	$(BUILD)/rig/$(KREL)/lttng-modules))
# dkms 3.0.10 keeps only the modules, so read the exports from the modules.
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

# Kbuild writes next to the source, so give it a copy.
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

# modprobe may not find modules that two sources installed for one kernel.
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
