# SPDX-License-Identifier: GPL-2.0-only
"""Classes of worlds: each is a function that changes a plan, with parameters drawn widely."""
import clocks
import worlds
from clocks import SECOND, log_uniform

CLASSES = {}


def world_class(function):
    CLASSES[function.__name__.replace("_", "-")] = function
    return function


def near_truth(plan, host, largest=1e8):
    plan.offsets[host] = plan.rng.choice((-1, 1)) * log_uniform(plan.rng, 1e3, largest)


# ---- oscillators -----------------------------------------------------------------------------

@world_class
def quartz(plan):
    for host in range(plan.num_hosts):
        plan.oscillators[host] = clocks.quartz
    plan.seconds = log_uniform(plan.rng, 30, 3000)


@world_class
def ageing_walk(plan):
    for host in range(plan.num_hosts):
        plan.oscillators[host] = clocks.walking


@world_class
def bends(plan):
    for host in range(plan.num_hosts):
        plan.oscillators[host] = clocks.steady
    plan.oscillators[plan.rng.randrange(plan.num_hosts)] = clocks.bending


@world_class
def rate_step(plan):
    for host in plan.some_hosts():
        plan.behave(host, clocks.rate_steps, plan.rng.choice((1, 1, 2, 5)),
                    log_uniform(plan.rng, 0.3, 300))


# ---- daemons ---------------------------------------------------------------------------------

@world_class
def ntpd(plan):
    rng = plan.rng
    plan.seconds = rng.choice((300, log_uniform(rng, 60, 1500)))
    for host in plan.some_hosts():
        near_truth(plan, host)
        plan.behave(host, clocks.ntpd, rng.choice((8, 16, 64, 64, 256)),
                    log_uniform(rng, 1e4, 3e6), log_uniform(rng, 0.1, 50))


def run_chronyd(plan, largest_offset, error, polls, **named):
    rng = plan.rng
    for host in plan.some_hosts():
        near_truth(plan, host, largest_offset)
        plan.behave(host, clocks.chronyd, rng.choice(polls), log_uniform(rng, 1e3, 1e6),
                    log_uniform(rng, 0.01, error), **named)


@world_class
def chronyd_calm(plan):
    run_chronyd(plan, 1e5, 0.3, (8, 16, 32, 64))


@world_class
def chronyd_start(plan):
    run_chronyd(plan, 3e8, 50, (2, 2, 4, 16))


@world_class
def chronyd_fast(plan):
    plan.outside.add("fast slews")
    run_chronyd(plan, 1e9, 50, (2, 4, 16, 64), largest=83333.0)


@world_class
def chronyd_makestep(plan):
    run_chronyd(plan, 1e11, 50, (2, 2, 4, 16), makestep=plan.rng.choice((1e9, 1e8, 1e7)),
                first=plan.rng.randrange(int(plan.seconds * SECOND / 2)))


@world_class
def ptp4l(plan):
    rng = plan.rng
    for host in plan.some_hosts():
        near_truth(plan, host, rng.choice((1e4, 1e7, 1e10)))
        plan.behave(host, clocks.ptp4l, rng.choice((0.125, 0.5, 1)), log_uniform(rng, 10, 1e5),
                    log_uniform(rng, 0.1, 50))


@world_class
def timesyncd(plan):
    rng = plan.rng
    for host in plan.some_hosts():
        near_truth(plan, host, rng.choice((1e8, 1e11)))
        plan.behave(host, clocks.timesyncd, rng.choice((32, 32, 64, 256)),
                    log_uniform(rng, 1e5, 5e6))


@world_class
def adjtime(plan):
    rng = plan.rng
    for host in plan.some_hosts():
        plan.behave(host, clocks.adjtime, rng.randint(1, 6),
                    (1e4, plan.seconds * SECOND * 500e-6))


@world_class
def small_slews(plan):
    """Slews of less than the delays, which no message contradicts."""
    rng = plan.rng

    def change(links, start, end):
        del start, end
        least = min(sum(link.least) for link in links)
        for host in plan.some_hosts():
            plan.behave(host, clocks.adjtime, rng.randint(1, 20), (least * 0.01, least * 0.9),
                        rate=rng.choice((500, 500, log_uniform(rng, 5, 500))))
    plan.change_clocks.append(change)


