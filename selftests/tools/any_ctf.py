# SPDX-License-Identifier: GPL-2.0-only
"""Make random traces that use all types of CTF 1.8, and list their contents."""
import struct
import uuid

MAGIC = 0xc1fc1fc1


class Bits:
    """Bits in one byte order, counted from the beginning of a packet."""

    def __init__(self):
        self.data = bytearray()
        self.at = 0

    def align(self, bits):
        self.at = -(-self.at // bits) * bits
        self.fill()

    def fill(self):
        self.data.extend(bytes(-(-self.at // 8) - len(self.data)))

    def put(self, value, size, big):
        value &= (1 << size) - 1
        for i in range(size):
            bit = value >> (size - 1 - i if big else i) & 1
            at = self.at + i
            if at // 8 == len(self.data):
                self.data.append(0)
            self.data[at // 8] |= bit << (7 - at % 8 if big else at % 8)
        self.at += size


class Integer:
    def __init__(self, rng, big, size=None, align=None, signed=None, extra=""):
        self.size = size or rng.choice((1, 3, 5, 8, 8, 12, 16, 16, 27, 32, 32, 33, 63, 64, 64))
        self.align = align or (rng.choice((1, 1, 2, 4, 8)) if self.size % 8 else
                               rng.choice((1, 8, 8, 8, 16, 32, 64)))
        self.signed = rng.random() < 0.4 if signed is None else signed
        self.big, order = big, ""
        if self.align >= 8 and self.size % 8 == 0 and rng.random() < 0.3:
            self.big = rng.random() < 0.5
            order = " byte_order = %s;" % rng.choice(("be", "network") if self.big else ("le",))
        self.body = "{ size = %d; align = %d; signed = %s;%s%s base = %s; }" % (
            self.size, self.align, rng.choice(("true", "1") if self.signed else ("false", "0")),
            order, extra, rng.choice(("10", "hex", "8")))
        self.text = "integer " + self.body

    def value(self, rng):
        kind = rng.randrange(4)
        low, high = ((-(1 << self.size - 1), (1 << self.size - 1) - 1) if self.signed else
                     (0, (1 << self.size) - 1))
        return low if kind == 0 else high if kind == 1 else rng.randint(low, high)

    def put(self, bits, value):
        bits.align(self.align)
        bits.put(value, self.size, self.big)

    def write(self, bits, rng, name, seen):
        value = self.value(rng)
        self.put(bits, value)
        seen.append((name, value))


class Float:
    def __init__(self, rng, big):
        self.size, exp = rng.choice(((32, 8), (64, 11)))
        self.align, self.big = rng.choice((8, 32, 64)), big
        self.text = "floating_point { exp_dig = %d; mant_dig = %d; align = %d; }" % (
            exp, self.size - exp, self.align)

    def write(self, bits, rng, _name, _seen):
        bits.align(self.align)
        data = struct.pack(">d" if self.size == 64 else ">f", rng.random())
        bits.put(int.from_bytes(data, "big"), self.size, self.big)


class String:
    text = "string"

    def write(self, bits, rng, _name, _seen):
        bits.align(8)
        for byte in bytes(rng.randrange(1, 256) for _ in range(rng.randrange(9))) + b"\0":
            bits.put(byte, 8, False)


class Array:
    """An array of fixed length. Some arrays consist of characters."""

    def __init__(self, inner, length):
        self.inner, self.length = inner, length
        self.text, self.suffix = inner.text, "[%d]" % length

    def write(self, bits, rng, name, _seen):
        bits.align(alignment(self.inner))
        for _ in range(self.length):
            self.inner.write(bits, rng, name, [])


class Struct:
    """
    A structure whose members are (name, type). A sequence or a variant follows the fields
    on which it depends.
    """

    def __init__(self, members, align=0):
        self.members, self.own = members, align
        self.align = max([align, 1] + [alignment(t) for _, t in members])
        lines = "".join(" %s %s%s;" % (t.text, name, getattr(t, "suffix", ""))
                        for name, t in members)
        self.text = "struct {%s }" % lines + (" align(%d)" % align if align else "")

    def write(self, bits, rng, _name, seen):
        bits.align(self.align)
        for name, inner in self.members:
            inner.write(bits, rng, name, seen)


class Length(Integer):
    def value(self, rng):
        self.now = rng.randrange(5)
        return self.now


class Sequence:
    def __init__(self, inner, length, name):
        self.inner, self.length = inner, length
        self.text, self.suffix = inner.text, "[ %s ]" % name

    def write(self, bits, rng, name, _seen):
        bits.align(alignment(self.inner))
        for _ in range(self.length.now):
            self.inner.write(bits, rng, name, [])


class Tag(Integer):
    """An enumeration that has a label for each option. One of the labels has two ranges."""

    def __init__(self, rng, big, options):
        super().__init__(rng, big, size=rng.choice((8, 16, 3)))
        self.options, at, labels = options, 0, []
        self.ranges = []
        if self.signed and self.size > 3:
            at = -4
        for i in [*range(len(options)), 0]:
            to = at if self.size == 3 else at + rng.randrange(3)
            label = rng.choice(("_o%d", '"_o%d"')) % i
            labels.append(label + (" = %d" % at if to == at else " = %d ... %d" % (at, to)))
            self.ranges.append((i, at, to))
            at = to + 1
        self.text = "enum : integer %s { %s }" % (self.body, ", ".join(labels))

    def value(self, rng):
        self.now, low, high = rng.choice(self.ranges)
        return rng.randint(low, high)


class Variant:
    def __init__(self, tag, name):
        self.tag = tag
        self.text = "variant <%s> {%s }" % (name, "".join(
            " %s _o%d;" % (t.text, i) for i, t in enumerate(tag.options)))

    def write(self, bits, rng, name, seen):
        self.tag.options[self.tag.now].write(bits, rng, name, seen)


def alignment(kind):
    if isinstance(kind, (Array, Sequence)):
        return alignment(kind.inner)
    if isinstance(kind, String):
        return 8
    return 1 if isinstance(kind, Variant) else kind.align


def random_element(rng, big):
    """
    Return an element of an array. It is neither an array, which no tracer writes, nor a
    type that depends on another field, which ends babeltrace2 2.0 with an assertion.
    """
    if rng.randrange(4) == 0:
        return Struct([("_f%d" % i, random_element(rng, big)) for i in range(rng.randrange(4))],
                      rng.choice((0, 0, 16)))
    return rng.choice((Integer, Integer, Float))(rng, big) if rng.randrange(4) else String()


def random_type(rng, big, depth):
    """Return a type that depends on no other field."""
    kind = rng.randrange(9 if depth else 7)
    if kind < 4:
        return rng.choice((Integer, Integer, Integer, Float))(rng, big)
    if kind == 4:
        return String()
    if kind == 5:
        text = Integer(rng, big, 8, 8, False, " encoding = UTF8;")
        return Array(text, rng.randrange(1, 17))
    if kind == 6:
        return Array(random_element(rng, big), rng.randrange(4))
    return random_struct(rng, big, depth - 1)


def random_plain(rng, big):
    """
    Return a type without sequences or variants, which end babeltrace2 2.0 with an
    assertion in contexts and in variants.
    """
    return Struct([("_f%d" % i, random_type(rng, big, 0)) for i in range(rng.randrange(5))],
                  rng.choice((0, 0, 8)))


def random_option(rng, big):
    kind = rng.randrange(4)
    return Integer(rng, big) if kind == 0 else String() if kind == 1 else random_plain(rng, big)


def random_struct(rng, big, depth):
    members = []
    for i in range(rng.randrange(7)):
        name, kind = "_f%d" % i, rng.randrange(6)
        if kind == 0:
            length = Length(rng, big, size=rng.choice((8, 32, 5)), signed=False)
            members.append(("_%s_length" % name, length))
            members.append((name, Sequence(random_element(rng, big), length,
                                           "_%s_length" % name)))
        elif kind == 1:
            tag = Tag(rng, big, [random_option(rng, big) for _ in range(rng.randrange(1, 4))])
            members.append(("_%s_tag" % name, tag))
            members.append((name, Variant(tag, "_%s_tag" % name)))
        else:
            members.append((name, random_type(rng, big, depth)))
    return Struct(members, rng.choice((0, 0, 0, 8, 32)))


HEADERS = {
    "plain": "struct { uint16_t id; uint64_clock_t timestamp; }",
    "compact": "struct { enum : uint5_t { compact = 0 ... 30, extended = 31 } id;"
               " variant <id> { struct { uint27_clock_t timestamp; } compact;"
               " struct { uint32_t id; uint64_clock_t timestamp; } extended; } v; } align(8)",
    "large": "struct { enum : uint16_t { compact = 0 ... 65534, extended = 65535 } id;"
             " variant <id> { struct { uint32_clock_t timestamp; } compact;"
             " struct { uint32_t id; uint64_clock_t timestamp; } extended; } v; } align(8)",
}


class Trace:
    """A trace of one stream. Its events are lines in the format of selftests/direct/walk."""

    def __init__(self, rng):
        self.rng, self.big = rng, rng.random() < 0.3
        self.header = rng.choice(list(HEADERS))
        self.uuid = uuid.UUID(int=rng.getrandbits(128))
        self.wide = rng.choice((8, 8, 8, 64))    # aligned as by tracers
        self.common = random_plain(rng, self.big) if rng.random() < 0.3 else None
        self.kinds = [(rng.choice((i, i + 31, i + 100)),
                       random_plain(rng, self.big) if rng.random() < 0.3 else None,
                       random_struct(rng, self.big, 2)) for i in range(rng.randrange(1, 5))]
        self.kinds = list({kind[0]: kind for kind in self.kinds}.values())
        self.clock = rng.randrange(1 << 40)
        self.events = []

    def metadata(self):
        def integer(size, name, clock=False):
            return "typealias integer { size = %d; align = %d; signed = false;%s } := %s;\n" % (
                size, self.wide if size % 8 == 0 else 1,
                " map = clock.monotonic.value;" if clock else "", name)

        text = "/* CTF 1.8 */\n"
        for size in 8, 16, 32, 64, 5, 27:
            text += integer(size, "uint%d_t" % size)
        text += ("trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"%s\";\n\tbyte_order = %s;\n"
                 "\tpacket.header := struct { integer { size = 32; align = 8; } magic;"
                 " integer { size = 8; align = 8; } uuid[16]; uint32_t stream_id;"
                 " uint64_t stream_instance_id; };\n};\n" % (
                     self.uuid, "be" if self.big else "le"))
        text += ("env { hostname = \"any; } host\"; tracer_major = 2; };\n"
                 "clock { name = \"monotonic\"; freq = 1000000000; offset = 5; };\n")
        for size in 27, 32, 64:
            text += integer(size, "uint%d_clock_t" % size, True)
        text += ("struct context { uint64_clock_t timestamp_begin;"
                 " uint64_clock_t timestamp_end; uint64_t content_size; uint64_t packet_size;"
                 " uint64_t packet_seq_num; uint64_t events_discarded; uint32_t cpu_id; };\n"
                 "stream {\n\tid = 7;\n\tevent.header := %s;\n"
                 "\tpacket.context := struct context;\n%s};\n" % (
                     HEADERS[self.header], "\tevent.context := %s;\n" % self.common.text
                     if self.common else ""))
        for number, context, fields in self.kinds:
            text += ("event { name = \"e%d\"; id = %d; stream_id = 7; loglevel = 13;%s"
                     " fields := %s; };\n" % (number, number, " context := %s;" % context.text
                                              if context else "", fields.text))
        return text

    def put(self, bits, value, size):
        bits.align(self.wide if size % 8 == 0 else 1)
        bits.put(value, size, self.big)

    def put_header(self, bits, number):
        """Write the lower bits of the clock if they suffice."""
        step = self.rng.choice((0, 1000, 1 << 20, 1 << 27, 1 << 32))
        few = {"plain": 64, "compact": 27, "large": 32}[self.header]
        self.clock += self.rng.randrange(step + 1)
        if few == 64:
            bits.align(self.wide)
            self.put(bits, number, 16)
            self.put(bits, self.clock, 64)
            return
        bits.align(8 if few == 27 else self.wide)
        code, none = (5, 31) if few == 27 else (16, 65535)
        if number < none and step < 1 << few - 1:
            self.put(bits, number, code)
            self.put(bits, self.clock, few)
        else:
            self.put(bits, none, code)
            bits.align(self.wide)
            self.put(bits, number, 32)
            self.put(bits, self.clock, 64)

    def packet(self, seq, lost):
        body, begin = [], self.clock
        bits = Bits()

        def head(content, size):
            bits.align(8)
            bits.put(MAGIC, 32, self.big)
            for byte in self.uuid.bytes:
                bits.put(byte, 8, self.big)
            self.put(bits, 7, 32)
            self.put(bits, 3, 64)
            for value in begin, self.clock, content, size, seq, lost:
                self.put(bits, value, 64)
            self.put(bits, 0, 32)

        head(0, 0)
        for _ in range(self.rng.randrange(12)):
            number, context, fields = self.rng.choice(self.kinds)
            self.put_header(bits, number)
            seen = []
            for kind in self.common, context:
                if kind:
                    kind.write(bits, self.rng, "", [])
            fields.write(bits, self.rng, "", seen)
            body.append("%d e%d" % (self.clock, number) +
                        "".join(" %s=%d" % field for field in seen))
        content, data = bits.at, bits.data
        size = -(-content // 8 // 64) * 64 + 64
        bits = Bits()
        head(content, size * 8)
        self.events += body
        return (bytes(bits.data) + bytes(data[len(bits.data):])).ljust(size, b"\0")

    def write(self, path):
        path.mkdir()
        (path / "metadata").write_text(self.metadata())
        lost, data = 0, b""
        for seq in range(self.rng.randrange(1, 6)):
            data += self.packet(seq * 2, lost)
            lost += self.rng.choice((0, 0, 5))
        (path / "stream").write_bytes(data)
        return path


def mutate(rng, data):
    """Damage a file at random."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        at = rng.randrange(len(data))
        if rng.randrange(8) == 0:
            del data[at:]
        elif rng.randrange(4) == 0:
            data[at:at] = bytes(rng.randrange(9))
        else:
            data[at] = rng.choice((0, 0xff, rng.randrange(256), data[at] ^ 1 << rng.randrange(8)))
        if not data:
            return b"\0"
    return bytes(data)
