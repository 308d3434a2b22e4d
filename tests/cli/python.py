# SPDX-License-Identifier: MIT
"""Reads runs and a grid with the package in experiments/python, and translates with the package.

Usage: python.py PACKAGE-FOLDER RUN.h5 THREE-SENTENCES.h5 GRID-FOLDER TRAINED.h5
"""

import sys

folder, path, many, grid, trained = sys.argv[1:]
sys.path.insert(0, folder)
import plait


def check(found, expected):
    if found != expected:
        sys.exit(f"found {found!r}, expected {expected!r}")


def refused(call, error, part):
    try:
        call()
    except error as fault:
        if part not in str(fault):
            sys.exit(f"found {fault}, expected {part!r}")
    else:
        sys.exit(f"expected a refusal: {part}")


run = plait.open(path)
check(list(run.training()), ["step", "negative_log_likelihood", "metric"])
check(len(run.training()), 3)
check(len(run.training("updates")), 30)
check(list(run.scores())[:3], ["metric", "name", "score"])
check(list(run.sentences()), ["hypothesis", "reference"])
check(run.hypotheses(), list(run.sentences()["hypothesis"]))
weights = run.attention(0, "en")
check(weights.dims, ("layer", "head", "target", "row"))
check(str(weights.coords["target"].values[0]), "\u2581ein")
check(weights.sum("row").round(4).values.ravel().tolist(), [1] * (weights.size // weights.sizes["row"]))
refused(lambda: run.attention(99, "en"), KeyError, "sentence 99 was not dumped")
refused(lambda: run.attention(0, "fr"), KeyError, "there is no")
refused(lambda: plait.grid("/nowhere"), FileNotFoundError, "plait grid writes it")

# Each of the three sentences of a run is complete, and has other row labels than the others.
seen = set()
for sentence in range(3):
    weights = plait.open(many).attention(sentence, "en").isel(layer=0, head=3)
    check(weights.shape, (60, 60))
    check(weights.sum("row").round(4).values.tolist(), [1] * 60)
    seen.add(tuple(weights.coords["row"].values))
check(len(seen), 3)

cells = plait.grid(grid)
check((len(cells.table), len(cells.runs)), (1, 2))  # the table has the mean over seeds
check(len(cells.cells), len(cells.runs))
check(all(isinstance(found.scores()["score"][0], float) for found in cells.runs.values()), True)

# One process of plait translates several times, as the run did, and reports errors.
run = plait.open(trained)
sources = run.sentences()
check([name for name in sources][:-2], ["a"])
lines = list(sources["a"])
check(plait.translate(run, lines), run.hypotheses())
check(plait.translate(run, [[line] for line in lines[:2]]), run.hypotheses()[:2])
from plait import translation
check(len(translation._open), 1)
check(plait.translate(run, [{"a": lines[1]}], beam=2) != [], True)
check(len(translation._open), 2)
many_lines = lines * (translation.MANY // len(lines) + 1)
check(plait.translate(run, many_lines), run.hypotheses() * (translation.MANY // len(lines) + 1))
refused(lambda: plait.translate(run, ["a\tb"]), ValueError, "must not contain tabs")
refused(lambda: plait.translate(run, [{"b": "x"}]), ValueError, "the run has no source b; it has a")
refused(lambda: plait.translate(run, ["x"], bean=2), plait.Error, "bean")

# An interrupted call leaves no translations that a later call would take for its own.
class Interrupted:
    def readline(self):
        raise KeyboardInterrupt

    def close(self):
        pass


for translator in translation._open.values():
    translator._process.stdout = Interrupted()
refused(lambda: plait.translate(run, lines[:2]), KeyboardInterrupt, "")
check(plait.translate(run, lines[2:4]), run.hypotheses()[2:4])
plait.close()
check(translation._open, {})

# The columns of a run with factors, and a target that is not one line for each line of the sources.
run.settings["source a"]["factors"] = "case+tag"
check([plait.Translator(run).sources], [["a", "a.case", "a.tag"]])
refused(lambda: plait.translate(run, [["x", "y", "z"]]), plait.Error, "a.case")
run.settings["data"]["documents"] = run.settings["data"]["target"]
refused(lambda: plait.translate(run, ["x"]), ValueError, "the target is documents")
