# SPDX-License-Identifier: MIT
"""Compares plait with the PyTorch peer, in turn, on equal sentences: medians, ratios and conditions in Markdown.

Plait takes batches as drawn. The peer takes them as drawn and in batches of similar length, with plain and tuned
settings.
"""

import argparse
import os
import statistics
import sys
import tempfile
from collections import defaultdict

import figures
import tokens
from programs import PEERS, PLAIT, Log, add_options, cells_of, columns_of, draw, print_conditions, print_table, rotated, start
from sizes import SIZES

# Size -> (mode, sentences a batch in decoding) -> timed steps of a run: all batches at least once, except for single
# sentences.
WORK = {
    "small": {("train", None): 48, ("decode", 16): 64, ("decode", 1): 48},
    "msmt": {("train", None): 16, ("decode", 16): 24, ("decode", 1): 8},
    "mmt": {("train", None): 16},
}

# Requirements: ratio to the best peer, for memory a maximum. SHARE is the required share of the sgemm rate.
FLOORS = {
    "small": {"train": 3, "memory": 0.5, 16: 3, 1: 5},
    "msmt": {"train": 2, "memory": 0.5, 16: 2.5, 1: 4},
    "mmt": {"train": 1.6, "memory": 0.65},
}
SHARE = 0.6


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    parser.add_argument("--size", choices=WORK, action="append", help="repeatable; default: all")
    parser.add_argument("--mode", choices=("train", "decode"), help="default: both")
    parser.add_argument("--combiner", choices=("serial", "parallel", "flat", "hierarchical"), default="serial")
    parser.add_argument("--precision", choices=("float", "bfloat16"), default="float", help="precision of products in training, all programs")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--beam", type=int, default=10)
    return parser.parse_args()


def programs_of(sentences):
    """Returns the programs to run. Single sentences cannot be sorted into batches of similar length."""
    return [PLAIT] + [program for program in PEERS if sentences != 1 or program.order == "random"]


def measure(options, program, name, mode, sentences, path):
    steps = options.steps or WORK[name][mode, sentences]
    asked = {"mode": mode, "size": name, "data": path, "combiner": options.combiner, "warmup": 2, "steps": steps}
    asked.update({"dropout": options.dropout, "precision": options.precision} if mode == "train" else {"beam": options.beam, "batch": sentences})
    report = start(options, program, asked)

    size, batches = SIZES[name], tokens.read(path, SIZES[name])
    if mode == "decode":
        batches = tokens.regroup(batches, sentences)
    first = report["warmup"]
    timed = [batches[index % len(batches)] for index in range(first, first + report["steps"])]
    report.update(figures.derive(size, mode, options.combiner, timed, report["seconds_per_step"], report["sgemm_gflops"]))
    report.update(size=name, mode=mode, batch=sentences or size.batch)
    return report


def padding(batches):
    """Returns the share of padding in the cells of padded batches, over all streams."""
    cells = real = 0
    for batch in batches:
        for stream in zip(*batch):
            lengths = [len(words) for words in stream]
            cells, real = cells + len(lengths) * max(lengths), real + sum(lengths)
    return 1 - real / cells


def rows_of(name, mode, sentences, found):
    """Yields the lines of the table."""
    floors = FLOORS[name]
    if mode == "decode":
        floor = floors[sentences]
        yield [f"{name}, beam, batch {sentences}: sentences/s", *cells_of(found, lambda r: r["sentences_per_second"], "{:,.2f}".format, floor), f"{floor}"]
        return
    floor = floors["train"]
    yield [f"{name}, train: target tokens/s", *cells_of(found, lambda r: r["tokens_per_second"], "{:,.0f}".format, floor), f"{floor}"]
    # A machine has one rate: the highest that any of the programs measured.
    rate = max(statistics.median(r["sgemm_gflops"] for r in reports) for reports in found.values())
    cells = cells_of(found, lambda r: r["share"] * r["sgemm_gflops"] / rate, "{:.3f}".format)
    yield [f"{name}, train: share of the sgemm rate", f"**{cells[0]}**" if float(cells[0]) < SHARE else cells[0], *cells[1:], f"share {SHARE}"]
    floor = floors["memory"]
    yield [f"{name}, train: peak memory, MB", *cells_of(found, lambda r: r["peak_bytes"] / 1e6, "{:,.0f}".format, floor, less=True), f"{floor}"]
    loaded = cells_of(found, lambda r: (r["peak_bytes"] - r.get("loaded_bytes", 0)) / 1e6, "{:,.0f}".format, less=True)
    yield [f"{name}, train: peak memory less loading PyTorch, MB", *loaded, ""]


def main():
    options = parse()
    log, load, notes = Log(options.runs), [os.getloadavg()[0]], []
    reports = defaultdict(lambda: defaultdict(list))
    names = options.size or list(WORK)

    with tempfile.TemporaryDirectory() as folder:
        paths = {name: draw(folder, name, SIZES[name], options.seed) for name in names}
        for name in names:
            parts = [f"{padding(tokens.read(path, SIZES[name])):.0%}" for path in paths[name].values()]
            notes.append(f"{name} {' and '.join(parts)}")
        for turn in range(options.rounds):
            for name in names:
                for mode, sentences in WORK[name]:
                    if options.mode not in (None, mode):
                        continue
                    for program in rotated(programs_of(sentences), turn):
                        print(f"round {turn + 1} of {options.rounds}: {name} {mode} {sentences or ''} {program.label}", file=sys.stderr)
                        report = measure(options, program, name, mode, sentences, paths[name][program.order])
                        reports[name, mode, sentences][program].append(report)
                        log.note(report)
    load.append(os.getloadavg()[0])

    print_table(columns_of(""), [row for case, found in reports.items() for row in rows_of(*case, found)])
    print_conditions(options, load, [report for found in reports.values() for runs in found.values() for report in runs])
    print(f"`{options.combiner}`, dropout {options.dropout}, beam {options.beam}; padding of the cells in batches as drawn and of like length: {', '.join(notes)}.")


if __name__ == "__main__":
    main()
