# SPDX-License-Identifier: MIT
"""Runs and grids of plait in Python: tables as pandas, attention as xarray, translations by the program.

    run = plait.open("run.h5")
    run.scores()                      # metric, score, low, high of the split "test"
    run.training()                    # validations: step, perplexity, metric, ...
    run.sentences()                   # sources, hypothesis, reference
    run.attention(0, "a")             # [layer, head, target, row] with tokens as coordinates
    plait.translate(run, ["ein Mann"])
    plait.grid("grid").table          # the table of a grid; .runs has its runs
"""

from .runs import Grid, Run, grid, open
from .translation import Error, Translator, close, translate

__all__ = ["Error", "Grid", "Run", "Translator", "close", "grid", "open", "translate"]