@world_class
def leap_smear(plan):
    rng = plan.rng
    for host in plan.some_hosts():
        seconds = rng.choice((86400, 72000, log_uniform(rng, 2100, 9e4)))
        plan.behave(host, clocks.leap_smear, seconds, rng.random() < 0.5)


# ---- clocks that are set, and machines that do not run ---------------------------------------

@world_class
def set_little(plan):
    for host in plan.some_hosts():
        plan.behave(host, clocks.settings, plan.rng.choice((1, 1, 2)), (1e4, 1e8))


@world_class
def set_much(plan):
    for host in plan.some_hosts():
        plan.behave(host, clocks.settings, plan.rng.choice((1, 1, 2)), (1e8, 1e13))


@world_class
def set_often(plan):
    rng = plan.rng
    for host in plan.some_hosts():
        plan.behave(host, clocks.settings, rng.randint(3, 15), (1e5, 1e9),
                    rng.choice(((1,), (-1,), (-1, 1))))


@world_class
def bursts_settings(plan):
    """Bursts of messages, and a clock that is set between some of them."""
    rng = plan.rng
    count = rng.randint(3, 12)

    def change(links, start, end):
        gap = (end - start) // count
        windows = [(start + i * gap, start + i * gap + int(gap * rng.uniform(0.02, 0.5)))
                   for i in range(count)]
        for link in links:
            link.windows = windows
    plan.change_links.append(change)
    for host in plan.some_hosts():
        plan.behave(host, clocks.settings, rng.choice((1, 1, 2, 3)), (1e6, 1e10))


@world_class
def vm_pause(plan):
    rng = plan.rng
    for host in plan.some_hosts():
        plan.behave(host, clocks.pauses, rng.choice((1, 1, 2, 4)), (1e6, 1e10),
                    rng.choice((None, "step", "late")))


@world_class
def vm_slew(plan):
    rng = plan.rng
    for host in plan.some_hosts():
        plan.behave(host, clocks.pauses, rng.choice((1, 1, 2)),
                    (1e5, plan.seconds * SECOND * 250e-6), "slew")


@world_class
def vm_opposite(plan):
    """Pauses that the agent corrects at once: opposite steps, close together."""
    rng = plan.rng
    for host in plan.some_hosts():
        plan.behave(host, clocks.pauses, rng.randint(1, 8), (1e6, 1e9), "step")


@world_class
def migration(plan):
    """A guest that moves to another host, with slower messages before (brownout)."""
    rng = plan.rng
    for host in plan.some_hosts():
        plan.behave(host, clocks.migrations, rng.choice((1, 1, 2)), (5e6, 3e9),
                    log_uniform(rng, 0.1, 60), rng.choice((None, "step", "late")))

    def change(links, start, end):
        begin = rng.randrange(start, end)
        until = begin + int(log_uniform(rng, 1e9, 6e10))
        for link in links:
            size = link.least[0] * log_uniform(rng, 0.3, 30)
            for queue in link.queues:
                queue.append((begin, until, size, log_uniform(rng, 1e7, 1e9),
                              rng.choice((0, size / 3))))
    plan.change_links.append(change)


@world_class
def suspend(plan):
    rng = plan.rng
    for host in plan.some_hosts():
        plan.behave(host, clocks.suspends, rng.choice((1, 1, 2)),
                    (1e9, max(2e9, plan.seconds * SECOND / 6)),
                    rng.choice((0, 1e6, 5e8)))


# ---- logs of clocks --------------------------------------------------------------------------

def log_clock(plan, host, gaps=0):
    rng = plan.rng

    def sample(of, clock, start, end):
        times = [t for t in clock.set_times for _ in range(gaps)]
        times += [rng.randrange(start, end) for _ in range(gaps)]
        return worlds.sample_clock(rng, of, clock, start, end, [
            (t - int(log_uniform(rng, 1e6, 2e10)), t + int(log_uniform(rng, 1e6, 2e10)))
            for t in times])

    def trace(of, clock, start, end):
        return worlds.trace_clock(rng, of, clock, start, end, gaps * 0.02)
    plan.logs[host] = rng.choice((sample, trace))


