#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the files to which pages link exist, and the folders and files below core/ that pages name."""
import os
import re

from sources import ROOT, files, finish, read

LINK = re.compile(r"\]\(([^)#\s]+)")
PATH = re.compile(r"(?<![\w/])core/[a-z0-9][\w./-]*\w(?![\w*{/]|/[A-Z])")


def main():
    problems = []
    for page in files(".md"):
        text = read(page)
        for target in LINK.findall(text):
            if "://" not in target and not os.path.exists(os.path.join(ROOT, os.path.dirname(page), target)):
                problems.append(f"{page}: the link to {target} leads nowhere")
        for path in PATH.findall(text):
            there = [path, path + ".h", path + ".c"]
            if not any(os.path.exists(os.path.join(ROOT, name)) for name in there):
                problems.append(f"{page}: there is no {path}")
    finish(problems)


main()
