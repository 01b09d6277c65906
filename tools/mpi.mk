# SPDX-License-Identifier: GPL-2.0-only
# Rules that build and install netsync-mpi; included by the Makefile.

# MPICC and MPI_BUILD can be set to build with several implementations of MPI.
MPICC ?= mpicc
MPI_BUILD ?= $(BUILD)
MPI_TOOL := $(MPI_BUILD)/netsync-mpi
MPI_OBJ := $(patsubst tools/%.c,$(MPI_BUILD)/tools/%.o,$(wildcard tools/mpi/*.c))

$(MPI_BUILD)/tools/mpi/%.o: tools/mpi/%.c
	@mkdir -p $(@D)
	$(MPICC) $(BASE_CFLAGS) -Itools $(CFLAGS) -c -o $@ $<

$(MPI_TOOL): $(MPI_OBJ) $(SHARED_A) $(CORE_SO) $(IO_SO)
	$(MPICC) $(LDFLAGS) -Wl,-rpath,$(abspath $(BUILD)) -o $@ $(MPI_OBJ) $(SHARED_LIBS)

.PHONY: mpi
mpi: $(MPI_TOOL)

-include $(MPI_OBJ:.o=.d)

# Install netsync-mpi and its manual page, in addition to everything else.
MPI_INSTALLED = $(PREFIX)/share/netsync/installed-mpi

.PHONY: mpi-install
mpi-install: mpi
	@stage=$$(mktemp -d) && trap 'rm -rf "$$stage"' EXIT && \
		install -d "$$stage$(BINDIR)" "$$stage$(MANDIR)/man1" \
			"$$stage$(PREFIX)/share/netsync" && \
		touch "$$stage$(MPI_INSTALLED)" && \
		install -m 644 tools/mpi/netsync-mpi.1 "$$stage$(MANDIR)/man1" && \
		$(MPICC) $(LDFLAGS) $(RPATH) -o "$$stage$(BINDIR)/netsync-mpi" $(MPI_OBJ) \
			$(SHARED_LIBS) && \
		tools/install put "$$stage" "$(DESTDIR)" "$(MPI_INSTALLED)"

.PHONY: mpi-uninstall
mpi-uninstall:
	tools/install remove "$(DESTDIR)" "$(MPI_INSTALLED)"
