# SPDX-License-Identifier: MIT
"""Predicts how training in several processes scales: measured parts, a model of R machines, and a check with two
processes.

    python3 scaling.py --plait BUILD/plait [--steps N] [--rounds N]      # needs Open MPI: mpicc and mpirun

Measured, with one thread a process: a step of a batch and of its R-th part, the bytes of gradients, the rate of adding
numbers, and latency and bandwidth between two processes. These are connected by shared memory, by TCP on the loopback,
and, if root has ip and tc, by a line of 1 and of 10 Gbit/s between two network namespaces.

The model: each process computes its part. The gradients pass through all processes in pieces; each process receives,
adds and sends on. The sums then pass through the same ring to all. A line moves pieces while earlier layers are
computed, except those of the embeddings, which are complete last. The processors' work for that, copying and adding, is
added to the step.
"""

import argparse
import configparser
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SYSTEMS = {"small": 60, "msmt": 8, "mmt": 6}
MACHINES = (1, 2, 4, 8, 16)
PIECE = 4 * 65536
# Share of a step that is the backward pass.
BACKWARD = 0.55
# Bytes a second, and seconds of a message: the best values of such networks.
NETWORKS = {"1 Gbit/s": (0.118e9, 50e-6), "10 Gbit/s": (1.18e9, 20e-6), "100 Gbit/s": (11.8e9, 2e-6)}
# Two network namespaces, one at each end of a line.
NAMESPACES = tuple(f"plait-{os.getpid()}-{end}" for end in (1, 2))
ADDRESSES = ("10.213.0.1", "10.213.0.2")
ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
WAYS = {"shared memory": [], "TCP": ["--mca", "btl", "tcp,self"]}


@dataclass
class Line:
    bandwidth: float  # bytes/s
    latency: float
    adding: float  # bytes/s
    copying: float  # bytes/s, into the line and out of it
    computes: bool  # processors move the data of the line


def call(command):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
    return subprocess.run(list(map(str, command)), env=environment | ALLOWED, capture_output=True, text=True, check=True).stdout


def step(options, system, keys=(), launcher=()):
    """Returns the seconds of a training step."""
    command = [*launcher, f"{options.plait}-bench", "train", ini(system), "--threads", 1, "--steps", options.steps or SYSTEMS[system], "--json"]
    report = json.loads(call([*command, *(f"--set={key}={value}" for key, value in keys)]))
    return statistics.median(report["seconds_per_step"])


def ini(system):
    return HERE.parent / f"bench/{system}.ini"


def gradients(options, system):
    """Returns the bytes of all gradients, and of those of the embeddings."""
    model = json.loads(call([options.plait, "explain", ini(system), "--json"]))
    late = sum(part["parameters"] for part in model["components"] if part["component"] == "embeddings")
    return 4 * model["parameters"], 4 * late


def batch(system):
    keys = configparser.ConfigParser(interpolation=None)
    keys.read(ini(system))
    return int(keys["train"]["batch"])


@contextlib.contextmanager
def two_machines(rate, folder):
    """Connects two namespaces by a line of `rate` in each direction. Yields the command mpirun with its prefix and
    options."""
    agent = folder / "agent.sh"
    cases = "; ".join(f"{address}) space={space}" + ";" for address, space in zip(ADDRESSES, NAMESPACES))
    agent.write_text(f'#!/bin/sh\ncase $1 in {cases} esac\nshift\nexec ip netns exec $space sh -c "$*"\n')
    agent.chmod(0o755)
    try:
        for space in NAMESPACES:
            call(["ip", "netns", "add", space])
        call(["ip", "link", "add", "line", "netns", NAMESPACES[0], "type", "veth", "peer", "name", "line", "netns", NAMESPACES[1]])
        for space, address in zip(NAMESPACES, ADDRESSES):
            call(["ip", "-n", space, "addr", "add", f"{address}/24", "dev", "line"])
            for device in ("lo", "line"):
                call(["ip", "-n", space, "link", "set", device, "up"])
            call(["tc", "-n", space, "qdisc", "add", "dev", "line", "root", "tbf", "rate", rate, "burst", "1mb", "latency", "50ms"])
        network = ADDRESSES[0].rsplit(".", 1)[0] + ".0/24"
        known = {"btl": "tcp,self", "btl_tcp_if_include": network, "oob_tcp_if_include": network, "plm_rsh_agent": agent}
        known["hwloc_base_binding_policy"] = "none"
        keys = [word for key, value in known.items() for word in ("--mca", key, value)]
        yield ["ip", "netns", "exec", NAMESPACES[0], "mpirun", *keys, "--host", ",".join(ADDRESSES), "-n", 2]
    finally:
        for space in NAMESPACES:
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)


