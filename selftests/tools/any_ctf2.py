# SPDX-License-Identifier: GPL-2.0-only
"""Write the metadata in CTF 2 for the traces of any_ctf.py, whose streams stay unchanged."""
import json
import re

from any_ctf import Array, Float, Integer, Sequence, String, Struct, Tag

ORIGINS = {"header": "packet-header", "context": "packet-context", "event": "event-record-header",
           "common": "event-record-common-context", "specific": "event-record-specific-context",
           "payload": "event-record-payload"}
BASES = {"10": 10, "hex": 16, "8": 8}


def plain(name):
    """Return a name without its first underscore, as readers of CTF 1.8 do."""
    return name.removeprefix("_")


def integer(size, align=1, big=False, signed=False, **more):
    return {"type": "fixed-length-%ssigned-integer" % ("" if signed else "un"), "length": size,
            "alignment": align, "byte-order": "big-endian" if big else "little-endian", **more}


def structure(members, align=1):
    return {"type": "structure", "minimum-alignment": align,
            "member-classes": [{"name": name, "field-class": kind} for name, kind in members]}


class Scope:
    """A structure that is being written: its place, and how to refer to a field in it."""

    def __init__(self, rng, origin, path=()):
        self.rng, self.origin, self.path = rng, origin, path

    def inner(self, name):
        return Scope(self.rng, self.origin, self.path + (name,))

    def location(self, name):
        ways = [{"path": [name]}, {"origin": self.origin, "path": [*self.path, name]}]
        if self.path:
            ways.append({"path": [None, self.path[-1], name]})
        return self.rng.choice(ways)


def mappings(tag):
    found = {}
    for number, low, high in tag.ranges:
        found.setdefault("_o%d" % number, []).append([low, high])
    return found


def of_integer(kind, scope):
    base = BASES[re.search(r"base = (\w+)", kind.body)[1]]
    made = integer(kind.size, kind.align, kind.big, kind.signed, attributes={"any": 1})
    if base != 10 or scope.rng.random() < 0.5:
        made["preferred-display-base"] = base
    if scope.rng.random() < 0.3:
        made["bit-order"] = "last-to-first" if kind.big else "first-to-last"
    if made["alignment"] == 1 and scope.rng.random() < 0.5:
        del made["alignment"]
    if isinstance(kind, Tag):
        made["mappings"] = mappings(kind)
    return made


def of_variant(kind, scope):
    tag = re.match(r"variant <(\w+)>", kind.text)[1]
    ranges = mappings(kind.tag)
    return {"type": "variant", "selector-field-location": scope.location(plain(tag)),
            "options": [{"name": "o%d" % i, "selector-field-ranges": ranges["_o%d" % i],
                         "field-class": of(option, scope)}
                        for i, option in enumerate(kind.tag.options)]}


def of_array(kind, scope):
    if "UTF8" in kind.text:
        return {"type": "static-length-string", "length": kind.length}
    return {"type": "static-length-array", "length": kind.length,
            "element-field-class": of(kind.inner, scope)}


def of(kind, scope):
    """Return the field class of a type."""
    if isinstance(kind, Struct):
        return structure([(plain(name), of(inner, scope.inner(plain(name)) if
                                           isinstance(inner, Struct) else scope))
                          for name, inner in kind.members], kind.own or 1)
    if isinstance(kind, Integer):
        return of_integer(kind, scope)
    if isinstance(kind, Float):
        return {"type": "fixed-length-floating-point-number", "length": kind.size,
                "alignment": kind.align,
                "byte-order": "big-endian" if kind.big else "little-endian"}
    if isinstance(kind, String):
        return {"type": "null-terminated-string"}
    if isinstance(kind, Array):
        return of_array(kind, scope)
    if isinstance(kind, Sequence):
        return {"type": "dynamic-length-array", "element-field-class": of(kind.inner, scope),
                "length-field-location": scope.location(kind.suffix.strip("[ ]")[1:])}
    return of_variant(kind, scope)


