# SPDX-License-Identifier: GPL-2.0-only
"""Write traces of two machines whose threads wait for each other, for netsync path."""
from ctf import Packet, Trace, exchange
from sched import EVENTS, Sched

START = 1_700_000_000_000_000_000
BEGIN = START + 10**9
OFFSET = 123_456_789
US, MS = 1000, 10**6
IDLE = ("swapper/0", 0)
READY, SLEEP, BLOCK, DEAD = 0, 1, 2, 16
NET_RX = 3
DISK = 8 << 20 | 1
INTERRUPTS = {
    "irq_softirq_entry": [("vec", "u32")],
    "irq_softirq_exit": [("vec", "u32")],
    "irq_handler_entry": [("irq", "s32"), ("name", "string")],
    "irq_handler_exit": [("irq", "s32"), ("ret", "s32")],
    "timer_hrtimer_expire_entry": [("hrtimer", "x64")],
    "timer_hrtimer_expire_exit": [("hrtimer", "x64")],
    "x86_irq_vectors_local_timer_entry": [("vector", "s32")],
    "x86_irq_vectors_local_timer_exit": [("vector", "s32")],
    "block_rq_complete": [("dev", "u32"), ("sector", "u64")],
}
# Times have at least this error on another host's clock.
CLOSE = US

CLIENT, SERVER, DB, HOG = (("client", 100), ("server", 200), ("db", 201), ("hog", 300))
REQUEST = Packet(sport=40000, dport=80, seq=1_000_000, len=100)
REPLY = Packet(saddr="10.0.0.2", daddr="10.0.0.1", sport=80, dport=40000,
               seq=2_000_000, len=100)


class Host:
    """A machine whose clock is ahead of the given times by @offset."""

    def __init__(self, name, offset=0, without=()):
        self.name, self.offset = name, offset
        self.packets = Trace(hostname=name, epoch=START)
        self.events = Sched(name, epoch=START, clock=self.packets.clock,
                            events=EVENTS | INTERRUPTS)
        self.without = without
        self.on = {}

    def say(self, time, cpu, event, *values):
        if event not in self.without:
            self.events.say(time + self.offset, cpu, event, *values)

    def run(self, time, cpu, thread, state=SLEEP):
        """Switch to a thread. The previous thread is left in the given state."""
        before = self.on.get(cpu, IDLE)
        self.on[cpu] = thread
        self.say(time, cpu, "sched_switch", *before, 20,
                 state if before != IDLE else READY, *thread, 20)

    def wake(self, time, cpu, thread):
        self.say(time, cpu, "sched_waking", *thread, 20, cpu)

    def softirq(self, time, cpu, vec, what):
        self.say(time - US, cpu, "irq_softirq_entry", vec)
        what(time)
        self.say(time + US, cpu, "irq_softirq_exit", vec)

    def timer(self, time, cpu, thread):
        self.say(time - 2 * US, cpu, "x86_irq_vectors_local_timer_entry", 236)
        self.say(time - US, cpu, "timer_hrtimer_expire_entry", 1)
        self.wake(time, cpu, thread)
        self.say(time + US, cpu, "timer_hrtimer_expire_exit", 1)
        self.say(time + US, cpu, "x86_irq_vectors_local_timer_exit", 236)

    def disk(self, time, cpu, thread):
        self.say(time - US, cpu, "irq_handler_entry", 33, "nvme0q1")
        self.say(time - US // 2, cpu, "block_rq_complete", DISK, 4711)
        self.wake(time, cpu, thread)
        self.say(time + US, cpu, "irq_handler_exit", 33, 1)

    def poll(self, time, cpu, thread):
        """Complete a disk request that a timer polls for."""
        self.say(time - US, cpu, "timer_hrtimer_expire_entry", 1)
        self.say(time - US // 2, cpu, "block_rq_complete", DISK, 4711)
        self.wake(time, cpu, thread)
        self.say(time + US, cpu, "timer_hrtimer_expire_exit", 1)

    def send(self, time, cpu, packet):
        self.packets.add(time + self.offset, True, packet, stream=cpu)

    def receive(self, time, cpu, packet, thread=None):
        """Receive a packet. If a thread is given, wake it just after this."""
        def take(now):
            self.packets.add(now + self.offset - 100, False, packet, stream=cpu)
            if thread:
                self.wake(now, cpu, thread)
        self.softirq(time, cpu, NET_RX, take)

    def write(self, folder):
        return [self.packets.write(folder / f"{self.name}-packets"),
                self.events.write(folder / f"{self.name}-events")]


def write(folder, a, b):
    exchange(a.packets, b.packets, count=200, offset=b.offset - a.offset,
             start=BEGIN, gap=10 * MS)
    folder.mkdir(exist_ok=True)
    return ["-r", a.name, *a.write(folder), *b.write(folder)]


def request(a, b, t=BEGIN + 500 * MS):
    """A client asks a server, which asks a database, which reads a disk. Return all activities
    on the path."""
    a.run(t, 0, CLIENT)
    a.send(t + 1000 * US, 0, REQUEST)
    a.run(t + 1010 * US, 0, IDLE)
    b.run(t - 100 * US, 1, HOG)
    b.receive(t + 1050 * US, 0, REQUEST, SERVER)
    b.run(t + 1060 * US, 0, SERVER)
    b.wake(t + 3060 * US, 0, DB)
    b.run(t + 3070 * US, 0, IDLE)
    b.run(t + 3560 * US, 1, DB, READY)
    b.run(t + 4560 * US, 1, IDLE, BLOCK)
    b.disk(t + 9560 * US, 1, DB)
    b.run(t + 9570 * US, 1, DB)
    b.wake(t + 9670 * US, 1, SERVER)
    b.run(t + 9680 * US, 1, HOG)
    b.run(t + 9690 * US, 0, SERVER)
    b.run(t + 10190 * US, 0, IDLE)
    b.timer(t + 12190 * US, 0, SERVER)
    b.run(t + 12200 * US, 0, SERVER)
    b.send(t + 12700 * US, 0, REPLY)
    b.run(t + 12710 * US, 0, IDLE)
    a.receive(t + 12750 * US, 0, REPLY, CLIENT)
    a.run(t + 12760 * US, 0, CLIENT)
    a.run(t + 13760 * US, 0, IDLE, DEAD)
    a.run(t + 14000 * US, 0, HOG)
    a.run(t + 14100 * US, 0, IDLE)
    return [
        ("a", 100, "running", 1010 * US, None),
        ("b", 200, "network", 40 * US, 100),
        ("b", 200, "preempted", 10 * US, None),
        ("b", 200, "running", 2010 * US, None),
        ("b", 201, "preempted", 490 * US, 300),
        ("b", 201, "running", 1000 * US, None),
        ("b", 201, "disk", 5000 * US, None),
        ("b", 201, "preempted", 10 * US, None),
        ("b", 201, "running", 100 * US, None),
        ("b", 200, "preempted", 20 * US, None),
        ("b", 200, "running", 500 * US, None),
        ("b", 200, "timer", 2000 * US, None),
        ("b", 200, "preempted", 10 * US, None),
        ("b", 200, "running", 500 * US, None),
        ("a", 100, "network", 50 * US, 200),
        ("a", 100, "preempted", 10 * US, None),
        ("a", 100, "running", 1000 * US, None),
    ]
