#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the shell blocks of README.md and of the pages listed in PAGES as a user would: in order, in one shell.

Usage: readme.py BUILD-FOLDER [--whole FOLDER]

A block is run if a comment is before it: <!-- run --> or, with required programs and expected output,
<!-- run, needs: h5ls, prints: TEXT -->. Each block is a test case: its exit code must be 0. A block without its
programs is skipped.

Training is cut to a small corpus, and to a few updates if the command does not limit its updates. With --whole it is
not cut, and all output is shown, as README.md quotes it. It then runs in FOLDER, which must not exist.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from xml.sax.saxutils import quoteattr

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ("README.md", "experiments/RECIPES.md", "experiments/FILES.md", "experiments/BAD-RUN.md", "plugins/README.md")
# Maximum length of the first page.
MOST_WORDS = 2500
# Maximum length of a section of the pages of results: one screen.
STORIES, MOST_LINES = ("experiments/README.md", "experiments/SPEED.md"), 50
BLOCK = re.compile(r"^<!-- run(?:, needs: (?P<needs>[\w ]+?))?(?:, prints: (?P<prints>[^\n]*?))? -->\n```sh\n(?P<text>.*?)^```$",
                   re.M | re.S)
CODE = re.compile(r"^```.*?^```$", re.M | re.S)
# The heading before a block names its test case.
HEADING = re.compile(r"^#+ (.*)$", re.M)

# A script that is found in PATH before plait, and calls it with less training.
CUT = """#!/bin/sh
plait={plait}
case $1 in
  run|grid)
    ! grep -q '^generate=' "$2" || set -- "$@" --set data.generate.train=640 --set data.generate.validation=20 \\
      --set data.generate.test=20
    case "$*" in
      *train.epochs=*|*train.updates=*) exec "$plait" "$@" ;;
    esac
    exec "$plait" "$@" --set train.updates=6 --set train.epochs=1 ;;
  generate)
    exec "$plait" "$@" --set train=640 --set validation=20 --set test=20 ;;
  *)
    exec "$plait" "$@" ;;
esac
"""


def blocks():
    """Returns (name, needs, prints, text) of each block."""
    found, names = [], {}
    for page in PAGES:
        text, before = (ROOT / page).read_text(encoding="utf-8"), len(found)
        for match in BLOCK.finditer(text):
            heading = HEADING.findall(CODE.sub("", text[:match.start()]))[-1]
            name = re.sub(r"\W+", "_", heading).strip("_")
            names[name] = names.get(name, 0) + 1
            found.append((f"{name}_{names[name]}", (match["needs"] or "").split(), match["prints"] or "", match["text"]))
        if len(found) - before != text.count("<!-- run"):
            sys.exit(f"{page}: a comment <!-- run is not followed by a block of sh")
    return found


def words():
    """Returns (name, message or None): checks the length of the first page."""
    n = len((ROOT / PAGES[0]).read_text(encoding="utf-8").split())
    return "length", f"{PAGES[0]} has {n} words of {MOST_WORDS}; recipes have a page" if n > MOST_WORDS else None


def stories():
    """Returns (name, message or None): checks the length of each section of the pages of results."""
    long = []
    for page in STORIES:
        sections = re.split(r"^## ", (ROOT / page).read_text(encoding="utf-8"), flags=re.M)[1:]
        lengths = [(part.split("\n")[0], len(part.rstrip().split("\n"))) for part in sections]
        long += [f"{page}: {title}: {n} lines" for title, n in lengths if n > MOST_LINES]
    return "stories", f"longer than {MOST_LINES} lines: {'; '.join(long)}" if long else None


def python_with_h5py():
    for python in (shutil.which("python3"), "/usr/bin/python3"):
        if python and subprocess.run([python, "-c", "import h5py, pandas, xarray"], capture_output=True).returncode == 0:
            return python
    return None


def wrap(folder, name, text):
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)


