#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the tables of README.md and SPEED.md from the result files in results/.

Usage: tables.py           rewrites the tables of both pages
       tables.py NAME      prints everything in results/NAME.tsv as one table, with intervals and p values

A result file has one row for each measurement. A page has comments <!-- table NAME -->; results/shown.ini says which columns and
rows of NAME.tsv the table shows.

The script replaces the lines from that comment to the next <!-- end -->.
"""
import configparser
import csv
import pathlib
import re
import sys
from decimal import Decimal

FOLDER = pathlib.Path(__file__).resolve().parent
PAGES = ("README.md", "SPEED.md")
COLUMNS = ["system", "metric", "value", "low", "high", "spread", "p", "significant", "seeds", "processor", "conditions", "date", "commit"]
BLOCK = re.compile(r"(<!-- table (\S+) -->\n)(.*?)(<!-- end -->)", re.S)


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


def cell(row, is_whole):
    """Returns the value, with * if its p stays below .05 after the correction for all rows of its table, and its interval
    if @is_whole; a dash if nothing was measured."""
    if row is None:
        return "–"
    star = "*" if row["significant"] == "yes" else ""
    return number(row["value"]) + star + (f" [{number(row['low'])}, {number(row['high'])}]" if is_whole and row["low"] else "")


def markdown(heads, rows):
    """Returns a Markdown table; columns without letters are aligned to the right."""
    rules = ["---" if re.search("[a-z]", "".join(column)) else "---:" for column in zip(*rows)]
    lines = [heads, rules, *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def table(name, shown=None, by_metric=False, where=""):
    """Returns a table with a column for each of @shown. Without @shown it has all columns, with intervals and p."""
    found = {(metric, system) if by_metric else (system, metric): row for (system, metric), row in load(name).items()}
    names = list(dict.fromkeys(column for _, column in found))
    columns, shorts = zip(*((column.strip().split(" = ") * 2)[:2] for column in shown.split(";"))) if shown else (names, names)
    unknown = [column for column in columns if column not in names]
    if unknown:
        raise ValueError(f"{name}.tsv has no {unknown[0]!r}")
    tested = {column for (_, column), row in found.items() if row["p"] and not shown}
    heads = ["metric" if by_metric else "system"]
    for column, short in zip(columns, shorts):
        heads += [short, "p"] if column in tested else [short]
    rows = []
    for line in dict.fromkeys(line for line, column in found if column in columns and re.search(where, line)):
        cells = [line]
        for column in columns:
            row = found.get((line, column))
            cells += [cell(row, not shown)] + [row["p"] or "–" if row else "–"] * (column in tested)
        rows.append(cells)
    return markdown(heads, rows)


def render(page):
    """Returns the text of @page with updated tables."""
    shown = configparser.ConfigParser(delimiters="=", interpolation=None)
    shown.read(FOLDER / "results" / "shown.ini", encoding="utf-8")

    def replace(match):
        begin, name, _, end = match.groups()
        keys = shown[name]
        return begin + table(name, keys["columns"], keys.get("by") == "metric", keys.get("rows", "")) + end
    return BLOCK.sub(replace, (FOLDER / page).read_text(encoding="utf-8"))


def main():
    if len(sys.argv) > 1:
        print(table(sys.argv[1]), end="")
        return
    for page in PAGES:
        (FOLDER / page).write_text(render(page), encoding="utf-8")


if __name__ == "__main__":
    main()
