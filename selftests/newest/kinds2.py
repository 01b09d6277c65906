# SPDX-License-Identifier: GPL-2.0-only
"""A trace in CTF 2 with every kind of field, and with everything that distinguishes event
classes. selftests/tools/kinds.py is the same for CTF 1.8."""
import json
import struct

START_S = 1_700_000_000
SPACE = "kinds.example"


def attributes(name):
    return {"kinds.example": {"name": name}}


def integer(bits, signed=False, **more):
    return {"type": f"fixed-length-{'' if signed else 'un'}signed-integer",
            "length": bits, "byte-order": "little-endian", "alignment": 8, **more}


def fixed(kind, bits, **more):
    return {"type": f"fixed-length-{kind}", "length": bits,
            "byte-order": "little-endian", "alignment": 8, **more}


def structure(**members):
    return {"type": "structure", "member-classes": [
        {"name": name, "field-class": member, "attributes": attributes(name)}
        for name, member in members.items()]}


def at(origin, *path):
    return {"origin": origin, "path": list(path)}


PACKET, COMMON, SPECIFIC, PAYLOAD = ("packet-context", "event-record-common-context",
                                     "event-record-specific-context",
                                     "event-record-payload")
TEXT = {"type": "null-terminated-string"}
SIZE = integer(64)
TIME = integer(64, roles=["default-clock-timestamp"])

# Fields that crash sink.ctf.fs of Babeltrace 2.1.2.
NOT_WRITABLE = "by_flag", "blob", "blobs"
KINDS = {
    "hex": integer(16, **{"preferred-display-base": 16}),
    "few": integer(8, mappings={"few": [[0, 3]], "too": [[0, 1], [3, 9]]}),
    "minus": integer(8, True, mappings={"minus": [[-128, -1]], "plus": [[0, 127]]}),
    "leb": {"type": "variable-length-unsigned-integer"},
    "signed_leb": {"type": "variable-length-signed-integer"},
    "flag": fixed("boolean", 8),
    # Babeltrace 2.1.2 cannot read the flag if other fields precede it.
    "by_flag": {"type": "optional", "field-class": TEXT,
                "selector-field-location": at(PAYLOAD, "flag")},
    "bits": fixed("bit-array", 16),
    "map": fixed("bit-map", 16, flags={"low": [[0, 3]], "odd": [[1, 1], [9, 9]]}),
    "single": fixed("floating-point-number", 32),
    "double": fixed("floating-point-number", 64),
    "text": TEXT,
    "wide": {"type": "null-terminated-string", "encoding": "utf-16le"},
    "six": {"type": "static-length-string", "length": 6},
    "length": integer(8),
    "string": {"type": "dynamic-length-string",
               "length-field-location": at(PAYLOAD, "length")},
    "blob": {"type": "static-length-blob", "length": 3, "media-type": "image/webp"},
    "blobs": {"type": "dynamic-length-blob", "media-type": "text/html",
              "length-field-location": at(COMMON, "count")},
    "array": {"type": "static-length-array", "length": 2,
              "element-field-class": structure(x=integer(8), y=TEXT)},
    "arrays": {"type": "dynamic-length-array", "element-field-class": integer(16),
               "length-field-location": at(PACKET, "inner", "count")},
    "by_number": {"type": "optional", "field-class": TEXT,
                  "selector-field-location": at(COMMON, "count"),
                  "selector-field-ranges": [[1, 2], [4, 4]]},
    "by_minus": {"type": "optional", "field-class": TEXT,
                 "selector-field-location": at(SPECIFIC, "minus"),
                 "selector-field-ranges": [[-9, -1]]},
    "variant": {"type": "variant", "selector-field-location": at(PAYLOAD, "few"),
                "options": [
                    {"name": "text", "field-class": TEXT,
                     "selector-field-ranges": [[0, 1]]},
                    {"field-class": structure(inner=integer(8)),
                     "selector-field-ranges": [[2, 9]]}]},
    "signed_variant": {"type": "variant",
                       "selector-field-location": at(SPECIFIC, "minus"),
                       "options": [
                           {"name": "minus", "field-class": integer(8),
                            "selector-field-ranges": [[-9, -1]]},
                           {"name": "plus", "field-class": TEXT,
                            "selector-field-ranges": [[0, 9]]}]},
}


