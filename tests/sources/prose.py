#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Finds the most frequent habits that make comments and pages hard to read, and names a better form.

Usage: prose.py [FILE...]   (without FILE: all *.c, *.h and *.md)
"""
import re
import sys

import sources

TOKEN = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|.', re.S)

# Beginnings that a comment must not have.
BEGINNINGS = [
    (r"(?:What|Where|How|Why|Whose|Which)\b(?!.*\?)", "begin with the subject or a verb: Returns ..., Writes ..., The row of ..."),
    (r"Whether\b", "TRUE if ..."),
    (r"(?:Of|With|Without|Beside|Behind) ", "begin with the subject or a verb"),
    (r"(?:Both|None|Nobody|Those|That|It|They)\b", "name the thing again"),
    (r"The same\b", "name what is equal, and to what"),
    (r"(?:of|to|in|for|that|which|by|its|their) ", "a field's comment does not continue the field's name"),
]
# Phrases that no comment or page should have.
ANYWHERE = [
    (r"(?<!there )\b(?:is|are|has|have|was|were) none\b", "is not a ..., has no ..."),
    (r"\b(?:nobody|whoever)\b", "name who: no caller, the user"),
    (r"\bno (?:more|less) than\b", "at most, at least, only"),
    (r"\bbut for\b", "except"),
    (r"\bno longer\b.*\bnone\b", "not"),
    (r"\blet(?:s|ting)? go of\b", "release, free"),
    (r"\b(?:is|are|was|were|be|been) told\b(?! apart)", "receives, is given, is logged"),
    (r"\b(?:go|goes|went|going) on with\b", "continue, resume"),
    (r"\bis (?:worth|up to)\b", "name the reason, or who decides"),
    (r"\bwhat is (?:not|no|left|there|missing|wrong|asked|wanted|known|said)\b", "a noun: the missing tensor, the rest, the fault"),
    (r"\bas (?:it|they) (?:stands?|lies?|comes?)\b", "unchanged, as stored"),
    (r"\b(?:NULL|NaN|0|-1|FALSE) without (?:one|it)\b", "if there is no ..."),
    (r"\bmust needs\b|\bthereof\b|\bwherein\b|\bwhereof\b|\bhenceforth\b|\bnought\b", "plain modern English"),
]
# Words with a private meaning, which the field calls otherwise.
WORDS = [
    (r"\btouched rows\b|\brows touched\b", "rows that attention weighs"),
    (r"\bmaterials\b", "inputs of a run"),
    (r"\blikeness\b", "differences between runs"),
    (r"\bspecimens?\b|\bzoo\b", "fixture, faulty plugin"),
    (r"\bunmasker\b", "masked-LM head"),
    (r"\brehears(?:e|es|al)\b", "dry run"),
]


def comments(text):
    """Yields the comments of a C file, unwrapped, each with the number of its line."""
    for match in TOKEN.finditer(text):
        token = match.group()
        if token.startswith("/*") and "SPDX" not in token:
            yield text.count("\n", 0, match.start()) + 1, " ".join(re.sub(r"(?m)^\s*\* ?", "", token[2:-2]).split())


def paragraphs(text):
    """Yields the paragraphs of a page, without blocks of code, each with the number of its line."""
    text = re.sub(r"(?s)```.*?```", lambda block: "\n" * block.group().count("\n"), text)
    for match in re.finditer(r"(?s)\S.*?(?=\n\s*\n|\n- |\Z)", text):
        yield text.count("\n", 0, match.start()) + 1, " ".join(re.sub(r"`[^`]*`", "`", match.group()).split())


def main():
    names = sys.argv[1:] or sources.files(".c", ".h", ".md")
    faults = []
    for name in names:
        page = name.endswith(".md")
        for line, text in (paragraphs if page else comments)(sources.read(name)):
            found = [] if page else [p for p in BEGINNINGS if re.match(p[0], text)]
            found += [p for p in ANYWHERE + WORDS if re.search(p[0], text)]
            faults += [f"{name}:{line}: {better}: {text[:90]}" for _, better in found]
    sources.finish(faults)


main()
