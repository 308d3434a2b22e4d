# SPDX-License-Identifier: MIT
"""The programs of a comparison (plait, and the peer with its settings): runs them and compares their reports."""

import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import tokens
from sizes import SIZES, path_of

HERE = Path(__file__).resolve().parent
REQUIRED = ("version", "threads", "peak_bytes", "sgemm_gflops", "warmup", "steps", "seconds_per_step", "core_type")
BATCHES = 16
POSITIONS = 10000  # rows that a step of attention reads


@dataclass(frozen=True)
class Program:
    settings: str = ""  # settings of PyTorch's process; empty: plait
    order: str = "random"  # order of the sentences; bucketed: batches of similar length
    single: bool = False  # PyTorch, computed node by node
    shards: int = 1  # shards of plait

    @property
    def label(self):
        if not self.settings:
            return "plait" + (f", {self.shards} shards" if self.shards > 1 else "")
        return f"PyTorch {self.settings}" + (", like lengths" if self.order == "bucketed" else "") + (", by node" if self.single else "")


PLAIT = Program()
# PyTorch with its defaults, and as a good researcher would tune it. Requirements hold against the best of these.
PEERS = [Program(settings, order) for settings in ("plain", "tuned") for order in tokens.ORDERS]


def add_options(parser):
    parser.add_argument("--plait", default="plait", help="the plait command, with plait-bench in its folder; default: plait in PATH")
    parser.add_argument("--python", default=HERE / ".venv/bin/python", help="the Python of the environment that setup.sh made")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, help="timed steps of every run; default: all batches at least once")
    parser.add_argument("--seed", type=int, default=1, help="seed of the token data")
    parser.add_argument("--runs", help="write every run's JSON object to this file, one a line")


def bench_of(options):
    """Returns the command that times steps of plait."""
    return f"{options.plait}-bench"


def run_plainly(command, what):
    """Returns the JSON object that `command` prints."""
    # Variables for threads or kernels must not reach one program and miss the other.
    dropped = ("OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "LD_PRELOAD", "GLIBC_TUNABLES")
    environment = {name: value for name, value in os.environ.items() if name not in dropped and not name.startswith("MALLOC_")}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    except OSError as error:
        sys.exit(f"{what} cannot be started: {command[0]}: {error.strerror}. Give its path (--plait, --python).")
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["it printed no reason"])[-1]
        sys.exit(f"{what} failed with exit code {done.returncode}: {reason}\n  {' '.join(map(str, command))}")
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        sys.exit(f"{what} printed no JSON object\n  {' '.join(map(str, command))}")


def run(command, what):
    """Returns the JSON object that `command` prints, which must have a time for each step."""
    report = run_plainly(command, what)
    missing = [name for name in REQUIRED if name not in report]
    if missing or len(report["seconds_per_step"]) != report["steps"]:
        sys.exit(f"{what}: the JSON object lacks {', '.join(missing) or 'a time for each step'} (peer.py lists the fields)")
    return report


def plait_arguments(asked, shards):
    """Returns the arguments of plait-bench that correspond to the options `asked` of peer.py."""
    mode, part = asked["mode"], asked.get("part", "step")
    work = "encode" if part == "encoder" else "decode" if mode == "decode" else "train"
    keys = {"train.shards": shards}
    if mode in ("tree", "recurrent"):
        keys.update({"experiment.sources": "tree" if mode == "tree" else "text", "decoder.coverage": asked["coverage"]})
        gated = ["decoder", "source.text", "source.tree", "source.tree/leaves"] + (["coverage"] if asked["coverage"] != "none" else [])
        keys.update({f"{group}.reset": asked["reset"] for group in gated})
    else:
        texts = [f"source.text{index}" for index in range(SIZES[asked["size"]].token_sources)]
        keys.update({"decoder.combiner": asked["combiner"], "decoder.output": asked["output"]})
        keys.update({f"{group}.positions": asked["encoding"] for group in ["decoder", *texts]})
    if "rate" in asked:
        keys["train.learning_rate"] = asked["rate"]
    if "dropout" in asked:
        keys.update({f"{group}.dropout": asked["dropout"] for group in ["decoder", *texts]})
    if "precision" in asked:
        keys["train.precision"] = asked["precision"]
    if "beam" in asked:
        keys.update({"decode.beam": asked["beam"], "decode.n_best": asked["beam"], "decode.batch": asked["batch"]})
    own = [f"--{name}={asked[name]}" for name in ("data", "warmup", "steps", "parameters", "members") if name in asked]
    return [work, path_of(asked["size"]), *(f"--set={key}={value}" for key, value in keys.items()), *own] + (["--force"] if "parameters" in asked else [])