@world_class
def log_daemon(plan):
    """Daemons that steer every host, and logs of all clocks."""
    rng = plan.rng
    rng.choice((ntpd, chronyd_start, ptp4l, adjtime, timesyncd))(plan)
    plan.seconds = min(plan.seconds, 120)
    for host in range(plan.num_hosts):
        log_clock(plan, host)


@world_class
def log_setting(plan):
    """Clocks that are set, with a log that misses readings then."""
    rng = plan.rng
    plan.seconds = min(plan.seconds, 120)
    rng.choice((set_little, set_much, set_often, chronyd_makestep, suspend))(plan)
    for host in range(plan.num_hosts):
        log_clock(plan, host, rng.choice((0, 1)))


@world_class
def log_one_host(plan):
    rng = plan.rng
    plan.seconds = min(plan.seconds, 120)
    rng.choice((ntpd, chronyd_calm, chronyd_start, ptp4l, set_much, vm_pause))(plan)
    plan.seconds = min(plan.seconds, 120)
    log_clock(plan, rng.randrange(plan.num_hosts), rng.choice((0, 0, 1)))


# ---- traffic ---------------------------------------------------------------------------------

@world_class
def short_record(plan):
    plan.seconds = log_uniform(plan.rng, 0.1, 10)
    if plan.rng.random() < 0.5:
        plan.rng.choice((set_much, adjtime, rate_step, vm_pause))(plan)


@world_class
def few_messages(plan):
    plan.total = plan.rng.choice((log_uniform(plan.rng, 5, 199), log_uniform(plan.rng, 20, 199)))
    if plan.rng.random() < 0.5:
        plan.rng.choice((set_much, adjtime, rate_step, ntpd, chronyd_start, vm_pause))(plan)


@world_class
def one_direction(plan):
    """One direction only, on all links or on some."""
    rng = plan.rng

    def change(links, start, end):
        del start, end
        everywhere = rng.random() < 0.3
        for link in links:
            link.one_way = everywhere or rng.random() < 0.4
        rng.choice(links).one_way = True
    plan.num_hosts = rng.randint(2, 5)
    plan.change_links.append(change)


@world_class
def wifi(plan):
    def change(links, start, end):
        del start, end
        for link in links:
            link.tail = "wifi"
            link.least = [log_uniform(plan.rng, 2e5, 5e6)] * 2
            link.mean = [log_uniform(plan.rng, 1e5, 5e6) for _ in range(2)]
    plan.change_links.append(change)


@world_class
def route_change(plan):
    """The least delay of one or both directions changes, at once or slowly."""
    rng = plan.rng

    def change(links, start, end):
        for link in links:
            for _ in range(rng.choice((0, 1, 1, 2, 4))):
                begin = rng.randrange(start, end)
                until = begin + rng.choice((1, int(log_uniform(rng, 1e8, 1e11))))
                which = rng.choice(((0,), (1,), (0, 1)))
                for direction in which:
                    factor = log_uniform(rng, 0.05, 3)
                    link.routes[direction].append(
                        (begin, until, rng.choice((-1, 1)) * factor * link.least[direction]))
    plan.change_links.append(change)


def change_pattern(plan, pattern):
    def change(links, start, end):
        del start, end
        for link in links:
            link.pattern = pattern
    plan.change_links.append(change)


@world_class
def delayed_acks(plan):
    change_pattern(plan, "bulk")


