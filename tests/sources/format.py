#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that each C and C++ source is formatted as clang-format does it, and as hand.py asks."""
import shutil
import subprocess
import sys

from hand import problems
from sources import ROOT, files, finish

found = problems()
if found:
    finish(found)
if shutil.which("clang-format") is None:
    # Meson's exit code for a skipped test.
    sys.exit(77)
sys.exit(subprocess.run(["clang-format", "--dry-run", "-Werror", *files(".c", ".h", ".cc")], cwd=ROOT).returncode)
