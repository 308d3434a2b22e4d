# SPDX-License-Identifier: MIT
"""Where training in several processes stops scaling: measured parts, a model of R machines, and its check with two processes here.

    python3 scaling.py --plait BUILD/plait [--steps N] [--rounds N]      # needs mpicc and mpirun

Measured, one thread a process: a step of a batch and of its R-th part, the bytes of gradients, and of the loopback (MPI over TCP, and over
shared memory) latency and bandwidth, and how fast numbers are added. The model: each process computes its part; the sum of the gradients
goes through all of them in pieces, each receiving, adding and sending on; the last one sends it to all in a chain of pieces.
"""

import argparse
import configparser
import json
import os
import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SYSTEMS = {"small": 60, "msmt": 8, "mmt": 6}
MACHINES = (1, 2, 4, 8, 16)
PIECE = 4 * 65536
# Bytes a second and seconds of a message: what such a network has at best.
NETWORKS = {"1 Gbit/s": (0.118e9, 50e-6), "10 Gbit/s": (1.18e9, 20e-6), "100 Gbit/s": (11.8e9, 2e-6)}
ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
WAYS = {"shared memory": [], "TCP": ["--mca", "btl", "tcp,self"]}


@dataclass
class Line:
    bandwidth: float  # bytes/s
    latency: float
    adding: float  # bytes/s


def call(command):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
    return subprocess.run(list(map(str, command)), env=environment | ALLOWED, capture_output=True, text=True, check=True).stdout


def step(options, system, keys=(), launcher=()):
    """Seconds of a training step."""
    command = [*launcher, options.plait, "bench", "train", ini(system), "--threads", 1, "--steps", options.steps or SYSTEMS[system], "--json"]
    report = json.loads(call([*command, *(f"--set={key}={value}" for key, value in keys)]))
    return statistics.median(report["seconds_per_step"])


def ini(system):
    return HERE.parent / f"bench/{system}.ini"


def parameters(options, system):
    return json.loads(call([options.plait, "explain", ini(system), "--json"]))["parameters"]


def batch(system):
    keys = configparser.ConfigParser(interpolation=None)
    keys.read(ini(system))
    return int(keys["train"]["batch"])


def measured_line(way, folder):
    latency, bandwidth, adding = map(float, call(["mpirun", *WAYS[way], "-n", 2, folder / "exchange"]).split())
    return Line(bandwidth, latency, adding)


def predicted(compute, size, machines, line):
    """Seconds of a step of `machines`, each of which computes for `compute` seconds and has `size` bytes of gradients."""
    if machines == 1:
        return compute
    piece, pieces = PIECE / line.bandwidth, size / PIECE
    adding = PIECE / line.adding
    # The slowest process has each piece for so long: those between the first and the last receive it and send it on.
    stage = adding + (piece if machines == 2 else 2 * piece) + line.latency
    chain = pieces * stage + (machines - 2) * (2 * piece + adding + line.latency)
    spread = size / line.bandwidth + (machines - 1) * (piece + line.latency)
    # Sums of the loss, whether all are well, and whether to stop.
    words = 4 * machines * line.latency
    return compute + chain + spread + words


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plait", default="plait", help="the plait command; default: found on PATH")
    parser.add_argument("--steps", type=int, help="timed steps of every run; default: enough for a median")
    parser.add_argument("--rounds", type=int, default=3, help="of the check, in turn")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        call(["mpicc", "-O3", "-march=native", HERE / "exchange.c", "-o", folder / "exchange"])
        lines = {way: measured_line(way, folder) for way in WAYS}
    for way, line in lines.items():
        print(f"{way}: {line.latency * 1e6:.2f} us, {line.bandwidth / 1e9:.2f} GB/s; adding {line.adding / 1e9:.2f} GB/s")
    adding = lines["TCP"].adding

    print("\n| two processes here | compute, ms | gradients, MB | by | predicted, ms | measured, ms |\n| --- | ---: | ---: | --- | ---: | ---: |")
    computes = {}
    for system in SYSTEMS:
        size = 4 * parameters(options, system)
        for machines in MACHINES:
            part = max(1, round(batch(system) / machines))
            computes[system, machines] = step(options, system, [("train.batch", part)])
        for way, line in lines.items():
            times = [step(options, system, [("train.shards", 2)], ["mpirun", *WAYS[way], "-n", 2]) for _ in range(options.rounds)]
            guess = predicted(computes[system, 2], size, 2, line)
            found = f"{statistics.median(times) * 1e3:.1f} ({min(times) * 1e3:.1f} - {max(times) * 1e3:.1f})"
            print(f"| {system} | {computes[system, 2] * 1e3:.1f} | {size / 1e6:.0f} | {way} | {guess * 1e3:.1f} | {found} |")

    print("\n| times as fast as one | network |" + "".join(f" {machines} |" for machines in MACHINES[1:]))
    print("| --- | --- |" + " ---: |" * len(MACHINES[1:]))
    for system in SYSTEMS:
        size = 4 * parameters(options, system)
        for network, (bandwidth, latency) in NETWORKS.items():
            line = Line(bandwidth, latency, adding)
            gains = [computes[system, 1] / predicted(computes[system, machines], size, machines, line) for machines in MACHINES[1:]]
            print(f"| {system} | {network} |" + "".join(f" {gain:.2f} |" for gain in gains))


if __name__ == "__main__":
    main()
