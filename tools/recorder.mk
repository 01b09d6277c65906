# SPDX-License-Identifier: GPL-2.0-only
# Rules that build netsync-recorder, which only needs the kernel; included by the Makefile.

RECORDER := $(BUILD)/netsync-recorder
RECORDER_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tools/recorder/*.c))

all: $(RECORDER)

$(BUILD)/tools/recorder/%.o: tools/recorder/%.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -fPIE -Os $(CFLAGS) -c -o $@ $<

# Static, because it is copied to hosts whose libraries may be of another release.
$(RECORDER): $(RECORDER_OBJ)
	$(CC) $(LDFLAGS) -static-pie -o $@ $(RECORDER_OBJ)

-include $(RECORDER_OBJ:.o=.d)