def fragments(host, uid, kinds):
    identity = {"namespace": SPACE, "uid": "of its own"}
    return [
        {"type": "preamble", "version": 2},
        {"type": "trace-class", "name": "kinds", **identity,
         "attributes": attributes("trace"),
         "environment": {"hostname": host, "number": -5},
         "packet-header-field-class": structure(
             magic=integer(32, roles=["packet-magic-number"]))},
        {"type": "clock-class", "id": "ticks", "name": "ticks", "namespace": SPACE,
         "uid": uid, "frequency": 1_000_000_000, "origin": "unix-epoch",
         "offset-from-origin": {"seconds": START_S, "cycles": 500_000_000}},
        {"type": "data-stream-class", "id": 0, "name": "streams", **identity,
         "attributes": attributes("stream class"), "default-clock-class-id": "ticks",
         "packet-context-field-class": structure(
             begin=TIME,
             end=integer(64, roles=["packet-end-default-clock-timestamp"]),
             total=integer(64, roles=["packet-total-length"]),
             content=integer(64, roles=["packet-content-length"]),
             lost=integer(64, roles=["discarded-event-record-counter-snapshot"]),
             inner=structure(count=integer(8))),
         "event-record-header-field-class": structure(
             id=integer(8, roles=["event-record-class-id"]), time=TIME),
         "event-record-common-context-field-class": structure(count=integer(8))},
        {"type": "event-record-class", "id": 0, "data-stream-class-id": 0,
         "name": "every kind", **identity, "attributes": attributes("event class"),
         "specific-context-field-class": structure(minus=integer(8, True)),
         "payload-field-class": structure(**kinds)},
        {"type": "event-record-class", "id": 1, "data-stream-class-id": 0,
         "name": "nothing"},
    ]


def leb128(number):
    """Encode a number in two's complement, as long as needed."""
    out = bytearray()
    while True:
        low, number = number & 127, number >> 7
        # The highest bit of the last byte is the sign bit.
        if number == (-1 if low & 64 else 0):
            return bytes(out + bytes([low]))
        out.append(low | 128)


def values(number, count, minus, inner):
    """Return the fields of all kinds for an event with this number."""
    few, flag, length = number % 5, number % 2, number % 4
    return {
        "hex": struct.pack("<H", number),
        "few": bytes([few]),
        "minus": struct.pack("<b", minus),
        "leb": leb128(number * 99999),
        "signed_leb": leb128(-number * 99999),
        "flag": bytes([flag * 7]),
        "by_flag": b"by flag\0" if flag else b"",
        "bits": struct.pack("<H", number * 77),
        "map": struct.pack("<H", number * 5),
        "single": struct.pack("<f", number / 3),
        "double": struct.pack("<d", -number / 3),
        "text": f"text {number} \u00fc\0".encode() if number % 3 else b"\0",
        "wide": f"wide {number} \u00fc\0".encode("utf-16le"),
        "six": b"in\0six",
        "length": bytes([length]),
        "string": b"abcd"[:length],
        "blob": bytes([number, 0, 255]),
        "blobs": bytes(range(count)),
        "array": b"\1one\0\2two\0",
        "arrays": struct.pack(f"<{inner}H", *range(inner)),
        "by_number": b"by number\0" if count in (1, 2, 4) else b"",
        "by_minus": b"by minus\0" if minus < 0 else b"",
        "variant": b"text\0" if few < 2 else bytes([number]),
        "signed_variant": bytes([number]) if minus < 0 else b"plus\0",
    }


def event(number, inner, kinds):
    count, minus, which = number % 5, number % 7 - 3, number % 4 == 3
    out = struct.pack("<BQB", which, number * 1000, count)
    if which:
        return out
    out += struct.pack("<b", minus)
    found = values(number, count, minus, inner)
    return out + b"".join(found[name] for name in kinds)


def packet(kinds, first, num, inner, lost):
    body = b"".join(event(i, inner, kinds) for i in range(first, first + num))
    size = (4 + 5 * 8 + 1 + len(body)) * 8
    return struct.pack("<IQQQQQB", 0xc1fc1fc1, first * 1000, (first + num) * 1000 - 1,
                       size, size, lost, inner) + body


def write(path, host, uid, without=()):
    kinds = {name: kind for name, kind in KINDS.items() if name not in without}
    path.mkdir()
    (path / "metadata").write_text("".join(
        f"\x1e{json.dumps(fragment)}\n" for fragment in fragments(host, uid, kinds)))
    (path / "stream").write_bytes(b"".join(packet(kinds, *of) for of in (
        (1, 25, 0, 0), (26, 25, 3, 7), (51, 25, 1, 7))))
    return path
