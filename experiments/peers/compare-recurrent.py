# SPDX-License-Identifier: MIT
"""Runs plait bench tree and recurrent and their PyTorch peers in turn on the same data; prints medians and ratios in Markdown.

Before a case is timed, all programs make a few steps from plait's initial parameters: their losses must agree.
"""

import argparse
import dataclasses
import json
import os
import statistics
import sys
import tempfile
from collections import defaultdict

import tokens
from compare import HERE, conditions, run
from sizes import RECURRENT_SIZES

PLAIT, LEVEL, SINGLE = "plait", "PyTorch by level", "PyTorch by node"
CHECKED, TOLERANCE = 2, 1e-4


@dataclasses.dataclass(frozen=True)
class Case:
    mode: str
    size: str
    part: str
    coverage: str
    steps: int  # timed steps of a run
    single: int = 0  # the same of the program that takes node by node; 0: it is not run
    shards: int = 1  # train.shards of plait

    @property
    def label(self):
        what = {"step": "training step", "encoder": "encoder", "attention": "attention", "attention-forward": "attention, forward"}[self.part]
        shards = f", {self.shards} shards" if self.shards > 1 else ""
        return f"{self.size} {self.mode}, {what}" + (f", coverage {self.coverage}" if self.coverage != "none" else "") + shards

    @property
    def arguments(self):
        return [self.mode, "--size", self.size, "--part", self.part, "--coverage", self.coverage]

    @property
    def programs(self):
        return [PLAIT, LEVEL] + ([SINGLE] if self.single else [])


CASES = [
    Case("tree", "h1024", "encoder", "none", 4, 1),
    Case("tree", "h1024", "step", "none", 3, 1),
    Case("tree", "h128", "encoder", "none", 24, 3),
    Case("tree", "h128", "step", "none", 16, 3),
    Case("tree", "h128", "step", "none", 16, shards=2),
    Case("tree", "h128", "step", "tree", 8, 3),
    Case("tree", "h128", "step", "tree", 8, shards=2),
    Case("recurrent", "h128", "step", "none", 16),
    Case("recurrent", "h128", "step", "word", 12),
    Case("recurrent", "h256", "attention-forward", "none", 200),
    Case("recurrent", "h256", "attention", "none", 100),
]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plait", default="plait", help="the plait command; default: found on PATH")
    parser.add_argument("--python", default=HERE / ".venv/bin/python", help="the python of the environment that setup.sh made")
    parser.add_argument("--mode", choices=("tree", "recurrent"), help="default: both")
    parser.add_argument("--size", choices=RECURRENT_SIZES, action="append", help="repeatable; default: all")
    parser.add_argument("--part", choices=("step", "encoder", "attention", "attention-forward"), action="append", help="the same")
    parser.add_argument("--without-nodes", action="store_true", help="leave the program out that takes node by node")
    parser.add_argument("--reset", choices=("before", "after"), default="before", help="where reset gates act")
    parser.add_argument("--settings", choices=("plain", "tuned"), default="tuned", help="of PyTorch's process")
    parser.add_argument("--order", choices=("random", "bucketed"), default="random", help="of the sentences in the batches")
    parser.add_argument("--clock", choices=("wall", "processor"), default="wall", help="processor: for a machine that is not quiet")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1, help="of the token data")
    parser.add_argument("--check", action="store_true", help="compare losses alone")
    parser.add_argument("--json", help="write every run's JSON object to this file, one a line")
    return parser.parse_args()


def measure(options, case, program, paths, warmup, steps, parameters=None):
    """What a run of `program` reports."""
    arguments = [*case.arguments, "--json", "--reset", options.reset, "--threads", str(options.threads)]
    arguments += ["--warmup", str(warmup), "--steps", str(steps)]
    if not case.part.startswith("attention"):
        arguments += ["--data", paths[case.mode, case.size]]
    if parameters:
        arguments += ["--parameters", parameters]
    if program == PLAIT:
        report = run([options.plait, "bench", *arguments, "--force", "--shards", str(case.shards)], "plait bench")
    else:
        command = [options.python, "-W", "ignore", HERE / "peer.py", *arguments, "--settings", options.settings]
        report = run(command + (["--nodes", "single"] if program == SINGLE else []), program)
    report["program"] = program
    return report