@world_class
def bulk_queues(plan):
    """Bulk traffic with a queue in one direction, for long times."""
    rng = plan.rng
    change_pattern(plan, "bulk")

    def change(links, start, end):
        for link in links:
            direction = rng.randrange(2)
            for _ in range(rng.randint(1, 3)):
                begin = rng.randrange(start - (end - start) // 4, end)
                size = link.least[direction] * log_uniform(rng, 0.1, 100)
                link.queues[direction].append(
                    (begin, begin + int((end - start) * rng.uniform(0.05, 1)), size,
                     log_uniform(rng, 1e7, 1e10), size * rng.choice((0, 0.1, 1))))
    plan.change_links.append(change)


@world_class
def heavy_tails(plan):
    rng = plan.rng

    def change(links, start, end):
        del start, end
        for link in links:
            link.tail = rng.choice(("lognormal", "pareto", "uniform"))
            link.mean = [mean * log_uniform(rng, 0.3, 30) for mean in link.mean]
    plan.change_links.append(change)


# ---- stamps, and what recorders do -----------------------------------------------------------

@world_class
def coarse(plan):
    rng = plan.rng
    all_alike = rng.random() < 0.5
    resolution = rng.choice((10**3, 10**4, 10**6))
    for host in range(plan.num_hosts):
        plan.resolution[host] = resolution if all_alike else rng.choice((1, 10**3, 10**4, 10**6))


@world_class
def ticks(plan):
    """Stamps of timer ticks, HZ of 100 to 1000."""
    rng = plan.rng
    resolution = rng.choice((10**7, 4 * 10**6, 10**6, 3333333))
    for host in range(plan.num_hosts):
        plan.resolution[host] = resolution
    if resolution == 3333333 or rng.random() < 0.5:
        plan.options["resolution_ns"] = resolution


@world_class
def processors(plan):
    rng = plan.rng
    plan.outside.add("processors")
    for host in plan.some_hosts():
        size = int(log_uniform(rng, 20, 5e3))
        plan.processors[host] = [0] + [rng.randint(-size, size)
                                       for _ in range(rng.choice((1, 3, 7)))]


@world_class
def wrong_far(plan):
    plan.wrong = (0.01, False)


@world_class
def wrong_near(plan):
    plan.wrong = (0.01, True)


@world_class
def losses(plan):
    rng = plan.rng
    plan.loss = rng.choice((0, log_uniform(rng, 0.01, 0.6)))
    plan.repeats = rng.choice((0, log_uniform(rng, 0.001, 0.2)))
    plan.outages = rng.randint(0, 4)
    plan.late = rng.random() < 0.5
    if rng.random() < 0.4:
        rng.choice((set_much, adjtime, vm_pause, chronyd_start))(plan)


# ---- graphs ----------------------------------------------------------------------------------

@world_class
def graph(plan):
    plan.num_hosts = plan.rng.randint(4, 12)
    plan.total = log_uniform(plan.rng, 1000, 6000)


@world_class
def bad_reference(plan):
    """The clock that becomes the time base is itself bad."""
    rng = plan.rng
    plan.options["reference"] = "host0"
    for _ in range(rng.choice((1, 2))):
        plan.behave(0, *rng.choice((
            (clocks.settings, rng.randint(1, 4), (1e6, 1e10)),
            (clocks.adjtime, 3, (1e5, plan.seconds * SECOND * 200e-6)),
            (clocks.rate_steps, 3, 100),
            (clocks.pauses, 2, (1e7, 1e9), "late"))))


@world_class
def false_clock(plan):
    """One host with a clock that is set and steered all the time."""
    rng = plan.rng
    plan.num_hosts = max(3, plan.num_hosts)
    host = rng.randrange(plan.num_hosts)
    plan.offsets[host] = rng.choice((-1, 1)) * log_uniform(rng, 1e9, 1e15)
    plan.behave(host, clocks.settings, rng.randint(2, 10), (1e6, 1e11))
    plan.behave(host, clocks.rate_steps, rng.randint(2, 20), 400)


# ---- mixtures --------------------------------------------------------------------------------

SINGLE = dict(CLASSES)


@world_class
def mixture(plan):
    for name in plan.rng.sample(sorted(SINGLE), plan.rng.choice((2, 2, 3))):
        plan.notes.append(f"class {name}")
        SINGLE[name](plan)


@world_class
def mixture_daemons(plan):
    """Odd traffic, and clocks that daemons steer or set."""
    names = [plan.rng.choice(kind) for kind in (
        ("ntpd", "chronyd-calm", "chronyd-start", "ptp4l", "timesyncd", "adjtime", "small-slews",
         "leap-smear", "set-little", "set-much", "vm-pause", "vm-opposite", "suspend", "rate-step"),
        ("wifi", "route-change", "delayed-acks", "bulk-queues", "heavy-tails", "coarse", "losses",
         "wrong-far", "one-direction", "few-messages", "graph"))]
    for name in names:
        plan.notes.append(f"class {name}")
        SINGLE[name](plan)
