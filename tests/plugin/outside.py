#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A combiner built against the installed files alone is found, inspected and trained with, and nothing is rebuilt.

Usage: outside.py BUILD-FOLDER MESON C-COMPILER...
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent / "outside"


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, **options)
    if done.returncode != 0:
        sys.exit(f"{command} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def installed(build, meson, folder):
    """Installs into the folder, and gives the places of the package file, the program and the library."""
    run(meson, "install", "--no-rebuild", "-C", build, "--destdir", folder)
    package = next(folder.rglob("plait-1.pc"))
    # Staged below another root, as packagers do: the prefix alone has to follow.
    text = package.read_text()
    prefix = re.search(r"^prefix=(.*)$", text, re.M).group(1)
    package.write_text(re.sub(r"^prefix=.*$", f"prefix={folder}{prefix}", text, flags=re.M))
    return package.parent, next(p for p in folder.rglob("plait") if p.parent.name == "bin"), next(folder.rglob("libplait.so")).parent


def main():
    build, meson, *compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        packages, program, libraries = installed(build, meson, folder / "root")
        flags = run("pkg-config", "--cflags", "--libs", "plait-1", env={**os.environ, "PKG_CONFIG_PATH": str(packages)}).split()
        kind = folder / "plugins" / "combiner"
        kind.mkdir(parents=True)
        run(*compiler, "-std=gnu11", "-Wall", "-Werror", "-shared", "-fPIC", HERE / "mean.c", *flags, "-o", kind / "mean.so")
        shutil.copy(HERE / "mean.ini", kind)

        environment = {**os.environ, "PLAIT_PLUGIN_PATH": str(folder / "plugins"), "XDG_DATA_HOME": str(folder / "data"),
                       "LD_LIBRARY_PATH": f"{libraries}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
        found = json.loads(run(program, "inspect", "mean", "--json", env=environment))
        assert found["origin"] == "PLAIT_PLUGIN_PATH" and found["version"] == "1.0" and found["refused"] is None, found
        listed = json.loads(run(program, "plugins", "--json", env=environment))
        origins = {plugin["name"]: plugin["origin"] for plugin in listed["plugins"]}
        assert origins["mean"] == "PLAIT_PLUGIN_PATH" and origins["serial"] == "installed", origins

        # Queries as wide as contexts, narrower and wider.
        for number, settings in enumerate([[], ["decoder.type=gru", "decoder.state_width=10"],
                                           ["decoder.type=gru", "decoder.state_width=40"]]):
            output = folder / f"run{number}.h5"
            sets = [word for setting in settings for word in ("--set", setting)]
            run(program, "run", HERE / "experiment.ini", *sets, "--output", output, "--quiet", env=environment)
            assert output.stat().st_size > 0


if __name__ == "__main__":
    main()
