# SPDX-License-Identifier: GPL-2.0-only
"""Dumps of PyTorch's flight recorder and files of NCCL Inspector of a simulated cluster.

The files follow the published sources: PyTorch's FlightRecorderDetail.hpp and pickler.cpp, and
NCCL's inspector_json.cc."""
import gzip
import json
import pathlib
import random
import struct
import sys

import kineto

POLL_NS = 100_000_000  # how often PyTorch's watchdog looks for operations that have ended


class Pickler:
    """Write a pickle as PyTorch's C++ code does. Python's own pickle module writes other opcodes."""

    def __init__(self):
        self.texts, self.frames = {}, {}

    def put(self):
        number = len(self.texts) + len(self.frames)
        return b"q" + bytes([number]) if number < 256 else b"r" + struct.pack("<I", number)

    def get(self, number):
        return b"h" + bytes([number]) if number < 256 else b"j" + struct.pack("<I", number)

    def text(self, text):
        if text in self.texts:
            return self.get(self.texts[text])
        raw = text.encode()
        out = b"X" + struct.pack("<I", len(raw)) + raw + self.put()
        self.texts[text] = len(self.texts) + len(self.frames)
        return out

    def frame(self, frame):
        """A frame of a call stack: a dictionary that several entries share."""
        key = id(frame)
        if key in self.frames:
            return self.get(self.frames[key])
        out = self.dictionary(frame) + self.put()
        self.frames[key] = len(self.texts) + len(self.frames)
        return out

    @staticmethod
    def integer(number):
        if 0 <= number < 1 << 8:
            return b"K" + bytes([number])
        if 0 <= number < 1 << 16:
            return b"M" + struct.pack("<H", number)
        if -1 << 31 <= number < 1 << 31:
            return b"J" + struct.pack("<i", number)
        return b"\x8a\x08" + struct.pack("<q", number)

    def dictionary(self, values):
        return b"}(" + b"".join(self.text(key) + self.any(value)
                                for key, value in values.items()) + b"u"

    def any(self, value):
        if value is None:
            return b"N"
        if isinstance(value, bool):
            return b"\x88" if value else b"\x89"
        if isinstance(value, int):
            return self.integer(value)
        if isinstance(value, float):
            return b"G" + struct.pack(">d", value)
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, tuple):
            assert len(value) == 2
            return self.any(value[0]) + self.any(value[1]) + b"\x86"
        if isinstance(value, list):
            return b"](" + b"".join(self.any(item) for item in value) + b"e"
        return self.frame(value) if "line" in value else self.dictionary(value)

    def document(self, value):
        return b"\x80\x02" + self.any(value) + b"."


FRAME = {"name": "all_reduce", "filename": "torch/distributed/distributed_c10d.py", "line": 2696}


