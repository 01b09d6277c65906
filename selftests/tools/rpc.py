# SPDX-License-Identifier: GPL-2.0-only
"""Traces of simulated requests between hosts, in the formats of distributed tracing, and the true
clocks.

The formats follow what their projects publish: opentelemetry-proto (trace/v1/trace.proto, and the
JSON encoding in the specification of OTLP), Jaeger's model/json/model.go, and Zipkin's
zipkin2-api.yaml. As a program, writes the traces of the tutorial to a new folder."""
import json
import pathlib
import random
import sys

import kineto

START_NS = kineto.BASE_NS + kineto.START_NS
INTERNAL, SERVER, CLIENT, PRODUCER, CONSUMER = range(1, 6)
KINDS = {INTERNAL: "internal", SERVER: "server", CLIENT: "client", PRODUCER: "producer",
         CONSUMER: "consumer"}
SERVICES = ["web", "api", "db"]


class Span:
    """A span with true times."""

    def __init__(self, host, service, kind, name, start, end, trace, number, parent=0, links=(),
                 failed=False):
        self.host, self.service, self.kind, self.name = host, service, kind, name
        self.start, self.end, self.trace, self.number = start, end, trace, number
        self.parent, self.links, self.failed = parent, links, failed


class Requests:
    """Requests that pass through a number of hosts. Services run on all hosts."""

    def __init__(self, hosts=3, num=1000, seed=1, unit_ns=1):
        self.rng = random.Random(seed)
        self.hosts = [f"node{i}" for i in range(hosts)]
        self.clocks = {host: kineto.Clock(self.rng.randint(-5_000_000, 5_000_000),
                                          self.rng.uniform(-20, 20)) for host in self.hosts}
        self.unit_ns = unit_ns
        self.length_ns = num * 1_000_000
        self.spans = []
        self.numbers = 0
        for i in range(num):
            self.request(i * 1_000_000)

    def number(self):
        self.numbers += 1
        return self.rng.getrandbits(63) + 1

    def delay(self):
        return 40_000 + int(self.rng.expovariate(1 / 30e3))

    def add(self, *arguments, **options):
        self.spans.append(Span(*arguments, **options))
        return self.spans[-1]

    def call(self, trace, parent, here, there, start, **options):
        """Add the spans of a call, and return the time at which it ends."""
        client, server = self.number(), self.number()
        begin = start + self.delay()
        end = begin + 100_000 + int(self.rng.expovariate(1 / 200e3))
        back = end + self.delay()
        self.add(here, "web", CLIENT, "GET", start, back, trace, client, parent, **options)
        self.add(there, "api", SERVER, "GET /item", begin, end, trace, server, client)
        return back

    def request(self, start):
        trace, root = self.rng.getrandbits(127) + 1, self.number()
        here, there = self.rng.sample(self.hosts, 2)
        end = self.call(trace, root, here, there, start + 20_000)
        produced = self.number()
        self.add(here, "web", PRODUCER, "send", end, end + 5_000, trace, produced, root)
        later = end + 400_000 + self.delay()
        self.add(there, "db", CONSUMER, "receive", later, later + 50_000,
                 self.rng.getrandbits(127) + 1, self.number(), 0, [(trace, produced)])
        self.add(here, "web", INTERNAL, "request", start, end + 30_000, trace, root)

    # ---- times ----

    def at(self, host, true_ns):
        """A time in the file, in its unit, as a program reads it: rounded down."""
        return self.clocks[host].at(true_ns) // self.unit_ns

    def batches(self, size=40):
        """Spans of one host and service in the order of their ends, as exporters send them."""
        groups = {}
        for span in sorted(self.spans, key=lambda span: span.end):
            group = groups.setdefault((span.host, span.service), [])
            group.append(span)
            if len(group) == size:
                yield group
                del groups[span.host, span.service]
        yield from groups.values()

    # ---- OTLP ----

    def otlp_span(self, span):
        found = {"traceId": f"{span.trace:032x}", "spanId": f"{span.number:016x}",
                 "parentSpanId": f"{span.parent:016x}" if span.parent else "",
                 "name": span.name, "kind": span.kind,
                 "startTimeUnixNano": str(self.at(span.host, span.start) * self.unit_ns),
                 "endTimeUnixNano": str(self.at(span.host, span.end) * self.unit_ns),
                 "attributes": [{"key": "http.request.method", "value": {"stringValue": "GET"}},
                                {"key": "server.port", "value": {"intValue": "8080"}}],
                 "events": [{"timeUnixNano": str(self.at(span.host, span.start + 1000) *
                                                 self.unit_ns), "name": "begin \"}]"}],
                 "status": {"code": 2} if span.failed else {}}
        if span.links:
            found["links"] = [{"traceId": f"{trace:032x}", "spanId": f"{number:016x}"}
                              for trace, number in span.links]
        return found

    def resource(self, host, service):
        return [{"key": "service.name", "value": {"stringValue": service}},
                {"key": "host.name", "value": {"stringValue": host}}]

    def otlp_texts(self, **options):
        """The texts that the collector's file exporter writes, one for each batch."""
        for batch in self.batches(**options):
            attributes = self.resource(batch[0].host, batch[0].service)
            yield {"resourceSpans": [{
                "resource": {"attributes": attributes},
                "scopeSpans": [{"scope": {"name": "netsync.test", "version": "1"},
                                "spans": [self.otlp_span(span) for span in batch]}],
                "schemaUrl": "https://opentelemetry.io/schemas/1.27.0"}]}

    def write_otlp(self, path):
        path.write_text("".join(json.dumps(text, separators=(",", ":")) + "\n"
                                for text in self.otlp_texts()))
        return path

    # ---- Jaeger ----

    def jaeger_tags(self, span):
        yield {"key": "span.kind", "type": "string", "value": KINDS[span.kind]}
        if span.failed:
            yield {"key": "error", "type": "bool", "value": True}

    def jaeger_span(self, span, process):
        refs = [("CHILD_OF", span.trace, span.parent)] if span.parent else []
        refs += [("FOLLOWS_FROM", *link) for link in span.links]
        start, end = self.at(span.host, span.start), self.at(span.host, span.end)
        return {"traceID": f"{span.trace:x}", "spanID": f"{span.number:x}", "flags": 1,
                "operationName": span.name,
                "references": [{"refType": kind, "traceID": f"{trace:x}", "spanID": f"{number:x}"}
                               for kind, trace, number in refs],
                "startTime": start, "duration": end - start,
                "tags": list(self.jaeger_tags(span)),
                "logs": [{"timestamp": start, "fields": []}], "processID": process,
                "warnings": None}

    def write_jaeger(self, path):
        traces = {}
        for span in self.spans:
            traces.setdefault(span.trace, []).append(span)
        data = []
        for trace, spans in traces.items():
            names = {}
            for span in spans:
                names.setdefault((span.host, span.service), f"p{len(names) + 1}")
            data.append({
                "traceID": f"{trace:x}",
                "spans": [self.jaeger_span(s, names[s.host, s.service]) for s in spans],
                "processes": {name: {"serviceName": service, "tags": [
                    {"key": "hostname", "type": "string", "value": host},
                    {"key": "ip", "type": "string", "value": "10.0.0.1"}]}
                    for (host, service), name in names.items()}, "warnings": None})
        path.write_text(json.dumps({"data": data, "total": 0, "limit": 0, "offset": 0,
                                    "errors": None}))
        return path

    # ---- Zipkin ----

    def zipkin_span(self, span, shared):
        found = {"traceId": f"{span.trace:032x}", "id": f"{span.number:016x}",
                 "name": span.name.lower(),
                 "timestamp": self.at(span.host, span.start),
                 "duration": max(self.at(span.host, span.end) - self.at(span.host, span.start), 1),
                 "localEndpoint": {"serviceName": span.service,
                                   "ipv4": f"10.0.0.{1 + self.hosts.index(span.host)}"},
                 "annotations": [{"timestamp": self.at(span.host, span.start), "value": "ws"}],
                 "tags": {"http.method": "GET", **({"error": "timeout"} if span.failed else {})}}
        # Zipkin has no links; consumers are children of producers.
        parent = span.links[0][1] if span.links else span.parent
        if span.links:
            found["traceId"] = f"{span.links[0][0]:032x}"
        if parent:
            found["parentId"] = f"{parent:016x}"
        if span.kind != INTERNAL:
            found["kind"] = KINDS[span.kind].upper()
        if shared and span.kind == SERVER:
            found["id"] = found.pop("parentId")
            found["shared"] = True
        return found

    def write_zipkin(self, path, shared=False, nested=False):
        spans = [self.zipkin_span(span, shared) for span in self.spans]
        path.write_text(json.dumps([spans[i:i + 5] for i in range(0, len(spans), 5)]
                                   if nested else spans))
        return path


