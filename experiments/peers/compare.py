# SPDX-License-Identifier: MIT
"""Runs plait and the PyTorch peer in turn on the same token data and prints medians, ratios and conditions in Markdown."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import figures
import tokens
from sizes import SIZES

HERE = Path(__file__).resolve().parent
PLAIT, TUNED, PLAIN = "plait", "PyTorch tuned", "PyTorch plain"
REQUIRED = ("version", "threads", "peak_bytes", "sgemm_gflops", "warmup", "steps", "seconds_per_step", "core_type")

# (mode, sentences a batch in decoding) -> timed steps of one run, by size.
WORK = {
    "small": {("train", None): 24, ("decode", 16): 8, ("decode", 1): 24},
    "msmt": {("train", None): 8, ("decode", 16): 3, ("decode", 1): 8},
    "mmt": {("train", None): 6},
}


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plait", default="plait", help="the plait command; default: found on PATH")
    parser.add_argument("--python", default=HERE / ".venv/bin/python", help="the python of the environment that setup.sh made")
    parser.add_argument("--only", choices=("plait", "peer"), help="run one side alone; no ratios then")
    parser.add_argument("--size", choices=SIZES, action="append", help="repeatable; default: all")
    parser.add_argument("--mode", choices=("train", "decode"), help="default: both")
    parser.add_argument("--combiner", choices=("serial", "parallel", "flat", "hierarchical"), default="serial")
    parser.add_argument("--order", choices=("random", "bucketed"), default="random", help="of the sentences in the batches")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--beam", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1, help="of the token data")
    parser.add_argument("--runs", help="write every run's JSON object to this file, one a line")
    return parser.parse_args()


def run(command, what):
    """The JSON object that `command` prints."""
    # Whatever the caller has set about threads or kernels must not reach one program and miss the other.
    dropped = ("OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "LD_PRELOAD", "GLIBC_TUNABLES")
    environment = {name: value for name, value in os.environ.items() if name not in dropped and not name.startswith("MALLOC_")}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    except OSError as error:
        sys.exit(f"compare.py: {what} cannot be started: {command[0]}: {error.strerror}. Give its path (--plait, --python), or --only the other side.")
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["it printed no reason"])[-1]
        sys.exit(f"compare.py: {what} failed with exit code {done.returncode}: {reason}\n  {' '.join(map(str, command))}")
    try:
        report = json.loads(done.stdout)
    except json.JSONDecodeError:
        sys.exit(f"compare.py: {what} printed no JSON object\n  {' '.join(map(str, command))}")
    missing = [name for name in REQUIRED if name not in report]
    if missing or len(report["seconds_per_step"]) != report["steps"]:
        sys.exit(f"compare.py: {what}: the JSON object lacks {', '.join(missing) or 'a time for each step'} (README.md lists the fields)")
    return report


def measure(options, program, name, mode, sentences, path):
    steps = WORK[name][mode, sentences]
    arguments = [mode, "--size", name, "--data", path, "--json", "--combiner", options.combiner, "--threads", str(options.threads)]
    arguments += ["--warmup", "2", "--steps", str(steps)]
    arguments += ["--dropout", str(options.dropout)] if mode == "train" else ["--beam", str(options.beam), "--batch", str(sentences)]
    if program == PLAIT:
        report = run([options.plait, "bench", *arguments], "plait bench")
    else:
        command = [options.python, "-W", "ignore", HERE / "peer.py", *arguments, "--settings", program.split()[1]]
        report = run(command, program)

    size, batches = SIZES[name], tokens.read(path, SIZES[name])
    if mode == "decode":
        batches = tokens.regroup(batches, sentences)
    first = report["warmup"]
    timed = [batches[index % len(batches)] for index in range(first, first + report["steps"])]
    report.update(figures.derive(size, mode, options.combiner, timed, report["seconds_per_step"], report["sgemm_gflops"]))
    report.update(program=program, size=name, mode=mode, batch=sentences or size.batch)
    return report


def conditions(threads, load):
    """A line on the machine; `load` is that before and that after."""
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        processor = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown processor")
    return f"Conditions: {processor}, {len(os.sched_getaffinity(0))} cores, {threads} threads a program; load {load[0]:.1f} before, {load[1]:.1f} after."


def padding(batches):
    """The part of the cells of a padded batch that hold no token, over all streams."""
    cells = real = 0
    for batch in batches:
        for stream in zip(*batch):
            lengths = [len(words) for words in stream]
            cells, real = cells + len(lengths) * max(lengths), real + sum(lengths)
    return 1 - real / cells


def rows_of(name, mode, sentences, reports, programs):
    """(label, {program: figure}, format) for each line of the table."""
    middle = lambda field: {p: statistics.median(report[field] for report in reports[p]) for p in programs}
    if mode == "decode":
        yield f"{name}, beam, batch {sentences}: sentences/s", middle("sentences_per_second"), "{:,.2f}"
        return
    yield f"{name}, train: target tokens/s", middle("tokens_per_second"), "{:,.0f}"
    # One machine has one rate: the highest that any of the programs saw.
    own, rate = middle("share"), middle("sgemm_gflops")
    yield f"{name}, train: share of the sgemm rate", {p: own[p] * rate[p] / max(rate.values()) for p in programs}, "{:.3f}"
    peak = middle("peak_bytes")
    yield f"{name}, train: peak memory, MB", {p: value / 1e6 for p, value in peak.items()}, "{:,.0f}"
    loaded = {p: statistics.median(report.get("loaded_bytes", 0) for report in reports[p]) for p in programs}
    yield f"{name}, train: peak memory less loading PyTorch, MB", {p: (peak[p] - loaded[p]) / 1e6 for p in programs}, "{:,.0f}"


def main():
    options = parse()
    programs = {None: [PLAIT, TUNED, PLAIN], "plait": [PLAIT], "peer": [TUNED, PLAIN]}[options.only]
    if not options.only:
        columns = [PLAIT, TUNED, "plait / tuned", PLAIN, "plait / plain"]
    else:
        columns = programs
    load = [os.getloadavg()[0]]
    log = open(options.runs, "w", encoding="utf-8") if options.runs else None
    reports, notes = defaultdict(lambda: defaultdict(list)), []

    with tempfile.TemporaryDirectory() as folder:
        sizes = options.size or list(SIZES)
        paths = {}
        for name in sizes:
            batches = tokens.draw(SIZES[name], SIZES[name].batch, 16, options.order, options.seed)
            paths[name] = os.path.join(folder, f"{name}.txt")
            tokens.write(paths[name], batches)
            notes.append(f"{name} {padding(batches):.0%}")
        for turn in range(options.rounds):
            for name in sizes:
                for mode, sentences in WORK[name]:
                    if options.mode in (None, mode):
                        # Each round begins with another program.
                        for program in programs[turn % len(programs) :] + programs[: turn % len(programs)]:
                            print(f"round {turn + 1} of {options.rounds}: {name} {mode} {sentences or ''} {program}", file=sys.stderr)
                            report = measure(options, program, name, mode, sentences, paths[name])
                            reports[name, mode, sentences][program].append(report)
                            if log:
                                print(json.dumps(report), file=log, flush=True)
    load.append(os.getloadavg()[0])

    print("| | " + " | ".join(columns) + " |")
    print("| --- |" + " ---: |" * len(columns))
    for (name, mode, sentences), found in reports.items():
        for label, values, form in rows_of(name, mode, sentences, found, programs):
            cells = {p: form.format(value) for p, value in values.items()}
            if not options.only:
                cells["plait / tuned"] = f"{values[PLAIT] / values[TUNED]:.2f}"
                cells["plait / plain"] = f"{values[PLAIT] / values[PLAIN]:.2f}"
            print(f"| {label} | " + " | ".join(cells[column] for column in columns) + " |")

    flat = [report for found in reports.values() for runs in found.values() for report in runs]
    print(f"\n{conditions(options.threads, load)}")
    print(f"Medians of {options.rounds} rounds in turn; `{options.combiner}`, dropout {options.dropout}, beam {options.beam}; batches {options.order},", end=" ")
    print(f"padding {', '.join(notes)} of the cells (not counted as tokens or FLOP). OPENBLAS_CORETYPE unset.")
    for program in programs:
        own = [report for report in flat if report["program"] == program]
        rate = statistics.median(report["sgemm_gflops"] for report in own)
        print(f"- {program}: version {own[0]['version']}, kernels {own[0]['core_type']}, sgemm {rate:.0f} GFLOP/s.")


if __name__ == "__main__":
    main()
