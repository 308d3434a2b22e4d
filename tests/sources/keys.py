#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that experiments/KEYS.md equals the keys, values and meanings of plait inspect keys and plait-keys(5).

Usage: keys.py PLAIT
"""
import json
import os
import re
import subprocess
import sys

from sources import finish, read

PAGE = "experiments/KEYS.md"
COMMAND = "plait inspect keys --format markdown"
DEFAULT = re.compile(r"(?:; |  )(default: .*|may be left out|must be given)$")


def say(plait, *words):
    environment = {**os.environ, "PLAIT_PLUGIN_PATH": "", "XDG_DATA_HOME": "/nonexistent"}
    return subprocess.run([plait, "inspect", "keys", *words], capture_output=True, text=True, check=True, env=environment).stdout


def row(heading, key, values, meaning):
    kind, standard = DEFAULT.split(values)[:2]
    kind = re.sub(r"^choice +", "", kind).replace(" | ", "|").replace(" ..", "..").replace(".. ", "..")
    return tuple(" ".join(part.split()) for part in (heading, key, kind, standard, meaning))


def of_markdown(text):
    """Returns the rows (group, key, type, default, meaning) of the page."""
    rows, heading, section, names = [], None, None, {}
    for line in text.splitlines():
        if line.startswith("##"):
            heading = line.lstrip("# ")
            section = section if line.startswith("###") else len(rows)
        item = re.match(r"`([^`=]+)(=[^`]*)?`(?: ((?:list )?[^ :]+(?: -?[\d.e+-]+)?))?(, optional|, required)?: (.*)", line)
        if heading == "Separators":
            continue
        if re.match(r"`.*`: as in ", line):
            keys, other = line[1:].split("`: as in ")
            names.update({(section, heading, key): (section, other, key) for key in keys.split("`, `")})
        elif item:
            key, standard, kind, need, meaning = item.groups()
            kind = kind or "boolean"
            kind = f"integer {kind}" if re.match(r"-?\d+\.\.", kind) else kind
            standard = {"=": "default: empty"}.get(standard) or (
                "default: " + standard[1:] if standard else "may be left out" if need == ", optional" else "must be given")
            rows.append(((section, heading, key), (heading, key, kind, standard, re.sub(r"\\(.)", r"\1", meaning))))
    found = dict(rows)
    return [row for _, row in rows] + [(name[1], *found[other][1:]) for name, other in names.items()]


def of_manual(text):
    rows, heading = [], None
    for escape, meant in ((r"\&", ""), (r"\-", "-"), (r"\(aq", "'"), (r"\e", "\\")):
        text = text.replace(escape, meant)
    for begin, lines in re.findall(r"(?m)^\.(S[HS] .*|TP)\n((?:(?!\.).*\n)*)", text):
        if begin != "TP":
            heading = begin[3:].strip('"')
            continue
        key, values = re.match(r"\\fB(.*?)\\fR *(.*)", lines).groups()
        if heading != "SEPARATORS":
            rows.append(row(heading, key, values, lines.splitlines()[1]))
    return rows


def of_text(text):
    rows, heading = [], None
    for line in text.split("\n\n[experiment]")[1].splitlines():
        if line and line[0] != " ":
            heading = heading if line in ("Keys", "And") else line.split("  ")[0]
        elif re.match(r"  [^ (]", line) and DEFAULT.search(line):
            rows.append([heading or "[experiment]", *line.split(None, 1), ""])
        elif line.startswith("   ") and rows:
            rows[-1][3] += line
    return [row(*found) for found in rows]


def of_json(text):
    return [(key["name"], key["summary"]) for group in json.loads(text)["groups"]
            for part in group.get("plugins", group.get("metrics", [group])) for key in part["parameters"]]


def main():
    plait = sys.argv[1]
    page, problems = read(PAGE), []
    if page != say(plait, "--format", "markdown"):
        problems.append(f"{PAGE} is out of date; run: {COMMAND} > {PAGE}")
    rows = sorted(of_markdown(page))
    if len(rows) < 200:
        problems.append(f"{PAGE} has only {len(rows)} keys")
    for what, others in (("the manual page", of_manual(say(plait, "--format", "man"))), ("plait inspect keys", of_text(say(plait)))):
        problems += [f"{PAGE} and {what} differ: {a} is not {b}" for a, b in zip(rows, sorted(others)) if a != b]
        if len(rows) != len(others):
            problems.append(f"{PAGE} has {len(rows)} keys, {what} has {len(others)}")
    names = sorted(of_json(say(plait, "--json")))
    by_name = sorted((key, meaning) for _, key, _, _, meaning in rows)
    if len(names) != len(rows) or any(key != r[0] or not r[1].startswith(" ".join(summary.split()))
                                      for (key, summary), r in zip(names, by_name)):
        problems.append(f"{PAGE} and plait inspect keys --json differ")
    finish(problems[:20])


main()