MANY_SPAN = (
    '{"traceId":"%032x","spanId":"%016x","parentSpanId":"%s","flags":257,"name":"GET /item",'
    '"kind":%d,"startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":['
    '{"key":"http.request.method","value":{"stringValue":"GET"}},'
    '{"key":"url.full","value":{"stringValue":"http://node:8080/item/1"}},'
    '{"key":"http.response.status_code","value":{"intValue":"200"}}],"status":{}}')
MANY_HEAD = (
    '{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":'
    '{"stringValue":"api"}},{"key":"host.name","value":{"stringValue":"node%d"}}]},'
    '"scopeSpans":[{"scope":{"name":"netsync.test"},"spans":[')


def write_many(path, num, hosts=50, batch=200):
    """Write OTLP with many spans of calls, 50,000 calls per second, in the order of exporters."""
    rng = random.Random(1)
    offsets = [rng.randint(-5_000_000, 5_000_000) for _ in range(hosts)]
    waiting = [[] for _ in range(hosts)]
    with open(path, "w", encoding="utf-8") as out:
        def flush(host):
            out.write(MANY_HEAD % host + ",".join(waiting[host]) + "]}]}]}\n")
            waiting[host] = []

        for i in range(num // 2):
            here = rng.randrange(hosts)
            there = (here + 1 + rng.randrange(hosts - 1)) % hosts
            start = START_NS + i * 20_000
            begin = start + 40_000 + int(rng.expovariate(1 / 30e3))
            end = begin + 200_000
            back = end + 40_000 + int(rng.expovariate(1 / 30e3))
            trace, client, server = (rng.getrandbits(63) for _ in range(3))
            for host, kind, number, parent, first, last in (
                    (here, CLIENT, client, "", start, back),
                    (there, SERVER, server, f"{client:016x}", begin, end)):
                waiting[host].append(MANY_SPAN % (trace, number, parent, kind,
                                                  first + offsets[host], last + offsets[host]))
                if len(waiting[host]) == batch:
                    flush(host)
        for host in range(hosts):
            if waiting[host]:
                flush(host)
    return path


if __name__ == "__main__":
    new = pathlib.Path(sys.argv[1])
    new.mkdir()
    Requests(num=2000, seed=3).write_otlp(new / "traces.json")
