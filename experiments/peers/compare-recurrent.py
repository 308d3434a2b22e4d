# SPDX-License-Identifier: MIT
"""Compares plait-bench with PyTorch peers of the recurrent model, in turn, on equal sentences: medians and ratios in
Markdown.

Plait takes batches as drawn. The peer takes them as drawn and in batches of similar length, with plain and tuned
settings. Before a case is timed, all programs make a few steps from plait's initial parameters, and their losses must
agree. compare-descent.py checks the results of a step of attention.
"""

import argparse
import dataclasses
import os
import statistics
import sys
import tempfile
from collections import defaultdict

from programs import PEERS, PLAIT, Log, Program, add_options, against, cells_of, columns_of, draw, print_conditions, print_table, rotated, start, told
from sizes import RECURRENT_SIZES

SHARDED = Program(shards=2)
SINGLE = Program("plain", single=True)
CHECKED, TOLERANCE = 2, 1e-4


@dataclasses.dataclass(frozen=True)
class Case:
    mode: str
    size: str
    part: str
    coverage: str
    steps: int  # timed steps of a run: all batches at least once
    floor: float = 0  # required ratio to the best peer; 0: no requirement
    sharded: bool = False  # also run plait with two shards
    single: int = 0  # timed steps of the program that computes node by node, in the first round only; 0: do not run it
    single_floor: float = 0

    @property
    def label(self):
        what = {"step": "training step", "encoder": "encoder", "attention": "attention", "attention-forward": "attention, forward"}[self.part]
        return f"{self.size} {self.mode}, {what}" + (f", coverage {self.coverage}" if self.coverage != "none" else "")

    def programs(self, options):
        """Returns the programs of this case. A step of attention reads no sentences, so their order does not matter."""
        peers = [program for program in PEERS if not self.part.startswith("attention") or program.order == "random"]
        return [PLAIT] + ([SHARDED] if self.sharded else []) + peers + ([SINGLE] if self.single and not options.without_nodes else [])


CASES = [
    Case("tree", "h1024", "encoder", "none", 16, floor=2.5, single=1, single_floor=30),
    Case("tree", "h1024", "step", "none", 16),
    Case("tree", "h128", "encoder", "none", 32),
    Case("tree", "h128", "step", "none", 32, floor=3, sharded=True, single=3, single_floor=10),
    Case("tree", "h128", "step", "tree", 16, floor=4, sharded=True),
    Case("recurrent", "h128", "step", "none", 32),
    Case("recurrent", "h128", "step", "word", 16),
    Case("recurrent", "h256", "attention-forward", "none", 200, floor=2),
    Case("recurrent", "h256", "attention", "none", 100, floor=2),
]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    parser.add_argument("--mode", choices=("tree", "recurrent"), help="default: both")
    parser.add_argument("--size", choices=RECURRENT_SIZES, action="append", help="repeatable; default: all")
    parser.add_argument("--part", choices=("step", "encoder", "attention", "attention-forward"), action="append", help="repeatable; default: all")
    parser.add_argument("--without-nodes", action="store_true", help="leave out the program that computes node by node")
    parser.add_argument("--reset", choices=("before", "after"), default="before", help="reset gates act before or after the product")
    parser.add_argument("--clock", choices=("wall", "processor"), default="wall", help="processor: processor time, for a machine that is not idle")
    parser.add_argument("--check", action="store_true", help="only compare losses")
    return parser.parse_args()


def measure(options, case, program, paths, warmup, steps, **more):
    """Returns the report of a run of `program`."""
    asked = {"mode": case.mode, "size": case.size, "part": case.part, "coverage": case.coverage, "reset": options.reset}
    asked.update(warmup=warmup, steps=steps, **more)
    if not case.part.startswith("attention"):
        asked["data"] = paths[case.mode, case.size][program.order]
    return start(options, program, asked)