class Cluster(kineto.Cluster):
    """All-reduces of all ranks, whose limits are recorded."""

    def __init__(self, ahead_ns=200_000, **options):
        """Hosts enqueue operations @ahead_ns before their start, in the mean."""
        super().__init__(**options)
        rng = random.Random(7)
        self.created, self.launched, self.completed, self.stopped = ([[] for _ in range(self.ranks)]
                                                                     for _ in range(4))
        for rank, spans in enumerate(self.spans):
            phase, last = rng.randint(0, POLL_NS), -POLL_NS
            for start, end in spans:
                created = min(max(start - int(rng.expovariate(1 / ahead_ns)) - 5000, last), start)
                if self.launched[rank]:
                    self.launched[rank][-1] = min(self.launched[rank][-1], created - 8000)
                last = created + 40_000
                self.created[rank].append(created)
                # NCCL notifies the plugin after the launch, sometimes after the start.
                self.launched[rank].append(created + rng.choice((20_000, 30_000, 400_000)))
                self.completed[rank].append(end + (phase - end) % POLL_NS + rng.randint(0, 50_000))
                self.stopped[rank].append(end + int(rng.expovariate(1 / 20e3)))

    def clock(self, rank):
        return self.clocks[self.host[rank]]

    # ---- the flight recorder

    def entry(self, rank, number, **more):
        clock = self.clock(rank)
        return {"frames": [FRAME], "record_id": number, "pg_id": 0,
                "process_group": ("0", "default_pg"), "collective_seq_id": number + 1,
                "p2p_seq_id": 0, "op_id": number + 1, "profiling_name": "nccl:all_reduce",
                "time_created_ns": clock.at(self.created[rank][number]), "duration_ms": 0.5,
                "input_sizes": [[1024, 1024]], "input_dtypes": ["Float"],
                "output_sizes": [[1024, 1024]], "output_dtypes": ["Float"], "state": "completed",
                # The same thread notices start and end.
                "time_discovered_started_ns": clock.at(self.completed[rank][number]) - 700,
                "time_discovered_completed_ns": clock.at(self.completed[rank][number]),
                "retired": True, "timeout_ms": 600000, "is_p2p": False, **more}

    def dump(self, rank, entries=None):
        group = str(list(range(self.ranks)))
        return {"version": "2.10",
                "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": group}},
                "comm_lib_version": "2.27.5",
                "pg_status": {"0": {"last_enqueued_collective": len(self.created[rank]),
                                    "last_started_collective": -1,
                                    "last_completed_collective": 7}},
                "entries": entries if entries is not None else
                [self.entry(rank, i) for i in range(len(self.created[rank]))]}

    @staticmethod
    def to_json(dump):
        """The JSON form: sorted names, and 0 instead of null; tuples are lists."""
        entries = [{key: 0 if value is None else value for key, value in entry.items()
                    if key != "frames"} for entry in dump["entries"]]
        return json.dumps({**dump, "entries": entries}, sort_keys=True, separators=(",", ":"))

    def write_dumps(self, folder, kind="pickle", packed=False, change=None):
        paths = []
        for rank in range(self.ranks):
            dump = self.dump(rank)
            if change:
                change(rank, dump)
            data = Pickler().document(dump) if kind == "pickle" else self.to_json(dump).encode()
            name = f"nccl_trace_rank_{rank}" + (".json" if kind == "json" else "")
            path = folder / (name + (".gz" if packed else ""))
            path.write_bytes(gzip.compress(data, 1, mtime=0) if packed else data)
            paths.append(path)
        return paths

    def name_by_host(self, paths):
        """Arguments that name the host of each file, whose ranks have one clock."""
        return [f"{self.host[rank]}={path}" for rank, path in enumerate(paths)]

    # ---- NCCL Inspector

    def record(self, rank, number, verbose=True, **more):
        clock = self.clock(rank)

        def us(time_ns):
            return clock.at(time_ns) // 1000
        start, _ = self.spans[rank][number]
        launched, stopped = self.launched[rank][number], self.stopped[rank][number]
        perf = {"coll": "AllReduce", "coll_algo": "RING", "coll_proto": "SIMPLE",
                "coll_sn": number, "coll_msg_size_bytes": 17179869184, "coll_exec_time_us": 61974,
                "coll_timing_source": "kernel_gpu", "coll_algobw_gbs": 277.21,
                "coll_busbw_gbs": 485.12}
        if verbose:
            perf["event_trace_ts"] = {
                "coll_start_ts": us(launched), "coll_stop_ts": us(launched + 4000),
                "kernel_events": [{"channel_id": channel,
                                   "kernel_start_ts": us(start + 9000),
                                   "kernel_stop_ts": us(stopped - 3000 * channel
                                                        if stopped - self.spans[rank][number][1] >
                                                        3000 * channel else stopped),
                                   "kernel_record_ts": us(stopped)} for channel in range(2)]}
        perf.update(more)
        return {"header": {"id": "0x7f8c496ae9f661", "comm_name": "unknown", "rank": rank,
                           "n_ranks": self.ranks, "nnodes": len(self.clocks)},
                "metadata": {"inspector_output_format_version": "v4.2", "git_rev": "",
                             "rec_mechanism": "nccl_profiler_interface",
                             "dump_timestamp_us": us(stopped) + 500, "hostname": self.host[rank],
                             "pid": 1000 + rank},
                "coll_perf": perf}

    def write_records(self, folder, packed=False, change=None, **options):
        paths = []
        for rank in range(self.ranks):
            records = [self.record(rank, i, **options) for i in range(len(self.created[rank]))]
            if change:
                records = change(rank, records)
            text = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)
            path = folder / (f"{self.host[rank]}-pid{1000 + rank}.log" + (".gz" if packed else ""))
            path.write_bytes(gzip.compress(text.encode(), 1, mtime=0) if packed else text.encode())
            paths.append(path)
        return paths


if __name__ == "__main__":
    new = pathlib.Path(sys.argv[1])
    new.mkdir()
    Cluster(hosts=2, num=600, seed=3).write_dumps(new)
