# SPDX-License-Identifier: GPL-2.0-only
"""Write a CTF trace with every kind of TSDL field, in either byte order."""
import struct
import uuid

TRACE = uuid.UUID("5e6f0e6a-1c94-4b8f-9c0a-6b696e647321")

METADATA = """/* CTF 1.8 */
trace {
	major = 1; minor = 8; uuid = "%(trace)s"; byte_order = %(order)s;
	packet.header := struct {
		integer { size = 32; align = 8; } magic;
		integer { size = 8; align = 8; } uuid[16];
	};
};
env { hostname = "%(host)s"; tracer_name = "a \\"quoted\\" name"; };
clock { name = ticks; uuid = "%(clock)s"; freq = 1000000000; offset_s = %(epoch_s)d; };
typealias integer { size = 64; align = 8; map = clock.ticks.value; } := time;
typealias integer { size = 8; align = 8; } := byte;
typealias enum : byte { "none" = 0, "two" = 1, "rest" = 2 ... 255 } := tag;
stream {
	packet.context := struct {
		time timestamp_begin; time timestamp_end;
		integer { size = 64; align = 8; } content_size;
		integer { size = 64; align = 8; } packet_size;
		integer { size = 32; align = 8; } count;
	};
	event.header := struct { integer { size = 16; align = 8; } id; time timestamp; };
	event.context := struct { tag selector; };
};
event {
	name = "every:kind"; id = 0; loglevel = 5; model.emf.uri = "https://kinds.example/";
	context := struct { integer { size = 16; align = 8; signed = true; } length; };
	fields := struct {
		integer { size = 5; align = 1; base = 2; } bits;
		integer { size = 7; align = 1; signed = true; base = 8; } octal;
		integer { size = 1; align = 1; } flag;
		enum : integer { size = 3; align = 1; } { "a" = 0, "b" = 1 ... 3, "b" = 5,
			"over lap" = 2 ... 7 } few;
		integer { size = 64; align = 8; base = 16; } most;
		integer { size = 64; align = 1; signed = true; } least;
		enum : integer { size = 8; align = 8; signed = true; }
			{ "minus" = -128 ... -1, "plus" = 0 ... 127 } sign;
		floating_point { exp_dig = 8; mant_dig = 24; align = 8; } float32;
		floating_point { exp_dig = 11; mant_dig = 53; align = 8; } float64;
		string text;
		integer { size = 8; align = 8; encoding = UTF8; } letters[6];
		byte bytes[3];
		struct { byte inner; struct { byte innermost; } deeper; } nested;
		struct { byte x; byte y; } points[2];
		byte length;
		integer { size = 16; align = 8; } numbers[length];
		byte counted[stream.packet.context.count];
		tag there;
		struct {
			variant <there> { struct { } none; byte two; string rest; } chosen;
		} inside;
		tag here;
		variant <here> { struct { byte inner; } none; byte two; string rest; }
			variants;
		byte _plain; byte _event; byte __double;
	};
};
event { name = "nothing"; id = 1; };
event { name = "not there"; id = 2; fields := struct { byte x; }; };
"""


class Bits:
    """Consecutive bit-fields. In little endian, the first field has the lowest bits."""

    def __init__(self, order):
        self.order, self.value, self.size = order, 0, 0

    def add(self, value, size, align=8):
        for number, bits in ((0, -self.size % align), (value, size)):
            number &= 2**bits - 1
            if self.order == "le":
                self.value |= number << self.size
            else:
                self.value = self.value << bits | number
            self.size += bits
        return self

    def all(self, size, *values):
        for value in values:
            self.add(value, size)
        return self

    def real(self, kind, value):
        data = struct.pack(">" + kind, value)
        return self.add(int.from_bytes(data, "big"), len(data) * 8)

    def text(self, text):
        return self.all(8, *text.encode())

    def bytes(self):
        self.add(0, 0)
        return self.value.to_bytes(self.size // 8,
                                   {"le": "little", "be": "big"}[self.order])


def text(number):
    """Return the text of an event. Some texts are empty."""
    return f"text {number} \u00fc" if number % 3 else ""


def event(order, number, count):
    out = Bits(order).add(number % 4 == 3, 16).add(number * 1000, 64)
    there, here, length = number % 5, number % 3, number % 4
    out.add(there, 8)
    if number % 4 == 3:
        return out.bytes()
    out.add(-number, 16)
    out.add(number, 5, 1).add(-number, 7, 1).add(number, 1, 1).add(number, 3, 1)
    out.add(2**64 - 1 - number, 64).add(-2**63 + number, 64, 1).add(number - 3, 8)
    out.real("f", number / 3).real("d", -number / 3)
    out.text(text(number) + "\0").text("in\u00e9\0x")
    out.all(8, 1, 2, 3, 7, 8, 11, 12, 21, 22)
    out.add(length, 8).all(16, *range(length)).all(8, *range(count))
    out.add(there, 8)
    if there:
        out.text("!" if there == 1 else f"there {number}\0")
    out.add(here, 8).text("rest\0" if here == 2 else "x")
    return out.all(8, 1, 2, 3).bytes()


def packet(order, first, num, count):
    body = b"".join(event(order, i, count) for i in range(first, first + num))
    head = Bits(order).add(0xc1fc1fc1, 32).all(8, *TRACE.bytes)
    size = (20 + 36 + len(body)) * 8
    head.all(64, first * 1000, (first + num) * 1000 - 1, size, size).add(count, 32)
    return head.bytes() + body


def write(path, order, host, clock, epoch_s):
    path.mkdir()
    (path / "metadata").write_text(METADATA % {
        "trace": TRACE, "order": order, "host": host, "clock": clock,
        "epoch_s": epoch_s})
    (path / "stream").write_bytes(b"".join(
        packet(order, first, 25, count) for first, count in ((1, 0), (26, 3), (51, 1))))
    return path
