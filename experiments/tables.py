#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the tables of README.md and SPEED.md from the result files in results/.

Usage: tables.py           rewrites the tables of both pages
       tables.py NAME      prints everything in results/NAME.tsv as one table

A result file has one row for each measurement. A page names what a table shows in a comment:

    <!-- table NAME: METRIC; METRIC -->                one row for each system
    <!-- table NAME by metric: SYSTEM; SYSTEM -->      one row for each metric
    <!-- differences                                   one row for each line that follows
    NAME: METRIC: BASELINE > SYSTEM -->

The script replaces the lines from that comment to the next <!-- end -->.
"""
import csv
import pathlib
import re
import sys
from decimal import Decimal

FOLDER = pathlib.Path(__file__).resolve().parent
PAGES = ("README.md", "SPEED.md")
COLUMNS = ["system", "metric", "value", "low", "high", "spread", "p", "significant", "seeds", "processor", "conditions", "date", "commit"]
BLOCK = re.compile(r"(<!-- (table|differences)\b(.*?)-->\n)(.*?)(<!-- end -->)", re.S)


def load(name):
    """Returns the measurements of results/NAME.tsv as {(system, metric): row}, in the order of the file."""
    found = {}
    with open(FOLDER / "results" / f"{name}.tsv", encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        if rows.fieldnames != COLUMNS:
            raise ValueError(f"{name}.tsv: the columns are not {' '.join(COLUMNS)}")
        for row in rows:
            key = row["system"], row["metric"]
            if key in found:
                raise ValueError(f"{name}.tsv: two rows for {key}")
            found[key] = row
    return found


def number(text):
    return f"{Decimal(text):,}"


def cell(row):
    """Returns the value with its interval, or a dash if nothing was measured."""
    if row is None:
        return "–"
    return number(row["value"]) + (f" [{number(row['low'])}, {number(row['high'])}]" if row["low"] else "")


def p_value(row):
    """Returns p, with * if it stays below .05 after the correction for all rows of its table."""
    if row is None or not row["p"]:
        return "–"
    return row["p"] + (" *" if row["significant"] == "yes" else "")


def markdown(heads, rows):
    """Returns a Markdown table; columns without letters are aligned to the right."""
    rules = ["---" if re.search("[a-z]", "".join(column)) else "---:" for column in zip(*rows)]
    lines = [heads, rules, *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def table(name, shown, by_metric):
    """Returns a table with a column for each of @shown, and a column for p after each tested one."""
    found = {(metric, system) if by_metric else (system, metric): row for (system, metric), row in load(name).items()}
    names = list(dict.fromkeys(column for _, column in found))
    columns = [column.strip() for column in shown.split(";")] if shown else names
    unknown = [column for column in columns if column not in names]
    if unknown:
        raise ValueError(f"{name}.tsv has no {unknown[0]!r}")
    tested = {column for (_, column), row in found.items() if row["p"]}
    heads = ["metric" if by_metric else "system"]
    for column in columns:
        heads += [column, "p"] if column in tested else [column]
    rows = []
    for line in dict.fromkeys(line for line, column in found if column in columns):
        cells = [line]
        for column in columns:
            row = found.get((line, column))
            cells += [cell(row), p_value(row)] if column in tested else [cell(row)]
        rows.append(cells)
    return markdown(heads, rows)


def differences(lines):
    rows = []
    for line in lines.strip().split("\n"):
        name, metric, baseline, other = re.fullmatch(r"(\S+): (.*): (.*) > (.*)", line.strip()).groups()
        found = load(name)
        first, second = found[baseline, metric], found[other, metric]
        gain = Decimal(second["value"]) - Decimal(first["value"])
        rows.append([f"`{name}`", metric, baseline, number(first["value"]), other, number(second["value"]), f"{gain:+}", p_value(second)])
    return markdown(["experiment", "metric", "baseline", "", "compared with", "", "difference", "p"], rows)


def render(page):
    """Returns the text of @page with updated tables."""
    def replace(match):
        begin, kind, what, _, end = match.groups()
        if kind == "differences":
            return begin + differences(what) + end
        name, by_metric, shown = re.fullmatch(r" (\S+?)( by metric)?: (.*) ", what, re.S).groups()
        return begin + table(name, shown.replace("\n", " "), bool(by_metric)) + end
    return BLOCK.sub(replace, (FOLDER / page).read_text(encoding="utf-8"))


def main():
    if len(sys.argv) > 1:
        print(table(sys.argv[1], None, False), end="")
        return
    for page in PAGES:
        (FOLDER / page).write_text(render(page), encoding="utf-8")


if __name__ == "__main__":
    main()
