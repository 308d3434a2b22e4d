#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that projects of plait new build without a warning against only the installed files, are found, and train.

Usage: new.py BUILD-FOLDER MESON C-COMPILER...
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from outside import installed, run

# Kind, name, and another value of the parameter. The names are not C identifiers, or are names of other files.
PROJECTS = [("encoder", "experiment", "source a.width=32"), ("combiner", "scaled-sum", "combiner.scale=3"),
            ("coverage", "so_far-2", "coverage.scale=3"), ("decoder", "causal-3", "decoder.size=2"), ("output", "warm", "output.scale=3")]
SMALL = "--set data.generate.train=64 --set data.generate.validation=8 --set data.generate.test=8 --set train.updates=3 \
--set train.batch=16"


def check(kind, name, other, program, folder, environment):
    written = run(program, "new", kind, name, cwd=folder, env=environment).splitlines()
    project = folder / name
    there = sorted(str(path.relative_to(folder)) for path in project.rglob("*") if path.is_file())
    assert sorted(written) == there and f"{name}/{name}.c" in there and f"{name}/{name}.ini" in there, (written, there)
    left = [path for path in there if re.search("@(NAME|KIND)@", (folder / path).read_text())]
    assert not left, left

    # The commands in the project's README, with less training.
    commands = re.search(r"^```sh\n(.*?)^```$", (project / "README.md").read_text(), re.M | re.S).group(1)
    small, n = re.subn(r"^plait run .*$", rf"\g<0> --quiet {SMALL}", commands, flags=re.M)
    assert n == 1, commands
    run("sh", "-e", "-c", small, cwd=project, env=environment)
    assert (project / "build" / kind / f"{name}.so").is_file() and (project / "build" / kind / f"{name}.ini").is_file()

    environment = {**environment, "PLAIT_PLUGIN_PATH": str(project / "build")}
    found = json.loads(run(program, "inspect", f"{kind}/{name}", "--json", env=environment))
    assert found["origin"] == "PLAIT_PLUGIN_PATH" and found["refused"] is None and len(found["parameters"]) in (1, 2), found

    # After installation the plugin is found without the variable.
    run("meson", "install", "-C", project / "build", "--quiet", env=environment)
    unset = {**environment, "PLAIT_PLUGIN_PATH": ""}
    found = json.loads(run(program, "inspect", f"{kind}/{name}", "--json", env=unset))
    assert found["origin"] == "installed" and found["refused"] is None, found

    checked = json.loads(run(program, "check", f"{kind}/{name}", "--json", env=environment))
    assert checked["failed"] == 0 and checked["not_run"] == 0 and checked["passed"] >= 9, checked

    check_doubles(program, f"{kind}/{name}", project / "build", environment)

    # The run used the plugin, and the value of its parameter changes the result.
    first = project / f"{name}-experiment.h5"
    run(program, "show", first, f"/plugins/{kind}/{name}", env=environment)
    second = project / "other.h5"
    run(program, "run", f"{name}-experiment.ini", "--quiet", *SMALL.split(), "--set", other, "--output", second, cwd=project,
        env=environment)
    losses = [json.loads(run(program, "show", path, "/training/validation", "--json", env=environment))["columns"]
              for path in (first, second)]
    assert losses[0] != losses[1], losses


def check_doubles(program, plugin, build, environment):
    """Checks that plait check asks plait-double, here a stub, to check the gradients of its build of the plugin."""
    other = program.parent / "plait-double"
    module = build / "double" / f"{plugin}.so"
    command = [program, "check", plugin, "--property", "gradients"]
    said = []
    try:
        for there, code in (False, 1), (True, 0), (True, 1):
            other.write_text(f"#!/bin/sh\necho '{{'; echo '  \"asked\": \"'$PLAIT_PLUGIN_PATH $*'\"'; echo '}}'; exit {code}\n")
            other.chmod(0o755)
            module.parent.mkdir(parents=True, exist_ok=True)
            if there:
                module.touch()
            done = [subprocess.run([*command, *more], text=True, capture_output=True, env=environment) for more in ([], ["--json"])]
            assert [one.returncode for one in done] == [int(there and code)] * 2, done
            said.append((done[0].stdout, json.loads(done[1].stdout), done[0].stderr))
        other.write_text("#!/bin/sh\nexit 1\n")
        mute = subprocess.run([*command, "--json"], text=True, capture_output=True, env=environment)
        assert mute.returncode == 1 and json.loads(mute.stdout)["doubles"] is None, mute
    finally:
        other.unlink()
        shutil.rmtree(build / "double")
    asked = f"{build}/double check {plugin} --property gradients --seconds=60"
    assert "gradients in doubles: not run" in said[0][0] and "doubles" not in said[0][1], said[0]
    for text, document, _ in said[1:]:
        assert asked in text and document["doubles"] == {"asked": f"{asked} --json"} and document["passed"] == 1, (text, document)
    assert said[1][2] == "", said
    assert said[2][2].endswith("breaks its contract; failed properties: gradients in doubles\n"), said


def main():
    build, meson, *compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        packages, program = installed(build, meson, folder / "root")
        environment = {**os.environ, "XDG_DATA_HOME": str(folder / "data"), "XDG_CACHE_HOME": str(folder / "cache"),
                       "PKG_CONFIG_PATH": str(packages), "PLAIT_PLUGIN_PATH": "", "CC": " ".join(compiler), "CFLAGS": "-Wall -Wextra -Wno-unused-parameter -Werror",
                       "PATH": f"{program.parent}:{pathlib.Path(meson).parent}:{os.environ['PATH']}"}
        for kind, project, other in PROJECTS:
            check(kind, project, other, program, folder, environment)


main()
