# SPDX-License-Identifier: GPL-2.0-only
"""
Read the output of netsync export --perfetto. Both formats are read into the same lists, and
into Perfetto's tables of processes, threads and scheduling.
"""
import ast
import collections
import decimal
import json
import re
import subprocess
import zlib

from ktap import TOP, check

PROTO = TOP / "tools" / "timeline" / "perfetto.proto"

# Tracks are (host, name); args are sorted pairs.
Slice = collections.namedtuple("Slice", "track begin end category name args")
Instant = collections.namedtuple("Instant", "track time category name args")
Flow = collections.namedtuple("Flow", "source sent destination received")


class Timeline:
    """Slices, instants, packets (slices or instants), and flows between them."""

    def __init__(self):
        self.tracks = {}
        self.slices, self.instants, self.packets, self.flows = [], [], [], []

    def sort(self):
        for kind in (self.slices, self.instants, self.packets, self.flows):
            kind.sort(key=repr)
        self.check_slices()
        return self

    def check_slices(self):
        """Check that no slice of a track begins before the previous one has ended."""
        last = {}
        for s in sorted(self.slices, key=lambda s: (s.begin, s.end)):
            check(s.end > s.begin, "takes no time:", s)
            check(s.begin >= last.get(s.track, s.begin), "overlaps:", s)
            last[s.track] = s.end

    def of(self, host, track):
        return sorted((s for s in self.slices if s.track == (host, track)),
                      key=lambda s: s.begin)


def plain(value):
    """Return a number in any format. In JSON, large numbers are strings."""
    if isinstance(value, str) and re.fullmatch(r"-?\d{16,}", value):
        return int(value)
    if isinstance(value, decimal.Decimal):
        return float(value)
    return value


def args_of(args):
    return tuple(sorted((name, plain(value)) for name, value in args.items()))


# ---- Trace Event Format ------------------------------------------------------


def read_json(path):
    data = json.loads(path.read_text(encoding="utf-8"),
                      parse_float=decimal.Decimal)
    base = int(data["otherData"]["base_ns"])
    out = Timeline()

    def time(event, key="ts"):
        ns = event[key] * 1000
        check(ns == int(ns), "not whole ns:", event)
        return int(ns) + (base if key == "ts" else 0)

    names = {}
    for e in data["traceEvents"]:
        if e["ph"] == "M":
            check((e["pid"], e["tid"]) not in names, "named twice:", e)
            names[e["pid"], e["tid"]] = e["args"]["name"]
    flows = collections.defaultdict(dict)
    for e in data["traceEvents"]:
        if e["ph"] == "M":
            continue
        host = names[e["pid"], 0]
        track = host, names[e["pid"], e["tid"]]
        out.tracks[track] = True
        if e["ph"] in "sf":
            flows[e["id"]][e["ph"]] = (track[0], time(e))
            continue
        if e["cat"] == "packet":
            out.packets.append(Instant(track, time(e), e["cat"], e["name"],
                                       args_of(e["args"])))
        elif e["ph"] == "X":
            begin = time(e)
            out.slices.append(Slice(track, begin, begin + time(e, "dur"),
                                    e["cat"], e["name"], args_of(e["args"])))
        else:
            out.instants.append(Instant(track, time(e), e["cat"], e["name"],
                                        args_of(e["args"])))
    for flow in flows.values():
        out.flows.append(Flow(*flow["s"], *flow["f"]))
    return out.sort()


# ---- protocol buffers --------------------------------------------------------


def decode(data):
    """
    Decode with protoc and the definition of the format. Return the text that protoc
    prints.
    """
    done = subprocess.run(["protoc", "--decode=perfetto.protos.Trace",
                           f"-I{PROTO.parent}", PROTO.name], input=data,
                          capture_output=True, check=False)
    check(done.returncode == 0, done.stderr)
    return done.stdout.decode()


def unquote(text):
    return ast.literal_eval("b" + text)


def parse(lines):
    """Parse a message in the text format, up to its "}", into lists of values by name."""
    out = collections.defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        if line.endswith(" {"):
            out[line[:-2]].append(parse(lines))
            continue
        name, value = line.split(": ", 1)
        check(not name.isdigit(), "a field that the format does not have:", line)
        if value.startswith('"'):
            value = unquote(value)
        elif re.fullmatch(r"-?\d+", value):
            value = int(value)
        out[name].append(value)
    return out


def one(message, name, default=None):
    check(len(message[name]) <= 1, name, "repeated")
    return message[name][0] if message[name] else default


