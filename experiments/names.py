#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the names in the references of experiments/names.ini that the translations have too.

Usage: names.py [--plait PROGRAM] RUN.h5|GRID-FOLDER...
"""
import argparse
import collections
import glob
import json
import os
import subprocess


def lines(program, run, which):
    shown = subprocess.run([program, "show", run, f"/evaluation/test/{which}", "--json"], check=True, text=True,
                           capture_output=True)
    return json.loads(shown.stdout)["values"]


def names(line):
    return collections.Counter(word for word in line.split() if word[0].isupper())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plait", default="plait")
    parser.add_argument("runs", nargs="+")
    options = parser.parse_args()
    for path in options.runs:
        for run in sorted(glob.glob(os.path.join(path, "*.h5"))) if os.path.isdir(path) else [path]:
            if os.path.basename(run) == "grid.h5" or run.endswith(".training.h5"):
                continue
            found = wanted = 0
            for reference, hypothesis in zip(lines(options.plait, run, "references"), lines(options.plait, run, "hypotheses")):
                wanted += sum(names(reference).values())
                found += sum((names(reference) & names(hypothesis)).values())
            print(f"{run}: {found} of {wanted} names right, {100 * found / wanted:.2f} %")


if __name__ == "__main__":
    main()
