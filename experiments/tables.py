#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the tables of README.md and SPEED.md, and the plots in results/, from the result files in results/.

Usage: tables.py           rewrites the tables of both pages and the plots
       tables.py NAME      prints everything in results/NAME.tsv as one table, with intervals and p values

A result file has one row for each measurement. A page has comments <!-- table NAME -->; results/shown.ini says which columns and
rows of NAME.tsv the table shows.

The script replaces the lines from that comment to the next <!-- end -->. If NAME has a key plot in shown.ini,
results/NAME.svg shows the metrics whose names begin with the value of that key, in %, with a line for each system.
"""
import configparser
import csv
import pathlib
import re
import sys
from decimal import Decimal
from html import escape

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


def plot(name, prefix):
    """Returns a line chart as SVG: the metrics of NAME.tsv that begin with @prefix from left to right, 0 to 100 % upwards."""
    width, height, left, top, legend = 520, 260, 50, 36, 170
    colours = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#555555", "#e69f00")
    found = {key: row for key, row in load(name).items() if key[1].startswith(prefix)}
    labels = list(dict.fromkeys(metric[len(prefix):] for _, metric in found))
    across = [left + width * i / (len(labels) - 1) for i in range(len(labels))]

    def text(x, y, content, anchor="middle"):
        return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escape(content)}</text>'

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + legend} {top + height + 34}" '
             'font-family="sans-serif" font-size="12">', '<!-- SPDX-License-Identifier: MIT -->',
             '<rect width="100%" height="100%" fill="white"/>', text(left, 18, prefix.strip(" ,"), "start")]
    for percent in range(0, 101, 20):
        y = top + height * (1 - percent / 100)
        parts += [f'<path d="M{left} {y:.0f}h{width}" stroke="#ddd"/>', text(left - 8, y + 4, str(percent), "end")]
    parts += [text(x, top + height + 20, label) for x, label in zip(across, labels)]
    for i, system in enumerate(dict.fromkeys(system for system, _ in found)):
        points = " ".join(f"{x:.0f},{top + height * (1 - float(found[system, prefix + label]['value']) / 100):.0f}"
                          for x, label in zip(across, labels))
        style = f'fill="none" stroke="{colours[i % len(colours)]}" stroke-width="2" stroke-dasharray="{("none", "7 4", "2 3")[i % 3]}"'
        y = top + 14 + 20 * i
        parts += [f'<polyline points="{points}" {style}/>', f'<path d="M{left + width + 14} {y}h26" {style}/>',
                  text(left + width + 46, y + 4, system, "start")]
    return "\n".join([*parts, "</svg>", ""])


def settings():
    """Returns what shown.ini says about the tables and plots."""
    shown = configparser.ConfigParser(delimiters="=", interpolation=None)
    shown.read(FOLDER / "results" / "shown.ini", encoding="utf-8")
    return shown


def plots():
    """Returns the text of all plots as {path in this folder: text}."""
    return {f"results/{name}.svg": plot(name, keys["plot"]) for name, keys in settings().items() if "plot" in keys}


def render(page):
    """Returns the text of @page with updated tables."""
    shown = settings()

    def replace(match):
        begin, name, _, end = match.groups()
        keys = shown[name]
        return begin + table(name, keys["columns"], keys.get("by") == "metric", keys.get("rows", "")) + end
    return BLOCK.sub(replace, (FOLDER / page).read_text(encoding="utf-8"))


def main():
    if len(sys.argv) > 1:
        print(table(sys.argv[1]), end="")
        return
    for path, text in [(page, render(page)) for page in PAGES] + list(plots().items()):
        (FOLDER / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
