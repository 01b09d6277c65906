# SPDX-License-Identifier: GPL-2.0-only
"""What netsync export --perfetto wrote, in either format, as the same lists."""
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
    """slices, instants, packets (slices or instants), and flows between these."""

    def __init__(self):
        self.tracks = {}
        self.slices, self.instants, self.packets, self.flows = [], [], [], []

    def sort(self):
        for kind in (self.slices, self.instants, self.packets, self.flows):
            kind.sort(key=repr)
        self.check_slices()
        return self

    def check_slices(self):
        """On one track, none begins before the one before it has ended."""
        last = {}
        for s in sorted(self.slices, key=lambda s: (s.begin, s.end)):
            check(s.end > s.begin, "takes no time:", s)
            check(s.begin >= last.get(s.track, s.begin), "overlaps:", s)
            last[s.track] = s.end

    def of(self, host, track):
        return sorted((s for s in self.slices if s.track == (host, track)),
                      key=lambda s: s.begin)


def plain(value):
    """A number, however a format writes it: JSON has strings for large ones."""
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
    """By protoc and the file with the format. Return: its text."""
    done = subprocess.run(["protoc", "--decode=perfetto.protos.Trace",
                           f"-I{PROTO.parent}", PROTO.name], input=data,
                          capture_output=True, check=False)
    check(done.returncode == 0, done.stderr)
    return done.stdout.decode()


def unquote(text):
    return ast.literal_eval("b" + text)


def parse(lines):
    """A message in the text format, up to its "}": lists of values by name."""
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
    """All, with those that are in compressed ones, in their order."""
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
    """What packets of a sequence refer to."""

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
        # Only times since 1970 are those of the wall clock.
        is_wall = self.zero > 10**18
        check((1 in self.clocks) == is_wall, self.zero, self.clocks)
        check(not is_wall or self.clocks[1] == self.clocks[6])

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


class Reader:
    def __init__(self):
        self.out = Timeline()
        self.tracks = {}
        self.flows = collections.defaultdict(dict)
        self.opened = collections.defaultdict(list)

    def name(self, track):
        """(host, name): of the one that all others of it are below."""
        parent = one(track, "parent_uuid")
        check(parent is None or parent in self.tracks, "no parent:", track)
        host = track
        while one(host, "parent_uuid") is not None:
            host = self.tracks[one(host, "parent_uuid")]
        return one(host, "name").decode(), one(track, "name").decode()

    def track(self, packet):
        track = one(packet, "track_descriptor")
        uuid = one(track, "uuid")
        check(uuid and uuid not in self.tracks, "there is that one:", track)
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


def read_protobuf(path):
    reader, sequences = Reader(), collections.defaultdict(Sequence)
    for packet in packets_of(path.read_bytes()):
        sequence = sequences[one(packet, "trusted_packet_sequence_id")]
        flags = one(packet, "sequence_flags")
        if flags & 1:
            sequence.clear(packet, not sequence.begun)
            continue
        check(flags == 2 and sequence.begun)
        sequence.learn(packet)
        if packet["track_descriptor"]:
            reader.track(packet)
        else:
            reader.event(packet, sequence, sequence.time(packet))
    check(not any(reader.opened.values()), "never ends")
    for flow in reader.flows.values():
        reader.out.flows.append(Flow(*flow["flow_ids"],
                                     *flow["terminating_flow_ids"]))
    return reader.out.sort()