def check(options, case, programs, paths, folder):
    """Ends the program if the losses of a few steps from the same parameters differ."""
    parameters = os.path.join(folder, "parameters.h5")
    expected = None
    for program in programs:
        losses = measure(options, case, program, paths, 0, CHECKED, parameters)["losses"]
        expected = expected or losses
        worst = max(abs(a - b) / max(1, abs(a)) for a, b in zip(expected, losses))
        print(f"check: {case.label}: {program}: {', '.join(f'{loss:.6f}' for loss in losses)}", file=sys.stderr)
        if worst > TOLERANCE:
            sys.exit(f"compare-recurrent.py: {case.label}: the losses of {program} differ from plait's by {worst:.2g}, more than {TOLERANCE}")


def seconds(report, clock):
    return statistics.median(report["seconds_per_step" if clock == "wall" else "processor_seconds_per_step"])


def row(options, case, found):
    """Milliseconds of a step in the median round, ratios with their range over the rounds, and the most memory."""
    cells, own = [case.label], [seconds(report, options.clock) for report in found[PLAIT]]
    cells.append(f"{1e3 * statistics.median(own):,.2f}")
    for program in (LEVEL, SINGLE):
        if program not in found:
            cells += ["", ""]
            continue
        theirs = [seconds(report, options.clock) for report in found[program]]
        ratios = [b / a for a, b in zip(own, theirs)]
        spread = f" ({min(ratios):.2f} - {max(ratios):.2f})" if len(ratios) > 1 else ""
        cells += [f"{1e3 * statistics.median(theirs):,.2f}", f"{statistics.median(ratios):.2f}{spread}"]
    for program in (PLAIT, LEVEL):
        peak = statistics.median(report["peak_bytes"] - report["loaded_bytes"] for report in found[program])
        cells.append(f"{peak / 1e6:,.0f}")
    return cells


def main():
    options = parse()
    wanted = [case for case in CASES if options.mode in (None, case.mode) and (not options.size or case.size in options.size)]
    wanted = [case for case in wanted if not options.part or case.part in options.part]
    load = [os.getloadavg()[0]]
    log = open(options.json, "w", encoding="utf-8") if options.json else None
    reports = {case: defaultdict(list) for case in wanted}

    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for mode, name in {(case.mode, case.size) for case in wanted}:
            size = dataclasses.replace(RECURRENT_SIZES[name], trees=mode == "tree")
            paths[mode, name] = os.path.join(folder, f"{mode}-{name}.txt")
            tokens.write(paths[mode, name], tokens.draw(size, size.batch, 16, options.order, options.seed))
        for case in wanted:
            check(options, case, [p for p in case.programs if p != SINGLE or not options.without_nodes], paths, folder)
        for turn in range(0 if options.check else options.rounds):
            for case in wanted:
                programs = [p for p in case.programs if p != SINGLE or not options.without_nodes]
                # Each round begins with another program.
                for program in programs[turn % len(programs) :] + programs[: turn % len(programs)]:
                    print(f"round {turn + 1} of {options.rounds}: {case.label}: {program}", file=sys.stderr)
                    single = program == SINGLE
                    report = measure(options, case, program, paths, 1 if single else 2, case.single if single else case.steps)
                    reports[case][program].append(report)
                    if log:
                        print(json.dumps(report), file=log, flush=True)
    load.append(os.getloadavg()[0])
    if options.check:
        return

    columns = ["milliseconds a step", PLAIT, LEVEL, "ratio", SINGLE, "ratio", "plait's memory, MB", "PyTorch's"]
    print("| " + " | ".join(columns) + " |")
    print("| --- |" + " ---: |" * (len(columns) - 1))
    for case, found in reports.items():
        print("| " + " | ".join(row(options, case, found)) + " |")
    flat = [report for found in reports.values() for runs in found.values() for report in runs]
    print()
    print(conditions(options.threads, load))
    print(f"Medians of {options.rounds} rounds in turn, {options.clock} time, PyTorch {options.settings}, reset {options.reset}; batches {options.order}; memory less")
    print("what the programs take when they are loaded. OPENBLAS_CORETYPE unset.")
    for program in (PLAIT, LEVEL):
        own = [report for report in flat if report["program"] == program]
        rate = statistics.median(report["sgemm_gflops"] for report in own)
        print(f"- {program}: version {own[0]['version']}, kernels {own[0]['core_type']}, sgemm {rate:.0f} GFLOP/s.")


if __name__ == "__main__":
    main()
