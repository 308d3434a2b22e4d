#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that all pages together stay short: the words that a reader sees, without code, bars of tables and comments."""
import re

import sources

MOST_WORDS = 20000
CODE = re.compile(r"^ *```.*?^ *```$|<!--.*?-->", re.M | re.S)


def words(text):
    return sum(not re.fullmatch(r"[|:-]+", word) for word in CODE.sub("", text).split())


n = sum(words(sources.read(page)) for page in sources.files(".md"))
sources.finish([f"the pages have {n} words of {MOST_WORDS}; say each fact once"] if n > MOST_WORDS else [])
