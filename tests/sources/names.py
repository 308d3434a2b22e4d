#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the options, commands and keys in messages and help texts, and the keys in some pages, exist, and that each
pattern of thread_cases in tests/run.sh matches a test case.

Usage: names.py PLAIT PLAIT-BENCH
"""
import fnmatch
import re
import subprocess
import sys

import sources

TEXT = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+')  # adjacent literals, which the compiler joins
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]+")
GROUPS = "experiment|data|train|decode|decoder|evaluate|predict|bench"
KEY = re.compile(rf"(?<![\w/.-])(?:{GROUPS})\.[a-z_]+(?![\w./-])")
# Options of sbatch, mpirun and tensorboard.
OTHERS = {"--partition", "--account", "--mca", "--logdir"}
SLURM = {"core/workbench/grid/slurm.c", "core/workbench/axes/executor-settings.c"}
# Keys for the files of a stream in an example. The name of a stream is arbitrary.
STREAM = re.compile(r"(?:train|validation|test)\.(?:[a-z]|cs|de|en|tags|title|target|loss_weights)$")


def say(plait, *words):
    return subprocess.run([plait, *words], capture_output=True, text=True, check=True).stdout


def literals(text):
    return ["".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', joined)) for joined in TEXT.findall(re.sub(r"(?m)^#include.*", "", text))]


def main():
    plait = sys.argv[1]
    options = set(OTHERS)
    for program in sys.argv[1:]:
        options |= set(OPTION.findall(say(program, "--help")))
        for command in re.findall(r"^  ([a-z]+)  ", say(program, "--help"), re.M):
            options |= set(OPTION.findall(say(program, command, "--help")))
    keys = {line.split("=")[0] for line in say(plait, "inspect", "--keys").split()}
    faults = []
    for name in sources.files(".c", ".h", ".ini"):
        texts = sources.read(name).splitlines() if name.endswith(".ini") else literals(sources.read(name))
        told = ("schemas/",) if name.endswith(".ini") else ("core/", "plugins/", "experiments/")
        for text in texts if name.startswith(told) else []:
            faults += [f"{name}: no command has {option}: {text[:80]}" for option in OPTION.findall(text)
                       if option not in options and name not in SLURM]
            faults += [f"{name}: there is no key {key}: {text[:80]}" for key in KEY.findall(text)
                       if key not in keys and not STREAM.match(key)]
            faults += [f"{name}: plait inspect {word} is not a command: {text[:80]}"
                       for word in re.findall(r"plait inspect ([a-z]+)(?![\w.])", text)
                       if subprocess.run([plait, "inspect", word], capture_output=True, check=False).returncode != 0]
    for page in ("README.md", "experiments/FILES.md", "experiments/RECIPES.md"):
        faults += [f"{page}: there is no key {key}" for key in KEY.findall(sources.read(page))
                   if key not in keys and not STREAM.match(key)]
    cases = [".".join(names) for path in sources.files(".c") if path.startswith("tests/")
             for names in re.findall(r"^TEST_CASE \((\w+), (\w+)\)", sources.read(path), re.M)]
    faults += [f"tests/run.sh: no test case matches {pattern} of thread_cases"
               for pattern in re.search('thread_cases="(.*)"', sources.read("tests/run.sh"))[1].split(":")
               if not fnmatch.filter(cases, pattern)]
    sources.finish(faults)


main()
