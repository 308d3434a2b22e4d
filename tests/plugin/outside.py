#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that plugins built against only the installed files are found, inspected, trained and searched with, without
rebuilding plait. A plugin that crashes ends the run, or its cell of a grid, with one sentence.

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
PLUGINS = {"mean": "combiner", "gate": "combiner", "hops": "combiner", "strides": "combiner", "falls": "combiner", "squares": "coverage"}
DECODERS = ["transformer", "gru"]
FALLS = {"crash": "combine: accessed memory that does not exist", "overflow": "combine: accessed memory that does not exist",
         "abort": "combine: ended the process by abort ()", "exit": "combine: called exit ()",
         "build": "build: called exit ()"}


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, **options)
    if done.returncode != 0:
        sys.exit(f"{command} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def installed(build, meson, folder):
    """Installs plait into @folder. Returns the paths of the package file and of the program."""
    run(meson, "install", "--no-rebuild", "-C", build, "--destdir", folder)
    package = next(folder.rglob("plait-1.pc"))
    # plait is installed below another root, as packagers do, so only the prefix must be changed.
    text = package.read_text()
    prefix = re.search(r"^prefix=(.*)$", text, re.M).group(1)
    package.write_text(re.sub(r"^prefix=.*$", f"prefix={folder}{prefix}", text, flags=re.M))
    return package.parent, next(p for p in folder.rglob("plait") if p.parent.name == "bin")


class Train:
    """Runs the experiment of outside/ with other settings, and translates with the run."""

    def __init__(self, program, environment, folder, corpus):
        self.program, self.environment, self.folder, self.corpus = program, environment, folder, corpus
        self.n = 0

    def __call__(self, settings):
        self.n += 1
        output = self.folder / f"run{self.n}.h5"
        sets = [word for setting in settings for word in ("--set", setting)]
        run(self.program, "run", HERE / "experiment.ini", *sets, "--output", output, "--quiet", env=self.environment)
        sources = [word for name in "ab" for word in ("--source", f"{name}={self.corpus}/test.{name}")]
        lines = run(self.program, "translate", output, *sources, env=self.environment).splitlines()
        assert len(lines) == 5, (settings, lines)
        return output


def spoil(settings, folder):
    """Checks that plait refuses, in one line, schemas from which it cannot make a header."""
    schema = (HERE / "mean.ini").read_text()
    header = folder / "spoilt-settings.h"
    for old, new, said in [("version=1.0\n", "", "[plugin] has no version; add version="),
                           ("kind=combiner", "kind=combinator", "kind=combinator is not a kind; give one of encoder,"),
                           ("type=real", "type=number", "[parameter.gain] type=number is not a type; give one of integer,"),
                           ("type=real", "type=choice", "[parameter.gain] has no choices; add choices=FIRST;SECOND"),
                           ("[plugin]", "[plug]", "has no group [plugin], so it is not the schema"),
                           ("default=1", "deafult=1", "[parameter.gain] deafult=1 is not a key of a parameter; give one of"),
                           ("default=1", "default=1\nenum=PlaitGain", "enum=PlaitGain has no prefix of constants"),
                           ("[parameter.gain]", "[parameter.double]", "[parameter.double] has the name double, a keyword of C"),
                           ("summary=Factor", "# summary=Factor", "[parameter.gain] has no summary; add summary="),
                           ("[parameter.gain]", "[plugin]", "section 'plugin' already exists")]:
        assert old in schema, old
        spoilt = folder / "spoilt.ini"
        spoilt.write_text(schema.replace(old, new))
        done = subprocess.run([sys.executable, "-B", settings, spoilt, header], text=True, capture_output=True)
        assert done.returncode == 1 and said in done.stderr and done.stderr.startswith(f"{spoilt}: "), (new, done)
        assert done.stderr.count("\n") == 1 and not header.exists(), (new, done)


def check(program, environment):
    """Checks that all plugins keep their contracts, except falls, which fails its first property."""
    for plugin in PLUGINS:
        done = subprocess.run([program, "check", plugin, "--json"], text=True, capture_output=True, env=environment)
        outcomes = {result["name"]: result for result in json.loads(done.stdout)["properties"]}
        failed = [name for name, result in outcomes.items() if result["outcome"] == "failed"]
        assert outcomes["losses"]["outcome"] == ("passed" if plugin == "squares" else "not applicable" if plugin != "falls" else "not run")
        if plugin != "falls":
            assert done.returncode == 0 and not failed and outcomes["search"]["outcome"] == "passed", done
            continue
        assert done.returncode == 1 and failed == ["runs"] and outcomes["search"]["outcome"] == "not run", done
        assert FALLS["crash"] in outcomes["runs"]["text"], outcomes["runs"]
        assert done.stderr == 'error: combiner "falls" breaks its contract; failed properties: runs\n', done


def fall(program, environment, folder):
    """Checks the plugin that crashes. Building it is tried in another process before the run begins."""
    blame = "; this is a fault of the plugin, and the run ends here"
    for number, (how, what) in enumerate(FALLS.items()):
        done = subprocess.run([program, "run", HERE / "experiment.ini", "--set", "decoder.combiner=falls", "--set", f"combiner.how={how}",
                               "--output", folder / f"fall{number}.h5", "--quiet"], text=True, capture_output=True, env=environment)
        end = blame.split(",")[0] if how == "build" else blame
        assert done.returncode == (2 if how == "build" else 1), (how, done)
        assert done.stderr == f'error: combiner "falls" of [combiner], {what}{end}\n', (how, done)
    grid = folder / "falls.ini"
    text = (HERE / "experiment.ini").read_text()
    grid.write_text(text.replace("combiner=mean", "combiner=falls") + "\n[combiner]\nhow=crash\n\n[grid]\ncombiner.how=crash;exit\n")
    done = subprocess.run([program, "grid", grid, "--output", folder / "falls", "--jobs", "2"], text=True, capture_output=True, env=environment)
    assert done.returncode == 1, done
    for how in ("crash", "exit"):
        assert f'combiner "falls" of [combiner], {FALLS[how]}{blame}' in done.stderr, done


def main():
    build, meson, *compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        packages, program = installed(build, meson, folder / "root")
        found = {**os.environ, "PKG_CONFIG_PATH": str(packages)}
        flags = run("pkg-config", "--cflags", "--libs", "plait-1", env=found).split()
        settings = run("pkg-config", "--variable=settings", "plait-1", env=found).strip()
        spoil(settings, folder)
        for plugin, kind in PLUGINS.items():
            place = folder / "plugins" / kind
            place.mkdir(parents=True, exist_ok=True)
            run(sys.executable, "-B", settings, HERE / f"{plugin}.ini", folder / f"{plugin}-settings.h")
            run(*compiler, "-std=gnu11", "-Wall", "-Werror", "-shared", "-fPIC", HERE / f"{plugin}.c", f"-I{folder}", *flags,
                "-o", place / f"{plugin}.so")
            shutil.copy(HERE / f"{plugin}.ini", place)

        environment = {**os.environ, "PLAIT_PLUGIN_PATH": str(folder / "plugins"), "XDG_DATA_HOME": str(folder / "data"),
                       "XDG_CACHE_HOME": str(folder / "cache")}
        found = json.loads(run(program, "inspect", "mean", "--json", env=environment))
        assert found["origin"] == "PLAIT_PLUGIN_PATH" and found["version"] == "1.0" and found["refused"] is None, found
        listed = json.loads(run(program, "plugins", "--json", env=environment))
        origins = {plugin["name"]: plugin["origin"] for plugin in listed["plugins"]}
        assert origins["mean"] == "PLAIT_PLUGIN_PATH" and origins["serial"] == "installed", origins

        check(program, environment)
        corpus = folder / "corpus"
        run(program, "generate", "agreement", "--output", corpus, "--set", "test=5", "--quiet", env=environment)
        train = Train(program, environment, folder, corpus)
        # Queries are as wide as contexts, narrower, and wider.
        for settings in [["decoder.type=transformer"], ["decoder.type=gru", "decoder.state_width=10"],
                         ["decoder.type=gru", "decoder.state_width=40"]]:
            train(["decoder.combiner=mean", "combiner.gain=2", *settings])
        for decoder in DECODERS:
            train([f"decoder.type={decoder}", "decoder.combiner=gate", "combiner.bias=true"])
            hops = train([f"decoder.type={decoder}", "decoder.combiner=hops", "combiner.dropout=0.1"])
            maps = {path: json.loads(run(program, "show", hops, f"/attention/test/0/{path}", "--json", env=environment))["values"]
                    for path in ("a", "a:second", "b", "b:second")}
            for memory in "ab":
                assert maps[memory] != maps[f"{memory}:second"], maps
            strides = train([f"decoder.type={decoder}", "decoder.combiner=strides", "combiner.stride=3"])
            for head in range(2 if decoder == "transformer" else 1):
                weights = json.loads(run(program, "show", strides, "/attention/test/0/a", "--head", head, "--json", env=environment))["values"]
                for row, weight in enumerate(weights[0]):
                    assert (weight > 0) == (row % 3 == head), weights
            # If heads read all rows, strides is plain attention: equal weights from equal parameters.
            every = [train([f"decoder.type={decoder}", "decoder.attention_dropout=0", *settings]) for settings in (["decoder.combiner=serial"], ["decoder.combiner=strides", "combiner.stride=1"])]
            losses = [json.loads(run(program, "show", one, "/training/updates", "--json", env=environment))["columns"]["loss"] for one in every]
            assert all(abs(a - b) < 1e-4 for a, b in zip(*losses)), losses
            squares = train([f"decoder.type={decoder}", "decoder.combiner=serial", "decoder.coverage=squares",
                             "coverage.weight=0.1"])
            updates = json.loads(run(program, "show", squares, "/training/updates", "--json", env=environment))["columns"]
            assert updates["coverage.squares"], updates
            for squares, auxiliary in zip(updates["coverage.squares"], updates["auxiliary"]):
                assert abs(auxiliary / squares / 0.1 - 1) < 1e-4, updates
        fall(program, environment, folder)


if __name__ == "__main__":
    main()
