# SPDX-License-Identifier: MIT
"""Compares plait with the PyTorch peer, in turn, on equal sentences: medians, ratios and conditions in Markdown.

Plait takes batches as drawn. The peer takes them as drawn and in batches of similar length, with plain and tuned
settings. Before a model is timed, the programs train and search for a few steps from plait's initial parameters, on the
batches as drawn; their losses, and the scores of all hypotheses, must agree. This check is left out with bfloat16, and
for models with images, since each program draws its own images.
"""

import argparse
import dataclasses
import os
import statistics
import sys
import tempfile
from collections import defaultdict

import figures
import tokens
from programs import PEERS, PLAIT, Log, add_options, cells_of, columns_of, draw, print_conditions, print_table, rotated, start
from sizes import SIZES

@dataclasses.dataclass(frozen=True)
class Model:
    size: str
    output: str = "softmax"
    encoding: str = "interleaved"
    members: int = 1  # models of an ensemble, which only searches

    @property
    def label(self):
        parts = [self.size, "pointer" if self.output == "pointer" else "", "rotary" if self.encoding == "rotary" else "", "ensemble" if self.members > 1 else ""]
        return ", ".join(filter(None, parts))

    @property
    def modes(self):
        return ("train", "decode") if self.members == 1 else ("decode",)


MODELS = [Model(size) for size in ("small", "msmt", "mmt")]
MODELS += [Model(size, **of) for size in ("small", "msmt") for of in ({"output": "pointer"}, {"encoding": "rotary"}, {"members": 2})]

# Size -> (mode, sentences a batch in decoding) -> timed steps of a run: all batches at least once, except for single
# sentences.
WORK = {
    "small": {("train", None): 48, ("decode", 16): 64, ("decode", 1): 48},
    "msmt": {("train", None): 16, ("decode", 16): 24, ("decode", 1): 8},
    "mmt": {("train", None): 16},
}
CHECKED, TOLERANCE = 3, 1e-4

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
    parser.add_argument("--output", choices=("softmax", "pointer"), help="default: both")
    parser.add_argument("--encoding", choices=("interleaved", "rotary"), help="default: both")
    parser.add_argument("--members", type=int, choices=(1, 2), help="models of an ensemble; default: 1, then 2")
    parser.add_argument("--mode", choices=("train", "decode"), help="default: both")
    parser.add_argument("--combiner", choices=("serial", "parallel", "flat", "hierarchical"), default="serial")
    parser.add_argument("--precision", choices=("float", "bfloat16"), default="float", help="precision of products in training, all programs")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--beam", type=int, default=10)
    parser.add_argument("--clock", choices=("wall", "processor"), default="wall", help="processor: processor time, for a machine that is not idle")
    parser.add_argument("--check", action="store_true", help="only compare losses and scores")
    return parser.parse_args()


def programs_of(sentences):
    """Returns the programs to run. Single sentences cannot be sorted into batches of similar length."""
    return [PLAIT] + [program for program in PEERS if sentences != 1 or program.order == "random"]


def asking(options, model, mode, sentences, path, **more):
    """Returns the options of peer.py for a run."""
    asked = {"mode": mode, "size": model.size, "output": model.output, "encoding": model.encoding, "data": path, "combiner": options.combiner, **more}
    return asked | ({"precision": options.precision} if mode == "train" else {"beam": options.beam, "batch": sentences, "members": model.members})


def check(options, model, path, folder):
    """Exits if the losses of a few updates, or the scores of a few searches, from equal parameters differ."""
    parameters = os.path.join(folder, f"{model.label}.h5")
    for mode in model.modes:
        # A large learning rate makes wrong gradients visible.
        more = {"dropout": 0, "rate": 1e-3} if mode == "train" else {}
        asked = asking(options, model, mode, 16, path, warmup=0, steps=CHECKED, parameters=parameters, **more)
        found = {}
        for program in programs_of(1):
            losses = found[program] = start(options, program, asked)["losses"]
            worst = max(abs(a - b) / abs(a) for a, b in zip(found[PLAIT], losses))
            print(f"check: {model.label}, {mode}: {program.label}: {', '.join(f'{loss:.6f}' for loss in losses)}", file=sys.stderr)
            if worst > TOLERANCE:
                sys.exit(f"compare.py: {model.label}, {mode}: the losses of {program.label} differ from plait's by {worst:.2g}, more than {TOLERANCE}")