def packets_of(data):
    """Return all packets in order, including those in compressed packets."""
    for packet in parse(iter(decode(data).splitlines()))["packet"]:
        compressed = one(packet, "compressed_packets")
        if compressed is None:
            yield packet
            continue
        plain_bytes = zlib.decompress(compressed)
        check(len(plain_bytes) < 512 * 1024, "is too long for Perfetto")
        for inner in parse(iter(decode(plain_bytes).splitlines()))["packet"]:
            check(not inner["compressed_packets"], "nested")
            yield inner


class Sequence:
    """The state to which packets of a sequence refer."""

    TABLES = ("event_categories", "event_names", "debug_annotation_names",
              "debug_annotation_string_values")

    def __init__(self):
        self.begun = False
        self.used = {name: {} for name in self.TABLES}

    def clear(self, packet, is_first):
        check(is_first == (one(packet, "first_packet_on_sequence") == "true"))
        self.strings = {name: {} for name in self.TABLES}
        self.begun = True
        self.clocks = {}
        for clock in one(packet, "clock_snapshot")["clocks"]:
            self.clocks[one(clock, "clock_id")] = (
                one(clock, "timestamp"), one(clock, "is_incremental") == "true")
        self.zero = self.clocks[6][0]
        self.last = 0
        self.default = one(one(packet, "trace_packet_defaults"),
                           "timestamp_clock_id")
        check(self.clocks[self.default][1])
        self.wall = self.clocks[1][0] - self.zero if 1 in self.clocks else None

    def learn(self, packet):
        for data in packet["interned_data"]:
            for name in self.TABLES:
                for entry in data[name]:
                    iid, text = one(entry, "iid"), one(entry, "str", b"")
                    check(iid > 0 and
                          self.used[name].setdefault(iid, text) == text,
                          "given to another one before:", iid)
                    self.strings[name][iid] = text.decode()

    def time(self, packet):
        clock = one(packet, "timestamp_clock_id", self.default)
        value = one(packet, "timestamp")
        check(value >= 0)
        if clock == self.default:
            self.last += value
            return self.zero + self.last
        at, incremental = self.clocks[clock]
        check(not incremental)
        return self.zero + value - at


def value_of(annotation, strings):
    names = [n for n in annotation if n.endswith("_value") or
             n == "string_value_iid"]
    check(len(names) == 1, annotation)
    value = one(annotation, names[0])
    if names[0] == "string_value":
        return plain(value.decode())
    if names[0] == "string_value_iid":
        return plain(strings["debug_annotation_string_values"][value])
    if names[0] == "double_value":
        return float(value)
    if names[0] == "bool_value":
        return value == "true"
    return value


# Rows of Perfetto's tables. .thread is a Thread, or None for the idle threads.
Thread = collections.namedtuple("Thread", "host tid")
Sched = collections.namedtuple("Sched", "ts dur cpu thread end_state")
State = collections.namedtuple("State", "ts dur thread state cpu waker")
# The names that trace_processor uses, for kernels since 4.4.
STATES = {0: "R", 1: "S", 2: "D", 4: "T", 8: "t", 0x10: "X", 0x20: "Z"}
# Perfetto's id of a thread is the number of its host times TIDS, plus its id on the host.
TIDS = 10_000_000
MAX_TID = 5_000_000


