# SPDX-License-Identifier: GPL-2.0-only
"""Write events like those of Retis, following its published source (retis-events/src of
https://github.com/retis-org/retis): retis cannot be built here, as it needs a kernel with BPF type
information and packages from Rust's registry. A Trace collects packets like ctf.Trace, so
ctf.exchange() can fill both."""
import base64
import json

import pcap

OUT, IN = "net:net_dev_start_xmit", "net:netif_receive_skb"


class Trace:
    """One file. old: sections as in version 1.5, which had all of a packet in the section "skb"; is
    sorted: a list of events in each line, as retis sort writes them. start is the wall time at which
    CLOCK_MONOTONIC showed 0."""

    def __init__(self, start=0, old=False, is_sorted=False, snaplen=255, symbols=(OUT, IN)):
        self.__dict__.update(locals())
        self.events = []

    def add(self, time, is_out, packet, **_):
        packet = pcap.full(packet)
        data = pcap.frame(packet, pcap.ETHERNET, is_out)
        self.events.append(self.event(time - self.start, is_out, data, packet.netns or 4026531840))

    def event(self, time, is_out, data, netns):
        number = len(self.events) + 1
        kept = base64.b64encode(data[:self.snaplen]).decode()
        event = {
            "common": {"timestamp": time, "smp_id": number % 4,
                       "task": {"pid": 0, "tgid": 0, "comm": 'swapper/"timestamp":7'}},
            "kernel": {"symbol": self.symbols[not is_out], "probe_type": "raw_tracepoint"},
            "skb-tracking": {"orig_head": 2**64 - 4096 * number, "timestamp": time,
                             "skb": 2**64 - 256 * number},
        }
        size = {"len": len(data), "capture_len": min(len(data), self.snaplen)}
        if self.old:
            event["skb"] = {"dev": {"name": "eth0", "ifindex": 2}, "ns": {"netns": netns},
                            "packet": {**size, "packet": kept}}
        else:
            event.update({"packet": {**size, "data": kept}, "dev": {"name": "eth0", "ifindex": 2},
                          "netns": {"cookie": 1, "inum": netns}})
        return event

    def startup(self):
        return {"common": {"timestamp": self.events[0]["common"]["timestamp"] - 1},
                "startup": {"retis_version": "1.6.0", "cmdline": "retis collect",
                            "clock_monotonic_offset": {"sec": self.start // 10**9,
                                                       "nsec": self.start % 10**9},
                            "machine": {"kernel_release": "6.1", "kernel_version": "#1",
                                        "hardware_name": "x86_64"}}}

    def text(self):
        events = [self.startup(), *self.events]
        if self.is_sorted:
            events = [events[:1], *([e, e] if i % 2 else [e] for i, e in enumerate(events[1:]))]
        return "".join(json.dumps(e, separators=(",", ":")) + "\n" for e in events)

    def write(self, path):
        path.write_text(self.text())
        return path
