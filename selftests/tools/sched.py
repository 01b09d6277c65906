# SPDX-License-Identifier: GPL-2.0-only
"""Write CTF traces of thread activity in the format of LTTng's kernel tracer."""
import struct

from ctf import TYPES, Trace

COMM = ("integer { size = 8; align = 8; signed = 0; encoding = UTF8; base = 10; }")
SIGNED = "integer { size = 64; align = 8; signed = 1; }"
COLOURS = ('enum : integer { size = 8; align = 8; signed = 0; } '
           '{ "red" = 0, "green" = 1, "dark" = 2 ... 9 }')
REAL = "floating_point { exp_dig = 11; mant_dig = 53; byte_order = le; align = 8; }"

SWITCH = [("prev_comm", "comm"), ("prev_tid", "s32"), ("prev_prio", "s32"),
          ("prev_state", "s64"), ("next_comm", "comm"), ("next_tid", "s32"),
          ("next_prio", "s32")]
WAKEUP = [("comm", "comm"), ("tid", "s32"), ("prio", "s32"),
          ("target_cpu", "s32")]
# The fields of each event, by the event's name. A name with "@" has a context with the
# tid.
EVENTS = {
    "sched_switch": SWITCH,
    "sched_wakeup": WAKEUP,
    "sched_wakeup_new": WAKEUP,
    "sched_waking": WAKEUP,
    "sched_process_fork": [("parent_comm", "comm"), ("parent_tid", "s32"),
                           ("child_comm", "comm"), ("child_tid", "s32")],
    "sched_process_free": [("comm", "comm"), ("tid", "s32"), ("prio", "s32")],
    "lttng_statedump_process_state": [("tid", "s32"), ("pid", "s32"),
                                      ("name", "comm")],
    "syscall_entry_openat": [("dfd", "s32"), ("filename", "string"),
                             ("flags", "s32")],
    "syscall_exit_openat": [("ret", "s64")],
    "syscall_entry_epoll_wait": [("epfd", "s32"), ("timeout", "s32")],
    "syscall_exit_epoll_wait": [("ret", "s64")],
    "syscall_entry_clone": [("clone_flags", "x64")],
    "syscall_exit_clone": [("ret", "s64")],
    "block_rq_issue": [("sector", "u64"), ("bytes", "u32"), ("rwbs", "string")],
    "test_kinds": [("colour", "enum"), ("real", "real"), ("text", "string"),
                   ("least", "s64"), ("most", "u64")],
    "app:work": [("number", "u32")],
}


def encode(kind, value):
    if kind == "comm":
        return value.encode(errors="surrogateescape")[:15].ljust(16, b"\0")
    if kind == "string":
        return value.encode(errors="surrogateescape") + b"\0"
    if kind == "bytes":
        return bytes([len(value)]) + value
    if kind == "s64":
        return struct.pack("<q", value)
    if kind == "enum":
        return struct.pack("<B", value)
    if kind == "real":
        return struct.pack("<d", value)
    return struct.pack(TYPES[kind][1], value)


class Sched(Trace):
    """
    A trace. say() adds an event, whose first field is the tid if the event has a context.
    """

    def __init__(self, hostname, context=(), events=None, **options):
        super().__init__(layout="sched", hostname=hostname, **options)
        self.context = context
        self.events = events or EVENTS

    def names(self):
        return list(self.events)

    def event_text(self, name):
        text = ""
        for field, kind in self.events[name]:
            if kind == "comm":
                text += f"\t\t{COMM} _{field}[16];\n"
            elif kind == "bytes":
                text += (f"\t\t{TYPES['u8'][0]} __{field}_length;\n"
                         f"\t\t{TYPES['u8'][0]} _{field}[__{field}_length];\n")
            else:
                what = {"string": "string", "s64": SIGNED, "enum": COLOURS,
                        "real": REAL}.get(kind) or TYPES[kind][0]
                text += f"\t\t{what} _{field};\n"
        context = ""
        if name in self.context:
            context = f"\tcontext := struct {{ {TYPES['s32'][0]} _vtid; }};\n"
        return f"{context}\tfields := struct {{\n{text}\t}};\n"

    def say(self, time, cpu, name, *values, tid=0):
        data = struct.pack("<i", tid) if name in self.context else b""
        data += b"".join(encode(kind, value) for (_, kind), value in
                         zip(self.events[name], values, strict=True))
        value = (time - self.epoch) * self.freq // 10**9
        self.streams.setdefault(cpu, []).append(
            (value, self.names().index(name), data))

    def switch(self, time, cpu, prev, state, following):
        """Each thread is a name and a tid."""
        self.say(time, cpu, "sched_switch", *prev, 20, state, *following, 20)

    def wakeup(self, time, cpu, thread, event="sched_wakeup"):
        self.say(time, cpu, event, *thread, 20, cpu)
