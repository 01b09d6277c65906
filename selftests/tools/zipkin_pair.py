# SPDX-License-Identifier: GPL-2.0-only
"""usage: zipkin_pair.py server SOCKET OFFSET_NS PPM FILE
       zipkin_pair.py client SOCKET CALLS FILE

A client that calls a server, both traced by the library py_zipkin. The clock of the server is wrong
by an offset, which grows. Each writes its spans to a file; the server also prints the time of
its clock and the true one, at the beginning and at the end."""
import json
import socket
import sys
import time


class Spans:
    """Receives what the library would send to Zipkin, and keeps the texts of the spans."""

    def __init__(self):
        self.texts = []

    def get_max_payload_bytes(self):
        return None

    def __call__(self, payload):
        text = payload if isinstance(payload, str) else payload.decode()
        self.texts.append(text.strip()[1:-1])

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write("[" + ",".join(self.texts) + "]")


def serve(path, offset_ns, ppm, spans_path):
    true, begin = time.time, time.time()
    # The library reads the clock by this function.
    time.time = lambda: true() + offset_ns * 1e-9 + (true() - begin) * ppm * 1e-6
    from py_zipkin import Encoding, Kind
    from py_zipkin.zipkin import ZipkinAttrs, zipkin_span
    spans, times = Spans(), []
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        connection, _ = listener.accept()
        with connection, connection.makefile("rw") as stream:
            for line in stream:
                attributes = ZipkinAttrs(*json.loads(line))
                with zipkin_span(service_name="api", span_name="item", kind=Kind.SERVER,
                                 zipkin_attrs=attributes, transport_handler=spans,
                                 encoding=Encoding.V2_JSON, host="10.0.0.2"):
                    times.append((time.time(), true()))
                    time.sleep(0.0005)
                stream.write("\n")
                stream.flush()
    spans.write(spans_path)
    print(json.dumps([times[0], times[-1]]))


def call(path, num, spans_path):
    from py_zipkin import Encoding, Kind
    from py_zipkin.zipkin import create_attrs_for_span, zipkin_span
    spans = Spans()
    with socket.socket(socket.AF_UNIX) as connection:
        while connection.connect_ex(path):
            time.sleep(0.01)
        with connection.makefile("rw") as stream:
            for _ in range(num):
                own = create_attrs_for_span(sample_rate=100)
                with zipkin_span(service_name="web", span_name="get", kind=Kind.CLIENT,
                                 zipkin_attrs=own, transport_handler=spans,
                                 encoding=Encoding.V2_JSON, host="10.0.0.1"):
                    child = create_attrs_for_span()._replace(trace_id=own.trace_id,
                                                             parent_span_id=own.span_id,
                                                             is_sampled=True)
                    stream.write(json.dumps(list(child)) + "\n")
                    stream.flush()
                    stream.readline()
    spans.write(spans_path)


if __name__ == "__main__":
    if sys.argv[1] == "server":
        serve(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), sys.argv[5])
    else:
        call(sys.argv[2], int(sys.argv[3]), sys.argv[4])