class Tables:
    """The rows of trace_processor's "process", "thread", "sched" and "thread_state" for a
    file (src/trace_processor/importers: ftrace_sched_event_tracker.cc,
    thread_state_tracker.cc, process_tracker.cc)."""

    def __init__(self):
        self.processes = {}	# pid -> name
        self.threads = {}	# tid -> pid
        self.names = {}		# tid -> name
        self.tids = {}		# tid -> the thread's id on its host
        self.wall = None	# ns from trace time to wall-clock time
        self.lost = set()	# CPUs
        self.events = []
        self.mismatched = 0

    def describe(self, track, is_again):
        process, thread = one(track, "process"), one(track, "thread")
        check(not (process and thread), track)
        if process:
            pid = one(process, "pid")
            check(0 < pid < 2**31 and pid not in self.processes, "that process is there:", pid)
            self.processes[pid] = one(process, "process_name").decode()
        if thread:
            tid, pid = one(thread, "tid"), one(thread, "pid")
            check(0 < tid < 2**31 and pid in self.processes, thread)
            check(is_again == (self.threads.get(tid) == pid), "that thread is there:", tid)
            self.threads[tid] = pid
            self.tids[Thread(self.processes[pid], tid % TIDS)] = int(
                one(track, "name").split()[-1])
            if thread["thread_name"]:
                self.names[tid] = one(thread, "thread_name").decode()

    def bundle(self, packet):
        bundle = one(packet, "ftrace_events")
        cpu = one(bundle, "cpu")
        check(0 <= cpu < 1024, "Perfetto refuses a file with CPU", cpu)
        if one(bundle, "lost_events") == "true":
            self.lost.add(cpu)
        for event in bundle["event"]:
            self.events.append((one(event, "timestamp"), cpu, event))

    def thread(self, tid):
        if not tid:
            return None
        check(tid in self.threads, "a thread that has no name:", tid)
        return Thread(self.processes[self.threads[tid]], tid % TIDS)

    def finish(self):
        self.sched, self.thread_state = [], []
        self.running = {}	# CPU -> row of sched
        self.last = {}		# thread -> row of thread_state
        for ts, cpu, event in sorted(self.events, key=lambda e: e[0]):
            switch, waking = one(event, "sched_switch"), one(event, "sched_waking")
            if switch:
                check(one(event, "pid") == one(switch, "prev_pid"))
                self.switch(ts, cpu, switch)
            else:
                self.waking(ts, self.thread(one(event, "pid")), waking)
        self.sched = [Sched(*row) for row in self.sched]
        self.thread_state = [State(*row) for row in self.thread_state]
        return self

    def switch(self, ts, cpu, event):
        before, after = (self.thread(one(event, f"{which}_pid")) for which in
                         ("prev", "next"))
        state = STATES[one(event, "prev_state")]
        row = self.running.get(cpu)
        if row and row[3] == before:
            row[1], row[4] = ts - row[0], state
        self.mismatched += bool(row and row[3] != before)
        self.running[cpu] = [ts, -1, cpu, after, None]
        self.sched.append(self.running[cpu])
        if before:
            self.enter(ts, before, state)
        if after:
            self.enter(ts, after, "Running", cpu)

    def waking(self, ts, waker, event):
        thread = self.thread(one(event, "pid"))
        check(thread)
        last = self.last.get(thread)
        check(not last or last[3] not in ("R", "Running"), "a spurious wakeup of", thread)
        self.enter(ts, thread, "R", waker=waker)

    def enter(self, ts, thread, state, cpu=None, waker=None):
        last = self.last.get(thread)
        if last:
            last[1] = ts - last[0]
        self.last[thread] = [ts, -1, thread, state, cpu, waker]
        self.thread_state.append(self.last[thread])


# Names of thread states in slices.
NAMES = {"R": "runnable", "S": "sleeping", "D": "blocked", "T": "stopped", "t": "stopped",
         "Running": "running"}


def tid_of(slice_):
    """Return the thread id in a track's name, such as "nginx 812 state"."""
    return int(slice_.track[1].split()[-2])


def check_tables(tables, whole):
    """
    Compare the tables with the slices of CPUs and states, which must begin and end at the
    same times. The tables lack only sleep before a thread's first event and after its last
    one.
    """
    check(not tables.mismatched, "on a CPU another thread ran", tables.mismatched)
    cpus_of, rows = collections.defaultdict(set), collections.Counter()
    running, states = [], collections.defaultdict(collections.Counter)
    last = collections.defaultdict(int)
    for s in whole.slices:
        if s.category == "sched" and s.track[1].startswith("CPU "):
            thread = Thread(s.track[0], dict(s.args)["tid"])
            running.append((s.begin, s.end - s.begin, thread))
            last[s.track[0]] = max(last[s.track[0]], s.end)
        elif s.category == "sched":
            states[s.track[0]][(s.begin, s.end - s.begin, tid_of(s), s.name)] += 1
    for r in tables.sched:
        # The thread to which a host's last event switches has a duration of 0 on its track.
        if r.thread and r.dur and (r.dur > 0 or r.ts < last[r.thread.host]):
            thread = r.thread._replace(tid=tables.tids[r.thread])
            rows[(r.ts, r.dur, thread)] += 1
    for begin, dur, thread in running:
        found = [r for r in ((begin, dur, thread), (begin, -1, thread)) if rows[r]]
        check(found, "is not in sched:", begin, dur, thread)
        rows[found[0]] -= 1
    check(not +rows, "is on no track of a CPU:", list((+rows))[:3])
    for r in tables.sched:
        if r.thread:
            cpus_of[r.thread.host].add(r.cpu)
    for one_host, cpus in cpus_of.items():
        for other, more in cpus_of.items():
            check(one_host == other or not cpus & more, "two hosts have a CPU", cpus & more)
    check_states(tables, states)


