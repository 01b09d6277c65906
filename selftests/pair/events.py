# SPDX-License-Identifier: GPL-2.0-only
"""Read the packet events of a trace from Babeltrace's output."""
import collections
import ipaddress
import re
import subprocess

Event = collections.namedtuple(
    "Event", "time out device proto saddr daddr sport dport id seq ack flags len")

NUMBER = re.compile(r"\b(\w+) = (0x[0-9A-Fa-f]+|\d+)")
ARRAY = re.compile(r"\b(\w+) = \[ (.*?) \]")
ELEMENT = re.compile(r"\[\d+\] = (\w+)")
PROTOCOL = re.compile(r'\bprotocol = \( \S+ : container = (\d+)')
DEVICE = re.compile(r'\bname = "([^"]*)"')
HEADERS = ("inet_sock_local_", "inet_dev_", "net_dev_queue", "net_if_receive_skb")


def address(text):
    elements = [int(e, 0) for e in ELEMENT.findall(text)]
    if len(elements) == 8:
        return ipaddress.IPv6Address(b"".join(e.to_bytes(2, "big") for e in elements))
    ip = ipaddress.ip_address(bytes(elements))
    return getattr(ip, "ipv4_mapped", None) or ip


def parse(line):
    stamp, _, rest = line.partition("]")
    name = rest.split(":", 1)[0].rsplit(" ", 1)[-1]
    if not name.startswith(HEADERS):
        return None
    addresses = {key: address(value) for key, value in ARRAY.findall(rest)
                 if key in ("saddr", "daddr")}
    value = {key: int(number, 0)
             for key, number in NUMBER.findall(ARRAY.sub("", rest))}
    if name.startswith("inet"):
        proto, length = value.get("protocol", 6), value["len"]
        device = str(value.get("ifindex", ""))
        value["ack"] = value["ack_seq"]
    else:
        proto = 6 if "window_size" in value else 17 if "source_port" in value else 0
        if not proto or "saddr" not in addresses:
            return None
        header = value["data_offset"] * 4 if proto == 6 else 8
        length = value["payload_len"] if "payload_len" in value else \
            value["tot_len"] - value["ihl"] * 4
        length -= header
        device = DEVICE.search(rest).group(1)
        value["sport"], value["dport"] = value["source_port"], value["dest_port"]
        value["ack"] = value.get("ack_seq", 0)
        if proto == 6:
            value["flags"] |= value["data_offset"] << 12
    seconds, nanoseconds = stamp[1:].split(".")
    return Event(int(seconds) * 10**9 + int(nanoseconds),
                 name.endswith(("_out", "_queue", "_xmit")), device, proto,
                 addresses["saddr"], addresses["daddr"], value["sport"],
                 value["dport"], value.get("id", 0), value.get("seq", 0),
                 value["ack"], value.get("flags", 0), length)


def read(trace):
    """Yield all TCP and UDP packets of a trace in order of time."""
    with subprocess.Popen(
            ["babeltrace2", "--clock-seconds", "--no-delta", trace],
            stdout=subprocess.PIPE, encoding="utf-8") as babeltrace:
        events = [event for line in babeltrace.stdout if (event := parse(line))]
    if babeltrace.returncode:
        raise RuntimeError("babeltrace2 failed on %s" % trace)
    return events
