# SPDX-License-Identifier: MIT
"""Functions that the checks of the sources share."""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def files(*suffixes):
    """Returns the paths, relative to the root, of the sources that end in one of the suffixes: files that git tracks,
    or all files of an unpacked archive."""
    try:
        listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, check=True).stdout
        paths = listed.decode().split("\0")
    except (OSError, subprocess.CalledProcessError):
        paths = []
        for folder, folders, names in os.walk(ROOT):
            folders[:] = [f for f in folders if not f.startswith((".", "build"))]
            paths += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names]
    found = sorted(p for p in paths if p.endswith(suffixes) and os.path.isfile(os.path.join(ROOT, p)))
    if not found:
        sys.exit("no sources found: the check is broken")
    return found


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def finish(problems):
    """Prints the problems and exits: code 1 if there are any."""
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)
