#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each header that a plugin may include compiles by itself, as C99 and as C++17, without a warning.

Usage: headers.py C-COMPILER C++-COMPILER. A header is public if it declares something with PLAIT_API, or if a public
one includes it.
"""
import re
import subprocess
import sys

from sources import ROOT, files, finish, read


def public_headers():
    texts = {path[len("core/"):]: read(path) for path in files(".h") if path.startswith("core/")}
    public = [path for path, text in texts.items() if "PLAIT_API " in text]
    for path in public:
        public += [p for p in re.findall(r'#include "([^"]+)"', texts[path]) if p not in public]
    return sorted(public)


def main():
    flags = subprocess.run(["pkg-config", "--cflags", "glib-2.0"], capture_output=True, check=True, text=True).stdout
    # GLib's own headers are not under test.
    common = ["-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Werror", "-Wno-unused-parameter", "-I", "core",
              *flags.replace("-I", "-isystem ").split()]
    problems = []
    for compiler, language, standard in (sys.argv[1], "c", "c99"), (sys.argv[2], "c++", "c++17"):
        for header in public_headers():
            done = subprocess.run([compiler, "-x", language, "-std=" + standard, *common, "-"], cwd=ROOT, text=True,
                                  input=f'#include "{header}"\n', capture_output=True)
            if done.returncode != 0:
                problems.append(f"core/{header} as {standard}:\n{done.stderr}")
    finish(problems)


main()