def check_states(tables, states):
    for host, expected in states.items():
        first = min(begin for begin, *_ in expected)
        last = max(begin + dur for begin, dur, *_ in expected)
        found = collections.Counter()
        for s in tables.thread_state:
            if s.thread.host == host and s.dur and s.state in NAMES:
                end = last if s.dur < 0 else s.ts + s.dur
                if end > s.ts:
                    found[(s.ts, end - s.ts, tables.tids[s.thread], NAMES[s.state])] += 1
        missing, more = expected - found, found - expected
        # Where events were lost, the running thread appears to sleep.
        more = [m for m in more if not (tables.lost and m[3] == "sleeping")]
        for begin, dur, tid, name in list(missing):
            # The first event of a thread implies this state.
            check(name == "sleeping" and begin == first, "is not in thread_state:", host,
                  tid, begin - first, dur, name)
        check(not more, "is no slice:", host, more[:3], first)


class Reader:
    def __init__(self):
        self.out = Timeline()
        self.tables = Tables()
        self.tracks = {}
        self.flows = collections.defaultdict(dict)
        self.opened = collections.defaultdict(list)

    def name(self, track):
        """Return (host, name) of the topmost track above this one."""
        parent = one(track, "parent_uuid")
        check(parent is None or parent in self.tracks, "no parent:", track)
        host = track
        while one(host, "parent_uuid") is not None:
            host = self.tracks[one(host, "parent_uuid")]
        return one(host, "name").decode(), one(track, "name").decode()

    def track(self, packet):
        track = one(packet, "track_descriptor")
        uuid = one(track, "uuid")
        # If a thread gets a new name, its track is written again with this name.
        is_again = uuid in self.tracks and one(track, "thread") is not None
        check(uuid and (is_again or uuid not in self.tracks), "there is that one:", track)
        self.tables.describe(track, is_again)
        if not is_again:
            self.tracks[uuid] = track
        self.name(track)
        check(one(track, "sibling_merge_behavior") ==
              "SIBLING_MERGE_BEHAVIOR_NONE")

    def event(self, packet, sequence, time):
        event = one(packet, "track_event")
        uuid = one(event, "track_uuid")
        check(uuid in self.tracks, "has no track:", event)
        track = self.name(self.tracks[uuid])
        kind = one(event, "type")
        if kind == "TYPE_SLICE_END":
            self.end(uuid, track, time)
            return
        strings = sequence.strings
        category = strings["event_categories"][one(event, "category_iids")]
        name = strings["event_names"][one(event, "name_iid")]
        args = tuple(sorted(
            (strings["debug_annotation_names"][one(a, "name_iid")],
             value_of(a, strings)) for a in event["debug_annotations"]))
        if kind == "TYPE_SLICE_BEGIN":
            self.opened[uuid].append((time, category, name, args))
        elif category == "message":
            for end in ("flow_ids", "terminating_flow_ids"):
                for flow in event[end]:
                    check(end not in self.flows[flow])
                    self.flows[flow][end] = track[0], time
        else:
            check(kind == "TYPE_INSTANT")
            self.out.tracks[track] = True
            (self.out.packets if category == "packet" else
             self.out.instants).append(Instant(track, time, category, name, args))

    def end(self, uuid, track, time):
        check(len(self.opened[uuid]) == 1, "ends nothing on", track)
        begin, category, name, args = self.opened[uuid].pop()
        self.out.tracks[track] = True
        self.out.slices.append(Slice(track, begin, time, category, name, args))


def read_both(path):
    """Return the contents of tracks and of tables."""
    reader, sequences = Reader(), collections.defaultdict(Sequence)
    for packet in packets_of(path.read_bytes()):
        sequence = sequences[one(packet, "trusted_packet_sequence_id")]
        flags = one(packet, "sequence_flags")
        if flags & 1:
            sequence.clear(packet, not sequence.begun)
            continue
        check(flags == 2 and sequence.begun)
        sequence.learn(packet)
        if packet["ftrace_events"]:
            reader.tables.bundle(packet)
        elif packet["track_descriptor"]:
            reader.track(packet)
        else:
            reader.event(packet, sequence, sequence.time(packet))
    check(not any(reader.opened.values()), "never ends")
    walls = {sequence.wall for sequence in sequences.values()}
    check(len(walls) == 1, "two wall clocks", walls)
    (reader.tables.wall,) = walls
    for flow in reader.flows.values():
        reader.out.flows.append(Flow(*flow["flow_ids"],
                                     *flow["terminating_flow_ids"]))
    return reader.out.sort(), reader.tables.finish()


def read_protobuf(path):
    return read_both(path)[0]


def read_tables(path):
    return read_both(path)[1]
