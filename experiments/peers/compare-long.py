# SPDX-License-Identifier: MIT
"""Compares plait with the PyTorch peer, and plait's hierarchical encoders with its plain one, on long inputs.

Prints Markdown tables. A tuple has a source of the given length and a short target, as for a summary. Rates count
source tokens."""

import argparse
import dataclasses
import os
import statistics
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import tokens
from programs import HERE, Log, Program, add_options, bench_of, print_conditions, print_table, rotated, run, told
from sizes import SIZES, path_of

# Sources of long.ini: the plain encoder, and hierarchical attention on top of it and in its layers.
PLAIN, TOP, LAYERS = "text0", "top", "layers"
# All sentences have one length, so there is nothing to pad or to sort.
PROGRAMS = [PLAIN, TOP, LAYERS, Program("plain"), Program("tuned")]
TARGET = 128
SPEED, MEMORY, FLOORS_FROM = 1.5, 0.6, 1024


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser)
    parser.set_defaults(steps=6)
    parser.add_argument("--lengths", default="512,1024,3072", help="tokens of a source")
    parser.add_argument("--batch-tokens", type=int, default=3072, help="source tokens of a batch in training; a search takes one source")
    parser.add_argument("--precision", choices=("float", "bfloat16"), default="float", help="precision of products in all programs; bfloat16: only in training")
    parser.add_argument("--clock", choices=("wall", "processor"), default="wall", help="processor: processor time, for a machine that is not idle")
    return parser.parse_args()


def draw(path, length, batch):
    """Writes batches of sources of exactly `length` tokens."""
    size = dataclasses.replace(SIZES["long"], mean=length, deviation=0, shortest=length, longest=length)
    batches = tokens.draw(size, batch, 4, "random", 1)
    tokens.write(path, [[[source, target[-TARGET:]] for source, target in tuples] for tuples in batches])


def measure(options, program, mode, length, batch, path):
    common = ["--json", "--data", path, "--threads", str(options.threads), "--warmup", "2", "--steps", str(options.steps)]
    if isinstance(program, Program):
        command = [options.python, "-W", "ignore", HERE / "peer.py", mode, "--size", "long", "--settings", program.settings, *common]
        report = run(command + (["--beam", "4", "--batch", "1"] if mode == "decode" else ["--precision", options.precision]), program.label)
    else:
        keys = {"experiment.sources": program, "train.batch": batch, "train.precision": options.precision}
        report = run([bench_of(options), mode, path_of("long"), *(f"--set={key}={value}" for key, value in keys.items()), *common], f"plait, {program}")
    seconds = statistics.median(report["seconds_per_step" if options.clock == "wall" else "processor_seconds_per_step"])
    report.update(program=report["program"] if isinstance(program, Program) else f"plait, {program}", mode=mode, length=length)
    report["rate"] = length * (batch if mode == "train" else 1) / seconds
    report["memory"] = report["peak_bytes"] / 1e6
    report["own_memory"] = (report["peak_bytes"] - report.get("loaded_bytes", 0)) / 1e6
    return report


def middle(found, program, figure):
    return statistics.median(report[figure] for report in found[program])


def beside_torch(case, found):
    """Yields the lines of a case in the first table."""
    mode, length = case
    peers = [program for program in PROGRAMS if isinstance(program, Program)]
    for figure, name, floor, less in (
        ("rate", "source tokens/s", SPEED, False),
        ("memory", "peak memory, MB", MEMORY, True),
        ("own_memory", "less what is loaded, MB", None, True),
    ):
        best = (min if less else max)(peers, key=lambda peer: middle(found, peer, figure))
        floor = floor if length >= FLOORS_FROM else None
        ratios = {peer: [a[figure] / b[figure] for a, b in zip(found[PLAIN], found[peer])] for peer in peers}
        cells = [f"{middle(found, peer, figure):,.0f} ({statistics.median(ratios[peer]):.2f})" for peer in peers]
        yield [f"{mode}, {length}: {name}", f"{middle(found, PLAIN, figure):,.0f}", *cells, told(ratios[best], floor, less), f"{floor or ''}"]


def hierarchical(case, found):
    """Returns the line of a case in the second table: times and memory divided by those of the plain encoder."""
    cells = []
    for program in (TOP, LAYERS):
        for figure, upside_down in (("rate", True), ("memory", False)):
            ratios = [b[figure] / a[figure] if upside_down else a[figure] / b[figure] for a, b in zip(found[program], found[PLAIN])]
            cells.append(f"{statistics.median(ratios):.2f}")
    return ["{}, {}".format(*case), *cells]


def main():
    options = parse()
    log, load, reports = Log(options.runs), [os.getloadavg()[0]], defaultdict(lambda: defaultdict(list))
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(options.rounds):
            for length in map(int, options.lengths.split(",")):
                path, batch = Path(folder) / f"{length}.txt", max(1, options.batch_tokens // length)
                draw(path, length, batch)
                for mode in ("train", "decode") if options.precision == "float" else ("train",):
                    for program in rotated(PROGRAMS, turn):
                        print(f"round {turn + 1} of {options.rounds}: {length} {mode} {getattr(program, 'label', program)}", file=sys.stderr)
                        report = measure(options, program, mode, length, batch, path)
                        reports[mode, length][program].append(report)
                        log.note(report)
    load.append(os.getloadavg()[0])
    print_table(["", "plait", "plain", "tuned", "plait / best", "floor"], [row for case, found in reports.items() for row in beside_torch(case, found)])
    print()
    print_table(["hierarchical over plain", "top: time", "memory", "layers: time", "memory"], [hierarchical(*case) for case in reports.items()])
    print_conditions(options, load, [report for found in reports.values() for runs in found.values() for report in runs])


if __name__ == "__main__":
    main()
