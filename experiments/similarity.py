#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A score from outside: how similar each translation is to its reference, 0 to 100, by difflib.

For evaluate.scores.NAME: reads lines of translation, reference and sources, with tabs between them, and prints a number
for each.
"""
import difflib
import sys

for line in sys.stdin:
    translation, reference = line.rstrip("\n").split("\t")[:2]
    print(100 * difflib.SequenceMatcher(None, translation, reference, autojunk=False).ratio())
