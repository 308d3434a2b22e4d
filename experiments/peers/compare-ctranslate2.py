# SPDX-License-Identifier: MIT
"""Compares beam search by plait and by CTranslate2, in turn, over equal shapes and sentences: a Markdown table.

    python3 -m venv V && V/bin/pip install ctranslate2
    V/bin/python compare-ctranslate2.py --plait BUILD/plait

The model is one source of bench/msmt.ini with 8,000 words and random weights (published.py checks that the two programs
compute equal results from exported weights). All hypotheses have equally many steps. CTranslate2 may use its threads
within a sentence or as workers: the faster setting counts.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

for name in ("OPENBLAS_CORETYPE", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.pop(name, None)

import ctranslate2

import programs
import tokens
from sizes import SIZES

BENCH = Path(__file__).resolve().parent.parent / "bench/msmt.ini"
EXPORT = Path(__file__).resolve().parent.parent / "to-ctranslate2.py"
WORDS = 8000
STEPS = 28
BATCHES = {16: 4, 1: 12}
# Name of a number format in plait, in CTranslate2, and the required speed of plait over CTranslate2's at 16 sentences
# and at one.
PRECISIONS = {"float": ("float32", (1.4, 3)), "int8": ("int8", (1.4, 1.4))}
SETTINGS = ["--set=experiment.sources=text0", f"--set=data.vocabulary_size={WORDS}"]

EXPERIMENT = """[data]
folder={folder}
train.text0=text
train.target=text
validation.text0=text
validation.target=text
vocabulary_type=words
target=target
"""


def export(plait, folder):
    """Writes a CTranslate2 model with the shapes of BENCH and WORDS words, and returns its folder."""
    (folder / "text").write_text("\n".join(" ".join(f"w{word}" for word in range(first, first + 20)) for first in range(0, WORDS, 20)) + "\n")
    own = "".join(part for part in ("[" + group for group in BENCH.read_text().split("\n[")[1:]) if part.split("]")[0] in ("[source text0", "[decoder"))
    (folder / "model.ini").write_text(EXPERIMENT.format(folder=folder) + own + "\n[train]\nupdates=1\nbatch=4\n")
    for command in ([plait, "run", folder / "model.ini", "--output", folder / "run.h5", "--quiet"],
                    [sys.executable, EXPORT, folder / "run.h5", "--output", folder / "model", "--plait", plait]):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{command[1]}: {done.stderr.strip()}")
    return folder / "model"


def time_plait(options, precision, batch, beam, data):
    """Returns seconds a sentence."""
    command = [programs.bench_of(options), "decode", BENCH, *SETTINGS, f"--set=decode.beam={beam}", f"--set=decode.n_best={beam}", f"--set=decode.batch={batch}",
               f"--set=decode.precision={precision}", "--data", data, "--steps", str(BATCHES[batch]), "--warmup", "1", "--threads", str(options.threads), "--json"]
    report = programs.run_plainly(command, "plait-bench decode")
    return statistics.median(report["processor_seconds_per_step" if options.clock == "processor" else "seconds_per_step"]) / batch


def time_peer(options, model, precision, batch, beam, sentences):
    """Returns seconds a sentence of CTranslate2 with the faster setting of its threads."""
    clock = time.process_time if options.clock == "processor" else time.perf_counter
    found = []
    for workers in sorted({1, options.threads}):
        translator = ctranslate2.Translator(str(model), compute_type=precision, inter_threads=workers, intra_threads=options.threads // workers)
        for timed in (False, True):
            begin = clock()
            translator.translate_batch(sentences, beam_size=beam, num_hypotheses=beam, max_batch_size=batch, min_decoding_length=STEPS, max_decoding_length=STEPS)
            if timed:
                found.append((clock() - begin) / len(sentences))
    return min(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    programs.add_options(parser)
    parser.add_argument("--clock", choices=("wall", "processor"), default="wall", help="processor: processor time, for a machine that is not idle")
    parser.add_argument("--precision", default=",".join(PRECISIONS), metavar="float,int8", help="use float on a processor without int8 instructions")
    options = parser.parse_args()
    load, rows = os.getloadavg()[0], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = export(options.plait, folder)
        size = replace(SIZES["msmt"], token_sources=1, vocabulary=WORDS)
        for batch, count in BATCHES.items():
            drawn = tokens.draw(size, batch, count + 1, "random", options.seed)
            tokens.write(folder / "data", drawn)
            sentences = [[f"w{word}" for word in streams[0][:-1]] for part in drawn for streams in part]
            for beam in (10, 1):
                for ours in options.precision.split(","):
                    theirs, floors = PRECISIONS[ours]
                    pairs = [(time_plait(options, ours, batch, beam, folder / "data"), time_peer(options, model, theirs, batch, beam, sentences))
                             for _ in range(options.rounds)]
                    own, peer = (statistics.median(column) for column in zip(*pairs))
                    floor = floors[batch == 1] if beam == 10 else None
                    ratio = programs.told([b / a for a, b in pairs], floor)
                    rows.append([f"{batch}, beam {beam}, {theirs}", f"{1 / own:.1f}", f"{1 / peer:.1f}", ratio, str(floor or "–")])
                    print(" ".join(rows[-1]), file=sys.stderr)
    programs.print_table(["sentences together", "plait, sentences/s", f"CTranslate2 {ctranslate2.__version__}", "times as fast", "floor"], rows)
    print(f"\n{STEPS} steps, {options.threads} thread(s), {options.clock} time, medians of {options.rounds} rounds in turn; load {load:.1f} before, {os.getloadavg()[0]:.1f} after.")


if __name__ == "__main__":
    main()
