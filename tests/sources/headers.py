#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the public interface: it is complete and compiles as C99 and C++17.

Usage: headers.py C-COMPILER C++-COMPILER HEADER...

HEADER... are the installed headers, FLOOR/ROOM/FILE relative to core/. Each compiles alone, without a warning, in a
folder with only these headers. Only they export functions. Plugins (modules of core/base/process/module.h are not
plugins) include only the three headers for authors, the header of their settings and headers beside them. A file of a
plugin has fewer than 300 lines.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from sources import ROOT, files, finish, read

# Headers for authors of plugins.
AUTHORS = ("interface/plugin.h", "layers/layers.h", "autograd/operators.h")


def installed(header):
    """Returns the path of an installed header: the folder of a floor is an include folder."""
    return header.split("/", 1)[1]


def compile_alone(compiler, language, standard, header, folder):
    flags = subprocess.run(["pkg-config", "--cflags", "glib-2.0"], capture_output=True, check=True, text=True).stdout
    # -isystem: warnings in GLib's own headers do not count.
    command = [*shlex.split(compiler), "-x", language, "-std=" + standard, "-fsyntax-only", "-Wall", "-Wextra", "-pedantic",
               "-Werror", "-Wno-unused-parameter", "-I", folder, *flags.replace("-I", "-isystem ").split(), "-"]
    done = subprocess.run(command, text=True, input=f'#include "{installed(header)}"\n', capture_output=True)
    return [] if done.returncode == 0 else [f"core/{header} as {standard}:\n{done.stderr}"]


def main():
    c, cpp, public = sys.argv[1], sys.argv[2], sys.argv[3:]
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        for header in public:
            os.makedirs(os.path.dirname(os.path.join(folder, installed(header))), exist_ok=True)
            shutil.copy(os.path.join(ROOT, "core", header), os.path.join(folder, installed(header)))
        for header in public:
            problems += compile_alone(c, "c", "c99", header, folder)
            problems += compile_alone(cpp, "c++", "c++17", header, folder)
    for path in files(".h"):
        if path.startswith("core/") and path[len("core/"):] not in public:
            if re.search(r"^PLAIT_API ", read(path), re.M):
                problems.append(f"{path}: exports something, but is not installed (core/meson.build)")
    modules = re.findall(r"'(\w[\w-]*)'", re.search(r"plait_module_kinds = \[(.*?)\]", read("plugins/meson.build"), re.S).group(1))
    for path in files(".c", ".h"):
        if path.startswith("plugins/") and path.split("/")[1] not in modules:
            for included in re.findall(r'#include "([^"]+)"', read(path)):
                shared = os.path.exists(os.path.join(ROOT, os.path.dirname(path), included))
                if included not in AUTHORS and not shared and included != os.path.basename(path)[:-2] + "-settings.h":
                    problems.append(f'{path}: includes "{included}"; expected {", ".join(AUTHORS)}')
            if read(path).count("\n") >= 300:
                problems.append(f"{path}: a plugin has fewer than 300 lines")
    finish(problems)


main()
