# SPDX-License-Identifier: MIT
"""Compares steps of attention to all rows, and descents through a pyramid, by plait and PyTorch in turn: a Markdown
table.

Every step is checked: the two programs must compute equal results from equal tensors.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

import programs

HERE = Path(__file__).resolve().parent
BENCH = HERE.parent / "bench"
# Experiment file, and the number of branches that a descent follows; 0: attention to all rows.
WAYS = [("full.ini", 0), ("descent-top1.ini", 1), ("descent-beam.ini", 3)]
SCORES = {
    "scaled, 8 heads": [],
    "additive": ["--set", "decoder.type=gru"],
    "multiplicative": ["--set", "decoder.type=gru", "--set", "decoder.attention=multiplicative"],
}
MOST_DIFFERENCE = 1e-4


def measure(options, score, way, length, batch, path):
    """Returns (plait's figures, PyTorch's) for one step: medians of the rounds."""
    rounds = [measure_once(options, score, way, length, batch, path) for _ in range(1 if options.check else options.rounds)]
    for figures in zip(*rounds):
        for name, value in figures[0].items():
            if isinstance(value, (int, float)):
                figures[0][name] = statistics.median(one[name] for one in figures)
    return rounds[0]


def measure_once(options, score, way, length, batch, path):
    """Returns (plait's figures, PyTorch's) for one step in one round."""
    file, branches = way
    plait = [programs.bench_of(options), "steps", BENCH / file, *SCORES[score], "--lengths", str(length), "--batch", str(batch)]
    plait += ["--threads", str(options.threads), "--steps", str(options.steps), "--json", "--parameters", path, "--force"]
    ours = programs.run_plainly(plait, f"plait-bench steps {file}")["columns"]
    torch = [options.python, HERE / "descent.py", path, "--branches", str(branches), "--threads", str(options.threads)]
    theirs = programs.run_plainly([*torch, "--steps", str(options.steps), *(["--compile"] if options.compile else [])], "descent.py")
    if not theirs["difference"] < MOST_DIFFERENCE:
        sys.exit(f"{score}, {file}, {length} rows, batch {batch}: PyTorch's result differs by {theirs['difference']:.2g} of the largest element; expected less than {MOST_DIFFERENCE}")
    return {name: column[0] for name, column in ours.items()}, theirs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    programs.add_options(parser)
    parser.set_defaults(threads=1, steps=50)
    parser.add_argument("--lengths", default="100,1000,10000,100000")
    parser.add_argument("--batch", default="1,32")
    parser.add_argument("--check", action="store_true", help="only check one short length, and print no table")
    parser.add_argument("--compile", action="store_true", help="use torch.compile")
    options = parser.parse_args()
    lengths, batches = ([100], [3]) if options.check else ([int(n) for n in text.split(",")] for text in (options.lengths, options.batch))
    lines, runs = [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "step.h5"
        for score in SCORES:
            for batch in batches:
                for length in lengths:
                    full = None
                    for way in WAYS:
                        ours, theirs = measure(options, score, way, length, batch, path)
                        full = full or ours
                        name = way[0].removesuffix(".ini")
                        runs.append({"score": score, "batch": batch, "rows": length, "experiment": name, "plait": ours, "torch": theirs})
                        lines.append(
                            f"| {score} | {batch} | {length} | {name} | {ours['us']:.1f} | {full['us'] / ours['us']:.2f} | {theirs['us']:.1f} "
                            f"| {theirs['us'] / ours['us']:.1f} | {ours['weighed']} |"
                        )
                        print(f"{score}, batch {batch}, {length} rows, {name}: the same to {theirs['difference']:.1g}", file=sys.stderr)
    if options.runs:
        Path(options.runs).write_text("".join(json.dumps(run) + "\n" for run in runs))
    if options.check:
        return
    print("| score | batch | rows | step | plait, us | times as fast as full | PyTorch, us | plait, times as fast | rows weighed |")
    print("| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    print("\n".join(lines))
    print(f"\nPyTorch {runs[0]['torch']['version']}, {options.threads} thread(s), load {os.getloadavg()[0]:.1f} at the end.")


if __name__ == "__main__":
    main()