def measure(options, program, model, mode, sentences, path):
    steps = options.steps or WORK[model.size][mode, sentences]
    asked = asking(options, model, mode, sentences, path, warmup=2, steps=steps)
    asked.update({"dropout": options.dropout} if mode == "train" else {})
    report = start(options, program, asked)

    size, batches = SIZES[model.size], tokens.read(path, SIZES[model.size])
    if mode == "decode":
        batches = tokens.regroup(batches, sentences)
    first = report["warmup"]
    timed = [batches[index % len(batches)] for index in range(first, first + report["steps"])]
    seconds = report["seconds_per_step" if options.clock == "wall" else "processor_seconds_per_step"]
    report.update(figures.derive(size, mode, options.combiner, timed, seconds, report["sgemm_gflops"]))
    report.update(size=model.size, output=model.output, encoding=model.encoding, members=model.members, mode=mode, batch=sentences or size.batch)
    return report


def padding(batches):
    """Returns the share of padding in the cells of padded batches, over all streams."""
    cells = real = 0
    for batch in batches:
        for stream in zip(*batch):
            lengths = [len(words) for words in stream]
            cells, real = cells + len(lengths) * max(lengths), real + sum(lengths)
    return 1 - real / cells


def rows_of(options, model, mode, sentences, found):
    """Yields the lines of the table. Rates of sgemm are of wall time, so processor time has no share of them."""
    name, floors = model.label, FLOORS[model.size]
    if mode == "decode":
        floor = floors[sentences]
        yield [f"{name}, beam, batch {sentences}: sentences/s", *cells_of(found, lambda r: r["sentences_per_second"], "{:,.2f}".format, floor), f"{floor}"]
        return
    floor = floors["train"]
    yield [f"{name}, train: target tokens/s", *cells_of(found, lambda r: r["tokens_per_second"], "{:,.0f}".format, floor), f"{floor}"]
    if options.clock == "wall":
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
    models = [model for model in MODELS if not options.size or model.size in options.size]
    for key in ("output", "encoding", "members"):
        models = [model for model in models if getattr(options, key) in (None, getattr(model, key))]

    with tempfile.TemporaryDirectory() as folder:
        paths = {name: draw(folder, name, SIZES[name], options.seed) for name in {model.size for model in models}}
        for name in paths:
            parts = [f"{padding(tokens.read(path, SIZES[name])):.0%}" for path in paths[name].values()]
            notes.append(f"{name} {' and '.join(parts)}")
        for model in models:
            if not SIZES[model.size].image_positions and options.precision == "float":
                check(options, model, paths[model.size]["random"], folder)
        for turn in range(0 if options.check else options.rounds):
            for model in models:
                for mode, sentences in WORK[model.size]:
                    if options.mode not in (None, mode) or mode not in model.modes:
                        continue
                    for program in rotated(programs_of(sentences), turn):
                        print(f"round {turn + 1} of {options.rounds}: {model.label} {mode} {sentences or ''} {program.label}", file=sys.stderr)
                        report = measure(options, program, model, mode, sentences, paths[model.size][program.order])
                        reports[model, mode, sentences][program].append(report)
                        log.note(report)
    load.append(os.getloadavg()[0])
    if options.check:
        return

    print_table(columns_of(""), [row for case, found in reports.items() for row in rows_of(options, *case, found)])
    print_conditions(options, load, [report for found in reports.values() for runs in found.values() for report in runs])
    print(f"{options.clock} time, `{options.combiner}`, dropout {options.dropout}, beam {options.beam}; padding of the cells in batches as drawn and of like length: {', '.join(notes)}.")


if __name__ == "__main__":
    main()
