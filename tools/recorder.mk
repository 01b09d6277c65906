# SPDX-License-Identifier: GPL-2.0-only
# Builds netsync-recorder, which needs the kernel alone; a part of the Makefile.

RECORDER := $(BUILD)/netsync-recorder
RECORDER_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tools/recorder/*.c))

all: $(RECORDER)

$(BUILD)/tools/recorder/%.o: tools/recorder/%.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -fPIE -Os $(CFLAGS) -c -o $@ $<

# It is copied to hosts that may have no library of this release.
$(RECORDER): $(RECORDER_OBJ)
	$(CC) $(LDFLAGS) -static-pie -o $@ $(RECORDER_OBJ)

-include $(RECORDER_OBJ:.o=.d)