def check(options, case, paths, folder):
    """Exits if the losses of a few steps from equal parameters differ, in either order of the sentences."""
    programs = case.programs(options)
    for order in dict.fromkeys(program.order for program in programs):
        parameters = os.path.join(folder, f"{case.label}-{order}.h5")
        expected = None
        for program in [dataclasses.replace(PLAIT, order=order)] + [p for p in programs if p != PLAIT and (p.order == order or p == SHARDED)]:
            program = dataclasses.replace(program, order=order)
            losses = measure(options, case, program, paths, 0, CHECKED, parameters=parameters)["losses"]
            expected = expected or losses
            worst = max(abs(a - b) / max(1, abs(a)) for a, b in zip(expected, losses))
            print(f"check: {case.label}: {program.label}: {', '.join(f'{loss:.6f}' for loss in losses)}", file=sys.stderr)
            if worst > TOLERANCE:
                sys.exit(f"compare-recurrent.py: {case.label}: the losses of {program.label} differ from plait's by {worst:.2g}, more than {TOLERANCE}")


def rows_of(options, case, found):
    """Yields table rows with the mean milliseconds of a step."""
    clock = "seconds_per_step" if options.clock == "wall" else "processor_seconds_per_step"
    floor = f"{case.floor:g}" if case.floor else "–"

    def rate(report):
        return 1 / statistics.mean(report[clock])

    def milliseconds(steps_per_second):
        return f"{1e3 / steps_per_second:,.2f}"

    yield [case.label, *cells_of(found, rate, milliseconds, case.floor), floor]
    if SHARDED in found:
        yield [f"the same, train.shards={SHARDED.shards}", *cells_of(found, rate, milliseconds, case.floor, own=SHARDED), floor]
    if SINGLE in found:
        ratios = against(found, SINGLE, rate)
        figures = [milliseconds(rate(found[program][0])) for program in (PLAIT, SINGLE)]
        yield ["the same, by node", *figures, "–", "–", "–", told(ratios, case.single_floor), f"{case.single_floor:g}"]


def memory_of(case, found):
    return [case.label, *cells_of(found, lambda report: (report["peak_bytes"] - report["loaded_bytes"]) / 1e6, "{:,.0f}".format, less=True)]


def main():
    options = parse()
    wanted = [case for case in CASES if options.mode in (None, case.mode) and (not options.size or case.size in options.size)]
    wanted = [case for case in wanted if not options.part or case.part in options.part]
    log, load = Log(options.runs), [os.getloadavg()[0]]
    reports = {case: defaultdict(list) for case in wanted}

    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for mode, name in {(case.mode, case.size) for case in wanted}:
            size = dataclasses.replace(RECURRENT_SIZES[name], trees=mode == "tree")
            paths[mode, name] = draw(folder, f"{mode}-{name}", size, options.seed)
        for case in wanted:
            if not case.part.startswith("attention"):
                check(options, case, paths, folder)
        for turn in range(0 if options.check else options.rounds):
            for case in wanted:
                for program in rotated(case.programs(options), turn):
                    if program == SINGLE and turn > 0:
                        continue
                    print(f"round {turn + 1} of {options.rounds}: {case.label}: {program.label}", file=sys.stderr)
                    steps = (1, case.single) if program == SINGLE else (2, options.steps or case.steps)
                    report = measure(options, case, program, paths, *steps)
                    reports[case][program].append(report)
                    log.note(report)
    load.append(os.getloadavg()[0])
    if options.check:
        return

    print_table(columns_of("milliseconds a step"), [row for case, found in reports.items() for row in rows_of(options, case, found)])
    print()
    print_table(columns_of("memory, MB")[:-1], [memory_of(case, found) for case, found in reports.items() if not case.part.startswith("attention")])
    print_conditions(options, load, [report for found in reports.values() for runs in found.values() for report in runs])
    print(f"{options.clock} time, reset {options.reset}; memory less what the programs take when they are loaded.")


if __name__ == "__main__":
    main()