class Metadata:
    def __init__(self, trace, rng):
        self.trace, self.rng = trace, rng
        self.wide, self.big = trace.wide, trace.big
        self.fragments = [{"type": "preamble", "version": 2, "uuid": list(trace.uuid.bytes)}]
        self.aliases = 0
        self.add_trace()
        self.add_stream()
        for number, context, fields in trace.kinds:
            self.add_event(number, context, fields)

    def whole(self, size, role=None, **more):
        if role:
            more["roles"] = [role]
        return self.alias(integer(size, self.wide if size % 8 == 0 else 1, self.big, **more))

    def alias(self, kind):
        """Sometimes, replace a field class by the name of an alias."""
        if self.rng.random() < 0.7:
            return kind
        self.aliases += 1
        name = "alias %d" % self.aliases
        self.fragments.append({"type": "field-class-alias", "name": name, "field-class": kind})
        return name

    def add_trace(self):
        magic = integer(32, 8, self.big, roles=["packet-magic-number"])
        header = self.alias(structure([
            ("any", magic),
            ("uid", {"type": "static-length-blob", "length": 16,
                     "roles": ["metadata-stream-uuid"]}),
            ("class", self.whole(32, "data-stream-class-id")),
            ("stream", self.whole(64, "data-stream-id"))]))
        self.fragments.append({
            "type": "trace-class", "uid": str(self.trace.uuid), "name": "any",
            "environment": {"hostname": "any; } host", "tracer_major": 2, "no name": "\n\"\\"},
            "packet-header-field-class": header})

    def header(self):
        stamp = "default-clock-timestamp"
        few = {"plain": 64, "compact": 27, "large": 32}[self.trace.header]
        if few == 64:
            return structure([("id", self.whole(16, "event-record-class-id")),
                              ("stamp", self.whole(64, stamp))])
        code, none = (5, 31) if few == 27 else (16, 65535)
        ranges = [[0, none - 1]], [[none, none]]
        more = {} if self.rng.random() < 0.5 else {
            "mappings": {"compact": ranges[0], "extended": ranges[1]}}
        names = self.rng.choice((("compact", "extended"), (None, None)))
        parts = (structure([("stamp", self.whole(few, stamp))]),
                 structure([("id", self.whole(32, "event-record-class-id")),
                            ("stamp", self.whole(64, stamp))]))
        options = [{"selector-field-ranges": r, "field-class": part, **({"name": n} if n else {})}
                   for r, part, n in zip(ranges, parts, names)]
        return structure([("code", self.whole(code, "event-record-class-id", **more)),
                          ("v", {"type": "variant", "options": options,
                                 "selector-field-location": {"path": ["code"]}})], 8)

    def add_stream(self):
        roles = ("default-clock-timestamp", "packet-end-default-clock-timestamp",
                 "packet-content-length", "packet-total-length", "packet-sequence-number",
                 "discarded-event-record-counter-snapshot")
        context = structure([*(("any-%d" % i, self.whole(64, role))
                               for i, role in enumerate(roles)), ("cpu_id", self.whole(32))])
        clock = {"type": "clock-class", "id": "any clock", "name": "monotonic",
                 "frequency": 10**9, "offset-from-origin": {"seconds": 0, "cycles": 5}}
        if self.rng.random() < 0.5:
            clock["origin"] = "unix-epoch"
        stream = {"type": "data-stream-class", "id": 7, "default-clock-class-id": "any clock",
                  "packet-context-field-class": self.alias(context),
                  "event-record-header-field-class": self.alias(self.header())}
        if self.trace.common:
            stream["event-record-common-context-field-class"] = of(
                self.trace.common, Scope(self.rng, ORIGINS["common"]))
        self.fragments += [clock, stream]

    def add_event(self, number, context, fields):
        event = {"type": "event-record-class", "name": "e%d" % number, "id": number,
                 "data-stream-class-id": 7, "attributes": {"any": {"extensions": {}}},
                 "payload-field-class": of(fields, Scope(self.rng, ORIGINS["payload"]))}
        if context:
            event["specific-context-field-class"] = of(context,
                                                       Scope(self.rng, ORIGINS["specific"]))
        self.fragments.append(event)

    def text(self):
        return sequence(self.fragments)


def sequence(fragments):
    return "".join("\x1e%s\n" % json.dumps(fragment) for fragment in fragments)


def fragments_of(text):
    return [json.loads(part) for part in text.split("\x1e") if part.strip()]


def left_to_babeltrace(text):
    """Return the metadata with an additional element that has no effect and that netsync does
    not translate, so that libbabeltrace2 reads the trace."""
    fragments = fragments_of(text)
    fragments[0]["extensions"] = {}
    return sequence(fragments)
