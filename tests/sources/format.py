#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each C and C++ source is in one hand (hand.py), and as clang-format would have it."""
import shutil
import subprocess
import sys

from hand import problems
from sources import ROOT, files, finish

found = problems()
if found:
    finish(found)
if shutil.which("clang-format") is None:
    # The exit code by which Meson knows a skipped test.
    sys.exit(77)
sys.exit(subprocess.run(["clang-format", "--dry-run", "-Werror", *files(".c", ".h", ".cc")], cwd=ROOT).returncode)