def attention_step(options, asked, common):
    """Returns a report of a step of attention over as many rows as the peer reads. Its times are medians."""
    words = ["--words=1"] if asked["part"] == "attention" else []
    command = [bench_of(options), "steps", path_of(asked["size"]), f"--lengths={POSITIONS}", f"--steps={asked['steps']}", *words, *common]
    report = run_plainly(command, "plait-bench steps")
    clocks = {"seconds_per_step": "us", "processor_seconds_per_step": "processor us"}
    return report | {name: [report["columns"][column][0] / 1e6] for name, column in clocks.items()}


def start(options, program, asked):
    """Returns the report of a run of `program`; `asked`: the options of peer.py, and its mode."""
    common = ["--json", "--threads", str(options.threads)]
    if program.settings:
        own = [f"--{name}={value}" for name, value in asked.items() if name != "mode"]
        command = [options.python, "-W", "ignore", HERE / "peer.py", asked["mode"], *own, *common, "--settings", program.settings]
        report = run(command + (["--nodes", "single"] if program.single else []), program.label)
    elif asked.get("part", "step").startswith("attention"):
        report = attention_step(options, asked, common)
    else:
        for number in range(1, asked.get("members", 1) if "parameters" in asked else 1):
            alone = asked | {"members": 1, "parameters": f"{asked['parameters']}.{number}", "steps": 1}
            run([bench_of(options), *plait_arguments(alone, program.shards), f"--set=experiment.seed={number + 1}", *common], program.label)
        report = run([bench_of(options), *plait_arguments(asked, program.shards), *common], program.label)
    report.update(program=program.label, order=program.order)
    return report


class Log:
    """Writes the JSON object of every run as a line, if --runs is given."""

    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8") if path else None

    def note(self, report):
        if self.file:
            print(json.dumps(report), file=self.file, flush=True)


def draw(folder, name, size, seed):
    """Writes sentences in every order; returns order -> file."""
    paths = {order: os.path.join(folder, f"{name}-{order}.txt") for order in tokens.ORDERS}
    for order, path in paths.items():
        tokens.write(path, tokens.draw(size, size.batch, BATCHES, order, seed))
    return paths


def rotated(programs, turn):
    """Returns the programs in the order of round `turn`: each round begins with another program."""
    return programs[turn % len(programs) :] + programs[: turn % len(programs)]


def median(reports, value):
    return statistics.median(map(value, reports))


def against(found, program, value, own=PLAIT):
    """Returns the ratios of plait to `program` by `value` of a report, for the rounds that had the two programs."""
    return [value(a) / value(b) for a, b in zip(found[own], found[program])]


def told(ratios, floor, less=False):
    """Returns the ratio to the best peer with its range over the rounds, bold if it misses the requirement `floor`."""
    middle = statistics.median(ratios)
    text = f"{middle:.2f}"
    if floor and (middle > floor if less else middle < floor):
        text = f"**{text}**"
    return text + (f" ({min(ratios):.2f} - {max(ratios):.2f})" if len(ratios) > 1 else "")


def cells_of(found, value, text, floor=None, less=False, own=PLAIT):
    """Returns cells with medians over the rounds: plait's figure, the figure of each peer with plait's ratio to it, and
    the ratio to the best peer. `value` takes a figure from a report, `text` prints it; `less`: smaller is better;
    `own`: the program that is plait."""
    cells = [text(median(found[own], value))]
    peers = [program for program in PEERS if program in found]
    for program in PEERS:
        ratio = statistics.median(against(found, program, value, own)) if program in found else None
        cells.append(f"{text(median(found[program], value))} ({ratio:.2f})" if program in found else "–")
    best = (min if less else max)(peers, key=lambda program: median(found[program], value))
    return cells + [told(against(found, best, value, own), floor, less)]


def columns_of(first):
    return [first, "plait", *(program.label.replace("PyTorch ", "") for program in PEERS), "plait / best", "floor"]


def print_table(columns, rows):
    print("| " + " | ".join(columns) + " |")
    print("| --- |" + " ---: |" * (len(columns) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def print_conditions(options, load, reports):
    """Prints machine, programs and settings; `load`: the load before and after the runs."""
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        processor = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown processor")
    cores = len(os.sched_getaffinity(0))
    print(f"\nConditions: {processor}, {cores} cores, {options.threads} threads a program; load {load[0]:.1f} before, {load[1]:.1f} after.")
    print(f"Medians of {options.rounds} rounds in turn. OPENBLAS_CORETYPE unset.")
    for label in dict.fromkeys(report["program"] for report in reports):
        own = [report for report in reports if report["program"] == label]
        rates = [report["sgemm_gflops"] for report in own if "sgemm_gflops" in report] or [0]
        print(f"- {label}: version {own[0]['version']}, kernels {own[0]['core_type']}, sgemm {min(rates):.0f} to {max(rates):.0f} GFLOP/s.")