@contextlib.contextmanager
def processes(way, folder):
    """Yields the command that starts two processes connected by `way`."""
    if way in WAYS:
        yield ["mpirun", *WAYS[way], "-n", 2]
    else:
        with two_machines(way.replace(" ", "").replace("/s", "").lower(), folder) as launcher:
            yield launcher


def measured_line(way, folder, copying=None):
    with processes(way, folder) as launcher:
        latency, bandwidth, adding = map(float, call([*launcher, folder / "exchange"]).split())
    return Line(bandwidth, latency, adding, copying or bandwidth, copying is None)


def predicted(compute, bytes_of, machines, line):
    """Returns the seconds of a step of `machines` that each compute for `compute` seconds."""
    if machines == 1:
        return compute
    size, late = bytes_of
    # Each process receives a sum and sends a result, or the reverse.
    work = 2 * size / line.copying + size / line.adding
    # Among more than two processes a line carries sums and results in one direction.
    ways = 1 if machines == 2 else 2
    moving = ways * size / line.bandwidth
    left = 0 if line.computes else max(moving - BACKWARD * compute, ways * late / line.bandwidth)
    hops = 2 * machines * (PIECE / line.bandwidth + line.latency)
    # All-reduces of single numbers: sums of the loss, errors, and the stop flag.
    words = 4 * machines * line.latency
    return compute + work + left + hops + words


def check(options, lines, folder):
    """Prints predicted and measured steps of two processes. Returns the compute seconds of each system and number of
    parts."""
    print("\n| two processes here | compute, ms | gradients, MB | by | predicted, ms | measured, ms | |\n| --- | ---: | ---: | --- | ---: | ---: | ---: |")
    computes = {}
    for system in SYSTEMS:
        size, late = gradients(options, system)
        for parts in MACHINES:
            part = max(1, round(batch(system) / parts))
            computes[system, parts] = step(options, system, [("train.batch", part)])
        for way, line in lines.items():
            with processes(way, folder) as launcher:
                times = [step(options, system, [("train.shards", 2)], launcher) for _ in range(options.rounds)]
            guess, found = predicted(computes[system, 2], (size, late), 2, line), statistics.median(times)
            print(
                f"| {system} | {computes[system, 2] * 1e3:.1f} | {size / 1e6:.0f} | {way} | {guess * 1e3:.1f} | "
                f"{found * 1e3:.1f} ({min(times) * 1e3:.1f} - {max(times) * 1e3:.1f}) | {found / guess:.2f} |",
                flush=True,
            )
    return computes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plait", default="plait", help="the plait command; default: plait in PATH")
    parser.add_argument("--steps", type=int, help="timed steps of every run; default: enough for a median")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of the check")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        call(["mpicc", "-O3", "-march=native", HERE / "exchange.c", "-o", folder / "exchange"])
        lines = {way: measured_line(way, folder) for way in WAYS}
        copying = lines["TCP"].bandwidth
        if os.geteuid() == 0 and shutil.which("ip") and shutil.which("tc"):
            lines |= {way: measured_line(way, folder, copying) for way in ("1 Gbit/s", "10 Gbit/s")}
        for way, line in lines.items():
            print(f"{way}: {line.latency * 1e6:.2f} us, {line.bandwidth / 1e9:.2f} GB/s; adding {line.adding / 1e9:.2f} GB/s")
        computes = check(options, lines, folder)
    adding = lines["TCP"].adding

    print("\n| times as fast as one | network |" + "".join(f" {parts} |" for parts in MACHINES[1:]))
    print("| --- | --- |" + " ---: |" * len(MACHINES[1:]))
    for system in SYSTEMS:
        bytes_of = gradients(options, system)
        for network, (bandwidth, latency) in NETWORKS.items():
            line = Line(bandwidth, latency, adding, copying, False)
            gains = [computes[system, 1] / predicted(computes[system, parts], bytes_of, parts, line) for parts in MACHINES[1:]]
            print(f"| {system} | {network} |" + "".join(f" {gain:.2f} |" for gain in gains))


if __name__ == "__main__":
    main()
