#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the plots and the tables of pages equal the output of experiments/tables.py, and the form of result files."""
import os
import re
import sys
from decimal import Decimal, InvalidOperation

from sources import ROOT, files, finish, read

sys.path.insert(0, os.path.join(ROOT, "experiments"))
import tables  # noqa: E402

NUMBERS = ("value", "low", "high", "p", "seeds")
FORMS = {"significant": r"(yes|no)?", "date": r"(\d{4}-\d\d-\d\d)?", "commit": r"([0-9a-f]{7,40})?"}


def wrong(row):
    """Returns the name of a column of @row whose value is malformed, or None."""
    for column in NUMBERS:
        try:
            if row[column] or column == "value":
                Decimal(row[column])
        except InvalidOperation:
            return column
    if bool(row["low"]) != bool(row["high"]) or bool(row["low"]) != bool(row["spread"]):
        return "spread"
    return next((column for column, form in FORMS.items() if not re.fullmatch(form, row[column])), None)


def main():
    problems = []
    results = [path for path in files(".tsv") if path.startswith("experiments/results/")]
    if not results:
        problems.append("experiments/results has no result file: the check is broken")
    for path in results:
        for (system, metric), row in tables.load(os.path.basename(path)[:-len(".tsv")]).items():
            column = wrong(row)
            if column:
                problems.append(f"{path}: {system}, {metric}: {column} is {row[column]!r}")
    for path, text in [(page, tables.render(page)) for page in tables.PAGES] + list(tables.plots().items()):
        if text != read(os.path.join("experiments", path)):
            problems.append(f"experiments/{path}: differs from what the result files hold; run experiments/tables.py")
    finish(problems)


main()