def environment(build, folder, whole):
    """Returns the environment of a user's shell with the programs of this build, without the settings of the current
    user."""
    programs = folder / "bin"
    programs.mkdir()
    python = python_with_h5py()
    if python:
        wrap(programs, "python3", f'#!/bin/sh\nexec {shlex.quote(python)} "$@"\n')
    if not whole:
        wrap(programs, "plait", CUT.format(plait=shlex.quote(str(build / "plait"))))
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS") if name in os.environ}
    own = {"XDG_DATA_HOME": str(folder / "data"), "XDG_CACHE_HOME": str(folder / "cache"), "PROGRAMS": str(programs)}
    return {**kept, **own, "LC_ALL": "C.UTF-8"}, python is not None


def shell(blocks_to_run, build):
    """Returns one script that prints the number of each block at its beginning and end."""
    script = ["set -eu"]
    for number, (_, _, _, text) in blocks_to_run:
        # Replaces the user's build folder by this one, after the folder of the cut program.
        text = text.replace("$PWD/../build/quickstart", str(build)).replace("$PWD/build/quickstart", f"$PROGRAMS:{build}")
        text = text.replace("$PWD/../experiments", str(ROOT / "experiments"))
        script += [f"echo '@@ {number} begins'", text, f"echo '@@ {number} ends'"]
    return "\n".join(script)


def outputs(text):
    """Returns number of a block -> (TRUE if it reached its end, its output)."""
    found = {}
    for part in re.split(r"^@@ (?=\d+ begins$)", text, flags=re.M)[1:]:
        head, body = part.split("\n", 1)
        number = int(head.split()[0])
        end = f"@@ {number} ends\n"
        found[number] = (end in body, body.replace(end, ""))
    return found


def judge(numbered, found):
    """Yields (name, message or None) of each block."""
    for number, (name, _, prints, _) in numbered:
        ended, output = found.get(number, (False, "was not reached"))
        if not ended:
            yield name, f"did not end well:\n{output[-3000:]}"
        elif prints not in output:
            yield name, f"did not print {prints!r}:\n{output[-3000:]}"
        else:
            yield name, None


def write_cases(results, skipped, seconds):
    """Writes the cases as GoogleTest does, for tests/count.py, if GTEST_OUTPUT asks for that."""
    place = os.environ.get("GTEST_OUTPUT", "")
    if not place.startswith("xml:"):
        return
    failures = sum(message is not None for _, message in results)
    lines = [f'<testcase name={quoteattr(name)} classname="readme"'
             + (f"><failure message={quoteattr(message)}/></testcase>" if message else "/>") for name, message in results]
    lines += [f'<testcase name={quoteattr(name)} classname="readme" status="notrun"/>' for name in skipped]
    with open(os.path.join(place[len("xml:"):], os.path.basename(__file__) + ".xml"), "w", encoding="utf-8") as file:
        file.write(f'<testsuites><testsuite name="readme" tests="{len(lines)}" failures="{failures}" '
                   f'skipped="{len(skipped)}" errors="0" time="{seconds:.1f}">{"".join(lines)}</testsuite></testsuites>\n')


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    whole = len(sys.argv) > 3 and sys.argv[2] == "--whole"
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        variables, h5py = environment(build, folder, whole)
        there = {"h5py": h5py, **{tool: shutil.which(tool) is not None for tool in ("h5ls", "h5diff", "socat")}}
        there["plot"] = "built without cairo" not in subprocess.run([build / "plait", "plot", ".", "/"], capture_output=True,
                                                                    text=True).stderr
        place = pathlib.Path(sys.argv[3]) if whole else folder / "clone"
        place.mkdir()
        numbered = list(enumerate(blocks()))
        skipped = [block[0] for _, block in numbered if not all(there[need] for need in block[1])]
        numbered = [(number, block) for number, block in numbered if block[0] not in skipped]
        done = subprocess.run(["bash", "-c", shell(numbered, build)], cwd=place, env=variables, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if whole:
            print(done.stdout)
        results = [words(), stories(), *judge(numbered, outputs(done.stdout))]
    for name, message in results:
        print(f"{'ok' if message is None else 'FAILED'}  {name}{': ' + message if message else ''}")
    for name in skipped:
        print(f"skipped  {name}")
    write_cases(results, skipped, time.monotonic() - begun)
    sys.exit(any(message for _, message in results) or done.returncode != 0)


main()
